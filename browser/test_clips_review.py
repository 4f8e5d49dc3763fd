"""The review of clips in Chromium: decisions, keys, storage, export and import."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import soundfile
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from playwright.sync_api import Browser, Page

from earwitness.material.review import DROP_REASONS, ReviewClip, review_page
from earwitness.material.selection import read_review

ENDED = "0.5 / 0.5 s"
NAMES = ("S01_Küche 1", "S01_50%", "<b>&#35;", "S21")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with four clips of half a second."""
    folder = tmp_path_factory.mktemp("review")
    (folder / "audio").mkdir()
    samples = 0.1 * np.sin(np.arange(4_000) / 3)
    for name in NAMES:
        soundfile.write(folder / "audio" / f"{name}.wav", samples, 8_000)
    facts = {"recording": "S01", "location": "kitchen", "SNR (rough)": "12.5 dB"}
    clips = [ReviewClip(name, 0.5, [(0.1, 0.4)], [10, 50, 100, 20], facts) for name in NAMES]
    (folder / "review.html").write_text(review_page(clips, "S01 & S21"), encoding="utf-8")
    return folder / "review.html"


def opened(browser: Browser, place: Path, width: int = 1_280, scheme: str = "light") -> Page:
    page = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        bypass_csp=True,  # for what the tests ask, not for the page
    )
    page.goto(place.as_uri())
    return page


def test_clips_are_played_judged_and_remembered(browser: Browser, place: Path) -> None:
    page = browser.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda one: asked.append(one.url))
    page.goto(place.as_uri())
    expect(page.locator(".count")).to_have_text("0 of 4 reviewed")
    page.keyboard.press("Space")
    expect(page.locator(".told")).to_have_text(ENDED)
    page.keyboard.press("k")  # and the next clip plays
    expect(page.locator("h2.name")).to_have_text(NAMES[1])
    expect(page.locator(".told")).to_have_text(ENDED)
    page.keyboard.press("d")
    expect(page.locator(".state")).to_have_text("Drop: no reason yet")
    expect(page.locator(".tally")).to_have_text("1 kept, 1 dropped (1 without a reason)")
    page.get_by_label("other language").press("ArrowRight")  # inside the group: no other clip
    expect(page.locator(".state")).to_have_text("Drop: private content")
    page.get_by_label("noise only").click()
    expect(page.locator("h2.name")).to_have_text(NAMES[2])
    page.keyboard.press(str(len(DROP_REASONS)))
    page.keyboard.type('a "door", k')  # keys are text in a text field
    page.keyboard.press("Enter")
    expect(page.locator("h2.name")).to_have_text(NAMES[3])
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".state")).to_have_text('Drop: a "door", k')
    page.reload()
    expect(page.locator(".count")).to_have_text("3 of 4 reviewed")
    expect(page.locator("h2.name")).to_have_text(NAMES[2])
    page.get_by_label("Show").select_option("open")
    expect(page.locator(".clips li:visible")).to_have_count(1)
    page.locator(".clips li:visible button").click()
    page.get_by_role("button", name="Play").press("Space")
    expect(page.locator(".told")).to_have_text(ENDED)
    assert said == []
    assert all(one.startswith("file:") for one in asked)
    assert len([one for one in asked if one.endswith(".wav")]) >= 4
    page.close()


def test_decisions_are_exported_and_imported(browser: Browser, place: Path, tmp_path: Path) -> None:
    page = opened(browser, place)
    page.keyboard.press("5")
    page.get_by_role("button", name="Keep").click()
    page.keyboard.press("6")
    page.keyboard.type('=1+1 "door", slammed')
    with page.expect_download() as download:
        page.get_by_role("button", name="Export").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    page.close()
    assert '"\'=1+1 ""door"", slammed"' in path.read_text(encoding="utf-8")
    decisions, problems = read_review(path, NAMES)
    assert problems == []
    assert decisions == {
        NAMES[0]: ("drop", "cut word"),
        NAMES[1]: ("keep", ""),
        NAMES[2]: ("drop", '=1+1 "door", slammed'),
    }
    page = browser.new_context().new_page()
    page.goto(place.as_uri())
    expect(page.locator(".count")).to_have_text("0 of 4 reviewed")
    with path.open("a", encoding="utf-8") as file:
        file.write("unknown,keep,\n")
    page.get_by_label("Import review.csv").set_input_files(path)
    expect(page.locator(".count")).to_have_text("3 of 4 reviewed")
    expect(page.locator(".message")).to_have_text(
        "Imported decisions: 3; changed here: 0; rows ignored for an unknown clip or decision: 1."
    )
    expect(page.locator(".clips")).to_contain_text('Drop: =1+1 "door", slammed')
    page.get_by_role("button", name="Undo").click()
    expect(page.locator(".count")).to_have_text("2 of 4 reviewed")
    path.write_text(f"name,decision\n{NAMES[1]},drop\n{NAMES[1]},keep\n", encoding="utf-8")
    page.get_by_label("Import review.csv").set_input_files(path)
    expect(page.locator(".message")).to_contain_text(f"two decisions on {NAMES[1]}")
    path.write_text(f"name,decision\n{NAMES[1]},drop\n", encoding="utf-8")
    page.get_by_label("Import review.csv").set_input_files(path)
    expect(page.locator(".message")).to_have_text("Imported decisions: 1; changed here: 1.")


@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1_280)])
def test_it_fits_and_everybody_can_use_it(
    browser: Browser, place: Path, scheme: str, width: int
) -> None:
    page = opened(browser, place, width, scheme)
    for key in ("k", "d", str(len(DROP_REASONS))):
        page.keyboard.press(key)
    expect(page.get_by_label("Details of another reason")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
