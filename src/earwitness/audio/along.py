"""Parts of a skim beside their recording, sample by sample.

A part that was found roughly is moved to where its samples are the same, parts that others explain
are left out, and fades tell when each of the others begins and ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.likeness import HOP, SECOND
from earwitness.audio.resampling import resampled
from earwitness.audio.runs import Run
from earwitness.audio.seams import Seam, evenly, explained, seam
from earwitness.data import Pick, Recording, Skim
from earwitness.errors import UsageError

Samples = NDArray[Any]
Cut = Callable[[float, float], Samples]  # from a time on, so many seconds
PROBE = HOP * SECOND
AROUND = 0.15  # seconds around a rough place in which the exact one is looked for
HEARD = 2.0  # seconds of a part that are laid over the recording
SURE = 0.3  # likeness of samples from which on a place is exact
ROUGHLY = 0.6  # likeness of frames that is believed without samples
FARTHEST = 5.0  # seconds between parts that may still fade into each other
ALIKE = 0.1  # seconds by which overlaps may differ from the common one
SAME = 0.002  # seconds
LOW = 8_000  # samples a second in which fades are looked at
ENOUGH = 0.9  # of a part's likeness that its neighbours must reach to replace it
STEADY = 0.1  # seconds in which gains hardly change
CONFIDENCE = "confidence"


@dataclass(frozen=True, slots=True)
class Matched:
    """A skim as it was found, and what was not found."""

    skim: Skim
    notes: tuple[str, ...] = ()


def joined(runs: Sequence[Run]) -> list[Run]:
    """Those that lie along the same samples are one part: fades go to and fro between two."""
    groups: list[list[Run]] = []
    for run in sorted(runs, key=lambda one: -(one.last - one.first)):
        own = next((one for one in groups if _same(one[0], run)), None)
        groups.append([run]) if own is None else own.append(run)
    return sorted((group[0] for group in groups), key=lambda one: one.middle)


def _same(one: Run, other: Run) -> bool:
    apart = max(one.first, other.first) - min(one.last, other.last)
    near = one.turned == other.turned and abs(one.offset - other.offset) < SAME
    return near and apart < FARTHEST


class Along:
    """A skim beside its recording, sample by sample."""

    def __init__(
        self, heard: Samples, recording: Recording, cut: Callable[[float, float], Samples]
    ) -> None:
        self._heard = heard
        self._recording = recording
        self._cut = cut
        self._rate = recording.rate
        self._seconds = len(heard) / recording.rate

    def exact(self, run: Run) -> Run | None:
        """A part moved to where its samples are; None if neither they nor its frames are alike."""
        first, last = self._window(run)
        own = np.diff(self._skim(first, last))
        there = np.diff(self._along(run, first - AROUND, last + AROUND))
        lag, likeness = _laid(own, there)
        if likeness < SURE:
            return run if run.score >= ROUGHLY and run.last > run.first else None
        moved = lag / self._rate - AROUND
        offset = run.offset + (-moved if run.turned else moved)
        return replace(run, offset=offset, score=likeness)

    def own(self, runs: Sequence[Run]) -> list[Run]:
        """Without parts that a neighbour explains better: one call of a bird is like another."""
        kept = list(runs)
        for run in sorted(runs, key=lambda one: one.last - one.first):
            place = kept.index(run)
            beside = kept[max(0, place - 1) : place] + kept[place + 1 : place + 2]
            if self._explained(run, beside) >= ENOUGH * run.score:
                kept.remove(run)
        return kept

    def _explained(self, run: Run, beside: Sequence[Run]) -> float:
        """How alike a part is to the sum of what its neighbours lie along at its place."""
        first, last = self._window(run)
        own = np.diff(self._skim(first, last))
        there = [np.diff(self._along(other, first, last)) for other in beside]
        return explained(own, there, round(STEADY * self._rate))

    def _window(self, run: Run) -> tuple[float, float]:
        """The best of a part: its middle."""
        half = min(HEARD, run.last - run.first + PROBE) / 2
        return max(0.0, run.middle - half), min(self._seconds, run.middle + half)

    def matched(self, runs: Sequence[Run]) -> Matched:
        """Picks, from where each sets in to where it is gone."""
        near = [b.first - a.last <= FARTHEST for a, b in pairwise(runs)]
        pairs = [(a, b) for (a, b), joins in zip(pairwise(runs), near, strict=True) if joins]
        overlaps = [self._seam(a, b).overlap for a, b in pairs]
        common = round(float(np.median(overlaps)), 3) if overlaps else 0.0
        lost = self._lost(runs)
        starts, ends = [self._set_in(runs[0], common)], []
        for (a, b), joins in zip(pairwise(runs), near, strict=True):
            met = self._seam(a, b, common).start if joins else None
            starts.append(self._set_in(b, common) if met is None else met)
            ends.append(self._gone(a, common) if met is None else met + common)
        ends.append(self._gone(runs[-1], common))
        if not lost and (even := evenly(starts, common, self._seconds)):
            starts, length, common = even
            ends = [start + length for start in starts]
        elif any(abs(one - common) > ALIKE for one in overlaps):
            lost.append("its parts overlap by different lengths; the middle one is told")
        picks = [self._pick(*one) for one in zip(runs, starts, ends, strict=True)]
        return Matched(Skim(tuple(picks), common), tuple(lost))

    def _pick(self, run: Run, start: float, end: float) -> Pick:
        begin = max(0.0, min(run.time(start), run.time(end)))
        why = {CONFIDENCE: round(min(1.0, run.score), 3)}
        return Pick(round(begin, 6), round(end - start, 6), run.turned, why)

    def _seam(self, a: Run, b: Run, overlap: float | None = None) -> Seam:
        first, last = a.middle, b.middle
        own, old, new = (
            self._low(one)
            for one in (
                self._skim(first, last),
                self._along(a, first, last),
                self._along(b, first, last),
            )
        )
        found = seam(own, old, new, LOW, overlap)
        return Seam(first + found.start, found.overlap)

    def _low(self, sound: Samples) -> Samples:
        """What lossy encoding keeps best."""
        return resampled(sound, self._rate, LOW)

    def _set_in(self, run: Run, overlap: float) -> float:
        """When a part sets in that follows nothing known: with the skim, or in a fade."""
        if run.first <= FARTHEST:
            return 0.0
        first, last = max(0.0, run.first - FARTHEST), run.middle
        own, along = self._skim(first, last), self._along(run, first, last)
        found = seam(own[::-1], along[::-1], 0 * along, self._rate, overlap)
        return max(0.0, last - found.start - found.overlap)

    def _gone(self, run: Run, overlap: float) -> float:
        """When a part is gone that nothing known follows: with the skim, or in a fade."""
        if self._seconds - run.last <= FARTHEST:
            return self._seconds
        first, last = run.middle, min(self._seconds, run.last + FARTHEST)
        own, along = self._skim(first, last), self._along(run, first, last)
        found = seam(own, along, 0 * along, self._rate, overlap)
        return min(self._seconds, first + found.start + found.overlap)

    def _lost(self, runs: Sequence[Run]) -> list[str]:
        edges = [-FARTHEST / 2, *(x for run in runs for x in (run.first, run.last))]
        edges.append(self._seconds + FARTHEST / 2)
        spans = zip(edges[::2], edges[1::2], strict=True)
        return [
            f"from {max(0.0, a):.0f} to {min(b, self._seconds):.0f} s of it, nothing was found"
            for a, b in spans
            if b - a > FARTHEST
        ]

    def _skim(self, first: float, last: float) -> Samples:
        return self._heard[round(first * self._rate) : round(last * self._rate)]

    def _along(self, run: Run, first: float, last: float) -> Samples:
        """What was recorded along a part of the skim; silence where nothing was."""
        count = round(last * self._rate) - round(first * self._rate)
        begin = run.time(last if run.turned else first)
        found = np.zeros(count)
        for one in self._recording.stretches:
            low, high = max(one.start, begin), min(one.end, begin + count / self._rate)
            if high - low > 2 / self._rate:
                sound = self._read(low, high - low)
                at = round((low - begin) * self._rate)
                part = found[at : at + len(sound)]
                part[:] = sound[: len(part)]
        return found[::-1] if run.turned else found

    def _read(self, start: float, seconds: float) -> Samples:
        try:
            return self._cut(start, seconds)
        except UsageError:  # damaged: there is nothing to be alike to
            return np.zeros(round(seconds * self._rate))


def _laid(own: Samples, there: Samples) -> tuple[int, float]:
    """Where in a longer sound a shorter one lies, and how alike both are there, up to 1."""
    from scipy.fft import irfft, next_fast_len, rfft

    size = next_fast_len(len(there) + len(own), real=True)
    product = irfft(rfft(there, size) * rfft(own, size).conj(), size)
    places = len(there) - len(own) + 1
    powers = np.concatenate([[0.0], np.cumsum(np.square(there))])
    power = powers[len(own) :] - powers[:places]
    whole = np.sqrt(np.maximum(power, 1e-12 * powers[-1] + 1e-20) * np.square(own).sum() + 1e-20)
    alike = product[:places] / whole
    return int(alike.argmax()), float(alike.max())
