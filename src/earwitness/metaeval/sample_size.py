"""Coefficients with fewer or more raters, items and references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate, Score
from earwitness.metaeval.coefficients import COEFFICIENTS
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.join import score_table
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    StudyDraws,
    cell_means,
    evaluate_draws,
    evaluate_grid,
    subtract_item_effects,
    tie_rounded_means,
)
from earwitness.metaeval.resampling import from_stable_scale, to_stable_scale
from earwitness.metaeval.results import Figure, SampleSizeCurve
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes, Votes

# --- Extrapolation to more raters or items -------------------------------------------------------
# Noise in the means attenuates correlations: with k raters (or items) r² = ρ² k / (k + c), so 1/r²
# is linear in 1/k. The line through half of them and all of them is extrapolated. Other
# coefficients are first transformed to r, assuming normality: r = sin(π τ / 2) for Kendall's τ, 2
# sin(π ρ / 6) for Spearman's ρ. At most, with pure noise, r grows with √k. Coefficients that count
# ties as correct or wrong do not follow this, since more raters cause fewer ties: they are
# extrapolated linearly in 1/k themselves, which is conservative.


TIE_COEFFICIENTS = ("acc_23", "tau_23")  # coefficients that depend on ties in the ratings


def extrapolate_coefficient(
    with_fewer: Floats, with_all: Floats, name: str, counts: tuple[int, int, int]
) -> Floats:
    """Return the value with more units, from the values with fewer and with all.

    ``counts`` has these three numbers of units.

    >>> r = [np.array([np.sqrt(0.9 * k / (k + 2))]) for k in (2, 4, 8)]
    >>> bool(np.isclose(extrapolate_coefficient(r[0], r[1], "pearson", (2, 4, 8)), r[2])[0])
    True
    """
    fewer, total, more = counts
    steps = (1 / total - 1 / more) / (1 / fewer - 1 / total)
    if name in TIE_COEFFICIENTS:
        coefficient = COEFFICIENTS[name]
        return np.clip(
            with_all + steps * (with_all - with_fewer), coefficient.low, coefficient.high
        )
    first, second = _to_r(with_fewer, name), _to_r(with_all, name)
    same_sign = first * second > 0
    squares, squares_with_fewer = (
        np.where(same_sign, side, 1.0) ** -2.0 for side in (second, first)
    )
    least = np.maximum(1.0, squares * total / more)
    reached = np.maximum(least, squares - steps * (squares_with_fewer - squares)) ** -0.5
    return np.where(same_sign, _from_r(np.sign(second) * reached, name), with_all)


def _range_middle(name: str) -> float:
    coefficient = COEFFICIENTS[name]
    return (coefficient.low + coefficient.high) / 2


def _to_r(values: Floats, name: str) -> Floats:
    coefficient = COEFFICIENTS[name]
    scaled = (values - _range_middle(name)) * 2 / (coefficient.high - coefficient.low)
    if name == "pearson":
        return scaled
    return 2 * np.sin(np.pi * scaled / 6) if name == "spearman" else np.sin(np.pi * scaled / 2)


def _from_r(r: Floats, name: str) -> Floats:
    coefficient = COEFFICIENTS[name]
    by_rank = 6 * np.arcsin(r / 2) if name == "spearman" else 2 * np.arcsin(r)
    scaled = r if name == "pearson" else by_rank / np.pi
    return np.asarray(_range_middle(name) + scaled * (coefficient.high - coefficient.low) / 2)


# --- Fewer raters or items -----------------------------------------------------------------------
# With fewer: random subsets of that size are drawn without replacement, and the mean of the
# coefficient over draws is the expected value of studies of that size. (With replacement, a rater
# drawn twice would contribute the same noise twice, and the panel would seem half as large as it
# is.) An output with fewer votes than requested keeps all of them. With all units: the value
# itself.
#
# With more: extrapolated from the values with half of the units and with all (see
# ``extrapolate_coefficient``).
#
# Spread between studies with k units: subsets of k of n vary too little by √(1 − k / n), so their
# deviations are divided by it; for all units, and for more, the spread is that of half of them,
# scaled by the root of the numbers.


NUMBERS_IN_MEMORY = 2_000_000  # numbers in memory at once
SAMPLE_UNITS = ("raters", "items")


class CoefficientsAtCount(NamedTuple):
    """Mean of a coefficient by metric for a number of units, and draws × metrics around it."""

    value: Floats
    draws: Floats


def count_units(votes: Votes, what: str) -> int:
    """Return the number of items, or the median number of raters per output."""
    if what not in SAMPLE_UNITS:
        raise ValueError(f"what must be raters or items, got {what}")
    if what == "items":
        return votes.size[1]
    counts = np.bincount(votes.stimuli)
    return int(np.median(counts[counts > 0])) if len(counts) else 0


def coefficients_at_counts(
    scores: Floats,
    votes: Votes,
    figure: tuple[str, str],
    unit: str,
    counts: Sequence[int],
    *,
    draws: int = 200,
    seed: int = 0,
) -> list[CoefficientsAtCount]:
    """Return a coefficient of all metrics for each number of raters (per output) or items.

    ``figure`` is its level and name. At least two raters or items are required.
    """
    level, name = figure
    total = count_units(votes, unit)
    rng = np.random.Generator(np.random.PCG64((seed, SAMPLE_UNITS.index(unit))))
    available = votes.size[2] if unit == "raters" else total
    orders = np.argsort(rng.random((draws, available)), axis=1, kind="stable")
    with_all = evaluate_grid(ScoreRatingGrid(scores, cell_means(votes)[0]), level, [name]).value[0]
    half = _evaluate_subsets(scores, votes, figure, unit, orders, total // 2)
    results = []
    for count in counts:
        if count < total:
            subset = _evaluate_subsets(scores, votes, figure, unit, orders, count)
            results.append(
                _centre_draws(mean_over_draws(subset), subset, 1 / (1 - count / total), name)
            )
            continue
        extrapolated = extrapolate_coefficient(
            mean_over_draws(half), with_all, name, (total // 2, total, count)
        )
        share = total // 2 / count / (1 - total // 2 / total)
        results.append(
            _centre_draws(with_all if count == total else extrapolated, half, share, name)
        )
    return results


def _centre_draws(middle: Floats, draws: Floats, share: float, name: str) -> CoefficientsAtCount:
    """Return draws shifted to ``middle``, with their variance multiplied by ``share``."""
    coefficient, fisher = COEFFICIENTS[name], np.array(name == "pearson")
    centre, half_range = (
        (coefficient.high + coefficient.low) / 2,
        (coefficient.high - coefficient.low) / 2,
    )
    on_scale = to_stable_scale((draws - centre) / half_range, fisher)
    moved = to_stable_scale((middle - centre) / half_range, fisher) + (
        on_scale - mean_over_draws(on_scale)
    ) * np.sqrt(share)
    return CoefficientsAtCount(middle, centre + half_range * from_stable_scale(moved, fisher))


def _evaluate_subsets(
    scores: Floats, votes: Votes, figure: tuple[str, str], unit: str, orders: Codes, count: int
) -> Floats:
    """Return draws × metrics, each with the first raters (of each output) or items of its order."""
    systems, items, _ = votes.size
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * systems * systems))
    people_means, blocks = cell_means(votes), []
    for start in range(0, len(orders), rows):
        block = orders[start : start + rows]
        weights = np.ones((len(block), items))
        if unit == "raters":
            people_means = _first_rater_means(votes, block, count)
        else:
            weights = (block < count).astype(np.float64)
        draws = StudyDraws(np.ones((len(block), systems)), weights, people_means)
        blocks.append(evaluate_draws(figure[0], scores, draws, [figure[1]])[0][0])
    return np.concatenate(blocks)


def _first_rater_means(votes: Votes, orders: Codes, count: int) -> Floats:
    """Return mean votes of the first raters of each cell: draws × systems × items."""
    systems, items, raters = votes.size
    cells = np.sort(votes.stimuli)
    kept = np.arange(len(cells)) - np.searchsorted(cells, cells) < count
    cells = cells[kept]
    n = np.bincount(cells, minlength=systems * items).astype(np.float64)
    total = np.empty((len(orders), systems * items))
    for draw, order in enumerate(orders):
        turns = np.argsort(votes.stimuli * raters + order[votes.listeners], kind="stable")[kept]
        total[draw] = np.bincount(cells, votes.values[turns], minlength=systems * items)
    means = ratio(total, np.broadcast_to(n, total.shape))
    if not np.array_equal(votes.values, np.rint(votes.values)):
        means = tie_rounded_means(means, np.abs(votes.values).max(initial=0))
    return means.reshape(len(orders), items, systems).swapaxes(1, 2)


def mean_over_draws(draws: Floats) -> Floats:
    """Return the mean over defined draws, by metric."""
    is_defined = ~np.isnan(draws)
    return ratio(
        np.where(is_defined, draws, 0).sum(axis=0), is_defined.sum(axis=0).astype(np.float64)
    )


def sufficient_count(
    counts: Sequence[int], means: Floats, halves: Floats, gain: float, spread: float
) -> int:
    """Return the smallest count that is enough, or 0 if none is.

    A count is enough if twice as many would gain less than ``gain``, and half the range of draws is
    at
    most ``spread``. ``means`` and ``halves`` (half ranges) are given per count. Means are
    interpolated
    on the logarithm of the count.

    >>> means, halves = np.array([0.5, 0.6, 0.63, 0.64]), np.array([0.3, 0.2, 0.1, 0.05])
    >>> sufficient_count([1, 2, 4, 8], means, halves, 0.02, 0.1)
    4
    >>> sufficient_count([1, 2, 4, 8], means, halves, 0.02, 0.08)
    0
    """
    at_counts = np.log2(np.asarray(counts, np.float64))
    for place, count in enumerate(counts):
        double = at_counts[place] + 1
        if double > at_counts[-1] + 1e-9:
            return 0
        gained = np.interp(double, at_counts, means) - means[place]
        if gained < gain and halves[place] <= spread:
            return count
    return 0


# --- Sample-size curves of a scale ---------------------------------------------------------------


DRAWS_PER_COUNT = 200


def sample_size_curves(
    comparison: ScaleComparison,
    figure: Figure,
    scores: Sequence[Score],
    chance: Mapping[Figure, Estimate],
) -> list[SampleSizeCurve]:
    """Return curves by raters and items, and by references if scores have their number.

    With fewer than five units there is no curve. Metrics no better than ``chance`` have a curve,
    but no
    sufficient number.
    """
    rater_and_item_curves = []
    adjusted = comparison.at_level(figure.level)
    votes = adjusted.opinions
    for unit in SAMPLE_UNITS if isinstance(votes, Votes) else ():
        assert isinstance(votes, Votes)
        have = count_units(votes, unit)
        if have >= MIN_CASES_FOR_INTERVAL:
            counts, seed = _curve_counts(have), comparison.settings.seed
            points = coefficients_at_counts(
                adjusted.table.scores, votes, figure, unit, counts, draws=DRAWS_PER_COUNT, seed=seed
            )
            rater_and_item_curves.append(
                _sample_size_curve(
                    comparison, figure, unit, have, dict(zip(counts, points, strict=True))
                )
            )
    all_curves = [*rater_and_item_curves, *_reference_curves(comparison, figure, scores)]
    better = _better_than_chance(comparison, figure, chance.get(figure))
    return [
        replace(curve, enough={name: n for name, n in curve.enough.items() if name in better})
        for curve in all_curves
    ]


def _better_than_chance(
    comparison: ScaleComparison, figure: Figure, chance: Estimate | None
) -> set[str]:
    """Return the metrics that agree better than chance."""
    values = evaluate_grid(
        comparison.at_level(figure.level).grid, figure.level, [figure.coefficient]
    ).value[0]
    limit = -np.inf if chance is None else chance.high
    return {
        metric.name
        for metric, coefficient in zip(comparison.table.metrics, values, strict=True)
        if coefficient > limit
    }


def _curve_counts(have: int) -> list[int]:
    """Return powers of two below the available number, that number, and twice as many."""
    powers = [2**n for n in range(20) if 2**n < have]
    return [*powers, have, 2 * have]


def _sample_size_curve(
    comparison: ScaleComparison,
    figure: Figure,
    unit: str,
    have: int,
    by_count: Mapping[int, CoefficientsAtCount],
    names: Sequence[str] = (),
) -> SampleSizeCurve:
    """Return the curve of the named metrics, or of all."""
    points, means, halves = list[tuple[int, dict[str, Estimate]]](), [], []
    for count, at_count in by_count.items():
        estimates = {
            metric.name: _estimate(at_count, n, comparison.settings.level, count)
            for n, metric in enumerate(comparison.table.metrics)
            if not names or metric.name in names
        }
        means.append([estimate.value for estimate in estimates.values()])
        halves.append([(estimate.high - estimate.low) / 2 for estimate in estimates.values()])
        points.append((count, estimates))
    limits = comparison.settings.gain, comparison.settings.spread
    table, half = np.array(means), np.array(halves)
    sufficient = {
        name: sufficient_count([*by_count], table[:, n], half[:, n], *limits)
        for n, name in enumerate(points[0][1])
        if not np.isnan(table[:, n]).all()
    }
    return SampleSizeCurve(unit, figure, have, tuple(points), sufficient, *limits)


def _estimate(at_count: CoefficientsAtCount, metric: int, level: float, count: int) -> Estimate:
    """Return the value for a number of units, with the percentile range of draws."""
    draws = at_count.draws[:, metric]
    defined = draws[~np.isnan(draws)]
    low, high = float("nan"), float("nan")
    if len(defined) >= MIN_CASES_FOR_INTERVAL:
        ends = percentile_interval(defined[:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    missing = len(draws) - len(defined)
    return Estimate(float(at_count.value[metric]), low, high, level, count, missing, "draws")


def _reference_curves(
    comparison: ScaleComparison, figure: Figure, scores: Sequence[Score]
) -> list[SampleSizeCurve]:
    """Return curves from scores with fewer references, with each draw evaluated separately."""
    reference_counts: dict[str, set[int]] = {}
    for score in scores:
        if score.references:
            reference_counts.setdefault(score.metric, set()).add(score.references)
    names = [name for name, counts in reference_counts.items() if len(counts) > 1]
    if not names:
        return []
    counts = sorted({count for name in names for count in reference_counts[name]})
    joined, people = comparison.table, comparison.at_level(figure.level).grid.people
    adjusted = comparison.at_level(figure.level) is not comparison

    def values(count: int) -> Floats:
        counted_scores = [score for score in scores if score.references == count]
        draws = sorted({score.draw for score in counted_scores})
        rows = []
        for draw in draws:
            draw_scores = [score for score in counted_scores if score.draw == draw]
            table = score_table(
                draw_scores,
                joined.metrics,
                joined.systems,
                joined.items,
                low_is_good=joined.low_is_good,
            )
            table = subtract_item_effects(table, people) if adjusted else table
            rows.append(
                evaluate_grid(
                    ScoreRatingGrid(table, people), figure.level, [figure.coefficient]
                ).value[0]
            )
        return np.array(rows)

    by_count = {
        count: CoefficientsAtCount(mean_over_draws(draw_values), draw_values)
        for count in counts
        for draw_values in [values(count)]
    }
    return [_sample_size_curve(comparison, figure, "references", counts[-1], by_count, names)]
