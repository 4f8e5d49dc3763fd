"""Which of many places each part of a skim comes from: the ones that leave the least unexplained.

Where parts overlap, the skim is the sum of both; so rivals of neighbours are tried in pairs, and of
all ways through them the one is taken that leaves the least (Viterbi). What the best way with
another rival would leave tells how sure the choice is. All that is needed are products of sounds,
so gains can be tried without hearing them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.beside import Beside, bright
from earwitness.audio.fades import EDGE
from earwitness.audio.fades import gains as fade_gains
from earwitness.audio.rivals import Part
from earwitness.audio.runs import Run

APART = 0.02  # seconds between places that are two
ROUNDS = 5  # in which a common gain settles
ROUNDED = 3 / 12 / 32_768**2  # power of a sample that rounding to 16 bits leaves, at most
LOOSE = 0.05  # by which lossy encoding makes some parts softer than others
CHANCE = 400.0  # over samples: five standard errors of what rounding leaves, and some
LOSSY = 0.02  # of what is left: places that leave so nearly the same cannot be told apart
PORTION = 16_384  # samples of which products are taken at once
NOTHING = 1e-20  # power
Floats = NDArray[np.float64]


class Choice(NamedTuple):
    """The place of a part, and what it and its best rival leave, as shares of the part's power.

    ``noise`` is what it leaves of a sample. ``equal`` are rivals that leave as little, but for
    chance, those that leave the least first.
    """

    run: Run
    left: float
    rival: float
    noise: float
    equal: tuple[Run, ...]

    @property
    def sure(self) -> bool:
        """Whether all rivals leave more."""
        return not self.equal


class _Rivals(NamedTuple):
    """Places of one part, and what was recorded there with the gains of fades; a row each."""

    runs: list[Run]
    sounds: NDArray[np.float32]


def choose(
    beside: Beside, parts: Sequence[Part], rivals: Sequence[Sequence[Run]], *, common: bool
) -> list[Choice]:
    """The place of every part; all have a common gain, or each has its own."""
    chain = _Chain(beside, parts)
    for part, runs in zip(parts, rivals, strict=True):
        chain.add(_heard(beside, part, runs))
    return chain.choices(common=common)


def _heard(beside: Beside, part: Part, runs: Sequence[Run]) -> _Rivals:
    count = part.last - part.first
    faded = fade_gains(count, part.rise, part.fall, beside.rate, part.law)
    sounds = np.empty((len(runs), count), np.float32)
    for row, run in zip(sounds, runs, strict=True):
        row[:] = bright(faded * beside.along(run, part.first, part.last), beside.rate)
    return _Rivals(list(runs), sounds)


class _Alone(NamedTuple):
    """Power of the skim where one part is heard, its products with rivals, and their powers."""

    skim: float
    skim_own: Floats
    own: Floats

    def left(self, gain: Floats) -> Floats:
        """Power that each rival leaves."""
        return self.skim - 2 * gain * self.skim_own + np.square(gain) * self.own


class _Pair(NamedTuple):
    """The same where two parts are heard: rows are rivals of the old one, columns of the new."""

    skim: float
    skim_old: Floats
    skim_new: Floats
    old: Floats
    new: Floats
    both: Floats

    def left(self, old: Floats, new: Floats) -> Floats:
        """Power that each pair leaves."""
        alone = np.square(old) * self.old - 2 * old * self.skim_old
        other = np.square(new) * self.new - 2 * new * self.skim_new
        return self.skim + alone[:, None] + other + 2 * np.outer(old, new) * self.both


class _Chain:
    """Rivals of parts one behind the other, and what pairs of neighbours leave unexplained."""

    def __init__(self, beside: Beside, parts: Sequence[Part]) -> None:
        self._beside, self._parts = beside, parts
        self._runs: list[list[Run]] = []
        self._alone: list[_Alone] = []
        self._pairs: list[_Pair] = []
        self._before: _Rivals | None = None

    def add(self, own: _Rivals) -> None:
        """The next part; what was recorded along the one before is not needed any more."""
        part = self._parts[len(self._runs)]
        self._alone.append(self._alone_of(own, part))
        if self._before is not None:
            self._pairs.append(self._pair_of(self._before, own, part))
        self._runs.append(own.runs)
        self._before = own

    def choices(self, *, common: bool) -> list[Choice]:
        """The way that leaves the least, and beside it what the best other ones leave.

        A common gain is kept to strictly only if nothing but rounding is left.
        """
        if not self._runs:
            return []
        gains = [np.maximum(0, one.skim_own / np.maximum(one.own, NOTHING)) for one in self._alone]
        way = _Way(self, gains)
        if common:
            gain, way = self._with_one_gain(way)
            if np.median([one.noise for one in self._choices(way)]) > ROUNDED:
                near = gain * (1 - LOOSE), gain * (1 + LOOSE)
                way = _Way(self, [np.clip(one, *near) for one in gains])
        return self._choices(way)

    def _choices(self, way: _Way) -> list[Choice]:
        return [self._choice(number, way) for number in range(len(self._runs))]

    def _with_one_gain(self, way: _Way) -> tuple[float, _Way]:
        """The best way if all parts have the same gain, and that gain."""
        gain = self._loud(way.best)
        for _ in range(ROUNDS):
            way = _Way(self, [np.full(len(runs), gain) for runs in self._runs])
            gain, before = self._loud(way.best), gain
            if abs(gain - before) <= 1e-7 * before:
                break
        return gain, way

    def _loud(self, best: list[int]) -> float:
        """The gain with which a way leaves the least."""
        top = sum(float(one.skim_own[n]) for one, n in zip(self._alone, best, strict=True))
        bottom = sum(float(one.own[n]) for one, n in zip(self._alone, best, strict=True))
        for pair, old, new in zip(self._pairs, best, best[1:], strict=False):
            top += float(pair.skim_old[old] + pair.skim_new[new])
            bottom += float(pair.old[old] + pair.new[new] + 2 * pair.both[old, new])
        return top / max(bottom, NOTHING)

    def left(self, gains: Sequence[Floats]) -> tuple[list[Floats], list[Floats]]:
        """What rivals leave alone, and in pairs."""
        alone = [one.left(gain) for one, gain in zip(self._alone, gains, strict=True)]
        pairs = [
            one.left(old, new) for one, old, new in zip(self._pairs, gains, gains[1:], strict=False)
        ]
        return alone, pairs

    def _choice(self, number: int, way: _Way) -> Choice:
        part, runs, own = self._parts[number], self._runs[number], way.best[number]
        skim = self._beside.bright[part.first : part.last]
        power = max(float(np.square(skim, dtype=np.float64).sum()), NOTHING)
        left, size = max(way.left(number), 0.0), max(1, len(skim))
        places = np.array([run.place(part.middle) for run in runs])
        more = way.totals[number] - way.totals[number][own]
        more[np.abs(places - places[own]) <= APART * self._beside.rate] = np.inf
        least = _told_apart(left, size) + 1e-12 * power
        equal = [runs[n] for n in np.argsort(more, kind="stable") if more[n] <= least]
        rival = (left + float(more.min())) / power
        return Choice(runs[own], left / power, rival, left / size, tuple(equal))

    def _alone_of(self, own: _Rivals, part: Part) -> _Alone:
        """Products where no other part is heard."""
        power, products, powers = 0.0, np.zeros(len(own.runs)), np.zeros(len(own.runs))
        edge = round(EDGE * self._beside.rate)  # cuts may be softened, or not
        first, last = part.first + max(part.rise, edge), part.last - max(part.fall, edge)
        for a, b in _portions(first, last):
            skim = self._beside.bright[a:b].astype(np.float64)
            sound = own.sounds[:, a - part.first : b - part.first].astype(np.float64)
            power += float(skim @ skim)
            products += sound @ skim
            powers += np.square(sound).sum(axis=1)
        return _Alone(power, products, powers)

    def _pair_of(self, before: _Rivals, own: _Rivals, part: Part) -> _Pair:
        """Products where both are heard."""
        other = self._parts[len(self._runs) - 1]
        sums = [np.zeros(()), *(np.zeros(len(one.runs)) for one in (before, own) * 2)]
        both = np.zeros((len(before.runs), len(own.runs)))
        first, last = max(part.first, other.first), min(part.first + part.rise, other.last)
        for a, b in _portions(first, last):
            skim = self._beside.bright[a:b].astype(np.float64)
            old = before.sounds[:, a - other.first : b - other.first].astype(np.float64)
            new = own.sounds[:, a - part.first : b - part.first].astype(np.float64)
            powers = [np.square(one).sum(axis=1) for one in (old, new)]
            for into, more in zip(
                sums, (skim @ skim, old @ skim, new @ skim, *powers), strict=True
            ):
                into += more
            both += old @ new.T
        power, skim_old, skim_new, powers_old, powers_new = sums
        return _Pair(float(power), skim_old, skim_new, powers_old, powers_new, both)


class _Way:
    """The way through rivals that leaves the least, with given gains."""

    def __init__(self, chain: _Chain, gains: Sequence[Floats]) -> None:
        self._alone, self._pairs = chain.left(gains)
        ahead = [self._alone[0]]
        for pair, alone in zip(self._pairs, self._alone[1:], strict=True):
            ahead.append((ahead[-1][:, None] + pair).min(axis=0) + alone)
        back = [np.zeros(len(self._alone[-1]))]
        for pair, alone in zip(self._pairs[::-1], self._alone[:0:-1], strict=True):
            back.append((pair + (back[-1] + alone)[None]).min(axis=1))
        self.totals = [a + b for a, b in zip(ahead, back[::-1], strict=True)]
        self.best = [int(ahead[-1].argmin())]
        for total, pair in zip(ahead[-2::-1], self._pairs[::-1], strict=True):
            self.best.insert(0, int((total + pair[:, self.best[0]]).argmin()))

    def left(self, number: int) -> float:
        """What is left where a part is heard."""
        own = self.best[number]
        left = float(self._alone[number][own])
        if number:
            left += float(self._pairs[number - 1][self.best[number - 1], own])
        if number < len(self._pairs):
            left += float(self._pairs[number][own, self.best[number + 1]])
        return left


def _told_apart(left: float, size: int) -> float:
    """How much more of so many samples a rival must leave to be no chance.

    Rounding is white noise, so of two places that differ at all the wrong one shows in it; what
    lossy encoding leaves goes with the sound, and may well be less beside the wrong one.
    """
    return left * (CHANCE / size if left / size <= ROUNDED else LOSSY)


def _portions(first: int, last: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last, PORTION):
        yield start, min(last, start + PORTION)
