"""Agreement on one scale: coefficients, chance, differences and mapping errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import isnan, nan

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.join import ChoiceAbilities, ScoreRatingTable, mean_opinions
from earwitness.metaeval.levels import (
    LevelValues,
    ScoreRatingGrid,
    evaluate_grid,
    fit_item_effects,
    group_by_known_cells,
    interval_half_widths,
    is_complete,
    is_connected,
    subtract_item_effects,
)
from earwitness.metaeval.mapping import MAPPING_ORDERS, Accuracy, Fit, measure_accuracy
from earwitness.metaeval.resampling import (
    RESAMPLED_AXES,
    Interval,
    bootstrap_interval,
    difference_interval,
    resample_coefficients,
)
from earwitness.metaeval.results import Figure, MappingErrors, MetricDifference, MetricRanking
from earwitness.metaeval.settings import CALIBRATED_COEFFICIENT, AgreementSettings
from earwitness.metaeval.significance import (
    SWAP_UNITS,
    chance_coefficients,
    permutation_p,
    williams_test,
)
from earwitness.metaeval.tie_calibration import calibrate_ties
from earwitness.stats import significance
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import CORRECTIONS
from earwitness.stats.votes import Votes

# --- Comparison on one scale ---------------------------------------------------------------------


MIN_SIZES_FOR_INTERVAL = {
    "systems": 6,
    "items": MIN_CASES_FOR_INTERVAL,
    "raters": MIN_CASES_FOR_INTERVAL,
}


@dataclass(frozen=True)
class ScaleComparison:
    """Scores and ratings on one scale, and the settings of their comparison."""

    table: ScoreRatingTable
    opinions: Votes | ChoiceAbilities
    settings: AgreementSettings
    _resampled: dict[str, Floats] = field(default_factory=dict)

    @cached_property
    def grid(self) -> ScoreRatingGrid:
        """Scores and mean ratings."""
        return ScoreRatingGrid(self.table.scores, mean_opinions(self.opinions))

    def at_level(self, level: str) -> ScaleComparison:
        """Return the comparison at a level; at the system level, cells are adjusted for items."""
        return self._adjusted_for_items if level == "system" else self

    @property
    def is_adjustable(self) -> bool:
        """Whether systems have different items but are connected by shared items."""
        people = ~np.isnan(self.grid.people)
        tables = [people, *(people & ~np.isnan(self.table.scores))]
        return not all(is_complete(is_known) for is_known in tables) and is_connected(people)

    @cached_property
    def _adjusted_for_items(self) -> ScaleComparison:
        opinions = self.opinions
        is_wanted = self.settings.adjust == "items" and isinstance(opinions, Votes)
        if not is_wanted or not isinstance(opinions, Votes) or not self.is_adjustable:
            return self
        effects = fit_item_effects(self.grid.people)
        scores = subtract_item_effects(self.table.scores, self.grid.people)
        return replace(
            self,
            table=replace(self.table, scores=scores),
            opinions=replace(opinions, values=opinions.values - effects[opinions.items]),
            settings=replace(self.settings, adjust="none"),  # already adjusted
        )

    @property
    def levels(self) -> list[str]:
        """Levels that the ratings allow; choices between systems allow only the system level."""
        return [
            level for level in self.settings.levels if level == "system" or not self.table.paired
        ]

    @property
    def is_resamplable(self) -> bool:
        """Whether there are enough of all resampled units for an interval."""
        raters = self.opinions.size[2]
        sizes = len(self.table.systems), len(self.table.items), raters
        return all(
            size >= minimum or not is_drawn
            for size, minimum, is_drawn in zip(
                sizes,
                MIN_SIZES_FOR_INTERVAL.values(),
                RESAMPLED_AXES[self.settings.over],
                strict=True,
            )
        )

    def resampled(self, level: str) -> Floats:
        """Return all coefficients at a level as coefficients × draws × metrics; computed once."""
        if level not in self._resampled:
            self._resampled[level] = self.resample_with_margins(
                level, self.settings.coefficient_names(level)
            )
        return self._resampled[level]

    def resampled_figure(self, figure: Figure) -> Floats:
        """Return one coefficient as draws × metrics."""
        row = self.settings.coefficient_names(figure.level).index(figure.coefficient)
        return np.asarray(self.resampled(figure.level)[row])

    def resample_with_margins(
        self, level: str, names: list[str], margins: Floats | float = 0.0
    ) -> Floats:
        """Return coefficients × draws × metrics, with differences up to a margin as ties."""
        settings, adjusted = self.settings, self.at_level(level)
        return resample_coefficients(
            adjusted.table.scores,
            adjusted.opinions,
            level,
            names,
            over=settings.over,
            draws=settings.draws,
            seed=settings.seed,
            margins=margins,
        )

    def coefficient_interval(self, points: Floats, draws: Floats, names: list[str]) -> Interval:
        """Return bootstrap intervals of coefficients, NaN if there are too few units."""
        level = self.settings.level
        return self._mask_if_too_few(
            bootstrap_interval(points, draws, names, level=level, count=self._resampled_count)
        )

    def difference_interval(
        self, points: Floats, figure: Figure, pairs: Sequence[tuple[int, int]]
    ) -> Interval:
        """Return bootstrap intervals of differences between two metrics."""
        settings, draws = self.settings, self.resampled_figure(figure)
        name, count = figure.coefficient, self._resampled_count
        return self._mask_if_too_few(
            difference_interval(
                points, draws, name, pairs, over=settings.over, level=settings.level, count=count
            )
        )

    @property
    def _resampled_count(self) -> int | None:
        """Number of resampled units if only one kind is resampled, else None."""
        sizes = len(self.table.systems), len(self.table.items), self.opinions.size[2]
        drawn_sizes = [
            size
            for size, is_drawn in zip(sizes, RESAMPLED_AXES[self.settings.over], strict=True)
            if is_drawn
        ]
        return drawn_sizes[0] if len(drawn_sizes) == 1 else None

    def _mask_if_too_few(self, interval: Interval) -> Interval:
        if self.is_resamplable:
            return interval
        undefined = np.full_like(interval.low, np.nan)
        return Interval(undefined, undefined, interval.undefined)


# --- Coefficients and chance ---------------------------------------------------------------------


CHANCE_METRIC_COUNT = 1000  # number of random permutations
CHANCE_METHOD = "chance"


@dataclass
class FigureEstimates:
    """Coefficients of one metric, and margins of calibrated ties by level."""

    figures: dict[Figure, Estimate]
    margins: dict[str, float]


def estimate_figures(comparison: ScaleComparison) -> list[FigureEstimates]:
    """Return all coefficients of each metric."""
    estimates = [FigureEstimates({}, {}) for _ in comparison.table.metrics]
    for level in comparison.levels:
        names, grid = comparison.settings.coefficient_names(level), comparison.at_level(level).grid
        point = evaluate_grid(grid, level, names)
        ends = comparison.coefficient_interval(point.value, comparison.resampled(level), names)
        for metric, metric_estimates in enumerate(estimates):
            for row, name in enumerate(names):
                estimate = _estimate(point, ends, row, metric, comparison.settings)
                metric_estimates.figures[Figure(level, name)] = estimate
        if level == "item":
            _add_calibrated_accuracy(comparison, grid, estimates)
    return estimates


def _estimate(
    point: LevelValues, ends: Interval, row: int, metric: int, settings: AgreementSettings
) -> Estimate:
    return Estimate(
        float(point.value[row, metric]),
        float(ends.low[row, metric]),
        float(ends.high[row, metric]),
        settings.level,
        int(point.n[row, metric]),
        int(point.undefined[row, metric]),
        f"bootstrap over {settings.over}",
    )


def _add_calibrated_accuracy(
    comparison: ScaleComparison, grid: ScoreRatingGrid, estimates: list[FigureEstimates]
) -> None:
    """Add acc_23 with tie thresholds that are cross-validated over items."""
    settings = comparison.settings
    calibration = calibrate_ties(grid, folds=settings.folds, seed=settings.seed)
    if calibration.reason:
        return
    draws = comparison.resample_with_margins("item", ["acc_23"], calibration.by_item)
    ends = comparison.coefficient_interval(calibration.value[None], draws, ["acc_23"])
    point = evaluate_grid(grid, "item", ["acc_23"])
    for metric, metric_estimates in enumerate(estimates):
        estimate = _estimate(point, ends, 0, metric, settings)
        metric_estimates.figures[Figure("item", CALIBRATED_COEFFICIENT)] = replace(
            estimate, value=float(calibration.value[metric])
        )
        metric_estimates.margins["item"] = float(calibration.margin[metric])


def estimate_chance(comparison: ScaleComparison) -> dict[Figure, Estimate]:
    """Return the mean and range of each coefficient expected by chance.

    The scores of the metrics are kept, but systems (at the global level also items) are permuted
    against the ratings. Permuted metrics favour systems, tie, and lack outputs just as the metrics
    do. Independent noise for each output would favour no system, and its range over items would be
    too
    narrow.
    """
    estimates: dict[Figure, Estimate] = {}
    for level in comparison.levels:
        names, grid = comparison.settings.coefficient_names(level), comparison.at_level(level).grid
        draws = chance_coefficients(
            grid, level, names, CHANCE_METRIC_COUNT, comparison.settings.seed
        )
        things = evaluate_grid(grid, level, names).n.max(axis=1)
        for row, name in enumerate(names):
            defined = draws[row][~np.isnan(draws[row])]
            low, high = percentile_interval(draws[row][:, None], comparison.settings.level)
            estimates[Figure(level, name)] = Estimate(
                float(defined.mean()) if len(defined) else float("nan"),
                float(low[0]),
                float(high[0]),
                comparison.settings.level,
                int(things[row]),
                CHANCE_METRIC_COUNT - len(defined),
                CHANCE_METHOD,
            )
    return estimates


# --- Differences between metrics -----------------------------------------------------------------


MAX_METRICS_ALL_PAIRS = 12  # number of metrics up to which all pairs are compared
MIN_COVERAGE_SHARE = 0.5  # share of units that a value must be based on to be ranked
LEVEL_UNITS = {"system": "systems", "item": "items", "global": "outputs"}
MetricPair = tuple[int, int]


def metric_differences(
    comparison: ScaleComparison, figure: Figure
) -> tuple[list[MetricDifference], MetricRanking]:
    """Test the differences between metrics and rank the metrics in groups.

    With up to ``MAX_METRICS_ALL_PAIRS`` metrics all pairs are compared; with more, the best metric
    of
    each group with all metrics ranked below it, and each metric with each baseline. p is corrected
    across all comparisons of a metric with the metrics ranked below it. Metrics whose value is
    based on
    too few units are not ranked.
    """
    comparison = comparison.at_level(figure.level)
    level_values = evaluate_grid(comparison.grid, figure.level, [figure.coefficient])
    values, unranked = level_values.value[0], _unranked_metrics(comparison, figure, level_values)
    order = [int(n) for n in np.argsort(-values, kind="stable") if n not in unranked]
    pairs = list(combinations(order, 2))
    if len(order) > MAX_METRICS_ALL_PAIRS:
        baselines = {n for n in order if comparison.table.metrics[n].baseline}
        pairs = [pair for pair in pairs if pair[0] == order[0] or baselines & {*pair}]
    differences = _test_pairs(comparison, figure, values, pairs)
    groups: list[list[int]] = []
    for row, number in enumerate(order):
        if groups and not differences[groups[-1][0], number].is_distinct:
            groups[-1].append(number)
            continue
        groups.append([number])
        below = [(number, other) for other in order[row + 1 :]]
        if any(pair not in differences for pair in below):
            differences |= _test_pairs(comparison, figure, values, below)
    names = [metric.name for metric in comparison.table.metrics]
    named_groups = tuple(tuple(names[n] for n in group) for group in groups)
    ranking = MetricRanking(
        figure, named_groups, {names[n]: reason for n, reason in unranked.items()}
    )
    return list(differences.values()), ranking


def _unranked_metrics(
    comparison: ScaleComparison, figure: Figure, level_values: LevelValues
) -> dict[int, str]:
    """Return the metrics that are not ranked, by number, with the reason.

    A metric that is constant within most items has a value for the few others only, which may be
    high
    by chance, or because these items are easy. The largest possible number of units is that of the
    ratings compared with themselves.
    """
    people = comparison.grid.people
    possible = evaluate_grid(
        ScoreRatingGrid(people[None], people), figure.level, [figure.coefficient]
    ).n[0, 0]
    unranked = {}
    for metric, n in enumerate(level_values.n[0]):
        if isnan(level_values.value[0, metric]):
            unranked[metric] = "its value is undefined"
        elif n < MIN_COVERAGE_SHARE * possible:
            unranked[metric] = (
                f"its value is based on only {n:,.0f} of {possible:,.0f} "
                f"{LEVEL_UNITS[figure.level]}"
            )
    return unranked


def _test_pairs(
    comparison: ScaleComparison, figure: Figure, values: Floats, pairs: Sequence[MetricPair]
) -> dict[MetricPair, MetricDifference]:
    """Return the differences of pairs, with the better metric first."""
    if not pairs:
        return {}
    settings, names = comparison.settings, [metric.name for metric in comparison.table.metrics]
    estimates = _difference_estimates(comparison, figure, values, pairs)
    p = {what: _permutation_p(comparison, figure, what, pairs) for what in SWAP_UNITS}
    corrected = _correct_p(p[settings.swap], pairs, CORRECTIONS[settings.correction])
    williams_p = [nan] * len(pairs)
    if figure.level == "system":
        williams_p = list(_williams_p(comparison.grid, pairs))
    return {
        (a, b): MetricDifference(
            names[a],
            names[b],
            figure,
            estimates[n],
            {what: float(p_values[n]) for what, p_values in p.items()},
            corrected[n],
            williams_p[n],
            settings.alpha,
        )
        for n, (a, b) in enumerate(pairs)
    }


def _difference_estimates(
    comparison: ScaleComparison, figure: Figure, values: Floats, pairs: Sequence[MetricPair]
) -> list[Estimate]:
    ends = comparison.difference_interval(values, figure, pairs)
    joined = comparison.table
    count = len(joined.systems) if figure.level == "system" else len(joined.items)
    return [
        Estimate(
            float(values[a] - values[b]),
            float(ends.low[n]),
            float(ends.high[n]),
            comparison.settings.level,
            count,
            int(ends.undefined[n]),
            f"bootstrap over {comparison.settings.over}",
        )
        for n, (a, b) in enumerate(pairs)
    ]


def _permutation_p(
    comparison: ScaleComparison, figure: Figure, unit: str, pairs: Sequence[MetricPair]
) -> Floats:
    return permutation_p(
        comparison.table.scores,
        comparison.grid.people,
        pairs,
        figure.level,
        figure.coefficient,
        unit,
        permutations=comparison.settings.permutations,
        seed=comparison.settings.seed,
    )


def _correct_p(
    p: Floats, pairs: Sequence[MetricPair], correct: Callable[[Sequence[float]], list[float]]
) -> list[float]:
    """Correct p across all comparisons of a metric with the metrics ranked below it."""
    corrected = [nan] * len(pairs)
    for first in dict.fromkeys(pair[0] for pair in pairs):
        positions = [n for n, pair in enumerate(pairs) if pair[0] == first]
        for n, p_value in zip(positions, correct([float(p[n]) for n in positions]), strict=True):
            corrected[n] = p_value
    return corrected


def _williams_p(grid: ScoreRatingGrid, pairs: Sequence[MetricPair]) -> Iterator[float]:
    """Yield the two-sided p of Williams' test on Pearson correlations of system means."""
    for a, b in pairs:
        is_known = ~(np.isnan(grid.scores[a]) | np.isnan(grid.scores[b]) | np.isnan(grid.people))
        pair_scores = np.where(is_known, grid.scores[[a, b]], np.nan)
        with_people = evaluate_grid(
            ScoreRatingGrid(pair_scores, np.where(is_known, grid.people, np.nan)),
            "system",
            ["pearson"],
        )
        sums, counts = np.where(is_known, pair_scores[0], 0).sum(axis=1), is_known.sum(axis=1)
        first = sums / np.maximum(counts, 1)
        between_grid = ScoreRatingGrid(
            pair_scores[1:], np.repeat(first[:, None], is_known.shape[1], axis=1)
        )
        between = evaluate_grid(between_grid, "system", ["pearson"]).value[0, 0]
        yield float(
            williams_test(
                with_people.value[0, 0], with_people.value[0, 1], between, int(with_people.n[0, 0])
            ).p
        )


# --- Errors after a mapping ----------------------------------------------------------------------


CURVE_POINTS = 41  # points of a mapping curve
MAPPING_NAMES = {order: name for name, order in MAPPING_ORDERS.items()}


def mapping_errors(comparison: ScaleComparison) -> list[tuple[MappingErrors, ...]]:
    """Return mapping errors by metric: across systems, and across outputs if these were rated."""
    if not isinstance(comparison.opinions, Votes):
        return [() for _ in comparison.table.metrics]
    errors: list[list[MappingErrors]] = [[] for _ in comparison.table.metrics]
    for level in comparison.levels:
        if level == "item":
            continue
        adjusted = comparison.at_level(level)
        assert isinstance(adjusted.opinions, Votes)
        points = (
            _system_points(adjusted, adjusted.opinions)
            if level == "system"
            else _output_points(adjusted, adjusted.opinions)
        )
        for metric, metric_errors in enumerate(errors):
            metric_errors.append(
                _metric_mapping_errors(
                    comparison, level, metric, *(side[metric] for side in points)
                )
            )
    return [tuple(metric_errors) for metric_errors in errors]


def _metric_mapping_errors(
    comparison: ScaleComparison,
    level: str,
    metric: int,
    scores: Floats,
    people: Floats,
    widths: Floats,
) -> MappingErrors:
    """Return the errors of the metric's own scores; the mapping must rise if both agree so."""
    settings = comparison.settings
    sign = comparison.table.sign(metric)
    accuracy = measure_accuracy(
        sign * scores,
        people,
        widths,
        mapping=settings.mapping,
        direction=sign,
        level=settings.level,
    )
    return MappingErrors(
        level,
        settings.mapping,
        _mapping_name(accuracy.mapping),
        accuracy.pearson,
        accuracy.rmse,
        accuracy.rmse_star,
        accuracy.outliers,
        _mapping_curve(accuracy),
    )


def _mapping_name(fit: Fit | None) -> str:
    """Return the name of the mapping: flat if no curve beats the mean, mean with too few points."""
    if fit is None:
        return "none"
    return MAPPING_NAMES[fit.order] if fit.order else "flat" if fit.flat else "mean"


def _mapping_curve(accuracy: Accuracy) -> tuple[tuple[float, float], ...]:
    fit: Fit | None = accuracy.mapping
    if fit is None or not np.isfinite(fit.low):
        return ()
    x = np.linspace(fit.low, fit.high, CURVE_POINTS)
    return tuple(zip(x.tolist(), fit.map_scores(x).tolist(), strict=True))


MappingPoints = tuple[Floats, Floats, Floats]  # metrics × points: scores, ratings, half widths


def _system_points(comparison: ScaleComparison, votes: Votes) -> MappingPoints:
    """Return system means over the cells that the metric scores, with intervals over listeners."""
    people = comparison.grid.people
    is_known = ~np.isnan(comparison.table.scores) & ~np.isnan(people)
    count = is_known.sum(axis=2).astype(np.float64)
    scores = significance.ratio(np.where(is_known, comparison.table.scores, 0).sum(axis=2), count)
    means = significance.ratio(np.where(is_known, people, 0).sum(axis=2), count)
    widths = np.empty_like(scores)
    for which, metric_known in group_by_known_cells(comparison.table.scores):
        widths[which] = interval_half_widths(votes, metric_known, 0.95)
    return scores, means, widths


def _output_points(comparison: ScaleComparison, votes: Votes) -> MappingPoints:
    """Return each output with the t interval of its votes."""
    table = votes.table().T
    moments = significance.column_moments(table)
    low, high = significance.mean_interval(moments, 0.95)
    half_widths = ((high - low) / 2).reshape(votes.size[1], votes.size[0]).T.ravel()
    scores = comparison.table.scores.reshape(len(comparison.table.scores), -1)
    people = comparison.grid.people.ravel()
    return scores, np.broadcast_to(people, scores.shape), np.broadcast_to(half_widths, scores.shape)
