"""Reports of study results: all sections in reading order, and exports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from earwitness.analysis.plan import NO_CORRECTION
from earwitness.analysis.report import (
    agreement,
    choices,
    differences,
    equivalence,
    groups,
    listeners,
    means,
    plane,
    rubric,
    screening,
)
from earwitness.analysis.report.choices import (
    ABILITY,
    RIGHT_ANSWER_SHARE,
    choice_tests,
    clusters_text,
    count_choices,
)
from earwitness.analysis.report.differences import basis_sentences, matrix_of
from earwitness.analysis.report.export import methods_paragraph
from earwitness.analysis.report.means import has_pairs, rated_clause, vote_methods
from earwitness.analysis.report.screening import failure_clause, has_only_failures
from earwitness.analysis.report.wording import (
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    UNKNOWN_RATERS_CLAUSE,
    capitalized,
    correction_clause,
    interval_method,
    level_percent,
    name_people,
    raters_clause,
    test_clause,
    unit_count,
)
from earwitness.analysis.results import PairChoices, Results, ScaleResults
from earwitness.core import Contrast, count_text, group_values
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
    report = Report(
        f"Simulated: {title}" if results.simulated else title,
        _subtitle(results),
        result_systems(results),
        sections,
        tuple(_provenance(results)),
        _terminal_hint(sections),
    )
    return name_people(results, report)


def _terminal_hint(sections: Sequence[Section]) -> str:
    """Return the titles of the sections that the terminal does not show."""
    titles = [
        s.title if s.title[1].isupper() else s.title[0].lower() + s.title[1:]  # TC/SD stays
        for s in sections
        if s.place != "everywhere"
    ]
    return f"also in -o report.html: {', '.join(titles)}" if titles else ""


# every topic has sections, headlines, sentences for the methods paragraph, or tables
SECTIONS = (  # in reading order
    plane,
    means,
    differences,
    equivalence,
    groups,
    choices,
    rubric,
    listeners,
    screening,
    agreement,
)


def _all_sections(results: Results) -> Iterator[Section]:
    if lines := shorten_topics(list(_headlines(results)), MAX_SUMMARY_LINES):
        yield summary_section(lines)
    for topic in SECTIONS:
        yield from topic.sections(results)
    yield Section(
        "Methods", (Quote(methods_paragraph(results)),), "To copy into a paper:", place="pages"
    )


MAX_SUMMARY_LINES = 14
SIMULATED_NOTE = "All listeners were simulated; these are not ratings by people"
HEADLINES = {
    "equivalence": equivalence,
    "the TC/SD plane": plane,
    "groups": groups,
    "the rubric": rubric,
    "screening": screening,
    "effects of order": agreement,
    "listeners": listeners,
}


def _headlines(results: Results) -> Iterator[Topic]:
    """Yield the finding, what limits it, then further findings and excluded listeners."""
    findings = [*differences.headlines(results), *choices.headlines(results)]
    limits = [capitalized(failure_clause(results))] if has_only_failures(results) else []
    limits += first_notes(results.notes)
    limits += [SIMULATED_NOTE] if results.simulated else []
    if results.is_over_items:
        limits.append(f"{raters_clause(results)}; {UNKNOWN_RATERS_CLAUSE}")
    changes = [f"Deviation from the planned analysis: {change}" for change in results.changed]
    yield Topic("", findings[:1])
    yield Topic("", limits)
    yield Topic("", changes)
    yield Topic("differences between systems", findings[1:])
    for name, topic in HEADLINES.items():
        yield Topic(name, list(topic.headlines(results)))


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
    rated = count_text(len(result_systems(results)), "system")
    if any(map(has_pairs, results.scales)):
        rated = rated_clause(results.scales)
    scales = ", ".join(scale.value.name for scale in results.scales)
    files = ", ".join(file.name for file in results.inputs)
    return "; ".join(filter(None, [f"{rated}, {whom}", scales, files]))


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
        notes = name_people(results, scale.notes)
        yield from (f"note: {scale.value.name}: {note}" for note in notes)


# --- Table for a paper ---------------------------------------------------------------------------


def results_table(results: Results) -> PaperTable:
    """Return the table for a paper: systems as rows, scales as columns.

    A cell is the mean of a system, its Bradley–Terry ability (AB, preference), or the share of
    correct answers of a pair (ABX).
    """
    matrices = [_paper_matrix(results, scale) for scale in results.scales]
    figures = group_values((_scale_figure(scale), scale.value.name) for scale in results.scales)
    has_pair_rows = all(has_pairs(s) or _scale_figure(s) == SHARES for s in results.scales)
    names = list(dict.fromkeys(name for matrix in matrices for name in matrix.systems))
    table = PaperTable(
        "ratings",
        " ".join(_paper_about(results, figures)),
        "pair" if matrices and has_pair_rows else "system",
        tuple(PaperColumn(matrix.value) for matrix in matrices),
        paper_rows(best_first(names, matrices), matrices),
        _paper_intervals(results, figures),
        _paper_test(results),
        tuple(_paper_notes(results)),
        signature=results.signature,
    )
    return name_people(results, table)


SHARES = "shares of correct answers"
ABILITIES = "log Bradley–Terry abilities"
MEANS = "mean ratings"


def _scale_figure(scale: ScaleResults) -> str:
    """Return what the numbers of a scale are."""
    if scale.systems or not scale.choices:
        return MEANS
    return ABILITIES if scale.abilities else SHARES


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


def _paper_about(results: Results, figures: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield what the numbers are, and how many listeners, votes and choices they are based on."""
    people = unit_count(results, results.units)
    excluded = f" ({len(results.left):,} more excluded by screening)" if results.left else ""
    kinds = [
        kind if kind == MEANS else f"{kind} ({join_names(names)})"
        for kind, names in figures.items()
    ]
    by = "over" if results.is_over_items else "by"
    yield f"{capitalized(join_names(kinds or ['ratings']))} {by} {people}{excluded}."
    if results.is_over_items:
        yield f"{raters_clause(results)}."
    if results.simulated:
        yield f"{SIMULATED_NOTE}."
    if any(scale.systems for scale in results.scales):
        yield next(vote_methods(results))
    if results.choices:
        total = count_text(count_choices(results.choices), "choice")
        yield f"{total} between two sounds were analysed."


def _paper_intervals(results: Results, figures: Mapping[str, list[str]]) -> str:
    methods = {
        MEANS: INTERVAL_WORDING[interval_method(results)].about,
        ABILITIES: f"abilities: cluster-robust over {clusters_text(results)}",
        SHARES: "; ".join(f"shares: {test.name}" for test in choice_tests(results)),
    }
    clauses = "; ".join(methods[kind] for kind in figures)
    return f"{level_percent(results)} confidence intervals ({clauses})"


def _paper_test(results: Results) -> str:
    tests = []
    if any(scale.contrasts for scale in results.scales):
        tests.append(test_clause(results))
    if any(scale.abilities for scale in results.scales):
        tests += [f"choices: {test.name}, two-sided" for test in choice_tests(results)]
    if not tests:
        return ""
    within = "" if results.plan.correction == NO_CORRECTION else " within each scale"
    alpha = f"p < {1 - results.plan.level:.4g}"
    return f"{'; '.join(tests)}; {correction_clause(results)}{within}, {alpha}"


def _paper_notes(results: Results) -> Iterator[str]:
    unranked: dict[str, list[str]] = {}
    for scale in results.scales:
        for name in scale.controls:
            if name in scale.systems:
                unranked.setdefault(name, []).append(scale.value.name)
    controls = []
    for name, scales in unranked.items():
        is_control = len(scales) == sum(name in scale.systems for scale in results.scales)
        controls.append(name if is_control else f"{name} (in {join_names(scales)})")
    if controls:
        yield f"Not ranked: {join_names(controls, MAX_LISTED_NAMES)}."
    yield from (f"{sentence}." for sentence in basis_sentences(results))
    separated = {name for s in results.scales if s.abilities for name in s.abilities.separated}
    if separated:
        names = join_names(sorted(separated), MAX_LISTED_NAMES)
        yield f"∞: won or lost every choice, so that no ability can be estimated ({names})."
