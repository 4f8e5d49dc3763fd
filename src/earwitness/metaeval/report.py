"""Agreement report: summary, cautions and sentences for a paper."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.core import count_text, group_values
from earwitness.metaeval.report_tables import (
    CHANCE_LABEL,
    CORRECTED_PHRASE,
    CORRELATIONS,
    LEVEL_WORDING,
    RATER_LABEL,
    SWAP_WORDING,
    difference_contrasts,
    figure_value,
    has_one_system,
    metric_label,
    metric_labels,
    ranking_sections,
    ranking_title,
    resampled_units,
    scale_figures,
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
        sentence, test, order = _ranking_sentence(ranking), ranking.rank.test, ranking.rank.order
        if higher := order[: order.index(ranking.names[0])] if ranking.names else ():
            value, estimates = figure_value(ranking.figure), ranking.estimates
            values = [f"{name} ({number(estimates[name].value, value)})" for name in higher]
            sentence += f"; baselines with a higher value: {join_names(values)}"
        if test.unit != "systems" and len(ranking.scale.people) < test.needed:
            sentence += f"; a claim about other systems needs at least {test.needed}"
        yield sentence


def caution_parts(concordance: Concordance) -> Iterator[Lines]:
    """Yield the cautions of each scale by importance; the terminal shows the first ones.

    Warnings are followed by chance and baselines, sample sizes and notes.
    """
    for scale in concordance.scales:
        rankings = [ranking for ranking in concordance.rankings if ranking.scale is scale]
        doubts = (sentence for ranking in rankings for sentence in _doubt_sentences(ranking))
        sizes = _sample_size_sentences(scale.curves)
        sentences = tuple(dict.fromkeys((*scale.warnings, *doubts, *sizes, *scale.notes)))
        if sentences:
            yield Lines(scale.scale.name, sentences, SHOWN_CAUTIONS, MORE_CAUTIONS_HINT, "note")


def _ranking_sentence(ranking: ScaleRanking) -> str:
    scale, figure, estimates = ranking.scale, ranking.figure, ranking.estimates
    value, test = figure_value(figure), ranking.rank.test
    task = f"ranking {LEVEL_WORDING[figure.level].ranked} by {scale.scale.name}"
    where = f"in {task}"
    if test.unit != "systems":  # the test is about these systems only
        where += " on these systems" if len(scale.people) > 1 else " on this system"
    if not ranking.names:
        has_value = any(not isnan(estimates[name].value) for name in ranking.rank.aside)
        reason = "enough values to be ranked" if has_value else "a defined value"
        return f"No metric has {reason} {where}"
    best, chance, sizes = ranking.names[0], ranking.chance, _sizes_phrase(scale)
    size = f"{value.name} {cell(estimates[best], value)}"
    tests, worse, others = _tests_of_best(ranking)
    ahead = f"{best} has the highest value ({size})"
    if others:
        lead = tests[others[0]].difference.value
        ahead += f", {number(lead, value)} above {others[0]}" if lead else f", like {others[0]}"
    if others and ranking.has_few_units:
        reason = too_few_phrase(ranking, f"which metric is best in {task}")
        return f"{reason[0].upper()}{reason[1:]} ({sizes}); {ahead}"
    if chance is not None and estimates[best].value <= chance.high:
        return (
            f"No metric agrees with raters better than chance {where} "
            f"(best: {best}, {size}; {sizes})"
        )
    if others and not worse:
        pairs = f"{test.pairs:,} pair{'' if test.pairs == 1 else 's'} tested"
        return (
            f"No metric is significantly worse than the best {where} ({pairs}, {sizes}, "
            f"alpha = {ranking.alpha:.2g}); {ahead}"
        )
    sentence = f"{best} agrees best with raters {where} ({size}, {sizes})"
    if worse:
        p = p_phrase(max(tests[name].corrected for name in worse))
        sentence += f"; significantly worse: {join_names(worse)} (largest {p})"
    if others:
        sentence += f"; not significantly worse: {join_names(others)}"
    return sentence


def _sizes_phrase(scale: ScaleConcordance) -> str:
    """Return the numbers of systems, items and raters."""
    counts = {"system": len(scale.people), "item": scale.items, "rater": scale.raters}
    counts = {unit: n for unit, n in counts.items() if n}  # means have no raters
    return ", ".join(f"{n:,} {unit}{'' if n == 1 else 's'}" for unit, n in counts.items())


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
    names, estimates = ranking.names, ranking.estimates
    doubtful = dict[str, list[str]]()
    if chance := ranking.chance:
        low, high = (number(x, figure_value(ranking.figure)) for x in (chance.low, chance.high))
        doubtful[f"metrics no better than chance (range {low} to {high})"] = [
            name for name in names if chance.low <= estimates[name].value <= chance.high
        ]
        worse = "higher" if ranking.scale.scale.best == "low" else "lower"
        doubtful[f"metrics worse than chance, whose better scores go with {worse} ratings"] = [
            name for name in names if estimates[name].value < chance.low
        ]
    where = ranking_title(ranking.figure)
    baselines = [name for name in ranking.rank.order if name not in names]
    if names and baselines and ranking.has_few_units:
        purpose = f"whether a metric is better than {join_names(baselines)}"
        yield f"{where}: {too_few_phrase(ranking, purpose)}"
        baselines = []
    better = {(test.a, test.b) for test in ranking.differences if test.is_distinct}
    for baseline in baselines:
        doubtful[f"metrics not shown to be better than the baseline {baseline}"] = [
            name for name in names if (name, baseline) not in better
        ]
        doubtful[f"metrics that agree less than the baseline {baseline}"] = [
            name for name in names if (baseline, name) in better
        ]
    for doubt, metrics in doubtful.items():
        if metrics:
            yield f"{where}: {doubt}: {join_names(metrics, len(metrics))}"
    for name, reason in ranking.rank.aside.items():
        if not isnan(estimates[name].value):  # else there is a warning
            yield f"{where}: {name} is not ranked: {reason}"


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
    return f"{count} {unit}{' per output' if curve.what == 'raters' else ''}"


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
    uncertainty = f"n = {estimate.n:,}"
    if not isnan(estimate.low):
        uncertainty += (
            f", {100 * concordance.level:g} % bootstrap confidence interval "
            f"{interval(estimate, value)}, generalizing to other "
            f"{resampled_units(concordance.over)}"
        )
    sentence = (
        f"Across {sizes}, {best} agreed best with the ratings: {value.name} {value.doc} was "
        f"{number(estimate.value, value)} ({uncertainty})."
    )
    _, worse, others = _tests_of_best(ranking)
    wording = SWAP_WORDING[ranking.rank.test.unit]
    method = (
        f" (permutation test swapping {wording.swapped}, generalizing to {wording.scope}; "
        f"p {CORRECTED_PHRASE}; α = {ranking.alpha:.2g})."
    )
    if others and ranking.has_few_units:
        reason = too_few_phrase(ranking, "which metric is best")
        sentence += f" {reason[0].upper()}{reason[1:]}."
    elif worse or others:
        outcomes = [f"significantly better than {join_names(worse)}"] if worse else []
        outcomes += [f"not significantly better than {join_names(others)}"] if others else []
        sentence += f" It was {' but '.join(outcomes)}{method}"
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


def concordance_report(concordance: Concordance) -> Report:
    """Return the report of an agreement analysis, starting with the summary."""
    labels = [label for scale in concordance.scales for label in metric_labels(scale).values()]
    return Report(
        ": ".join(filter(None, ["Agreement of metrics with ratings", concordance.title])),
        _counts_sentence(concordance),
        tuple(dict.fromkeys(labels)),
        tuple(_sections(concordance)),
        tuple(_provenance_lines(concordance)),
        "For scatter plots, all coefficients, mapping errors, agreement among raters, sample sizes "
        "and sentences for a paper, use -o report.html.",
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
    names_by_counts = group_values(
        (
            f"{count_text(len(scale.metrics), 'metric')}, {_sizes_phrase(scale)}"
            f"{f', {scale.votes:,} ratings' if votes else ''}",
            scale.scale.name,
        )
        for scale in concordance.scales
    )
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
    units = dict.fromkeys(ranking.rank.test.unit for ranking in concordance.rankings)
    swapped = " or ".join(SWAP_WORDING[unit].swapped for unit in units)
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
            for row in _paper_scale_rows(scale, figures, scale.scale.name if several else "")
        ),
        f"{percent} confidence intervals (bootstrap over {resampled_units(concordance.over)})",
        f"permutation test swapping {swapped}, {CORRECTED_PHRASE}, p < {concordance.alpha:.4g}",
        tuple(_paper_notes(concordance, percent)),
        "scale" if several else "",
        concordance.signature,
    )


def _paper_scale_rows(
    scale: ScaleConcordance, figures: list[Figure], section: str
) -> tuple[PaperRow, ...]:
    """Return the rows of a scale in the order of the ranking; baselines and raters are apart."""
    labels, series = metric_labels(scale), scale_figures(scale)
    ranked = [name for rank in scale.ranked[:1] for name in rank.order]
    names = [labels[name] for name in dict.fromkeys([*ranked, *labels])]
    controls: tuple[str, ...] = (CHANCE_LABEL, RATER_LABEL)
    names += [label for label in controls if {*figures} & {*series[label]}]
    controls += tuple(metric_label(metric) for metric in scale.metrics if metric.baseline)
    matrices = [
        Matrix(
            "",
            figure_value(figure),
            {name: series[name].get(figure) for name in names},
            difference_contrasts(scale, figure),
            controls=controls,
        )
        for figure in figures
    ]
    return paper_rows(names, matrices, section)


def _paper_notes(concordance: Concordance, percent: str) -> Iterator[str]:
    if any(metric.low_is_good for scale in concordance.scales for metric in scale.metrics):
        yield "Metrics with (↓) were negated, since lower scores are better."
    if low := [scale.scale.name for scale in concordance.scales if scale.scale.best == "low"]:
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
