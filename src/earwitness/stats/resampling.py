"""Means of votes when listeners, or listeners and items, are drawn anew with replacement.

All systems share the draws, and a listener brings all their votes along. A draw is a row of whole
weights: how often each listener (or item) was picked. Weights are made in blocks, so that memory
does not grow with the draws; the blocks change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from earwitness.stats import weights
from earwitness.stats.exact import Floats
from earwitness.stats.student import ratio
from earwitness.stats.votes import Codes, Votes

HELD = 2_000_000  # weights in memory at a time
MULTIPLIED = 200_000  # products of weights at a time: few enough for the cache


def blocks(counts: tuple[int, ...], draws: int, seed: int) -> Iterator[list[Floats]]:
    """Weights of several things that are drawn independently: an array each, a row a draw."""
    rngs = [np.random.Generator(np.random.PCG64((seed, place))) for place in range(len(counts))]
    rows = max(1, HELD // max(1, sum(counts)))
    for start in range(0, draws, rows):
        here = min(rows, draws - start)
        yield [weights.drawn(n, here, rng) for n, rng in zip(counts, rngs, strict=True)]


def listener_draws(table: Floats, draws: int, seed: int) -> Floats:
    """Means of a table's columns, a row a draw, when its rows are drawn anew; gaps are NaN."""
    known = ~np.isnan(table)
    columns = np.concatenate([np.where(known, table, 0), known], axis=1)
    width = table.shape[1]
    sums = [weight @ columns for (weight,) in blocks((len(table),), draws, seed)]
    both = np.concatenate(sums) if sums else np.zeros((0, 2 * width))
    return ratio(both[:, :width], both[:, width:])


def two_way_draws(votes: Votes, draws: int, seed: int) -> Floats:
    """Means of systems, a row a draw, when listeners and items are drawn anew independently.

    All listeners and items of ``votes.size`` are drawn from, also those without a vote.
    """
    found = [_weighted(votes, *pair) for pair in blocks(votes.size[2:0:-1], draws, seed)]
    return np.concatenate(found) if found else np.zeros((0, votes.size[0]))


def _weighted(votes: Votes, listeners: Floats, items: Floats) -> Floats:
    """Means of votes that weigh as much as their listener times their item."""
    of_listeners, of_items = np.ascontiguousarray(listeners.T), np.ascontiguousarray(items.T)
    sums = np.zeros((2, votes.size[0], len(listeners)))
    for system, part in _portions(votes, MULTIPLIED // len(listeners)):
        product = of_listeners[votes.listeners[part]]
        product *= of_items[votes.items[part]]
        rows = np.stack([votes.values[part], np.ones(len(part))])
        sums[:, system] += rows @ product
    return ratio(*sums).T


def _portions(votes: Votes, most: int) -> Iterator[tuple[int, Codes]]:
    """Places of votes, system by system."""
    for system in range(votes.size[0]):
        mine = np.flatnonzero(votes.systems == system)
        for start in range(0, len(mine), max(1, most)):
            yield system, mine[start : start + max(1, most)]
