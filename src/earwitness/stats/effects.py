"""Order, session and position effects, and correlations of clustered rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats, group_sums
from earwitness.stats.bootstrap import (
    MIN_CASES_FOR_INTERVAL,
    draw_weight_blocks,
    percentile_interval,
)
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Order and session effects -------------------------------------------------------------------
# A vote is the sum of a stimulus mean, a listener mean and the effects of columns, which differ
# between listeners. All are fitted jointly by least squares. If stimulus means were subtracted
# first, slopes would be biased towards 0, since part of each slope is in these means. The joint fit
# is unbiased if orders differ between listeners; if all listeners had the same order, position and
# stimulus are confounded, and the slope is NaN.
#
# Listeners are the sampling units: the mean of their slopes has a t interval over listeners. Slopes
# share the stimulus means. If orders are similar, this makes the mean less certain than the spread
# of slopes implies; the interval is then widened according to the design (the covariance of slopes
# under equal and independent errors), and never narrowed.


EIGENVALUE_TOLERANCE = 1e-9  # smaller eigenvalues, relative to the largest, are 0
DETERMINACY_TOLERANCE = 1e-6  # largest deviation from 1 of the identified share of a slope


@dataclass(frozen=True)
class Slopes:
    """Slopes with one row per listener and one column per effect; NaN if not identified.

    ``widening`` has the factor by which the interval of each mean slope is widened.
    """

    values: Floats
    widening: Floats


def fit_listener_slopes(
    values: Floats, listeners: Codes, columns: Floats, means: tuple[Codes, ...], size: int
) -> Slopes:
    """Return the slope of each column for each of ``size`` listeners.

    ``means`` has the indices of the effects that votes share: the stimulus, or the item and
    the system.
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
    """Return the mean of each listener, adjusted for stimuli; NaN without a vote.

    Means sum to 0 over listeners who are connected by common stimuli.
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
    """Return the normal equations of all columns by listener, after eliminating shared means."""
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
    """Return sums of all columns by listener and of the values, one row per shared mean."""
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
    """Solve for the shared means of given right-hand sides."""
    counts = [np.bincount(codes).astype(np.float64) for codes in means]
    if len(means) == 1:
        return np.asarray(right / np.maximum(counts[0], 1)[:, None])
    together = np.diag(np.concatenate(counts))
    first = len(counts[0])
    np.add.at(together, (means[0], first + means[1]), 1)
    np.add.at(together, (first + means[1], means[0]), 1)
    return np.asarray(np.linalg.pinv(together, hermitian=True) @ right)


def _pseudo_inverse(matrix: Floats) -> tuple[Floats, Bools]:
    """Return the pseudoinverse, and which unknowns are identified."""
    eigenvalues, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    is_kept = eigenvalues > EIGENVALUE_TOLERANCE * max(1.0, float(eigenvalues[-1]))
    kept_vectors = vectors[:, is_kept]
    inverse = (kept_vectors / eigenvalues[is_kept]) @ kept_vectors.T
    return inverse, (kept_vectors**2).sum(axis=1) > 1 - DETERMINACY_TOLERANCE


def _widening_factor(inverse: Floats, is_kept: Bools, column: int, width: int) -> float:
    """Return the standard error of the mean slope relative to that from the spread, at least 1."""
    n = int(is_kept.sum())
    if n < 2:
        return 1.0
    places = np.flatnonzero(is_kept) * width + column
    covariance = inverse[np.ix_(places, places)]
    total = float(covariance.sum()) / n
    expected = (float(np.trace(covariance)) - total) / (n - 1)
    return math.sqrt(max(1.0, total / expected)) if expected > 0 else 1.0


# --- Correlations over clusters ------------------------------------------------------------------
# Clusters (items) are resampled with replacement together with all their rows; each pair of columns
# uses the rows that have both. A draw is a row of integer weights, and ranks are computed within
# the draw. Draws in which a column is constant are skipped.


ITEM_BOOTSTRAP_METHOD = "bootstrap over items"
VARIANCE_TOLERANCE = 1e-12  # smaller variances, relative to the mean square, are rounding


class ClusterResampling(NamedTuple):
    """Settings of the cluster bootstrap."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


def clustered_pearson(
    x: Floats, y: Floats, clusters: Codes, resampling: ClusterResampling
) -> Estimate:
    """Compute Pearson's r of two columns over rows that have both, with a cluster bootstrap."""
    is_known = ~(np.isnan(x) | np.isnan(y))
    a, b = (side[is_known] for side in (x, y))
    a, b = (column - column.mean() if len(column) else column for column in (a, b))
    columns = np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1)
    sums = group_sums(columns, clusters[is_known])
    return _estimate(
        lambda weight: _correlation_from_sums(weight @ sums), is_known, len(sums), resampling
    )


def clustered_spearman(
    x: Floats, y: Floats, clusters: Codes, resampling: ClusterResampling
) -> Estimate:
    """Compute Spearman's ρ of two columns: Pearson's r of mid-ranks."""
    is_known = ~(np.isnan(x) | np.isnan(y))
    distinct, cluster_index = np.unique(clusters[is_known], return_inverse=True)
    return _estimate(
        lambda weight: _rank_correlation(x[is_known], y[is_known], weight[:, cluster_index]),
        is_known,
        len(distinct),
        resampling,
    )


def centre_within_raters(values: Floats, raters: Codes) -> Floats:
    """Return columns minus the mean of each rater over the rows that have all columns."""
    is_known = ~np.isnan(values).any(axis=1)
    places, size = raters[is_known], int(raters.max(initial=-1)) + 1
    count = np.bincount(places, minlength=size).astype(np.float64)
    centred = np.full(values.shape, np.nan)
    for column, known in enumerate(values[is_known].T):
        mean = ratio(np.bincount(places, known, minlength=size).astype(np.float64), count)
        centred[is_known, column] = known - mean[places]
    return centred


def _correlation_from_sums(sums: Floats) -> Floats:
    """Return correlations by draw, from weighted sums of 1, x, y, x², y² and xy."""
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
    """Return centred mid-ranks of rows that are repeated according to their weights."""
    _, groups = np.unique(values, return_inverse=True)
    group_weights = weight @ (groups[:, None] == np.arange(groups.max(initial=-1) + 1))
    before = np.cumsum(group_weights, axis=1) - group_weights
    middle = group_weights.sum(axis=1, keepdims=True) / 2
    return np.asarray((before + group_weights / 2 - middle)[:, groups])


def _estimate(
    correlate: Callable[[Floats], Floats],
    is_known: Bools,
    clusters: int,
    resampling: ClusterResampling,
) -> Estimate:
    """Return the correlation with the percentile interval of that of resampled clusters."""
    blocks = draw_weight_blocks((clusters,), resampling.draws, resampling.seed)
    draws = [correlate(weight) for (weight,) in blocks]
    low = high = float("nan")
    if clusters >= MIN_CASES_FOR_INTERVAL and draws:
        ends = percentile_interval(np.concatenate(draws)[:, None], resampling.level)
        low, high = float(ends[0][0]), float(ends[1][0])
    value, n = float(correlate(np.ones((1, clusters)))[0]), int(is_known.sum())
    return Estimate(value, low, high, resampling.level, n, len(is_known) - n, ITEM_BOOTSTRAP_METHOD)
