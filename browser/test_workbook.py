"""The page where raters of captions get their workbook and send it back, in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.helpers.expectations import expect
from browser.helpers.page_actions import DESKTOP, PHONE
from browser.helpers.real_server import RealServer
from playwright.sync_api import Browser, FileChooser, Page, TimeoutError

from earwitness.studies.wording import wording
from helpers.caption_study import CLIPS, STUDY, anything, captioned, designed, filled
from helpers.samples import FULL

WRONG = {"precision": 6, "fluency": 0.5}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


class Captions(RealServer):
    """A study of captions that is served."""

    def __init__(self, study: Path) -> None:
        self.more, self.port = (), 0
        self.study, self.db = study, study.parent / "store.db"
        self.start()
        self.links = self._links()


@contextmanager
def captions_served(folder: Path, language: str = "en") -> Iterator[Captions]:
    server = Captions(captioned(folder / "s", f"{STUDY}language: {language}\n"))
    try:
        yield server
    finally:
        server.kill()


def files(server: Captions, folder: Path) -> tuple[Path, Path]:
    """A workbook with faults, and one without but for a blank."""
    made = designed(server.study)
    bad, good = folder / "bad.xlsx", folder / "P1_local.xlsx"
    bad.write_bytes(filled(made, 1, lambda row: anything(1)(row) | WRONG))
    blank = {"fluency": None}
    good.write_bytes(
        filled(made, 1, lambda row: anything(1)(row) | (blank if row.record == "c2" else {}))
    )
    return bad, good


def visit(browser: Browser, address: str, device: dict[str, Any]) -> tuple[Page, list[str]]:
    page, said = browser.new_context(**device).new_page(), list[str]()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(address)
    return page, said


@pytest.mark.parametrize("language", ["en", "fr"] if FULL else ["fr"])
def test_a_workbook_is_mended_by_what_the_page_says(
    browser: Browser, tmp_path: Path, language: str
) -> None:
    words = wording(language).web
    with captions_served(tmp_path, language) as server:
        bad, good = files(server, tmp_path)
        page, said = visit(browser, server.links[0], PHONE)
        page.get_by_role("link", name=words["workbook_link"]).tap()
        page.get_by_role("button", name=words["workbook_send"], exact=True).tap()
        expect(page.locator("#said")).to_have_text(words["workbook_none"])
        page.locator("input[type=file]").set_input_files(bad)
        page.get_by_role("button", name=words["workbook_send"], exact=True).tap()
        expect(page.locator("#result h2")).to_have_text(words["not_saved"])
        expect(page.locator(".places li")).to_have_count(4 * CLIPS)
        expect(page.locator(".places b").first).to_have_text("Assessment!E3")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
        assert server.run("export", "--content", "all").count('"answer"') == 0
        page.locator("input[type=file]").set_input_files(good)
        page.get_by_role("button", name=words["workbook_send"], exact=True).tap()
        expect(page.locator("#result h2")).to_have_text(words["saved"])
        expect(page.locator(".places li")).to_have_count(2)
        expect(page.locator("#result")).to_be_focused()
        assert len(server.exported()) == CLIPS
        page.get_by_role("link", name=words["workbook_back"]).tap()
        expect(page.locator("h1")).to_have_text(wording(language).pages["headphones"])
        page.context.close()
        assert said == []


def test_the_keyboard_is_enough(browser: Browser, tmp_path: Path) -> None:
    with captions_served(tmp_path) as server:
        _, good = files(server, tmp_path)
        page, said = visit(browser, f"{server.links[0]}/workbook", DESKTOP)
        with page.expect_download() as got:
            page.keyboard.press("Tab")
            page.keyboard.press("Enter")
        assert got.value.suggested_filename == "P1_local.xlsx"
        assert Path(got.value.path()).read_bytes()[:2] == b"PK"
        page.keyboard.press("Tab")
        expect(page.locator("input[type=file]")).to_be_focused()
        choose_by_space(page).set_files(good)
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#result h2")).to_have_text("Saved")
        page.context.close()
        assert said == []


def choose_by_space(page: Page) -> FileChooser:
    """Open the file chooser; a busy machine may take a key press for too old to open it."""
    for _ in range(2):
        try:
            with page.expect_file_chooser(timeout=15_000) as chooser:
                page.keyboard.press("Space")
            return chooser.value
        except TimeoutError:
            continue
    with page.expect_file_chooser() as chooser:
        page.keyboard.press("Space")
    return chooser.value


def test_a_file_may_be_dropped_and_axe_finds_nothing(browser: Browser, tmp_path: Path) -> None:
    with captions_served(tmp_path) as server:
        bad, good = files(server, tmp_path)
        page, said = visit(browser, f"{server.links[0]}/workbook", PHONE)
        page.locator("input[type=file]").set_input_files(bad)
        page.get_by_role("button", name="Upload", exact=True).tap()
        expect(page.locator("#result")).to_be_visible()
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)
            found = Axe().run(page)
            assert found.violations_count == 0, found.generate_report()
        page.evaluate(
            """bytes => {
              const data = new DataTransfer();
              data.items.add(new File([new Uint8Array(bytes)], "P1.xlsx"));
              const how = {dataTransfer: data, bubbles: true, cancelable: true};
              const drop = new DragEvent("drop", how);
              document.querySelector(".drop").dispatchEvent(drop);
            }""",
            list(good.read_bytes()),
        )
        expect(page.locator("#result h2")).to_have_text("Saved")
        page.context.close()
        assert said == []
        assert len(server.exported()) == CLIPS
