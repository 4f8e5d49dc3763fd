"""Ranking of metrics by agreement with ratings, with tests of the differences between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from math import isnan, nan

import numpy as np

from earwitness.core import Estimate, number_keys
from earwitness.metaeval.coefficients import (
    COEFFICIENTS,
    plain_coefficient,
)
from earwitness.metaeval.contributions import count_swapped_units
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.levels import LevelValues, ScoreRatingGrid, evaluate_grid
from earwitness.metaeval.results import Figure, MetricDifference, MetricRanking, MetricTest
from earwitness.metaeval.significance import (
    SWAP_UNITS,
    SwappedDifferences,
    count_needed_units,
    smallest_p,
    swap_metrics,
    williams_test,
)
from earwitness.stats.arrays import Floats
from earwitness.stats.significance import build_estimates

MAX_METRICS_ALL_PAIRS = 12  # number of metrics up to which all pairs are reported
MAX_PAIRS_ALL_UNITS = 66  # number of pairs up to which all units are swapped
MIN_COVERAGE_SHARE = 0.5  # share of units that a value must be based on to be ranked
LEVEL_UNITS = {"system": "systems", "item": "items", "global": "outputs"}
MetricPair = tuple[int, int]


def metric_differences(
    comparison: ScaleComparison, figure: Figure
) -> tuple[list[MetricDifference], MetricRanking]:
    """Test the differences between metrics and rank the metrics in groups.

    There are two families of tests, each with its own correction: all pairs of metrics, and each
    metric with each baseline. With more than ``MAX_METRICS_ALL_PAIRS`` metrics, results contain
    only the pairs with the best metric of a group and with baselines; p is still corrected for all
    pairs. Metrics whose value is based on too few units are not ranked.
    """
    level_values = comparison.evaluate(figure)
    comparison = comparison.for_figure(figure)
    values, unranked = level_values.value[0], _unranked_metrics(comparison, figure, level_values)
    order = [int(n) for n in np.argsort(-values, kind="stable") if n not in unranked]
    is_baseline = [metric.baseline for metric in comparison.table.metrics]
    metrics = [n for n in order if not is_baseline[n]] or order
    between_metrics = list(combinations(metrics, 2))
    with_baselines = [
        pair for pair in combinations(order, 2) if is_baseline[pair[0]] != is_baseline[pair[1]]
    ]
    tests = _PairTests(comparison, figure, values, [between_metrics, with_baselines])
    groups: list[list[int]] = []
    for number in metrics:
        if groups and not tests.is_distinct(groups[-1][0], number):
            groups[-1].append(number)
        else:
            groups.append([number])
    heads = {group[0] for group in groups}
    reported = [
        pair
        for pair in between_metrics
        if len(metrics) <= MAX_METRICS_ALL_PAIRS or pair[0] in heads
    ]
    names = [metric.name for metric in comparison.table.metrics]
    ranking = MetricRanking(
        figure,
        tuple(tuple(names[n] for n in group) for group in groups),
        {names[n]: reason for n, reason in unranked.items()},
        tuple(names[n] for n in order),
        tests.test,
    )
    return tests.differences([*reported, *with_baselines]), ranking


class _PairTests:
    """Permutation tests of pairs of metrics, in families with a correction each."""

    def __init__(
        self,
        comparison: ScaleComparison,
        figure: Figure,
        values: Floats,
        families: Sequence[Sequence[MetricPair]],
    ) -> None:
        self.comparison, self.figure, self.values = comparison, figure, values
        settings, shape = comparison.settings, comparison.grid.people.shape
        unit = settings.swap
        pairs = [pair for family in families for pair in family]
        self.index = number_keys(pairs)
        swapped = self._swapped(pairs, unit)
        self.p = swapped.p_values()
        bounds = np.cumsum([0, *map(len, families)]).tolist()
        tested = [
            swapped.select(np.arange(*ends)).test(settings.level) for ends in pairwise(bounds)
        ]
        self.corrected = np.concatenate([family.p for family in tested])
        self.half_widths = np.concatenate([family.half_width for family in tested])
        count = count_swapped_units(shape, unit)
        smallest = smallest_p(count, settings.permutations)
        needed = count_needed_units(settings.alpha)
        self.test = MetricTest(unit, count, smallest, needed, *map(len, families))

    def _swapped(self, pairs: Sequence[MetricPair], unit: str) -> SwappedDifferences:
        settings = self.comparison.settings
        return swap_metrics(
            self.comparison.table.scores,
            self.comparison.grid.people,
            pairs,
            self.figure.level,
            self.figure.coefficient,
            unit,
            permutations=settings.permutations,
            seed=settings.seed,
            margins=self.comparison.margins(self.figure),
        )

    def is_distinct(self, a: int, b: int) -> bool:
        """Return whether two metrics differ significantly."""
        return bool(self.corrected[self.index[a, b]] < self.comparison.settings.alpha)

    def _estimates(self, pairs: Sequence[MetricPair]) -> list[Estimate]:
        """Return the differences of pairs with the intervals of the test."""
        limit = 1 - COEFFICIENTS[plain_coefficient(self.figure.coefficient)].low
        numbers = [self.index[pair] for pair in pairs]
        first, second = np.array(pairs).T
        value = self.values[first] - self.values[second]
        settings, test = self.comparison.settings, self.test
        is_distinct = self.corrected[numbers] < settings.alpha
        # whatever rounding says, 0 is inside if a difference is not significant
        half_width = np.maximum(self.half_widths[numbers], np.where(is_distinct, 0, np.abs(value)))
        ends = np.maximum(value - half_width, -limit), np.minimum(value + half_width, limit)
        method = f"permutation of {test.unit}"
        return build_estimates(value, ends, settings.level, test.units, 0, method)

    def differences(self, pairs: Sequence[MetricPair]) -> list[MetricDifference]:
        """Return the differences of pairs, with p for all swapped units if pairs are few."""
        if not pairs:
            return []
        settings = self.comparison.settings
        names = [metric.name for metric in self.comparison.table.metrics]
        numbers = [self.index[pair] for pair in pairs]
        p_by_unit = {
            unit: self.p[numbers]
            if unit == self.test.unit
            else self._swapped(pairs, unit).p_values()
            for unit in SWAP_UNITS
            if unit == self.test.unit or len(pairs) <= MAX_PAIRS_ALL_UNITS
        }
        williams_p = [nan] * len(pairs)
        if self.figure.level == "system":
            williams_p = list(williams_p_values(self.comparison.grid, pairs))
        return [
            MetricDifference(
                names[a],
                names[b],
                self.figure,
                estimate,
                {unit: float(p[row]) for unit, p in p_by_unit.items()},
                float(self.corrected[numbers[row]]),
                williams_p[row],
                settings.alpha,
                self.test.unit,
            )
            for row, ((a, b), estimate) in enumerate(
                zip(pairs, self._estimates(pairs), strict=True)
            )
        ]


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
        ScoreRatingGrid(people[None], people), figure.level, [plain_coefficient(figure.coefficient)]
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


def williams_p_values(grid: ScoreRatingGrid, pairs: Sequence[MetricPair]) -> Iterator[float]:
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
