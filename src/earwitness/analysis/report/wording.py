"""Wording of intervals, means, corrections and shares in reports, and cells of CSV tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from math import inf, isnan
from typing import Any, TypeVar

from earwitness.analysis.plan import MIXED_MODEL, NO_CORRECTION, WILCOXON
from earwitness.analysis.results import DifferenceTest, Equivalence, Results
from earwitness.core import Contrast, Estimate, Value, count_text
from earwitness.report.columns import Column, Columns, P, draw_rows, estimate_parts
from earwitness.report.numbers import CORRECTED_P_HEADINGS, p_value
from earwitness.report.parts import Table
from earwitness.report.sentences import INTERVALS_AGREE_CLAUSE
from earwitness.stats.means import ITEM_ADJUSTED, ITEM_T

UNBOUNDED = (-inf, inf)
MAX_LISTED_NAMES = 50  # names listed in a methods paragraph


@dataclass(frozen=True, slots=True)
class IntervalWording:
    """Wording of an interval method.

    Its name, what it generalizes to, what is averaged in the mean of a system, and the
    matching test.
    """

    name: str
    scope: str
    estimand: str
    test: str = "two-sided per-listener paired t tests"

    @property
    def about(self) -> str:
        """Return the method and its scope as one clause."""
        return f"{self.name}; they generalize to {self.scope}"


LISTENER_MEAN = "mean over listeners of each listener's mean vote"
INTERVAL_WORDING = {
    "cluster_t": IntervalWording(
        "t intervals over per-listener means", "other listeners on these items", LISTENER_MEAN
    ),
    "naive_t": IntervalWording(
        "t intervals over single votes, treated as independent",
        "neither other listeners nor other items (votes of one listener are correlated, so the "
        "intervals are too narrow)",
        "mean of all votes",
        "two-sided paired t tests over single differences, treated as independent",
    ),
    "cluster_bootstrap": IntervalWording(
        "a cluster bootstrap over listeners", "other listeners on these items", LISTENER_MEAN
    ),
    "two_way_bootstrap": IntervalWording(
        "a two-way bootstrap over listeners and items",
        "other listeners and other items",
        "mean of all votes",
        "the same bootstrap, two-sided",
    ),
    MIXED_MODEL: IntervalWording(
        "a linear mixed model (REML) with crossed random intercepts for listeners, items, "
        "listener × system and item × system",
        "other listeners and other items",
        "expected vote by the mixed model, over listeners and items",
        "two-sided t tests of the mixed model with Satterthwaite degrees of freedom",
    ),
    ITEM_ADJUSTED: IntervalWording(
        "a jackknife over listeners of means adjusted for items",
        "other listeners on these items",
        "mean vote over all items, each counting once, by a least-squares model of systems and "
        "items",
    ),
    ITEM_T: IntervalWording(
        "t intervals over items",
        "other items for these raters",
        "mean over items of the means over raters",
        "two-sided paired t tests over items",
    ),
}
CORRECTION_WORDING = {
    "holm": "Holm-corrected",
    "bh": "Benjamini–Hochberg-corrected",
    NO_CORRECTION: "not corrected",
}
INTERVAL_CLAUSES = {  # of differences
    "holm": f"are simultaneous, {INTERVALS_AGREE_CLAUSE}",
    "bh": f"are corrected in the same way, {INTERVALS_AGREE_CLAUSE}",
    NO_CORRECTION: "are not corrected",
}
WILCOXON_WORDING = (
    "two-sided Wilcoxon signed-rank tests of per-{unit} differences, with Pratt's method for zeros"
)
EFFECT_SIZE_WORDING = {
    "hedges_g_z": "Hedges' g_z of per-{unit} differences",
    "rank_biserial": "matched-pairs rank-biserial correlations of per-{unit} differences",
}
MIN_GOOD_VOTE = 4  # of five points: Good or better
MAX_POOR_VOTE = 2  # of five points: Poor or worse
# scales on which 4 is called Good and 2 Poor
GOOD_POOR_SCALES = ("OVRL", "QUALITY", "MOS", "READING")


def test_clause(results: Results) -> str:
    """Return the test of pairs of systems."""
    if results.plan.test == WILCOXON:
        return WILCOXON_WORDING.format(unit=unit_noun(results))
    return planned_interval(results).test


def planned_interval(results: Results) -> IntervalWording:
    """Return the wording of the planned method of intervals."""
    return INTERVAL_WORDING[results.plan.interval]


def correction_clause(results: Results) -> str:
    """Return how p values are corrected."""
    return CORRECTION_WORDING[results.plan.correction]


def interval_clause(results: Results) -> str:
    """Return whether intervals of differences agree with corrected tests."""
    return INTERVAL_CLAUSES[results.plan.correction]


def has_defined(estimates: Iterable[Estimate | None]) -> bool:
    """Return whether any of the estimates has a value."""
    return any(estimate is not None and not isnan(estimate.value) for estimate in estimates)


def level_percent(results: Results) -> str:
    """Return the confidence level of intervals in percent."""
    return f"{100 * results.plan.level:.4g} %"


def interval_method(results: Results) -> str:
    """Return the method of the intervals of means; the planned one if they differ."""
    methods = {r.mean.method for scale in results.scales for r in scale.systems.values()}
    is_known = len(methods) == 1 and methods <= {*INTERVAL_WORDING}
    return methods.pop() if is_known else results.plan.interval


def capitalized(text: str) -> str:
    """Return a text with a capital first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def scope_text(items: int) -> str:
    """Return the items that results hold for.

    >>> scope_text(4)
    'on these 4 items'
    """
    return "on this item" if items == 1 else f"on these {items:,} items"


def unit_noun(results: Results) -> str:
    """Return what results generalize over: listener, or item for tables of means."""
    return "item" if results.is_over_items else "listener"


def unit_count(results: Results, count: int) -> str:
    """Return a number of listeners, or of items for tables of means."""
    return count_text(count, unit_noun(results))


UNKNOWN_RATERS_CLAUSE = (
    "the variance between raters is not known, and results generalize to other items for these "
    "raters"
)


T = TypeVar("T")
LISTENER_WORD = re.compile(r"\b([Ll])istener(?=s?\b)")
WORDED_FIELDS = {
    *("title", "about", "text", "more", "header", "heading", "lines", "note", "notes", "caption"),
    *("intervals", "test", "sections", "parts", "panels", "table", "plots"),
}


def name_people(results: Results, part: T) -> T:
    """Return words or a part of a report; those who judge captions by a rubric are raters."""
    worded: T = part if results.rubric is None else _name_raters(part)
    return worded


def _name_raters(part: Any) -> Any:
    if isinstance(part, str):
        return LISTENER_WORD.sub(lambda match: "Rater" if match[1] == "L" else "rater", part)
    if isinstance(part, tuple):
        return tuple(map(_name_raters, part))
    if not is_dataclass(part) or isinstance(part, type):
        return part
    names = {field.name for field in fields(part)} & WORDED_FIELDS
    return replace(part, **{name: _name_raters(getattr(part, name)) for name in names})


def raters_clause(results: Results) -> str:
    """Return over how many raters the values of a table of means were averaged."""
    counts = {count for scale in results.scales for count in scale.raters.values()}
    if not counts - {0}:
        return "The number of raters per mean is not known"
    low, high = min(counts - {0}), max(counts)
    raters = count_text(low, "rater") if low == high else f"{low:,} to {high:,} raters"
    return f"Each value is a mean over {raters}{' (where known)' if 0 in counts else ''}"


def share_words(scale: Value) -> dict[str, str]:
    """Return labels for the shares of votes on a scale."""
    upper, lower = f"{MIN_GOOD_VOTE} or more", f"{MAX_POOR_VOTE} or less"
    if scale.name in GOOD_POOR_SCALES and scale.best == "high":
        upper, lower = "Good or better", "Poor or worse"
    return {
        "good": upper if scale.best == "high" else lower,
        "poor": lower if scale.best == "high" else upper,
        "floor": "at the lowest point",
        "ceiling": "at the highest point",
    }


# --- Columns of tables ---------------------------------------------------------------------------


ESTIMATE_NAMES = ("value", "low", "high", "level", "n", "method")
ESTIMATE = estimate_parts(*ESTIMATE_NAMES)
LISTENER = Column("listener", show=str)
AGREEMENT = Value("agreement", "high", -1, 1, "")
ColumnRows = tuple[Columns, list[tuple[Any, ...]]]  # of a table for people and for programs


def difference_columns(results: Results, name: str = "difference") -> tuple[Column, Column, Column]:
    """Return the columns of ``difference_cells``; corrected p is hidden without a correction."""
    heading = CORRECTED_P_HEADINGS.get(results.plan.correction)
    corrected = Column("p_corrected", heading, show=p_value, hidden=heading is None)
    return Column(heading=name, parts=ESTIMATE, counted=True), P, corrected


def difference_cells(
    test: Contrast | DifferenceTest | Equivalence,
) -> tuple[Estimate, float, float]:
    """Return a difference with p and corrected p."""
    return test.difference, test.p, test.p_corrected


def yes_or_no(value: bool) -> str:
    """Return "yes" or "no"."""
    return "yes" if value else "no"


def deviation_label(value: Value) -> str:
    """Return the heading of standard deviations; SD is also a scale of skims.

    >>> deviation_label(Value("TC", "high", 0, 1, ""))
    'standard deviation'
    """
    return "standard deviation" if value.name in ("TC", "SD") else "SD"


def draw_named_cells(
    title: str,
    columns: Sequence[str],
    rows: Iterable[tuple[Sequence[Any], Mapping[str, Any]]],
    value: Value | None = None,
    names: int = 1,
) -> Table:
    """Return rows of cells below ``columns``, then of cells by the names of further columns."""
    known = list(rows)
    named = list(dict.fromkeys(name for _, cells in known for name in cells))
    filled = ((*place, *map(cells.get, named)) for place, cells in known)
    return draw_rows(title, (*columns, *named), filled, names, value=value)
