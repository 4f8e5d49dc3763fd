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

    def select(self, which: Bools | Codes) -> Votes:
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

    def listener_sums(self) -> tuple[Floats, Floats]:
        """By listener and system: the sum of votes, and how many they are."""
        shape = self.size[2], self.size[0]
        cells = self.listeners * shape[1] + self.systems
        count = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.float64)
        total = np.bincount(cells, self.values, minlength=shape[0] * shape[1])
        return total.astype(np.float64).reshape(shape), count.reshape(shape)

    def table(self) -> Floats:
        """Stimuli by listeners; NaN where there is no vote."""
        table = np.full((self.size[0] * self.size[1], self.size[2]), np.nan)
        table[self.stimuli, self.listeners] = self.values
        return table

    def panels(self) -> list[list[int]]:
        """Listeners who are linked by stimuli that both voted on, the first panel first.

        >>> zeros = np.zeros(3, np.int64)
        >>> votes = Votes(np.ones(3), zeros, np.array([0, 1, 0]), np.arange(3), (1, 2, 3))
        >>> votes.panels()
        [[0, 2], [1]]
        """
        parts = connected_panels(~np.isnan(self.table()))
        return [np.flatnonzero(parts == n).tolist() for n in range(int(parts.max(initial=-1)) + 1)]


def connected_panels(has_vote: Bools) -> Codes:
    """The number of each listener's part: those linked by stimuli that both voted on.

    Rows are stimuli, columns listeners; those without a vote have -1.
    """
    shared = (has_vote.T.astype(np.float64) @ has_vote) > 0
    parts = np.full(has_vote.shape[1], -1, np.int64)
    for listener in np.flatnonzero(has_vote.any(axis=0)):
        if parts[listener] < 0:
            members = reached = shared[listener]
            while reached.any():
                reached = shared[reached].any(axis=0) & ~members
                members = members | reached
            parts[members] = parts.max() + 1
    return parts


# --- Differences of votes ------------------------------------------------------------------------


Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Differences:
    """Of single items that a listener rated in both systems, and of means where there are none.

    Each difference of means stands for an item of its own, beyond those that are known.
    """

    common: Votes
    of_means: Votes

    @property
    def combined(self) -> Votes:
        """All of them."""
        parts = self.common, self.of_means
        return Votes(
            np.concatenate([votes.values for votes in parts]),
            np.concatenate([votes.systems for votes in parts]),
            np.concatenate([votes.items for votes in parts]),
            np.concatenate([votes.listeners for votes in parts]),
            self.of_means.size,
        )

    @property
    def without_common(self) -> list[int]:
        """How many listeners of each pair have a difference of means."""
        counts: list[int] = np.bincount(
            self.of_means.systems, minlength=self.of_means.size[0]
        ).tolist()
        return counts


def vote_differences(votes: Votes, pairs: Pairs) -> Differences:
    """The first system of each pair less the second, within listeners."""
    common = _common_item_differences(votes, pairs)
    return Differences(common, _mean_differences(votes, pairs, common))


def _common_item_differences(votes: Votes, pairs: Pairs) -> Votes:
    cells = votes.listeners * votes.size[1] + votes.items
    values, shared = [], []
    for pair in pairs:
        a, b = (np.flatnonzero(votes.systems == system) for system in pair)
        common_cells, in_a, in_b = np.intersect1d(
            cells[a], cells[b], assume_unique=True, return_indices=True
        )
        values.append(votes.values[a[in_a]] - votes.values[b[in_b]])
        shared.append(common_cells)
    systems = np.repeat(np.arange(len(pairs)), [len(common_cells) for common_cells in shared])
    listeners, items = np.divmod(np.concatenate(shared), max(1, votes.size[1]))
    size = (len(pairs), *votes.size[1:])
    return Votes(np.concatenate(values), systems, items, listeners, size)


def _mean_differences(votes: Votes, pairs: Pairs, common: Votes) -> Votes:
    means = ratio(*votes.listener_sums())
    a, b = np.array(pairs).T
    differences = means[:, a] - means[:, b]
    differences[common.listeners, common.systems] = np.nan
    listeners, systems = np.nonzero(~np.isnan(differences))
    items = votes.size[1] + listeners
    size = len(pairs), votes.size[1] + votes.size[2], votes.size[2]
    return Votes(differences[listeners, systems], systems, items, listeners, size)


def votes_on_both_sides(votes: Votes, pairs: Pairs, split: Differences, is_chosen: Bools) -> Votes:
    """Votes on both systems of some pairs by those without a common item: two systems a pair."""
    rows = []
    for pair in np.flatnonzero(is_chosen).tolist():
        raters = split.of_means.listeners[split.of_means.systems == pair]
        by_raters = np.isin(votes.listeners, raters)
        rows += [np.flatnonzero(by_raters & (votes.systems == system)) for system in pairs[pair]]
    systems = np.repeat(np.arange(len(rows)), [len(places) for places in rows])
    chosen = votes.select(np.concatenate(rows))
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


def leave_one_out_figures(table: Floats) -> LeaveOneOutFigures:
    """Figures of a table with a row a stimulus and a column a listener; NaN where no vote is."""
    has_vote = ~np.isnan(table)
    votes = np.where(has_vote, table, 0.0)
    count = has_vote.sum(axis=1, keepdims=True)
    is_compared = has_vote & (count > 1)
    n = is_compared.sum(axis=0)
    sums = votes.sum(axis=1, keepdims=True) - votes
    others = np.where(is_compared, sums / np.maximum(count - 1, 1), 0.0)
    compared_votes = np.where(is_compared, votes, 0.0)
    deviations = compared_votes - others
    bias = ratio(deviations.sum(axis=0), n)
    spread = ratio(((deviations - bias) ** 2).sum(axis=0, where=is_compared), n - 1)
    rmse = np.sqrt(ratio((deviations**2).sum(axis=0), n))
    return LeaveOneOutFigures(
        n, bias, np.sqrt(spread), _correlation(compared_votes, others, is_compared), rmse
    )


def _correlation(votes: Floats, others: Floats, is_compared: Bools) -> Floats:
    n = is_compared.sum(axis=0)
    x = np.where(is_compared, votes - np.nan_to_num(ratio(votes.sum(axis=0), n)), 0.0)
    y = np.where(is_compared, others - np.nan_to_num(ratio(others.sum(axis=0), n)), 0.0)
    smallest_square = (RELATIVE_SPREAD_TOLERANCE * np.abs(votes).max(initial=0)) ** 2 * n
    xx, yy, xy = (x**2).sum(axis=0), (y**2).sum(axis=0), (x * y).sum(axis=0)
    is_varied = (xx > smallest_square) & (yy > smallest_square)
    correlations = ratio(np.where(is_varied, xy, np.nan), np.where(is_varied, np.sqrt(xx * yy), 1))
    return np.clip(correlations, -1, 1)
