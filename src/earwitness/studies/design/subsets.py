"""Equivalent, disjoint subsets of clips, matched in categories and numeric covariates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from earwitness.core import group_values
from earwitness.errors import UsageError
from earwitness.stats.arrays import Floats, Ints

# --- Clips per stratum and subset ----------------------------------------------------------------
# Clips with the same categories are a stratum. A subset should have a proportional number of clips
# of each stratum and category. Whole numbers cannot match that exactly, so subsets are filled one
# by one, greedily; then clips are swapped between two subsets, or between a subset and unused
# clips, as long as that improves the match: one swap at a time, or two at once where a single swap
# would worsen a category.


CATEGORY_WEIGHT = 4.0  # weight of deviations of categories
ABSENT_STRATUM_COST = 1.0  # cost of a stratum missing from a subset
UNCOVERED_STRATUM_COST = 100.0  # cost of a stratum missing from all subsets
MAX_EXCHANGE_ROUNDS = 1000
MAX_PAIRED_EXCHANGES = 1200  # cheapest single swaps tried in pairs
MIN_GAIN = 1e-9  # smaller gains are ignored
Covariates = Mapping[str, str | float]


@dataclass(frozen=True)
class Strata:
    """Clips by stratum; ``categories`` has the strata of each category (0 or 1)."""

    names: list[tuple[str, ...]]
    members: list[list[int]]
    categories: Floats

    @classmethod
    def of(cls, clips: Sequence[Covariates], fields: Sequence[str]) -> Strata:
        """Return the strata of clips by categorical fields."""
        members_of = group_values(
            (tuple(str(clip[name]) for name in fields), index) for index, clip in enumerate(clips)
        )
        names = sorted(members_of)
        rows = [
            [float(stratum[place] == value) for stratum in names]
            for place in range(len(fields))
            for value in sorted({stratum[place] for stratum in names})
        ]
        table = np.array(rows, np.float64).reshape(len(rows), len(names))
        return cls(names, [members_of[name] for name in names], table)

    @property
    def sizes(self) -> Ints:
        """Number of clips per stratum."""
        return np.array([len(members) for members in self.members], np.int64)


def stratum_counts(strata: Strata, number: int, size: int) -> Ints:
    """Return the number of clips per stratum for each subset, one row per subset."""
    sizes = strata.sizes
    share = size * sizes / sizes.sum()
    counts = np.zeros((number, len(sizes)), np.int64)
    left = sizes.copy()
    for subset in range(number):
        fair = left // (number - subset)  # keeps an equal part for later subsets
        most = np.maximum(fair, np.minimum(left, 1))
        absent = np.where(counts.any(axis=0), ABSENT_STRATUM_COST, UNCOVERED_STRATUM_COST)
        counts[subset] = _fill_subset(most, left, _Aim(strata, share, absent), size)
        left -= counts[subset]
    return _exchange_stratum_counts(np.vstack([counts, left]), strata, share)


@dataclass(frozen=True)
class _Aim:
    """Target counts of one subset, and the cost of missing them."""

    strata: Strata
    share: Floats
    absent: Floats

    def cost(self, counts: Ints) -> float:
        """Return the cost of counts: deviations of strata and categories, and missing strata."""
        off = counts - self.share
        return float(
            (off**2).sum()
            + CATEGORY_WEIGHT * ((self.strata.categories @ off) ** 2).sum()
            + self.absent[counts == 0].sum()
        )


def _fill_subset(most: Ints, left: Ints, aim: _Aim, size: int) -> Ints:
    """Return whole numbers that sum to ``size``, chosen greedily to lower the cost."""
    counts = np.minimum(np.floor(aim.share).astype(np.int64), most)
    places = np.arange(len(counts))
    while counts.sum() < size:
        open_ = np.flatnonzero(counts < most).tolist()
        if not open_:  # equal parts are used up: take any unused clip
            most = np.minimum(most + 1, left)
            continue
        best = min(open_, key=lambda i: aim.cost(counts + (places == i)))
        counts[best] += 1
    return counts


class _Moves(NamedTuple):
    """Swaps: row i gives a clip of stratum a to row j for one of stratum b."""

    i: Ints
    j: Ints
    a: Ints
    b: Ints

    def take(self, places: Ints) -> _Moves:
        """Return the swaps at these indices."""
        return _Moves(*(column[places] for column in self))


def _exchange_stratum_counts(rows: Ints, strata: Strata, share: Floats) -> Ints:
    """Return counts after all swaps that lower the cost; the last row of ``rows`` is unused."""
    weight = np.eye(len(share)) + CATEGORY_WEIGHT * strata.categories.T @ strata.categories
    for _ in range(MAX_EXCHANGE_ROUNDS):
        moves = _possible_moves(rows)
        costs = _move_costs(rows, moves, weight, share)
        chosen = _best_moves(rows, moves, costs, weight)
        if chosen is None:
            break
        for i, j, a, b in zip(*chosen, strict=True):
            rows[i, a], rows[i, b] = rows[i, a] - 1, rows[i, b] + 1
            rows[j, a], rows[j, b] = rows[j, a] + 1, rows[j, b] - 1
    return rows[:-1]


def _possible_moves(rows: Ints) -> _Moves:
    """Return all swaps except those that remove a stratum from all subsets."""
    pool, moves = len(rows) - 1, list[tuple[Ints, ...]]()
    lonely = rows[:-1].sum(axis=0) == 1
    for i, j in combinations(range(len(rows)), 2):
        mine, theirs = np.flatnonzero(rows[i]), np.flatnonzero(rows[j])
        if j == pool:
            mine = mine[~lonely[mine]]
        a, b = (side.ravel() for side in np.meshgrid(mine, theirs, indexing="ij"))
        a, b = a[a != b], b[a != b]
        moves.append((np.full(len(a), i), np.full(len(a), j), a, b))
    return _Moves(*(np.concatenate(column) for column in zip(*moves, strict=True)))


def _move_costs(rows: Ints, moves: _Moves, weight: Floats, share: Floats) -> Floats:
    """Return the change in cost of each swap; negative is a gain."""
    slope = 2 * (rows - share) @ weight
    slope[-1] = 0
    diagonal = np.diag(weight)
    bent = diagonal[moves.a] + diagonal[moves.b] - 2 * weight[moves.a, moves.b]
    counted = (moves.j < len(rows) - 1).astype(np.float64)
    mine = slope[moves.i, moves.b] - slope[moves.i, moves.a] + bent
    theirs = slope[moves.j, moves.a] - slope[moves.j, moves.b] + bent * counted
    lost = (rows[moves.i, moves.a] == 1).astype(np.float64) - (rows[moves.i, moves.b] == 0)
    other = (rows[moves.j, moves.b] == 1).astype(np.float64) - (rows[moves.j, moves.a] == 0)
    new = (counted == 0) & (rows[:-1].sum(axis=0)[moves.b] == 0)
    return np.asarray(
        mine
        + theirs
        + ABSENT_STRATUM_COST * (lost + other * counted)
        - UNCOVERED_STRATUM_COST * new
    )


def _best_moves(rows: Ints, moves: _Moves, costs: Floats, weight: Floats) -> _Moves | None:
    """Return the best swap, or the best two independent swaps; None without a gain."""
    if not len(costs):
        return None
    first = int(costs.argmin())
    if costs[first] < -MIN_GAIN:
        return moves.take(np.array([first]))
    near = np.argsort(costs, kind="stable")[:MAX_PAIRED_EXCHANGES]
    few = moves.take(near)
    changes, touched = _changes(rows.shape, few)
    crossed = (changes @ weight).reshape(len(near), -1) @ changes.reshape(len(near), -1).T
    both = costs[near][:, None] + costs[near] + 2 * crossed
    both[(touched @ touched.T) > 0] = np.inf
    first_move, second_move = divmod(int(both.argmin()), len(near))
    if both[first_move, second_move] >= -MIN_GAIN:
        return None
    return few.take(np.array([first_move, second_move]))


def _changes(shape: tuple[int, ...], moves: _Moves) -> tuple[Floats, Floats]:
    """Return the change of counts by each swap, and the cells that it touches."""
    indices = np.arange(len(moves.i))
    changes = np.zeros((len(indices), *shape))
    for row, stratum, by in (
        (moves.i, moves.a, -1),
        (moves.i, moves.b, 1),
        (moves.j, moves.a, 1),
        (moves.j, moves.b, -1),
    ):
        changes[indices, row, stratum] += by
    touched = (changes != 0).astype(np.float64).reshape(len(indices), -1)
    return changes[:, :-1], touched


# --- Equivalent subsets --------------------------------------------------------------------------
# The number of clips per stratum and subset is decided first (`stratum_counts`). Then clips are
# assigned so that numbers (such as an SNR) have similar distributions.


MAX_DEALS = 8  # assignments tried
MAX_CLIPS_IN_ALL_DEALS = 800  # clips in all assignments together
RELATIVE_SPREAD_TOLERANCE = 1e-12  # a smaller relative spread is rounding error


def equivalent_subsets(
    clips: Sequence[Covariates],
    *,
    number: int,
    size: int,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    seed: Sequence[int] = (0,),
) -> list[list[int]]:
    """Return the indices of the clips of each subset."""
    if number * size > len(clips):
        message = f"{number} subsets of {size} clips need {number * size} clips, got {len(clips)}"
        raise UsageError(f"{message} — use fewer or smaller subsets")
    strata = Strata.of(clips, categories)
    counts = stratum_counts(strata, number, size)
    rng = np.random.default_rng([*seed, 1])
    if not numbers:
        return _deal_clips(clips, strata, counts, numbers, rng)
    table = standardize(clips, numbers)
    deals = max(1, min(MAX_DEALS, MAX_CLIPS_IN_ALL_DEALS // len(clips)))
    candidates = [
        _exchange_clips(table, strata, _deal_clips(clips, strata, counts, numbers, rng))
        for _ in range(deals)
    ]
    distances = [
        float(sum((table[subset].mean(axis=0) ** 2).sum() for subset in subsets))
        for subsets in candidates
    ]
    return candidates[int(np.argmin(distances))]


def _deal_clips(
    clips: Sequence[Covariates],
    strata: Strata,
    counts: Ints,
    numbers: Sequence[str],
    rng: Generator,
) -> list[list[int]]:
    """Assign the decided number of clips of each stratum to subsets, in turns."""
    subsets: list[list[int]] = [[] for _ in counts]
    for index, members in enumerate(strata.members):
        shuffled = [members[i] for i in rng.permutation(len(members))]
        if numbers:  # the chosen clips are evenly spread over their numbers, in that order
            shuffled.sort(key=lambda clip: tuple(float(clips[clip][name]) for name in numbers))
        turns = _draw_turns(counts[:, index], rng)
        steps = (np.arange(len(turns)) + 0.5) * len(shuffled) / max(len(turns), 1)
        for subset, step in zip(turns, steps, strict=True):
            subsets[subset].append(shuffled[int(step)])
    return [sorted(subset) for subset in subsets]


def _draw_turns(counts: Ints, rng: Generator) -> list[int]:
    """Return the sequence of subsets that get a clip, in rounds of random order."""
    left, turns = counts.copy(), list[int]()
    while left.sum():
        order = rng.permutation(np.flatnonzero(left))
        turns += order.tolist()
        left[order] -= 1
    return turns


def standardize(clips: Sequence[Covariates], numbers: Sequence[str]) -> Floats:
    """Return numbers with mean 0 and standard deviation 1, one row per clip.

    Numbers that differ only by rounding error, or not at all, become 0.
    """
    rows = [[float(clip[name]) for name in numbers] for clip in clips]
    table = np.array(rows, np.float64).reshape(len(rows), len(numbers))
    spread = table.std(axis=0)
    differ = spread > RELATIVE_SPREAD_TOLERANCE * np.abs(table).max(axis=0, initial=0)
    centred = np.where(differ, table - table.mean(axis=0), 0.0)
    return np.asarray(centred / np.where(differ, spread, 1.0))


def _exchange_clips(table: Floats, strata: Strata, subsets: list[list[int]]) -> list[list[int]]:
    """Return subsets whose means of numbers are close to those of all clips.

    Clips of one stratum are swapped between two subsets, or between a subset and unused clips, as
    long as the sum of squared distances of means from the overall mean decreases.
    """
    group = np.full(len(table), len(subsets))
    for place, subset in enumerate(subsets):
        group[subset] = place
    gained = True
    while gained:
        gained = False
        for members in strata.members:
            gained |= _level_stratum(table, group, np.array(members), len(subsets))
    return [np.flatnonzero(group == place).tolist() for place in range(len(subsets))]


def _level_stratum(table: Floats, group: Ints, members: Ints, number: int) -> bool:
    """Swap clips of one stratum, the best swap first; return whether anything improved.

    Replacing clip a by clip b changes the squares of a's subset by 2 s · (b − a) + |b − a|², where
    s is the sum of its numbers; unused clips do not count.
    """
    scores = table[members]
    apart = ((scores[:, None] - scores[None]) ** 2).sum(axis=-1)
    sums = np.array([table[group == place].sum(axis=0) for place in range(number)])
    sums = np.vstack([sums, np.zeros(table.shape[1])])
    gained = False
    for _ in range(MAX_EXCHANGE_ROUNDS):
        mine = group[members]
        along = sums[mine] @ scores.T
        change = 2 * (along - np.diag(along)[:, None]) + apart
        change[mine == number] = 0
        cost = change + change.T
        cost[mine[:, None] == mine] = 0
        a, b = divmod(int(cost.argmin()), len(members))
        if cost[a, b] > -MIN_GAIN:
            break
        sums[mine[a]] += scores[b] - scores[a]
        sums[mine[b]] += scores[a] - scores[b]
        sums[number] = 0
        group[members[[a, b]]] = mine[[b, a]]
        gained = True
    return gained
