"""Agreement report: summary, cautions and sentences for a paper."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.core import Estimate
from earwitness.metaeval.report_tables import (
    CHANCE_LABEL,
    COEFFICIENT_NAMES,
    LEVEL_PHRASES,
    LEVEL_PURPOSES,
    LEVEL_TASKS,
    LEVEL_TITLES,
    RATER_LABEL,
    RESAMPLED_UNITS,
    RESAMPLING_PHRASES,
    SWAP_PHRASES,
    SWAPPED_UNITS,
    difference_contrast,
    figure_phrase,
    figure_value,
    metric_label,
    ranking_sections,
    table_sections,
)
from earwitness.metaeval.results import (
    Concordance,
    Figure,
    MetricFigures,
    MetricRanking,
    SampleSizeCurve,
    ScaleConcordance,
)
from earwitness.report.numbers import cell, interval, number, p_phrase
from earwitness.report.paper import PaperColumn, PaperRow, PaperTable, paper_rows
from earwitness.report.parts import Lines, Matrix, Quote, Report, Section
from earwitness.report.sentences import join_names, summary_section
from earwitness.studies.report.wording import CORRECTION_WORDING

# --- Summary and cautions ------------------------------------------------------------------------


def summary_sentences(concordance: Concordance) -> Iterator[str]:
    """Yield the best metric per scale and level, and which metrics differ from it."""
    for scale in concordance.scales:
        for rank in scale.ranked:
            yield _ranking_sentence(concordance, scale, rank)


def caution_parts(concordance: Concordance) -> Iterator[Lines]:
    """Yield the cautions of each scale: chance, baselines, raters, sample sizes and warnings."""
    for scale in concordance.scales:
        sentences = [
            sentence for rank in scale.ranked for sentence in _doubt_sentences(scale, rank)
        ]
        sentences += [*_sample_size_sentences(scale.curves), *scale.warnings]
        if sentences:
            yield Lines(scale.scale.name, tuple(dict.fromkeys(sentences)))


def _ranking_sentence(
    concordance: Concordance, scale: ScaleConcordance, rank: MetricRanking
) -> str:
    metrics = {metric.metric: metric for metric in scale.metrics}
    value, figure = figure_value(rank.figure), rank.figure
    where = f"in {LEVEL_TASKS[figure.level]} by {scale.scale.name}"
    if not rank.groups:
        has_value = any(not isnan(metrics[name].figures[figure].value) for name in rank.aside)
        reason = "enough values to be ranked" if has_value else "a defined value"
        return f"No metric has {reason} {where}"
    best = rank.groups[0][0]
    estimate = metrics[best].figures[figure]
    chance = scale.chance.get(figure)
    sizes = f"{len(scale.people)} systems, {scale.items:,} items, {scale.raters:,} raters"
    size = f"{COEFFICIENT_NAMES[figure.coefficient]} {cell(estimate, value)}"
    if chance is not None and estimate.value <= chance.high:
        return (
            f"No metric agrees with raters better than chance {where} "
            f"(best: {best}, {size}; {sizes})"
        )
    worse, lower = _later_metrics(scale, rank)
    same = [*rank.groups[0][1:], *lower]
    tests = [one for one in scale.apart if one.figure == figure]
    if same and not any(test.is_distinct for test in tests):
        pairs = f"{len(tests):,} pair{'s' * (len(tests) != 1)} tested"
        return (
            f"No significant difference between metrics was found {where} ({pairs}, {sizes}, "
            f"alpha = {concordance.alpha:.2g}); {best} agrees best ({size})"
        )
    sentence = f"{best} agrees best with raters {where} ({size}, {sizes})"
    if worse:
        p = max(t.corrected for t in tests if t.a == best and t.b in worse)
        limit = "largest " * (len(worse) > 1)
        sentence += f"; significantly worse: {join_names(worse)} ({limit}{p_phrase(p)})"
    return f"{sentence}; not significantly different: {join_names(same)}" if same else sentence


def _doubt_sentences(scale: ScaleConcordance, rank: MetricRanking) -> Iterator[str]:
    metrics = {metric.metric: metric for metric in scale.metrics}
    if rank.groups:
        yield from _baseline_sentences(scale, rank, metrics)
        yield from _rater_sentences(scale, rank, metrics[rank.groups[0][0]].figures[rank.figure])
    for name, reason in rank.aside.items():
        yield f"{LEVEL_TITLES[rank.figure.level]}: {name} is not ranked: {reason}"


def _later_metrics(scale: ScaleConcordance, rank: MetricRanking) -> tuple[list[str], list[str]]:
    """Return the metrics of later groups: significantly worse than the best, and others."""
    best = rank.groups[0][0]
    names = [name for group in rank.groups[1:] for name in group]
    tests = [
        difference
        for difference in scale.apart
        if difference.figure == rank.figure and difference.a == best
    ]
    distinct = {difference.b for difference in tests if difference.is_distinct}
    return [name for name in names if name in distinct], [
        name for name in names if name not in distinct
    ]


def _baseline_sentences(
    scale: ScaleConcordance, rank: MetricRanking, metrics: dict[str, MetricFigures]
) -> Iterator[str]:
    """Yield metrics that are no better than chance or than a baseline."""
    chance = scale.chance.get(rank.figure)
    where = LEVEL_TITLES[rank.figure.level]
    metric_names = [name for group in rank.groups for name in group if not metrics[name].baseline]
    if chance is not None:
        values = {name: metrics[name].figures[rank.figure].value for name in metric_names}
        chance_like = [name for name, x in values.items() if chance.low <= x <= chance.high]
        opposed = [name for name, x in values.items() if x < chance.low]
        low, high = (number(x, figure_value(rank.figure)) for x in (chance.low, chance.high))
        if chance_like:
            verb = "is" if len(chance_like) == 1 else "are"
            yield (
                f"{where}: {join_names(chance_like, len(chance_like))} {verb} no better than "
                f"chance (chance range {low} to {high})"
            )
        if opposed:
            verb = "agrees" if len(opposed) == 1 else "agree"
            worse = "higher" if scale.scale.best == "low" else "lower"
            yield (
                f"{where}: {join_names(opposed, len(opposed))} {verb} less than chance: better "
                f"scores go with {worse} ratings"
            )
    better = {
        (difference.a, difference.b)
        for difference in scale.apart
        if difference.figure == rank.figure and difference.is_distinct
    }
    for base in (name for group in rank.groups for name in group if metrics[name].baseline):
        unbeaten = [name for name in metric_names if (name, base) not in better]
        if unbeaten:
            subject = (
                "no metric is"
                if len(unbeaten) == len(metric_names)
                else f"{join_names(unbeaten)} {'is' if len(unbeaten) == 1 else 'are'} not"
            )
            yield f"{where}: {subject} significantly better than the baseline {base}"


def _rater_sentences(scale: ScaleConcordance, rank: MetricRanking, best: Estimate) -> Iterator[str]:
    for ceiling in scale.ceilings:
        if ceiling.figure == rank.figure and ceiling.rater.value == ceiling.rater.value:
            value = figure_value(rank.figure)
            comparison = "about as well as"
            comparison = "better than" if ceiling.rater.value < best.low else comparison
            comparison = "less well than" if ceiling.rater.value > best.high else comparison
            yield (
                f"{LEVEL_TITLES[rank.figure.level]}: the best metric agrees with the ratings "
                f"{comparison} a single rater agrees with the other raters "
                f"({number(ceiling.rater.value, value)})"
            )


def _sample_size_sentences(curves: tuple[SampleSizeCurve, ...]) -> Iterator[str]:
    """Yield how many raters, items or references suffice for all metrics better than chance."""
    for curve in curves:
        needed = list(curve.enough.values())
        if not needed:
            continue
        purpose = LEVEL_PURPOSES[curve.figure.level]
        if all(needed):
            yield f"{_sufficient_phrase(curve, max(needed), purpose)} (available: {curve.have})"
        else:
            short = [name for name, count in curve.enough.items() if not count]
            yield (
                f"{_quantity(curve, curve.have)} may be too few {purpose} by "
                f"{join_names(short, conjunction='or')}"
            )


def _sufficient_phrase(curve: SampleSizeCurve, count: int, purpose: str) -> str:
    """Return that this many are enough; the smallest count tested is only called as good."""
    quantity = _quantity(curve, count)
    if count == curve.points[0][0]:
        verb = "give" if count > 1 else "gives"
        return f"{purpose}, even {quantity} {verb} about the same agreement"
    return f"{quantity} are enough {purpose}"


def _quantity(curve: SampleSizeCurve, count: int) -> str:
    unit = curve.what if count > 1 else curve.what.removesuffix("s")
    return f"{count} {unit}{' per output' * (curve.what == 'raters')}"


# --- Sentences for a paper -----------------------------------------------------------------------


def quotable_sentences(concordance: Concordance) -> Iterator[str]:
    """Yield complete sentences for a paper, with sample sizes, methods and results."""
    for scale in concordance.scales:
        for rank in scale.ranked:
            if rank.groups:
                yield _quotable_sentence(concordance, scale, rank)


def _quotable_sentence(
    concordance: Concordance, scale: ScaleConcordance, rank: MetricRanking
) -> str:
    metrics = {metric.metric: metric for metric in scale.metrics}
    value, figure = figure_value(rank.figure), rank.figure
    first = rank.groups[0]
    estimate = metrics[first[0]].figures[figure]
    sizes = (
        f"{len(scale.people)} systems, {scale.items} items and {scale.raters} raters "
        f"({scale.votes:,} ratings on {scale.scale.name})"
    )
    sentence = (
        f"Across {sizes}, {first[0]} agreed best with the ratings: {figure_phrase(figure)} was "
        f"{number(estimate.value, value)} (n = {estimate.n:,}, {100 * concordance.level:g} % "
        f"bootstrap confidence interval {interval(estimate, value)}, generalizing to "
        f"{RESAMPLING_PHRASES[concordance.over]})."
    )
    worse, lower = _later_metrics(scale, rank)
    same = [*first[1:], *lower]
    if same:
        sentence += f" It did not differ significantly from {join_names(same)}"
        sentence += f" but was significantly better than {join_names(worse)}" if worse else ""
        sentence += _test_phrase(concordance)
    elif worse:
        sentence += (
            f" It was significantly better than {join_names(worse)}{_test_phrase(concordance)}"
        )
    chance = scale.chance.get(figure)
    if chance is not None:
        units = "systems and items" if figure.level == "global" else "systems"
        sentence += (
            f" With {units} permuted at random, {COEFFICIENT_NAMES[figure.coefficient]} reaches "
            f"{number(chance.high, value)} by chance "
            f"({100 * (1 + concordance.level) / 2:g} % quantile)."
        )
    return sentence


def _test_phrase(concordance: Concordance) -> str:
    return (
        f" (permutation test swapping {SWAPPED_UNITS[concordance.test]}, generalizing to "
        f"{SWAP_PHRASES[concordance.test]}; p {CORRECTION_WORDING[concordance.correction]}; "
        f"α = {concordance.alpha:.2g})."
    )


# --- Agreement report ----------------------------------------------------------------------------


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
    yield summary_section(summary_sentences(concordance))
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
            f"{len(scale.metrics)} metrics, {len(scale.people)} systems, {scale.items:,} items, "
            f"{scale.raters:,} raters{f', {scale.votes:,} ratings' * votes}"
        )
        names_by_counts.setdefault(counts, []).append(scale.scale.name)
    return "; ".join(f"{', '.join(names)}: {counts}" for counts, names in names_by_counts.items())


def _provenance_lines(concordance: Concordance) -> Iterator[str]:
    yield (
        f"confidence intervals: {100 * concordance.level:.4g} %, bootstrap over "
        f"{RESAMPLED_UNITS[concordance.over]}"
    )
    yield f"signature: {concordance.signature}"
    yield from (f"scores: {entry}" for entry in concordance.signatures)
    for entry in concordance.inputs:
        yield f"input: {entry.name} ({entry.bytes:,} bytes, sha256 {entry.sha256})"
    yield from (f"note: {entry}" for entry in concordance.notes)


# --- Table for a paper ---------------------------------------------------------------------------


PAPER_COEFFICIENTS = ("pearson", "spearman", "kendall_b")
LEVEL_LABELS = {"system": "systems", "item": "within items", "global": "all outputs"}


def concordance_table(concordance: Concordance) -> PaperTable:
    """Return the table for a paper: metrics as rows, coefficients as columns.

    Columns are Pearson's, Spearman's and Kendall's coefficient at the first level at which metrics
    are ranked, and the coefficient that ranks them at every level. Scales are sections of rows.
    """
    figures = _paper_figures(concordance)
    several = len(concordance.scales) > 1
    levels = [figure.level for figure in figures]
    corrected = CORRECTION_WORDING[concordance.correction]
    percent = f"{100 * concordance.level:.4g} %"
    phrases = [f"({LEVEL_LABELS[x]}): {LEVEL_PHRASES[x]}" for x in dict.fromkeys(levels)]
    return PaperTable(
        "agreement",
        f"Agreement of metrics with ratings. {_counts_sentence(concordance, votes=True)}. "
        f"{'; '.join(phrases)}.",
        "metric",
        tuple(PaperColumn(figure_value(f), LEVEL_LABELS[f.level]) for f in figures),
        tuple(
            row
            for scale in concordance.scales
            for row in _paper_scale_rows(concordance, scale, figures, several=several)
        ),
        f"{percent} confidence intervals (bootstrap over {RESAMPLED_UNITS[concordance.over]})",
        f"permutation test swapping {SWAPPED_UNITS[concordance.test]}, {corrected}, "
        f"p < {concordance.alpha:.4g}",
        tuple(_paper_notes(concordance, percent)),
        "scale" * several,
        concordance.signature,
    )


def _paper_figures(concordance: Concordance) -> list[Figure]:
    ranked = [rank.figure for scale in concordance.scales for rank in scale.ranked]
    main = [Figure(ranked[0].level, name) for name in PAPER_COEFFICIENTS] if ranked else []
    known = {f for scale in concordance.scales for metric in scale.metrics for f in metric.figures}
    return [figure for figure in dict.fromkeys([*main, *ranked]) if figure in known]


def _paper_scale_rows(
    concordance: Concordance, scale: ScaleConcordance, figures: list[Figure], *, several: bool
) -> tuple[PaperRow, ...]:
    """Return the rows of a scale in the order of the ranking; baselines and raters are apart."""
    metrics = {metric.metric: metric for metric in scale.metrics}
    order = [name for rank in scale.ranked[:1] for group in rank.groups for name in group]
    labels = [metric_label(metrics[name]) for name in dict.fromkeys([*order, *metrics])]
    controls = [metric_label(metric) for metric in scale.metrics if metric.baseline]
    matrices = []
    for figure in figures:
        rows = {metric_label(m): m.figures.get(figure) for m in scale.metrics}
        raters = (ceiling.rater for ceiling in scale.ceilings if ceiling.figure == figure)
        rows |= {CHANCE_LABEL: scale.chance.get(figure), RATER_LABEL: next(raters, None)}
        tests = [difference for difference in scale.apart if difference.figure == figure]
        contrasts = tuple(difference_contrast(concordance, test, metrics) for test in tests)
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
        yield f"{CHANCE_LABEL}: systems permuted at random, with the {percent} range."
    if any(scale.ceilings for scale in concordance.scales):
        yield (
            f"{RATER_LABEL}: each rater with the mean of the others, with the {percent} range "
            "across raters."
        )
