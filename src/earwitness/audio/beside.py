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
Cut = Callable[[float, float], Samples]  # from a time on, so many seconds


def bright(sound: Samples) -> Samples:
    """Differences of every other sample: without rumble and hum, and what is highest; as long."""
    found = np.zeros_like(sound)
    found[..., 2:] = sound[..., 2:] - sound[..., :-2]
    return found


class Beside:
    """What is heard in a skim, and what was recorded along any part of it; places are samples.

    Rumble and hum are alike everywhere, and filters change them first, so sounds are compared as
    their ``bright`` differences.
    """

    def __init__(self, heard: Samples, recording: Recording, cut: Cut) -> None:
        self.heard = heard
        self.bright = bright(heard)
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
