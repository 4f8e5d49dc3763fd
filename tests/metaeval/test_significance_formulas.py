"""Differences of two metrics: published values, plain twins, and how often nothing is found."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from earwitness.metaeval.significance import (
    Difference,
    independent_test,
    outlier_difference,
    rmse_difference,
    steiger_test,
    williams_test,
)
from earwitness.stats.arrays import Floats
from helpers.samples import many


def correlated(table: Floats) -> Floats:
    return np.asarray(np.corrcoef(table.T))


def rounded(found: Difference, digits: int = 4) -> list[float]:
    return [round(float(x), digits) for x in found]


def test_silver_hittner_and_may_have_their_published_values() -> None:
    # Silver, Hittner & May (2006), as the R package cocor 1.1 tests itself: n = 100, .3 .4 .5
    assert rounded(williams_test(0.3, 0.4, 0.5, 100)) == [-1.0767, 0.2843]
    assert rounded(steiger_test(0.3, 0.4, 0.5, 100)) == [-1.0718, 0.2838]


def test_steigers_case_a_has_its_value() -> None:
    # Steiger (1980), p. 249, n = 103: Z = −0.8913 with rounded steps; cocor has −0.8887185
    assert round(float(steiger_test(0.4, 0.5, 0.1, 103).statistic), 7) == -0.8887185
    # Williams by hand: |R| = 1 − .16 − .25 − .01 + .04 = .62; 102·1.1 = 112.2;
    # 2·(102/100)·.62 + .45²·.9³ = 1.2648 + .1476225; t = −.1·√(112.2 / 1.4124225)
    by_hand = -0.1 * math.sqrt(112.2 / 1.4124225)
    assert float(williams_test(0.4, 0.5, 0.1, 103).statistic) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize(
    ("first", "second", "counts", "digits", "z"),
    [
        (0.92, 0.82, (60, 50), 2, 2.19),  # Guilford & Fruchter (1978), p. 164: 2.18
        (0.71, 0.28, (200, 78), 2, 4.42),  # Glass & Stanley (1970), p. 312: 4.40
        (0.657, 0.430, (62, 143), 6, 2.110737),  # Cohen et al. (2003), p. 49: 2.13
        (0.4, 0.5, (100, 100), 10, -0.8751012342),
    ],
)
def test_independent_correlations_have_the_values_of_the_books(
    first: float, second: float, counts: tuple[int, int], digits: int, z: float
) -> None:
    # The books round on the way; the values are those of cocor 1.1.
    found = independent_test(first, second, *counts)
    assert round(float(found.statistic), digits) == z
    assert float(found.p) == pytest.approx(2 * stats.norm.sf(abs(z)), rel=10**-digits * 20)


def test_f_of_two_rmse_is_that_of_scipy() -> None:
    found = rmse_difference([0.5, 0.3, 0.4], [0.4, 0.5, 0.4], [30, 20, 10], [28, 16, 10])
    f = np.array([1.5625, 0.36, 1])
    assert found.statistic == pytest.approx(f)
    above = stats.f.sf(f, [30, 20, 10], [28, 16, 10])
    assert found.p == pytest.approx(2 * np.minimum(above, 1 - above))
    turned = rmse_difference([0.4, 0.5], [0.5, 0.3], [28, 16], [30, 20])
    assert turned.p == pytest.approx(found.p[:2])


def test_outlier_ratios_differ_as_in_the_hand_count() -> None:
    # 30 of 100 and 20 of 100: pooled 0.25, 0.25·0.75·0.02 = 0.00375, 0.1 / √0.00375 = 1.63299
    found = outlier_difference(0.3, 0.2, 100, 100)
    assert float(found.statistic) == pytest.approx(0.1 / math.sqrt(0.00375), abs=1e-12)
    table = stats.contingency.chi2_contingency([[30, 70], [20, 80]], correction=False)
    assert float(found.p) == pytest.approx(table.pvalue)


def test_arrays_give_what_their_members_give() -> None:
    rng = np.random.default_rng(1)
    tables = rng.normal(size=(40, 25, 3)) + rng.normal(size=(40, 25, 1))
    r = np.array([correlated(table) for table in tables])
    for test in (williams_test, steiger_test):
        found = test(r[:, 0, 1], r[:, 0, 2], r[:, 1, 2], 25)
        one = [test(each[0, 1], each[0, 2], each[1, 2], 25) for each in r]
        assert found.statistic.tolist() == [float(each.statistic) for each in one]
        assert found.p.tolist() == [float(each.p) for each in one]
        other = test(r[:, 0, 2], r[:, 0, 1], r[:, 1, 2], 25)
        assert found.statistic == pytest.approx(-other.statistic)


def plain_williams(table: Floats) -> tuple[float, float]:
    """From points to t, as Steiger (1980) writes it, with the determinant of the correlations."""
    r = correlated(table)
    n, mean = len(table), (r[0, 1] + r[0, 2]) / 2
    above = (n - 1) * (1 + r[1, 2])
    below = 2 * (n - 1) / (n - 3) * np.linalg.det(r) + mean**2 * (1 - r[1, 2]) ** 3
    t = (r[0, 1] - r[0, 2]) * math.sqrt(above / below)
    return t, 2 * stats.t.sf(abs(t), n - 3)


def plain_steiger(table: Floats) -> tuple[float, float]:
    """The covariance of two z in full, with the mean of both correlations in it."""
    r = correlated(table)
    n, mean, c = len(table), (r[0, 1] + r[0, 2]) / 2, r[1, 2]
    psi = c * (1 - mean**2 - mean**2) - 0.5 * mean * mean * (1 - mean**2 - mean**2 - c**2)
    s = psi / ((1 - mean**2) * (1 - mean**2))
    z = math.sqrt(n - 3) * (math.atanh(r[0, 1]) - math.atanh(r[0, 2])) / math.sqrt(2 - 2 * s)
    return z, 2 * stats.norm.sf(abs(z))


@pytest.mark.parametrize(
    ("test", "plain"), [(williams_test, plain_williams), (steiger_test, plain_steiger)]
)
def test_plain_twins_give_the_same(
    test: Callable[..., Difference], plain: Callable[[Floats], tuple[float, float]]
) -> None:
    rng = np.random.default_rng(2)
    for _ in range(many(30, 500)):
        n = int(rng.integers(4, 40))
        table = rng.normal(size=(n, 3)) + rng.normal(size=(n, 1)) * rng.random()
        r = correlated(table)
        found = test(r[0, 1], r[0, 2], r[1, 2], n)
        assert [float(x) for x in found] == pytest.approx(plain(table), rel=1e-6, abs=1e-9)


def correlations(runs: int, n: int, people: float, metrics: float, seed: int) -> Floats:
    """Of people with both metrics, and between the metrics: three columns."""
    rng = np.random.default_rng(seed)
    wanted = np.array([[1, people, people], [people, 1, metrics], [people, metrics, 1]])
    points = rng.normal(size=(runs, n, 3)) @ np.linalg.cholesky(wanted).T
    points -= points.mean(axis=1, keepdims=True)
    points /= np.sqrt((points**2).sum(axis=1, keepdims=True))
    products = np.swapaxes(points, 1, 2) @ points
    return np.stack([products[:, 0, 1], products[:, 0, 2], products[:, 1, 2]])


@pytest.mark.parametrize(("people", "metrics"), [(0.6, 0.5), (0.8, 0.9), (0.0, 0.3)])
@pytest.mark.parametrize("n", [12, 40])
def test_metrics_that_are_equally_good_differ_in_one_case_of_twenty(
    people: float, metrics: float, n: int
) -> None:
    runs, careful = many(2000, 20000), {12: 0.012, 40: 0.002}  # of 12 points Z finds too little
    found = correlations(runs, n, people, metrics, 5)
    for test in (williams_test, steiger_test):
        size = float((test(found[0], found[1], found[2], n).p < 0.05).mean())
        assert abs(size - 0.05) < 4 * math.sqrt(0.0475 / runs) + careful[n], (test, size)


def test_independent_metrics_that_are_equally_good_differ_in_one_case_of_twenty() -> None:
    runs = many(2000, 20000)
    first = correlations(runs, 20, 0.5, 0.5, 6)[0]
    second = correlations(runs, 30, 0.5, 0.5, 7)[0]
    size = float((independent_test(first, second, 20, 30).p < 0.05).mean())
    assert abs(size - 0.05) < 4 * math.sqrt(0.0475 / runs) + 0.005


def test_f_keeps_its_size_for_independent_errors_and_loses_it_for_shared_ones() -> None:
    runs, n = many(2000, 20000), 30
    rng = np.random.default_rng(8)
    shared = rng.normal(size=(runs, n))
    sizes = []
    for part in (0.0, 0.8):
        errors = [
            math.sqrt(part) * shared + math.sqrt(1 - part) * rng.normal(size=(runs, n))
            for _ in range(2)
        ]
        first, second = (np.sqrt((each**2).mean(axis=1)) for each in errors)
        sizes.append(float((rmse_difference(first, second, n, n).p < 0.05).mean()))
    assert abs(sizes[0] - 0.05) < 4 * math.sqrt(0.0475 / runs)
    assert sizes[1] < 0.01


def test_what_is_undefined_has_no_number_and_metrics_that_are_the_same_do_not_differ() -> None:
    for test in (williams_test, steiger_test):
        assert [math.isnan(x) for x in test(0.5, 0.5, 1.0, 20)] == [True, False]
        assert float(test(0.5, 0.5, 1.0, 20).p) == 1
        for given in ((0.5, 0.4, 0.3, 3), (np.nan, 0.4, 0.3, 20), (0.9, -0.9, 0.9, 20)):
            assert np.isnan(test(*given).statistic), given
            assert np.isnan(test(*given).p), given
        assert float(test(0.5, 0.5, 0.2, 20).p) == 1
    assert np.isnan(independent_test(1.0, 0.5, 20, 20).p)
    assert np.isnan(independent_test(0.2, 0.5, 3, 20).p)
    assert float(independent_test(0.5, 0.5, 20, 20).p) == 1
    assert np.isnan(rmse_difference(0.5, 0.0, 20, 20).p)
    assert np.isnan(rmse_difference(0.5, 0.5, 0, 20).p)
    assert float(rmse_difference(0.0, 0.5, 20, 20).p) == 0
    assert float(outlier_difference(0.0, 0.0, 20, 20).p) == 1
    assert np.isnan(outlier_difference(0.0, 0.0, 0, 20).p)
