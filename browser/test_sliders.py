"""Sliders that start unset, and numbers that are typed, in Chromium."""

from __future__ import annotations

import math
from itertools import product

import pytest
from browser.helpers import caption_pages as captions
from browser.helpers.caption_actions import give, hear, save, swipe, trial, unset
from browser.helpers.caption_raters import number, point, shown, slider
from browser.helpers.expectations import expect
from browser.helpers.fake_server import served
from browser.helpers.page_actions import DESKTOP, PHONE, opened
from playwright.sync_api import Browser

READ = "(text) => import('/static/number_input.js').then(({ read }) => read(text))"


def test_all_sliders_start_unset_and_say_so(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        expect(page.locator(".track input")).to_have_count(10)
        for found in page.locator(".track input").all():
            expect(found).to_have_attribute("aria-valuetext", "not rated yet")
        for found in page.locator("input.number").all():
            expect(found).to_have_value("")
            expect(found).to_have_attribute("placeholder", "–")
        slider(page, 0).press("ArrowRight")
        expect(slider(page, 0)).to_have_attribute("aria-valuetext", "1")
        assert unset(page) == 9


def test_an_unset_slider_has_no_thumb(browser: Browser) -> None:
    def drawn(key: str) -> bytes:
        slider(page, 0).press(key)
        slider(page, 0).blur()
        return slider(page, 0).screenshot()

    with served(trial()) as fake, opened(browser, fake) as page:
        before = drawn("Backspace")
        ends = [drawn("Home"), drawn("End")]
        assert len({before, *ends}) == 3
        assert drawn("Backspace") == before


TYPED = {  # place: what is typed, its number, and what is shown
    0: ("4,5", 4.5, "4.5"),
    1: (" 4.50 ", 4.5, "4.5"),
    2: ("−0.1", -0.1, "−0.1"),
    3: ("–,1", -0.1, "−0.1"),
    4: ("-2", -2, "−2"),
    7: ("0", 0, "0"),
    8: ("-0", 0, "0"),
}
REFUSED = {
    "0.5": (2, "Enter −2 to 0."),
    "-2.1": (2, "Enter −2 to 0."),
    "6": (0, "Enter 1 to 5."),
    "4.25": (0, "Enter 4.2 or 4.3."),
    "-0.05": (2, "Enter −0.1 or 0."),
    "four": (0, "Please enter a number."),
    "1e9": (0, "Please enter a number."),
}


def test_numbers_may_be_typed_in_any_way(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, *(set(range(10)) - {*TYPED}))
        for place, (text, _, shown_text) in TYPED.items():
            number(page, place).fill(text)
            number(page, place).blur()
            expect(number(page, place)).to_have_value(shown_text)
            expect(slider(page, place)).to_have_attribute("aria-valuetext", shown_text)
        save(page)
        expect(page.locator(".code")).to_be_visible()
        for place, (_, value, _) in TYPED.items():
            found = fake.values()["1.1"][f"{'AB'[place // 5]}.{captions.NAMES[place % 5]}"]
            assert found == value
            assert math.copysign(1, found) == math.copysign(1, value or 1)


def test_what_is_off_the_scale_is_told_at_once_and_not_sent(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        hear(page)
        give(page, *range(10))
        for text, (place, told) in REFUSED.items():
            number(page, place).fill(text)
            expect(page.locator(".rated").nth(place)).to_contain_text(told)
            assert unset(page) == 1
            save(page)
            expect(number(page, place)).to_be_focused()
            expect(number(page, place)).to_have_value(text)
            expect(page.locator(".missing li")).to_have_count(1)
            number(page, place).fill("4" if place == 0 else "-1")
            expect(page.locator(".track input.unset")).to_have_count(0)
        assert fake.posts == []


def test_a_number_that_is_not_finished_is_not_scolded(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        slider(page, 2).focus()
        for key, told in (("-", "−2 to 0"), ("0", "−2 to 0"), (".", "−2 to 0"), ("5", "−2 to 0")):
            page.keyboard.press(key)
            expect(page.locator(".range").nth(2)).to_have_text(told)
        expect(number(page, 2)).to_have_value("-0.5")
        page.keyboard.press("Tab")
        expect(number(page, 2)).to_have_value("−0.5")
        expect(slider(page, 3)).to_be_focused()
        page.keyboard.press("-")
        page.keyboard.press("Tab")
        expect(page.locator(".range").nth(3)).to_have_text("Please enter a number.")


def test_a_number_can_be_taken_back(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        give(page, 0, 1)
        assert unset(page) == 8
        number(page, 0).fill("")
        slider(page, 1).press("Backspace")
        assert unset(page) == 10
        expect(number(page, 1)).to_have_value("")


KEYS = {"ArrowRight": 1, "ArrowUp": 1, "Home": 1, "ArrowLeft": 5, "ArrowDown": 5, "End": 5}


def test_arrows_come_in_at_the_end_that_they_leave_and_go_on_in_steps(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        for place, (key, first) in enumerate(KEYS.items()):
            if place % 5 > 1:
                continue
            slider(page, place).press(key)
            expect(number(page, place)).to_have_value(str(first))
        slider(page, 0).press("ArrowRight")
        slider(page, 0).press("ArrowRight")
        expect(number(page, 0)).to_have_value("1.2")
        slider(page, 4).press("ArrowLeft")
        expect(number(page, 4)).to_have_value("0")
        for _ in range(3):
            slider(page, 4).press("ArrowLeft")
        expect(number(page, 4)).to_have_value("−0.3")


@pytest.mark.parametrize("width", [1200, 390])
def test_every_number_of_a_slider_can_be_pressed_also_its_hidden_place(
    browser: Browser, width: int
) -> None:
    kind = DESKTOP if width == 1200 else PHONE
    with served(trial()) as fake, opened(browser, fake, **kind) as page:
        for place, value in ((0, 1), (1, 5), (2, -1), (3, 0), (4, -2), (5, 3), (6, 4.7)):
            across, down = point(page, place, value)
            press = slider(page, place).click if width == 1200 else slider(page, place).tap
            press(position={"x": across, "y": down})
            expect(number(page, place)).to_have_value(shown(value))


def test_scrolling_over_a_slider_by_touch_sets_nothing_but_sliding_does(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake, **PHONE) as page:
        for place, down, across, left in ((1, -200, 0, 10), (5, 150, 5, 10), (6, 0, -60, 9)):
            swipe(page, slider(page, place), across, down)
            expect(page.locator(".track input.unset")).to_have_count(left)
        assert page.evaluate("scrollY") > 100


def test_numbers_are_read_as_workbooks_read_them(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake) as page:
        expect(page.locator(".save")).to_be_visible()
        for sign, mark in product(("", "-", "−", "–", "+"), (".", ",")):
            found = page.evaluate(READ, f" {sign}1{mark}5 ")
            assert found == (1.5 if sign in ("", "+") else -1.5)
        for text in ("", "-", ".", "1 2", "1.2.3", "0x1", "Infinity", "1e3", "--1"):
            found = page.evaluate(f"(text) => ({READ})(text).then(Number.isNaN)", text)
            assert found is True
