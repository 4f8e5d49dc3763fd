"""Report of results by group: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan

from earwitness.analysis.plan import MIXED_MODEL, WILCOXON
from earwitness.analysis.report.equivalence import tests_by_scope
from earwitness.analysis.report.wording import (
    AGREEMENT,
    ESTIMATE,
    MAX_LISTED_NAMES,
    ColumnRows,
    correction_clause,
    difference_cells,
    difference_columns,
    draw_named_cells,
    interval_clause,
    planned_interval,
)
from earwitness.analysis.results import (
    FieldGroups,
    GroupResults,
    Interaction,
    Results,
    ScaleResults,
)
from earwitness.report.columns import (
    PAIR,
    Column,
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


def sections(results: Results) -> Iterator[Section]:
    """Yield one section per field: means, differences within groups, and interactions."""
    fields = dict.fromkeys(grouped.field for scale in results.scales for grouped in scale.groups)
    for name in fields:
        field_groups = [(s, g) for s in results.scales for g in s.groups if g.field == name]
        parts: list[Part] = [
            _mean_intervals(scale, group) for scale, group in _drawn_scales(results, field_groups)
        ]
        parts.append(_cell_table(f"means by {name}", name, field_groups, _mean_cells))
        title = f"differences within groups of {name}"
        parts.append(draw_rows(title, *_contrast_table(results, field_groups), 3))
        if any(group.interactions for _, group in field_groups):
            title = f"interactions: does the difference depend on {name}?"
            parts.append(draw_rows(title, *_interaction_table(results, field_groups), 4))
        if any(group.agreement for _, grouped in field_groups for group in grouped.groups):
            title = f"agreement by {name}"
            parts.append(_cell_table(title, name, field_groups, _agreement_cells))
        counts = "items" if results.is_over_items else "listeners × items"
        note = (
            f"n: {counts} in each cell. p is {correction_clause(results)} across all pairs and "
            f"groups of {name} on a scale; confidence intervals of differences "
            f"{interval_clause(results)}. {INTERACTION_NOTE}"
        )
        yield Section(f"By {name}", tuple(parts), note)


def _drawn_scales(results: Results, field_groups: Sequence[Pair]) -> Sequence[Pair]:
    if results.rubric is None:
        return field_groups[:MAX_DRAWN_SCALES]
    others = {*results.rubric.dimensions}
    return [(scale, group) for scale, group in field_groups if scale.value.name not in others]


def _mean_intervals(scale: ScaleResults, grouped: FieldGroups) -> Intervals:
    rows = tuple(
        (group.name, {name: group_mean.mean for name, group_mean in group.systems.items()})
        for group in grouped.groups
        if group.systems
    )
    title = f"{value_title(scale.value)} by {grouped.field}"
    return Intervals(title, scale.value, grouped.field, rows)


def _cell_table(
    title: str,
    field: str,
    field_groups: Sequence[Pair],
    group_cells: Callable[[ScaleResults, GroupResults], Mapping[str, str]],
) -> Table:
    """Return one row per scale and group."""
    rows = (
        ((scale.value.name, group.name), group_cells(scale, group))
        for scale, grouped in field_groups
        for group in grouped.groups
    )
    return draw_named_cells(title, ("scale", field), rows, names=2)


def _mean_cells(scale: ScaleResults, group: GroupResults) -> dict[str, str]:
    cells = dict.fromkeys(group.systems, "n 0")
    for name, mean in group.systems.items():
        if mean.votes:
            size = f"{mean.listeners:,} × {mean.items:,}" if mean.listeners else f"{mean.items:,}"
            cells[name] = f"{cell(mean.mean, scale.value)} n {size}"
    return cells


def _agreement_cells(_scale: ScaleResults, group: GroupResults) -> dict[str, str]:
    return {name: f"{cell(e, AGREEMENT)} n {e.n:,}" for name, e in group.agreement.items()}


def _contrast_table(results: Results, field_groups: Sequence[Pair]) -> ColumnRows:
    rows = [
        (scale.value, grouped.field, group.name, c, *difference_cells(c), c)
        for scale, grouped in field_groups
        for group in grouped.groups
        for c in group.contrasts
    ]
    return ("scale", FIELD, "group", PAIR, *difference_columns(results), BETTER), rows


def _interaction_table(results: Results, field_groups: Sequence[Pair]) -> ColumnRows:
    """Return interactions by the planned test and by the mixed model."""
    groups = Column(
        heading="groups",
        parts=estimate_parts("first", "second"),
        show=lambda x: f"{x.first} − {x.second}",
    )
    tests = difference_columns(results, "difference in differences")
    rows = [
        (scale.value, grouped.field, pair, pair, scope, *difference_cells(test))
        for scale, grouped in field_groups
        for pair in grouped.interactions
        for scope, test in tests_by_scope(results, pair.tested, pair.modelled)
    ]
    return ("scale", FIELD, PAIR, groups, Column(heading="generalizes to"), *tests), rows


def headlines(results: Results) -> Iterator[str]:
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
    scope, p = planned_interval(results).scope, p_value(interaction.modelled.p_corrected)
    return f"{message}; this holds for {scope}, and not for others (mixed model: p {p})"


# --- Methods sentences on groups -----------------------------------------------------------------


def methods(results: Results) -> Iterator[str]:
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
    if results.is_over_items:
        return ", by Welch's t test between groups of items"
    ways = []
    if "item" in sorts:
        by_t = " by t tests" if results.plan.test == WILCOXON else ""
        ways.append(f"within listeners{by_t} for groups of items")
    if "listener" in sorts:
        ways.append("by Welch's t test between groups of listeners")
    clause = f", {join_names(ways)}"
    if any(i.modelled for s in results.scales for g in s.groups for i in g.interactions):
        clause += (
            ", and by a mixed model of the differences with random intercepts for listeners and "
            "items"
        )
    return clause


# --- CSV tables of groups ------------------------------------------------------------------------


def tables(results: Results) -> dict[str, TableRows]:
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
    return {
        "groups": record_rows(columns, means),
        "group_contrasts": record_rows(*_contrast_table(results, fields)),
        "interactions": record_rows(*_interaction_table(results, fields)),
    }
