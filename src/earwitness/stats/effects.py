"""Order, session and position effects, and correlations over clustered rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, blocks, percentile_interval
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Order and session effects -------------------------------------------------------------------
# A vote is a mean of its stimulus, a mean of its listener, and what a column changes, listener by
# listener. All three are fitted at once by least squares. Were stimulus means taken off first, and
# slopes fitted after, a slope would come out too small, by one part in as many as vote on a
# stimulus, since part of it is in those means. Fitted at once it is unbiased, if orders differ
# between listeners; if all heard the same order, place and stimulus cannot be told apart, and it is
# NaN.
#
# Listeners are the sample: the mean of their slopes has an interval by t over listeners. Their
# slopes share the stimulus means. Where orders are alike, that makes the mean less sure than the
# spread of slopes says; the interval is then widened by what the design itself tells (the
# covariance of the slopes for equal and independent errors), and never narrowed.


EIGENVALUE_TOLERANCE = 1e-9  # eigenvalues below this, beside the largest, are nothing
DETERMINACY_TOLERANCE = 1e-6  # how far from 1 the share of a slope that the votes determine may be


@dataclass(frozen=True)
class Slopes:
    """A row a listener, a column an effect: NaN where votes do not tell.

    ``wider`` says by how much the interval of each column's mean has to be widened.
    """

    values: Floats
    wider: Floats


def listener_slopes(
    values: Floats, listeners: Codes, columns: Floats, means: tuple[Codes, ...], size: int
) -> Slopes:
    """What a unit of each column changes, for each of ``size`` listeners.

    ``means`` number what every vote shares with others: its stimulus, or its item and its system.
    """
    effects = columns.shape[1]
    present, who = np.unique(listeners, return_inverse=True)
    found = np.full((size, effects), np.nan)
    if len(present) == 0:
        return Slopes(found, np.ones(effects))
    table = np.column_stack([np.ones(len(values)), columns, values - values.mean()])
    bend, slope = _normal(table, who, len(present), means)
    inverse, sure = _inverse(bend)
    solved = np.where(sure, inverse @ slope, np.nan).reshape(len(present), 1 + effects)
    found[present] = solved[:, 1:]
    kept = sure.reshape(len(present), 1 + effects)
    wider = [_wider(inverse, kept[:, k], k, 1 + effects) for k in range(1, 1 + effects)]
    return Slopes(found, np.array(wider))


def listener_means(values: Floats, listeners: Codes, means: tuple[Codes, ...], size: int) -> Floats:
    """The mean of each listener, less those of the stimuli; NaN without a vote.

    They sum to 0 over listeners who are compared with each other by way of common stimuli.
    """
    present, who = np.unique(listeners, return_inverse=True)
    found = np.full(size, np.nan)
    if len(present):
        table = np.column_stack([np.ones(len(values)), values - values.mean()])
        bend, slope = _normal(table, who, len(present), means)
        found[present] = _inverse(bend)[0] @ slope
    return found


def _normal(
    table: Floats, who: Codes, size: int, means: tuple[Codes, ...]
) -> tuple[Floats, Floats]:
    """Normal equations of all columns by listener, with the shared means taken out of them."""
    width = table.shape[1] - 1
    products = np.zeros((size, width, width + 1))
    np.add.at(products, who, table[:, :width, None] * table[:, None, :])
    bend = np.zeros((size, width, size, width))
    bend[np.arange(size), :, np.arange(size)] = products[:, :, :width]
    shared, total = _shared(table, who, size, means)
    solved = _solved(means, np.column_stack([shared, total]))
    bend = bend.reshape(size * width, size * width) - shared.T @ solved[:, :-1]
    return bend, products[:, :, width].ravel() - shared.T @ solved[:, -1]


def _shared(
    table: Floats, who: Codes, size: int, means: tuple[Codes, ...]
) -> tuple[Floats, Floats]:
    """A row a shared mean: sums of all columns by listener, and of the values."""
    width = table.shape[1] - 1
    shared, totals = [], []
    for codes in means:
        rows = int(codes.max()) + 1
        own = np.zeros((rows, size, width))
        np.add.at(own, (codes, who), table[:, :width])
        shared.append(own.reshape(rows, size * width))
        totals.append(np.bincount(codes, table[:, width], minlength=rows))
    return np.concatenate(shared), np.concatenate(totals)


def _solved(means: tuple[Codes, ...], right: Floats) -> Floats:
    """The shared means that go with right-hand sides; simple where every vote has but one."""
    counts = [np.bincount(codes).astype(np.float64) for codes in means]
    if len(means) == 1:
        return np.asarray(right / np.maximum(counts[0], 1)[:, None])
    together = np.diag(np.concatenate(counts))
    first = len(counts[0])
    np.add.at(together, (means[0], first + means[1]), 1)
    np.add.at(together, (first + means[1], means[0]), 1)
    return np.asarray(np.linalg.pinv(together, hermitian=True) @ right)


def _inverse(bend: Floats) -> tuple[Floats, Bools]:
    """The inverse as far as there is one, and which of the unknowns are determined."""
    sizes, vectors = np.linalg.eigh((bend + bend.T) / 2)
    kept = sizes > EIGENVALUE_TOLERANCE * max(1.0, float(sizes[-1]))
    own = vectors[:, kept]
    return (own / sizes[kept]) @ own.T, (own**2).sum(axis=1) > 1 - DETERMINACY_TOLERANCE


def _wider(inverse: Floats, kept: Bools, column: int, width: int) -> float:
    """The error of the mean slope beside the one that the spread of slopes tells, at least 1."""
    n = int(kept.sum())
    if n < 2:
        return 1.0
    places = np.flatnonzero(kept) * width + column
    own = inverse[np.ix_(places, places)]
    total = float(own.sum()) / n
    told = (float(np.trace(own)) - total) / (n - 1)
    return math.sqrt(max(1.0, total / told)) if told > 0 else 1.0


# --- Correlations over clusters ------------------------------------------------------------------
# Clusters (items) are drawn anew with replacement, and bring all their rows along; every pair of
# columns is over the rows that have both. A draw is a row of whole weights, and ranks are those
# that the drawn rows have among themselves. Draws in which a column does not vary are passed over.


ITEM_BOOTSTRAP_METHOD = "bootstrap over items"
VARIANCE_TOLERANCE = 1e-12  # a variance below this, beside the mean square, is rounding


class ClusterResampling(NamedTuple):
    """How the clusters of rows are drawn."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


def pearson(x: Floats, y: Floats, clusters: Codes, drawn: ClusterResampling) -> Estimate:
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


def spearman(x: Floats, y: Floats, clusters: Codes, drawn: ClusterResampling) -> Estimate:
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


def _weights(count: int, drawn: ClusterResampling) -> Iterator[Floats]:
    for (weight,) in blocks((count,), drawn.draws, drawn.seed):
        yield weight


def _coefficient(sums: Floats) -> Floats:
    """By draw: from weighted sums of 1, x, y, x², y² and xy."""
    n, x, y, xx, yy, xy = sums.T
    n = np.maximum(n, 1)
    a, b, ab = xx - x * x / n, yy - y * y / n, xy - x * y / n
    varied = (a > VARIANCE_TOLERANCE * np.maximum(xx, VARIANCE_TOLERANCE)) & (
        b > VARIANCE_TOLERANCE * np.maximum(yy, VARIANCE_TOLERANCE)
    )
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
    value: Floats, made: list[Floats], n: int, lacking: int, clusters: int, drawn: ClusterResampling
) -> Estimate:
    low = high = float("nan")
    if clusters >= MIN_CASES_FOR_INTERVAL and made:
        ends = percentile_interval(np.concatenate(made)[:, None], drawn.level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(float(value[0]), low, high, drawn.level, n, lacking, ITEM_BOOTSTRAP_METHOD)
