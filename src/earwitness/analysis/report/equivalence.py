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


def equivalence_sections(results: Results) -> Iterator[Section]:
    """Yield the sections on the mixed model and on equivalence."""
    if any(scale.modelled for scale in results.scales):
        yield Section(
            "Generalization to other items",
            (_model_table(results),),
            _scope_sentences(results),
            place="pages",
        )
    if any(scale.equivalences for scale in results.scales):
        said = any(not isnan(e.margin) for s in results.scales for e in s.equivalences)
        note = _equivalence_note(results, said=said)
        place: Place = "everywhere" if said else "pages"
        yield Section("Equivalence", (_equivalence_table(results, said=said),), note, place)


def _scope_sentences(results: Results) -> str:
    plan = INTERVAL_WORDING.get(results.plan.interval)
    scope = f"The planned test generalizes to {plan.scope}; " if plan else ""
    return (
        f"{scope}the mixed model, with random intercepts for listeners, items, listener × system "
        f"and item × system, to {INTERVAL_WORDING[MIXED_MODEL].scope}. "
        f"p is {correction_clause(results)}."
    )


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
        for scale, planned, modelled in _paired_contrasts(results)
        for scope, contrast in tests_by_scope(results, planned, modelled)
    )
    title = "differences on these items and on other items"
    return draw_rows(title, scope_columns(results), rows, 3)


def _paired_contrasts(results: Results) -> Iterator[tuple[ScaleResults, Contrast, Contrast]]:
    for scale in results.scales:
        matrix = matrix_of(results, scale)
        model = {(c.a, c.b): c for c in rank_contrasts(replace(matrix, contrasts=scale.modelled))}
        for c in rank_contrasts(matrix):
            if (c.a, c.b) in model:
                yield scale, c, model[c.a, c.b]


def _ranked_equivalences(results: Results, scale: ScaleResults) -> Iterator[Equivalence]:
    """Yield equivalence tests in the order of the contrasts of the matrix, turned like these."""
    tests = {(e.a, e.b): e for e in scale.equivalences}
    for c in rank_contrasts(matrix_of(results, scale)):
        if (c.a, c.b) in tests:
            yield tests[c.a, c.b]
        elif (c.b, c.a) in tests:
            turned = tests[c.b, c.a]
            yield replace(turned, a=c.a, b=c.b, difference=negate(turned.difference))


def _equivalence_note(results: Results, *, said: bool) -> str:
    wide = f"{100 * (2 * results.plan.level - 1):.4g} %"
    message = f"{NO_PROOF_NOTE} "
    if said:
        message += (
            "Equivalence (TOST) is shown if both one-sided tests reject a difference as large as "
            f"the margin; p is the larger of the two, {correction_clause(results)}. "
        )
    return message + (
        f"Smallest margin: the smallest margin that contains the {wide} confidence interval. A "
        "margin of that size, set before data collection, would have shown equivalence."
    )


def _equivalence_table(results: Results, *, said: bool) -> Table:
    wide = f"{100 * (2 * results.plan.level - 1):.4g} %"
    rows = (
        (
            scale.value,
            e,
            e.difference,
            "–" if isnan(e.within) else f"±{number(e.within, scale.value)}",
            e.p,
            e.p_corrected,
            _verdict_text(e),
        )
        for scale in results.scales
        for e in _ranked_equivalences(results, scale)
    )
    difference, *tests = difference_columns(results, f"difference ({wide} CI)")
    verdicts: Columns = (*tests, "equivalence") if said else ()
    columns = ("scale", PAIR, difference, "smallest margin", *verdicts)
    return draw_rows("equivalence (TOST)", columns, rows, 2)


def _verdict_text(e: Equivalence) -> str:
    if isnan(e.margin):
        return "no margin set"
    outcome = "not tested" if isnan(e.p) else "shown" if e.shown else "not shown"
    return f"{outcome} within ±{e.margin:g}"


def equivalence_headlines(results: Results) -> Iterator[str]:
    """Yield which differences hold for these items only, and which systems are equivalent."""
    for scale in results.scales:
        yield from _scope_headlines(results, scale)
    for scale in results.scales:
        yield from (
            _equivalence_sentence(results, scale, e) for e in scale.equivalences if not isnan(e.p)
        )


def _scope_headlines(results: Results, scale: ScaleResults) -> Iterator[str]:
    """Yield the pairs for which the planned test and the mixed model disagree."""
    plan = INTERVAL_WORDING.get(results.plan.interval)
    if plan is None:
        return
    tested = [(c, other) for own, c, other in _paired_contrasts(results) if own is scale]
    narrow = [
        (c, other) for c, other in tested if c.better and not other.better and is_tested(other)
    ]
    if len(narrow) > 1:
        pairs = [f"{c.better}–{c.b if c.better == c.a else c.a}" for c, _ in narrow]
        yield (
            f"{scale.value.name}: {len(pairs):,} differences are significant for {plan.scope}, but "
            f"not for other items (mixed model): {join_names(pairs)}"
        )
    for c, other in tested:
        if [(c, other)] == narrow:
            yield (
                f"{scale.value.name}: {_better_clause(c)} for {plan.scope}; for other items the "
                f"difference is not significant (mixed model: p {p_value(other.p_corrected)})"
            )
        elif other.better and not is_tested(c):
            yield (
                f"{scale.value.name}: {_better_clause(other)} (mixed model: "
                f"p {p_value(other.p_corrected)}); the planned test cannot be computed"
            )


def _better_clause(c: Contrast) -> str:
    return f"{c.better} is significantly better than {c.b if c.better == c.a else c.a}"


def _equivalence_sentence(results: Results, scale: ScaleResults, e: Equivalence) -> str:
    apart = next((c for c in scale.contrasts if (c.a, c.b) == (e.a, e.b)), None)
    p = p_value(e.p_corrected)
    if e.shown:
        also = ", although they differ significantly" if apart and apart.better else ""
        plan = INTERVAL_WORDING.get(results.plan.interval)
        reach = f", for {plan.scope}" if plan else ""
        message = f"{e.value}: {e.a} and {e.b} are equivalent within ±{e.margin:g} (TOST: p {p})"
        return f"{message}{also}{reach}"
    message = (
        f"{e.value}: equivalence of {e.a} and {e.b} within ±{e.margin:g} is not shown (TOST: p {p})"
    )
    return message if apart and apart.better else f"{message}, nor is a significant difference"


# --- Methods sentences on mixed model and equivalence --------------------------------------------


def equivalence_methods(results: Results) -> Iterator[str]:
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


def equivalence_tables(results: Results) -> dict[str, TableRows]:
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
