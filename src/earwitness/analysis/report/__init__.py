"""Reports of study results: all sections in reading order, and exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from earwitness.analysis.plan import NO_CORRECTION
from earwitness.analysis.report.agreement import agreement_sections, effect_headlines
from earwitness.analysis.report.choices import (
    ABILITY,
    RIGHT_ANSWER_SHARE,
    choice_headlines,
    choice_sections,
    choice_tests,
    clusters_text,
)
from earwitness.analysis.report.differences import (
    basis_sentences,
    difference_headlines,
    difference_sections,
    matrix_of,
)
from earwitness.analysis.report.equivalence import equivalence_headlines, equivalence_sections
from earwitness.analysis.report.export import methods_paragraph
from earwitness.analysis.report.groups import group_headlines, group_sections
from earwitness.analysis.report.listeners import (
    comment_sections,
    listener_headlines,
    listener_sections,
)
from earwitness.analysis.report.means import (
    has_pairs,
    mean_sections,
    rated_clause,
    vote_methods,
)
from earwitness.analysis.report.plane import plane_headlines, plane_sections
from earwitness.analysis.report.rubric import fault_sections, rubric_headlines, rubric_sections
from earwitness.analysis.report.screening import (
    all_failed,
    failure_clause,
    screening_headlines,
    screening_sections,
)
from earwitness.analysis.report.wording import (
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    UNKNOWN_RATERS_CLAUSE,
    capitalized,
    correction_clause,
    count_text,
    interval_method,
    level_percent,
    raters_clause,
    test_clause,
    unit_count,
)
from earwitness.analysis.results import PairChoices, Results, ScaleResults
from earwitness.core import Contrast
from earwitness.report.paper import PaperColumn, PaperTable, best_first, paper_rows
from earwitness.report.parts import Matrix, Quote, Report, Section
from earwitness.report.sentences import (
    Topic,
    first_notes,
    input_lines,
    join_names,
    note_lines,
    shorten_topics,
    summary_section,
)

# --- Report --------------------------------------------------------------------------------------


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
    titles = [
        s.title if s.title[1].isupper() else s.title[0].lower() + s.title[1:]  # TC/SD stays
        for s in sections
        if s.place != "everywhere"
    ]
    return f"also in -o report.html: {', '.join(titles)}" if titles else ""


SECTIONS = (  # in reading order
    plane_sections,
    mean_sections,
    difference_sections,
    equivalence_sections,
    group_sections,
    choice_sections,
    rubric_sections,
    fault_sections,
    listener_sections,
    comment_sections,
    screening_sections,
    agreement_sections,
)


def _all_sections(results: Results) -> Iterator[Section]:
    if lines := shorten_topics(list(_headlines(results)), MAX_SUMMARY_LINES):
        yield summary_section(lines)
    for sections in SECTIONS:
        yield from sections(results)
    yield Section(
        "Methods", (Quote(methods_paragraph(results)),), "To copy into a paper:", place="pages"
    )


MAX_SUMMARY_LINES = 14
HEADLINES = {
    "equivalence": equivalence_headlines,
    "the TC/SD plane": plane_headlines,
    "groups": group_headlines,
    "the rubric": rubric_headlines,
    "screening": screening_headlines,
    "effects of order": effect_headlines,
    "listeners": listener_headlines,
}


def _headlines(results: Results) -> Iterator[Topic]:
    """Yield the finding, what limits it, then further findings and excluded listeners."""
    findings = [*difference_headlines(results), *choice_headlines(results)]
    limits = [capitalized(failure_clause(results))] * all_failed(results)
    limits += first_notes(results.notes)
    limits += ["All listeners were simulated; these are not ratings by people"] * results.simulated
    if results.over_items:
        limits.append(f"{raters_clause(results)}; {UNKNOWN_RATERS_CLAUSE}")
    changes = [f"Deviation from the planned analysis: {change}" for change in results.changed]
    yield Topic("", findings[:1])
    yield Topic("", limits)
    yield Topic("", changes)
    yield Topic("differences between systems", findings[1:])
    for name, headlines in HEADLINES.items():
        yield Topic(name, list(headlines(results)))


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
    whom = unit_count(results, results.units)
    if results.left:
        whom = f"{results.units:,} of {unit_count(results, results.listeners)}"
    scales = ", ".join(scale.value.name for scale in results.scales)
    files = ", ".join(file.name for file in results.inputs)
    message = f"{_rated_text(results)}, {whom}{f'; {scales}' if scales else ''}"
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
    yield from input_lines(results.inputs)
    yield from note_lines(results.notes)
    for scale in results.scales:
        yield from (f"note: {scale.value.name}: {note}" for note in scale.notes)


# --- Table for a paper ---------------------------------------------------------------------------


def results_table(results: Results) -> PaperTable:
    """Return the table for a paper: systems as rows, scales as columns.

    A cell is the mean of a system, its Bradley–Terry ability (AB, preference), or the share of
    correct answers of a pair (ABX).
    """
    matrices = [_paper_matrix(results, scale) for scale in results.scales]
    names = list(dict.fromkeys(name for matrix in matrices for name in matrix.systems))
    return PaperTable(
        "ratings",
        " ".join(_paper_about(results)),
        "pair" if matrices and all(map(_has_pair_rows, results.scales)) else "system",
        tuple(PaperColumn(matrix.value) for matrix in matrices),
        paper_rows(best_first(names, matrices), matrices),
        _paper_intervals(results),
        _paper_test(results),
        tuple(_paper_notes(results)),
        signature=results.signature,
    )


def _paper_matrix(results: Results, scale: ScaleResults) -> Matrix:
    """Return the numbers and tests of a scale."""
    if scale.systems or not scale.choices:
        return matrix_of(results, scale)
    if scale.abilities is None:
        shares = {f"{choice.a}–{choice.b}": choice.share for choice in scale.choices}
        return Matrix("", replace(RIGHT_ANSWER_SHARE, name=scale.value.name), shares, ())
    contrasts = tuple(_choice_contrast(results, scale, choice) for choice in scale.choices)
    value = replace(ABILITY, name=scale.value.name)
    systems = dict(scale.abilities.systems)
    return Matrix("", value, systems, contrasts, results.plan.correction, scale.controls)


def _choice_contrast(results: Results, scale: ScaleResults, choice: PairChoices) -> Contrast:
    winner = choice.a if choice.share.value > 0.5 else choice.b
    better = winner if choice.corrected < 1 - results.plan.level else ""
    return Contrast(
        scale.value.name, choice.a, choice.b, choice.share, choice.p, choice.corrected, better
    )


def _has_pair_rows(scale: ScaleResults) -> bool:
    return has_pairs(scale) or (not scale.systems and scale.abilities is None)


def _paper_about(results: Results) -> Iterator[str]:
    """Yield what the numbers are, and how many listeners, votes and choices they are based on."""
    people = unit_count(results, results.units)
    excluded = f" ({len(results.left):,} more excluded by screening)" if results.left else ""
    able = [scale.value.name for scale in results.scales if not scale.systems and scale.abilities]
    right = [
        scale.value.name for scale in results.scales if not scale.systems and not scale.abilities
    ]
    kinds = [
        *(["mean ratings"] if any(scale.systems for scale in results.scales) else []),
        *([f"log Bradley–Terry abilities ({join_names(able)})"] if able else []),
        *([f"shares of correct answers ({join_names(right)})"] if right else []),
    ]
    by = "over" if results.over_items else "by"
    yield f"{capitalized(join_names(kinds or ['ratings']))} {by} {people}{excluded}."
    if results.over_items:
        yield f"{raters_clause(results)}."
    if results.simulated:
        yield "All listeners were simulated; these are not ratings by people."
    if any(scale.systems for scale in results.scales):
        yield next(vote_methods(results))
    if results.choices:
        total = sum(choice.wins + choice.losses + choice.ties for choice in results.choices)
        yield f"{count_text(total, 'choice', 'choices')} between two sounds were analysed."


def _paper_intervals(results: Results) -> str:
    methods = []
    if any(scale.systems for scale in results.scales):
        name = interval_method(results)
        methods.append(INTERVAL_WORDING[name].about if name in INTERVAL_WORDING else name)
    if any(not scale.systems and scale.abilities for scale in results.scales):
        methods.append(f"abilities: cluster-robust over {clusters_text(results)}")
    if any(not scale.systems and not scale.abilities for scale in results.scales):
        methods += [f"shares: {test.name}" for test in choice_tests(results)]
    return f"{level_percent(results)} confidence intervals ({'; '.join(methods)})"


def _paper_test(results: Results) -> str:
    tests = []
    if any(scale.contrasts for scale in results.scales):
        tests.append(test_clause(results))
    if any(scale.abilities for scale in results.scales):
        tests += [f"choices: {test.name}, two-sided" for test in choice_tests(results)]
    if not tests:
        return ""
    within = " within each scale" * (results.plan.correction != NO_CORRECTION)
    alpha = f"p < {1 - results.plan.level:.4g}"
    return f"{'; '.join(tests)}; {correction_clause(results)}{within}, {alpha}"


def _paper_notes(results: Results) -> Iterator[str]:
    unranked: dict[str, list[str]] = {}
    for scale in results.scales:
        for name in scale.controls:
            if name in scale.systems:
                unranked.setdefault(name, []).append(scale.value.name)
    controls = [
        name if _is_control(results, name) else f"{name} (in {join_names(scales)})"
        for name, scales in unranked.items()
    ]
    if controls:
        yield f"Not ranked: {join_names(controls, MAX_LISTED_NAMES)}."
    yield from (f"{sentence}." for sentence in basis_sentences(results))
    separated = {name for s in results.scales if s.abilities for name in s.abilities.separated}
    if separated:
        names = join_names(sorted(separated), MAX_LISTED_NAMES)
        yield f"∞: won or lost every choice, so that no ability can be estimated ({names})."


def _is_control(results: Results, name: str) -> bool:
    """Return whether a system is a control on every scale on which it was rated."""
    return all(name in scale.controls for scale in results.scales if name in scale.systems)
