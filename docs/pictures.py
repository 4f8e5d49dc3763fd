"""Screenshots in the README and on the website; `make pictures` writes them into docs/images.

They are taken in Chromium at a width of 1,280 pixels and cut at the margins: the top of a report, a
figure of an experiment, a trial of a P.835 study, a trial of each kind with several sounds, while
the second is playing, trials with sliders, with transcripts and with a plane, and a recording in
`earwitness browse`. All are stored with a palette, so that each stays below MAX_BYTES. Names of
functions on the command line, such as `plane browse`, select what is taken.
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import yaml
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Locator, Page, sync_playwright

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
EXAMPLE = ("examples/chapters/outputs.jsonl", "examples/chapters/annotators.jsonl")
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
WIDTH, HEIGHT, HEIGHT_OF_TRIALS, MARGIN = 1280, 900, 800, 24
COLOURS, COLOURS_OF_SPECTROGRAMS, MAX_BYTES = 128, 32, 150_000
SEVERAL_SOUNDS = ("dcr", "ccr", "ab", "abx", "preference")  # trials in the browser
SLIDER_PAGES = {"mushra": (84, 31, 58), "bs1116": (5, 3.2)}  # ratings of the first sounds
PRELUDE = ("anchors", "training", "training_items", "gold", "feedback", "device")
BROWSED = "470+180"  # start and seconds of the visible part
KEPT_WORDS = (1, 2, 11, 14, 18, 19, 20, 21, 22)  # of the first transcript of the kind words
READING_RATINGS = (2, 4)  # of the first summaries
PLACES = ((0.35, 0.85), (0.8, 0.4), (0.62, 0.7), (0.9, 0.22), (0.2, 0.55))  # TC and SD of skims


def program(*arguments: str | Path) -> list[str]:
    """Return a command line of Earwitness."""
    return [sys.executable, "-m", "earwitness", *map(str, arguments)]


def save(page: Page, name: str, area: FloatRect, colours: int = COLOURS) -> None:
    """Write a part of a page as a PNG file with few colours."""
    shot = page.screenshot(clip=area, full_page=True)
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(colours, dither=Image.Dither.NONE)
    IMAGES.mkdir(exist_ok=True)
    image.save(IMAGES / name, optimize=True)
    size = (IMAGES / name).stat().st_size
    print(f"wrote docs/images/{name} ({size:,} bytes)")
    assert size < MAX_BYTES


def from_top(last: Locator) -> FloatRect:
    """Return the area from the top of a page to the end of an element, with a margin around it."""
    last.page.evaluate("scrollTo(0, 0)")
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
    options = [
        "--simulate",
        "items=10",
        "--simulate",
        "people=15",
        "--orders",
        "20",
        "--draws",
        "100",
    ]
    command = program("experiment", "references", "--metric", "sumaccy", *options)
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


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(command: list[str], address: str) -> Iterator[None]:
    """Run a server while the block runs, from when it answers."""
    server = subprocess.Popen(command)
    try:
        for _ in range(200):
            try:
                urlopen(address).close()
                break
            except URLError:
                time.sleep(0.1)
        yield
    finally:
        server.terminate()
        server.wait()


def make(script: str, *arguments: str | Path) -> None:
    """Run the script of an example."""
    subprocess.run([sys.executable, ROOT / "examples" / script / "make.py", *arguments], check=True)


def listening_study(folder: Path, kind: str) -> Path:
    """Make an example study of a kind with sounds."""
    make("listen", folder, "--kind", kind)
    return folder / "study.yaml"


@contextmanager
def first_trial(browser: Browser, study: Path, height: int = HEIGHT_OF_TRIALS) -> Iterator[Page]:
    """Open the first trial of a study, without what precedes trials."""
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    for key in PRELUDE:
        content.pop(key, None)
    study.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    port = free_port()
    base = f"http://127.0.0.1:{port}"
    links = program("study", "links", study, "--base", base, "--to", "csv")
    found = subprocess.run(links, check=True, capture_output=True, text=True).stdout
    link = next(word for word in found.replace(",", " ").split() if word.startswith(base))
    with running(program("serve", study, "--port", str(port)), link):
        page = browser.new_page(viewport={"width": WIDTH, "height": height})
        page.goto(link)
        trial = page.locator("input[type=radio], input[type=range], .words, .plane-page")
        for _ in range(10):  # consent, instructions, the title of the session
            page.locator("main button").first.wait_for()
            if trial.count():
                break
            for box in page.locator("input[type=checkbox]").all():
                box.check()
            page.locator("main button.wide, main button").last.click()
            page.wait_for_timeout(500)
        yield page
        page.close()


def listener(browser: Browser, folder: Path) -> None:
    """Take a picture of a trial, after the clip was heard and an answer chosen."""
    with first_trial(browser, listening_study(folder / "listen", "p835")) as page:
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
        with first_trial(browser, listening_study(folder / kind, kind)) as page:
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
        with first_trial(browser, listening_study(folder / kind, kind)) as page:
            first_letter = "b" if kind == "bs1116" else "a"
            for number, rating in enumerate(ratings):
                page.keyboard.press(chr(ord(first_letter) + number))
                slider = page.locator("input[type=range]:not(.seek):not(.handle)").nth(number)
                slider.and_(page.locator(":enabled")).wait_for()
                slider.fill(str(rating))
            page.wait_for_timeout(500)
            area = from_top(page.locator(".board"))
            save(page, f"trial-{kind}.png", area | {"height": area["height"] - MARGIN + 4})


def transcripts(browser: Browser, folder: Path) -> None:
    """Take a picture of a trial in which words are kept, and of one in which summaries are rated.

    Some words of the first are kept, and the first summaries of the second are rated.
    """
    make("reading", folder / "transcripts")
    with first_trial(browser, folder / "transcripts" / "words" / "study.yaml") as page:
        for place in KEPT_WORDS:
            page.locator(".word").nth(place).click()
        page.wait_for_timeout(300)
        save(page, "trial-words.png", from_top(page.locator(".save")))
    with first_trial(browser, folder / "transcripts" / "reading" / "study.yaml") as page:
        for rating in READING_RATINGS:
            page.keyboard.press(str(rating))
        page.wait_for_timeout(300)
        save(page, "trial-reading.png", from_top(page.locator(".reading")))


def plane(browser: Browser, folder: Path) -> None:
    """Take a picture of skims that are placed on a plane."""
    make("plane", folder / "plane")
    study = folder / "plane" / "study.yaml"
    content = yaml.safe_load(study.read_text(encoding="utf-8"))
    parameters = content["blocks"][0]["parameters"] | {"check": False}
    content["blocks"][0]["parameters"] = {
        key: value for key, value in parameters.items() if key not in ("examples", "recording")
    }
    del content["recordings"]["full-length"]
    study.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    with first_trial(browser, study, HEIGHT) as page:
        page.locator(".navigator[data-state=drawn]").wait_for()
        page.get_by_role("tab", name="3. Place").click()
        for number, place in enumerate(PLACES, 1):
            for axis, value in zip(("TC", "SD"), place, strict=True):
                page.get_by_label(f"Skim {number}: {axis}", exact=True).fill(str(value))
        page.locator("h1").focus()
        page.wait_for_timeout(500)
        area = from_top(page.locator(".plane-page"))
        save(page, "trial-plane.png", area | {"height": area["height"] - MARGIN + 4})


def browse(browser: Browser, folder: Path) -> None:
    """Take a picture of three minutes of a recording with labels."""
    recording = folder / "harbour_20250722_000000.flac"
    timetable = ROOT / "examples" / "soundscape" / "harbour.yaml"
    command = program("soundscape", timetable, "-o", recording, "--seed", "1", "--quiet")
    subprocess.run(command, check=True)
    port = free_port()
    labels = recording.with_suffix(".labels.csv")
    command = program("browse", recording, "--labels", labels, "--cache", folder / "cache")
    address = f"http://127.0.0.1:{port}/"
    with running([*command, "--port", str(port), "--quiet"], address):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.goto(f"{address}#{BROWSED}")
        page.locator(".nav-building").wait_for(state="hidden")
        page.locator(".navigator[data-state=drawn]").wait_for()
        page.wait_for_timeout(500)
        save(page, "browse.png", from_top(page.locator(".navigator")), COLOURS_OF_SPECTROGRAMS)
        page.close()


TAKEN: tuple[Callable[[Browser, Path], None], ...] = (
    report,
    experiment,
    listener,
    several_sounds,
    slider_pages,
    transcripts,
    plane,
    browse,
)


def main() -> None:
    """Take the pictures named on the command line, by default all."""
    names = {take.__name__: take for take in TAKEN}
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for name in sys.argv[1:] or names:
            names[name](browser, Path(folder))
        browser.close()


if __name__ == "__main__":
    main()
