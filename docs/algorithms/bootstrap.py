"""Bootstrap over cases, slow reference implementation.

A corpus value is a function of statistics summed over cases. In each draw, the sums are weighted by
the number of times each case was drawn. The ends of the confidence interval are percentiles of the
values of many draws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

WORD = 2**64


def multinomial_counts(n: int, draws: int, seed: int) -> list[list[int]]:
    """Return the number of times each of ``n`` cases is drawn with replacement, per draw."""
    rng = np.random.Generator(np.random.PCG64(seed))
    return [[row.count(i) for i in range(n)] for row in rng.integers(0, n, (draws, n)).tolist()]


def mix(x: int) -> int:
    """Return the output of SplitMix64's finalizer."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB % WORD
    return x ^ (x >> 31)


def poisson_weight(sixteen: int) -> int:
    """Return a Poisson(1) weight from sixteen random bits, by cumulative probabilities.

    >>> [poisson_weight(bits) for bits in (0, 24108, 24109, 65535)]
    [0, 0, 1, 8]
    """
    below = 0
    for weight in range(9):
        below += round(65536 / math.e / math.factorial(weight))
        if sixteen < below:
            return weight
    raise AssertionError("the nine shares add up to 65,536")


def poisson_weights(item_hash: int, draws: int, seed: int) -> list[int]:
    """Return the weights of one case in all draws; they depend on its hash and the seed only."""
    weights = []
    for draw in range(draws):
        word = mix(((item_hash ^ mix(seed)) + (draw // 4 + 1) * 0x9E3779B97F4A7C15) % WORD)
        weights.append(poisson_weight(word >> 16 * (draw % 4) & 0xFFFF))
    return weights


def exact_sum(weights: Sequence[int], values: Sequence[float]) -> float:
    """Return a weighted sum that is rounded only once, at the end."""
    pairs = zip(weights, values, strict=True)
    return float(sum((weight * Fraction(value) for weight, value in pairs), Fraction(0)))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the percentile of the values for a share, with linear interpolation.

    >>> percentile([3, 1, 2], 0.25)
    1.5
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def interval(
    weights: Sequence[Sequence[int]],
    statistics: Sequence[Sequence[float]],
    score: Callable[[list[float]], float],
    level: float,
) -> tuple[float, float]:
    """Return both ends of the percentile interval of a score of summed statistics."""
    columns = list(zip(*statistics, strict=True))
    drawn = [score([exact_sum(row, column) for column in columns]) for row in weights]
    tail = (1 - level) / 2
    return percentile(drawn, tail), percentile(drawn, 1 - tail)
