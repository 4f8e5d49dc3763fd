"""Report of ratings by a rubric: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, isnan
from operator import attrgetter
from typing import Any

from earwitness.analysis.report.wording import (
    ESTIMATE,
    MAX_LISTED_NAMES,
    UNBOUNDED,
    any_defined,
    count_text,
    difference_cells,
    difference_columns,
)
from earwitness.analysis.results import DifferenceTest, Results, RubricResults
from earwitness.core import Estimate, Value
from earwitness.ratings.records import Who
from earwitness.report.columns import PAIR, Column, Columns, N, TableRows, draw_rows, record_rows
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
    "blank": ("blank", "blanks"),
    "duplicate": ("duplicate caption", "duplicate captions"),
    "positive penalty": ("positive penalty", "positive penalties"),
    "off scale": ("value outside its scale", "values outside their scales"),
    "other total": ("deviating total", "deviating totals"),
}


def count_faults(results: Results) -> list[str]:
    """Return the number of faults of each kind, in words."""
    kinds: dict[str, int] = {}
    for fault in results.faults:
        kinds[fault.kind] = kinds.get(fault.kind, 0) + 1
    return [count_text(count, *FAULT_WORDING[kind]) for kind, count in kinds.items()]


def rubric_methods(results: Results) -> Iterator[str]:
    """Yield the methods sentences on rubrics."""
    rubric = results.rubric
    if rubric is not None:
        yield _rubric_sentence(results, rubric)
    if counts := count_faults(results):
        yield f"Faults in the data: {join_names(counts, MAX_LISTED_NAMES)}."
    correlations = rubric.correlations if rubric is not None else ()
    if any_defined(x for c in correlations for x in (c.pearson, c.spearman, c.within)):
        within = "" if results.over_items else ", and Pearson's within raters"
        yield (
            f"Correlations between dimensions are Pearson's and Spearman's over captions{within}, "
            "with confidence intervals by a bootstrap over items."
        )
    if alternatives := [*dict.fromkeys(one.alternative for one in results.alternatives)]:
        how = join_names(alternatives, MAX_LISTED_NAMES)
        yield f"Differences were computed with all rows and also {how}."


def _rubric_sentence(results: Results, rubric: RubricResults) -> str:
    if results.over_items:
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
OVER_CAPTIONS_NOTE = "Over captions: means over raters, one point per caption."
WITHIN_RATERS_NOTE = "Within raters: single votes minus the rater's mean."
CORRELATION_NOTE = (
    "Confidence intervals are by a bootstrap over items. If two dimensions are strongly "
    "correlated, the total may count the same aspect twice; compare single dimensions."
)
SEVERITY_NOTE = (
    "How far a rater is above (+) or below (−) the others on the same captions, in scale points: "
    "the bias of the subject model, with its confidence interval and the number of votes. "
    "Negative values are severe; the most severe raters come first."
)


def rubric_sections(results: Results) -> Iterator[Section]:
    """Yield the sections on correlations of dimensions and severity of raters."""
    if results.rubric is None:
        return
    if results.rubric.correlations:
        yield Section(
            "Correlations between dimensions",
            (_correlation_heat(results.rubric),),
            " ".join(_correlation_notes(results)),
            place="pages",
        )
    severity = _severity_table(results)
    if severity.rows:
        yield Section("Severity of raters", (severity,), SEVERITY_NOTE, place="pages")


def _correlation_notes(results: Results) -> Iterator[str]:
    yield OVER_CAPTIONS_NOTE
    if not results.over_items:
        yield WITHIN_RATERS_NOTE
    yield CORRELATION_NOTE


def _correlation_heat(rubric: RubricResults) -> Heat:
    cells: dict[tuple[str, str], Estimate] = {}
    for correlation in rubric.correlations:
        cells[correlation.b, correlation.a] = correlation.pearson
        cells[correlation.a, correlation.b] = correlation.within
    return Heat(
        "correlations between dimensions",
        PEARSON_R,
        rubric.dimensions,
        cells,
        _correlation_table(rubric),
    )


def _correlation_table(rubric: RubricResults) -> Table:
    rows = (
        (own.a, own.b, own.pearson, own.spearman, own.pearson.n, own.within, own.within.n)
        for own in rubric.correlations
    )
    headings = ("first", "second", "Pearson", "Spearman", "captions", "within raters", "votes")
    columns = [Column(heading=heading, value=PEARSON_R) for heading in headings]
    return draw_rows("correlations between dimensions", columns, rows, 2)


def _severity_table(results: Results) -> Table:
    """Return one row per rater and one column per dimension, the most severe first."""
    biases: dict[Who, dict[str, Estimate]] = {}
    for scale in results.scales:
        for who, estimate in (scale.subjects.biases if scale.subjects else {}).items():
            biases.setdefault(who, {})[scale.value.name] = estimate
    names = [s.value.name for s in results.scales if s.subjects]
    fields = list(dict.fromkeys(name for groups in results.people.values() for name in groups))
    last = TOTAL_SCALE if TOTAL_SCALE in names else names[-1] if names else ""
    rows = tuple(
        (
            str(who),
            *(results.people.get(who, {}).get(name, "–") for name in fields),
            *(_bias_cell(rater_biases.get(name)) for name in names),
        )
        for who, rater_biases in sorted(
            biases.items(), key=lambda item: _severity_order(item[1].get(last))
        )
    )
    return Table("severity of raters", ("rater", *fields, *names), rows, names=1 + len(fields))


def _severity_order(estimate: Estimate | None) -> float:
    return inf if estimate is None or isnan(estimate.value) else estimate.value


def _bias_cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "n 0"
    sign = "+" if estimate.value > 0.005 else ""
    return f"{sign}{cell(estimate, SEVERITY_VALUE)} n {estimate.n:,}"


def fault_sections(results: Results) -> Iterator[Section]:
    """Yield the faults and their handling, and differences without faulty rows."""
    parts: list[Part] = []
    if results.faults:
        rows, names = map(FAULT_CELLS, results.faults), 7 - results.over_items
        parts.append(draw_rows("faults", _fault_columns(results), rows, names))
    if results.alternatives:
        title, columns = "differences with and without faulty rows", _alternative_columns(results)
        parts.append(draw_rows(title, columns, _alternative_rows(results), 3))
    if not parts:
        return
    folded = len(results.faults) > MAX_OPEN_FAULTS
    text = "Faults and how they were handled."
    if results.rubric and any("blank" in one.alternative for one in results.alternatives):
        text += " With all rows, a blank penalty counts as 0 in the total."
    yield Section("Faults in the data", tuple(parts), text, folded=folded)


def _fault_columns(results: Results) -> Columns:
    return (
        Column("kind", "fault"),
        "item",
        "system",
        Column("listener", "rater", show=str, hidden=results.over_items),
        Column("scale", hidden=True),
        Column("told", "description"),
        Column("done", "handling"),
        Column("where", "location"),
    )


FAULT_CELLS = attrgetter("kind", "item", "system", "listener", "scale", "told", "done", "where")


def _alternative_columns(results: Results) -> Columns:
    difference, p, corrected = difference_columns(results)
    return (
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


def _alternative_rows(results: Results) -> Iterator[tuple[Any, ...]]:
    """Yield two rows per difference: with all rows, and by the alternative."""
    values = {scale.value.name: scale.value for scale in results.scales}
    for one in results.alternatives:
        for rows, words, test, items in (
            ("all", "all rows", one.every, one.items),
            ("alternative", one.alternative, one.rest, one.rest_items),
        ):
            difference, *p = difference_cells(test)
            n = _difference_size(results, test, items)
            place = values[one.value], one, one.alternative, rows, words
            yield (*place, difference, n, *p, items)


def _difference_size(results: Results, tested: DifferenceTest, items: int) -> str:
    """Return the number of items, or of listeners and items, of a difference."""
    return f"{items:,}" if results.over_items else f"{tested.difference.n:,} × {items:,}"


def rubric_headlines(results: Results) -> Iterator[str]:
    """Yield faults by kind, the effect of duplicates, and the strongest correlation."""
    if counts := count_faults(results):
        yield f"Faults in the data: {join_names(counts, 10)}; their handling is listed below"
    values = {scale.value.name: scale.value for scale in results.scales}
    for one in results.alternatives:
        if one.value in _headline_scales(results):
            every, rest = (
                f"{number(test.difference.value, values[one.value])} (p {p_value(test.p)})"
                for test in (one.every, one.rest)
            )
            yield (
                f"{one.value}: {one.a} − {one.b} is {every} with all rows and {rest} "
                f"{one.alternative}"
            )
    if results.rubric is not None:
        yield from _correlation_headlines(results.rubric)


def _headline_scales(results: Results) -> set[str]:
    names = [scale.value.name for scale in results.scales]
    return {TOTAL_SCALE} if TOTAL_SCALE in names else {*names}


def _correlation_headlines(rubric: RubricResults) -> Iterator[str]:
    """Yield the most strongly correlated pair of dimensions, if the correlation is high."""
    strong = [
        correlation
        for correlation in rubric.correlations
        if correlation.pearson.value >= STRONG_CORRELATION
    ]
    if not strong:
        return
    strongest = max(strong, key=lambda correlation: correlation.pearson.value)
    pearson = strongest.pearson
    r, low, high = (number(x, PEARSON_R) for x in (pearson.value, pearson.low, pearson.high))
    others = f", as are {len(strong) - 1:,} other pairs" if len(strong) > 1 else ""
    others = others.replace("are 1 other pairs", "is 1 other pair")
    yield (
        f"{strongest.a} and {strongest.b} are strongly correlated "
        f"(r {r} [{low}, {high}] over {pearson.n:,} captions)"
        f"{others}: the total may count the same aspect twice"
    )


# --- CSV tables of rubrics -----------------------------------------------------------------------


def rubric_tables(results: Results) -> dict[str, TableRows]:
    """Return CSV tables by name."""
    correlations = (
        (correlation, name, getattr(correlation, name))
        for correlation in (results.rubric.correlations if results.rubric else ())
        for name in ("pearson", "spearman", "within")
    )
    alternatives = _alternative_rows(results)
    return {
        "correlations": record_rows((PAIR, "name", Column(parts=ESTIMATE)), correlations),
        "faults": record_rows(_fault_columns(results), map(FAULT_CELLS, results.faults)),
        "without_faults": record_rows(_alternative_columns(results), alternatives),
    }
