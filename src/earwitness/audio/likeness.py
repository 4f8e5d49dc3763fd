"""Where pieces of a skim may come from in a recording, by their samples at a low rate.

A probe is two seconds of a skim. It is laid along the whole recording, and everywhere the product
of both is compared with their powers: 1 is the same sound, and other sound is near 0, however alike
it sounds. Colour is taken out first, so that all of the band counts. Laying along is costly, so
eight probes are added and laid along together; where their sum is like the recording, it is looked
up which of them is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.thinning import Floats, Thin

TOGETHER = 8  # probes
SIZE = 1 << 16  # low samples that are laid along at once
COLOUR = 32  # low samples by which the next one is foretold
LEAST = 0.25  # likeness of a place
MOST = 200  # places of a sum in one piece
KEPT = 1_500  # places of a probe
SILENT = 1e-5  # of full scale, root of the mean square
Ints = NDArray[np.int64]


class Places(NamedTuple):
    """Where probes may come from, a row a place.

    A probe is like the recording at ``offsets`` low samples from where it is in the skim.
    """

    probes: Ints
    offsets: NDArray[np.float64]
    scores: NDArray[np.float64]

    def of(self, probes: NDArray[np.bool_]) -> Places:
        """Those of some probes."""
        rows = probes[self.probes]
        return Places(self.probes[rows], self.offsets[rows], self.scores[rows])


@dataclass(frozen=True)
class Probes:
    """Pieces of skims with length 1, where each is in its skim, and whose they are.

    ``colour`` is the filter that took the colour out of them.
    """

    rows: Floats
    firsts: Ints
    owners: Ints
    colour: Floats


def probes_of(skims: Sequence[Floats], length: int, every: int) -> Probes:
    """Probes of skims at a low rate; none where they are silent."""
    firsts = [np.arange(0, max(0, len(skim) - length + 1), every) for skim in skims]
    owners = np.repeat(np.arange(len(skims)), [len(one) for one in firsts])
    colour = _colour([_cut(*one, length) for one in zip(skims, firsts, strict=True)])
    plain = [np.convolve(skim, colour)[: len(skim)] if len(skim) else skim for skim in skims]
    rows = np.concatenate([_cut(*one, length) for one in zip(plain, firsts, strict=True)])
    levels = np.sqrt(np.square(rows).sum(axis=1))
    heard = levels > SILENT * np.sqrt(max(1, length))
    rows = rows[heard] / levels[heard, None]
    return Probes(rows, np.concatenate(firsts)[heard], owners[heard], colour)


def places(probes: Probes, pieces: Iterable[Thin], factor: int) -> Places:
    """All places that are like probes, the likeliest of each."""
    found = [np.zeros((0, 3))]
    if len(probes.rows):
        search = _Search(probes)
        for start, low in _long(pieces, search.margin, factor):
            for rows in search.along(low):
                rows[:, 1] += start / factor - probes.firsts[rows[:, 0].astype(np.int64)]
                found.append(rows)
    rows = np.concatenate(found)
    rows = rows[np.lexsort((-rows[:, 2], rows[:, 0]))]
    numbers = rows[:, 0].astype(np.int64)
    kept = np.arange(len(rows)) - np.searchsorted(numbers, numbers) < KEPT
    return Places(numbers[kept], rows[kept, 1], rows[kept, 2])


def _long(pieces: Iterable[Thin], margin: int, factor: int) -> Iterator[Thin]:
    """Pieces as long as they are laid along, each beginning with the end of the one before."""
    held, start, place = np.zeros(0, np.float32), 0, -1
    for one in pieces:
        if one.start != place:
            if len(held) > margin:
                yield Thin(start, held)
            held, start = np.zeros(COLOUR + 1, np.float32), one.start - factor * (COLOUR + 1)
        held, place = np.concatenate([held, one.samples]), one.start + factor * len(one.samples)
        while len(held) >= SIZE:
            yield Thin(start, held[:SIZE])
            used = SIZE - margin
            held, start = held[used:], start + factor * used
    if len(held) > margin:
        yield Thin(start, held)


class _Search:
    """Probes, added in groups and ready to be laid along anything."""

    def __init__(self, probes: Probes) -> None:
        from scipy.fft import rfft

        count = -(-len(probes.rows) // TOGETHER)
        self._probes = probes
        self._groups = [np.arange(n, len(probes.rows), count) for n in range(count)]
        sums = np.stack([probes.rows[group].sum(axis=0) for group in self._groups])
        self._sums = np.conj(rfft(sums, SIZE, axis=1))
        self._colour = rfft(probes.colour, SIZE)
        self.length, self._before = probes.rows.shape[1], len(probes.colour) - 1
        self.margin = self.length + self._before - 1

    def along(self, low: Floats) -> Iterator[NDArray[np.float64]]:
        """Probe, place and likeness of all places in a piece."""
        from scipy.fft import irfft, rfft

        spectrum = rfft(low, SIZE) * self._colour
        plain = irfft(spectrum, SIZE)
        last = len(low) - self.length + 1
        powers = np.concatenate([[0.0], np.cumsum(np.square(plain, dtype=np.float64))])
        power = powers[self.length : self.length + last] - powers[:last]
        level = np.sqrt(power + 1e-9 * powers[-1] + 1e-12).astype(np.float32)
        for group, sums in zip(self._groups, self._sums, strict=True):
            product = irfft(spectrum * sums, SIZE)[:last]
            hits = _peaks(product, LEAST * level, self._before)
            if len(hits):
                yield self._looked_up(group, plain, hits, level[hits])

    def _looked_up(
        self, group: Ints, plain: Floats, hits: Ints, level: Floats
    ) -> NDArray[np.float64]:
        """Which probes of a group are like the recording at peaks of it, and where exactly."""
        windows = np.lib.stride_tricks.sliding_window_view(plain, self.length)
        rows = self._probes.rows[group]
        beside = [rows @ windows[hits + n].T for n in (-1, 0, 1)]
        moved, top = _between(*beside)
        scores = np.minimum(1.0, top / level)
        own, at = np.nonzero(scores >= LEAST)
        return np.stack([group[own], hits[at] + moved[own, at], scores[own, at]], axis=1)


def _between(before: Any, here: Any, behind: Any) -> tuple[Any, Any]:
    """Where a parabola through three products is highest, and how high."""
    bend = np.minimum(before + behind - 2 * here, -1e-9)
    moved = np.clip((before - behind) / (2 * bend), -0.6, 0.6)
    return moved, here + moved * (behind - before) / 2 + np.square(moved) * bend / 2


def _peaks(product: Floats, least: Floats, before: int) -> Ints:
    """Where a product is over what is asked and higher than beside it; the highest, if many."""
    inner = product[1:-1]
    peak = (inner > least[1:-1]) & (inner >= product[:-2]) & (inner > product[2:])
    hits = np.flatnonzero(peak) + 1
    hits = hits[hits >= before]
    if len(hits) > MOST:
        hits = hits[np.argpartition(-product[hits] / least[hits], MOST)[:MOST]]
    return hits


def _cut(skim: Floats, firsts: Ints, length: int) -> Floats:
    if not len(firsts):
        return np.zeros((0, length), np.float32)
    return np.lib.stride_tricks.sliding_window_view(skim, length)[firsts].astype(np.float32)


def _colour(rows: Sequence[Floats]) -> Floats:
    """A filter that takes the colour out of pieces: what cannot be foretold is left."""
    from scipy.fft import irfft, rfft
    from scipy.linalg import solve_toeplitz

    every = np.concatenate(rows).astype(np.float64)
    levels = np.sqrt(np.square(every).sum(axis=1, keepdims=True))
    every = every[levels[:, 0] > 0] / levels[levels[:, 0] > 0]
    if not len(every):
        return np.ones(1, np.float32)
    powers = np.square(abs(rfft(every, 2 * every.shape[1], axis=1))).mean(axis=0)
    like = irfft(powers)[: COLOUR + 1]
    like[0] *= 1.0001
    return np.concatenate([[1.0], -solve_toeplitz(like[:-1], like[1:])]).astype(np.float32)
