"""Someone who takes a test in Chromium: by keyboard, by mouse or by touch."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser.helpers.expectations import expect
from browser.helpers.fake_server import FakeServer
from playwright.sync_api import Browser, BrowserContext, Locator, Page

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
PLAYS, PATIENCE = 4, 20_000  # plays of a sound, and ms to wait for its end
DESKTOP: dict[str, Any] = {"viewport": {"width": 1200, "height": 800}}
TAP = """
// Only in tests: a second way out of whatever goes to the ears, which counts what passes.
globalThis.passed = { frames: 0, energy: 0, peak: 0 };
const connect = AudioNode.prototype.connect;
AudioNode.prototype.connect = function (to, ...more) {
  if (to === this.context.destination && this.context instanceof AudioContext) {
    const tap = this.context.createScriptProcessor(256, 2, 1);
    tap.onaudioprocess = ({ inputBuffer }) => {
      for (const one of inputBuffer.getChannelData(0)) {
        if (one === 0) continue;
        passed.frames += 1;
        passed.energy += one * one;
        passed.peak = Math.max(passed.peak, Math.abs(one));
      }
    };
    connect.call(this, tap);
    connect.call(tap, to);
  }
  return connect.call(this, to, ...more);
};
"""
DRAFTED = """
() => new Promise((done) => {
  indexedDB.open("earwitness").onsuccess = ({ target: { result } }) => {
    result.transaction("drafts").objectStore("drafts").getAll().onsuccess = () => done();
  };
})
"""


@contextmanager
def opened(browser: Browser, fake: FakeServer, **kind: Any) -> Iterator[Page]:
    """The page of the listener; at the end nothing may have gone wrong on it."""
    context = browser.new_context(**(kind or DESKTOP))
    page, said = arrive(context, fake)
    yield page
    context.close()
    assert said == []


def arrive(context: BrowserContext, fake: FakeServer) -> tuple[Page, list[str]]:
    """A new tab at the fake server, with what goes wrong on it."""
    return visit(context, fake.address)


def visit(context: BrowserContext, address: str) -> tuple[Page, list[str]]:
    """A new tab, with what goes wrong on it; a failing network is no fault of the page."""
    page = context.new_page()
    page.set_default_timeout(60_000)  # a busy machine is no fault of a page
    said: list[str] = []

    def heard(kind: str, text: str) -> None:
        if kind in ("error", "warning") and "Failed to load resource" not in text:
            said.append(text)

    page.on("console", lambda message: heard(message.type, message.text))
    page.on("pageerror", lambda error: heard("error", str(error)))
    page.goto(address)
    return page, said


def at(page: Page, title: str) -> None:
    """Wait for a page with this heading."""
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def go_on(page: Page) -> None:
    """Click to the next page."""
    page.get_by_role("button", name="Continue").click()


def hear(page: Page) -> None:
    """Play a sound by a click, and wait for its end."""
    play = page.get_by_role("button", name="Play")
    play.click()
    wait_for_sound(page.get_by_role("radio").first, play)


def wait_for_sound(answer: Locator, play: Locator) -> None:
    """Wait until an answer can be given; play again if a busy machine interrupted the sound."""
    for _ in range(PLAYS):
        try:
            expect(answer).to_be_enabled(timeout=PATIENCE)
        except AssertionError:
            if play.count() and play.first.is_enabled():
                play.first.click()
        else:
            return
    expect(answer).to_be_enabled()


def rate(page: Page, value: int) -> None:
    """Hear, choose, go on."""
    hear(page)
    page.locator(f'label:has(input[value="{value}"])').click()
    page.locator("button.wide").click()


def until(page: Page, script: str) -> None:
    """Wait until a script says yes."""
    for _ in range(200):
        if page.evaluate(script):
            return
        page.wait_for_timeout(50)
    raise AssertionError(script)


def drafted(page: Page) -> None:
    """Wait until whatever was to be kept of a page is; reading comes after writing."""
    page.evaluate(DRAFTED)


def kill_browser(folder: Path) -> None:
    """Kill the browser that has this profile, without a word to it."""
    mine = f"--user-data-dir={folder}".encode()
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        if _reads(place, lambda line: mine in line and b"--type=" not in line):
            os.kill(int(place.parent.name), signal.SIGKILL)
    (folder / "SingletonLock").unlink(missing_ok=True)


def _reads(place: Path, fits: Callable[[bytes], bool]) -> bool:
    try:
        return fits(place.read_bytes())
    except (FileNotFoundError, ProcessLookupError):
        return False
