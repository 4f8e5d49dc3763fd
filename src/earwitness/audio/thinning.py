"""Sound at a low rate: every so manieth sample of it, without what these cannot hold.

A day at two thousand samples a second is small enough to be laid beside other sound everywhere.
Samples are taken as rows of a matrix, so that filtering a day is one product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
LOW = 2_000  # samples a second, about
PASSED = 0.7  # of what a low rate can hold
REACH = 8  # low samples that a filter spans


class Thin(NamedTuple):
    """Sound at a low rate: ``start`` is the place of the first sample that went into it."""

    start: int
    samples: Floats


def factor_of(rate: int) -> int:
    """How many samples make a low one."""
    return max(1, round(rate / LOW))


def thinned(samples: NDArray[Any], factor: int) -> Floats:
    """A low sample for every so many; as many fewer at the end as a filter reaches beyond."""
    count = len(samples) // factor
    if count < REACH:
        return np.zeros(0, np.float32)
    rows = np.asarray(samples[: count * factor], np.float32).reshape(count, factor) @ _taps(factor)
    kept = count - REACH + 1
    return np.asarray(np.sum([rows[n : n + kept, n] for n in range(REACH)], axis=0), np.float32)


def thinned_pieces(pieces: Iterable[tuple[int, Floats]], factor: int) -> Iterator[Thin]:
    """Sound that comes in pieces, each with its place; those that follow each other are one."""
    rest, place = np.zeros(0, np.float32), 0
    for at, samples in pieces:
        if at != place + len(rest):
            rest, place = rest[:0], at
        whole = np.concatenate([rest, samples])
        low = thinned(whole, factor)
        if len(low):
            yield Thin(place, low)
        used = factor * len(low)
        rest, place = whole[used:], place + used


@lru_cache(8)
def _taps(factor: int) -> Floats:
    """A sinc in a Kaiser window; a column for each low sample that it spans."""
    places = np.arange(REACH * factor) - (REACH * factor - 1) / 2
    cutoff = PASSED / factor
    taps = cutoff * np.sinc(cutoff * places) * np.kaiser(len(places), 6)
    return np.ascontiguousarray(taps.reshape(REACH, factor).T, np.float32)
