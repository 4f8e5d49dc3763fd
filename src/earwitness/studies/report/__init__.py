"""Reports of study results: all sections in reading order, and exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.report.parts import Lines, Quote, Report, Section
from earwitness.studies.report.agreement import agreement_sections, effect_headlines
from earwitness.studies.report.choices import choice_headlines, choice_sections
from earwitness.studies.report.differences import difference_headlines, difference_sections
from earwitness.studies.report.equivalence import equivalence_headlines, equivalence_sections
from earwitness.studies.report.export import methods
from earwitness.studies.report.groups import group_headlines, group_sections
from earwitness.studies.report.listeners import listener_headlines, listener_sections
from earwitness.studies.report.means import in_pairs, mean_sections, what_rated
from earwitness.studies.report.rubric import fault_sections, rubric_headlines, rubric_sections
from earwitness.studies.report.screening import (
    all_failed,
    failure,
    screening_headlines,
    screening_sections,
)
from earwitness.studies.report.wording import several
from earwitness.studies.results import Results


def results_report(results: Results) -> Report:
    """All of it; what is empty is left out."""
    sections = tuple(_sections(results))
    title = f"Results of {results.title}" if results.title else "Results"
    return Report(
        f"Simulated: {title}" if results.simulated else title,
        _about(results),
        systems(results),
        sections,
        tuple(_provenance(results)),
        _more(sections),
    )


def _more(sections: Sequence[Section]) -> str:
    """What the terminal does not show."""
    titles = [s.title[0].lower() + s.title[1:] for s in sections if s.place != "everywhere"]
    return f"more with -o report.html or --folder: {', '.join(titles)}" if titles else ""


def _sections(results: Results) -> Iterator[Section]:
    if lines := tuple(_headlines(results)):
        yield Section("In short", (Lines("", lines),))
    yield from mean_sections(results)
    yield from difference_sections(results)
    yield from equivalence_sections(results)
    yield from group_sections(results)
    yield from choice_sections(results)
    yield from rubric_sections(results)
    yield from fault_sections(results)
    yield from listener_sections(results)
    yield from screening_sections(results)
    yield from agreement_sections(results)
    yield Section("Methods", (Quote(methods(results)),), "To copy into a paper:", place="pages")


def _headlines(results: Results) -> Iterator[str]:
    """Who leads, what cannot be told apart, who was left out and what that changes, and what is
    strange about votes."""
    if all_failed(results):
        yield failure(results)
    if results.simulated:
        yield "all listeners were simulated: nobody heard anything"
    yield from (f"other than the study had planned: {change}" for change in results.changed)
    yield from difference_headlines(results)
    yield from choice_headlines(results)
    yield from equivalence_headlines(results)
    yield from group_headlines(results)
    yield from rubric_headlines(results)
    yield from screening_headlines(results)
    yield from effect_headlines(results)
    yield from listener_headlines(results)


def systems(results: Results) -> tuple[str, ...]:
    """Those of all scales, comparisons and choices."""
    found: list[str] = []
    for scale in results.scales:
        found += [*scale.systems, *(scale.abilities.systems if scale.abilities else ())]
        pairs = [(c.a, c.b) for c in scale.contrasts] + [(c.a, c.b) for c in scale.choices]
        found += [name for pair in pairs for name in pair]
    return tuple(dict.fromkeys(found))


def _about(results: Results) -> str:
    """What was rated, in a line."""
    kept = results.listeners - len(results.left)
    whom = f"{kept:,} of {results.listeners:,}" if results.left else f"{kept:,}"
    scales = ", ".join(scale.value.name for scale in results.scales)
    files = ", ".join(one.name for one in results.inputs)
    told = (
        f"{_what(results)}, {whom} listener{'s' * (results.listeners != 1)}"
        f"{f'; {scales}' if scales else ''}"
    )
    return f"{told}; {files}" if files else told


def _what(results: Results) -> str:
    if any(map(in_pairs, results.scales)):
        return what_rated(results.scales)
    return several(len(systems(results)), "system", "systems")


def _provenance(results: Results) -> Iterator[str]:
    yield f"intervals: {100 * results.plan.level:.4g} %; ↑ high is good, ↓ low is good"
    if results.signature:
        yield f"signature: {results.signature}"
    if results.study:
        yield f"study: {results.study}"
    for one in results.inputs:
        yield f"input: {one.name} ({one.bytes:,} bytes, sha256 {one.sha256})"
    yield from (f"note: {note}" for note in results.notes)
    for scale in results.scales:
        yield from (f"note: {scale.value.name}: {note}" for note in scale.notes)
