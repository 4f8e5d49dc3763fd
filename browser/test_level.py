"""The level: set on every device that a listener uses, also where a browser keeps nothing."""

from __future__ import annotations

import pytest
from browser.helpers import study_pages as small
from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import TAP, arrive, at, go_on, hear, rate, settled
from playwright.sync_api import Browser, BrowserContext, Page

BLOCKED = """
const no = () => { throw new DOMException("no", "SecurityError"); };
for (const name of ["localStorage", "sessionStorage", "indexedDB"]) {
  Object.defineProperty(globalThis, name, { get: no });
}
globalThis.BroadcastChannel = class { constructor() { no(); } };
"""


def study() -> FakeServer:
    device = small.device() | {"steps": ["level"]}
    trials = [small.trial(f"1.{n}", n, 2, kind="acr") for n in (1, 2)]
    return FakeServer([device, *trials, small.end()])


def tapped(browser: Browser) -> BrowserContext:
    context = browser.new_context()
    context.add_init_script(TAP)
    return context


def faults(said: list[str]) -> list[str]:
    """All but what the tap of the tests is told."""
    return [one for one in said if "ScriptProcessorNode" not in one]


def loudness(page: Page) -> float:
    page.evaluate("passed.peak = 0")
    hear(page)
    found: float = page.evaluate("passed.peak")
    return 32768 / 8000 * found


def set_level(page: Page, decibels: int) -> None:
    at(page, "Set a comfortable volume")
    page.get_by_role("button", name="Play the noise").click()
    page.get_by_label("Volume").fill(str(decibels))
    go_on(page)
    at(page, "Session 1 of 2")


def test_another_device_asks_for_its_own_level_and_starts_from_the_known_one(
    browser: Browser,
) -> None:
    with served(study()) as fake:
        first = tapped(browser)
        set_level(arrive(first, fake)[0], -30)
        second = tapped(browser)
        page, said = arrive(second, fake)
        expect(page.locator(".notice")).to_contain_text("not been set on this device")
        expect(page.get_by_label("Volume")).to_have_value("-30")
        set_level(page, -20)
        assert loudness(page) == pytest.approx(0.1, rel=0.05)
        page.reload()
        at(page, "Session 1 of 2")
        page.get_by_text("Fair").click()
        page.locator("button.wide").click()
        settled(page)
        rate(page, 3)
        expect(page.locator(".code")).to_be_visible()
        assert faults(said) == []
        assert list(fake.values()) == ["device", "1.1", "1.2"]
        first.close()
        second.close()


def test_where_site_data_are_blocked_the_level_holds_until_the_page_is_closed(
    browser: Browser,
) -> None:
    with served(study()) as fake:
        context = tapped(browser)
        context.add_init_script(BLOCKED)
        page, said = arrive(context, fake)
        set_level(page, -20)
        for value in (2, 3):
            assert loudness(page) == pytest.approx(0.1, rel=0.05)
            page.locator(f'label:has(input[value="{value}"])').click()
            page.locator("button.wide").click()
            settled(page)
        expect(page.locator(".code")).to_be_visible()
        assert fake.values()["1.2"] == {"QUALITY": 3}
        assert faults(said) == []
        context.close()
