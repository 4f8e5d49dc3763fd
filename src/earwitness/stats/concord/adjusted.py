"""Cells without what is due to their items, so that means of systems with other items compare.

A system that was rated on easy items alone has a high mean whatever it is like. So each cell is
taken for the sum of an effect of its system and one of its item (least squares, each cell counting
once), and the effect of its item is taken off. The mean of what is left, over a system's own cells,
is its least-squares mean: what it would have on all items. Where all systems have all items that
is the plain mean.

Systems that share no items with others, not even through third ones, cannot be compared this way.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats.exact import Bools, Floats


def complete(known: Bools) -> bool:
    """Whether all systems with a cell have the same items."""
    return np.array_equal(known, np.outer(known.any(axis=1), known.any(axis=0)))


def joint(known: Bools) -> bool:
    """Whether all systems with a cell hang together by items that they share."""
    there = known.any(axis=1)
    reached = np.zeros_like(there)
    reached[there.argmax()] = there.any()
    while True:
        more = np.asarray(known[:, known[reached].any(axis=0)].any(axis=1), bool)
        if np.array_equal(more, reached):
            return np.array_equal(reached, there)
        reached = more


def item_effects(table: Floats) -> Floats:
    """By item, from cells (systems × items, NaN if unknown); their mean is 0. 0 if not ``joint``.

    >>> item_effects(np.array([[1.0, 5, np.nan], [np.nan, 4, 8]])).tolist()
    [-4.0, 0.0, 4.0]
    """
    known = ~np.isnan(table)
    if not joint(known) or not known.any():
        return np.zeros(table.shape[1])
    cells, weigh = np.where(known, table, 0), known.astype(np.float64)
    of_item = np.maximum(weigh.sum(axis=0), 1)
    # Items are solved for first, which leaves as many equations as there are systems.
    left = np.diag(weigh.sum(axis=1)) - (weigh / of_item) @ weigh.T
    right = cells.sum(axis=1) - weigh @ (cells.sum(axis=0) / of_item)
    systems = np.linalg.lstsq(left, right, rcond=None)[0]
    items = (cells.sum(axis=0) - systems @ weigh) / of_item
    rated = known.any(axis=0)
    return np.where(rated, items - items[rated].mean(), 0.0)


def without_items(scores: Floats, people: Floats) -> Floats:
    """Scores (metrics × systems × items) less effects of items, from cells that people rated."""
    there = ~np.isnan(people)
    effects = np.array([item_effects(np.where(there, one, np.nan)) for one in scores])
    return np.asarray(scores - effects.reshape(len(scores), 1, people.shape[1]))
