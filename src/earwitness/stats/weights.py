"""How often each case is drawn in each bootstrap draw."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Hashes = NDArray[np.uint64]

HELD = 2_000_000  # weights in memory at a time
# How many of 65,536 equally likely numbers give the weights 0, 1, 2 … 8: Poisson(1), rounded.
POISSON = np.repeat(np.arange(9, dtype=np.uint8), [24109, 24109, 12055, 4018, 1005, 201, 33, 5, 1])
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


def multinomial(n: int, draws: int, seed: int) -> Iterator[Floats]:
    """Blocks of rows; a row is one draw of ``n`` out of ``n`` cases with replacement."""
    if n * draws <= HELD:
        yield _drawn(n, draws, seed)
        return
    yield from _blocks(n, draws, seed)


@lru_cache(maxsize=2)
def _drawn(n: int, draws: int, seed: int) -> Floats:
    """Kept, since many estimates of a run rest on equally many cases."""
    (weights,) = _blocks(n, draws, seed)
    weights.flags.writeable = False
    return weights


def _blocks(n: int, draws: int, seed: int) -> Iterator[Floats]:
    rng = np.random.Generator(np.random.PCG64(seed))
    block = max(1, HELD // n)
    for start in range(0, draws, block):
        yield drawn(n, min(block, draws - start), rng)


def drawn(n: int, rows: int, rng: np.random.Generator) -> Floats:
    """A row a draw: how often each of ``n`` is among ``n`` picked with replacement."""
    picks = rng.integers(0, max(n, 1), (rows, n))
    picks += np.arange(rows)[:, None] * n
    counts = np.bincount(picks.ravel(), minlength=rows * n)
    return counts.reshape(rows, n).astype(np.float64)


def poisson(hashes: Hashes, draws: int, seed: int) -> NDArray[np.uint8]:
    """One row a case, one column a draw: independent Poisson(1) weights.

    A case's weights follow from its hash and the seed alone, so they are the same wherever and in
    whatever company it is drawn.
    """
    words = -(-draws // 4)
    start = hashes ^ mix(np.array([seed], np.uint64))
    steps = np.arange(1, words + 1, dtype=np.uint64) * GOLDEN
    bits = mix(start[:, None] + steps)
    weights: NDArray[np.uint8] = POISSON[bits.astype("<u8", copy=False).view("<u2")]
    return weights[:, :draws]


def mix(numbers: Hashes) -> Hashes:
    """SplitMix64: every bit of the input moves every bit of the output."""
    for shift, factor in MIX:
        numbers = (numbers ^ (numbers >> shift)) * factor
    return numbers ^ (numbers >> np.uint64(31))
