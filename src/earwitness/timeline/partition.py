"""Two segmentations of the same time, cut at all boundaries of both.

Between two neighbouring boundaries, whosever they are, both sides stay in one segment; and two
segments, one of each side, share at most one such piece. So pieces are the cells of the table of
common time, and every measure of partitions is a sum over pieces.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.timeline.cases import ChapterCases
from earwitness.timeline.ragged import Floats, Ints, Ragged

Counts = NDArray[np.float64]  # whole numbers whose products may be large


@dataclass(frozen=True, slots=True)
class Partition:
    """Pieces of a batch: their case, their segment on either side, their seconds and frames."""

    case: Ints
    of_output: Ints
    of_reference: Ints
    seconds: Floats
    frames: Counts
    duration: Floats

    @classmethod
    def of(cls, cases: ChapterCases, frame: float) -> Partition:
        """Cut every case at the boundaries of both sides."""
        sides = [_inner(side, cases.duration) for side in (cases.output, cases.reference)]
        n = len(cases)
        row = np.concatenate([np.arange(n), *(side.rows for side in sides)])
        time = np.concatenate([np.zeros(n), *(side.values for side in sides)])
        side = np.repeat([0, 1, 2], [n, *(len(s.values) for s in sides)])
        order = np.lexsort((side, time, row))
        row, time, side = row[order], time[order], side[order]
        stop = np.empty_like(time)
        stop[:-1] = time[1:]
        last = np.append(row[1:] != row[:-1], True)[: len(row)]
        stop[last] = cases.duration[row[last]]
        whole = np.floor(cases.duration / frame)[row]
        frames = np.minimum(_before(stop, frame), whole) - np.minimum(_before(time, frame), whole)
        new = side == 0
        return cls(
            row,
            np.cumsum(new | (side == 1)) - 1,
            np.cumsum(new | (side == 2)) - 1,
            np.maximum(stop - time, 0),
            np.maximum(frames, 0),
            cases.duration,
        )

    def purity(self) -> tuple[Floats, Floats]:
        """Share of time in the main partner, seen from output and from reference segments."""
        return self._main_share(self.of_output), self._main_share(self.of_reference)

    def homogeneity(self) -> tuple[Floats, Floats]:
        """How much of the reference the output tells, and the other way round."""
        total = self._per_case(self.frames)
        joint = self._entropy(self.frames, self.case, total)
        of_output = self._entropy(*self._grouped(self.of_output), total)
        of_reference = self._entropy(*self._grouped(self.of_reference), total)
        return _told(joint - of_output, of_reference), _told(joint - of_reference, of_output)

    def pairs(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Pairs of frames together on both sides, in the output, in the reference, and all."""
        joint = self._per_case(_pairs(self.frames))
        sums = []
        for side in (self.of_output, self.of_reference):
            size, case = self._grouped(side)
            sums.append(_sums(case, _pairs(size), len(self.duration)))
        return joint, sums[0], sums[1], _pairs(self._per_case(self.frames))

    def _per_case(self, values: Floats) -> Floats:
        return _sums(self.case, values, len(self.duration))

    def _grouped(self, segment: Ints) -> tuple[Floats, Ints]:
        """Frames of every segment of a side, and its case."""
        first = np.flatnonzero(np.diff(segment, prepend=-1))
        return _sums(segment, self.frames), self.case[first]

    def _main_share(self, segment: Ints) -> Floats:
        share = np.full(len(self.duration), np.nan)
        if len(segment):
            first = np.flatnonzero(np.diff(segment, prepend=-1))
            main = np.maximum.reduceat(self.seconds, first)
            total = _sums(self.case[first], main, len(self.duration))
            np.divide(total, self.duration, out=share, where=self.duration > 0)
        return np.asarray(np.minimum(share, 1), np.float64)  # rounding may go beyond

    def _entropy(self, size: Floats, case: Ints, total: Floats) -> Floats:
        share = np.divide(size, total[case], out=np.ones_like(size), where=size > 0)
        terms = _sums(case, -share * np.log(share), len(total))
        return np.where(total > 0, terms, np.nan)


def _sums(group: Ints, values: Floats, groups: int = 0) -> Floats:
    """Sums of values by group."""
    return np.bincount(group, values, groups).astype(np.float64)


def _inner(side: Ragged, duration: Floats) -> Ragged:
    return side.where((side.values > 0) & (side.values < duration[side.rows]))


def _before(time: Floats, frame: float) -> Counts:
    """How many frames lie before a time: the first k with k · frame ≥ time."""
    guess = np.ceil(time / frame)
    guess -= (guess - 1) * frame >= time
    guess += guess * frame < time
    return np.asarray(guess)


def _pairs(count: Floats) -> Floats:
    return count * (count - 1) / 2


def _told(left: Floats, whole: Floats) -> Floats:
    """What is not left open, as a share; all of nothing is told."""
    share = np.divide(left, whole, out=np.where(np.isnan(whole), np.nan, 0.0), where=whole > 0)
    return np.asarray(np.clip(1 - share, 0, 1), np.float64)
