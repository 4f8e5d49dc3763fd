"""Results of an agreement analysis, by metric and rating scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from typing import NamedTuple

from earwitness.core import Estimate, Input, Value
from earwitness.report.result import Result


class Figure(NamedTuple):
    """Key of a result: the level and the coefficient."""

    level: str
    coefficient: str

    def __str__(self) -> str:
        return f"{self.level} {self.coefficient}"


@dataclass(frozen=True, slots=True)
class MappingErrors:
    """Errors of scores after mapping to the rating scale, as defined in ITU-T P.1401.

    ``curve`` has points of the mapping: the metric's own score, and the mapped value. ``asked`` is
    the requested mapping, ``used`` the one that the number of points allows, or ``flat`` if no
    curve fits better than the mean.
    """

    level: str
    asked: str
    used: str
    pearson: Estimate
    rmse: Estimate
    rmse_star: Estimate
    outliers: Estimate
    curve: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class MetricFigures:
    """Agreement of one metric with the ratings.

    ``low_is_good`` means that lower scores are better; ``baseline`` marks a trivial metric for
    comparison. ``systems`` has mean scores over rated outputs. ``margins`` has, by level, the
    largest score difference that counts as a tie after calibration. ``people`` has mean ratings
    over the outputs that the metric scores, if it does not score all.
    """

    metric: str
    figures: Mapping[Figure, Estimate]
    systems: Mapping[str, Estimate]
    outputs: int
    low_is_good: bool = False
    baseline: bool = False
    margins: Mapping[str, float] = field(default_factory=dict)
    mapped: tuple[MappingErrors, ...] = ()
    people: Mapping[str, Estimate] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """Difference between two metrics in one coefficient (first minus second), with tests.

    ``p`` has p of permutation tests by swapped unit (items, systems, outputs); of many pairs only
    of the deciding test, which swaps ``unit``. ``corrected`` is p of that test, corrected for all
    pairs of its family. The interval of ``difference`` is that of the same test: it excludes 0 if
    the metrics differ significantly.
    ``williams`` is p of Williams' test for Pearson's r, which assumes independent systems.
    """

    a: str
    b: str
    figure: Figure
    difference: Estimate
    p: Mapping[str, float]
    corrected: float
    williams: float = nan
    alpha: float = 0.05
    unit: str = "systems"

    @property
    def is_distinct(self) -> bool:
        """Whether the two metrics differ significantly."""
        return self.corrected < self.alpha


@dataclass(frozen=True, slots=True)
class MetricTest:
    """The test that decides on differences between metrics.

    ``unit`` is the swapped unit, ``units`` their number, and ``smallest_p`` the smallest p that so
    many units can give. ``needed`` is the number of units that a significant p needs. ``pairs`` and
    ``baseline_pairs`` are the sizes of the two families for which p is corrected: pairs of metrics,
    and metrics with baselines.
    """

    unit: str
    units: int
    smallest_p: float
    needed: int
    pairs: int
    baseline_pairs: int


@dataclass(frozen=True, slots=True)
class HumanCeiling:
    """Agreement among raters by one coefficient: one rater with the others, and half with half.

    ``stepped`` is the agreement of two full panels by the Spearman–Brown formula, for Pearson's r.
    """

    figure: Figure
    rater: Estimate
    halves: Estimate
    stepped: float = nan


@dataclass(frozen=True, slots=True)
class SampleSizeCurve:
    """A coefficient of each metric by number of raters, items or references.

    ``have`` is the available number. ``enough`` has, by metric, the smallest number with which
    draws range by at most ``spread`` to either side, and beyond which twice as many would gain less
    than ``gain``; 0 if more are needed, None if there is no range of draws. Metrics no better than
    chance are not in it. Raters are counted per output.
    """

    what: str
    figure: Figure
    have: int
    points: tuple[tuple[int, Mapping[str, Estimate]], ...]
    enough: Mapping[str, int | None]
    gain: float
    spread: float


@dataclass(frozen=True, slots=True)
class MetricRanking:
    """Metrics ranked by one coefficient, in groups, the best first.

    Metrics in a group do not differ significantly from its best one; a metric that does starts the
    next group. Baselines are in no group. ``aside`` has metrics that are not ranked, with the
    reason: an undefined value, or one based on fewer than half of the possible units. ``order`` has
    all others, including baselines, the best first.
    """

    figure: Figure
    groups: tuple[tuple[str, ...], ...]
    aside: Mapping[str, str]
    order: tuple[str, ...]
    test: MetricTest


@dataclass(frozen=True, slots=True)
class GroupAgreement:
    """Agreement of all metrics with the ratings of one group of items or raters.

    ``field`` is the column that groups ``of`` (item or listener). ``figures`` has, by metric, the
    coefficients by which metrics are ranked.
    """

    field: str
    of: str
    group: str
    systems: int
    items: int
    raters: int
    votes: int
    figures: Mapping[str, Mapping[Figure, Estimate]]


@dataclass(frozen=True, slots=True)
class ScaleConcordance:
    """Agreement of all metrics with the ratings on one scale.

    ``people`` has the mean rating of each system; ``chance`` the agreement expected by chance, with
    its range at the confidence level. ``warnings`` are ordered by importance; ``notes`` are
    less important.
    """

    scale: Value
    people: Mapping[str, Estimate]
    items: int
    raters: int
    votes: int
    metrics: tuple[MetricFigures, ...]
    chance: Mapping[Figure, Estimate]
    ranked: tuple[MetricRanking, ...]
    apart: tuple[MetricDifference, ...]
    ceilings: tuple[HumanCeiling, ...]
    curves: tuple[SampleSizeCurve, ...]
    warnings: tuple[str, ...] = ()
    paired: bool = False
    notes: tuple[str, ...] = ()
    groups: tuple[GroupAgreement, ...] = ()

    @property
    def by_name(self) -> dict[str, MetricFigures]:
        """Metrics by name."""
        return {metric.metric: metric for metric in self.metrics}

    def differences(self, figure: Figure) -> list[MetricDifference]:
        """Return the differences between metrics in one coefficient."""
        return [difference for difference in self.apart if difference.figure == figure]


@dataclass(frozen=True, slots=True)
class ScaleRanking:
    """A ranking with the results of its scale, and the level and correction of its tests."""

    scale: ScaleConcordance
    rank: MetricRanking
    alpha: float
    correction: str

    @property
    def figure(self) -> Figure:
        """The coefficient that ranks the metrics."""
        return self.rank.figure

    @property
    def estimates(self) -> dict[str, Estimate]:
        """The coefficient of each metric, by name."""
        return {metric.metric: metric.figures[self.figure] for metric in self.scale.metrics}

    @property
    def chance(self) -> Estimate | None:
        """The coefficient expected by chance."""
        return self.scale.chance.get(self.figure)

    @property
    def names(self) -> list[str]:
        """Metrics in groups, the best first."""
        return [name for group in self.rank.groups for name in group]

    @property
    def differences(self) -> list[MetricDifference]:
        """Differences between metrics in the coefficient."""
        return self.scale.differences(self.figure)

    @property
    def has_few_units(self) -> bool:
        """Whether the test swaps so few units that no difference can be significant."""
        return self.rank.test.smallest_p >= self.alpha


@dataclass(frozen=True, slots=True, repr=False)
class Concordance(Result):
    """Result of an agreement analysis, by rating scale."""

    title: str
    signature: str
    inputs: tuple[Input, ...]
    scales: tuple[ScaleConcordance, ...]
    over: str
    level: float
    correction: str
    alpha: float
    version: str
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    aggregate: str = "mean"
    partial: tuple[str, ...] = ()

    @property
    def rankings(self) -> list[ScaleRanking]:
        """All rankings, each with its scale."""
        return [
            ScaleRanking(scale, rank, self.alpha, self.correction)
            for scale in self.scales
            for rank in scale.ranked
        ]

    @property
    def has_intervals(self) -> bool:
        """Whether any coefficient that ranks metrics has an interval."""
        estimates = (
            estimate for ranking in self.rankings for estimate in ranking.estimates.values()
        )
        return any(not isnan(estimate.low) for estimate in estimates)
