"""The device page: what is done is counted, kept over reloads and reached by keyboard."""

from __future__ import annotations

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import at, go_on, opened, wait_for_sound
from playwright.sync_api import Browser, Page

WORDS = {"en": ("Round", "of"), "fr": ("Tour", "sur")}


def study(language: str = "en") -> FakeServer:
    return FakeServer([small.device(), small.end()], language)


def level(page: Page, decibels: int = -12) -> None:
    page.locator("button.play").click()
    page.locator("#level").fill(str(decibels))
    page.locator("button.main").click()


def heard(page: Page) -> None:
    """Play by the keyboard, and wait for the end of the sound."""
    page.locator("button.play").focus()
    page.keyboard.press("Enter")
    wait_for_sound(page.locator(".even button").first, page.locator("button.play"))


def stands(page: Page, title: str, steps: str) -> None:
    at(page, title)
    expect(page.locator(".steps")).to_have_text(steps)


@pytest.mark.parametrize("language", WORDS)
def test_rounds_are_counted_and_told(browser: Browser, language: str) -> None:
    round_of, of = WORDS[language]
    with served(study(language)) as fake, opened(browser, fake) as page:
        level(page)
        for number in (1, 2):
            told = f"{round_of} {number} {of} 2"
            expect(page.locator(".steps")).to_contain_text(f"· {told}")
            said = page.locator(".announced").filter(has_text=f"{told}. ")
            expect(said).to_have_count(1)
            heard(page)
            page.keyboard.press("1")


def test_the_focus_stays_on_the_button_while_it_plays_then_goes_to_the_choices(
    browser: Browser,
) -> None:
    device = small.device(sides=[1], huggins=[2], antiphase=[1])
    with served(FakeServer([device, small.end()])) as fake, opened(browser, fake) as page:
        level(page)
        for title, key in (("Left and right", "2"), ("Find", "3"), ("Find", "3")):
            expect(page.locator("h1")).to_contain_text(title)
            expect(page.locator("h1")).to_be_focused()
            page.keyboard.press("Tab")
            expect(page.locator("button.play")).to_be_focused()
            page.keyboard.press("Enter")
            expect(page.locator("button.play")).to_be_disabled()
            expect(page.locator("button.play")).to_be_focused()
            page.keyboard.press("Enter")
            expect(page.locator(".even")).to_be_focused()
            page.keyboard.press(key)
        expect(page.locator(".code")).to_be_visible()
        expected = {"level": -12, "sides": [1], "huggins": [2], "antiphase": [2]}
        assert fake.values()["device"] == expected


def test_a_reload_goes_on_at_the_very_round(browser: Browser) -> None:
    with served(study()) as fake, opened(browser, fake) as page:
        level(page, -20)
        stands(page, "Left and right", "Step 2 of 4 · Round 1 of 2")
        page.reload()
        stands(page, "Left and right", "Step 2 of 4 · Round 1 of 2")
        heard(page)
        page.keyboard.press("2")
        stands(page, "Left and right", "Step 2 of 4 · Round 2 of 2")
        heard(page)
        page.keyboard.press("1")
        stands(page, "Find the faint tone", "Step 3 of 4 · Round 1 of 2")
        heard(page)
        page.keyboard.press("3")
        stands(page, "Find the faint tone", "Step 3 of 4 · Round 2 of 2")
        heard(page)
        page.reload()
        stands(page, "Find the faint tone", "Step 3 of 4 · Round 2 of 2")
        expect(page.locator(".even button").first).to_be_disabled()
        heard(page)
        page.keyboard.press("1")
        stands(page, "Find the quietest tone", "Step 4 of 4 · Round 1 of 1")
        heard(page)
        page.keyboard.press("2")
        expect(page.locator(".code")).to_be_visible()
        expected = {"level": -20, "sides": [1, 0], "huggins": [2, 0], "antiphase": [1]}
        assert fake.values()["device"] == expected


def test_a_level_is_asked_for_again_where_it_is_known_no_more(browser: Browser) -> None:
    with served(study()) as fake, opened(browser, fake) as page:
        level(page)
        stands(page, "Left and right", "Step 2 of 4 · Round 1 of 2")
        page.evaluate("localStorage.clear()")
        page.reload()
        stands(page, "Set a comfortable volume", "Step 1 of 4")
        page.get_by_role("button", name="Play the noise").click()
        go_on(page)
        stands(page, "Left and right", "Step 2 of 4 · Round 1 of 2")


def test_a_page_that_was_refused_starts_again_also_after_a_reload(browser: Browser) -> None:
    refusal = '{"error": {"code": "bad_answer", "message": "no", "wrong": []}}'
    device = small.device() | {"steps": ["level"]}
    with served(FakeServer([device, small.end()])) as fake, opened(browser, fake) as page:
        page.route("**/answers", lambda route: route.fulfill(status=422, body=refusal))
        level(page)
        expect(page.locator(".notice")).to_contain_text("was not accepted")
        page.unroute("**/answers")
        page.reload()
        stands(page, "Set a comfortable volume", "Step 1 of 1")
        assert fake.answers == []
        level(page, -7)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values() == {"device": {"level": -7}}


def test_a_failed_check_is_asked_again_and_then_ends_politely(browser: Browser) -> None:
    fake_study = FakeServer([small.device(sides=[1]) | {"steps": ["level", "sides"]}, small.end()])
    again = {"code": "again", "message": "no", "wrong": ["Please put on headphones."]}
    with served(fake_study) as fake, opened(browser, fake) as page:
        page.route("**/answers", lambda route: route.fulfill(status=422, json={"error": again}))
        level(page)
        heard(page)
        page.keyboard.press("1")
        expect(page.locator(".notice")).to_have_text("Please put on headphones.")
        stands(page, "Set a comfortable volume", "Step 1 of 2")
        last = {"title": "Not on this device", "text": "Thank you.", "code": None}
        state = fake.state() | {"page": None, "ineligible": last}
        page.route("**/state*", lambda route: route.fulfill(json=state))
        page.reload()
        at(page, "Not on this device")
        expect(page.locator("main")).to_contain_text("Thank you.")
