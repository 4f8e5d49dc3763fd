"""Report of ratings by a rubric: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import inf, isnan
from operator import attrgetter

from earwitness.analysis.report.wording import (
    ESTIMATE,
    MAX_LISTED_NAMES,
    UNBOUNDED,
    ColumnRows,
    difference_cells,
    difference_columns,
    has_defined,
)
from earwitness.analysis.results import Results, RubricResults
from earwitness.core import Estimate, Value, count_text
from earwitness.report.columns import PAIR, Column, N, TableRows, draw_rows, record_rows
from earwitness.report.numbers import cell, number, p_value
from earwitness.report.parts import Heat, Part, Section, Table
from earwitness.report.sentences import join_names

# --- Methods sentences on rubrics ----------------------------------------------------------------


BLANK_POLICY_WORDING = {
    "drop": "a rater who left a dimension blank is excluded from the total of that caption only",
    "zero": "a blank penalty counts as 0 in the total; a blank score excludes the rater from it",
    "refuse": "blanks were not allowed",
}
FAULT_WORDING = {
    "blank": ("blank",),
    "duplicate": ("duplicate caption",),
    "positive penalty": ("positive penalty", "positive penalties"),
    "off scale": ("value outside its scale", "values outside their scales"),
    "other total": ("deviating total",),
}


def count_faults(results: Results) -> list[str]:
    """Return the number of faults of each kind, in words."""
    kinds = Counter(fault.kind for fault in results.faults)
    return [count_text(count, *FAULT_WORDING[kind]) for kind, count in kinds.items()]


def methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on rubrics."""
    rubric = results.rubric
    if rubric is not None:
        yield _rubric_sentence(results, rubric)
    if counts := count_faults(results):
        yield f"Faults in the data: {join_names(counts, MAX_LISTED_NAMES)}."
    correlations = rubric.correlations if rubric is not None else ()
    if has_defined(x for c in correlations for x in (c.pearson, c.spearman, c.within)):
        within = "" if results.is_over_items else ", and Pearson's within raters"
        yield (
            f"Correlations between dimensions are Pearson's and Spearman's over captions{within}, "
            "with confidence intervals by a bootstrap over items."
        )
    if alternatives := [*dict.fromkeys(x.alternative for x in results.alternatives)]:
        how = join_names(alternatives, MAX_LISTED_NAMES)
        yield f"Differences were computed with all rows and also {how}."


def _rubric_sentence(results: Results, rubric: RubricResults) -> str:
    if results.is_over_items:
        formula = f"{rubric.formula}, computed from the means of the dimensions"
        totals = (
            "the totals of the table were used" if rubric.published else f"the total is {formula}"
        )
        return f"Captions were rated with the rubric {rubric.name}; {totals}."
    blanks = BLANK_POLICY_WORDING.get(rubric.blank, rubric.blank)
    return (
        f"Captions were rated with the rubric {rubric.name}. The total is {rubric.formula}, "
        f"computed per rater and then averaged; {blanks}."
    )


# --- Correlations, severity and faults -----------------------------------------------------------


TOTAL_SCALE = "total"
PEARSON_R = Value(
    "r", "none", -1, 1, "Pearson's r: below the diagonal over captions, above it within raters"
)
SEVERITY_VALUE = Value("severity", "none", *UNBOUNDED, "")
MAX_OPEN_FAULTS = 40  # more faults are folded
STRONG_CORRELATION = 0.5  # correlations from here on are headlines
CORRELATION_NOTE = (
    "Over captions: means over raters, one point per caption. Confidence intervals are by a "
    "bootstrap over items. If two dimensions are strongly correlated, the total may count the same "
    "aspect twice; compare single dimensions."
)
WITHIN_RATERS_NOTE = "Within raters: single votes minus the rater's mean."
SEVERITY_NOTE = (
    "How far a rater is above (+) or below (−) the others on the same captions, in scale points: "
    "the bias of the subject model, with its confidence interval and the number of votes. "
    "Negative values are severe; the most severe raters come first."
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on correlations of dimensions, severity of raters and faults."""
    if results.rubric and results.rubric.correlations:
        within = "" if results.is_over_items else f" {WITHIN_RATERS_NOTE}"
        yield Section(
            "Correlations between dimensions",
            (_correlation_heat(results.rubric),),
            f"{CORRELATION_NOTE}{within}",
            place="pages",
        )
    severity = _severity_table(results)
    if results.rubric and severity.rows:
        yield Section("Severity of raters", (severity,), SEVERITY_NOTE, place="pages")
    yield from _fault_sections(results)


def _correlation_heat(rubric: RubricResults) -> Heat:
    cells: dict[tuple[str, str], Estimate] = {}
    for correlation in rubric.correlations:
        cells[correlation.b, correlation.a] = correlation.pearson
        cells[correlation.a, correlation.b] = correlation.within
    rows = map(
        attrgetter("a", "b", "pearson", "spearman", "pearson.n", "within", "within.n"),
        rubric.correlations,
    )
    headings = ("first", "second", "Pearson", "Spearman", "captions", "within raters", "votes")
    title = "correlations between dimensions"
    table = draw_rows(title, headings, rows, 2, value=PEARSON_R)
    return Heat(title, PEARSON_R, rubric.dimensions, cells, table)


def _severity_table(results: Results) -> Table:
    """Return one row per rater and one column per dimension, the most severe first."""
    biases = {s.value.name: s.subjects.biases for s in results.scales if s.subjects}
    fields = list(dict.fromkeys(name for groups in results.people.values() for name in groups))
    last = biases.get(TOTAL_SCALE, next(reversed(biases.values()), {}))
    raters = dict.fromkeys(who for by_rater in biases.values() for who in by_rater)
    rows = (
        (
            str(who),
            *map(results.people.get(who, {}).get, fields),
            *(_bias_cell(by_rater.get(who)) for by_rater in biases.values()),
        )
        for who in sorted(raters, key=lambda who: _severity_order(last.get(who)))
    )
    return draw_rows("severity of raters", ("rater", *fields, *biases), rows, 1 + len(fields))


def _severity_order(estimate: Estimate | None) -> float:
    return inf if estimate is None or isnan(estimate.value) else estimate.value


def _bias_cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "n 0"
    sign = "+" if estimate.value > 0.005 else ""
    return f"{sign}{cell(estimate, SEVERITY_VALUE)} n {estimate.n:,}"


def _fault_sections(results: Results) -> Iterator[Section]:
    """Yield the faults and their handling, and differences without faulty rows."""
    parts: list[Part] = []
    if results.faults:
        names = 6 if results.is_over_items else 7
        parts.append(draw_rows("faults", *_fault_table(results), names))
    if results.alternatives:
        title = "differences with and without faulty rows"
        parts.append(draw_rows(title, *_alternative_table(results), 3))
    if not parts:
        return
    folded = len(results.faults) > MAX_OPEN_FAULTS
    text = "Faults and how they were handled."
    if results.rubric and any("blank" in x.alternative for x in results.alternatives):
        text += " With all rows, a blank penalty counts as 0 in the total."
    yield Section("Faults in the data", tuple(parts), text, folded=folded)


def _fault_table(results: Results) -> ColumnRows:
    columns = (
        Column("kind", "fault"),
        Column("item"),
        Column("system"),
        Column("listener", "rater", show=str, hidden=results.is_over_items),
        Column("scale", hidden=True),
        Column("told", "description"),
        Column("done", "handling"),
        Column("where", "location"),
    )
    return columns, list(map(attrgetter(*(column.key for column in columns)), results.faults))


def _alternative_table(results: Results) -> ColumnRows:
    """Return two rows per difference: with all rows, and by the alternative."""
    difference, p, corrected = difference_columns(results)
    columns = (
        "scale",
        PAIR,
        Column("alternative", hidden=True),
        Column("rows", hidden=True),
        Column(heading="rows"),
        replace(difference, counted=False),
        N,
        p,
        replace(corrected, hidden=True),
        Column("items", hidden=True),
    )
    values = {scale.value.name: scale.value for scale in results.scales}
    rows = []
    for pair in results.alternatives:
        for name, words, test, items in (
            ("all", "all rows", pair.every, pair.items),
            ("alternative", pair.alternative, pair.rest, pair.rest_items),
        ):
            difference_cell, *ps = difference_cells(test)
            n = f"{items:,}" if results.is_over_items else f"{test.difference.n:,} × {items:,}"
            place = values[pair.value], pair, pair.alternative, name, words
            rows.append((*place, difference_cell, n, *ps, items))
    return columns, rows


def headlines(results: Results) -> Iterator[str]:
    """Yield faults by kind, the effect of duplicates, and the strongest correlation."""
    if counts := count_faults(results):
        yield f"Faults in the data: {join_names(counts, 10)}; their handling is listed below"
    values = {scale.value.name: scale.value for scale in results.scales}
    if TOTAL_SCALE in values:
        values = {TOTAL_SCALE: values[TOTAL_SCALE]}
    for pair in results.alternatives:
        if value := values.get(pair.value):
            every, rest = (
                f"{number(test.difference.value, value)} (p {p_value(test.p)})"
                for test in (pair.every, pair.rest)
            )
            yield (
                f"{pair.value}: {pair.a} − {pair.b} is {every} with all rows and {rest} "
                f"{pair.alternative}"
            )
    correlations = results.rubric.correlations if results.rubric else ()
    strong = [c for c in correlations if c.pearson.value >= STRONG_CORRELATION]
    if strong:
        strongest = max(strong, key=lambda correlation: correlation.pearson.value)
        pearson = strongest.pearson
        others = f", besides {count_text(len(strong) - 1, 'other pair')}" if strong[1:] else ""
        yield (
            f"{strongest.a} and {strongest.b} are strongly correlated "
            f"(r {cell(pearson, PEARSON_R)} over {pearson.n:,} captions){others}: the total may "
            "count the same aspect twice"
        )


# --- CSV tables of rubrics -----------------------------------------------------------------------


def tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    correlations = (
        (correlation, name, getattr(correlation, name))
        for correlation in (results.rubric.correlations if results.rubric else ())
        for name in ("pearson", "spearman", "within")
    )
    return {
        "correlations": record_rows((PAIR, "name", Column(parts=ESTIMATE)), correlations),
        "faults": record_rows(*_fault_table(results)),
        "without_faults": record_rows(*_alternative_table(results)),
    }
