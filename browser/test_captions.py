"""Pages with captions in Chromium: their layout, their sound, and fingers on their sliders."""

from __future__ import annotations

from typing import Any

import pytest
from browser.helpers import caption_pages as captions
from browser.helpers.caption_actions import give, save, swipe, trial
from browser.helpers.caption_raters import number, point, shown, slider
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served, tone
from browser.helpers.page_actions import DESKTOP, PHONE, at, opened, until
from playwright.sync_api import Browser


def test_examples_come_first_and_space_scrolls_there(browser: Browser) -> None:
    with served(FakeServer(captions.whole())) as fake, opened(browser, fake, **PHONE) as page:
        at(page, "Please wear headphones")
        page.keyboard.press("Enter")
        at(page, "Examples of rated captions")
        body = page.locator("main")
        for text in (
            "Precision",
            "everything it mentions is heard",
            "−0.8",
            "Total",
            "1.35",
            "a train",
        ):
            expect(body).to_contain_text(text)
        total = "Total = (Precision + Recall)/2 + Fluency + Conciseness + Irrelevance"
        expect(page.locator(".formula")).to_have_text(total)
        page.keyboard.press("Space")
        until(page, "scrollY > 100")
        assert [one["page"] for one in fake.answers] == ["headphones"]
        page.keyboard.press("Enter")
        at(page, "Instructions")


@pytest.mark.parametrize(("kind", "beside"), [(DESKTOP, True), (PHONE, False)])
def test_captions_and_the_player_have_their_places_on_every_screen(
    browser: Browser, kind: dict[str, Any], beside: bool
) -> None:
    with served(trial()) as fake, opened(browser, fake, **kind) as page:
        expect(page.locator(".judged")).to_have_count(2)
        boxes = [one.bounding_box() for one in page.locator(".judged").all()]
        assert boxes[0] is not None
        assert boxes[1] is not None
        assert (boxes[0]["y"] == boxes[1]["y"]) is beside
        assert (boxes[0]["x"] < boxes[1]["x"]) is beside
        rows = [slider(page, place).bounding_box() for place in (4, 9)]
        assert (rows[0]["y"] == rows[1]["y"]) is beside  # type: ignore[index]
        page.locator(".save").scroll_into_view_if_needed()
        expect(page.locator("button.play")).to_be_in_viewport()
        slider(page, 0).focus()
        top = page.locator(".player").bounding_box()
        focused = slider(page, 0).bounding_box()
        assert top is not None
        assert focused is not None
        assert focused["y"] >= top["y"] + top["height"]
        give(page, 0, 2)
        height = page.evaluate("document.documentElement.scrollHeight")
        number(page, 3).fill("7")
        slider(page, 7).press("ArrowLeft")
        # nothing moves when something is told
        assert page.evaluate("document.documentElement.scrollHeight") == height
        width = kind["viewport"]["width"]
        for place, value in ((0, 1), (1, 5), (2, -1), (3, 0), (4, -2), (5, 3), (6, 4.7)):
            across, down = point(page, place, value)
            press = slider(page, place).tap if kind is PHONE else slider(page, place).click
            press(position={"x": across, "y": down})  # also where the hidden thumb is
            expect(number(page, place)).to_have_value(shown(value))
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_part_that_was_leapt_over_is_to_be_heard_and_the_clip_goes_back_there(
    browser: Browser,
) -> None:
    fake = trial()
    fake.sound = tone(2.0)
    at = "Number(document.querySelector('.seek').value)"
    with served(fake), opened(browser, fake) as page:
        expect(page.locator(".seek")).to_be_enabled()
        page.locator("button.play").click()
        until(page, f"{at} > 0.2")
        page.locator(".seek").fill("1.6")
        expect(page.locator(".player")).to_contain_text("You skipped a part of the clip.")
        assert 0.2 <= page.evaluate(at) < 1.5
        give(page, *range(10))
        page.locator("button.play").click()
        expect(page.locator(".player")).to_contain_text("You have heard the whole clip.")
        save(page)
        expect(page.locator(".code")).to_be_visible()
        [one] = fake.answers[0]["meta"]["plays"]
        assert (one["ended"], one["seconds"]) == (True, pytest.approx(2, abs=0.04))


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


def test_scrolling_over_a_slider_by_touch_sets_nothing_but_sliding_does(browser: Browser) -> None:
    with served(trial()) as fake, opened(browser, fake, **PHONE) as page:
        for place, down, across, left in ((1, -200, 0, 10), (5, 150, 5, 10), (6, 0, -60, 9)):
            swipe(page, slider(page, place), across, down)
            expect(page.locator(".track input.unset")).to_have_count(left)
        assert page.evaluate("scrollY") > 100
