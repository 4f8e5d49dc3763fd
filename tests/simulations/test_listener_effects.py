"""Without an effect 5 % are called one; a planted one comes out unbiased."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.stats.effects import fit_listener_means, fit_listener_slopes
from earwitness.stats.means import group_difference, mean_over_listeners
from helpers.samples import many

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
STIMULI = 40
STATED = math.sqrt(0.05 * 0.95)  # of one run


def random_orders(rng: np.random.Generator, listeners: int) -> Codes:
    return np.array([rng.permutation(STIMULI) for _ in range(listeners)])


def rotated_orders(rng: np.random.Generator, listeners: int) -> Codes:
    turns = np.arange(listeners)[:, None] * STIMULI // listeners
    return np.asarray((rng.permutation(STIMULI) + turns) % STIMULI)


def like_orders(rng: np.random.Generator, listeners: int) -> Codes:
    near = np.arange(STIMULI) + rng.normal(0, 6, (listeners, STIMULI))
    return near.argsort(axis=1).argsort(axis=1)


def simulated(
    rng: np.random.Generator, places: Codes, column: Floats, slope: float, spread: float
) -> Floats:
    """Votes of listeners (rows) on stimuli, with slopes that differ between listeners."""
    listeners = len(places)
    slopes = slope + rng.normal(0, spread, (listeners, 1))
    biases = rng.normal(0, 0.5, (listeners, 1))
    return rng.normal(3, 1, STIMULI) + biases + slopes * column + rng.normal(0, 0.7, places.shape)


def judged(values: Floats, columns: Floats) -> tuple[float, float, float, float]:
    """Mean slope of the last column with its ends and p."""
    listeners, stimuli = (codes.ravel() for codes in np.indices(values.shape))
    table = columns.reshape(values.size, -1)
    found = fit_listener_slopes(values.ravel(), listeners, table, (stimuli,), len(values))
    estimate, p = mean_over_listeners(found.values[:, -1], 0.95, wider=float(found.widening[-1]))
    return estimate.value, estimate.low, estimate.high, p


# Rates of false alarm that are expected: orders that are rotated fix the mean slope better than
# single ones, and intervals are not narrowed for that.
@pytest.mark.parametrize(
    ("orders", "listeners", "spread", "least"),
    [
        (random_orders, 8, 0.0, 0.045),
        (random_orders, 8, 0.5, 0.045),
        (random_orders, 16, 0.2, 0.045),
        (rotated_orders, 8, 0.0, 0.025),
        (rotated_orders, 16, 0.5, 0.035),
        (like_orders, 8, 0.0, 0.04),
        (like_orders, 8, 0.5, 0.005),
    ],
)
def test_fatigue_is_unbiased_covered_and_rarely_called_without_cause(
    orders: Callable[[np.random.Generator, int], Codes],
    listeners: int,
    spread: float,
    least: float,
) -> None:
    """A slope that all share moves intervals along: what is outside would be a false alarm."""
    slope, runs, rng = -0.5, many(100, 2000), np.random.default_rng(listeners)
    values, missed = np.zeros(runs), 0
    for run in range(runs):
        places = orders(rng, listeners)
        column = places / (STIMULI - 1)
        value, low, high, _ = judged(simulated(rng, places, column, slope, spread), column)
        values[run], missed = value, missed + (not low <= slope <= high)
    bias, sure = values.mean() - slope, values.std() / math.sqrt(runs)
    name, error = orders.__name__, STATED / math.sqrt(runs)
    print(
        f"{name} k={listeners} spread={spread}: bias {bias:+.4f} ± {sure:.4f}, "
        f"outside {missed / runs:.4f} ± {error:.4f}"
    )
    assert abs(bias) < 4 * sure
    assert least - 4 * error < missed / runs < 0.055 + 4 * error


def test_taking_means_off_first_would_make_slopes_too_small() -> None:
    """Why all is fitted at once: with eight listeners, an eighth of the slope is lost."""
    runs, rng, listeners = many(60, 1000), np.random.default_rng(4), 8
    first, whole = np.zeros(runs), np.zeros(runs)
    for run in range(runs):
        places = random_orders(rng, listeners)
        column = places / (STIMULI - 1)
        votes = simulated(rng, places, column, -1.0, 0.0)
        whole[run] = judged(votes, column)[0]
        left = votes - votes.mean(axis=0)
        first[run] = np.mean([np.polyfit(x, y, 1)[0] for x, y in zip(column, left, strict=True)])
    sure = float(whole.std()) / math.sqrt(runs)
    assert whole.mean() == pytest.approx(-1, abs=4 * sure)
    assert first.mean() == pytest.approx(-7 / 8, abs=4 * sure)


def test_sessions_are_unbiased_covered_and_rarely_called_without_cause() -> None:
    """Four sessions of ten trials; the last differs."""
    last, listeners = 0.3, 8
    runs, rng = many(100, 2000), np.random.default_rng(6)
    values, missed = np.zeros(runs), 0
    for run in range(runs):
        places = random_orders(rng, listeners)
        sessions = places // (STIMULI // 4)
        columns = (sessions[..., None] == np.arange(1, 4)).astype(np.float64)
        votes = simulated(rng, places, columns[..., -1], last, 0.2)
        value, low, high, _ = judged(votes, columns)
        values[run], missed = value, missed + (not low <= last <= high)
    bias, sure = values.mean() - last, values.std() / math.sqrt(runs)
    error = STATED / math.sqrt(runs)
    print(f"sessions: bias {bias:+.4f} ± {sure:.4f}, outside {missed / runs:.4f} ± {error:.4f}")
    assert abs(bias) < 4 * sure
    assert 0.04 - 4 * error < missed / runs < 0.06 + 4 * error


@pytest.mark.parametrize("panels", [1, 2])
def test_orders_of_scales_between_listeners_are_rarely_called_without_cause(panels: int) -> None:
    runs, rng, listeners = many(150, 2000), np.random.default_rng(7), 12
    called = 0
    first = np.arange(listeners) // 2 % 2 == 0
    strata = np.arange(listeners) % panels
    who, stimuli = (codes.ravel() for codes in np.indices((listeners, STIMULI)))
    stimuli = stimuli + STIMULI * strata[who]
    for _ in range(runs):
        places = random_orders(rng, listeners)
        votes = simulated(rng, places, np.zeros(places.shape), 0.0, 0.0).ravel()
        votes = votes + rng.normal(0, 1, STIMULI * panels)[stimuli]
        means = fit_listener_means(votes, who, (stimuli,), listeners)
        called += group_difference(means, first, strata, 0.95)[1] < 0.05
    error = STATED / math.sqrt(runs)
    print(f"panels={panels}: called {called / runs:.4f} ± {error:.4f}")
    assert called / runs == pytest.approx(0.05, abs=0.01 + 4 * error)
