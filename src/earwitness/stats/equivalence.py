"""Equivalence of two systems: two one-sided tests (TOST) that they differ by less than a margin.

That a difference was not found says nothing about how large it may be. Two systems are shown to be
equivalent when both tests reject: that of a difference of at most −margin, and that of one of at
least +margin. p is the larger of the two. The same is to say that the interval at 1 − 2 alpha lies
within the margin; the smallest margin into which it fits is given whether or not one was said.

Tests are those of ``contrasts``: t over listeners (also beside the bootstrap over listeners),
t over votes for ``naive_t``, draws for ``two_way_bootstrap``, the mixed model for ``mixed``. Where
differences have no spread there is no test.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.data import Estimate
from earwitness.stats import student
from earwitness.stats.bootstrap import percentile_interval
from earwitness.stats.contrasts import difference_draws
from earwitness.stats.differences import Pairs, differences
from earwitness.stats.exact import Floats
from earwitness.stats.means import Wanted, compact, listener_means, vote_moments
from earwitness.stats.mixed import Fitted, fit, known_error
from earwitness.stats.student import ALIKE
from earwitness.stats.votes import Votes

MIXED, TWO_WAY, NAIVE, OVER_LISTENERS = "mixed", "two_way_bootstrap", "naive_t", "cluster_t"


class Within(NamedTuple):
    """A difference with its interval at 1 − 2 alpha, and p of its lying beyond the margin."""

    difference: Estimate
    p: float

    @property
    def smallest(self) -> float:
        """The smallest margin that holds the interval."""
        low, high = self.difference.low, self.difference.high
        return float("nan") if low != low or high != high else max(abs(low), abs(high))


def equivalences(
    votes: Votes,
    pairs: Pairs,
    margin: float,
    method: str = OVER_LISTENERS,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    fitted: Fitted | None = None,
) -> list[Within]:
    """One a pair; a margin that is NaN has no p. ``level`` is that of the test: 1 − alpha."""
    if not pairs:
        return []
    wide = round(2 * level - 1, 12)
    if method == MIXED:
        return _modelled(votes, pairs, margin, wide, fitted)
    votes = compact(votes)
    if method == TWO_WAY:
        return _drawn(votes, pairs, margin, Wanted(wide, draws, seed))
    rows = differences(votes, pairs).together
    naive = method == NAIVE
    found = vote_moments(rows) if naive else student.column_moments(listener_means(rows))
    error = np.where(found.sd > ALIKE * np.maximum(1, np.abs(found.mean)), found.sd, np.nan)
    error = error / np.sqrt(np.where(found.n > 0, found.n, np.nan))
    name, undefined = (NAIVE, 0.0) if naive else (OVER_LISTENERS, votes.size[2] - found.n)
    counts = found.n, np.broadcast_to(undefined, found.n.shape)
    return _by_t(found.mean, error, found.n - 1, margin, wide, counts, name)


def _by_t(
    value: Floats,
    error: Floats,
    freedom: Floats,
    margin: float,
    wide: float,
    counts: tuple[Floats, Floats],
    name: str,
) -> list[Within]:
    from scipy.special import stdtr, stdtrit

    free = np.where(freedom > 0, freedom, np.nan)
    reach = stdtrit(free, (1 + wide) / 2) * error
    p = np.maximum(stdtr(free, -(value + margin) / error), stdtr(free, (value - margin) / error))
    columns = (value, value - reach, value + reach, *counts, p)
    return [
        Within(Estimate(x, low, high, wide, int(n), int(lacking), name), one)
        for x, low, high, n, lacking, one in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _modelled(
    votes: Votes, pairs: Pairs, margin: float, wide: float, fitted: Fitted | None
) -> list[Within]:
    model, rows = fitted or fit(votes), np.eye(votes.size[0])
    weights = [rows[a] - rows[b] for a, b in pairs]
    found = np.array([known_error(votes, model, one) for one in weights])
    value, error, freedom, n = found.T
    return _by_t(value, error, freedom, margin, wide, (n, np.zeros(len(n))), MIXED)


def _drawn(votes: Votes, pairs: Pairs, margin: float, wanted: Wanted) -> list[Within]:
    """p by shares of draws beyond either end of the margin, and never 0."""
    found = difference_draws(votes, pairs, differences(votes, pairs), wanted)
    low, high = percentile_interval(found.drawn, wanted.level)
    known = (~np.isnan(found.drawn)).sum(axis=0)
    beyond = np.maximum((found.drawn <= -margin).sum(axis=0), (found.drawn >= margin).sum(axis=0))
    still = found.drawn.max(axis=0, initial=-np.inf) - found.drawn.min(axis=0, initial=np.inf)
    right = found.enough & (still > ALIKE) & (margin == margin)
    p = np.where(right, (1 + beyond) / (known + 1), np.nan)
    ends = np.where(found.enough, [low, high], np.nan)
    columns = (found.value, *ends, found.listeners, p)
    return [
        Within(Estimate(x, a, b, wanted.level, int(n), votes.size[2] - int(n), TWO_WAY), one)
        for x, a, b, n, one in zip(*(c.tolist() for c in columns), strict=True)
    ]
