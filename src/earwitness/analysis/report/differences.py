"""Report of differences between systems: matrices, headlines, methods sentences, CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import inf, isnan
from typing import Any

from earwitness.analysis.means import (
    MIN_LISTENERS_FOR_DIFFERENCE,
    MIN_VOTES_FOR_DIFFERENCE,
    SHARED_ITEMS_NOTE,
    has_few_votes,
)
from earwitness.analysis.plan import ITEM_INTERVALS, NO_CORRECTION, WILCOXON
from earwitness.analysis.report.means import vote_mean_sentences
from earwitness.analysis.report.wording import (
    ESTIMATE_NAMES,
    MAX_LISTED_NAMES,
    any_defined,
    correction_clause,
    count_text,
    difference_cells,
    difference_columns,
    effect_size_name,
    interval_clause,
    level_percent,
    scope_text,
    test_clause,
    unit_count,
    unit_noun,
)
from earwitness.analysis.results import FriedmanTest, Results, ScaleResults
from earwitness.core import Value
from earwitness.ratings.rubric import TOTAL
from earwitness.report.columns import (
    PAIR,
    Column,
    Columns,
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


def difference_sections(results: Results) -> Iterator[Section]:
    """Yield the section with one matrix of comparisons per scale."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if compared:
        matrices = tuple(matrix_of(results, scale) for scale in compared)
        parts: list[Part] = [*matrices]
        title, columns = "Friedman test: are all systems ranked alike?", _friedman_columns(results)
        if rows := list(_friedman_rows(results)):
            parts.append(draw_rows(title, columns, rows))
        yield Section("Differences between systems", tuple(parts), _difference_note(results))


def _friedman_columns(results: Results) -> Columns:
    return (
        "scale",
        Column("statistic", "chi-square", CHI_SQUARE),
        Column("freedom", "degrees of freedom"),
        P,
        "systems",
        Column("listeners", f"{unit_noun(results)}s"),
    )


def _friedman_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    for scale, test in _friedman_tests(results):
        yield scale.value, test.statistic, test.freedom, test.p, test.systems, test.listeners


def _friedman_tests(results: Results) -> Iterator[tuple[ScaleResults, FriedmanTest]]:
    for scale in results.scales:
        if scale.friedman is not None:
            yield scale, scale.friedman


def matrix_of(results: Results, scale: ScaleResults) -> Matrix:
    """Return the matrix of means and contrasts of a scale."""
    names = _compared_systems(scale) if against_others_only(scale) else list(scale.systems)
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


def against_others_only(scale: ScaleResults) -> bool:
    """Return whether systems were rated relative to others (CCR, SDG), so some have no mean."""
    return any(name not in scale.systems for c in scale.contrasts for name in (c.a, c.b))


def _compared_systems(scale: ScaleResults) -> list[str]:
    return list(dict.fromkeys(name for c in scale.contrasts for name in (c.b, c.a)))


def _difference_note(results: Results) -> str:
    contrasts = [c for scale in results.scales for c in scale.contrasts]
    sizes = {effect_size_name(results, c.effect.method) for c in contrasts if c.effect}
    effect = f" Effect sizes: {', '.join(sorted(sizes))}." if sizes else ""
    untested = ", ?: cannot be tested" * (not all(map(is_tested, contrasts)))
    untested += ", empty: not compared" * any(
        _has_uncompared_pairs(results, s) for s in results.scales
    )
    within = f"Systems are compared within {unit_noun(results)}s. "
    within *= any(not c.note for c in contrasts)
    return (
        f"{within}·: not significantly different{untested}. "
        f"p is {correction_clause(results)}; confidence intervals of differences "
        f"{interval_clause(results)}.{effect}"
        f"{''.join(f' {sentence}.' for sentence in basis_sentences(results))}"
    )


TWO_WAY_CLAUSE = (
    "compared by a two-way test, in which listeners and items are random, instead of a test within "
    "listeners"
)


def basis_sentences(results: Results) -> Iterator[str]:
    """Yield which pairs are compared by the two-way test, or not at all, and why."""
    for is_compared in (True, False):
        pairs = {
            (c.a, c.b): None
            for scale in results.scales
            for c in scale.contrasts
            if SHARED_ITEMS_NOTE in c.note and is_tested(c) == is_compared
        }
        if pairs:
            be, share = ("is", "shares") if len(pairs) == 1 else ("are", "share")
            outcome = TWO_WAY_CLAUSE if is_compared else "not compared"
            yield (
                f"{count_text(len(pairs), 'pair of systems', 'pairs of systems')} {share} fewer "
                f"than half of their items and {be} {outcome} "
                f"({join_names([f'{a}–{b}' for a, b in pairs])})"
            )
    few: dict[tuple[str, ...], list[str]] = {}
    for scale in results.scales:
        names = tuple(
            name
            for name, rated in scale.systems.items()
            if name not in scale.controls and has_few_votes(rated.votes, rated.units)
        )
        if names and len(names) < len(scale.systems):
            few.setdefault(names, []).append(scale.value.name)
    for names, scales in few.items():
        least = f"{MIN_VOTES_FOR_DIFFERENCE} votes or {MIN_LISTENERS_FOR_DIFFERENCE} listeners"
        least = f"{MIN_VOTES_FOR_DIFFERENCE} items" if results.over_items else least
        yield (
            f"{join_names(names)} {'is' if len(names) == 1 else 'are'} not ranked on "
            f"{join_names(scales)}: fewer than {least}"
        )


def _has_uncompared_pairs(results: Results, scale: ScaleResults) -> bool:
    """Return whether some pairs of a matrix were not compared."""
    count = len(matrix_of(results, scale).systems)
    return 0 < len(scale.contrasts) < count * (count - 1) // 2


# --- Headlines on differences --------------------------------------------------------------------


SAME_LISTENERS_CLAUSE = "among listeners who rated both"


def difference_headlines(results: Results) -> Iterator[str]:
    """Yield the finding of each scale, and which pairs were compared if not all were."""
    context = _finding_context(results)
    rated = [scale for scale in results.scales if scale.systems]
    alone = [matrix_of(results, s) for s in rated if not against_others_only(s)]
    relative = [matrix_of(results, s) for s in rated if against_others_only(s)]
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
    yield from _alike_pair_sentences(alone)
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
    if results.over_items:
        size = unit_count(results, results.units)
        return FindingContext(size, alpha, "on", unit="items", limit=limit)
    size = f"{'simulated ' * results.simulated}listener{'s' * (results.units != 1)}"
    size = f"{results.units:,} {size}{_items_clause(results)}"
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
    items = len({one.key.item for scale in results.scales for one in scale.stimuli})
    if not items:
        return ""
    tested = [c for scale in results.scales for c in scale.contrasts if is_tested(c)]
    is_two_way = bool(tested) and all(SHARED_ITEMS_NOTE in c.note for c in tested)
    if results.plan.interval in ITEM_INTERVALS or is_two_way:
        return f" and {count_text(items, 'item', 'items')}, both random"
    return f" {scope_text(items)}"


def _too_few_sentence(results: Results) -> str:
    """Return the sentence that listeners are too few to test differences, or nothing."""
    if any(not isnan(choice.p) for choice in results.choices):
        return ""  # choices of one listener can be tested
    count = results.units
    least = MIN_VOTES_FOR_DIFFERENCE if results.over_items else MIN_LISTENERS_FOR_DIFFERENCE
    if not 0 < count < least:
        return ""
    return (
        f"No difference can be called significant: {unit_count(results, count)} "
        f"{'is' if count == 1 else 'are'} too few (at least {least} are needed)"
    )


def _leader_sentences(matrices: list[Matrix], context: FindingContext) -> Iterator[str]:
    """Yield whether one system leads on every scale, if there are several."""
    leading = {tuple(leaders(matrix)) for matrix in matrices}
    contrasts = [contrast for matrix in matrices for contrast in competing_contrasts(matrix)]
    if not any(contrast.better for contrast in contrasts):
        return
    if len(matrices) > 1 and len(leading) == 1 and len(first := leading.pop()) == 1:
        best, scales = first[0], join_names([matrix.value.name for matrix in matrices])
        if all(_beats_all(matrix, best) for matrix in matrices):
            p = max(c.p_corrected for c in contrasts if c.better == best)
            yield (
                f"{best} is significantly better than all other systems on {scales} "
                f"({context.size}, largest {p_phrase(p)})"
            )
        else:
            yield (
                f"{best} has the best mean on {scales}, but not all differences from other "
                f"systems are significant ({context.size}, alpha = {context.alpha:.4g})"
            )


def _beats_all(matrix: Matrix, leader: str) -> bool:
    return all(
        name == leader or verdict(matrix, leader, name) == "better"
        for name in competing_values(matrix)
    )


def _planned_pair_sentences(matrices: list[Matrix]) -> Iterator[str]:
    """Yield which pairs were compared, if not all were."""
    compared: dict[tuple[str, ...], list[str]] = {}
    for matrix in matrices:
        every = list(combinations(competing_values(matrix), 2))
        pairs = [pair for pair in every if verdict(matrix, *pair)]
        if 0 < len(pairs) < len(every):
            message = f"{len(pairs):,} of {len(every):,} pairs of systems were compared"
            pair_names = join_names([f"{a} – {b}" for a, b in pairs])
            compared.setdefault((message, pair_names), []).append(matrix.value.name)
    for (message, pair_names), scales in compared.items():
        where = f" on {join_names(scales)}" if len(scales) < len(matrices) else ""
        yield f"Only {message}{where}: {pair_names}; nothing is concluded about the others"


def _alike_pair_sentences(matrices: Sequence[Matrix]) -> Iterator[str]:
    """Yield pairs without leader and controls that do not differ or cannot be tested."""
    for outcome, how in (("same", "not significantly different"), ("untested", "not testable")):
        pairs = {
            matrix.value.name: alike
            for matrix in matrices
            if (alike := _alike_pairs(matrix, outcome))
        }
        if len(pairs) > 1:
            counts = [f"{count_text(len(own), 'pair', 'pairs')} on {n}" for n, own in pairs.items()]
            yield f"Also {how}: {join_names(counts)}"
        for name, alike in pairs.items():
            if len(pairs) == 1:
                yield f"{name}: also {how}: {join_names(alike)}"


def _alike_pairs(matrix: Matrix, outcome: str) -> list[str]:
    """Return the pairs without leaders of an outcome; none if no pair differs at all."""
    lead, compared = leaders(matrix), competing_contrasts(matrix)
    if not any(c.better for c in compared):
        return []  # the finding says that no pair differs
    others = [c for c in compared if not {c.a, c.b} & {*lead}]
    return [f"{c.a}–{c.b}" for c in others if verdict(matrix, c.a, c.b) == outcome]


# --- Methods sentences on differences ------------------------------------------------------------


def difference_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on differences."""
    compared = [scale for scale in results.scales if scale.contrasts]
    if not compared:
        return
    if not any(is_tested(contrast) for scale in compared for contrast in scale.contrasts):
        yield "No difference between systems could be tested."
        return
    alpha = 1 - results.plan.level
    yield (
        f"{_pairs_clause(compared)} compared on each scale by {test_clause(results)} "
        f"(alpha = {alpha:.4g}); {_correction_clause(results, compared)}."
    )
    intervals = f"{level_percent(results)} confidence intervals of differences"
    yield f"{intervals} {interval_clause(results)}."
    yield from (f"{sentence}." for sentence in basis_sentences(results))
    if tests := [test for _, test in _friedman_tests(results)]:
        counts = join_names(sorted({f"{test.listeners:,}" for test in tests}), conjunction="or")
        yield (
            "All systems of a scale were compared by a Friedman test, corrected for ties, over the "
            f"{counts} {'items with' if results.over_items else 'listeners who rated'} all of them."
        )
    sizes = {
        effect_size_name(results, c.effect.method)
        for s in compared
        for c in s.contrasts
        if c.effect is not None and any_defined([c.effect])
    }
    if sizes:
        names = join_names(sorted(sizes), MAX_LISTED_NAMES)
        ranked = results.plan.test == WILCOXON  # rank-biserial correlations have no interval
        intervals = "" if ranked else f", with {level_percent(results)} confidence intervals"
        yield f"Effect sizes are {names}{intervals}."


def _pairs_clause(scales: Sequence[ScaleResults]) -> str:
    counts = {scale.value.name: len(scale.contrasts) for scale in scales}
    return _count_by_scale(counts, "pair of systems was", "pairs of systems were")


def _correction_clause(results: Results, scales: Sequence[ScaleResults]) -> str:
    """Return the family of the correction, and how many pairs could be tested."""
    counts = {scale.value.name: sum(map(is_tested, scale.contrasts)) for scale in scales}
    counts_compared = [len(scale.contrasts) for scale in scales]
    message = f"p values were {correction_clause(results)}"
    if results.plan.correction != NO_CORRECTION:
        message += f" within each scale, across {_count_by_scale(counts, 'pair', 'pairs')}"
    if sum(counts.values()) < sum(counts_compared):
        of = count_text(sum(counts_compared), "pair", "pairs")
        message += f"; {sum(counts.values()):,} of {of} could be tested and are included"
    return message


def _count_by_scale(counts: dict[str, int], singular: str, plural: str) -> str:
    if len({*counts.values()}) == 1:
        return count_text(next(iter(counts.values())), singular, plural)
    return f"{', '.join(f'{count:,} ({name})' for name, count in counts.items())} {plural}"


# --- CSV table of differences --------------------------------------------------------------------


def difference_tables(results: Results) -> dict[str, TableRows]:
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
        "friedman": record_rows(_friedman_columns(results), _friedman_rows(results)),
    }
