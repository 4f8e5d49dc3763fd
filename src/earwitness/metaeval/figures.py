"""Agreement on one scale: coefficients, chance, differences and mapping errors."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.chance import chance_coefficients
from earwitness.metaeval.coefficients import (
    CALIBRATED_COEFFICIENT,
    REFINED_LEVELS,
    SOFT_COEFFICIENT,
    plain_coefficient,
)
from earwitness.metaeval.join import ChoiceAbilities, ScoreRatingTable, mean_opinions
from earwitness.metaeval.levels import (
    PARTIAL_COEFFICIENTS,
    LevelValues,
    ScoreRatingGrid,
    StudyDraws,
    evaluate_grid,
    evaluate_partial,
    fit_item_effects,
    group_by_known_cells,
    interval_half_widths,
    is_complete,
    is_connected,
    mean_of_defined,
    subtract_item_effects,
)
from earwitness.metaeval.mapping import MAPPING_ORDERS, Accuracy, Fit, measure_accuracy
from earwitness.metaeval.pairwise_accuracy import (
    TieCalibration,
    calibrate_ties,
    resample_soft_accuracy,
    soft_accuracy_draws,
    soft_pairwise_accuracy,
)
from earwitness.metaeval.resampling import (
    RESAMPLED_AXES,
    Interval,
    bootstrap_interval,
    resample_coefficients,
    resample_partial,
)
from earwitness.metaeval.results import (
    Figure,
    MappingErrors,
)
from earwitness.metaeval.settings import (
    MIN_SIZES_FOR_INTERVAL,
    AgreementSettings,
)
from earwitness.stats import significance
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import percentile_interval
from earwitness.stats.votes import Votes

# --- Comparison on one scale ---------------------------------------------------------------------


# The global level has one value per output, metric and draw; beyond this many, draws are reduced,
# since intervals use only their standard deviation.
MAX_GLOBAL_VALUES = 50_000_000
MIN_GLOBAL_DRAWS = 200


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

    def for_figure(self, figure: Figure) -> ScaleComparison:
        """Return the comparison at the level of a figure.

        Soft pairwise accuracy pairs systems by item, so its cells are not adjusted for items.
        """
        return self if figure.coefficient == SOFT_COEFFICIENT else self.at_level(figure.level)

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
    def controls(self) -> list[int]:
        """Indices of the metrics that partial correlations control for."""
        names = [metric.name for metric in self.table.metrics]
        return [names.index(name) for name in self.settings.partial]

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
            draws=self.draws_at(level),
            seed=settings.seed,
            margins=margins,
        )

    @cached_property
    def calibration(self) -> TieCalibration:
        """Margins of calibrated ties, and acc_23 with them."""
        return calibrate_ties(self.grid, folds=self.settings.folds, seed=self.settings.seed)

    @cached_property
    def _soft_accuracy(self) -> Floats:
        settings = self.settings
        return soft_pairwise_accuracy(
            self.grid, permutations=settings.permutations, seed=settings.seed
        )

    def evaluate(self, figure: Figure) -> LevelValues:
        """Return one coefficient of all metrics at its level."""
        grid, plain = self.at_level(figure.level).grid, plain_coefficient(figure.coefficient)
        point = evaluate_grid(grid, figure.level, [plain])
        if figure.coefficient == SOFT_COEFFICIENT:
            return point._replace(value=self._soft_accuracy[None])
        if figure.coefficient == CALIBRATED_COEFFICIENT:
            return point._replace(value=self.calibration.value[None])
        return point

    def interval(self, figure: Figure, point: LevelValues) -> Interval:
        """Return the bootstrap intervals of one coefficient."""
        settings, plain = self.settings, [plain_coefficient(figure.coefficient)]
        if figure.coefficient == SOFT_COEFFICIENT:
            draws = resample_soft_accuracy(
                self.table.scores,
                self.opinions,
                over=settings.over,
                draws=settings.draws,
                seed=settings.seed,
            )[None]
        else:
            is_calibrated = figure.coefficient == CALIBRATED_COEFFICIENT
            is_calibrated = is_calibrated and not self.calibration.reason
            margins = self.calibration.by_item if is_calibrated else 0.0
            draws = self.resample_with_margins(figure.level, plain, margins)
        return self.coefficient_interval(point.value, draws, plain)

    def draws_at(self, level: str) -> int:
        """Return the number of bootstrap draws, which is smaller for very many outputs at once."""
        draws = self.settings.draws
        if level != "global":
            return draws
        return min(draws, max(MIN_GLOBAL_DRAWS, MAX_GLOBAL_VALUES // self.table.scores.size))

    def interval_method(self, level: str) -> str:
        """Return how intervals are computed, with the number of draws if it is not as set."""
        method, draws = f"bootstrap over {self.settings.over}", self.draws_at(level)
        return method if draws == self.settings.draws else f"{method}, {draws} draws"

    def coefficient_interval(self, points: Floats, draws: Floats, names: list[str]) -> Interval:
        """Return bootstrap intervals of coefficients, NaN if there are too few units."""
        level = self.settings.level
        return self._mask_if_too_few(
            bootstrap_interval(points, draws, names, level=level, count=self._resampled_count)
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
        _add_figures(estimates, point, ends, names, comparison, level)
        is_ranked = comparison.settings.coefficient == CALIBRATED_COEFFICIENT
        if level == "item" and (is_ranked or not comparison.calibration.reason):
            _add_refined_coefficient(comparison, CALIBRATED_COEFFICIENT, estimates)
            for metric_estimates, margin in zip(
                estimates, comparison.calibration.margin.tolist(), strict=True
            ):
                metric_estimates.margins["item"] = margin
        if level == "system" and isinstance(comparison.opinions, Votes):
            _add_refined_coefficient(comparison, SOFT_COEFFICIENT, estimates)
        if comparison.settings.partial:
            _add_partial_coefficients(comparison.at_level(level), level, estimates)
    return estimates


def make_estimate(
    point: LevelValues,
    ends: Interval,
    place: tuple[int, int],
    comparison: ScaleComparison,
    level: str,
) -> Estimate:
    """Return the estimate of a coefficient and a metric, by number."""
    return Estimate(
        float(point.value[place]),
        float(ends.low[place]),
        float(ends.high[place]),
        comparison.settings.level,
        int(point.n[place]),
        int(point.undefined[place]),
        comparison.interval_method(level),
    )


def _add_figures(
    estimates: list[FigureEstimates],
    point: LevelValues,
    ends: Interval,
    names: list[str],
    comparison: ScaleComparison,
    level: str,
) -> None:
    for metric, metric_estimates in enumerate(estimates):
        for row, name in enumerate(names):
            estimate = make_estimate(point, ends, (row, metric), comparison, level)
            metric_estimates.figures[Figure(level, name)] = estimate


def _add_refined_coefficient(
    comparison: ScaleComparison, name: str, estimates: list[FigureEstimates]
) -> None:
    """Add tie-calibrated acc_23 or soft pairwise accuracy."""
    figure = Figure(REFINED_LEVELS[name][0], name)
    point = comparison.evaluate(figure)
    ends = comparison.interval(figure, point)
    _add_figures(estimates, point, ends, [name], comparison, figure.level)


def _add_partial_coefficients(
    comparison: ScaleComparison, level: str, estimates: list[FigureEstimates]
) -> None:
    """Add partial correlations given the columns to control for."""
    settings, scores = comparison.settings, comparison.table.scores
    controls = scores[comparison.controls]
    _, systems, items = scores.shape
    once = StudyDraws(np.ones((1, systems)), np.ones((1, items)), comparison.grid.people[None])
    values, n = (part[:, 0] for part in evaluate_partial(level, scores, controls, once))
    draws = resample_partial(
        scores,
        controls,
        comparison.opinions,
        level,
        over=settings.over,
        draws=comparison.draws_at(level),
        seed=settings.seed,
    )
    ends = comparison.coefficient_interval(values, draws, list(PARTIAL_COEFFICIENTS.values()))
    rated = int((~np.isnan(comparison.grid.people)).sum())
    total = {"system": systems, "item": items, "global": rated}[level]
    point = LevelValues(values, n, total - n)
    _add_figures(estimates, point, ends, list(PARTIAL_COEFFICIENTS), comparison, level)


def estimate_chance(comparison: ScaleComparison) -> dict[Figure, Estimate]:
    """Return the mean and range of each coefficient expected by chance.

    The scores of the metrics are kept, but systems (at the global level also items) are permuted
    against the ratings. Permuted metrics favour systems, tie, and lack outputs just as the metrics
    do. Independent noise for each output would favour no system, and its range over items would be
    too
    narrow.
    """
    estimates: dict[Figure, Estimate] = {}
    settings = comparison.settings
    for level in comparison.levels:
        names, grid = settings.coefficient_names(level), comparison.at_level(level).grid
        draws = chance_coefficients(grid, level, names, CHANCE_METRIC_COUNT, settings.seed)
        if level in REFINED_LEVELS.get(settings.coefficient, ()):
            draws = np.concatenate([draws, _chance_of_refined(comparison)[None]])
            names = [*names, settings.coefficient]
        plain = [plain_coefficient(name) for name in names]
        things = evaluate_grid(grid, level, plain).n.max(axis=1)
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


def _chance_of_refined(comparison: ScaleComparison) -> Floats:
    """Return draws of tie-calibrated acc_23 or soft pairwise accuracy with permuted systems.

    Systems are permuted with the ratings of all their items, and ties are calibrated in each draw.
    """
    settings = comparison.settings

    def calibrated(scores: Floats, draws: StudyDraws) -> Floats:
        grids = (ScoreRatingGrid(scores, people) for people in draws.people_table)
        return np.array(
            [calibrate_ties(grid, folds=settings.folds, seed=settings.seed).value for grid in grids]
        )

    evaluate = soft_accuracy_draws if settings.coefficient == SOFT_COEFFICIENT else calibrated
    permuted: Floats = chance_coefficients(
        comparison.grid,
        "item",
        [settings.coefficient],
        CHANCE_METRIC_COUNT,
        settings.seed,
        lambda scores, draws: evaluate(scores, draws)[None],
    )[0]
    return permuted


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
    scores, means = (
        mean_of_defined(np.where(is_known, side, np.nan), axis=2)
        for side in (comparison.table.scores, people)
    )
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
