"""Equivalent subsets: disjoint, of one size, each like the whole in every covariate.

Clips with the same categories are a stratum. How many clips of each stratum a subset gets is
decided first: as many as its share of the whole, rounded so that all strata and all categories
together come as close as can be, and no stratum that could be there is left out. Then clips are
dealt, so that numbers (such as an SNR) are spread alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MARGIN = 4.0  # how much a category off its share weighs
ABSENT, NEVER = 1.0, 9.0  # a stratum that a subset lacks, and one that no subset had before
ROUNDS = 10_000
LEVELLED, MANY = 40, 40  # exchanges between subsets; strata up to which they are looked for
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
        told = f"{number} subsets of {size} clips need {number * size}, there are {len(clips)}"
        raise UsageError(f"{told} — fewer or smaller subsets")
    strata = Strata.of(clips, categories)
    counts = stratum_counts(strata, number, size)
    rng = np.random.default_rng([*seed, 1])
    subsets: list[list[int]] = [[] for _ in range(number)]
    for index, members in enumerate(strata.members):
        chosen = _spread(clips, members, int(counts[:, index].sum()), numbers, rng)
        for subset, clip in zip(_turns(counts[:, index], rng), chosen, strict=True):
            subsets[subset].append(clip)
    _exchange(clips, strata, subsets, numbers)
    return [sorted(subset) for subset in subsets]


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
        counts[subset] = _round(most, left, _Aim(strata, share, absent), size)
        left -= counts[subset]
    _level(counts, _Aim(strata, share, np.full(len(sizes), ABSENT)))
    return counts


@dataclass(frozen=True)
class _Aim:
    """What counts are measured by."""

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


def _round(most: Ints, left: Ints, aim: _Aim, size: int) -> Ints:
    """Whole numbers that sum to ``size``, close to the shares in strata and in categories."""
    counts = np.minimum(np.floor(aim.share).astype(np.int64), most)
    while counts.sum() < size:
        open_ = np.flatnonzero(counts < most).tolist()
        if not open_:  # fair portions are used up: take what is left anywhere
            most = np.minimum(most + 1, left)
            continue
        best = min(open_, key=lambda i: aim.cost(_changed(counts, +1, i)))
        counts[best] += 1
    for _ in range(ROUNDS):
        moves = [
            (aim.cost(_changed(_changed(counts, -1, a), +1, b)), a, b)
            for a in np.flatnonzero(counts).tolist()
            for b in np.flatnonzero(counts < most).tolist()
            if a != b
        ]
        if not moves or min(moves)[0] >= aim.cost(counts) - 1e-9:
            break
        _, a, b = min(moves)
        counts = _changed(_changed(counts, -1, a), +1, b)
    return counts


def _level(counts: Ints, aim: _Aim) -> None:
    """Exchange strata between subsets while both together come closer to their shares."""
    for _ in range(LEVELLED):
        moves = [
            move
            for i, j in combinations(range(len(counts)), 2)
            for move in _trades(counts, i, j, aim)
        ]
        if not moves or min(moves)[0] >= -1e-9:
            return
        _, i, j, a, b = min(moves)
        counts[i, a], counts[j, a] = counts[i, a] - 1, counts[j, a] + 1
        counts[i, b], counts[j, b] = counts[i, b] + 1, counts[j, b] - 1


def _trades(counts: Ints, i: int, j: int, aim: _Aim) -> Iterator[tuple[float, int, int, int, int]]:
    """What it costs if subset i gives one of stratum a to j for one of b."""
    if len(aim.share) > MANY:
        return
    before = aim.cost(counts[i]) + aim.cost(counts[j])
    for a in np.flatnonzero(counts[i]).tolist():
        for b in np.flatnonzero(counts[j]).tolist():
            if a != b:
                mine = _changed(_changed(counts[i], -1, a), +1, b)
                theirs = _changed(_changed(counts[j], +1, a), -1, b)
                yield aim.cost(mine) + aim.cost(theirs) - before, i, j, a, b


def _changed(counts: Ints, by: int, place: int) -> Ints:
    other = counts.copy()
    other[place] += by
    return other


def _spread(
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


def _turns(counts: Ints, rng: np.random.Generator) -> list[int]:
    """Whose turn it is: every subset as often as it gets a clip, in rounds of changing order."""
    left, turns = counts.copy(), list[int]()
    while left.sum():
        order = rng.permutation(np.flatnonzero(left))
        turns += order.tolist()
        left[order] -= 1
    return turns


def _exchange(
    clips: Sequence[Covariates],
    strata: Strata,
    subsets: list[list[int]],
    numbers: Sequence[str],
) -> None:
    """Exchange clips of one stratum between subsets while their numbers come closer."""
    if not numbers:
        return
    table = np.array([[float(clip[name]) for name in numbers] for clip in clips])
    spread = table.std(axis=0)
    table = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    of = {clip: index for index, own in enumerate(strata.members) for clip in own}
    sums = np.array([table[subset].sum(axis=0) for subset in subsets])
    for _ in range(ROUNDS):
        high, low = _farthest(sums)
        gains = [
            (_gain(sums[high], sums[low], table[a] - table[b]), a, b)
            for a in subsets[high]
            for b in subsets[low]
            if of[a] == of[b]
        ]
        if not gains or max(gains)[0] < 1e-9:
            return
        _, a, b = max(gains)
        subsets[high][subsets[high].index(a)] = b
        subsets[low][subsets[low].index(b)] = a
        sums[high] -= table[a] - table[b]
        sums[low] += table[a] - table[b]


def _farthest(sums: Floats) -> tuple[int, int]:
    """The two subsets whose numbers differ most."""
    apart = ((sums[:, None] - sums[None]) ** 2).sum(axis=-1)
    high, low = divmod(int(apart.argmax()), len(sums))
    return high, low


def _gain(high: Floats, low: Floats, moved: Floats) -> float:
    return float(((high - low) ** 2).sum() - ((high - low - 2 * moved) ** 2).sum())
