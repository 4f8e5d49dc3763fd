"""Agreement report: summary, cautions and sentences to quote."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.core import Estimate
from earwitness.metaeval.report_tables import (
    COEFFICIENT_NAMES,
    LEVEL_PURPOSES,
    RESAMPLING_PHRASES,
    SWAP_PHRASES,
    figure_phrase,
    figure_value,
    metric_label,
    ranking_sections,
    table_sections,
)
from earwitness.metaeval.results import (
    Concordance,
    MetricFigures,
    MetricRanking,
    SampleSizeCurve,
    ScaleConcordance,
)
from earwitness.report.numbers import cell, interval, number
from earwitness.report.parts import Lines, Quote, Report, Section
from earwitness.report.sentences import join_names

# --- Summary in sentences ------------------------------------------------------------------------


def summary_sentences(concordance: Concordance) -> Iterator[str]:
    """Which metric to trust, for what."""
    for scale in concordance.scales:
        for rank in scale.ranked:
            yield (
                f"{scale.scale.name}, {LEVEL_PURPOSES[rank.figure.level]}: "
                f"{_ranking_sentence(scale, rank)}"
            )


def caution_parts(concordance: Concordance) -> Iterator[Lines]:
    """How sure that is, scale by scale."""
    for scale in concordance.scales:
        sentences = [
            sentence for rank in scale.ranked for sentence in _doubt_sentences(scale, rank)
        ]
        sentences += [*_sample_size_sentences(scale.curves), *scale.warnings]
        if sentences:
            yield Lines(scale.scale.name, tuple(dict.fromkeys(sentences)))


def _ranking_sentence(scale: ScaleConcordance, rank: MetricRanking) -> str:
    metrics = {metric.metric: metric for metric in scale.metrics}
    value, figure = figure_value(rank.figure), rank.figure
    if not rank.groups:
        has_value = any(not isnan(metrics[name].figures[figure].value) for name in rank.aside)
        return f"no metric has {'enough values to be ranked' if has_value else 'a value'}"
    first = rank.groups[0]
    estimate = metrics[first[0]].figures[figure]
    chance = scale.chance.get(figure)
    if chance is not None and estimate.value <= chance.high:
        return f"no metric does better than chance ({first[0]}: {cell(estimate, value)})"
    sentence = (
        f"{first[0]} agrees best ({COEFFICIENT_NAMES[figure.coefficient]} {cell(estimate, value)})"
    )
    if len(first) > 1:
        sentence += f"; {join_names(first[1:])} cannot be told from it"
    worse, lower = _later_metrics(scale, rank)
    if worse:
        sentence += f"; {join_names(worse)} {'is' if len(worse) == 1 else 'are'} worse"
    if lower:
        sentence += (
            f"; {join_names(lower)} {'ranks' if len(lower) == 1 else 'rank'} lower, but no test "
            "says so"
        )
    return sentence


def _doubt_sentences(scale: ScaleConcordance, rank: MetricRanking) -> Iterator[str]:
    metrics = {metric.metric: metric for metric in scale.metrics}
    if rank.groups:
        yield from _baseline_sentences(scale, rank, metrics)
        yield from _rater_sentences(scale, rank, metrics[rank.groups[0][0]].figures[rank.figure])
    for name, reason in rank.aside.items():
        yield f"{LEVEL_PURPOSES[rank.figure.level]}: {name} has no place: {reason}"


def _later_metrics(scale: ScaleConcordance, rank: MetricRanking) -> tuple[list[str], list[str]]:
    """Metrics of later groups: those that are told from the first, and others."""
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
    """Metrics that are no better than what knows nothing, or than a baseline."""
    chance = scale.chance.get(rank.figure)
    where = LEVEL_PURPOSES[rank.figure.level]
    metric_names = [name for group in rank.groups for name in group if not metrics[name].baseline]
    if chance is not None:
        values = {name: metrics[name].figures[rank.figure].value for name in metric_names}
        chance_like = [name for name, x in values.items() if chance.low <= x <= chance.high]
        opposed = [name for name, x in values.items() if x < chance.low]
        low, high = (number(x, figure_value(rank.figure)) for x in (chance.low, chance.high))
        if chance_like:
            range_phrase = f"metrics that know nothing lie between {low} and {high}"
            yield (
                f"{where}: {join_names(chance_like, len(chance_like))} could be chance "
                f"({range_phrase})"
            )
        if opposed:
            verb = "goes" if len(opposed) == 1 else "go"
            yield f"{where}: {join_names(opposed, len(opposed))} {verb} against people"
    better = {
        (difference.a, difference.b)
        for difference in scale.apart
        if difference.figure == rank.figure and difference.is_distinct
    }
    for base in (name for group in rank.groups for name in group if metrics[name].baseline):
        unbeaten = [name for name in metric_names if (name, base) not in better]
        if unbeaten:
            all_ = (
                "no metric can"
                if len(unbeaten) == len(metric_names)
                else f"{join_names(unbeaten)} cannot"
            )
            yield f"{where}: {all_} be shown to beat {base}, a baseline"


def _rater_sentences(scale: ScaleConcordance, rank: MetricRanking, best: Estimate) -> Iterator[str]:
    for ceiling in scale.ceilings:
        if ceiling.figure == rank.figure and ceiling.rater.value == ceiling.rater.value:
            value = figure_value(rank.figure)
            comparison = "about as well as"
            comparison = "better than" if ceiling.rater.value < best.low else comparison
            comparison = "less well than" if ceiling.rater.value > best.high else comparison
            yield (
                f"{LEVEL_PURPOSES[rank.figure.level]}: the best metric agrees {comparison} "
                f"one rater does with the others ({number(ceiling.rater.value, value)})"
            )


def _sample_size_sentences(curves: tuple[SampleSizeCurve, ...]) -> Iterator[str]:
    """How many are enough for all metrics that agree better than chance."""
    for curve in curves:
        needed = list(curve.enough.values())
        if not needed:
            continue
        what, level = curve.what, LEVEL_PURPOSES[curve.figure.level]
        if all(needed):
            available = (
                f"an output has {curve.have}" if what == "raters" else f"{curve.have} are there"
            )
            yield f"{_sufficient_phrase(curve, max(needed))} {level} ({available})"
        else:
            short = [name for name, count in curve.enough.items() if not count]
            yield f"{level}, {curve.have} {what} are not shown to be enough for {join_names(short)}"


def _sufficient_phrase(curve: SampleSizeCurve, count: int) -> str:
    """So many are enough; of the least that was tried nobody knows whether fewer would do."""
    quantity = f"{count} {curve.what}" if count > 1 else f"1 {curve.what.removesuffix('s')}"
    if count == curve.points[0][0]:
        return f"even {quantity} {'give' if count > 1 else 'gives'} the same"
    return f"{quantity} are enough"


# --- Sentences to quote --------------------------------------------------------------------------


def quotable_sentences(concordance: Concordance) -> Iterator[str]:
    """Sentences for a paper, with all that they rest on."""
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
        f"On {sizes}, {first[0]} agreed best with people by {figure_phrase(figure)} (n = "
        f"{estimate.n:,}): "
        f"{number(estimate.value, value)}, {100 * concordance.level:g} % interval "
        f"{interval(estimate, value)}, "
        f"bootstrap over {concordance.over} (generalising to "
        f"{RESAMPLING_PHRASES[concordance.over]})."
    )
    worse, lower = _later_metrics(scale, rank)
    same = [*first[1:], *lower]
    if same:
        sentence += f" It could not be told from {join_names(same)}"
        sentence += f", but was better than {join_names(worse)}" if worse else ""
        sentence += _test_phrase(concordance)
    elif worse:
        sentence += f" It was better than {join_names(worse)}{_test_phrase(concordance)}"
    chance = scale.chance.get(figure)
    if chance is not None:
        sentence += (
            f" Metrics that know nothing reach up to {number(chance.high, value)} here "
            f"({100 * (1 + concordance.level) / 2:g} %)."
        )
    return sentence


def _test_phrase(concordance: Concordance) -> str:
    return (
        f" (permutation test that swaps {concordance.test}, generalising to "
        f"{SWAP_PHRASES[concordance.test]}, "
        f"corrected by {concordance.correction}, α = {concordance.alpha:.2g})."
    )


# --- Agreement report ----------------------------------------------------------------------------


FURTHER_OUTPUT_HINT = (
    "more with -o report.html: scatter plots, all coefficients, errors after a mapping, people "
    "against people, how many are enough, sentences to write"
)


def concordance_report(concordance: Concordance) -> Report:
    """All of it, the answer first."""
    metrics = dict.fromkeys(
        metric_label(metric) for scale in concordance.scales for metric in scale.metrics
    )
    title = (
        f"Which metric to trust: {concordance.title}"
        if concordance.title
        else "Which metric to trust"
    )
    return Report(
        title,
        _counts_sentence(concordance),
        tuple(metrics),
        tuple(_sections(concordance)),
        tuple(_provenance_lines(concordance)),
        FURTHER_OUTPUT_HINT,
    )


def _sections(concordance: Concordance) -> Iterator[Section]:
    yield Section("In short", (Lines("", tuple(summary_sentences(concordance))),))
    doubts = tuple(caution_parts(concordance))
    if doubts:
        yield Section("To keep in mind", doubts)
    yield from ranking_sections(concordance)
    yield from table_sections(concordance)
    quotes = tuple(Quote(sentence) for sentence in quotable_sentences(concordance))
    if quotes:
        yield Section("What one may write", quotes, "To copy into a paper:", place="pages")


def _counts_sentence(concordance: Concordance) -> str:
    """What there is, once for all scales of which it is the same."""
    names_by_counts: dict[str, list[str]] = {}
    for scale in concordance.scales:
        counts = (
            f"{len(scale.metrics)} metrics, {len(scale.people)} systems, {scale.items:,} items, "
            f"{scale.raters:,} raters"
        )
        names_by_counts.setdefault(counts, []).append(scale.scale.name)
    return "; ".join(f"{', '.join(names)}: {counts}" for counts, names in names_by_counts.items())


def _provenance_lines(concordance: Concordance) -> Iterator[str]:
    yield f"intervals: {100 * concordance.level:.4g} %, bootstrap over {concordance.over}"
    yield f"signature: {concordance.signature}"
    yield from (f"scores: {entry}" for entry in concordance.signatures)
    for entry in concordance.inputs:
        yield f"input: {entry.name} ({entry.bytes:,} bytes, sha256 {entry.sha256})"
    yield from (f"note: {entry}" for entry in concordance.notes)
