"""Means adjusted for items are those of least squares; two equal listeners have no interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t

from earwitness.stats.arrays import Floats
from earwitness.stats.means import ITEM_ADJUSTED, estimate_means
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Votes
from helpers.simulated_votes import drawn


def test_two_listeners_who_agree_have_no_interval() -> None:
    values = np.array([4.0, 4.0, 2.0, 3.0])
    votes = Votes(
        values, np.array([0, 0, 1, 1]), np.zeros(4, np.int64), np.array([0, 1, 0, 1]), (2, 1, 2)
    )
    for method in ("cluster_t", "naive_t"):
        same, other = estimate_means(votes, method)
        assert same.value == 4
        assert math.isnan(same.low)
        assert math.isnan(same.high)
        assert other.low < 2.5 < other.high


def additive_means(votes: Votes) -> Floats:
    """System effects plus the mean item effect, by least squares on indicators."""
    items = np.unique(votes.items)
    columns = [votes.systems == system for system in range(votes.size[0])]
    columns += [votes.items == item for item in items]
    effects = np.linalg.lstsq(np.array(columns, float).T, votes.values)[0]
    return np.asarray(effects[: votes.size[0]] + effects[votes.size[0] :].mean())


def test_means_adjusted_for_items_are_those_of_least_squares_with_a_jackknife() -> None:
    rng = np.random.default_rng(4)
    whole = drawn(rng, Components(0.5, 0.8, 0.2, 0.0, 0.5), np.array([2.0, 3.0, 3.5]), 6, 8)
    votes = whole.select(rng.random(len(whole.values)) < 0.5 + 0.4 * (whole.items % 2 == 0))
    found = estimate_means(votes, ITEM_ADJUSTED)
    assert [one.value for one in found] == pytest.approx(additive_means(votes).tolist())
    without = np.array([additive_means(votes.select(votes.listeners != n)) for n in range(8)])
    error = np.sqrt(((without - without.mean(axis=0)) ** 2).sum(axis=0) * 7 / 8)
    for one, expected in zip(found, error, strict=True):
        assert one.high - one.value == pytest.approx(float(expected) * t.ppf(0.975, one.n - 1))
        assert (one.method, one.level) == (ITEM_ADJUSTED, 0.95)


def test_complete_designs_are_not_changed_by_the_adjustment() -> None:
    rng = np.random.default_rng(5)
    votes = drawn(rng, Components(0.5, 0.8, 0.2, 0.3, 0.5), np.array([2.0, 3.0, 3.5]), 6, 8)
    pairs = zip(
        estimate_means(votes, ITEM_ADJUSTED), estimate_means(votes, "cluster_t"), strict=True
    )
    for adjusted, plain in pairs:
        expected = (plain.value, plain.low, plain.high, plain.n)
        assert (adjusted.value, adjusted.low, adjusted.high, adjusted.n) == pytest.approx(expected)


def test_systems_without_common_items_cannot_be_adjusted() -> None:
    rng = np.random.default_rng(6)
    votes = drawn(rng, Components(residual=1.0), np.zeros(4), 6, 5)
    apart = votes.select((votes.items < 3) == (votes.systems < 2))
    assert all(math.isnan(one.value) for one in estimate_means(apart, ITEM_ADJUSTED))
    only = votes.select(votes.systems != 2)
    values = [one.value for one in estimate_means(only, ITEM_ADJUSTED)]
    assert [math.isnan(value) for value in values] == [False, False, True, False]


def test_one_listener_or_one_system_is_adjusted_without_others() -> None:
    rng = np.random.default_rng(7)
    votes = drawn(rng, Components(residual=1.0), np.zeros(3), 6, 5)
    alone = estimate_means(votes.select(votes.listeners == 0), ITEM_ADJUSTED)
    assert all(math.isfinite(one.value) and math.isnan(one.low) for one in alone)
    (system, *_) = estimate_means(votes.select(votes.systems == 0), ITEM_ADJUSTED)
    (plain, *_) = estimate_means(votes.select(votes.systems == 0), "cluster_t")
    assert (system.value, system.low) == pytest.approx((plain.value, plain.low))
