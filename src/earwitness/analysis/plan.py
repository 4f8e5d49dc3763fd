"""The plan of an analysis: screening rules, groups, margins, and the choices of methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

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


# --- The plan ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Rule:
    """A planned screening rule with its limits."""

    name: str
    limits: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The analysis, planned before listening starts.

    Parameters
    ----------
    scales
        Scales to analyse. By default all.
    contrasts
        Pairs of systems to compare. By default all pairs.
    interval
        Method of confidence intervals.
    level
        Confidence level of intervals.
    correction
        Correction for multiple comparisons.
    test
        Test of pairs of systems; wilcoxon: signed-rank tests over listeners, and a Friedman test of
        all systems.
    adjust
        What means are adjusted for, if systems were rated on different items.
    anchors
        Systems that are rated but not ranked, by scale; those of all scales under ``ALL_SCALES``.
    by
        Fields by which results are grouped: columns of the material, jury, or questions of forms;
        for captions, dataset and jury by default (none: no grouping).
    margins
        Equivalence margin per scale: systems that differ by less are equivalent.
    """

    scales: tuple[str, ...] = ()
    contrasts: Annotated[tuple[tuple[str, str], ...], "A:B"] = ()
    interval: Annotated[str, ANALYSIS_INTERVALS] = "cluster_t"
    level: float = 0.95
    correction: Annotated[str, ANALYSIS_CORRECTIONS] = "holm"
    by: Annotated[tuple[str, ...], "FIELD"] = ()
    margins: Annotated[Mapping[str, float], "SCALE=POINTS"] = field(default_factory=dict)
    test: Annotated[str, ANALYSIS_TESTS] = T_TEST
    anchors: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    adjust: Annotated[str, ANALYSIS_ADJUSTMENTS] = NOT_ADJUSTED


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysisBlock(Analysis):
    """The keys of a planned analysis in a study file.

    Parameters
    ----------
    generalize
        To whom results generalize: other listeners on these items, or other items as well (interval
        mixed). By default as the interval method does.
    """

    generalize: Annotated[str, POPULATIONS] = ""


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
