"""How far columns go together over rows that come in clusters: Pearson and Spearman.

Clusters (items) are drawn anew with replacement, and bring all their rows along; every pair of
columns is over the rows that have both. A draw is a row of whole weights, and ranks are those
that the drawn rows have among themselves. Draws in which a column does not vary are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.exact import Floats
from earwitness.stats.resampling import blocks
from earwitness.stats.student import ratio
from earwitness.stats.votes import Codes

METHOD = "bootstrap over items"
STILL = 1e-12  # a variance below this, beside the mean square, is rounding


class Drawn(NamedTuple):
    """How the clusters of rows are drawn."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


def pearson(x: Floats, y: Floats, clusters: Codes, drawn: Drawn) -> Estimate:
    """Pearson's correlation of two columns, over rows that have both."""
    both = ~(np.isnan(x) | np.isnan(y))
    a, b, own = x[both], y[both], clusters[both]
    a, b = (one - one.mean() if len(one) else one for one in (a, b))
    known, number = np.unique(own, return_inverse=True)
    sums = np.zeros((len(known), 6))
    np.add.at(sums, number, np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1))
    value = _coefficient(sums.sum(axis=0)[None])
    made = [_coefficient(weight @ sums) for weight in _weights(len(known), drawn)]
    return _estimate(value, made, len(a), len(x) - len(a), len(known), drawn)


def spearman(x: Floats, y: Floats, clusters: Codes, drawn: Drawn) -> Estimate:
    """Spearman's correlation of two columns: Pearson's of mid-ranks."""
    both = ~(np.isnan(x) | np.isnan(y))
    a, b = x[both], y[both]
    known, number = np.unique(clusters[both], return_inverse=True)
    value = _ranked(a, b, np.ones((1, len(a))))
    made = [_ranked(a, b, weight[:, number]) for weight in _weights(len(known), drawn)]
    return _estimate(value, made, len(a), len(x) - len(a), len(known), drawn)


def within_raters(values: Floats, raters: Codes) -> Floats:
    """Columns less each rater's mean over the rows that have all of them."""
    known = ~np.isnan(values).any(axis=1)
    count = np.bincount(raters[known], minlength=int(raters.max(initial=-1)) + 1)
    found = np.full(values.shape, np.nan)
    for column in range(values.shape[1]):
        own = values[:, column]
        total = np.bincount(raters[known], own[known], minlength=len(count))
        mean = ratio(total.astype(np.float64), count.astype(np.float64))
        found[known, column] = (own - mean[raters])[known]
    return found


def _weights(count: int, drawn: Drawn) -> Iterator[Floats]:
    for (weight,) in blocks((count,), drawn.draws, drawn.seed):
        yield weight


def _coefficient(sums: Floats) -> Floats:
    """By draw: from weighted sums of 1, x, y, x², y² and xy."""
    n, x, y, xx, yy, xy = sums.T
    n = np.maximum(n, 1)
    a, b, ab = xx - x * x / n, yy - y * y / n, xy - x * y / n
    varied = (a > STILL * np.maximum(xx, STILL)) & (b > STILL * np.maximum(yy, STILL))
    size = np.sqrt(np.where(varied, a * b, 1))
    return np.clip(np.where(varied, ab / size, np.nan), -1, 1)


def _ranked(a: Floats, b: Floats, weight: Floats) -> Floats:
    x, y = (_ranks(one, weight) for one in (a, b))
    columns = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return _coefficient(np.stack([(weight * one).sum(axis=1) for one in columns], axis=1))


def _ranks(values: Floats, weight: Floats) -> Floats:
    """Mid-ranks of rows that stand as often as they weigh, about their middle."""
    _, groups = np.unique(values, return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    own = np.zeros((len(weight), count))
    for place in range(count):
        own[:, place] = weight[:, groups == place].sum(axis=1)
    before = np.cumsum(own, axis=1) - own
    middle = own.sum(axis=1, keepdims=True) / 2
    return np.asarray((before + own / 2 - middle)[:, groups])


def _estimate(
    value: Floats, made: list[Floats], n: int, lacking: int, clusters: int, drawn: Drawn
) -> Estimate:
    low = high = float("nan")
    if clusters >= FEWEST and made:
        ends = percentile_interval(np.concatenate(made)[:, None], drawn.level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(float(value[0]), low, high, drawn.level, n, lacking, METHOD)
