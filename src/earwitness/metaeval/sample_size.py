"""Coefficients with fewer or more raters, items and references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate, Score, group_values
from earwitness.metaeval.coefficients import COEFFICIENTS, REFINED_COEFFICIENTS
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.join import score_table
from earwitness.metaeval.levels import (
    ResampledVotes,
    ScoreRatingGrid,
    StudyDraws,
    cell_means,
    evaluate_draws,
    evaluate_grid,
    mean_of_defined,
    subtract_item_effects,
    tie_rounded_means,
)
from earwitness.metaeval.resampling import from_stable_scale, to_stable_scale
from earwitness.metaeval.results import Figure, SampleSizeCurve
from earwitness.stats.arrays import Floats, seeded_generator
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Codes, MedianVotes, Votes

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
        return np.clip(with_all + steps * (with_all - with_fewer), COEFFICIENTS[name].low, 1)
    first, second = _to_r(with_fewer, name), _to_r(with_all, name)
    same_sign = first * second > 0
    squares, squares_with_fewer = (
        np.where(same_sign, side, 1.0) ** -2.0 for side in (second, first)
    )
    least = np.maximum(1.0, squares * total / more)
    reached = np.maximum(least, squares - steps * (squares_with_fewer - squares)) ** -0.5
    return np.where(same_sign, _from_r(np.sign(second) * reached, name), with_all)


def _to_r(values: Floats, name: str) -> Floats:
    scaled = COEFFICIENTS[name].scale(values)
    if name == "pearson":
        return scaled
    return 2 * np.sin(np.pi * scaled / 6) if name == "spearman" else np.sin(np.pi * scaled / 2)


def _from_r(r: Floats, name: str) -> Floats:
    by_rank = 6 * np.arcsin(r / 2) if name == "spearman" else 2 * np.arcsin(r)
    scaled = r if name == "pearson" else by_rank / np.pi
    return COEFFICIENTS[name].unscale(scaled)


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
    rng = seeded_generator((seed, SAMPLE_UNITS.index(unit)))
    available = votes.size[2] if unit == "raters" else total
    orders = np.argsort(rng.random((draws, available)), axis=1, kind="stable")
    with_all = evaluate_grid(ScoreRatingGrid(scores, cell_means(votes)[0]), level, [name]).value[0]
    half = _evaluate_subsets(scores, votes, figure, unit, orders, total // 2)
    results = []
    for count in counts:
        middle, drawn, share = with_all, half, total // 2 / count / (1 - total // 2 / total)
        if count < total:
            drawn = _evaluate_subsets(scores, votes, figure, unit, orders, count)
            middle, share = mean_of_defined(drawn), 1 / (1 - count / total)
        elif count > total:
            steps = total // 2, total, count
            middle = extrapolate_coefficient(mean_of_defined(half), with_all, name, steps)
        # draws are shifted to the middle, and their variance is multiplied by the share
        on_scale = to_stable_scale(drawn, name)
        shifts = (on_scale - mean_of_defined(on_scale)) * np.sqrt(share)
        moved = from_stable_scale(to_stable_scale(middle, name) + shifts, name)
        results.append(CoefficientsAtCount(middle, moved))
    return results


def _evaluate_subsets(
    scores: Floats, votes: Votes, figure: tuple[str, str], unit: str, orders: Codes, count: int
) -> Floats:
    """Return draws × metrics, each with the first raters (of each output) or items of its order."""
    systems, items, raters = votes.size
    is_complete = len(votes.values) == systems * items * raters
    rows = max(1, NUMBERS_IN_MEMORY // max(1, items * systems))
    if figure[0] == "item" and (unit == "items" or is_complete):
        rows = len(orders)  # ratings are computed for some items at a time
    people: Floats | ResampledVotes = cell_means(votes)
    blocks = []
    for start in range(0, len(orders), rows):
        block = orders[start : start + rows]
        weights = np.ones((len(block), items))
        if unit == "items":
            weights = (block < count).astype(np.float64)
        elif is_complete:
            people = ResampledVotes(votes, (block < count).astype(np.float64))
        else:
            people = _first_rater_means(votes, block, count)
        draws = StudyDraws(np.ones((len(block), systems)), weights, people)
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
        turns = np.argsort(votes.stimuli * raters + order[votes.listeners])[kept]
        total[draw] = np.bincount(cells, votes.values[turns], minlength=systems * items)
    means = ratio(total, np.broadcast_to(n, total.shape))
    if not np.array_equal(votes.values, np.rint(votes.values)):
        means = tie_rounded_means(means, np.abs(votes.values).max(initial=0))
    return means.reshape(len(orders), items, systems).swapaxes(1, 2)


def sufficient_count(
    counts: Sequence[int], means: Floats, halves: Floats, gain: float, spread: float
) -> int | None:
    """Return the smallest count that is enough, 0 if none is, or None if this is unknown.

    A count is enough if twice as many would gain less than ``gain``, and half the range of draws is
    at most ``spread``. ``means`` and ``halves`` (half ranges) are given per count. Means are
    interpolated on the logarithm of the count. The result is unknown if no count that can be
    doubled has a range of draws.

    >>> means, halves = np.array([0.5, 0.6, 0.63, 0.64]), np.array([0.3, 0.2, 0.1, 0.05])
    >>> sufficient_count([1, 2, 4, 8], means, halves, 0.02, 0.1)
    4
    >>> sufficient_count([1, 2, 4, 8], means, halves, 0.02, 0.08)
    0
    """
    at_counts = np.log2(np.asarray(counts, np.float64))
    doubled = np.flatnonzero(at_counts + 1 <= at_counts[-1] + 1e-9)
    if np.isnan(halves[doubled]).all():
        return None
    gained = np.interp(at_counts[doubled] + 1, at_counts, means) - means[doubled]
    sufficient = doubled[(gained < gain) & (halves[doubled] <= spread)]
    return counts[sufficient[0]] if len(sufficient) else 0


# --- Sample-size curves of a scale ---------------------------------------------------------------


DRAWS_PER_COUNT = 200
FEWER_DRAWS_PER_COUNT = 50  # for very many outputs at the global level


# unit, available number, numbers, and estimates by metric for each number
UnitEstimates = tuple[str, int, list[int], Sequence[Mapping[str, Estimate]]]


def sample_size_curves(
    comparison: ScaleComparison,
    figure: Figure,
    scores: Sequence[Score],
    chance: Mapping[Figure, Estimate],
) -> list[SampleSizeCurve]:
    """Return curves by raters and items, and by references if scores have their number.

    With fewer than five raters or items, and of refined coefficients, there is no curve. Metrics no
    better than ``chance`` have a curve, but no sufficient number.
    """
    if figure.coefficient in REFINED_COEFFICIENTS:
        return []
    limit = chance[figure].high if figure in chance else -np.inf
    values = zip(comparison.table.metrics, comparison.evaluate(figure).value[0], strict=True)
    better = {metric.name for metric, value in values if value > limit}
    limits, curves = (comparison.settings.gain, comparison.settings.spread), []
    for unit, have, counts, estimates in (
        *_unit_estimates(comparison, figure),
        *_reference_estimates(comparison, figure, scores),
    ):
        sufficient = {}
        for name in estimates[0]:
            own = [by_metric[name] for by_metric in estimates]
            means = np.array([estimate.value for estimate in own])
            halves = np.array([(estimate.high - estimate.low) / 2 for estimate in own])
            if name in better and not np.isnan(means).all():
                sufficient[name] = sufficient_count(counts, means, halves, *limits)
        points = tuple(zip(counts, estimates, strict=True))
        curves.append(SampleSizeCurve(unit, figure, have, points, sufficient, *limits))
    return curves


def _unit_estimates(comparison: ScaleComparison, figure: Figure) -> Iterator[UnitEstimates]:
    """Yield estimates with fewer and more raters and items."""
    adjusted, settings = comparison.at_level(figure.level), comparison.settings
    votes = adjusted.opinions
    if not isinstance(votes, Votes):
        return
    has_fewer_draws = comparison.draws_at(figure.level) < settings.draws
    for unit in SAMPLE_UNITS:
        have = count_units(votes, unit)
        # means of fewer raters would not lead to the median of all
        has_curve = unit != "raters" or not isinstance(votes, MedianVotes)
        if not has_curve or have < MIN_CASES_FOR_INTERVAL:
            continue
        counts = [*(2**n for n in range(20) if 2**n < have), have, 2 * have]
        points = coefficients_at_counts(
            adjusted.table.scores,
            votes,
            figure,
            unit,
            counts,
            draws=FEWER_DRAWS_PER_COUNT if has_fewer_draws else DRAWS_PER_COUNT,
            seed=settings.seed,
        )
        estimates = [
            {
                metric.name: estimate_at_count(
                    at_count, n, figure.coefficient, settings.level, count, have
                )
                for n, metric in enumerate(comparison.table.metrics)
            }
            for count, at_count in zip(counts, points, strict=True)
        ]
        yield unit, have, counts, estimates


def estimate_at_count(
    at_count: CoefficientsAtCount, metric: int, name: str, level: float, count: int, have: int
) -> Estimate:
    """Return the value for a number of units, with the percentile range of draws.

    The range is widened as Student's t is wider than the normal distribution, since the spread is
    estimated from the units that the study ``have``.
    """
    from scipy.special import ndtri, stdtrit

    draws = at_count.draws[:, metric]
    defined = draws[~np.isnan(draws)]
    low, high = nan, nan
    if len(defined) >= MIN_CASES_FOR_INTERVAL:
        ends = np.concatenate(percentile_interval(defined[:, None], level))
        factor = stdtrit(have - 1, (1 + level) / 2) / ndtri((1 + level) / 2)
        centre = to_stable_scale(at_count.value[metric], name)
        spread = to_stable_scale(ends, name) - centre
        low, high = from_stable_scale(centre + factor * spread, name).tolist()
    missing = len(draws) - len(defined)
    return Estimate(float(at_count.value[metric]), low, high, level, count, missing, "draws")


# --- Fewer references ----------------------------------------------------------------------------
# Scores with fewer references come from ``earwitness score``, which draws annotators without
# replacement, the same in all items. So draws vary too little by √(1 − k / n), as those of raters
# do, and the spread with all references is that of the number nearest to half of them, scaled by
# the root of the numbers.
#
# Scoring takes long, so draws are few, as annotators are. Percentiles of few draws are far too
# narrow: the range is instead their standard deviation times a quantile of Student's t, with one
# degree of freedom less than there are draws or annotators, whichever is fewer.


def _reference_estimates(
    comparison: ScaleComparison, figure: Figure, scores: Sequence[Score]
) -> Iterator[UnitEstimates]:
    """Yield estimates with fewer references, with each draw evaluated separately."""
    known = {(score.metric, score.references) for score in scores if score.references}
    reference_counts = group_values(sorted(known))
    metrics = [
        (place, metric.name)
        for place, metric in enumerate(comparison.table.metrics)
        if len(reference_counts.get(metric.name, ())) > 1
    ]
    if not metrics:
        return
    counts = sorted({count for _, name in metrics for count in reference_counts[name]})
    draws = {
        count: _evaluate_reference_draws(comparison, figure, scores, count) for count in counts
    }
    estimates = [dict[str, Estimate]() for _ in counts]
    for place, name in metrics:
        own = {count: draws[count][:, place] for count in reference_counts[name]}
        for by_metric, count in zip(estimates, counts, strict=True):
            by_metric[name] = estimate_with_references(
                own, count, figure.coefficient, comparison.settings.level
            )
    yield "references", counts[-1], counts, estimates


def _evaluate_reference_draws(
    comparison: ScaleComparison, figure: Figure, scores: Sequence[Score], count: int
) -> Floats:
    """Return the coefficient for every draw of a number of references, as draws × metrics."""
    joined, people = comparison.table, comparison.at_level(figure.level).grid.people
    adjusted = comparison.at_level(figure.level) is not comparison
    by_draw = group_values((score.draw, score) for score in scores if score.references == count)
    rows = []
    for draw in sorted(by_draw):
        table = score_table(
            by_draw[draw],
            joined.metrics,
            joined.systems,
            joined.items,
            low_is_good=joined.low_is_good,
        )
        table = subtract_item_effects(table, people) if adjusted else table
        grid = ScoreRatingGrid(table, people)
        rows.append(evaluate_grid(grid, figure.level, [figure.coefficient]).value[0])
    return np.array(rows)


def estimate_with_references(
    draws: Mapping[int, Floats], count: int, name: str, level: float
) -> Estimate:
    """Return a coefficient with a number of references, and its range between sets of annotators.

    Parameters
    ----------
    draws
        Values of one metric by number of references, one for each draw. The largest number is that
        of all references.
    count
        Number of references.
    name
        Name of the coefficient.
    level
        Level of the range.

    Returns
    -------
    Estimate
        Mean over draws, and the range expected of that many other annotators. The range is
        undefined with fewer than five draws.
    """
    from scipy.special import stdtrit

    defined = {k: values[~np.isnan(values)] for k, values in draws.items()}
    own, total = defined.get(count, np.empty(0)), max(draws)
    middle = own.mean() if len(own) else np.array(np.nan)
    numbers = [count] if count < total else [k for k in defined if k < total]
    numbers = [k for k in numbers if len(defined.get(k, ())) >= MIN_CASES_FOR_INTERVAL]
    low = high = nan
    if numbers and len(own):
        drawn = min(numbers, key=lambda k: (abs(k - total / 2), k))
        spread = to_stable_scale(defined[drawn], name).std(ddof=1)
        spread *= np.sqrt(drawn / count / (1 - drawn / total))
        half = stdtrit(min(len(defined[drawn]), total) - 1, (1 + level) / 2) * spread
        centre = to_stable_scale(middle, name)
        low, high = (float(from_stable_scale(centre + side * half, name)) for side in (-1, 1))
    missing = len(draws.get(count, ())) - len(own)
    return Estimate(float(middle), low, high, level, count, missing, "draws")
