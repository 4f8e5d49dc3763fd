"""When the parts of a skim begin and end, once it is known which samples each lies along."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from earwitness.audio.beside import Beside, Samples
from earwitness.audio.fades import EQUAL_POWER, LAWS
from earwitness.audio.resampling import resampled
from earwitness.audio.rivals import Part
from earwitness.audio.runs import Run
from earwitness.audio.seams import SLACK, Products, Seam, evenly, products, seam

FARTHEST = 5.0  # seconds between parts that may still fade into each other
ALIKE = 0.1  # seconds by which overlaps may differ from the common one
SHORTEST = 0.5  # seconds of a part
LOW = 8_000  # samples a second in which fades are looked at
FITS = 1e-3  # share that fades of equal power leave if they are it
BETTER = 0.9  # of what they leave, for another law to be believed
FEW = 4  # begins from which on one that is missing may be added
UNLIKE = "its parts overlap by different lengths, so begins may be off by tenths of a second"


class Layout(NamedTuple):
    """When parts begin and end in a skim, in seconds, by how much they overlap, and how they fade.

    ``joins`` says of each part but the last whether the next one lies over its end. Parts of one
    length are ``even``; they are ``plain`` if all begins fit.
    """

    starts: list[float]
    ends: list[float]
    joins: list[bool]
    overlap: float
    law: str = EQUAL_POWER
    even: bool = False
    plain: bool = False
    note: str = ""

    def parts(self, rate: int, whole: int) -> list[Part]:
        """The same in samples; no fade is longer than half a part."""
        found = []
        for number, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            first, last = max(0, round(start * rate)), min(whole, round(end * rate))
            shared = min(round(self.overlap * rate), (last - first) // 2)
            rise = shared if number and self.joins[number - 1] else 0
            fall = shared if number < len(self.joins) and self.joins[number] else 0
            found.append(Part(first, last, rise, fall, self.law))
        return found


class Fades:
    """The fades of one skim."""

    def __init__(self, beside: Beside) -> None:
        self._beside, self._rate = beside, beside.rate
        self._seconds = len(beside) / beside.rate
        self._known: dict[tuple[Run, Run], Products] = {}

    def even(self, runs: Sequence[Run]) -> Layout | None:
        """Parts of one length, if most fades fit that; else None."""
        pairs = list(pairwise(runs))
        if not pairs:
            return None
        law, seams = self._law(pairs)
        overlap = float(np.median([one.overlap for one in seams]))
        starts = [0.0, *(self._seam(*pair, law, overlap).start for pair in pairs)]
        found = evenly(starts, overlap, self._seconds)
        if found is None or (found.parts != len(runs) and len(runs) < FEW):
            return None
        same = found.parts == len(runs)
        plain = same and all(
            abs(a - b) <= SLACK for a, b in zip(starts, found.starts, strict=False)
        )
        ends = [start + found.length for start in found.starts]
        joins = [True] * (found.parts - 1)
        return Layout(found.starts, ends, joins, found.overlap, law, even=True, plain=plain)

    def uneven(self, runs: Sequence[Run]) -> Layout:
        """A part for every run, from where it sets in to where it is gone."""
        joins = [b.first - a.last <= FARTHEST * self._rate for a, b in pairwise(runs)]
        pairs = [one for one, near in zip(pairwise(runs), joins, strict=True) if near]
        law, seams = self._law(pairs)
        overlaps = [one.overlap for one in seams]
        common = round(float(np.median(overlaps)), 3) if overlaps else 0.0
        starts, ends = [self._set_in(runs[0], common)], []
        for (a, b), near in zip(pairwise(runs), joins, strict=True):
            met = self._seam(a, b, law, common).start if near else None
            starts.append(self._set_in(b, common) if met is None else met)
            ends.append(self._gone(a, common) if met is None else met + common)
        ends.append(self._gone(runs[-1], common))
        ends = [max(end, start + SHORTEST) for start, end in zip(starts, ends, strict=True)]
        differ = any(abs(one - common) > ALIKE for one in overlaps)
        return Layout(starts, ends, joins, common, law, note=UNLIKE if differ else "")

    def _law(self, pairs: Sequence[tuple[Run, Run]]) -> tuple[str, list[Seam]]:
        """How parts fade: with equal power, unless another law leaves clearly less."""
        best, found = EQUAL_POWER, [self._seam(*pair, EQUAL_POWER) for pair in pairs]
        if not found or _usual(found) <= FITS:
            return best, found
        for law in list(LAWS)[1:]:
            other = [self._seam(*pair, law) for pair in pairs]
            if _usual(other) < BETTER * _usual(found):
                best, found = law, other
        return best, found

    def _seam(self, a: Run, b: Run, law: str, overlap: float | None = None) -> Seam:
        if (a, b) not in self._known:
            first, last = a.middle, max(a.middle, b.middle)
            own = self._low(self._beside.skim(first, last))
            old, new = (self._low(self._beside.along(run, first, last)) for run in (a, b))
            self._known[a, b] = products(own, old, new, LOW)
        found = seam(self._known[a, b], overlap, law)
        return found._replace(start=a.middle / self._rate + found.start)

    def _low(self, sound: Samples) -> Samples:
        """What lossy encoding keeps best, without rumble and hum."""
        return np.diff(resampled(sound, self._rate, LOW)) if len(sound) > 1 else sound

    def _set_in(self, run: Run, overlap: float) -> float:
        """When a part sets in that follows nothing known: with the skim, or in a fade."""
        if run.first <= FARTHEST * self._rate:
            return 0.0
        first, last = run.first - round(FARTHEST * self._rate), run.middle
        own, along = (
            self._beside.skim(first, last)[::-1],
            self._beside.along(run, first, last)[::-1],
        )
        found = seam(products(own, along, 0 * along, self._rate), overlap)
        return max(0.0, last / self._rate - found.start - found.overlap)

    def _gone(self, run: Run, overlap: float) -> float:
        """When a part is gone that nothing known follows: with the skim, or in a fade."""
        far = round(FARTHEST * self._rate)
        if len(self._beside) - run.last <= far:
            return self._seconds
        first, last = run.middle, min(len(self._beside), run.last + far)
        own, along = self._beside.skim(first, last), self._beside.along(run, first, last)
        found = seam(products(own, along, 0 * along, self._rate), overlap)
        return min(self._seconds, first / self._rate + found.start + found.overlap)


def _usual(seams: Sequence[Seam]) -> float:
    """What most fades leave; some may be between parts that are not there."""
    return float(np.median([one.left for one in seams]))
