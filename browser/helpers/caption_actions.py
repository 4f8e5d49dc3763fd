"""What is done on a page with captions, in Chromium."""

from __future__ import annotations

from typing import Any

from browser.helpers import caption_pages as captions
from browser.helpers import study_pages as small
from browser.helpers.caption_raters import slider
from browser.helpers.fake_server import FakeServer
from playwright.sync_api import Locator, Page


def trial(**more: Any) -> FakeServer:
    """A study with one clip and two captions."""
    return FakeServer([captions.judged(**more), small.end()], more.get("language", "en"))


def give(page: Page, *places: int) -> None:
    """Any number for these questions, typed."""
    for place in places:
        slider(page, place).focus()
        page.keyboard.type("4" if place % 5 < 2 else "-1")


def save(page: Page) -> None:
    page.locator(".save").click()


def swipe(page: Page, moved: Locator, across: float, down: float) -> None:
    """Lay a finger upon a slider, move it, and lift it."""
    moved.scroll_into_view_if_needed()
    box = moved.bounding_box()
    assert box is not None
    hand = page.context.new_cdp_session(page)
    for part in range(11):
        x, y = box["x"] + 200 + across * part / 10, box["y"] + 20 + down * part / 10
        kind = "touchMove" if part else "touchStart"
        hand.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": y}]})
        page.wait_for_timeout(16)
    hand.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(200)
