"""Names of intervals, corrections, effect sizes and vote shares in words."""

from __future__ import annotations

from dataclasses import dataclass

from earwitness.studies.results import Results
from earwitness.studies.study import MIXED_MODEL, NO_CORRECTION

UNBOUNDED = (float("-inf"), float("inf"))
MAX_LISTED_NAMES = 50  # names that a paragraph holds


@dataclass(frozen=True, slots=True)
class IntervalWording:
    """A kind of interval: how it is made, to whom or what it generalises, and the test beside."""

    name: str
    scope: str
    test: str = "two-sided paired t tests over listeners"

    @property
    def about(self) -> str:
        """How it is made, and its scope, in a line."""
        return f"{self.name}; they generalise to {self.scope}"


INTERVAL_WORDING = {
    "cluster_t": IntervalWording(
        "t intervals over the means of listeners", "other listeners on these items"
    ),
    "naive_t": IntervalWording(
        "t intervals over single votes, as if these were independent",
        "nobody else: votes of one listener are alike, so they are too narrow",
        "two-sided paired t tests over single differences, as if these were independent",
    ),
    "cluster_bootstrap": IntervalWording(
        "a bootstrap over listeners", "other listeners on these items"
    ),
    "two_way_bootstrap": IntervalWording(
        "a bootstrap over listeners and items",
        "other listeners and other items",
        "the same bootstrap, two-sided",
    ),
    MIXED_MODEL: IntervalWording(
        "a linear mixed model with crossed random intercepts of listeners, items, and both with "
        "systems",
        "other listeners and other items",
        "two-sided t tests of the mixed model with Satterthwaite's degrees of freedom",
    ),
}
CORRECTION_WORDING = {
    "holm": "corrected by Holm's method",
    "bh": "corrected by the method of Benjamini and Hochberg",
    NO_CORRECTION: "not corrected",
}
EFFECT_SIZE_WORDING = {"hedges_g_z": "Hedges' g of differences within listeners"}
MIN_GOOD_VOTE = 4  # of five points: Good or better
MAX_POOR_VOTE = 2  # of five points: Poor or worse
GOOD_POOR_SCALES = ("OVRL", "QUALITY", "MOS")  # scales on which 4 is called Good and 2 Poor


def effect_size_name(method: str) -> str:
    """What the size of an effect is called."""
    return EFFECT_SIZE_WORDING.get(method, method)


def correction_clause(results: Results) -> str:
    """How p values are corrected."""
    return CORRECTION_WORDING.get(
        results.plan.correction, f"corrected by {results.plan.correction}"
    )


def level_percent(results: Results) -> str:
    """The level of intervals."""
    return f"{100 * results.plan.level:.4g} %"


def interval_method(results: Results) -> str:
    """How intervals of means were made: as all of them say, else as was planned."""
    said = {r.mean.method for scale in results.scales for r in scale.systems.values()}
    return said.pop() if len(said) == 1 and said <= {*INTERVAL_WORDING} else results.plan.interval


def count_text(count: int, singular: str, plural: str) -> str:
    """A count of things.

    >>> count_text(1, "vote", "votes"), count_text(2000, "vote", "votes")
    ('1 vote', '2,000 votes')
    """
    return f"{count:,} {singular if count == 1 else plural}"


def share_words(scale: str) -> dict[str, str]:
    """What shares of votes are called on a scale."""
    named = scale in GOOD_POOR_SCALES
    return {
        "good": "Good or better" if named else f"{MIN_GOOD_VOTE} or more",
        "poor": "Poor or worse" if named else f"{MAX_POOR_VOTE} or less",
        "floor": "at the lowest",
        "ceiling": "at the highest",
    }
