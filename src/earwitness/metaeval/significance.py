"""Permutation tests, Williams' test, and agreement expected by chance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.metaeval.coefficients import ScoreRatingSample, compute_coefficients
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    StudyDraws,
    evaluate_draws,
    group_by_known_cells,
    tie_rounded_means,
)
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Permutation tests between metrics -----------------------------------------------------------
# Under the null hypothesis that two metrics are equally good, their scores are exchangeable. Both
# metrics are standardized to mean 0 and standard deviation 1, and their scores are swapped for
# random whole inputs (items), random whole systems, or (both) random cells; the difference of the
# coefficient is then recomputed. The swapped unit determines the population to which the result
# generalizes: other inputs, other systems, or both.
#
# Only swaps of systems keep the nominal false positive rate if metrics have errors that are shared
# by all outputs of a system, as they usually have. Swaps of inputs or both condition on the
# systems, break up these errors, and are significant far too often for metrics that are equally
# good across systems (with 8 systems in about 2 of 5 tests, with more systems more often). They
# test whether metrics differ on these particular systems.
#
# p = (k + 1) / (n + 1) for k of n swaps with a difference at least as large, so it is never 0. If
# there are no more swaps of systems than requested, all of them are used, and p is their share
# (including the identity). An undefined difference counts as at least as large.


SWAP_UNITS = ("inputs", "systems", "both")
WEIGHTS_IN_MEMORY = 4_000_000  # weights in memory at once
DIFFERENCE_TOLERANCE = 1e-12  # differences within this tolerance are equal


def standardise_scores(scores: Floats) -> Floats:
    """Return scores with mean 0 and standard deviation 1 per metric; constant metrics are 0."""
    flat = scores.reshape(len(scores), -1)
    largest = np.nanmax(np.abs(flat), axis=1, initial=0, keepdims=True)
    flat = flat / np.where(largest > 0, largest, 1)
    is_known = ~np.isnan(flat)
    count = is_known.sum(axis=1, keepdims=True).astype(np.float64)
    mean = ratio(np.where(is_known, flat, 0).sum(axis=1, keepdims=True), count)
    deviations = flat - mean
    sd = np.sqrt(ratio(np.where(is_known, deviations**2, 0).sum(axis=1, keepdims=True), count))
    unit = np.where(sd > DIFFERENCE_TOLERANCE, sd, np.inf)
    return np.asarray((deviations / unit).reshape(scores.shape))


def permutation_p(
    scores: Floats,
    people: Floats,
    pairs: Sequence[tuple[int, int]],
    level: str,
    name: str,
    what: str,
    *,
    permutations: int = 1000,
    seed: int = 0,
) -> Floats:
    """Return the two-sided p of a permutation test for each pair of metrics.

    Parameters
    ----------
    scores
        Scores (metrics × systems × items).
    people
        Mean ratings (systems × items).
    pairs
        Pairs of metrics, by index.
    level, name
        Level and coefficient.
    what
        Swapped unit: ``inputs``, ``systems`` or ``both``.
    permutations, seed
        Number of random swaps, and their seed.

    Returns
    -------
    ndarray
        p by pair, NaN if the difference is undefined. Cells without a score of either metric are
        excluded for both.

    Raises
    ------
    ValueError
        If ``what`` is unknown.
    """
    if what not in SWAP_UNITS:
        raise ValueError(f"what must be one of {', '.join(SWAP_UNITS)}, got {what}")
    p_values = np.full(len(pairs), np.nan)
    pair_scores = standardise_scores(scores)[np.array(pairs, np.int64).reshape(-1, 2)]
    for numbers, is_known in group_by_known_cells(pair_scores.sum(axis=1)):
        pairs_known = _MetricPairs(pair_scores[numbers], is_known & ~np.isnan(people), people, name)
        p_values[numbers] = _compute_swap_p(pairs_known, level, what, permutations, seed)
    return p_values


class _MetricPairs(NamedTuple):
    """Pairs of metrics (pairs × 2 × systems × items) with scores for the same cells."""

    both: Floats
    is_known: Bools
    people: Floats
    name: str


def _compute_swap_p(
    metric_pairs: _MetricPairs, level: str, unit: str, permutations: int, seed: int
) -> Floats:
    shape = metric_pairs.is_known.shape
    evaluate = {"system": _evaluate_systems, "item": _evaluate_items, "global": _evaluate_cells}[
        level
    ]
    observed = _absolute_difference(evaluate(metric_pairs, np.zeros((1, *shape), bool)))
    larger = np.zeros(len(metric_pairs.both))
    is_exhaustive = unit == "systems" and count_swaps(shape[0]) <= permutations
    for masks in (
        _all_masks(shape[0]) if is_exhaustive else _random_masks(shape, unit, permutations, seed)
    ):
        larger += (
            ~(_absolute_difference(evaluate(metric_pairs, masks)) < observed - DIFFERENCE_TOLERANCE)
        ).sum(axis=0)
    p = larger / count_swaps(shape[0]) if is_exhaustive else (larger + 1) / (permutations + 1)
    return np.where(np.isnan(observed[0]), np.nan, p)


def count_swaps(systems: int) -> int:
    """Return the number of distinct swaps of systems; swapping the complement is equivalent."""
    return 1 << max(0, systems - 1)


def smallest_p(systems: int, unit: str, permutations: int) -> float:
    """Return the smallest p that a test can give."""
    if unit == "systems" and count_swaps(systems) <= permutations:
        return 1 / count_swaps(systems)
    return 1 / (permutations + 1)


def _all_masks(systems: int) -> Iterator[Bools]:
    """Yield all swaps of systems, including the identity."""
    numbers = np.arange(count_swaps(systems))[:, None]
    yield (numbers >> np.arange(systems) & 1).astype(bool)[:, :, None]


def _absolute_difference(both: Floats) -> Floats:
    return np.asarray(np.abs(both[0] - both[1]))


def _random_masks(
    shape: tuple[int, int], unit: str, permutations: int, seed: int
) -> Iterator[Bools]:
    """Yield random swaps in blocks: permutations × systems × items, 1 where an axis is shared."""
    rng = np.random.Generator(np.random.PCG64((seed, SWAP_UNITS.index(unit))))
    rows = max(1, WEIGHTS_IN_MEMORY // max(1, 4 * shape[0] * shape[1]))
    size = {"inputs": (1, shape[1]), "systems": (shape[0], 1), "both": shape}[unit]
    for start in range(0, permutations, rows):
        yield rng.random((min(rows, permutations - start), *size)) < 0.5


def _evaluate_systems(metric_pairs: _MetricPairs, masks: Bools) -> Floats:
    """Return 2 × permutations × pairs: coefficients of system means."""
    count = metric_pairs.is_known.sum(axis=1).astype(np.float64)
    kept = count > 0
    cells = np.where(metric_pairs.is_known, metric_pairs.both, 0)
    totals = cells.sum(axis=3)
    people_cells = np.where(metric_pairs.is_known, metric_pairs.people, 0)
    people = tie_rounded_means(
        ratio(people_cells.sum(axis=1), count), float(np.abs(people_cells).max(initial=0))
    )[kept]
    largest = float(np.abs(cells).max(initial=0))
    if masks.shape[2] == 1:
        means = tie_rounded_means(totals / np.maximum(count, 1), largest)[None, ..., kept]
        turned = np.broadcast_to(
            masks[:, :, 0], (len(masks), len(kept))
        )  # one item swaps all systems
        return _evaluate_swaps(means, people[None], turned[None, :, kept], metric_pairs.name)[:, 0]
    turned = masks.swapaxes(0, 1).astype(np.float64)
    coefficients = []
    for pair_cells, total in zip(cells, totals, strict=True):
        moved = (turned @ (pair_cells[1] - pair_cells[0])[:, :, None])[..., 0].T
        sums = np.stack([total[0] + moved, total[1] - moved])
        means = tie_rounded_means(sums / np.maximum(count, 1), largest)
        rows = means[:, :, None, kept].reshape(-1, 1, len(people))
        sample = ScoreRatingSample(rows, np.broadcast_to(people, rows.shape), np.ones(rows.shape))
        coefficients.append(compute_coefficients(sample, [metric_pairs.name])[0].reshape(2, -1))
    return np.stack(coefficients, axis=2)


def _evaluate_items(metric_pairs: _MetricPairs, masks: Bools) -> Floats:
    """Return 2 × permutations × pairs: coefficients averaged over items."""
    scores = np.where(metric_pairs.is_known, metric_pairs.both, 0).transpose(3, 0, 1, 2)
    people, is_known = (
        np.where(metric_pairs.is_known, metric_pairs.people, 0).T,
        metric_pairs.is_known.T,
    )
    if masks.shape[1] > 1:
        chosen = np.broadcast_to(masks.transpose(2, 0, 1), (len(is_known), *masks.shape[:2]))
        coefficients = _evaluate_swaps(scores, people, chosen, metric_pairs.name, is_known)
        defined = ~np.isnan(coefficients)
        return ratio(np.where(defined, coefficients, 0).sum(axis=1), defined.sum(axis=1) * 1.0)
    # Whole items are swapped, and with them their coefficients.
    coefficients = _evaluate_swaps(
        scores,
        people,
        np.zeros((len(is_known), 1, is_known.shape[1]), bool),
        metric_pairs.name,
        is_known,
    )
    defined = ~np.isnan(coefficients)
    turned = np.stack([masks[:, 0], ~masks[:, 0]]).astype(np.float64)
    sums = (
        (1 - turned) @ table[0, :, 0] + turned @ table[1, :, 0]
        for table in (np.where(defined, coefficients, 0), defined.astype(np.float64))
    )
    return ratio(*sums)


def _evaluate_cells(metric_pairs: _MetricPairs, masks: Bools) -> Floats:
    """Return 2 × permutations × pairs: coefficients of all cells."""
    is_known = metric_pairs.is_known
    cells = np.broadcast_to(masks, (len(masks), *is_known.shape))[None, :, is_known]
    return _evaluate_swaps(
        metric_pairs.both[None, :, :, is_known],
        metric_pairs.people[None, is_known],
        cells,
        metric_pairs.name,
    )[:, 0]


def _evaluate_swaps(
    scores: Floats, people: Floats, masks: Bools, name: str, is_known: Bools | None = None
) -> Floats:
    """Return 2 × groups × permutations × pairs: coefficients of both metrics after swapping.

    ``scores`` are groups × pairs × 2 × units. Scores of both metrics are separate units, and a swap
    gives each of them weight 1 or 0.
    """
    groups, rows, _, things = scores.shape
    first = np.concatenate([~masks, masks], axis=2)
    weights = np.concatenate([first, ~first], axis=1).astype(np.float64)
    if is_known is not None:
        weights *= np.tile(is_known, 2)[:, None]
    sample = ScoreRatingSample(
        scores.reshape(groups, rows, 2 * things), np.tile(people, 2)[:, None], weights
    )
    coefficients = compute_coefficients(sample, [name])[0].reshape(groups, 2, -1, rows)
    return np.asarray(coefficients.swapaxes(0, 1))


# --- Tests of dependent correlations -------------------------------------------------------------
# The correlations of two metrics with the same ratings are dependent. Williams' t (in Steiger's
# formulation, n − 3 degrees of freedom) accounts for this: it uses both correlations with the
# ratings and the correlation between the metrics.
#
# All p are two-sided, and all arguments may be arrays that broadcast. The result is NaN if
# undefined: too few points, a correlation outside −1 … 1, or three correlations that are not
# positive semidefinite (as they may be based on different points). Without variance, as for two
# identical metrics, the statistic is undefined, and p is 1 if the correlations are equal.


ROUNDING_TOLERANCE = 1e-12  # smaller differences and determinants are rounding


class Difference(NamedTuple):
    """Test statistic, positive if the first is larger, and two-sided p."""

    statistic: Floats
    p: Floats


def williams_test(
    first: ArrayLike, second: ArrayLike, between: ArrayLike, n: ArrayLike
) -> Difference:
    """Compute Williams' t for two dependent correlations.

    Parameters
    ----------
    first, second
        Correlations of two metrics with the ratings.
    between
        Correlation between the two metrics.
    n
        Number of points.

    Returns
    -------
    Difference
        t with n − 3 degrees of freedom, and two-sided p.

    References
    ----------
    Williams (1959). The comparison of regression variables. JRSS B 21.
    Steiger (1980). Tests for comparing elements of a correlation matrix. Psychological Bulletin 87.

    Examples
    --------
    >>> [round(float(x), 4) for x in williams_test(0.3, 0.4, 0.5, 100)]
    [-1.0767, 0.2843]
    """
    from scipy.special import stdtr

    a, b, c, n = _broadcast_floats(first, second, between, n)
    determinant = _determinant(a, b, c)
    freedom = np.where(n > 3, n - 3, np.nan)
    variance = 2 * (n - 1) / freedom * determinant + ((a + b) / 2) ** 2 * (1 - c) ** 3
    t = _standardised_difference((a - b) * np.sqrt(np.maximum(0, (n - 1) * (1 + c))), variance)
    return Difference(t, _mask_undefined_p(2 * stdtr(freedom, -np.abs(t)), variance, a, b))


def _broadcast_floats(*arrays: ArrayLike) -> list[Floats]:
    return list(np.broadcast_arrays(*(np.asarray(array, np.float64) for array in arrays)))


def _determinant(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return the determinant of the correlation matrix; NaN if it is not positive semidefinite."""
    determinant = 1 - a * a - b * b - c * c + 2 * a * b * c
    possible = (determinant >= -ROUNDING_TOLERANCE) & (
        np.maximum(np.maximum(np.abs(a), np.abs(b)), np.abs(c)) <= 1
    )
    return np.where(possible, np.maximum(0, determinant), np.nan)


def _standardised_difference(difference: Floats, variance: Floats) -> Floats:
    """Return the difference over its standard error; NaN without variance."""
    return ratio(difference, np.sqrt(np.where(variance > ROUNDING_TOLERANCE, variance, 0)))


def _mask_undefined_p(p: Floats, variance: Floats, first: Floats, second: Floats) -> Floats:
    """Return p, replaced by 1 if there is no variance and both correlations are equal."""
    still: Bools = (variance <= ROUNDING_TOLERANCE) & (np.abs(first - second) <= ROUNDING_TOLERANCE)
    return np.where(still, 1.0, p)


# --- Agreement expected by chance ----------------------------------------------------------------
# Systems are permuted in the ratings: the ratings of one system, on all items, are compared with
# the scores of another. Any agreement is then due to chance, whatever a metric favours and however
# its scores of a system are correlated. (Independent noise for each cell would not do at the item
# level: metrics that favour systems agree, or disagree, with the ratings in all items at once.)
#
# At the global level items are permuted as well: a metric that predicts which items are hard agrees
# with the ratings there, which is not chance.
#
# Draws alternate between all metrics, so that the distribution is that of metrics like these.


NUMBERS_IN_MEMORY = 1_000_000  # numbers in memory at once


def chance_coefficients(
    grid: ScoreRatingGrid, level: str, names: Sequence[str], draws: int, seed: int
) -> Floats:
    """Return coefficients of permuted ratings: coefficients × draws."""
    metrics, systems, items = grid.scores.shape
    rng = np.random.Generator(np.random.PCG64((seed, 9)))
    orders = np.argsort(rng.random((draws, systems)), axis=1, kind="stable")
    columns = np.argsort(rng.random((draws, items)), axis=1, kind="stable")
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * systems * systems))
    coefficients = np.full((len(names), draws), np.nan)
    for metric in range(metrics):
        metric_draws = np.arange(metric, draws, metrics)
        for start in range(0, len(metric_draws), rows):
            block = metric_draws[start : start + rows]
            if level == "global":
                coefficients[:, block] = _deal_cells(
                    grid, metric, (orders[block], columns[block]), names
                )
                continue
            weights = np.ones((len(block), systems)), np.ones((len(block), items))
            study_draws = StudyDraws(*weights, grid.people[orders[block]])
            coefficients[:, block] = evaluate_draws(
                level, grid.scores[metric, None], study_draws, names
            )[0][:, :, 0]
    return coefficients


def _deal_cells(
    grid: ScoreRatingGrid, metric: int, orders: tuple[Codes, Codes], names: Sequence[str]
) -> Floats:
    """Return coefficients × draws over all cells, with scores permuted."""
    _, systems, items = grid.scores.shape
    scores = grid.scores[metric][orders[0][:, :, None], orders[1][:, None, :]]
    once = StudyDraws(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    return evaluate_draws("global", scores, once, names)[0][:, 0]
