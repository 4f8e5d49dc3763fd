"""Votes as arrays, vote differences between systems, and leave-one-out listener figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import ratio

# --- Votes as arrays -----------------------------------------------------------------------------


Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Votes:
    """Four columns of equal length; systems, items and listeners are numbered from 0.

    ``size`` says how many systems, items and listeners are known; some may have no vote. A listener
    has one vote a stimulus (an item of a system): what is doubled was resolved before.
    """

    values: Floats
    systems: Codes
    items: Codes
    listeners: Codes
    size: tuple[int, int, int]

    def chosen(self, which: Bools | Codes) -> Votes:
        """Some of the votes; numbers of systems, items and listeners stay."""
        return replace(
            self,
            values=self.values[which],
            systems=self.systems[which],
            items=self.items[which],
            listeners=self.listeners[which],
        )

    @property
    def stimuli(self) -> Codes:
        """The number of each vote's stimulus: its item times the systems, plus its system."""
        return self.items * self.size[0] + self.systems

    def sums(self) -> tuple[Floats, Floats]:
        """By listener and system: the sum of votes, and how many they are."""
        shape = self.size[2], self.size[0]
        cells = self.listeners * shape[1] + self.systems
        count = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.float64)
        total = np.bincount(cells, self.values, minlength=shape[0] * shape[1])
        return total.astype(np.float64).reshape(shape), count.reshape(shape)

    def table(self) -> Floats:
        """Stimuli by listeners; NaN where there is no vote."""
        found = np.full((self.size[0] * self.size[1], self.size[2]), np.nan)
        found[self.stimuli, self.listeners] = self.values
        return found

    def panels(self) -> list[list[int]]:
        """Listeners who are linked by stimuli that both voted on, the first panel first.

        >>> zeros = np.zeros(3, np.int64)
        >>> votes = Votes(np.ones(3), zeros, np.array([0, 1, 0]), np.arange(3), (1, 2, 3))
        >>> votes.panels()
        [[0, 2], [1]]
        """
        parts = connected(~np.isnan(self.table()))
        return [np.flatnonzero(parts == n).tolist() for n in range(int(parts.max(initial=-1)) + 1)]


def connected(there: Bools) -> Codes:
    """The number of each listener's part: those linked by stimuli that both voted on.

    Rows are stimuli, columns listeners; those without a vote have -1.
    """
    shared = (there.T.astype(np.float64) @ there) > 0
    parts = np.full(there.shape[1], -1, np.int64)
    for listener in np.flatnonzero(there.any(axis=0)):
        if parts[listener] < 0:
            own = reached = shared[listener]
            while reached.any():
                reached = shared[reached].any(axis=0) & ~own
                own = own | reached
            parts[own] = parts.max() + 1
    return parts


# --- Differences of votes ------------------------------------------------------------------------


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


# --- Listeners against the others ----------------------------------------------------------------


RELATIVE_SPREAD_TOLERANCE = 1e-9  # a spread below this part of the largest vote is rounding


class LeaveOneOutFigures(NamedTuple):
    """By listener, over stimuli on which others voted too; NaN where undefined.

    ``bias`` is the mean difference, ``inconsistency`` the SD of differences about it (n − 1),
    ``correlation`` Pearson's, ``rmse`` the root of the mean squared difference. A correlation needs
    votes that vary on both sides.
    """

    compared: Codes
    bias: Floats
    inconsistency: Floats
    correlation: Floats
    rmse: Floats


def beside_others(table: Floats) -> LeaveOneOutFigures:
    """Figures of a table with a row a stimulus and a column a listener; NaN where no vote is."""
    there = ~np.isnan(table)
    votes = np.where(there, table, 0.0)
    count = there.sum(axis=1, keepdims=True)
    both = there & (count > 1)
    n = both.sum(axis=0)
    sums = votes.sum(axis=1, keepdims=True) - votes
    others = np.where(both, sums / np.maximum(count - 1, 1), 0.0)
    own = np.where(both, votes, 0.0)
    away = own - others
    bias = _ratio(away.sum(axis=0), n)
    spread = _ratio(((away - bias) ** 2).sum(axis=0, where=both), n - 1)
    rmse = np.sqrt(_ratio((away**2).sum(axis=0), n))
    return LeaveOneOutFigures(n, bias, np.sqrt(spread), _correlation(own, others, both), rmse)


def _correlation(own: Floats, others: Floats, both: Bools) -> Floats:
    n = both.sum(axis=0)
    x = np.where(both, own - np.nan_to_num(_ratio(own.sum(axis=0), n)), 0.0)
    y = np.where(both, others - np.nan_to_num(_ratio(others.sum(axis=0), n)), 0.0)
    least = (RELATIVE_SPREAD_TOLERANCE * np.abs(own).max(initial=0)) ** 2 * n
    xx, yy, xy = (x**2).sum(axis=0), (y**2).sum(axis=0), (x * y).sum(axis=0)
    varied = (xx > least) & (yy > least)
    found = _ratio(np.where(varied, xy, np.nan), np.where(varied, np.sqrt(xx * yy), 1))
    return np.clip(found, -1, 1)


def _ratio(above: Floats, below: Floats | Codes) -> Floats:
    found: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return found
