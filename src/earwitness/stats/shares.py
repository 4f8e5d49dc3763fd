"""Shares of votes at one end of the scale: Good or better, Poor or worse."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.means import means
from earwitness.stats.votes import Votes


def shares(
    votes: Votes, *, at_least: float = -math.inf, at_most: float = math.inf, level: float = 0.95
) -> list[Estimate]:
    """The share of votes within these limits, one estimate a system.

    It is the mean of listeners' shares with the t interval over listeners, cut to 0 and 1. Like
    that of a mean it speaks about these items and other listeners.
    """
    within = (votes.values >= at_least) & (votes.values <= at_most)
    of_votes = replace(votes, values=within.astype(np.float64))
    return [_cut(found) for found in means(of_votes, "cluster_t", level=level)]


def _cut(share: Estimate) -> Estimate:
    """An interval that does not leave 0 to 1; where all listeners agree nothing is known of others.

    NaN stays.
    """
    if share.low == share.high:
        return replace(share, low=math.nan, high=math.nan)
    low, high = np.clip([share.low, share.high], 0, 1).tolist()
    return replace(share, low=low, high=high)
