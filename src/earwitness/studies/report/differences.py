"""Report sections and methods sentences on differences and equivalence."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TypeVar

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.numbers import CORRECTED_P_HEADINGS, cell, number, p_value, value_title
from earwitness.report.parts import Matrix, Place, Section, Table
from earwitness.report.sentences import join_names
from earwitness.report.tables import better_system, is_tested
from earwitness.studies.report.wording import INTERVAL_WORDING, MAX_LISTED_NAMES, corrected, sized
from earwitness.studies.results import DifferenceTest, Equivalence, Results, ScaleResults

# --- Matrix of differences -----------------------------------------------------------------------


def better_sections(results: Results) -> Iterator[Section]:
    """A matrix a scale."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if compared:
        parts = tuple(matrix_of(results, scale) for scale in compared)
        yield Section("Who is better", parts, _told(results))


def matrix_of(results: Results, scale: ScaleResults) -> Matrix:
    """Means and contrasts of a scale."""
    names = _compared(scale) if against_others_only(scale) else list(scale.systems)
    means = {n: scale.systems[n].mean if n in scale.systems else None for n in names}
    plan, controls = results.plan, results.controls
    return Matrix(
        value_title(scale.value), scale.value, means, scale.contrasts, plan.correction, controls
    )


def against_others_only(scale: ScaleResults) -> bool:
    """Whether systems were rated against others (CCR, SDG): some have no mean of their own."""
    return any(name not in scale.systems for c in scale.contrasts for name in (c.a, c.b))


def _compared(scale: ScaleResults) -> list[str]:
    return list(dict.fromkeys(name for c in scale.contrasts for name in (c.b, c.a)))


def _told(results: Results) -> str:
    every = [c for scale in results.scales for c in scale.contrasts]
    sizes = {sized(c.effect.method) for c in every if c.effect}
    effect = f" Effect sizes: {', '.join(sorted(sizes))}." if sizes else ""
    untested = ", ? cannot be tested" * (not all(map(is_tested, every)))
    untested += ", empty was not compared" * any(_in_part(results, s) for s in results.scales)
    return (
        f"Systems are compared within listeners; · cannot be told apart{untested}. "
        f"p is {corrected(results)}; intervals are not corrected.{effect}"
    )


def _in_part(results: Results, scale: ScaleResults) -> bool:
    """Whether some pairs of a matrix were not compared."""
    count = len(matrix_of(results, scale).systems)
    return 0 < len(scale.contrasts) < count * (count - 1) // 2


# --- Mixed model and equivalence sections --------------------------------------------------------
# Words here never turn "no difference was found" into "there is none".


MIXED = "mixed"
Test = TypeVar("Test", Contrast, DifferenceTest)
NO_PROOF_NOTE = "That no difference was found is no proof that there is none."


def further_sections(results: Results) -> Iterator[Section]:
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
        f"to {INTERVAL_WORDING[MIXED].scope}. p is {corrected(results)}."
    )


def scopes(results: Results, planned: Test, modelled: Test | None) -> Iterator[tuple[str, Test]]:
    """The planned test and the mixed model, each with the items that it speaks about."""
    wide = {MIXED, "two_way_bootstrap"}
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


def further_short(results: Results) -> Iterator[str]:
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


def further_told(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    if any(scale.modelled for scale in results.scales):
        way = INTERVAL_WORDING[MIXED]
        told = f"Beside these, differences were tested by {way.test}"
        yield f"{told}, which generalise to {way.scope}."
    margins = [
        f"{scale.value.name} ±{e.margin:g}"
        for scale in results.scales
        for e in scale.equivalences[:1]
        if not isnan(e.margin)
    ]
    if margins:
        test = "the mixed model" if results.plan.interval == MIXED else "the same method"
        yield (
            f"Equivalence was tested by two one-sided tests (TOST) by {test} at alpha "
            f"{1 - results.plan.level:.4g}, within margins of "
            f"{join_names(margins, MAX_LISTED_NAMES)}; "
            f"p is the larger of the two, {corrected(results)}."
        )
