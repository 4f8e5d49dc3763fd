"""People against people: what a metric can hardly beat."""

from __future__ import annotations

import math

import numpy as np

from earwitness.concordance.asked import Asked
from earwitness.data import Estimate, Figure, HumanCeiling
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.concord.ceiling import Ceiling
from earwitness.stats.concord.ceiling import ceilings as people_alone
from earwitness.stats.votes import Votes

LEAST = 3  # raters


def ceilings(asked: Asked) -> list[HumanCeiling]:
    """By every figure; none where votes of single raters are not known, or of too few."""
    settings = asked.settings
    if not isinstance(asked.given, Votes) or len(np.unique(asked.given.listeners)) < LEAST:
        return []
    found = []
    for level in asked.levels:
        if level == "global":
            continue
        names, given = settings.figures(level), asked.at(level).given
        assert isinstance(given, Votes)
        both = people_alone(given, level, names, splits=settings.splits, seed=settings.seed)
        for name, (rater, halves) in zip(names, both, strict=True):
            found.append(
                HumanCeiling(
                    Figure(level, name),
                    _estimate(rater, settings.level, "a rater against the others"),
                    _estimate(halves, settings.level, "halves of the raters"),
                    halves.stepped,
                )
            )
    return found


def _estimate(found: Ceiling, level: float, method: str) -> Estimate:
    """The mean; the range of most raters or splits."""
    low = high = math.nan
    if found.n >= FEWEST:
        ends = percentile_interval(found.values[~np.isnan(found.values)][:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(found.mean, low, high, level, found.n, found.undefined, method)
