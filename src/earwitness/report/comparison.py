"""A comparison as a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from earwitness.data import Comparison, GroupContrasts
from earwitness.report.numbers import cell, p_value, titled
from earwitness.report.parts import Lines, Matrix, Report, Section, Table
from earwitness.report.scores import about, case_sections, provenance, result_sections
from earwitness.report.sentences import sentences
from earwitness.report.tables import tested, who_is_better

MOST = 6  # values that are all drawn


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
    untested = ", ? cannot be tested" * (not all(map(tested, comparison.contrasts)))
    return (
        f"Items that every system answered: {comparison.items:,}; · cannot be told apart at "
        f"alpha {comparison.alpha:g}{untested}. p is corrected for all pairs by Holm's method, "
        "but not for looking at several values; intervals are not corrected."
    )


def _matrices(comparison: Comparison) -> Iterator[Matrix]:
    for name in comparison.values:
        value = comparison.scores.values[name]
        systems = {system: own[name] for system, own in comparison.systems.items()}
        contrasts = tuple(c for c in comparison.contrasts if c.value == name)
        yield Matrix(titled(value), value, systems, contrasts)


def _short(matrices: tuple[Matrix, ...]) -> Lines:
    """A sentence a value."""
    return Lines("", tuple(sentence for one in matrices for sentence in sentences(one)))


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
            who_is_better(c),
        )
        for group in groups
        for c in group.contrasts
        if c.value == name
    ]
    header = (field, "first", "second", "first − second", "n", "p", "p (Holm)", "better")
    return Table(f"{titled(value)} by {field}: differences", header, tuple(rows), names=3)
