"""Sign-flip permutation tests: exact for few items, random beyond."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import permutation_test

from earwitness.stats import significance
from earwitness.stats.significance import compute_permutation_p_values, permuted_differences

Floats = NDArray[np.float64]


def mean(sums: Floats) -> Floats:
    return np.asarray(sums[..., :1] / sums[..., 1:2])


def rows(seed: int, n: int) -> tuple[Floats, Floats]:
    """Scores of two systems with a count of 1 per item."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.4, 1, n), rng.normal(0, 1, n)
    return np.stack([a, np.ones(n)], axis=1), np.stack([b, np.ones(n)], axis=1)


def p_value(a: Floats, b: Floats, permutations: int) -> float:
    found = permuted_differences(a, b, mean, permutations, 0)
    return float(compute_permutation_p_values(mean(a.sum(axis=0)), mean(b.sum(axis=0)), found)[0])


@pytest.mark.parametrize("n", [2, 3, 7, 14])
def test_p_of_few_items_is_scipys_over_all_permutations(n: int) -> None:
    a, b = rows(n, n)
    tested = permutation_test(
        (a[:, 0], b[:, 0]),
        lambda x, y, axis: x.mean(axis=axis) - y.mean(axis=axis),
        permutation_type="samples",
        n_resamples=2**n,
        vectorized=True,
    )
    want = min(1.0, tested.pvalue)
    assert p_value(a, b, 100) == pytest.approx(want, abs=1e-12)


def test_twenty_items_are_exact_and_twenty_one_are_drawn() -> None:
    a, b = rows(4, 20)
    found = permuted_differences(a, b, mean, 1000, 0)
    assert (found.exact, len(found.differences)) == (True, 2**19)  # the other half only swaps names
    a, b = rows(4, 21)
    found = permuted_differences(a, b, mean, 1000, 0)
    assert (found.exact, len(found.differences)) == (False, 1000)


def test_items_without_a_difference_are_not_permuted() -> None:
    a, b = rows(6, 12)
    b[5:] = a[5:]
    found = permuted_differences(a, b, mean, 10, 0)
    assert (found.exact, len(found.differences)) == (True, 2**4)
    assert p_value(a, a, 10) == 1


def test_blocks_of_permutations_do_not_change_them(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = rows(5, 11)
    whole = permuted_differences(a, b, mean, 10, 0).differences
    monkeypatch.setattr(significance, "EXACT_SUMS_IN_MEMORY", 100)
    assert np.array_equal(permuted_differences(a, b, mean, 10, 0).differences, whole)
