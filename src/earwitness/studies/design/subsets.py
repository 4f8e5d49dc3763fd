"""Equivalent, disjoint subsets of clips, matched in categories and numeric covariates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from earwitness.errors import UsageError
from earwitness.stats.arrays import Floats, Ints

# --- Clips per stratum and subset ----------------------------------------------------------------
# Clips with the same categories are a stratum. A subset should have of each stratum, and of each
# category, its share of the whole. Whole numbers cannot all do that, so subsets are filled one by
# one with what brings them closest, and then clips are exchanged between two subsets, or between
# one and what is left over, as long as that brings all of them closer: one exchange at a time, or
# two at once where one alone would upset a category.


CATEGORY_WEIGHT = 4.0  # how much a category off its share weighs
ABSENT_STRATUM_COST = 1.0  # a stratum that a subset lacks
UNCOVERED_STRATUM_COST = 100.0  # a stratum that no subset had before
MAX_EXCHANGE_ROUNDS = 1000
MAX_PAIRED_EXCHANGES = 1200  # exchanges that are looked at two at once: those that cost least alone
MIN_GAIN = 1e-9  # less is no gain
Covariates = Mapping[str, str | float]


@dataclass(frozen=True)
class Strata:
    """Clips by stratum; ``categories`` say which strata make up each category of a covariate."""

    names: list[tuple[str, ...]]
    members: list[list[int]]
    categories: Floats

    @classmethod
    def of(cls, clips: Sequence[Covariates], fields: Sequence[str]) -> Strata:
        """By the fields that are categories."""
        members_of: dict[tuple[str, ...], list[int]] = {}
        for index, clip in enumerate(clips):
            members_of.setdefault(tuple(str(clip[name]) for name in fields), []).append(index)
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
        """Clips of each stratum."""
        return np.array([len(members) for members in self.members], np.int64)


def stratum_counts(strata: Strata, number: int, size: int) -> Ints:
    """How many clips of every stratum each subset gets, a row a subset."""
    sizes = strata.sizes
    share = size * sizes / sizes.sum()
    counts = np.zeros((number, len(sizes)), np.int64)
    left = sizes.copy()
    for subset in range(number):
        fair = left // (number - subset)  # so that the last subset finds what the first did
        most = np.maximum(fair, np.minimum(left, 1))
        absent = np.where(counts.any(axis=0), ABSENT_STRATUM_COST, UNCOVERED_STRATUM_COST)
        counts[subset] = _fill_subset(most, left, _Aim(strata, share, absent), size)
        left -= counts[subset]
    return _exchange_stratum_counts(np.vstack([counts, left]), strata, share)


@dataclass(frozen=True)
class _Aim:
    """What the counts of one subset are measured by."""

    strata: Strata
    share: Floats
    absent: Floats

    def cost(self, counts: Ints) -> float:
        """How far off: in strata, in categories, and where a stratum is left out."""
        off = counts - self.share
        return float(
            (off**2).sum()
            + CATEGORY_WEIGHT * ((self.strata.categories @ off) ** 2).sum()
            + self.absent[counts == 0].sum()
        )


def _fill_subset(most: Ints, left: Ints, aim: _Aim, size: int) -> Ints:
    """Whole numbers that sum to ``size``, each step taking what brings them closest."""
    counts = np.minimum(np.floor(aim.share).astype(np.int64), most)
    while counts.sum() < size:
        open_ = np.flatnonzero(counts < most).tolist()
        if not open_:  # fair portions are used up: take what is left anywhere
            most = np.minimum(most + 1, left)
            continue
        best = min(open_, key=lambda i: aim.cost(_add_clip(counts, i)))
        counts[best] += 1
    return counts


def _add_clip(counts: Ints, place: int) -> Ints:
    other = counts.copy()
    other[place] += 1
    return other


class _Moves(NamedTuple):
    """Exchanges: row i gives a clip of stratum a to row j for one of stratum b."""

    i: Ints
    j: Ints
    a: Ints
    b: Ints

    def take(self, places: Ints) -> _Moves:
        """Some of them."""
        return _Moves(*(column[places] for column in self))


def _exchange_stratum_counts(rows: Ints, strata: Strata, share: Floats) -> Ints:
    """Counts after all exchanges that bring subsets closer; the last row is what is left over."""
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
    """All exchanges; none that takes the last clip of a stratum out of all subsets."""
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
    """What every exchange costs; less than nothing is a gain."""
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
    """The exchange, or the two that touch nothing in common, that gain most; none if none does."""
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
    return (
        few.take(np.array([first_move, second_move]))
        if both[first_move, second_move] < -MIN_GAIN
        else None
    )


def _changes(shape: tuple[int, ...], moves: _Moves) -> tuple[Floats, Floats]:
    """What every exchange does to every subset, and which cells it touches, the pool's too."""
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
# How many clips of each stratum a subset gets is decided first (`stratum_counts`). Then clips are
# dealt, so that numbers (such as an SNR) are spread alike.


MAX_DEALS = 8  # deals among which the best is taken
MAX_CLIPS_IN_ALL_DEALS = 800  # clips of all of them together
RELATIVE_SPREAD_TOLERANCE = 1e-12  # a spread below this part of the largest number is rounding


def equivalent_subsets(
    clips: Sequence[Covariates],
    *,
    number: int,
    size: int,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    seed: Sequence[int] = (0,),
) -> list[list[int]]:
    """Indices of the clips of each subset."""
    if number * size > len(clips):
        message = f"{number} subsets of {size} clips need {number * size}, there are {len(clips)}"
        raise UsageError(f"{message} — fewer or smaller subsets")
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
    return min(candidates, key=lambda subsets: _squared_distance(table, subsets))


def _deal_clips(
    clips: Sequence[Covariates],
    strata: Strata,
    counts: Ints,
    numbers: Sequence[str],
    rng: np.random.Generator,
) -> list[list[int]]:
    """As many clips of every stratum as were decided, in turns."""
    subsets: list[list[int]] = [[] for _ in counts]
    for index, members in enumerate(strata.members):
        chosen = _spread_members(clips, members, int(counts[:, index].sum()), numbers, rng)
        for subset, clip in zip(_draw_turns(counts[:, index], rng), chosen, strict=True):
            subsets[subset].append(clip)
    return [sorted(subset) for subset in subsets]


def _spread_members(
    clips: Sequence[Covariates],
    members: list[int],
    wanted: int,
    numbers: Sequence[str],
    rng: np.random.Generator,
) -> list[int]:
    """So many of a stratum's clips, in the order of their numbers, evenly spread over them."""
    shuffled = [members[i] for i in rng.permutation(len(members))]
    if numbers:
        shuffled.sort(key=lambda clip: tuple(float(clips[clip][name]) for name in numbers))
    steps = (np.arange(wanted) + 0.5) * len(shuffled) / max(wanted, 1)
    return [shuffled[int(step)] for step in steps]


def _draw_turns(counts: Ints, rng: np.random.Generator) -> list[int]:
    """Whose turn it is: every subset as often as it gets a clip, in rounds of changing order."""
    left, turns = counts.copy(), list[int]()
    while left.sum():
        order = rng.permutation(np.flatnonzero(left))
        turns += order.tolist()
        left[order] -= 1
    return turns


def standardize(clips: Sequence[Covariates], numbers: Sequence[str]) -> Floats:
    """A row a clip; every number has mean 0 and a standard deviation of 1.

    Where clips differ by rounding alone, or not at all, all are 0.
    """
    rows = [[float(clip[name]) for name in numbers] for clip in clips]
    table = np.array(rows, np.float64).reshape(len(rows), len(numbers))
    spread = table.std(axis=0)
    differ = spread > RELATIVE_SPREAD_TOLERANCE * np.abs(table).max(axis=0, initial=0)
    centred = np.where(differ, table - table.mean(axis=0), 0.0)
    return np.asarray(centred / np.where(differ, spread, 1.0))


def _squared_distance(table: Floats, subsets: list[list[int]]) -> float:
    return float(sum((table[subset].mean(axis=0) ** 2).sum() for subset in subsets))


def _exchange_clips(table: Floats, strata: Strata, subsets: list[list[int]]) -> list[list[int]]:
    """Subsets whose numbers have means close to those of the whole.

    Clips of one stratum are exchanged between any two subsets, or between a subset and what is left
    over, as long as the squared distances of means from the whole become less in sum.
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
    """Exchange clips of one stratum, the best two first; whether anything was gained.

    Taking clip b for clip a changes the squares of a's subset by 2 s · (b − a) + |b − a|², where s
    is what its numbers sum to; what is left over does not count.
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
