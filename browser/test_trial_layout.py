"""Trials fit small windows, keep their place from question to question, and show the progress."""

from __future__ import annotations

from typing import Any

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import at, hear, opened, rate
from browser.helpers.text_pages import SUMMARIES, WORDS, reading_trial, words_trial
from playwright.sync_api import Browser, Page

LAPTOP: dict[str, Any] = {"viewport": {"width": 1366, "height": 620}}
SMALL_PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 664},
    "has_touch": True,
    "is_mobile": True,
}
KINDS = {
    "p835": 3,
    "acr": 1,
    "dcr": 1,
    "ccr": 1,
    "ab": 1,
    "abx": 1,
    "preference": 1,
}  # with the number of questions
SCREENS = pytest.mark.parametrize(  # French texts are the longer ones
    ("screen", "language", "play"),
    [(LAPTOP, "en", "Play"), (SMALL_PHONE, "fr", "couter")],
    ids=["laptop", "phone in French"],
)
SCROLLS = "(one) => one.scrollHeight > one.clientHeight"
SMALL_TARGETS = """() => [...document.querySelectorAll("button, label:has(input), .item input")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
    .map((one) => one.textContent)"""


def fits(page: Page) -> None:
    """Nothing has to be scrolled, and targets stay large."""
    height, window = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
    assert height <= window
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(SMALL_TARGETS) == []


@SCREENS
def test_every_question_fits_without_scrolling(
    browser: Browser, screen: dict[str, Any], language: str, play: str
) -> None:
    trials = [small.trial(f"1.{n}", n, 7, language, kind) for n, kind in enumerate(KINDS, 1)]
    fake = FakeServer([*trials, small.end()], language)
    with served(fake), opened(browser, fake, **screen) as page:
        for view in trials:
            for number in range(1, KINDS[view["kind"]] + 1):
                expect(page.locator("body")).to_have_attribute("data-name", view["name"])
                if KINDS[view["kind"]] > 1:
                    expect(page.locator(".steps i").nth(number - 1)).to_have_class("now")
                fits(page)
                for tile in page.locator(".tile").all():
                    tile.click()
                    expect(tile).to_have_attribute("data-state", "heard")
                if not page.locator(".tile").count():
                    page.get_by_role("button", name=play).click()
                expect(page.get_by_role("radio").first).to_be_enabled()
                page.locator(".choices label").last.click()
                fits(page)
                page.locator("button.wide").click()
        expect(page.locator(".code")).to_be_visible()


@SCREENS
def test_pages_of_sliders_fit_also_with_a_repeated_part_and_with_what_is_missing(
    browser: Browser, screen: dict[str, Any], language: str, play: str
) -> None:
    for kind, rated in (("mushra", 3), ("mushra", 8), ("bs1116", 2)):
        sliders_fit(browser, screen, language, play, kind, rated)


def sliders_fit(
    browser: Browser, screen: dict[str, Any], language: str, play: str, kind: str, rated: int
) -> None:
    view = small.trial("1.1", 1, 1, language, kind, rated)
    others = [small.trial(one, 1, 1, language, one) for one in ("acr", "abx")]  # share style sheets
    fake = FakeServer([view, *others, reading_trial().pages[0], small.end()], language)
    with served(fake), opened(browser, fake, **screen) as page:
        expect(page.locator(".item")).to_have_count(rated)
        before = page.locator(".items").bounding_box()
        page.locator(".repeat").click()
        page.get_by_role("button", name=play).click()
        page.locator(".pick").nth(1).click()
        expect(page.locator(".said")).to_have_text("")
        assert page.locator(".items").bounding_box() == before  # no jump below the finger
        assert not page.locator(".items").evaluate(SCROLLS)
        fits(page)
        page.locator(".save").click()
        expect(page.locator(".missing li")).not_to_have_count(0)
        fits(page)
        for one in (".reference", ".play", ".repeat", ".axis", ".missing", ".save"):
            expect(page.locator(one)).to_be_in_viewport(ratio=1)


@SCREENS
def test_long_originals_and_summaries_scroll_inside_the_page(
    browser: Browser, screen: dict[str, Any], language: str, play: str
) -> None:
    del play  # there is no sound
    fake = reading_trial(WORDS * 20, SUMMARIES * 3, language)
    with served(fake), opened(browser, fake, **screen) as page:
        for one in (".original-text", ".summaries"):
            expect(page.locator(one)).to_be_visible()
            assert page.locator(one).evaluate(SCROLLS)
        fits(page)
        for number in range(5):
            page.locator(".choices").nth(number).locator("label").last.click()
        page.locator(".save").click()
        expect(page.locator(".missing li")).to_have_count(1)
        expect(page.locator(".summarized .said:not(:empty)")).to_be_in_viewport()
        expect(page.locator(".save")).to_be_in_viewport(ratio=1)
        fits(page)
        assert page.evaluate("scrollY") == 0


@SCREENS
def test_other_pages_and_long_transcripts_fit_without_scrolling(
    browser: Browser, screen: dict[str, Any], language: str, play: str
) -> None:
    del language, play  # all in French, without sound
    device = FakeServer([small.device(), small.end()], "fr")
    long_text = words_trial(tuple(f"word{n}" for n in range(1, 201)), 9.0)
    for fake in (device, FakeServer([small.end()], "fr"), long_text):
        with served(fake), opened(browser, fake, **screen) as page:
            expect(page.locator("main section.card")).to_be_visible()
            height, window = page.evaluate("[document.documentElement.scrollHeight, innerHeight]")
            assert height <= window
            expect(page.locator("main button.main")).to_be_in_viewport(ratio=1)


def test_the_scroll_position_is_kept_from_question_to_question(browser: Browser) -> None:
    low = {"viewport": {"width": 1366, "height": 320}}
    fake = FakeServer([small.trial("1.1", 1, 1), small.end()])
    with served(fake), opened(browser, fake, **low) as page:
        hear(page)
        page.locator(".choices label").last.click()
        page.evaluate("scrollTo(0, 120)")
        page.keyboard.press("Enter")
        expect(page.locator(".steps")).to_contain_text("Question 2 of 3")
        assert page.evaluate("scrollY") == 120
        for value in (3, 4):
            rate(page, value)
        at(page, "You have finished. Thank you!")
        assert page.evaluate("scrollY") == 0
