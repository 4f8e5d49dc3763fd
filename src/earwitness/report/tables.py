"""Conversion of every report part to plain tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Literal

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, clock, labelled, p_value
from earwitness.report.parts import (
    PEOPLE_SERIES,
    Curve,
    Heat,
    Intervals,
    Matrix,
    Panels,
    Part,
    Scatters,
    Table,
    Timeline,
    ValueSpread,
    VoteCounts,
)

Verdict = Literal["better", "worse", "same", "untested"]
VERDICT_MARKS: dict[Verdict, str] = {
    "better": "better",
    "worse": "worse",
    "same": "·",
    "untested": "?",
}
EFFECT_SIZE = Value("effect size", "none", float("-inf"), float("inf"), "in standard deviations")


def tables(part: Part) -> list[Table]:
    """The tables that say what a part shows; some only add a picture and have none."""
    match part:
        case Table():
            return [part]
        case VoteCounts() | Panels() | Scatters() | Heat():
            return [part.table]
        case Intervals():
            return [part.table or _intervals(part)]
        case ValueSpread():
            return [part.table] if part.table else []
        case Curve():
            return [_curve(part)]
        case Matrix():
            return [_matrix(part), _contrasts(part)]
        case Timeline():
            return [_timeline(part)]
        case _:
            return []


def _intervals(part: Intervals) -> Table:
    if all({*row} <= {label, PEOPLE_SERIES} for label, row in part.rows):
        header = (part.heading, "n", "estimate")
        alone = [(label, estimate) for label, row in part.rows for estimate in row.values()]
        rows = [(label, f"{e.n:,}", cell(e, part.value)) for label, e in alone]
        return Table(part.title, header, tuple(rows))
    series = list(dict.fromkeys(name for _, row in part.rows for name in row))
    found = []
    for label, row in part.rows:
        n = next(iter(row.values())).n
        found.append((label, f"{n:,}", *_cells(row, series, part, n)))
    return Table(part.title, (part.heading, "n", *series), tuple(found))


def _curve(part: Curve) -> Table:
    series = list(part.points[0][1])
    rows = tuple((f"{x:g}", *_cells(row, series, part, row[series[0]].n)) for x, row in part.points)
    return Table(part.title, (labelled(part.parameter, part.unit), *series), rows)


def _cells(
    row: Mapping[str, Estimate], series: Sequence[str], part: Intervals | Curve, n: int
) -> list[str]:
    """Estimates of a row; an n that differs from the row's is added."""
    found = []
    for name in series:
        estimate = row.get(name)
        odd = "" if estimate is None or estimate.n == n else f" n={estimate.n:,}"
        found.append("–" if estimate is None else cell(estimate, part.value) + odd)
    return found


def _timeline(part: Timeline) -> Table:
    sides = [*part.shown.references.items(), *part.shown.outputs.items()]
    rows = tuple((who, " ".join(map(clock, times)) or "none") for who, times in sides)
    return Table(f"{part.title} ({clock(part.shown.duration)})", ("", "boundaries"), rows, names=2)


def contrast_of(part: Matrix, a: str, b: str) -> Contrast | None:
    """What is known of two systems; nothing where they were not compared."""
    return next((c for c in part.contrasts if {c.a, c.b} == {a, b}), None)


def verdict(part: Matrix, a: str, b: str) -> Verdict | None:
    """Whether a is better than b or worse, or the same as far as can be told; nothing where they
    were not compared."""
    contrast = contrast_of(part, a, b)
    if contrast is None:
        return None
    if contrast.better:
        return "better" if contrast.better == a else "worse"
    return "same" if tested(contrast) else "untested"


def tested(contrast: Contrast) -> bool:
    """Whether there is a p: differences without any spread, or of nobody, have none."""
    return not isnan(contrast.p)


def who_is_better(contrast: Contrast) -> str:
    """The better one, a dot where they cannot be told apart."""
    return contrast.better or ("·" if tested(contrast) else "not tested")


def _matrix(part: Matrix) -> Table:
    rows = tuple(
        (a, *_estimate(part, a), *(_mark(part, a, b) for b in part.systems)) for a in part.systems
    )
    own = ("estimate",) * part.estimated
    header = ("", *own, *(f"vs {system}" for system in part.systems))
    return Table(f"{part.title}: who is better", header, rows)


def _estimate(part: Matrix, system: str) -> list[str]:
    """That of a system, if any system has one."""
    estimate = part.systems[system]
    found = "–" if estimate is None else cell(estimate, part.value)
    return [found] * part.estimated


def _mark(part: Matrix, a: str, b: str) -> str:
    told = None if a == b else verdict(part, a, b)
    return "" if told is None else VERDICT_MARKS[told]


def _contrasts(part: Matrix) -> Table:
    """Differences with p, corrected p if it is, and effect sizes if there are any."""
    corrected = CORRECTED_P_HEADINGS.get(part.correction)
    sized = any(c.effect is not None for c in part.contrasts)
    header = ("first", "second", "first − second", "n", "p", *([corrected] if corrected else []))
    header += (*(["effect size"] if sized else []), "better")
    rows = tuple(
        (
            *(c.a, c.b, cell(c.difference, part.value), f"{c.difference.n:,}", p_value(c.p)),
            *([p_value(c.p_corrected)] if corrected else []),
            *([cell(c.effect, EFFECT_SIZE) if c.effect else "–"] if sized else []),
            who_is_better(c),
        )
        for c in part.contrasts
    )
    return Table(f"{part.title}: differences", header, rows, names=2)
