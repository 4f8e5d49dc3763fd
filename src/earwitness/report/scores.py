"""Scores as a report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from earwitness.data import Estimates, Left, People, Scores, Slice, Value, WordNetwork
from earwitness.report.courses import course_sections
from earwitness.report.numbers import cell, number, titled, with_undefined
from earwitness.report.parts import (
    ABOUT_ARCS,
    PEOPLE,
    Block,
    Curve,
    Intervals,
    Lines,
    NetworkPart,
    Part,
    Report,
    Section,
    Spread,
    Table,
    Timeline,
)

FEW = 10  # items below which a group is small


def scores_report(scores: Scores) -> Report:
    """All of it."""
    shown = scores.headlines
    return Report(
        "Scores",
        about(scores),
        tuple(scores.systems),
        (*result_sections(scores, shown), *case_sections(scores, shown)),
        tuple(provenance(scores)),
    )


def about(scores: Scores) -> str:
    """What was scored, in a line."""
    systems = len(scores.systems)
    what = f"{systems:,} system{'s' * (systems != 1)}, {scores.provenance.cases:,} cases"
    if not systems and scores.people is not None:
        what = f"{scores.people.items:,} items with several references"
    least, most = scores.provenance.references
    each = _range(least, most)
    names = ", ".join(i.name for i in scores.provenance.inputs)
    return f"{what}, {each} reference{'s' * (most > 1)} an item; {names}"


def result_sections(scores: Scores, shown: Sequence[str]) -> Iterator[Section]:
    """What the systems reach: overall, over parameters, beside people, by group."""
    if scores.systems:
        yield Section("Results", tuple(_leading(scores, shown)), place="pictures")
        yield Section("All values", tuple(score_tables(scores)), folded=len(scores.families) > 1)
    elif scores.people is not None:
        yield Section("All values", tuple(_ceiling_tables(scores, scores.people)))
    if scores.sweeps and scores.systems:
        yield Section("Curves", tuple(_curves(scores)))
    if scores.courses:
        yield from course_sections(scores.courses)
    if scores.people is not None:
        yield _people(scores, scores.people, shown)
    for one in scores.slices:
        yield Section(f"By {one.field}", tuple(_groups(scores, one, shown)), _few(one))


def case_sections(scores: Scores, shown: Sequence[str]) -> Iterator[Section]:
    """Single cases: how they spread, the worst, those to look at, those left out."""
    if scores.spread:
        yield Section("Spread over cases", tuple(_spread(scores, shown)), place="pictures")
    if scores.worst:
        yield Section("Worst cases", (worst_table(scores, shown),))
    drawn = [one for one in scores.shown if one.outputs]
    if drawn:
        values = tuple(scores.values[name] for name in shown)
        lines = tuple(Timeline(one.item, one, values) for one in drawn)
        asked = any(not one.why for one in scores.shown)
        yield Section("Timelines", lines, place="everywhere" if asked else "pages")
    networks = [(n, one) for n, one in enumerate(scores.shown) if one.network is not None]
    if networks:
        worst = {sample.key.item: sample.key.system for sample in reversed(scores.worst)}
        parts = tuple(
            NetworkPart(one.item, one.network, n, _picked(one.network, worst), one.why)
            for n, one in networks
            if one.network
        )
        yield Section("Networks", parts, ABOUT_ARCS, place="pictures")
    if any(one.alignments for one in scores.shown):
        pairs = any(a.pairs for one in scores.shown for a in chain(*one.alignments.values()))
        text = "S replaced, D missing, I too much." if pairs else ""
        if networks:
            text += (
                " A word with a question mark was not said. Below, how many people went to this "
                "word from the one before it on the path."
            )
        yield Section("Words", tuple(_alignments(scores)), text)
    for what, left in (("skipped", scores.skipped), ("scored as empty", scores.emptied)):
        if left:
            yield Section(what.capitalize(), (left_lines(what, left),))


def _picked(network: WordNetwork, worst: Mapping[str, str]) -> str:
    """Whose path stands out: the worst system's, else the first."""
    first = next((s for s in network.targets if not s.startswith("(")), "")
    return worst.get(network.item, first)


def _leading(scores: Scores, shown: Sequence[str]) -> Iterator[Intervals]:
    for name in shown:
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
                ("n", *(with_undefined(own[values[0].name]) for own in scores.systems.values())),
                *(_row(value, list(scores.systems.values()), values[0]) for value in values),
            ),
        )
        for family, values in scores.families.items()
    ]


def _ceiling_tables(scores: Scores, people: People) -> Iterator[Table]:
    """What people reach, where there are no systems: a row a value, a column a person."""
    columns = {PEOPLE: people.ceiling, **people.annotators}
    for family, values in scores.families.items():
        counts = ("n", *(with_undefined(own[values[0].name]) for own in columns.values()))
        rows = (_row(value, list(columns.values()), values[0]) for value in values)
        yield Table(family, ("", *columns), (counts, *rows))


def _row(value: Value, columns: Sequence[Estimates], first: Value) -> tuple[str, ...]:
    cells = []
    for own in columns:
        estimate = own[value.name]
        odd = f" n={estimate.n:,}" * (estimate.n != own[first.name].n)
        cells.append(cell(estimate, value) + odd)
    return (titled(value), *cells)


def _curves(scores: Scores) -> Iterator[Curve]:
    for sweep in scores.sweeps:
        value = scores.values[sweep.points[0][1]]
        points = tuple(
            (x, {system: own[name] for system, own in scores.systems.items()})
            for x, name in sweep.points
        )
        named = f"{titled(value).replace(value.name, sweep.value)} by {sweep.parameter}"
        yield Curve(named, value, sweep.parameter, sweep.unit, points)


def _people(scores: Scores, people: People, shown: Sequence[str]) -> Section:
    """The ceiling, and who is far from the others."""
    parts = []
    for name in shown if scores.systems else ():
        value = scores.values[name]
        rows = [(PEOPLE, {PEOPLE: people.ceiling[name]})]
        rows += [(system, {system: own[name]}) for system, own in people.systems.items()]
        parts.append(Intervals(f"{titled(value)}: people and systems", value, "", tuple(rows)))
    for name in shown if len(people.annotators) > 1 else ():
        value = scores.values[name]
        rows = [(who, {PEOPLE: own[name]}) for who, own in people.annotators.items()]
        title = f"{titled(value)}: each annotator against the others"
        parts.append(Intervals(title, value, "annotator", tuple(rows)))
    text = (
        f"Of items with several references, {people.items:,} in all, each annotator in turn is "
        "scored against the others."
    )
    done = {e.n + e.undefined for own in people.annotators.values() for e in own.values()}
    if done - {people.items}:
        text += " Every item weighs the same for people, but not everyone did all items."
    if not scores.systems:
        return Section("People", tuple(parts), text, "pictures")
    text += " Systems are scored on the same items, as far as they answered them, against as many"
    return Section("People", tuple(parts), f"{text} references.")


def _few(one: Slice) -> str:
    """A warning where groups are small."""
    counts = [
        max(estimate.n for own in systems.values() for estimate in own.values())
        for systems in one.groups.values()
    ]
    few = sum(count < FEW for count in counts)
    if not few:
        return ""
    what = "group has" if few == 1 else "groups have"
    return f"{few} of {len(counts)} {what} fewer than {FEW} items: read them with care."


def _groups(scores: Scores, one: Slice, shown: Sequence[str]) -> Iterator[Intervals]:
    for name in shown:
        value = scores.values[name]
        rows = tuple(
            (group, {system: own[name] for system, own in systems.items()})
            for group, systems in one.groups.items()
        )
        yield Intervals(f"{titled(value)} by {one.field}", value, one.field, rows)


def _spread(scores: Scores, shown: Sequence[str]) -> Iterator[Part]:
    assert scores.spread is not None
    for name in shown:
        series = {system: own[name] for system, own in scores.spread.items()}
        value = scores.values[name]
        most = max(own[name].n for own in scores.systems.values())
        yield Spread(titled(value), value, series, most)


def _alignments(scores: Scores) -> Iterator[Block]:
    for one in scores.shown:
        for system, alignments in one.alignments.items():
            yield Block(f"{one.item}, {system}", alignments)


def worst_table(scores: Scores, shown: Sequence[str]) -> Table:
    """The worst cases by the value that chose them, its family's others, and what else is shown."""
    family = next(f for f in scores.families.values() if scores.worst_by in {v.name for v in f})
    kin = [value.name for value in family if value.best != "none"]
    values = [scores.values[n] for n in dict.fromkeys([scores.worst_by, *shown, *kin])]
    return Table(
        f"worst by {scores.worst_by}",
        ("item", "system", *(value.name for value in values)),
        tuple(
            (s.key.item, s.key.system, *(number(s.values[v.name], v) for v in values))
            for s in scores.worst
        ),
        names=2,
        may_miss=True,
    )


def left_lines(what: str, left: Sequence[Left]) -> Lines:
    """Cases that were left out or emptied, and why."""
    lines = tuple(f"{o.key.item} ({o.key.system or 'no system'}): {o.reason}" for o in left)
    return Lines(f"{len(left):,} {what}", lines)


def _range(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def provenance(scores: Scores, signature: str = "") -> list[str]:
    """Signature, provenance and notes, a line each."""
    made = scores.provenance
    ceiling = [scores.people.ceiling] if scores.people is not None else []
    level = next(e.level for own in (*scores.systems.values(), *ceiling) for e in own.values())
    counts = f"{made.cases:,} scored, {made.skipped:,} skipped, {made.emptied:,} scored as empty"
    lines = [
        f"intervals: {100 * level:.4g} %; ↑ high is good, ↓ low is good",
        f"signature: {signature or scores.signature}",
        f"made with: earwitness {made.version}, numpy {made.numpy}, seed {made.seed}",
        f"cases: {counts}",
    ]
    if made.references != (1, 1):
        lines.append(f"references: {_range(*made.references)} of an item")
    lines += [f"input: {i.name} ({i.bytes:,} bytes, sha256 {i.sha256})" for i in made.inputs]
    return lines + [f"note: {note}" for note in scores.notes]
