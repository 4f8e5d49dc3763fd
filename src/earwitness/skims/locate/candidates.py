"""Candidate places of parts of a skim: correlation at a low rate, runs and rivals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.signal import EQUAL_POWER, Floats, LowRateSound
from earwitness.errors import UsageError
from earwitness.recordings.types import Recording

# --- Probes at a low rate ------------------------------------------------------------------------
# A probe is two seconds of a skim. It is laid along the whole recording, and everywhere the product
# of both is compared with their powers: 1 is the same sound, and other sound is near 0, however
# alike it sounds. Colour is taken out first, so that all of the band counts. Laying along is
# costly, so eight probes are added and laid along together; where their sum is like the recording,
# it is looked up which of them is.


PROBES_PER_SUM = 8
SEARCH_PIECE_SAMPLES = 1 << 16  # low samples that are laid along at once
WHITENING_FILTER_SAMPLES = 128  # low samples by which the next one is foretold
MIN_PLACE_LIKENESS = 0.25
MAX_PLACES_PER_SUM = 200  # places of a sum in one piece
MAX_PLACES_PER_PROBE = 1_500
SILENCE_LEVEL = 1e-5  # of full scale, root of the mean square
Ints = NDArray[np.int64]


class ProbePlaces(NamedTuple):
    """Where probes may come from, a row a place.

    A probe is like the recording at ``offsets`` low samples from where it is in the skim.
    """

    probes: Ints
    offsets: NDArray[np.float64]
    scores: NDArray[np.float64]


@dataclass(frozen=True)
class Probes:
    """Pieces of a skim with length 1, and where each is in it.

    ``colour`` is the filter that took the colour out of them.
    """

    rows: Floats
    firsts: Ints
    colour: Floats


def probes_of(skim: Floats, length: int, every: int) -> Probes:
    """Probes of a skim at a low rate; none where it is silent."""
    firsts = np.arange(0, max(0, len(skim) - length + 1), every)
    if not len(firsts):
        return Probes(np.zeros((0, length), np.float32), firsts, np.ones(1, np.float32))
    colour = _colour(_cut(skim, firsts, length))
    rows = _cut(np.convolve(skim, colour)[: len(skim)], firsts, length)
    levels = np.sqrt(np.square(rows).sum(axis=1))
    heard = levels > SILENCE_LEVEL * np.sqrt(length)
    return Probes(rows[heard] / levels[heard, None], firsts[heard], colour)


def places(
    skims: Sequence[Probes],
    pieces: Iterable[LowRateSound],
    factor: int,
    *,
    own_colour: bool = False,
) -> list[ProbePlaces]:
    """All places that are like probes of each skim, the likeliest of each probe.

    With ``own_colour``, each piece of the recording loses the colour that it has itself, not that
    of the skim: a skim that was filtered is found, but is a little less alike.
    """
    from scipy.fft import rfft

    searches = [_Search(probes) for probes in skims]
    found = [[np.zeros((0, 3))] for _ in skims]
    margin = max((one.margin for one in searches), default=0)
    for start, low in _long(pieces, margin, factor):
        spectrum = rfft(low, SEARCH_PIECE_SAMPLES)
        colour = (
            rfft(_colour(low[None, WHITENING_FILTER_SAMPLES:]), SEARCH_PIECE_SAMPLES)
            if own_colour
            else None
        )
        for search, into in zip(searches, found, strict=True):
            for rows in search.along(spectrum, len(low), colour):
                rows[:, 1] += start / factor - search.firsts[rows[:, 0].astype(np.int64)]
                into.append(rows)
    return [_likeliest(np.concatenate(rows)) for rows in found]


def _likeliest(rows: NDArray[np.float64]) -> ProbePlaces:
    """Rows of probe, offset and likeness, the best of each probe first."""
    rows = rows[np.lexsort((-rows[:, 2], rows[:, 0]))]
    numbers = rows[:, 0].astype(np.int64)
    kept = np.arange(len(rows)) - np.searchsorted(numbers, numbers) < MAX_PLACES_PER_PROBE
    return ProbePlaces(numbers[kept], rows[kept, 1], rows[kept, 2])


def _long(pieces: Iterable[LowRateSound], margin: int, factor: int) -> Iterator[LowRateSound]:
    """Pieces as long as they are laid along, each beginning with the end of the one before."""
    held, start, place = np.zeros(0, np.float32), 0, -1
    for one in pieces:
        if one.start != place:
            if len(held) > margin:
                yield LowRateSound(start, held)
            held, start = (
                np.zeros(WHITENING_FILTER_SAMPLES, np.float32),
                one.start - factor * WHITENING_FILTER_SAMPLES,
            )
        held, place = np.concatenate([held, one.samples]), one.start + factor * len(one.samples)
        while len(held) >= SEARCH_PIECE_SAMPLES:
            yield LowRateSound(start, held[:SEARCH_PIECE_SAMPLES])
            used = SEARCH_PIECE_SAMPLES - margin
            held, start = held[used:], start + factor * used
    if len(held) > margin:
        yield LowRateSound(start, held)


class _Search:
    """Probes of a skim, added in groups and ready to be laid along anything."""

    def __init__(self, probes: Probes) -> None:
        from scipy.fft import rfft

        count = -(-len(probes.rows) // PROBES_PER_SUM)
        self._rows, self.firsts = probes.rows, probes.firsts
        self._groups = [np.arange(n, len(probes.rows), count) for n in range(count)]
        sums = [probes.rows[group].sum(axis=0) for group in self._groups]
        self._sums = [np.conj(rfft(one, SEARCH_PIECE_SAMPLES)) for one in sums]
        self._colour = rfft(probes.colour, SEARCH_PIECE_SAMPLES)
        self.length = probes.rows.shape[1]
        self.margin = self.length + WHITENING_FILTER_SAMPLES

    def along(
        self, spectrum: NDArray[Any], size: int, colour: NDArray[Any] | None
    ) -> Iterator[NDArray[np.float64]]:
        """Probe, place and likeness of all places in a piece of some size, given its spectrum."""
        from scipy.fft import irfft

        if not self._groups:
            return
        spectrum = spectrum * (self._colour if colour is None else colour)
        plain = irfft(spectrum, SEARCH_PIECE_SAMPLES)
        last = size - self.length + 1
        powers = np.concatenate([[0.0], np.cumsum(np.square(plain, dtype=np.float64))])
        power = powers[self.length : self.length + last] - powers[:last]
        level = np.sqrt(power + 1e-9 * powers[-1] + 1e-12).astype(np.float32)
        for group, sums in zip(self._groups, self._sums, strict=True):
            product = irfft(spectrum * sums, SEARCH_PIECE_SAMPLES)[:last]
            hits = _peaks(product, MIN_PLACE_LIKENESS * level)
            if len(hits):
                yield self._looked_up(group, plain, hits, level[hits])

    def _looked_up(
        self, group: Ints, plain: Floats, hits: Ints, level: Floats
    ) -> NDArray[np.float64]:
        """Which probes of a group are like the recording at peaks of it, and where exactly."""
        windows = np.lib.stride_tricks.sliding_window_view(plain, self.length)
        rows = self._rows[group]
        beside = [rows @ windows[hits + n].T for n in (-1, 0, 1)]
        moved, top = _between(*beside)
        scores = np.minimum(1.0, top / level)
        own, at = np.nonzero(scores >= MIN_PLACE_LIKENESS)
        return np.stack([group[own], hits[at] + moved[own, at], scores[own, at]], axis=1)


def _between(before: Any, here: Any, behind: Any) -> tuple[Any, Any]:
    """Where a parabola through three products is highest, and how high."""
    bend = np.minimum(before + behind - 2 * here, -1e-9)
    moved = np.clip((before - behind) / (2 * bend), -0.6, 0.6)
    return moved, here + moved * (behind - before) / 2 + np.square(moved) * bend / 2


def _peaks(product: Floats, least: Floats) -> Ints:
    """Where a product is over what is asked and higher than beside it; the highest, if many."""
    inner = product[1:-1]
    peak = (inner > least[1:-1]) & (inner >= product[:-2]) & (inner > product[2:])
    hits = np.flatnonzero(peak) + 1
    hits = hits[hits >= WHITENING_FILTER_SAMPLES]  # before, what was before the piece is missing
    if len(hits) > MAX_PLACES_PER_SUM:
        hits = hits[
            np.argpartition(-product[hits] / least[hits], MAX_PLACES_PER_SUM)[:MAX_PLACES_PER_SUM]
        ]
    return hits


def _cut(skim: Floats, firsts: Ints, length: int) -> Floats:
    return np.lib.stride_tricks.sliding_window_view(skim, length)[firsts].astype(np.float32)


def _colour(rows: Floats) -> Floats:
    """A filter that takes the colour out of pieces: what cannot be foretold is left."""
    from scipy.fft import irfft, rfft
    from scipy.linalg import solve_toeplitz

    levels = np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1, keepdims=True))
    every = rows[levels[:, 0] > 0] / levels[levels[:, 0] > 0]
    if not len(every):
        return np.ones(1, np.float32)
    powers = np.square(np.abs(rfft(every, 2 * every.shape[1], axis=1))).mean(axis=0)
    like = irfft(powers)[: WHITENING_FILTER_SAMPLES + 1]
    like[0] *= 1.0001
    return np.concatenate([[1.0], -solve_toeplitz(like[:-1], like[1:])]).astype(np.float32)


# --- Runs of agreeing places ---------------------------------------------------------------------
# If a skim has a part of a recording in it, places in both differ by the same number in all of that
# part. So places that agree are gathered, and the best way through the skim is looked for that
# seldom changes from one part to another.


NEUTRAL_LIKENESS = 0.3  # likeness from which on a place counts for, not against
UNSEEN_LIKENESS = 0.15  # what a probe counts where it has no such place
CHANGE_COST = 0.3  # what it costs to go over to another part
OFFSET_TOLERANCE_SAMPLES = 0.5  # low samples between offsets that are one
Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """Part of a skim that lies along the recording, and how sure that is; all in samples.

    It is heard between ``first`` and ``last``, the middles of the first and the last probe. What
    is heard at x comes from ``offset`` + x, or from ``offset`` − x if it is turned.
    """

    offset: int
    turned: bool
    first: int
    last: int
    score: float

    @property
    def middle(self) -> int:
        """Where it is heard best."""
        return (self.first + self.last) // 2

    def place(self, heard: int) -> int:
        """Where in the recording that is which is heard there."""
        return self.offset - heard if self.turned else self.offset + heard


@dataclass(frozen=True, slots=True)
class Offset:
    """A number by which places of a skim and of the recording may differ, and which way."""

    place: float
    turned: bool


@dataclass(frozen=True)
class OffsetScores:
    """All offsets of a skim, and how alike each probe is there: a row a probe, NaN if unknown."""

    offsets: tuple[Offset, ...]
    scores: Doubles


def ways_of(
    forwards: Sequence[ProbePlaces], backwards: ProbePlaces | None, probes: int
) -> OffsetScores:
    """Places that agree, gathered; those of a turned skim are ``backwards``."""
    found = [(_both(forwards), False)]
    found += [] if backwards is None else [(backwards, True)]
    offsets, scores = list[Offset](), [np.zeros((probes, 0))]
    for places, turned in found:
        order = np.argsort(places.offsets, kind="stable")
        own = places.offsets[order]
        number = np.cumsum(np.diff(own, prepend=own[:1]) > OFFSET_TOLERANCE_SAMPLES)
        sizes = np.bincount(number)
        offsets += [Offset(float(mean), turned) for mean in np.bincount(number, own) / sizes]
        table = np.full((probes, len(sizes)), np.nan)
        np.fmax.at(table, (places.probes[order], number), places.scores[order])
        scores.append(table)
    return OffsetScores(tuple(offsets), np.concatenate(scores, axis=1))


def _both(found: Sequence[ProbePlaces]) -> ProbePlaces:
    probes, offsets, scores = zip(*found, strict=True)
    return ProbePlaces(np.concatenate(probes), np.concatenate(offsets), np.concatenate(scores))


def way_through(ways: OffsetScores) -> list[tuple[int, int, int]]:
    """Parts in the order in which they are heard: an offset, the first and the last probe."""
    known = np.where(np.isnan(ways.scores), UNSEEN_LIKENESS, ways.scores) - NEUTRAL_LIKENESS
    nowhere = np.zeros((len(known), 1))
    way = _way(np.concatenate([known, nowhere], axis=1)) if len(known) else []
    found, at = [], 0
    while at < len(way):
        end = at
        while end + 1 < len(way) and way[end + 1] == way[at]:
            end += 1
        if way[at] < len(ways.offsets):
            found.append((way[at], at, end))
        at = end + 1
    return found


def _way(scores: Doubles) -> list[int]:
    """The part that each probe belongs to, such that the sum is most (Viterbi)."""
    total, back = scores[0], list[NDArray[np.int64]]()
    for row in scores[1:]:
        best = int(total.argmax())
        stay = total >= total[best] - CHANGE_COST
        back.append(np.where(stay, np.arange(len(row)), best))
        total = np.where(stay, total, total[best] - CHANGE_COST) + row
    way = [int(total.argmax())]
    for step in reversed(back):
        way.append(int(step[way[-1]]))
    return way[::-1]


# --- Samples of skim and recording ---------------------------------------------------------------


Samples = NDArray[Any]
COMPARISON_RATE = 5_000  # means of this rate are compared
SoundCutter = Callable[[float, float], Samples]  # from a time on, so many seconds


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
    return max(1, round(rate / COMPARISON_RATE))


class SkimOverRecording:
    """What is heard in a skim, and what was recorded along any part of it; places are samples.

    Rumble and hum are alike everywhere, and filters change them first; what is highest is lost
    first in encoding. So sounds are compared without either, ``bright``.
    """

    def __init__(self, heard: Samples, recording: Recording, cut: SoundCutter) -> None:
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

    def along(self, run: AlignedRun, first: int, last: int) -> Samples:
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


# --- Rival places of a part ----------------------------------------------------------------------
# Recordings repeat themselves: a machine runs on, a jingle comes again, and made days are put
# together from clips. So a part has rivals, places that are alike at a low rate; a second of each
# is laid over the skim, sample by sample.


MAX_RIVALS = 400  # rivals of a part of which a second is laid over the skim
MAX_RIVALS_HEARD_WHOLE = 48  # of these, those that are heard whole
MAX_SHARE_DEFICIT = 0.1  # of a part's power by which these explain less than the best, at most
# samples around an offset at a low rate in which the exact one is looked for
OFFSET_SEARCH_SAMPLES = 8
GAIN_TOLERANCE = 0.01  # by which gains of parts may differ from the common one
MIN_AGREEING_SHARE = 0.7  # share of parts that must agree
# of a part's power: places that explain so nearly as much as the best are alike
EXPLAINED_SHARE_TOLERANCE = 0.01
POWER_FLOOR = 1e-12  # power


@dataclass(frozen=True, slots=True)
class SkimPart:
    """Where a part is heard, in samples, and for how long it fades in and out over neighbours."""

    first: int
    last: int
    rise: int = 0
    fall: int = 0
    law: str = EQUAL_POWER

    @property
    def middle(self) -> int:
        """Where it is heard best."""
        return (self.first + self.last) // 2


class RivalFit(NamedTuple):
    """A place moved to where its samples are most alike, and how loud the skim is beside it."""

    run: AlignedRun
    gain: float

    def share(self, gain: float | None) -> float:
        """What it explains of the skim's power, with a common gain or with its own."""
        off = 0.0 if gain is None else 1 - gain / max(self.gain, POWER_FLOOR)
        return self.run.score**2 * (1 - min(1.0, off**2))


def laid(beside: SkimOverRecording, run: AlignedRun, middle: int) -> RivalFit:
    """A second of the skim laid over a place and a few samples beside it."""
    half = beside.rate // 2
    first, last = max(0, middle - half), min(len(beside), middle + half)
    before = 2 * reach_of(beside.rate)  # samples of which too little is known
    own = beside.bright[first + before : last]
    there = bright(
        beside.along(run, first - OFFSET_SEARCH_SAMPLES, last + OFFSET_SEARCH_SAMPLES), beside.rate
    )[before:]
    windows = np.lib.stride_tricks.sliding_window_view(there, len(own))
    products = np.array([float(np.dot(window, own)) for window in windows])
    powers = np.square(np.concatenate([[0.0], there]), dtype=np.float64).cumsum()
    powers = np.maximum(powers[len(own) :] - powers[: -len(own)], POWER_FLOOR)
    alike = products / np.sqrt(powers * max(float(np.dot(own, own)), POWER_FLOOR))
    best = int(alike.argmax())
    moved = OFFSET_SEARCH_SAMPLES - best if run.turned else best - OFFSET_SEARCH_SAMPLES
    found = replace(run, offset=run.offset + moved, score=float(alike[best]))
    return RivalFit(found, max(0.0, float(products[best] / powers[best])))


def rivals_of(ways: OffsetScores, inside: NDArray[np.bool_]) -> list[int]:
    """Offsets that explain most of some probes, the best first."""
    shares = np.nansum(np.square(ways.scores[inside]), axis=0)
    order = np.argsort(-shares, kind="stable")[:MAX_RIVALS]
    return [int(n) for n in order if shares[n] > 0]


def common_gain(parts: Sequence[Sequence[RivalFit]]) -> float | None:
    """The gain with which most parts are explained as well as with gains of their own.

    A part that is in the recording once has one gain; one that is there often may have many. None
    if parts were made louder or softer each by itself.
    """
    fitting = [_fitting(part) for part in parts if part]
    if not fitting:
        return None
    tried = np.unique(np.concatenate(fitting))
    near = [np.abs(tried[:, None] - one).min(axis=1) for one in fitting]
    counts = np.sum([away <= GAIN_TOLERANCE for away in near], axis=0)
    if counts.max() < MIN_AGREEING_SHARE * len(fitting):
        return None
    return float(np.exp(np.median(tried[counts == counts.max()])))


def _fitting(part: Sequence[RivalFit]) -> Doubles:
    """Logarithms of the gains of places that explain a part nearly as well as the best."""
    shares = np.array([one.share(None) for one in part])
    gains = np.array([max(one.gain, POWER_FLOOR) for one in part])
    return np.asarray(np.log(gains[shares >= shares.max() - EXPLAINED_SHARE_TOLERANCE]))


def likeliest(part: Sequence[RivalFit], gain: float | None) -> list[AlignedRun]:
    """The places of a part that explain most, each once."""
    ordered = sorted(part, key=lambda one: -one.share(gain))
    least = ordered[0].share(gain) - MAX_SHARE_DEFICIT
    kept = [one.run for one in ordered if one.share(gain) >= least]
    return list({(run.offset, run.turned): run for run in kept}.values())[:MAX_RIVALS_HEARD_WHOLE]
