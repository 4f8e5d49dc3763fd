"""Time from a click to the start of a clip in Chromium, of switching, and the size of the page.

Times are measured on the audio clock; those to the start of a clip also with the output latency
that the browser reports. Clips are loaded. A switch that is requested while the browser renders a
buffer starts late, by up to the length of the buffer.

    python benchmarks/listen.py
"""

from __future__ import annotations

import gzip
import shutil
import statistics
import sys
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from browser.conftest import FLAGS
from browser.helpers import study_pages as small
from browser.helpers.fake_server import WEB, FakeServer, served
from browser.helpers.page_actions import rate

from earwitness.studies.wording import wording

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
BAR = 150.0  # milliseconds
TRIALS = 15
SWITCH_BAR, SWITCHES = 10.0, 200  # milliseconds
SWITCHING = "async (count) => (await import('/tests/switched.js')).timed(count)"
WATCH = """
globalThis.starts = [];
addEventListener("click", (event) => (globalThis.clicked = event.timeStamp), true);
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (when) {
  const { context } = this;
  const wait = (when - context.currentTime) * 1000;
  const latency = (context.baseLatency + (context.outputLatency || 0)) * 1000;
  starts.push([performance.now() - clicked + wait, latency]);
  return start.call(this, when);
};
"""


def measured() -> tuple[list[tuple[float, float]], set[str]]:
    """Return milliseconds to the start on the audio clock, and of output latency, per click; and
    the names of the static files that the page has requested by then.
    """
    requested = set[str]()
    trials = [small.trial(f"1.{n}", n, TRIALS, kind="acr") for n in range(1, TRIALS + 1)]
    place = next(filter(None, map(shutil.which, BROWSERS)), None)
    with served(FakeServer([*trials, small.end()])) as fake, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=FLAGS)
        page = browser.new_page()
        page.add_init_script(WATCH)
        page.on("request", lambda request: requested.add(request.url))
        page.goto(fake.address)
        for _ in range(TRIALS):
            _answer(page)
        page.wait_for_selector(".code")
        found: list[tuple[float, float]] = page.evaluate("starts")
        browser.close()
    paths = {urlsplit(one).path for one in requested}
    return found, {one.removeprefix("/static/") for one in paths if one.startswith("/static/")}


def switched() -> tuple[list[float], list[float]]:
    """Return milliseconds from request to end of each switch, and of its fade."""
    place = next(filter(None, map(shutil.which, BROWSERS)), None)
    with served(FakeServer([small.text(), small.end()])) as fake, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=FLAGS)
        page = browser.new_page()
        page.goto(fake.address)
        page.locator("h1").first.click()  # browsers start sound after a click only
        told = page.evaluate(SWITCHING, SWITCHES)
        browser.close()
    delays, fades = zip(*told["found"], strict=True)
    return list(delays), list(fades)


def _answer(page: Page) -> None:
    page.wait_for_selector('.play[data-state="play"]')
    page.wait_for_timeout(300)  # until the clip is loaded
    rate(page, 3)


def weight(names: set[str]) -> int:
    """Return the compressed size in bytes of the page and of these static files."""
    files = [(WEB / "static" / name).read_bytes() for name in names]
    shell = (WEB / "templates" / "shell.html").read_bytes() + str(wording("fr").web).encode()
    return sum(len(gzip.compress(content)) for content in [*files, shell])


def verdict(figure: float, bar: float) -> str:
    """Return whether a limit is met."""
    return "met" if figure <= bar else "MISSED"


def main() -> int:
    """Print the figures; return 1 if the limit is not met."""
    found, names = measured()
    clock, whole = [one[0] for one in found], [sum(one) for one in found]
    sent = weight(names) / 1000
    print(f"page, scripts and style sheet: {sent:.1f} kB gzipped (bar 100: {verdict(sent, 100)})")
    for name, times in (("start on the audio clock", clock), ("with output latency", whole)):
        middle = statistics.median(times)
        told = f"{len(times)} clicks, median {middle:.0f} ms, first {times[0]:.0f} ms"
        worst = f"maximum {max(times):.0f} ms (bar {BAR:.0f}: {verdict(max(times), BAR)})"
        print(f"{name}: {told}, {worst}")
    delays, fades = switched()
    longest, soon = max(fades), sum(one <= SWITCH_BAR for one in delays) / len(delays)
    print(f"cross-fade: {longest:.1f} ms (bar {SWITCH_BAR:.0f}: {verdict(longest, SWITCH_BAR)})")
    told = f"{len(delays)} switches, median {statistics.median(delays):.1f} ms, {soon:.0%} in 10 ms"
    met = verdict(max(delays), SWITCH_BAR)
    worst = f"maximum {max(delays):.1f} ms (bar {SWITCH_BAR:.0f}: {met})"
    print(f"from request to end of the cross-fade: {told}, {worst}")
    return int(max(whole) > BAR or longest > SWITCH_BAR or max(delays) > SWITCH_BAR)


if __name__ == "__main__":
    sys.exit(main())
