"""Switching between sounds, on the time of the audio graph: rendered offline, sample by sample."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from browser.helpers import study_pages as small
from browser.helpers.fake_server import FakeServer, served
from browser.helpers.page_actions import arrive
from numpy.typing import NDArray
from playwright.sync_api import Browser, Page

RATE, LEAD, FADE = 48000, 0.02, 0.005
RENDER = "async (given) => (await import('/tests/switched.js')).rendered(given)"
Sound = NDArray[np.float64]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with served(FakeServer([small.text(), small.end()])) as fake:
        context = browser.new_context()
        yield arrive(context, fake)[0]
        context.close()


def sine(seconds: float, hertz: float = 440.0, level: float = 0.5) -> Sound:
    return np.asarray(level * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE))


def render(
    page: Page, sounds: Sequence[Sound], acts: Sequence[Any], seconds: float = 2.0, **options: Any
) -> tuple[Sound, dict[str, Any]]:
    """Return what the engine plays, from the start of the sounds, and the rest of its report."""
    samples, found = render_all(page, sounds, acts, seconds, **options)
    return samples[round(LEAD * RATE) :], found


def render_all(
    page: Page, sounds: Sequence[Sound], acts: Sequence[Any], seconds: float, **options: Any
) -> tuple[Sound, dict[str, Any]]:
    """Return all samples of the graph, and the rest of the report; samples travel as base64."""
    texts = [base64.b64encode(sound.astype("<f4").tobytes()).decode() for sound in sounds]
    given = {"rate": RATE, "seconds": seconds, "options": options, "acts": acts, "sounds": texts}
    found = page.evaluate(RENDER, given)
    return np.frombuffer(base64.b64decode(found.pop("samples")), "<f4").astype(float), found


def rise(count: int) -> Sound:
    return np.asarray(0.5 - 0.5 * np.cos(np.pi * np.arange(count) / count))


def test_switching_between_equal_sounds_changes_no_sample(page: Page) -> None:
    sound = sine(1.9)
    times = np.arange(0.1, 1.6, 0.0061)  # often before the last fade is over
    acts = [[0, "play", 0], *([float(at), "switchTo", n % 3] for n, at in enumerate(times, 1))]
    heard, _ = render(page, [sound] * 3, acts)
    fade = round(FADE * RATE)
    assert np.abs(heard[fade : len(sound) - fade] - sound[fade:-fade]).max() < 1e-6


def test_a_switch_is_a_raised_cosine_that_starts_with_the_next_block(page: Page) -> None:
    high, low = np.full(RATE, 0.5), np.full(RATE, -0.25)
    heard, told = render(page, [high, low], [[0, "play", 0], [0.5, "switchTo", 1]], 0.8)
    start = round((told["times"][1] - LEAD) * RATE)
    fade = round(FADE * RATE)
    expected = 0.5 - 0.75 * rise(fade)
    assert np.abs(heard[start - 100 : start] - 0.5).max() < 1e-6
    assert np.abs(heard[start : start + fade] - expected).max() < 1e-6
    assert np.abs(heard[start + fade : start + 1000] + 0.25).max() < 1e-6


def test_restarting_fades_from_the_old_position_to_the_beginning(page: Page) -> None:
    first, second = sine(1.5), sine(1.5, 330)
    acts = [[0, "play", 0], [0.5, "switchTo", 1]]
    heard, found = render_all(page, [first, second], acts, 1.0, restart=True)
    start, fade = round(found["times"][1] * RATE), round(FADE * RATE)
    mixed = first[start : start + fade] * (1 - rise(fade)) + second[:fade] * rise(fade)
    assert np.abs(heard[start : start + fade] - mixed).max() < 1e-6
    after = slice(start + fade, start + 8000)
    assert np.abs(heard[after] - second[fade:8000]).max() < 1e-6


def test_a_loop_repeats_the_same_samples_of_all_sounds_without_a_click(page: Page) -> None:
    first, second = sine(1.0, 441.3), sine(1.0, 441.3) + 0.01
    acts = [[0, "loop", 0.2, 0.5], [0.01, "play", 0], [1.0, "switchTo", 1]]
    samples, found = render_all(page, [first, second], acts, 1.8)
    heard = samples[round((found["times"][1] + LEAD) * RATE) + 300 :]
    bend = np.abs(np.diff(heard, 2)).max()
    plain = np.abs(np.diff(first, 2)).max()
    assert bend < 1.2 * plain  # a jump at the end of the loop would be 20 times that
    period = round(0.3 * RATE)
    assert np.abs(heard[:period] - heard[period : 2 * period]).max() < 1e-6
    assert np.abs(heard[4 * period :][:9000] - heard[:9000] - 0.01).max() < 1e-6


def test_a_shorter_sound_is_followed_by_silence_and_heard_when_it_is_over(page: Page) -> None:
    short, long = sine(0.6), sine(1.2)
    acts = [[0, "play", 0], [0.9, "switchTo", 1], [1.1, "pause"]]
    heard, told = render(page, [short, long], acts, 1.5)
    gap = heard[len(short) : round((0.9 - LEAD) * RATE) - 128]
    assert np.abs(gap).max() == 0
    assert np.abs(np.diff(heard)).max() < 2 * np.abs(np.diff(long)).max()  # all ends are faded
    assert [(one["sound"], one["ended"]) for one in told["plays"]] == [(0, True), (1, False)]
    assert told["plays"][0]["seconds"] == pytest.approx(0.6, abs=0.03)
    assert told["spans"][1] == [[pytest.approx(0.88, abs=0.01), pytest.approx(1.08, abs=0.01)]]


def test_parts_of_a_sound_add_up_to_a_whole_play(page: Page) -> None:
    acts = [[0, "play", 0], [0.3, "switchTo", 1], [0.5, "seek", 0.05], [0.7, "switchTo", 0]]
    heard, told = render(page, [sine(0.8)] * 2, [*acts, [1.4, "play", 1]], 1.8)
    ended = [(one["sound"], one["ended"]) for one in told["plays"]]
    assert ended == [(0, True), (1, False)]
    assert np.abs(heard).max() <= 0.5 + 1e-6
