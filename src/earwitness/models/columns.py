"""The spectrogram of a whole recording in few columns, from its frames.

A column has of every band the loudest frame and the mean of all, so that a sound of a tenth of a
second stays visible in a picture of a day. Columns in which nothing was recorded are absent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT, BANDS, PER_SECOND, Bytes
from earwitness.data import Recording
from earwitness.models.frames import FrameFile

PORTION = 600 * PER_SECOND  # frames at a time


class Columns(NamedTuple):
    """Band × column, in bytes as frames are; 255 where there is none."""

    loudest: Bytes
    mean: Bytes


def columns_of(recording: Recording, files: Mapping[str, FrameFile], count: int) -> Columns:
    """So many columns over all of the clock of a recording."""
    most = np.zeros((count, BANDS), np.uint8)
    sums, counts = np.zeros((count, BANDS)), np.zeros(count, np.int64)
    for rows, times in _there(recording, files):
        places = np.minimum(count - 1, times * count / recording.seconds).astype(np.intp)
        own, starts = np.unique(places, return_index=True)
        most[own] = np.maximum(most[own], np.maximum.reduceat(rows, starts, axis=0))
        sums[own] += np.add.reduceat(rows, starts, axis=0, dtype=np.float64)
        counts += np.bincount(places, minlength=count)
    mean = np.rint(sums / np.maximum(1, counts)[:, None]).astype(np.uint8)
    most[counts == 0] = mean[counts == 0] = ABSENT
    return Columns(most.T, mean.T)


def _there(
    recording: Recording, files: Mapping[str, FrameFile]
) -> Iterator[tuple[Bytes, NDArray[np.float64]]]:
    """Frames that are there and their times on the clock, some at a time."""
    for stretch in recording.stretches:
        first = round(stretch.at * PER_SECOND)
        last = round((stretch.at + stretch.seconds) * PER_SECOND)
        for begin in range(first, last, PORTION):
            rows = files[stretch.path].rows(begin, min(last, begin + PORTION))
            times = stretch.start + np.arange(begin - first, begin - first + len(rows)) / PER_SECOND
            there = rows[:, 0] != ABSENT
            if there.any():
                yield rows[there], times[there]
