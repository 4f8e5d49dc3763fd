"""Index time, response times and memory of the server of `earwitness browse`.

A recording of 24 hours, as FLAC and as MP3. First the index is built, while one person listens to
excerpts; then 50 people browse at once: each of them clicks about every two seconds at a random
time, which asks for two tiles of a random level and for two seconds of sound, on a connection of
their own. Index time is compared with the time that decoding alone takes. At last one person
browses in Chromium: times are measured in the page, from its request or the press of a key or mouse
button, until all stored tiles are drawn or the sound starts on the audio clock. All of it runs on
one machine. `--quick` uses one hour, `--format` one of the two files.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.long_days import RATE, long_day
from benchmarks.served import Client, Served
from browser.conftest import FLAGS

from earwitness.audio.files import sound_library
from earwitness.audio.read import read_blocks

PEOPLE, CLICKS, THINKING_SECONDS = 50, 15, 2.0
TILE_BAR, SOUND_BAR = 100, 150  # milliseconds: 99th percentile
FIRST_BAR, ZOOM_STEPS, PLACES = 1000, 17, 6  # milliseconds; from 24 hours to 1 second
BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
WATCH = """
globalThis.starts = [];
addEventListener("pointerdown", (event) => (globalThis.pressed = event.timeStamp), true);
const start = AudioBufferSourceNode.prototype.start;
AudioBufferSourceNode.prototype.start = function (when) {
  if (globalThis.pressed) {
    const { context } = this;
    const latency = context.baseLatency + (context.outputLatency || 0);
    starts.push(performance.now() - pressed + (when - context.currentTime + latency) * 1000);
    globalThis.pressed = 0;
  }
  return start.call(this, when);
};
globalThis.drawn = (...states) => new Promise((done) => {
  const look = () => {
    const isDrawn = states.includes(document.querySelector(".navigator")?.dataset.state);
    requestAnimationFrame(isDrawn ? () => done(performance.now()) : look);
  };
  look();
});
globalThis.press = async (key) => {
  const began = performance.now();
  const event = new KeyboardEvent("keydown", { key, bubbles: true });
  document.querySelector(".nav-view").dispatchEvent(event);
  const near = (await drawn("drawn", "near")) - began;
  return [near, (await drawn("drawn")) - began];
};
"""
LEVELS = {"max": range(13), "mean": range(13), "colour": range(8, 13), "fine": range(-4, 1)}


def to_flac(path: Path) -> Path:
    """Return an MP3 file as FLAC, and create it if it is missing."""
    flac = path.with_suffix(".flac")
    if not flac.exists():
        part = flac.with_suffix(".part")
        with sound_library().SoundFile(part, "w", RATE, 1, "PCM_16", format="FLAC") as file:
            for chunk in read_blocks(path):
                file.write(chunk.samples)
        part.replace(flac)
    return flac


@contextmanager
def browsing(path: Path, cache: str) -> Iterator[Served]:
    """Run the server in a separate process."""
    command = [sys.executable, "-m", "earwitness", "browse", str(path), "--cache", cache]
    server = subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    found = re.search(r"at http\S+:(\d+)/ ", server.stderr.readline())
    assert found
    try:
        yield Served(int(found[1]), server.pid)
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate()


def memory(server: Served) -> str:
    """Return the memory of the server without mapped files, which the system can drop."""
    status = Path(f"/proc/{server.process}/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+)", status)
    assert found
    return f"memory {int(found[1]) / 1024:.0f} MB"


class Person:
    """Clicks at random times; ``waited`` has response times in seconds by what was asked for."""

    def __init__(self, client: Client, info: dict[str, Any], seed: int) -> None:
        self.client, self.info, self.random = client, info, np.random.default_rng(seed)
        self.waited = defaultdict[str, list[float]](list)

    async def ask(self, what: str, path: str) -> None:
        """Send a request and note how long it takes."""
        start = time.perf_counter()
        await self.client.request(f"/recording/{path}")
        self.waited[what].append(time.perf_counter() - start)

    async def listen(self) -> None:
        """Ask for two seconds of sound."""
        start = self.random.uniform(0, self.info["seconds"] - 2)
        await self.ask("sound", f"sound?start={start:.6f}&seconds=2")

    async def look(self) -> None:
        """Ask for a tile."""
        kind = str(self.random.choice(list(LEVELS)))
        level = int(self.random.choice(LEVELS[kind]))
        columns = self.info["seconds"] / (self.info["frame_seconds"] * 2.0**level)
        number = int(self.random.integers(max(1, int(columns / self.info["tile_columns"]))))
        await self.ask("fine tile" if kind == "fine" else "tile", self.tile(kind, level, number))

    def tile(self, kind: str, level: int, number: int) -> str:
        """Return the address of a tile."""
        return f"tile/{self.info['digest']}/{kind}/{level}/{number}"

    async def browse(self) -> None:
        """Click some times."""
        await asyncio.sleep(self.random.uniform(0, THINKING_SECONDS))
        for _ in range(CLICKS):
            await self.look()
            await self.look()
            await self.listen()
            await asyncio.sleep(self.random.uniform(0, 2 * THINKING_SECONDS))


def show(waited: dict[str, list[float]]) -> str:
    """Return the response times in words."""
    parts = []
    for name, times in sorted(waited.items()):
        middle, late = np.percentile(np.array(times) * 1000, [50, 99])
        bar = SOUND_BAR if name == "sound" else TILE_BAR
        verdict = "met" if late <= bar else "MISSED"
        parts.append(f"{name} p50 {middle:.1f} ms, p99 {late:.1f} ms (bar {bar}: {verdict})")
    return "; ".join(parts)


async def measure(server: Served, decoding: float) -> None:
    """Print the results of one recording."""
    start = time.perf_counter()
    client = await Client.open(server.port)
    info = json.loads(await client.request("/recording/info"))
    person = Person(client, info, 0)
    progress = info
    while progress["state"] == "building":
        await person.listen()
        await asyncio.sleep(0.1)
        progress = json.loads(await client.request("/recording/progress"))
    seconds = time.perf_counter() - start
    assert progress["state"] == "ready", progress["message"]
    print(
        f"  index: {seconds:.1f} s, {seconds / decoding:.2f} × decoding alone"
        f" ({decoding:.1f} s); meanwhile {show(person.waited)};"
        f" {memory(server)}, CPU {server.cpu_seconds():.0f} s",
        flush=True,
    )
    people = [Person(await Client.open(server.port), info, seed) for seed in range(1, PEOPLE + 1)]
    for _ in range(2):  # memory must not grow from the first to the second time
        await asyncio.gather(*(person.browse() for person in people))
        print(f"  {PEOPLE} people: {memory(server)}", flush=True)
    waited = defaultdict[str, list[float]](list)
    for person in people:
        for name, times in person.waited.items():
            waited[name] += times
    print(f"  {PEOPLE} people: {show(waited)}", flush=True)


def browse_page(server: Served, seconds: float) -> None:
    """Print the times that a person waits in Chromium."""
    place = next(filter(None, map(shutil.which, BROWSERS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=place, args=FLAGS)
        times = defaultdict[str, list[float]](list)
        for _ in range(PLACES):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.add_init_script(WATCH)
            page.goto(f"http://127.0.0.1:{server.port}/")
            times["first view"].append(page.evaluate("drawn('drawn')"))
            page.close()
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(WATCH)
        page.goto(f"http://127.0.0.1:{server.port}/")
        page.evaluate("drawn('drawn')")
        for part in np.random.default_rng(1).uniform(0.1, 0.9, PLACES):
            _walk(page, float(part) * seconds, times)
        times["sound"] += page.evaluate("starts")
        browser.close()
    for name, waits in times.items():
        bar = {"first view": FIRST_BAR, "sound": SOUND_BAR, "zoom step": TILE_BAR}.get(name)
        verdict = "met" if bar and max(waits) <= bar else "MISSED"
        told = f"{len(waits)} times, median {np.median(waits):.0f} ms, maximum {max(waits):.0f} ms"
        told += f" (bar {bar}: {verdict})" if bar else ""
        print(f"  {name} in Chromium: {told}", flush=True)


def _walk(page: Page, time_: float, times: dict[str, list[float]]) -> None:
    """Zoom into a place to one second and out again, and click once at each of three zooms."""
    page.get_by_label("Go to").fill(f"{time_:.1f} s")
    page.get_by_label("Go to").press("Enter")
    page.locator(".nav-view").focus()

    def press(key: str) -> None:
        near, finest = page.evaluate("press", key)
        times["zoom step"].append(near)
        times["zoom step, with the spectrum of the sound"].append(finest)

    for key in "+" * ZOOM_STEPS:
        press(key)
    for step in range(ZOOM_STEPS):
        if step % 6 == 0:
            box = page.locator(".nav-view").bounding_box()
            assert box is not None
            count = page.evaluate("starts.length")
            page.mouse.click(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
            while page.evaluate("starts.length") == count:
                page.wait_for_timeout(20)
            page.wait_for_timeout(300)
            page.keyboard.press("Space")
        press("-")


def main() -> None:
    """Print the results of each format."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="folder in which recordings are kept")
    parser.add_argument("--hours", type=int, default=24)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--format", choices=("flac", "mp3"))
    chosen = parser.parse_args()
    with TemporaryDirectory() as place:
        mp3 = long_day(chosen.folder or Path(place), 1 if chosen.quick else chosen.hours)
        paths = {"flac": to_flac, "mp3": Path}
        for name in [chosen.format] if chosen.format else paths:
            path = paths[name](mp3)
            start, cpu = time.perf_counter(), time.process_time()
            for _ in read_blocks(path):
                pass
            decoding = time.perf_counter() - start
            cpu = time.process_time() - cpu
            size = f"{path.stat().st_size / 1e6:,.0f} MB"
            print(f"{path.suffix[1:].upper()}, {size}; decoding: CPU {cpu:.0f} s", flush=True)
            with browsing(path, f"{place}/cache-{name}") as server:
                asyncio.run(measure(server, decoding))
                browse_page(server, 3600.0 * (1 if chosen.quick else chosen.hours))


if __name__ == "__main__":
    main()
