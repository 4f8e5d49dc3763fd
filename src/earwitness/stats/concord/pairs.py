"""Pairs of things, counted by how a metric and people order them.

A pair is two *different* things. A draw gives each thing a whole weight, how often it was picked,
and a pair then weighs the product of both; a thing that was picked twice makes no pair with itself,
and so is no tie with itself.

Tables are groups × rows × things. A group is a set of things that are compared with each other and
with nothing else. Rows are metrics in the one table, and draws in those of people and of weights
(people may have one row, which all draws share). Counts are groups × draws × metrics, and exact
where weights are whole.

A difference of a metric of at most its ``margin`` is a tie; people are tied only where equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.concord import sweep
from earwitness.stats.exact import Floats

DENSE = 700  # things in a group up to which all its pairs are laid out
HELD = 1_000_000  # numbers laid out at a time
SINGLE = 2.0**23  # whole sums below this are exact in single precision


class Pairs(NamedTuple):
    """Weights of pairs: both order them alike, the other way round, or tie them."""

    concordant: Floats
    discordant: Floats
    tied_metric: Floats
    tied_people: Floats
    tied_both: Floats

    @property
    def all(self) -> Floats:
        """All pairs."""
        return self.apart_people + self.tied_people + self.tied_both

    @property
    def apart_people(self) -> Floats:
        """Pairs that people tell apart."""
        return self.concordant + self.discordant + self.tied_metric

    @property
    def apart_metric(self) -> Floats:
        """Pairs that the metric tells apart."""
        return self.concordant + self.discordant + self.tied_people


def counted(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats | float = 0.0
) -> Pairs:
    """Pairs of every group in every draw, for every metric; ``margins`` are groups × metrics.

    >>> metric, people = np.array([[[1.0, 2.0, 2.0]]]), np.array([[[3.0, 5.0, 4.0]]])
    >>> [int(count[0, 0, 0]) for count in counted(metric, people, np.ones((1, 1, 3)))]
    [2, 0, 1, 0, 0]
    """
    groups, rows, things = metrics.shape
    draws = weights.shape[1]
    limits = np.broadcast_to(np.asarray(margins, np.float64), (groups, rows))
    found = np.zeros((5, groups, draws, rows))
    if things > DENSE:
        for group in range(groups):
            shared = people[group], weights[group]
            found[:, group] = sweep.counted(metrics[group], *shared, limits[group])
        return Pairs(*found)
    if people.shape[1] == 1 and draws > rows:
        for group in range(groups):
            shared = people[group, 0], weights[group]
            found[:, group] = _shared(metrics[group], *shared, limits[group])
        return Pairs(*found)
    for some, draw in _portions(groups, draws, rows, things):
        shared = _rows(people[some], draw), weights[some, draw]
        found[:, some, draw] = _laid_out(metrics[some], *shared, limits[some])
    return Pairs(*found)


def _rows(table: Floats, draws: slice) -> Floats:
    """The draws' rows, or the one that all share."""
    return table if table.shape[1] == 1 else table[:, draws]


def _portions(groups: int, draws: int, rows: int, things: int) -> Iterator[tuple[slice, slice]]:
    """Groups and draws whose pairs fit into memory."""
    pairs = max(1, things * (things - 1) // 2)
    some = max(1, HELD // (pairs * max(1, draws, rows)))
    few = max(1, HELD // pairs)
    for group in range(0, groups, some):
        for draw in range(0, draws, few):
            yield slice(group, group + some), slice(draw, draw + few)


def _laid_out(metrics: Floats, people: Floats, weights: Floats, margins: Floats) -> Floats:
    """All pairs as columns; sums over them are products of matrices."""
    kind: Any = np.float32 if _small(weights) else np.float64
    ordered = _signs(metrics, margins[:, :, None]).astype(kind)
    of_people = _signs(people, np.zeros((1, 1, 1)))
    weigh = _products(weights.astype(kind))
    level = weigh * (of_people == 0)
    sides = np.swapaxes(ordered, 1, 2)
    net = (weigh * of_people) @ sides
    tied, both = np.zeros_like(net), np.zeros_like(net)
    if not ordered.all():
        ties = (sides == 0).astype(kind)
        tied, both = weigh @ ties, level @ ties
    whole = (_total(weigh), _total(level))
    return _kinds(*whole, *(part.astype(np.float64) for part in (net, tied, both)))


def _columns(things: int) -> Iterator[tuple[int, slice]]:
    """Each thing, and the columns of its pairs with all later ones."""
    start = 0
    for thing in range(things - 1):
        stop = start + things - 1 - thing
        yield thing, slice(start, stop)
        start = stop


def _signs(values: Floats, margins: Floats) -> NDArray[np.int8]:
    """Of each pair: 1 if the later is above by more than the margin, −1 if below, 0 if tied."""
    *rows, things = values.shape
    found = np.empty((*rows, things * (things - 1) // 2), np.int8)
    for thing, columns in _columns(things):
        apart = values[..., thing + 1 :] - values[..., thing, None]
        above, below = (apart > margins).view(np.int8), (apart < -margins).view(np.int8)
        np.subtract(above, below, out=found[..., columns])
    return found


def _products(weights: Floats) -> Floats:
    """The weight of each pair."""
    *rows, things = weights.shape
    found = np.empty((*rows, things * (things - 1) // 2), weights.dtype)
    for thing, columns in _columns(things):
        np.multiply(weights[..., thing + 1 :], weights[..., thing, None], out=found[..., columns])
    return found


def _shared(metrics: Floats, people: Floats, weights: Floats, margins: Floats) -> Floats:
    """Of a group whose people are the same in all draws: sums over pairs are w′Kw / 2.

    Here metrics are rows × things, weights draws × things, people and margins one row each.
    """
    kind: Any = np.float32 if _small(weights) else np.float64
    own = weights.astype(kind)
    of_people = _squares(people[None], np.zeros(1)).astype(kind)
    apart = 1 - np.eye(len(people), dtype=kind)
    level = apart * (of_people == 0)
    ordered = _squares(metrics, margins).astype(kind)
    net = _forms(own, ordered * of_people)
    tied, both = np.zeros_like(net), np.zeros_like(net)
    ties = apart * (ordered == 0)
    some = ties.any(axis=(1, 2))
    if some.any():
        tied[:, some], both[:, some] = _forms(own, ties[some]), _forms(own, ties[some] * level)
    return _kinds(_forms(own, apart[None]), _forms(own, level), net, tied, both)


def _squares(values: Floats, margins: Floats) -> Floats:
    """1 where the one thing is above the other by more than the margin, −1 where below."""
    apart, limits = values[:, :, None] - values[:, None, :], margins[:, None, None]
    return (apart > limits).astype(np.float64) - (apart < -limits)


def _forms(weights: Floats, of_pairs: Floats) -> Floats:
    """The sum over pairs, for every row of weights and every table of pairs."""
    tables, things, _ = of_pairs.shape
    wide = np.ascontiguousarray(of_pairs.transpose(1, 0, 2)).reshape(things, tables * things)
    rows = max(1, HELD // max(1, tables * things))
    found = np.empty((len(weights), tables))
    for start in range(0, len(weights), rows):
        some = weights[start : start + rows]
        products = (some @ wide).reshape(len(some), tables, things)
        found[start : start + rows] = np.einsum("drn,dn->dr", products, some)
    return found / 2


def _small(weights: Floats) -> bool:
    """Whether sums over pairs are exact in single precision."""
    most = float(weights.sum(axis=-1).max(initial=0)) ** 2
    return most < SINGLE and np.array_equal(weights, np.rint(weights))


def _total(weigh: Floats) -> Floats:
    return np.asarray(weigh.sum(axis=-1, dtype=np.float64)[:, :, None])


def _kinds(whole: Floats, level: Floats, net: Floats, tied: Floats, both: Floats) -> Floats:
    """The five kinds, from all pairs, those tied in people, the balance, and ties of the metric."""
    apart = whole - level - tied + both
    concordant = (apart + net) / 2
    return np.stack([concordant, apart - concordant, tied - both, level - both, both])
