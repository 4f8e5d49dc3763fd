"""Two systems on the same items: is the difference more than chance?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.stats.exact import Floats, split, weighted_sums

HELD = 2_000_000  # flips in memory at a time
ALIKE = 1e-9  # differences closer than this, beside the values themselves, are equal


class Permuted(NamedTuple):
    """Differences, a row a permutation; whether these are all that there are."""

    differences: Floats
    exact: bool


def permuted_differences(
    a: Floats, b: Floats, score: Callable[[Floats], Floats], permutations: int, seed: int
) -> Permuted:
    """Differences of the corpus values when every item's outputs are swapped with chance one half.

    ``a`` and ``b`` hold statistics of the same items in the same order. Where there are no more
    ways to swap than ``permutations``, all of them are gone through.
    """
    parts = split(np.concatenate([a - b, a, b], axis=1))
    ones = weighted_sums(np.ones((1, len(a))), parts).sum(axis=0)[0]
    _, sum_a, sum_b = np.split(ones, 3)
    exact = len(a) < 63 and 2 ** len(a) <= permutations
    rows = []
    for flips in _all_flips(len(a)) if exact else _flips(len(a), permutations, seed):
        moved = weighted_sums(flips.astype(np.float64), parts).sum(axis=0)[:, : a.shape[1]]
        rows.append(score(sum_a - moved) - score(sum_b + moved))
    return Permuted(np.concatenate(rows), exact)


def _all_flips(n: int) -> Iterator[NDArray[np.int8]]:
    block = max(1, HELD // n)
    for start in range(0, 2**n, block):
        ways = np.arange(start, min(2**n, start + block))
        yield (ways[:, None] >> np.arange(n) & 1).astype(np.int8)


def _flips(n: int, permutations: int, seed: int) -> Iterator[NDArray[np.int8]]:
    rng = np.random.Generator(np.random.PCG64(seed))
    block = max(1, HELD // n)
    for done in range(0, permutations, block):
        yield rng.integers(0, 2, (min(block, permutations - done), n), np.int8)


def p_values(a: Floats, b: Floats, permuted: Permuted) -> Floats:
    """Two-sided, and never 0: the observed difference is one of the permutations.

    Differences that rounding alone keeps apart are ties; an undefined one counts as extreme.
    """
    observed = a - b
    near = ALIKE * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
    extreme = ~(np.abs(permuted.differences) < np.abs(observed) - near)
    own = 0 if permuted.exact else 1  # all swaps include that of nothing
    p = (own + extreme.sum(axis=0)) / (own + len(permuted.differences))
    return np.where(np.isnan(observed), np.nan, p)
