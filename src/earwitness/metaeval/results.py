"""Result types of an agreement analysis, by metric and rating scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import NamedTuple

from earwitness.core import Estimate, Input, Value


class Figure(NamedTuple):
    """Where a number of concordance stands: the level, and the coefficient."""

    level: str
    coefficient: str

    def __str__(self) -> str:
        return f"{self.level} {self.coefficient}"


@dataclass(frozen=True, slots=True)
class MappingErrors:
    """Scores mapped to the scale of people, as P.1401 counts errors.

    ``curve`` has points of the mapping: the score as the metric gives it, and the value. ``asked``
    is the mapping that was wanted, ``used`` the one that so few points allow, or ``flat`` where no
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
    """One metric beside people.

    ``low_is_good`` says that its scores were turned round before; ``baseline`` that it is no
    metric but something trivial to be beaten. ``systems`` has mean scores over outputs that people
    rated. ``margins`` has, by level, the difference of scores that counts as a tie after
    calibration. ``people`` has people's means over the outputs that the metric knows, if it does
    not know all.
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
    """Two metrics by one figure: the first less the second, and whether that may be chance.

    ``p`` has p of permutation tests by what is swapped (inputs, systems, both), ``corrected`` that
    of the deciding one over all pairs. ``williams`` is p of Williams' test where the figure is
    Pearson's, which takes systems (or cells) for independent.
    """

    a: str
    b: str
    figure: Figure
    difference: Estimate
    p: Mapping[str, float]
    corrected: float
    williams: float = nan
    alpha: float = 0.05

    @property
    def is_distinct(self) -> bool:
        """Whether the two can be told apart."""
        return self.corrected < self.alpha


@dataclass(frozen=True, slots=True)
class HumanCeiling:
    """People against people by one figure: a rater against the others, a half against the other.

    ``stepped`` is what two whole panels would reach, by the formula of Spearman and Brown, where
    the figure is Pearson's.
    """

    figure: Figure
    rater: Estimate
    halves: Estimate
    stepped: float = nan


@dataclass(frozen=True, slots=True)
class SampleSizeCurve:
    """A figure of every metric with so many raters, items or references; ``have`` is what there is.

    ``enough`` is, by metric, the least number with which draws range by no more than ``spread`` to
    both sides, and beyond which twice as many would gain less than ``gain``; 0 if it takes more.
    Metrics that agree no better than chance are not in it. Raters are those of an output.
    """

    what: str
    figure: Figure
    have: int
    points: tuple[tuple[int, Mapping[str, Estimate]], ...]
    enough: Mapping[str, int]
    gain: float
    spread: float


@dataclass(frozen=True, slots=True)
class MetricRanking:
    """Metrics by one figure, the best first; those of a group cannot be told from its first.

    A group ends before the first metric that is told from the group's first. ``aside`` are metrics
    without a place, and why: those that have no value, or one that rests on fewer than half of what
    others may rest on.
    """

    figure: Figure
    groups: tuple[tuple[str, ...], ...]
    aside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScaleConcordance:
    """All metrics on one scale of people's ratings.

    ``people`` has the mean rating of every system; ``chance`` what a metric gets that knows
    nothing, with the range of 95 % of such metrics.
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


@dataclass(frozen=True, slots=True)
class Concordance:
    """Which metrics agree with people, scale by scale, and how sure that is."""

    title: str
    signature: str
    inputs: tuple[Input, ...]
    scales: tuple[ScaleConcordance, ...]
    over: str
    level: float
    test: str
    correction: str
    alpha: float
    version: str
    signatures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
