"""Means with their intervals, and how votes divide over the values of a scale."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import numpy as np

from earwitness.data import Rated, Results, ScaleResults, Value
from earwitness.report.methods.words import FROM, INTERVALS, NAMED, TO, share_words, way
from earwitness.report.numbers import cell, number, percent, titled
from earwitness.report.parts import Counts, Intervals, Lines, Part, Section, Spread, Table
from earwitness.report.results.records import SHARES
from earwitness.report.sentences import listed

FEW = 11  # values of a scale that bars can show
BINS = 25


def mean_sections(results: Results) -> Iterator[Section]:
    """Means, means by every method, distributions."""
    rated = [scale for scale in results.scales if scale.systems]
    if not rated:
        return
    yield Section("Means", tuple(map(_means, rated)), f"{_how(results)}{_beyond(rated)}")
    several = [s for s in rated if any(len(one.intervals) > 1 for one in s.systems.values())]
    if several:
        parts: tuple[Part, ...] = (_what(several), *(_methods(scale) for scale in several))
        yield Section("Means by method", parts, place="pages", folded=True)
    shapes = tuple(_shape(s) for s in rated if any(r.counts for r in s.systems.values()))
    if shapes:
        yield Section("Votes", shapes, _shaped(rated), place="pages")


def _shaped(scales: list[ScaleResults]) -> str:
    told = "How votes divide over the scale"
    named = [scale for scale in scales if scale.value.name in NAMED]
    shares = any(r.good or r.poor for scale in named for r in scale.systems.values())
    return f"{told}; good is Good or better, poor is Poor or worse." if shares else f"{told}."


def _how(results: Results) -> str:
    name = way(results)
    about = f": {INTERVALS[name].about}" if name in INTERVALS else ""
    return f"Intervals by {name}{about}."


def _beyond(scales: list[ScaleResults]) -> str:
    """Which intervals leave the scale, and why they are not cut."""
    found = [
        f"{scale.value.name} ({scale.value.low:g} to {scale.value.high:g})"
        for scale in scales
        if any(
            r.mean.low < scale.value.low or r.mean.high > scale.value.high
            for r in scale.systems.values()
        )
    ]
    if not found:
        return ""
    return (
        f" Intervals that reach beyond the scale, of {listed(found)}, are drawn up to its ends, "
        "but numbers are as computed: the method knows of no ends, and so few listeners, or votes "
        "so near an end, say little about how far means spread."
    )


def _means(scale: ScaleResults) -> Intervals:
    rows = tuple((name, {name: rated.mean}) for name, rated in scale.systems.items())
    return Intervals(titled(scale.value), scale.value, "system", rows, _table(scale))


def _table(scale: ScaleResults) -> Table:
    """A row a system; shares where there are any."""
    every = scale.systems.values()
    shares = [name for name in SHARES if any(getattr(rated, name) for rated in every)]
    words = share_words(scale.value.name)
    header = ("system", "mean", "sd", "votes", "listeners", "items", *(words[n] for n in shares))
    rows = tuple(
        (
            *(name, cell(r.mean, scale.value), number(r.sd, scale.value)),
            *(f"{count:,}" for count in (r.votes, r.listeners, r.items)),
            *(percent(getattr(r, share)) for share in shares),
        )
        for name, r in scale.systems.items()
    )
    return Table(titled(scale.value), header, rows)


def _methods(scale: ScaleResults) -> Table:
    names = list(dict.fromkeys(m for r in scale.systems.values() for m in r.intervals))
    rows = tuple(
        (
            system,
            *(cell(r.intervals[m], scale.value) if m in r.intervals else "–" for m in names),
        )
        for system, r in scale.systems.items()
    )
    return Table(f"{titled(scale.value)}: means by method", ("system", *names), rows)


def _what(scales: list[ScaleResults]) -> Lines:
    found = {m: None for s in scales for r in s.systems.values() for m in r.intervals}
    return Lines("", tuple(f"{m}: {INTERVALS[m].about}" for m in found if m in INTERVALS))


def _shape(scale: ScaleResults) -> Counts | Spread:
    """Bars where values are few, else histograms."""
    values = steps(scale)
    return _spread(scale) if not values else _counts(scale, values)


def steps(scale: ScaleResults) -> list[float]:
    """All values that could be given, if they are few and whole."""
    low, high = scale.value.low, scale.value.high
    given = {x for rated in scale.systems.values() for x in rated.counts}
    whole = all(float(x).is_integer() for x in (*given, low, high) if isfinite(x))
    if not whole or not isfinite(high - low) or high - low >= FEW:
        return []
    return [float(x) for x in range(int(low), int(high) + 1)]


def _counts(scale: ScaleResults, values: list[float]) -> Counts:
    rows = tuple(
        (name, {x: int(rated.counts.get(x, 0)) for x in values})
        for name, rated in scale.systems.items()
    )
    table = tuple(
        (name, *(f"{n:,} ({_share(n, counts)})" for n in counts.values())) for name, counts in rows
    )
    notes = {name: _note(rated, scale.value.name) for name, rated in scale.systems.items()}
    title = f"{scale.value.name}: votes"
    header = ("system", *(f"{x:g}" for x in values))
    return Counts(title, scale.value, rows, notes, Table(title, header, table))


def _share(n: int, counts: dict[float, int]) -> str:
    total = sum(counts.values())
    return f"{100 * n / total:.0f} %" if total else "–"


def _note(rated: Rated, scale: str) -> str:
    words = ("good", "poor") if scale in NAMED else (f"≥ {FROM}", f"≤ {TO}")
    told = [
        f"{100 * share.value:.0f} % {word}"
        for share, word in zip((rated.good, rated.poor), words, strict=True)
        if share is not None and isfinite(share.value)
    ]
    return ", ".join(told) or f"{rated.votes:,} votes"


def _spread(scale: ScaleResults) -> Spread:
    series = {
        name: tuple(float(x) for x, n in sorted(rated.counts.items()) for _ in range(n))
        for name, rated in scale.systems.items()
    }
    title = f"{scale.value.name}: votes"
    rows = tuple((name, *_quartiles(values, scale.value)) for name, values in series.items())
    header = ("system", "votes", "least", "quarter", "median", "three quarters", "most")
    most = max(len(values) for values in series.values())
    table = Table(title, header, rows)
    return Spread(title, scale.value, series, most, BINS, "votes", table)


def _quartiles(values: tuple[float, ...], value: Value) -> list[str]:
    at = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if values else np.full(5, np.nan)
    return [f"{len(values):,}", *(number(float(x), value) for x in at)]
