"""The monotonic mapping: a slow plain search, plain least squares, and what must hold of any."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import polynomial

from earwitness.metaeval.mapping import Fit, fit_mapping
from earwitness.stats.arrays import Floats
from helpers.samples import many


def error(found: Fit, scores: Floats, people: Floats) -> float:
    return float(((people - found.map_scores(scores)) ** 2).sum())


def searched(scores: Floats, people: Floats, direction: int) -> float:
    """The least error of a cubic whose slope has one sign at each of 401 places."""
    from scipy.optimize import nnls

    u = 2 * (scores - scores.min()) / (scores.max() - scores.min()) - 1
    powers = polynomial.polyvander(u, 3)[:, 1:]
    grid = np.linspace(-1, 1, 401)
    slope = direction * np.stack([np.ones(401), 2 * grid, 3 * grid**2], axis=1)
    centred, y = powers - powers.mean(axis=0), people - people.mean()
    # The nearest point of a cone: what separates it from the point itself is a mix of the walls.
    q, r = np.linalg.qr(centred)
    walls = slope @ np.linalg.inv(r)
    wanted = q.T @ y
    mix, _ = nnls(walls.T, -wanted)
    nearest = wanted + walls.T @ mix
    assert (walls @ nearest).min() > -1e-7 * max(1, abs(walls).max())
    return float(((y - q @ nearest) ** 2).sum())


def cloud(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Points of many shapes: rising, falling, turning, bent at an end, noise alone."""
    x = rng.normal(size=n) if rng.random() < 0.5 else rng.random(n)
    shape = polynomial.polyval(x, rng.normal(size=4) * [1, 1, 1.5, 1.5])
    return x, shape + rng.normal(size=n) * rng.choice([0, 0.1, 2])


def test_no_cubic_of_a_dense_search_fits_better() -> None:
    rng = np.random.default_rng(1)
    bound = 0
    for _ in range(many(30, 1000)):
        x, y = cloud(rng, int(rng.integers(5, 40)))
        spread = float(((y - y.mean()) ** 2).sum())
        for direction in (1, -1):
            found = fit_mapping(x, y, 3, direction)
            slow = searched(x, y, direction)  # its places leave a little room to turn between them
            assert error(found, x, y) == pytest.approx(slow, rel=0, abs=2e-5 * spread)
            assert error(found, x, y) >= slow - 1e-7 * spread
            bound += found.bound
        best = min(error(fit_mapping(x, y, 3, sign), x, y) for sign in (1, -1))
        assert error(fit_mapping(x, y, 3), x, y) == pytest.approx(best, rel=1e-9, abs=1e-9)
    assert bound > 20


@given(st.integers(0, 2**32 - 1), st.integers(5, 60))
@settings(max_examples=many(20, 1000), deadline=None)
def test_a_mapping_never_turns_and_is_no_worse_than_a_line(seed: int, n: int) -> None:
    x, y = cloud(np.random.default_rng(seed), n)
    found, line = fit_mapping(x, y, 3), fit_mapping(x, y, 1)
    steps = np.diff(found.map_scores(np.linspace(found.low, found.high, 1001)))
    assert (steps * found.direction >= -1e-9 * max(1, float(np.ptp(y)))).all()
    assert error(found, x, y) <= error(line, x, y) * (1 + 1e-9) + 1e-12
    plain = np.polynomial.Polynomial.fit(x, y, 3)
    if not found.bound:
        assert np.allclose(
            found.map_scores(x), plain(x), rtol=0, atol=1e-8 * max(1, float(np.ptp(y)))
        )
    else:
        slope = plain.deriv()(np.linspace(x.min(), x.max(), 20001))
        assert slope.min() < 1e-6
        assert slope.max() > -1e-6


@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100), st.floats(-1000, 1000))
@settings(max_examples=many(20, 500), deadline=None)
def test_the_unit_and_the_direction_of_scores_change_nothing(
    seed: int, unit: float, shift: float
) -> None:
    x, y = cloud(np.random.default_rng(seed), 20)
    plain, changed = fit_mapping(x, y, 3), fit_mapping(x * unit + shift, y, 3)
    turned = fit_mapping(-x, y, 3)
    wide = 1e-5 * max(1, float(np.ptp(y)))
    assert np.allclose(plain.map_scores(x), changed.map_scores(x * unit + shift), rtol=0, atol=wide)
    assert np.allclose(plain.map_scores(x), turned.map_scores(-x), rtol=0, atol=wide)
    assert (turned.direction, turned.bound) == (-plain.direction, plain.bound)


@pytest.mark.parametrize(
    ("terms", "way"),
    [
        ([3, 1, 1 / 2, 0], "the slope is 0 at −1"),
        ([3, 1, -1 / 2, 0], "the slope is 0 at 1"),
        ([3, 1, 0, -1 / 3], "the slope is 0 at both"),
        ([3, 0.27, -0.9, 1], "the slope is 0 twice at 0.3"),
        ([3, 0, 0, -1], "falls, the slope is 0 twice at 0"),
    ],
)
def test_each_way_to_touch_is_found_again(terms: list[float], way: str) -> None:
    x = np.linspace(-1, 1, 9)
    y = polynomial.polyval(x, np.array(terms))
    found = fit_mapping(x, y, 3)
    assert np.allclose(found.terms, terms, atol=1e-7), way


def test_hand_counted_turning_points_give_the_mean_or_half_a_bow() -> None:
    # u = −1, −½, 0, ½, 1 and y = u²: even, so every odd term is 0 and plain least squares is u².
    # A cubic that rises: by hand its best is (1 + u)(a + bu) as slope, or the mirror image of it.
    x, y = np.array([0.0, 1, 2, 3, 4]), np.array([1, 0.25, 0, 0.25, 1])
    rising, falling = fit_mapping(x, y, 3, 1), fit_mapping(x, y, 3, -1)
    assert error(rising, x, y) == pytest.approx(error(falling, x, y), rel=1e-12)
    assert np.allclose(rising.map_scores(x), falling.map_scores(x)[::-1], atol=1e-12)
    # (u − t)³: centred powers have G = [[5/2, 0, 17/8], [0, 7/8, 0], [17/8, 0, 65/32]], products
    # with y (0, 7/8, 0). A = −21/8·t, B = 9·5/2·t⁴ + (63/8 + 51/4)t² + 65/32; A²/B is largest
    # where t⁴ = 65/720, A²/B = (441/64)/(2·√(45/2·65/32) + 165/8)
    best = 0.875 - (441 / 64) / (2 * (45 / 2 * 65 / 32) ** 0.5 + 165 / 8)
    assert error(rising, x, y) == pytest.approx(best, rel=1e-9)
    assert rising.bound


def test_few_points_have_fewer_terms() -> None:
    x, y = np.arange(6.0), np.array([1.0, 2, 2, 4, 4, 5])
    assert fit_mapping(x, y, 3).order == 3
    assert fit_mapping(x[:4], y[:4], 3).order == 1  # four terms for four points
    assert fit_mapping(np.array([0.0, 1, 2, 0, 1, 2]), y, 3).order == 1  # three different scores
    assert fit_mapping(np.array([0.0, 1, 0, 1, 0, 1]), y, 3).order == 1
    flat = fit_mapping(x[:2], y[:2], 3)
    assert (flat.order, flat.terms, flat.direction) == (0, (1.5,), 0)
    same = fit_mapping(np.full(6, 2.0), y, 1)
    assert (same.order, same.map_scores(np.array([2.0])).tolist()) == (0, [3.0])
    level = fit_mapping(x, np.full(6, 3.0), 3)
    assert (level.direction, level.order, level.flat, flat.flat) == (0, 0, True, False)


def test_unknown_points_are_left_out_and_a_score_beyond_the_range_has_no_value() -> None:
    x = np.array([np.nan, 0, 1, 2, 3, 4, 9, np.inf])
    y = np.array([1, 1, 2, 3, 4, 5, np.nan, 3])
    found = fit_mapping(x, y, 3)
    assert (found.low, found.high) == (0, 4)
    assert np.allclose(found.map_scores(x), [np.nan, 1, 2, 3, 4, 5, np.nan, np.nan], equal_nan=True)
    nothing = fit_mapping(np.full(3, np.nan), np.ones(3), 3)
    assert nothing.order == 0
    assert np.isnan(nothing.map_scores(np.ones(2))).all()


def test_a_direction_that_the_points_have_not_gives_the_mean() -> None:
    x = np.arange(6.0)
    assert fit_mapping(x, -x, 1, 1).terms == (-2.5,)
    assert fit_mapping(x, -x, 1).direction == -1
    wrong = fit_mapping(x, -x, 3, 1)
    assert (wrong.direction, wrong.bound, wrong.order, wrong.flat) == (0, True, 0, True)
    assert np.allclose(wrong.map_scores(x), -2.5)


def test_other_orders_are_refused() -> None:
    with pytest.raises(ValueError, match="order must be 1 or 3, got 2"):
        fit_mapping(np.arange(5.0), np.arange(5.0), 2)


def test_equal_ratings_have_no_slope_of_rounding() -> None:
    fit = fit_mapping(np.random.default_rng(1).normal(size=12), np.full(12, 4.7), 3)
    assert len(fit.terms) == 1
    assert fit.terms[0] == pytest.approx(4.7)
