"""Concordant, discordant and tied pairs, counted by methods for few or many things."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Codes

# --- Sums over ordered pairs ---------------------------------------------------------------------
# A row is a sequence of places. Each has a rank (all of them different), a weight that it brings
# and a weight with which it asks. Wanted is the sum, over all pairs of places, of what the earlier
# brings times what the later asks, where the earlier has the lower rank.
#
# Laying out all pairs would take n² steps. Places are cut into short blocks by their order, and
# again by their rank. Pairs in different blocks either way are counted from a table of blocks ×
# blocks; only pairs within a block are gone through.


PLACES_IN_CACHE = 30_000  # places at a time: few enough for the cache
SINGLE_PRECISION_LIMIT = 2.0**23  # whole sums below this are exact in single precision


def ahead(ranks: Codes, brings: Floats, asks: Floats) -> Floats:
    """One sum a row; tables are rows × places. Exact where weights are whole."""
    rows, places = ranks.shape
    some = max(1, PLACES_IN_CACHE // max(1, places))
    found = np.zeros(rows)
    for start in range(0, rows if places else 0, some):
        part = slice(start, start + some)
        found[part] = _summed(ranks[part], brings[part], asks[part])
    return found


def _summed(ranks: Codes, brings: Floats, asks: Floats) -> Floats:
    """Places are filled up to whole blocks with some that weigh nothing."""
    rows, places = ranks.shape
    size = max(2, round((20 * places) ** (1 / 3)))
    length = -(-places // size) * size
    kind: Any = np.int16 if length < 2**15 else np.int64
    filled = np.tile(np.arange(length, dtype=kind), (rows, 1))
    filled[:, :places] = ranks
    weights = np.zeros((2, rows, length), _precise(brings, size))
    weights[0, :, :places], weights[1, :, :places] = brings, asks
    turns = np.empty_like(filled)
    np.put_along_axis(turns, filled.astype(np.int64), np.arange(length, dtype=kind)[None], axis=1)
    by_rank = np.take_along_axis(weights, turns[None].astype(np.int64), axis=2)
    return (
        _between(filled // size, weights, size)
        + _near(filled, weights, size)
        + _near(turns // size, by_rank, size)
    )


def _precise(brings: Floats, size: int) -> Any:
    """Single precision where sums within a block are exact in it."""
    exact = brings.max(initial=0) * size < SINGLE_PRECISION_LIMIT and np.array_equal(
        brings, np.rint(brings)
    )
    return np.float32 if exact else np.float64


def _between(blocks: Codes, weights: Floats, size: int) -> Floats:
    """Pairs in different blocks, by order and by rank."""
    rows, length = blocks.shape
    count = length // size
    own = np.arange(rows)[:, None] * count + np.arange(length) // size
    cells = (own * count + blocks).ravel()
    shape = rows, count, count
    brings, asks = (
        np.bincount(cells, side.ravel(), minlength=rows * count**2).reshape(shape)
        for side in weights
    )
    below = np.cumsum(np.cumsum(brings[:, :-1, :-1], axis=1), axis=2)
    return np.asarray(np.einsum("rij,rij->r", below, asks[:, 1:, 1:]))


def _near(keys: Codes, weights: Floats, size: int) -> Floats:
    """Pairs within a block of the sequence whose earlier place has the lower key."""
    rows = len(keys)
    keys = np.ascontiguousarray(keys.reshape(rows, -1, size).transpose(2, 0, 1))
    parts = weights.reshape(2, rows, -1, size).transpose(0, 3, 1, 2)
    brings, asks = np.ascontiguousarray(parts)
    found = np.zeros(rows)
    for later in range(1, size):
        below = brings[:later] * (keys[:later] < keys[later])
        found += np.einsum("rb,rb->r", below.sum(axis=0), asks[later], dtype=np.float64)
    return found


# --- Pairs counted by sorting --------------------------------------------------------------------
# Without a margin, things are put into the order of the metric, and ranked by people; ties are put
# the other way round, so that none of them counts as concordant. With a margin, ties are no longer
# transitive: each thing then stands twice in the sequence, where it is *entered* and where it
# *asks*, the place before which all others are lower by more than the margin.


def count_pairs_by_sweep(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats
) -> Floats:
    """The five kinds of pairs of one group × draws × metrics; see ``PairCounts``."""
    found = np.zeros((5, len(weights), len(metrics)))
    plain = margins == 0
    codes = _coded(metrics[plain])
    orders, bounds = _orders(metrics[~plain], margins[~plain])
    for draw, weigh in enumerate(weights):
        kept = np.flatnonzero(weigh)
        levels = np.unique(people[draw % len(people)][kept], return_inverse=True)[1]
        found[:, draw, plain] = _without(weigh[kept], levels, codes[:, kept])
        found[:, draw, ~plain] = _with(weigh, kept, levels, orders, bounds)
    return found


def _among(weigh: Floats) -> Floats:
    """The weight of all pairs of each row."""
    return np.asarray((weigh.sum(axis=-1) ** 2 - (weigh**2).sum(axis=-1)) / 2)


def _level(levels: Codes, weigh: Floats) -> Floats:
    """The weight of pairs that people tie: all pairs less those between different levels."""
    heavy = np.bincount(levels, weigh).astype(np.float64)
    return np.asarray(_among(weigh) - _among(heavy))


def _coded(metrics: Floats) -> Codes:
    """Numbers in the order of values, equal where they are."""
    found = [np.unique(row, return_inverse=True)[1].ravel() for row in metrics]
    return np.array(found, np.int64).reshape(metrics.shape)


def _without(weigh: Floats, levels: Codes, codes: Codes) -> Floats:
    """Counts of one draw where only equal values are tied."""
    rows, things = codes.shape
    count = int(levels.max(initial=0)) + 1
    keys = codes * count + (count - 1 - levels)
    orders = np.argsort(keys, axis=1)
    sorted_weights, backwards = weigh[orders], np.arange(things)[::-1]
    turns = np.argsort(levels[orders] * things + backwards, axis=1)
    ranks = np.empty_like(turns)
    np.put_along_axis(ranks, turns, np.arange(things)[None], axis=1)
    concordant = ahead(ranks, sorted_weights, sorted_weights)
    level = np.full(rows, _level(levels, weigh))
    tied = _tied(np.take_along_axis(codes, orders, axis=1), sorted_weights)
    both = _tied(np.take_along_axis(keys, orders, axis=1), sorted_weights)
    return _derive_kinds_from_concordant(_among(weigh), level, tied, both, concordant)


def _tied(rising: Codes, weigh: Floats) -> Floats:
    """The weight of pairs with equal keys; keys are sorted within rows."""
    rows, things = rising.shape
    first = np.ones(rising.shape, bool)
    first[:, 1:] = rising[:, 1:] > rising[:, :-1]
    if first.all():
        return np.zeros(rows)
    starts = np.flatnonzero(first)
    runs = np.add.reduceat(weigh.ravel(), starts) ** 2
    squares = np.bincount(starts // things, runs, minlength=rows)
    return np.asarray((squares - (weigh**2).sum(axis=1)) / 2)


def _derive_kinds_from_concordant(
    whole: Floats, level: Floats, tied: Floats, both: Floats, concordant: Floats
) -> Floats:
    """The five kinds, from all pairs, those tied by people, by the metric and by both."""
    discordant = whole - level - tied + both - concordant
    return np.stack([concordant, discordant, tied - both, level - both, both])


def _orders(metrics: Floats, margins: Floats) -> tuple[Codes, Codes]:
    """Things by rising metric, and for each how many are lower by more than the margin."""
    orders = np.argsort(metrics, axis=1, kind="stable")
    rising = np.take_along_axis(metrics, orders, axis=1)
    found = [_bounds(row, margin) for row, margin in zip(rising, margins, strict=True)]
    return orders, np.array(found, np.int64).reshape(orders.shape)


def _bounds(rising: Floats, margin: float) -> Codes:
    """Differences decide, not sums: the guess is moved where rounding makes them disagree."""
    bounds = np.searchsorted(rising, rising - margin).astype(np.int64)
    while (more := rising - rising[np.minimum(bounds, len(rising) - 1)] > margin).any():
        bounds += more
    while (less := (bounds > 0) & ~(rising - rising[bounds - 1] > margin)).any():
        bounds -= less
    return bounds


def _with(weigh: Floats, kept: Codes, levels: Codes, orders: Codes, bounds: Codes) -> Floats:
    """Counts of one draw where differences within a margin are ties."""
    rows, things = orders.shape
    of_people = np.zeros(things, np.int64)
    of_people[kept] = levels
    places = np.concatenate([2 * bounds, np.arange(1, 2 * things, 2) + 0 * orders], axis=1)
    turns = np.argsort(places, axis=1, kind="stable")
    who, entered = np.take_along_axis(np.tile(orders, 2), turns, axis=1), turns >= things
    brings, asks = weigh[who] * entered, weigh[who] * ~entered
    before = np.cumsum(brings, axis=1)
    apart = (before * asks).sum(axis=1)
    whole, level = _among(weigh), _level(levels, weigh[kept])
    concordant = ahead(_ranked(2 * of_people[who] + entered), brings, asks)
    upto = ahead(_ranked(2 * of_people[who] + ~entered), brings, asks)
    both = level - (upto - concordant)
    return _derive_kinds_from_concordant(
        whole, np.full(rows, level), whole - apart, both, concordant
    )


def _ranked(keys: Codes) -> Codes:
    ranks = np.empty_like(keys)
    order = np.argsort(keys, axis=1, kind="stable")
    np.put_along_axis(ranks, order, np.arange(keys.shape[1])[None], axis=1)
    return ranks


# --- Pairs counted in tables ---------------------------------------------------------------------
# A pair is two *different* things. A draw gives each thing a whole weight, how often it was picked,
# and a pair then weighs the product of both; a thing that was picked twice makes no pair with
# itself, and so is no tie with itself.
#
# Tables are groups × rows × things. A group is a set of things that are compared with each other
# and with nothing else. Rows are metrics in the one table, and draws in those of people and of
# weights (people may have one row, which all draws share). Counts are groups × draws × metrics, and
# exact where weights are whole.
#
# A difference of a metric of at most its ``margin`` is a tie; people are tied only where equal.


MAX_THINGS_ALL_PAIRS = 700  # things in a group up to which all its pairs are laid out
NUMBERS_IN_MEMORY = 1_000_000  # numbers laid out at a time


class PairCounts(NamedTuple):
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


def count_pairs(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats | float = 0.0
) -> PairCounts:
    """Pairs of every group in every draw, for every metric; ``margins`` are groups × metrics.

    >>> metric, people = np.array([[[1.0, 2.0, 2.0]]]), np.array([[[3.0, 5.0, 4.0]]])
    >>> [int(count[0, 0, 0]) for count in count_pairs(metric, people, np.ones((1, 1, 3)))]
    [2, 0, 1, 0, 0]
    """
    groups, rows, things = metrics.shape
    draws = weights.shape[1]
    limits = np.broadcast_to(np.asarray(margins, np.float64), (groups, rows))
    found = np.zeros((5, groups, draws, rows))
    if things > MAX_THINGS_ALL_PAIRS:
        for group in range(groups):
            shared = people[group], weights[group]
            found[:, group] = count_pairs_by_sweep(metrics[group], *shared, limits[group])
        return PairCounts(*found)
    if people.shape[1] == 1 and draws > rows:
        for group in range(groups):
            shared = people[group, 0], weights[group]
            found[:, group] = _shared(metrics[group], *shared, limits[group])
        return PairCounts(*found)
    for some, draw in _portions(groups, draws, rows, things):
        shared = _rows(people[some], draw), weights[some, draw]
        found[:, some, draw] = _laid_out(metrics[some], *shared, limits[some])
    return PairCounts(*found)


def _rows(table: Floats, draws: slice) -> Floats:
    """The draws' rows, or the one that all share."""
    return table if table.shape[1] == 1 else table[:, draws]


def _portions(groups: int, draws: int, rows: int, things: int) -> Iterator[tuple[slice, slice]]:
    """Groups and draws whose pairs fit into memory."""
    pairs = max(1, things * (things - 1) // 2)
    some = max(1, NUMBERS_IN_MEMORY // (pairs * max(1, draws, rows)))
    few = max(1, NUMBERS_IN_MEMORY // pairs)
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
    return _derive_kinds_from_balance(
        *whole, *(part.astype(np.float64) for part in (net, tied, both))
    )


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
    return _derive_kinds_from_balance(_forms(own, apart[None]), _forms(own, level), net, tied, both)


def _squares(values: Floats, margins: Floats) -> Floats:
    """1 where the one thing is above the other by more than the margin, −1 where below."""
    apart, limits = values[:, :, None] - values[:, None, :], margins[:, None, None]
    return (apart > limits).astype(np.float64) - (apart < -limits)


def _forms(weights: Floats, of_pairs: Floats) -> Floats:
    """The sum over pairs, for every row of weights and every table of pairs."""
    tables, things, _ = of_pairs.shape
    wide = np.ascontiguousarray(of_pairs.transpose(1, 0, 2)).reshape(things, tables * things)
    rows = max(1, NUMBERS_IN_MEMORY // max(1, tables * things))
    found = np.empty((len(weights), tables))
    for start in range(0, len(weights), rows):
        some = weights[start : start + rows]
        products = (some @ wide).reshape(len(some), tables, things)
        found[start : start + rows] = np.einsum("drn,dn->dr", products, some)
    return found / 2


def _small(weights: Floats) -> bool:
    """Whether sums over pairs are exact in single precision."""
    most = float(weights.sum(axis=-1).max(initial=0)) ** 2
    return most < SINGLE_PRECISION_LIMIT and np.array_equal(weights, np.rint(weights))


def _total(weigh: Floats) -> Floats:
    return np.asarray(weigh.sum(axis=-1, dtype=np.float64)[:, :, None])


def _derive_kinds_from_balance(
    whole: Floats, level: Floats, net: Floats, tied: Floats, both: Floats
) -> Floats:
    """The five kinds, from all pairs, those tied in people, the balance, and ties of the metric."""
    apart = whole - level - tied + both
    concordant = (apart + net) / 2
    return np.stack([concordant, apart - concordant, tied - both, level - both, both])
