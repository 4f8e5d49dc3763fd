"""Words kept and summaries rated in Chromium: by keyboard, mouse and touch, and what is stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from browser.helpers.expectations import expect
from browser.helpers.fake_server import served
from browser.helpers.page_actions import drafted, opened, visit
from browser.helpers.real_server import HIDDEN, RealServer, really_served
from browser.helpers.text_pages import (
    words_trial,
    write_reading,
    write_words,
)
from playwright.sync_api import Browser, Locator, Page, Response

from earwitness.studies.from_answers import study_summaries

SMALL_PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 664},
    "has_touch": True,
    "is_mobile": True,
}
TARGET_PIXELS = 44


def kept(page: Page) -> Locator:
    return page.locator('.word[aria-selected="true"]')


def word(page: Page, place: int) -> Locator:
    return page.locator(".word").nth(place)


def drag(page: Page, start: int, end: int) -> None:
    """Press the mouse on a word and release it on another."""
    for place, act in ((start, page.mouse.down), (end, page.mouse.up)):
        box = word(page, place).bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
        act()


def test_a_drag_keeps_or_drops_a_range_and_a_reload_keeps_all(browser: Browser) -> None:
    words = tuple(f"word{n}" for n in range(1, 1001))
    with served(words_trial(words, enforce=False)) as fake, opened(browser, fake) as page:
        drag(page, 2, 7)
        expect(kept(page)).to_have_text([f"word{n}" for n in range(3, 9)])
        drag(page, 5, 4)
        expect(kept(page)).to_have_text(["word3", "word4", "word7", "word8"])
        word(page, 999).scroll_into_view_if_needed()
        word(page, 999).click()
        expect(page.locator(".count")).to_contain_text("5 of 1000 words kept")
        drafted(page)
        page.reload()
        expect(kept(page)).to_have_text(["word3", "word4", "word7", "word8", "word1000"])
        page.locator(".save").click()  # the length is advised
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.1"]["positions"] == [3, 4, 7, 8, 1000]


def test_the_list_scrolls_to_the_word_that_is_heard(browser: Browser) -> None:
    fake = words_trial(tuple(f"word{n}" for n in range(30)), 3.0)
    with served(fake), opened(browser, fake, **SMALL_PHONE) as page:
        last = page.locator("#word-29")
        expect(last).not_to_be_in_viewport()
        page.locator("button.play").click()
        expect(last).to_be_in_viewport(ratio=0.9)


def visited(browser: Browser, server: RealServer) -> tuple[Page, list[str], list[Response]]:
    """A page on a small phone, with what goes wrong on it and all responses."""
    context = browser.new_context(**SMALL_PHONE)
    responses: list[Response] = []
    context.on("response", lambda one: responses.append(one))
    page, said = visit(context, server.links[0])
    page.locator("main:not([inert]) button.main").tap()
    return page, said, responses


def leave(page: Page, said: list[str], responses: list[Response]) -> None:
    """Close the browser; nothing went wrong, and nothing was given away."""
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    told = [f"{one.url} {one.all_headers()} {one.body().decode('latin-1')}" for one in responses]
    page.context.close()
    assert said == []
    assert [name for name in HIDDEN for one in told if name.lower() in one.lower()] == []


def stored(server: RealServer) -> dict[str, Any]:
    return {one.answer.page: one.answer.values for one in server.history()}


def test_a_study_of_words_on_a_phone_becomes_references(browser: Browser, tmp_path: Path) -> None:
    with really_served(tmp_path, write=write_words) as server:
        page, said, responses = visited(browser, server)
        for number, places in enumerate(([1, 2, 3, 4, 5], [0, 9, 10, 11, 12]), 1):
            expect(page.locator("body")).to_have_attribute("data-name", f"1.{number}")
            for place in places:
                word(page, place).tap()
            box = word(page, 0).bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= TARGET_PIXELS
            page.locator("button.play").tap()
            expect(page.locator(".player")).to_contain_text("You have heard the whole recording.")
            page.locator(".save").tap()
        expect(page.locator(".code")).to_be_visible()
        leave(page, said, responses)
        given = {"1.1": [2, 3, 4, 5, 6], "1.2": [1, 10, 11, 12, 13]}
        assert {name: values.get("positions") for name, values in stored(server).items()} == {
            "1.0": None,
            **given,
        }
        answers = tmp_path / "answers.jsonl"
        answers.write_text("".join(json.dumps(one) + "\n" for one in server.exported()))
        lines = study_summaries(server.study, answers)
    assert sorted(one["positions"] for line in lines for one in line["references"]) == sorted(
        given.values()
    )


def test_a_study_of_summaries_on_a_phone_is_stored_as_given(
    browser: Browser, tmp_path: Path
) -> None:
    with really_served(tmp_path, write=write_reading) as server:
        page, said, responses = visited(browser, server)
        for number in (1, 2):
            expect(page.locator("body")).to_have_attribute("data-name", f"1.{number}")
            for letter, value in (("A", 5), ("B", number)):
                card = page.locator(".summarized").nth("AB".index(letter))
                label = card.locator(f'label:has(input[value="{value}"])')
                label.tap()
                box = label.bounding_box()
                assert box is not None
                assert box["height"] >= TARGET_PIXELS
            expect(page.locator(".original-text")).to_be_in_viewport()  # while they are rated
            page.locator(".save").tap()
        expect(page.locator(".code")).to_be_visible()
        leave(page, said, responses)
        found = stored(server)
    assert [found[f"1.{n}"] for n in (1, 2)] == [{"A.READING": 5, "B.READING": n} for n in (1, 2)]
