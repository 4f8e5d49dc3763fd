"""Dynamic time warping: how far two courses lie apart when each may wait for the other.

Every step goes on in the one, in the other or in both; the distance is the sum over all steps of
the Euclidean distance of what stands beside each other, from both first ones to both last ones.
"""

from __future__ import annotations

import numpy as np

from earwitness.stats.skims.day import Floats


def distances(first: Floats, second: Floats) -> Floats:
    """Euclidean distances, a row for every row of the first; what is equal is exactly 0 apart."""
    result = np.zeros((len(first), len(second)))
    for column, one in enumerate(second):
        result[:, column] = np.sqrt(((first - one) ** 2).sum(axis=1))
    return result


def warped(costs: Floats) -> float:
    """The least sum of costs from corner to corner; diagonal by diagonal."""
    rows, columns = costs.shape
    if not rows or not columns:
        return float("nan")
    before, last = np.full(rows + 1, np.inf), np.full(rows + 1, np.inf)
    before[0] = 0.0  # the corner before the first cell
    for diagonal in range(rows + columns - 1):
        low, high = max(0, diagonal - columns + 1), min(rows, diagonal + 1)
        row = np.arange(low, high)
        best = np.minimum(np.minimum(last[low:high], last[low + 1 : high + 1]), before[low:high])
        now = np.full(rows + 1, np.inf)
        now[low + 1 : high + 1] = best + costs[row, diagonal - row]
        before, last = last, now
    return float(last[rows])


def dtw(means: Floats, picks: Floats) -> float:
    """How far picks lie from the course of means; NaN if there are none of either."""
    return warped(distances(means, picks))
