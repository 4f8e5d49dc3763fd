"""How many clips of every stratum each subset gets.

Clips with the same categories are a stratum. A subset should have of each stratum, and of each
category, its share of the whole. Whole numbers cannot all do that, so subsets are filled one by one
with what brings them closest, and then clips are exchanged between two subsets, or between one and
what is left over, as long as that brings all of them closer: one exchange at a time, or two at once
where one alone would upset a category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
MARGIN = 4.0  # how much a category off its share weighs
ABSENT, NEVER = 1.0, 100.0  # a stratum that a subset lacks, and one that no subset had before
ROUNDS = 1000
TOGETHER = 1200  # exchanges that are looked at two at once: those that cost least alone
LEAST = 1e-9  # less is no gain
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
        found: dict[tuple[str, ...], list[int]] = {}
        for index, clip in enumerate(clips):
            found.setdefault(tuple(str(clip[name]) for name in fields), []).append(index)
        names = sorted(found)
        rows = [
            [float(stratum[place] == value) for stratum in names]
            for place in range(len(fields))
            for value in sorted({stratum[place] for stratum in names})
        ]
        table = np.array(rows, np.float64).reshape(len(rows), len(names))
        return cls(names, [found[name] for name in names], table)

    @property
    def sizes(self) -> Ints:
        """Clips of each stratum."""
        return np.array([len(own) for own in self.members], np.int64)


def stratum_counts(strata: Strata, number: int, size: int) -> Ints:
    """How many clips of every stratum each subset gets, a row a subset."""
    sizes = strata.sizes
    share = size * sizes / sizes.sum()
    counts = np.zeros((number, len(sizes)), np.int64)
    left = sizes.copy()
    for subset in range(number):
        fair = left // (number - subset)  # so that the last subset finds what the first did
        most = np.maximum(fair, np.minimum(left, 1))
        absent = np.where(counts.any(axis=0), ABSENT, NEVER)
        counts[subset] = _filled(most, left, _Aim(strata, share, absent), size)
        left -= counts[subset]
    return _exchanged(np.vstack([counts, left]), strata, share)


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
            + MARGIN * ((self.strata.categories @ off) ** 2).sum()
            + self.absent[counts == 0].sum()
        )


def _filled(most: Ints, left: Ints, aim: _Aim, size: int) -> Ints:
    """Whole numbers that sum to ``size``, each step taking what brings them closest."""
    counts = np.minimum(np.floor(aim.share).astype(np.int64), most)
    while counts.sum() < size:
        open_ = np.flatnonzero(counts < most).tolist()
        if not open_:  # fair portions are used up: take what is left anywhere
            most = np.minimum(most + 1, left)
            continue
        best = min(open_, key=lambda i: aim.cost(_with(counts, i)))
        counts[best] += 1
    return counts


def _with(counts: Ints, place: int) -> Ints:
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


def _exchanged(rows: Ints, strata: Strata, share: Floats) -> Ints:
    """Counts after all exchanges that bring subsets closer; the last row is what is left over."""
    weight = np.eye(len(share)) + MARGIN * strata.categories.T @ strata.categories
    for _ in range(ROUNDS):
        moves = _possible(rows)
        costs = _costs(rows, moves, weight, share)
        chosen = _best(rows, moves, costs, weight)
        if chosen is None:
            break
        for i, j, a, b in zip(*chosen, strict=True):
            rows[i, a], rows[i, b] = rows[i, a] - 1, rows[i, b] + 1
            rows[j, a], rows[j, b] = rows[j, a] + 1, rows[j, b] - 1
    return rows[:-1]


def _possible(rows: Ints) -> _Moves:
    """All exchanges; none that takes the last clip of a stratum out of all subsets."""
    pool, found = len(rows) - 1, list[tuple[Ints, ...]]()
    lonely = rows[:-1].sum(axis=0) == 1
    for i, j in combinations(range(len(rows)), 2):
        mine, theirs = np.flatnonzero(rows[i]), np.flatnonzero(rows[j])
        if j == pool:
            mine = mine[~lonely[mine]]
        a, b = (side.ravel() for side in np.meshgrid(mine, theirs, indexing="ij"))
        a, b = a[a != b], b[a != b]
        found.append((np.full(len(a), i), np.full(len(a), j), a, b))
    return _Moves(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _costs(rows: Ints, moves: _Moves, weight: Floats, share: Floats) -> Floats:
    """What every exchange costs; less than nothing is a gain."""
    slope = 2 * (rows - share) @ weight
    slope[-1] = 0
    own = np.diag(weight)
    bent = own[moves.a] + own[moves.b] - 2 * weight[moves.a, moves.b]
    counted = (moves.j < len(rows) - 1).astype(np.float64)
    mine = slope[moves.i, moves.b] - slope[moves.i, moves.a] + bent
    theirs = slope[moves.j, moves.a] - slope[moves.j, moves.b] + bent * counted
    lost = (rows[moves.i, moves.a] == 1).astype(np.float64) - (rows[moves.i, moves.b] == 0)
    other = (rows[moves.j, moves.b] == 1).astype(np.float64) - (rows[moves.j, moves.a] == 0)
    new = (counted == 0) & (rows[:-1].sum(axis=0)[moves.b] == 0)
    return np.asarray(mine + theirs + ABSENT * (lost + other * counted) - NEVER * new)


def _best(rows: Ints, moves: _Moves, costs: Floats, weight: Floats) -> _Moves | None:
    """The exchange, or the two that touch nothing in common, that gain most; none if none does."""
    if not len(costs):
        return None
    first = int(costs.argmin())
    if costs[first] < -LEAST:
        return moves.take(np.array([first]))
    near = np.argsort(costs, kind="stable")[:TOGETHER]
    few = moves.take(near)
    changes, touched = _changes(rows.shape, few)
    crossed = (changes @ weight).reshape(len(near), -1) @ changes.reshape(len(near), -1).T
    both = costs[near][:, None] + costs[near] + 2 * crossed
    both[(touched @ touched.T) > 0] = np.inf
    one, other = divmod(int(both.argmin()), len(near))
    return few.take(np.array([one, other])) if both[one, other] < -LEAST else None


def _changes(shape: tuple[int, ...], moves: _Moves) -> tuple[Floats, Floats]:
    """What every exchange does to every subset, and which cells it touches, the pool's too."""
    every = np.arange(len(moves.i))
    changes = np.zeros((len(every), *shape))
    for row, stratum, by in (
        (moves.i, moves.a, -1),
        (moves.i, moves.b, 1),
        (moves.j, moves.a, 1),
        (moves.j, moves.b, -1),
    ):
        changes[every, row, stratum] += by
    touched = (changes != 0).astype(np.float64).reshape(len(every), -1)
    return changes[:, :-1], touched
