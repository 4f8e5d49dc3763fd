"""Order, session and position effects, and correlations over clustered rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import (
    MIN_CASES_FOR_INTERVAL,
    draw_weight_blocks,
    percentile_interval,
)
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

    ``widening`` says by how much the interval of each column's mean has to be widened.
    """

    values: Floats
    widening: Floats


def fit_listener_slopes(
    values: Floats, listeners: Codes, columns: Floats, means: tuple[Codes, ...], size: int
) -> Slopes:
    """What a unit of each column changes, for each of ``size`` listeners.

    ``means`` number what every vote shares with others: its stimulus, or its item and its system.
    """
    effects = columns.shape[1]
    present, listener_index = np.unique(listeners, return_inverse=True)
    slopes = np.full((size, effects), np.nan)
    if len(present) == 0:
        return Slopes(slopes, np.ones(effects))
    table = np.column_stack([np.ones(len(values)), columns, values - values.mean()])
    curvature, gradient = _normal_equations(table, listener_index, len(present), means)
    inverse, is_determined = _pseudo_inverse(curvature)
    solved = np.where(is_determined, inverse @ gradient, np.nan).reshape(len(present), 1 + effects)
    slopes[present] = solved[:, 1:]
    determined = is_determined.reshape(len(present), 1 + effects)
    widening = [
        _widening_factor(inverse, determined[:, k], k, 1 + effects) for k in range(1, 1 + effects)
    ]
    return Slopes(slopes, np.array(widening))


def fit_listener_means(
    values: Floats, listeners: Codes, means: tuple[Codes, ...], size: int
) -> Floats:
    """The mean of each listener, less those of the stimuli; NaN without a vote.

    They sum to 0 over listeners who are compared with each other by way of common stimuli.
    """
    present, listener_index = np.unique(listeners, return_inverse=True)
    fitted_means = np.full(size, np.nan)
    if len(present):
        table = np.column_stack([np.ones(len(values)), values - values.mean()])
        curvature, gradient = _normal_equations(table, listener_index, len(present), means)
        fitted_means[present] = _pseudo_inverse(curvature)[0] @ gradient
    return fitted_means


def _normal_equations(
    table: Floats, listener_index: Codes, size: int, means: tuple[Codes, ...]
) -> tuple[Floats, Floats]:
    """Normal equations of all columns by listener, with the shared means taken out of them."""
    width = table.shape[1] - 1
    products = np.zeros((size, width, width + 1))
    np.add.at(products, listener_index, table[:, :width, None] * table[:, None, :])
    curvature = np.zeros((size, width, size, width))
    curvature[np.arange(size), :, np.arange(size)] = products[:, :, :width]
    shared, total = _shared_sums(table, listener_index, size, means)
    solved = _solve_shared_means(means, np.column_stack([shared, total]))
    curvature = curvature.reshape(size * width, size * width) - shared.T @ solved[:, :-1]
    return curvature, products[:, :, width].ravel() - shared.T @ solved[:, -1]


def _shared_sums(
    table: Floats, listener_index: Codes, size: int, means: tuple[Codes, ...]
) -> tuple[Floats, Floats]:
    """A row a shared mean: sums of all columns by listener, and of the values."""
    width = table.shape[1] - 1
    shared, totals = [], []
    for codes in means:
        rows = int(codes.max()) + 1
        sums = np.zeros((rows, size, width))
        np.add.at(sums, (codes, listener_index), table[:, :width])
        shared.append(sums.reshape(rows, size * width))
        totals.append(np.bincount(codes, table[:, width], minlength=rows))
    return np.concatenate(shared), np.concatenate(totals)


def _solve_shared_means(means: tuple[Codes, ...], right: Floats) -> Floats:
    """The shared means that go with right-hand sides; simple where every vote has but one."""
    counts = [np.bincount(codes).astype(np.float64) for codes in means]
    if len(means) == 1:
        return np.asarray(right / np.maximum(counts[0], 1)[:, None])
    together = np.diag(np.concatenate(counts))
    first = len(counts[0])
    np.add.at(together, (means[0], first + means[1]), 1)
    np.add.at(together, (first + means[1], means[0]), 1)
    return np.asarray(np.linalg.pinv(together, hermitian=True) @ right)


def _pseudo_inverse(matrix: Floats) -> tuple[Floats, Bools]:
    """The inverse as far as there is one, and which of the unknowns are determined."""
    eigenvalues, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    is_kept = eigenvalues > EIGENVALUE_TOLERANCE * max(1.0, float(eigenvalues[-1]))
    kept_vectors = vectors[:, is_kept]
    inverse = (kept_vectors / eigenvalues[is_kept]) @ kept_vectors.T
    return inverse, (kept_vectors**2).sum(axis=1) > 1 - DETERMINACY_TOLERANCE


def _widening_factor(inverse: Floats, is_kept: Bools, column: int, width: int) -> float:
    """The error of the mean slope beside the one that the spread of slopes tells, at least 1."""
    n = int(is_kept.sum())
    if n < 2:
        return 1.0
    places = np.flatnonzero(is_kept) * width + column
    covariance = inverse[np.ix_(places, places)]
    total = float(covariance.sum()) / n
    expected = (float(np.trace(covariance)) - total) / (n - 1)
    return math.sqrt(max(1.0, total / expected)) if expected > 0 else 1.0


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


def clustered_pearson(
    x: Floats, y: Floats, clusters: Codes, resampling: ClusterResampling
) -> Estimate:
    """Pearson's correlation of two columns, over rows that have both."""
    is_known = ~(np.isnan(x) | np.isnan(y))
    a, b, row_clusters = x[is_known], y[is_known], clusters[is_known]
    a, b = (column - column.mean() if len(column) else column for column in (a, b))
    distinct, cluster_index = np.unique(row_clusters, return_inverse=True)
    sums = np.zeros((len(distinct), 6))
    np.add.at(sums, cluster_index, np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1))
    value = _correlation_from_sums(sums.sum(axis=0)[None])
    draws = [
        _correlation_from_sums(weight @ sums)
        for weight in _cluster_weights(len(distinct), resampling)
    ]
    return _estimate(value, draws, len(a), len(x) - len(a), len(distinct), resampling)


def clustered_spearman(
    x: Floats, y: Floats, clusters: Codes, resampling: ClusterResampling
) -> Estimate:
    """Spearman's correlation of two columns: Pearson's of mid-ranks."""
    is_known = ~(np.isnan(x) | np.isnan(y))
    a, b = x[is_known], y[is_known]
    distinct, cluster_index = np.unique(clusters[is_known], return_inverse=True)
    value = _rank_correlation(a, b, np.ones((1, len(a))))
    draws = [
        _rank_correlation(a, b, weight[:, cluster_index])
        for weight in _cluster_weights(len(distinct), resampling)
    ]
    return _estimate(value, draws, len(a), len(x) - len(a), len(distinct), resampling)


def centre_within_raters(values: Floats, raters: Codes) -> Floats:
    """Columns less each rater's mean over the rows that have all of them."""
    is_known = ~np.isnan(values).any(axis=1)
    count = np.bincount(raters[is_known], minlength=int(raters.max(initial=-1)) + 1)
    centred = np.full(values.shape, np.nan)
    for column in range(values.shape[1]):
        column_values = values[:, column]
        total = np.bincount(raters[is_known], column_values[is_known], minlength=len(count))
        mean = ratio(total.astype(np.float64), count.astype(np.float64))
        centred[is_known, column] = (column_values - mean[raters])[is_known]
    return centred


def _cluster_weights(count: int, resampling: ClusterResampling) -> Iterator[Floats]:
    for (weight,) in draw_weight_blocks((count,), resampling.draws, resampling.seed):
        yield weight


def _correlation_from_sums(sums: Floats) -> Floats:
    """By draw: from weighted sums of 1, x, y, x², y² and xy."""
    n, x, y, xx, yy, xy = sums.T
    n = np.maximum(n, 1)
    a, b, ab = xx - x * x / n, yy - y * y / n, xy - x * y / n
    is_varied = (a > VARIANCE_TOLERANCE * np.maximum(xx, VARIANCE_TOLERANCE)) & (
        b > VARIANCE_TOLERANCE * np.maximum(yy, VARIANCE_TOLERANCE)
    )
    size = np.sqrt(np.where(is_varied, a * b, 1))
    return np.clip(np.where(is_varied, ab / size, np.nan), -1, 1)


def _rank_correlation(a: Floats, b: Floats, weight: Floats) -> Floats:
    x, y = (_weighted_midranks(values, weight) for values in (a, b))
    columns = (np.ones_like(x), x, y, x * x, y * y, x * y)
    return _correlation_from_sums(
        np.stack([(weight * column).sum(axis=1) for column in columns], axis=1)
    )


def _weighted_midranks(values: Floats, weight: Floats) -> Floats:
    """Mid-ranks of rows that stand as often as they weigh, about their middle."""
    _, groups = np.unique(values, return_inverse=True)
    count = int(groups.max(initial=-1)) + 1
    group_weights = np.zeros((len(weight), count))
    for group in range(count):
        group_weights[:, group] = weight[:, groups == group].sum(axis=1)
    before = np.cumsum(group_weights, axis=1) - group_weights
    middle = group_weights.sum(axis=1, keepdims=True) / 2
    return np.asarray((before + group_weights / 2 - middle)[:, groups])


def _estimate(
    value: Floats,
    draws: list[Floats],
    n: int,
    undefined: int,
    clusters: int,
    resampling: ClusterResampling,
) -> Estimate:
    low = high = float("nan")
    if clusters >= MIN_CASES_FOR_INTERVAL and draws:
        ends = percentile_interval(np.concatenate(draws)[:, None], resampling.level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(
        float(value[0]), low, high, resampling.level, n, undefined, ITEM_BOOTSTRAP_METHOD
    )
