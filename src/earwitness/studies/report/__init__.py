"""Reports of study results: all sections in reading order, and exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.report.parts import Lines, Quote, Report, Section
from earwitness.studies.report.agreement import agreement_sections, effect_headlines
from earwitness.studies.report.choices import choice_headlines, choice_sections
from earwitness.studies.report.differences import difference_headlines, difference_sections
from earwitness.studies.report.equivalence import equivalence_headlines, equivalence_sections
from earwitness.studies.report.export import methods_paragraph
from earwitness.studies.report.groups import group_headlines, group_sections
from earwitness.studies.report.listeners import listener_headlines, listener_sections
from earwitness.studies.report.means import has_pairs, mean_sections, rated_clause
from earwitness.studies.report.rubric import fault_sections, rubric_headlines, rubric_sections
from earwitness.studies.report.screening import (
    all_failed,
    failure_clause,
    screening_headlines,
    screening_sections,
)
from earwitness.studies.report.wording import count_text
from earwitness.studies.results import Results


def results_report(results: Results) -> Report:
    """Return the report of results; empty sections are omitted."""
    sections = tuple(_all_sections(results))
    title = f"Results of {results.title}" if results.title else "Results"
    return Report(
        f"Simulated: {title}" if results.simulated else title,
        _subtitle(results),
        result_systems(results),
        sections,
        tuple(_provenance(results)),
        _terminal_hint(sections),
    )


def _terminal_hint(sections: Sequence[Section]) -> str:
    """Return the titles of the sections that the terminal does not show."""
    titles = [s.title[0].lower() + s.title[1:] for s in sections if s.place != "everywhere"]
    return f"also in -o report.html and --folder: {', '.join(titles)}" if titles else ""


def _all_sections(results: Results) -> Iterator[Section]:
    if lines := tuple(_headlines(results)):
        yield Section("Summary", (Lines("", lines),))
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
    yield Section(
        "Methods", (Quote(methods_paragraph(results)),), "To copy into a paper:", place="pages"
    )


def _headlines(results: Results) -> Iterator[str]:
    """Yield the main findings, then excluded listeners and unusual votes."""
    if all_failed(results):
        yield _capitalized(failure_clause(results))
    if results.simulated:
        yield "All listeners were simulated; these are not ratings by people"
    yield from (f"Deviation from the planned analysis: {change}" for change in results.changed)
    yield from difference_headlines(results)
    yield from choice_headlines(results)
    yield from equivalence_headlines(results)
    yield from group_headlines(results)
    yield from rubric_headlines(results)
    yield from screening_headlines(results)
    yield from effect_headlines(results)
    yield from listener_headlines(results)


def _capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def result_systems(results: Results) -> tuple[str, ...]:
    """Return the systems of all scales, comparisons and choices."""
    names: list[str] = []
    for scale in results.scales:
        names += [*scale.systems, *(scale.abilities.systems if scale.abilities else ())]
        pairs = [(c.a, c.b) for c in scale.contrasts] + [(c.a, c.b) for c in scale.choices]
        names += [name for pair in pairs for name in pair]
    return tuple(dict.fromkeys(names))


def _subtitle(results: Results) -> str:
    """Return the numbers of systems and listeners, the scales and the files in one line."""
    kept = results.listeners - len(results.left)
    whom = f"{kept:,} of {results.listeners:,}" if results.left else f"{kept:,}"
    scales = ", ".join(scale.value.name for scale in results.scales)
    files = ", ".join(file.name for file in results.inputs)
    message = (
        f"{_rated_text(results)}, {whom} listener{'s' * (results.listeners != 1)}"
        f"{f'; {scales}' if scales else ''}"
    )
    return f"{message}; {files}" if files else message


def _rated_text(results: Results) -> str:
    if any(map(has_pairs, results.scales)):
        return rated_clause(results.scales)
    return count_text(len(result_systems(results)), "system", "systems")


def _provenance(results: Results) -> Iterator[str]:
    yield (
        f"confidence intervals: {100 * results.plan.level:.4g} %; "
        "↑ higher is better, ↓ lower is better"
    )
    if results.signature:
        yield f"signature: {results.signature}"
    if results.study:
        yield f"study: {results.study}"
    for file in results.inputs:
        yield f"input: {file.name} ({file.bytes:,} bytes, sha256 {file.sha256})"
    yield from (f"note: {note}" for note in results.notes)
    for scale in results.scales:
        yield from (f"note: {scale.value.name}: {note}" for note in scale.notes)
