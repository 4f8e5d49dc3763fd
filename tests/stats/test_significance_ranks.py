"""Rank tests are those of the plain version and of scipy, with ties, zeros and gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from algorithms import paired as slow
from earwitness.stats.contrasts import estimate_contrasts
from earwitness.stats.significance import (
    MAX_EXACT_DIFFERENCES,
    friedman_test,
    signed_rank_tests,
)
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.vote_tables import gappy, listener_differences, rows_of

TIED = st.lists(st.sampled_from([-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=9)


def p_of(differences: list[float]) -> float:
    return float(signed_rank_tests(np.array(differences)[:, None]).p[0])


@given(TIED)
def test_the_signed_rank_test_is_that_of_all_signs(differences: list[float]) -> None:
    assert p_of(differences) == pytest.approx(slow.signed_rank_p(differences), abs=1e-12)


@pytest.mark.peer
@pytest.mark.parametrize("n", [1, 5, 12, 25, 50])
def test_without_ties_p_is_scipys_exact_one(n: int) -> None:
    from scipy import stats

    differences = np.random.default_rng(n).normal(0.3, 1, n)
    want = stats.wilcoxon(differences, method="exact").pvalue
    assert p_of(differences.tolist()) == pytest.approx(want, abs=1e-12)


@pytest.mark.peer
def test_beyond_the_limit_p_is_scipys_approximation_with_ties_and_zeros() -> None:
    from scipy import stats

    size = 2 * MAX_EXACT_DIFFERENCES
    differences = np.random.default_rng(1).integers(-3, 4, size) / 4 + 0.05 * (np.arange(size) % 2)
    want = stats.wilcoxon(
        differences, zero_method="pratt", correction=False, method="asymptotic"
    ).pvalue
    assert 0.001 < want < 0.5
    assert p_of(differences.tolist()) == pytest.approx(want, abs=1e-12)
    near = differences[:MAX_EXACT_DIFFERENCES]
    close = stats.wilcoxon(near, zero_method="pratt", method="asymptotic").pvalue
    assert p_of(near.tolist()) == pytest.approx(close, abs=0.005)


def test_gaps_do_not_count_and_zeros_alone_show_nothing() -> None:
    nan = math.nan
    columns = [[1.0, nan, 2.0, 3.0], [0.0, 0.0, nan, 0.0], [nan] * 4, [-0.1, -0.2, -0.3, 0.0]]
    found = signed_rank_tests(np.array(columns).T)
    assert found.n.tolist() == [3, 3, 0, 4]
    assert found.p.tolist() == pytest.approx([0.25, 1, nan, 0.25], nan_ok=True)
    assert found.correlation.tolist() == pytest.approx([1, 0, nan, -1], nan_ok=True)


def test_differences_that_are_equal_except_for_rounding_are_ties() -> None:
    assert p_of([0.1 + 0.2, 0.3, -0.3, 0.7, 1e-17]) == p_of([0.3, 0.3, -0.3, 0.7, 0.0])


@given(votes=gappy())
@settings(max_examples=many(30, 200))
def test_pairs_of_systems_are_tested_by_the_differences_of_listeners(votes: Votes) -> None:
    pairs = [(0, 1), (2, 0)]
    by_t = estimate_contrasts(votes, pairs)
    found = estimate_contrasts(votes, pairs, test="wilcoxon")
    for (a, b), one, other in zip(pairs, found, by_t, strict=True):
        want = [round(x, 9) for x in listener_differences(rows_of(votes), a, b).values()]
        assert (one.p == pytest.approx(slow.signed_rank_p(want))) if want else math.isnan(one.p)
        assert repr(one.difference) == repr(other.difference)
        assert (one.effect.n, one.effect.method) == (len(want), "rank_biserial")


@given(st.integers(1, 7), st.integers(3, 5), st.integers(0, 10**6))
def test_friedmans_test_is_that_of_the_plain_version(n: int, k: int, seed: int) -> None:
    rows = np.random.default_rng(seed).integers(1, 4, (n, k)) / 3
    found = friedman_test(rows)
    assert (found.n, found.freedom) == (n, k - 1)
    assert found.statistic == pytest.approx(slow.friedman(rows.tolist()), abs=1e-9)


@pytest.mark.peer
def test_friedmans_test_is_that_of_scipy_over_complete_listeners() -> None:
    from scipy import stats

    rows = np.random.default_rng(2).integers(1, 6, (14, 4)).astype(np.float64)
    gaps = rows.copy()
    gaps[[3, 7], [0, 2]] = np.nan
    complete = np.delete(rows, [3, 7], axis=0)
    want = stats.friedmanchisquare(*complete.T)
    found = friedman_test(gaps)
    assert found.n == 12
    assert (found.statistic, found.p) == pytest.approx((want.statistic, want.pvalue))


def test_friedmans_test_needs_a_complete_listener_and_three_systems() -> None:
    nan = math.nan
    none = friedman_test(np.array([[1, 2, nan], [nan, 2, 3]]))
    assert (none.n, math.isnan(none.p), math.isnan(none.statistic)) == (0, True, True)
    assert math.isnan(friedman_test(np.array([[1.0, 2.0]] * 9)).p)
    equal = friedman_test(np.array([[2.0, 2.0, 2.0]] * 4))
    assert (equal.statistic, equal.p) == (0, 1)
