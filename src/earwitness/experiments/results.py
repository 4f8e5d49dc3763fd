"""Results of an experiment on the number of people who made references."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import NamedTuple

from earwitness.core import Estimate, Input, Value
from earwitness.report.parts import Report
from earwitness.report.result import Result, TableRows

# sources of variation that an interval of a curve or a correlation covers
CURVE_SOURCES = ("orders", "items", "both")
CORRELATION_SOURCES = ("systems", "items", "judges", "all")


class Condition(NamedTuple):
    """Which systems and people a result includes.

    ``human`` is whether the human system is among the systems, ``isolated`` whether isolated
    people are among those who made references.
    """

    human: bool
    isolated: bool


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Mean of a value over items and orders of people, for one system and number of people.

    ``intervals`` has one estimate per source of variation (see ``CURVE_SOURCES``), all with the
    same value: over orders of people, over items, and over both.
    """

    value: str
    system: str
    people: int
    isolated: bool
    mean: float
    intervals: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class CorrelationPoint:
    """Correlation of a value with the judges, for one number of people.

    ``mean`` is the mean of the coefficient over orders of people. ``intervals`` has one estimate
    per source of variation (see ``CORRELATION_SOURCES``).
    """

    value: str
    coefficient: str
    people: int
    condition: Condition
    mean: float
    intervals: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ValueTest:
    """Tests between two values, by how they correlate with the judges with all people.

    ``williams`` is p of Williams' test (Pearson's r only), ``permutation`` p of the permutation
    test, ``corrected`` that p after Holm's correction over all pairs of the condition.
    """

    first: str
    second: str
    coefficient: str
    condition: Condition
    difference: Estimate
    williams: float
    permutation: float
    corrected: float


@dataclass(frozen=True, slots=True)
class Person:
    """A person who made references, and how close they are to those of others.

    ``closeness`` is the mean score of this person against all others, ``deviation`` its distance
    from the median of all people in robust standard deviations, and ``isolated`` whether it is
    below the limit of the rule.
    """

    name: str
    closeness: float
    deviation: float
    isolated: bool


@dataclass(frozen=True, slots=True)
class MisrecognizedShare:
    """Share of words that are not in the transcript, in outputs and in the recognized input.

    ``recognized`` is undefined if the words of the recognizer are not known.
    """

    system: str
    summary: Estimate
    recognized: Estimate


@dataclass(frozen=True, slots=True)
class Leveling:
    """Whether a value still changes with more people, for one system.

    ``people`` is the smallest number from which on the mean stays within ``tolerance`` of that
    with all people, or 0 if it still changes at the largest number.
    """

    value: str
    system: str
    people: int
    last_change: float
    tolerance: float


@dataclass(frozen=True, slots=True, repr=False)
class ReferencesExperiment(Result):
    """Result of ``experiment references``.

    ``values`` are those that are drawn, in order; ``people`` the numbers of people; ``human`` the
    name of the human system, or an empty string. ``simulated`` describes the simulator if the data
    are not those of people, else it is empty. ``rule`` states how isolated people are found.
    """

    title: str
    values: tuple[Value, ...]
    systems: tuple[str, ...]
    human: str
    items: int
    judges: int
    scale: Value | None
    people: tuple[int, ...]
    orders: int
    exact: bool
    coefficients: tuple[str, ...]
    curves: tuple[CurvePoint, ...]
    correlations: tuple[CorrelationPoint, ...]
    tests: tuple[ValueTest, ...]
    annotators: tuple[Person, ...]
    rule: str
    leveling: tuple[Leveling, ...]
    misrecognized: tuple[MisrecognizedShare, ...]
    level: float
    signature: str
    inputs: tuple[Input, ...]
    version: str
    simulated: str = ""
    notes: tuple[str, ...] = ()
    judged: Mapping[str, float] | None = None  # mean judgement of each system
    smallest_r: float = nan  # smallest |r| that differs from 0 with this many systems

    def make_report(self) -> Report:
        """Return the report with the four figures."""
        from earwitness.experiments.report import experiment_report

        return experiment_report(self)

    def make_tables(self) -> dict[str, TableRows]:
        """Return the tables of all points, tests, people and shares."""
        from earwitness.experiments.report import experiment_tables

        return experiment_tables(self)
