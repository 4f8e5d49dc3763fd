"""Report of votes, means and distributions: sections, methods sentences and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isfinite, isnan
from operator import attrgetter
from typing import Any

import numpy as np

from earwitness.analysis.report.choices import choice_rows
from earwitness.analysis.report.wording import (
    ESTIMATE,
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    capitalized,
    deviation_label,
    draw_named_cells,
    has_defined,
    interval_method,
    level_percent,
    share_words,
)
from earwitness.analysis.results import GroupMean, Results, ScaleResults, SystemMeans
from earwitness.core import Estimate, count_text, group_values
from earwitness.ratings.rubric import TOTAL
from earwitness.ratings.scales import derived_scales
from earwitness.report.columns import Column, Columns, TableRows, draw_rows, record_rows
from earwitness.report.numbers import cell, percent, short_number, value_title
from earwitness.report.parts import Intervals, Lines, Part, Section, Table, ValueSpread, VoteCounts
from earwitness.report.sentences import MEAN_TOLERANCE, join_names

# --- Sections on means and distributions ---------------------------------------------------------


VOTE_SHARES = ("good", "poor", "floor", "ceiling")
MAX_BAR_VALUES = 11  # scales with more values are drawn as histograms
HISTOGRAM_BINS = 25


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on means, means by method and distributions of votes."""
    rated = [scale for scale in results.scales if scale.systems]
    if not rated:
        return
    yield Section("Means", tuple(map(_mean_intervals, rated)), _mean_note(results, rated))
    several = [s for s in rated if any(len(r.intervals) > 1 for r in s.systems.values())]
    if several:
        methods = dict.fromkeys(m for s in several for r in s.systems.values() for m in r.intervals)
        known = (m for m in methods if m in INTERVAL_WORDING)
        lines = Lines("", tuple(f"{m}: {INTERVAL_WORDING[m].about}" for m in known))
        parts: tuple[Part, ...] = (lines, *map(_method_table, several))
        yield Section("Means by method", parts, place="pages", folded=True)
    counted = [s for s in rated if any(r.counts for r in s.systems.values())]
    if results.is_over_items:
        spreads = tuple(_value_spread(scale, "means") for scale in counted)
        yield Section("Distribution of means over raters", spreads, place="pages")
    elif shapes := tuple(map(_vote_part, counted)):
        yield Section("Distribution of votes", shapes, place="pages")


def _mean_note(results: Results, scales: list[ScaleResults]) -> str:
    """Return what means and intervals are, and which intervals extend beyond their scale."""
    name = interval_method(results)
    wording = INTERVAL_WORDING[name]
    note = f"Each mean is the {wording.estimand}. Confidence intervals: {name} ({wording.about})."
    beyond = [
        _scale_with_ends(scale)
        for scale in scales
        if any(
            r.mean.low < scale.value.low or r.mean.high > scale.value.high
            for r in scale.systems.values()
        )
    ]
    if beyond:
        note += (
            f" Some intervals extend beyond the scale: {join_names(beyond)}. They are drawn up to "
            "its ends, but the numbers are not truncated."
        )
    return note


def _mean_intervals(scale: ScaleResults) -> Intervals:
    rows = tuple((name, {name: rated.mean}) for name, rated in scale.systems.items())
    return Intervals(value_title(scale.value), scale.value, "system", rows, _mean_table(scale))


def _mean_table(scale: ScaleResults) -> Table:
    """Return the table of means, one row per system, with shares of votes if computed."""
    all_means = scale.systems.values()
    shares = [name for name in VOTE_SHARES if any(getattr(rated, name) for rated in all_means)]
    words, has_listeners = share_words(scale.value), any(rated.listeners for rated in all_means)
    columns: Columns = (
        "system",
        "mean",
        Column("mean of votes", hidden=not differs_in_order(scale)),
        Column(deviation_label(scale.value)),
        *(Column(count, hidden=count != "items" and not has_listeners) for count in COUNTS),
        *(Column(words[name], show=percent) for name in shares),
    )
    cells = attrgetter("vote_mean", "sd", *COUNTS, *shares)
    rows = (
        (name, cell(rated.mean, scale.value, rated.equal_votes), *cells(rated))
        for name, rated in scale.systems.items()
    )
    return draw_rows(value_title(scale.value), columns, rows, value=scale.value)


def differs_in_order(scale: ScaleResults) -> bool:
    """Return whether plain means of votes would rank systems in another order than means."""
    rows = [
        (rated.mean.value, rated.vote_mean)
        for name, rated in scale.systems.items()
        if name not in scale.controls and not isnan(rated.mean.value + rated.vote_mean)
    ]
    return any(
        (first[0] - second[0]) * (first[1] - second[1]) < -(MEAN_TOLERANCE**2)
        for first, second in combinations(rows, 2)
    )


def vote_mean_sentences(results: Results) -> Iterator[str]:
    """Yield on which scales the plain mean of votes gives another order of systems."""
    scales = [scale for scale in results.scales if differs_in_order(scale)]
    if scales:
        yield (
            f"The plain mean of votes ranks systems in another order on "
            f"{join_names([scale.value.name for scale in scales])}; it is in the table of means"
        )


def _method_table(scale: ScaleResults) -> Table:
    rows = (((system,), rated.intervals) for system, rated in scale.systems.items())
    title = f"{value_title(scale.value)}: means by method"
    return draw_named_cells(title, ("system",), rows, scale.value)


def _vote_part(scale: ScaleResults) -> VoteCounts | ValueSpread:
    """Return bars for scales with few values, else histograms."""
    values = scale_steps(scale)
    return _vote_counts(scale, values) if values else _value_spread(scale, "votes")


def scale_steps(scale: ScaleResults) -> list[float]:
    """Return all values of a scale if they are few and whole numbers, else an empty list."""
    low, high = scale.value.low, scale.value.high
    votes = {x for rated in scale.systems.values() for x in rated.counts}
    has_steps = all(float(x).is_integer() for x in (low, high, *votes) if isfinite(x))
    if not has_steps or high - low >= MAX_BAR_VALUES:
        return []
    return [float(x) for x in range(int(low), int(high) + 1)]


def _vote_counts(scale: ScaleResults, values: list[float]) -> VoteCounts:
    rows = tuple(
        (name, {x: int(rated.counts.get(x, 0)) for x in values})
        for name, rated in scale.systems.items()
    )
    table = tuple(
        (name, *(f"{n:,} ({_share_text(n, counts)})" for n in counts.values()))
        for name, counts in rows
    )
    notes = {name: f"{rated.votes:,} votes" for name, rated in scale.systems.items()}
    title = f"{scale.value.name}: votes"
    header = ("system", *(f"{x:g}" for x in values))
    return VoteCounts(title, scale.value, rows, notes, Table(title, header, table))


def _share_text(n: int, counts: dict[float, int]) -> str:
    total = sum(counts.values())
    return f"{100 * n / total:.0f} %" if total else "–"


def _value_spread(scale: ScaleResults, noun: str) -> ValueSpread:
    series = {
        name: tuple(float(x) for x, n in sorted(rated.counts.items()) for _ in range(n))
        for name, rated in scale.systems.items()
    }
    title = f"{scale.value.name}: {noun}"
    rows = (
        (name, len(values), *np.quantile(values or np.nan, [0, 0.25, 0.5, 0.75, 1]).tolist())
        for name, values in series.items()
    )
    quartiles = ("minimum", "lower quartile", "median", "upper quartile", "maximum")
    most = max(len(values) for values in series.values())
    table = draw_rows(title, ("system", noun, *quartiles), rows, value=scale.value)
    return ValueSpread(title, scale.value, series, most, HISTOGRAM_BINS, noun, table)


# --- Methods sentences on means and tests --------------------------------------------------------


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on votes, means and shares of votes."""
    yield from vote_methods(results)
    rated = [r for scale in results.scales for r in scale.systems.values()]
    if not rated:
        return
    wording = INTERVAL_WORDING[interval_method(results)]
    if has_defined(r.mean for r in rated):
        yield f"Each mean is the {wording.estimand}."
    if any(isfinite(r.mean.high - r.mean.low) for r in rated):
        intervals = f"{level_percent(results)} confidence intervals of means"
        yield f"{intervals} were computed by {wording.about}."
    shares = [s for r in rated for s in (r.good, r.poor) if s is not None]
    if has_defined(shares):
        method = join_names(sorted({s.method for s in shares}), MAX_LISTED_NAMES)
        yield (
            f"The shares of votes rated {_share_names(results.scales)} are also reported, each "
            "listener weighted equally, with confidence intervals by "
            f"{INTERVAL_WORDING[method].name if method in INTERVAL_WORDING else method}."
        )


def _share_names(scales: Sequence[ScaleResults]) -> str:
    """Return the labels of shares, with their scales if labels differ between scales."""
    labels = [
        (scale.value.name, share_words(scale.value)) for scale in scales if _has_shares(scale)
    ]
    words = group_values((f"{label['good']} and {label['poor']}", name) for name, label in labels)
    if len(words) == 1:
        return next(iter(words))
    return ", ".join(
        f"{text} ({join_names(names, MAX_LISTED_NAMES)})" for text, names in words.items()
    )


def _has_shares(scale: ScaleResults) -> bool:
    return any(rated.good or rated.poor for rated in scale.systems.values())


# --- Methods sentences on votes ------------------------------------------------------------------


VOTE_NOTE_WORDS = ("vote", "missing")  # notes with these words are part of the paragraph


def vote_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on votes."""
    rated = [scale for scale in results.scales if scale.systems]
    derived = {TOTAL, *derived_scales()}
    voted_scales = [scale for scale in rated if scale.value.name not in derived] or rated
    if voted_scales:
        votes = sum(r.votes for scale in voted_scales for r in scale.systems.values())
        names = join_names([_scale_with_ends(scale) for scale in voted_scales], MAX_LISTED_NAMES)
        word = "scale" if len(voted_scales) == 1 else "scales"
        noun = "mean" if results.is_over_items else "vote"
        items = {r.items for scale in rated for r in scale.systems.values()}
        each = f" with {count_text(items.pop(), 'item')} each" if len(items) == 1 else ""
        yield (
            f"{count_text(votes, noun)} on the {word} {names} were analysed, for "
            f"{rated_clause(rated)}{each}."
        )
    follow = [_scale_with_ends(scale) for scale in rated if scale not in voted_scales]
    if follow:
        verb = "was" if len(follow) == 1 else "were"
        noun = "means" if results.is_over_items else "votes"
        yield f"{join_names(follow, MAX_LISTED_NAMES)} {verb} derived from these {noun}."
    if results.doubled:
        yield doubled_sentence(results)
    for note in results.notes:
        if any(word in note for word in VOTE_NOTE_WORDS):
            yield f"{capitalized(note).rstrip('.')}."


def doubled_sentence(results: Results) -> str:
    """Return the sentence on how repeated votes are resolved."""
    noun = "mean" if results.is_over_items else "vote"
    used = "mean" if results.rule == "mean" else f"{results.rule} {noun}"
    how = f"; the {used} was used" if results.rule else ""
    if results.is_over_items:
        count = len({repeated.key for repeated in results.doubled})
        return f"{count_text(count, 'output has', 'outputs have')} several rows{how}."
    what = count_text(len(results.doubled), "stimulus was", "stimuli were")
    return f"{what} rated more than once by the same listener on the same scale{how}."


def rated_clause(scales: Sequence[ScaleResults]) -> str:
    """Return the number of systems, or of pairs of systems."""
    pairs = {name for scale in scales if has_pairs(scale) for name in scale.systems}
    alone = {name for scale in scales if not has_pairs(scale) for name in scale.systems}
    counts = [count_text(len(alone), "system")] if alone or not pairs else []
    counts += [count_text(len(pairs), "pair")] if pairs else []
    return join_names(counts)


def has_pairs(scale: ScaleResults) -> bool:
    """Return whether the rows of a scale are pairs of systems rather than systems."""
    named = {name for c in scale.contrasts for name in (c.a, c.b)}
    return bool(named) and not named & {*scale.systems}


def _scale_with_ends(scale: ScaleResults) -> str:
    value = scale.value
    return f"{value.name} ({short_number(value.low)} to {short_number(value.high)})"


# --- CSV table of means --------------------------------------------------------------------------


COUNTS = ("votes", "listeners", "items")
MEAN_COLUMNS = ("scale", "system", "name", Column(parts=ESTIMATE), *COUNTS)


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name: all means with all intervals, also over all listeners."""
    rows = list[tuple[Any, ...]]()
    for scale in results.scales:
        rows += [(*row, "yes") for row in (*mean_rows(scale), *choice_rows(scale))]
        for system, rated in scale.systems.items():
            others = [estimate for estimate in rated.intervals.values() if estimate != rated.mean]
            rows += [
                (*_mean_row(scale, system, "mean", estimate, rated), "no") for estimate in others
            ]
        for system, estimate in scale.everyone.items():
            name = "mean, all listeners"
            rows.append((scale.value, system, name, estimate, None, None, None, "no"))
    return {"means": record_rows((*MEAN_COLUMNS, "planned"), rows)}


def mean_rows(scale: ScaleResults) -> Iterator[tuple[Any, ...]]:
    """Yield rows with the means and vote shares of systems."""
    for system, rated in scale.systems.items():
        yield _mean_row(scale, system, "mean", rated.mean, rated)
        for name in VOTE_SHARES:
            if (estimate := getattr(rated, name)) is not None:
                yield _mean_row(scale, system, name, estimate, rated)
    for grouped in scale.groups:
        for group in grouped.groups:
            name = f"mean, {grouped.field} {group.name}"
            for system, mean in group.systems.items():
                yield _mean_row(scale, system, name, mean.mean, mean)


def _mean_row(
    scale: ScaleResults, system: str, name: str, of: Estimate, rated: SystemMeans | GroupMean
) -> tuple[Any, ...]:
    """Return the row of an estimate, with numbers of votes, listeners and items."""
    return scale.value, system, name, of, *attrgetter(*COUNTS)(rated)
