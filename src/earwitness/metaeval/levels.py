"""Coefficients at system, item and global level, with means adjusted for items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.metaeval.coefficients import ScoreRatingSample, compute_coefficients
from earwitness.stats import significance
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import Moments, ratio
from earwitness.stats.votes import Codes, Votes

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


class StudyDraws(NamedTuple):
    """Weights of systems and items, and ratings (draws × systems × items; one row if shared)."""

    systems: Floats
    items: Floats
    people: Floats


def evaluate_grid(
    grid: ScoreRatingGrid, level: str, names: Sequence[str], margins: Floats | float = 0.0
) -> LevelValues:
    """Return the coefficients of all metrics at a level; for ``margins`` see ``evaluate_draws``."""
    _, systems, items = grid.scores.shape
    once = StudyDraws(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    coefficients, n = evaluate_draws(level, grid.scores, once, names, margins)
    total = {"system": systems, "item": items, "global": systems * items}[level]
    return LevelValues(coefficients[:, 0], n[:, 0], total - n[:, 0])


def evaluate_draws(
    level: str,
    scores: Floats,
    draws: StudyDraws,
    names: Sequence[str],
    margins: Floats | float = 0.0,
) -> tuple[Floats, Floats]:
    """Return coefficients as coefficients × draws × metrics, and their numbers of distinct units.

    ``margins`` is one number, one per metric, or (at the item level) metrics × items.
    """
    shape = len(names), len(draws.systems), len(scores)
    coefficients, n = np.empty(shape), np.empty(shape)
    limits = np.broadcast_to(_margin_table(margins), (len(scores), scores.shape[2]))
    for metrics, is_known in group_by_known_cells(scores):
        filled = np.where(is_known, scores[metrics], 0)
        evaluated = LEVEL_FUNCTIONS[level](filled, is_known, draws, names, limits[metrics])
        coefficients[:, :, metrics], n[:, :, metrics] = evaluated
    return coefficients, n


def _margin_table(margins: Floats | float) -> Floats:
    margins = np.asarray(margins, np.float64)
    return margins[:, None] if margins.ndim == 1 else margins


def group_by_known_cells(scores: Floats) -> Iterator[tuple[Codes, Bools]]:
    """Yield groups of metrics with scores for the same cells, and these cells."""
    is_known = ~np.isnan(scores)
    metrics_by_cells: dict[bytes, list[int]] = {}
    for metric, row in enumerate(is_known):
        metrics_by_cells.setdefault(row.tobytes(), []).append(metric)
    for metrics in metrics_by_cells.values():
        yield np.array(metrics), is_known[metrics[0]]


def evaluate_systems(
    scores: Floats, is_known: Bools, draws: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Evaluate the system level; each draw is a group, since means differ between draws."""
    present = ~np.isnan(draws.people) & is_known
    cell_weights = present * draws.items[:, None, :]
    counts = cell_weights.sum(axis=2)
    rated = np.where(present, draws.people, 0)
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
    )
    coefficients = compute_coefficients(sample, names)[:, :, 0]
    return coefficients, np.broadcast_to(sample.things[:, :1], coefficients.shape)


def evaluate_items(
    scores: Floats, is_known: Bools, draws: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Evaluate the item level; each item is a group, weighted by how often it was drawn.

    If only items are resampled, coefficients of items are computed once for all draws.
    """
    present = ~np.isnan(draws.people) & is_known
    is_shared = len(draws.people) == 1 and bool((draws.systems == draws.systems[:1]).all())
    systems = draws.systems[:1] if is_shared else draws.systems
    sample = ScoreRatingSample(
        scores.transpose(2, 0, 1),
        np.where(present, draws.people, 0).transpose(2, 0, 1),
        (present * systems[:, :, None]).transpose(2, 0, 1),
        margins.T,
    )
    coefficients = compute_coefficients(sample, names).swapaxes(
        1, 2
    )  # coefficients × draws × items × metrics
    defined = ~np.isnan(coefficients)
    item_weights = draws.items[:, None, :]
    total = (item_weights @ np.where(defined, coefficients, 0))[:, :, 0]
    count = (item_weights @ defined.astype(np.float64))[:, :, 0]
    different = ((item_weights > 0).astype(np.float64) @ defined.astype(np.float64))[:, :, 0]
    return ratio(total, count), different


def evaluate_cells(
    scores: Floats, is_known: Bools, draws: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Evaluate the global level; all cells with a score are one group."""
    cells = np.flatnonzero(is_known)
    people = draws.people.reshape(len(draws.people), -1)[:, cells]
    weights = draws.systems[:, :, None] * draws.items[:, None, :]
    sample = ScoreRatingSample(
        scores.reshape(len(scores), -1)[None][:, :, cells],
        np.nan_to_num(people)[None],
        (weights.reshape(len(weights), -1)[:, cells] * ~np.isnan(people))[None],
        margins[None, :, 0],
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
    defined = ~np.isnan(coefficients)
    return ratio(
        np.where(defined, coefficients, 0).sum(axis=2), defined.sum(axis=2).astype(np.float64)
    )


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
    table = votes.table()
    has_vote = ~np.isnan(table)
    weights = np.ones((1, votes.size[2])) if weights is None else weights
    means = ratio(weights @ np.where(has_vote, table, 0).T, weights @ has_vote.T.astype(np.float64))
    shape = len(weights), votes.size[1], votes.size[0]
    if not np.array_equal(votes.values, np.rint(votes.values)):
        means = tie_rounded_means(means, np.abs(votes.values).max(initial=0))
    return means.reshape(shape).swapaxes(1, 2)


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
    rated = is_known.any(axis=1)
    reached = np.zeros_like(rated)
    reached[rated.argmax()] = rated.any()
    while True:
        neighbours = np.asarray(is_known[:, is_known[reached].any(axis=0)].any(axis=1), bool)
        if np.array_equal(neighbours, reached):
            return np.array_equal(reached, rated)
        reached = neighbours


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
