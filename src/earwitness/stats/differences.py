"""Differences of votes on two systems, as votes: pairs of systems stand where systems stood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.stats.exact import Bools
from earwitness.stats.student import ratio
from earwitness.stats.votes import Votes

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Differences:
    """Of single items that a listener rated in both systems, and of means where there are none.

    Each difference of means stands for an item of its own, beyond those that are known.
    """

    common: Votes
    loose: Votes

    @property
    def together(self) -> Votes:
        """All of them."""
        both = self.common, self.loose
        return Votes(
            np.concatenate([one.values for one in both]),
            np.concatenate([one.systems for one in both]),
            np.concatenate([one.items for one in both]),
            np.concatenate([one.listeners for one in both]),
            self.loose.size,
        )

    @property
    def without_common(self) -> list[int]:
        """How many listeners of each pair have a difference of means."""
        found: list[int] = np.bincount(self.loose.systems, minlength=self.loose.size[0]).tolist()
        return found


def differences(votes: Votes, pairs: Pairs) -> Differences:
    """The first system of each pair less the second, within listeners."""
    common = _common(votes, pairs)
    return Differences(common, _loose(votes, pairs, common))


def _common(votes: Votes, pairs: Pairs) -> Votes:
    cells = votes.listeners * votes.size[1] + votes.items
    found, shared = [], []
    for pair in pairs:
        a, b = (np.flatnonzero(votes.systems == system) for system in pair)
        both, in_a, in_b = np.intersect1d(
            cells[a], cells[b], assume_unique=True, return_indices=True
        )
        found.append(votes.values[a[in_a]] - votes.values[b[in_b]])
        shared.append(both)
    systems = np.repeat(np.arange(len(pairs)), [len(both) for both in shared])
    listeners, items = np.divmod(np.concatenate(shared), max(1, votes.size[1]))
    size = (len(pairs), *votes.size[1:])
    return Votes(np.concatenate(found), systems, items, listeners, size)


def _loose(votes: Votes, pairs: Pairs, common: Votes) -> Votes:
    means = ratio(*votes.sums())
    a, b = np.array(pairs).T
    apart = means[:, a] - means[:, b]
    apart[common.listeners, common.systems] = np.nan
    listeners, systems = np.nonzero(~np.isnan(apart))
    items = votes.size[1] + listeners
    size = len(pairs), votes.size[1] + votes.size[2], votes.size[2]
    return Votes(apart[listeners, systems], systems, items, listeners, size)


def sides(votes: Votes, pairs: Pairs, found: Differences, which: Bools) -> Votes:
    """Votes on both systems of some pairs by those without a common item: two systems a pair."""
    rows = []
    for pair in np.flatnonzero(which).tolist():
        raters = found.loose.listeners[found.loose.systems == pair]
        by_raters = np.isin(votes.listeners, raters)
        rows += [np.flatnonzero(by_raters & (votes.systems == system)) for system in pairs[pair]]
    systems = np.repeat(np.arange(len(rows)), [len(mine) for mine in rows])
    chosen = votes.chosen(np.concatenate(rows))
    return replace(chosen, systems=systems, size=(len(rows), *votes.size[1:]))
