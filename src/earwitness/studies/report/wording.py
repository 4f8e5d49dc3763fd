"""Wording of intervals, corrections, effect sizes and vote shares in reports."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.studies.results import Results
from earwitness.studies.study import MIXED_MODEL, NO_CORRECTION

UNBOUNDED = (float("-inf"), float("inf"))
MAX_LISTED_NAMES = 50  # names listed in a methods paragraph


@dataclass(frozen=True, slots=True)
class IntervalWording:
    """Wording of an interval method: its name, what it generalizes to, and the matching test."""

    name: str
    scope: str
    test: str = "two-sided per-listener paired t tests"

    @property
    def about(self) -> str:
        """Return the method and its scope as one clause."""
        return f"{self.name}; they generalize to {self.scope}"


INTERVAL_WORDING = {
    "cluster_t": IntervalWording(
        "t intervals over per-listener means", "other listeners on these items"
    ),
    "naive_t": IntervalWording(
        "t intervals over single votes, treated as independent",
        "neither other listeners nor other items (votes of one listener are correlated, so the "
        "intervals are too narrow)",
        "two-sided paired t tests over single differences, treated as independent",
    ),
    "cluster_bootstrap": IntervalWording(
        "a cluster bootstrap over listeners", "other listeners on these items"
    ),
    "two_way_bootstrap": IntervalWording(
        "a two-way bootstrap over listeners and items",
        "other listeners and other items",
        "the same bootstrap, two-sided",
    ),
    MIXED_MODEL: IntervalWording(
        "a linear mixed model (REML) with crossed random intercepts for listeners, items, "
        "listener × system and item × system",
        "other listeners and other items",
        "two-sided t tests of the mixed model with Satterthwaite degrees of freedom",
    ),
}
CORRECTION_WORDING = {
    "holm": "Holm-corrected",
    "bh": "Benjamini–Hochberg-corrected",
    NO_CORRECTION: "not corrected",
}
EFFECT_SIZE_WORDING = {"hedges_g_z": "Hedges' g_z of per-listener differences"}
MIN_GOOD_VOTE = 4  # of five points: Good or better
MAX_POOR_VOTE = 2  # of five points: Poor or worse
GOOD_POOR_SCALES = ("OVRL", "QUALITY", "MOS")  # scales on which 4 is called Good and 2 Poor


def effect_size_name(method: str) -> str:
    """Return the name of an effect size."""
    return EFFECT_SIZE_WORDING.get(method, method)


def correction_clause(results: Results) -> str:
    """Return how p values are corrected."""
    return CORRECTION_WORDING.get(
        results.plan.correction, f"corrected by {results.plan.correction}"
    )


def level_percent(results: Results) -> str:
    """Return the confidence level of intervals in percent."""
    return f"{100 * results.plan.level:.4g} %"


def interval_method(results: Results) -> str:
    """Return the method of the intervals of means; the planned one if they differ."""
    said = {r.mean.method for scale in results.scales for r in scale.systems.values()}
    return said.pop() if len(said) == 1 and said <= {*INTERVAL_WORDING} else results.plan.interval


def count_text(count: int, singular: str, plural: str) -> str:
    """Return a count with its noun.

    >>> count_text(1, "vote", "votes"), count_text(2000, "vote", "votes")
    ('1 vote', '2,000 votes')
    """
    return f"{count:,} {singular if count == 1 else plural}"


def share_words(scale: str) -> dict[str, str]:
    """Return labels for the shares of votes on a scale."""
    named = scale in GOOD_POOR_SCALES
    return {
        "good": "Good or better" if named else f"{MIN_GOOD_VOTE} or more",
        "poor": "Poor or worse" if named else f"{MAX_POOR_VOTE} or less",
        "floor": "at the lowest point",
        "ceiling": "at the highest point",
    }
