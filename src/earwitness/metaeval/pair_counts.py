"""Counts of concordant, discordant and tied pairs, for few or many units."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Codes

# --- Sums over ordered pairs ---------------------------------------------------------------------
# A row is a sequence of positions. Each has a distinct rank and two weights, ``brings`` and
# ``asks``. The result is the sum, over all pairs of positions in which the earlier has the lower
# rank, of ``brings`` of the earlier times ``asks`` of the later.
#
# Enumerating all pairs would take n² steps. Positions are divided into short blocks by order, and
# again by rank. Pairs in different blocks in both respects are counted from a table of blocks ×
# blocks; only pairs within a block are enumerated.


PLACES_IN_CACHE = 30_000  # number of positions processed at once; fits the cache
SINGLE_PRECISION_LIMIT = 2.0**23  # smaller integer sums are exact in single precision


def sum_ordered_pairs(ranks: Codes, brings: Floats, asks: Floats) -> Floats:
    """Return one sum per row of tables with rows × positions; exact for integer weights."""
    rows, places = ranks.shape
    rows_per_block = max(1, PLACES_IN_CACHE // max(1, places))
    sums = np.zeros(rows)
    for start in range(0, rows if places else 0, rows_per_block):
        block = slice(start, start + rows_per_block)
        sums[block] = _sum_padded_rows(ranks[block], brings[block], asks[block])
    return sums


def _sum_padded_rows(ranks: Codes, brings: Floats, asks: Floats) -> Floats:
    """Return the sums after padding rows to whole blocks with weights of 0."""
    rows, places = ranks.shape
    size = max(2, round((20 * places) ** (1 / 3)))
    length = -(-places // size) * size
    dtype: Any = np.int16 if length < 2**15 else np.int64
    padded_ranks = np.tile(np.arange(length, dtype=dtype), (rows, 1))
    padded_ranks[:, :places] = ranks
    weights = np.zeros((2, rows, length), _exact_dtype(brings, size))
    weights[0, :, :places], weights[1, :, :places] = brings, asks
    places_by_rank = np.empty_like(padded_ranks)
    np.put_along_axis(
        places_by_rank, padded_ranks.astype(np.int64), np.arange(length, dtype=dtype)[None], axis=1
    )
    by_rank = np.take_along_axis(weights, places_by_rank[None].astype(np.int64), axis=2)
    return (
        _sum_between_blocks(padded_ranks // size, weights, size)
        + _sum_within_blocks(padded_ranks, weights, size)
        + _sum_within_blocks(places_by_rank // size, by_rank, size)
    )


def _exact_dtype(brings: Floats, size: int) -> Any:
    """Return single precision if sums within a block are exact in it, else double."""
    exact = brings.max(initial=0) * size < SINGLE_PRECISION_LIMIT and np.array_equal(
        brings, np.rint(brings)
    )
    return np.float32 if exact else np.float64


def _sum_between_blocks(blocks: Codes, weights: Floats, size: int) -> Floats:
    """Return the sum over pairs in different blocks, by order and by rank."""
    rows, length = blocks.shape
    count = length // size
    first_blocks = np.arange(rows)[:, None] * count + np.arange(length) // size
    cells = (first_blocks * count + blocks).ravel()
    shape = rows, count, count
    brings, asks = (
        np.bincount(cells, side.ravel(), minlength=rows * count**2).reshape(shape)
        for side in weights
    )
    below = np.cumsum(np.cumsum(brings[:, :-1, :-1], axis=1), axis=2)
    return np.asarray(np.einsum("rij,rij->r", below, asks[:, 1:, 1:]))


def _sum_within_blocks(keys: Codes, weights: Floats, size: int) -> Floats:
    """Return the sum over pairs within a block in which the earlier position has the lower key."""
    rows = len(keys)
    keys = np.ascontiguousarray(keys.reshape(rows, -1, size).transpose(2, 0, 1))
    parts = weights.reshape(2, rows, -1, size).transpose(0, 3, 1, 2)
    brings, asks = np.ascontiguousarray(parts)
    sums = np.zeros(rows)
    for later in range(1, size):
        below = brings[:later] * (keys[:later] < keys[later])
        sums += np.einsum("rb,rb->r", below.sum(axis=0), asks[later], dtype=np.float64)
    return sums


# --- Pairs counted by sorting --------------------------------------------------------------------
# Without a margin, units are sorted by the metric and ranked by the ratings; ties are in reverse
# order, so that none counts as concordant. With a margin, ties are not transitive: each unit then
# has two positions in the sequence, one where it *enters* and one where it *asks*, before which all
# other units are lower by more than the margin.


def count_pairs_by_sweep(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats
) -> Floats:
    """Return the five kinds of pairs of one group × draws × metrics; see ``PairCounts``."""
    counts = np.zeros((5, len(weights), len(metrics)))
    without_margin = margins == 0
    codes = _encode_rows(metrics[without_margin])
    orders, bounds = _margin_orders(metrics[~without_margin], margins[~without_margin])
    for draw, draw_weights in enumerate(weights):
        present = np.flatnonzero(draw_weights)
        people_levels = np.unique(people[draw % len(people)][present], return_inverse=True)[1]
        counts[:, draw, without_margin] = _count_exact_ties(
            draw_weights[present], people_levels, codes[:, present]
        )
        counts[:, draw, ~without_margin] = _count_margin_ties(
            draw_weights, present, people_levels, orders, bounds
        )
    return counts


def _weight_of_pairs(weights: Floats) -> Floats:
    """Return the total weight of all pairs of each row."""
    return np.asarray((weights.sum(axis=-1) ** 2 - (weights**2).sum(axis=-1)) / 2)


def _weight_tied_by_people(levels: Codes, weights: Floats) -> Floats:
    """Return the weight of pairs tied in the ratings: all pairs minus those of different levels."""
    weight_by_level = np.bincount(levels, weights).astype(np.float64)
    return np.asarray(_weight_of_pairs(weights) - _weight_of_pairs(weight_by_level))


def _encode_rows(metrics: Floats) -> Codes:
    """Return integer codes in the order of values; equal values have equal codes."""
    codes = [np.unique(row, return_inverse=True)[1].ravel() for row in metrics]
    return np.array(codes, np.int64).reshape(metrics.shape)


def _count_exact_ties(weights: Floats, levels: Codes, codes: Codes) -> Floats:
    """Return the counts of one draw in which only equal values are tied."""
    rows, things = codes.shape
    count = int(levels.max(initial=0)) + 1
    keys = codes * count + (count - 1 - levels)
    orders = np.argsort(keys, axis=1)
    sorted_weights, backwards = weights[orders], np.arange(things)[::-1]
    order_by_people = np.argsort(levels[orders] * things + backwards, axis=1)
    ranks = np.empty_like(order_by_people)
    np.put_along_axis(ranks, order_by_people, np.arange(things)[None], axis=1)
    concordant = sum_ordered_pairs(ranks, sorted_weights, sorted_weights)
    tied_by_people = np.full(rows, _weight_tied_by_people(levels, weights))
    tied_by_metric = _weight_of_equal_keys(
        np.take_along_axis(codes, orders, axis=1), sorted_weights
    )
    tied_by_both = _weight_of_equal_keys(np.take_along_axis(keys, orders, axis=1), sorted_weights)
    return _derive_kinds_from_concordant(
        _weight_of_pairs(weights), tied_by_people, tied_by_metric, tied_by_both, concordant
    )


def _weight_of_equal_keys(ordered: Codes, weights: Floats) -> Floats:
    """Return the weight of pairs with equal keys; keys are sorted within rows."""
    rows, things = ordered.shape
    first = np.ones(ordered.shape, bool)
    first[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    if first.all():
        return np.zeros(rows)
    starts = np.flatnonzero(first)
    run_squares = np.add.reduceat(weights.ravel(), starts) ** 2
    squares = np.bincount(starts // things, run_squares, minlength=rows)
    return np.asarray((squares - (weights**2).sum(axis=1)) / 2)


def _derive_kinds_from_concordant(
    whole: Floats, level: Floats, tied: Floats, both: Floats, concordant: Floats
) -> Floats:
    """Return the five kinds, from all pairs and those tied by the ratings, the metric and both."""
    discordant = whole - level - tied + both - concordant
    return np.stack([concordant, discordant, tied - both, level - both, both])


def _margin_orders(metrics: Floats, margins: Floats) -> tuple[Codes, Codes]:
    """Return units in ascending order, and how many are lower by more than the margin."""
    orders = np.argsort(metrics, axis=1, kind="stable")
    ordered = np.take_along_axis(metrics, orders, axis=1)
    bounds = [_margin_bounds(row, margin) for row, margin in zip(ordered, margins, strict=True)]
    return orders, np.array(bounds, np.int64).reshape(orders.shape)


def _margin_bounds(ordered: Floats, margin: float) -> Codes:
    """Return bounds by differences, not sums: guesses are corrected where rounding matters."""
    bounds = np.searchsorted(ordered, ordered - margin).astype(np.int64)
    while (more := ordered - ordered[np.minimum(bounds, len(ordered) - 1)] > margin).any():
        bounds += more
    while (less := (bounds > 0) & ~(ordered - ordered[bounds - 1] > margin)).any():
        bounds -= less
    return bounds


def _count_margin_ties(
    weights: Floats, present: Codes, levels: Codes, orders: Codes, bounds: Codes
) -> Floats:
    """Return the counts of one draw in which differences within a margin are ties."""
    rows, things = orders.shape
    people_levels = np.zeros(things, np.int64)
    people_levels[present] = levels
    places = np.concatenate([2 * bounds, np.arange(1, 2 * things, 2) + 0 * orders], axis=1)
    order = np.argsort(places, axis=1, kind="stable")
    things_in_order, entered = (
        np.take_along_axis(np.tile(orders, 2), order, axis=1),
        order >= things,
    )
    brings, asks = weights[things_in_order] * entered, weights[things_in_order] * ~entered
    before = np.cumsum(brings, axis=1)
    told_apart = (before * asks).sum(axis=1)
    whole, tied_by_people = (
        _weight_of_pairs(weights),
        _weight_tied_by_people(levels, weights[present]),
    )
    concordant = sum_ordered_pairs(
        _rank_rows(2 * people_levels[things_in_order] + entered), brings, asks
    )
    at_most = sum_ordered_pairs(
        _rank_rows(2 * people_levels[things_in_order] + ~entered), brings, asks
    )
    tied_by_both = tied_by_people - (at_most - concordant)
    return _derive_kinds_from_concordant(
        whole, np.full(rows, tied_by_people), whole - told_apart, tied_by_both, concordant
    )


def _rank_rows(keys: Codes) -> Codes:
    ranks = np.empty_like(keys)
    order = np.argsort(keys, axis=1, kind="stable")
    np.put_along_axis(ranks, order, np.arange(keys.shape[1])[None], axis=1)
    return ranks


# --- Pairs counted in tables ---------------------------------------------------------------------
# A pair consists of two *different* units. A draw gives each unit an integer weight, the number of
# times it was drawn, and a pair has the product of both as its weight; a unit that was drawn twice
# is not paired, and so not tied, with itself.
#
# Tables are groups × rows × units. A group is a set of units that are compared only with each
# other. Rows are metrics in the table of scores, and draws in those of ratings and of weights
# (ratings may have one row, shared by all draws). Counts are groups × draws × metrics, and exact
# for integer weights.
#
# A score difference of at most the ``margin`` of its metric is a tie; ratings are tied only if
# equal.


MAX_THINGS_ALL_PAIRS = 700  # largest group whose pairs are all enumerated
NUMBERS_IN_MEMORY = 1_000_000  # numbers in memory at once


class PairCounts(NamedTuple):
    """Weights of pairs by kind: concordant, discordant, or tied."""

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
        """Pairs with different ratings."""
        return self.concordant + self.discordant + self.tied_metric

    @property
    def apart_metric(self) -> Floats:
        """Pairs with different scores."""
        return self.concordant + self.discordant + self.tied_people


def count_pairs(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats | float = 0.0
) -> PairCounts:
    """Count the pairs of each group in each draw, for each metric.

    ``margins`` is one number, or groups × metrics.

    >>> metric, people = np.array([[[1.0, 2.0, 2.0]]]), np.array([[[3.0, 5.0, 4.0]]])
    >>> [int(count[0, 0, 0]) for count in count_pairs(metric, people, np.ones((1, 1, 3)))]
    [2, 0, 1, 0, 0]
    """
    groups, rows, things = metrics.shape
    draws = weights.shape[1]
    limits = np.broadcast_to(np.asarray(margins, np.float64), (groups, rows))
    counts = np.zeros((5, groups, draws, rows))
    if things > MAX_THINGS_ALL_PAIRS:
        for group in range(groups):
            shared = people[group], weights[group]
            counts[:, group] = count_pairs_by_sweep(metrics[group], *shared, limits[group])
        return PairCounts(*counts)
    if people.shape[1] == 1 and draws > rows:
        for group in range(groups):
            shared = people[group, 0], weights[group]
            counts[:, group] = _count_with_shared_people(metrics[group], *shared, limits[group])
        return PairCounts(*counts)
    for group_part, draw_part in _memory_portions(groups, draws, rows, things):
        shared = _draw_rows(people[group_part], draw_part), weights[group_part, draw_part]
        counts[:, group_part, draw_part] = _count_all_pairs(
            metrics[group_part], *shared, limits[group_part]
        )
    return PairCounts(*counts)


def _draw_rows(table: Floats, draws: slice) -> Floats:
    """Return the rows of the draws, or the one that all draws share."""
    return table if table.shape[1] == 1 else table[:, draws]


def _memory_portions(
    groups: int, draws: int, rows: int, things: int
) -> Iterator[tuple[slice, slice]]:
    """Yield groups and draws whose pairs fit into memory."""
    pairs = max(1, things * (things - 1) // 2)
    groups_at_once = max(1, NUMBERS_IN_MEMORY // (pairs * max(1, draws, rows)))
    draws_at_once = max(1, NUMBERS_IN_MEMORY // pairs)
    for group in range(0, groups, groups_at_once):
        for draw in range(0, draws, draws_at_once):
            yield slice(group, group + groups_at_once), slice(draw, draw + draws_at_once)


def _count_all_pairs(metrics: Floats, people: Floats, weights: Floats, margins: Floats) -> Floats:
    """Count pairs as columns; sums over pairs are matrix products."""
    dtype: Any = np.float32 if _is_exact_in_single(weights) else np.float64
    ordered = _pair_signs(metrics, margins[:, :, None]).astype(dtype)
    people_signs = _pair_signs(people, np.zeros((1, 1, 1)))
    pair_weights = _pair_weights(weights.astype(dtype))
    level = pair_weights * (people_signs == 0)
    sides = np.swapaxes(ordered, 1, 2)
    net = (pair_weights * people_signs) @ sides
    tied, both = np.zeros_like(net), np.zeros_like(net)
    if not ordered.all():
        ties = (sides == 0).astype(dtype)
        tied, both = pair_weights @ ties, level @ ties
    whole = (_total_weight(pair_weights), _total_weight(level))
    return _derive_kinds_from_balance(
        *whole, *(part.astype(np.float64) for part in (net, tied, both))
    )


def _pair_columns(things: int) -> Iterator[tuple[int, slice]]:
    """Yield each unit, and the columns of its pairs with all later units."""
    start = 0
    for thing in range(things - 1):
        stop = start + things - 1 - thing
        yield thing, slice(start, stop)
        start = stop


def _pair_signs(values: Floats, margins: Floats) -> NDArray[np.int8]:
    """Return 1 if the later unit is above by more than the margin, −1 if below, 0 if tied."""
    *rows, things = values.shape
    signs = np.empty((*rows, things * (things - 1) // 2), np.int8)
    for thing, columns in _pair_columns(things):
        differences = values[..., thing + 1 :] - values[..., thing, None]
        above, below = (differences > margins).view(np.int8), (differences < -margins).view(np.int8)
        np.subtract(above, below, out=signs[..., columns])
    return signs


def _pair_weights(weights: Floats) -> Floats:
    """Return the weight of each pair."""
    *rows, things = weights.shape
    products = np.empty((*rows, things * (things - 1) // 2), weights.dtype)
    for thing, columns in _pair_columns(things):
        np.multiply(
            weights[..., thing + 1 :], weights[..., thing, None], out=products[..., columns]
        )
    return products


def _count_with_shared_people(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats
) -> Floats:
    """Count pairs of a group with the same ratings in all draws: sums over pairs are w′Kw / 2.

    Metrics are rows × units, weights draws × units, ratings and margins one row each.
    """
    dtype: Any = np.float32 if _is_exact_in_single(weights) else np.float64
    draw_weights = weights.astype(dtype)
    people_signs = _sign_matrices(people[None], np.zeros(1)).astype(dtype)
    is_pair = 1 - np.eye(len(people), dtype=dtype)
    level = is_pair * (people_signs == 0)
    ordered = _sign_matrices(metrics, margins).astype(dtype)
    net = _quadratic_forms(draw_weights, ordered * people_signs)
    tied, both = np.zeros_like(net), np.zeros_like(net)
    ties = is_pair * (ordered == 0)
    has_ties = ties.any(axis=(1, 2))
    if has_ties.any():
        tied[:, has_ties], both[:, has_ties] = (
            _quadratic_forms(draw_weights, ties[has_ties]),
            _quadratic_forms(draw_weights, ties[has_ties] * level),
        )
    return _derive_kinds_from_balance(
        _quadratic_forms(draw_weights, is_pair[None]),
        _quadratic_forms(draw_weights, level),
        net,
        tied,
        both,
    )


def _sign_matrices(values: Floats, margins: Floats) -> Floats:
    """Return 1 where one unit is above the other by more than the margin, −1 where below."""
    differences, limits = values[:, :, None] - values[:, None, :], margins[:, None, None]
    return (differences > limits).astype(np.float64) - (differences < -limits)


def _quadratic_forms(weights: Floats, pair_tables: Floats) -> Floats:
    """Return the sum over pairs, for each row of weights and each table of pairs."""
    tables, things, _ = pair_tables.shape
    wide = np.ascontiguousarray(pair_tables.transpose(1, 0, 2)).reshape(things, tables * things)
    rows = max(1, NUMBERS_IN_MEMORY // max(1, tables * things))
    sums = np.empty((len(weights), tables))
    for start in range(0, len(weights), rows):
        block = weights[start : start + rows]
        products = (block @ wide).reshape(len(block), tables, things)
        sums[start : start + rows] = np.einsum("drn,dn->dr", products, block)
    return sums / 2


def _is_exact_in_single(weights: Floats) -> bool:
    """Return whether sums over pairs are exact in single precision."""
    largest_sum = float(weights.sum(axis=-1).max(initial=0)) ** 2
    return largest_sum < SINGLE_PRECISION_LIMIT and np.array_equal(weights, np.rint(weights))


def _total_weight(weights: Floats) -> Floats:
    return np.asarray(weights.sum(axis=-1, dtype=np.float64)[:, :, None])


def _derive_kinds_from_balance(
    whole: Floats, level: Floats, net: Floats, tied: Floats, both: Floats
) -> Floats:
    """Return the five kinds, from all pairs, ties, and concordant minus discordant pairs."""
    ordered_by_both = whole - level - tied + both
    concordant = (ordered_by_both + net) / 2
    return np.stack([concordant, ordered_by_both - concordant, tied - both, level - both, both])
