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
COLOUR = 128  # low samples by which the next one is foretold
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
    heard = levels > SILENT * np.sqrt(length)
    return Probes(rows[heard] / levels[heard, None], firsts[heard], colour)


def places(
    skims: Sequence[Probes], pieces: Iterable[Thin], factor: int, *, own_colour: bool = False
) -> list[Places]:
    """All places that are like probes of each skim, the likeliest of each probe.

    With ``own_colour``, each piece of the recording loses the colour that it has itself, not that
    of the skim: a skim that was filtered is found, but is a little less alike.
    """
    from scipy.fft import rfft

    searches = [_Search(probes) for probes in skims]
    found = [[np.zeros((0, 3))] for _ in skims]
    margin = max((one.margin for one in searches), default=0)
    for start, low in _long(pieces, margin, factor):
        spectrum = rfft(low, SIZE)
        colour = rfft(_colour(low[None, COLOUR:]), SIZE) if own_colour else None
        for search, into in zip(searches, found, strict=True):
            for rows in search.along(spectrum, len(low), colour):
                rows[:, 1] += start / factor - search.firsts[rows[:, 0].astype(np.int64)]
                into.append(rows)
    return [_likeliest(np.concatenate(rows)) for rows in found]


def _likeliest(rows: NDArray[np.float64]) -> Places:
    """Rows of probe, offset and likeness, the best of each probe first."""
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
            held, start = np.zeros(COLOUR, np.float32), one.start - factor * COLOUR
        held, place = np.concatenate([held, one.samples]), one.start + factor * len(one.samples)
        while len(held) >= SIZE:
            yield Thin(start, held[:SIZE])
            used = SIZE - margin
            held, start = held[used:], start + factor * used
    if len(held) > margin:
        yield Thin(start, held)


class _Search:
    """Probes of a skim, added in groups and ready to be laid along anything."""

    def __init__(self, probes: Probes) -> None:
        from scipy.fft import rfft

        count = -(-len(probes.rows) // TOGETHER)
        self._rows, self.firsts = probes.rows, probes.firsts
        self._groups = [np.arange(n, len(probes.rows), count) for n in range(count)]
        sums = [probes.rows[group].sum(axis=0) for group in self._groups]
        self._sums = [np.conj(rfft(one, SIZE)) for one in sums]
        self._colour = rfft(probes.colour, SIZE)
        self.length = probes.rows.shape[1]
        self.margin = self.length + COLOUR

    def along(
        self, spectrum: NDArray[Any], size: int, colour: NDArray[Any] | None
    ) -> Iterator[NDArray[np.float64]]:
        """Probe, place and likeness of all places in a piece of some size, given its spectrum."""
        from scipy.fft import irfft

        if not self._groups:
            return
        spectrum = spectrum * (self._colour if colour is None else colour)
        plain = irfft(spectrum, SIZE)
        last = size - self.length + 1
        powers = np.concatenate([[0.0], np.cumsum(np.square(plain, dtype=np.float64))])
        power = powers[self.length : self.length + last] - powers[:last]
        level = np.sqrt(power + 1e-9 * powers[-1] + 1e-12).astype(np.float32)
        for group, sums in zip(self._groups, self._sums, strict=True):
            product = irfft(spectrum * sums, SIZE)[:last]
            hits = _peaks(product, LEAST * level)
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
        own, at = np.nonzero(scores >= LEAST)
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
    hits = hits[hits >= COLOUR]  # before, what was before the piece is missing
    if len(hits) > MOST:
        hits = hits[np.argpartition(-product[hits] / least[hits], MOST)[:MOST]]
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
    like = irfft(powers)[: COLOUR + 1]
    like[0] *= 1.0001
    return np.concatenate([[1.0], -solve_toeplitz(like[:-1], like[1:])]).astype(np.float32)
