"""Pearson, Spearman, Kendall and pairwise coefficients, weighted by draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from earwitness.metaeval.pair_counts import PairCounts, count_pairs
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
    """Return Pearson's r from weighted sums; values are centred first to limit rounding errors."""
    x, y = _centre_rows(metrics), _centre_rows(people)
    columns, squares = np.swapaxes(x, 1, 2), np.swapaxes(x * x, 1, 2)
    total_weight = weights.sum(axis=2)[:, :, None]
    weighted_y = weights * y
    total_y = weighted_y.sum(axis=2)[:, :, None]
    squares_y = total_weight * (weighted_y * y).sum(axis=2)[:, :, None]
    total_x = weights @ columns
    squares_x = total_weight * (weights @ squares)
    spread_x, spread_y = squares_x - total_x**2, squares_y - total_y**2
    correlations = _bounded_ratio(
        total_weight * (weighted_y @ columns) - total_x * total_y, spread_x, spread_y
    )
    has_cancelled = (spread_x < CANCELLATION * squares_x) | (spread_y < CANCELLATION * squares_y)
    groups, draws, rows = np.nonzero(has_cancelled)
    shared_draws = draws if y.shape[1] > 1 else np.zeros_like(draws)
    correlations[has_cancelled] = _two_pass_pearson(
        x[groups, rows], y[groups, shared_draws], weights[groups, draws]
    )
    return correlations


def _two_pass_pearson(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Correlations of rows from deviations, where differences of sums would lose digits."""
    total = weights.sum(axis=1, keepdims=True)
    x, y = (
        values - ratio((weights * values).sum(axis=1, keepdims=True), total) for values in (x, y)
    )
    weighted_x = weights * x
    return _bounded_ratio(
        (weighted_x * y).sum(axis=1), (weighted_x * x).sum(axis=1), (weights * y * y).sum(axis=1)
    )


def _centre_rows(values: Floats) -> Floats:
    """Return each row relative to the middle of its range, in units of half its range."""
    high, low = values.max(axis=2, keepdims=True), values.min(axis=2, keepdims=True)
    half_range = (high - low) / 2
    return np.asarray((values - (high + low) / 2) / np.where(half_range > 0, half_range, 1))


def _bounded_ratio(shared: Floats, spread_x: Floats, spread_y: Floats) -> Floats:
    """Return the correlation, limited to −1 … 1; NaN without spread."""
    denominator = np.sqrt(np.maximum(spread_x, 0) * np.maximum(spread_y, 0))
    ratio = np.full(denominator.shape, np.nan)
    np.divide(
        np.broadcast_to(shared, denominator.shape), denominator, out=ratio, where=denominator > 0
    )
    return np.clip(ratio, -1, 1)


def compute_weighted_spearman(metrics: Floats, people: Floats, weights: Floats) -> Floats:
    """Return Spearman's ρ, the correlation of ranks."""
    if metrics.shape[2] > MAX_THINGS_ALL_PAIRS:
        return _spearman_by_sorting(metrics, people, weights)
    groups, rows, _ = metrics.shape
    correlations = np.empty((groups, weights.shape[1], rows))
    dtype: Any = (
        np.float32
        if weights.sum(axis=2).max(initial=0) ** 3 < SINGLE_PRECISION_LIMIT
        else np.float64
    )
    weights_cast = weights.astype(dtype)
    people_ranks = _rank_each_draw(people, weights).astype(dtype)
    weighted_ranks = weights_cast * people_ranks
    spread_y = np.einsum("gdn,gdn->gd", weighted_ranks, people_ranks)
    for row in range(rows):
        ranks = weights_cast @ _pair_signs(metrics[:, row]).astype(dtype).swapaxes(1, 2)
        shared = np.einsum("gdn,gdn->gd", weighted_ranks, ranks)
        spread_x = np.einsum("gdn,gdn,gdn->gd", weights_cast, ranks, ranks)
        correlations[:, :, row] = _bounded_ratio(
            *(a.astype(np.float64) for a in (shared, spread_x, spread_y))
        )
    return correlations


def _rank_each_draw(values: Floats, weights: Floats) -> Floats:
    """Return ranks of values that differ between draws."""
    ranks = np.zeros(weights.shape)
    for thing in range(values.shape[2]):
        value = values[:, :, thing, None]
        above = (values > value).view(np.int8) - (values < value).view(np.int8)
        ranks += weights[:, :, thing, None] * above
    return ranks


def _pair_signs(values: Floats) -> Floats:
    """Return 1 where one unit is above the other, −1 where below."""
    return np.sign(values[..., :, None] - values[..., None, :])


def _spearman_by_sorting(metrics: Floats, people: Floats, weights: Floats) -> Floats:
    """Return Spearman's ρ by group and draw, with ranks from cumulative weights."""
    groups, rows, _ = metrics.shape
    draws = weights.shape[1]
    correlations = np.empty((groups, draws, rows))
    for group in range(groups):
        orders = [_encode_values(row) for row in metrics[group]]
        for draw in range(draws):
            draw_weights = weights[group, draw]
            people_ranks = _weighted_ranks(
                *_encode_values(people[group, draw % people.shape[1]]), draw_weights
            )
            ranks = np.stack([_weighted_ranks(*order, draw_weights) for order in orders])
            shared = ranks @ (draw_weights * people_ranks)
            spread_y = np.full(rows, (draw_weights * people_ranks) @ people_ranks)
            correlations[group, draw] = _bounded_ratio(
                shared, (ranks * ranks) @ draw_weights, spread_y
            )
    return correlations


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
    """Return the number of distinct values with a weight: groups × draws × rows of values."""
    present = weights > 0
    ordered = np.sort(values, axis=2)
    is_untied = (ordered[:, :, 1:] > ordered[:, :, :-1]).all(axis=(0, 2))
    counts = np.empty((*weights.shape[:2], values.shape[1]))
    counts[:, :, is_untied] = present.sum(axis=2)[:, :, None]
    for row in np.flatnonzero(~is_untied):
        all_pairs_fit = values.shape[2] <= MAX_THINGS_ALL_PAIRS
        counts[:, :, row] = (_count_first_occurrences if all_pairs_fit else _count_present_codes)(
            values[:, row], present
        )
    return counts


def _count_first_occurrences(values: Floats, present: Bools) -> Floats:
    """Count present units that no earlier present unit equals."""
    equal = np.triu(values[:, :, None] == values[:, None, :], 1).astype(np.float32)
    earlier = present.astype(np.float32) @ equal
    return np.asarray((present & (earlier == 0)).sum(axis=2, dtype=np.float64))


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
        return count_pairs(self.scores, self.people, self.weights, self.margins)

    @cached_property
    def things(self) -> Floats:
        """Number of units with a weight: groups × draws."""
        return np.asarray((self.weights > 0).sum(axis=2, dtype=np.float64))

    @cached_property
    def different_values(self) -> Floats:
        """The smaller number of distinct values, of scores or of ratings."""
        people = count_different_per_draw(self.people, self.weights)
        return np.minimum(count_different_values(self.scores, self.weights), people[:, :, None])

    @property
    def is_varied(self) -> Bools:
        """Whether scores and ratings both have two distinct values."""
        return self.different_values >= 2


def pearson(sample: ScoreRatingSample) -> Floats:
    """Return Pearson's r."""
    correlations = compute_weighted_pearson(sample.scores, sample.people, sample.weights)
    return np.where(sample.is_varied, correlations, np.nan)


def spearman(sample: ScoreRatingSample) -> Floats:
    """Return Spearman's ρ: Pearson's r of midranks."""
    correlations = compute_weighted_spearman(sample.scores, sample.people, sample.weights)
    return np.where(sample.is_varied, correlations, np.nan)


def kendall_b(sample: ScoreRatingSample) -> Floats:
    """Return Kendall's τ-b: (C − D) over the geometric mean of pairs untied on either side."""
    pairs = sample.pairs
    denominator = np.sqrt(pairs.apart_metric * pairs.apart_people)
    return ratio(pairs.concordant - pairs.discordant, denominator)


def kendall_c(sample: ScoreRatingSample) -> Floats:
    """Return Stuart's τ-c: 2 (C − D) / (n² (m − 1) / m) for m, the fewer distinct values."""
    pairs, distinct = sample.pairs, sample.different_values
    n = sample.weights.sum(axis=2)[:, :, None]
    denominator = n**2 * np.maximum(distinct - 1, 0) / np.maximum(distinct, 1)
    return ratio(2 * (pairs.concordant - pairs.discordant), denominator)


def acc_23(sample: ScoreRatingSample) -> Floats:
    """Return (C + T_both) / all pairs."""
    pairs = sample.pairs
    return ratio(pairs.concordant + pairs.tied_both, pairs.all)


def tau_23(sample: ScoreRatingSample) -> Floats:
    """Return (C + T_both − D − T_metric − T_people) / all pairs."""
    pairs = sample.pairs
    correct = pairs.concordant + pairs.tied_both
    return ratio(2 * correct - pairs.all, pairs.all)


def pairwise_accuracy(sample: ScoreRatingSample) -> Floats:
    """Return C / (C + D + T_metric)."""
    return ratio(sample.pairs.concordant, sample.pairs.apart_people)


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


def coefficient_names(level: str) -> tuple[str, ...]:
    """Return the coefficients that are defined at a level."""
    return tuple(name for name, coefficient in COEFFICIENTS.items() if level in coefficient.levels)


def compute_coefficients(sample: ScoreRatingSample, names: Sequence[str]) -> Floats:
    """Return coefficients × groups × draws × metrics."""
    shape = *sample.weights.shape[:2], sample.scores.shape[1]
    coefficients = np.empty((len(names), *shape))
    for row, name in enumerate(names):
        coefficients[row] = COEFFICIENTS[name].value(sample)
    return coefficients
