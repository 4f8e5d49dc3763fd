"""Listeners in Chromium, with the real server and its store: whole studies, and what may go wrong.

The server is killed, browsers are killed, tabs and devices compete: what was pressed is in the
store, once, and everybody goes on where they were.
"""

from __future__ import annotations

import json
import multiprocessing
import re
import signal
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from browser.conftest import FLAGS
from browser.helpers import real_server
from browser.helpers.expectations import expect
from browser.helpers.input_devices import Finger, Hand, Keyboard, Listener, Mouse
from browser.helpers.page_actions import DESKTOP, PHONE, at, kill_browser, visit
from browser.helpers.real_server import HIDDEN, PAGES, TRIALS, RealServer, really_served
from playwright.sync_api import Browser, Page, Playwright, Response

from helpers.samples import FULL

ANSWERS = "**/answers"
CODE = re.compile(r"[2-9A-HJ-NP-Z]{10}")


def kept_once(server: RealServer, pressed: dict[str, Any], listener: int = 1) -> None:
    """The store has what was pressed, all of it, each page once, in order."""
    history = server.history(listener)
    assert [one.answer.page for one in history] == list(pressed)
    assert [one.answer.values for one in history] == list(pressed.values())
    assert len({one.id for one in history}) == len(history)
    assert all(one.supersedes is None and not one.aside for one in history)
    in_browser = [one for one in history if not one.answer.at.startswith("2026-01-01T")]
    assert not [one.answer.page for one in in_browser if "unheard" in (one.meta or {})]


def heard_to_the_end(meta: Mapping[str, Any] | None, questions: Iterable[str]) -> None:
    """Every question had its own play, to the end."""
    assert meta is not None
    plays = meta["plays"]
    assert [play["question"] for play in plays] == list(questions)
    assert all(play["ended"] for play in plays)
    assert [play["seconds"] for play in plays] == pytest.approx([0.4] * len(plays), abs=0.02)


def used_keys(meta: Mapping[str, Any] | None) -> bool:
    return bool(meta and meta.get("keyboard"))


def finished(page: Page) -> None:
    expect(page.locator(".code")).to_have_text(CODE)


@pytest.mark.parametrize(
    ("hand", "width"),
    [(Keyboard, 1200), *([(Mouse, 390), (Mouse, 1200), (Keyboard, 390)] if FULL else [])],
    ids=str,
)
def test_a_whole_study_is_stored_as_pressed_and_gives_nothing_away(
    browser: Browser, tmp_path: Path, hand: type[Hand], width: int
) -> None:
    with really_served(tmp_path) as server:
        context = browser.new_context(viewport={"width": width, "height": 844})
        responses: list[Response] = []
        asked: list[str] = []
        context.on("response", lambda one: responses.append(one))
        context.on("request", lambda one: asked.append(one.url))
        page, said = visit(context, server.links[0])
        listener = Listener(page, hand)
        listener.walk(*PAGES)
        finished(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        told = [told_by(one) for one in responses]
        context.close()
        assert said == []
        assert [one for one in asked if not one.startswith(server.base)] == []
        kept_once(server, listener.pressed)
        for answered in server.history():
            if answered.answer.page in TRIALS:
                heard_to_the_end(answered.meta, listener.pressed[answered.answer.page])
                assert used_keys(answered.meta) is (hand is Keyboard)
        exported = server.exported()
        answers = {name: values for name, values in listener.pressed.items() if values}
        assert {one["page"]: one["values"] for one in exported} == answers
        analysed = json.loads(server.run("analyse", "--to", "json", "--no-mixed"))
    assert len(set(means_pressed(exported).values())) > 2
    assert means_told(analysed) == pytest.approx(means_pressed(exported))
    assert sum("audio/wav" in one for one in told) >= 5
    assert [name for name in HIDDEN for one in told if name.lower() in one.lower()] == []


def told_by(response: Response) -> str:
    """All that a response tells a browser."""
    body = response.body().decode("latin-1")
    return f"{response.url} {response.all_headers()} {body}"


def means_pressed(exported: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    """The mean of every system and scale over the trials that count."""
    found = defaultdict(list)
    for one in exported:
        if re.fullmatch(r"\d\.[1-9]", one["page"]):
            [system] = one["heard"]["systems"]
            for scale, value in one["values"].items():
                found[system, scale].append(value)
    return {name: fmean(values) for name, values in found.items()}


def means_told(analysed: dict[str, Any]) -> dict[tuple[str, str], float]:
    """The same, as the analysis gives them."""
    return {
        (system, scale["value"]["name"]): found["mean"]["value"]
        for scale in analysed["scales"]
        for system, found in scale["systems"].items()
    }


def test_a_whole_study_by_touch_on_a_dark_phone_in_french(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, "fr") as server:
        context = browser.new_context(**PHONE, color_scheme="dark", locale="fr-FR")
        page, said = visit(context, server.links[1])
        listener = Listener(page, Finger, "fr")
        for name in PAGES:
            listener.stand(name)
            shown = page.locator("body").inner_text()
            assert not re.search(r"\b(the|Play|Next|Saved|Trial|Please|left|Add|You)\b", shown)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            listener.walk(name)
        finished(page)
        expect(page.get_by_role("heading", level=1)).to_have_text("Vous avez terminé. Merci\u00a0!")
        assert darkness(page) < 60
        context.close()
        assert said == []
        kept_once(server, listener.pressed, 2)
        assert not any(used_keys(answered.meta) for answered in server.history(2))


def darkness(page: Page) -> float:
    """The mean of red, green and blue of what lies behind everything."""
    colour = page.evaluate(
        "[document.body, document.documentElement].map((one) => getComputedStyle(one)"
        ".backgroundColor).find((one) => !/, 0\\)$/.test(one))"
    )
    return fmean(float(part) for part in re.findall(r"[\d.]+", colour)[:3])


def test_a_killed_browser_goes_on_at_the_very_trial_and_so_does_another_device(
    browser: Browser, playwright: Playwright, chromium: str, tmp_path: Path
) -> None:
    profile = tmp_path / "profile"

    def start() -> Listener:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=chromium, args=FLAGS, **DESKTOP
        )
        return Listener(visit(context, server.links[0])[0])

    with really_served(tmp_path) as server:
        pressed = server.answer_up_to("1.1")
        listener = start()
        listener.stand("1.1")
        part = listener.rate(last=False)
        expect(listener.page.locator(".steps i.done")).to_have_count(2)
        kill_browser(profile)  # in the midst of a trial
        listener = start()
        listener.stand("1.1")
        expect(listener.page.locator(".steps i.done")).to_have_count(2)
        server.signal(signal.SIGSTOP)
        with listener.page.expect_request(ANSWERS):
            pressed["1.1"] = part | listener.rate()
        kill_browser(profile)  # in the midst of an answer
        server.signal(signal.SIGCONT)
        listener = start()
        listener.stand("1.2")
        listener.rate(last=False)
        until_told(listener.page, server, "play_ended", "1.2", 2)
        other = browser.new_context(**PHONE)
        elsewhere = Listener(visit(other, server.links[0])[0], Finger)
        elsewhere.stand("1.2")  # where a sound was heard on the first device
        expect(elsewhere.page.locator("button.play")).to_be_disabled()
        expect(elsewhere.page.get_by_role("radio").first).to_be_enabled()
        elsewhere.walk("1.2", "rest.2", "2.0")
        elsewhere.stand("2.1")
        other.close()
        listener.page.reload()
        listener.walk("2.1")
        listener.stand("2.2")
        listener.page.context.close()
        kept_once(server, pressed | elsewhere.pressed | listener.pressed)


def until_told(page: Page, server: RealServer, kind: str, name: str, count: int) -> None:
    """Wait until the server has events, which are sent when there is time for them."""
    for _ in range(100):
        if server.told(kind, name) >= count:
            return
        page.wait_for_timeout(100)
    raise AssertionError(kind)


def test_two_tabs_cannot_answer_twice(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path) as server:
        context = browser.new_context(**DESKTOP)
        before = server.answer_up_to("1.1")
        first, said = visit(context, server.links[0])
        Listener(first).stand("1.1")
        second, also_said = visit(context, server.links[0])
        at(second, "This test is open in another tab")
        second.get_by_role("button", name="Use this tab").click()
        taker = Listener(second)
        taker.walk("1.1")
        taker.stand("1.2")
        at(first, "This test is open in another tab")
        assert first.locator(".play").count() == 0
        context.close()
        assert said == also_said == []
        kept_once(server, before | taker.pressed)


def start_without_address(command: list[str], stderr: Connection) -> None:
    """A server that runs, and does not say where."""
    del command
    with open(stderr.fileno(), "w", closefd=False) as lines:
        lines.write("not here\n")
    time.sleep(20)


def test_a_server_that_does_not_start_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(real_server, "_run", start_without_address)
    before = {*multiprocessing.active_children()}
    with pytest.raises(AssertionError, match="not here"), really_served(tmp_path):
        pass
    assert {*multiprocessing.active_children()} == before
