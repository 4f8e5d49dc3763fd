"""Pearson, Spearman, Kendall and pairwise coefficients, weighted by draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from earwitness.metaeval.pair_counts import (
    PairCounts,
    Signs,
    SortedUnits,
    count_pairs,
    pair_index,
    pair_products,
    pair_signs,
    run_starts,
    sort_units,
    sum_over_pairs,
    units_first,
)
from earwitness.stats.arrays import Floats
from earwitness.stats.significance import ratio

# --- Weighted correlations -----------------------------------------------------------------------
# Tables are as in ``count_pairs``: groups × rows × units, results groups × draws × metrics. A unit
# with an integer weight counts as that many equal units: ranks are those within the drawn sample.
#
# Ranks are doubled and centred: the weight below a unit minus the weight above it; ties get the
# mean of their ranks. A correlation is undefined if either side has fewer than two distinct values.


MAX_THINGS_ALL_PAIRS = 64  # largest group whose pairs are all enumerated
CANCELLATION = 1e-4  # share of a sum of squares below which their difference has lost digits
SINGLE_PRECISION_LIMIT = 2.0**23  # smaller integer sums are exact in single precision


def compute_weighted_pearson(metrics: Floats, people: Floats, weights: Floats) -> Floats:
    """Return Pearson's r from weighted means; values are centred first to limit rounding errors."""
    x, y = _centre_rows(metrics), _centre_rows(people)
    total = weights.sum(axis=2, keepdims=True)
    shares = weights / np.where(total > 0, total, 1)
    shares_of_y = shares * y
    mean_y = shares_of_y.sum(axis=2)[:, None]
    squares_y = (shares_of_y * y).sum(axis=2)[:, None]
    spread_y = squares_y - mean_y**2
    columns = np.swapaxes(shares, 1, 2)
    mean_x, squares_x = x @ columns, (x * x) @ columns
    spread_x = squares_x - mean_x * mean_x
    correlations = x @ np.swapaxes(shares_of_y, 1, 2)
    correlations -= mean_x * mean_y
    has_cancelled = spread_x < CANCELLATION * squares_x
    has_cancelled |= spread_y < CANCELLATION * squares_y
    _divide_by_spreads(correlations, spread_x, spread_y)
    groups, rows, draws = np.nonzero(has_cancelled)
    shared_draws = draws if y.shape[1] > 1 else np.zeros_like(draws)
    correlations[has_cancelled] = _two_pass_pearson(
        x[groups, rows], y[groups, shared_draws], weights[groups, draws]
    )
    return correlations.swapaxes(1, 2)


def _two_pass_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Correlations of rows from deviations, where differences of means would lose digits."""
    total = weights.sum(axis=1, keepdims=True)
    x, y = (
        values - ratio((weights * values).sum(axis=1, keepdims=True), total) for values in (x, y)
    )
    weighted_x = weights * x
    correlations = (weighted_x * y).sum(axis=1)
    _divide_by_spreads(correlations, (weighted_x * x).sum(axis=1), (weights * y * y).sum(axis=1))
    return np.asarray(correlations)


def _centre_rows(values: Floats) -> Floats:
    """Return each row relative to the middle of its range, in units of half its range."""
    if not values.shape[2]:
        return values
    high, low = values.max(axis=2, keepdims=True), values.min(axis=2, keepdims=True)
    half_range = (high - low) / 2
    return np.asarray((values - (high + low) / 2) / np.where(half_range > 0, half_range, 1))


def _divide_by_spreads(shared: Floats, spread_x: Floats, spread_y: Floats) -> None:
    """Turn sums of products into correlations, limited to −1 … 1; NaN without spread."""
    shared /= np.sqrt(_positive_or_nan(spread_x) * _positive_or_nan(spread_y))
    np.minimum(shared, 1, out=shared)
    np.maximum(shared, -1, out=shared)


def _positive_or_nan(values: Floats) -> Floats:
    return np.where(values > 0, values, np.nan)


def _spearman_by_pairs(metrics: Floats, signs: Signs, weights: Floats) -> Floats:
    """Return Spearman's ρ from all pairs of units; ``signs`` are those of the ratings.

    With w the weights, r the ranks of the ratings, and s = 1 if the metric puts b above a, −1 if
    below, the sum of products of both ranks is that of w(a) w(b) (r(b) − r(a)) s over all pairs.
    """
    total = weights.sum(axis=2)
    is_small = total.max(initial=0) ** 3 < SINGLE_PRECISION_LIMIT
    units = units_first(weights.astype(np.float32 if is_small else np.float64))
    index, (is_earlier, is_later) = pair_index(len(units)), _pair_members(len(units))
    shape = len(signs), units[0].size
    above = is_later @ (units[index.earlier] * signs).reshape(shape)
    above -= is_earlier @ (units[index.later] * signs).reshape(shape)
    people_ranks = np.asarray(above.reshape(units.shape), units.dtype)
    spread_y = np.einsum("ngd,ngd,ngd->gd", units, people_ranks, people_ranks)[:, :, None]
    rank_differences = pair_products(units)
    rank_differences *= people_ranks[index.later] - people_ranks[index.earlier]
    order = pair_signs(metrics)
    correlations = sum_over_pairs(order.astype(units.dtype), rank_differences)
    cubes = (weights * weights * weights).sum(axis=2)[:, :, None]
    has_ties = (order == 0).any(axis=(0, 1))
    if has_ties.any():
        own = metrics[:, has_ties]
        is_tied = (own[:, :, :, None] == own[:, :, None, :]).astype(units.dtype)
        tied_weights = is_tied @ units.transpose(1, 0, 2)[:, None]
        cubes = np.repeat(cubes, metrics.shape[1], axis=2)
        cubes[:, :, has_ties] = np.einsum("ngd,grnd,grnd->gdr", units, tied_weights, tied_weights)
    spread_x = _sum_of_squared_ranks(total[:, :, None], cubes)
    _divide_by_spreads(correlations, spread_x, spread_y.astype(np.float64))
    return correlations


@lru_cache(maxsize=4)
def _pair_members(things: int) -> list[NDArray[np.float32]]:
    """Return which unit is the earlier one of each pair, and which the later, by unit and pair."""
    units = np.arange(things)[:, None]
    return [(units == side).astype(np.float32) for side in pair_index(things)]


def _sum_of_squared_ranks(total: Floats, cubes: Floats) -> Floats:
    """Return the sum from the total weight and the sum of cubed weights of tied units."""
    return np.asarray((total**3 - cubes) / 3)


def _spearman_by_sorting(metrics: Floats, people: Floats, weights: Floats) -> Floats:
    """Return Spearman's ρ by group and draw, with ranks from cumulative weights."""
    groups, rows, _ = metrics.shape
    draws = weights.shape[1]
    correlations = np.empty((groups, draws, rows))
    for group in range(groups):
        sorted_units = sort_units(metrics[group])
        for draw in range(draws):
            draw_weights = weights[group, draw]
            codes = np.unique(people[group, draw % people.shape[1]], return_inverse=True)[1]
            weight_by_code = np.bincount(codes, draw_weights)
            cumulative = np.cumsum(weight_by_code)
            people_ranks = (2 * cumulative - weight_by_code - cumulative[-1])[codes]
            weighted_ranks, total = draw_weights * people_ranks, draw_weights.sum()
            ranks, cubes = _sorted_ranks(sorted_units, draw_weights)
            shared = np.einsum("rn,rn->r", ranks, weighted_ranks[sorted_units.orders])
            spread_y = np.asarray(weighted_ranks @ people_ranks)
            _divide_by_spreads(shared, _sum_of_squared_ranks(total, cubes), spread_y)
            correlations[group, draw] = shared
    return correlations


def _sorted_ranks(sorted_units: SortedUnits, weights: Floats) -> tuple[Floats, Floats]:
    """Return ranks of units in order of each metric, and sums of cubed weights of tied units.

    Ranks are not centred: those of the ratings are, so that a constant has no effect.
    """
    orders, is_tied, runs, rows = sorted_units
    sorted_weights = weights[orders]
    ranks = 2 * np.cumsum(sorted_weights, axis=1) - sorted_weights
    cubes = np.full(len(orders), (weights**3).sum())
    places = np.flatnonzero(is_tied)
    if len(places):
        starts, run_weights = run_starts(runs), sorted_weights.ravel()[places]
        totals = np.add.reduceat(run_weights, starts)
        first = places[starts]
        run_ranks = ranks.ravel()[first] - sorted_weights.ravel()[first] + totals
        ranks.ravel()[places] = np.repeat(run_ranks, np.diff(np.append(starts, len(places))))
        cubes += np.bincount(rows[starts], totals**3, minlength=len(orders))
        cubes -= np.bincount(rows, run_weights**3, minlength=len(orders))
    return ranks, cubes


def count_different_values(values: Floats, weights: Floats) -> Floats:
    """Return the number of distinct values with a weight: groups × draws × rows of values.

    If no row has ties, there is one column for all of them.
    """
    ordered = np.sort(values, axis=2)
    has_ties = ~(ordered[:, :, 1:] > ordered[:, :, :-1]).all(axis=(0, 2))
    counts: Floats = (weights > 0).sum(axis=2, dtype=np.float64)[:, :, None]
    if not has_ties.any():
        return counts
    counts = np.repeat(counts, values.shape[1], axis=2)
    if values.shape[2] <= MAX_THINGS_ALL_PAIRS:
        own = values[:, has_ties]  # present units that no earlier present unit equals
        is_equal = np.tril(own[:, :, :, None] == own[:, :, None, :], -1).astype(np.float32)
        present = (weights > 0).swapaxes(1, 2)[:, None].astype(np.float32)
        is_first = (is_equal @ present == 0) & (present > 0)
        counts[:, :, has_ties] = is_first.sum(axis=2, dtype=np.float64).swapaxes(1, 2)
        return counts
    for row in np.flatnonzero(has_ties):
        counts[:, :, row] = count_different_per_draw(values[:, [row]], weights)
    return counts


def count_different_per_draw(values: Floats, weights: Floats) -> Floats:
    """Return the number of distinct values with a weight, for values that may differ by draw."""
    values, present = np.broadcast_arrays(values, weights > 0)
    ordered = np.sort(np.where(present, values, np.nan), axis=2)
    steps = (ordered[:, :, 1:] > ordered[:, :, :-1]).sum(axis=2)
    return np.asarray(present.any(axis=2) + steps, np.float64)


# --- Table of coefficients -----------------------------------------------------------------------
# All are computed from one ``ScoreRatingSample``, which counts pairs once for all of them.
# Undefined coefficients are NaN.


LEVELS = ("system", "item", "global")


@dataclass(frozen=True)
class ScoreRatingSample:
    """Scores (groups × metrics × units), ratings and weights (groups × draws × units).

    Ratings may have one row, shared by all draws. Unknown units have weight 0; their value must be
    a number but has no effect. ``margins`` is one number, or groups × metrics: a score difference
    of at most this much is a tie. Margins affect only counts of pairs, not correlations.
    ``controls`` is the number of the last metrics, with which the correlation of all others
    is removed.
    """

    scores: Floats
    people: Floats
    weights: Floats
    margins: Floats | float = 0.0
    controls: int = 0

    @cached_property
    def sides(self) -> list[ScoreRatingSample]:
        """This sample, and those with each control in the place of the ratings."""
        controls = np.arange(self.scores.shape[1])[self.scores.shape[1] - self.controls :]
        return [self, *(replace(self, people=self.scores[:, [number]]) for number in controls)]

    @cached_property
    def pairs(self) -> PairCounts:
        """Weights of pairs by kind."""
        return count_pairs(self.scores, self.people, self.weights, self.margins, self.signs)

    @cached_property
    def signs(self) -> Signs | None:
        """Signs of all pairs of ratings, or None if there are too many units."""
        return pair_signs(self.people) if self.people.shape[2] <= MAX_THINGS_ALL_PAIRS else None

    @cached_property
    def things(self) -> Floats:
        """Number of units with a weight: groups × draws."""
        return np.asarray((self.weights > 0).sum(axis=2, dtype=np.float64))

    @cached_property
    def different_values(self) -> Floats:
        """The smaller number of distinct values, of scores or of ratings."""
        people = count_different_per_draw(self.people, self.weights)
        return np.minimum(count_different_values(self.scores, self.weights), people[:, :, None])


def pearson(sample: ScoreRatingSample) -> Floats:
    """Return Pearson's r."""
    correlations = compute_weighted_pearson(sample.scores, sample.people, sample.weights)
    return _mask_constant(correlations, sample)


def spearman(sample: ScoreRatingSample) -> Floats:
    """Return Spearman's ρ: Pearson's r of midranks."""
    if sample.signs is None:
        correlations = _spearman_by_sorting(sample.scores, sample.people, sample.weights)
    else:
        correlations = _spearman_by_pairs(sample.scores, sample.signs, sample.weights)
    return _mask_constant(correlations, sample)


def _mask_constant(correlations: Floats, sample: ScoreRatingSample) -> Floats:
    """Return NaN where scores or ratings do not vary."""
    np.copyto(correlations, np.nan, where=sample.different_values < 2)
    return correlations


def kendall_b(sample: ScoreRatingSample) -> Floats:
    """Return Kendall's τ-b: (C − D) over the geometric mean of pairs untied on either side."""
    return _divide(sample.pairs.net, PAIR_DENOMINATORS["kendall_b"](sample))


def kendall_c(sample: ScoreRatingSample) -> Floats:
    """Return Stuart's τ-c: 2 (C − D) / (n² (m − 1) / m) for m, the fewer distinct values."""
    return _divide(sample.pairs.net, PAIR_DENOMINATORS["kendall_c"](sample))


def _stuart_denominator(sample: ScoreRatingSample) -> Floats:
    distinct, n = sample.different_values, sample.weights.sum(axis=2)[:, :, None]
    return np.asarray(n**2 * np.maximum(distinct - 1, 0) / np.maximum(distinct, 1) / 2)


def acc_23(sample: ScoreRatingSample) -> Floats:
    """Return (C + T_both) / all pairs."""
    pairs = sample.pairs
    return _divide(pairs.concordant + pairs.tied_both, pairs.all)


def tau_23(sample: ScoreRatingSample) -> Floats:
    """Return (C + T_both − D − T_metric − T_people) / all pairs."""
    return 2 * acc_23(sample) - 1


def pairwise_accuracy(sample: ScoreRatingSample) -> Floats:
    """Return C / (C + D + T_metric)."""
    return _divide(sample.pairs.concordant, sample.pairs.apart_people)


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    """Return the ratio, NaN unless the denominator is positive."""
    return numerator / _positive_or_nan(denominator)


PAIR_DENOMINATORS: dict[str, Callable[[ScoreRatingSample], Floats]] = {
    "kendall_b": lambda sample: np.sqrt(sample.pairs.apart_metric * sample.pairs.apart_people),
    "kendall_c": _stuart_denominator,
    "tau_23": lambda sample: sample.pairs.all,
    "acc_23": lambda sample: sample.pairs.all,
    "pairwise_accuracy": lambda sample: sample.pairs.apart_people,
}


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its lowest value and its levels; the highest value is 1."""

    value: Callable[[ScoreRatingSample], Floats]
    low: float = -1.0
    levels: tuple[str, ...] = LEVELS

    @property
    def middle(self) -> float:
        """Middle of the range, the value by chance without ties."""
        return (self.low + 1) / 2

    def scale(self, values: Floats) -> Floats:
        """Return values on a scale from −1 to 1."""
        return (values - self.middle) / (1 - self.middle)

    def unscale(self, scaled: Floats) -> Floats:
        """Return values from those on a scale from −1 to 1."""
        return self.middle + scaled * (1 - self.middle)


COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": Coefficient(pearson),
    "spearman": Coefficient(spearman),
    "kendall_b": Coefficient(kendall_b),
    "kendall_c": Coefficient(kendall_c),
    "tau_23": Coefficient(tau_23),
    "acc_23": Coefficient(acc_23, 0.0),
    "pairwise_accuracy": Coefficient(pairwise_accuracy, 0.0, ("system",)),
}


CALIBRATED_COEFFICIENT = "acc_23_calibrated"
SOFT_COEFFICIENT = "soft_pairwise_accuracy"
REFINED_COEFFICIENTS = {  # coefficients of ``pairwise_accuracy``, and the plain one they refine
    CALIBRATED_COEFFICIENT: "acc_23",
    SOFT_COEFFICIENT: "pairwise_accuracy",
}
REFINED_LEVELS = {CALIBRATED_COEFFICIENT: ("item",), SOFT_COEFFICIENT: ("system",)}
RANKING_COEFFICIENTS = (*COEFFICIENTS, *REFINED_COEFFICIENTS)
PARTIAL_COEFFICIENTS = {
    "pearson": "partial_pearson",
    "spearman": "partial_spearman",
    "kendall_b": "partial_kendall",
}


def plain_coefficient(name: str) -> str:
    """Return a coefficient with the same range that scores and mean ratings define alone."""
    return REFINED_COEFFICIENTS.get(name, name)


def coefficient_levels(name: str) -> tuple[str, ...]:
    """Return the levels at which a coefficient is defined."""
    return REFINED_LEVELS.get(name) or COEFFICIENTS[name].levels


def coefficient_names(level: str) -> tuple[str, ...]:
    """Return the coefficients that are defined at a level."""
    return tuple(name for name, coefficient in COEFFICIENTS.items() if level in coefficient.levels)


def compute_coefficients(sample: ScoreRatingSample, names: Sequence[str]) -> Floats:
    """Return coefficients × groups × draws × metrics."""
    groups, metrics, draws = *sample.scores.shape[:2], sample.weights.shape[1]
    coefficients = np.full((len(names), groups, metrics, draws), np.nan).swapaxes(2, 3)
    if not sample.scores.shape[2]:
        return coefficients
    for row, name in enumerate(names):
        value = COEFFICIENTS[name].value
        coefficients[row] = _partial(value, sample) if sample.controls else value(sample)
    return coefficients


# --- Partial correlation -------------------------------------------------------------------------
# The correlation of scores and ratings that is left when the correlation of both with a third
# column, such as length, is removed: (r_xy − r_xz r_yz) / √((1 − r_xz²)(1 − r_yz²)), for Pearson's
# r, Spearman's ρ and Kendall's τ-b alike. Several columns are removed one after the other, by the
# same formula. With n units and k columns it is undefined below n = k + 3, where it could only be
# −1 or 1.


MIN_UNEXPLAINED = 1e-12  # share of variance that a column must leave unexplained


def _partial(value: Callable[[ScoreRatingSample], Floats], sample: ScoreRatingSample) -> Floats:
    """Return a correlation of all metrics with the ratings, with all controls removed."""
    correlations = np.stack([value(side) for side in sample.sides])  # sides × … × metrics
    first = sample.scores.shape[1] - sample.controls
    for control in range(sample.controls):
        with_control, own = correlations[control + 1], correlations[..., first + control]
        left = (1 - with_control**2)[None] * (1 - own**2)[..., None]
        rest = correlations - with_control[None] * own[..., None]
        is_defined = left > MIN_UNEXPLAINED
        correlations = np.where(is_defined, rest / np.sqrt(np.where(is_defined, left, 1)), np.nan)
    partial = np.clip(correlations[0], -1, 1)
    partial[sample.things < sample.controls + 3] = np.nan
    return np.asarray(partial)
