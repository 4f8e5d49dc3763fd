"""P.1401's numbers: one example computed by hand, SciPy, coverage, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from earwitness.metaeval.mapping import measure_accuracy, outlier_ratio, pearson, rmse, rmse_star
from earwitness.stats.arrays import Floats
from helpers.samples import many

# By hand (numbers of published programs are in test_p1401_published):
# scores x 1 2 3 4 5, people y 1 3 2 5 4; x̄ = ȳ = 3, Sxx = Syy = 10,
# Sxy = (−2)(−2) + (−1)(0) + 0(−1) + 1·2 + 2·1 = 8, so r = 0.8, slope 0.8, line 0.6 + 0.8x.
SCORES = np.array([1.0, 2, 3, 4, 5])
PEOPLE = np.array([1.0, 3, 2, 5, 4])
WIDTHS = np.array([0.5, 0.5, 1.2, 1.0, 0.5])


def test_an_example_by_hand_with_a_line() -> None:
    found = measure_accuracy(SCORES, PEOPLE, WIDTHS, mapping="linear")
    # the line at x: 1.4 2.2 3.0 3.8 4.6; errors −0.4 0.8 −1.0 1.2 −0.6
    assert np.allclose(found.residuals, [-0.4, 0.8, -1.0, 1.2, -0.6], atol=1e-12)
    # Σe² = 0.16 + 0.64 + 1 + 1.44 + 0.36 = 3.6 (and 10·(1 − 0.8²) = 3.6); 3.6 / (5 − 2) = 1.2
    assert found.d == 2
    assert found.rmse.value == pytest.approx(math.sqrt(1.2), abs=1e-12)
    # beyond the widths: 0 0.3 0 0.2 0.1; Σ = 0.09 + 0.04 + 0.01 = 0.14; 0.14 / 3
    assert found.rmse_star.value == pytest.approx(math.sqrt(0.14 / 3), abs=1e-12)
    # three of five are outside
    assert found.outliers.value == 0.6
    # z = ½ ln(1.8 / 0.2) = ln 3; ± 1.959964 / √2
    half = 1.959963984540054 / math.sqrt(2)
    assert found.pearson.value == pytest.approx(0.8, abs=1e-12)
    assert found.pearson.low == pytest.approx(math.tanh(math.log(3) - half), abs=1e-12)
    assert found.pearson.high == pytest.approx(math.tanh(math.log(3) + half), abs=1e-12)
    assert {each.n for each in (found.pearson, found.rmse, found.rmse_star, found.outliers)} == {5}


def test_the_same_example_without_a_mapping() -> None:
    found = measure_accuracy(SCORES, PEOPLE, WIDTHS, mapping="none")
    # errors 0 1 −1 1 −1: Σe² = 4, 4 / (5 − 1) = 1; beyond 0 0.5 0 0 0.5: 0.5 / 4
    assert (found.mapping, found.d, found.rmse.value) == (None, 1, 1.0)
    assert found.rmse_star.value == pytest.approx(math.sqrt(0.125), abs=1e-12)
    assert found.outliers.value == 0.4  # an error as large as the width is not outside


def test_an_example_by_hand_with_a_cubic() -> None:
    found = measure_accuracy(SCORES, np.array([1.0, 2, 3, 3, 5]), WIDTHS, mapping="cubic")
    # ȳ = 2.8, Syy = 48 − 39.2 = 8.8. Terms that are orthogonal on c = x − 3, with y:
    # c: Σ 10, product −2 − 2 + 3 + 10 = 9, takes 81/10;
    # c² − 2: Σ 14, product 2 − 2 − 6 − 3 + 10 = 1, takes 1/14;
    # (5c³ − 17c)/6: Σ 10, product −1 + 4 − 6 + 5 = 2, takes 4/10.
    # The slope 9/10 + c/7 + (15c² − 17)/30 is least at c = −1/7, where it is 1/3 − 1/98 > 0.
    assert found.mapping is not None
    assert (found.mapping.bound, found.d) == (False, 4)
    assert found.rmse.value == pytest.approx(math.sqrt(8.8 - 8.1 - 1 / 14 - 0.4), abs=1e-9)
    # r² = 1 − Σe² / Syy for least squares
    assert found.pearson.value == pytest.approx(math.sqrt(1 - (0.3 - 1 / 14) / 8.8), abs=1e-9)


def test_a_metric_that_falls_has_a_positive_correlation_once_mapped() -> None:
    up = measure_accuracy(SCORES, PEOPLE, WIDTHS, mapping="linear")
    down = measure_accuracy(-SCORES, PEOPLE, WIDTHS, mapping="linear")
    assert down.mapping is not None
    assert down.mapping.direction == -1
    assert np.allclose(up.residuals, down.residuals, atol=1e-12)
    assert down.pearson.value == pytest.approx(0.8, abs=1e-12)
    raw = measure_accuracy(-SCORES, PEOPLE, WIDTHS, mapping="none")
    assert raw.pearson.value == pytest.approx(-0.8, abs=1e-12)
    low = measure_accuracy(-SCORES, PEOPLE, WIDTHS, mapping="none", direction=-1)
    assert low.pearson.value == pytest.approx(0.8, abs=1e-12)
    assert np.allclose(low.residuals, PEOPLE + SCORES)


def test_a_metric_against_its_direction_has_a_flat_mapping_of_one_number() -> None:
    found = measure_accuracy(-SCORES, PEOPLE, WIDTHS, direction=1)
    # the mean is 3; errors −2 0 −1 2 1: Σe² = 10, 10 / (5 − 1)
    assert found.d == 1
    assert found.rmse.value == pytest.approx(math.sqrt(2.5))
    assert math.isnan(found.pearson.value)


def test_fewer_terms_take_fewer_degrees_of_freedom() -> None:
    found = measure_accuracy(SCORES[:4], PEOPLE[:4], WIDTHS[:4], mapping="cubic")
    assert found.mapping is not None
    assert (found.mapping.order, found.d) == (1, 2)
    assert (
        found.rmse.value
        == measure_accuracy(SCORES[:4], PEOPLE[:4], WIDTHS[:4], mapping="linear").rmse.value
    )


def test_unknown_widths_are_counted_and_leave_the_rest_alone() -> None:
    widths = np.array([0.5, np.nan, 1.2, 1.0, np.nan])
    found = measure_accuracy(SCORES, PEOPLE, widths, mapping="linear")
    assert found.rmse.value == pytest.approx(math.sqrt(1.2))
    # errors −0.4 −1.0 1.2 are left, beyond 0 0 0.2: 0.04 / (3 − 2)
    assert found.rmse_star.value == pytest.approx(0.2)
    assert found.rmse_star.n == 3
    assert found.rmse_star.undefined == found.outliers.undefined == 2
    assert found.outliers.value == pytest.approx(1 / 3)
    none = measure_accuracy(SCORES, PEOPLE, np.full(5, np.nan), mapping="linear")
    assert math.isnan(none.rmse_star.value)
    assert math.isnan(none.outliers.value)
    assert (none.outliers.n, none.outliers.undefined) == (0, 5)


def test_unknown_points_are_counted() -> None:
    scores, people = np.append(SCORES, [np.nan, 3, np.inf]), np.append(PEOPLE, [2, np.nan, 2])
    for mapping in ("none", "linear", "cubic"):
        less = measure_accuracy(SCORES, PEOPLE, WIDTHS, mapping=mapping)
        more = measure_accuracy(scores, people, np.append(WIDTHS, [1, 1, 1]), mapping=mapping)
        for name in ("pearson", "rmse", "rmse_star", "outliers"):
            a, b = getattr(less, name), getattr(more, name)
            assert (a.value, a.low, a.n, 3) == pytest.approx(
                (b.value, b.low, b.n, b.undefined), nan_ok=True
            )
        assert np.isnan(more.residuals[5:]).all()


def test_too_few_points_and_values_that_do_not_differ_have_no_numbers() -> None:
    two = measure_accuracy(SCORES[:2], PEOPLE[:2], WIDTHS[:2], mapping="linear")
    assert two.d == 1  # the mean of two
    assert math.isnan(two.pearson.value)
    nothing = measure_accuracy(np.full(3, np.nan), np.ones(3), np.ones(3), mapping="cubic")
    assert math.isnan(nothing.rmse.value)
    assert (nothing.rmse.n, nothing.rmse.undefined) == (0, 3)
    same = pearson(np.full(5, 0.1), SCORES)
    assert math.isnan(same.value)
    assert math.isnan(same.low)
    three = pearson(SCORES[:3], PEOPLE[:3])
    assert three.value == pytest.approx(0.5)
    assert math.isnan(three.low)
    perfect = pearson(SCORES, SCORES)
    assert perfect.value == pytest.approx(1, abs=1e-12)
    assert perfect.high == pytest.approx(1, abs=1e-7)


def test_the_correlation_is_that_of_scipy_also_in_its_interval() -> None:
    rng = np.random.default_rng(3)
    for n in (4, 9, 60):
        x, y = rng.normal(size=(2, n))
        peer = stats.pearsonr(x, y)
        low, high = peer.confidence_interval(0.9)
        found = pearson(x, y, 0.9)
        assert (found.value, found.low, found.high) == pytest.approx((peer.statistic, low, high))


@pytest.mark.simulation
def test_the_interval_of_the_rmse_covers_as_often_as_it_says() -> None:
    rng = np.random.default_rng(4)
    runs, n = many(500, 5000), 12
    hits = 0
    for _ in range(runs):
        x = rng.normal(size=n)
        y = 2 + x + 0.7 * rng.normal(size=n)
        found = measure_accuracy(x, y, np.ones(n), mapping="linear", level=0.9).rmse
        hits += found.low < 0.7 < found.high
    assert abs(hits / runs - 0.9) < 4 * math.sqrt(0.09 / runs)


def plain(errors: Floats, widths: Floats, d: int) -> tuple[float, float, float]:
    """RMSE, RMSE* and outliers in plain loops over points where all is known."""
    squares = beyond = outside = 0.0
    for error, width in zip(errors.tolist(), widths.tolist(), strict=True):
        squares += error * error
        beyond += max(0.0, abs(error) - width) ** 2
        outside += abs(error) > width
    n = len(errors)
    return math.sqrt(squares / (n - d)), math.sqrt(beyond / (n - d)), outside / n


def test_plain_loops_give_the_same() -> None:
    rng = np.random.default_rng(5)
    for _ in range(many(20, 200)):
        n = int(rng.integers(5, 30))
        errors, widths = rng.normal(size=n), rng.random(n)
        found = rmse(errors, 4), rmse_star(errors, widths, 4), outlier_ratio(errors, widths)
        assert [each.value for each in found] == pytest.approx(plain(errors, widths, 4))
        assert found[1].value <= found[0].value


def test_other_mappings_are_refused() -> None:
    with pytest.raises(ValueError, match="one of none, linear, cubic, got logistic"):
        measure_accuracy(SCORES, PEOPLE, WIDTHS, mapping="logistic")
