"""Levels of a spectrogram, each with half the columns of the one below: mean and maximum.

Level 0 is the log-mel frames (20 ms per column), and a column of level L covers 2**L frames. Levels
0 to 4 are made of frames when they are needed; levels 5 to 12 are stored, which takes 22 MB for
24 hours. A column has the mean and the maximum of the bytes of its frames, per band; absent frames
do not count, and a column without any frame is absent. The mean of every level is computed from
sums of frames, so it is rounded once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT_BYTE, LOGMEL_FORMAT, MEL_BANDS, Bytes
from earwitness.models.cache import SealedFile, write_sealed
from earwitness.navigator.indices import (
    COLOUR_LEVELS,
    INDEX_COUNT,
    SUM_COUNT,
    index_bytes,
    sum_indices,
)

# --- Pooling of frames ---------------------------------------------------------------------------


STORED_LEVELS = range(5, 13)
FIRST_STORED, LAST_LEVEL = STORED_LEVELS[0], STORED_LEVELS[-1]
Counts = NDArray[np.uint32]
PYRAMID_FORMAT = f"pyramid/1,{LOGMEL_FORMAT}"  # change it when the bytes of the same frames change


class PooledColumns(NamedTuple):
    """Columns of frames: sums and maxima per band, and numbers of present frames."""

    sums: Counts
    loudest: Bytes
    counts: Counts


def pool_frames(rows: Bytes, size: int) -> PooledColumns:
    """Return columns of ``size`` frames; the last one may have fewer."""
    count = -(-len(rows) // size)
    padded = np.zeros((count * size, MEL_BANDS), np.uint8)
    is_present = np.zeros(count * size, np.bool_)
    is_present[: len(rows)] = rows[:, 0] != ABSENT_BYTE
    padded[: len(rows)] = rows
    padded[~is_present] = 0
    columns = padded.reshape(count, size, MEL_BANDS)
    return PooledColumns(
        columns.sum(axis=1, dtype=np.uint32),
        columns.max(axis=1, initial=0),
        is_present.reshape(count, size).sum(axis=1, dtype=np.uint32),
    )


def mean_bytes(sums: Counts, counts: Counts) -> Bytes:
    """Return means, rounded half up; absent where there is nothing."""
    divisors = np.maximum(1, counts)[:, None]
    means: Bytes = ((2 * sums + divisors) // (2 * divisors)).astype(np.uint8)
    means[counts == 0] = ABSENT_BYTE
    return means


def max_bytes(loudest: Bytes, counts: Counts) -> Bytes:
    """Return maxima; absent where there is nothing."""
    return np.where(counts[:, None] == 0, np.uint8(ABSENT_BYTE), loudest)


# --- Stored levels -------------------------------------------------------------------------------


class Pyramid(NamedTuple):
    """Stored levels of a recording: columns × bands, and columns × 3 × bands for colours."""

    means: Mapping[int, Bytes]
    loudest: Mapping[int, Bytes]
    colours: Mapping[int, Bytes]

    @classmethod
    def absent(cls, frames: int) -> Pyramid:
        """Return levels in which everything is absent, without memory for them."""

        def make(level: int, *inner: int) -> Bytes:
            shape = (count_columns(frames, level), *inner, MEL_BANDS)
            return np.broadcast_to(np.uint8(ABSENT_BYTE), shape)

        levels = {level: make(level) for level in STORED_LEVELS}
        return cls(levels, levels, {level: make(level, INDEX_COUNT) for level in COLOUR_LEVELS})

    @classmethod
    def from_sealed(cls, sealed: SealedFile) -> Pyramid:
        """Return the levels in a file of the cache, which are read from disk on access."""
        count = len(STORED_LEVELS)
        groups = sealed.arrays[:count], sealed.arrays[count : 2 * count], sealed.arrays[2 * count :]
        levels = STORED_LEVELS, STORED_LEVELS, COLOUR_LEVELS
        return cls(*(dict(zip(*pair, strict=True)) for pair in zip(levels, groups, strict=True)))

    def write(self, path: Path) -> None:
        """Write all levels to the cache."""
        arrays = [*self.means.values(), *self.loudest.values(), *self.colours.values()]
        write_sealed(path, {"format": PYRAMID_FORMAT}, arrays)


def count_columns(frames: int, level: int) -> int:
    """Return the number of columns of a level."""
    return -(-frames // (1 << level)) if level >= 0 else frames << -level


class PyramidBuilder:
    """Builds the levels of a recording from consecutive frames.

    Arrays are in temporary files, so that memory does not grow with the recording. What was added
    is in ``pyramid`` at once; all else is absent there.

    Parameters
    ----------
    frames
        Number of frames of the recording.
    folder
        Folder for temporary files.
    """

    def __init__(self, frames: int, folder: Path) -> None:
        self.frames, self._folder = frames, folder
        self.done = 0  # frames added
        columns = count_columns(frames, FIRST_STORED)
        self._sums = self._allocate((columns, MEL_BANDS), np.uint32)
        self._counts = self._allocate((columns,), np.uint32)
        colour_columns = count_columns(frames, COLOUR_LEVELS[0])
        self._colour_sums = self._allocate((colour_columns, SUM_COUNT, MEL_BANDS), np.float32)
        means, loudest = ({n: self._make_level(n) for n in STORED_LEVELS} for _ in range(2))
        colours = {n: self._make_level(n, INDEX_COUNT) for n in COLOUR_LEVELS}
        self.pyramid = Pyramid(means, loudest, colours)

    def _make_level(self, level: int, *inner: int) -> Bytes:
        shape = (count_columns(self.frames, level), *inner, MEL_BANDS)
        array: Bytes = self._allocate(shape, np.uint8)
        array[:] = ABSENT_BYTE
        return array

    def _allocate(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """Return zeros in a temporary file, which is removed when nothing refers to it."""
        if not all(shape):
            return np.zeros(shape, dtype)
        with tempfile.TemporaryFile(dir=self._folder) as file:
            return np.memmap(file, dtype, "w+", shape=shape)

    def add(self, rows: Bytes) -> None:
        """Add the following frames: a multiple of 256, unless they are the last."""
        first = self.done >> FIRST_STORED
        pooled = pool_frames(rows, 1 << FIRST_STORED)
        last = first + len(pooled.counts)
        self._sums[first:last], self._counts[first:last] = pooled.sums, pooled.counts
        self.pyramid.loudest[FIRST_STORED][first:last] = max_bytes(pooled.loudest, pooled.counts)
        colour = self.done >> COLOUR_LEVELS[0]
        sums = sum_indices(rows)
        self._colour_sums[colour : colour + len(sums)] = sums
        self.done += len(rows)
        for level in STORED_LEVELS:
            self._update_level(level, first, last)
        for level in COLOUR_LEVELS:
            self._update_colours(level, colour, colour + len(sums))

    def _update_level(self, level: int, first: int, last: int) -> None:
        """Compute the columns of a level that contain columns of the first one."""
        size = 1 << level - FIRST_STORED
        low, high = first // size, -(-last // size)
        part = slice(low * size, last)
        loudest = self.pyramid.loudest[FIRST_STORED][part].copy()
        loudest[self._counts[part] == 0] = 0
        starts = np.arange(0, len(loudest), size)  # of columns; the last one may have fewer
        counts = np.add.reduceat(self._counts[part], starts)
        means = mean_bytes(np.add.reduceat(self._sums[part], starts, axis=0), counts)
        self.pyramid.means[level][low:high] = means
        maxima = np.maximum.reduceat(loudest, starts, axis=0)
        self.pyramid.loudest[level][low:high] = max_bytes(maxima, counts)

    def _update_colours(self, level: int, first: int, last: int) -> None:
        size = 1 << level - COLOUR_LEVELS[0]
        low, high = first // size, -(-last // size)
        sums = np.add.reduceat(
            self._colour_sums[low * size : last], np.arange(0, last - low * size, size), axis=0
        )
        self.pyramid.colours[level][low:high] = index_bytes(sums)
