"""Report of results by group: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from earwitness.analysis.plan import MIXED_MODEL, WILCOXON
from earwitness.analysis.report.equivalence import tests_by_scope
from earwitness.analysis.report.wording import (
    ESTIMATE,
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    correction_clause,
    difference_cells,
    difference_columns,
    interval_clause,
)
from earwitness.analysis.results import (
    FieldGroups,
    GroupMean,
    GroupResults,
    Interaction,
    Results,
    ScaleResults,
)
from earwitness.core import Value
from earwitness.report.columns import (
    PAIR,
    Column,
    Columns,
    TableRows,
    draw_rows,
    estimate_parts,
    record_rows,
)
from earwitness.report.numbers import cell, number, p_value, value_title
from earwitness.report.parts import Intervals, Part, Section, Table
from earwitness.report.sentences import join_names
from earwitness.report.tables import BETTER

# --- Sections by group ---------------------------------------------------------------------------


MAX_DRAWN_SCALES = 3  # scales drawn if there is no rubric total
INTERACTION_NOTE = (
    "A difference that is significant in one group and not in another does not show that the "
    "groups differ; whether the difference depends on the group is tested separately."
)
Pair = tuple[ScaleResults, FieldGroups]
FIELD = Column("field", hidden=True)


def group_sections(results: Results) -> Iterator[Section]:
    """Yield one section per field: means, differences within groups, and interactions."""
    fields = dict.fromkeys(grouped.field for scale in results.scales for grouped in scale.groups)
    for name in fields:
        field_groups = [(s, g) for s in results.scales for g in s.groups if g.field == name]
        parts: list[Part] = [
            _mean_intervals(scale, group) for scale, group in _drawn_scales(results, field_groups)
        ]
        parts.append(_mean_table(name, field_groups))
        title, columns = f"differences within groups of {name}", _contrast_columns(results, name)
        parts.append(draw_rows(title, columns, _contrast_rows(field_groups), 3))
        if any(group.interactions for _, group in field_groups):
            title = f"interactions: does the difference depend on {name}?"
            columns = _interaction_columns(results, f"{name}: groups")
            parts.append(draw_rows(title, columns, _interaction_rows(results, field_groups), 4))
        if any(group.agreement for _, grouped in field_groups for group in grouped.groups):
            parts.append(_agreement_table(name, field_groups))
        yield Section(f"By {name}", tuple(parts), _group_note(results, name))


def _group_note(results: Results, name: str) -> str:
    counts = "items" if results.over_items else "listeners × items"
    return (
        f"n: {counts} in each cell. p is {correction_clause(results)} across all pairs "
        f"and groups of {name} on a scale; confidence intervals of differences "
        f"{interval_clause(results)}. "
        f"{INTERACTION_NOTE}"
    )


def _drawn_scales(results: Results, field_groups: Sequence[Pair]) -> Sequence[Pair]:
    if results.rubric is None:
        return field_groups[:MAX_DRAWN_SCALES]
    others = {*results.rubric.dimensions}
    return [(scale, group) for scale, group in field_groups if scale.value.name not in others]


def _mean_intervals(scale: ScaleResults, grouped: FieldGroups) -> Intervals:
    rows = tuple(
        (group.name, {name: group_mean.mean for name, group_mean in group.systems.items()})
        for group in grouped.groups
    )
    title = f"{value_title(scale.value)} by {grouped.field}"
    return Intervals(title, scale.value, grouped.field, rows, _picture_table(title, scale, grouped))


def _picture_table(title: str, scale: ScaleResults, grouped: FieldGroups) -> Table:
    has_listeners = any(rated.listeners for rated in scale.systems.values())
    counts = ("listeners", "items", "votes") if has_listeners else ("items",)
    rows = tuple(
        (
            group.name,
            name,
            cell(group_mean.mean, scale.value),
            *(f"{getattr(group_mean, count):,}" for count in counts),
        )
        for group in grouped.groups
        for name, group_mean in group.systems.items()
    )
    header = (grouped.field, "system", "mean", *counts)
    return Table(title, header, rows, names=2)


def _group_pairs(field_groups: Sequence[Pair]) -> Iterator[tuple[ScaleResults, GroupResults]]:
    for scale, grouped in field_groups:
        yield from ((scale, group) for group in grouped.groups)


def _mean_table(field: str, field_groups: Sequence[Pair]) -> Table:
    pairs = list(_group_pairs(field_groups))
    systems = list(dict.fromkeys(name for _, group in pairs for name in group.systems))
    rows = tuple(
        (
            scale.value.name,
            group.name,
            *(
                f"{cell(mean.mean, scale.value)} n {_cell_size(mean)}"
                if (mean := group.systems.get(name)) is not None and mean.votes
                else "n 0"
                for name in systems
            ),
        )
        for scale, group in pairs
    )
    return Table(f"means by {field}", ("scale", field, *systems), rows, names=2)


def _cell_size(mean: GroupMean) -> str:
    return f"{mean.listeners:,} × {mean.items:,}" if mean.listeners else f"{mean.items:,}"


def _contrast_columns(results: Results, heading: str = "group") -> Columns:
    return ("scale", FIELD, Column("group", heading), PAIR, *difference_columns(results), BETTER)


def _contrast_rows(field_groups: Sequence[Pair]) -> Iterator[tuple[Any, ...]]:
    for scale, grouped in field_groups:
        for group in grouped.groups:
            for c in group.contrasts:
                yield scale.value, grouped.field, group.name, c, *difference_cells(c), c


def _interaction_columns(results: Results, heading: str = "groups") -> Columns:
    groups = Column(
        heading=heading,
        parts=estimate_parts("first", "second"),
        show=lambda x: f"{x.first} − {x.second}",
    )
    tests = difference_columns(results, "difference in differences")
    return ("scale", FIELD, PAIR, groups, Column(heading="generalizes to"), *tests)


def _interaction_rows(results: Results, field_groups: Sequence[Pair]) -> Iterator[tuple[Any, ...]]:
    """Yield interactions by the planned test and by the mixed model."""
    for scale, grouped in field_groups:
        for one in grouped.interactions:
            for scope, test in tests_by_scope(results, one.tested, one.modelled):
                yield scale.value, grouped.field, one, one, scope, *difference_cells(test)


def _agreement_table(field: str, field_groups: Sequence[Pair]) -> Table:
    pairs = list(_group_pairs(field_groups))
    names = list(dict.fromkeys(name for _, group in pairs for name in group.agreement))
    figure = Value("agreement", "high", -1, 1, "")
    rows = tuple(
        (
            scale.value.name,
            group.name,
            *(
                f"{cell(group.agreement[n], figure)} n {group.agreement[n].n:,}"
                if n in group.agreement
                else "–"
                for n in names
            ),
        )
        for scale, group in pairs
    )
    return Table(f"agreement by {field}", ("scale", field, *names), rows, names=2)


def group_headlines(results: Results) -> Iterator[str]:
    """Yield the differences that depend significantly on a group, with their scope."""
    alpha = 1 - results.plan.level
    for scale in results.scales:
        for grouped in scale.groups:
            for interaction in grouped.interactions:
                if interaction.tested.p_corrected < alpha:
                    yield _interaction_sentence(scale, grouped.field, interaction, results, alpha)


def _interaction_sentence(
    scale: ScaleResults, field: str, interaction: Interaction, results: Results, alpha: float
) -> str:
    value = interaction.tested.difference.value
    a, b = (interaction.a, interaction.b) if value > 0 else (interaction.b, interaction.a)
    far = number(abs(value), scale.value)
    message = (
        f"{scale.value.name}: the {a}–{b} difference is {far} larger for {field} "
        f'"{interaction.first}" than for "{interaction.second}" '
        f"(p {p_value(interaction.tested.p_corrected)})"
    )
    if interaction.modelled is None or interaction.modelled.p_corrected < alpha:
        return message
    scope = INTERVAL_WORDING[results.plan.interval].scope
    p = p_value(interaction.modelled.p_corrected)
    return f"{message}; this holds for {scope}, and not for others (mixed model: p {p})"


# --- Methods sentences on groups -----------------------------------------------------------------


def group_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on groups."""
    all_groups = [grouped for scale in results.scales for grouped in scale.groups]
    if not all_groups:
        return
    fields = {grouped.field: grouped.of for grouped in all_groups}
    names = join_names(
        [f"{name} (groups of {of}s)" for name, of in fields.items()], MAX_LISTED_NAMES
    )
    message = f"Results were also analysed by {names}"
    if any(not isnan(i.tested.p) for grouped in all_groups for i in grouped.interactions):
        message += "; interactions of system and group were tested as differences in differences"
        message += _method_clause(results, {*fields.values()})
    yield f"{message}."


def _method_clause(results: Results, sorts: set[str]) -> str:
    if results.plan.interval == MIXED_MODEL:
        return ", by a mixed model of the differences"
    if results.over_items:
        return ", by Welch's t test between groups of items"
    ways = []
    if "item" in sorts:
        by_t = " by t tests" * (results.plan.test == WILCOXON)
        ways.append(f"within listeners{by_t} for groups of items")
    if "listener" in sorts:
        ways.append("by Welch's t test between groups of listeners")
    beside = any(i.modelled for s in results.scales for g in s.groups for i in g.interactions)
    mixed = (
        ", and by a mixed model of the differences with random intercepts for listeners and items"
        * beside
    )
    return f", {join_names(ways)}{mixed}"


# --- CSV tables of groups ------------------------------------------------------------------------


def group_tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    fields = [(scale, grouped) for scale in results.scales for grouped in scale.groups]
    means = (
        (scale.value, grouped.field, group.name, system, mean)
        for scale, grouped in fields
        for group in grouped.groups
        for system, mean in group.systems.items()
    )
    parts = {name: f"mean.{name}" for name in ESTIMATE}
    parts |= estimate_parts("votes", "listeners", "items")
    columns = ("scale", FIELD, "group", "system", Column(parts=parts))
    interactions = _interaction_rows(results, fields)
    return {
        "groups": record_rows(columns, means),
        "group_contrasts": record_rows(_contrast_columns(results), _contrast_rows(fields)),
        "interactions": record_rows(_interaction_columns(results), interactions),
    }
