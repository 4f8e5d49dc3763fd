"""The mixed model beside planned tests, and equivalence: sections, sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TypeVar

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, number, p_value
from earwitness.report.parts import Place, Section, Table
from earwitness.report.sentences import join_names
from earwitness.report.tables import better_system, is_tested
from earwitness.studies.report.csv_columns import (
    ESTIMATE_COLUMNS,
    TEST_COLUMNS,
    TableContent,
    estimate_cells,
    yes_or_no,
)
from earwitness.studies.report.wording import INTERVAL_WORDING, MAX_LISTED_NAMES, corrected
from earwitness.studies.results import DifferenceTest, Equivalence, Results, ScaleResults
from earwitness.studies.study import MIXED_MODEL

# --- Mixed model and equivalence sections --------------------------------------------------------
# Words here never turn "no difference was found" into "there is none".


Test = TypeVar("Test", Contrast, DifferenceTest)
NO_PROOF_NOTE = "That no difference was found is no proof that there is none."


def equivalence_sections(results: Results) -> Iterator[Section]:
    """The mixed model beside the planned test; equivalence."""
    if any(scale.modelled for scale in results.scales):
        yield Section("For other items too", (_beside(results),), _scopes(results), place="pages")
    if any(scale.equivalences for scale in results.scales):
        said = any(not isnan(e.margin) for s in results.scales for e in s.equivalences)
        told = _equivalence_told(results, said=said)
        place: Place = "everywhere" if said else "pages"
        yield Section("Equivalence", (_equivalences(results, said=said),), told, place)


def _scopes(results: Results) -> str:
    plan = INTERVAL_WORDING.get(results.plan.interval)
    scope = f"The planned test generalises to {plan.scope}; " if plan else ""
    return (
        f"{scope}the mixed model, with random effects of listeners, items, and both with systems, "
        f"to {INTERVAL_WORDING[MIXED_MODEL].scope}. p is {corrected(results)}."
    )


def scopes(results: Results, planned: Test, modelled: Test | None) -> Iterator[tuple[str, Test]]:
    """The planned test and the mixed model, each with the items that it speaks about."""
    wide = {MIXED_MODEL, "two_way_bootstrap"}
    here = "other items too" if results.plan.interval in wide else "these items"
    yield here, planned
    if modelled is not None:
        yield "other items too (mixed model)", modelled


def with_n(estimate: Estimate, value: Value) -> str:
    """A number with its interval and n."""
    return f"{cell(estimate, value)} n {estimate.n:,}"


def _beside(results: Results) -> Table:
    name = CORRECTED_P_HEADINGS.get(results.plan.correction)
    rows = tuple(
        (
            *(scale.value.name, f"{one.a} − {one.b}", scope, with_n(one.difference, scale.value)),
            *(p_value(one.p), *([p_value(one.p_corrected)] if name else []), better_system(one)),
        )
        for scale, planned, modelled in _both(results)
        for scope, one in scopes(results, planned, modelled)
    )
    header = ("scale", "of", "on", "difference", "p", *([name] if name else []), "better")
    return Table("differences on these items, and on others too", header, rows, names=3)


def _both(results: Results) -> Iterator[tuple[ScaleResults, Contrast, Contrast]]:
    for scale in results.scales:
        model = {(c.a, c.b): c for c in scale.modelled}
        for c in scale.contrasts:
            if (c.a, c.b) in model:
                yield scale, c, model[c.a, c.b]


def _equivalence_told(results: Results, *, said: bool) -> str:
    wide = f"{100 * (2 * results.plan.level - 1):.4g} %"
    told = f"{NO_PROOF_NOTE} "
    if said:
        told += (
            "Equivalence is shown where both one-sided tests say that systems differ by less than "
            f"the margin; p is the larger of the two, {corrected(results)}. "
        )
    return told + (
        f"Within is the smallest margin that the {wide} interval fits into: with a margin of that "
        "size, said before the data were seen, equivalence could have been claimed."
    )


def _equivalences(results: Results, *, said: bool) -> Table:
    name = CORRECTED_P_HEADINGS.get(results.plan.correction)
    wide = f"{100 * (2 * results.plan.level - 1):.4g} %"
    rows = tuple(
        (
            *(e.value, f"{e.a} − {e.b}", with_n(e.difference, scale.value)),
            "–" if isnan(e.within) else f"±{number(e.within, scale.value)}",
            *(_judged(e, name) if said else ()),
        )
        for scale in results.scales
        for e in scale.equivalences
    )
    more = ("p", *([name] if name else []), "equivalence") if said else ()
    header = ("scale", "of", f"difference, {wide}", "within", *more)
    return Table("how large a difference may be", header, rows, names=2)


def _judged(e: Equivalence, name: str | None) -> tuple[str, ...]:
    if isnan(e.margin):
        return ("–", *(["–"] if name else []), "no margin was said")
    p = (p_value(e.p), *([p_value(e.p_corrected)] if name else []))
    told = "not tested" if isnan(e.p) else "shown" if e.shown else "not shown"
    return (*p, f"{told} within ±{e.margin:g}")


def equivalence_headlines(results: Results) -> Iterator[str]:
    """What holds for these items only, and what is equivalent."""
    for scale in results.scales:
        yield from _only_here(results, scale)
    for scale in results.scales:
        yield from (_equivalent(results, scale, e) for e in scale.equivalences if not isnan(e.p))


def _only_here(results: Results, scale: ScaleResults) -> Iterator[str]:
    """Where the planned test and the mixed model do not say the same."""
    plan = INTERVAL_WORDING.get(results.plan.interval)
    for own, c, other in _both(results):
        if own is not scale or plan is None:
            continue
        if c.better and not other.better and is_tested(other):
            yield (
                f"{scale.value.name}: that {_better(c)} holds for {plan.scope}; of other items it "
                f"cannot be said (mixed model: p {p_value(other.p_corrected)})"
            )
        elif other.better and not is_tested(c):
            yield (
                f"{scale.value.name}: by the mixed model {_better(other)} "
                f"(p {p_value(other.p_corrected)}); the planned test cannot be made"
            )


def _better(c: Contrast) -> str:
    return f"{c.better} is better than {c.b if c.better == c.a else c.a}"


def _equivalent(results: Results, scale: ScaleResults, e: Equivalence) -> str:
    apart = next((c for c in scale.contrasts if (c.a, c.b) == (e.a, e.b)), None)
    p = p_value(e.p_corrected)
    if e.shown:
        also = ", though they can be told apart" if apart and apart.better else ""
        plan = INTERVAL_WORDING.get(results.plan.interval)
        reach = f", for {plan.scope}" if plan else ""
        told = f"{e.value}: {e.a} and {e.b} are equivalent within ±{e.margin:g} (p {p})"
        return f"{told}{also}{reach}"
    told = f"{e.value}: {e.a} and {e.b} are not shown to be equivalent within ±{e.margin:g} (p {p})"
    return told if apart and apart.better else f"{told}, nor to be different"


# --- Methods sentences on mixed model and equivalence --------------------------------------------


def equivalence_methods(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    if any(scale.modelled for scale in results.scales):
        way = INTERVAL_WORDING[MIXED_MODEL]
        told = f"Beside these, differences were tested by {way.test}"
        yield f"{told}, which generalise to {way.scope}."
    margins = [
        f"{scale.value.name} ±{e.margin:g}"
        for scale in results.scales
        for e in scale.equivalences[:1]
        if not isnan(e.margin)
    ]
    if margins:
        test = "the mixed model" if results.plan.interval == MIXED_MODEL else "the same method"
        yield (
            f"Equivalence was tested by two one-sided tests (TOST) by {test} at alpha "
            f"{1 - results.plan.level:.4g}, within margins of "
            f"{join_names(margins, MAX_LISTED_NAMES)}; "
            f"p is the larger of the two, {corrected(results)}."
        )


# --- CSV tables of the mixed model and equivalence -----------------------------------------------


def equivalence_tables(results: Results) -> dict[str, TableContent]:
    """CSV tables by the name of their file."""
    return {"modelled.csv": _modelled_csv(results), "equivalences.csv": _equivalences_csv(results)}


def _modelled_csv(results: Results) -> TableContent:
    rows = [
        [
            contrast.value,
            contrast.a,
            contrast.b,
            *estimate_cells(contrast.difference),
            contrast.p,
            contrast.p_corrected,
            contrast.better,
        ]
        for scale in results.scales
        for contrast in scale.modelled
    ]
    return ["scale", "a", "b", *TEST_COLUMNS, "better"], rows


def _equivalences_csv(results: Results) -> TableContent:
    rows = [
        [
            *(
                equivalence.value,
                equivalence.a,
                equivalence.b,
                *estimate_cells(equivalence.difference),
                equivalence.within,
                equivalence.margin,
                equivalence.p,
                equivalence.p_corrected,
            ),
            _shown_cell(equivalence.shown, equivalence.margin),
        ]
        for scale in results.scales
        for equivalence in scale.equivalences
    ]
    header = ["scale", "a", "b", *ESTIMATE_COLUMNS, "within", "margin", "p", "p_corrected", "shown"]
    return header, rows


def _shown_cell(shown: bool, margin: float) -> str:
    return "" if isnan(margin) else yes_or_no(shown)
