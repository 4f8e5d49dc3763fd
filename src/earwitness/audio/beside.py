"""A skim beside its recording, sample by sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.runs import Run
from earwitness.data import Recording
from earwitness.errors import UsageError

Samples = NDArray[Any]
BRIGHT = 5_000  # means of this rate are compared
Cut = Callable[[float, float], Samples]  # from a time on, so many seconds


def bright(sound: Samples, rate: int) -> Samples:
    """Means of a few samples less those before: what is around 2 kHz most of all; as long.

    White noise stays as loud. The first samples, before which nothing is known, become 0.
    """
    few = reach_of(rate)
    sums = np.concatenate([[0.0], np.cumsum(sound, dtype=np.float64)])
    means = (sums[few:] - sums[:-few]) / np.sqrt(2 * few)
    found = np.zeros(len(sound), sound.dtype)
    found[2 * few - 1 :] = means[few:] - means[:-few]
    return found


def reach_of(rate: int) -> int:
    """Samples of a mean."""
    return max(1, round(rate / BRIGHT))


class Beside:
    """What is heard in a skim, and what was recorded along any part of it; places are samples.

    Rumble and hum are alike everywhere, and filters change them first; what is highest is lost
    first in encoding. So sounds are compared without either, ``bright``.
    """

    def __init__(self, heard: Samples, recording: Recording, cut: Cut) -> None:
        self.heard = heard
        self.bright = bright(heard, recording.rate)
        self.rate = recording.rate
        self._recording = recording
        self._cut = cut

    def __len__(self) -> int:
        return len(self.heard)

    def skim(self, first: int, last: int) -> Samples:
        """What is heard from one place to another."""
        return self.heard[max(0, first) : max(0, last)]

    def along(self, run: Run, first: int, last: int) -> Samples:
        """What was recorded along a part of the skim; silence where nothing was."""
        begin = run.place(last - 1 if run.turned else first)
        found = np.zeros(last - first, np.float32)
        for one in self._recording.stretches:
            start = round(one.start * self.rate)
            low = max(start, begin)
            high = min(start + round(one.seconds * self.rate), begin + len(found))
            if high > low:
                sound = self._read(low, high - low)
                part = found[low - begin :][: len(sound)]
                part[:] = sound[: len(part)]
        return found[::-1] if run.turned else found

    def _read(self, first: int, count: int) -> Samples:
        try:
            return self._cut(first / self.rate, count / self.rate)
        except UsageError:  # damaged: there is nothing to be alike to
            return np.zeros(count, np.float32)
