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
from earwitness.studies.report.wording import MAX_LISTED_NAMES, UNBOUNDED, count_text
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


def count_faults(results: Results) -> list[str]:
    """How many faults there are of each kind."""
    kinds: dict[str, int] = {}
    for fault in results.faults:
        kinds[fault.kind] = kinds.get(fault.kind, 0) + 1
    return [count_text(count, *FAULT_WORDING[kind]) for kind, count in kinds.items()]


def rubric_methods(results: Results) -> Iterator[str]:
    """Sentences of the paragraph."""
    rubric = results.rubric
    if rubric is not None:
        yield _rubric_sentence(rubric)
    if counts := count_faults(results):
        yield f"Faults found: {join_names(counts, MAX_LISTED_NAMES)}."
    if rubric is not None and rubric.correlations:
        yield (
            "Correlations of dimensions are Pearson's and Spearman's over captions, and Pearson's "
            "within raters, with intervals by a bootstrap over items."
        )


def _rubric_sentence(rubric: RubricResults) -> str:
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
            "Dimensions together",
            (_correlation_heat(results.rubric),),
            CORRELATION_NOTE,
            place="pages",
        )
    severity = _severity_table(results)
    if severity.rows:
        yield Section("Severity", (severity,), SEVERITY_NOTE, place="pages")


def _correlation_heat(rubric: RubricResults) -> Heat:
    cells: dict[tuple[str, str], Estimate] = {}
    for correlation in rubric.correlations:
        cells[correlation.b, correlation.a] = correlation.pearson
        cells[correlation.a, correlation.b] = correlation.within
    return Heat(
        "correlation of dimensions", PEARSON_R, rubric.dimensions, cells, _correlation_table(rubric)
    )


def _correlation_table(rubric: RubricResults) -> Table:
    rows = tuple(
        (
            *(
                correlation.a,
                correlation.b,
                cell(correlation.pearson, PEARSON_R),
                cell(correlation.spearman, PEARSON_R),
                f"{correlation.pearson.n:,}",
            ),
            *(cell(correlation.within, PEARSON_R), f"{correlation.within.n:,}"),
        )
        for correlation in rubric.correlations
    )
    header = ("first", "second", "Pearson", "Spearman", "captions", "within raters", "votes")
    return Table("correlation of dimensions", header, rows, names=2)


def _severity_table(results: Results) -> Table:
    """A row a rater, a column a dimension; the most severe first."""
    biases: dict[Who, dict[str, Estimate]] = {}
    for scale in results.scales:
        for who, estimate in (scale.subjects.biases if scale.subjects else {}).items():
            biases.setdefault(who, {})[scale.value.name] = estimate
    names = [s.value.name for s in results.scales if s.subjects]
    fields = list(dict.fromkeys(name for groups in results.people.values() for name in groups))
    last = TOTAL_SCALE if TOTAL_SCALE in names else names[-1] if names else ""
    rows = tuple(
        (
            *(str(who), *(results.people.get(who, {}).get(name, "–") for name in fields)),
            *(_bias_cell(rater_biases.get(name)) for name in names),
        )
        for who, rater_biases in sorted(
            biases.items(), key=lambda item: _severity_order(item[1].get(last))
        )
    )
    return Table("severity of raters", ("rater", *fields, *names), rows, names=1 + len(fields))


def _severity_order(estimate: Estimate | None) -> float:
    return float("inf") if estimate is None or isnan(estimate.value) else estimate.value


def _bias_cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "n 0"
    sign = "+" if estimate.value > 0.005 else ""
    return f"{sign}{cell(estimate, SEVERITY_VALUE)} n {estimate.n:,}"


def fault_sections(results: Results) -> Iterator[Section]:
    """All faults with what was done, and what differences are without duplicates."""
    if not results.faults:
        return
    parts: list[Part] = [_fault_table(results)]
    if results.rubric and results.rubric.without:
        parts.append(_duplicate_table(results))
    folded = len(results.faults) > MAX_OPEN_FAULTS
    yield Section(
        "Faults", tuple(parts), "What was odd, and what was done about it.", folded=folded
    )


def _fault_table(results: Results) -> Table:
    rows = tuple(
        (f.kind, f.item, f.system, str(f.listener), f.told, f.done, f.where) for f in results.faults
    )
    header = ("fault", "item", "system", "rater", "found", "done", "where")
    return Table("faults", header, rows, names=len(header))


def _duplicate_table(results: Results) -> Table:
    rubric = results.rubric
    values = {scale.value.name: scale.value for scale in results.scales}
    rows = tuple(
        (
            *(
                comparison.value,
                comparison.a,
                comparison.b,
                cell(comparison.every.difference, values[comparison.value]),
            ),
            *(
                f"{comparison.every.difference.n:,} × {comparison.items:,}",
                p_value(comparison.every.p),
            ),
            cell(comparison.rest.difference, values[comparison.value]),
            *(
                f"{comparison.rest.difference.n:,} × {comparison.rest_items:,}",
                p_value(comparison.rest.p),
            ),
        )
        for comparison in (rubric.without if rubric else ())
    )
    names = ("scale", "first", "second")
    header = (*names, "all captions", "n", "p", "without duplicates", "n", "p")
    return Table("differences without duplicate captions", header, rows, names=3)


def rubric_headlines(results: Results) -> Iterator[str]:
    """Faults by kind, what duplicates change in the total, and what goes together most."""
    if counts := count_faults(results):
        yield f"faults: {join_names(counts, 10)}; what was done about each stands below"
    if results.rubric is None:
        return
    for comparison in results.rubric.without:
        if comparison.value in _headline_scales(results):
            pair = f"{comparison.a} − {comparison.b}"
            yield (
                f"{comparison.value}: dropping duplicate captions turns p of {pair} from "
                f"{p_value(comparison.every.p)} to {p_value(comparison.rest.p)}"
            )
    yield from _correlation_headlines(results.rubric)


def _headline_scales(results: Results) -> set[str]:
    names = [scale.value.name for scale in results.scales]
    return {TOTAL_SCALE} if TOTAL_SCALE in names else {*names}


def _correlation_headlines(rubric: RubricResults) -> Iterator[str]:
    """The two dimensions that go together most, over captions, if that is much."""
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
    others = f", and so do {len(strong) - 1:,} other pairs" if len(strong) > 1 else ""
    others = others.replace("do 1 other pairs", "does 1 other pair")
    yield (
        f"{strongest.a} and {strongest.b} go together "
        f"(r {r} [{low}, {high}] over {pearson.n:,} captions)"
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
    return header, [[getattr(fault, name) for name in header] for fault in results.faults]


def _without_csv(results: Results) -> TableContent:
    rows: list[Row] = []
    for comparison in results.rubric.without if results.rubric else ():
        pair = [comparison.value, comparison.a, comparison.b]
        rows.append([*pair, "all", *tested_cells(comparison.every), comparison.items])
        rows.append(
            [*pair, "without duplicates", *tested_cells(comparison.rest), comparison.rest_items]
        )
    return ["scale", "a", "b", "captions", *TEST_COLUMNS, "items"], rows
