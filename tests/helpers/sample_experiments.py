"""Results of made-up experiments, for tests of reports: curves follow plain formulas."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf, nan, pow, sqrt

from earwitness.core import Estimate, Input, Value
from earwitness.experiments.results import (
    CORRELATION_SOURCES,
    CURVE_SOURCES,
    Annotator,
    Condition,
    CorrelationPoint,
    CurvePoint,
    Leveling,
    MisrecognizedShare,
    ReferencesExperiment,
    ValueTest,
)

SUMACCY = Value("sumaccy", "high", -inf, 1, "word accuracy against the closest path; mean")
BLEU = Value("bleu", "high", 0, 1, "BLEU with several references")
WSUMACCY = Value("wsumaccy", "high", -inf, 1, "accuracy times the weight of the path; mean")
VALUES = (SUMACCY, BLEU, WSUMACCY)
SYSTEMS = tuple(f"system {i}" for i in range(1, 10))
HUMAN = "human"
GROWTH = {"sumaccy": 0.12, "bleu": 0.16}  # of values that rise with the number of people
SIMULATOR = "50 utterances, 25 people, 9 systems and 1 human, 10 judges, seed 0"
TOLERANCE = 0.005


def around(value: float, half: float, method: str = "orders", n: int = 50) -> Estimate:
    return Estimate(value, value - half, value + half, 0.95, n, 0, method)


def mean_of(value: str, quality: float, people: int) -> float:
    """A value that rises with people, or falls and levels off."""
    if value == "wsumaccy":
        return quality * (0.45 + 0.55 / pow(people, 0.9))
    return quality + GROWTH[value] * (1 - 1 / pow(people, 0.4))


def make_curves(
    values: Sequence[Value],
    systems: Sequence[str],
    people: Sequence[int],
    human: str,
    isolated: int,
) -> list[CurvePoint]:
    points = []
    for value in values:
        for place, system in enumerate(systems):
            quality = 0.62 if system == human else 0.3 + 0.28 * place / max(1, len(systems) - 1)
            for count in people:
                if system == human and count == max(people) and len(people) > 1:
                    continue  # scored against the others
                for included in (True, False)[: 1 + bool(isolated)]:
                    mean = mean_of(value.name, quality, count) + 0.01 * (not included)
                    halves = 0.05 / sqrt(count), 0.03, 0.06
                    intervals = {
                        source: around(mean, half, source)
                        for source, half in zip(CURVE_SOURCES, halves, strict=True)
                    }
                    point = CurvePoint(value.name, system, count, included, mean, intervals)
                    points.append(point)
    return points


def make_correlations(
    values: Sequence[Value], people: Sequence[int], conditions: Sequence[Condition]
) -> list[CorrelationPoint]:
    points = []
    for place, value in enumerate(values):
        for condition in conditions:
            for count in people:
                r = 0.92 - 0.03 * place - 0.3 / count - 0.02 * condition.isolated
                intervals = {
                    source: Estimate(r, r - low, min(1.0, r + low / 3), 0.95, 10, 0, "bootstrap")
                    for source, low in zip(
                        CORRELATION_SOURCES, (0.2, 0.05, 0.04, 0.25), strict=True
                    )
                }
                points.append(
                    CorrelationPoint(value.name, "pearson", count, condition, r, intervals)
                )
    return points


def make_experiment(
    *,
    values: Sequence[Value] = VALUES,
    automatic: Sequence[str] = SYSTEMS,
    human: str = HUMAN,
    people: Sequence[int] = tuple(range(1, 26)),
    isolated: int = 0,
    judges: int = 10,
    p: float = 0.4,
    levels_from: int = 0,
    simulated: str = "",
) -> ReferencesExperiment:
    """An experiment; ``p`` is that of all tests, and values level off from ``levels_from`` on."""
    systems = (*automatic, *([human] if human else []))
    humans = (True, False) if human else (False,)
    conditions = [
        Condition(with_human, included)
        for included in (True, False)[: 1 + bool(isolated)]
        for with_human in humans
    ]
    tests = [
        ValueTest(a.name, b.name, "pearson", condition, around(0.03, 0.04), p, p, p)
        for condition in conditions
        for a, b in combinations(values, 2)
    ]
    count = max(people)
    return ReferencesExperiment(
        title="",
        values=tuple(values),
        systems=systems,
        human=human,
        items=50,
        judges=judges,
        scale=Value("quality", "high", 1, 5, "1 incorrect to 5 best") if judges else None,
        people=tuple(people),
        orders=100,
        exact=False,
        coefficients=("pearson",),
        curves=tuple(make_curves(values, systems, people, human, isolated)),
        correlations=tuple(make_correlations(values, people, conditions)) if judges else (),
        tests=tuple(tests) if judges else (),
        annotators=tuple(
            Annotator(f"p{i:02}", 0.5 - 0.2 * (i < isolated), -4.0 * (i < isolated), i < isolated)
            for i in range(count)
        ),
        rule="closeness more than 3.5 robust standard deviations below the median",
        leveling=tuple(
            Leveling(value.name, system, levels_from, 0.012, TOLERANCE)
            for value in values
            for system in systems
        ),
        misrecognized=tuple(
            MisrecognizedShare(system, around(0.08, 0.02), around(0.1, 0.02))
            for system in automatic
        ),
        level=0.95,
        signature="metrics=sumaccy|orders=100|seed=0",
        inputs=(Input("outputs.jsonl", "0123456789abcdef" * 4, 12_345),),
        version="0.1.0",
        simulated=simulated,
        judged={system: 2 + 2 * i / len(systems) for i, system in enumerate(systems)}
        if judges
        else None,
        smallest_r=0.632 if judges else nan,
    )
