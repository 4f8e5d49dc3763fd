"""Coefficients: hand sums, scipy, loops over draws, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from earwitness.metaeval.coefficients import (
    COEFFICIENTS,
    ScoreRatingSample,
    coefficient_names,
    compute_coefficients,
)
from earwitness.stats.arrays import Floats
from helpers.plain_coefficients import coefficient
from helpers.samples import many

NAMES = list(COEFFICIENTS)


def sample(x: object, y: object, w: object = None) -> ScoreRatingSample:
    """One group, one metric, one draw."""
    scores = np.array([[x]], np.float64)
    weights = np.ones(scores.shape) if w is None else np.array([[w]], np.float64)
    return ScoreRatingSample(scores, np.array([[y]], np.float64), weights)


def one(name: str, x: object, y: object, w: object = None) -> float:
    return float(compute_coefficients(sample(x, y, w), [name])[0, 0, 0, 0])


def test_every_coefficient_is_its_hand_sum() -> None:
    # Pairs (see test_pairs): 7 concordant, none discordant, 1 tied in each, 1 in both, 10 in all.
    x, y = [1, 1, 2, 3, 3], [1, 2, 2, 4, 4]
    assert one("kendall_b", x, y) == pytest.approx(7 / 8)  # 7 / √(8 · 8)
    assert one("kendall_c", x, y) == pytest.approx(14 / (25 * 2 / 3))  # three values on both sides
    assert one("acc_23", x, y) == pytest.approx(8 / 10)
    assert one("tau_23", x, y) == pytest.approx((7 + 1 - 0 - 1 - 1) / 10)
    assert one("pairwise_accuracy", x, y) == pytest.approx(7 / 8)
    # From the means 2 and 2.6: products 1.6 + 0.6 + 0 + 1.4 + 1.4 = 5, squares 4 and 7.2.
    assert one("pearson", x, y) == pytest.approx(5 / math.sqrt(4 * 7.2))
    # Midranks 1.5 1.5 3 4.5 4.5 and 1 2.5 2.5 4.5 4.5, from 3: products 3 + 0.75 + 0 + 2.25 + 2.25.
    assert one("spearman", x, y) == pytest.approx(8.25 / math.sqrt(9 * 9))


def test_a_tie_of_the_metric_alone_is_wrong_for_pairwise_accuracy() -> None:
    assert one("pairwise_accuracy", [1, 1, 1], [1, 2, 2]) == 0
    assert math.isnan(one("pairwise_accuracy", [1, 2, 3], [1, 1, 1]))


def rows(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    highest = int(rng.choice([2, 4, 10**6]))
    return rng.integers(0, highest, n).astype(np.float64), rng.integers(0, 5, n).astype(np.float64)


@pytest.mark.peer
def test_values_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(many(60, 2000)):
        n = int(rng.choice([2, 3, 5, 20, 64, 65, 200, 800]))
        x, y = rows(rng, n)
        if len(set(x)) < 2 or len(set(y)) < 2:
            continue
        theirs = {
            "pearson": stats.pearsonr(x, y).statistic,
            "spearman": stats.spearmanr(x, y).statistic,
            "kendall_b": stats.kendalltau(x, y, variant="b").statistic,
            "kendall_c": stats.kendalltau(x, y, variant="c").statistic,
        }
        for name, value in theirs.items():
            assert one(name, x, y) == pytest.approx(value, abs=1e-12)


def test_correlations_of_neighbours_far_from_the_rest_keep_their_digits() -> None:
    # The draw leaves out the second thing, which is far away: sums of squares nearly cancel.
    x = np.array([[[110519.0, 6119.0, 110526.0]]])
    y = np.array([[[0.0, 3.0, 3.0]]])
    weights = np.array([[[1.0, 0.0, 2.0]]])
    [value] = compute_coefficients(ScoreRatingSample(x, y, weights), ["pearson"]).ravel()
    assert value == pytest.approx(1, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 12), st.sampled_from([1, 2, 4, 10**6]))
@example(308, 3, 10**6)
def test_all_draws_and_metrics_are_what_loops_find(seed: int, n: int, highest: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, highest, (2, 3, n)) / 7
    y = rng.integers(0, 4, (2, 4, n)) / 7
    w = rng.multinomial(n, [1 / n] * n, (2, 4)).astype(np.float64)
    found = compute_coefficients(ScoreRatingSample(x, y, w), NAMES)
    for place in np.ndindex(found.shape):
        name, group, draw, metric = place
        picked = np.repeat(np.arange(n), w[group, draw].astype(int)).tolist()
        twin = coefficient(NAMES[name], x[group, metric].tolist(), y[group, draw].tolist(), picked)
        assert found[place] == pytest.approx(twin, abs=1e-9, nan_ok=True)


def test_many_things_in_a_draw_are_what_loops_find() -> None:
    rng, n = np.random.default_rng(2), 90
    for highest in (3, 10**6):
        x, y = rng.integers(0, highest, n), rng.integers(0, 9, n)
        w = rng.multinomial(n, [1 / n] * n)
        picked = np.repeat(np.arange(n), w).tolist()
        for name in NAMES:
            twin = coefficient(name, x.tolist(), y.tolist(), picked)
            assert one(name, x, y, w) == pytest.approx(twin, abs=1e-12)


@pytest.mark.parametrize("name", ["pearson", "spearman", "kendall_b", "kendall_c"])
def test_no_spread_no_correlation(name: str) -> None:
    third = 0.1 + 0.2
    assert math.isnan(one(name, [third] * 3, [1, 2, 3]))
    assert math.isnan(one(name, [1, 2, 3], [third] * 3))
    drawn = [2, 1, 0]  # without the one that differs
    assert math.isnan(one(name, [third, third, 9], [1, 2, 3], drawn))
    assert math.isnan(one(name, [1], [1]))
    assert math.isnan(one(name, [1, 2], [1, 2], [2, 0]))


@pytest.mark.parametrize("name", ["acc_23", "tau_23", "pairwise_accuracy"])
def test_fewer_than_two_things_have_no_accuracy(name: str) -> None:
    assert math.isnan(one(name, [1, 2], [1, 2], [2, 0]))


def test_two_points_make_a_full_correlation_and_say_that_they_are_two() -> None:
    assert one("pearson", [1, 2, 0], [5, 3, 9], [1, 1, 0]) == pytest.approx(-1)
    assert sample([1, 2, 0], [5, 3, 9], [1, 1, 0]).things.tolist() == [[2]]


@pytest.mark.parametrize("name", NAMES)
def test_values_stay_in_range_and_chance_is_between(name: str) -> None:
    which, rng = COEFFICIENTS[name], np.random.default_rng(4)
    x, y = rng.normal(size=(1, many(200, 5000), 8)), rng.normal(size=(1, 1, 8))
    found = compute_coefficients(ScoreRatingSample(x, y, np.ones((1, 1, 8))), [name])
    assert which.low <= found.min() < which.middle < found.max() <= 1
    # Eight things: a coefficient by chance has a standard deviation below 0.4.
    assert found.mean() == pytest.approx(which.middle, abs=4 * 0.4 / math.sqrt(found.size))
    assert one(name, [1, 2, 3], [1, 2, 3]) == 1
    assert one(name, [1, 2, 3], [3, 2, 1]) == which.low


def test_pairwise_accuracy_is_of_systems_only() -> None:
    assert set(coefficient_names("system")) - set(coefficient_names("item")) == {
        "pairwise_accuracy"
    }
    assert coefficient_names("item") == coefficient_names("global")
