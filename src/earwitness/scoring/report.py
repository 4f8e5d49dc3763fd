"""Reports of scores and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from earwitness.core import Estimates, FaultyCase, Value, WordNetwork
from earwitness.report.numbers import cell, count_with_undefined, number, p_value, value_title
from earwitness.report.parts import (
    ABOUT_ARCS,
    PEOPLE_SERIES,
    Curve,
    Intervals,
    Lines,
    Matrix,
    NetworkPart,
    Part,
    Report,
    Section,
    Table,
    Timeline,
    ValueSpread,
    WordBlock,
)
from earwitness.report.sentences import comparison_sentences
from earwitness.report.tables import better_system, is_tested
from earwitness.scoring.results import AnnotatorScores, Comparison, GroupContrasts, Scores, Slice

# --- Report of scores ----------------------------------------------------------------------------


MIN_ITEMS_PER_GROUP = 10  # items below which a group is small


def scores_report(scores: Scores) -> Report:
    """Return the report of scores."""
    shown = scores.headlines
    return Report(
        "Scores",
        about(scores),
        tuple(scores.systems),
        (*result_sections(scores, shown), *case_sections(scores, shown)),
        tuple(provenance(scores)),
    )


def about(scores: Scores) -> str:
    """Return one line about the numbers of systems, cases and references, and the input files."""
    systems = len(scores.systems)
    what = f"{systems:,} system{'s' * (systems != 1)}, {scores.provenance.cases:,} cases"
    if not systems and scores.people is not None:
        what = f"{scores.people.items:,} items with several references"
    least, most = scores.provenance.references
    each = _range(least, most)
    names = ", ".join(i.name for i in scores.provenance.inputs)
    return f"{what}, {each} reference{'s' * (most > 1)} per item; {names}"


def result_sections(scores: Scores, shown: Sequence[str]) -> Iterator[Section]:
    """Yield the sections with results: overall, per parameter, of annotators, and per group."""
    if scores.systems:
        yield Section("Results", tuple(_leading(scores, shown)), place="pictures")
        yield Section("All values", tuple(score_tables(scores)), folded=len(scores.families) > 1)
    elif scores.people is not None:
        yield Section("All values", tuple(_ceiling_tables(scores, scores.people)))
    if scores.sweeps and scores.systems:
        yield Section("Curves", tuple(_curves(scores)))
    for part in scores.parts:
        yield from part.sections()
    if scores.people is not None:
        yield _people(scores, scores.people, shown)
    for slicing in scores.slices:
        yield Section(f"By {slicing.field}", tuple(_groups(scores, slicing, shown)), _few(slicing))


def case_sections(scores: Scores, shown: Sequence[str]) -> Iterator[Section]:
    """Yield the sections about single cases: spread, worst cases, examples, and omitted cases."""
    if scores.spread:
        yield Section("Distribution over cases", tuple(_spread(scores, shown)), place="pictures")
    if scores.worst:
        yield Section("Worst cases", (worst_table(scores, shown),))
    drawn = [example for example in scores.shown if example.outputs]
    if drawn:
        values = tuple(scores.values[name] for name in shown)
        lines = tuple(Timeline(example.item, example, values) for example in drawn)
        asked = any(not example.why for example in scores.shown)
        yield Section("Timelines", lines, place="everywhere" if asked else "pages")
    networks = [
        (n, example) for n, example in enumerate(scores.shown) if example.network is not None
    ]
    if networks:
        worst = {sample.key.item: sample.key.system for sample in reversed(scores.worst)}
        parts = tuple(
            NetworkPart(
                example.item, example.network, n, _picked(example.network, worst), example.why
            )
            for n, example in networks
            if example.network
        )
        yield Section("Networks", parts, ABOUT_ARCS, place="pictures")
    if any(example.alignments for example in scores.shown):
        pairs = any(
            a.pairs for example in scores.shown for a in chain(*example.alignments.values())
        )
        text = "S substituted, D deleted, I inserted." if pairs else ""
        if networks:
            text += (
                " A word with a question mark was not said. The number below a word is the number "
                "of people who went to it from the previous word of the path."
            )
        yield Section("Words", tuple(_alignments(scores)), text)
    for what, left in (("skipped", scores.skipped), ("scored as empty", scores.emptied)):
        if left:
            yield Section(what.capitalize(), (left_lines(what, left),))


def _picked(network: WordNetwork, worst: Mapping[str, str]) -> str:
    """Return the system whose path is highlighted: the worst, else the first."""
    first = next((s for s in network.targets if not s.startswith("(")), "")
    return worst.get(network.item, first)


def _leading(scores: Scores, shown: Sequence[str]) -> Iterator[Intervals]:
    for name in shown:
        rows = tuple((system, {system: own[name]}) for system, own in scores.systems.items())
        value = scores.values[name]
        yield Intervals(value_title(value), value, "", rows)


def score_tables(scores: Scores) -> list[Table]:
    """Return one table per metric, with one row per value and one column per system."""
    return [
        Table(
            family,
            ("", *scores.systems),
            (
                (
                    "n",
                    *(count_with_undefined(own[values[0].name]) for own in scores.systems.values()),
                ),
                *(_row(value, list(scores.systems.values()), values[0]) for value in values),
            ),
        )
        for family, values in scores.families.items()
    ]


def _ceiling_tables(scores: Scores, people: AnnotatorScores) -> Iterator[Table]:
    """Yield one table per metric without systems: one row per value, one column per annotator."""
    columns = {PEOPLE_SERIES: people.ceiling, **people.annotators}
    for family, values in scores.families.items():
        counts = ("n", *(count_with_undefined(own[values[0].name]) for own in columns.values()))
        rows = (_row(value, list(columns.values()), values[0]) for value in values)
        yield Table(family, ("", *columns), (counts, *rows))


def _row(value: Value, columns: Sequence[Estimates], first: Value) -> tuple[str, ...]:
    cells = []
    for estimates in columns:
        estimate = estimates[value.name]
        odd = f" n={estimate.n:,}" * (estimate.n != estimates[first.name].n)
        cells.append(cell(estimate, value) + odd)
    return (value_title(value), *cells)


def _curves(scores: Scores) -> Iterator[Curve]:
    for sweep in scores.sweeps:
        value = scores.values[sweep.points[0][1]]
        points = tuple(
            (x, {system: own[name] for system, own in scores.systems.items()})
            for x, name in sweep.points
        )
        named = f"{value_title(value).replace(value.name, sweep.value)} by {sweep.parameter}"
        yield Curve(named, value, sweep.parameter, sweep.unit, points)


def _people(scores: Scores, people: AnnotatorScores, shown: Sequence[str]) -> Section:
    """Return the section with the human ceiling and the scores of each annotator."""
    parts = []
    for name in shown if scores.systems else ():
        value = scores.values[name]
        rows = [(PEOPLE_SERIES, {PEOPLE_SERIES: people.ceiling[name]})]
        rows += [(system, {system: own[name]}) for system, own in people.systems.items()]
        parts.append(Intervals(f"{value_title(value)}: people and systems", value, "", tuple(rows)))
    for name in shown if len(people.annotators) > 1 else ():
        value = scores.values[name]
        rows = [(who, {PEOPLE_SERIES: own[name]}) for who, own in people.annotators.items()]
        title = f"{value_title(value)}: each annotator against the others"
        parts.append(Intervals(title, value, "annotator", tuple(rows)))
    which = "item" if people.items == 1 else "items"
    text = (
        f"Each annotator in turn is scored against the others, on the {people.items:,} {which} "
        "with several references."
    )
    done = {e.n + e.undefined for own in people.annotators.values() for e in own.values()}
    if done - {people.items}:
        text += " Every item has the same weight, but not every annotator annotated all items."
    if not scores.systems:
        return Section("People", tuple(parts), text, "pictures")
    text += " Systems are scored on the same items, if they have outputs for them, against the same"
    return Section("People", tuple(parts), f"{text} number of references.")


def _few(slicing: Slice) -> str:
    """Return a warning if groups are small, else an empty text."""
    counts = [
        max(estimate.n for own in systems.values() for estimate in own.values())
        for systems in slicing.groups.values()
    ]
    few = sum(count < MIN_ITEMS_PER_GROUP for count in counts)
    if not few:
        return ""
    what = "group has" if few == 1 else "groups have"
    message = f"{few} of {len(counts)} {what} fewer than {MIN_ITEMS_PER_GROUP} items"
    return f"{message}: interpret them with caution."


def _groups(scores: Scores, slicing: Slice, shown: Sequence[str]) -> Iterator[Intervals]:
    for name in shown:
        value = scores.values[name]
        rows = tuple(
            (group, {system: own[name] for system, own in systems.items()})
            for group, systems in slicing.groups.items()
        )
        yield Intervals(f"{value_title(value)} by {slicing.field}", value, slicing.field, rows)


def _spread(scores: Scores, shown: Sequence[str]) -> Iterator[Part]:
    assert scores.spread is not None
    for name in shown:
        series = {system: own[name] for system, own in scores.spread.items()}
        value = scores.values[name]
        most = max(own[name].n for own in scores.systems.values())
        yield ValueSpread(value_title(value), value, series, most)


def _alignments(scores: Scores) -> Iterator[WordBlock]:
    for example in scores.shown:
        for system, alignments in example.alignments.items():
            yield WordBlock(f"{example.item}, {system}", alignments)


def worst_table(scores: Scores, shown: Sequence[str]) -> Table:
    """Return the table of the worst cases, with the values of the same metric and the headlines."""
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


def left_lines(what: str, left: Sequence[FaultyCase]) -> Lines:
    """Return one line per case that was skipped or scored as empty, with the reason."""
    lines = tuple(f"{o.key.item} ({o.key.system or 'no system'}): {o.reason}" for o in left)
    return Lines(f"{len(left):,} {what}", lines)


def _range(least: int, most: int) -> str:
    return f"{least}" if least == most else f"{least} to {most}"


def provenance(scores: Scores, signature: str = "") -> list[str]:
    """Return signature, provenance and notes, one line each."""
    source = scores.provenance
    ceiling = [scores.people.ceiling] if scores.people is not None else []
    level = next(e.level for own in (*scores.systems.values(), *ceiling) for e in own.values())
    counts = (
        f"{source.cases:,} scored, {source.skipped:,} skipped, {source.emptied:,} scored as empty"
    )
    lines = [
        f"confidence intervals: {100 * level:.4g} %; ↑ higher is better, ↓ lower is better",
        f"signature: {signature or scores.signature}",
        f"made with: earwitness {source.version}, numpy {source.numpy}, seed {source.seed}",
        f"cases: {counts}",
    ]
    if source.references != (1, 1):
        lines.append(f"references: {_range(*source.references)} per item")
    lines += [f"input: {i.name} ({i.bytes:,} bytes, sha256 {i.sha256})" for i in source.inputs]
    return lines + [f"note: {note}" for note in scores.notes]


# --- Report of a comparison ----------------------------------------------------------------------


MAX_PLOTTED_VALUES = 6  # values that are all drawn


def comparison_report(comparison: Comparison) -> Report:
    """Return the report of a comparison: differences between systems, then their scores."""
    scores = comparison.scores
    matrices = tuple(_matrices(comparison))
    sections = [Section("Summary", (_short(matrices),), place="pages")]
    sections += [
        Section("Differences between systems", matrices, _comparison_text(comparison)),
        *_by_group(comparison),
    ]
    shown = comparison.values if len(comparison.values) <= MAX_PLOTTED_VALUES else scores.headlines
    for section in result_sections(scores, shown):
        short = section.place == "everywhere"
        sections.append(replace(section, place="pages") if short else section)
    sections += case_sections(scores, shown)
    return Report(
        "Comparison",
        about(scores),
        tuple(comparison.systems),
        tuple(sections),
        tuple(provenance(scores, comparison.signature)),
    )


def _comparison_text(comparison: Comparison) -> str:
    untested = ", ? cannot be tested" * (not all(map(is_tested, comparison.contrasts)))
    differ = any(contrast.better for contrast in comparison.contrasts)
    return (
        f"{'' if differ else 'No two systems differ significantly. '}"
        f"Items with outputs of all systems: {comparison.items:,}; · not significantly different "
        f"at alpha {comparison.alpha:g}{untested}. p is Holm-corrected across pairs of systems, "
        "not across metrics; intervals are not corrected."
    )


def _matrices(comparison: Comparison) -> Iterator[Matrix]:
    for name in comparison.values:
        value = comparison.scores.values[name]
        systems = {system: own[name] for system, own in comparison.systems.items()}
        contrasts = tuple(c for c in comparison.contrasts if c.value == name)
        yield Matrix(value_title(value), value, systems, contrasts)


def _short(matrices: tuple[Matrix, ...]) -> Lines:
    """Return the findings, one sentence per value."""
    return Lines("", tuple(sentence for one in matrices for sentence in comparison_sentences(one)))


def _by_group(comparison: Comparison) -> Iterator[Section]:
    """Yield the differences within groups, one table per value."""
    fields = dict.fromkeys(group.field for group in comparison.groups)
    for field in fields:
        groups = [group for group in comparison.groups if group.field == field]
        parts = tuple(_group_table(comparison, name, field, groups) for name in comparison.values)
        text = (
            f"p is Holm-corrected across all pairs of systems and all groups of {field}; groups "
            "with too few items for any difference to be significant do not count. Intervals are "
            "not corrected."
        )
        yield Section(f"Differences between systems by {field}", parts, text, folded=True)


def _group_table(
    comparison: Comparison, name: str, field: str, groups: list[GroupContrasts]
) -> Table:
    value = comparison.scores.values[name]
    rows = [
        (
            group.group,
            c.a,
            c.b,
            cell(c.difference, value),
            f"{c.difference.n:,}",
            p_value(c.p),
            p_value(c.p_corrected),
            better_system(c),
        )
        for group in groups
        for c in group.contrasts
        if c.value == name
    ]
    header = (field, "first", "second", "first − second", "n", "p", "p (Holm)", "better")
    return Table(f"{value_title(value)} by {field}: differences", header, tuple(rows), names=3)
