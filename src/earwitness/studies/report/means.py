"""Votes, means and distributions: sections, methods sentences and CSV table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import numpy as np

from earwitness.core import Estimate, Value
from earwitness.report.numbers import cell, number, percent, value_title
from earwitness.report.parts import Intervals, Lines, Part, Section, Table, ValueSpread, VoteCounts
from earwitness.report.sentences import join_names
from earwitness.studies.report.choices import choice_rows
from earwitness.studies.report.csv_columns import (
    ESTIMATE_COLUMNS,
    Row,
    TableContent,
    estimate_cells,
)
from earwitness.studies.report.wording import (
    GOOD_POOR_SCALES,
    INTERVAL_WORDING,
    MAX_LISTED_NAMES,
    MAX_POOR_VOTE,
    MIN_GOOD_VOTE,
    level_percent,
    several,
    share_words,
    way,
)
from earwitness.studies.results import Results, ScaleResults, SystemMeans

# --- Sections on means and distributions ---------------------------------------------------------


VOTE_SHARES = ("good", "poor", "floor", "ceiling")
MAX_BAR_VALUES = 11  # values of a scale that bars can show
HISTOGRAM_BINS = 25


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
    named = [scale for scale in scales if scale.value.name in GOOD_POOR_SCALES]
    shares = any(r.good or r.poor for scale in named for r in scale.systems.values())
    return f"{told}; good is Good or better, poor is Poor or worse." if shares else f"{told}."


def _how(results: Results) -> str:
    name = way(results)
    about = f": {INTERVAL_WORDING[name].about}" if name in INTERVAL_WORDING else ""
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
        f" Intervals that reach beyond the scale, of {join_names(found)}, are drawn up to its "
        "ends, but numbers are as computed: the method knows of no ends, and so few listeners, or "
        "votes so near an end, say little about how far means spread."
    )


def _means(scale: ScaleResults) -> Intervals:
    rows = tuple((name, {name: rated.mean}) for name, rated in scale.systems.items())
    return Intervals(value_title(scale.value), scale.value, "system", rows, _table(scale))


def _table(scale: ScaleResults) -> Table:
    """A row a system; shares where there are any."""
    every = scale.systems.values()
    shares = [name for name in VOTE_SHARES if any(getattr(rated, name) for rated in every)]
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
    return Table(value_title(scale.value), header, rows)


def _methods(scale: ScaleResults) -> Table:
    names = list(dict.fromkeys(m for r in scale.systems.values() for m in r.intervals))
    rows = tuple(
        (
            system,
            *(cell(r.intervals[m], scale.value) if m in r.intervals else "–" for m in names),
        )
        for system, r in scale.systems.items()
    )
    return Table(f"{value_title(scale.value)}: means by method", ("system", *names), rows)


def _what(scales: list[ScaleResults]) -> Lines:
    found = {m: None for s in scales for r in s.systems.values() for m in r.intervals}
    return Lines(
        "", tuple(f"{m}: {INTERVAL_WORDING[m].about}" for m in found if m in INTERVAL_WORDING)
    )


def _shape(scale: ScaleResults) -> VoteCounts | ValueSpread:
    """Bars where values are few, else histograms."""
    values = steps(scale)
    return _spread(scale) if not values else _counts(scale, values)


def steps(scale: ScaleResults) -> list[float]:
    """All values that could be given, if they are few and whole."""
    low, high = scale.value.low, scale.value.high
    given = {x for rated in scale.systems.values() for x in rated.counts}
    whole = all(float(x).is_integer() for x in (*given, low, high) if isfinite(x))
    if not whole or not isfinite(high - low) or high - low >= MAX_BAR_VALUES:
        return []
    return [float(x) for x in range(int(low), int(high) + 1)]


def _counts(scale: ScaleResults, values: list[float]) -> VoteCounts:
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
    return VoteCounts(title, scale.value, rows, notes, Table(title, header, table))


def _share(n: int, counts: dict[float, int]) -> str:
    total = sum(counts.values())
    return f"{100 * n / total:.0f} %" if total else "–"


def _note(rated: SystemMeans, scale: str) -> str:
    words = (
        ("good", "poor")
        if scale in GOOD_POOR_SCALES
        else (f"≥ {MIN_GOOD_VOTE}", f"≤ {MAX_POOR_VOTE}")
    )
    told = [
        f"{100 * share.value:.0f} % {word}"
        for share, word in zip((rated.good, rated.poor), words, strict=True)
        if share is not None and isfinite(share.value)
    ]
    return ", ".join(told) or f"{rated.votes:,} votes"


def _spread(scale: ScaleResults) -> ValueSpread:
    series = {
        name: tuple(float(x) for x, n in sorted(rated.counts.items()) for _ in range(n))
        for name, rated in scale.systems.items()
    }
    title = f"{scale.value.name}: votes"
    rows = tuple((name, *_quartiles(values, scale.value)) for name, values in series.items())
    header = ("system", "votes", "least", "quarter", "median", "three quarters", "most")
    most = max(len(values) for values in series.values())
    table = Table(title, header, rows)
    return ValueSpread(title, scale.value, series, most, HISTOGRAM_BINS, "votes", table)


def _quartiles(values: tuple[float, ...], value: Value) -> list[str]:
    at = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]) if values else np.full(5, np.nan)
    return [f"{len(values):,}", *(number(float(x), value) for x in at)]


# --- Methods sentences on means and tests --------------------------------------------------------


def mean_methods(results: Results) -> Iterator[str]:
    """Sentences about means and shares."""
    rated = [r for scale in results.scales for r in scale.systems.values()]
    if not rated:
        return
    name = way(results)
    by = INTERVAL_WORDING[name].about if name in INTERVAL_WORDING else f"the method {name}"
    yield f"Intervals of means ({level_percent(results)}) are by {by}."
    shares = [s for r in rated for s in (r.good, r.poor) if s is not None]
    if shares:
        method = join_names(sorted({s.method for s in shares}), MAX_LISTED_NAMES)
        yield (
            f"Beside the means stand the shares of votes of {_kinds(results.scales)}, every "
            "listener counting once, with intervals by "
            f"{INTERVAL_WORDING[method].name if method in INTERVAL_WORDING else method}."
        )


def _kinds(scales: Sequence[ScaleResults]) -> str:
    """What shares are called, with the scales if they are called differently."""
    found: dict[str, list[str]] = {}
    for scale in scales:
        if any(r.good or r.poor for r in scale.systems.values()):
            words = share_words(scale.value.name)
            found.setdefault(f"{words['good']} and {words['poor']}", []).append(scale.value.name)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(
        f"{words} ({join_names(names, MAX_LISTED_NAMES)})" for words, names in found.items()
    )


# --- Methods sentences on votes ------------------------------------------------------------------


REPEAT_RULE_WORDING = {
    "first": "the first counts",
    "last": "the last counts",
    "mean": "their mean counts",
}

VOTE_NOTE_WORDS = ("vote", "missing")  # words of notes that belong into the paragraph


def vote_methods(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    rated = [scale for scale in results.scales if scale.systems]
    given = [scale for scale in rated if not _derived(scale)] or rated
    if given:
        votes = sum(r.votes for scale in given for r in scale.systems.values())
        names = join_names([_ends(scale) for scale in given], MAX_LISTED_NAMES)
        word = "scale" if len(given) == 1 else "scales"
        yield (
            f"{several(votes, 'vote', 'votes')} on the {word} {names} were analysed, for "
            f"{what_rated(rated)}{_items(rated)}."
        )
    follow = [_ends(scale) for scale in rated if scale not in given]
    if follow:
        verb = "follows" if len(follow) == 1 else "follow"
        yield f"{join_names(follow, MAX_LISTED_NAMES)} {verb} from these."
    if results.doubled:
        yield doubled_sentence(results)
    yield from (
        _sentence(note) for note in results.notes if any(w in note for w in VOTE_NOTE_WORDS)
    )


def doubled_sentence(results: Results) -> str:
    """How votes that were given more than once are resolved."""
    rule = REPEAT_RULE_WORDING.get(results.rule, results.rule)
    what = several(len(results.doubled), "stimulus was", "stimuli were")
    how = f"; of such votes {rule}" if rule else ""
    return f"{what} rated more than once by the same listener on the same scale{how}."


def what_rated(scales: Sequence[ScaleResults]) -> str:
    """How many systems there are, or pairs of them."""
    pairs = {name for scale in scales if in_pairs(scale) for name in scale.systems}
    alone = {name for scale in scales if not in_pairs(scale) for name in scale.systems}
    told = [several(len(alone), "system", "systems")] if alone or not pairs else []
    return join_names([*told, *([several(len(pairs), "pair", "pairs")] if pairs else [])])


def in_pairs(scale: ScaleResults) -> bool:
    """Whether pairs stand where systems do: none of them is a system that was compared."""
    named = {name for c in scale.contrasts for name in (c.a, c.b)}
    return bool(named) and not named & {*scale.systems}


def _derived(scale: ScaleResults) -> bool:
    """Whether its numbers follow from votes on another scale."""
    from earwitness.studies.trials import KINDS

    return any(scale.value.name in kind.derived for kind in KINDS.values())


def _ends(scale: ScaleResults) -> str:
    return f"{scale.value.name} ({scale.value.low:g} to {scale.value.high:g})"


def _items(scales: Sequence[ScaleResults]) -> str:
    each = {r.items for scale in scales for r in scale.systems.values()}
    return f" with {several(each.pop(), 'item', 'items')} each" if len(each) == 1 else ""


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


# --- CSV table of means --------------------------------------------------------------------------


MEAN_COLUMNS = ("scale", "system", "name", *ESTIMATE_COLUMNS, "votes", "listeners", "items")


def mean_tables(results: Results) -> dict[str, TableContent]:
    """CSV tables by the name of their file."""
    return {"means.csv": _means_csv(results)}


def _means_csv(results: Results) -> TableContent:
    """Every interval of every mean, those of all listeners too."""
    rows: list[Row] = []
    for scale in results.scales:
        rows += [[*row, "yes"] for row in (*mean_rows(scale), *choice_rows(scale))]
        for system, rated in scale.systems.items():
            others = [estimate for estimate in rated.intervals.values() if estimate != rated.mean]
            rows += [
                [*_mean_row(scale, system, "mean", estimate, rated), "no"] for estimate in others
            ]
        rows += [
            [
                scale.value.name,
                system,
                "mean of everyone",
                *estimate_cells(estimate),
                "",
                "",
                "",
                "no",
            ]
            for system, estimate in scale.everyone.items()
        ]
    return [*MEAN_COLUMNS, "planned"], rows


def mean_rows(scale: ScaleResults) -> Iterator[Row]:
    """Means and shares of systems."""
    for system, rated in scale.systems.items():
        yield _mean_row(scale, system, "mean", rated.mean, rated)
        for name in VOTE_SHARES:
            if (estimate := getattr(rated, name)) is not None:
                yield _mean_row(scale, system, name, estimate, rated)
    for grouped in scale.groups:
        for group in grouped.groups:
            for system, cell_means in group.systems.items():
                name = f"mean, {grouped.field} {group.name}"
                counts = (cell_means.votes, cell_means.listeners, cell_means.items)
                yield [scale.value.name, system, name, *estimate_cells(cell_means.mean), *counts]


def _mean_row(scale: ScaleResults, system: str, name: str, of: Estimate, rated: SystemMeans) -> Row:
    """An estimate of a system, with what it rests on."""
    counts = (rated.votes, rated.listeners, rated.items)
    return [scale.value.name, system, name, *estimate_cells(of), *counts]
