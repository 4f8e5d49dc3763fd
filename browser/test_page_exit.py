"""A page that is left, by whatever road, falls silent and writes nothing more."""

from __future__ import annotations

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import arrive, at, drafted, go_on, rate, until
from playwright.sync_api import Browser, BrowserContext, Page

LIVE = """
// Only in tests: every source of sound that runs.
globalThis.live = new Set();
const { start, stop } = AudioBufferSourceNode.prototype;
AudioBufferSourceNode.prototype.start = function (...given) {
  live.add(this);
  this.addEventListener("ended", () => live.delete(this));
  start.apply(this, given);
};
AudioBufferSourceNode.prototype.stop = function (...given) {
  live.delete(this);
  stop.apply(this, given);
};
"""


def listening(browser: Browser) -> BrowserContext:
    context = browser.new_context()
    context.add_init_script(LIVE)
    return context


def sounding(page: Page) -> int:
    found: int = page.evaluate("live.size")
    return found


def take(page: Page) -> None:
    page.get_by_role("button", name="Use this tab").click()


def test_a_tab_that_gave_up_the_test_writes_over_nothing(browser: Browser) -> None:
    with served(FakeServer([small.trial("1.1", 1, 1), small.end()])) as fake:
        context = browser.new_context()
        first, _ = arrive(context, fake)
        at(first, "Session 1 of 2")
        first.evaluate("globalThis.old = document.getElementById('comment')")
        second, _ = arrive(context, fake)
        take(second)
        rate(second, 1)
        rate(second, 2)
        expect(second.locator(".steps")).to_contain_text("Question 3 of 3")
        first.evaluate("['input', 'change'].map((kind) => old.dispatchEvent(new Event(kind)))")
        drafted(first)
        second.reload()
        expect(second.locator(".steps")).to_contain_text("Question 3 of 3")
        context.close()


def test_a_sound_is_cut_when_another_tab_takes_over(browser: Browser) -> None:
    fake = FakeServer([small.trial("1.1", 1, 1), small.end()])
    fake.sound = tone(20)
    with served(fake):
        context = listening(browser)
        first, _ = arrive(context, fake)
        second, _ = arrive(context, fake)
        at(second, "This test is open in another tab")
        first.get_by_role("button", name="Play").click()
        expect(first.get_by_role("button", name="Playing")).to_be_visible()
        until(first, "live.size === 1")
        take(second)
        at(first, "This test is open in another tab")
        assert sounding(first) == 0
        fake.sound = tone()
        take(first)
        second.close()
        at(first, "Session 1 of 2")
        assert sounding(first) == 0
        context.close()


def in_another_tab(page: Page, fake: FakeServer) -> None:
    other, _ = arrive(page.context, fake)
    take(other)
    at(page, "This test is open in another tab")
    take(page)
    at(page, "Set a comfortable volume")


def by_withdrawing(page: Page, fake: FakeServer) -> None:
    del fake
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("button", name="Delete my answers").click()
    at(page, "You have withdrawn from this test")


def by_going_on(page: Page, fake: FakeServer) -> None:
    del fake
    go_on(page)
    at(page, "Left and right")


@pytest.mark.parametrize("road", [in_another_tab, by_withdrawing, by_going_on])
def test_the_noise_stops_when_its_page_is_left(browser: Browser, road: object) -> None:
    assert callable(road)
    with served(FakeServer([small.device(), small.end()])) as fake:
        context = listening(browser)
        page, said = arrive(context, fake)
        page.get_by_role("button", name="Play the noise").click()
        expect(page.get_by_role("button", name="Stop the noise")).to_be_visible()
        assert sounding(page) == 1
        road(page, fake)
        assert sounding(page) == 0
        assert said == []
        context.close()


def test_what_sounds_one_after_the_other_is_not_gone_on_with(browser: Browser) -> None:
    page_of = small.device(antiphase=[1])
    page_of["steps"] = ["antiphase"]
    with served(FakeServer([page_of, small.end()])) as fake:
        context = listening(browser)
        page, said = arrive(context, fake)
        page.get_by_role("button", name="Play").click()
        until(page, "live.size === 1")
        by_withdrawing(page, fake)
        page.evaluate("globalThis.begun = 0; live.add = () => { begun += 1; }; 0")
        page.wait_for_timeout(1500)  # in which the next would begin
        assert page.evaluate("[live.size, begun]") == [0, 0]
        assert said == []
        context.close()
