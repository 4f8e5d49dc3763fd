"""A few rows of every run of rows, drawn by hashes: the same whatever stands before or behind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.weights import GOLDEN, Hashes, mix

Ints = NDArray[np.int64]


def few(counts: Ints, hashes: Hashes, most: int, seed: int, repeat: int) -> Ints:
    """At most so many rows of every run, drawn without replacement, in order.

    Runs have these lengths; a run with the same hash and length is drawn from in the same way.
    """
    first = np.repeat(np.cumsum(counts) - counts, counts)
    place = np.arange(len(first)) - first
    start = hashes ^ mix(np.array([seed], np.uint64))
    for number in (most, repeat):
        start = mix(start + np.array([number], np.uint64) * GOLDEN)
    keys = mix(np.repeat(start, counts) + (place + 1).astype(np.uint64) * GOLDEN)
    order = np.lexsort((keys, first))
    return np.sort(order[place < most])
