"""What reports say of ratings by a rubric: what goes together, who is severe, what is odd."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan

from earwitness.data import Estimate, Results, RubricResults, Value, Who
from earwitness.report.methods.judged import faults_counted
from earwitness.report.numbers import cell, number, p_value
from earwitness.report.parts import Heat, Part, Section, Table
from earwitness.report.sentences import listed

TOTAL = "total"
R = Value(
    "r", "none", -1, 1, "Pearson's r: below the diagonal over captions, above it within raters"
)
ANY = (float("-inf"), float("inf"))
BIAS = Value("severity", "none", *ANY, "")
FEW = 40  # faults that are listed openly
STRONG = 0.5  # a correlation that is told in short


def judged_sections(results: Results) -> Iterator[Section]:
    """Correlations of dimensions, severity of raters."""
    if results.rubric is None:
        return
    if results.rubric.correlations:
        yield Section("Dimensions together", (_heat(results.rubric),), TOGETHER, place="pages")
    severity = _severity(results)
    if severity.rows:
        yield Section("Severity", (severity,), SEVERITY, place="pages")


TOGETHER = (
    "Over captions: means over raters, each caption a point. Within raters: single votes, each "
    "less its rater's mean. Intervals are by a bootstrap over items. Where two go together, "
    "the total may count the same thing twice: look at dimensions beside it."
)
SEVERITY = (
    "How far a rater lies above (+) or below (−) the others on the same captions, in points: the "
    "bias of the subject model, with its interval and the number of votes. Negative is severe. "
    "The most severe stand first."
)


def _heat(rubric: RubricResults) -> Heat:
    cells: dict[tuple[str, str], Estimate] = {}
    for one in rubric.correlations:
        cells[one.b, one.a] = one.pearson
        cells[one.a, one.b] = one.within
    return Heat("correlation of dimensions", R, rubric.dimensions, cells, _pairs(rubric))


def _pairs(rubric: RubricResults) -> Table:
    rows = tuple(
        (
            *(one.a, one.b, cell(one.pearson, R), cell(one.spearman, R), f"{one.pearson.n:,}"),
            *(cell(one.within, R), f"{one.within.n:,}"),
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
    last = TOTAL if TOTAL in names else names[-1] if names else ""
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
    return f"{sign}{cell(estimate, BIAS)} n {estimate.n:,}"


def fault_sections(results: Results) -> Iterator[Section]:
    """All faults with what was done, and what differences are without duplicates."""
    if not results.faults:
        return
    parts: list[Part] = [_faults(results)]
    if results.rubric and results.rubric.without:
        parts.append(_without(results))
    folded = len(results.faults) > FEW
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


def judged_short(results: Results) -> Iterator[str]:
    """Faults by kind, what duplicates change in the total, and what goes together most."""
    if counts := faults_counted(results):
        yield f"faults: {listed(counts, 10)}; what was done about each stands below"
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
    return {TOTAL} if TOTAL in names else {*names}


def _together(rubric: RubricResults) -> Iterator[str]:
    """The two dimensions that go together most, over captions, if that is much."""
    strong = [one for one in rubric.correlations if one.pearson.value >= STRONG]
    if not strong:
        return
    one = max(strong, key=lambda found: found.pearson.value)
    r, low, high = (number(x, R) for x in (one.pearson.value, one.pearson.low, one.pearson.high))
    others = f", and so do {len(strong) - 1:,} other pairs" if len(strong) > 1 else ""
    others = others.replace("do 1 other pairs", "does 1 other pair")
    yield (
        f"{one.a} and {one.b} go together (r {r} [{low}, {high}] over {one.pearson.n:,} captions)"
        f"{others}: the total may count the same thing twice"
    )
