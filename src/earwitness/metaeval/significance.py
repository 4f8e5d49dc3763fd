"""Permutation tests between metrics, and Williams' test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.core import group_values
from earwitness.metaeval.coefficients import (
    SOFT_COEFFICIENT,
    ScoreRatingSample,
    compute_coefficients,
    plain_coefficient,
)
from earwitness.metaeval.contributions import count_swapped_units, swap_contributions
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    evaluate_grid,
    known_means,
    mean_of_defined,
    tie_rounded_means,
)
from earwitness.metaeval.pairwise_accuracy import (
    item_signs,
    soft_accuracy_of_tables,
    soft_contributions,
)
from earwitness.stats.arrays import Bools, Floats, seeded_generator
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

# --- Permutation tests between metrics -----------------------------------------------------------
# Under the null hypothesis that two metrics are equally good, their scores are exchangeable. Both
# metrics are standardized to mean 0 and standard deviation 1, and their scores are swapped for
# random whole items, random whole systems, or random outputs; the difference of the coefficient is
# then recomputed. The swapped unit determines the population to which the result generalizes.
#
# Only swaps of systems keep the nominal false positive rate if metrics have errors that are shared
# by all outputs of a system, as they usually have. Swaps of items or outputs condition on the
# systems, break up these errors, and are significant far too often for metrics that are equally
# good across systems (with 8 systems in about 2 of 5 tests, with more systems more often). They
# test whether metrics differ on these particular systems. So they never stand in for a test that
# has too few systems to be significant.
#
# All pairs of metrics use the same swaps. The difference of a pair is divided by its root mean
# square s over swaps (see below), and p is corrected by the step-down max-T method (Westfall and
# Young 1993): a difference is compared with the largest of its own and all smaller differences in
# each swap. This controls the family-wise error rate whichever pairs differ, and uses the
# correlation between pairs. Unlike Holm's correction it does not multiply p, which with few systems
# has a smallest possible value.
#
# With few swaps and many pairs, every swap gives some pair nearly the largest possible ratio by
# chance. So the square of the divisor is (1 − w) s² + w s̄², with s̄² the mean of s² over pairs, and
# w the number of pairs over the number of swaps, at most 1/4. With 7 systems and 26 metrics, all 25
# clearly worse metrics were called worse than the best in simulations at the item level, instead
# of 6 to 14.
#
# The interval of a difference d contains the differences that the same test, at the same step,
# would not reject, so it excludes 0 if and only if the difference is significant. With n units and
# the critical value c it is d ± c √(((1 − w) (s² − d²/n) + w s̄²) / (1 − c² (1 − w) / n)). If so few
# units cannot give a significant p, there is none.
#
# p = (k + 1) / (n + 1) for k of n swaps with a difference at least as large, so it is never 0. If
# there are no more swaps than requested, all of them are used, and p is their share (including the
# identity). An undefined difference counts as at least as large.


SWAP_UNITS = ("items", "systems", "outputs")
WEIGHTS_IN_MEMORY = 4_000_000  # weights in memory at once
DIFFERENCE_TOLERANCE = 1e-12  # differences within this tolerance are equal
MARGIN_TOLERANCE = 1e-9  # differences this share above a margin are rounding
MAX_SHARED_WEIGHT = 0.25  # largest weight of the mean spread of all pairs


class TestedDifferences(NamedTuple):
    """Corrected p of each pair, and half the width of the interval of its difference."""

    p: Floats
    half_width: Floats


class SwappedDifferences(NamedTuple):
    """Differences of pairs of metrics, as observed and with scores swapped (swaps × pairs).

    ``is_complete`` says that these are all possible swaps, including the identity. ``units`` is the
    number of swapped units.
    """

    observed: Floats
    swapped: Floats
    is_complete: bool
    units: int

    def p_values(self) -> Floats:
        """Return the two-sided p of each pair; NaN if the difference is undefined."""
        sizes = np.abs(self.observed)
        is_larger = ~(np.abs(self.swapped) < sizes - DIFFERENCE_TOLERANCE)
        return np.where(np.isnan(sizes), np.nan, self._share(is_larger.sum(axis=0)))

    def test(self, level: float, *, corrected: bool = True) -> TestedDifferences:
        """Return p, by default corrected for all pairs, and intervals at a confidence level."""
        p, half_width = (np.full(len(self.observed), np.nan) for _ in range(2))
        defined = np.flatnonzero(~np.isnan(self.observed))
        observed, swapped = np.abs(self.observed[defined]), np.abs(self.swapped[:, defined])
        spread = np.sqrt(np.nan_to_num(swapped**2).mean(axis=0))
        is_spread = spread > DIFFERENCE_TOLERANCE
        shared = (spread**2)[is_spread].mean() if is_spread.any() else 0.0
        weight = min(MAX_SHARED_WEIGHT, len(defined) / count_swaps(self.units))
        weight = weight if corrected and len(defined) > 1 else 0.0
        divisor = np.sqrt((1 - weight) * spread**2 + weight * shared)
        unit = np.where(is_spread, divisor, np.inf)
        order = np.argsort(-observed / unit, kind="stable")
        statistics, swaps = (observed / unit)[order], (swapped / unit)[:, order]
        is_undefined, swaps = np.isnan(swaps), np.nan_to_num(swaps)
        if corrected:
            # In each swap, the largest of a difference and of all that were observed to be smaller.
            swaps = np.maximum.accumulate(swaps[:, ::-1], axis=1)[:, ::-1]
        swaps = np.where(is_undefined, np.inf, swaps)
        step_p = self._share((swaps >= statistics - DIFFERENCE_TOLERANCE).sum(axis=0))
        critical = self._critical_values(swaps, 1 - level)
        if corrected:
            step_p = np.maximum.accumulate(step_p)
            undecided = np.flatnonzero(~(step_p < 1 - level))[:1]
            for first in undecided:  # the procedure ends with the first that is not significant
                critical[first:] = critical[first]
        parts = observed[order], spread[order], weight, float(shared)
        width = self._half_widths(*parts, critical)
        is_at_limit = (step_p >= 1 - level) & np.isfinite(critical)  # but for rounding
        p[defined[order]] = step_p
        half_width[defined[order]] = np.where(
            is_at_limit, np.maximum(width, observed[order]), width
        )
        return TestedDifferences(p, half_width)

    def _critical_values(self, swaps: Floats, alpha: float) -> Floats:
        """Return the values above which p is below alpha; infinite if it cannot be."""
        count = len(swaps) + (not self.is_complete)  # swaps with the identity
        larger = math.ceil(alpha * count - 1e-9) - 1
        if larger < 1:
            return np.full(swaps.shape[1], np.inf)
        return np.asarray(np.sort(swaps, axis=0)[count - 1 - larger])

    def _half_widths(
        self,
        observed: Floats,
        spread: Floats,
        weight: float,
        shared: float,
        critical: Floats,
    ) -> Floats:
        """Return half the widths of intervals; NaN without spread, or if no p is significant."""
        about_mean = np.maximum(0, spread**2 - observed**2 / self.units)
        share = critical**2 * (1 - weight) / self.units
        within = np.isfinite(critical) & (share < 1)
        square = np.full(len(observed), np.inf)
        mixed = (1 - weight) * about_mean + weight * shared
        square[within] = critical[within] ** 2 * mixed[within] / (1 - share[within])
        is_defined = np.isfinite(critical) & (spread > DIFFERENCE_TOLERANCE)
        return np.where(is_defined, np.sqrt(square), np.nan)

    def select(self, pairs: Codes) -> SwappedDifferences:
        """Return some of the pairs."""
        return self._replace(observed=self.observed[pairs], swapped=self.swapped[:, pairs])

    def _share(self, larger: Codes) -> Floats:
        swaps = len(self.swapped)
        return np.asarray(larger / swaps if self.is_complete else (larger + 1) / (swaps + 1))


def standardise_scores(scores: Floats) -> Floats:
    """Return scores with mean 0 and standard deviation 1 per metric; constant metrics are 0."""
    flat = scores.reshape(len(scores), -1)
    largest = np.nanmax(np.abs(flat), axis=1, initial=0, keepdims=True)
    flat = flat / np.where(largest > 0, largest, 1)
    deviations = flat - mean_of_defined(flat, axis=1)[:, None]
    sd = np.sqrt(mean_of_defined(deviations**2, axis=1))[:, None]
    unit = np.where(sd > DIFFERENCE_TOLERANCE, sd, np.inf)
    return np.asarray((deviations / unit).reshape(scores.shape))


def swap_metrics(
    scores: Floats,
    people: Floats,
    pairs: Sequence[tuple[int, int]],
    level: str,
    name: str,
    unit: str,
    *,
    permutations: int = 1000,
    seed: int = 0,
    margins: Floats | None = None,
) -> SwappedDifferences:
    """Return the differences of pairs of metrics, with their scores swapped at random.

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
    unit
        Swapped unit: ``items``, ``systems`` or ``outputs``.
    permutations, seed
        Number of random swaps, and their seed.
    margins
        Margins of calibrated ties (metrics × items), for ``acc_23_calibrated``. They are not
        calibrated again for swapped scores.

    Returns
    -------
    SwappedDifferences
        Differences by pair, NaN if undefined. Cells without a score of either metric are excluded
        for both.

    Raises
    ------
    ValueError
        If ``unit`` is unknown.
    """
    if unit not in SWAP_UNITS:
        raise ValueError(f"unit must be one of {', '.join(SWAP_UNITS)}, got {unit}")
    shape, chosen = people.shape, np.array(pairs, np.int64).reshape(-1, 2)
    units = count_swapped_units(shape, unit)
    is_complete = count_swaps(units) <= permutations
    swaps = count_swaps(units) if is_complete else permutations
    observed, swapped = np.full(len(pairs), np.nan), np.full((swaps, len(pairs)), np.nan)
    plain = plain_coefficient(name)
    evaluate = _evaluate_soft if name == SOFT_COEFFICIENT else SWAP_FUNCTIONS[level]
    standardised = standardise_scores(scores)
    limits = None if margins is None else _standardise_margins(margins, scores, standardised)
    for numbers, is_known in _group_pairs(~np.isnan(scores) & ~np.isnan(people), chosen):
        known = np.where(is_known, standardised, np.nan)
        grid = ScoreRatingGrid(known, np.where(is_known, people, np.nan))
        own = chosen[numbers]
        if name == SOFT_COEFFICIENT and unit == "systems":
            linear = soft_contributions(grid, own, item_signs(shape[1], permutations, seed))
            observed[numbers] = linear.sum(axis=1)
        elif name == SOFT_COEFFICIENT:
            linear = np.full((len(own), units), np.nan)
            unswapped = np.zeros((1, 1, 1), bool)
            both = evaluate(_MetricPairs(known[own], is_known, people, plain), unswapped)
            observed[numbers] = (both[0] - both[1])[0]
        else:
            values = evaluate_grid(grid, level, [plain], 0.0 if limits is None else limits).value[0]
            observed[numbers] = values[own[:, 0]] - values[own[:, 1]]
            linear = swap_contributions(grid, own, level, unit, plain, swaps, limits)
        is_linear = ~np.isnan(linear).any(axis=1)
        others = _MetricPairs(known[own[~is_linear]], is_known, people, plain)
        start = 0
        for masks in _swap_masks(shape, unit, swaps, seed, is_complete=is_complete):
            block = slice(start, start + len(masks))
            signs = 1.0 - 2 * masks.reshape(len(masks), -1)
            swapped[block, numbers[is_linear]] = signs @ linear[is_linear].T
            if not is_linear.all():
                both = evaluate(others, masks)
                swapped[block, numbers[~is_linear]] = both[0] - both[1]
            start += len(masks)
    return SwappedDifferences(observed, swapped, is_complete, units)


def _standardise_margins(margins: Floats, scores: Floats, standardised: Floats) -> Floats:
    """Return margins on the scale of standardized scores; differences of their size stay ties."""
    raw, own = (
        np.nanmax(table, axis=(1, 2), initial=-np.inf)
        - np.nanmin(table, axis=(1, 2), initial=np.inf)
        for table in (scores, standardised)
    )
    return np.nan_to_num(margins * ratio(own, raw)[:, None] * (1 + MARGIN_TOLERANCE))


def _group_pairs(is_known: Bools, pairs: Codes) -> Iterator[tuple[Codes, Bools]]:
    """Yield numbers of pairs for which both metrics are known for the same cells, and these."""
    numbers_by_cells = group_values(
        ((is_known[a] & is_known[b]).tobytes(), number) for number, (a, b) in enumerate(pairs)
    )
    for numbers in numbers_by_cells.values():
        a, b = pairs[numbers[0]]
        yield np.array(numbers), is_known[a] & is_known[b]


class _MetricPairs(NamedTuple):
    """Pairs of metrics (pairs × 2 × systems × items) with scores for the same cells."""

    both: Floats
    is_known: Bools
    people: Floats
    name: str


def count_swaps(units: int) -> int:
    """Return the number of distinct swaps; swapping the complement is equivalent."""
    return 1 << max(0, units - 1)


def smallest_p(units: int, permutations: int) -> float:
    """Return the smallest p that a test which swaps this many units can give."""
    return max(1 / count_swaps(units), 1 / (permutations + 1))


def count_needed_units(alpha: float) -> int:
    """Return how many units a test must swap for p to fall below alpha.

    >>> [count_needed_units(alpha) for alpha in (0.1, 0.05, 0.01)]
    [5, 6, 8]
    """
    return next(units for units in count(1) if 1 / count_swaps(units) < alpha)


def _swap_masks(
    shape: tuple[int, int], unit: str, swaps: int, seed: int, *, is_complete: bool
) -> Iterator[Bools]:
    """Yield swaps in blocks: swaps × systems × items, 1 where an axis is shared."""
    size = {"items": (1, shape[1]), "systems": (shape[0], 1), "outputs": shape}[unit]
    rows = max(1, WEIGHTS_IN_MEMORY // max(1, 4 * shape[0] * shape[1]))
    rng = seeded_generator((seed, SWAP_UNITS.index(unit)))
    for start in range(0, swaps, rows):
        stop = min(swaps, start + rows)
        if is_complete:
            numbers = np.arange(start, stop)[:, None]
            masks = (numbers >> np.arange(size[0] * size[1]) & 1).astype(bool)
            yield masks.reshape(-1, *size)
        else:
            yield rng.random((stop - start, *size)) < 0.5


def _evaluate_systems(metric_pairs: _MetricPairs, masks: Bools) -> Floats:
    """Return 2 × permutations × pairs: coefficients of system means."""
    count = metric_pairs.is_known.sum(axis=1).astype(np.float64)
    kept = count > 0
    cells = np.where(metric_pairs.is_known, metric_pairs.both, 0)
    totals = cells.sum(axis=3)
    people = known_means(metric_pairs.people, metric_pairs.is_known)[kept]
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
    people = np.where(metric_pairs.is_known, metric_pairs.people, 0).T
    is_known = metric_pairs.is_known.T
    is_whole = masks.shape[1] == 1  # whole items are swapped, and with them their coefficients
    moved = np.zeros((1, 1, is_known.shape[1]), bool) if is_whole else masks.transpose(2, 0, 1)
    chosen = np.broadcast_to(moved, (len(is_known), *moved.shape[1:]))
    coefficients = _evaluate_swaps(scores, people, chosen, metric_pairs.name, is_known)
    if not is_whole:
        return mean_of_defined(coefficients, axis=1)
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


def _evaluate_soft(metric_pairs: _MetricPairs, masks: Bools) -> Floats:
    """Return 2 × permutations × pairs: soft pairwise accuracy by its normal approximation."""
    is_known, people = metric_pairs.is_known, metric_pairs.people
    both = np.where(is_known, metric_pairs.both, 0)
    accuracy = [
        soft_accuracy_of_tables(
            np.where(masks, pair[1 - side], pair[side]), np.where(is_known, people, 0), is_known
        )
        for side in (0, 1)
        for pair in both
    ]
    return np.array(accuracy).reshape(2, len(both), len(masks)).swapaxes(1, 2)


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


SWAP_FUNCTIONS = {"system": _evaluate_systems, "item": _evaluate_items, "global": _evaluate_cells}


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

    sides = (np.asarray(side, np.float64) for side in (first, second, between, n))
    a, b, c, n = np.broadcast_arrays(*sides)
    determinant = 1 - a * a - b * b - c * c + 2 * a * b * c
    largest = np.maximum(np.maximum(np.abs(a), np.abs(b)), np.abs(c))
    is_possible = (determinant >= -ROUNDING_TOLERANCE) & (largest <= 1)  # positive semidefinite
    determinant = np.where(is_possible, np.maximum(0, determinant), np.nan)
    freedom = np.where(n > 3, n - 3, np.nan)
    variance = 2 * (n - 1) / freedom * determinant + ((a + b) / 2) ** 2 * (1 - c) ** 3
    error = np.sqrt(np.where(variance > ROUNDING_TOLERANCE, variance, 0))
    t = ratio((a - b) * np.sqrt(np.maximum(0, (n - 1) * (1 + c))), error)
    is_equal = (variance <= ROUNDING_TOLERANCE) & (np.abs(a - b) <= ROUNDING_TOLERANCE)
    return Difference(t, np.where(is_equal, 1.0, 2 * stdtr(freedom, -np.abs(t))))
