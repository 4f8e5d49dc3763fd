"""Tiles by kind and level, and fine tiles against a plain spectrogram."""

from __future__ import annotations

import numpy as np
import pytest

from earwitness.audio.logmel import ABSENT_BYTE, FLOOR_DB, STEP_DB
from earwitness.models.cache import Cache
from earwitness.navigator.index import RecordingIndex
from earwitness.navigator.pyramid import pool_frames
from earwitness.navigator.tiles import FINE_LEVELS, fine_kernel, make_tile
from helpers.tones import RATE, recording, sound, written

SECONDS = 35


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> RecordingIndex:
    """Two files with 5 s between them."""
    folder = tmp_path_factory.mktemp("tiles")
    paths = [written(folder / f"{n}.wav", sound(15, seed=n)) for n in range(2)]
    cache = Cache(folder / "cache")
    return RecordingIndex(recording(*paths, gap=5.0), cache=cache).start().wait()


@pytest.mark.parametrize("level", range(13))
def test_levels_that_are_made_and_stored_agree(index: RecordingIndex, level: int) -> None:
    pooled = pool_frames(index.shown_frames(0, index.frame_count), 1 << level)
    tiles = [make_tile(index, "max", level, number) for number in range(2)]
    found = np.concatenate([tile.rows for tile in tiles if tile], axis=1)
    expected = np.where(pooled.counts[:, None] > 0, pooled.loudest, ABSENT_BYTE)
    assert np.array_equal(found, expected.T)
    assert all(tile.is_complete for tile in tiles if tile)


@pytest.mark.parametrize(
    ("kind", "level", "number"),
    [("mean", -1, 0), ("max", 13, 0), ("max", 0, 2), ("max", 0, -1), ("fine", 1, 0),
     ("fine", -5, 0), ("fine", 0, 99), ("colour", 7, 0), ("other", 5, 0)],
)  # fmt: skip
def test_there_is_no_other_tile(index: RecordingIndex, kind: str, level: int, number: int) -> None:
    assert make_tile(index, kind, level, number) is None


def test_colours_have_three_indices_per_band(index: RecordingIndex) -> None:
    tile = make_tile(index, "colour", 8, 0)
    assert tile is not None
    assert tile.rows.shape == (120, 7)


def plain_column(samples: np.ndarray, column: int, level: int) -> np.ndarray:
    """One column of a fine tile in decibels, by its definition."""
    window_size = fine_kernel(RATE).window.size
    window = np.hanning(2 * window_size + 1)[1::2]
    width = RATE / 50 * 2.0**level
    count = max(1, round(width / (window_size / 2)))
    powers = []
    for number in range(count):
        centre = round((column + (number + 0.5) / count) * width)
        part = np.zeros(window_size)
        for place in range(window_size):
            at = centre - window_size // 2 + place
            part[place] = samples[at] if 0 <= at < len(samples) else 0
        powers.append(
            2 * np.abs(np.fft.rfft(part * window)) ** 2 / (window_size * (window**2).sum())
        )
    return np.asarray(10 * np.log10(np.mean(powers, axis=0)[: window_size // 2] + 1e-20))


@pytest.mark.parametrize("level", FINE_LEVELS)
def test_fine_columns_are_a_plain_spectrogram(index: RecordingIndex, level: int) -> None:
    samples = np.concatenate([sound(15), np.zeros(5 * RATE), sound(15, seed=1)])
    tile = make_tile(index, "fine", level, 0)
    after = make_tile(index, "fine", level, 1)
    assert tile is not None
    assert after is not None
    rows = np.concatenate([tile.rows, after.rows], axis=1)
    for column in (0, 1, 500, 1023, 1024):
        if rows[0, column] == ABSENT_BYTE:  # in the gap
            continue
        expected = (plain_column(samples, column, level) - FLOOR_DB) / STEP_DB
        assert rows[:, column] == pytest.approx(np.clip(expected, 0, 254), abs=0.51)


def test_gaps_are_absent_in_fine_tiles(index: RecordingIndex) -> None:
    tile = make_tile(index, "fine", 0, 0)
    assert tile is not None
    is_absent = (tile.rows == ABSENT_BYTE).all(axis=0)
    assert np.flatnonzero(is_absent).tolist() == list(range(750, 1000))


@pytest.mark.parametrize(
    ("rate", "bands", "width"), [(8000, 64, 62.5), (32_000, 256, 62.5), (48_000, 256, 93.75)]
)
def test_fine_bands(rate: int, bands: int, width: float) -> None:
    frequencies = fine_kernel(rate).frequencies(rate)
    assert len(frequencies) == bands
    assert np.diff(frequencies) == pytest.approx(width)
