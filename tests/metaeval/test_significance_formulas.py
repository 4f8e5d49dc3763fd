"""Differences of two metrics: published values, plain twins, and how often nothing is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from earwitness.metaeval.significance import Difference, williams_test
from earwitness.stats.arrays import Floats
from helpers.samples import many


def correlated(table: Floats) -> Floats:
    return np.asarray(np.corrcoef(table.T))


def rounded(found: Difference, digits: int = 4) -> list[float]:
    return [round(float(x), digits) for x in found]


def test_silver_hittner_and_may_have_their_published_values() -> None:
    # Silver, Hittner & May (2006), as the R package cocor 1.1 tests itself: n = 100, .3 .4 .5
    assert rounded(williams_test(0.3, 0.4, 0.5, 100)) == [-1.0767, 0.2843]


def test_steigers_case_a_has_its_value() -> None:
    # Steiger (1980), p. 249, n = 103
    # Williams by hand: |R| = 1 − .16 − .25 − .01 + .04 = .62; 102·1.1 = 112.2;
    # 2·(102/100)·.62 + .45²·.9³ = 1.2648 + .1476225; t = −.1·√(112.2 / 1.4124225)
    by_hand = -0.1 * math.sqrt(112.2 / 1.4124225)
    assert float(williams_test(0.4, 0.5, 0.1, 103).statistic) == pytest.approx(by_hand, abs=1e-12)


def test_arrays_give_what_their_members_give() -> None:
    rng = np.random.default_rng(1)
    tables = rng.normal(size=(40, 25, 3)) + rng.normal(size=(40, 25, 1))
    r = np.array([correlated(table) for table in tables])
    together = williams_test(r[:, 0, 1], r[:, 0, 2], r[:, 1, 2], 25)
    singly = [williams_test(each[0, 1], each[0, 2], each[1, 2], 25) for each in r]
    assert together.statistic.tolist() == [float(each.statistic) for each in singly]
    assert together.p.tolist() == [float(each.p) for each in singly]
    turned = williams_test(r[:, 0, 2], r[:, 0, 1], r[:, 1, 2], 25)
    assert together.statistic == pytest.approx(-turned.statistic)


def plain_williams(table: Floats) -> tuple[float, float]:
    """From points to t, as Steiger (1980) writes it, with the determinant of the correlations."""
    r = correlated(table)
    n, mean = len(table), (r[0, 1] + r[0, 2]) / 2
    above = (n - 1) * (1 + r[1, 2])
    below = 2 * (n - 1) / (n - 3) * np.linalg.det(r) + mean**2 * (1 - r[1, 2]) ** 3
    t = (r[0, 1] - r[0, 2]) * math.sqrt(above / below)
    return t, 2 * stats.t.sf(abs(t), n - 3)


def test_the_plain_twin_gives_the_same() -> None:
    rng = np.random.default_rng(2)
    for _ in range(many(30, 500)):
        n = int(rng.integers(4, 40))
        table = rng.normal(size=(n, 3)) + rng.normal(size=(n, 1)) * rng.random()
        r = correlated(table)
        difference = williams_test(r[0, 1], r[0, 2], r[1, 2], n)
        expected = plain_williams(table)
        assert [float(x) for x in difference] == pytest.approx(expected, rel=1e-6, abs=1e-9)


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
    runs, slack = many(2000, 20000), {12: 0.012, 40: 0.002}
    r = correlations(runs, n, people, metrics, 5)
    size = float((williams_test(r[0], r[1], r[2], n).p < 0.05).mean())
    assert abs(size - 0.05) < 4 * math.sqrt(0.0475 / runs) + slack[n]


def test_what_is_undefined_has_no_number_and_metrics_that_are_the_same_do_not_differ() -> None:
    assert [math.isnan(x) for x in williams_test(0.5, 0.5, 1.0, 20)] == [True, False]
    assert float(williams_test(0.5, 0.5, 1.0, 20).p) == 1
    for impossible in ((0.5, 0.4, 0.3, 3), (np.nan, 0.4, 0.3, 20), (0.9, -0.9, 0.9, 20)):
        assert np.isnan(williams_test(*impossible).statistic), impossible
        assert np.isnan(williams_test(*impossible).p), impossible
    assert float(williams_test(0.5, 0.5, 0.2, 20).p) == 1
