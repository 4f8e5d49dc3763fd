"""How much stands ahead of each place in one order and below it in another, all at once.

A row is a sequence of places. Each has a rank (all of them different), a weight that it brings and
a weight with which it asks. Wanted is the sum, over all pairs of places, of what the earlier brings
times what the later asks, where the earlier has the lower rank.

Laying out all pairs would take n² steps. Places are cut into short blocks by their order, and again
by their rank. Pairs in different blocks either way are counted from a table of blocks × blocks;
only pairs within a block are gone through.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from earwitness.stats.exact import Floats
from earwitness.stats.votes import Codes

HELD = 30_000  # places at a time: few enough for the cache
SINGLE = 2.0**23  # whole sums below this are exact in single precision


def ahead(ranks: Codes, brings: Floats, asks: Floats) -> Floats:
    """One sum a row; tables are rows × places. Exact where weights are whole."""
    rows, places = ranks.shape
    some = max(1, HELD // max(1, places))
    found = np.zeros(rows)
    for start in range(0, rows if places else 0, some):
        part = slice(start, start + some)
        found[part] = _summed(ranks[part], brings[part], asks[part])
    return found


def _summed(ranks: Codes, brings: Floats, asks: Floats) -> Floats:
    """Places are filled up to whole blocks with some that weigh nothing."""
    rows, places = ranks.shape
    size = max(2, round((20 * places) ** (1 / 3)))
    length = -(-places // size) * size
    kind: Any = np.int16 if length < 2**15 else np.int64
    filled = np.tile(np.arange(length, dtype=kind), (rows, 1))
    filled[:, :places] = ranks
    weights = np.zeros((2, rows, length), _precise(brings, size))
    weights[0, :, :places], weights[1, :, :places] = brings, asks
    turns = np.empty_like(filled)
    np.put_along_axis(turns, filled.astype(np.int64), np.arange(length, dtype=kind)[None], axis=1)
    by_rank = np.take_along_axis(weights, turns[None].astype(np.int64), axis=2)
    return (
        _between(filled // size, weights, size)
        + _near(filled, weights, size)
        + _near(turns // size, by_rank, size)
    )


def _precise(brings: Floats, size: int) -> Any:
    """Single precision where sums within a block are exact in it."""
    exact = brings.max(initial=0) * size < SINGLE and np.array_equal(brings, np.rint(brings))
    return np.float32 if exact else np.float64


def _between(blocks: Codes, weights: Floats, size: int) -> Floats:
    """Pairs in different blocks, by order and by rank."""
    rows, length = blocks.shape
    count = length // size
    own = np.arange(rows)[:, None] * count + np.arange(length) // size
    cells = (own * count + blocks).ravel()
    shape = rows, count, count
    brings, asks = (
        np.bincount(cells, side.ravel(), minlength=rows * count**2).reshape(shape)
        for side in weights
    )
    below = np.cumsum(np.cumsum(brings[:, :-1, :-1], axis=1), axis=2)
    return np.asarray(np.einsum("rij,rij->r", below, asks[:, 1:, 1:]))


def _near(keys: Codes, weights: Floats, size: int) -> Floats:
    """Pairs within a block of the sequence whose earlier place has the lower key."""
    rows = len(keys)
    keys = np.ascontiguousarray(keys.reshape(rows, -1, size).transpose(2, 0, 1))
    parts = weights.reshape(2, rows, -1, size).transpose(0, 3, 1, 2)
    brings, asks = np.ascontiguousarray(parts)
    found = np.zeros(rows)
    for later in range(1, size):
        below = brings[:later] * (keys[:later] < keys[later])
        found += np.einsum("rb,rb->r", below.sum(axis=0), asks[later], dtype=np.float64)
    return found
