"""Results of an experiment on the number of people who made references."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from operator import attrgetter
from typing import Any, NamedTuple

from earwitness.core import Estimate, Input, Value
from earwitness.report.columns import Column, TableRows, record_rows
from earwitness.report.numbers import p_value
from earwitness.report.result import Result

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

    @property
    def decisive_p(self) -> float:
        """p of the permutation test, corrected if possible; else that of Williams' test."""
        return next((p for p in (self.corrected, self.permutation) if not isnan(p)), self.williams)


@dataclass(frozen=True, slots=True)
class Annotator:
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
    with all people. It is 0 if this holds for less than a quarter of the numbers, or only for the
    last one: the value then still changes.
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
    annotators: tuple[Annotator, ...]
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

    # --- Selection of points ---------------------------------------------------------------------

    @property
    def conditions(self) -> list[Condition]:
        """Conditions of the correlations, that with the most systems and people first."""
        found = {point.condition for point in self.correlations}
        return sorted(found, key=lambda one: (not one.isolated, not one.human))

    @property
    def main_condition(self) -> Condition:
        """The condition with the most systems and people."""
        conditions = self.conditions
        return conditions[0] if conditions else Condition(bool(self.human), True)

    @property
    def has_isolated(self) -> bool:
        """Whether any person is isolated."""
        return any(person.isolated for person in self.annotators)

    @property
    def has_isolated_curves(self) -> bool:
        """Whether there are curves that include isolated people."""
        return any(point.isolated for point in self.curves)

    def main_tests(self, coefficient: str) -> list[ValueTest]:
        """Return the tests of a coefficient in the main condition."""
        wanted = coefficient, self.main_condition
        return [test for test in self.tests if (test.coefficient, test.condition) == wanted]

    def count_systems(self, condition: Condition) -> int:
        """Return how many systems a condition includes."""
        return len(self.systems) - (bool(self.human) and not condition.human)

    def describe(self, condition: Condition) -> str:
        """Return which systems and people a condition excludes."""
        excluded = ["the human system"] if self.human and not condition.human else []
        excluded += ["isolated people"] if self.has_isolated and not condition.isolated else []
        return f"without {' and '.join(excluded)}" if excluded else "all systems and people"

    def curve_points(self, value: str, *, isolated: bool) -> dict[str, dict[int, CurvePoint]]:
        """Return the points of a value by system and number of people."""
        found: dict[str, dict[int, CurvePoint]] = {system: {} for system in self.systems}
        for point in self.curves:
            if point.value == value and point.isolated == isolated:
                found.setdefault(point.system, {})[point.people] = point
        return {system: points for system, points in found.items() if points}

    def correlation_points(
        self, value: str, coefficient: str, condition: Condition
    ) -> dict[int, CorrelationPoint]:
        """Return the correlations of a value by number of people."""
        wanted = value, coefficient, condition
        return {
            point.people: point
            for point in self.correlations
            if (point.value, point.coefficient, point.condition) == wanted
        }


# --- Tables --------------------------------------------------------------------------------------


Cells = tuple[Any, ...]
INTERVAL_COLUMNS = ("low", "high", "level", "n", "undefined", "method")
POINT_COLUMNS = (
    "figure",
    "value",
    "system",
    "coefficient",
    "people",
    "human",
    "isolated",
    "mean",
    "source",
    *INTERVAL_COLUMNS,
)
TEST_COLUMNS = (
    "first",
    "second",
    Column("coefficient", hidden=True),
    Column("human", hidden=True),
    Column("isolated", hidden=True),
    Column(heading="first − second", parts={"difference": "value", "low": "low", "high": "high"}),
    Column("williams", "p (Williams)", show=p_value),
    Column("permutation", "p (permutation)", show=p_value),
    Column("corrected", "p (Holm)", show=p_value),
)
PEOPLE_COLUMNS = (
    "person",
    Column("closeness", "mean score against others", Value("closeness", "none", 0, 1, "")),
    Column("deviation", "distance from the median (SD)", Value("deviation", "none", -inf, inf, "")),
    Column("isolated", "", show=lambda isolated: "isolated" if isolated else "·"),
)
LEVELING_COLUMNS = ("value", "system", "people", "last_change", "tolerance")
SHARE_COLUMNS = ("system", "place", "share", "low", "high", "n")
SETTINGS = ("human", "items", "judges", "orders", "exact", "level", "smallest_r", "rule")


def experiment_tables(result: ReferencesExperiment) -> dict[str, TableRows]:
    """Return all tables, that of every point of the figures first, with one row per interval.

    The signature of their rows says whether the data are simulated.
    """
    signature = f"{result.signature}|simulated" if result.simulated else result.signature
    leveling = map(attrgetter(*LEVELING_COLUMNS), result.leveling)
    judged = (result.judged or {}).items()
    return {
        "points": TableRows(POINT_COLUMNS, _point_rows(result), signature),
        "tests": record_rows(TEST_COLUMNS, map(tested_row, result.tests), signature),
        "leveling": TableRows(LEVELING_COLUMNS, leveling, signature),
        "people": record_rows(PEOPLE_COLUMNS, map(person_row, result.annotators), signature),
        "misrecognized": TableRows(SHARE_COLUMNS, _share_rows(result), signature),
        "judgements": TableRows(("system", "mean"), judged, signature),
        "settings": TableRows(("name", "setting"), _setting_rows(result)),
    }


def tested_row(test: ValueTest) -> Cells:
    """Return the cells below ``TEST_COLUMNS``."""
    names = test.first, test.second, test.coefficient, *test.condition
    return (*names, test.difference, test.williams, test.permutation, test.corrected)


def person_row(person: Annotator) -> Cells:
    """Return the cells below ``PEOPLE_COLUMNS``."""
    return person.name, person.closeness, person.deviation, person.isolated


def _point_rows(result: ReferencesExperiment) -> Iterator[Cells]:
    for curve in result.curves:
        human = bool(result.human) and curve.system == result.human
        place = "curve", curve.value, curve.system, "", curve.people, human, curve.isolated
        yield from ((*place, curve.mean, *row) for row in _interval_rows(curve.intervals))
    for point in result.correlations:
        own = "correlation", point.value, "", point.coefficient, point.people, *point.condition
        yield from ((*own, point.mean, *row) for row in _interval_rows(point.intervals))


def _interval_rows(intervals: Mapping[str, Estimate]) -> Iterator[Cells]:
    for source, estimate in intervals.items():
        yield (source, *attrgetter(*INTERVAL_COLUMNS)(estimate))


def _share_rows(result: ReferencesExperiment) -> Iterator[Cells]:
    for shares in result.misrecognized:
        for place, share in (("summary", shares.summary), ("recognized", shares.recognized)):
            yield shares.system, place, share.value, share.low, share.high, share.n


def _setting_rows(result: ReferencesExperiment) -> Iterator[tuple[str, Any]]:
    yield "simulated", result.simulated
    yield "title", result.title
    yield from (("value", value.name) for value in result.values)
    yield from ((name, getattr(result, name)) for name in SETTINGS)
    yield from (("signature", result.signature), ("version", result.version))
    yield from (("input", f"{entry.name} sha256 {entry.sha256}") for entry in result.inputs)
    yield from (("note", note) for note in result.notes)
