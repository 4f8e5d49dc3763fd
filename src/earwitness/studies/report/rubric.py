"""Ratings by a rubric: sections, headlines, methods sentences and CSV tables."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.core import Estimate, Value
from earwitness.report.numbers import cell, number, p_value
from earwitness.report.parts import Heat, Part, Section, Table
from earwitness.report.sentences import join_names
from earwitness.studies.report.csv_columns import (
    ESTIMATE_COLUMNS,
    TEST_COLUMNS,
    Row,
    TableContent,
    estimate_cells,
    tested_cells,
)
from earwitness.studies.report.wording import MAX_LISTED_NAMES, UNBOUNDED, several
from earwitness.studies.results import Results, RubricResults, Who

# --- Methods sentences on rubrics ----------------------------------------------------------------


BLANK_POLICY_WORDING = {
    "drop": "a rater with a blank is left out of the total of that caption, and of nothing else",
    "zero": "a blank penalty counts as 0 in totals, a blank score leaves the rater out",
    "refuse": "there are no blanks",
}
FAULT_WORDING = {
    "blank": ("blank", "blanks"),
    "duplicate": ("duplicate caption", "duplicate captions"),
    "positive penalty": ("positive penalty", "positive penalties"),
    "off scale": ("number off its scale", "numbers off their scales"),
    "other total": ("table of other totals", "tables of other totals"),
}


def faults_counted(results: Results) -> list[str]:
    """How many faults there are of each kind."""
    kinds: dict[str, int] = {}
    for one in results.faults:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return [several(count, *FAULT_WORDING[kind]) for kind, count in kinds.items()]


def rubric_methods(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    rubric = results.rubric
    if rubric is not None:
        yield _judged_by(rubric)
    if counts := faults_counted(results):
        yield f"Faults found: {join_names(counts, MAX_LISTED_NAMES)}."
    if rubric is not None and rubric.correlations:
        yield (
            "Correlations of dimensions are Pearson's and Spearman's over captions, and Pearson's "
            "within raters, with intervals by a bootstrap over items."
        )


def _judged_by(rubric: RubricResults) -> str:
    return (
        f"Captions were judged by the rubric {rubric.name}. The total is {rubric.formula}, made "
        f"for each rater and then averaged; {BLANK_POLICY_WORDING.get(rubric.blank, rubric.blank)}."
    )


# --- Correlations, severity and faults -----------------------------------------------------------


TOTAL_SCALE = "total"
PEARSON_R = Value(
    "r", "none", -1, 1, "Pearson's r: below the diagonal over captions, above it within raters"
)
SEVERITY_VALUE = Value("severity", "none", *UNBOUNDED, "")
MAX_OPEN_FAULTS = 40  # faults that are listed openly
STRONG_CORRELATION = 0.5  # a correlation that is told in short
CORRELATION_NOTE = (
    "Over captions: means over raters, each caption a point. Within raters: single votes, each "
    "less its rater's mean. Intervals are by a bootstrap over items. Where two go together, "
    "the total may count the same thing twice: look at dimensions beside it."
)
SEVERITY_NOTE = (
    "How far a rater lies above (+) or below (−) the others on the same captions, in points: the "
    "bias of the subject model, with its interval and the number of votes. Negative is severe. "
    "The most severe stand first."
)


def rubric_sections(results: Results) -> Iterator[Section]:
    """Correlations of dimensions, severity of raters."""
    if results.rubric is None:
        return
    if results.rubric.correlations:
        yield Section(
            "Dimensions together", (_heat(results.rubric),), CORRELATION_NOTE, place="pages"
        )
    severity = _severity(results)
    if severity.rows:
        yield Section("Severity", (severity,), SEVERITY_NOTE, place="pages")


def _heat(rubric: RubricResults) -> Heat:
    cells: dict[tuple[str, str], Estimate] = {}
    for one in rubric.correlations:
        cells[one.b, one.a] = one.pearson
        cells[one.a, one.b] = one.within
    return Heat("correlation of dimensions", PEARSON_R, rubric.dimensions, cells, _pairs(rubric))


def _pairs(rubric: RubricResults) -> Table:
    rows = tuple(
        (
            *(
                one.a,
                one.b,
                cell(one.pearson, PEARSON_R),
                cell(one.spearman, PEARSON_R),
                f"{one.pearson.n:,}",
            ),
            *(cell(one.within, PEARSON_R), f"{one.within.n:,}"),
        )
        for one in rubric.correlations
    )
    header = ("first", "second", "Pearson", "Spearman", "captions", "within raters", "votes")
    return Table("correlation of dimensions", header, rows, names=2)


def _severity(results: Results) -> Table:
    """A row a rater, a column a dimension; the most severe first."""
    found: dict[Who, dict[str, Estimate]] = {}
    for scale in results.scales:
        for who, estimate in (scale.subjects.biases if scale.subjects else {}).items():
            found.setdefault(who, {})[scale.value.name] = estimate
    names = [s.value.name for s in results.scales if s.subjects]
    fields = list(dict.fromkeys(name for one in results.people.values() for name in one))
    last = TOTAL_SCALE if TOTAL_SCALE in names else names[-1] if names else ""
    rows = tuple(
        (
            *(str(who), *(results.people.get(who, {}).get(name, "–") for name in fields)),
            *(_bias(own.get(name)) for name in names),
        )
        for who, own in sorted(found.items(), key=lambda one: _order(one[1].get(last)))
    )
    return Table("severity of raters", ("rater", *fields, *names), rows, names=1 + len(fields))


def _order(estimate: Estimate | None) -> float:
    return float("inf") if estimate is None or isnan(estimate.value) else estimate.value


def _bias(estimate: Estimate | None) -> str:
    if estimate is None:
        return "n 0"
    sign = "+" if estimate.value > 0.005 else ""
    return f"{sign}{cell(estimate, SEVERITY_VALUE)} n {estimate.n:,}"


def fault_sections(results: Results) -> Iterator[Section]:
    """All faults with what was done, and what differences are without duplicates."""
    if not results.faults:
        return
    parts: list[Part] = [_faults(results)]
    if results.rubric and results.rubric.without:
        parts.append(_without(results))
    folded = len(results.faults) > MAX_OPEN_FAULTS
    yield Section(
        "Faults", tuple(parts), "What was odd, and what was done about it.", folded=folded
    )


def _faults(results: Results) -> Table:
    rows = tuple(
        (f.kind, f.item, f.system, str(f.listener), f.told, f.done, f.where) for f in results.faults
    )
    header = ("fault", "item", "system", "rater", "found", "done", "where")
    return Table("faults", header, rows, names=len(header))


def _without(results: Results) -> Table:
    rubric = results.rubric
    values = {scale.value.name: scale.value for scale in results.scales}
    rows = tuple(
        (
            *(one.value, one.a, one.b, cell(one.every.difference, values[one.value])),
            *(f"{one.every.difference.n:,} × {one.items:,}", p_value(one.every.p)),
            cell(one.rest.difference, values[one.value]),
            *(f"{one.rest.difference.n:,} × {one.rest_items:,}", p_value(one.rest.p)),
        )
        for one in (rubric.without if rubric else ())
    )
    names = ("scale", "first", "second")
    header = (*names, "all captions", "n", "p", "without duplicates", "n", "p")
    return Table("differences without duplicate captions", header, rows, names=3)


def rubric_headlines(results: Results) -> Iterator[str]:
    """Faults by kind, what duplicates change in the total, and what goes together most."""
    if counts := faults_counted(results):
        yield f"faults: {join_names(counts, 10)}; what was done about each stands below"
    if results.rubric is None:
        return
    for one in results.rubric.without:
        if one.value in _headlines(results):
            yield (
                f"{one.value}: dropping duplicate captions turns p of {one.a} − {one.b} from "
                f"{p_value(one.every.p)} to {p_value(one.rest.p)}"
            )
    yield from _together(results.rubric)


def _headlines(results: Results) -> set[str]:
    names = [scale.value.name for scale in results.scales]
    return {TOTAL_SCALE} if TOTAL_SCALE in names else {*names}


def _together(rubric: RubricResults) -> Iterator[str]:
    """The two dimensions that go together most, over captions, if that is much."""
    strong = [one for one in rubric.correlations if one.pearson.value >= STRONG_CORRELATION]
    if not strong:
        return
    one = max(strong, key=lambda found: found.pearson.value)
    r, low, high = (
        number(x, PEARSON_R) for x in (one.pearson.value, one.pearson.low, one.pearson.high)
    )
    others = f", and so do {len(strong) - 1:,} other pairs" if len(strong) > 1 else ""
    others = others.replace("do 1 other pairs", "does 1 other pair")
    yield (
        f"{one.a} and {one.b} go together (r {r} [{low}, {high}] over {one.pearson.n:,} captions)"
        f"{others}: the total may count the same thing twice"
    )


# --- CSV tables of rubrics -----------------------------------------------------------------------


def rubric_tables(results: Results) -> dict[str, TableContent]:
    """CSV tables by the name of their file."""
    return {
        "correlations.csv": _correlations_csv(results),
        "faults.csv": _faults_csv(results),
        "without_duplicates.csv": _without_csv(results),
    }


def _correlations_csv(results: Results) -> TableContent:
    rows = [
        [correlation.a, correlation.b, name, *estimate_cells(getattr(correlation, name))]
        for correlation in (results.rubric.correlations if results.rubric else ())
        for name in ("pearson", "spearman", "within")
    ]
    return ["a", "b", "name", *ESTIMATE_COLUMNS], rows


def _faults_csv(results: Results) -> TableContent:
    header = ["kind", "item", "system", "listener", "scale", "told", "done", "where"]
    return header, [[getattr(one, name) for name in header] for one in results.faults]


def _without_csv(results: Results) -> TableContent:
    rows: list[Row] = []
    for comparison in results.rubric.without if results.rubric else ():
        pair = [comparison.value, comparison.a, comparison.b]
        rows.append([*pair, "all", *tested_cells(comparison.every), comparison.items])
        rows.append(
            [*pair, "without duplicates", *tested_cells(comparison.rest), comparison.rest_items]
        )
    return ["scale", "a", "b", "captions", *TEST_COLUMNS, "items"], rows
