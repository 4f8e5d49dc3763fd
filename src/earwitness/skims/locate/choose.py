"""Choice among candidate places by the Viterbi algorithm, and of places that tie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.signal import EDGE_FADE_SECONDS
from earwitness.audio.signal import gains as fade_gains
from earwitness.skims.locate.candidates import AlignedRun, SkimOverRecording, SkimPart, bright

# --- Viterbi search over candidates --------------------------------------------------------------
# Where parts overlap, the skim is the sum of both; so rivals of neighbours are tried in pairs, and
# of all ways through them the one is taken that leaves the least (Viterbi). What the best way with
# another rival would leave tells how sure the choice is. All that is needed are products of sounds,
# so gains can be tried without hearing them again.


DISTINCT_PLACE_SECONDS = 0.02  # seconds between places that are two
GAIN_ROUNDS = 5  # in which a common gain settles
# power of a sample that rounding to 16 bits leaves, at most
MAX_ROUNDING_POWER = 3 / 12 / 32_768**2
CODEC_GAIN_TOLERANCE = 0.05  # by which lossy encoding makes some parts softer than others
# over samples: five standard errors of what rounding leaves, and some
ROUNDING_MARGIN_SAMPLES = 400.0
# of what is left: places that leave so nearly the same cannot be told apart
CODEC_MARGIN_SHARE = 0.02
PRODUCT_PORTION_SAMPLES = 16_384  # samples of which products are taken at once
POWER_FLOOR = 1e-20
Doubles = NDArray[np.float64]


class PlaceChoice(NamedTuple):
    """The place of a part, and what it and its best rival leave, as shares of the part's power.

    ``noise`` is what it leaves of a sample. ``equal`` are rivals that leave as little, but for
    chance, those that leave the least first.
    """

    run: AlignedRun
    left: float
    rival: float
    noise: float
    equal: tuple[AlignedRun, ...]

    @property
    def sure(self) -> bool:
        """Whether all rivals leave more."""
        return not self.equal


class _Candidates(NamedTuple):
    """Places of one part, and what was recorded there with the gains of fades; a row each."""

    runs: list[AlignedRun]
    sounds: NDArray[np.float32]


def choose(
    beside: SkimOverRecording,
    parts: Sequence[SkimPart],
    rivals: Sequence[Sequence[AlignedRun]],
    *,
    common: bool,
) -> list[PlaceChoice]:
    """The place of every part; all have a common gain, or each has its own."""
    chain = _Chain(beside, parts)
    for part, runs in zip(parts, rivals, strict=True):
        chain.add(_heard(beside, part, runs))
    return chain.choices(common=common)


def _heard(beside: SkimOverRecording, part: SkimPart, runs: Sequence[AlignedRun]) -> _Candidates:
    count = part.last - part.first
    faded = fade_gains(count, part.rise, part.fall, beside.rate, part.law)
    sounds = np.empty((len(runs), count), np.float32)
    for row, run in zip(sounds, runs, strict=True):
        row[:] = bright(faded * beside.along(run, part.first, part.last), beside.rate)
    return _Candidates(list(runs), sounds)


class _Alone(NamedTuple):
    """Power of the skim where one part is heard, its products with rivals, and their powers."""

    skim: float
    skim_own: Doubles
    own: Doubles

    def left(self, gain: Doubles) -> Doubles:
        """Power that each rival leaves."""
        return self.skim - 2 * gain * self.skim_own + np.square(gain) * self.own


class _Pair(NamedTuple):
    """The same where two parts are heard: rows are rivals of the old one, columns of the new."""

    skim: float
    skim_old: Doubles
    skim_new: Doubles
    old: Doubles
    new: Doubles
    both: Doubles

    def left(self, old: Doubles, new: Doubles) -> Doubles:
        """Power that each pair leaves."""
        alone = np.square(old) * self.old - 2 * old * self.skim_old
        other = np.square(new) * self.new - 2 * new * self.skim_new
        return self.skim + alone[:, None] + other + 2 * np.outer(old, new) * self.both


class _Chain:
    """Rivals of parts one behind the other, and what pairs of neighbours leave unexplained."""

    def __init__(self, beside: SkimOverRecording, parts: Sequence[SkimPart]) -> None:
        self._beside, self._parts = beside, parts
        self._runs: list[list[AlignedRun]] = []
        self._alone: list[_Alone] = []
        self._pairs: list[_Pair] = []
        self._before: _Candidates | None = None

    def add(self, own: _Candidates) -> None:
        """The next part; what was recorded along the one before is not needed any more."""
        part = self._parts[len(self._runs)]
        self._alone.append(self._alone_of(own, part))
        if self._before is not None:
            self._pairs.append(self._pair_of(self._before, own, part))
        self._runs.append(own.runs)
        self._before = own

    def choices(self, *, common: bool) -> list[PlaceChoice]:
        """The way that leaves the least, and beside it what the best other ones leave.

        A common gain is kept to strictly only if nothing but rounding is left.
        """
        if not self._runs:
            return []
        gains = [
            np.maximum(0, one.skim_own / np.maximum(one.own, POWER_FLOOR)) for one in self._alone
        ]
        way = _ViterbiPath(self, gains)
        if common:
            gain, way = self._with_one_gain(way)
            if np.median([one.noise for one in self._choices(way)]) > MAX_ROUNDING_POWER:
                near = gain * (1 - CODEC_GAIN_TOLERANCE), gain * (1 + CODEC_GAIN_TOLERANCE)
                way = _ViterbiPath(self, [np.clip(one, *near) for one in gains])
        return self._choices(way)

    def _choices(self, way: _ViterbiPath) -> list[PlaceChoice]:
        return [self._choice(number, way) for number in range(len(self._runs))]

    def _with_one_gain(self, way: _ViterbiPath) -> tuple[float, _ViterbiPath]:
        """The best way if all parts have the same gain, and that gain."""
        gain = self._loud(way.best)
        for _ in range(GAIN_ROUNDS):
            way = _ViterbiPath(self, [np.full(len(runs), gain) for runs in self._runs])
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
        return top / max(bottom, POWER_FLOOR)

    def left(self, gains: Sequence[Doubles]) -> tuple[list[Doubles], list[Doubles]]:
        """What rivals leave alone, and in pairs."""
        alone = [one.left(gain) for one, gain in zip(self._alone, gains, strict=True)]
        pairs = [
            one.left(old, new) for one, old, new in zip(self._pairs, gains, gains[1:], strict=False)
        ]
        return alone, pairs

    def _choice(self, number: int, way: _ViterbiPath) -> PlaceChoice:
        part, runs, own = self._parts[number], self._runs[number], way.best[number]
        skim = self._beside.bright[part.first : part.last]
        power = max(float(np.square(skim, dtype=np.float64).sum()), POWER_FLOOR)
        left, size = max(way.left(number), 0.0), max(1, len(skim))
        places = np.array([run.place(part.middle) for run in runs])
        more = way.totals[number] - way.totals[number][own]
        more[np.abs(places - places[own]) <= DISTINCT_PLACE_SECONDS * self._beside.rate] = np.inf
        least = _told_apart(left, size) + 1e-12 * power
        equal = [runs[n] for n in np.argsort(more, kind="stable") if more[n] <= least]
        rival = (left + float(more.min())) / power
        return PlaceChoice(runs[own], left / power, rival, left / size, tuple(equal))

    def _alone_of(self, own: _Candidates, part: SkimPart) -> _Alone:
        """Products where no other part is heard."""
        power, products, powers = 0.0, np.zeros(len(own.runs)), np.zeros(len(own.runs))
        edge = round(EDGE_FADE_SECONDS * self._beside.rate)  # cuts may be softened, or not
        first, last = part.first + max(part.rise, edge), part.last - max(part.fall, edge)
        for a, b in _portions(first, last):
            skim = self._beside.bright[a:b].astype(np.float64)
            sound = own.sounds[:, a - part.first : b - part.first].astype(np.float64)
            power += float(skim @ skim)
            products += sound @ skim
            powers += np.square(sound).sum(axis=1)
        return _Alone(power, products, powers)

    def _pair_of(self, before: _Candidates, own: _Candidates, part: SkimPart) -> _Pair:
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


class _ViterbiPath:
    """The way through rivals that leaves the least, with given gains."""

    def __init__(self, chain: _Chain, gains: Sequence[Doubles]) -> None:
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
    return left * (
        ROUNDING_MARGIN_SAMPLES / size if left / size <= MAX_ROUNDING_POWER else CODEC_MARGIN_SHARE
    )


def _portions(first: int, last: int) -> Iterator[tuple[int, int]]:
    for start in range(first, last, PRODUCT_PORTION_SAMPLES):
        yield start, min(last, start + PRODUCT_PORTION_SAMPLES)


# --- Ties between places -------------------------------------------------------------------------
# Blocks of a skim mostly lie on a grid of their own length, and are mostly heard in the order of
# time. That does not make a part sure, but it is a better guess than chance.


GRID_TOLERANCE_SECONDS = 0.005
MIN_ON_GRID_SHARE = 0.7  # share of sure parts that must lie on it


def begin(part: SkimPart, run: AlignedRun) -> int:
    """Where in the recording a part begins."""
    return run.place(part.last - 1 if run.turned else part.first)


def settled(
    parts: Sequence[SkimPart], choices: Sequence[PlaceChoice], rate: int
) -> list[AlignedRun]:
    """The place of every part; of those that are not sure, the best guess."""
    sure = [
        begin(part, one.run) if one.sure else None for part, one in zip(parts, choices, strict=True)
    ]
    lengths = {part.last - part.first for part in parts}
    phase = _phase([one for one in sure if one is not None], min(lengths), rate)
    runs = []
    for number, (part, one) in enumerate(zip(parts, choices, strict=True)):
        options = [one.run, *one.equal]
        if len(lengths) == 1 and phase is not None:
            near = [_on(begin(part, run), phase, min(lengths), rate) for run in options]
            options = _some(options, near)
        low = max((x for x in sure[:number] if x is not None), default=-np.inf)
        high = min((x for x in sure[number + 1 :] if x is not None), default=np.inf)
        options = _some(options, [low < begin(part, run) < high for run in options])
        runs.append(options[0])
    return runs


def _some(options: list[AlignedRun], fit: Sequence[bool]) -> list[AlignedRun]:
    """Those that fit, or all if none does."""
    kept = [run for run, fits in zip(options, fit, strict=True) if fits]
    return kept or options


def _on(place: int, phase: int, length: int, rate: int) -> bool:
    away = (place - phase) % length
    return min(away, length - away) <= GRID_TOLERANCE_SECONDS * rate


def _phase(sure: Sequence[int], length: int, rate: int) -> int | None:
    """Where a grid begins on which most sure parts lie, if there is one; at 0 if none is sure."""
    if not sure:
        return 0
    fits = [sum(_on(other, one, length, rate) for other in sure) for one in sure]
    best = int(np.argmax(fits))
    return sure[best] % length if fits[best] >= MIN_ON_GRID_SHARE * len(sure) else None
