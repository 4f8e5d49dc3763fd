"""Slopes of listeners are those of one plain least-squares fit with a column for everything."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness.stats.effects import fit_listener_means, fit_listener_slopes
from earwitness.stats.means import group_difference, mean_over_listeners

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def dummies(codes: Codes) -> Floats:
    return np.asarray(codes[:, None] == np.arange(int(codes.max()) + 1), np.float64)


def plain_slopes(
    values: Floats, listeners: Codes, columns: Floats, means: tuple[Codes, ...]
) -> Floats:
    """A column for every mean, every listener, and every slope of every listener, all at once.

    A slope is told by the votes if no change of it can be made good by other columns.
    """
    own = dummies(listeners)
    slopes = [own[:, [n]] * columns for n in range(own.shape[1])]
    table = np.concatenate([*map(dummies, means), own, *slopes], axis=1)
    solved = np.linalg.lstsq(table, values, rcond=1e-10)[0]
    count = own.shape[1] * columns.shape[1]
    for k in range(table.shape[1] - count, table.shape[1]):
        others = np.delete(table, k, axis=1)
        left = table[:, k] - others @ np.linalg.lstsq(others, table[:, k], rcond=1e-10)[0]
        if np.abs(left).max() < 1e-7:
            solved[k] = np.nan
    return np.asarray(solved[-count:].reshape(-1, columns.shape[1]))


@given(st.integers(0, 10**6), st.booleans(), st.integers(1, 2))
def test_slopes_are_those_of_one_plain_fit(seed: int, additive: bool, effects: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    listeners, items, systems = (rng.integers(0, k, n) for k in (4, 5, 3))
    listeners[0] = 3  # all codes up to the last are known
    columns = rng.integers(0, 4, (n, effects)) / 3
    means = (items, systems) if additive else (items * 3 + systems,)
    values = rng.normal(3, 1, n)
    found = fit_listener_slopes(values, listeners, columns, means, 4).values
    want = plain_slopes(values, listeners, columns, means)
    want[~np.isin(np.arange(4), listeners)] = np.nan
    assert found == pytest.approx(want, abs=1e-6, nan_ok=True)


def test_one_order_for_all_tells_nothing() -> None:
    """Place and stimulus are one and the same."""
    stimuli, listeners = np.tile(np.arange(10), 4), np.repeat(np.arange(4), 10)
    place = (stimuli / 9)[:, None]
    values = np.random.default_rng(1).normal(size=40)
    found = fit_listener_slopes(values, listeners, place, (stimuli,), 4)
    assert np.isnan(found.values).all()


def test_a_slope_that_all_share_moves_every_slope_by_as_much() -> None:
    rng = np.random.default_rng(3)
    stimuli, listeners = np.tile(np.arange(10), 4), np.repeat(np.arange(4), 10)
    place = np.concatenate([rng.permutation(10) for _ in range(4)])[:, None] / 9
    values = rng.normal(size=40)
    before = fit_listener_slopes(values, listeners, place, (stimuli,), 4)
    after = fit_listener_slopes(values - 2 * place[:, 0], listeners, place, (stimuli,), 4)
    assert after.values == pytest.approx(before.values - 2, abs=1e-9)


def test_the_interval_is_widened_by_what_the_covariance_of_slopes_says() -> None:
    rng = np.random.default_rng(2)
    orders = [np.argsort(np.argsort(np.arange(20) + rng.normal(0, 3, 20))) for _ in range(5)]
    stimuli, listeners = np.tile(np.arange(20), 5), np.repeat(np.arange(5), 20)
    place = np.concatenate(orders)[:, None] / 19
    found = fit_listener_slopes(rng.normal(size=100), listeners, place, (stimuli,), 5)
    own = dummies(listeners)
    table = np.concatenate([dummies(stimuli), own[:, 1:], own * place], axis=1)
    covariance = np.linalg.inv(table.T @ table)[-5:, -5:]
    of_mean = covariance.sum() / 25
    told = (np.trace(covariance) - covariance.sum() / 5) / 4 / 5
    assert found.widening[0] == pytest.approx(math.sqrt(of_mean / told))
    assert found.widening[0] > 1.5


def test_without_votes_slopes_are_undefined() -> None:
    none = np.zeros(0, np.int64)
    found = fit_listener_slopes(np.zeros(0), none, np.zeros((0, 1)), (none,), 3)
    assert found.values.shape == (3, 1)
    assert np.isnan(found.values).all()
    assert np.isnan(fit_listener_means(np.zeros(0), none, (none,), 2)).all()


def test_means_of_listeners_are_compared_on_what_both_heard() -> None:
    """The second listener heard the better half only, and is half a point stricter."""
    listeners = np.array([0, 0, 0, 0, 1, 1])
    stimuli = np.array([0, 1, 2, 3, 2, 3])
    values = np.array([1, 2, 4, 5, 3.5, 4.5])
    found = fit_listener_means(values, listeners, (stimuli,), 3)
    assert found[:2].tolist() == pytest.approx([0.25, -0.25])
    assert np.isnan(found[2])


@pytest.mark.peer
def test_means_over_listeners_are_those_of_a_t_test() -> None:
    from scipy.stats import ttest_1samp

    values = np.array([0.3, -0.1, 0.5, np.nan, 0.2])
    found, p = mean_over_listeners(values, 0.9)
    peer = ttest_1samp(values[~np.isnan(values)], 0)
    ends = peer.confidence_interval(0.9)
    assert (found.n, found.undefined) == (4, 1)
    assert p == pytest.approx(peer.pvalue)
    assert (found.low, found.high) == pytest.approx((ends.low, ends.high))


@pytest.mark.peer
def test_between_listeners_it_is_welch_or_a_linear_model_with_strata() -> None:
    import statsmodels.api as sm
    from scipy.stats import ttest_ind

    rng = np.random.default_rng(5)
    values, first = rng.normal(size=13), np.arange(13) % 3 == 0
    one, p = group_difference(values, first, np.zeros(13, np.int64), 0.95)
    peer = ttest_ind(values[first], values[~first], equal_var=False)
    ends = peer.confidence_interval(0.95)
    assert (one.value, p) == pytest.approx(
        (values[first].mean() - values[~first].mean(), peer.pvalue)
    )
    assert (one.low, one.high) == pytest.approx((ends.low, ends.high))
    strata = np.arange(13) // 5
    table = np.column_stack([first, dummies(strata)]).astype(float)
    model = sm.OLS(values, table).fit()
    several, p = group_difference(values, first, strata, 0.95)
    assert (several.value, p) == pytest.approx((model.params[0], model.pvalues[0]))
    assert (several.low, several.high) == pytest.approx(model.conf_int()[0])


@pytest.mark.parametrize(
    ("values", "first", "strata"),
    [
        ([], [], []),
        ([1.0], [True], [0]),
        ([1.0, 2.0], [True, False], [0, 0]),
        ([1.0, 1.0, 1.0, 1.0], [True, True, False, False], [0, 0, 0, 0]),
        ([1.0, 2.0, 3.0, 5.0], [True, True, False, False], [0, 0, 1, 1]),  # order is the panel
    ],
)
def test_what_cannot_be_judged_is_undefined(
    values: list[float], first: list[bool], strata: list[int]
) -> None:
    found, p = group_difference(
        np.array(values), np.array(first, np.bool_), np.array(strata, np.int64), 0.95
    )
    assert math.isnan(p)
    assert math.isnan(found.low)


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5, 0.5], [math.nan]])
def test_without_spread_there_is_no_interval(values: list[float]) -> None:
    found, p = mean_over_listeners(np.array(values, np.float64), 0.95)
    assert math.isnan(p)
    assert math.isnan(found.high)
    assert found.value == pytest.approx(0.5 if 0.5 in values else math.nan, nan_ok=True)


def test_differences_left_by_rounding_are_no_spread() -> None:
    first = np.array([True, True, False, False] * 3)
    strata = np.repeat([0, 1, 2], 4)
    values = np.array([0.1 + 0.2, 0.7, 1e6 / 3])[strata] + np.where(first, 0.1, 0.3)
    values[:2] = 0.1 + 0.1 + 0.2  # the same number, rounded otherwise
    for codes in (strata, np.zeros(12, np.int64)):
        same = values if len({*codes.tolist()}) > 1 else np.where(first, 1e6 / 3 + 0.1, 1e6 / 3)
        found, p = group_difference(same, first, codes, 0.95)
        assert math.isfinite(found.value)
        assert (math.isnan(p), math.isnan(found.low)) == (True, True)
