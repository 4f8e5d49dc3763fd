"""Fades between parts of a skim, their layout, and the unexplained remainder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.signal import EQUAL_POWER, FADE_LAWS, Law, gains, resampled
from earwitness.skims.locate.candidates import (
    AlignedRun,
    Samples,
    SkimOverRecording,
    SkimPart,
    bright,
)

# --- Fades between parts -------------------------------------------------------------------------
# In a fade the skim is the sum of both sounds with gains that follow a law, such as cosine and
# sine. In steps of 10 ms, the power of what such gains leave unexplained needs only products of the
# three sounds, so all begins and lengths of a fade are tried, first roughly and then finely.


SEAM_STEP_SECONDS = 0.01  # seconds in which gains hardly change
MAX_FADE_SECONDS = 8.0
# seconds between begins and lengths that are tried, ever finer
SEARCH_STEPS_SECONDS = (0.1, 0.02, 0.004)
MIN_FITTING_SHARE = 0.45  # share of begins that must fit
# what lengths are multiples of, and how far it may be off
LENGTH_UNIT_SECONDS, LENGTH_TOLERANCE_SECONDS = 0.05, 0.1
Doubles = NDArray[np.float64]


class Seam(NamedTuple):
    """When the second sound sets in, for how long both are heard, and the share that is left."""

    start: float
    overlap: float
    left: float = 0.0


class SoundProducts(NamedTuple):
    """Sums over steps: powers of the skim and of both sounds, and their products."""

    skim: Doubles
    old: Doubles
    new: Doubles
    both: Doubles
    skim_old: Doubles
    skim_new: Doubles


def seam(sums: SoundProducts, overlap: float | None = None, law: str = EQUAL_POWER) -> Seam:
    """The fade in a part of a skim that begins with the old sound alone and ends with the new.

    Times count from the first step. A known ``overlap`` is kept.
    """
    if not len(sums.skim):
        return Seam(0.0, overlap or 0.0)
    level = _level(sums)
    length = len(sums.skim) * SEAM_STEP_SECONDS
    longest = min(MAX_FADE_SECONDS, length)
    starts, lengths = (
        np.arange(0, top + SEARCH_STEPS_SECONDS[0] / 2, SEARCH_STEPS_SECONDS[0])
        for top in (length, longest)
    )
    found = Seam(0.0, 0.0)
    for step, finer in zip(SEARCH_STEPS_SECONDS, (*SEARCH_STEPS_SECONDS[1:], 0.0), strict=True):
        tried = lengths if overlap is None else np.array([overlap])
        found = _best(sums, level, starts, tried, FADE_LAWS[law])
        near = np.arange(-step, step + finer / 2, finer) if finer else starts
        starts, lengths = found.start + near, np.maximum(0, found.overlap + near)
    return found


class EvenParts(NamedTuple):
    """Parts that are all as long: how many, their length and overlap, in seconds."""

    parts: int
    length: float
    overlap: float

    @property
    def starts(self) -> list[float]:
        """When each begins."""
        return [n * (self.length - self.overlap) for n in range(self.parts)]


def evenly(starts: Sequence[float], overlap: float, whole: float) -> EvenParts | None:
    """How a skim is divided if its parts are all as long; None if they are not.

    Skims are mostly made of blocks of one length, and the length of the whole tells it better than
    fades that were encoded: if round numbers (of 50 ms) fit most begins, they are it. A begin may
    be missing, and there may be one too many.
    """
    if len(starts) < 2:
        return None
    found = list[tuple[float, EvenParts]]()
    apart, middle = float(np.median(np.diff(starts))), round(overlap / LENGTH_UNIT_SECONDS)
    likely = round((whole - overlap) / max(apart, LENGTH_UNIT_SECONDS))
    shares = [LENGTH_UNIT_SECONDS * n for n in range(max(0, middle - 2), middle + 3)]
    for shared, count in product(shares, range(max(2, likely - 1), max(2, likely + 1) + 1)):
        length = LENGTH_UNIT_SECONDS * round(
            (whole + (count - 1) * shared) / count / LENGTH_UNIT_SECONDS
        )
        one = EvenParts(count, length, shared)
        lasts = count * length - (count - 1) * shared
        off = [min(abs(start - own) for own in one.starts) for start in starts]
        fits = sum(away <= LENGTH_TOLERANCE_SECONDS for away in off)
        few = fits < MIN_FITTING_SHARE * max(len(starts), count)
        if not few and length >= 2 * shared and abs(lasts - whole) <= LENGTH_TOLERANCE_SECONDS:
            found.append((float(np.median(off)) + abs(lasts - whole), one))
    return min(found)[1] if found else None


def explained(skim: NDArray[Any], sounds: Sequence[NDArray[Any]], step: int) -> float:
    """The root of the share of power that sounds with gains of their own in each step explain."""
    count = len(skim) // step
    own = skim[: count * step].astype(np.float64).reshape(count, step, 1)
    if not sounds or not own.any():
        return 0.0
    parts = [one[: count * step].reshape(count, step) for one in sounds]
    made = np.stack(parts, axis=2).astype(np.float64)
    gains = np.linalg.pinv(made, rcond=1e-6) @ own
    return float(np.sqrt(max(0.0, 1 - np.square(own - made @ gains).sum() / np.square(own).sum())))


def products(skim: NDArray[Any], old: NDArray[Any], new: NDArray[Any], rate: int) -> SoundProducts:
    """Of three sounds that are as long."""
    step = max(1, round(SEAM_STEP_SECONDS * rate))
    count = len(skim) // step
    whole, first, second = (
        one[: count * step].astype(np.float64).reshape(count, step) for one in (skim, old, new)
    )
    pairs = [(whole, whole), (first, first), (second, second)]
    pairs += [(first, second), (whole, first), (whole, second)]
    return SoundProducts(*((a * b).sum(axis=1) for a, b in pairs))


def _level(sums: SoundProducts) -> tuple[float, float]:
    """How loud the old sound is in the first tenth of the part, and the new one in the last."""
    tenth = max(1, len(sums.skim) // 10)
    first, last = slice(0, tenth), slice(-tenth, None)
    return (
        float(sums.skim_old[first].sum() / max(sums.old[first].sum(), 1e-12)),
        float(sums.skim_new[last].sum() / max(sums.new[last].sum(), 1e-12)),
    )


def _best(
    sums: SoundProducts, level: tuple[float, float], starts: Doubles, lengths: Doubles, law: Law
) -> Seam:
    """The begin and the length that leave the least unexplained, loud and soft steps alike."""
    weight = 1 / (sums.skim + 1e-3 * sums.skim.mean() + 1e-12)
    whole = max(float(sums.skim @ weight), 1e-12)
    middles = SEAM_STEP_SECONDS * (np.arange(len(sums.skim)) + 0.5)
    found, least = Seam(0.0, 0.0), np.inf
    for length in lengths:
        share = np.clip((middles - starts[:, None]) / max(length, 1e-6), 0, 1)
        old, new = level[0] * law(1 - share), level[1] * law(share)
        left = old * (old * sums.old + 2 * new * sums.both - 2 * sums.skim_old)
        left += new * (new * sums.new - 2 * sums.skim_new)
        rest = left @ weight
        if rest.min() < least:
            least = float(rest.min())
            place = float(starts[rest.argmin()])
            found = Seam(place, float(length), max(0.0, 1 + least / whole))
    return found


# --- Layout of parts -----------------------------------------------------------------------------


MAX_FADE_GAP_SECONDS = 5.0  # seconds between parts that may still fade into each other
OVERLAP_TOLERANCE_SECONDS = 0.1  # seconds by which overlaps may differ from the common one
MIN_PART_SECONDS = 0.5
FADE_SAMPLE_RATE = 8_000  # samples a second in which fades are looked at
MAX_EQUAL_POWER_REMAINDER = 1e-3  # share that fades of equal power leave if they are it
MAX_LAW_REMAINDER_RATIO = 0.9  # of what they leave, for another law to be believed
MIN_PARTS_TO_ADD_ONE = 4  # begins from which on one that is missing may be added
UNEVEN_OVERLAP_NOTE = (
    "its parts overlap by different lengths, so begins may be off by tenths of a second"
)


class PartLayout(NamedTuple):
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

    def parts(self, rate: int, whole: int) -> list[SkimPart]:
        """The same in samples; no fade is longer than half a part."""
        found = []
        for number, (start, end) in enumerate(zip(self.starts, self.ends, strict=True)):
            first, last = max(0, round(start * rate)), min(whole, round(end * rate))
            shared = min(round(self.overlap * rate), (last - first) // 2)
            rise = shared if number and self.joins[number - 1] else 0
            fall = shared if number < len(self.joins) and self.joins[number] else 0
            found.append(SkimPart(first, last, rise, fall, self.law))
        return found


class SkimFades:
    """The fades of one skim."""

    def __init__(self, beside: SkimOverRecording) -> None:
        self._beside, self._rate = beside, beside.rate
        self._seconds = len(beside) / beside.rate
        self._known: dict[tuple[AlignedRun, AlignedRun], SoundProducts] = {}

    def even(self, runs: Sequence[AlignedRun]) -> PartLayout | None:
        """Parts of one length, if most fades fit that; else None."""
        pairs = list(pairwise(runs))
        if not pairs:
            return None
        law, seams = self._law(pairs)
        overlap = float(np.median([one.overlap for one in seams]))
        starts = [0.0, *(self._seam(*pair, law, overlap).start for pair in pairs)]
        found = evenly(starts, overlap, self._seconds)
        if found is None or (found.parts != len(runs) and len(runs) < MIN_PARTS_TO_ADD_ONE):
            return None
        same = found.parts == len(runs)
        plain = same and all(
            abs(a - b) <= LENGTH_TOLERANCE_SECONDS
            for a, b in zip(starts, found.starts, strict=False)
        )
        ends = [start + found.length for start in found.starts]
        joins = [True] * (found.parts - 1)
        return PartLayout(found.starts, ends, joins, found.overlap, law, even=True, plain=plain)

    def uneven(self, runs: Sequence[AlignedRun]) -> PartLayout:
        """A part for every run, from where it sets in to where it is gone."""
        joins = [b.first - a.last <= MAX_FADE_GAP_SECONDS * self._rate for a, b in pairwise(runs)]
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
        ends = [max(end, start + MIN_PART_SECONDS) for start, end in zip(starts, ends, strict=True)]
        differ = any(abs(one - common) > OVERLAP_TOLERANCE_SECONDS for one in overlaps)
        return PartLayout(
            starts, ends, joins, common, law, note=UNEVEN_OVERLAP_NOTE if differ else ""
        )

    def _law(self, pairs: Sequence[tuple[AlignedRun, AlignedRun]]) -> tuple[str, list[Seam]]:
        """How parts fade: with equal power, unless another law leaves clearly less."""
        best, found = EQUAL_POWER, [self._seam(*pair, EQUAL_POWER) for pair in pairs]
        if not found or _usual(found) <= MAX_EQUAL_POWER_REMAINDER:
            return best, found
        for law in list(FADE_LAWS)[1:]:
            other = [self._seam(*pair, law) for pair in pairs]
            if _usual(other) < MAX_LAW_REMAINDER_RATIO * _usual(found):
                best, found = law, other
        return best, found

    def _seam(self, a: AlignedRun, b: AlignedRun, law: str, overlap: float | None = None) -> Seam:
        if (a, b) not in self._known:
            first, last = a.middle, max(a.middle, b.middle)
            own = self._low(self._beside.skim(first, last))
            old, new = (self._low(self._beside.along(run, first, last)) for run in (a, b))
            self._known[a, b] = products(own, old, new, FADE_SAMPLE_RATE)
        found = seam(self._known[a, b], overlap, law)
        return found._replace(start=a.middle / self._rate + found.start)

    def _low(self, sound: Samples) -> Samples:
        """What lossy encoding keeps best, without rumble and hum."""
        return np.diff(resampled(sound, self._rate, FADE_SAMPLE_RATE)) if len(sound) > 1 else sound

    def _set_in(self, run: AlignedRun, overlap: float) -> float:
        """When a part sets in that follows nothing known: with the skim, or in a fade."""
        if run.first <= MAX_FADE_GAP_SECONDS * self._rate:
            return 0.0
        first, last = run.first - round(MAX_FADE_GAP_SECONDS * self._rate), run.middle
        own, along = (
            self._beside.skim(first, last)[::-1],
            self._beside.along(run, first, last)[::-1],
        )
        found = seam(products(own, along, 0 * along, self._rate), overlap)
        return max(0.0, last / self._rate - found.start - found.overlap)

    def _gone(self, run: AlignedRun, overlap: float) -> float:
        """When a part is gone that nothing known follows: with the skim, or in a fade."""
        far = round(MAX_FADE_GAP_SECONDS * self._rate)
        if len(self._beside) - run.last <= far:
            return self._seconds
        first, last = run.middle, min(len(self._beside), run.last + far)
        own, along = self._beside.skim(first, last), self._beside.along(run, first, last)
        found = seam(products(own, along, 0 * along, self._rate), overlap)
        return min(self._seconds, first / self._rate + found.start + found.overlap)


def _usual(seams: Sequence[Seam]) -> float:
    """What most fades leave; some may be between parts that are not there."""
    return float(np.median([one.left for one in seams]))


# --- Unexplained remainder -----------------------------------------------------------------------


REMAINDER_STEP_SECONDS = 0.5
MIN_OTHER_SOUND_SHARE = 0.5  # share of a step's power that is left where there is other sound
MIN_OTHER_SOUND_STEPS = 2  # steps of other sound that are told
MIN_AUDIBLE_POWER = 1e-10  # power of a sample below which nothing is heard


def remains(
    beside: SkimOverRecording, parts: Sequence[SkimPart], runs: Sequence[AlignedRun]
) -> Samples:
    """The skim, bright, without what was recorded along its parts."""
    rest = beside.bright.astype(np.float64)
    for part, run in zip(parts, runs, strict=True):
        along = beside.along(run, part.first, part.last).astype(np.float64)
        faded = gains(len(along), part.rise, part.fall, beside.rate, part.law)
        made, alone = bright(faded * along, beside.rate), slice(part.rise, len(along) - part.fall)
        power = float(np.square(made[alone]).sum())
        own = beside.bright[part.first : part.last][alone]
        loud = float(own @ made[alone]) / power if power > 0 else 0.0
        rest[part.first : part.last] -= loud * made
    return rest


def other_sound(beside: SkimOverRecording, rest: Samples) -> Iterator[tuple[int, int]]:
    """From where to where much of the skim is left."""
    step = round(REMAINDER_STEP_SECONDS * beside.rate)
    count = len(rest) // step
    whole, left = (
        np.square(one[: count * step], dtype=np.float64).reshape(count, step).mean(axis=1)
        for one in (beside.bright, rest)
    )
    other = (left > MIN_OTHER_SOUND_SHARE * whole) & (whole > MIN_AUDIBLE_POWER)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], other, [False]]).astype(np.int8)))
    for first, last in edges.reshape(-1, 2).tolist():
        if last - first >= MIN_OTHER_SOUND_STEPS:
            yield first * step, last * step
