"""A comparison as a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan

from earwitness.data import Comparison, GroupContrasts
from earwitness.report.numbers import cell, number, p_value, titled
from earwitness.report.parts import Lines, Matrix, Report, Section, Table
from earwitness.report.scores import about, case_sections, provenance, result_sections
from earwitness.report.tables import verdict

MOST = 6  # values that are all drawn
NAMED = 4  # systems that a sentence names


def comparison_report(comparison: Comparison) -> Report:
    """Who is better, then the scores themselves."""
    scores = comparison.scores
    matrices = tuple(_matrices(comparison))
    sections = [Section("In short", (_short(matrices),), place="pages")]
    sections += [Section("Who is better", matrices, _told(comparison)), *_by_group(comparison)]
    shown = comparison.values if len(comparison.values) <= MOST else scores.headlines
    for section in result_sections(scores, shown):
        short = section.place == "everywhere"
        sections.append(replace(section, place="pages") if short else section)
    sections += case_sections(scores, shown)
    return Report(
        "Comparison",
        about(scores),
        tuple(comparison.systems),
        tuple(sections),
        tuple(provenance(scores, comparison.signature)),
    )


def _told(comparison: Comparison) -> str:
    return (
        f"Items that every system answered: {comparison.items:,}; · cannot be told apart at "
        f"alpha {comparison.alpha:g}. p is corrected for all pairs by Holm's method, but not for "
        "looking at several values; intervals are not corrected."
    )


def _matrices(comparison: Comparison) -> Iterator[Matrix]:
    for name in comparison.values:
        value = comparison.scores.values[name]
        systems = {system: own[name] for system, own in comparison.systems.items()}
        contrasts = tuple(c for c in comparison.contrasts if c.value == name)
        yield Matrix(titled(value), value, systems, contrasts)


def _short(matrices: tuple[Matrix, ...]) -> Lines:
    """A sentence a value."""
    return Lines("", tuple(sentence for one in matrices for sentence in _sentences(one)))


def _sentences(matrix: Matrix) -> Iterator[str]:
    """Who leads, and whom that can be said of."""
    sign = 1 if matrix.value.best == "high" else -1
    known = [s for s, estimate in matrix.systems.items() if not isnan(estimate.value)]
    if not known:
        return
    lead = max(known, key=lambda system: sign * matrix.systems[system].value)
    others = [system for system in matrix.systems if system != lead]
    beaten = [system for system in others if verdict(matrix, lead, system) > 0]
    level = [system for system in others if verdict(matrix, lead, system) == 0]
    told = f"{matrix.value.name}: {lead} leads ({number(matrix.systems[lead].value, matrix.value)})"
    if beaten:
        told += f", better than {_and(beaten)}"
    if level:
        told += f"; cannot be told apart from {_and(level)}"
    yield told


def _and(names: list[str]) -> str:
    if len(names) > NAMED:
        names = [*names[:NAMED], f"{len(names) - NAMED} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _by_group(comparison: Comparison) -> Iterator[Section]:
    """Differences within groups, a table a value."""
    fields = dict.fromkeys(group.field for group in comparison.groups)
    for field in fields:
        groups = [group for group in comparison.groups if group.field == field]
        parts = tuple(_group_table(comparison, name, field, groups) for name in comparison.values)
        text = (
            f"p is corrected for all pairs and all groups of {field} by Holm's method; groups of "
            "so few items that no outcome could tell systems apart do not count. Intervals are not "
            "corrected."
        )
        yield Section(f"Who is better by {field}", parts, text, folded=True)


def _group_table(
    comparison: Comparison, name: str, field: str, groups: list[GroupContrasts]
) -> Table:
    value = comparison.scores.values[name]
    rows = [
        (
            group.group,
            c.a,
            c.b,
            cell(c.difference, value),
            f"{c.difference.n:,}",
            p_value(c.p),
            p_value(c.p_corrected),
            c.better or "·",
        )
        for group in groups
        for c in group.contrasts
        if c.value == name
    ]
    header = (field, "A", "B", "A − B", "n", "p", "p (Holm)", "better")
    return Table(f"{titled(value)} by {field}: differences", header, tuple(rows), names=3)
