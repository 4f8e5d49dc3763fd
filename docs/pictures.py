"""Screenshots in the README and on the website; `make pictures` writes them into docs/images.

They are taken in Chromium at a width of 1,280 pixels and cut at the margins: the top of a report, a
figure of an experiment, a trial of a P.835 study, a trial of each kind with several sounds, while
the second is playing, and trials with sliders. All are stored with a palette, so that each stays
below MAX_BYTES.
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Locator, Page, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLE = ("examples/chapters/outputs.jsonl", "examples/chapters/annotators.jsonl")
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
WIDTH, HEIGHT, HEIGHT_OF_TRIALS, MARGIN = 1280, 900, 800, 24
COLOURS, MAX_BYTES = 128, 150_000
SEVERAL_SOUNDS = ("dcr", "ccr", "ab", "abx", "preference")  # trials in the browser
SLIDER_PAGES = {"mushra": (84, 31, 58), "bs1116": (5, 3.2)}  # ratings of the first sounds
STUDY_WITHOUT_PRELUDE = ("anchors:", "training:", "feedback:", "device:")


def program(*arguments: str | Path) -> list[str]:
    """Return a command line of Earwitness."""
    return [sys.executable, "-m", "earwitness", *map(str, arguments)]


def save(page: Page, name: str, area: FloatRect) -> None:
    """Write a part of a page as a PNG file with few colours."""
    shot = page.screenshot(clip=area, full_page=True)
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    IMAGES.mkdir(exist_ok=True)
    image.save(IMAGES / name, optimize=True)
    size = (IMAGES / name).stat().st_size
    print(f"wrote docs/images/{name} ({size:,} bytes)")
    assert size < MAX_BYTES


def from_top(last: Locator) -> FloatRect:
    """Return the area from the top of a page to the end of an element, with a margin around it."""
    box = last.bounding_box()
    assert box is not None
    left = box["x"] - MARGIN
    return {
        "x": left,
        "y": 0,
        "width": WIDTH - 2 * left,
        "height": box["y"] + box["height"] + MARGIN,
    }


def report(browser: Browser, folder: Path) -> None:
    """Take a picture of a report that compares three systems: the finding and the differences."""
    path = folder / "report.html"
    options = ["--metric", "collar", "--collar", "0.5,1,2,3,5,10,30", "--value", "collar_f1@3.0"]
    command = program("compare", *EXAMPLE, *options, "--quiet", "-o", path)
    subprocess.run(command, check=True, cwd=ROOT)
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(path.as_uri())
    figure = page.locator("figure").filter(has=page.locator("table.matrix")).first
    save(page, "report.png", from_top(figure))
    page.close()


def experiment(browser: Browser, folder: Path) -> None:
    """Take a picture of a value by number of people, of simulated data."""
    path = folder / "experiment.html"
    options = ["--items", "10", "--people", "15", "--orders", "20", "--draws", "100"]
    command = program("experiment", "references", "--simulate", "--metric", "sumaccy", *options)
    subprocess.run([*command, "--quiet", "-o", str(path)], check=True, cwd=ROOT)
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(path.as_uri())
    box = page.locator("figure").first.bounding_box()
    assert box is not None
    save(
        page,
        "experiment.png",
        {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]},
    )
    page.close()


@contextmanager
def served(study: Path) -> Iterator[str]:
    """Serve a study while the block runs; the link of its first listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    links = program("study", "links", study, "--base", base, "--to", "csv")
    found = subprocess.run(links, check=True, capture_output=True, text=True).stdout
    link = next(word for word in found.replace(",", " ").split() if word.startswith(base))
    server = subprocess.Popen(program("serve", study, "--port", str(port)))
    try:
        for _ in range(200):
            try:
                urlopen(link).close()
                break
            except URLError:
                time.sleep(0.1)
        yield link
    finally:
        server.terminate()
        server.wait()


@contextmanager
def first_trial(browser: Browser, folder: Path, kind: str) -> Iterator[Page]:
    """Open the first trial of an example study."""
    script = ROOT / "examples" / "listen" / "make.py"
    subprocess.run([sys.executable, str(script), str(folder), "--kind", kind], check=True)
    study = folder / "study.yaml"
    lines = study.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(STUDY_WITHOUT_PRELUDE)]
    study.write_text("".join(kept), encoding="utf-8")
    with served(study) as link:
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT_OF_TRIALS})
        page.goto(link)
        scales = page.locator("input[type=radio], input[type=range]")
        for _ in range(10):  # consent, instructions, the title of the session
            page.locator("main button").first.wait_for()
            if scales.count():
                break
            for box in page.locator("input[type=checkbox]").all():
                box.check()
            page.locator("main button.wide, main button").last.click()
            page.wait_for_timeout(500)
        yield page
        page.close()


def listener(browser: Browser, folder: Path) -> None:
    """Take a picture of a trial, after the clip was heard and an answer chosen."""
    with first_trial(browser, folder, "p835") as page:
        page.locator("button.play").click()
        page.wait_for_function(
            "() => [...document.querySelectorAll('input[type=radio]')].some((r) => !r.disabled)"
        )
        page.locator('label:has(input[value="4"])').click()
        page.wait_for_timeout(300)
        save(page, "listener.png", from_top(page.locator(".trial")))


def several_sounds(browser: Browser, folder: Path) -> None:
    """Take a picture of each kind of trial with several sounds while the second is playing."""
    for kind in SEVERAL_SOUNDS:
        with first_trial(browser, folder / kind, kind) as page:
            if page.locator(".tile").count():
                page.keyboard.press("a")
                page.locator(".tile[data-state=heard]").wait_for()
                page.keyboard.press("b")
                page.locator(".tile[data-state=playing]").wait_for()
            else:
                page.locator("button.play").click()
                page.locator(".sequence li:last-child[aria-current=true]").wait_for()
            page.wait_for_timeout(1200)
            save(page, f"trial-{kind}.png", from_top(page.locator(".trial")))


def slider_pages(browser: Browser, folder: Path) -> None:
    """Take a picture of each kind of trial with sliders, after the first sounds were rated."""
    for kind, ratings in SLIDER_PAGES.items():
        with first_trial(browser, folder / kind, kind) as page:
            first_letter = "b" if kind == "bs1116" else "a"
            for number, rating in enumerate(ratings):
                page.keyboard.press(chr(ord(first_letter) + number))
                slider = page.locator("input[type=range]:not(.seek):not(.handle)").nth(number)
                slider.and_(page.locator(":enabled")).wait_for()
                slider.fill(str(rating))
            page.wait_for_timeout(500)
            area = from_top(page.locator(".board"))
            save(page, f"trial-{kind}.png", area | {"height": area["height"] - MARGIN + 4})


def main() -> None:
    """Take all pictures."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        report(browser, Path(folder))
        experiment(browser, Path(folder))
        listener(browser, Path(folder) / "listen")
        several_sounds(browser, Path(folder))
        slider_pages(browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
