"""Chromium, which must be installed: nothing here is skipped without it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=document-user-activation-required",
]


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="session")
def chromium() -> str:
    names = ("chromium-headless-shell", "chromium", "google-chrome")  # the first needs least time
    place = next(filter(None, map(shutil.which, names)), None)
    assert place, "Chromium is missing: make system, as root, installs it"
    return place


@pytest.fixture(scope="session")
def started_browser(playwright: Playwright, chromium: str) -> Iterator[Browser]:
    made = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
    yield made
    made.close()


@pytest.fixture
def browser(started_browser: Browser) -> Iterator[Browser]:
    """The browser, in which no page of this test stays open for the tests after it."""
    yield started_browser
    for context in started_browser.contexts:
        context.close()
