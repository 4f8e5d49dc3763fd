"""Report of an experiment on the number of people: sentences, four figures, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import isnan, nan
from operator import attrgetter, itemgetter
from statistics import fmean
from typing import Any, TypeVar

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
from earwitness.report.columns import Column, Columns, N, draw_rows
from earwitness.report.numbers import (
    cell,
    interval,
    number,
    p_phrase,
    percent,
    value_title,
)
from earwitness.report.paper import PaperCell, PaperColumn, PaperRow, PaperTable
from earwitness.report.parts import Curve, Part, Report, Section, Table
from earwitness.report.sentences import input_lines, join_names, summary_section
from earwitness.report.tables import negate

SIMULATED_MARK = "(simulated data)"
SIMULATED_NOTE = "Simulated data"
PEOPLE_AXIS = "number of people"
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
    estimate = point.intervals.get(source, Estimate(nan, nan, nan, nan, 0, 0, "none"))
    return replace(estimate, value=point.mean)


def _known_sources(points: Iterable[Point], sources: Sequence[str]) -> list[str]:
    """Return the sources for which any point has an interval."""
    known = {
        source for point in points for source, e in point.intervals.items() if not isnan(e.low)
    }
    return [source for source in sources if source in known]


def _people_text(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def _means_text(means: Mapping[int, float], value: Value) -> str:
    """Return means by number of people."""
    texts = [f"{number(mean, value)} with {_people_text(n)}" for n, mean in means.items()]
    return join_names(texts)


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
    """Yield each value with the fewest and the most people, and where it levels off."""
    for value in result.values:
        points = result.curve_points(value.name, isolated=result.has_isolated_curves)
        curves = [
            [(n, curve[n].mean) for n in sorted(curve) if not isnan(curve[n].mean)]
            for curve in points.values()
        ]
        known = list(filter(None, curves))
        if not known:
            yield f"{value.name} is undefined for all systems"
            continue
        ends = {
            min(curve[0][0] for curve in known): fmean(curve[0][1] for curve in known),
            max(curve[-1][0] for curve in known): fmean(curve[-1][1] for curve in known),
        }
        over = f"{len(known)} system{'' if len(known) == 1 else 's'}"
        sentence = f"{value.name}: the mean over {over} is {_means_text(ends, value)}"
        levels = [level for level in result.leveling if level.value == value.name]
        if levels and len(ends) > 1:
            sentence += f"; it {_leveling_phrase(result, value, levels)}"
        yield sentence


def _leveling_phrase(result: ReferencesExperiment, value: Value, levels: Sequence[Leveling]) -> str:
    """Return from which number of people on systems hardly change, and which still do."""
    counts = sorted(level.people for level in levels if level.people)
    changing = [level.system for level in levels if not level.people]
    phrases = []
    if counts:
        span = _people_text(counts[-1])
        span = f"{counts[0]} to {span}" if counts[0] < counts[-1] else span
        phrases.append(f"levels off from {span} on for {len(counts)} of {len(levels)} systems")
    if changing:
        most = _people_text(max(result.people))
        phrases.append(f"still changes at {most} for {join_names(changing)}")
    tolerance = number(max(level.tolerance for level in levels), value)
    return f"{' but '.join(phrases)} (tolerance {tolerance})"


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
        ends = {n: points[n].mean for n in (known[0], known[-1])}
        last, note = points[known[-1]], "no interval"
        if sources := _known_sources([last], BAND_SOURCES):
            bounds = interval(_estimate(last, sources[0]), scale)
            note = f"{_percent(result)} interval {bounds} {SOURCE_LABELS[sources[0]]}"
        yield f"{subject} is {_means_text(ends, scale)} ({note})"


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
    pairs = f"{len(tested)} pair{'' if len(tested) == 1 else 's'}"
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


# --- Sentences: isolated people and misrecognized words ------------------------------------------


def _isolated_sentences(result: ReferencesExperiment) -> Iterator[str]:
    """Yield who is isolated; correlations with and without these people are in the tables."""
    names = [person.name for person in result.annotators if person.isolated]
    total = len(result.annotators)
    if names:
        verb = "is" if len(names) == 1 else "are"
        yield f"{len(names)} of {total} people {verb} isolated: {join_names(names)}"
    elif total:
        yield f"None of {total} people is isolated"


def _misrecognized_sentences(result: ReferencesExperiment) -> Iterator[str]:
    differences = [share.summary.value - share.recognized.value for share in result.misrecognized]
    if known := [difference for difference in differences if not isnan(difference)]:
        lower = sum(difference < 0 for difference in known)
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
    if result.correlations and not isnan(result.smallest_r):
        yield (
            f"With {result.count_systems(result.main_condition)} systems, only a Pearson's r of at "
            f"least {result.smallest_r:.2f} in size differs significantly from 0 (alpha = "
            f"{1 - result.level:.2g})"
        )


# --- Figures -------------------------------------------------------------------------------------


def _orders_text(result: ReferencesExperiment) -> str:
    return "all orders of people" if result.exact else f"{result.orders:,} random orders of people"


def _value_sections(result: ReferencesExperiment) -> Iterator[Section]:
    """Yield the figure of each value: a line per system."""
    text = (
        f"Mean over {result.items:,} items, all with the same people, and {_orders_text(result)}. "
        f"Bands show the {_percent(result)} range over orders; intervals over items are in the "
        "table. A value levels off from the smallest number of people on from which it stays "
        "within the tolerance of its value with all people."
    )
    if result.human:
        text += (
            f" The human system ({result.human}) is scored against the other people only, so that "
            "it has one person less."
        )
    for value in result.values:
        parts = list[Part]()
        for isolated in dict.fromkeys((result.has_isolated_curves, False)):
            points = result.curve_points(value.name, isolated=isolated)
            title = f"{value_title(value)} by number of people"
            title += ", without isolated people" if result.has_isolated and not isolated else ""
            if points:
                table = _point_table(title, value, points, CURVE_SOURCES, ("system", "mean"))
                parts.append(_draw_points(value, points, "orders", table))
        if parts:
            yield Section(f"{value.name} by number of people", tuple(parts), text, place="pages")


def _correlation_sections(result: ReferencesExperiment) -> Iterator[Section]:
    """Yield correlations by number of people as figures, and those with the most as tables.

    There is a panel per coefficient and condition.
    """
    bands = _known_sources(result.correlations, BAND_SOURCES)
    text, curves, tables = "Lines are means over orders of people.", list[Curve](), list[Table]()
    if bands:
        source = SOURCE_LABELS[bands[0]]
        text += f" Bands are {_percent(result)} intervals {source}, cut at the plot's edge."
    panels = _panels(result)
    for coefficient, condition in panels:
        scale = _coefficient_value(coefficient)
        drawn = {
            value.name: points
            for value in result.values
            if (points := result.correlation_points(value.name, coefficient, condition))
        }
        last = {name: {max(points): points[max(points)]} for name, points in drawn.items()}
        whole, largest = (
            _point_table(
                f"{scale.name}{where}: {result.describe(condition)}",
                scale,
                points,
                CORRELATION_SOURCES,
                ("value", scale.name),
            )
            for where, points in (("", drawn), (" with judges", last))
        )
        curve = _draw_points(scale, drawn, next(iter(bands), ""), whole)
        curves.append(replace(curve, clipped=True, compact=len(panels) > 1))
        tables.append(largest)
    if panels:
        title = "Correlation with judges"
        yield Section(f"{title} by number of people", tuple(curves), text, place="pages")
        yield Section(title, tuple(tables), f"Intervals: {_percent(result)}.")


def _draw_points(
    value: Value, points: Mapping[str, Mapping[int, Point]], band: str, table: Table
) -> Curve:
    """Return a curve with the intervals of one source; its table has those of all."""
    sizes = sorted({n for curve in points.values() for n in curve})
    drawn = tuple(
        (
            float(size),
            {name: _estimate(curve[size], band) for name, curve in points.items() if size in curve},
        )
        for size in sizes
    )
    return Curve(table.title, value, PEOPLE_AXIS, "", drawn, fitted=True, table=table)


def _point_table(
    title: str,
    value: Value,
    points: Mapping[str, Mapping[int, Point]],
    sources: Sequence[str],
    columns: tuple[str, str],
) -> Table:
    """Return the means of points with the intervals of all sources, by number of people."""

    def show_interval(estimate: Estimate) -> str:
        return "–" if isnan(estimate.low) else interval(estimate, value)

    known = _known_sources((p for curve in points.values() for p in curve.values()), sources)
    rows = (
        (people, name, point.mean, *(_estimate(point, source) for source in known))
        for name, curve in points.items()
        for people, point in curve.items()
    )
    intervals = (Column(COLUMN_LABELS[source], show=show_interval) for source in known)
    ordered = sorted(rows, key=itemgetter(0))
    headings: Columns = ("people", *columns, *intervals)
    return draw_rows(title, headings, ordered, 2, value=value, sortable=True)


def _panels(result: ReferencesExperiment) -> list[tuple[str, Condition]]:
    """Return all coefficients and conditions."""
    return [*product(result.coefficients, result.conditions)]


# --- Tables --------------------------------------------------------------------------------------


def _system_section(result: ReferencesExperiment) -> Section:
    """Return the values of systems with the fewest and the most people, and mean judgements."""
    columns = list[tuple[Column, Mapping[str, Any]]]()
    fewest, most = min(result.people), max(result.people)
    if result.judged:
        name = "judges" if result.scale is None else f"judges ({result.scale.name})"
        columns.append((Column(name, show=lambda mean: f"{mean:.2f}"), result.judged))
    for value in result.values:
        points = result.curve_points(value.name, isolated=result.has_isolated_curves)
        first = {s: curve[fewest].mean for s, curve in points.items() if fewest in curve}
        last = {s: _estimate(curve[max(curve)], "items") for s, curve in points.items()}
        if fewest < most:
            columns.append((Column(f"{value.name} ({fewest})", value=value), first))
        columns.append((Column(f"{value.name} ({most})", value=value), last))
    rows = (
        (
            f"{system} (human)" if system == result.human else system,
            *(cells.get(system) for _, cells in columns),
        )
        for system in result.systems
    )
    title = "Systems: values, and numbers of people in parentheses"
    table = draw_rows(title, ("system", *(column for column, _ in columns)), rows)
    return Section("Systems", (table,), f"Intervals: {_percent(result)}, over items.")


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
    people = sorted(result.annotators, key=lambda who: (isnan(who.closeness), who.closeness))
    if people:
        title = "People, from the most isolated one"
        table = draw_rows(title, PEOPLE_COLUMNS, map(person_row, people))
        yield Section("People", (table,), f"{result.rule.rstrip('.')}.", place="pages")
    if shares := result.misrecognized:
        title = "Misrecognized words"
        rows = map(attrgetter("system", "summary", "recognized", "summary.n"), shares)
        text = (
            "Share of words that are not in the transcript at their place; n is the number of "
            "items."
        )
        yield Section(title, (draw_rows(title, SHOWN_SHARES, rows),), text)


# --- Report --------------------------------------------------------------------------------------


def experiment_report(result: ReferencesExperiment) -> Report:
    """Return the report: sentences, a figure per value, that of correlations, and tables."""
    title = result.title or "How many references are enough"
    sections = (
        summary_section(summary_sentences(result)),
        *_value_sections(result),
        *_correlation_sections(result),
        _system_section(result),
        *_tests_section(result),
        *_people_sections(result),
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
    systems = f"{count:,} system{'' if count == 1 else 's'}{' and 1 human' if result.human else ''}"
    sizes = f"{systems}, {result.items:,} items, {people:,} people, {judges}"
    return f"{sizes}; {result.simulated}" if result.simulated else sizes


def _provenance_lines(result: ReferencesExperiment) -> Iterator[str]:
    yield f"confidence intervals: {_percent(result)}; {_orders_text(result)}"
    yield f"signature: {result.signature}"
    yield from input_lines(result.inputs)
    yield from (f"note: {note}" for note in result.notes)


# --- Table for a paper ---------------------------------------------------------------------------


def experiment_paper_table(result: ReferencesExperiment) -> PaperTable:
    """Return the table for a paper: correlations with judges, with the most people."""
    panels, rows = _panels(result), []
    mark = f" {SIMULATED_MARK}" if result.simulated else ""
    for value in result.values if panels else ():
        points = [result.correlation_points(value.name, *panel) for panel in panels]
        cells = [PaperCell(_estimate(p[max(p)], "all") if p else None) for p in points]
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
