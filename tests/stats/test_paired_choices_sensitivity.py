"""d′ is what listeners who decide by the rule itself have."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.stats.paired_choices import (
    SENSITIVITY_MODELS,
    sensitivity,
    sensitivity_of_share,
)
from earwitness.stats.significance import binomial_share
from helpers.samples import many

TRIALS = many(100_000, 2_000_000)


def decided(model: str, d: float, rng: np.random.Generator) -> float:
    """The share of right answers of listeners who follow a rule; what is played is balanced."""
    a, b = rng.normal(d, 1, TRIALS), rng.normal(0, 1, TRIALS)
    if model == "2afc":
        return float((a > b).mean())
    is_a = rng.random(TRIALS) < 0.5
    x = rng.normal(np.where(is_a, d, 0), 1)
    closer = np.abs(a - x) < np.abs(b - x)
    split = (x > d / 2) == (a > b)  # X above the middle, and which of the two is the higher
    return float(((closer if model == "differencing" else split) == is_a).mean())


@pytest.mark.parametrize("model", SENSITIVITY_MODELS)
@pytest.mark.parametrize("d", [0.0, 0.5, 1.0, 2.0, 3.5])
def test_shares_are_those_of_simulated_decisions(model: str, d: float) -> None:
    found = decided(model, d, np.random.default_rng([*model.encode(), int(10 * d)]))
    want = SENSITIVITY_MODELS[model](d)
    error = math.sqrt(want * (1 - want) / TRIALS)
    print(f"{model} d′ {d}: {want:.5f}, simulated {found:.5f} ± {error:.5f}")
    assert found == pytest.approx(want, abs=4 * error)


@pytest.mark.parametrize("model", SENSITIVITY_MODELS)
def test_going_there_and_back_is_no_change(model: str) -> None:
    for d in np.linspace(0.01, 6, 40).tolist():
        assert sensitivity(SENSITIVITY_MODELS[model](d), model) == pytest.approx(d, abs=1e-5)


@pytest.mark.peer
def test_of_two_sounds_it_is_root_two_times_z() -> None:
    from scipy.stats import norm

    for right in (0.5001, 0.6, 0.76, 0.99):
        assert sensitivity(right, "2afc") == pytest.approx(math.sqrt(2) * norm.ppf(right), abs=1e-9)


@pytest.mark.parametrize("model", SENSITIVITY_MODELS)
def test_below_chance_it_is_0_and_all_right_it_has_no_upper_end(model: str) -> None:
    assert sensitivity(0.3, model) == sensitivity(0.5, model) == 0
    best = sensitivity_of_share(binomial_share(12, 12), model)
    assert best.value == best.high == math.inf
    assert 0 < best.low < math.inf
    worst = sensitivity_of_share(binomial_share(2, 12), model)
    assert (worst.value, worst.low) == (0, 0)
    assert math.isnan(sensitivity_of_share(binomial_share(0, 0), model).value)


def test_ends_are_those_of_the_share() -> None:
    known = binomial_share(70, 100)
    found = sensitivity_of_share(known)
    assert found.n == 100
    assert SENSITIVITY_MODELS["differencing"](found.low) == pytest.approx(known.low)
    assert SENSITIVITY_MODELS["differencing"](found.high) == pytest.approx(known.high)


def test_who_differences_needs_more_than_who_observes_independently() -> None:
    for right in (0.55, 0.7, 0.95):
        assert sensitivity(right) > sensitivity(right, "independent") > sensitivity(right, "2afc")
