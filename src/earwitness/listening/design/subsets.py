"""Equivalent subsets: disjoint, of one size, each like the whole in every covariate.

How many clips of each stratum a subset gets is decided first (`strata`). Then clips are dealt, so
that numbers (such as an SNR) are spread alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from earwitness.errors import UsageError
from earwitness.listening.design.strata import (
    ROUNDS,
    Covariates,
    Floats,
    Ints,
    Strata,
    stratum_counts,
)


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
