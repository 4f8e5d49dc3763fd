"""The plan of an analysis: screening rules, groups, margins, and the choices of methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """A planned screening rule with its limits."""

    name: str
    limits: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis, planned before listening starts.

    ``by`` names fields of items or listeners by which results are grouped; ``margins`` has the
    equivalence margin of each scale. ``test`` is the test of pairs over listeners. ``anchors`` has
    the anchor systems of each scale, those of all scales under ``ALL_SCALES``. ``adjust`` is what
    means are adjusted for.
    """

    scales: tuple[str, ...] = ()
    contrasts: tuple[tuple[str, str], ...] = ()
    interval: str = "cluster_t"
    level: float = 0.95
    correction: str = "holm"
    by: tuple[str, ...] = ()
    margins: Mapping[str, float] = field(default_factory=dict)
    test: str = "t"
    anchors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adjust: str = "none"


# --- Choices of an analysis plan -----------------------------------------------------------------


MIXED_MODEL, NO_CORRECTION = "mixed", "none"
ANALYSIS_INTERVALS = (
    "cluster_t",
    "naive_t",
    "cluster_bootstrap",
    "two_way_bootstrap",
    MIXED_MODEL,
)
ANALYSIS_CORRECTIONS = ("holm", "bh", NO_CORRECTION)
T_TEST, WILCOXON = "t", "wilcoxon"
ANALYSIS_TESTS = (T_TEST, WILCOXON)
NOT_ADJUSTED, FOR_ITEMS = "none", "items"
ANALYSIS_ADJUSTMENTS = (NOT_ADJUSTED, FOR_ITEMS)
LISTENER_INTERVALS = ("cluster_t", "cluster_bootstrap")  # with tests of differences of listeners
ITEM_INTERVALS = (MIXED_MODEL, "two_way_bootstrap")  # which generalize to other items as well
# intervals by the population to which results generalize, the usual one first
POPULATIONS = {"listeners": LISTENER_INTERVALS, "items": ITEM_INTERVALS}
POPULATION_TEXTS = {
    "listeners": "other listeners on these items",
    "items": "other listeners and other items",
}


def interval_for(population: str, interval: str) -> str:
    """Return the interval method for a population: the named one if it fits, else the usual one.

    Empty if the named method is for another population and not the default of all analyses.
    """
    methods = POPULATIONS[population]
    if interval in methods:
        return interval
    return methods[0] if interval in ("", Analysis().interval) else ""


ANCHOR_CUTOFFS_HZ = {"anchor35": 3500.0, "anchor70": 7000.0}  # of the usual anchors of MUSHRA
ALL_SCALES = ""  # key of anchors that hold for all scales
NO_GROUPS = "none"  # results are not grouped
