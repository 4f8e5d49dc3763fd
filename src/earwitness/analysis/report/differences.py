"""Report of differences between systems: matrices, headlines, methods sentences, CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import comb, inf, isnan
from operator import attrgetter

from earwitness.analysis.means import (
    MIN_LISTENERS_FOR_DIFFERENCE,
    MIN_VOTES_FOR_DIFFERENCE,
    SHARED_ITEMS_NOTE,
    has_few_votes,
)
from earwitness.analysis.plan import ITEM_INTERVALS, NO_CORRECTION, WILCOXON
from earwitness.analysis.report.means import vote_mean_sentences
from earwitness.analysis.report.wording import (
    EFFECT_SIZE_WORDING,
    ESTIMATE_NAMES,
    MAX_LISTED_NAMES,
    ColumnRows,
    correction_clause,
    difference_cells,
    difference_columns,
    interval_clause,
    level_percent,
    scope_text,
    test_clause,
    unit_count,
    unit_noun,
)
from earwitness.analysis.results import FriedmanTest, Results, ScaleResults
from earwitness.core import Value, count_text
from earwitness.ratings.rubric import TOTAL
from earwitness.report.columns import (
    PAIR,
    Column,
    P,
    TableRows,
    draw_rows,
    estimate_parts,
    record_rows,
)
from earwitness.report.numbers import number, p_phrase, value_title
from earwitness.report.parts import Matrix, Part, Section
from earwitness.report.sentences import (
    FindingContext,
    better_sentences,
    competing_contrasts,
    competing_values,
    draws_limit,
    finding_sentences,
    flips_limit,
    is_undecided,
    join_names,
    lead_sentences,
    leaders,
    no_difference_phrase,
)
from earwitness.report.tables import is_tested, verdict
from earwitness.stats.contrasts import TWO_WAY_BOOTSTRAP

# --- Matrix of differences -----------------------------------------------------------------------


CHI_SQUARE = Value("chi-square", "none", 0, inf, "")


def sections(results: Results) -> Iterator[Section]:
    """Yield the section with one matrix of comparisons per scale."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if compared:
        matrices = [matrix_of(results, scale) for scale in compared]
        parts: list[Part] = [*matrices]
        if _friedman_tests(results):
            title = "Friedman test: are all systems ranked alike?"
            parts.append(draw_rows(title, *_friedman_table(results)))
        note = _difference_note(results, matrices)
        yield Section("Differences between systems", tuple(parts), note)


def _friedman_table(results: Results) -> ColumnRows:
    columns = (
        "scale",
        Column("statistic", "chi-square", CHI_SQUARE),
        Column("freedom", "degrees of freedom"),
        P,
        "systems",
        Column("listeners", f"{unit_noun(results)}s"),
    )
    cells = attrgetter("statistic", "freedom", "p", "systems", "listeners")
    return columns, [(scale.value, *cells(test)) for scale, test in _friedman_tests(results)]


def _friedman_tests(results: Results) -> list[tuple[ScaleResults, FriedmanTest]]:
    return [(scale, scale.friedman) for scale in results.scales if scale.friedman is not None]


def matrix_of(results: Results, scale: ScaleResults) -> Matrix:
    """Return the matrix of means and contrasts of a scale."""
    names = list(scale.systems)
    if is_relative(scale):
        names = list(dict.fromkeys(name for c in scale.contrasts for name in (c.b, c.a)))
    means = {n: scale.systems[n].mean if n in scale.systems else None for n in names}
    few = tuple(n for n, r in scale.systems.items() if has_few_votes(r.votes, r.units))
    return Matrix(
        value_title(scale.value),
        scale.value,
        means,
        scale.contrasts,
        results.plan.correction,
        scale.controls,
        few,
        {name: rated.equal_votes for name, rated in scale.systems.items()},
    )


def is_relative(scale: ScaleResults) -> bool:
    """Return whether systems were rated relative to others (CCR, SDG), so some have no mean."""
    return any(name not in scale.systems for c in scale.contrasts for name in (c.a, c.b))


def _difference_note(results: Results, matrices: Sequence[Matrix]) -> str:
    marks = ["·: not significantly different"]
    if not all(is_tested(c) for matrix in matrices for c in matrix.contrasts):
        marks.append("?: cannot be tested")
    if any(len(matrix.contrasts) < comb(len(matrix.systems), 2) for matrix in matrices):
        marks.append("empty: not compared")
    intervals = f"confidence intervals of differences {interval_clause(results)}"
    sentences = [", ".join(marks), f"p is {correction_clause(results)}; {intervals}"]
    if sizes := _effect_sizes(results):
        sentences.append(f"Effect sizes: {', '.join(sizes)}")
    return " ".join(f"{sentence}." for sentence in (*sentences, *basis_sentences(results)))


def _effect_sizes(results: Results) -> list[str]:
    """Return the names of the effect sizes."""
    effects = [c.effect for scale in results.scales for c in scale.contrasts]
    methods = {effect.method for effect in effects if effect and not isnan(effect.value)}
    unit = unit_noun(results)
    return sorted(EFFECT_SIZE_WORDING.get(name, name).format(unit=unit) for name in methods)


TWO_WAY_CLAUSE = (
    "compared by a two-way test, in which listeners and items are random, instead of a test within "
    "listeners"
)


def basis_sentences(results: Results) -> Iterator[str]:
    """Yield which pairs are compared by the two-way test, or not at all, and why."""
    for is_compared, outcome in ((True, TWO_WAY_CLAUSE), (False, "not compared")):
        pairs = dict.fromkeys(
            f"{c.a}–{c.b}"
            for scale in results.scales
            for c in scale.contrasts
            if SHARED_ITEMS_NOTE in c.note and is_tested(c) == is_compared
        )
        if pairs:
            count = count_text(len(pairs), "pair of systems shares", "pairs of systems share")
            yield f"{count} fewer than half of their items: {outcome} ({join_names([*pairs])})"
    few: dict[tuple[str, ...], list[str]] = {}
    for scale in results.scales:
        few_votes = matrix_of(results, scale).few
        names = tuple(name for name in few_votes if name not in scale.controls)
        if names and len(names) < len(scale.systems):
            few.setdefault(names, []).append(scale.value.name)
    least = f"{MIN_VOTES_FOR_DIFFERENCE} votes or {MIN_LISTENERS_FOR_DIFFERENCE} listeners"
    least = f"{MIN_VOTES_FOR_DIFFERENCE} items" if results.is_over_items else least
    for names, scales in few.items():
        verb = "is" if len(names) == 1 else "are"
        yield f"{join_names(names)} {verb} not ranked on {join_names(scales)}: fewer than {least}"


# --- Headlines on differences --------------------------------------------------------------------


SAME_LISTENERS_CLAUSE = "among listeners who rated both"


def headlines(results: Results) -> Iterator[str]:
    """Yield the finding of each scale, and which pairs were compared if not all were."""
    context = _finding_context(results)
    rated = [scale for scale in results.scales if scale.systems]
    alone = [matrix_of(results, s) for s in rated if not is_relative(s)]
    relative = [matrix_of(results, s) for s in rated if is_relative(s)]
    if few := _too_few_sentence(results):
        yield few
        for matrix in alone:
            yield from lead_sentences(matrix)
        return
    if results.rubric is not None:
        alone.sort(key=lambda matrix: matrix.value.name != TOTAL)  # the total comes first
    yield from _leader_sentences(alone, context)
    undecided = [matrix for matrix in alone if is_undecided(matrix)]
    if 1 < len(undecided) < len(alone):
        yield from finding_sentences([m for m in alone if not is_undecided(m)], context)
        yield no_difference_phrase(undecided, context)
    else:
        yield from finding_sentences(alone, context)
    for matrix in relative:
        yield from better_sentences(matrix, context)
    yield from _planned_pair_sentences(alone)
    yield from basis_sentences(results)
    yield from vote_mean_sentences(results)
    yield from _friedman_sentences(results)


def _friedman_sentences(results: Results) -> Iterator[str]:
    """Yield whether systems differ at all by Friedman's test, if it was computed."""
    for scale, test in _friedman_tests(results):
        verb = "differ" if test.p < 1 - results.plan.level else "do not differ significantly"
        if not isnan(test.p):
            yield (
                f"{scale.value.name}: the {test.systems:,} systems {verb} in their ranks (Friedman "
                f"test: chi-square({test.freedom}) = {number(test.statistic, CHI_SQUARE)}, "
                f"{p_phrase(test.p)}, {unit_count(results, test.listeners)})"
            )


def _finding_context(results: Results) -> FindingContext:
    alpha, limit = 1 - results.plan.level, _limit_text(results)
    if results.is_over_items:
        size = unit_count(results, results.units)
        return FindingContext(size, alpha, "on", unit="items", limit=limit)
    noun = "simulated listener" if results.simulated else "listener"
    size = f"{count_text(results.units, noun)}{_items_clause(results)}"
    return FindingContext(size, alpha, "on", SAME_LISTENERS_CLAUSE, limit=limit)


def _limit_text(results: Results) -> str:
    """Return why no corrected p can be below alpha on any scale, and what is needed."""
    limits, alpha = [], 1 - results.plan.level
    for scale in results.scales:
        tested = [contrast for contrast in scale.contrasts if is_tested(contrast)]
        pairs = len(tested) if results.plan.correction == "holm" else 1
        if not tested:
            continue
        if any(contrast.note for contrast in tested):
            return ""  # some pairs have another test
        if results.plan.test == WILCOXON:
            units = max(contrast.difference.n for contrast in tested)
            limits.append(flips_limit(pairs, units, unit_noun(results), alpha))
        elif results.plan.interval == TWO_WAY_BOOTSTRAP:
            limits.append(draws_limit(pairs, results.draws, "draw", alpha, 2))
    return limits[0] if all(limits) and limits else ""


def _items_clause(results: Results) -> str:
    """Return the items that results hold for, or their number if items are random."""
    items = len({stimulus.key.item for scale in results.scales for stimulus in scale.stimuli})
    if not items:
        return ""
    tested = [c for scale in results.scales for c in scale.contrasts if is_tested(c)]
    is_two_way = bool(tested) and all(SHARED_ITEMS_NOTE in c.note for c in tested)
    if results.plan.interval in ITEM_INTERVALS or is_two_way:
        return f" and {count_text(items, 'item')}, both random"
    return f" {scope_text(items)}"


def _too_few_sentence(results: Results) -> str:
    """Return the sentence that listeners are too few to test differences, or nothing."""
    if any(not isnan(choice.p) for choice in results.choices):
        return ""  # choices of one listener can be tested
    count = results.units
    least = MIN_VOTES_FOR_DIFFERENCE if results.is_over_items else MIN_LISTENERS_FOR_DIFFERENCE
    if not 0 < count < least:
        return ""
    return (
        f"No difference can be called significant: {unit_count(results, count)} "
        f"{'is' if count == 1 else 'are'} too few (at least {least} are needed)"
    )


def _leader_sentences(matrices: list[Matrix], context: FindingContext) -> Iterator[str]:
    """Yield the system that is better than all others on every scale, if there are several."""
    for name in leaders(matrices[0]) if len(matrices) > 1 else ():
        beaten = [
            verdict(matrix, name, other) == "better"
            for matrix in matrices
            for other in competing_values(matrix)
            if other != name
        ]
        if all(beaten) and all(leaders(matrix) == [name] for matrix in matrices):
            contrasts = [c for matrix in matrices for c in competing_contrasts(matrix)]
            p = max(c.p_corrected for c in contrasts if c.better == name)
            yield (
                f"{name} is significantly better than all other systems on "
                f"{join_names([matrix.value.name for matrix in matrices])} ({context.size}, "
                f"largest {p_phrase(p)})"
            )


def _planned_pair_sentences(matrices: list[Matrix]) -> Iterator[str]:
    """Yield how many pairs were compared, if not all were."""
    compared: dict[str, list[str]] = {}
    for matrix in matrices:
        pairs = list(combinations(competing_values(matrix), 2))
        count = sum(verdict(matrix, *pair) is not None for pair in pairs)
        if 0 < count < len(pairs):
            message = f"{count:,} of {len(pairs):,} pairs of systems were compared"
            compared.setdefault(message, []).append(matrix.value.name)
    for message, scales in compared.items():
        yield f"Only {message} on {join_names(scales)}; nothing is concluded about the others"


# --- Methods sentences on differences ------------------------------------------------------------


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on differences."""
    scales = [scale for scale in results.scales if scale.contrasts]
    counts = {scale.value.name: len(scale.contrasts) for scale in scales}
    tested = {scale.value.name: sum(map(is_tested, scale.contrasts)) for scale in scales}
    if not any(tested.values()):
        if scales:
            yield "No difference between systems could be tested."
        return
    corrected = f"p values were {correction_clause(results)}"
    if results.plan.correction != NO_CORRECTION:
        corrected += f" within each scale, across {_count_by_scale(tested, 'pair', 'pairs')}"
    if (count := sum(tested.values())) < (total := sum(counts.values())):
        pairs = count_text(total, "pair")
        corrected += f"; {count:,} of {pairs} could be tested and are included"
    pairs = _count_by_scale(counts, "pair of systems was", "pairs of systems were")
    yield (
        f"{pairs} compared on each scale by {test_clause(results)} (alpha = "
        f"{1 - results.plan.level:.4g}); {corrected}."
    )
    intervals = f"{level_percent(results)} confidence intervals of differences"
    yield f"{intervals} {interval_clause(results)}."
    yield from (f"{sentence}." for sentence in basis_sentences(results))
    if tests := [test for _, test in _friedman_tests(results)]:
        units = join_names(sorted({f"{test.listeners:,}" for test in tests}), conjunction="or")
        what = "items with" if results.is_over_items else "listeners who rated"
        yield (
            "All systems of a scale were compared by a Friedman test, corrected for ties, over "
            f"the {units} {what} all of them."
        )
    if sizes := _effect_sizes(results):
        ranked = results.plan.test == WILCOXON  # rank-biserial correlations have no interval
        intervals = "" if ranked else f", with {level_percent(results)} confidence intervals"
        yield f"Effect sizes are {join_names(sizes, MAX_LISTED_NAMES)}{intervals}."


def _count_by_scale(counts: dict[str, int], singular: str, plural: str) -> str:
    if len({*counts.values()}) == 1:
        return count_text(next(iter(counts.values())), singular, plural)
    return f"{', '.join(f'{count:,} ({name})' for name, count in counts.items())} {plural}"


# --- CSV table of differences --------------------------------------------------------------------


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    columns = (
        "scale",
        PAIR,
        *difference_columns(results),
        "correction",
        "better",
        Column(parts=estimate_parts(*ESTIMATE_NAMES, prefix="effect_")),
        "note",
    )
    correction = results.plan.correction
    contrasts = (
        (scale.value, c, *difference_cells(c), correction, c.better, c.effect, c.note)
        for scale in results.scales
        for c in scale.contrasts
    )
    return {
        "contrasts": record_rows(columns, contrasts),
        "friedman": record_rows(*_friedman_table(results)),
    }
