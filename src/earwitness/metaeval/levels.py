"""Coefficients at system, item and global level, with means adjusted for items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.core import group_values
from earwitness.metaeval.coefficients import ScoreRatingSample, compute_coefficients
from earwitness.stats import significance
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import Moments, ratio
from earwitness.stats.votes import Codes, MedianVotes, Votes, cell_medians

# --- System, item and global level ---------------------------------------------------------------
# - ``system``: systems are compared by the means of their cells, of the metric and of the ratings,
#   over the items for which both are known.
# - ``item``: systems are compared within each item, and coefficients are averaged over items; items
#   with an undefined coefficient are counted, not averaged.
# - ``global``: all cells (an item of a system) are compared with each other.
#
# Means that are equal except for rounding are made equal, so that the order of summation breaks no
# tie.


# means within this tolerance, relative to the largest value, are equal
RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ScoreRatingGrid:
    """Scores (metrics × systems × items) and mean ratings (systems × items); NaN if unknown."""

    scores: Floats
    people: Floats

    def __post_init__(self) -> None:
        if np.isinf(self.scores).any() or np.isinf(self.people).any():
            raise ValueError("scores and ratings must be finite, or NaN if unknown")
        if self.scores.shape[1:] != self.people.shape:
            raise ValueError("scores and ratings must have the same systems and items")


class LevelValues(NamedTuple):
    """Coefficients × metrics: the value, its number of units, and the number of undefined units.

    ``n`` counts items with a defined coefficient at the item level; elsewhere systems or cells with
    both a score and a rating. ``undefined`` counts the others.
    """

    value: Floats
    n: Floats
    undefined: Floats


class ResampledVotes:
    """Mean votes of cells with resampled raters, computed for some items at a time.

    ``weights`` are draws × listeners.
    """

    def __init__(self, votes: Votes, weights: Floats) -> None:
        table = votes.table().reshape(votes.size[1], -1, votes.size[2])
        has_vote = ~np.isnan(table)
        self._weights = weights
        self._votes = np.where(has_vote, table, 0)
        self._has_vote = None if has_vote.all() else has_vote.astype(np.float64)
        self._is_whole = np.array_equal(votes.values, np.rint(votes.values))
        self._largest = np.abs(votes.values).max(initial=0)

    def __len__(self) -> int:
        return len(self._weights)

    def of_items(self, items: slice, draws: Codes | slice = slice(None)) -> Floats:
        """Return mean votes as draws × systems × items, NaN without a vote."""
        weights, votes = self._weights[draws], self._votes[items]
        shape = len(weights), len(votes), votes.shape[1]
        sums = weights @ votes.reshape(-1, votes.shape[2]).T
        if self._has_vote is None:
            counts = weights.sum(axis=1, keepdims=True)
        else:
            counts = weights @ self._has_vote[items].reshape(-1, votes.shape[2]).T
        means = ratio(sums, np.broadcast_to(counts, sums.shape))
        if not self._is_whole:
            means = tie_rounded_means(means, self._largest)
        return means.reshape(shape).swapaxes(1, 2)


class StudyDraws(NamedTuple):
    """Weights of systems and items, and ratings (draws × systems × items; one row if shared).

    At the item level, ratings may also be computed for some items at a time.
    """

    systems: Floats
    items: Floats
    people: Floats | ResampledVotes

    @property
    def people_table(self) -> Floats:
        """Ratings of all items."""
        return self.people_of(slice(None), slice(None))

    def people_of(self, items: slice, draws: Codes | slice) -> Floats:
        """Return the ratings of some items in some draws; one row if they are the same in all."""
        if isinstance(self.people, ResampledVotes):
            return self.people.of_items(items, draws)
        return (self.people if len(self.people) == 1 else self.people[draws])[:, :, items]


def evaluate_grid(
    grid: ScoreRatingGrid,
    level: str,
    names: Sequence[str],
    margins: Floats | float = 0.0,
    controls: Floats | None = None,
) -> LevelValues:
    """Return the coefficients of all metrics at a level; see ``evaluate_draws``."""
    _, systems, items = grid.scores.shape
    once = StudyDraws(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    coefficients, n = evaluate_draws(level, grid.scores, once, names, margins, controls)
    # Cells that were never rated do not exist, so they are not undefined.
    rated = int((~np.isnan(grid.people)).sum())
    total = {"system": systems, "item": items, "global": rated}[level]
    return LevelValues(coefficients[:, 0], n[:, 0], total - n[:, 0])


def evaluate_draws(
    level: str,
    scores: Floats,
    draws: StudyDraws,
    names: Sequence[str],
    margins: Floats | float = 0.0,
    controls: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return coefficients as coefficients × draws × metrics, and their numbers of distinct units.

    ``margins`` is one number, one per metric, or (at the item level) metrics × items. With
    ``controls`` (columns × systems × items), these are partial correlations.
    """
    shape = len(names), len(draws.systems), len(scores)
    coefficients, n = np.empty(shape), np.empty(shape)
    columns = scores[:0] if controls is None else controls
    is_controlled = ~np.isnan(columns).any(axis=0)
    margins = np.asarray(margins, np.float64)
    margins = margins[:, None] if margins.ndim == 1 else margins
    limits = np.broadcast_to(margins, (len(scores), scores.shape[2]))
    for metrics, is_scored in group_by_known_cells(scores):
        is_known = is_scored & is_controlled
        filled = np.where(is_known, np.concatenate([scores[metrics], columns]), 0)
        own = np.concatenate([limits[metrics], np.zeros((len(columns), scores.shape[2]))])
        parts = LEVEL_FUNCTIONS[level](filled, is_known, draws, names, own, len(columns))
        coefficients[:, :, metrics], n[:, :, metrics] = (
            part[:, :, : len(metrics)] for part in parts
        )
    return coefficients, n


def group_by_known_cells(scores: Floats) -> Iterator[tuple[Codes, Bools]]:
    """Yield groups of metrics with scores for the same cells, and these cells."""
    is_known = ~np.isnan(scores)
    metrics_by_cells = group_values((row.tobytes(), metric) for metric, row in enumerate(is_known))
    for metrics in metrics_by_cells.values():
        yield np.array(metrics), is_known[metrics[0]]


def evaluate_systems(
    scores: Floats,
    is_known: Bools,
    draws: StudyDraws,
    names: Sequence[str],
    margins: Floats,
    controls: int,
) -> tuple[Floats, Floats]:
    """Evaluate the system level; each draw is a group, since means differ between draws."""
    people_table = draws.people_table
    present = ~np.isnan(people_table) & is_known
    cell_weights = present * draws.items[:, None, :]
    counts = cell_weights.sum(axis=2)
    rated = np.where(present, people_table, 0)
    largest = np.abs(rated).max(axis=(1, 2), initial=0)
    people = tie_rounded_means(ratio((rated * cell_weights).sum(axis=2), counts), largest)
    sums = np.swapaxes(cell_weights, 0, 1) @ np.moveaxis(scores, 0, 2)  # systems × draws × metrics
    largest = np.abs(scores).max(axis=(1, 2), initial=0)
    means = tie_rounded_means(
        ratio(sums, np.broadcast_to(counts.T[:, :, None], sums.shape)), largest, axis=0
    )
    weights = (draws.systems * (counts > 0))[:, None]
    sample = ScoreRatingSample(
        np.nan_to_num(np.moveaxis(means, 0, 2)),
        np.nan_to_num(people)[:, None],
        weights,
        np.broadcast_to(margins[:, 0], (len(weights), len(margins))),
        controls,
    )
    coefficients = compute_coefficients(sample, names)[:, :, 0]
    return coefficients, np.broadcast_to(sample.things[:, :1], coefficients.shape)


def evaluate_items(
    scores: Floats,
    is_known: Bools,
    draws: StudyDraws,
    names: Sequence[str],
    margins: Floats,
    controls: int,
) -> tuple[Floats, Floats]:
    """Evaluate the item level; each item is a group, weighted by how often it was drawn.

    Items are evaluated in portions that fit the cache, and only in draws in which they occur. If
    only items are resampled, coefficients of items are computed once for all draws.
    """
    shape = len(names), len(scores), len(draws.items)
    total, portion, undefined_weight, undefined_items = (
        np.zeros(shape).swapaxes(1, 2) for _ in range(4)
    )
    is_shared = len(draws.people) == 1 and bool((draws.systems == draws.systems[:1]).all())
    evaluated = 1 if is_shared else len(draws.items)
    metrics, count, item_count = scores.shape
    pairs = count * (count - 1) // 2
    size = max(1, NUMBERS_IN_CACHE // max(1, evaluated * max(pairs, metrics), pairs * metrics))
    for start in range(0, item_count, size):
        items = slice(start, start + size)
        weights = draws.items[:, items]
        drawn = np.flatnonzero(weights.any(axis=1))
        systems = draws.systems[:1] if is_shared else draws.systems[drawn]
        people = draws.people_of(items, drawn)
        present = ~np.isnan(people) & is_known[:, items]
        sample = ScoreRatingSample(
            scores[:, :, items].transpose(2, 0, 1),
            np.where(present, people, 0).transpose(2, 0, 1),
            (present * systems[:, :, None]).transpose(2, 0, 1),
            margins[:, items].T,
            controls,
        )
        coefficients = compute_coefficients(sample, names)
        undefined = np.isnan(coefficients)
        if undefined.any():
            np.copyto(coefficients, 0, where=undefined)
            undefined_weight[:, drawn] += _sum_over_items(weights[drawn], undefined)
            undefined_items[:, drawn] += _sum_over_items(weights[drawn] > 0, undefined)
        portion[:] = 0  # adding all draws is faster than adding to the drawn ones
        portion[:, drawn] = _sum_over_items(weights[drawn], coefficients)
        total += portion
    defined_weight = draws.items.sum(axis=1)[:, None] - undefined_weight
    defined_items = (draws.items > 0).sum(axis=1)[:, None] - undefined_items
    return ratio(total, defined_weight), defined_items


NUMBERS_IN_CACHE = 60_000  # numbers processed at once; a table of them fits the cache


def _sum_over_items(weights: Floats | Bools, values: Floats | Bools) -> Floats:
    """Return weighted sums over items of coefficients × items × draws × metrics.

    Weights are draws × items; values may have one draw, shared by all.
    """
    if values.shape[2] == 1:
        return np.asarray(weights.astype(np.float64) @ values[:, :, 0].astype(np.float64))
    if weights.shape[1] == 1:
        return np.asarray(weights * values[:, 0])
    return np.asarray(np.einsum("di,cidm->cdm", weights.astype(np.float64), values))


def evaluate_cells(
    scores: Floats,
    is_known: Bools,
    draws: StudyDraws,
    names: Sequence[str],
    margins: Floats,
    controls: int,
) -> tuple[Floats, Floats]:
    """Evaluate the global level; all cells with a score are one group."""
    cells, people_table = np.flatnonzero(is_known), draws.people_table
    people = people_table.reshape(len(people_table), -1)[:, cells]
    weights = draws.systems[:, :, None] * draws.items[:, None, :]
    sample = ScoreRatingSample(
        scores.reshape(len(scores), -1)[None][:, :, cells],
        np.nan_to_num(people)[None],
        (weights.reshape(len(weights), -1)[:, cells] * ~np.isnan(people))[None],
        margins[None, :, 0],
        controls,
    )
    coefficients = compute_coefficients(sample, names)[:, 0]
    return coefficients, np.broadcast_to(sample.things[0][:, None], coefficients.shape)


def compare_paired_tables(
    first: Floats, second: Floats, level: str, names: Sequence[str]
) -> Floats:
    """Return coefficients × tables, comparing each table with the one of the same index.

    Tables are tables × systems × items, and both of a pair must have the same known cells. The
    level is
    ``system`` or ``item``.
    """
    present = ~np.isnan(first)
    tables, systems, items = first.shape
    if level == "system":
        count = present.sum(axis=2, keepdims=True).astype(np.float64)
        sides = (np.where(present, side, 0).sum(axis=2, keepdims=True) for side in (first, second))
        first, second = (ratio(side, count) for side in sides)
        present, items = count > 0, 1
    x, y, weights = (
        np.nan_to_num(table).swapaxes(1, 2).reshape(-1, 1, systems)
        for table in (_tie_systems(first), _tie_systems(second), present.astype(np.float64))
    )
    coefficients = compute_coefficients(ScoreRatingSample(x, y, weights), names).reshape(
        len(names), tables, items
    )
    return mean_of_defined(coefficients, axis=2)


def mean_of_defined(values: Floats, axis: int = 0) -> Floats:
    """Return the means over an axis of the values that are defined; NaN if none is."""
    defined = ~np.isnan(values)
    count = defined.sum(axis=axis).astype(np.float64)
    return ratio(np.where(defined, values, 0).sum(axis=axis), count)


def known_means(table: Floats, is_known: Bools) -> Floats:
    """Return the mean of each system over known cells; NaN without one."""
    cells = np.where(is_known, table, 0)
    means = ratio(cells.sum(axis=1), is_known.sum(axis=1))
    return tie_rounded_means(means, float(np.abs(cells).max(initial=0)))


LEVEL_FUNCTIONS = {"system": evaluate_systems, "item": evaluate_items, "global": evaluate_cells}


def tie_rounded_means(means: Floats, largest: Floats | float, axis: int = -1) -> Floats:
    """Return means in which values that differ only by rounding are equal.

    ``largest`` is the largest value that was averaged.
    """
    order = np.argsort(means, axis=axis)
    ordered = np.moveaxis(np.take_along_axis(means, order, axis), axis, 0)
    is_new_run = np.ones(ordered.shape, bool)
    is_new_run[1:] = ~(np.diff(ordered, axis=0) <= RELATIVE_TOLERANCE * np.asarray(largest))
    run_minima = np.maximum.accumulate(np.where(is_new_run, ordered, -np.inf), axis=0)
    tied = np.empty_like(means)
    np.put_along_axis(tied, order, np.moveaxis(run_minima, 0, axis), axis)
    return tied


def _tie_systems(tables: Floats) -> Floats:
    """Return tables × systems × items, with ties among systems."""
    return tie_rounded_means(tables, float(np.nanmax(np.abs(tables), initial=0)), axis=1)


def cell_means(votes: Votes, weights: Floats | None = None) -> Floats:
    """Return the mean vote of each cell as draws × systems × items, NaN without a vote.

    ``weights`` are draws × listeners; without them all listeners have weight 1, in one row.
    """
    if isinstance(votes, MedianVotes):
        return cell_medians(votes, weights)
    weights = np.ones((1, votes.size[2])) if weights is None else weights
    return ResampledVotes(votes, weights).of_items(slice(None))


# --- System means over cells ---------------------------------------------------------------------
# A system mean is the mean of its cell means, each cell counting once. (The mean of listener means
# differs from it if listeners did not all vote on the same cells.) The interval is over listeners:
# each listener's contribution is the weighted sum of their deviations from the mean, and Student's
# t is applied to these contributions. If all listeners vote on all cells it is the t interval of
# the listener means. With fewer than two listeners there is none.


def system_means(votes: Votes, is_known: Bools | None = None) -> Moments:
    """Return mean, standard deviation over listeners and number of listeners by system.

    ``is_known`` (systems × items) selects cells; by default all cells with a vote. The standard
    error
    is the standard deviation over the root of the number, as in ``significance.mean_interval``.
    """
    systems, items, raters = votes.size
    table = votes.table().reshape(items, systems, raters)
    counted = ~np.isnan(table) & (True if is_known is None else is_known.T[:, :, None])
    votes_per_cell = counted.sum(axis=2, keepdims=True).astype(np.float64)
    cells = (votes_per_cell > 0).sum(axis=0, keepdims=True).astype(np.float64)
    weight = np.where(counted, 1 / (np.maximum(votes_per_cell, 1) * np.maximum(cells, 1)), 0)
    cell_values = ratio(np.where(counted, table, 0).sum(axis=2), votes_per_cell[:, :, 0])
    total = np.where(np.isnan(cell_values), 0, cell_values).sum(axis=0)
    mean = tie_rounded_means(ratio(total, cells[0, :, 0]), np.abs(votes.values).max(initial=0))
    n = counted.any(axis=0).sum(axis=1).astype(np.float64)
    moved = (weight * np.where(counted, table - mean[:, None], 0)).sum(axis=0)
    return Moments(mean, np.sqrt(ratio(n**2 * (moved**2).sum(axis=1), n - 1)), n)


def interval_half_widths(votes: Votes, is_known: Bools, level: float) -> Floats:
    """Return half the width of each system's interval."""
    low, high = significance.mean_interval(system_means(votes, is_known), level)
    return np.asarray((high - low) / 2)


# --- Adjustment for item effects -----------------------------------------------------------------
# A system that was rated only on easy items has a high mean. Each cell is therefore modelled as the
# sum of a system effect and an item effect (least squares, each cell counting once), and the item
# effect is subtracted. The mean over a system's own cells is then its least-squares mean: the
# expected mean over all items. For complete data it equals the plain mean.
#
# Systems that are not connected by shared items, directly or through other systems, cannot be
# adjusted.


def is_complete(is_known: Bools) -> bool:
    """Return whether all systems with a cell have the same items."""
    return np.array_equal(is_known, np.outer(is_known.any(axis=1), is_known.any(axis=0)))


def is_connected(is_known: Bools) -> bool:
    """Return whether all systems with a cell are connected by shared items."""
    from scipy.sparse.csgraph import connected_components

    rated = is_known[is_known.any(axis=1)]
    return not len(rated) or connected_components(rated @ rated.T)[0] == 1


def fit_item_effects(table: Floats) -> Floats:
    """Return item effects from cells (systems × items, NaN if unknown); their mean is 0.

    Effects are 0 if systems are not connected.

    >>> fit_item_effects(np.array([[1.0, 5, np.nan], [np.nan, 4, 8]])).tolist()
    [-4.0, 0.0, 4.0]
    """
    is_known = ~np.isnan(table)
    if not is_connected(is_known) or not is_known.any():
        return np.zeros(table.shape[1])
    cells, weights = np.where(is_known, table, 0), is_known.astype(np.float64)
    of_item = np.maximum(weights.sum(axis=0), 1)
    # Items are eliminated first, which leaves one equation per system.
    left = np.diag(weights.sum(axis=1)) - (weights / of_item) @ weights.T
    right = cells.sum(axis=1) - weights @ (cells.sum(axis=0) / of_item)
    systems = np.linalg.lstsq(left, right, rcond=None)[0]
    items = (cells.sum(axis=0) - systems @ weights) / of_item
    rated = is_known.any(axis=0)
    return np.where(rated, items - items[rated].mean(), 0.0)


def subtract_item_effects(scores: Floats, people: Floats) -> Floats:
    """Return scores (metrics × systems × items) minus item effects fitted on rated cells."""
    rated = ~np.isnan(people)
    effects = np.array(
        [fit_item_effects(np.where(rated, metric_scores, np.nan)) for metric_scores in scores]
    )
    return np.asarray(scores - effects.reshape(len(scores), 1, people.shape[1]))
