"""Paired tests and intervals keep what they promise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from algorithms import paired as slow
from earwitness.stats.bootstrap import Bootstrap, percentile_interval
from earwitness.stats.significance import (
    PermutedDifferences,
    compute_permutation_p_values,
    permuted_differences,
)
from helpers.samples import many

Floats = NDArray[np.float64]


def micro_f1(sums: Floats) -> Floats:
    """2 tp over all boundaries: not a mean of items."""
    return np.asarray(sums[..., :1] / sums[..., 1:2])


def two_systems(rng: np.random.Generator, n: int, gain: float = 0.0) -> tuple[Floats, Floats]:
    """Items differ in size and difficulty; the first system finds ``gain`` more boundaries."""
    size = rng.integers(4, 40, n)
    ease = rng.beta(3, 3, n)
    systems = []
    for more in (gain, 0.0):
        tp = rng.binomial(size, np.clip(ease + more, 0, 1))
        systems.append(np.stack([2.0 * tp, tp + rng.poisson(0.3 * size) + size], axis=1))
    return systems[0], systems[1]


@given(st.integers(1, 7), st.integers(0, 10**6))
def test_p_of_few_items_is_that_of_all_permutations(n: int, seed: int) -> None:
    a, b = two_systems(np.random.default_rng(seed), n)
    observed = micro_f1(a.sum(axis=0)), micro_f1(b.sum(axis=0))
    found = compute_permutation_p_values(
        *observed, permuted_differences(a, b, micro_f1, 128, seed)
    )[0]
    want = slow.exact_p(a.tolist(), b.tolist(), lambda s: s[0] / s[1])
    assert found == pytest.approx(want, abs=1e-12)
    assert found >= 2 ** (1 - n) or n == 1


@given(st.integers(8, 9), st.integers(0, 10**6))
def test_p_of_draws_is_close_to_that_of_all_permutations(n: int, seed: int) -> None:
    a, b = two_systems(np.random.default_rng(seed), n)
    assume((a != b).any(axis=1).sum() >= 8)  # fewer have at most 200 permutations
    observed = micro_f1(a.sum(axis=0)), micro_f1(b.sum(axis=0))
    draws = 200
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("earwitness.stats.significance.MAX_EXACT_ITEMS", 0)
        permuted = permuted_differences(a, b, micro_f1, draws, seed)
    assert not permuted.exact
    found = compute_permutation_p_values(*observed, permuted)[0]
    want = slow.exact_p(a.tolist(), b.tolist(), lambda s: s[0] / s[1])
    assert found == pytest.approx(want, abs=6 * math.sqrt(0.25 / draws))
    assert found > 0


def test_a_tie_but_for_rounding_is_a_tie_and_undefined_is_extreme() -> None:
    large = np.array([40_000.02]), np.array([39_000.01])
    mirrored = -(large[0] - large[1]) * (1 - 1e-13)
    permuted = np.array([mirrored, [0.0], [np.nan]])
    assert compute_permutation_p_values(*large, PermutedDifferences(permuted, False)).tolist() == [
        3 / 4
    ]
    assert compute_permutation_p_values(*large, PermutedDifferences(permuted, True)).tolist() == [
        2 / 3
    ]


def test_under_no_difference_5_percent_are_called_different() -> None:
    runs, rng = many(300, 4000), np.random.default_rng(5)
    hits = 0
    for run in range(runs):
        a, b = two_systems(rng, 40)
        observed = micro_f1(a.sum(axis=0)), micro_f1(b.sum(axis=0))
        hits += (
            compute_permutation_p_values(*observed, permuted_differences(a, b, micro_f1, 400, run))[
                0
            ]
            < 0.05
        )
    assert hits / runs == pytest.approx(0.05, abs=0.005 + 3 * math.sqrt(0.05 * 0.95 / runs))


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(6)
    found = 0
    for run in range(many(40, 200)):
        a, b = two_systems(rng, 60, gain=0.1)
        observed = micro_f1(a.sum(axis=0)), micro_f1(b.sum(axis=0))
        found += (
            compute_permutation_p_values(*observed, permuted_differences(a, b, micro_f1, 400, run))[
                0
            ]
            < 0.05
        )
    assert found / many(40, 200) > 0.8


def test_intervals_of_differences_cover_95_percent_and_are_narrower_than_unpaired_ones() -> None:
    runs, rng, n = many(200, 4000), np.random.default_rng(7), 60
    a, b = two_systems(rng, 400_000, gain=0.05)
    truth = micro_f1(a.sum(axis=0))[0] - micro_f1(b.sum(axis=0))[0]
    hits, paired, unpaired = 0, 0.0, 0.0
    hashes = np.arange(n, dtype=np.uint64)
    for run in range(runs):
        drawn = []
        for rows, seed in zip((*two_systems(rng, n, gain=0.05),), (run, run), strict=True):
            bootstrap = Bootstrap(draws=500, seed=seed)
            bootstrap.add(hashes, rows)
            drawn.append(micro_f1(bootstrap.finish().draws))
        low, high = percentile_interval(drawn[0] - drawn[1], 0.95)
        hits += bool(low[0] <= truth <= high[0])
        paired += high[0] - low[0]
        low, high = percentile_interval(drawn[0] - np.roll(drawn[1], 1, axis=0), 0.95)
        unpaired += high[0] - low[0]
    slack = 0.015 + 3 * math.sqrt(0.95 * 0.05 / runs)
    assert hits / runs == pytest.approx(0.95, abs=slack)
    assert paired < 0.9 * unpaired
