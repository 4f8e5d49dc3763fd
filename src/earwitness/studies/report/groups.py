"""Results by group: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.core import Value
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, number, p_value, value_title
from earwitness.report.parts import Intervals, Part, Section, Table
from earwitness.report.sentences import join_names
from earwitness.report.tables import better_system
from earwitness.studies.report.csv_columns import (
    ESTIMATE_COLUMNS,
    TEST_COLUMNS,
    TableContent,
    estimate_cells,
    tested_cells,
)
from earwitness.studies.report.equivalence import scopes, with_n
from earwitness.studies.report.wording import INTERVAL_WORDING, MAX_LISTED_NAMES, corrected
from earwitness.studies.results import FieldGroups, Interaction, Results, ScaleResults
from earwitness.studies.study import MIXED_MODEL

# --- Sections by group ---------------------------------------------------------------------------


MAX_DRAWN_SCALES = 3  # scales that are drawn, unless there is a total
INTERACTION_NOTE = (
    "That systems differ in one group and not in another is no proof that groups differ; whether "
    "the difference depends on the group is tested by itself."
)
Pair = tuple[ScaleResults, FieldGroups]


def group_sections(results: Results) -> Iterator[Section]:
    """A section a field: means, differences within groups, and differences of these."""
    fields = dict.fromkeys(one.field for scale in results.scales for one in scale.groups)
    for name in fields:
        own = [(s, g) for s in results.scales for g in s.groups if g.field == name]
        parts: list[Part] = [_picture(scale, group) for scale, group in _drawn(results, own)]
        parts += [_means(name, own), _differences(results, name, own)]
        if any(group.interactions for _, group in own):
            parts.append(_interactions(results, name, own))
        if any(group.agreement for _, grouped in own for group in grouped.groups):
            parts.append(_agreement(name, own))
        yield Section(f"By {name}", tuple(parts), _told(results, name))


def _told(results: Results, name: str) -> str:
    return (
        f"n is listeners × items, in every cell. p is {corrected(results)} over all pairs and "
        f"groups of {name} on a scale; intervals are not corrected. {INTERACTION_NOTE}"
    )


def _drawn(results: Results, own: Sequence[Pair]) -> Sequence[Pair]:
    if results.rubric is None:
        return own[:MAX_DRAWN_SCALES]
    others = {*results.rubric.dimensions}
    return [(scale, group) for scale, group in own if scale.value.name not in others]


def _picture(scale: ScaleResults, grouped: FieldGroups) -> Intervals:
    rows = tuple(
        (group.name, {name: one.mean for name, one in group.systems.items()})
        for group in grouped.groups
    )
    title = f"{value_title(scale.value)} by {grouped.field}"
    return Intervals(title, scale.value, grouped.field, rows, _own(title, scale, grouped))


def _own(title: str, scale: ScaleResults, grouped: FieldGroups) -> Table:
    rows = tuple(
        (
            *(group.name, name, cell(one.mean, scale.value)),
            *(f"{count:,}" for count in (one.listeners, one.items, one.votes)),
        )
        for group in grouped.groups
        for name, one in group.systems.items()
    )
    header = (grouped.field, "system", "mean", "listeners", "items", "votes")
    return Table(title, header, rows, names=2)


def _means(field: str, own: Sequence[Pair]) -> Table:
    systems = list(dict.fromkeys(n for _, g in own for one in g.groups for n in one.systems))
    rows = []
    for scale, grouped in own:
        for group in grouped.groups:
            cells = [
                f"{cell(one.mean, scale.value)} n {one.listeners:,} × {one.items:,}"
                if (one := group.systems.get(name)) is not None and one.votes
                else "n 0"
                for name in systems
            ]
            rows.append((scale.value.name, group.name, *cells))
    return Table(f"means by {field}", ("scale", field, *systems), tuple(rows), names=2)


def _differences(results: Results, field: str, own: Sequence[Pair]) -> Table:
    name = CORRECTED_P_HEADINGS.get(results.plan.correction)
    rows = tuple(
        (
            *(scale.value.name, group.name, f"{c.a} − {c.b}"),
            *(with_n(c.difference, scale.value), p_value(c.p)),
            *([p_value(c.p_corrected)] if name else []),
            better_system(c),
        )
        for scale, grouped in own
        for group in grouped.groups
        for c in group.contrasts
    )
    header = ("scale", field, "of", "difference", "p", *([name] if name else []), "better")
    return Table(f"differences within groups of {field}", header, rows, names=3)


def _interactions(results: Results, field: str, own: Sequence[Pair]) -> Table:
    """By the planned test, and by the mixed model beside it."""
    name = CORRECTED_P_HEADINGS.get(results.plan.correction)
    every = [(scale, one) for scale, grouped in own for one in grouped.interactions]
    rows = tuple(
        (
            *(scale.value.name, f"{one.a} − {one.b}", f"{one.first} − {one.second}", scope),
            *(with_n(tested.difference, scale.value), p_value(tested.p)),
            *([p_value(tested.p_corrected)] if name else []),
        )
        for scale, one in every
        for scope, tested in scopes(results, one.tested, one.modelled)
    )
    header = ("scale", "of", f"between {field}", "on", "difference", "p", *([name] if name else []))
    return Table(f"does the difference depend on {field}?", header, rows, names=4)


def _agreement(field: str, own: Sequence[Pair]) -> Table:
    names = list(dict.fromkeys(n for _, g in own for one in g.groups for n in one.agreement))
    figure = Value("agreement", "high", -1, 1, "")
    rows = tuple(
        (
            *(scale.value.name, group.name),
            *(
                f"{cell(group.agreement[n], figure)} n {group.agreement[n].n:,}"
                if n in group.agreement
                else "–"
                for n in names
            ),
        )
        for scale, grouped in own
        for group in grouped.groups
    )
    return Table(f"agreement by {field}", ("scale", field, *names), rows, names=2)


def group_headlines(results: Results) -> Iterator[str]:
    """Which differences depend on a group, as far as these items tell, or others too."""
    alpha = 1 - results.plan.level
    for scale in results.scales:
        for grouped in scale.groups:
            for one in grouped.interactions:
                if one.tested.p_corrected < alpha:
                    yield _sentence(scale, grouped.field, one, results, alpha)


def _sentence(
    scale: ScaleResults, field: str, one: Interaction, results: Results, alpha: float
) -> str:
    value = one.tested.difference.value
    a, b = (one.a, one.b) if value > 0 else (one.b, one.a)
    far = number(abs(value), scale.value)
    told = (
        f"{scale.value.name}: {a} − {b} is {far} larger for {field} {one.first} than for "
        f"{one.second} (p {p_value(one.tested.p_corrected)})"
    )
    if one.modelled is None or one.modelled.p_corrected < alpha:
        return told
    scope = INTERVAL_WORDING[results.plan.interval].scope
    p = p_value(one.modelled.p_corrected)
    return f"{told}; that holds for {scope}, and cannot be said of others (mixed model: p {p})"


# --- Methods sentences on groups -----------------------------------------------------------------


def group_methods(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    every = [one for scale in results.scales for one in scale.groups]
    fields = {one.field: one.of for one in every}
    if not fields:
        return
    names = join_names([f"{name} (of {of}s)" for name, of in fields.items()], MAX_LISTED_NAMES)
    told = f"Results were also divided by {names}"
    if any(one.interactions for one in every):
        told += "; how much differences depend on the group was tested as a difference of these"
        told += _how(results, {*fields.values()})
    yield f"{told}."


def _how(results: Results, sorts: set[str]) -> str:
    if results.plan.interval == MIXED_MODEL:
        return ", by the mixed model of differences"
    ways = []
    if "item" in sorts:
        ways.append("within listeners for groups of items")
    if "listener" in sorts:
        ways.append("by Welch's t test between groups of listeners")
    beside = any(i.modelled for s in results.scales for g in s.groups for i in g.interactions)
    mixed = ", and by a mixed model of differences with random listeners and items" * beside
    return f", {join_names(ways)}{mixed}"


# --- CSV tables of groups ------------------------------------------------------------------------


def group_tables(results: Results) -> dict[str, TableContent]:
    """CSV tables by the name of their file."""
    return {
        "groups.csv": _groups_csv(results),
        "group_contrasts.csv": _group_contrasts_csv(results),
        "interactions.csv": _interactions_csv(results),
    }


def _groups_csv(results: Results) -> TableContent:
    rows = [
        [
            *(
                scale.value.name,
                grouped.field,
                group.name,
                system,
                *estimate_cells(cell_means.mean),
            ),
            *(cell_means.votes, cell_means.listeners, cell_means.items),
        ]
        for scale in results.scales
        for grouped in scale.groups
        for group in grouped.groups
        for system, cell_means in group.systems.items()
    ]
    header = ["scale", "field", "group", "system", *ESTIMATE_COLUMNS, "votes", "listeners", "items"]
    return header, rows


def _group_contrasts_csv(results: Results) -> TableContent:
    rows = [
        [
            *(
                scale.value.name,
                grouped.field,
                group.name,
                contrast.a,
                contrast.b,
                *estimate_cells(contrast.difference),
            ),
            *(contrast.p, contrast.p_corrected, contrast.better),
        ]
        for scale in results.scales
        for grouped in scale.groups
        for group in grouped.groups
        for contrast in group.contrasts
    ]
    return ["scale", "field", "group", "a", "b", *TEST_COLUMNS, "better"], rows


def _interactions_csv(results: Results) -> TableContent:
    rows = [
        [
            scale.value.name,
            grouped.field,
            interaction.a,
            interaction.b,
            interaction.first,
            interaction.second,
            *tested_cells(tested),
        ]
        for scale in results.scales
        for grouped in scale.groups
        for interaction in grouped.interactions
        for tested in (interaction.tested, interaction.modelled)
        if tested is not None
    ]
    return ["scale", "field", "a", "b", "first", "second", *TEST_COLUMNS], rows
