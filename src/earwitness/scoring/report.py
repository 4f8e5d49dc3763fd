"""Reports of scores and comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan

from earwitness.core import Contrast, Estimates, FaultyCase, Value, count_text
from earwitness.registry import TASKS
from earwitness.report.columns import Column, Columns, draw_rows
from earwitness.report.numbers import (
    cell,
    count_with_undefined,
    value_title,
)
from earwitness.report.paper import PaperColumn, PaperTable, best_first, paper_rows
from earwitness.report.parts import (
    PEOPLE_SERIES,
    Curve,
    Intervals,
    Lines,
    Matrix,
    Part,
    Report,
    Section,
    Table,
    ValueSpread,
    WordBlock,
)
from earwitness.report.sentences import (
    INTERVALS_AGREE_CLAUSE,
    FindingContext,
    draws_limit,
    finding_sentences,
    first_notes,
    flips_limit,
    input_lines,
    join_names,
    leaders,
    note_lines,
    summary_section,
)
from earwitness.report.tables import contrast_cells, contrast_columns, is_tested, rank_systems
from earwitness.scoring.gallery import MAX_PLOTTED_CASES
from earwitness.scoring.results import AnnotatorScores, Comparison, GroupContrasts, Scores, Slice
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL
from earwitness.stats.significance import MAX_EXACT_ITEMS

# --- Report of scores ----------------------------------------------------------------------------


MIN_ITEMS_PER_GROUP = 10  # items below which a group is small


def scores_report(scores: Scores) -> Report:
    """Return the report of scores."""
    shown = scores.headlines
    best = _best_sentences(scores, [scores.values[name] for name in shown])
    summary = [*first_notes(scores.notes), *best]
    return Report(
        "Scores",
        about(scores),
        tuple(scores.systems),
        (
            *([summary_section(summary)] if summary else []),
            *result_sections(scores, shown),
            *case_sections(scores, shown),
        ),
        tuple(provenance(scores)),
    )


def _best_sentences(scores: Scores, values: Sequence[Value]) -> Iterator[str]:
    """Yield the best system by each value, or the value of annotators; nothing is tested."""
    if not scores.systems and scores.people is not None:
        for value in values:
            size = count_text(scores.people.items, "item")
            figure = cell(scores.people.ceiling[value.name], value)
            yield f"Annotators reach {value.name} {figure} against each other ({size})"
        return
    hint = (
        "; differences are not tested (use earwitness compare)" if len(scores.systems) > 1 else ""
    )
    for value in values:
        own = {name: e[value.name] for name, e in scores.systems.items()}
        defined = {name: estimate for name, estimate in own.items() if not isnan(estimate.value)}
        if not defined:
            continue
        best = leaders(Matrix("", value, defined, ()))
        estimate = defined[best[0] if best else next(iter(defined))]
        figure, cases = cell(estimate, value), count_text(estimate.n, "output")
        if best:
            verb = "has" if len(best) == 1 else "have"
            yield f"{join_names(best)} {verb} the best {value.name} ({figure}, {cases}){hint}"
        elif len(defined) == 1:
            yield f"{next(iter(defined))} has {value.name} {figure} ({cases})"
        elif value.best != "none":
            yield f"All systems have the same {value.name} ({figure}, {cases}){hint}"
        hint = ""


def about(scores: Scores) -> str:
    """Return one line about the numbers of systems, cases and references, and the input files."""
    systems = len(scores.systems)
    what = f"{count_text(systems, 'system')}, {scores.provenance.cases:,} outputs"
    if not systems and scores.people is not None:
        what = f"{scores.people.items:,} items with several references"
    least, most = scores.provenance.references
    each = _range(least, most)
    names = ", ".join(i.name for i in scores.provenance.inputs)
    return f"{what}, {each} reference{'s' if most > 1 else ''} per item; {names}"


def result_sections(scores: Scores, shown: Sequence[str]) -> Iterator[Section]:
    """Yield the sections with results: overall, per parameter, of annotators, and per group."""
    if scores.systems:
        yield Section("Results", tuple(_leading(scores, shown)), place="pictures")
        yield Section("All values", tuple(score_tables(scores)), folded=len(scores.families) > 1)
    elif scores.people is not None:
        columns = {PEOPLE_SERIES: scores.people.ceiling, **scores.people.annotators}
        yield Section("All values", tuple(_value_tables(scores, columns)))
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
        yield Section("Distribution over outputs", tuple(_spread(scores, shown)), place="pictures")
        yield from _item_sections(scores, shown)
    if scores.worst:
        yield Section("Worst outputs", tuple(worst_tables(scores, shown)))
    if scores.shown and scores.task:
        values = [scores.values[name] for name in shown]
        yield from TASKS[scores.task].example_sections(scores.shown, values, _worst_systems(scores))
    if any(example.alignments for example in scores.shown):
        blocks = tuple(
            WordBlock(f"{example.item}, {system}", alignments)
            for example in scores.shown
            for system, alignments in example.alignments.items()
        )
        yield Section("Words", blocks, _alignment_text(scores))
    for what, left in (("skipped", scores.skipped), ("scored as empty", scores.emptied)):
        if left:
            yield Section(what.capitalize(), (left_lines(what, left),))


def _leading(scores: Scores, shown: Sequence[str]) -> Iterator[Intervals]:
    for name in shown:
        value, own = scores.values[name], {n: e[name] for n, e in scores.systems.items()}
        ranked = rank_systems(Matrix("", value, own, ()))
        rows = tuple((system, {system: own[system]}) for system in ranked)
        yield Intervals(value_title(value), value, "", rows)


def score_tables(scores: Scores) -> list[Table]:
    """Return one table per metric, with one row per value and one column per system."""
    return list(_value_tables(scores, scores.systems))


def _value_tables(scores: Scores, columns: Mapping[str, Estimates]) -> Iterator[Table]:
    """Yield one table per metric: one row per value, one column per system or annotator."""
    for family, values in scores.families.items():
        counts = (
            "n",
            *(count_with_undefined(column[values[0].name]) for column in columns.values()),
        )
        rows = (_row(value, list(columns.values()), values[0]) for value in values)
        yield Table(family, ("", *columns), (counts, *rows))


def _row(value: Value, columns: Sequence[Estimates], first: Value) -> tuple[str, ...]:
    cells = []
    for estimates in columns:
        estimate = estimates[value.name]
        odd = f" n={estimate.n:,}" if estimate.n != estimates[first.name].n else ""
        cells.append(cell(estimate, value) + odd)
    return (value_title(value), *cells)


def _curves(scores: Scores) -> Iterator[Curve]:
    for sweep in scores.sweeps:
        value = scores.values[sweep.points[0][1]]
        points = tuple(
            (x, {system: estimates[name] for system, estimates in scores.systems.items()})
            for x, name in sweep.points
        )
        named = f"{value_title(value).replace(value.name, sweep.value)} by {sweep.parameter}"
        swept = replace(value, name=sweep.value)
        yield Curve(named, swept, sweep.parameter, sweep.unit, points)


def _people(scores: Scores, people: AnnotatorScores, shown: Sequence[str]) -> Section:
    """Return the section with the human ceiling and the scores of each annotator."""
    parts = []
    for name in shown if scores.systems else ():
        value = scores.values[name]
        rows = [(PEOPLE_SERIES, {PEOPLE_SERIES: people.ceiling[name]})]
        rows += [
            (system, {system: estimates[name]}) for system, estimates in people.systems.items()
        ]
        parts.append(Intervals(f"{value_title(value)}: people and systems", value, "", tuple(rows)))
    for name in shown if len(people.annotators) > 1 else ():
        value = scores.values[name]
        rows = [
            (who, {PEOPLE_SERIES: annotator[name]}) for who, annotator in people.annotators.items()
        ]
        title = f"{value_title(value)}: each annotator against the others"
        parts.append(Intervals(title, value, "annotator", tuple(rows)))
    which = "item" if people.items == 1 else "items"
    text = (
        f"Each annotator in turn is scored against the others, on the {people.items:,} {which} "
        "with several references."
    )
    done = {
        e.n + e.undefined for annotator in people.annotators.values() for e in annotator.values()
    }
    if done - {people.items}:
        text += " Every item has the same weight, but not every annotator annotated all items."
    if not scores.systems:
        return Section("People", tuple(parts), text, "pictures")
    text += " Systems are scored on the same items, if they have outputs for them, against the same"
    return Section("People", tuple(parts), f"{text} number of references.")


def _few(slicing: Slice) -> str:
    """Return a warning if groups are small, else an empty text."""
    counts = [
        max(estimate.n for system in systems.values() for estimate in system.values())
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
            (group, {system: estimates[name] for system, estimates in systems.items()})
            for group, systems in slicing.groups.items()
        )
        yield Intervals(f"{value_title(value)} by {slicing.field}", value, slicing.field, rows)


def _spread(scores: Scores, shown: Sequence[str]) -> Iterator[Part]:
    assert scores.spread is not None
    for name in shown:
        series = {
            system: tuple(x for x in values[name] if not isnan(x))
            for system, values in scores.spread.items()
        }
        value = scores.values[name]
        most = max(system[name].n for system in scores.systems.values())
        yield ValueSpread(value_title(value), value, series, most)


ITEM_NUMBER = re.compile(r"(\d+)")


def _item_sections(scores: Scores, shown: Sequence[str]) -> Iterator[Section]:
    """Yield the values of single items by the first value, one row per item."""
    assert scores.spread is not None
    if not scores.spread_items or not shown:
        return
    value = scores.values[shown[0]]
    rows: dict[str, dict[str, float]] = {}
    for system, items in scores.spread_items.items():
        for item, number_of_case in zip(items, scores.spread[system][value.name], strict=True):
            rows.setdefault(item, {})[system] = number_of_case
    names = sorted(rows, key=_natural_order)
    total = max(e.n + e.undefined for system in scores.systems.values() for e in system.values())
    kept = min(len(names), MAX_PLOTTED_CASES)
    text = "n is the number of systems with a value for the item."
    if kept < total:
        text += (
            f" The table has a fixed sample of {kept:,} items; use --samples to write the values "
            "of all items to a file."
        )
    table = draw_rows(
        f"{value_title(value)} by item",
        ("item", *scores.systems, "n"),
        (
            (name, *map(row.get, scores.systems), sum(not isnan(x) for x in row.values()))
            for name in names[:kept]
            for row in [rows[name]]
        ),
        value=value,
        sortable=True,
    )
    yield Section("All items", (table,), text, place="pictures", folded=True)


def _natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key by which "talk 9" is before "talk 10"."""
    parts = ITEM_NUMBER.split(name)  # texts and numbers in turn
    parts[1::2] = [number.lstrip("0") for number in parts[1::2]]
    return [(len(part) * (place % 2), part) for place, part in enumerate(parts)]


def _alignment_text(scores: Scores) -> str:
    alignments = (chain(*example.alignments.values()) for example in scores.shown)
    pairs = [pair for alignment in chain(*alignments) for pair in alignment.pairs]
    text = "S substituted, D deleted, I inserted." if pairs else ""
    if any(pair.people is not None for pair in pairs):
        text += (
            " A word with a question mark was not said. The number below a word is the number "
            "of people who went to it from the previous word of the path."
        )
    return text


def _worst_systems(scores: Scores) -> dict[str, str]:
    """Return the system with the worst value of every item among the worst cases."""
    if not scores.worst:
        return {}
    sign = 1 if scores.values[scores.worst_by].best == "high" else -1
    cases = sorted(scores.worst, key=lambda case: sign * case.values[scores.worst_by], reverse=True)
    return {case.key.item: case.key.system for case in cases}


def worst_tables(scores: Scores, shown: Sequence[str]) -> Iterator[Table]:
    """Yield the worst cases of every system, with values of the same metric and the headlines."""
    family = next(f for f in scores.families.values() if scores.worst_by in {v.name for v in f})
    kin = [value.name for value in family if value.best != "none"]
    values = [scores.values[n] for n in dict.fromkeys([scores.worst_by, *shown, *kin])]
    for system in dict.fromkeys(case.key.system for case in scores.worst):
        rows = (
            (case.key.item, *(case.values[value.name] for value in values))
            for case in scores.worst
            if case.key.system == system
        )
        columns: Columns = ("item", *(Column(value.name, value=value) for value in values))
        table = draw_rows(f"{system}: worst by {scores.worst_by}", columns, rows)
        yield replace(table, may_miss=True)


def left_lines(what: str, left: Sequence[FaultyCase]) -> Lines:
    """Return one line per case that was skipped or scored as empty, with the reason."""
    lines = tuple(f"{o.key.item} ({o.key.system or 'no system'}): {o.reason}" for o in left)
    return Lines(f"{len(left):,} {what}", lines)


def _range(least: int, most: int) -> str:
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def provenance(scores: Scores, signature: str = "") -> list[str]:
    """Return signature, provenance and notes, one line each."""
    source = scores.provenance
    counts = (
        f"{source.cases:,} scored, {source.skipped:,} skipped, {source.emptied:,} scored as empty"
    )
    estimates = [estimate for system in scores.systems.values() for estimate in system.values()]
    has_few = any(0 < estimate.n < MIN_CASES_FOR_INTERVAL for estimate in estimates)
    few = f", only with at least {MIN_CASES_FOR_INTERVAL} items" if has_few else ""
    percent = f"{100 * _level(scores):.4g} %"
    return [
        f"confidence intervals: {percent}{few}; ↑ higher is better, ↓ lower is better",
        f"signature: {signature or scores.signature}",
        f"made with: earwitness {source.version}, numpy {source.numpy}, seed {source.seed}",
        f"outputs: {counts}",
        *(
            [f"references: {_range(*source.references)} per item"]
            if source.references != (1, 1)
            else []
        ),
        *input_lines(source.inputs),
        *note_lines(scores.notes),
    ]


# --- Report of a comparison ----------------------------------------------------------------------


MAX_PLOTTED_VALUES = 6  # values that are all drawn


def comparison_report(comparison: Comparison) -> Report:
    """Return the report of a comparison: differences between systems, then their scores."""
    scores = comparison.scores
    matrices = tuple(_matrices(comparison))
    items = count_text(comparison.items, "item")
    limit = _limit_text(comparison)
    context = FindingContext(items, comparison.alpha, unit="items", limit=limit)
    sections = [
        summary_section([*first_notes(scores.notes), *finding_sentences(matrices, context)]),
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


def _limit_text(comparison: Comparison) -> str:
    """Return why no corrected p can be below alpha, and what is needed, if that is so."""
    tested = [contrast for contrast in comparison.contrasts if is_tested(contrast)]
    # pairs with too few items for any significant difference have no corrected p
    tested = [c for c in tested if not isnan(c.p_corrected)] or tested
    if not tested:
        return ""
    pairs = len(tested) // len({contrast.value for contrast in tested})
    items = max(contrast.difference.n for contrast in tested)
    alpha, permutations = comparison.alpha, comparison.permutations
    if items <= MAX_EXACT_ITEMS:
        return flips_limit(pairs, items, "item", alpha)
    return draws_limit(pairs, permutations, "permutation", alpha, 1)


def _comparison_text(comparison: Comparison) -> str:
    untested = ", ? cannot be tested" if not all(map(is_tested, comparison.contrasts)) else ""
    return (
        f"Items with outputs of all systems: {comparison.items:,}; · not significantly different "
        f"at alpha {comparison.alpha:g}{untested}. p is Holm-corrected across pairs of systems, "
        f"not across metrics. Intervals of differences are simultaneous, {INTERVALS_AGREE_CLAUSE}."
    )


def _matrices(comparison: Comparison) -> Iterator[Matrix]:
    for name in comparison.values:
        value = comparison.scores.values[name]
        systems = {system: estimates[name] for system, estimates in comparison.systems.items()}
        contrasts = tuple(c for c in comparison.contrasts if c.value == name)
        matrix = Matrix(value_title(value), value, systems, contrasts)
        yield replace(matrix, systems={name: systems[name] for name in rank_systems(matrix)})


def _by_group(comparison: Comparison) -> Iterator[Section]:
    """Yield the differences within groups, one table per value."""
    fields = dict.fromkeys(group.field for group in comparison.groups)
    for field in fields:
        groups = [group for group in comparison.groups if group.field == field]
        parts = tuple(_group_table(comparison, name, field, groups) for name in comparison.values)
        text = (
            f"p is Holm-corrected across all pairs of systems and all groups of {field}; groups "
            "with too few items for any difference to be significant do not count. Intervals are "
            "simultaneous in the same way."
        )
        yield Section(f"Differences between systems by {field}", parts, text, folded=True)


def _group_table(
    comparison: Comparison, name: str, field: str, groups: list[GroupContrasts]
) -> Table:
    value = comparison.scores.values[name]
    rows = (
        (group.group, *contrast_cells(contrast))
        for group in groups
        for contrast in group.contrasts
        if contrast.value == name
    )
    columns = (Column(field), *contrast_columns((), "holm"))
    title = f"{value_title(value)} by {field}: differences"
    return draw_rows(title, columns, rows, 3, value=value)


# --- Tables for a paper --------------------------------------------------------------------------


def scores_table(scores: Scores) -> PaperTable:
    """Return the table of scores for a paper; without systems, that of annotators."""
    if scores.systems:
        table = _system_table(scores, scores.systems, scores.headlines)
        return replace(table, key="scores", signature=scores.signature)
    assert scores.people is not None
    people, columns = scores.people, [scores.values[name] for name in scores.headlines]
    rows, apart = {**people.annotators, PEOPLE_SERIES: people.ceiling}, (PEOPLE_SERIES,)
    matrices = [
        Matrix("", value, {who: row[value.name] for who, row in rows.items()}, (), "", apart)
        for value in columns
    ]
    items = "1 item" if people.items == 1 else f"{people.items:,} items"
    return PaperTable(
        "annotators",
        f"Agreement of annotators on {items} with several references: each annotator against the "
        f"others of the same item. {_metric_sentences(scores, scores.headlines)}",
        "annotator",
        tuple(map(_paper_column, columns)),
        paper_rows(list(rows), matrices, ranked=False),
        _bootstrap_phrase(scores),
        notes=(f"{PEOPLE_SERIES}: mean annotator.",),
        signature=scores.signature,
    )


def comparison_table(comparison: Comparison) -> PaperTable:
    """Return the table of a comparison for a paper, with significance marks."""
    scores, names = comparison.scores, comparison.values
    table = _system_table(scores, comparison.systems, names, comparison.contrasts)
    columns = ", not across columns" if len(names) > 1 else ""
    return replace(
        table,
        key="comparison",
        test=f"paired permutation test, Holm-corrected across pairs of systems{columns}, "
        f"p < {comparison.alpha:g}",
        signature=comparison.signature,
    )


def _system_table(
    scores: Scores,
    systems: Mapping[str, Estimates],
    names: Sequence[str],
    contrasts: Sequence[Contrast] = (),
) -> PaperTable:
    """Return a table of systems; baselines and people are apart."""
    human, notes = {}, []
    if scores.people is not None:
        human[PEOPLE_SERIES] = scores.people.ceiling
        which = "item" if scores.people.items == 1 else "items"
        notes.append(
            f"{PEOPLE_SERIES}: each annotator against the others, on the {scores.people.items:,} "
            f"{which} with several references; systems against all references."
        )
    rows = {**systems, **human}
    apart = tuple(name for name in rows if name.startswith("(") and name.endswith(")"))
    values = [scores.values[name] for name in names]
    matrices = [
        Matrix(
            "",
            value,
            {system: row[value.name] for system, row in rows.items()},
            tuple(contrast for contrast in contrasts if contrast.value == value.name),
            controls=apart,
        )
        for value in values
    ]
    ranked = {name: system for name, system in systems.items() if name not in apart}
    about = f"{_paper_counts(scores, ranked or systems, values)} {_metric_sentences(scores, names)}"
    return PaperTable(
        "",
        about,
        "system",
        tuple(map(_paper_column, values)),
        paper_rows([*best_first(list(systems), matrices), *human], matrices),
        _bootstrap_phrase(scores),
        notes=(*_undefined_sentences(systems, values), *notes),
    )


def _paper_column(value: Value) -> PaperColumn:
    return PaperColumn(value, "s" if "in seconds" in value.doc else "")


def _paper_counts(scores: Scores, systems: Mapping[str, Estimates], values: Sequence[Value]) -> str:
    """Return the sentence on the numbers of systems, items, references and faulty outputs."""
    counts = [system[values[0].name] for system in systems.values()]
    items = [estimate.n + estimate.undefined for estimate in counts]
    least, most = scores.provenance.references
    noun = (
        f"item{'s' if max(items) != 1 else ''}{' per system' if min(items) != max(items) else ''}"
    )
    sentence = (
        f"Scores of {count_text(len(systems), 'system')} on "
        f"{_range(min(items), max(items))} {noun}, with {_range(least, most)} "
        f"reference{'s' if most != 1 else ''} per item."
    )
    for what, count in (
        ("left out", scores.provenance.skipped),
        ("scored as empty", scores.provenance.emptied),
    ):
        if count:
            verb = "output was" if count == 1 else "outputs were"
            sentence += f" {count:,} invalid or missing {verb} {what}."
    return sentence


def _metric_sentences(scores: Scores, names: Sequence[str]) -> str:
    """Return what each value is, and by which metric and parameters it was computed."""
    sentences = []
    for signature, values in scores.families.items():
        chosen = [f"{value.name} ({value.doc})" for value in values if value.name in names]
        if chosen:
            metric, _, parameters = signature.partition("(")
            settings = parameters.removesuffix(")").replace(",", ", ")
            by = f"{metric} with {settings}" if settings else metric
            sentences.append(f"{join_names(chosen, len(chosen))}: metric {by}.")
    return " ".join(sentences)


def _undefined_sentences(
    systems: Mapping[str, Estimates], values: Sequence[Value]
) -> Iterator[str]:
    for value in values:
        estimates = [system[value.name] for system in systems.values()]
        if any(estimate.undefined for estimate in estimates):
            defined = [estimate.n for estimate in estimates]
            every = [estimate.n + estimate.undefined for estimate in estimates]
            yield (
                f"{value.name} is defined for {_range(min(defined), max(defined))} of "
                f"{_range(min(every), max(every))} items."
            )


def _bootstrap_phrase(scores: Scores) -> str:
    return f"{100 * _level(scores):.4g} % confidence intervals (bootstrap over items)"


def _level(scores: Scores) -> float:
    """Return the level of the confidence intervals."""
    ceiling = [scores.people.ceiling] if scores.people is not None else []
    return next(e.level for system in (*scores.systems.values(), *ceiling) for e in system.values())
