"""Coefficients at system, item and global level, with means adjusted for items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.metaeval.coefficients import ScoreRatingSample, values
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


def value(
    grid: ScoreRatingGrid, level: str, names: Sequence[str], margins: Floats | float = 0.0
) -> LevelValues:
    """Coefficients of all metrics at a level; ``margins`` see ``at``."""
    _, systems, items = grid.scores.shape
    once = StudyDraws(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    found, n = at(level, grid.scores, once, names, margins)
    whole = {"system": systems, "item": items, "global": systems * items}[level]
    return LevelValues(found[:, 0], n[:, 0], whole - n[:, 0])


def at(
    level: str,
    scores: Floats,
    drawn: StudyDraws,
    names: Sequence[str],
    margins: Floats | float = 0.0,
) -> tuple[Floats, Floats]:
    """Coefficients × draws × metrics: values, and on how many different things they rest.

    ``margins`` is one number, one a metric, or (at the item level) metrics × items.
    """
    shape = len(names), len(drawn.systems), len(scores)
    found, n = np.empty(shape), np.empty(shape)
    limits = np.broadcast_to(_limits(margins), (len(scores), scores.shape[2]))
    for which, known in gaps(scores):
        here = np.where(known, scores[which], 0)
        some = LEVEL_FUNCTIONS[level](here, known, drawn, names, limits[which])
        found[:, :, which], n[:, :, which] = some
    return found, n


def _limits(margins: Floats | float) -> Floats:
    margins = np.asarray(margins, np.float64)
    return margins[:, None] if margins.ndim == 1 else margins


def gaps(scores: Floats) -> Iterator[tuple[Codes, Bools]]:
    """Metrics whose scores are known for the same cells, and these cells."""
    known = ~np.isnan(scores)
    alike: dict[bytes, list[int]] = {}
    for metric, row in enumerate(known):
        alike.setdefault(row.tobytes(), []).append(metric)
    for which in alike.values():
        yield np.array(which), known[which[0]]


def by_system(
    scores: Floats, known: Bools, drawn: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Every draw is a group of its own, since means differ from draw to draw."""
    there = ~np.isnan(drawn.people) & known
    weigh = there * drawn.items[:, None, :]
    counts = weigh.sum(axis=2)
    rated = np.where(there, drawn.people, 0)
    reach = np.abs(rated).max(axis=(1, 2), initial=0)
    people = steady(ratio((rated * weigh).sum(axis=2), counts), reach)
    sums = np.swapaxes(weigh, 0, 1) @ np.moveaxis(scores, 0, 2)  # systems × draws × metrics
    reach = np.abs(scores).max(axis=(1, 2), initial=0)
    means = steady(ratio(sums, np.broadcast_to(counts.T[:, :, None], sums.shape)), reach, axis=0)
    weights = (drawn.systems * (counts > 0))[:, None]
    sample = ScoreRatingSample(
        np.nan_to_num(np.moveaxis(means, 0, 2)),
        np.nan_to_num(people)[:, None],
        weights,
        np.broadcast_to(margins[:, 0], (len(weights), len(margins))),
    )
    found = values(sample, names)[:, :, 0]
    return found, np.broadcast_to(sample.things[:, :1], found.shape)


def by_item(
    scores: Floats, known: Bools, drawn: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Every item is a group; its value counts as often as the item was drawn.

    Where only items are drawn, the values of items are found once for all draws.
    """
    there = ~np.isnan(drawn.people) & known
    alike = len(drawn.people) == 1 and bool((drawn.systems == drawn.systems[:1]).all())
    systems = drawn.systems[:1] if alike else drawn.systems
    sample = ScoreRatingSample(
        scores.transpose(2, 0, 1),
        np.where(there, drawn.people, 0).transpose(2, 0, 1),
        (there * systems[:, :, None]).transpose(2, 0, 1),
        margins.T,
    )
    found = values(sample, names).swapaxes(1, 2)  # coefficients × draws × items × metrics
    defined = ~np.isnan(found)
    weigh = drawn.items[:, None, :]
    total = (weigh @ np.where(defined, found, 0))[:, :, 0]
    count = (weigh @ defined.astype(np.float64))[:, :, 0]
    different = ((weigh > 0).astype(np.float64) @ defined.astype(np.float64))[:, :, 0]
    return ratio(total, count), different


def pooled(
    scores: Floats, known: Bools, drawn: StudyDraws, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """All cells are one group; those without a score are left out."""
    cells = np.flatnonzero(known)
    people = drawn.people.reshape(len(drawn.people), -1)[:, cells]
    weights = drawn.systems[:, :, None] * drawn.items[:, None, :]
    sample = ScoreRatingSample(
        scores.reshape(len(scores), -1)[None][:, :, cells],
        np.nan_to_num(people)[None],
        (weights.reshape(len(weights), -1)[:, cells] * ~np.isnan(people))[None],
        margins[None, :, 0],
    )
    found = values(sample, names)[:, 0]
    return found, np.broadcast_to(sample.things[0][:, None], found.shape)


def paired(first: Floats, second: Floats, level: str, names: Sequence[str]) -> Floats:
    """Coefficients × tables: each table (tables × systems × items) against the other of its number.

    Both of a number must be known for the same cells; at the system or the item level.
    """
    there = ~np.isnan(first)
    tables, systems, items = first.shape
    if level == "system":
        count = there.sum(axis=2, keepdims=True).astype(np.float64)
        sides = (np.where(there, one, 0).sum(axis=2, keepdims=True) for one in (first, second))
        first, second = (ratio(one, count) for one in sides)
        there, items = count > 0, 1
    x, y, weights = (
        np.nan_to_num(one).swapaxes(1, 2).reshape(-1, 1, systems)
        for one in (_level(first), _level(second), there.astype(np.float64))
    )
    found = values(ScoreRatingSample(x, y, weights), names).reshape(len(names), tables, items)
    defined = ~np.isnan(found)
    return ratio(np.where(defined, found, 0).sum(axis=2), defined.sum(axis=2).astype(np.float64))


LEVEL_FUNCTIONS = {"system": by_system, "item": by_item, "global": pooled}


def steady(means: Floats, largest: Floats | float, axis: int = -1) -> Floats:
    """Means that lie closer to the next than rounding can tell become the lowest of their run.

    ``largest`` is the largest of what they are means of.
    """
    order = np.argsort(means, axis=axis)
    rising = np.moveaxis(np.take_along_axis(means, order, axis), axis, 0)
    apart = np.ones(rising.shape, bool)
    apart[1:] = ~(np.diff(rising, axis=0) <= RELATIVE_TOLERANCE * np.asarray(largest))
    lowest = np.maximum.accumulate(np.where(apart, rising, -np.inf), axis=0)
    found = np.empty_like(means)
    np.put_along_axis(found, order, np.moveaxis(lowest, 0, axis), axis)
    return found


def _level(tables: Floats) -> Floats:
    """Tables × systems × items, with ties among systems."""
    return steady(tables, float(np.nanmax(np.abs(tables), initial=0)), axis=1)


def people(votes: Votes, weights: Floats | None = None) -> Floats:
    """The mean vote of each cell: draws × systems × items, NaN where nobody voted.

    ``weights`` are draws × listeners; without them all listeners count once, in one row.
    """
    table = votes.table()
    known = ~np.isnan(table)
    weights = np.ones((1, votes.size[2])) if weights is None else weights
    means = ratio(weights @ np.where(known, table, 0).T, weights @ known.T.astype(np.float64))
    shape = len(weights), votes.size[1], votes.size[0]
    if not np.array_equal(votes.values, np.rint(votes.values)):
        means = steady(means, np.abs(votes.values).max(initial=0))
    return means.reshape(shape).swapaxes(1, 2)


# --- System means over cells ---------------------------------------------------------------------
# The mean of a cell is that of its votes, and each cell counts once, whoever voted on it. (A mean
# of listeners' means is another number where listeners did not all vote on the same cells.) The
# interval is over listeners: each moves the mean by the sum of what their votes are above it, as
# much as they weigh, and Student's t is taken of these. Where all vote on all cells it is the t
# interval of the means of listeners. Fewer than two listeners have none.


def system_means(votes: Votes, known: Bools | None = None) -> Moments:
    """By system: the mean, the deviation of listeners and how many they are.

    ``known`` (systems × items) says which cells count; else all that have a vote do. The standard
    error is the deviation over the root of the number, as ``significance.interval`` takes it.
    """
    systems, items, raters = votes.size
    table = votes.table().reshape(items, systems, raters)
    there = ~np.isnan(table) & (True if known is None else known.T[:, :, None])
    heard = there.sum(axis=2, keepdims=True).astype(np.float64)
    cells = (heard > 0).sum(axis=0, keepdims=True).astype(np.float64)
    weight = np.where(there, 1 / (np.maximum(heard, 1) * np.maximum(cells, 1)), 0)
    said = ratio(np.where(there, table, 0).sum(axis=2), heard[:, :, 0])
    total = np.where(np.isnan(said), 0, said).sum(axis=0)
    mean = steady(ratio(total, cells[0, :, 0]), np.abs(votes.values).max(initial=0))
    n = there.any(axis=0).sum(axis=1).astype(np.float64)
    moved = (weight * np.where(there, table - mean[:, None], 0)).sum(axis=0)
    return Moments(mean, np.sqrt(ratio(n**2 * (moved**2).sum(axis=1), n - 1)), n)


def half_widths(votes: Votes, known: Bools, level: float) -> Floats:
    """Half the width of each system's interval."""
    low, high = significance.interval(system_means(votes, known), level)
    return np.asarray((high - low) / 2)


# --- Adjustment for item effects -----------------------------------------------------------------
# A system that was rated on easy items alone has a high mean whatever it is like. So each cell is
# taken for the sum of an effect of its system and one of its item (least squares, each cell
# counting once), and the effect of its item is taken off. The mean of what is left, over a system's
# own cells, is its least-squares mean: what it would have on all items. Where all systems have all
# items that is the plain mean.
#
# Systems that share no items with others, not even through third ones, cannot be compared this way.


def complete(known: Bools) -> bool:
    """Whether all systems with a cell have the same items."""
    return np.array_equal(known, np.outer(known.any(axis=1), known.any(axis=0)))


def joint(known: Bools) -> bool:
    """Whether all systems with a cell hang together by items that they share."""
    there = known.any(axis=1)
    reached = np.zeros_like(there)
    reached[there.argmax()] = there.any()
    while True:
        more = np.asarray(known[:, known[reached].any(axis=0)].any(axis=1), bool)
        if np.array_equal(more, reached):
            return np.array_equal(reached, there)
        reached = more


def item_effects(table: Floats) -> Floats:
    """By item, from cells (systems × items, NaN if unknown); their mean is 0. 0 if not ``joint``.

    >>> item_effects(np.array([[1.0, 5, np.nan], [np.nan, 4, 8]])).tolist()
    [-4.0, 0.0, 4.0]
    """
    known = ~np.isnan(table)
    if not joint(known) or not known.any():
        return np.zeros(table.shape[1])
    cells, weigh = np.where(known, table, 0), known.astype(np.float64)
    of_item = np.maximum(weigh.sum(axis=0), 1)
    # Items are solved for first, which leaves as many equations as there are systems.
    left = np.diag(weigh.sum(axis=1)) - (weigh / of_item) @ weigh.T
    right = cells.sum(axis=1) - weigh @ (cells.sum(axis=0) / of_item)
    systems = np.linalg.lstsq(left, right, rcond=None)[0]
    items = (cells.sum(axis=0) - systems @ weigh) / of_item
    rated = known.any(axis=0)
    return np.where(rated, items - items[rated].mean(), 0.0)


def without_items(scores: Floats, people: Floats) -> Floats:
    """Scores (metrics × systems × items) less effects of items, from cells that people rated."""
    there = ~np.isnan(people)
    effects = np.array([item_effects(np.where(there, one, np.nan)) for one in scores])
    return np.asarray(scores - effects.reshape(len(scores), 1, people.shape[1]))
