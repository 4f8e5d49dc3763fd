"""Agreement on one scale: coefficients, chance, differences and mapping errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.chance import chance_coefficients
from earwitness.metaeval.coefficients import (
    CALIBRATED_COEFFICIENT,
    PARTIAL_COEFFICIENTS,
    REFINED_LEVELS,
    SOFT_COEFFICIENT,
    coefficient_names,
    plain_coefficient,
)
from earwitness.metaeval.join import ChoiceAbilities, ScoreRatingTable, mean_opinions
from earwitness.metaeval.levels import (
    LevelValues,
    ScoreRatingGrid,
    StudyDraws,
    evaluate_grid,
    fit_item_effects,
    group_by_known_cells,
    interval_half_widths,
    is_complete,
    is_connected,
    mean_of_defined,
    subtract_item_effects,
)
from earwitness.metaeval.mapping import MAPPING_ORDERS, measure_accuracy
from earwitness.metaeval.pairwise_accuracy import (
    TieCalibration,
    calibrate_ties,
    resample_soft_accuracy,
    soft_accuracy_draws,
    soft_pairwise_accuracy,
)
from earwitness.metaeval.resampling import (
    RESAMPLED_AXES,
    bootstrap_interval,
    resample_coefficients,
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
from earwitness.stats.significance import build_estimates
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
    is_adjusted: bool = False  # cells are adjusted for items

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
        if self.is_adjusted or not isinstance(opinions, Votes) or not self.is_adjustable:
            return self
        effects = fit_item_effects(self.grid.people)
        scores = subtract_item_effects(self.table.scores, self.grid.people)
        return replace(
            self,
            table=replace(self.table, scores=scores),
            opinions=replace(opinions, values=opinions.values - effects[opinions.items]),
            is_adjusted=True,
        )

    @property
    def levels(self) -> list[str]:
        """Levels that the ratings allow; choices between systems allow only the system level."""
        return [level for level in self.settings.at if level == "system" or not self.table.paired]

    @property
    def controls(self) -> Floats:
        """Scores of the metrics that partial correlations control for."""
        names = [metric.name for metric in self.table.metrics]
        return self.table.scores[[names.index(name) for name in self.settings.partial]]

    @property
    def resampled_sizes(self) -> dict[str, int]:
        """Numbers of units that are resampled, by their kind."""
        sizes = len(self.table.systems), len(self.table.items), self.opinions.size[2]
        kinds = zip(MIN_SIZES_FOR_INTERVAL, sizes, RESAMPLED_AXES[self.settings.over], strict=True)
        return {unit: size for unit, size, is_drawn in kinds if is_drawn}

    def resample(
        self,
        level: str,
        names: Sequence[str],
        margins: Floats | float = 0.0,
        controls: Floats | None = None,
    ) -> Floats:
        """Return draws of coefficients; see ``resample_coefficients``."""
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
            controls=controls,
        )

    @cached_property
    def calibration(self) -> TieCalibration:
        """Margins of calibrated ties, and acc_23 with them."""
        return calibrate_ties(self.grid, folds=self.settings.folds, seed=self.settings.seed)

    @property
    def has_calibration(self) -> bool:
        """Whether tie-calibrated acc_23 is reported: if it is possible, or ranks metrics."""
        is_ranked = self.settings.coefficient == CALIBRATED_COEFFICIENT
        return "item" in self.levels and (is_ranked or self.calibration.is_possible)

    def margins(self, figure: Figure) -> Floats | None:
        """Return margins of calibrated ties as metrics × items, if a coefficient has them."""
        is_calibrated = figure.coefficient == CALIBRATED_COEFFICIENT
        is_calibrated = is_calibrated and self.calibration.is_possible
        return self.calibration.by_item if is_calibrated else None

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

    def estimate_figure(self, figure: Figure) -> list[Estimate]:
        """Return one coefficient of each metric with its interval."""
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
            margins = self.margins(figure)
            draws = self.resample(figure.level, plain, 0.0 if margins is None else margins)
        return self.estimate(figure.level, plain, self.evaluate(figure), draws)[0]

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

    def estimate(
        self, level: str, names: Sequence[str], point: LevelValues, draws: Floats
    ) -> list[list[Estimate]]:
        """Return estimates by coefficient and metric; intervals are NaN with too few units."""
        sizes, confidence = self.resampled_sizes, self.settings.level
        low, high = np.full((2, *point.value.shape), np.nan)
        if all(size >= MIN_SIZES_FOR_INTERVAL[unit] for unit, size in sizes.items()):
            count = min(sizes.values()) if len(sizes) == 1 else None
            low, high = bootstrap_interval(point.value, draws, names, level=confidence, count=count)
        method, columns = self.interval_method(level), (point.value, low, high, *point[1:])
        return [
            build_estimates(value, (start, end), confidence, n, undefined, method)
            for value, start, end, n, undefined in zip(*columns, strict=True)
        ]


# --- Coefficients and chance ---------------------------------------------------------------------


CHANCE_METRIC_COUNT = 1000  # number of random permutations
CHANCE_METHOD = "chance"


def estimate_figures(comparison: ScaleComparison) -> list[dict[Figure, Estimate]]:
    """Return all coefficients of each metric."""
    estimates: list[dict[Figure, Estimate]] = [{} for _ in comparison.table.metrics]
    for level in comparison.levels:
        names, adjusted = coefficient_names(level), comparison.at_level(level)
        point, draws = evaluate_grid(adjusted.grid, level, names), comparison.resample(level, names)
        rows = dict(zip(names, comparison.estimate(level, names, point, draws), strict=True))
        refined = {
            CALIBRATED_COEFFICIENT: level == "item" and comparison.has_calibration,
            SOFT_COEFFICIENT: level == "system" and isinstance(comparison.opinions, Votes),
        }
        for name in (name for name, is_reported in refined.items() if is_reported):
            rows[name] = comparison.estimate_figure(Figure(level, name))
        if comparison.settings.partial:
            plain, controls = [*PARTIAL_COEFFICIENTS], adjusted.controls
            point = evaluate_grid(adjusted.grid, level, plain, controls=controls)
            draws = comparison.resample(level, plain, controls=controls)
            partial = comparison.estimate(level, plain, point, draws)
            rows |= zip(PARTIAL_COEFFICIENTS.values(), partial, strict=True)
        for name, row in rows.items():
            for metric_estimates, estimate in zip(estimates, row, strict=True):
                metric_estimates[Figure(level, name)] = estimate
    return estimates


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
        names, grid = coefficient_names(level), comparison.at_level(level).grid
        draws = chance_coefficients(grid, level, names, CHANCE_METRIC_COUNT, settings.seed)
        if level in REFINED_LEVELS.get(settings.coefficient, ()):
            draws = np.concatenate([draws, _chance_of_refined(comparison)[None]])
            names = (*names, settings.coefficient)
        plain = [plain_coefficient(name) for name in names]
        things = evaluate_grid(grid, level, plain).n.max(axis=1)
        for row, name in enumerate(names):
            defined = draws[row][~np.isnan(draws[row])]
            low, high = percentile_interval(draws[row][:, None], settings.level)
            estimates[Figure(level, name)] = Estimate(
                float(defined.mean()) if len(defined) else float("nan"),
                float(low[0]),
                float(high[0]),
                settings.level,
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
    """Return mapping errors by metric: across systems, and across outputs if these were rated.

    Errors are those of the metric's own scores; the mapping must rise if both agree so. It is flat
    if no curve beats the mean, and the mean with too few points.
    """
    errors: list[list[MappingErrors]] = [[] for _ in comparison.table.metrics]
    settings = comparison.settings
    for level in comparison.levels:
        adjusted = comparison.at_level(level)
        if level == "item" or not isinstance(adjusted.opinions, Votes):
            continue
        find_points = _system_points if level == "system" else _output_points
        points = zip(*find_points(adjusted, adjusted.opinions), strict=True)
        for metric, (scores, people, widths) in enumerate(points):
            sign = comparison.table.sign(metric)
            accuracy = measure_accuracy(
                sign * scores,
                people,
                widths,
                mapping=settings.mapping,
                direction=sign,
                level=settings.level,
            )
            used = "none"
            curve: tuple[tuple[float, float], ...] = ()
            if (fit := accuracy.mapping) is not None:
                used = MAPPING_NAMES[fit.order] if fit.order else "flat" if fit.flat else "mean"
                if np.isfinite(fit.low):
                    x = np.linspace(fit.low, fit.high, CURVE_POINTS)
                    curve = tuple(zip(x.tolist(), fit.map_scores(x).tolist(), strict=True))
            errors[metric].append(
                MappingErrors(
                    level,
                    settings.mapping,
                    used,
                    accuracy.pearson,
                    accuracy.rmse,
                    accuracy.rmse_star,
                    accuracy.outliers,
                    curve,
                )
            )
    return [tuple(metric_errors) for metric_errors in errors]


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
