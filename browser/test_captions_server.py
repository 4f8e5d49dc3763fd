"""Captions judged in Chromium, with the real server: whole studies, as they are given and kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser.helpers.caption_raters import (
    PAGES,
    TRIALS,
    ByKeyboard,
    ByMouse,
    ByTouch,
    Judge,
    Rater,
    write_captions,
)
from browser.helpers.expectations import expect
from browser.helpers.page_actions import DESKTOP, PHONE, visit
from browser.helpers.real_server import HIDDEN, RealServer, really_served
from playwright.sync_api import Browser, Page, Response

from helpers.samples import FULL

WIDTHS = {1200: DESKTOP, 390: PHONE}
YES = {"en": "yes", "fr": "oui"}
ENGLISH = r"\b(the|of|to|is|Play|Save|Keys|Caption|Comment|Precision|Scores|optional|yes)\b"


def finished(page: Page) -> None:
    expect(page.locator(".code")).to_have_text(re.compile(r"[2-9A-HJ-NP-Z]{10}"))


def told_by(response: Response) -> str:
    """All that a response tells a browser."""
    body = response.body().decode("latin-1")
    return f"{response.url} {response.all_headers()} {body}"


def kept(server: RealServer) -> dict[str, Any]:
    """What the store has, each page once."""
    history = server.history()
    assert len({one.answer.page for one in history}) == len(history)
    return {one.answer.page: one.answer.values for one in history}


@pytest.mark.parametrize(
    ("hand", "width", "language"),
    [
        (ByKeyboard, 1200, "en"),
        (ByTouch, 390, "fr"),
        *([(ByKeyboard, 390, "en"), (ByMouse, 1200, "fr"), (ByMouse, 390, "en")] if FULL else []),
    ],
    ids=str,
)
def test_a_whole_study_about_captions_is_stored_as_given_and_gives_nothing_away(
    browser: Browser, tmp_path: Path, hand: type[Rater], width: int, language: str
) -> None:
    with really_served(tmp_path, language, write=write_captions) as server:
        context = browser.new_context(**WIDTHS[width])
        responses: list[Response] = []
        context.on("response", lambda one: responses.append(one))
        page, said = visit(context, server.links[0])
        judge, shown = Judge(page, hand, YES[language]), list[str]()
        for name in PAGES:
            expect(page.locator("body")).to_have_attribute("data-name", name)
            shown.append(page.locator("main:not([inert])").inner_text())
            judge.walk(name)
        finished(page)
        told = [
            f"{one.url} {one.all_headers()} {one.body().decode('latin-1')}" for one in responses
        ]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
        assert said == []
        assert kept(server) == judge.given
        metas = [one.meta for one in server.history() if one.answer.page in TRIALS]
    if language == "fr":
        assert "1,35" in shown[1]
        assert [found for one in shown for found in re.findall(ENGLISH, one)] == []
    for meta in metas:
        assert meta is not None
        assert meta["keyboard"] is (hand is ByKeyboard)
        [play] = [one for one in meta["plays"] if one["ended"]]
        assert (play["sound"], play["question"]) == (0, "")
        assert play["seconds"] == pytest.approx(0.4, abs=0.04)
    assert sum("audio/wav" in one for one in told) >= len(TRIALS)
    assert [name for name in HIDDEN for one in told if name.lower() in one.lower()] == []
