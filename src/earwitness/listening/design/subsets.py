"""Equivalent subsets: disjoint, of one size, each like the whole in every covariate.

How many clips of each stratum a subset gets is decided first (`strata`). Then clips are dealt, so
that numbers (such as an SNR) are spread alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.errors import UsageError
from earwitness.listening.design.strata import (
    LEAST,
    ROUNDS,
    Covariates,
    Floats,
    Ints,
    Strata,
    stratum_counts,
)

DEALS, CLIPS = 8, 800  # deals among which the best is taken, and clips of all of them together
STILL = 1e-12  # a spread below this part of the largest number is rounding


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
    if not numbers:
        return _dealt(clips, strata, counts, numbers, rng)
    table = standardised(clips, numbers)
    deals = max(1, min(DEALS, CLIPS // len(clips)))
    found = [
        _exchanged(table, strata, _dealt(clips, strata, counts, numbers, rng)) for _ in range(deals)
    ]
    return min(found, key=lambda subsets: _distance(table, subsets))


def _dealt(
    clips: Sequence[Covariates],
    strata: Strata,
    counts: Ints,
    numbers: Sequence[str],
    rng: np.random.Generator,
) -> list[list[int]]:
    """As many clips of every stratum as were decided, in turns."""
    subsets: list[list[int]] = [[] for _ in counts]
    for index, members in enumerate(strata.members):
        chosen = _spread(clips, members, int(counts[:, index].sum()), numbers, rng)
        for subset, clip in zip(_turns(counts[:, index], rng), chosen, strict=True):
            subsets[subset].append(clip)
    return [sorted(subset) for subset in subsets]


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


def standardised(clips: Sequence[Covariates], numbers: Sequence[str]) -> Floats:
    """A row a clip; every number has mean 0 and a standard deviation of 1.

    Where clips differ by rounding alone, or not at all, all are 0.
    """
    rows = [[float(clip[name]) for name in numbers] for clip in clips]
    table = np.array(rows, np.float64).reshape(len(rows), len(numbers))
    spread = table.std(axis=0)
    differ = spread > STILL * np.abs(table).max(axis=0, initial=0)
    centred = np.where(differ, table - table.mean(axis=0), 0.0)
    return np.asarray(centred / np.where(differ, spread, 1.0))


def _distance(table: Floats, subsets: list[list[int]]) -> float:
    return float(sum((table[subset].mean(axis=0) ** 2).sum() for subset in subsets))


def _exchanged(table: Floats, strata: Strata, subsets: list[list[int]]) -> list[list[int]]:
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
            gained |= _levelled(table, group, np.array(members), len(subsets))
    return [np.flatnonzero(group == place).tolist() for place in range(len(subsets))]


def _levelled(table: Floats, group: Ints, members: Ints, number: int) -> bool:
    """Exchange clips of one stratum, the best two first; whether anything was gained.

    Taking clip b for clip a changes the squares of a's subset by 2 s · (b − a) + |b − a|², where s
    is what its numbers sum to; what is left over does not count.
    """
    own = table[members]
    apart = ((own[:, None] - own[None]) ** 2).sum(axis=-1)
    sums = np.array([table[group == place].sum(axis=0) for place in range(number)])
    sums = np.vstack([sums, np.zeros(table.shape[1])])
    gained = False
    for _ in range(ROUNDS):
        mine = group[members]
        along = sums[mine] @ own.T
        change = 2 * (along - np.diag(along)[:, None]) + apart
        change[mine == number] = 0
        cost = change + change.T
        cost[mine[:, None] == mine] = 0
        a, b = divmod(int(cost.argmin()), len(members))
        if cost[a, b] > -LEAST:
            break
        sums[mine[a]] += own[b] - own[a]
        sums[mine[b]] += own[a] - own[b]
        sums[number] = 0
        group[members[[a, b]]] = mine[[b, a]]
        gained = True
    return gained
