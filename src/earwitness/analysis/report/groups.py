"""Report of results by group: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan

from earwitness.analysis.plan import MIXED_MODEL, WILCOXON
from earwitness.analysis.report.equivalence import tests_by_scope
from earwitness.analysis.report.wording import (
    ESTIMATE_COLUMNS,
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    TEST_COLUMNS,
    TableContent,
    correction_clause,
    difference_cells,
    difference_headings,
    estimate_cells,
    interval_clause,
    tested_cells,
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
from earwitness.report.numbers import cell, number, p_value, value_title
from earwitness.report.parts import Intervals, Part, Section, Table
from earwitness.report.sentences import join_names
from earwitness.report.tables import better_system

# --- Sections by group ---------------------------------------------------------------------------


MAX_DRAWN_SCALES = 3  # scales drawn if there is no rubric total
INTERACTION_NOTE = (
    "A difference that is significant in one group and not in another does not show that the "
    "groups differ; whether the difference depends on the group is tested separately."
)
Pair = tuple[ScaleResults, FieldGroups]


def group_sections(results: Results) -> Iterator[Section]:
    """Yield one section per field: means, differences within groups, and interactions."""
    fields = dict.fromkeys(grouped.field for scale in results.scales for grouped in scale.groups)
    for name in fields:
        field_groups = [(s, g) for s in results.scales for g in s.groups if g.field == name]
        parts: list[Part] = [
            _mean_intervals(scale, group) for scale, group in _drawn_scales(results, field_groups)
        ]
        parts += [_mean_table(name, field_groups), _difference_table(results, name, field_groups)]
        if any(group.interactions for _, group in field_groups):
            parts.append(_interaction_table(results, name, field_groups))
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


def _difference_table(results: Results, field: str, field_groups: Sequence[Pair]) -> Table:
    rows = tuple(
        (
            scale.value.name,
            group.name,
            f"{c.a} − {c.b}",
            *difference_cells(results, c, scale.value),
            better_system(c),
        )
        for scale, group in _group_pairs(field_groups)
        for c in group.contrasts
    )
    header = ("scale", field, "pair", *difference_headings(results), "better")
    return Table(f"differences within groups of {field}", header, rows, names=3)


def _interaction_table(results: Results, field: str, field_groups: Sequence[Pair]) -> Table:
    """Return interactions by the planned test and by the mixed model."""
    rows = tuple(
        (
            scale.value.name,
            f"{interaction.a} − {interaction.b}",
            f"{interaction.first} − {interaction.second}",
            scope,
            *difference_cells(results, tested, scale.value),
        )
        for scale, grouped in field_groups
        for interaction in grouped.interactions
        for scope, tested in tests_by_scope(results, interaction.tested, interaction.modelled)
    )
    names = ("scale", "pair", f"{field}: groups", "generalizes to")
    header = (*names, *difference_headings(results, "difference in differences"))
    return Table(f"interactions: does the difference depend on {field}?", header, rows, names=4)


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


def group_tables(results: Results) -> dict[str, TableContent]:
    """Return CSV tables by name."""
    fields = [(scale, grouped) for scale in results.scales for grouped in scale.groups]
    places = [
        ([scale.value.name, grouped.field, group.name], group)
        for scale, grouped in fields
        for group in grouped.groups
    ]
    means = [
        [*place, system, *estimate_cells(mean.mean), mean.votes, mean.listeners, mean.items]
        for place, group in places
        for system, mean in group.systems.items()
    ]
    contrasts = [
        [*place, contrast.a, contrast.b, *tested_cells(contrast), contrast.better]
        for place, group in places
        for contrast in group.contrasts
    ]
    interactions = [
        [scale.value.name, grouped.field, one.a, one.b, one.first, one.second, *tested_cells(test)]
        for scale, grouped in fields
        for one in grouped.interactions
        for test in (one.tested, one.modelled)
        if test is not None
    ]
    columns = ["scale", "field", "group"]
    counts = ["votes", "listeners", "items"]
    return {
        "groups": ([*columns, "system", *ESTIMATE_COLUMNS, *counts], means),
        "group_contrasts": ([*columns, "a", "b", *TEST_COLUMNS, "better"], contrasts),
        "interactions": (
            ["scale", "field", "a", "b", "first", "second", *TEST_COLUMNS],
            interactions,
        ),
    }
