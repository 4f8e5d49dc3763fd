"""Plays are on record at the server from their start, whatever comes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.input_devices import P835, Listener
from browser.helpers.page_actions import DESKTOP, hear, opened, rate, until, visit
from browser.helpers.real_server import PAGES, really_served
from playwright.sync_api import Browser, Page

PART = "Number(document.querySelector('.bar i').style.getPropertyValue('--part')) > 1.4 / 20"


def plays(fake: FakeServer) -> list[tuple[Any, ...]]:
    told = [one for one in fake.events if one["kind"].startswith("play")]
    return [(one["kind"], one["page"], one["question"], one["ended"]) for one in told]


def awaited(page: Page, fake: FakeServer, count: int) -> None:
    for _ in range(100):  # events are sent when there is time for them
        if len(plays(fake)) >= count:
            break
        page.wait_for_timeout(100)


def test_a_play_is_told_when_it_starts_and_when_it_ends(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1), small.end()])
    with served(fake), opened(browser, fake) as page:
        hear(page)
        awaited(page, fake, 2)
        expected = [("play_started", "1.1", "BAK", False), ("play_ended", "1.1", "BAK", True)]
        assert plays(fake) == expected
        start, end = [one for one in fake.events if one["kind"].startswith("play")]
        assert (start["sound"], start["seconds"], end["sound"]) == (0, 0, 0)
        assert end["seconds"] == pytest.approx(0.4, abs=0.02)


def test_a_play_on_one_device_is_on_record_when_another_goes_on(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])
    fake.sound = tone(20)
    with served(fake):
        with opened(browser, fake) as page:
            page.get_by_role("button", name="Play").click()
            awaited(page, fake, 1)
        fake.sound = tone()
        with opened(browser, fake) as page:
            rate(page, 4)
            expect(page.locator(".code")).to_be_visible()
            awaited(page, fake, 3)
        started = ("play_started", "1.1", "QUALITY", False)
        assert plays(fake) == [started, started, ("play_ended", "1.1", "QUALITY", True)]


def test_a_play_that_a_reload_cuts_off_says_how_far_it_was(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1, kind="acr"), small.end()])
    fake.sound = tone(20)
    with served(fake), opened(browser, fake) as page:
        page.get_by_role("button", name="Play").click()
        until(page, PART)
        fake.sound = tone()
        page.reload()
        rate(page, 4)
        expect(page.locator(".code")).to_be_visible()
        cut, whole = fake.answers[0]["meta"]["plays"]
        assert (cut["ended"], whole["ended"]) == (False, True)
        assert 0.8 < cut["seconds"] < 20


def test_a_sound_heard_on_one_device_is_not_heard_again_on_another(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path) as server:
        first = browser.new_context(**DESKTOP)
        page, _ = visit(first, server.links[0])
        listener = Listener(page)
        listener.walk(*PAGES[: PAGES.index("1.1")])
        listener.stand("1.1")
        listener.hear()
        for _ in range(100):  # events are sent when there is time for them
            if server.told("play_ended", "1.1"):
                break
            page.wait_for_timeout(100)
        second = browser.new_context(**DESKTOP)
        other, _ = visit(second, server.links[0])
        elsewhere = Listener(other)
        elsewhere.stand("1.1")
        expect(other.locator("button.play")).to_be_disabled()
        expect(other.get_by_role("radio").first).to_be_enabled()
        asked = elsewhere.scales[other.locator(".prompt").inner_text()]
        elsewhere.hand.choose(2)
        expect(other.locator(".steps i.done")).to_have_count(1)
        rest = elsewhere.rate()
        elsewhere.stand("1.2")
        [given] = [one for one in server.history() if one.answer.page == "1.1"]
        assert given.answer.values == {asked: 2, **rest}
        assert given.meta is not None
        plays = [one["question"] for one in given.meta["plays"] if one["ended"]]
        assert sorted(plays) == sorted(P835)
        for context in (first, second):
            context.close()
