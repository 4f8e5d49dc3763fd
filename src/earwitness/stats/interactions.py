"""Whether two systems differ more in one group than in another.

The rows are differences of two systems within a listener and an item, so what a listener or an item
has in common for both systems is gone. Groups are of items, or of listeners.

By t over listeners, on these items: a listener's mean difference in one group of items less that in
another, or Welch's test between groups of listeners. The bootstrap over listeners has the t test
here as elsewhere; the two-way bootstrap compares groups of items by its own draws, and groups of
listeners by Welch's test.

By the mixed model, for other listeners and items: groups stand where systems stand, so that
listeners and items, and either with a group, differ by chance. What cannot be told apart, such as
an item and an item in its only group, is one thing in the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.contrasts import contrasts
from earwitness.stats.differences import differences
from earwitness.stats.exact import Floats
from earwitness.stats.means import listener_means
from earwitness.stats.mixed import mixed_contrasts
from earwitness.stats.over_listeners import between
from earwitness.stats.votes import Codes, Votes

Pairs = Sequence[tuple[int, int]]
Found = list[tuple[Estimate, float]]


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
) -> Found:
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


def modelled(rows: Votes, pairs: Pairs, *, level: float = 0.95) -> Found:
    """The same by the mixed model."""
    return mixed_contrasts(rows, pairs, level=level)
