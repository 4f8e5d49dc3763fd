"""Counts of concordant, discordant and tied pairs, for few or many units."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.votes import Codes

# --- Sums over ordered pairs ---------------------------------------------------------------------
# A row is a sequence of positions, each with a key and a weight. The result is the sum, over all
# pairs of positions in which the earlier has the lower key, of the product of both weights.
#
# Enumerating all pairs would take n² steps. Positions are divided into short blocks by order, and
# again by key. Pairs in different blocks in both respects are counted from a table of blocks ×
# blocks; only pairs within a block are enumerated. With few different keys, each key is a block of
# its own, in which there is nothing to enumerate, and time is proportional to n.


PLACES_IN_CACHE = 30_000  # number of positions processed at once; fits the cache
MAX_KEYS_WITHOUT_BLOCKS = 200  # largest number of different keys that are not divided into blocks
SINGLE_PRECISION_LIMIT = 2.0**23  # smaller integer sums are exact in single precision


def sum_ordered_pairs(keys: Codes, weights: Floats) -> Floats:
    """Return one sum per row of tables with rows × positions; exact for integer weights.

    ``keys`` are integers from 0.
    """
    rows, places = keys.shape
    key_count = int(keys.max(initial=0)) + 1
    sum_rows: Callable[[Codes, Floats], Floats]
    sum_rows = partial(_sum_rows_of_few_keys, key_count=key_count)
    if key_count > MAX_KEYS_WITHOUT_BLOCKS:
        sum_rows, keys = _sum_rows_by_rank, _distinct_ranks(keys)
    rows_per_block = max(1, PLACES_IN_CACHE // max(1, places))
    sums = np.zeros(rows)
    for start in range(0, rows if places else 0, rows_per_block):
        block = slice(start, start + rows_per_block)
        sums[block] = sum_rows(keys[block], weights[block])
    return sums


def _distinct_ranks(keys: Codes) -> Codes:
    """Return ranks of the keys in each row; of equal keys, the later position has the lower."""
    places = keys.shape[1]
    order = np.argsort(keys.astype(np.int64) * places + np.arange(places)[::-1], axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(places)[None], axis=1)
    return ranks


def _sum_rows_of_few_keys(keys: Codes, weights: Floats, key_count: int) -> Floats:
    """Return the sums of rows from a table of blocks × keys, and pairs within blocks."""
    size = max(2, round(math.sqrt(6 * key_count)))
    keys, weights = _pad_rows(keys, weights, size)
    blocks = np.arange(keys.shape[1]) // size
    return _sum_between_blocks(
        blocks, keys, weights, (keys.shape[1] // size, key_count)
    ) + _sum_within_blocks(keys, weights, size)


def _sum_rows_by_rank(ranks: Codes, weights: Floats) -> Floats:
    """Return the sums of rows with distinct ranks from a table of blocks × blocks."""
    size = max(2, round((20 * ranks.shape[1]) ** (1 / 3)))
    places = ranks.shape[1]
    ranks, weights = _pad_rows(ranks, weights, size)
    length = ranks.shape[1]
    ranks[:, places:] = np.arange(places, length)
    places_by_rank = np.empty_like(ranks)
    np.put_along_axis(
        places_by_rank, ranks.astype(np.int64), np.arange(length, dtype=ranks.dtype)[None], axis=1
    )
    by_rank = np.take_along_axis(weights, places_by_rank.astype(np.int64), axis=1)
    count = length // size
    return (
        _sum_between_blocks(np.arange(length) // size, ranks // size, weights, (count, count))
        + _sum_within_blocks(ranks, weights, size)
        + _sum_within_blocks(places_by_rank // size, by_rank, size)
    )


def _pad_rows(keys: Codes, weights: Floats, size: int) -> tuple[Codes, Floats]:
    """Return keys and weights of whole blocks; added positions have weight 0."""
    rows, places = keys.shape
    length = -(-places // size) * size
    dtype: Any = np.int16 if max(length, int(keys.max(initial=0))) < 2**15 else np.int64
    padded_keys = np.zeros((rows, length), dtype)
    padded_keys[:, :places] = keys
    dtype = _exact_dtype(weights, weights.max(initial=0) * size)
    padded_weights = np.zeros((rows, length), dtype)
    padded_weights[:, :places] = weights
    return padded_keys, padded_weights


def _exact_dtype(weights: Floats, largest_sum: float) -> Any:
    """Return single precision if sums of weights are exact in it, else double."""
    is_whole = np.array_equal(weights, np.rint(weights))
    return np.float32 if is_whole and largest_sum < SINGLE_PRECISION_LIMIT else np.float64


def _pair_dtype(weights: Floats) -> Any:
    """Return the precision in which sums of products of weights over pairs are exact."""
    return _exact_dtype(weights, float(weights.sum(axis=-1).max(initial=0)) ** 2)


def _sum_between_blocks(
    blocks: Codes, key_blocks: Codes, weights: Floats, shape: tuple[int, int]
) -> Floats:
    """Return the sum over pairs in different blocks, by order and by key."""
    rows = len(key_blocks)
    block_count, key_count = shape
    cells = ((np.arange(rows)[:, None] * key_count + key_blocks) * block_count + blocks).ravel()
    table = np.bincount(cells, weights.ravel(), rows * block_count * key_count)
    table = table.reshape(rows, key_count, block_count)
    below = np.cumsum(table[:, :-1, :-1], axis=2)
    for key in range(1, key_count - 1):  # faster than cumsum over an axis that is not the last
        below[:, key] += below[:, key - 1]
    return np.asarray(np.einsum("rij,rij->r", below, table[:, 1:, 1:]))


def _sum_within_blocks(keys: Codes, weights: Floats, size: int) -> Floats:
    """Return the sum over pairs within a block in which the earlier position has the lower key."""
    by_place: list[Any] = [
        np.ascontiguousarray(table.reshape(len(table), -1, size).transpose(2, 0, 1))
        for table in (keys, weights)
    ]
    keys, weights = by_place
    sums = np.zeros(keys.shape[1])
    for later in range(1, size):
        below = weights[:later] * (keys[:later] < keys[later])
        sums += np.einsum("rb,rb->r", below.sum(axis=0), weights[later], dtype=np.float64)
    return sums


# --- Pairs counted by sorting --------------------------------------------------------------------
# Units are sorted by the metric, once for all draws; units tied by the metric are sorted by
# descending ratings in each draw, so that none counts as concordant.


def count_pairs_by_sweep(metrics: Floats, people: Floats, weights: Floats) -> PairCounts:
    """Return the pairs of one group as draws × metrics, without a margin."""
    sorted_units = sort_units(metrics)
    counts = np.zeros((5, len(weights), len(metrics)))
    for draw, draw_weights in enumerate(weights):
        counts[:, draw] = _count_draw(draw_weights, people[draw % len(people)], sorted_units)
    return PairCounts(*counts)


def _weight_of_pairs(weights: Floats) -> Floats:
    """Return the total weight of all pairs of each row."""
    return np.asarray((weights.sum(axis=-1) ** 2 - (weights**2).sum(axis=-1)) / 2)


class SortedUnits(NamedTuple):
    """Units in ascending order of each metric, and runs of units with equal values.

    ``is_tied`` marks positions in runs of two or more; ``runs`` and ``rows`` are the number of the
    run, and the metric, of each of these positions.
    """

    orders: Codes
    is_tied: Bools
    runs: Codes
    rows: Codes


def sort_units(metrics: Floats) -> SortedUnits:
    """Sort units by each metric (metrics × units)."""
    orders = np.argsort(metrics, axis=1, kind="stable")
    ordered = np.take_along_axis(metrics, orders, axis=1)
    is_new_run = np.ones(metrics.shape, bool)
    is_new_run[:, 1:] = ordered[:, 1:] > ordered[:, :-1]
    is_tied = ~is_new_run
    is_tied[:, :-1] |= ~is_new_run[:, 1:]
    runs = np.cumsum(is_new_run.ravel())[is_tied.ravel()]
    return SortedUnits(orders, is_tied, runs, np.nonzero(is_tied)[0])


def _count_draw(weights: Floats, people: Floats, sorted_units: SortedUnits) -> Floats:
    """Return the fields of ``PairCounts`` by metric in one draw."""
    present = np.flatnonzero(weights)
    levels = np.unique(people[present], return_inverse=True)[1]
    orders, is_tied, runs, rows_of = sorted_units
    rows, things = orders.shape
    if len(present) < things:
        is_present = np.zeros(things, bool)
        is_present[present] = True
        kept = is_present[orders]
        kept_tied = kept[is_tied]
        orders = orders[kept].reshape(rows, len(present))
        is_tied, runs, rows_of = is_tied[kept], runs[kept_tied], rows_of[kept_tied]
    dtype: Any = np.int64 if len(present) > 2**15 else np.int16
    level_of = np.zeros(things, dtype)
    level_of[present] = levels
    sorted_levels: Any = level_of[orders]
    sorted_weights = weights[orders]
    tied_by_metric, tied_by_both = np.zeros(rows), np.zeros(rows)
    places = np.flatnonzero(is_tied)
    if len(places):
        count = int(levels.max(initial=0)) + 1
        run_levels = sorted_levels.ravel()[places].astype(np.int64)
        keys = runs * count + (count - 1 - run_levels)
        by_key = np.argsort(keys, kind="stable")
        run_weights = sorted_weights.ravel()[places][by_key]
        sorted_levels.ravel()[places] = run_levels[by_key]
        sorted_weights.ravel()[places] = run_weights
        tied_by_metric = _weight_of_equal_keys(runs, run_weights, rows_of, rows)
        tied_by_both = _weight_of_equal_keys(keys[by_key], run_weights, rows_of, rows)
    whole = _weight_of_pairs(weights)
    tied = whole - _weight_of_pairs(np.bincount(levels, weights[present]).astype(np.float64))
    concordant = sum_ordered_pairs(sorted_levels, sorted_weights)
    net = 2 * concordant - (whole - tied - tied_by_metric + tied_by_both)
    return np.stack(np.broadcast_arrays(net, whole, tied, tied_by_metric, tied_by_both))


def run_starts(keys: Codes) -> Codes:
    """Return the positions at which sorted keys change."""
    return np.flatnonzero(np.append(True, keys[1:] > keys[:-1])[: len(keys)])


def _weight_of_equal_keys(keys: Codes, weights: Floats, rows_of: Codes, rows: int) -> Floats:
    """Return the weight of pairs with equal keys in each row; keys are sorted."""
    starts = run_starts(keys)
    squares = np.bincount(rows_of[starts], np.add.reduceat(weights, starts) ** 2, minlength=rows)
    return np.asarray((squares - np.bincount(rows_of, weights**2, minlength=rows)) / 2)


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


MAX_THINGS_ALL_PAIRS = 700  # largest group without a margin whose pairs are all enumerated
NUMBERS_IN_MEMORY = 1_000_000  # numbers in memory at once
Signs = NDArray[np.int8]


class PairCounts(NamedTuple):
    """Weights of pairs as groups × draws × metrics, or × 1 if they are equal for all metrics.

    ``net`` are concordant minus discordant pairs, ``all`` all pairs. ``level_people``,
    ``level_metric`` and ``tied_both`` are tied by the ratings, by the metric, and by both; pairs
    tied by both are in all three.
    """

    net: Floats
    all: Floats
    level_people: Floats
    level_metric: Floats
    tied_both: Floats

    @property
    def apart_people(self) -> Floats:
        """Pairs with different ratings."""
        return self.all - self.level_people

    @property
    def apart_metric(self) -> Floats:
        """Pairs with different scores."""
        return self.all - self.level_metric

    @property
    def concordant(self) -> Floats:
        """Pairs in the same order."""
        apart = self.apart_people - self.level_metric + self.tied_both
        return (apart + self.net) / 2

    @property
    def kinds(self) -> Floats:
        """Concordant and discordant pairs, and those tied by the metric, ratings and both only."""
        kinds = (
            self.concordant,
            self.concordant - self.net,
            self.level_metric - self.tied_both,
            self.level_people - self.tied_both,
            self.tied_both,
        )
        return np.stack(np.broadcast_arrays(*kinds))


def count_pairs(
    metrics: Floats,
    people: Floats,
    weights: Floats,
    margins: Floats | float = 0.0,
    signs: Signs | None = None,
) -> PairCounts:
    """Count the pairs of each group in each draw, for each metric.

    ``margins`` is one number, or groups × metrics; ``signs`` are those of the ratings, if known.

    >>> metric, people = np.array([[[1.0, 2.0, 2.0]]]), np.array([[[3.0, 5.0, 4.0]]])
    >>> count_pairs(metric, people, np.ones((1, 1, 3))).kinds.ravel().tolist()
    [2.0, 0.0, 1.0, 0.0, 0.0]
    """
    groups, rows, things = metrics.shape
    draws = weights.shape[1]
    limits = np.broadcast_to(np.asarray(margins, np.float64), (groups, rows))
    is_large = things > MAX_THINGS_ALL_PAIRS
    if is_large and not limits.any():
        return _stack_groups(count_pairs_by_sweep, metrics, people, weights)
    if people.shape[1] == 1 and draws > rows and not is_large:
        return _stack_groups(_count_with_shared_people, metrics, people, weights, limits)
    portions = list(_memory_portions(groups, draws, rows, things))
    if len(portions) == 1:
        return _count_all_pairs(metrics, people, weights, limits, signs)
    counts = np.empty((5, groups, draws, rows))
    for group_part, draw_part in portions:
        draw_people = people[group_part, draw_part if people.shape[1] > 1 else slice(None)]
        draw_weights = weights[group_part, draw_part]
        part = _count_all_pairs(metrics[group_part], draw_people, draw_weights, limits[group_part])
        for whole, kind in zip(counts, part, strict=True):
            whole[group_part, draw_part] = kind
    return PairCounts(*counts)


def _stack_groups(count: Callable[..., PairCounts], *tables: Floats) -> PairCounts:
    """Return the counts of all groups, each counted separately."""
    by_group = [count(*group) for group in zip(*tables, strict=True)]
    return PairCounts(*(np.stack(kind) for kind in zip(*by_group, strict=True)))


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


def _count_all_pairs(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats, signs: Signs | None = None
) -> PairCounts:
    """Count pairs one by one; sums over pairs are matrix products."""
    dtype = _pair_dtype(weights)
    order = pair_signs(metrics, margins if margins.any() else None)
    signs = pair_signs(people) if signs is None else signs
    pair_weights = pair_products(units_first(weights.astype(dtype)))
    level = pair_weights * (signs == 0)
    tied = both = np.zeros((1, 1, 1))
    if not order.all():
        ties = (order == 0).astype(dtype)
        tied, both = sum_over_pairs(ties, pair_weights), sum_over_pairs(ties, level)
    return PairCounts(
        sum_over_pairs(order.astype(dtype), pair_weights * signs),
        pair_weights.sum(axis=0, dtype=np.float64)[:, :, None],
        level.sum(axis=0, dtype=np.float64)[:, :, None],
        tied,
        both,
    )


# Tables of pairs are pairs × groups × metrics (or draws), which is fastest for many draws.


def units_first(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table of groups × rows × units as units × groups × rows."""
    return np.ascontiguousarray(np.moveaxis(table, 2, 0))


class PairIndex(NamedTuple):
    """The numbers of the earlier and of the later unit of each pair."""

    earlier: Codes
    later: Codes


@lru_cache(maxsize=4)
def pair_index(things: int) -> PairIndex:
    """Return all pairs of units."""
    return PairIndex(*np.triu_indices(things, 1))


def pair_signs(values: Floats, margins: Floats | None = None) -> Signs:
    """Return 1 if the later unit is above by more than the margin, −1 if below, 0 if tied.

    ``values`` is groups × rows × units, ``margins`` groups × rows.
    """
    units = units_first(values)
    index = pair_index(len(units))
    earlier, later = units[index.earlier], units[index.later]
    if margins is None:
        return np.asarray((later > earlier).view(np.int8) - (later < earlier).view(np.int8))
    later -= earlier
    return np.asarray((later > margins).view(np.int8) - (later < -margins).view(np.int8))


def pair_products(units: Floats) -> Floats:
    """Return the product of both units of each pair, from units × groups × rows."""
    index = pair_index(len(units))
    products = units[index.later]
    products *= units[index.earlier]
    return products


def sum_over_pairs(metrics: Floats, draws: Floats) -> Floats:
    """Return the sum of products over pairs, as groups × draws × metrics.

    ``metrics`` is pairs × groups × metrics, ``draws`` pairs × groups × draws.
    """
    if 1 in (metrics.shape[2], draws.shape[2]):
        return np.asarray(
            (metrics[:, :, None, :] * draws[:, :, :, None]).sum(axis=0, dtype=np.float64)
        )
    sums = metrics.transpose(1, 2, 0) @ draws.transpose(1, 0, 2)
    return np.asarray(sums.swapaxes(1, 2).astype(np.float64))


def _count_with_shared_people(
    metrics: Floats, people: Floats, weights: Floats, margins: Floats
) -> PairCounts:
    """Count pairs of a group with the same ratings in all draws: sums over pairs are w′Kw / 2."""
    dtype = _pair_dtype(weights)
    draw_weights = weights.astype(dtype)
    people_signs = _sign_matrices(people, np.zeros(1)).astype(dtype)
    is_pair = 1 - np.eye(people.shape[1], dtype=dtype)
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
    whole = _quadratic_forms(draw_weights, is_pair[None])
    return PairCounts(net, whole, _quadratic_forms(draw_weights, level), tied, both)


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
