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
# - ``system``: each system is one thing, with the means of its cells, the metric's and people's,
#   over the items for which both are known.
# - ``item``: the systems are compared within each item, and the values of items are averaged;
#   items without a defined value are counted, not averaged.
# - ``global``: all cells (an item of a system) are compared with all others.
#
# Means that rounding alone keeps apart are made equal, so that the order of sums breaks no tie.


# means closer than this, beside the largest of what they are of, are equal
RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True)
class ScoreRatingGrid:
    """Scores (metrics × systems × items), means of people (systems × items); NaN if unknown."""

    scores: Floats
    people: Floats

    def __post_init__(self) -> None:
        if np.isinf(self.scores).any() or np.isinf(self.people).any():
            raise ValueError("scores and people's values must be finite, or NaN where unknown")
        if self.scores.shape[1:] != self.people.shape:
            raise ValueError("scores and people must have the same systems and items")


class LevelValues(NamedTuple):
    """Coefficients × metrics: the value, on how many systems, items or cells, and how many are not.

    ``n`` counts items with a defined value at the item level; elsewhere systems or cells for which
    the metric and people are both known. ``undefined`` counts the others of the grid.
    """

    value: Floats
    n: Floats
    undefined: Floats


class StudyDraws(NamedTuple):
    """Rows of weights, and people (draws × systems × items; one row if all draws share it)."""

    systems: Floats
    items: Floats
    people: Floats


def evaluate_grid(
    grid: ScoreRatingGrid, level: str, names: Sequence[str], margins: Floats | float = 0.0
) -> LevelValues:
    """Coefficients of all metrics at a level; ``margins`` see ``evaluate_draws``."""
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
    """Coefficients × draws × metrics: values, and on how many different things they rest.

    ``margins`` is one number, one a metric, or (at the item level) metrics × items.
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
    """Metrics whose scores are known for the same cells, and these cells."""
    is_known = ~np.isnan(scores)
    metrics_by_cells: dict[bytes, list[int]] = {}
    for metric, row in enumerate(is_known):
        metrics_by_cells.setdefault(row.tobytes(), []).append(metric)
    for metrics in metrics_by_cells.values():
        yield np.array(metrics), is_known[metrics[0]]


def evaluate_systems(
    scores: Floats, is_known: Bools, draws: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Every draw is a group of its own, since means differ from draw to draw."""
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
    """Every item is a group; its value counts as often as the item was drawn.

    Where only items are drawn, the values of items are found once for all draws.
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
    """All cells are one group; those without a score are left out."""
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
    """Coefficients × tables: each table (tables × systems × items) against the other of its number.

    Both of a number must be known for the same cells; at the system or the item level.
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
    """Means that lie closer to the next than rounding can tell become the lowest of their run.

    ``largest`` is the largest of what they are means of.
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
    """Tables × systems × items, with ties among systems."""
    return tie_rounded_means(tables, float(np.nanmax(np.abs(tables), initial=0)), axis=1)


def cell_means(votes: Votes, weights: Floats | None = None) -> Floats:
    """The mean vote of each cell: draws × systems × items, NaN where nobody voted.

    ``weights`` are draws × listeners; without them all listeners count once, in one row.
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
# The mean of a cell is that of its votes, and each cell counts once, whoever voted on it. (A mean
# of listeners' means is another number where listeners did not all vote on the same cells.) The
# interval is over listeners: each moves the mean by the sum of what their votes are above it, as
# much as they weigh, and Student's t is taken of these. Where all vote on all cells it is the t
# interval of the means of listeners. Fewer than two listeners have none.


def system_means(votes: Votes, is_known: Bools | None = None) -> Moments:
    """By system: the mean, the deviation of listeners and how many they are.

    ``is_known`` (systems × items) says which cells count; else all that have a vote do. The
    standard error is the deviation over the root of the number, as ``significance.mean_interval``
    takes it.
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
    """Half the width of each system's interval."""
    low, high = significance.mean_interval(system_means(votes, is_known), level)
    return np.asarray((high - low) / 2)


# --- Adjustment for item effects -----------------------------------------------------------------
# A system that was rated on easy items alone has a high mean whatever it is like. So each cell is
# taken for the sum of an effect of its system and one of its item (least squares, each cell
# counting once), and the effect of its item is taken off. The mean of what is left, over a system's
# own cells, is its least-squares mean: what it would have on all items. Where all systems have all
# items that is the plain mean.
#
# Systems that share no items with others, not even through third ones, cannot be compared this way.


def is_complete(is_known: Bools) -> bool:
    """Whether all systems with a cell have the same items."""
    return np.array_equal(is_known, np.outer(is_known.any(axis=1), is_known.any(axis=0)))


def is_connected(is_known: Bools) -> bool:
    """Whether all systems with a cell hang together by items that they share."""
    rated = is_known.any(axis=1)
    reached = np.zeros_like(rated)
    reached[rated.argmax()] = rated.any()
    while True:
        neighbours = np.asarray(is_known[:, is_known[reached].any(axis=0)].any(axis=1), bool)
        if np.array_equal(neighbours, reached):
            return np.array_equal(reached, rated)
        reached = neighbours


def fit_item_effects(table: Floats) -> Floats:
    """By item, from cells (systems × items, NaN if unknown); their mean is 0. 0 if not connected.

    >>> fit_item_effects(np.array([[1.0, 5, np.nan], [np.nan, 4, 8]])).tolist()
    [-4.0, 0.0, 4.0]
    """
    is_known = ~np.isnan(table)
    if not is_connected(is_known) or not is_known.any():
        return np.zeros(table.shape[1])
    cells, weights = np.where(is_known, table, 0), is_known.astype(np.float64)
    of_item = np.maximum(weights.sum(axis=0), 1)
    # Items are solved for first, which leaves as many equations as there are systems.
    left = np.diag(weights.sum(axis=1)) - (weights / of_item) @ weights.T
    right = cells.sum(axis=1) - weights @ (cells.sum(axis=0) / of_item)
    systems = np.linalg.lstsq(left, right, rcond=None)[0]
    items = (cells.sum(axis=0) - systems @ weights) / of_item
    rated = is_known.any(axis=0)
    return np.where(rated, items - items[rated].mean(), 0.0)


def subtract_item_effects(scores: Floats, people: Floats) -> Floats:
    """Scores (metrics × systems × items) less effects of items, from cells that people rated."""
    rated = ~np.isnan(people)
    effects = np.array(
        [fit_item_effects(np.where(rated, metric_scores, np.nan)) for metric_scores in scores]
    )
    return np.asarray(scores - effects.reshape(len(scores), 1, people.shape[1]))
