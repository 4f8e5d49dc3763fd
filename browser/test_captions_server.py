"""Captions judged in Chromium, with the real server: whole studies, as they are given and kept."""

from __future__ import annotations

import re
import uuid
from pathlib import Path
from typing import Any

import pytest
from browser.helpers.caption_pages import NAMES
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
POSTED = """async ([path, body]) => {
  const headers = { "Content-Type": "application/json" };
  const sent = { method: "POST", body: JSON.stringify(body), headers };
  const reply = await fetch(location.pathname + path, sent);
  return [reply.status, await reply.json()];
}"""


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
    ("hand", "width"),
    [
        (ByKeyboard, 1200),
        (ByTouch, 390),
        *([(ByKeyboard, 390), (ByMouse, 1200), (ByMouse, 390)] if FULL else []),
    ],
    ids=str,
)
def test_a_whole_study_about_captions_is_stored_as_given_and_gives_nothing_away(
    browser: Browser, tmp_path: Path, hand: type[Rater], width: int
) -> None:
    with really_served(tmp_path, write=write_captions) as server:
        context = browser.new_context(**WIDTHS[width])
        responses: list[Response] = []
        context.on("response", lambda one: responses.append(one))
        page, said = visit(context, server.links[0])
        judge = Judge(page, hand)
        judge.walk(*PAGES)
        finished(page)
        told = [
            f"{one.url} {one.all_headers()} {one.body().decode('latin-1')}" for one in responses
        ]
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()
        assert said == []
        assert kept(server) == judge.given
        metas = [one.meta for one in server.history() if one.answer.page in TRIALS]
    for meta in metas:
        assert meta is not None
        assert meta["keyboard"] is (hand is ByKeyboard)
        [play] = [one for one in meta["plays"] if one["ended"]]
        assert (play["sound"], play["question"]) == (0, "")
        assert play["seconds"] == pytest.approx(0.4, abs=0.04)
    assert sum("audio/wav" in one for one in told) >= len(TRIALS)
    assert [name for name in HIDDEN for one in told if name.lower() in one.lower()] == []


def test_a_whole_french_study_has_no_english_words(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, "fr", write=write_captions) as server:
        context = browser.new_context(**DESKTOP)
        page, said = visit(context, server.links[0])
        judge, shown = Judge(page, ByKeyboard, "oui"), list[str]()
        for name in PAGES:
            expect(page.locator("body")).to_have_attribute("data-name", name)
            shown.append(page.locator("main:not([inert])").inner_text())
            judge.walk(name)
        finished(page)
        context.close()
        assert said == []
        assert kept(server) == judge.given
    assert "Précision" in shown[1]
    assert "1,35" in shown[1]
    assert "Là aussi, plus on va à droite, mieux c’est" in shown[3]
    english = r"\b(the|of|to|is|Play|Save|Keys|Caption|Comment|Precision|Scores|optional|yes)\b"
    assert [found for one in shown for found in re.findall(english, one)] == []


def test_the_server_refuses_what_the_page_would_never_send(
    browser: Browser, tmp_path: Path
) -> None:
    def post(change: dict[str, Any], **meta: Any) -> tuple[int, str]:
        body = {"id": str(uuid.uuid4()), "page": "1.1", "values": {**good, **change}}
        play = {"sound": 0, "question": "", "seconds": 0.4, "ended": True}
        status, told = page.evaluate(
            POSTED, ["/answers", {**body, "meta": {"plays": [play], **meta}}]
        )
        return status, str(told)

    with really_served(tmp_path, write=write_captions) as server:
        context = browser.new_context(**DESKTOP)
        page, _ = visit(context, server.links[0])
        judge = Judge(page, ByMouse)
        judge.walk(*PAGES[: PAGES.index("1.1")])
        expect(page.locator(".save")).to_be_visible()
        good = {f"{a}.{name}": 3 if name in NAMES[:2] else -0.1 for a in "AB" for name in NAMES}
        for change, told in (
            ({"A.recall": None}, "A.recall has no answer"),
            ({"A.precision": 6}, "A.precision must be from 1 to 5"),
            ({"B.fluency": 0.5}, "B.fluency must be from -2 to 0"),
            ({"B.fluency": -0.15}, "B.fluency must be"),
            ({"B.recall": "4"}, "B.recall must be"),
            ({"synthesised": "perhaps"}, "synthesised must be yes or no"),
            ({"A.comment": "x" * 2001}, "A.comment must be text of at most"),
        ):
            status, reply = post(change)
            assert status == 422
            assert told in reply
        status, reply = post({}, plays=[])
        assert status == 422
        assert "sound 0 was not played to the end" in reply
        assert "1.1" not in kept(server)
        assert post({})[0] == 200
        context.close()
