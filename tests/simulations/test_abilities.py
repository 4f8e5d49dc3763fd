"""Intervals of abilities and exact tests keep what they promise."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.stats.means import t_interval
from earwitness.stats.paired_choices import Choices, fit_bradley_terry
from earwitness.stats.significance import binomial_share, binomial_two_sided
from helpers.samples import many

Floats = NDArray[np.float64]
THETA = np.array([0.8, 0.1, -0.2, -0.7])
ETA = -0.5
PAIRS = np.array(list(combinations(range(4), 2)) * 6)


def panel(rng: np.random.Generator, listeners: int, taste: float) -> Choices:
    """Votes on all pairs; listeners differ in what they like by ``taste``."""
    own = THETA + rng.normal(0, taste, (listeners, 4))
    first, second = np.tile(PAIRS, (listeners, 1)).T
    who = np.repeat(np.arange(listeners), len(PAIRS))
    half = (own[who, first] - own[who, second]) / 2
    heights = np.stack([half, -half, np.full_like(half, ETA)])
    best = (heights + rng.gumbel(size=heights.shape)).argmax(axis=0)
    return Choices(first, second, np.array([1, -1, 0])[best], who, (4, listeners))


@cache
def pooled(taste: float) -> tuple[Floats, float]:
    """What is estimated: the abilities that a very large panel of such listeners has."""
    top = fit_bradley_terry(panel(np.random.default_rng(99), many(10_000, 100_000), taste))
    return top.abilities, top.ties


@pytest.mark.parametrize("taste", [0.0, 0.5])
@pytest.mark.parametrize("listeners", [8, 16, 32])
def test_intervals_of_abilities_cover_95_percent(listeners: int, taste: float) -> None:
    runs, rng = many(150, 2000), np.random.default_rng(listeners)
    abilities, ties = (THETA, ETA) if taste == 0 else pooled(taste)
    covered = np.zeros(5)
    for _ in range(runs):
        found = fit_bradley_terry(panel(rng, listeners, taste))
        values, errors = [*found.abilities, found.ties], [*found.errors, found.ties_error]
        for n, (value, error) in enumerate(zip(values, errors, strict=True)):
            low, high, _ = t_interval(value, error, listeners - 1, 0.95)
            covered[n] += low <= (ties if n == 4 else abilities[n]) <= high
    error = math.sqrt(0.95 * 0.05 / runs)
    print(f"k={listeners} taste={taste}: {(covered / runs).round(4)} ± {error:.4f}")
    assert (covered / runs).min() > 0.935 - 4 * error
    assert (covered / runs).max() < 0.965 + 4 * error


def test_exact_intervals_cover_at_least_95_percent_and_tests_call_at_most_5() -> None:
    """Not simulated: over all outcomes, weighted by how likely they are."""
    for trials in (5, 12, 40):
        for chance in np.linspace(0.02, 0.98, many(13, 97)).tolist():
            other = 1 - chance
            likely = [
                math.comb(trials, k) * chance**k * other ** (trials - k) for k in range(trials + 1)
            ]
            ends = [binomial_share(k, trials) for k in range(trials + 1)]
            inside = sum(p for p, e in zip(likely, ends, strict=True) if e.low <= chance <= e.high)
            called = sum(
                p for k, p in enumerate(likely) if binomial_two_sided(k, trials, chance) < 0.05
            )
            assert inside >= 0.95
            assert called <= 0.05
