"""Votes as arrays, vote differences between systems, and leave-one-out statistics of listeners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.arrays import Bools, Floats, select_rows
from earwitness.stats.significance import ratio

# --- Votes as arrays -----------------------------------------------------------------------------


Codes = NDArray[np.int64]


@dataclass(frozen=True)
class Votes:
    """Votes as four columns of equal length; systems, items and listeners are numbered from 0.

    ``size`` has the numbers of systems, items and listeners, including those without a vote. A
    listener has at most one vote per stimulus (an item of a system).
    """

    values: Floats
    systems: Codes
    items: Codes
    listeners: Codes
    size: tuple[int, int, int]

    def select(self, which: Bools | Codes) -> Votes:
        """Return some of the votes; systems, items and listeners keep their numbers."""
        return select_rows(self, which)

    @property
    def stimuli(self) -> Codes:
        """Index of each vote's stimulus: item × number of systems + system."""
        return self.items * self.size[0] + self.systems

    def listener_sums(self) -> tuple[Floats, Floats]:
        """Return sums and numbers of votes, by listener and system."""
        shape = self.size[2], self.size[0]
        cells = self.listeners * shape[1] + self.systems
        count = np.bincount(cells, minlength=shape[0] * shape[1]).astype(np.float64)
        total = np.bincount(cells, self.values, minlength=shape[0] * shape[1])
        return total.astype(np.float64).reshape(shape), count.reshape(shape)

    @property
    def table_shape(self) -> tuple[int, int]:
        """Numbers of stimuli and listeners."""
        return self.size[0] * self.size[1], self.size[2]

    def table(self) -> Floats:
        """Return votes as stimuli × listeners; NaN without a vote."""
        table = np.full(self.table_shape, np.nan)
        table[self.stimuli, self.listeners] = self.values
        return table

    def panels(self) -> list[list[int]]:
        """Return groups of listeners who are connected by common stimuli, in order of the
        first listener.

        >>> zeros = np.zeros(3, np.int64)
        >>> votes = Votes(np.ones(3), zeros, np.array([0, 1, 0]), np.arange(3), (1, 2, 3))
        >>> votes.panels()
        [[0, 2], [1]]
        """
        entries = VoteEntries(self.values, self.stimuli, self.listeners, self.table_shape)
        parts = connected_panels(entries)
        return [np.flatnonzero(parts == n).tolist() for n in range(int(parts.max(initial=-1)) + 1)]


# --- Tables with few votes -----------------------------------------------------------------------
# A table of stimuli × listeners is mostly empty if each listener rates few of many stimuli. What is
# computed from it in several rounds uses the votes alone, and sums them by row or by column.


class VoteEntries(NamedTuple):
    """Votes of a table of stimuli × listeners: values, rows, columns, and its shape."""

    values: Floats
    rows: Codes
    columns: Codes
    shape: tuple[int, int]

    def select(self, which: Bools) -> VoteEntries:
        """Return some of the votes of the same table."""
        columns = self.values[which], self.rows[which], self.columns[which]
        return VoteEntries(*columns, self.shape)

    def sum_rows(self, values: Floats) -> Floats:
        """Return sums of one value per vote by stimulus."""
        return np.asarray(np.bincount(self.rows, values, self.shape[0]), np.float64)

    def sum_columns(self, values: Floats) -> Floats:
        """Return sums of one value per vote by listener."""
        return np.asarray(np.bincount(self.columns, values, self.shape[1]), np.float64)


def table_entries(table: Floats) -> VoteEntries:
    """Return the votes of a table, by stimulus and listener; NaN is a missing vote."""
    rows, columns = np.nonzero(~np.isnan(table))
    return VoteEntries(table[rows, columns], rows, columns, (table.shape[0], table.shape[1]))


def connected_panels(entries: VoteEntries) -> Codes:
    """Return the panel of each listener: listeners connected by common stimuli.

    Panels are in the order of their first listeners; listeners without a vote have −1.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    stimuli, listeners = entries.shape
    graph = csr_array(
        (np.ones(len(entries.rows)), (entries.columns, listeners + entries.rows)),
        shape=(listeners + stimuli, listeners + stimuli),
    )
    labels = connected_components(graph, directed=False)[1][:listeners]
    voted = np.unique(entries.columns)
    _, first, index = np.unique(labels[voted], return_index=True, return_inverse=True)
    parts = np.full(listeners, -1, np.int64)
    parts[voted] = np.argsort(np.argsort(first))[index]
    return parts


# --- Differences of votes ------------------------------------------------------------------------


Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Differences:
    """Differences of votes on common items, and of means for listeners without a common item.

    Each difference of means has an item number of its own, beyond those of the votes.
    """

    common: Votes
    of_means: Votes

    @property
    def combined(self) -> Votes:
        """All differences."""
        first, last = self.common, self.of_means
        return Votes(
            np.append(first.values, last.values),
            np.append(first.systems, last.systems),
            np.append(first.items, last.items),
            np.append(first.listeners, last.listeners),
            last.size,
        )

    @property
    def without_common(self) -> list[int]:
        """Number of listeners per pair with a difference of means."""
        counts: list[int] = np.bincount(
            self.of_means.systems, minlength=self.of_means.size[0]
        ).tolist()
        return counts


def vote_differences(votes: Votes, pairs: Pairs) -> Differences:
    """Return first minus second system of each pair, within listeners."""
    common, means = _common_item_differences(votes, pairs), ratio(*votes.listener_sums())
    a, b = np.array(pairs).T
    differences = means[:, a] - means[:, b]
    differences[common.listeners, common.systems] = np.nan
    listeners, systems = np.nonzero(~np.isnan(differences))
    items = votes.size[1] + listeners
    size = len(pairs), votes.size[1] + votes.size[2], votes.size[2]
    of_means = Votes(differences[listeners, systems], systems, items, listeners, size)
    return Differences(common, of_means)


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


def votes_on_both_sides(votes: Votes, pairs: Pairs, split: Differences, is_chosen: Bools) -> Votes:
    """Return votes of listeners without a common item on both systems of some pairs."""
    rows = []
    for pair in np.flatnonzero(is_chosen).tolist():
        raters = split.of_means.listeners[split.of_means.systems == pair]
        by_raters = np.isin(votes.listeners, raters)
        rows += [np.flatnonzero(by_raters & (votes.systems == system)) for system in pairs[pair]]
    systems = np.repeat(np.arange(len(rows)), [len(places) for places in rows])
    chosen = votes.select(np.concatenate(rows))
    return replace(chosen, systems=systems, size=(len(rows), *votes.size[1:]))


# --- Listeners against the others ----------------------------------------------------------------


RELATIVE_SPREAD_TOLERANCE = 1e-9  # smaller spreads, relative to the largest vote, are rounding


class LeaveOneOutFigures(NamedTuple):
    """Each listener compared with the mean of the others; NaN if undefined.

    ``compared`` counts the stimuli that others voted on as well. ``bias`` is the mean difference,
    ``inconsistency`` the SD of differences (n − 1), ``correlation`` Pearson's r, ``rmse`` the root
    mean
    squared difference. The correlation needs votes that vary on both sides.
    """

    compared: Codes
    bias: Floats
    inconsistency: Floats
    correlation: Floats
    rmse: Floats


def leave_one_out_figures(table: Floats) -> LeaveOneOutFigures:
    """Compare each listener with the others; one row per stimulus, NaN without a vote."""
    entries = table_entries(table)
    count = entries.sum_rows(np.ones(len(entries.rows)))[entries.rows]
    others = entries.sum_rows(entries.values)[entries.rows] - entries.values
    is_compared = count > 1
    others = others[is_compared] / (count[is_compared] - 1)
    compared = entries.select(is_compared)
    n = np.bincount(compared.columns, minlength=entries.shape[1])
    deviations = compared.values - others
    bias = ratio(compared.sum_columns(deviations), n)
    spread = ratio(compared.sum_columns((deviations - bias[compared.columns]) ** 2), n - 1)
    rmse = np.sqrt(ratio(compared.sum_columns(deviations**2), n))
    return LeaveOneOutFigures(n, bias, np.sqrt(spread), _correlation(compared, others, n), rmse)


def _correlation(compared: VoteEntries, others: Floats, n: Codes) -> Floats:
    """Return the correlation of each listener's votes with the means of the others."""

    def centre(values: Floats) -> Floats:
        return values - ratio(compared.sum_columns(values), n)[compared.columns]

    x, y = centre(compared.values), centre(others)
    largest = np.abs(compared.values).max(initial=0)
    smallest_square = (RELATIVE_SPREAD_TOLERANCE * largest) ** 2 * n
    xx, yy, xy = (compared.sum_columns(product) for product in (x**2, y**2, x * y))
    is_varied = (xx > smallest_square) & (yy > smallest_square)
    correlations = ratio(np.where(is_varied, xy, np.nan), np.where(is_varied, np.sqrt(xx * yy), 1))
    return np.clip(correlations, -1, 1)


# --- Medians and normalized votes ----------------------------------------------------------------
# The rating of a cell is the mean of its votes, unless their median is requested, or votes are
# normalized first: each rater's votes are put on the mean and standard deviation of all votes, so
# that raters who use the scale differently count alike. Draws repeat this: the median is that of
# the drawn raters, and a rater is normalized by the drawn outputs.


AGGREGATES = ("mean", "median", "normalized")
MIN_RELATIVE_VARIANCE = 1e-12  # smaller variances, relative to the largest squared vote, are 0


@dataclass(frozen=True)
class MedianVotes(Votes):
    """Votes of which the median is the rating of a cell."""


@dataclass(frozen=True)
class NormalizedVotes(Votes):
    """Votes normalized per rater; ``raw`` has them as they were given."""

    raw: Floats = field(default_factory=lambda: np.zeros(0))

    def resample(self, raters: Floats, items: Floats, systems: Floats) -> Floats:
        """Return cell means with raters normalized by the drawn outputs.

        Weights are draws × units, the result is draws × systems × items.
        """
        votes = Votes(self.raw, self.systems, self.items, self.listeners, self.size)
        table = votes.table()
        known = (~np.isnan(table)).astype(np.float64)
        values = np.where(known > 0, table - self.raw.mean(), 0)
        cells = (items[:, :, None] * systems[:, None, :]).reshape(len(items), -1)
        count = cells @ known
        mean = ratio(cells @ values, count)
        variance = ratio(cells @ values**2, count) - mean**2
        is_varied = variance > MIN_RELATIVE_VARIANCE * np.abs(self.raw).max(initial=0) ** 2
        factor = raters * np.where(is_varied, 1 / np.sqrt(np.where(is_varied, variance, 1)), 0)
        sums = factor @ values.T - (factor * np.nan_to_num(mean)) @ known.T
        normalized = self.raw.std() * ratio(sums, raters @ known.T) + self.raw.mean()
        shape = len(raters), self.size[1], self.size[0]
        # what was subtracted from the votes of each cell after they were normalized
        shifts = normalize_raters(votes) - self.values
        total = np.bincount(self.stimuli, shifts, minlength=len(known))
        cells_by_draw = normalized - total / np.maximum(known.sum(axis=1), 1)
        return np.asarray(cells_by_draw.reshape(shape).swapaxes(1, 2))


def aggregate_votes(votes: Votes, aggregate: str) -> Votes:
    """Return votes of the class that averages them as requested; see ``levels.cell_means``."""
    columns = votes.systems, votes.items, votes.listeners, votes.size
    if aggregate == "median":
        return MedianVotes(votes.values, *columns)
    if aggregate == "normalized":
        return NormalizedVotes(normalize_raters(votes), *columns, votes.values)
    return votes


def normalize_raters(votes: Votes) -> Floats:
    """Return votes with the mean and standard deviation of all votes for each rater.

    A rater who gives the same vote to everything gets the mean of all votes.

    >>> people = np.array([0, 0, 1, 1, 2, 2])
    >>> outputs = np.array([0, 1, 0, 1, 0, 1])
    >>> votes = Votes(np.array([1.0, 3, 4, 5, 2, 2]), 0 * outputs, outputs, people, (1, 2, 3))
    >>> normalize_raters(votes).round(2).tolist()
    [1.49, 4.18, 1.49, 4.18, 2.83, 2.83]
    """
    if not len(votes.values):
        return votes.values
    raters, size = votes.listeners, votes.size[2]
    count = np.maximum(np.bincount(raters, minlength=size), 1)
    deviations = votes.values - (np.bincount(raters, votes.values, minlength=size) / count)[raters]
    spread = np.sqrt(np.bincount(raters, deviations**2, minlength=size) / count)
    unit = np.where(_is_constant(votes), np.inf, np.maximum(spread, np.finfo(float).tiny))
    return np.asarray(votes.values.mean() + votes.values.std() * deviations / unit[raters])


def count_constant_raters(votes: Votes) -> int:
    """Return the number of raters who give the same vote to everything."""
    return int(_is_constant(votes)[np.unique(votes.listeners)].sum())


def _is_constant(votes: Votes) -> Bools:
    high, low = np.full(votes.size[2], -np.inf), np.full(votes.size[2], np.inf)
    np.maximum.at(high, votes.listeners, votes.values)
    np.minimum.at(low, votes.listeners, votes.values)
    return np.asarray(high <= low)


def cell_medians(votes: Votes, weights: Floats | None = None) -> Floats:
    """Return the median vote of each cell as draws × systems × items, NaN without a vote.

    ``weights`` are draws × listeners; without them all listeners have weight 1, in one row.
    """
    weights = np.ones((1, votes.size[2])) if weights is None else weights
    order = np.lexsort((votes.values, votes.stimuli))
    cells, place_of_cell = np.unique(votes.stimuli[order], return_inverse=True)
    place_in_cell = np.arange(len(order)) - np.searchsorted(place_of_cell, place_of_cell)
    shape = len(cells), int(place_in_cell.max(initial=-1)) + 1
    values, raters = np.zeros(shape), np.full(shape, votes.size[2])  # padded by a rater of weight 0
    values[place_of_cell, place_in_cell] = votes.values[order]
    raters[place_of_cell, place_in_cell] = votes.listeners[order]
    medians, rows = (
        np.full((len(weights), votes.size[0] * votes.size[1]), np.nan),
        np.arange(shape[0]),
    )
    for draw, row in enumerate(weights if len(cells) else ()):
        total = np.append(row, 0.0)[raters].cumsum(axis=1)
        half = total[:, -1:] / 2
        # The lower middle is the first vote that reaches half of the weight, the upper middle the
        # first that exceeds it.
        lower, upper = (total >= half).argmax(axis=1), (total > half).argmax(axis=1)
        middle = (values[rows, lower] + values[rows, upper]) / 2
        medians[draw, cells] = np.where(half[:, 0] > 0, middle, np.nan)
    return medians.reshape(len(weights), votes.size[1], votes.size[0]).swapaxes(1, 2)
