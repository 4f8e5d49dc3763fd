"""The device page: what is done is counted, kept over reloads and reached by keyboard."""

from __future__ import annotations

from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import opened
from playwright.sync_api import Browser, Page


def level(page: Page, decibels: int = -12) -> None:
    page.locator("button.play").click()
    page.locator("#level").fill(str(decibels))
    page.locator("button.main").click()


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
