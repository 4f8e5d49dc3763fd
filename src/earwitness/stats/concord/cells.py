"""The mean of each system over its cells, as coefficients over systems take it, with an interval.

The mean of a cell is that of its votes, and each cell counts once, whoever voted on it. (A mean of
listeners' means is another number where listeners did not all vote on the same cells.) The interval
is over listeners: each moves the mean by the sum of what their votes are above it, as much as they
weigh, and Student's t is taken of these. Where all vote on all cells it is the t interval of the
means of listeners. Fewer than two listeners have none.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats import student
from earwitness.stats.concord.levels import steady
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.student import Moments, ratio
from earwitness.stats.votes import Votes


def system_means(votes: Votes, known: Bools | None = None) -> Moments:
    """By system: the mean, the deviation of listeners and how many they are.

    ``known`` (systems × items) says which cells count; else all that have a vote do. The standard
    error is the deviation over the root of the number, as ``student.interval`` takes it.
    """
    systems, items, raters = votes.size
    table = votes.table().reshape(items, systems, raters)
    there = ~np.isnan(table) & (True if known is None else known.T[:, :, None])
    heard = there.sum(axis=2, keepdims=True).astype(np.float64)
    cells = (heard > 0).sum(axis=0, keepdims=True).astype(np.float64)
    weight = np.where(there, 1 / (np.maximum(heard, 1) * np.maximum(cells, 1)), 0)
    said = ratio(np.where(there, table, 0).sum(axis=2), heard[:, :, 0])
    total = np.where(np.isnan(said), 0, said).sum(axis=0)
    mean = steady(ratio(total, cells[0, :, 0]), np.abs(votes.values).max(initial=0))
    n = there.any(axis=0).sum(axis=1).astype(np.float64)
    moved = (weight * np.where(there, table - mean[:, None], 0)).sum(axis=0)
    return Moments(mean, np.sqrt(ratio(n**2 * (moved**2).sum(axis=1), n - 1)), n)


def half_widths(votes: Votes, known: Bools, level: float) -> Floats:
    """Half the width of each system's interval."""
    low, high = student.interval(system_means(votes, known), level)
    return np.asarray((high - low) / 2)
