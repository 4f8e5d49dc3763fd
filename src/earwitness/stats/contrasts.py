"""Differences within listeners, group interactions, and equivalence tests (TOST)."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats import significance
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval, two_way_draws
from earwitness.stats.means import (
    METHODS,
    IntervalSettings,
    between,
    compact,
    estimates,
    heard,
    listener_means,
    named,
    percentiles,
    vote_moments,
)
from earwitness.stats.mixed_model import MixedModelFit, fit, known_error, mixed_contrasts
from earwitness.stats.significance import SPREAD_TOLERANCE
from earwitness.stats.votes import Codes, Differences, Pairs, Votes, differences, sides

# --- Differences within listeners ----------------------------------------------------------------
# A listener's difference is the mean, over the items on which they rated both systems, of the vote
# on ``a`` less the vote on ``b``; items rated in one system only do not count. Some designs give a
# listener no common item: then it is the difference of their two means, and ``method`` says for how
# many listeners. Intervals are those of ``means``, with differences for votes, and speak about the
# same things.
#
# The two-way bootstrap needs to know the item of a difference. It leaves listeners without a common
# item out if others have some; if nobody has, it takes the difference of the systems' means in
# every draw, over listeners who rated both. ``method`` says so.
#
# p is that of the paired t test over listeners, whatever the interval; only ``naive_t`` has its
# own, over single differences. If all differences are equal, p is 1 where they are 0 and undefined
# elsewhere. The effect is Hedges' g_z of listeners' differences, whatever the interval.


DIFFERENCE_TOLERANCE = 1e-12  # differences below this are rounding


class ContrastEstimate(NamedTuple):
    """The difference of two systems, its p, and its size in standard deviations of listeners."""

    difference: Estimate
    p: float
    effect: Estimate


def contrast(
    votes: Votes,
    a: int,
    b: int,
    method: str = "cluster_t",
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> ContrastEstimate:
    """How much higher ``a`` is rated than ``b``."""
    return contrasts(votes, [(a, b)], method, level=level, draws=draws, seed=seed)[0]


def contrasts(
    votes: Votes,
    pairs: Pairs,
    method: str = "cluster_t",
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> list[ContrastEstimate]:
    """One a pair; all share the draws, and none depends on the others."""
    if not pairs:
        return []
    votes, wanted = compact(votes), IntervalSettings(level, draws, seed)
    rows = differences(votes, pairs)
    by_listener = significance.column_moments(listener_means(rows.together))
    effects = _effects(by_listener, votes.size[2], level)
    if method == "two_way_bootstrap":
        found, p = _two_way(votes, pairs, rows, wanted)
    else:
        found = _by_means(METHODS[method](rows.together, wanted), rows.without_common)
        tested = vote_moments(rows.together) if method == "naive_t" else by_listener
        p = significance.compute_t_p_values(tested).tolist()
    return [ContrastEstimate(*one) for one in zip(found, p, effects, strict=True)]


def _by_means(found: list[Estimate], without_common: list[int]) -> list[Estimate]:
    """Estimates that say how many listeners had no common item."""
    said = [_without_common(count, "by means") for count in without_common]
    return [replace(one, method=one.method + more) for one, more in zip(found, said, strict=True)]


def _effects(found: significance.Moments, listeners: int, level: float) -> list[Estimate]:
    value, *ends = significance.effect_sizes(found, level)
    return estimates(value, (ends[0], ends[1]), level, found.n, listeners - found.n, "hedges_g_z")


class ContrastDraws(NamedTuple):
    """Differences of pairs, a row a draw, and what they rest on.

    ``alone`` are pairs of which nobody has a common item; there is ``enough`` for an interval.
    """

    drawn: Floats
    value: Floats
    listeners: Floats
    enough: Bools
    alone: Bools


def difference_draws(
    votes: Votes, pairs: Pairs, rows: Differences, wanted: IntervalSettings
) -> ContrastDraws:
    """Listeners and items drawn anew.

    Of common items where there are any; else the difference of draws of both means.
    """
    drawn = two_way_draws(rows.common, wanted.draws, wanted.seed)
    value, (listeners, items) = vote_moments(rows.common).mean, heard(rows.common)
    alone = items == 0
    if alone.any():
        both = sides(votes, pairs, rows, alone)
        drawn[:, alone] = _apart(two_way_draws(both, wanted.draws, wanted.seed))
        value[alone] = _apart(vote_moments(both).mean)
        listeners[alone], items[alone] = (of.reshape(-1, 2).min(axis=1) for of in heard(both))
    return ContrastDraws(
        drawn, value, listeners, np.minimum(listeners, items) >= MIN_CASES_FOR_INTERVAL, alone
    )


def _two_way(
    votes: Votes, pairs: Pairs, rows: Differences, wanted: IntervalSettings
) -> tuple[list[Estimate], list[float]]:
    """p is by the same draws as the interval: both speak about other listeners and other items."""
    made = difference_draws(votes, pairs, rows, wanted)
    ends = percentiles(made.drawn, wanted.level, made.enough)
    undefined = votes.size[2] - made.listeners
    methods = _two_way_methods(made.drawn, made.alone, rows.without_common)
    found = estimates(made.value, ends, wanted.level, made.listeners, undefined, methods)
    return found, np.where(made.enough, _crossed(made.drawn), np.nan).tolist()


def _crossed(drawn: Floats) -> Floats:
    """Twice the share of draws on the other side of 0, and never 0: p of a percentile interval.

    Draws that are all alike but not 0 come of votes without any spread, and have none.
    """
    known = ~np.isnan(drawn)
    least = np.where(known, drawn, np.inf).min(axis=0, initial=np.inf)
    most = np.where(known, drawn, -np.inf).max(axis=0, initial=-np.inf)
    still = (most - least <= DIFFERENCE_TOLERANCE) & (np.abs(most) > DIFFERENCE_TOLERANCE)
    beyond = 1 + np.minimum(
        (drawn <= DIFFERENCE_TOLERANCE).sum(axis=0), (drawn >= -DIFFERENCE_TOLERANCE).sum(axis=0)
    )
    p = np.minimum(1.0, 2 * beyond / (known.sum(axis=0) + 1))
    return np.where(still, np.nan, p)


def _apart(both: Floats) -> Floats:
    """The first of each two columns less the second."""
    return np.asarray(both[..., ::2] - both[..., 1::2])


def _two_way_methods(drawn: Floats, alone: Bools, without_common: list[int]) -> list[str]:
    said = [
        _without_common(count, "by means" if by_means else "left out")
        for count, by_means in zip(without_common, alone.tolist(), strict=True)
    ]
    return [a + b for a, b in zip(named("two_way_bootstrap", drawn), said, strict=True)]


def _without_common(count: int, how: str) -> str:
    """What became of listeners without a common item, if there are any."""
    return f", without a common item, {how}: {count}" if count else ""


# --- Interactions with groups --------------------------------------------------------------------
# The rows are differences of two systems within a listener and an item, so what a listener or an
# item has in common for both systems is gone. Groups are of items, or of listeners.
#
# By t over listeners, on these items: a listener's mean difference in one group of items less that
# in another, or Welch's test between groups of listeners. The bootstrap over listeners has the t
# test here as elsewhere; the two-way bootstrap compares groups of items by its own draws, and
# groups of listeners by Welch's test.
#
# By the mixed model, for other listeners and items: groups stand where systems stand, so that
# listeners and items, and either with a group, differ by chance. What cannot be told apart, such as
# an item and an item in its only group, is one thing in the model.


EstimatesWithP = list[tuple[Estimate, float]]


def group_differences(
    votes: Votes, pair: tuple[int, int], groups: Codes, *, of_listeners: bool
) -> Votes:
    """Differences of two systems, with groups where systems stand.

    ``groups`` has the group of every item, or listener, by its number; −1 is none.
    """
    rows = differences(votes, [pair]).common
    own = groups[rows.listeners if of_listeners else rows.items]
    count = int(groups.max(initial=-1)) + 1
    there = rows.chosen(own >= 0)
    return replace(there, systems=own[own >= 0], size=(count, *rows.size[1:]))


def over_listeners(
    rows: Votes,
    pairs: Pairs,
    method: str = "cluster_t",
    *,
    of_listeners: bool,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
) -> EstimatesWithP:
    """For pairs of groups: the first less the second, and p of their being the same."""
    if of_listeners:
        means = listener_means(rows)
        return [_between(means[:, a], means[:, b], level) for a, b in pairs]
    found = contrasts(rows, list(pairs), method, level=level, draws=draws, seed=seed)
    return [(replace(one.difference, method=method), one.p) for one in found]


def _between(a: Floats, b: Floats, level: float) -> tuple[Estimate, float]:
    known = [own[~np.isnan(own)] for own in (a, b)]
    first = np.repeat([True, False], [len(own) for own in known])
    strata = np.zeros(len(first), np.int64)
    return between(np.concatenate(known), first, strata, level)


def modelled(rows: Votes, pairs: Pairs, *, level: float = 0.95) -> EstimatesWithP:
    """The same by the mixed model."""
    return mixed_contrasts(rows, pairs, level=level)


# --- Equivalence tests (TOST) --------------------------------------------------------------------
# That a difference was not found says nothing about how large it may be. Two systems are shown to
# be equivalent when both tests reject: that of a difference of at most −margin, and that of one of
# at least +margin. p is the larger of the two. The same is to say that the interval at 1 − 2 alpha
# lies within the margin; the smallest margin into which it fits is given whether or not one was
# said.
#
# Tests are those of ``contrasts``: t over listeners (also beside the bootstrap over listeners), t
# over votes for ``naive_t``, draws for ``two_way_bootstrap``, the mixed model for ``mixed``. Where
# differences have no spread there is no test.


MIXED_MODEL, TWO_WAY_BOOTSTRAP, NAIVE_T, CLUSTER_T = (
    "mixed",
    "two_way_bootstrap",
    "naive_t",
    "cluster_t",
)


class EquivalenceTest(NamedTuple):
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
    method: str = CLUSTER_T,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 0,
    fitted: MixedModelFit | None = None,
) -> list[EquivalenceTest]:
    """One a pair; a margin that is NaN has no p. ``level`` is that of the test: 1 − alpha."""
    if not pairs:
        return []
    wide = round(2 * level - 1, 12)
    if method == MIXED_MODEL:
        return _modelled(votes, pairs, margin, wide, fitted)
    votes = compact(votes)
    if method == TWO_WAY_BOOTSTRAP:
        return _drawn(votes, pairs, margin, IntervalSettings(wide, draws, seed))
    rows = differences(votes, pairs).together
    naive = method == NAIVE_T
    found = vote_moments(rows) if naive else significance.column_moments(listener_means(rows))
    error = np.where(
        found.sd > SPREAD_TOLERANCE * np.maximum(1, np.abs(found.mean)), found.sd, np.nan
    )
    error = error / np.sqrt(np.where(found.n > 0, found.n, np.nan))
    name, undefined = (NAIVE_T, 0.0) if naive else (CLUSTER_T, votes.size[2] - found.n)
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
) -> list[EquivalenceTest]:
    from scipy.special import stdtr, stdtrit

    free = np.where(freedom > 0, freedom, np.nan)
    reach = stdtrit(free, (1 + wide) / 2) * error
    p = np.maximum(stdtr(free, -(value + margin) / error), stdtr(free, (value - margin) / error))
    columns = (value, value - reach, value + reach, *counts, p)
    return [
        EquivalenceTest(Estimate(x, low, high, wide, int(n), int(lacking), name), one)
        for x, low, high, n, lacking, one in zip(*(c.tolist() for c in columns), strict=True)
    ]


def _modelled(
    votes: Votes, pairs: Pairs, margin: float, wide: float, fitted: MixedModelFit | None
) -> list[EquivalenceTest]:
    model, rows = fitted or fit(votes), np.eye(votes.size[0])
    weights = [rows[a] - rows[b] for a, b in pairs]
    found = np.array([known_error(votes, model, one) for one in weights])
    value, error, freedom, n = found.T
    return _by_t(value, error, freedom, margin, wide, (n, np.zeros(len(n))), MIXED_MODEL)


def _drawn(
    votes: Votes, pairs: Pairs, margin: float, wanted: IntervalSettings
) -> list[EquivalenceTest]:
    """p by shares of draws beyond either end of the margin, and never 0."""
    found = difference_draws(votes, pairs, differences(votes, pairs), wanted)
    low, high = percentile_interval(found.drawn, wanted.level)
    known = (~np.isnan(found.drawn)).sum(axis=0)
    beyond = np.maximum((found.drawn <= -margin).sum(axis=0), (found.drawn >= margin).sum(axis=0))
    still = found.drawn.max(axis=0, initial=-np.inf) - found.drawn.min(axis=0, initial=np.inf)
    right = found.enough & (still > SPREAD_TOLERANCE) & (margin == margin)
    p = np.where(right, (1 + beyond) / (known + 1), np.nan)
    ends = np.where(found.enough, [low, high], np.nan)
    columns = (found.value, *ends, found.listeners, p)
    return [
        EquivalenceTest(
            Estimate(x, a, b, wanted.level, int(n), votes.size[2] - int(n), TWO_WAY_BOOTSTRAP), one
        )
        for x, a, b, n, one in zip(*(c.tolist() for c in columns), strict=True)
    ]
