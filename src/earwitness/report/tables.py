"""Conversion of every report part to plain tables."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isnan
from typing import Any, Literal, NamedTuple

from earwitness.core import Contrast, Estimate, Value, WordNetwork, group_values
from earwitness.report.columns import ESTIMATE_PARTS, Column, Columns, N, P, draw_rows
from earwitness.report.numbers import (
    CORRECTED_P_HEADINGS,
    MINUS,
    cell,
    clock,
    label_with_unit,
    number,
    p_value,
    short_number,
)
from earwitness.report.parts import (
    PEOPLE_SERIES,
    Curve,
    Heat,
    Intervals,
    Matrix,
    Panels,
    Part,
    Plane,
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
EFFECT_SIZE = Value("effect size", "none", -inf, inf, "in standard deviations")
MAX_DRAWN_WORDS = 300  # of a word network

HYPHEN_AS_MINUS = re.compile(r"(?<![\w.−-])-(?=\d)")


def part_tables(part: Part) -> list[Table]:
    """Return the tables of a part; empty for parts that are only pictures or text.

    Numbers have true minus signs.
    """
    return [_set_minus_signs(table) for table in _find_tables(part)]


def _set_minus_signs(table: Table) -> Table:
    def convert(row: tuple[str, ...]) -> tuple[str, ...]:
        numbers = (HYPHEN_AS_MINUS.sub(MINUS, text) for text in row[table.names :])
        return (*row[: table.names], *numbers)

    return replace(table, header=convert(table.header), rows=tuple(map(convert, table.rows)))


def _find_tables(part: Part) -> list[Table]:
    match part:
        case Table():
            return [part]
        case VoteCounts() | Panels() | Scatters() | Plane() | Heat():
            return [part.table]
        case Intervals():
            return [part.table or _interval_table(part)]
        case ValueSpread():
            return [part.table] if part.table else []
        case Curve():
            return [part.table or _curve_table(part)]
        case Matrix():
            return [_matrix_table(part), _contrast_table(part)]
        case Timeline():
            return [_timeline_table(part), *part.titles]
        case _:
            return []


def _interval_table(part: Intervals) -> Table:
    if all({*row} <= {label, PEOPLE_SERIES} for label, row in part.rows):
        rows = [
            (label, f"{estimate.n:,}", cell(estimate, part.value))
            for label, row in part.rows
            for estimate in row.values()
        ]
        return Table(part.title, (part.heading, "n", "estimate"), tuple(rows))
    series = list(dict.fromkeys(name for _, row in part.rows for name in row))
    counted = [(label, f"{_first_n(row):,}", row) for label, row in part.rows]
    texts = tuple((label, n, *_estimate_cells(row, series, part)) for label, n, row in counted)
    return Table(part.title, (part.heading, "n", *series), texts)


def _curve_table(part: Curve) -> Table:
    series = list(part.lines)
    rows = tuple((short_number(x), *_estimate_cells(row, series, part)) for x, row in part.points)
    return Table(part.title, (label_with_unit(part.parameter, part.unit), *series), rows)


def _first_n(row: Mapping[str, Estimate]) -> int:
    return next(iter(row.values())).n


def _estimate_cells(
    row: Mapping[str, Estimate], series: Sequence[str], part: Intervals | Curve
) -> list[str]:
    """Return the estimates of a row; n is added where it differs from that of the first."""
    texts = []
    for name in series:
        estimate = row.get(name)
        note = "" if estimate is None or estimate.n == _first_n(row) else f" n={estimate.n:,}"
        texts.append("–" if estimate is None else cell(estimate, part.value) + note)
    return texts


BoundaryKind = Literal["hit", "partial", "false", "ignored", "miss"]
BOUNDARY_LABELS: dict[BoundaryKind, str] = {
    "hit": "hits",
    "partial": "hits for some annotators only",
    "false": "false alarms",
    "ignored": "not counted",
    "miss": "missed",
}


class BoundaryMark(NamedTuple):
    """Boundary of a system, or one that it missed, with the annotators who have it."""

    kind: BoundaryKind
    time: float
    annotators: Sequence[str]


def boundary_marks(part: Timeline, system: str) -> list[BoundaryMark]:
    """Return the boundaries of a system in their order, then those that it missed."""
    matches, times = part.matching.systems[system], part.shown.outputs[system]
    marks = [
        BoundaryMark(boundary_kind(names, len(part.shown.references)), time, names or ())
        for time, names in zip(times, matches.matched, strict=True)
    ]
    missed = ((name, time) for name, times in matches.missed.items() for time in times)
    return [*marks, *(BoundaryMark("miss", time, (name,)) for name, time in missed)]


def _timeline_table(part: Timeline) -> Table:
    """Return the boundaries of annotators, and those of systems by kind, with missed ones."""
    shown, value = part.shown, part.values[0] if part.values else None
    kinds = [*BOUNDARY_LABELS]

    def label_mark(mark: BoundaryMark) -> str:
        is_shared = mark.kind != "miss" or len(shown.references) == 1
        return BOUNDARY_LABELS[mark.kind] + ("" if is_shared else f" of {mark.annotators[0]}")

    rows: list[tuple[str, ...]] = [
        (name, "", "reference", _times_text(times)) for name, times in shown.references.items()
    ]
    for system in shown.outputs:
        marks = sorted(boundary_marks(part, system), key=lambda mark: kinds.index(mark.kind))
        lists = group_values((label_mark(mark), mark.time) for mark in marks)
        first = [system, number(shown.values[system][value.name], value) if value else ""]
        for label, times in (lists or {"": []}).items():
            rows.append((*first, label, _times_text(times)))
            first = ["", ""]
    title = (
        f"{part.title} ({clock(shown.duration)}): boundaries matched one to one within "
        f"{part.matching.collar:g} s"
    )
    return Table(title, ("", value.name if value else "", "", "boundaries"), tuple(rows), names=4)


def _times_text(times: Sequence[float]) -> str:
    return " ".join(map(clock, times)) or "none"


def boundary_kind(annotators: Sequence[str] | None, count: int) -> BoundaryKind:
    """Return the kind of a boundary that is matched with these of ``count`` annotators.

    >>> boundary_kind(("anna",), 2), boundary_kind((), 2), boundary_kind(None, 2)
    ('partial', 'false', 'ignored')
    """
    if annotators is None:
        return "ignored"
    if not annotators:
        return "false"
    return "hit" if len(annotators) == count else "partial"


def kept_words_table(network: WordNetwork) -> Table:
    """Return a row per person and a column per word, with the words that each person kept."""
    words = network.words[:MAX_DRAWN_WORDS]
    people = {who: frozenset(positions) for who, positions in network.people.items()}
    rows = [
        (who, *(word if place in kept else "" for place, word in enumerate(words, 1)))
        for who, kept in people.items()
    ]
    counts = [sum(place in kept for kept in people.values()) for place in range(1, len(words) + 1)]
    more = len(network.words) > len(words)
    about = f" (the first {len(words)} of {len(network.words):,} words)" if more else ""
    total = ("kept by", *map(str, counts))
    return Table(f"words that each person kept{about}", ("", *words), (*rows, total))


def find_contrast(part: Matrix, a: str, b: str) -> Contrast | None:
    """Return the contrast of two systems, or None if they were not compared."""
    return next(
        (contrast for contrast in part.contrasts if {contrast.a, contrast.b} == {a, b}), None
    )


def rank_systems(part: Matrix) -> list[str]:
    """Return the systems, best first; controls and systems without an estimate are at the end.

    Without any estimates, systems are ranked by how many others they are better than.
    """
    sign = {"high": 1, "low": -1, "none": 0}[part.value.best]

    def rank(system: str) -> tuple[bool, float]:
        estimate = part.systems[system]
        if estimate is not None and not isnan(estimate.value):
            return system in part.controls, -sign * estimate.value
        verdicts = [verdict(part, system, other) for other in part.systems]
        balance = verdicts.count("worse") - verdicts.count("better")
        return system in part.controls, inf if part.has_estimates else balance

    return sorted(part.systems, key=rank)


def rank_contrasts(part: Matrix) -> list[Contrast]:
    """Return the contrasts in the order of the systems, each with the better-ranked one first."""
    systems = rank_systems(part)
    places = defaultdict(lambda: len(systems), {name: n for n, name in enumerate(systems)})
    contrasts = [
        contrast if places[contrast.a] <= places[contrast.b] else _turn(contrast)
        for contrast in part.contrasts
    ]
    return sorted(contrasts, key=lambda contrast: (places[contrast.a], places[contrast.b]))


def _turn(contrast: Contrast) -> Contrast:
    return replace(
        contrast,
        a=contrast.b,
        b=contrast.a,
        difference=negate(contrast.difference),
        effect=contrast.effect and negate(contrast.effect),
    )


def negate(estimate: Estimate) -> Estimate:
    """Return an estimate of the difference in the other direction."""
    return replace(estimate, value=-estimate.value, low=-estimate.high, high=-estimate.low)


def verdict(part: Matrix, a: str, b: str) -> Verdict | None:
    """Return whether a is significantly better or worse than b; None if they were not compared."""
    contrast = find_contrast(part, a, b)
    if contrast is None:
        return None
    if contrast.better:
        return "better" if contrast.better == a else "worse"
    return "same" if is_tested(contrast) else "untested"


def signed_difference(part: Matrix, contrast: Contrast, first: str) -> str:
    """Return the difference of the first system from the other one, with its sign."""
    difference = contrast.difference.value * (1 if contrast.a == first else -1)
    return f"{'+' if difference > 0 else ''}{number(difference, part.value)}"


def is_tested(contrast: Contrast) -> bool:
    """Return whether p is defined; it is not without spread or listeners."""
    return not isnan(contrast.p)


def better_system(contrast: Contrast) -> str:
    """Return the better system, or "·" if they do not differ significantly."""
    return contrast.better or ("·" if is_tested(contrast) else "not tested")


BETTER = Column(heading="better", parts={"better": "better"}, show=better_system)


def _matrix_table(part: Matrix) -> Table:
    rows = tuple(
        (a, *_estimate_cell(part, a), *(_verdict_mark(part, a, b) for b in part.systems))
        for a in part.systems
    )
    estimate_heading = ("estimate",) if part.has_estimates else ()
    header = ("", *estimate_heading, *(f"vs {system}" for system in part.systems))
    return Table(f"{part.title}: pairwise comparison", header, rows)


def _estimate_cell(part: Matrix, system: str) -> list[str]:
    """Return the estimate of a system, if any system has one."""
    estimate = part.systems[system]
    votes = part.votes.get(system, 0)
    text = "–" if estimate is None else cell(estimate, part.value, votes)
    return [text] if part.has_estimates else []


def _verdict_mark(part: Matrix, a: str, b: str) -> str:
    pair_verdict = None if a == b else verdict(part, a, b)
    return "" if pair_verdict is None else VERDICT_MARKS[pair_verdict]


def _contrast_table(part: Matrix) -> Table:
    return draw_rows(
        f"{part.title}: differences",
        contrast_columns(part.contrasts, part.correction),
        map(contrast_cells, rank_contrasts(part)),
        2,
        value=part.value,
        sortable=len(part.contrasts) > 1,
    )


def contrast_columns(contrasts: Sequence[Contrast], correction: str) -> Columns:
    """Return columns of differences with p, corrected p and effect sizes, as far as available."""
    heading = CORRECTED_P_HEADINGS.get(correction)
    has_effects = any(contrast.effect is not None for contrast in contrasts)
    return (
        Column("a", "first"),
        Column("b", "second"),
        Column(heading="first − second", parts=ESTIMATE_PARTS),
        N,
        P,
        Column("p_corrected", heading, show=p_value, hidden=heading is None),
        Column(heading="effect size", value=EFFECT_SIZE, hidden=not has_effects),
        BETTER,
        Column(heading="note", hidden=not any(contrast.note for contrast in contrasts)),
    )


def contrast_cells(c: Contrast) -> tuple[Any, ...]:
    """Return the cells of ``contrast_columns``."""
    return c.a, c.b, c.difference, c.difference.n, c.p, c.p_corrected, c.effect, c, c.note
