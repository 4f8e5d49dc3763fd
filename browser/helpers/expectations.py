"""Playwright's ``expect``, looking every 50 ms.

Playwright itself looks again after 0.1, 0.35, 0.85, 1.85 s …: it sees the end of a sound of 0.4 s
half a second late, and a study has many sounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast, overload

from playwright.sync_api import Locator, Page
from playwright.sync_api import expect as playwright_expect
from playwright.sync_api._generated import LocatorAssertions, PageAssertions

TIMEOUT = 60_000  # ms; a busy machine is no fault of a page
PAUSE = 50


class _Assertions:
    """Assertions about a page or a part of it, each repeated until it holds."""

    def __init__(self, subject: Locator | Page) -> None:
        self._page = subject if isinstance(subject, Page) else subject.page
        self._assertions = playwright_expect(subject)

    def __getattr__(self, name: str) -> Callable[..., None]:
        check = getattr(self._assertions, name)

        def repeat(*arguments: Any, timeout: float = TIMEOUT, **options: Any) -> None:
            end = time.monotonic() + timeout / 1000
            while True:
                try:
                    check(*arguments, timeout=1, **options)  # one look, however long it takes
                except AssertionError:
                    if time.monotonic() > end:
                        raise
                else:
                    return
                self._page.wait_for_timeout(PAUSE)

        return repeat


@overload
def expect(subject: Locator) -> LocatorAssertions: ...
@overload
def expect(subject: Page) -> PageAssertions: ...
def expect(subject: Locator | Page) -> LocatorAssertions | PageAssertions:
    """Assertions that wait until they hold."""
    return cast(LocatorAssertions | PageAssertions, _Assertions(subject))
