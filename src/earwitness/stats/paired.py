"""Two systems on the same items: is the difference more than chance?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from earwitness.stats.exact import Floats, split, weighted_sums

HELD = 2_000_000  # flips in memory at a time
ALIKE = 1e-9  # differences closer than this, beside the values themselves, are equal


def permuted_differences(
    a: Floats, b: Floats, score: Callable[[Floats], Floats], permutations: int, seed: int
) -> Floats:
    """Differences of the corpus values when every item's outputs are swapped with chance one half.

    ``a`` and ``b`` hold statistics of the same items in the same order; a row of the answer is one
    permutation.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    parts = split(np.concatenate([a - b, a, b], axis=1))
    ones = weighted_sums(np.ones((1, len(a))), parts).sum(axis=0)[0]
    _, sum_a, sum_b = np.split(ones, 3)
    block = max(1, HELD // len(a))
    rows = []
    for done in range(0, permutations, block):
        flips = rng.integers(0, 2, (min(block, permutations - done), len(a)), np.int8)
        moved = weighted_sums(flips.astype(np.float64), parts).sum(axis=0)[:, : a.shape[1]]
        rows.append(score(sum_a - moved) - score(sum_b + moved))
    return np.concatenate(rows)


def p_values(a: Floats, b: Floats, permuted: Floats) -> Floats:
    """Two-sided, and never 0: the observed difference is one of the permutations.

    Differences that rounding alone keeps apart are ties; an undefined one counts as extreme.
    """
    observed = a - b
    near = ALIKE * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
    extreme = ~(np.abs(permuted) < np.abs(observed) - near)
    p = (1 + extreme.sum(axis=0)) / (1 + len(permuted))
    return np.where(np.isnan(observed), np.nan, p)


def holm(p: Sequence[float]) -> list[float]:
    """Holm's step-down correction for several tests.

    >>> holm([0.01, 0.04, 0.03])  # 3 · 0.01, then 2 · 0.03, then no less than that
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(p)), key=lambda i: (np.isnan(p[i]), p[i]))
    tests = sum(not np.isnan(x) for x in p)
    adjusted, least = [float("nan")] * len(p), 0.0
    for rank, i in enumerate(order[:tests]):
        least = max(least, min(1.0, (tests - rank) * p[i]))
        adjusted[i] = least
    return adjusted
