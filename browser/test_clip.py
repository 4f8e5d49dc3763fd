"""The clip of a page with captions: pauses, leaps and reloads belong to one play."""

from __future__ import annotations

import random
from typing import Any

import pytest
from browser.helpers import caption_pages as captions
from browser.helpers import study_pages as small
from browser.helpers.caption_actions import give, hear, save, trial
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import opened, until
from playwright.sync_api import Browser, Page

STATE = "data-state"
JOINED = """async (heard) => {
  const { covered, firstGap, isWhole, joined } = await import("/static/heard_spans.js");
  const spans = heard.reduce((found, [from, to]) => joined(found, from, to), []);
  return [spans, covered(spans), firstGap(spans, 20), isWhole(spans, 20)];
}"""
AT = "Number(document.querySelector('.seek').value)"


def events(page: Page, fake: FakeServer, *kinds: str) -> list[dict[str, Any]]:
    """What was told of plays, once all of these were."""
    for _ in range(100):
        found = [one for one in fake.events if one["kind"].startswith("play")]
        if len(found) >= len(kinds):
            break
        page.wait_for_timeout(100)
    assert [one["kind"] for one in found] == list(kinds)
    return found


def long(seconds: float = 2.0) -> FakeServer:
    fake = trial()
    fake.sound = tone(seconds)
    return fake


def leap(page: Page, to: float) -> None:
    page.locator(".seek").fill(str(to))


def test_a_clip_that_was_not_heard_is_told_and_nothing_is_saved(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        expect(page.locator(".player")).to_contain_text("You can read and rate the captions")
        give(page, *range(10))
        save(page)
        expect(page.locator(".missing li")).to_have_text(["Clip: not heard to the end yet"])
        expect(page.locator(".player .said.bad")).to_contain_text("before you save")
        expect(page.locator("button.play")).to_be_focused()
        assert fake.posts == []
        page.keyboard.press("Space")
        expect(page.locator(".player")).to_contain_text("You have heard the whole clip.")
        expect(page.locator(".missing li")).to_have_count(0)
        save(page)
        expect(page.locator(".code")).to_be_visible()


def test_a_play_with_a_pause_is_one_play(browser: Browser) -> None:
    with served(long()) as fake, opened(browser, fake) as page:
        play = page.locator("button.play")
        expect(page.locator(".seek")).to_be_enabled()
        page.keyboard.press("Space")
        until(page, f"{AT} > 0.5")
        page.keyboard.press("Space")
        expect(play).to_have_attribute(STATE, "play")
        stood = page.evaluate(AT)
        give(page, *range(10))
        assert page.evaluate(AT) == stood
        play.click()
        expect(page.locator(".player")).to_contain_text("You have heard the whole clip.")
        save(page)
        expect(page.locator(".code")).to_be_visible()
        [one] = fake.answers[0]["meta"]["plays"]
        assert one["ended"] is True
        assert one["seconds"] == pytest.approx(2, abs=0.04)
        told = events(page, fake, "play_started", "play_paused", "play_ended")
        assert 0.4 < told[1]["seconds"] < 1.9
        assert [one["ended"] for one in told] == [False, False, True]
        assert len({one["started"] for one in told}) == 1


def test_a_part_that_was_leapt_over_is_to_be_heard_and_the_clip_goes_back_there(
    browser: Browser,
) -> None:
    with served(long()) as fake, opened(browser, fake) as page:
        expect(page.locator(".seek")).to_be_enabled()
        page.locator("button.play").click()
        until(page, f"{AT} > 0.2")
        leap(page, 1.6)
        expect(page.locator(".player")).to_contain_text("You skipped a part of the clip.")
        assert 0.2 <= page.evaluate(AT) < 1.5
        give(page, *range(10))
        save(page)
        expect(page.locator(".missing li")).to_have_count(1)
        page.locator("button.play").click()
        expect(page.locator(".player")).to_contain_text("You have heard the whole clip.")
        save(page)
        expect(page.locator(".code")).to_be_visible()
        [one] = fake.answers[0]["meta"]["plays"]
        assert (one["ended"], one["seconds"]) == (True, pytest.approx(2, abs=0.04))


def test_a_play_goes_on_after_a_reload_where_it_was(browser: Browser) -> None:
    with served(long(4)) as fake, opened(browser, fake) as page:
        page.locator("button.play").click()
        until(page, f"{AT} > 1.4")
        page.reload()
        expect(page.locator(".seek")).to_be_enabled()
        assert 0.9 < page.evaluate(AT) < 3.5
        hear(page)
        give(page, *range(10))
        save(page)
        expect(page.locator(".code")).to_be_visible()
        [one] = fake.answers[0]["meta"]["plays"]
        assert (one["ended"], one["seconds"]) == (True, pytest.approx(4, abs=0.04))


def test_a_clip_may_be_heard_again_and_each_play_is_on_record(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        expect(page.locator("button.play")).to_have_attribute(STATE, "play_again")
        page.keyboard.press("Space")
        events(page, fake, *("play_started", "play_ended") * 2)
        give(page, *range(10))
        save(page)
        expect(page.locator(".code")).to_be_visible()
        assert [one["ended"] for one in fake.answers[0]["meta"]["plays"]] == [True, True]


def test_a_clip_that_may_be_heard_once_has_no_bar_to_move_and_closes(browser: Browser) -> None:
    with served(trial(plays=1)) as fake, opened(browser, fake) as page:
        expect(page.locator(".time")).to_contain_text("/")
        expect(page.locator(".seek")).to_be_disabled()
        hear(page)
        expect(page.get_by_role("button", name="Played")).to_be_disabled()
        page.keyboard.press("Space")
        page.reload()
        expect(page.get_by_role("button", name="Played")).to_be_disabled()
        give(page, *range(10))
        save(page)
        expect(page.locator(".code")).to_be_visible()
        assert len(fake.answers[0]["meta"]["plays"]) == 1


def test_what_was_heard_on_another_device_counts(browser: Browser) -> None:
    play = {"sound": 0, "question": "", "started": "2026", "seconds": 0.4, "ended": True}
    view = captions.judged(plays=1) | {"played": [play]}
    with served(FakeServer([view, small.end()])) as fake, opened(browser, fake) as page:
        expect(page.get_by_role("button", name="Played")).to_be_disabled()
        give(page, *range(10))
        save(page)
        expect(page.locator(".code")).to_be_visible()
        assert fake.answers[0]["meta"]["plays"] == [play]


def test_a_clip_that_cannot_be_loaded_is_told_and_can_be_tried_again(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        page.route("**/sound/**", lambda route: route.abort())
        page.reload()
        expect(page.locator(".player .said.bad")).to_contain_text("could not be loaded")
        give(page, 0)
        page.unroute("**/sound/**")
        hear(page)
        expect(page.locator(".track input.unset")).to_have_count(9)


def test_saving_ends_the_sound(browser: Browser) -> None:
    with served(long()) as fake, opened(browser, fake) as page:
        hear(page)
        expect(page.locator("button.play")).to_have_attribute(STATE, "play_again")
        give(page, *range(10))
        page.route("**/answers", lambda _: None)
        page.locator("button.play").click()
        expect(page.locator("button.play")).to_have_attribute(STATE, "pause")
        page.keyboard.press("Control+Enter")
        expect(page.locator("body")).to_have_attribute("data-page", "sending")
        events(page, fake, "play_started", "play_ended", "play_started", "play_paused")


def plain(heard: list[list[int]]) -> tuple[list[list[int]], int, int, bool]:
    """The same as the script, second by second; spans that touch are one."""
    known = [any(start <= at < end for start, end in heard) for at in range(20)]
    spans = list[list[int]]()
    for at, one in enumerate(known):
        if one and spans and spans[-1][1] == at:
            spans[-1][1] = at + 1
        elif one:
            spans.append([at, at + 1])
    gap = known.index(False) if False in known else 0
    return spans, sum(known), gap, all(known)


def test_parts_that_were_heard_are_joined_as_a_plain_count_of_seconds_joins_them(
    browser: Browser,
) -> None:
    rng = random.Random(4)
    with served(trial()) as fake, opened(browser, fake) as page:
        whole = 0
        for _ in range(200):
            spans = [sorted(rng.sample(range(21), 2)) for _ in range(rng.randint(1, 12))]
            expected = plain(spans)
            assert page.evaluate(JOINED, spans) == list(expected)
            whole += expected[3]
        assert 20 < whole < 180
