"""Every kind of page for everybody: no serious finding of axe, nothing too wide, large targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.helpers import caption_pages as captions
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import DESKTOP, PHONE, go_on, hear, opened
from browser.helpers.text_pages import reading_trial, words_trial
from playwright.sync_api import Browser, Page

Act = Callable[[Page], None]


def nothing(page: Page) -> None:
    expect(page.locator("body:not([data-page=loading])")).to_be_visible()


def chosen(page: Page) -> None:
    hear(page)
    page.keyboard.press("4")
    page.get_by_text("Add a comment").click()


def refused(page: Page) -> None:
    go_on(page)
    expect(page.locator("#field-0-wrong")).not_to_be_empty()


def asking(page: Page) -> None:
    page.get_by_role("button", name="Withdraw").click()


def cut_off(page: Page) -> None:
    page.route("**/answers", lambda route: route.abort())
    go_on(page)
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def unreachable(page: Page) -> None:
    page.route("**/state*", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()


def second_step(page: Page) -> None:
    page.get_by_role("button", name="Play the noise").click()
    go_on(page)


def wanting(page: Page) -> None:
    page.locator(".track input").first.press("?")
    page.locator("input.number").nth(1).fill("7")
    page.locator(".save").click()
    expect(page.locator(".missing li")).to_have_count(11)


def explained(page: Page) -> None:
    page.get_by_role("button", name="What do the numbers mean?").click()
    expect(page.get_by_role("dialog")).to_be_visible()


PAGES: dict[str, tuple[dict[str, Any], Act]] = {
    "consent": (small.consent(), nothing),
    "form": (small.form(), nothing),
    "form with faults": (small.form(), refused),
    "text": (small.text(), nothing),
    "trial": (small.trial("1.1", 1, 1), nothing),
    "trial, heard": (small.trial("1.1", 1, 1), chosen),
    "acr": (small.trial("1.1", 1, 1, kind="acr"), nothing),
    "dcr": (small.trial("1.1", 1, 1, kind="dcr"), nothing),
    **{
        kind: (small.trial("1.1", 1, 1, kind=kind), nothing)
        for kind in ("ccr", "abx", "preference", "mushra", "bs1116")
    },
    "words": (words_trial().pages[0], nothing),
    "reading": (reading_trial().pages[0], nothing),
    "examples": (captions.told(sound=True)[1], nothing),
    "captions": (captions.judged(), nothing),
    "captions, wanting": (captions.judged(), wanting),
    "captions, explained": (captions.judged(), explained),
    "feedback": (small.feedback(), nothing),
    "rest": (small.rest(290), nothing),
    "device": (small.device(), nothing),
    "device, sides": (small.device(), second_step),
    "end": (small.end(), nothing),
    "withdrawing": (small.text(), asking),
    "waiting": (small.text(), cut_off),
    "unreachable": (small.text(), unreachable),
}
NAMES = tuple(PAGES)
LINES = """() => {
  const all = document.createRange();
  all.selectNodeContents(document.getElementById("saving"));
  return all.getClientRects().length;
}"""
SHADE = "getComputedStyle(document.body).backgroundColor"
SMALL_TARGETS = """() => [...document.querySelectorAll("button, main label:has(input), summary")]
    .filter((one) => one.checkVisibility() && one.getBoundingClientRect().height < 44)
    .map((one) => one.textContent)"""


def test_words_of_the_header_are_not_broken_on_the_narrowest_screens(browser: Browser) -> None:
    language = "fr"
    view = small.trial("1.1", 10, 36, language) | {"plays": 0}
    narrow = {"viewport": {"width": 320, "height": 640}}
    fake = FakeServer([small.text(), view, *[small.text(str(n)) for n in range(24)]], language)
    with served(fake), opened(browser, fake, **narrow) as page:
        page.locator("button.main").click()
        expect(page.locator("#where")).to_contain_text("25 min")
        expect(page.locator("#saving")).to_have_text("Enregistré")
        assert page.evaluate(LINES) == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= 320


def check(page: Page, options: dict[str, Any]) -> list[str]:
    """What is wrong with a page: what is too wide, small targets, serious findings of axe."""
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    found = Axe().run(page, options={"preload": False, **options}).response["violations"]
    return [
        *[f"too wide by {wide} pixels" for _ in range(wide > 0)],
        *page.evaluate(SMALL_TARGETS),
        *[
            f"{one['id']}: {node['html']}"
            for one in found
            for node in one["nodes"]
            if one["impact"] in ("serious", "critical")
        ],
    ]


@pytest.mark.parametrize("part", range(4))
def test_pages_fit_targets_are_large_and_axe_finds_nothing_serious(
    browser: Browser, part: int
) -> None:
    """On a light phone, and, as to colours, on a dark desktop."""
    problems = dict[str, list[str]]()
    for name in NAMES[part::4]:
        view, act = PAGES[name]
        fake = FakeServer([view, small.end()] if view["kind"] != "end" else [view])
        look = {**PHONE, "color_scheme": "light", "reduced_motion": "reduce"}
        with served(fake), opened(browser, fake, **look) as page:
            nothing(page)
            act(page)
            problems[name] = check(page, {})
            shade = page.evaluate(SHADE)
            page.emulate_media(color_scheme="dark", reduced_motion="reduce")
            page.set_viewport_size(DESKTOP["viewport"])
            problems[name] += check(page, {"runOnly": ["color-contrast"]})
            assert page.evaluate(SHADE) != shade  # colours follow the listener
    assert {name: found for name, found in problems.items() if found} == {}
