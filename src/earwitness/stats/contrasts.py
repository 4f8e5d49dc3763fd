"""Differences between two systems within listeners.

A listener's difference is the mean, over the items on which they rated both systems, of the vote on
``a`` less the vote on ``b``; items rated in one system only do not count. Some designs give a
listener no common item: then it is the difference of their two means, and ``method`` says for how
many listeners. Intervals are those of ``means``, with differences for votes, and speak about the
same things.

The two-way bootstrap needs to know the item of a difference. It leaves listeners without a common
item out if others have some; if nobody has, it takes the difference of the systems' means in every
draw, over listeners who rated both. ``method`` says so.

p is that of the paired t test over listeners, whatever the interval; only ``naive_t`` has its own,
over single differences. If all differences are equal, p is 1 where they are 0 and undefined
elsewhere. The effect is Hedges' g_z of listeners' differences, whatever the interval.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.data import Estimate
from earwitness.stats import student
from earwitness.stats.bootstrap import FEWEST
from earwitness.stats.differences import Differences, Pairs, differences, sides
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.means import (
    METHODS,
    Wanted,
    compact,
    estimates,
    heard,
    listener_means,
    named,
    percentiles,
    vote_moments,
)
from earwitness.stats.resampling import two_way_draws
from earwitness.stats.votes import Votes

STILL = 1e-12  # differences below this are rounding


class Paired(NamedTuple):
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
) -> Paired:
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
) -> list[Paired]:
    """One a pair; all share the draws, and none depends on the others."""
    if not pairs:
        return []
    votes, wanted = compact(votes), Wanted(level, draws, seed)
    rows = differences(votes, pairs)
    by_listener = student.column_moments(listener_means(rows.together))
    effects = _effects(by_listener, votes.size[2], level)
    if method == "two_way_bootstrap":
        found, p = _two_way(votes, pairs, rows, wanted)
    else:
        found = _by_means(METHODS[method](rows.together, wanted), rows.without_common)
        tested = vote_moments(rows.together) if method == "naive_t" else by_listener
        p = student.p_values(tested).tolist()
    return [Paired(*one) for one in zip(found, p, effects, strict=True)]


def _by_means(found: list[Estimate], without_common: list[int]) -> list[Estimate]:
    """Estimates that say how many listeners had no common item."""
    said = [_without_common(count, "by means") for count in without_common]
    return [replace(one, method=one.method + more) for one, more in zip(found, said, strict=True)]


def _effects(found: student.Moments, listeners: int, level: float) -> list[Estimate]:
    value, *ends = student.effect_sizes(found, level)
    return estimates(value, (ends[0], ends[1]), level, found.n, listeners - found.n, "hedges_g_z")


class Drawn(NamedTuple):
    """Differences of pairs, a row a draw, and what they rest on.

    ``alone`` are pairs of which nobody has a common item; there is ``enough`` for an interval.
    """

    drawn: Floats
    value: Floats
    listeners: Floats
    enough: Bools
    alone: Bools


def difference_draws(votes: Votes, pairs: Pairs, rows: Differences, wanted: Wanted) -> Drawn:
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
    return Drawn(drawn, value, listeners, np.minimum(listeners, items) >= FEWEST, alone)


def _two_way(
    votes: Votes, pairs: Pairs, rows: Differences, wanted: Wanted
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
    still = (most - least <= STILL) & (np.abs(most) > STILL)
    beyond = 1 + np.minimum((drawn <= STILL).sum(axis=0), (drawn >= -STILL).sum(axis=0))
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
