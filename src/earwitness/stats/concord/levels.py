"""Concordance at three levels.

- ``system``: each system is one thing, with the means of its cells, the metric's and people's, over
  the items for which both are known.
- ``item``: the systems are compared within each item, and the values of items are averaged; items
  without a defined value are counted, not averaged.
- ``global``: all cells (an item of a system) are compared with all others.

Means that rounding alone keeps apart are made equal, so that the order of sums breaks no tie.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from earwitness.stats.concord.coefficients import Sample, values
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.student import ratio
from earwitness.stats.votes import Codes, Votes

NEAR = 1e-12  # means closer than this, beside the largest of what they are of, are equal


@dataclass(frozen=True)
class Grid:
    """Scores (metrics × systems × items), means of people (systems × items); NaN if unknown."""

    scores: Floats
    people: Floats

    def __post_init__(self) -> None:
        if np.isinf(self.scores).any() or np.isinf(self.people).any():
            raise ValueError("scores and people's values must be finite, or NaN where unknown")
        if self.scores.shape[1:] != self.people.shape:
            raise ValueError("scores and people must have the same systems and items")


class Value(NamedTuple):
    """Coefficients × metrics: the value, on how many systems, items or cells, and how many are not.

    ``n`` counts items with a defined value at the item level; elsewhere systems or cells for which
    the metric and people are both known. ``undefined`` counts the others of the grid.
    """

    value: Floats
    n: Floats
    undefined: Floats


class Drawn(NamedTuple):
    """Rows of weights, and people (draws × systems × items; one row if all draws share it)."""

    systems: Floats
    items: Floats
    people: Floats


def value(grid: Grid, level: str, names: Sequence[str], margins: Floats | float = 0.0) -> Value:
    """Coefficients of all metrics at a level; ``margins`` see ``at``."""
    _, systems, items = grid.scores.shape
    once = Drawn(np.ones((1, systems)), np.ones((1, items)), grid.people[None])
    found, n = at(level, grid.scores, once, names, margins)
    whole = {"system": systems, "item": items, "global": systems * items}[level]
    return Value(found[:, 0], n[:, 0], whole - n[:, 0])


def at(
    level: str, scores: Floats, drawn: Drawn, names: Sequence[str], margins: Floats | float = 0.0
) -> tuple[Floats, Floats]:
    """Coefficients × draws × metrics: values, and on how many different things they rest.

    ``margins`` is one number, one a metric, or (at the item level) metrics × items.
    """
    shape = len(names), len(drawn.systems), len(scores)
    found, n = np.empty(shape), np.empty(shape)
    limits = np.broadcast_to(_limits(margins), (len(scores), scores.shape[2]))
    for which, known in gaps(scores):
        here = np.where(known, scores[which], 0)
        some = LEVEL[level](here, known, drawn, names, limits[which])
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
    scores: Floats, known: Bools, drawn: Drawn, names: Sequence[str], margins: Floats
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
    sample = Sample(
        np.nan_to_num(np.moveaxis(means, 0, 2)),
        np.nan_to_num(people)[:, None],
        weights,
        np.broadcast_to(margins[:, 0], (len(weights), len(margins))),
    )
    found = values(sample, names)[:, :, 0]
    return found, np.broadcast_to(sample.things[:, :1], found.shape)


def by_item(
    scores: Floats, known: Bools, drawn: Drawn, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """Every item is a group; its value counts as often as the item was drawn.

    Where only items are drawn, the values of items are found once for all draws.
    """
    there = ~np.isnan(drawn.people) & known
    alike = len(drawn.people) == 1 and bool((drawn.systems == drawn.systems[:1]).all())
    systems = drawn.systems[:1] if alike else drawn.systems
    sample = Sample(
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
    scores: Floats, known: Bools, drawn: Drawn, names: Sequence[str], margins: Floats
) -> tuple[Floats, Floats]:
    """All cells are one group; those without a score are left out."""
    cells = np.flatnonzero(known)
    people = drawn.people.reshape(len(drawn.people), -1)[:, cells]
    weights = drawn.systems[:, :, None] * drawn.items[:, None, :]
    sample = Sample(
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
    found = values(Sample(x, y, weights), names).reshape(len(names), tables, items)
    defined = ~np.isnan(found)
    return ratio(np.where(defined, found, 0).sum(axis=2), defined.sum(axis=2).astype(np.float64))


LEVEL = {"system": by_system, "item": by_item, "global": pooled}


def steady(means: Floats, largest: Floats | float, axis: int = -1) -> Floats:
    """Means that lie closer to the next than rounding can tell become the lowest of their run.

    ``largest`` is the largest of what they are means of.
    """
    order = np.argsort(means, axis=axis)
    rising = np.moveaxis(np.take_along_axis(means, order, axis), axis, 0)
    apart = np.ones(rising.shape, bool)
    apart[1:] = ~(np.diff(rising, axis=0) <= NEAR * np.asarray(largest))
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
