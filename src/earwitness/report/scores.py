"""Scores as a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from earwitness.data import Estimate, Estimates, Left, People, Scores, Slice, Value
from earwitness.report.numbers import cell, number, titled
from earwitness.report.parts import (
    Curve,
    Intervals,
    Lines,
    Part,
    Report,
    Section,
    Spread,
    Table,
    Timeline,
)


def scores_report(scores: Scores) -> Report:
    """All of it."""
    return Report(
        "Scores",
        about(scores),
        tuple(scores.systems),
        (*result_sections(scores), *case_sections(scores)),
        tuple(provenance(scores)),
    )


def about(scores: Scores) -> str:
    """What was scored, in a line."""
    systems = len(scores.systems)
    least, most = scores.provenance.references
    each = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"{systems:,} system{'s' * (systems > 1)}, {scores.provenance.cases:,} cases, "
        f"{each} reference{'s' * (most > 1)} an item"
    )


def result_sections(scores: Scores) -> Iterator[Section]:
    """What the systems reach: overall, over parameters, beside people, by group."""
    leading = tuple(_leading(scores))
    yield Section("Results", leading, place="pictures")
    yield Section("All values", tuple(score_tables(scores)), folded=len(scores.families) > 1)
    if scores.sweeps:
        yield Section("Curves", tuple(_curves(scores)))
    if scores.people is not None:
        yield _people(scores, scores.people)
    for one in scores.slices:
        yield Section(f"By {one.field}", tuple(_groups(scores, one)))


def case_sections(scores: Scores) -> Iterator[Section]:
    """Single cases: how they spread, the worst, those to look at, those left out."""
    if scores.spread:
        yield Section("Spread over cases", tuple(_spread(scores)), place="pictures")
    if scores.worst:
        yield Section("Worst cases", (worst_table(scores),))
    if scores.shown:
        lines = tuple(Timeline(shown.item, shown) for shown in scores.shown)
        yield Section("Timelines", lines, place="pictures")
    for what, left in (("skipped", scores.skipped), ("scored as empty", scores.emptied)):
        if left:
            yield Section(what.capitalize(), (left_lines(what, left),))


def _leading(scores: Scores) -> Iterator[Intervals]:
    for name in scores.headlines:
        rows = tuple((system, {system: own[name]}) for system, own in scores.systems.items())
        value = scores.values[name]
        yield Intervals(titled(value), value, "", rows)


def score_tables(scores: Scores) -> list[Table]:
    """A table a family: a row a value, a column a system."""
    return [
        Table(
            family,
            ("", *scores.systems),
            (
                ("n", *(_counts(own[values[0].name]) for own in scores.systems.values())),
                *(_row(value, list(scores.systems.values()), values[0]) for value in values),
            ),
        )
        for family, values in scores.families.items()
    ]


def _row(value: Value, columns: Sequence[Estimates], first: Value) -> tuple[str, ...]:
    cells = []
    for own in columns:
        estimate = own[value.name]
        odd = f" n={estimate.n:,}" * (estimate.n != own[first.name].n)
        cells.append(cell(estimate, value) + odd)
    return (titled(value), *cells)


def _counts(estimate: Estimate) -> str:
    n, undefined = estimate.n, estimate.undefined
    return f"{n:,}" + f" + {undefined:,} undefined" * bool(undefined)


def _curves(scores: Scores) -> Iterator[Curve]:
    for sweep in scores.sweeps:
        value = scores.values[sweep.points[0][1]]
        points = tuple(
            (x, {system: own[name] for system, own in scores.systems.items()})
            for x, name in sweep.points
        )
        named = f"{titled(value).replace(value.name, sweep.value)} by {sweep.parameter}"
        yield Curve(named, value, sweep.parameter, points)


def _people(scores: Scores, people: People) -> Section:
    """The ceiling, and who is far from the others."""
    parts = []
    for name in scores.headlines:
        value = scores.values[name]
        rows = [("people", {"people": people.ceiling[name]})]
        rows += [(system, {system: own[name]}) for system, own in people.systems.items()]
        parts.append(Intervals(f"{titled(value)}: people and systems", value, "", tuple(rows)))
    for name in scores.headlines if len(people.annotators) > 1 else ():
        value = scores.values[name]
        rows = [(who, {"people": own[name]}) for who, own in people.annotators.items()]
        title = f"{titled(value)}: each annotator against the others"
        parts.append(Intervals(title, value, "annotator", tuple(rows)))
    text = (
        f"{people.items:,} items have several references. Each annotator in turn is scored against "
        "the others of the item; systems are scored on the same items against as many references."
    )
    return Section("People", tuple(parts), text)


def _groups(scores: Scores, one: Slice) -> Iterator[Intervals]:
    for name in scores.headlines:
        value = scores.values[name]
        rows = tuple(
            (group, {system: own[name] for system, own in systems.items()})
            for group, systems in one.groups.items()
        )
        yield Intervals(f"{titled(value)} by {one.field}", value, one.field, rows)


def _spread(scores: Scores) -> Iterator[Part]:
    assert scores.spread is not None
    for name in scores.headlines:
        series = {system: own[name] for system, own in scores.spread.items()}
        value = scores.values[name]
        most = max(own[name].n for own in scores.systems.values())
        yield Spread(titled(value), value, series, most)


def worst_table(scores: Scores) -> Table:
    """The worst cases with all values that are good or bad."""
    shown = [value for value in scores.values.values() if value.best != "none"]
    shown.sort(key=lambda value: value.name != scores.worst_by)
    return Table(
        f"worst by {scores.worst_by}",
        ("item", "system", *(value.name for value in shown)),
        tuple(
            (s.key.item, s.key.system, *(number(s.values[v.name], v) for v in shown))
            for s in scores.worst
        ),
        names=2,
        may_miss=True,
    )


def left_lines(what: str, left: Sequence[Left]) -> Lines:
    """Cases that were left out or emptied, and why."""
    lines = tuple(f"{o.key.item} ({o.key.system or 'no system'}): {o.reason}" for o in left)
    return Lines(f"{len(left):,} {what}", lines)


def provenance(scores: Scores, signature: str = "") -> list[str]:
    """Signature, provenance and notes, a line each."""
    made = scores.provenance
    level = next(e.level for estimates in scores.systems.values() for e in estimates.values())
    counts = f"{made.cases:,} scored, {made.skipped:,} skipped, {made.emptied:,} scored as empty"
    lines = [
        f"intervals: {100 * level:.4g} %; ↑ high is good, ↓ low is good",
        f"signature: {signature or scores.signature}",
        f"made with: earwitness {made.version}, numpy {made.numpy}, seed {made.seed}",
        f"cases: {counts}",
    ]
    if made.references != (1, 1):
        lines.append("references: {} to {} of an item".format(*made.references))
    lines += [f"input: {i.name} ({i.bytes:,} bytes, sha256 {i.sha256})" for i in made.inputs]
    return lines + [f"note: {note}" for note in scores.notes]
