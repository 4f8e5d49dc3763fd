"""A recording of 70 minutes, its server, and its page in Chromium."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import uvicorn
from browser.helpers.expectations import expect
from browser.helpers.fake_server import SCRIPTS, WEB
from browser.helpers.page_actions import visit
from playwright.sync_api import Browser, Page
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles

from earwitness.models.cache import Cache
from earwitness.navigator.index import RecordingIndex
from earwitness.navigator.labels import Overlay, OverlaySpan
from earwitness.recordings.recording import open_recording
from earwitness.web.browse import make_browse_app
from earwitness.web.messages import MessageLimiter
from earwitness.web.navigator import RecordingView

NAME = "marsh_20260601_053000.wav"  # it begins at 05:30
RATE, SECONDS = 8000, 4200.0
CLICK, TONE = 1000.0, 1800.0  # seconds: a click of 0.1 s; a tone of 440 Hz from 06:00 on
PICKS = ((100.0, 8.0, "quiet"), (CLICK - 4, 8.0, "click"), (TONE, 60.0, "tone"))
LABELS = ((1500.0, 0.5, "owl"),)


def write_recording(folder: Path) -> Path:
    """Write 70 minutes of faint noise with a click and a tone."""
    rng = np.random.default_rng(5)
    noise = rng.normal(0, 20, 10 * RATE).astype(np.int16)
    samples = np.tile(noise, round(SECONDS / 10))
    first = round(CLICK * RATE)
    samples[first : first + RATE // 10] = rng.normal(0, 6000, RATE // 10).clip(-32000, 32000)
    second = np.round(6000 * np.sin(2 * np.pi * 440 * np.arange(RATE) / RATE)).astype(np.int16)
    samples[round(TONE * RATE) :] += np.tile(second, round(SECONDS - TONE))
    soundfile.write(folder / NAME, samples, RATE)
    return folder / NAME


@contextmanager
def browsed(path: Path, cache: Path, **more: Any) -> Iterator[str]:
    """Serve a recording that is indexed; its address."""
    overlays = (
        Overlay("skim.json", "picks", tuple(OverlaySpan(*span) for span in PICKS)),
        Overlay("owls.txt", "labels", tuple(OverlaySpan(*span) for span in LABELS)),
    )
    recording = open_recording([path], zone="+02:00")
    index = RecordingIndex(recording, cache=Cache(cache)).start().wait()
    view = RecordingView(index, overlays, **more)
    pages = Mount("/", make_browse_app(view, MessageLimiter()))
    scripts = {"/tests": SCRIPTS, "/modules": WEB / "static"}
    mounts = [Mount(name, StaticFiles(directory=place)) for name, place in scripts.items()]
    app = Starlette(routes=[*mounts, pages])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        index.close()


@contextmanager
def shown(browser: Browser, address: str, **device: Any) -> Iterator[Page]:
    """The page of a recording, drawn; at the end nothing may have gone wrong on it."""
    context = browser.new_context(**device)
    page, said = visit(context, address)
    drawn(page)
    yield page
    context.close()
    assert said == []


def drawn(page: Page) -> None:
    """Wait until all tiles of the view are drawn."""
    expect(page.locator(".navigator[data-state=drawn]")).to_be_visible()


def zoomed(page: Page, start: float, seconds: float | str) -> None:
    """Show a part of the recording; display settings may follow its length."""
    page.evaluate("(hash) => { location.hash = hash; }", f"#{start}+{seconds}")
    expect(page.locator(".nav-detail")).not_to_have_text("")
    page.wait_for_timeout(50)
    drawn(page)
