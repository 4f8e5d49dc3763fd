"""Agreement report: summary, cautions and sentences for a paper."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan, nan

from earwitness.metaeval.join import verb_form
from earwitness.metaeval.report_tables import (
    CHANCE_LABEL,
    CORRECTED_PHRASE,
    CORRELATIONS,
    LEVEL_WORDING,
    RATER_LABEL,
    SWAP_WORDING,
    difference_contrasts,
    figure_phrase,
    figure_value,
    has_one_system,
    metric_label,
    metric_labels,
    ranking_sections,
    ranking_title,
    resampled_units,
    table_sections,
    too_few_phrase,
)
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    MetricDifference,
    SampleSizeCurve,
    ScaleConcordance,
    ScaleRanking,
)
from earwitness.metaeval.significance import DIFFERENCE_TOLERANCE
from earwitness.report.numbers import cell, interval, number, p_phrase
from earwitness.report.paper import PaperColumn, PaperRow, PaperTable, paper_rows
from earwitness.report.parts import Lines, Matrix, Quote, Report, Section
from earwitness.report.sentences import (
    first_notes,
    input_lines,
    join_names,
    note_lines,
    summary_section,
)
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL

# --- Summary and cautions ------------------------------------------------------------------------


SHOWN_CAUTIONS = 5  # cautions per scale on the terminal
MORE_CAUTIONS_HINT = "see -o report.html"


def summary_sentences(concordance: Concordance) -> Iterator[str]:
    """Yield the best metric per scale and level, and which metrics differ from it."""
    for ranking in concordance.rankings:
        sentence, test = _ranking_sentence(ranking) + _higher_baselines(ranking), ranking.rank.test
        if test.unit != "systems" and len(ranking.scale.people) < test.needed:
            sentence += f"; a claim about other systems needs at least {test.needed}"
        yield sentence


def caution_parts(concordance: Concordance) -> Iterator[Lines]:
    """Yield the cautions of each scale by importance; the terminal shows the first ones.

    Warnings are followed by chance and baselines, sample sizes, raters and notes.
    """
    for scale in concordance.scales:
        rankings = [ranking for ranking in concordance.rankings if ranking.scale is scale]
        doubts = (sentence for ranking in rankings for sentence in _doubt_sentences(ranking))
        raters = (sentence for ranking in rankings for sentence in _rater_sentences(ranking))
        sizes = _sample_size_sentences(scale.curves)
        sentences = tuple(dict.fromkeys((*scale.warnings, *doubts, *sizes, *raters, *scale.notes)))
        if sentences:
            yield Lines(scale.scale.name, sentences, SHOWN_CAUTIONS, MORE_CAUTIONS_HINT, "note")


def _ranking_sentence(ranking: ScaleRanking) -> str:
    scale, figure, estimates = ranking.scale, ranking.figure, ranking.estimates
    value, alpha = figure_value(figure), ranking.alpha
    task = f"ranking {LEVEL_WORDING[figure.level].ranked} by {scale.scale.name}"
    where = f"in {task}"
    if ranking.rank.test.unit != "systems":  # the test is about these systems only
        where += " on these systems" if len(scale.people) > 1 else " on this system"
    if not ranking.names:
        has_value = any(not isnan(estimates[name].value) for name in ranking.rank.aside)
        reason = "enough values to be ranked" if has_value else "a defined value"
        return f"No metric has {reason} {where}"
    best, chance, sizes = ranking.names[0], ranking.chance, _sizes_phrase(scale)
    size = f"{value.name} {cell(estimates[best], value)}"
    is_chance = chance is not None and estimates[best].value <= chance.high
    tests, worse, others = _tests_of_best(ranking)
    if others and ranking.has_few_units:
        reason = too_few_phrase(ranking, f"which metric is best in {task}")
        gap = tests[others[0]].difference.value
        tied = [name for name in others if tests[name].difference.value <= DIFFERENCE_TOLERANCE]
        verb = "have" if tied else "has"
        ahead = f"{join_names([best, *tied])} {verb} the highest value ({size})"
        ahead += f", {number(gap, value)} above {others[0]}" * (not tied)
        ahead += ", but is not better than chance itself" * is_chance
        return f"{reason[0].upper()}{reason[1:]} ({sizes}); {ahead}"
    if is_chance:
        return (
            f"No metric agrees with raters better than chance {where} "
            f"(best: {best}, {size}; {sizes})"
        )
    if others and not worse:
        lead = tests[others[0]].difference
        ahead = f"; {best} has the highest value ({size}), {cell(lead, value)} above {others[0]}"
        count = ranking.rank.test.pairs
        pairs = f"{count:,} pair{'s' * (count != 1)} tested"
        return (
            f"No metric is significantly worse than the best {where} ({pairs}, {sizes}, "
            f"alpha = {alpha:.2g}){ahead}"
        )
    sentence = f"{best} agrees best with raters {where} ({size}, {sizes})"
    if worse:
        p = max(tests[name].corrected for name in worse)
        limit = "largest " * (len(worse) > 1)
        sentence += f"; significantly worse: {join_names(worse)} ({limit}{p_phrase(p)})"
    if others:
        sentence += f"; not significantly worse: {join_names(others)}"
    return sentence


def _sizes_phrase(scale: ScaleConcordance) -> str:
    """Return the numbers of systems, items and raters."""
    counts = {"system": len(scale.people), "item": scale.items, "rater": scale.raters}
    return ", ".join(f"{n:,} {unit}{'s' * (n != 1)}" for unit, n in counts.items())


def _higher_baselines(ranking: ScaleRanking) -> str:
    """Return which baselines have a higher value than the best metric, or an empty string."""
    order = ranking.rank.order
    names = order[: order.index(ranking.names[0])] if ranking.names else ()
    if not names:
        return ""
    value, estimates = figure_value(ranking.figure), ranking.estimates
    values = [f"{name} ({number(estimates[name].value, value)})" for name in names]
    nouns = ("baseline", "has") if len(names) == 1 else ("baselines", "have")
    return f"; the {nouns[0]} {join_names(values)} {nouns[1]} a higher value"


def _tests_of_best(
    ranking: ScaleRanking,
) -> tuple[dict[str, MetricDifference], list[str], list[str]]:
    """Return the tests of the best metric, the metrics significantly worse, and the others."""
    best, *names = ranking.names
    tests = {test.b: test for test in ranking.differences if test.a == best}
    worse = [name for name in names if name in tests and tests[name].is_distinct]
    return tests, worse, [name for name in names if name not in worse]


def _doubt_sentences(ranking: ScaleRanking) -> Iterator[str]:
    """Yield metrics that are no better than chance or than a baseline, or not ranked."""
    where, names = ranking_title(ranking.figure), ranking.names
    if names and (chance := ranking.chance):
        values = {name: ranking.estimates[name].value for name in names}
        chance_like = [name for name, x in values.items() if chance.low <= x <= chance.high]
        opposed = [name for name, x in values.items() if x < chance.low]
        low, high = (number(x, figure_value(ranking.figure)) for x in (chance.low, chance.high))
        if chance_like:
            yield (
                f"{where}: {join_names(chance_like, len(chance_like))} "
                f"{verb_form(chance_like, 'is', 'are')} no better than chance (chance range {low} "
                f"to {high})"
            )
        if opposed:
            worse = "higher" if ranking.scale.scale.best == "low" else "lower"
            yield (
                f"{where}: {join_names(opposed, len(opposed))} "
                f"{verb_form(opposed, 'agrees', 'agree')} less than chance: better scores go with "
                f"{worse} ratings"
            )
    if names:
        yield from _beaten_baseline_sentences(ranking)
    for name, reason in ranking.rank.aside.items():
        if not isnan(ranking.estimates[name].value):  # else there is a warning
            yield f"{where}: {name} is not ranked: {reason}"


def _beaten_baseline_sentences(ranking: ScaleRanking) -> Iterator[str]:
    """Yield, for each baseline, the metrics that are not shown to be better, and those worse."""
    where, names = ranking_title(ranking.figure), ranking.names
    better = {(test.a, test.b) for test in ranking.differences if test.is_distinct}
    bases = [name for name in ranking.rank.order if name not in names]
    if bases and ranking.has_few_units:
        purpose = f"whether a metric is better than {join_names(bases)}"
        yield f"{where}: {too_few_phrase(ranking, purpose)}"
        return
    for base in bases:
        beaten = [name for name in names if (name, base) in better]
        unbeaten = [name for name in names if name not in beaten]
        if unbeaten:
            subject, why = "no metric is", ""
            if beaten:
                subject = f"{join_names(unbeaten)} {verb_form(unbeaten, 'is', 'are')} not"
                above = [n for n in unbeaten if names.index(n) < names.index(beaten[-1])]
                why = (
                    f" (the lead of {join_names(above)} is larger than that of {beaten[-1]} but "
                    "less certain)"
                    if above
                    else ""
                )
            yield f"{where}: {subject} shown to be better than the baseline {base}{why}"
        worse = [name for name in names if (base, name) in better]
        if worse:
            verb = verb_form(worse, "agrees", "agree")
            yield f"{where}: {join_names(worse)} {verb} less than the baseline {base}"


def _rater_sentences(ranking: ScaleRanking) -> Iterator[str]:
    """Yield how the best metric compares with a single rater."""
    ceilings = {ceiling.figure: ceiling.rater.value for ceiling in ranking.scale.ceilings}
    rater = ceilings.get(ranking.figure, nan)
    best = ranking.estimates[ranking.names[0]] if ranking.names else None
    if best is None or isnan(best.low) or isnan(rater):
        return
    comparison = "about as well as"
    comparison = "better than" if rater < best.low else comparison
    comparison = "less well than" if rater > best.high else comparison
    yield (
        f"{ranking_title(ranking.figure)}: the best metric agrees with the ratings {comparison} a "
        f"single rater agrees with the other raters ({number(rater, figure_value(ranking.figure))})"
    )


def _sample_size_sentences(curves: tuple[SampleSizeCurve, ...]) -> Iterator[str]:
    """Yield how many raters, items or references suffice for all metrics better than chance.

    What cannot be said without a range of draws is said once for all levels.
    """
    unknown: dict[str, dict[str, None]] = {}
    for curve in curves:
        needed = {name: count for name, count in curve.enough.items() if count is not None}
        without_range = [name for name in curve.enough if name not in needed]
        if without_range:
            unknown.setdefault(curve.what, {}).update(dict.fromkeys(without_range))
        if not needed:
            continue
        purpose = f"to rank {LEVEL_WORDING[curve.figure.level].ranked}"
        if all(needed.values()):
            largest = max(needed.values())
            quantity = _quantity(curve, largest)
            enough = f"{quantity} are enough {purpose}"
            if largest == curve.points[0][0]:  # the smallest count tested is only called as good
                verb = "give" if largest > 1 else "gives"
                enough = f"{purpose}, even {quantity} {verb} about the same agreement"
            yield f"{enough} (available: {curve.have})"
        else:
            short = [name for name, count in needed.items() if not count]
            yield (
                f"{_quantity(curve, curve.have)} may be too few {purpose} by "
                f"{join_names(short, conjunction='or')}"
            )
    for unit, names in unknown.items():
        reason = (
            "score with half of them or fewer in at least "
            f"{MIN_CASES_FOR_INTERVAL} draws (--reference-counts)"
            if unit == "references"
            else f"fewer than {MIN_CASES_FOR_INTERVAL} draws have a value"
        )
        yield f"how many {unit} are enough for {join_names([*names])} cannot be said: {reason}"


def _quantity(curve: SampleSizeCurve, count: int) -> str:
    unit = curve.what if count > 1 else curve.what.removesuffix("s")
    return f"{count} {unit}{' per output' * (curve.what == 'raters')}"


# --- Sentences for a paper -----------------------------------------------------------------------


def quotable_sentences(concordance: Concordance) -> Iterator[str]:
    """Yield complete sentences for a paper, with sample sizes, methods and results."""
    for ranking in concordance.rankings:
        if ranking.names:
            yield _quotable_sentence(concordance, ranking)


def _quotable_sentence(concordance: Concordance, ranking: ScaleRanking) -> str:
    scale, figure, best = ranking.scale, ranking.figure, ranking.names[0]
    value, estimate, chance = figure_value(figure), ranking.estimates[best], ranking.chance
    sizes = " and ".join(_sizes_phrase(scale).rsplit(", ", 1))
    sizes = f"{sizes} ({scale.votes:,} ratings on {scale.scale.name})"
    uncertainty = (
        f", {100 * concordance.level:g} % bootstrap confidence interval "
        f"{interval(estimate, value)}, generalizing to other {resampled_units(concordance.over)}"
    ) * (not isnan(estimate.low))
    sentence = (
        f"Across {sizes}, {best} agreed best with the ratings: {figure_phrase(figure)} was "
        f"{number(estimate.value, value)} (n = {estimate.n:,}{uncertainty})."
    )
    _, worse, others = _tests_of_best(ranking)
    test = ranking.rank.test
    method = (
        f" (permutation test swapping {SWAP_WORDING[test.unit].swapped}, generalizing to "
        f"{SWAP_WORDING[test.unit].scope}; p {CORRECTED_PHRASE}; "
        f"α = {ranking.alpha:.2g})."
    )
    if worse:
        sentence += f" It was significantly better than {join_names(worse)}"
        sentence += f" but not significantly better than {join_names(others)}" if others else ""
        sentence += method
    elif others and ranking.has_few_units:
        reason = too_few_phrase(ranking, "which metric is best")
        sentence += f" {reason[0].upper()}{reason[1:]}."
    elif others:
        sentence += f" It was not significantly better than {join_names(others)}{method}"
    if chance is not None:
        units = "systems and items" if figure.level == "global" else "systems"
        units = "items" if len(scale.people) == 1 else units
        sentence += (
            f" With {units} permuted at random, {value.name} reaches "
            f"{number(chance.high, value)} by chance "
            f"({100 * (1 + concordance.level) / 2:g} % quantile)."
        )
    return sentence


# --- Agreement report ----------------------------------------------------------------------------


AGGREGATE_PHRASES = {
    "median": "median of the votes on each output",
    "normalized": "mean of the votes on each output, normalized per rater",
}
FURTHER_OUTPUT_HINT = (
    "For scatter plots, all coefficients, mapping errors, agreement among raters, sample sizes "
    "and sentences for a paper, use -o report.html."
)


def concordance_report(concordance: Concordance) -> Report:
    """Return the report of an agreement analysis, starting with the summary."""
    metrics = dict.fromkeys(
        metric_label(metric) for scale in concordance.scales for metric in scale.metrics
    )
    title = "Agreement of metrics with ratings"
    title = f"{title}: {concordance.title}" if concordance.title else title
    return Report(
        title,
        _counts_sentence(concordance),
        tuple(metrics),
        tuple(_sections(concordance)),
        tuple(_provenance_lines(concordance)),
        FURTHER_OUTPUT_HINT,
    )


def _sections(concordance: Concordance) -> Iterator[Section]:
    sentences = [*summary_sentences(concordance), *first_notes(concordance.notes)]
    yield summary_section(sentences)
    doubts = tuple(caution_parts(concordance))
    if doubts:
        yield Section("Cautions", doubts)
    yield from ranking_sections(concordance)
    yield from table_sections(concordance)
    quotes = tuple(Quote(sentence) for sentence in quotable_sentences(concordance))
    if quotes:
        yield Section("Text for a paper", quotes, "Sentences to copy:", place="pages")


def _counts_sentence(concordance: Concordance, *, votes: bool = False) -> str:
    """Return the sample sizes; scales with the same sizes share an entry."""
    names_by_counts: dict[str, list[str]] = {}
    for scale in concordance.scales:
        counts = (
            f"{len(scale.metrics)} metrics, {_sizes_phrase(scale)}"
            f"{f', {scale.votes:,} ratings' * votes}"
        )
        names_by_counts.setdefault(counts, []).append(scale.scale.name)
    return "; ".join(f"{', '.join(names)}: {counts}" for counts, names in names_by_counts.items())


def _provenance_lines(concordance: Concordance) -> Iterator[str]:
    if concordance.has_intervals:
        yield (
            f"confidence intervals: {100 * concordance.level:.4g} %, bootstrap over "
            f"{resampled_units(concordance.over)}"
        )
    if concordance.aggregate != "mean":
        yield f"ratings: {AGGREGATE_PHRASES[concordance.aggregate]}"
    yield f"signature: {concordance.signature}"
    yield from (f"scores: {entry}" for entry in concordance.signatures)
    yield from input_lines(concordance.inputs)
    yield from note_lines(concordance.notes)


# --- Table for a paper ---------------------------------------------------------------------------


def concordance_table(concordance: Concordance) -> PaperTable:
    """Return the table for a paper: metrics as rows, coefficients as columns.

    Columns are Pearson's, Spearman's and Kendall's coefficient at the first level at which metrics
    are ranked, and the coefficient that ranks them at every level. Scales are sections of rows.
    """
    ranked = [ranking.figure for ranking in concordance.rankings]
    main = [Figure(ranked[0].level, name) for name in CORRELATIONS] if ranked else []
    known = {f for scale in concordance.scales for metric in scale.metrics for f in metric.figures}
    figures = [figure for figure in dict.fromkeys([*main, *ranked]) if figure in known]
    several = len(concordance.scales) > 1
    levels = [figure.level for figure in figures]
    units = dict.fromkeys(SWAP_WORDING[one.rank.test.unit].swapped for one in concordance.rankings)
    swapped = " or ".join(units)
    percent = f"{100 * concordance.level:.4g} %"
    wordings = [LEVEL_WORDING[level] for level in dict.fromkeys(levels)]
    phrases = [f"({wording.label}): {wording.phrase}" for wording in wordings]
    return PaperTable(
        "agreement",
        f"Agreement of metrics with ratings. {_counts_sentence(concordance, votes=True)}. "
        f"{'; '.join(phrases)}.",
        "metric",
        tuple(PaperColumn(figure_value(f), LEVEL_WORDING[f.level].label) for f in figures),
        tuple(
            row
            for scale in concordance.scales
            for row in _paper_scale_rows(scale, figures, several=several)
        ),
        f"{percent} confidence intervals (bootstrap over {resampled_units(concordance.over)})",
        f"permutation test swapping {swapped}, {CORRECTED_PHRASE}, p < {concordance.alpha:.4g}",
        tuple(_paper_notes(concordance, percent)),
        "scale" * several,
        concordance.signature,
    )


def _paper_scale_rows(
    scale: ScaleConcordance, figures: list[Figure], *, several: bool
) -> tuple[PaperRow, ...]:
    """Return the rows of a scale in the order of the ranking; baselines and raters are apart."""
    label_of = metric_labels(scale)
    order = [name for rank in scale.ranked[:1] for name in rank.order]
    labels = [label_of[name] for name in dict.fromkeys([*order, *label_of])]
    controls = [metric_label(metric) for metric in scale.metrics if metric.baseline]
    matrices = []
    for figure in figures:
        rows = {metric_label(m): m.figures.get(figure) for m in scale.metrics}
        raters = (ceiling.rater for ceiling in scale.ceilings if ceiling.figure == figure)
        rows |= {CHANCE_LABEL: scale.chance.get(figure), RATER_LABEL: next(raters, None)}
        contrasts = difference_contrasts(scale, figure)
        apart = (*controls, CHANCE_LABEL, RATER_LABEL)
        matrices.append(Matrix("", figure_value(figure), rows, contrasts, "", apart))
    known = [
        label
        for label in (CHANCE_LABEL, RATER_LABEL)
        if any(matrix.systems[label] is not None for matrix in matrices)
    ]
    return paper_rows([*labels, *known], matrices, scale.scale.name * several)


def _paper_notes(concordance: Concordance, percent: str) -> Iterator[str]:
    if any(metric.low_is_good for scale in concordance.scales for metric in scale.metrics):
        yield "Metrics with (↓) were negated, since lower scores are better."
    if low := [one.scale.name for one in concordance.scales if one.scale.best == "low"]:
        yield (
            f"Lower ratings are better on {join_names(low)}; coefficients are positive if better "
            "scores go with better ratings."
        )
    if any(scale.chance for scale in concordance.scales):
        permuted = "items" if has_one_system(concordance) else "systems"
        yield f"{CHANCE_LABEL}: {permuted} permuted at random, with the {percent} range."
    if any(scale.ceilings for scale in concordance.scales):
        yield (
            f"{RATER_LABEL}: each rater with the mean of the others, with the {percent} range "
            "across raters."
        )
