"""Report of the mixed model and of equivalence tests: sections, sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from typing import Any, TypeVar

from earwitness.analysis.plan import MIXED_MODEL, WILCOXON
from earwitness.analysis.report.differences import matrix_of
from earwitness.analysis.report.wording import (
    ESTIMATE,
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    correction_clause,
    difference_cells,
    difference_columns,
    planned_interval,
    unit_noun,
    yes_or_no,
)
from earwitness.analysis.results import DifferenceTest, Equivalence, Results, ScaleResults
from earwitness.core import Contrast, Value
from earwitness.report.columns import (
    PAIR,
    Column,
    Columns,
    TableRows,
    draw_rows,
    estimate_parts,
    record_rows,
)
from earwitness.report.numbers import number, p_value
from earwitness.report.parts import Place, Section, Table
from earwitness.report.sentences import join_names
from earwitness.report.tables import BETTER, is_tested, negate, rank_contrasts
from earwitness.stats.means import ITEM_T

# --- Mixed model and equivalence sections --------------------------------------------------------
# A non-significant difference is never worded as evidence of no difference.


Test = TypeVar("Test", Contrast, DifferenceTest)
NO_PROOF_NOTE = "A non-significant difference is not evidence of equivalence."


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on the mixed model and on equivalence."""
    if any(scale.modelled for scale in results.scales):
        note = (
            f"The planned test generalizes to {planned_interval(results).scope}; the mixed model "
            f"to {INTERVAL_WORDING[MIXED_MODEL].scope}. p is {correction_clause(results)}."
        )
        title = "Generalization to other items"
        yield Section(title, (_model_table(results),), note, place="pages")
    tests = [(scale, e) for scale in results.scales for e in _ranked_equivalences(results, scale)]
    if tests:
        wide = f"{100 * (2 * results.plan.level - 1):.4g} %"
        note = (
            f"{NO_PROOF_NOTE} Smallest margin: the smallest margin that contains the {wide} "
            "confidence interval. A margin of that size, set before data collection, would have "
            "shown equivalence."
        )
        has_margins = any(not isnan(e.margin) for _, e in tests)
        if has_margins:
            note += (
                " Equivalence (TOST) is shown if both one-sided tests reject a difference as large "
                f"as the margin; p is the larger of the two, {correction_clause(results)}."
            )
        difference, *p = difference_columns(results, f"difference ({wide} CI)")
        columns: Columns = (
            "scale",
            PAIR,
            difference,
            "smallest margin",
            *(replace(column, hidden=column.hidden or not has_margins) for column in p),
            Column("equivalence", hidden=not has_margins),
        )
        table = draw_rows("equivalence (TOST)", columns, map(_equivalence_cells, tests), 2)
        place: Place = "everywhere" if has_margins else "pages"
        yield Section("Equivalence", (table,), note, place)


def tests_by_scope(
    results: Results, planned: Test, modelled: Test | None
) -> Iterator[tuple[str, Test]]:
    """Yield the planned test and the mixed model, each with what it generalizes to."""
    wide = {MIXED_MODEL, "two_way_bootstrap", ITEM_T}
    scope = "other items" if results.plan.interval in wide else "these items"
    yield scope, planned
    if modelled is not None:
        yield "other items (mixed model)", modelled


def scope_columns(results: Results, pair: str = "pair") -> Columns:
    """Return the columns of ``scope_cells``."""
    scope = Column(heading="generalizes to")
    return ("scale", replace(PAIR, heading=pair), scope, *difference_columns(results), BETTER)


def scope_cells(scale: Value, contrast: Contrast, scope: str = "") -> tuple[Any, ...]:
    """Return the cells of a contrast, with what it generalizes to."""
    return scale, contrast, scope, *difference_cells(contrast), contrast


def _model_table(results: Results) -> Table:
    rows = (
        scope_cells(scale.value, contrast, scope)
        for scale in results.scales
        for planned, modelled in _paired_contrasts(results, scale)
        for scope, contrast in tests_by_scope(results, planned, modelled)
    )
    title = "differences on these items and on other items"
    return draw_rows(title, scope_columns(results), rows, 3)


def _paired_contrasts(results: Results, scale: ScaleResults) -> Iterator[tuple[Contrast, Contrast]]:
    """Yield the planned contrasts and those of the mixed model."""
    matrix = matrix_of(results, scale)
    model = {(c.a, c.b): c for c in rank_contrasts(replace(matrix, contrasts=scale.modelled))}
    for c in rank_contrasts(matrix):
        if (c.a, c.b) in model:
            yield c, model[c.a, c.b]


def _ranked_equivalences(results: Results, scale: ScaleResults) -> Iterator[Equivalence]:
    """Yield equivalence tests in the order of the contrasts of the matrix, turned like these."""
    tests = {(e.a, e.b): e for e in scale.equivalences}
    for c in rank_contrasts(matrix_of(results, scale)):
        if (c.a, c.b) in tests:
            yield tests[c.a, c.b]
        elif (c.b, c.a) in tests:
            turned = tests[c.b, c.a]
            yield replace(turned, a=c.a, b=c.b, difference=negate(turned.difference))


def _equivalence_cells(test: tuple[ScaleResults, Equivalence]) -> tuple[Any, ...]:
    scale, e = test
    within = "–" if isnan(e.within) else f"±{number(e.within, scale.value)}"
    return scale.value, e, e.difference, within, e.p, e.p_corrected, _verdict_text(e)


def _verdict_text(e: Equivalence) -> str:
    if isnan(e.margin):
        return "no margin set"
    outcome = "not tested" if isnan(e.p) else "shown" if e.shown else "not shown"
    return f"{outcome} within ±{e.margin:g}"


def headlines(results: Results) -> Iterator[str]:
    """Yield which differences hold for these items only, and which systems are equivalent."""
    for scale in results.scales:
        yield from _scope_headlines(results, scale)
    for scale in results.scales:
        yield from (
            _equivalence_sentence(results, scale, e) for e in scale.equivalences if not isnan(e.p)
        )


def _scope_headlines(results: Results, scale: ScaleResults) -> Iterator[str]:
    """Yield the pairs for which the planned test and the mixed model disagree."""
    narrow = []
    for c, modelled in _paired_contrasts(results, scale):
        better = c.better or modelled.better
        worse, p = c.b if better == c.a else c.a, p_value(modelled.p_corrected)
        if c.better and not modelled.better and is_tested(modelled):
            narrow.append(f"{better}–{worse} (p {p})")
        elif modelled.better and not is_tested(c):
            yield (
                f"{scale.value.name}: {better} is significantly better than {worse} (mixed model: "
                f"p {p}); the planned test cannot be computed"
            )
    if narrow:
        yield (
            f"{scale.value.name}: significant for {planned_interval(results).scope}, but not for "
            f"other items (mixed model): {join_names(narrow)}"
        )


def _equivalence_sentence(results: Results, scale: ScaleResults, e: Equivalence) -> str:
    differs = any(c.better for c in scale.contrasts if (c.a, c.b) == (e.a, e.b))
    p = f"(TOST: p {p_value(e.p_corrected)})"
    if e.shown:
        also = ", although they differ significantly" if differs else ""
        return (
            f"{e.value}: {e.a} and {e.b} are equivalent within ±{e.margin:g} {p}{also}, for "
            f"{planned_interval(results).scope}"
        )
    also = "" if differs else ", nor is a significant difference"
    return f"{e.value}: equivalence of {e.a} and {e.b} within ±{e.margin:g} is not shown {p}{also}"


# --- Methods sentences on mixed model and equivalence --------------------------------------------


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on the mixed model and equivalence."""
    if any(is_tested(contrast) for scale in results.scales for contrast in scale.modelled):
        way = INTERVAL_WORDING[MIXED_MODEL]
        message = f"In addition, differences were tested by {way.test}"
        yield f"{message}, which generalize to {way.scope}."
    margins = [
        f"{scale.value.name} ±{e.margin:g}"
        for scale in results.scales
        for e in [e for e in scale.equivalences if not isnan(e.p)][:1]
    ]
    if margins:
        test = "the mixed model" if results.plan.interval == MIXED_MODEL else "the same method"
        test = f"t tests over {unit_noun(results)}s" if results.plan.test == WILCOXON else test
        yield (
            f"Equivalence was tested by two one-sided tests (TOST), using {test}, at alpha = "
            f"{1 - results.plan.level:.4g} with margins of "
            f"{join_names(margins, MAX_LISTED_NAMES)}; "
            f"p is the larger of the two, {correction_clause(results)}."
        )


# --- CSV tables of the mixed model and equivalence -----------------------------------------------


EQUIVALENCE_COLUMNS = (
    Column(parts={"scale": "value", "a": "a", "b": "b"}),
    Column(parts={name: f"difference.{name}" for name in ESTIMATE}),
    Column(parts=estimate_parts("within", "margin", "p", "p_corrected")),
    "shown",
)


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    modelled = (scope_cells(s.value, contrast) for s in results.scales for contrast in s.modelled)
    equivalences = (
        (test, test, test, "" if isnan(test.margin) else yes_or_no(test.shown))
        for scale in results.scales
        for test in scale.equivalences
    )
    return {
        "modelled": record_rows(scope_columns(results), modelled),
        "equivalences": record_rows(EQUIVALENCE_COLUMNS, equivalences),
    }
