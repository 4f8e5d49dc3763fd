"""Permutation tests between metrics (Deutsch, Dror & Roth 2021).

If two metrics were as good as each other, it would not matter which of them gave which score. So
both are brought to mean 0 and standard deviation 1, their scores are swapped for some inputs
(items), for some systems, or for some of both, and the difference of the coefficient is taken
again. What is swapped says to what the answer generalises: to other inputs, to other systems, to
both. p = (k + 1) / (n + 1) for k of n swaps with a difference at least as large, so it is never 0.
A swap without a value counts as at least as large.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from earwitness.stats.concord.levels import Drawn, at
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.student import ratio

WHAT = ("inputs", "systems", "both")
HELD = 1_000_000  # scores laid out at a time
EQUAL = 1e-12  # differences closer than this are equal


def standardised(scores: Floats) -> Floats:
    """Every metric with mean 0 and standard deviation 1 over its known scores; constants are 0."""
    flat = scores.reshape(len(scores), -1)
    known = ~np.isnan(flat)
    count = known.sum(axis=1, keepdims=True).astype(np.float64)
    mean = ratio(np.where(known, flat, 0).sum(axis=1, keepdims=True), count)
    apart = flat - mean
    sd = np.sqrt(ratio(np.where(known, apart**2, 0).sum(axis=1, keepdims=True), count))
    unit = np.where(sd > EQUAL * np.maximum(1, np.abs(mean)), sd, np.inf)
    return np.asarray((apart / unit).reshape(scores.shape))


def swapped(
    scores: Floats,
    people: Floats,
    pairs: Sequence[tuple[int, int]],
    level: str,
    name: str,
    what: str,
    *,
    permutations: int = 1000,
    seed: int = 0,
) -> Floats:
    """Two-sided p for every pair of metrics (their numbers); NaN where there is no difference.

    ``scores`` are metrics × systems × items, ``people`` systems × items. Cells that either metric
    has no score for are left out of both.
    """
    if what not in WHAT:
        raise ValueError(f"what: one of {', '.join(WHAT)}, got {what}")
    own = standardised(scores)
    return np.array(
        [_p(own[list(pair)], people, level, name, what, permutations, seed) for pair in pairs]
    )


def _p(
    both: Floats, people: Floats, level: str, name: str, what: str, permutations: int, seed: int
) -> float:
    both = np.where(np.isnan(both).any(axis=0), np.nan, both)
    observed = abs(_differences(both[None], people, level, name)[0])
    if np.isnan(observed):
        return float("nan")
    larger = 0
    for masks in _masks(both.shape[1:], what, permutations, seed):
        turned = np.where(masks[:, None], both[::-1], both)
        found = np.abs(_differences(turned, people, level, name))
        larger += int((~(found < observed - EQUAL)).sum())
    return (larger + 1) / (permutations + 1)


def _differences(sets: Floats, people: Floats, level: str, name: str) -> Floats:
    """The first metric's coefficient less the second's; sets × 2 × systems × items."""
    count, _, systems, items = sets.shape
    once = Drawn(np.ones((1, systems)), np.ones((1, items)), people[None])
    flat = sets.reshape(2 * count, systems, items)
    found = at(level, flat, once, [name])[0][0, 0].reshape(count, 2)
    return np.asarray(found[:, 0] - found[:, 1])


def _masks(shape: tuple[int, int], what: str, permutations: int, seed: int) -> Iterator[Bools]:
    """Which cells are swapped: permutations × systems × items, in blocks."""
    rng = np.random.Generator(np.random.PCG64((seed, WHAT.index(what))))
    rows = max(1, HELD // (2 * shape[0] * shape[1]))
    for start in range(0, permutations, rows):
        count = min(rows, permutations - start)
        systems = rng.random((count, shape[0], 1)) < 0.5
        items = rng.random((count, 1, shape[1])) < 0.5
        found = {"inputs": items, "systems": systems, "both": items ^ systems}[what]
        yield np.broadcast_to(found, (count, *shape))
