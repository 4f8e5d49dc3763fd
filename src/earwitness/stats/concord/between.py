"""Intervals of the difference between two metrics' coefficients, from draws that both share.

The spread of differences draw by draw makes the width, as it does for one metric. That is not
enough for Pearson's r where systems are drawn: a metric with a high r has a small spread and one
with a lower r a large one, which is itself badly known from few systems, and by simulation one
interval in ten missed. There the difference is put together from the intervals of both metrics,
which know how skew they are, and from how draws of the two go together (Zou 2007).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.stats.concord.draws import OVER, Interval, interval, stretched
from earwitness.stats.exact import Floats
from earwitness.stats.student import ratio


def between(
    points: Floats,
    drawn: Floats,
    name: str,
    pairs: Sequence[tuple[int, int]],
    *,
    over: str,
    level: float = 0.95,
    count: int | None = None,
) -> Interval:
    """Ends for every pair (the first less the second), from values of metrics and their draws.

    ``points`` has a number a metric, ``drawn`` is draws × metrics; see ``interval`` for the rest.
    """
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    middle, apart = points[first] - points[second], drawn[:, first] - drawn[:, second]
    if name == "pearson" and OVER[over][0]:
        own = interval(points[None], drawn[None], [name], level=level, count=count)
        low, high = (points - own.low[0], own.high[0] - points)
        alike = _together(drawn[:, first], drawn[:, second])
        ends = (
            middle - _joined(low[first], high[second], alike),
            middle + _joined(high[first], low[second], alike),
        )
        return Interval(ends[0], ends[1], np.isnan(apart).sum(axis=0).astype(np.float64))
    found = interval(middle[None], apart[None], [name], level=level, count=count, difference=True)
    return Interval(found.low[0], found.high[0], found.undefined[0])


def _joined(one: Floats, other: Floats, alike: Floats) -> Floats:
    """How far the end is from the difference; a metric that never changes adds nothing."""
    unknown = np.isnan(one) & np.isnan(other)
    one, other = np.nan_to_num(one), np.nan_to_num(other)
    square = np.maximum(0, one**2 + other**2 - 2 * alike * one * other)
    return np.where(unknown, np.nan, np.sqrt(square))


def _together(first: Floats, second: Floats) -> Floats:
    """The correlation of two metrics over draws (draws × pairs) in which both have a value."""
    known = ~np.isnan(first) & ~np.isnan(second)
    fisher = np.ones((1, 1), bool)
    apart = []
    for side in (first, second):
        on_scale = np.where(known, stretched(np.where(known, side, 0), fisher), 0)
        mean = on_scale.sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        apart.append(np.where(known, on_scale - mean, 0))
    lengths = np.sqrt((apart[0] ** 2).sum(axis=0) * (apart[1] ** 2).sum(axis=0))
    return np.nan_to_num(ratio((apart[0] * apart[1]).sum(axis=0), lengths))
