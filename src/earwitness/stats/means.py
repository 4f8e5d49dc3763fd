"""The mean of each system's votes, with an interval.

What an interval speaks about depends on what is thought of as drawn by chance:

- ``naive_t``: every vote, as if each came from a listener of its own. It is too narrow wherever
  listeners give more than one vote, and is here to be compared with.
- ``cluster_t``: the listeners. It speaks about *these items* and other listeners of the same kind,
  and keeps its promise also with few listeners.
- ``cluster_bootstrap``: the listeners, without the thought that their means are normal. It too
  speaks about these items; with few listeners it is too narrow.
- ``two_way_bootstrap``: the listeners and the items (the pigeonhole bootstrap, Owen 2007). It
  speaks about other listeners *and other items*.

Means are those of listeners' means, each listener counting once; those of ``naive_t`` and of
``two_way_bootstrap`` are of votes. Nothing is cut at the ends of the scale. ``n`` counts listeners
who voted on the system (votes for ``naive_t``), ``undefined`` those who voted on others only.
A single listener (or vote) has no interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.data import Estimate
from earwitness.stats import student
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.resampling import listener_draws, two_way_draws
from earwitness.stats.student import Moments, ratio
from earwitness.stats.votes import Votes


class Wanted(NamedTuple):
    """What an interval is asked for; those without chance have no use for draws and seed."""

    level: float = 0.95
    draws: int = 2000
    seed: int = 0


def naive_t(votes: Votes, wanted: Wanted) -> list[Estimate]:
    """Votes as if they were independent: t with as many degrees of freedom as votes, less 1."""
    found = vote_moments(votes)
    ends = student.interval(found, wanted.level)
    undefined = np.zeros(votes.size[0])
    return estimates(found.mean, ends, wanted.level, found.n, undefined, "naive_t")


def cluster_t(votes: Votes, wanted: Wanted) -> list[Estimate]:
    """The mean of listeners' means: t with as many degrees of freedom as listeners, less 1."""
    found = student.column_moments(listener_means(votes))
    ends = student.interval(found, wanted.level)
    undefined = votes.size[2] - found.n
    return estimates(found.mean, ends, wanted.level, found.n, undefined, "cluster_t")


def cluster_bootstrap(votes: Votes, wanted: Wanted) -> list[Estimate]:
    """The mean of listeners' means: percentiles over draws of listeners.

    Fewer than five listeners have no interval.
    """
    table = listener_means(votes)
    found = student.column_moments(table)
    drawn = listener_draws(table, wanted.draws, wanted.seed)
    ends = percentiles(drawn, wanted.level, found.n >= FEWEST)
    methods = named("cluster_bootstrap", drawn)
    undefined = votes.size[2] - found.n
    return estimates(found.mean, ends, wanted.level, found.n, undefined, methods)


def two_way_bootstrap(votes: Votes, wanted: Wanted) -> list[Estimate]:
    """The mean of votes: percentiles over draws of listeners and, apart, of items.

    Fewer than five listeners or items have no interval. Draws in which a system has no vote are
    passed over; ``method`` counts them.
    """
    drawn = two_way_draws(votes, wanted.draws, wanted.seed)
    listeners, items = heard(votes)
    ends = percentiles(drawn, wanted.level, np.minimum(listeners, items) >= FEWEST)
    methods = named("two_way_bootstrap", drawn)
    value, undefined = vote_moments(votes).mean, votes.size[2] - listeners
    return estimates(value, ends, wanted.level, listeners, undefined, methods)


Method = Callable[[Votes, Wanted], list[Estimate]]
METHODS: dict[str, Method] = {
    "naive_t": naive_t,
    "cluster_t": cluster_t,
    "cluster_bootstrap": cluster_bootstrap,
    "two_way_bootstrap": two_way_bootstrap,
}


def means(
    votes: Votes, method: str, *, level: float = 0.95, draws: int = 2000, seed: int = 0
) -> list[Estimate]:
    """One estimate a system, by a method of ``METHODS``."""
    return METHODS[method](compact(votes), Wanted(level, draws, seed))


def compact(votes: Votes) -> Votes:
    """Listeners and items without any vote are forgotten, so that they are not drawn."""
    known_items, items = np.unique(votes.items, return_inverse=True)
    known, listeners = np.unique(votes.listeners, return_inverse=True)
    size = votes.size[0], len(known_items), len(known)
    return replace(votes, items=items, listeners=listeners, size=size)


def listener_means(votes: Votes) -> Floats:
    """The mean vote by listener and system, NaN where there is none."""
    return ratio(*votes.sums())


def vote_moments(votes: Votes) -> Moments:
    """Mean, spread and number of votes by system."""
    systems, size = votes.systems, votes.size[0]
    n = np.bincount(systems, minlength=size).astype(np.float64)
    total = np.bincount(systems, votes.values, minlength=size).astype(np.float64)
    apart = votes.values - ratio(total, n)[systems]
    squares = np.bincount(systems, apart**2, minlength=size).astype(np.float64)
    return student.moments(total, squares, n)


def heard(votes: Votes) -> tuple[Floats, Floats]:
    """How many listeners voted on each system, and on how many items."""
    systems, size = votes.systems, votes.size[0]
    found = []
    for codes in (votes.listeners, votes.items):
        pairs = np.unique(codes * size + systems) % size
        found.append(np.bincount(pairs, minlength=size).astype(np.float64))
    return found[0], found[1]


def percentiles(drawn: Floats, level: float, enough: Bools) -> tuple[Floats, Floats]:
    """Both ends, where there is enough to draw from."""
    low, high = percentile_interval(drawn, level)
    return np.where(enough, low, np.nan), np.where(enough, high, np.nan)


def named(method: str, drawn: Floats) -> list[str]:
    """The method of each system, with how many draws had to be passed over, if any."""
    passed = np.isnan(drawn).sum(axis=0).tolist()
    return [f"{method}, draws passed over: {count}" if count else method for count in passed]


def estimates(
    value: Floats,
    ends: tuple[Floats, Floats],
    level: float,
    n: Floats,
    undefined: Floats,
    methods: Sequence[str] | str,
) -> list[Estimate]:
    """Columns as estimates, one a system."""
    methods = [methods] * len(value) if isinstance(methods, str) else methods
    columns = zip(
        value.tolist(), *(end.tolist() for end in ends), n, undefined, methods, strict=True
    )
    return [
        Estimate(value, low, high, level, int(n), int(undefined), method)
        for value, low, high, n, undefined, method in columns
    ]
