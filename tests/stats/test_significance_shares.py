"""Exact tests and intervals of shares are those of SciPy, and of plain sums."""

from __future__ import annotations

import math
from itertools import product

import pytest

from earwitness.stats.significance import (
    binomial_at_least,
    binomial_at_most,
    binomial_share,
    binomial_two_sided,
)
from helpers.samples import many

GRID = [
    (count, trials, chance)
    for trials, chance in product([1, 2, 3, 7, 10, 29, 64], [0.5, 0.25, 1 / 3, 0.9])
    for count in range(trials + 1)
]


def plain(count: int, trials: int, chance: float) -> tuple[float, float, float]:
    """At least, at most, and two-sided, by adding up outcomes."""
    ways = [
        math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)
    ]
    unlikely = sum(one for one in ways if one <= ways[count] * (1 + 1e-7))
    return sum(ways[count:]), sum(ways[: count + 1]), unlikely


def test_tails_are_sums_of_outcomes() -> None:
    for one in GRID:
        found = binomial_at_least(*one), binomial_at_most(*one), binomial_two_sided(*one)
        assert found == pytest.approx(plain(*one), rel=1e-9), one


@pytest.mark.peer
def test_p_and_intervals_are_those_of_scipy() -> None:
    from scipy.stats import binomtest

    sides = {
        "greater": binomial_at_least,
        "less": binomial_at_most,
        "two-sided": binomial_two_sided,
    }
    large = [(k, 1000, 0.5) for k in range(0, 1001, many(53, 3))] + [(10_200, 20_000, 0.5)]
    for count, trials, chance in GRID[:: many(5, 1)] + large:
        for side, test in sides.items():
            peer = binomtest(count, trials, chance, alternative=side)
            assert test(count, trials, chance) == pytest.approx(peer.pvalue, rel=1e-9, abs=1e-300)
        for level in (0.8, 0.95) if chance == 0.5 else ():
            own = binomial_share(count, trials, level)
            exact = binomtest(count, trials).proportion_ci(level, "exact")
            assert (own.low, own.high) == pytest.approx((exact.low, exact.high), rel=1e-9)


def test_without_trials_nothing_is_defined() -> None:
    none = binomial_share(0, 0)
    assert none.n == 0
    for value in (
        none.value,
        none.low,
        none.high,
        binomial_at_least(0, 0),
        binomial_at_most(0, 0),
        binomial_two_sided(0, 0),
    ):
        assert math.isnan(value)


def test_all_and_none_have_intervals_to_the_end() -> None:
    # 0.025 ** (1 / 10) is the chance by which ten of ten come with 2.5 %
    assert binomial_share(10, 10).low == pytest.approx(0.025 ** (1 / 10))
    assert binomial_share(10, 10).high == 1.0
    assert (binomial_share(0, 10).low, binomial_share(0, 10).high) == pytest.approx(
        (0.0, 1 - 0.025 ** (1 / 10))
    )
