"""Tiles: 1,024 columns of a level as bytes, from stored levels, frames, or the sound itself.

Fine tiles are made of the sound when they are needed: a window of about 16 ms, at every column or
more often, whose powers are averaged per column. Their bytes have the scale of log-mel frames.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import (
    ABSENT_BYTE,
    FRAMES_PER_SECOND,
    Bytes,
    Floats,
    encode_powers,
)
from earwitness.navigator.index import RecordingIndex
from earwitness.navigator.indices import COLOUR_LEVELS
from earwitness.navigator.pyramid import (
    FIRST_STORED,
    LAST_LEVEL,
    count_columns,
    max_bytes,
    mean_bytes,
    pool_frames,
)

TILE_COLUMNS = 1024
FINE_LEVELS = range(-4, 1)
TILE_KINDS = {
    "mean": range(LAST_LEVEL + 1),
    "max": range(LAST_LEVEL + 1),
    "colour": COLOUR_LEVELS,
    "fine": FINE_LEVELS,
}


class Tile(NamedTuple):
    """Bytes by row and column, and whether they are final."""

    rows: Bytes
    is_complete: bool


def make_tile(index: RecordingIndex, kind: str, level: int, number: int) -> Tile | None:
    """Return a tile of a recording, or None if there is none with this address."""
    if level not in TILE_KINDS.get(kind, ()) or number < 0:
        return None
    first = number * TILE_COLUMNS
    last = min(first + TILE_COLUMNS, count_columns(index.frame_count, level))
    if first >= last:
        return None
    if kind == "fine":
        return _make_fine_tile(index, level, first, last)
    end_frame = min(last << level, index.frame_count)
    is_complete = index.done_frames >= end_frame  # before the bytes are read
    if kind == "colour":
        columns = index.pyramid.colours[level][first:last]
        return Tile(columns.reshape(last - first, -1).T, is_complete)
    if level >= FIRST_STORED:
        levels = index.pyramid.means if kind == "mean" else index.pyramid.loudest
        return Tile(levels[level][first:last].T, is_complete)
    is_complete = is_complete and index.checked_frames >= end_frame
    pooled = pool_frames(index.shown_frames(first << level, end_frame), 1 << level)
    if kind == "mean":
        return Tile(mean_bytes(pooled.sums, pooled.counts).T, is_complete)
    return Tile(max_bytes(pooled.loudest, pooled.counts).T, is_complete)


# --- Fine tiles ----------------------------------------------------------------------------------


FINE_WINDOW_SECONDS = 0.016
MAX_FINE_BANDS = 256
WINDOWS_PER_BATCH = 256  # windows at a time, to save memory


class FineKernel(NamedTuple):
    """Window and bands of fine tiles at a sample rate; every band has ``bins`` bins."""

    window: Floats
    bins: int
    bands: int

    def frequencies(self, rate: int) -> list[float]:
        """Return the centres of the bands in Hz."""
        centres = np.arange(self.bands) * self.bins + (self.bins - 1) / 2
        return [float(centre) for centre in centres * rate / len(self.window)]


@cache
def fine_kernel(rate: int) -> FineKernel:
    """Return the kernel for a sample rate: a power of two nearest to 16 ms."""
    size = max(16, 1 << round(np.log2(rate * FINE_WINDOW_SECONDS)))
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(size) + 0.5) / size)
    window *= np.sqrt(2 / (size * (window**2).sum()))  # powers are shares of the mean square
    bins = max(1, size // 2 // MAX_FINE_BANDS)
    return FineKernel(window.astype(np.float32), bins, size // 2 // bins)


def _make_fine_tile(index: RecordingIndex, level: int, first: int, last: int) -> Tile:
    """Return fine columns of a level from the sound."""
    rate, kernel = index.rate, fine_kernel(index.rate)
    size = len(kernel.window)
    column_samples = rate / FRAMES_PER_SECOND * 2.0**level
    per_column = max(1, round(column_samples / (size / 2)))
    # centres of windows, evenly spaced in each column
    places = (np.arange(first * per_column, last * per_column) + 0.5) * column_samples / per_column
    starts = np.rint(places).astype(np.int64) - size // 2
    begin, end = int(starts[0]), int(starts[-1]) + size
    heard = index.read_checked(begin, end - begin, channels=1)
    powers = _fine_powers(heard.samples[:, 0], starts - begin, kernel)
    powers = powers.reshape(last - first, per_column, kernel.bands).mean(axis=1)
    rows = encode_powers(powers)
    centres = np.rint((np.arange(first, last) + 0.5) * column_samples).astype(np.int64)
    rows[~index.is_recorded(centres) | (centres >= heard.checked)] = ABSENT_BYTE
    return Tile(rows.T, heard.checked >= min(end, index.sample_count))


def _fine_powers(samples: Floats, starts: NDArray[np.int64], kernel: FineKernel) -> Floats:
    """Return the powers of all bands, one row per window."""
    from scipy.fft import rfft

    windows = np.lib.stride_tricks.sliding_window_view(samples, len(kernel.window))
    powers = np.empty((len(starts), kernel.bands), np.float32)
    for at in range(0, len(starts), WINDOWS_PER_BATCH):
        spectra = rfft(windows[starts[at : at + WINDOWS_PER_BATCH]] * kernel.window, axis=1)
        bins = np.square(spectra.real) + np.square(spectra.imag)
        bins = bins[:, : kernel.bands * kernel.bins]
        powers[at : at + len(bins)] = bins.reshape(len(bins), kernel.bands, kernel.bins).sum(axis=2)
    return powers
