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
    named,
    ranking_sections,
    shown,
    table_sections,
    value_of,
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
from earwitness.report.sentences import listed

# --- Summary in sentences ------------------------------------------------------------------------


def in_short(found: Concordance) -> Iterator[str]:
    """Which metric to trust, for what."""
    for scale in found.scales:
        for rank in scale.ranked:
            yield f"{scale.scale.name}, {LEVEL_PURPOSES[rank.figure.level]}: {_answer(scale, rank)}"


def to_mind(found: Concordance) -> Iterator[Lines]:
    """How sure that is, scale by scale."""
    for scale in found.scales:
        told = [one for rank in scale.ranked for one in _doubts(scale, rank)]
        told += [*_enough(scale.curves), *scale.warnings]
        if told:
            yield Lines(scale.scale.name, tuple(dict.fromkeys(told)))


def _answer(scale: ScaleConcordance, rank: MetricRanking) -> str:
    metrics = {one.metric: one for one in scale.metrics}
    value, figure = value_of(rank.figure), rank.figure
    if not rank.groups:
        known = any(not isnan(metrics[name].figures[figure].value) for name in rank.aside)
        return f"no metric has {'enough values to be ranked' if known else 'a value'}"
    first = rank.groups[0]
    own = metrics[first[0]].figures[figure]
    chance = scale.chance.get(figure)
    if chance is not None and own.value <= chance.high:
        return f"no metric does better than chance ({first[0]}: {cell(own, value)})"
    told = f"{first[0]} agrees best ({COEFFICIENT_NAMES[figure.coefficient]} {cell(own, value)})"
    if len(first) > 1:
        told += f"; {listed(first[1:])} cannot be told from it"
    worse, lower = _others(scale, rank)
    if worse:
        told += f"; {listed(worse)} {'is' if len(worse) == 1 else 'are'} worse"
    if lower:
        told += (
            f"; {listed(lower)} {'ranks' if len(lower) == 1 else 'rank'} lower, but no test says so"
        )
    return told


def _doubts(scale: ScaleConcordance, rank: MetricRanking) -> Iterator[str]:
    metrics = {one.metric: one for one in scale.metrics}
    if rank.groups:
        yield from _trivial(scale, rank, metrics)
        yield from _beside_people(scale, rank, metrics[rank.groups[0][0]].figures[rank.figure])
    for name, reason in rank.aside.items():
        yield f"{LEVEL_PURPOSES[rank.figure.level]}: {name} has no place: {reason}"


def _others(scale: ScaleConcordance, rank: MetricRanking) -> tuple[list[str], list[str]]:
    """Metrics of later groups: those that are told from the first, and others."""
    best = rank.groups[0][0]
    names = [name for group in rank.groups[1:] for name in group]
    tests = [one for one in scale.apart if one.figure == rank.figure and one.a == best]
    told = {one.b for one in tests if one.told}
    return [name for name in names if name in told], [name for name in names if name not in told]


def _trivial(
    scale: ScaleConcordance, rank: MetricRanking, metrics: dict[str, MetricFigures]
) -> Iterator[str]:
    """Metrics that are no better than what knows nothing, or than a baseline."""
    chance = scale.chance.get(rank.figure)
    where = LEVEL_PURPOSES[rank.figure.level]
    real = [name for group in rank.groups for name in group if not metrics[name].baseline]
    if chance is not None:
        values = {name: metrics[name].figures[rank.figure].value for name in real}
        lost = [name for name, x in values.items() if chance.low <= x <= chance.high]
        against = [name for name, x in values.items() if x < chance.low]
        low, high = (number(x, value_of(rank.figure)) for x in (chance.low, chance.high))
        if lost:
            known = f"metrics that know nothing lie between {low} and {high}"
            yield f"{where}: {listed(lost, len(lost))} could be chance ({known})"
        if against:
            verb = "goes" if len(against) == 1 else "go"
            yield f"{where}: {listed(against, len(against))} {verb} against people"
    better = {(one.a, one.b) for one in scale.apart if one.figure == rank.figure and one.told}
    for base in (name for group in rank.groups for name in group if metrics[name].baseline):
        beside = [name for name in real if (name, base) not in better]
        if beside:
            all_ = "no metric can" if len(beside) == len(real) else f"{listed(beside)} cannot"
            yield f"{where}: {all_} be shown to beat {base}, a baseline"


def _beside_people(scale: ScaleConcordance, rank: MetricRanking, best: Estimate) -> Iterator[str]:
    for one in scale.ceilings:
        if one.figure == rank.figure and one.rater.value == one.rater.value:
            value = value_of(rank.figure)
            than = "about as well as"
            than = "better than" if one.rater.value < best.low else than
            than = "less well than" if one.rater.value > best.high else than
            yield (
                f"{LEVEL_PURPOSES[rank.figure.level]}: the best metric agrees {than} "
                f"one rater does with the others ({number(one.rater.value, value)})"
            )


def _enough(curves: tuple[SampleSizeCurve, ...]) -> Iterator[str]:
    """How many are enough for all metrics that agree better than chance."""
    for one in curves:
        needed = list(one.enough.values())
        if not needed:
            continue
        what, level = one.what, LEVEL_PURPOSES[one.figure.level]
        if all(needed):
            there = f"an output has {one.have}" if what == "raters" else f"{one.have} are there"
            yield f"{_many(one, max(needed))} {level} ({there})"
        else:
            short = [name for name, count in one.enough.items() if not count]
            yield f"{level}, {one.have} {what} are not shown to be enough for {listed(short)}"


def _many(one: SampleSizeCurve, most: int) -> str:
    """So many are enough; of the least that was tried nobody knows whether fewer would do."""
    many = f"{most} {one.what}" if most > 1 else f"1 {one.what.removesuffix('s')}"
    if most == one.points[0][0]:
        return f"even {many} {'give' if most > 1 else 'gives'} the same"
    return f"{many} are enough"


# --- Sentences to quote --------------------------------------------------------------------------


def writable(found: Concordance) -> Iterator[str]:
    """Sentences for a paper, with all that they rest on."""
    for scale in found.scales:
        for rank in scale.ranked:
            if rank.groups:
                yield _sentence(found, scale, rank)


def _sentence(found: Concordance, scale: ScaleConcordance, rank: MetricRanking) -> str:
    metrics = {one.metric: one for one in scale.metrics}
    value, figure = value_of(rank.figure), rank.figure
    first = rank.groups[0]
    own = metrics[first[0]].figures[figure]
    sizes = (
        f"{len(scale.people)} systems, {scale.items} items and {scale.raters} raters "
        f"({scale.votes:,} ratings on {scale.scale.name})"
    )
    told = (
        f"On {sizes}, {first[0]} agreed best with people by {named(figure)} (n = {own.n:,}): "
        f"{number(own.value, value)}, {100 * found.level:g} % interval {interval(own, value)}, "
        f"bootstrap over {found.over} (generalising to {RESAMPLING_PHRASES[found.over]})."
    )
    worse, lower = _others(scale, rank)
    same = [*first[1:], *lower]
    if same:
        told += f" It could not be told from {listed(same)}"
        told += f", but was better than {listed(worse)}" if worse else ""
        told += _test(found)
    elif worse:
        told += f" It was better than {listed(worse)}{_test(found)}"
    chance = scale.chance.get(figure)
    if chance is not None:
        told += (
            f" Metrics that know nothing reach up to {number(chance.high, value)} here "
            f"({100 * (1 + found.level) / 2:g} %)."
        )
    return told


def _test(found: Concordance) -> str:
    return (
        f" (permutation test that swaps {found.test}, generalising to {SWAP_PHRASES[found.test]}, "
        f"corrected by {found.correction}, α = {found.alpha:.2g})."
    )


# --- Agreement report ----------------------------------------------------------------------------


def concordance_report(found: Concordance) -> Report:
    """All of it, the answer first."""
    metrics = dict.fromkeys(shown(one) for scale in found.scales for one in scale.metrics)
    title = f"Which metric to trust: {found.title}" if found.title else "Which metric to trust"
    return Report(
        title, _about(found), tuple(metrics), tuple(_sections(found)), tuple(_made(found)), _more()
    )


def _sections(found: Concordance) -> Iterator[Section]:
    yield Section("In short", (Lines("", tuple(in_short(found))),))
    doubts = tuple(to_mind(found))
    if doubts:
        yield Section("To keep in mind", doubts)
    yield from ranking_sections(found)
    yield from table_sections(found)
    quotes = tuple(Quote(one) for one in writable(found))
    if quotes:
        yield Section("What one may write", quotes, "To copy into a paper:", place="pages")


def _about(found: Concordance) -> str:
    """What there is, once for all scales of which it is the same."""
    told: dict[str, list[str]] = {}
    for one in found.scales:
        counts = (
            f"{len(one.metrics)} metrics, {len(one.people)} systems, {one.items:,} items, "
            f"{one.raters:,} raters"
        )
        told.setdefault(counts, []).append(one.scale.name)
    return "; ".join(f"{', '.join(names)}: {counts}" for counts, names in told.items())


def _made(found: Concordance) -> Iterator[str]:
    yield f"intervals: {100 * found.level:.4g} %, bootstrap over {found.over}"
    yield f"signature: {found.signature}"
    yield from (f"scores: {one}" for one in found.signatures)
    for one in found.inputs:
        yield f"input: {one.name} ({one.bytes:,} bytes, sha256 {one.sha256})"
    yield from (f"note: {one}" for one in found.notes)


def _more() -> str:
    return (
        "more with -o report.html: scatter plots, all coefficients, errors after a mapping, people "
        "against people, how many are enough, sentences to write"
    )
