"""Report of an experiment on the number of people: sentences, four figures, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isnan, nan
from typing import TypeVar

from earwitness.core import Estimate, Value, group_values
from earwitness.experiments.results import (
    CORRELATION_SOURCES,
    CURVE_SOURCES,
    PEOPLE_COLUMNS,
    TEST_COLUMNS,
    Condition,
    CorrelationPoint,
    CurvePoint,
    Leveling,
    ReferencesExperiment,
    person_row,
    tested_row,
)
from earwitness.metaeval.report_tables import COEFFICIENT_VALUES
from earwitness.metaeval.significance import count_needed_units
from earwitness.report.columns import Column, N, draw_rows
from earwitness.report.numbers import (
    cell,
    interval,
    number,
    p_phrase,
    percent,
    value_title,
)
from earwitness.report.paper import PaperCell, PaperColumn, PaperRow, PaperTable
from earwitness.report.parts import Curve, Lines, Part, Report, Section, Table
from earwitness.report.sentences import input_lines, join_names, summary_section
from earwitness.report.tables import negate

SIMULATED_MARK = "(simulated data)"
SIMULATED_NOTE = "Simulated data"
PEOPLE_AXIS = "number of people"
MAX_NAMES = 4  # of systems or people in a sentence
SOURCE_LABELS = {
    "orders": "over orders of people",
    "items": "over items",
    "both": "over orders and items",
    "systems": "over systems",
    "judges": "over judges",
    "all": "over systems, items and judges",
}
COLUMN_LABELS = {**SOURCE_LABELS, "all": "over all three"}
BAND_SOURCES = ("all", "systems", "items", "judges")  # of correlations, as far as defined
Point = CurvePoint | CorrelationPoint
Titled = TypeVar("Titled", Table, Curve, Report)
SHOWN_SHARES = (
    "system",
    Column(heading="in summaries", show=percent),
    Column(heading="in the recognized input", show=percent),
    N,
)


# --- Selection of points -------------------------------------------------------------------------


def _coefficient_value(coefficient: str) -> Value:
    return replace(COEFFICIENT_VALUES[coefficient], doc="with mean judgements of systems")


def _estimate(point: Point, source: str) -> Estimate:
    """Return the mean of a point with the interval of a source."""
    found = point.intervals.get(source, Estimate(nan, nan, nan, nan, 0, 0, "none"))
    return replace(found, value=point.mean)


def _band_source(points: Iterable[Point], sources: Sequence[str]) -> str:
    """Return the first source for which any point has an interval, or an empty string."""
    known = {
        source for point in points for source, e in point.intervals.items() if not isnan(e.low)
    }
    return next((source for source in sources if source in known), "")


def _people_text(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _percent(result: ReferencesExperiment) -> str:
    """Return the confidence level in percent."""
    return f"{100 * result.level:.4g} %"


def _mark_title(titled: Titled) -> Titled:
    return replace(titled, title=f"{titled.title} {SIMULATED_MARK}")


def _mark_section(section: Section) -> Section:
    """Return a section with tables and curves that say that their data are simulated."""
    parts = list[Part]()
    for part in section.parts:
        if isinstance(part, Curve) and part.table:
            table = _mark_title(part.table)
            parts.append(_mark_title(replace(part, note=SIMULATED_NOTE, table=table)))
        else:
            parts.append(_mark_title(part) if isinstance(part, Table) else part)
    return replace(section, parts=tuple(parts))


# --- Sentences: values by number of people -------------------------------------------------------


def _trend_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield how each value changes with more people, and where it levels off."""
    for value in result.values:
        points = result.curve_points(value.name, isolated=result.with_isolated)
        ends = {
            system: known
            for system, own in points.items()
            if (known := {n: own[n].mean for n in sorted(own) if not isnan(own[n].mean)})
        }
        if not ends:
            yield f"{value.name} is undefined for all systems"
            continue
        levels = [level for level in result.leveling if level.value == value.name]
        trend = _trend_phrase(value, ends, levels)
        if missing := len(result.systems) - len(ends):
            trend += f" (undefined for {missing} more)"
        several = any(len(known) > 1 for known in ends.values())
        leveling = _leveling_phrase(result, value, levels) if several and levels else ""
        yield "; ".join(filter(None, [trend, leveling]))


def _trend_phrase(
    value: Value,
    ends: Mapping[str, Mapping[int, float]],
    levels: Sequence[Leveling],
) -> str:
    first, last = ([[*own.values()][place] for own in ends.values()] for place in (0, -1))
    least = min(min(own) for own in ends.values())
    most = max(max(own) for own in ends.values())
    start, end = (number(sum(xs) / len(xs), value) for xs in (first, last))
    mean = "its mean over systems is" if len(ends) > 1 else "it is"
    if least == most:
        return (
            f"{value.name}: {mean} {end} with {_people_text(most)}; one number of people shows no "
            "trend"
        )
    tolerance = max((level.tolerance for level in levels), default=0.0)
    changes = [b - a for a, b in zip(first, last, strict=True)]
    kinds = {
        "rises": sum(change > tolerance for change in changes),
        "falls": sum(change < -tolerance for change in changes),
    }
    kinds["hardly changes"] = len(changes) - sum(kinds.values())
    found = {verb: count for verb, count in kinds.items() if count}
    if len(found) == 1:
        (verb,) = found
        systems = f"all {len(ends)} systems" if len(ends) > 1 else next(iter(ends))
        trend = f"{verb} with more people for {systems}"
    else:
        phrases = [f"{verb} for {count}" for verb, count in found.items()]
        trend = f"{join_names(phrases)} of {len(ends)} systems with more people"
    ends_text = f"{mean} {start} with {_people_text(least)} and {end} with {_people_text(most)}"
    return f"{value.name} {trend}: {ends_text}"


def _leveling_phrase(result: ReferencesExperiment, value: Value, levels: Sequence[Leveling]) -> str:
    """Return from which number of people on systems hardly change, or that they still do."""
    counts = sorted(level.people for level in levels if level.people)
    changing = [level.system for level in levels if not level.people]
    tolerance = number(max(level.tolerance for level in levels), value)
    most = _people_text(max(result.people))
    if not counts:
        return f"it does not level off up to {most} (tolerance {tolerance})"
    low, high = counts[0], counts[-1]
    span = _people_text(low) if low == high else f"{low} to {_people_text(high)}"
    if not changing:
        each = "" if low == high else ", depending on the system"
        return (
            f"it levels off from {span} on{each}: it stays within {tolerance} of its value with "
            "all people"
        )
    return (
        f"it levels off for {len(counts)} of {len(levels)} systems (from {span} on, tolerance "
        f"{tolerance}) but still changes at {most} for {join_names(changing, MAX_NAMES)}"
    )


# --- Sentences: correlation with judges ----------------------------------------------------------


def _correlation_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield the correlation of each value with the fewest and with the most people."""
    condition, coefficient = result.main_condition, result.coefficients[0]
    scale = _coefficient_value(coefficient)
    for value in result.values:
        points = result.correlation_points(value.name, coefficient, condition)
        known = [n for n in sorted(points) if not isnan(points[n].mean)]
        subject = f"{scale.name} of {value.name} with the judges"
        if not known:
            yield f"{subject} is undefined"
            continue
        last, first = points[known[-1]], number(points[known[0]].mean, scale)
        start = f"{first} with {_people_text(known[0])} and " if len(known) > 1 else ""
        end = f"{number(last.mean, scale)} with {_people_text(known[-1])}"
        source = _band_source([last], BAND_SOURCES)
        bounds = f"{_percent(result)} interval {_interval_cell(last, source, scale)}"
        note = f" ({bounds} {SOURCE_LABELS[source]})" if source else " (no interval)"
        yield f"{subject} is {start}{end}{note}"


def _test_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield which values differ significantly in their correlation, in the main condition."""
    coefficient, condition = result.coefficients[0], result.main_condition
    scale, alpha = _coefficient_value(coefficient), 1 - result.level
    tests = result.main_tests(coefficient)
    tested = [test for test in tests if not isnan(test.decisive_p)]
    if not tested:
        yield f"Differences between metrics in {scale.name} could not be tested"
        return
    systems, needed = result.count_systems(condition), count_needed_units(alpha / len(tested))
    pairs = f"{len(tested)} pair{'s' * (len(tested) != 1)}"
    if systems < needed:  # Holm's method multiplies the smallest p
        yield (
            f"{systems} systems are too few to show a difference between metrics in {scale.name} "
            f"for other systems: with {pairs} tested, at least {needed} are needed"
        )
        return
    distinct = [test for test in tested if test.decisive_p < alpha]
    names = list(dict.fromkeys(name for test in tested for name in (test.first, test.second)))
    setting = f"{_people_text(max(result.people))}, {systems} systems"
    if not distinct:
        smallest = p_phrase(min(test.decisive_p for test in tested))
        yield (
            f"No significant difference in {scale.name} was found between {join_names(names)} "
            f"({pairs} tested, smallest {smallest}, {setting}, alpha = {alpha:.2g})"
        )
        return
    for test in distinct:
        difference, (high, low) = test.difference, (test.first, test.second)
        if difference.value < 0:
            high, low = low, high
            difference = negate(difference)
        yield (
            f"{high} correlates significantly more with the judges than {low} ({scale.name} "
            f"differs by {cell(difference, scale)}, {p_phrase(test.decisive_p)}, {setting})"
        )
    rest = [f"{test.first} and {test.second}" for test in tested if test not in distinct]
    if rest:
        yield f"No significant difference was found between {'; '.join(rest)}"


def _limit_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield what this number of systems can and cannot show."""
    condition = result.main_condition
    if result.correlations and not isnan(result.smallest_r):
        count = result.count_systems(condition)
        sentence = (
            f"With {count} systems, only a Pearson's r of at least {result.smallest_r:.2f} in size "
            f"differs significantly from 0 (alpha = {1 - result.level:.2g})"
        )
        widths = [
            test.difference.high - test.difference.low
            for test in result.main_tests("pearson")
            if not isnan(test.difference.low)
        ]
        if widths:
            sentence += (
                f", and intervals of differences between metrics are up to {max(widths):.2f} wide: "
                "small differences cannot be shown"
            )
        yield sentence


# --- Sentences: isolated people and misrecognized words ------------------------------------------


def _isolated_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield who is isolated, and correlations with and without these people."""
    if not result.annotators:
        return
    names = [person.name for person in result.annotators if person.isolated]
    total = len(result.annotators)
    if not names:
        yield f"None of {total} people is isolated"
        return
    verb = "is" if len(names) == 1 else "are"
    sentence = f"{len(names)} of {total} people {verb} isolated: {join_names(names, MAX_NAMES)}"
    main = result.main_condition
    coefficient = result.coefficients[0] if result.coefficients else ""
    phrases, compared = [], 0
    for value in result.values:
        points = [
            result.correlation_points(value.name, coefficient, Condition(main.human, isolated))
            for isolated in (True, False)
        ]
        common = [n for n in points[0] if n in points[1]]
        if common:
            compared = max(common)
            scale = _coefficient_value(coefficient)
            pair = [number(own[compared].mean, scale) for own in points]
            phrases.append(f"{value.name} {pair[0]} with and {pair[1]} without them")
    if phrases:
        name = COEFFICIENT_VALUES[coefficient].name
        sentence += f"; {name} at {_people_text(compared)}: {', '.join(phrases)}"
    yield sentence


def _misrecognized_sentences(result: ReferencesExperiment) -> Iterator[str]:
    pairs = [(one.summary.value, one.recognized.value) for one in result.misrecognized]
    if known := [pair for pair in pairs if not any(map(isnan, pair))]:
        lower = sum(own < recognized for own, recognized in known)
        yield (
            f"The share of misrecognized words is lower in summaries than in the recognized input "
            f"for {lower} of {len(known)} systems"
        )


def summary_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield what the data show: tests, correlations, trends, isolated people, and limits."""
    if result.simulated:
        yield f"All figures are of simulated data, not of people: {result.simulated}"
    yield from _test_sentences(result) if result.tests else ()
    if result.correlations:
        yield from _correlation_sentences(result)
    yield from _trend_sentences(result)
    if not result.correlations:
        yield "No judgements were given, so that correlations with judges are not computed"
    yield from _isolated_sentences(result)
    yield from _misrecognized_sentences(result)
    yield from _limit_sentences(result)


# --- Figures -------------------------------------------------------------------------------------


def _value_sections(result: ReferencesExperiment) -> Iterator[Section]:
    """Yield the figure of each value: a line per system."""
    orders = (
        "all orders of people" if result.exact else f"{result.orders:,} random orders of people"
    )
    human = f" The human system ({result.human}) is scored against the other people only."
    text = (
        f"Mean over {result.items:,} items and {orders}. Bands show the {_percent(result)} "
        f"range over orders; intervals over items are in the table.{human * bool(result.human)}"
    )
    for value in result.values:
        parts = list[Part]()
        for isolated in dict.fromkeys((result.with_isolated, False)):
            points = result.curve_points(value.name, isolated=isolated)
            people = ", without isolated people" * (result.has_isolated and not isolated)
            title = f"{value_title(value)} by number of people{people}"
            if points:
                drawn = title, value, points, CURVE_SOURCES, ("system", "mean"), "orders"
                parts.append(_draw_points(*drawn))
        if parts:
            yield Section(f"{value.name} by number of people", tuple(parts), text, place="pages")


def _correlation_section(result: ReferencesExperiment) -> Iterator[Section]:
    """Yield the figure of correlations: a panel per coefficient and condition."""
    band = _band_source(result.correlations, BAND_SOURCES)
    text, curves = "Lines are means over orders of people.", list[Curve]()
    if band:
        source = SOURCE_LABELS[band]
        text += f" Bands are {_percent(result)} intervals {source}, cut at the plot's edge."
    for coefficient, condition in _panels(result):
        scale = _coefficient_value(coefficient)
        names = [value.name for value in result.values]
        points = {name: result.correlation_points(name, coefficient, condition) for name in names}
        title, columns = f"{scale.name}: {result.describe(condition)}", ("value", scale.name)
        drawn = _draw_points(title, scale, points, CORRELATION_SOURCES, columns, band)
        curves.append(replace(drawn, clipped=True))
    if curves:
        parts = tuple(replace(curve, compact=len(curves) > 1) for curve in curves)
        yield Section("Correlation with judges by number of people", parts, text, place="pages")


def _draw_points(
    title: str,
    value: Value,
    points: Mapping[str, Mapping[int, Point]],
    sources: Sequence[str],
    columns: tuple[str, str],
    band: str,
) -> Curve:
    """Return a curve with the intervals of one source; its table has those of all."""
    sizes = sorted({n for own in points.values() for n in own})
    known = _known_sources((p for own in points.values() for p in own.values()), sources)
    drawn, rows = [], []
    for size in sizes:
        present = {name: own[size] for name, own in points.items() if size in own}
        drawn.append((float(size), {name: _estimate(p, band) for name, p in present.items()}))
        for name, point in present.items():
            intervals = (_interval_cell(point, source, value) for source in known)
            rows.append((f"{size}", name, number(point.mean, value), *intervals))
    header = ("people", *columns, *(COLUMN_LABELS[source] for source in known))
    return Curve(
        title,
        value,
        PEOPLE_AXIS,
        "",
        tuple(drawn),
        fitted=True,
        table=Table(title, header, tuple(rows), names=2, sortable=True),
    )


def _known_sources(points: Iterable[Point], sources: Sequence[str]) -> list[str]:
    known = {source for point in points for source in point.intervals}
    return [source for source in sources if source in known]


def _interval_cell(point: Point, source: str, value: Value) -> str:
    estimate = _estimate(point, source)
    return "–" if isnan(estimate.low) else interval(estimate, value)


# --- Tables --------------------------------------------------------------------------------------


def _system_section(result: ReferencesExperiment) -> Section:
    """Return the values of systems with the fewest and the most people, and mean judgements."""
    columns = dict[str, Mapping[str, str]]()
    fewest, most = min(result.people), max(result.people)
    if result.judged:
        name = "judges" if result.scale is None else f"judges ({result.scale.name})"
        columns[name] = {name: f"{mean:.2f}" for name, mean in result.judged.items()}
    for value in result.values:
        points = result.curve_points(value.name, isolated=result.with_isolated)
        if fewest < most:
            columns[f"{value.name} ({fewest})"] = {
                s: number(own[fewest].mean, value) for s, own in points.items() if fewest in own
            }
        columns[f"{value.name} ({most})"] = {
            s: cell(_estimate(own[max(own)], "items"), value) for s, own in points.items()
        }
    rows = (
        (
            f"{system} (human)" if system == result.human else system,
            *(column.get(system, "–") for column in columns.values()),
        )
        for system in result.systems
    )
    title = "Systems: values, and numbers of people in parentheses"
    table = Table(title, ("system", *columns), tuple(rows))
    return Section("Systems", (table,), f"Intervals: {_percent(result)}, over items.")


def _largest_section(result: ReferencesExperiment) -> Iterator[Section]:
    """Yield the correlations with the most people, with the intervals of all sources."""
    sources = _known_sources(result.correlations, CORRELATION_SOURCES)
    labels = tuple(COLUMN_LABELS[source] for source in sources)
    tables = []
    for coefficient, condition in _panels(result):
        scale = _coefficient_value(coefficient)
        rows = (
            (
                point.value,
                f"{point.people}",
                number(point.mean, scale),
                *(_interval_cell(point, source, scale) for source in sources),
            )
            for value in result.values
            if (point := _last_point(result, value, coefficient, condition))
        )
        title = f"{scale.name} with judges, {result.describe(condition)}"
        header = ("value", "people", scale.name, *labels)
        tables.append(Table(title, header, tuple(rows)))
    if tables:
        text = f"Intervals: {_percent(result)}."
        yield Section("Correlation with judges", tuple(tables), text)


def _panels(result: ReferencesExperiment) -> list[tuple[str, Condition]]:
    """Return all coefficients and conditions."""
    return [*product(result.coefficients, result.conditions)]


def _last_point(
    result: ReferencesExperiment, value: Value, coefficient: str, condition: Condition
) -> CorrelationPoint | None:
    """Return the correlation of a value with the most people, if there is any."""
    points = result.correlation_points(value.name, coefficient, condition)
    return points[max(points)] if points else None


def _tests_section(result: ReferencesExperiment) -> Iterator[Section]:
    groups = group_values(((test.coefficient, test.condition), test) for test in result.tests)
    tables = []
    for (coefficient, condition), tests in groups.items():
        scale = _coefficient_value(coefficient)
        title = f"Differences in {scale.name}, {result.describe(condition)}"
        rows = map(tested_row, tests)
        tables.append(draw_rows(title, TEST_COLUMNS, rows, 2, value=scale))
    if tables:
        text = (
            "Williams' test compares two Pearson correlations with the same judgements and assumes "
            "normal distributions. The permutation test swaps the scores of whole systems; its p "
            "is corrected by Holm's method over the pairs of a table."
        )
        yield Section("Tests between values", tuple(tables), text)


def _people_sections(result: ReferencesExperiment) -> Iterator[Section]:
    """Yield tables of people, and of misrecognized words."""
    if people := sorted(result.annotators, key=lambda one: (isnan(one.closeness), one.closeness)):
        title = "People, from the most isolated one"
        table = draw_rows(title, PEOPLE_COLUMNS, map(person_row, people))
        yield Section("People", (table,), _end_sentence(result.rule), place="pages")
    if shares := result.misrecognized:
        title = "Misrecognized words"
        rows = ((one.system, one.summary, one.recognized, one.summary.n) for one in shares)
        text = (
            "Share of words that are not in the transcript at their place; n is the number of "
            "items."
        )
        yield Section(title, (draw_rows(title, SHOWN_SHARES, rows),), text)


def _method_lines(result: ReferencesExperiment) -> Iterator[str]:
    if result.simulated:
        yield f"Data: simulated. {result.simulated}."
    sizes = ", ".join(map(str, result.people))
    orders = "all orders" if result.exact else f"{result.orders:,} random orders"
    yield f"Numbers of people: {sizes}, in {orders}; all items have the same people."
    if result.human:
        yield (
            f"The human system {result.human} is scored against the other people only, so that it "
            "has one person less."
        )
    yield (
        "A value levels off from the smallest number of people on from which it stays within the "
        "tolerance of its value with all people."
    )
    if result.rule:
        yield _end_sentence(result.rule)
    yield from (_end_sentence(f"Note: {note}") for note in result.notes)


def _end_sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


# --- Report --------------------------------------------------------------------------------------


def experiment_report(result: ReferencesExperiment) -> Report:
    """Return the report: sentences, a figure per value, that of correlations, and tables."""
    title = result.title or "How many references are enough"
    sections = (
        summary_section(summary_sentences(result)),
        *_value_sections(result),
        *_correlation_section(result),
        _system_section(result),
        *_largest_section(result),
        *_tests_section(result),
        *_people_sections(result),
        Section("How it was computed", (Lines("", tuple(_method_lines(result))),), place="pages"),
    )
    report = Report(
        title,
        _sizes_sentence(result),
        result.systems,
        sections,
        tuple(_provenance_lines(result)),
        "For the figures by number of people, use -o report.html or --figures FOLDER.",
        human=result.human,
    )
    if not result.simulated:
        return report
    return replace(_mark_title(report), sections=tuple(map(_mark_section, report.sections)))


def _sizes_sentence(result: ReferencesExperiment) -> str:
    count = len(result.systems) - bool(result.human)
    judges = f"{result.judges:,} judges" if result.judges else "no judgements"
    people = len(result.annotators) or max(result.people)
    systems = f"{count:,} system{'s' * (count != 1)}{' and 1 human' * bool(result.human)}"
    sizes = f"{systems}, {result.items:,} items, {people:,} people, {judges}"
    return f"{sizes}; {result.simulated}" if result.simulated else sizes


def _provenance_lines(result: ReferencesExperiment) -> Iterator[str]:
    if result.simulated:
        yield f"simulated data: {result.simulated}"
    orders = "all orders of people" if result.exact else f"{result.orders:,} orders of people"
    yield f"{_sizes_sentence(replace(result, simulated=''))}; {orders}"
    yield f"confidence intervals: {_percent(result)}"
    yield f"signature: {result.signature}"
    yield from input_lines(result.inputs)
    yield from (f"note: {note}" for note in result.notes)


# --- Table for a paper ---------------------------------------------------------------------------


def experiment_paper_table(result: ReferencesExperiment) -> PaperTable:
    """Return the table for a paper: correlations with judges, with the most people."""
    panels, rows = _panels(result), []
    mark = f" {SIMULATED_MARK}" * bool(result.simulated)
    for value in result.values if panels else ():
        last = [_last_point(result, value, *panel) for panel in panels]
        cells = [PaperCell(_estimate(point, "all") if point else None) for point in last]
        rows.append(PaperRow(value.name, tuple(cells)))
    return PaperTable(
        "references",
        f"Correlation of metrics with judges, with all references{mark}. "
        f"{_sizes_sentence(result)}.",
        "metric",
        tuple(PaperColumn(_coefficient_value(name), result.describe(c)) for name, c in panels),
        tuple(rows),
        f"{_percent(result)} confidence intervals {SOURCE_LABELS['all']}",
        notes=tuple(result.notes),
        signature=result.signature,
    )
