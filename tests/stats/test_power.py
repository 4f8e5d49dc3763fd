"""Power of planned studies against closed forms, another program, and votes drawn one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from earwitness.core import Estimate
from earwitness.stats.mixed_model import Components, fit_mixed_model, mixed_contrasts
from earwitness.stats.power import (
    PowerScenario,
    closed_power,
    detectable_difference,
    listeners_needed,
    simulate_power,
)
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.simulated_votes import drawn

PARTS = Components(0.5, 0.4, 0.3, 0.3, 0.7)
PLAN = PowerScenario(PARTS, listeners=12, items=8)
BOTH = pytest.mark.parametrize("method", ["cluster_t", "mixed"])


def paired_t(votes: Votes, alpha: float = 0.05) -> bool:
    from scipy.stats import ttest_1samp

    total, count = votes.listener_sums()
    means = total / count
    return bool(ttest_1samp(means[:, 0] - means[:, 1], 0).pvalue < alpha)


def near(found: Estimate, expected: float, runs: int = 10**9) -> bool:
    """Within four errors of both simulations."""
    share = min(max(expected, 0.01), 0.99)
    chance = math.sqrt(share * (1 - share) * (1 / found.n + 1 / runs))
    return abs(found.value - expected) < 4 * chance


@pytest.mark.peer
@pytest.mark.parametrize("listeners", [3, 8, 30])
@pytest.mark.parametrize("difference", [0.0, 0.2, 0.5])
def test_the_closed_form_is_that_of_statsmodels(listeners: int, difference: float) -> None:
    from statsmodels.stats.power import TTestPower

    plan = replace(PLAN, listeners=listeners, tests=3)
    # a listener's difference: 2 · 0.3² + 2 · 0.7² / 8 = 0.3025, its root 0.55
    effect = difference / 0.55
    theirs = TTestPower().power(effect, listeners, 0.05 / 3)
    assert closed_power(plan, difference) == pytest.approx(float(theirs), abs=1e-9)


@pytest.mark.parametrize("listeners", [4, 8, 24])
@pytest.mark.parametrize("difference", [0.0, 0.3, 0.6])
def test_simulated_power_is_the_closed_form(listeners: int, difference: float) -> None:
    plan = replace(PLAN, listeners=listeners)
    found = simulate_power(plan, difference, runs=many(4000, 100_000))
    assert near(found, closed_power(plan, difference))
    assert found.low < found.value < found.high


@pytest.mark.parametrize(("listeners", "items", "panels"), [(16, 16, 4), (24, 8, 2)])
def test_panels_that_hear_other_items_vary_more(listeners: int, items: int, panels: int) -> None:
    parts = replace(PARTS, item_system=1.0)
    plan = PowerScenario(parts, listeners=listeners, items=items, panels=panels)
    found = simulate_power(plan, 0.5, runs=many(4000, 100_000))
    assert closed_power(plan, 0.5) == pytest.approx(found.value, abs=0.05)  # an approximation
    alike = replace(plan, components=replace(parts, item_system=0.0))
    assert closed_power(plan, 0.5) < closed_power(alike, 0.5) - 0.08


def drawn_on_these_items(rng: np.random.Generator, panels: int) -> Votes:
    """Two systems that differ by 0.4 on the very items that are drawn."""
    plain = replace(PARTS, item_system=0.0)
    votes = drawn(rng, plain, np.array([0.4, 0.0]), 8, 12, panels)
    effects = rng.normal(0, PARTS.item_system, (8, 2))
    effects -= effects.mean(axis=0)
    return replace(votes, values=votes.values + effects[votes.items, votes.systems])


@pytest.mark.simulation
@pytest.mark.parametrize("panels", [1, 4])
def test_votes_drawn_one_by_one_give_the_same_power(panels: int) -> None:
    runs, rng = many(400, 5000), np.random.default_rng(2)
    found = sum(paired_t(drawn_on_these_items(rng, panels)) for _ in range(runs))
    drawn_by_listener = simulate_power(replace(PLAN, panels=panels), 0.4, runs=many(4000, 100_000))
    assert near(drawn_by_listener, found / runs, runs)


@pytest.mark.simulation
@pytest.mark.parametrize("systems", [2, 4])
@pytest.mark.parametrize("difference", [0.0, 0.5])
def test_mixed_power_is_that_of_fitted_models(systems: int, difference: float) -> None:
    runs, rng, found = many(80, 3000), np.random.default_rng([systems, 3]), 0
    means = np.zeros(systems)
    means[0] = difference
    for _ in range(runs):
        votes = drawn(rng, PARTS, means, 10, 8)
        found += mixed_contrasts(votes, [(0, 1)])[0][1] < 0.05
    plan = PowerScenario(PARTS, listeners=8, items=10, systems=systems, method="mixed")
    assert near(simulate_power(plan, difference, runs=many(4000, 100_000)), found / runs, runs)


@pytest.mark.simulation
def test_rounding_to_whole_numbers_costs_what_the_step_adds() -> None:
    runs, rng, found = many(400, 5000), np.random.default_rng(4), 0
    parts = Components(0.3, 0.2, 0.2, 0.0, 0.4)
    plan = PowerScenario(parts, listeners=8, items=3, step=1.0)
    for _ in range(runs):
        votes = drawn(rng, parts, np.array([3.2, 2.8]), 3, 8)
        found += paired_t(replace(votes, values=np.rint(votes.values)))
    rounded, exact = closed_power(plan, 0.4), closed_power(replace(plan, step=None), 0.4)
    assert rounded < exact - 0.03
    chance = math.sqrt(rounded * (1 - rounded) / runs)
    assert found / runs == pytest.approx(rounded, abs=0.02 + 4 * chance)


@BOTH
@pytest.mark.parametrize("panels", [1, 2])
def test_the_detectable_difference_has_the_power_asked_for(method: str, panels: int) -> None:
    plan = PowerScenario(
        PARTS, listeners=16, items=16, systems=4, panels=panels, tests=6, method=method
    )
    least = detectable_difference(plan, power=0.9)
    assert closed_power(plan, least) == pytest.approx(0.9, abs=1e-6)
    found = simulate_power(plan, least, runs=many(4000, 100_000))
    # the closed form is exact for one panel and t tests alone
    assert found.value == pytest.approx(0.9, abs=0.012 + 4 * math.sqrt(0.09 / found.n))


@BOTH
@pytest.mark.parametrize("panels", [1, 3])
def test_so_many_listeners_are_needed_and_no_fewer(method: str, panels: int) -> None:
    plan = PowerScenario(PARTS, listeners=0, items=30, systems=3, panels=panels, method=method)
    needed = listeners_needed(plan, 0.35)
    assert needed is not None
    assert needed % panels == 0
    assert closed_power(replace(plan, listeners=needed), 0.35) >= 0.8
    fewer = closed_power(replace(plan, listeners=needed - panels), 0.35)
    assert math.isnan(fewer) or fewer < 0.8


def test_no_number_of_listeners_makes_up_for_few_items() -> None:
    plan = PowerScenario(replace(PARTS, item_system=0.5), listeners=8, items=4, method="mixed")
    assert listeners_needed(plan, 0.3) is None
    assert listeners_needed(replace(plan, method="cluster_t"), 0.3) is not None


def test_power_grows_with_difference_listeners_and_items_and_falls_with_tests() -> None:
    base = closed_power(PLAN, 0.3)
    assert closed_power(PLAN, 0.4) > base
    assert closed_power(PLAN, -0.4) == closed_power(PLAN, 0.4)
    assert closed_power(replace(PLAN, listeners=20), 0.3) > base
    assert closed_power(replace(PLAN, items=20), 0.3) > base
    assert closed_power(replace(PLAN, tests=3), 0.3) < base
    assert closed_power(replace(PLAN, method="mixed"), 0.3) != base


@BOTH
def test_what_cannot_be_tested_has_no_power(method: str) -> None:
    for plan in (
        replace(PLAN, listeners=1, method=method),
        replace(PLAN, listeners=0, method=method),
        replace(PLAN, items=0, method=method),
    ):
        found = simulate_power(plan, 0.5, runs=10)
        assert math.isnan(found.value)
        assert found.n == 0
        assert math.isnan(detectable_difference(plan))


def test_without_any_variance_every_difference_is_found() -> None:
    plan = replace(PLAN, components=Components(1.0, 1.0, 0.0, 0.0, 0.0))
    assert simulate_power(plan, 0.1, runs=10).value == 1
    assert detectable_difference(plan) == 0
    assert listeners_needed(plan, 0.1) == 2


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown method 'magic' — use one of cluster_t, mixed"):
        replace(PLAN, method="magic")


def test_a_pilot_gives_components() -> None:
    rng = np.random.default_rng(1)
    found = Components.from_fit(fit_mixed_model(drawn(rng, PARTS, np.zeros(4), 60, 60)))
    assert found.residual == pytest.approx(0.7, abs=0.02)
    assert found.listener_system == pytest.approx(0.3, abs=0.05)
    alone = Components.from_fit(fit_mixed_model(drawn(rng, PARTS, np.zeros(1), 60, 60)))
    assert alone.listener_system == 0
    assert alone.listener == pytest.approx(math.hypot(0.5, 0.3), abs=0.15)


def test_the_same_seed_gives_the_same_power() -> None:
    assert simulate_power(PLAN, 0.3, runs=500) == simulate_power(PLAN, 0.3, runs=500)
    assert simulate_power(PLAN, 0.3, runs=500, seed=1) != simulate_power(PLAN, 0.3, runs=500)
