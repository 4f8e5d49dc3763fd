"""Report of agreement, order effects and repeated votes: sections, sentences, CSV tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from operator import attrgetter
from typing import Any

from earwitness.analysis.means import MIN_LISTENERS_FOR_DIFFERENCE
from earwitness.analysis.report.listeners import name_listeners
from earwitness.analysis.report.means import doubled_sentence
from earwitness.analysis.report.wording import (
    AGREEMENT,
    ESTIMATE,
    LISTENER,
    MAX_LISTED_NAMES,
    UNBOUNDED,
    draw_named_cells,
    has_defined,
    name_people,
)
from earwitness.analysis.results import (
    Effect,
    Results,
    ScaleResults,
    Stimulus,
    Subjects,
)
from earwitness.core import Estimate, Value, group_values
from earwitness.ratings.records import Who
from earwitness.report.columns import Column, N, TableRows, draw_rows, estimate_parts, record_rows
from earwitness.report.numbers import COMPONENT_LABELS, number, p_value, value_title
from earwitness.report.parts import PEOPLE_SERIES, Intervals, Section, Table
from earwitness.report.sentences import join_names
from earwitness.stats.significance import holm

# --- Agreement, subject model and effects --------------------------------------------------------


BIAS = Value("bias", "none", *UNBOUNDED, "scale points above (+) or below (−) the others", "points")
INCONSISTENCY = Value(
    "inconsistency", "low", 0, UNBOUNDED[1], "standard deviation, scale points", "points"
)
MAX_TABLE_ITEMS = 300  # longer tables of items are omitted from pages


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on agreement, subject model, effects, repeated votes and items."""
    if any(scale.agreement for scale in results.scales):
        yield Section("Agreement between listeners", (_agreement_table(results.scales),))
    if any(scale.components for scale in results.scales):
        yield Section("Variance components", (_component_table(results),), place="pages")
    yield from _model_sections(results)
    if any(scale.effects for scale in results.scales):
        note = "Effects of presentation, which should be close to 0; p is not corrected."
        table = draw_rows("order effects", EFFECT_COLUMNS, _effect_rows(results.scales), 3)
        yield Section("Order effects", (table,), note)
    if results.retests:
        title, rows = "repeated ratings of the same stimulus", map(_retest_cells, results.retests)
        table = draw_rows(title, RETEST_COLUMNS, rows, value=AGREEMENT)
        yield Section("Test–retest reliability", (table,), place="pages")
    if results.doubled:
        note = doubled_sentence(results)
        title = "Outputs with several rows" if results.is_over_items else "Repeated votes"
        yield Section(title, (_repeat_table(results),), note, "pictures", folded=True)
    items = tuple(filter(None, map(_item_table, results.scales)))
    if items:
        values = "means" if results.is_over_items else "votes"
        note = f"Means per item; stimuli.csv contains all {values}."
        yield Section("Items", items, note, place="pictures", folded=True)


def _agreement_table(scales: Sequence[ScaleResults]) -> Table:
    place = attrgetter("listeners", "stimuli")
    rows = (
        ((scale.value.name, agreement.panel or "all", *place(agreement)), agreement.figures)
        for scale in scales
        for agreement in scale.agreement
    )
    columns = ("scale", "panel", "listeners", "stimuli")
    return draw_named_cells("agreement between listeners", columns, rows, AGREEMENT, 2)


def _component_table(results: Results) -> Table:
    shown = [scale for scale in results.scales if scale.components]
    rows = [
        (name_people(results, label), *(scale.components.get(name) for scale in shown))
        for name, label in COMPONENT_LABELS.items()
        if any(name in scale.components for scale in shown)
    ]
    columns = ("", *(scale.value.name for scale in shown))
    return draw_rows("variance components of votes", columns, rows, value=AGREEMENT)


def _model_sections(results: Results) -> Iterator[Section]:
    modelled = [(scale, scale.subjects) for scale in results.scales if scale.subjects]
    if not modelled:
        return
    warnings = " ".join(text for scale, model in modelled for text in _model_warnings(scale, model))
    qualities = (
        (scale.value, name, quality, rated and rated.mean.value)
        for scale, model in modelled
        for name, quality in model.systems.items()
        for rated in [scale.systems.get(name)]
    )
    columns = ("scale", "system", "estimated quality", "mean")
    table = draw_rows("quality by the subject model", columns, qualities, 2)
    yield Section("Subject model", (table,), warnings, place="pages")
    parts = tuple(
        Intervals(
            f"{scale.value.name}: {value.name}",
            value,
            "listener",
            tuple((str(who), {PEOPLE_SERIES: e}) for who, e in estimates.items()),
        )
        for scale, model in modelled
        for value, estimates in _subject_figures(model)
        if estimates
    )
    yield Section("Bias and inconsistency", parts, place="pictures", folded=True)


def _subject_figures(model: Subjects) -> tuple[tuple[Value, Mapping[Who, Estimate]], ...]:
    return (BIAS, model.biases), (INCONSISTENCY, model.inconsistencies)


def _model_warnings(scale: ScaleResults, model: Subjects) -> Iterator[str]:
    """Yield warnings about the fit of the subject model."""
    if model.floored:
        yield (
            f"{scale.value.name}: the inconsistency of {name_listeners(model.floored)} was "
            f"estimated below the floor of {_floor_text(model)} and set to it."
        )
    if not model.converged:
        yield f"{scale.value.name}: did not converge after {model.rounds:,} iterations."


def _show_effect_p(effect: Effect) -> str:
    has_few = effect.difference.n < MIN_LISTENERS_FOR_DIFFERENCE
    return "too few listeners" if has_few else p_value(effect.p)


EFFECT_COLUMNS = (
    "scale",
    Column("name", "effect"),
    Column("what", "comparison"),
    Column(heading="difference", parts=ESTIMATE),
    N,
    Column(heading="p", parts={"p": "p"}, show=_show_effect_p),
)


def _effect_rows(scales: Sequence[ScaleResults]) -> Iterator[tuple[Any, ...]]:
    for scale in scales:
        for e in scale.effects:
            yield scale.value, e.name, e.what, e.difference, e.difference.n, e


RETEST_COLUMNS = (
    "scale",
    "pairs",
    "listeners",
    "second minus first",
    "standard error of measurement",
    "identical",
    "correlation",
)
_retest_cells = attrgetter("scale", "pairs", "change.n", "change", "error", "same", "correlation")


def _repeat_table(results: Results) -> Table:
    means = results.is_over_items
    title, noun = ("outputs with several rows", "mean") if means else ("repeated votes", "vote")
    listener = replace(LISTENER, hidden=means)
    columns = ("item", "system", "scale", listener, f"{noun}s", f"{noun} used")
    rows = (
        (
            repeated.key.item,
            repeated.key.system,
            repeated.scale,
            repeated.listener,
            ", ".join(f"{x:g}" for x in repeated.values),
            f"{repeated.counted:g}",
        )
        for repeated in results.doubled
    )
    return draw_rows(title, columns, rows, 3 if means else 4)


def _item_table(scale: ScaleResults) -> Table | None:
    """Return the mean of each item and system, unless there are none or too many items."""
    means = group_values((s.key.item, (s.key.system, s.mean)) for s in scale.stimuli)
    if not 0 < len(means) <= MAX_TABLE_ITEMS:
        return None
    rows = (((item,), dict(cells)) for item, cells in means.items())
    return draw_named_cells(f"{value_title(scale.value)} by item", ("item",), rows, scale.value)


# --- Methods sentences on agreement --------------------------------------------------------------


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on agreement."""
    names = dict.fromkeys(
        name
        for scale in results.scales
        for agreement in scale.agreement
        for name, estimate in agreement.figures.items()
        if has_defined([estimate])
    )
    if names:
        listed = join_names([*names], MAX_LISTED_NAMES)
        yield f"Agreement between listeners is reported as {listed}."
    floors = [
        f"{scale.value.name} {_floor_text(scale.subjects)}"
        for scale in results.scales
        if scale.subjects and has_defined(scale.subjects.inconsistencies.values())
    ]
    if floors:
        yield (
            "Biases and inconsistencies of listeners were estimated by the subject model of ITU-T "
            f"P.910, Annex E. Inconsistencies have a lower bound ({', '.join(floors)}), so that no "
            "single listener receives all the weight; their confidence intervals account for the "
            "degrees of freedom of the fit."
        )


def _floor_text(model: Subjects) -> str:
    """Return the floor with the decimals of the inconsistencies in tables."""
    return number(model.floor, INCONSISTENCY)


# --- Headlines on effects ------------------------------------------------------------------------


EFFECT_WORDING = {
    "order": "from the first to the last trial of a session",
    "place": "from the first to the last position on a page",
}


def headlines(results: Results) -> Iterator[str]:
    """Yield effects that are significant after Holm correction over all effects and scales."""
    effects = [(scale, effect) for scale in results.scales for effect in scale.effects]
    corrected = holm([effect.p for _, effect in effects])
    for (scale, effect), p in zip(effects, corrected, strict=True):
        if p < 1 - results.plan.level and effect.difference.n >= MIN_LISTENERS_FOR_DIFFERENCE:
            clause = _effect_clause(scale, effect)
            yield f"{scale.value.name}: votes {clause} (Holm-corrected p {p_value(p)})"


def _effect_clause(scale: ScaleResults, effect: Effect) -> str:
    far = number(abs(effect.difference.value), scale.value)
    verb = "rise" if effect.difference.value > 0 else "fall"
    later, _, earlier = effect.what.partition(" minus ")
    usual = f"from {earlier} to {later}" if earlier else f"({later})"
    return f"{verb} by {far} {EFFECT_WORDING.get(effect.name, usual)}"


# --- CSV tables of agreement, effects and stimuli ------------------------------------------------


AGREEMENT_COLUMNS = (
    "scale",
    Column(parts=estimate_parts("panel", "listeners", "stimuli")),
    "name",
    Column(parts=ESTIMATE),
)


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    scales = results.scales
    agreements = (
        (scale.value, agreement, name, estimate)
        for scale in scales
        for agreement in scale.agreement
        for name, estimate in agreement.figures.items()
    )
    subjects = (
        (scale.value, who, value.name, estimate)
        for scale in scales
        if scale.subjects
        for value, estimates in _subject_figures(scale.subjects)
        for who, estimate in estimates.items()
    )
    doubled_cells = attrgetter("key.item", "key.system", "scale", "listener", "counted")
    doubled = [[*doubled_cells(repeated), *repeated.values] for repeated in results.doubled]
    figures = "name", Column(parts=ESTIMATE)
    return {
        "agreement": record_rows(AGREEMENT_COLUMNS, agreements),
        "subjects": record_rows(("scale", LISTENER, *figures), subjects),
        "effects": record_rows(EFFECT_COLUMNS, _effect_rows(scales)),
        "doubled": _with_votes(["item", "system", "scale", "listener", "counted"], doubled),
        "stimuli": _with_votes(
            ["item", "system", "scale", "n", "mean", "sd", "quality"],
            [_stimulus_row(scale, stimulus) for scale in scales for stimulus in scale.stimuli],
        ),
    }


def _with_votes(columns: list[str], rows: list[list[Any]]) -> TableRows:
    """Return rows that end with votes, with a column for each of the most votes."""
    width = max(map(len, rows), default=len(columns))
    columns += [f"vote_{n}" for n in range(1, width - len(columns) + 1)]
    return TableRows(columns, [row + [""] * (width - len(row)) for row in rows])


def _stimulus_row(scale: ScaleResults, stimulus: Stimulus) -> list[Any]:
    """Return the number of votes, their mean, the estimated quality, and all votes."""
    n = sum(not isnan(vote) for vote in stimulus.votes)
    counted = scale.raters.get(stimulus.key, n) or ""  # empty if not known
    named = [stimulus.key.item, stimulus.key.system, scale.value.name]
    quality = scale.subjects.qualities.get(stimulus.key) if scale.subjects else None
    estimated = "" if quality is None else quality.value
    return [*named, counted, stimulus.mean, stimulus.sd, estimated, *stimulus.votes]
