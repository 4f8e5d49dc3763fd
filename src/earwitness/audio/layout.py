"""When the parts of a skim begin and end, once it is known which samples each lies along."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from earwitness.audio.beside import Beside, Samples
from earwitness.audio.resampling import resampled
from earwitness.audio.rivals import Part
from earwitness.audio.runs import Run
from earwitness.audio.seams import Seam, evenly, seam

FARTHEST = 5.0  # seconds between parts that may still fade into each other
ALIKE = 0.1  # seconds by which overlaps may differ from the common one
SHORTEST = 0.5  # seconds of a part
LOW = 8_000  # samples a second in which fades are looked at


class Layout(NamedTuple):
    """When parts begin and end in a skim, in seconds, and by how much they overlap.

    ``joins`` says of each part but the last whether the next one lies over its end.
    """

    starts: list[float]
    ends: list[float]
    joins: list[bool]
    overlap: float
    even: bool = False
    note: str = ""

    def parts(self, rate: int, whole: int) -> list[Part]:
        """The same in samples; no fade is longer than half a part."""
        found = []
        for number, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            first, last = max(0, round(start * rate)), min(whole, round(end * rate))
            shared = min(round(self.overlap * rate), (last - first) // 2)
            rise = shared if number and self.joins[number - 1] else 0
            fall = shared if number < len(self.joins) and self.joins[number] else 0
            found.append(Part(first, last, rise, fall))
        return found


class Fades:
    """The fades of one skim."""

    def __init__(self, beside: Beside) -> None:
        self._beside, self._rate = beside, beside.rate
        self._seconds = len(beside) / beside.rate

    def even(self, runs: Sequence[Run]) -> Layout | None:
        """Parts of one length, if most fades fit that; else None."""
        seams = [self._seam(a, b) for a, b in pairwise(runs)]
        if not seams:
            return None
        overlap = float(np.median([one.overlap for one in seams]))
        starts = [0.0, *(self._seam(a, b, overlap).start for a, b in pairwise(runs))]
        found = evenly(starts, overlap, self._seconds)
        if found is None:
            return None
        ends = [start + found.length for start in found.starts]
        return Layout(found.starts, ends, [True] * (found.parts - 1), found.overlap, even=True)

    def uneven(self, runs: Sequence[Run]) -> Layout:
        """A part for every run, from where it sets in to where it is gone."""
        joins = [b.first - a.last <= FARTHEST * self._rate for a, b in pairwise(runs)]
        pairs = [one for one, near in zip(pairwise(runs), joins, strict=True) if near]
        overlaps = [self._seam(a, b).overlap for a, b in pairs]
        common = round(float(np.median(overlaps)), 3) if overlaps else 0.0
        starts, ends = [self._set_in(runs[0], common)], []
        for (a, b), near in zip(pairwise(runs), joins, strict=True):
            met = self._seam(a, b, common).start if near else None
            starts.append(self._set_in(b, common) if met is None else met)
            ends.append(self._gone(a, common) if met is None else met + common)
        ends.append(self._gone(runs[-1], common))
        ends = [max(end, start + SHORTEST) for start, end in zip(starts, ends, strict=True)]
        differ = any(abs(one - common) > ALIKE for one in overlaps)
        note = "its parts overlap by different lengths; the middle one is told" if differ else ""
        return Layout(starts, ends, joins, common, note=note)

    def _seam(self, a: Run, b: Run, overlap: float | None = None) -> Seam:
        first, last = a.middle, b.middle
        own = self._low(self._beside.skim(first, last))
        old, new = (self._low(self._beside.along(run, first, last)) for run in (a, b))
        found = seam(own, old, new, LOW, overlap)
        return Seam(first / self._rate + found.start, found.overlap)

    def _low(self, sound: Samples) -> Samples:
        """What lossy encoding keeps best."""
        return resampled(sound, self._rate, LOW)

    def _set_in(self, run: Run, overlap: float) -> float:
        """When a part sets in that follows nothing known: with the skim, or in a fade."""
        if run.first <= FARTHEST * self._rate:
            return 0.0
        first, last = run.first - round(FARTHEST * self._rate), run.middle
        own, along = self._beside.skim(first, last), self._beside.along(run, first, last)
        found = seam(own[::-1], along[::-1], 0 * along, self._rate, overlap)
        return max(0.0, last / self._rate - found.start - found.overlap)

    def _gone(self, run: Run, overlap: float) -> float:
        """When a part is gone that nothing known follows: with the skim, or in a fade."""
        far = round(FARTHEST * self._rate)
        if len(self._beside) - run.last <= far:
            return self._seconds
        first, last = run.middle, min(len(self._beside), run.last + far)
        own, along = self._beside.skim(first, last), self._beside.along(run, first, last)
        found = seam(own, along, 0 * along, self._rate, overlap)
        return min(self._seconds, first / self._rate + found.start + found.overlap)
