"""Frames of a whole day as the columns of a picture.

A column is halfway between the mean and the loudest of its frames: a mean alone would lose a call
of a tenth of a second in the minute that a column stands for, and the loudest alone would make
every windy day look full.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from earwitness.report.skims.shown import Spectrogram

ABSENT = 255  # a frame that is not there
WIDEST = 1_200  # columns


def pooled(
    pieces: Iterable[tuple[float, NDArray[np.uint8]]],
    seconds: float,
    hop: float,
    bands: tuple[float, float],
    *,
    columns: int = WIDEST,
) -> Spectrogram:
    """A picture of frames that come in pieces: when each starts, and its levels, a row a frame.

    Frames are ``hop`` seconds apart; those whose levels are all 255 are not there. ``bands`` are
    the lowest and the highest frequency. Pieces may come in any order and need not fit columns.
    """
    columns = max(1, min(columns, int(seconds / hop)))
    sums: NDArray[np.float64] | None = None
    for start, frames in pieces:
        if sums is None:
            sums = np.zeros((columns, frames.shape[1]))
            most, counts = np.zeros(sums.shape, np.uint8), np.zeros(columns)
        places = np.floor((start + hop * np.arange(len(frames))) / seconds * columns + 1e-9)
        there = (frames != ABSENT).any(axis=1) & (places >= 0) & (places < columns)
        _add(frames[there], places[there].astype(np.int64), sums, most, counts)
    if sums is None:
        return Spectrogram(np.zeros((1, 1), np.uint8), np.ones(1, np.bool_), *bands)
    means = sums / np.maximum(1, counts)[:, None]
    levels = np.round((means + most) / 2).astype(np.uint8)
    return Spectrogram(np.ascontiguousarray(levels.T), counts == 0, *bands)


def _add(
    frames: NDArray[np.uint8],
    places: NDArray[np.int64],
    sums: NDArray[np.float64],
    most: NDArray[np.uint8],
    counts: NDArray[np.float64],
) -> None:
    """Frames of the same column lie side by side, so that each column is one run of them."""
    if not len(frames):
        return
    runs = np.flatnonzero(np.diff(places, prepend=-1))
    own = places[runs]
    sums[own] += np.add.reduceat(frames, runs, axis=0, dtype=np.float64)
    most[own] = np.maximum(most[own], np.maximum.reduceat(frames, runs, axis=0))
    counts[own] += np.diff(runs, append=len(frames))
