"""Pearson, Spearman, Kendall and pairwise coefficients, weighted by draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes

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
    people_ranks = _ranks_by_pairs(signs, units)
    spread_y = np.einsum("ngd,ngd,ngd->gd", units, people_ranks, people_ranks)[:, :, None]
    index, rank_differences = pair_index(len(units)), pair_products(units)
    rank_differences *= people_ranks[index.later] - people_ranks[index.earlier]
    order = pair_signs(metrics)
    correlations = sum_over_pairs(order.astype(units.dtype), rank_differences)
    cubes = (weights * weights * weights).sum(axis=2)[:, :, None]
    has_ties = (order == 0).any(axis=(0, 1))
    if has_ties.any():
        tied_weights = _tied_weights(metrics[:, has_ties], units)
        cubes = np.repeat(cubes, metrics.shape[1], axis=2)
        cubes[:, :, has_ties] = np.einsum("ngd,grnd,grnd->gdr", units, tied_weights, tied_weights)
    spread_x = _sum_of_squared_ranks(total[:, :, None], cubes)
    _divide_by_spreads(correlations, spread_x, spread_y.astype(np.float64))
    return correlations


def _ranks_by_pairs(signs: Signs, units: Floats) -> Floats:
    """Return ranks as units × groups × draws, like the weights."""
    index = pair_index(len(units))
    shape = len(signs), units[0].size
    above = index.is_later @ (units[index.earlier] * signs).reshape(shape)
    above -= index.is_earlier @ (units[index.later] * signs).reshape(shape)
    return np.asarray(above.reshape(units.shape), units.dtype)


def _sum_of_squared_ranks(total: Floats, cubes: Floats) -> Floats:
    """Return the sum from the total weight and the sum of cubed weights of tied units."""
    return np.asarray((total**3 - cubes) / 3)


def _tied_weights(metrics: Floats, units: Floats) -> Floats:
    """Return the weight of all units that tie with a unit, as groups × metrics × units × draws."""
    is_tied = (metrics[:, :, :, None] == metrics[:, :, None, :]).astype(units.dtype)
    return np.asarray(is_tied @ units.transpose(1, 0, 2)[:, None])


def _spearman_by_sorting(metrics: Floats, people: Floats, weights: Floats) -> Floats:
    """Return Spearman's ρ by group and draw, with ranks from cumulative weights."""
    groups, rows, _ = metrics.shape
    draws = weights.shape[1]
    correlations = np.empty((groups, draws, rows))
    for group in range(groups):
        sorted_units = sort_units(metrics[group])
        for draw in range(draws):
            draw_weights = weights[group, draw]
            people_ranks = _weighted_ranks(
                *_encode_values(people[group, draw % people.shape[1]]), draw_weights
            )
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


def _encode_values(values: Floats) -> tuple[Codes, int]:
    """Return the index of each value among the distinct ones, and their number."""
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), len(distinct)


def _weighted_ranks(codes: Codes, count: int, weights: Floats) -> Floats:
    weight_by_code = np.bincount(codes, weights, minlength=count)
    cumulative = np.cumsum(weight_by_code)
    ranks: Floats = (2 * cumulative - weight_by_code - cumulative[-1])[codes]
    return ranks


def count_different_values(values: Floats, weights: Floats) -> Floats:
    """Return the number of distinct values with a weight: groups × draws × rows of values.

    If no row has ties, there is one column for all of them.
    """
    present = weights > 0
    ordered = np.sort(values, axis=2)
    has_ties = ~(ordered[:, :, 1:] > ordered[:, :, :-1]).all(axis=(0, 2))
    counts: Floats = present.sum(axis=2, dtype=np.float64)[:, :, None]
    if not has_ties.any():
        return counts
    counts = np.repeat(counts, values.shape[1], axis=2)
    if values.shape[2] <= MAX_THINGS_ALL_PAIRS:
        units = units_first(present.astype(np.float32))
        counts[:, :, has_ties] = _count_first_occurrences(values[:, has_ties], units)
        return counts
    for row in np.flatnonzero(has_ties):
        counts[:, :, row] = _count_present_codes(values[:, row], present)
    return counts


def _count_first_occurrences(values: Floats, units: Floats) -> Floats:
    """Count present units (units × groups × draws) that no earlier present unit equals."""
    is_equal = np.tril(values[:, :, :, None] == values[:, :, None, :], -1).astype(units.dtype)
    present = units.transpose(1, 0, 2)[:, None]
    is_first = (is_equal @ present == 0) & (present > 0)
    return np.asarray(is_first.sum(axis=2, dtype=np.float64).swapaxes(1, 2))


def _count_present_codes(values: Floats, present: Bools) -> Floats:
    """Count distinct codes of present units."""
    counts = np.zeros(present.shape[:2])
    for group, row in enumerate(values):
        codes, count = _encode_values(row)
        for draw, is_present in enumerate(present[group]):
            counts[group, draw] = (np.bincount(codes, is_present, minlength=count) > 0).sum()
    return counts


def count_different_per_draw(values: Floats, weights: Floats) -> Floats:
    """Return the number of distinct values with a weight, for values that differ between draws."""
    values, present = np.broadcast_arrays(values, weights > 0)
    ordered = np.sort(np.where(present, values, np.nan), axis=2)
    steps = (ordered[:, :, 1:] > ordered[:, :, :-1]).sum(axis=2)
    return np.asarray(present.any(axis=2) + steps, np.float64)


def _count_different_by_pairs(signs: Signs, weights: Floats) -> Floats:
    """Return the same from the signs of all pairs: present units that equal no earlier one."""
    present = units_first(weights > 0)
    index = pair_index(len(present))
    is_repeated = ((signs == 0) & present[index.earlier]).astype(np.float32)
    repeats = index.is_later @ is_repeated.reshape(len(signs), present[0].size)
    return np.asarray((present & (repeats.reshape(present.shape) == 0)).sum(axis=0) * 1.0)


# --- Table of coefficients -----------------------------------------------------------------------
# All are computed from one ``ScoreRatingSample``, which counts pairs once for all of them.
# Undefined coefficients are NaN.


LEVELS = ("system", "item", "global")


@dataclass(frozen=True)
class ScoreRatingSample:
    """Scores (groups × metrics × units), ratings and weights (groups × draws × units).

    Ratings may have one row, shared by all draws. Unknown units have weight 0; their value must be
    a
    number but has no effect. ``margins`` is one number, or groups × metrics: a score difference of
    at
    most this much is a tie. Margins affect only counts of pairs, not correlations.
    """

    scores: Floats
    people: Floats
    weights: Floats
    margins: Floats | float = 0.0

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
        if self.signs is None:
            people = count_different_per_draw(self.people, self.weights)
        else:
            people = _count_different_by_pairs(self.signs, self.weights)
        return np.minimum(count_different_values(self.scores, self.weights), people[:, :, None])

    @property
    def is_varied(self) -> Bools:
        """Whether scores and ratings both have two distinct values."""
        return self.different_values >= 2


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
    np.copyto(correlations, np.nan, where=~sample.is_varied)
    return correlations


def kendall_b(sample: ScoreRatingSample) -> Floats:
    """Return Kendall's τ-b: (C − D) over the geometric mean of pairs untied on either side."""
    pairs = sample.pairs
    return _divide(pairs.net, np.sqrt(pairs.apart_metric * pairs.apart_people))


def kendall_c(sample: ScoreRatingSample) -> Floats:
    """Return Stuart's τ-c: 2 (C − D) / (n² (m − 1) / m) for m, the fewer distinct values."""
    distinct, n = sample.different_values, sample.weights.sum(axis=2)[:, :, None]
    denominator = n**2 * np.maximum(distinct - 1, 0) / np.maximum(distinct, 1)
    return _divide(sample.pairs.net, denominator / 2)


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


@dataclass(frozen=True)
class Coefficient:
    """A coefficient with its description, range, value by chance and levels."""

    value: Callable[[ScoreRatingSample], Floats]
    says: str
    low: float
    high: float
    chance: float
    levels: tuple[str, ...] = LEVELS


COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": Coefficient(pearson, "Linear correlation of scores and ratings.", -1, 1, 0),
    "spearman": Coefficient(
        spearman, "Pearson correlation of ranks; ties get the mean of their ranks.", -1, 1, 0
    ),
    "kendall_b": Coefficient(
        kendall_b,
        "Concordant minus discordant pairs, over the geometric mean of the numbers of pairs not "
        "tied by the metric and not tied by the ratings.",
        -1,
        1,
        0,
    ),
    "kendall_c": Coefficient(
        kendall_c,
        "Concordant minus discordant pairs, over the maximum for the smaller number of distinct "
        "values (Stuart).",
        -1,
        1,
        0,
    ),
    "tau_23": Coefficient(
        tau_23,
        "Share of pairs that the metric orders or ties like the ratings, minus the share of other "
        "pairs; the expected value by chance is 0 only without ties.",
        -1,
        1,
        0,
    ),
    "acc_23": Coefficient(
        acc_23,
        "Share of pairs that the metric orders or ties like the ratings; the expected value by "
        "chance is one half only without ties.",
        0,
        1,
        0.5,
    ),
    "pairwise_accuracy": Coefficient(
        pairwise_accuracy,
        "Share of pairs of systems with different mean ratings that the metric puts in the same "
        "order; a tie of the metric counts as wrong.",
        0,
        1,
        0.5,
        ("system",),
    ),
}


CALIBRATED_COEFFICIENT = "acc_23_calibrated"
SOFT_COEFFICIENT = "soft_pairwise_accuracy"
REFINED_COEFFICIENTS = {  # coefficients of ``pairwise_accuracy``, and the plain one they refine
    CALIBRATED_COEFFICIENT: "acc_23",
    SOFT_COEFFICIENT: "pairwise_accuracy",
}
REFINED_LEVELS = {CALIBRATED_COEFFICIENT: ("item",), SOFT_COEFFICIENT: ("system",)}
RANKING_COEFFICIENTS = (*COEFFICIENTS, *REFINED_COEFFICIENTS)


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
        coefficients[row] = COEFFICIENTS[name].value(sample)
    return coefficients
