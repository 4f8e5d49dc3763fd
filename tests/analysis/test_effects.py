"""Effects that were planted in ratings are found; what cannot be known is not reported."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from earwitness.analysis.effects import connected_strata, estimate_effects
from earwitness.analysis.results import Effect
from earwitness.core import Key, Rating

Change = Callable[[Rating], float]
ORDERS = (("SIG", "BAK", "OVRL"), ("BAK", "SIG", "OVRL"))


def panel(
    change: Change,
    *,
    listeners: int = 8,
    sessions: int = 2,
    order: Callable[[int, int], int] = lambda listener, session: (listener + session) % 2,
    noise: float = 0.0,
    panels: int = 1,
    seed: int = 1,
) -> list[Rating]:
    """P.835: all stimuli once, in an order of each listener's own."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(3, 0.5, (panels, 12, 2))
    found = []
    for listener in range(listeners):
        own = listener % panels
        stimuli = rng.permutation([(item, system) for item in range(12) for system in (0, 1)])
        bias = rng.normal(0, 0.3)
        for n, (item, system) in enumerate(stimuli):
            session, trial = 1 + n * sessions // 24, 1 + n % (24 // sessions)
            key = Key(f"clip {own} {item}", f"system {system}")
            for asked, scale in enumerate(ORDERS[order(listener, session)], 1):
                bare = Rating(key, scale, listener, session, 0.0, trial=trial, asked=asked)
                value = quality[own, item, system] + bias + rng.normal(0, noise)
                found.append(replace(bare, value=value + change(bare)))
    return found


def by_name(found: tuple[Effect, ...]) -> dict[str, list[Effect]]:
    names = dict.fromkeys(one.name for one in found)
    return {name: [one for one in found if one.name == name] for name in names}


def test_a_planted_fatigue_is_found_whole() -> None:
    """0.05 points lower a trial, from the first to the 12th: 0.55."""
    ratings = panel(lambda one: -0.05 * one.trial)
    [order] = by_name(estimate_effects(ratings, "SIG", level=0.95))["order"]
    assert order.what == "trial 12 minus trial 1 of a session"
    assert order.difference.value == pytest.approx(-0.55, abs=1e-9)
    assert order.difference.n == 8


def test_planted_differences_of_sessions_are_found_whole() -> None:
    ratings = panel(lambda one: (0, 0.2, 0.5)[one.session - 1], sessions=3)
    second, third = by_name(estimate_effects(ratings, "OVRL", level=0.95))["session"]
    assert (second.what, third.what) == ("session 2 minus session 1", "session 3 minus session 1")
    assert second.difference.value == pytest.approx(0.2, abs=1e-9)
    assert third.difference.value == pytest.approx(0.5, abs=1e-9)


def test_a_planted_order_of_scales_is_found_within_listeners() -> None:
    ratings = panel(lambda one: 0.3 * (one.scale == "SIG" and one.asked == 1))
    [order] = by_name(estimate_effects(ratings, "SIG", level=0.95))["scales"]
    assert order.what == "SIG asked first minus BAK asked first"
    assert order.difference.value == pytest.approx(0.3, abs=1e-9)
    assert order.difference.method == "cluster_t"
    [none] = by_name(estimate_effects(ratings, "BAK", level=0.95))["scales"]
    assert none.difference.value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("panels", "method"), [(1, "welch"), (2, "t_between")])
def test_an_order_of_scales_between_listeners_is_judged_by_their_biases(
    panels: int, method: str
) -> None:
    """Listeners 0, 1 | 2, 3 | … have the orders in turn, so that both panels have both."""
    ratings = panel(
        lambda one: 0.3 * (one.scale == "SIG" and one.asked == 1),
        order=lambda listener, _: listener // 2 % 2,
        panels=panels,
        listeners=24,
        noise=0.1,
    )
    [order] = by_name(estimate_effects(ratings, "SIG", level=0.95))["scales"]
    assert order.difference.method == method
    assert order.difference.low < 0.3 < order.difference.high
    assert order.difference.n == 24
    other = by_name(estimate_effects(ratings, "BAK", level=0.95))["scales"][0].difference
    assert other.low < 0 < other.high


def test_an_order_of_scales_that_goes_with_the_material_is_not_reported() -> None:
    ratings = panel(lambda _: 0.0, order=lambda listener, _: listener % 2, panels=2)
    assert "scales" not in by_name(estimate_effects(ratings, "SIG", level=0.95))


def test_stimuli_with_few_votes_give_way_to_items_and_systems() -> None:
    """Two listeners a panel: exact where items and systems add up."""
    rng = np.random.default_rng(2)
    found = []
    for listener in range(8):
        stimuli = rng.permutation([(i, s) for i in range(6) for s in range(3)])
        for trial, (item, system) in enumerate(stimuli, 1):
            value = item + 0.5 * system + 0.1 * listener - 0.02 * trial
            key = Key(f"clip {listener // 2} {item}", f"system {system}")
            found.append(Rating(key, "OVRL", listener, 1, value, trial=trial))
    [order] = by_name(estimate_effects(found, "OVRL", level=0.95))["order"]
    assert order.difference.value == pytest.approx(-0.02 * 17, abs=1e-9)


def test_a_planted_lean_to_the_first_of_two_is_found_whole() -> None:
    """A system gains 0.2 if it comes first and loses 0.2 if second."""
    rng = np.random.default_rng(3)
    found = []
    for listener in range(6):
        for item in range(10):
            place = int(rng.integers(0, 2))
            value = 0.1 * item + 0.2 * (1 - 2 * place)
            a, b = Key(str(item), "new"), Key(str(item), "old")
            found.append(Rating(a, "COMPARISON", listener, 1, value, b, place, trial=item + 1))
    own = by_name(estimate_effects(found, "COMPARISON", level=0.95))
    assert own["place"][0].what == "position 2 minus position 1 on the page"
    assert own["place"][0].difference.value == pytest.approx(-0.4, abs=1e-9)
    assert "order" not in own  # all heard the items in the same order


def test_what_is_not_known_is_not_reported() -> None:
    ratings = panel(lambda _: 0.0, noise=0.2)
    bare = [replace(one, session=0, trial=0, asked=0) for one in ratings]
    assert estimate_effects(bare, "SIG", level=0.95) == ()
    assert estimate_effects([], "SIG", level=0.95) == ()
    assert estimate_effects(ratings, "NONE", level=0.95) == ()


def test_constant_votes_have_no_effect_and_no_interval() -> None:
    ratings = [replace(one, value=4.0) for one in panel(lambda _: 0.0)]
    for one in estimate_effects(ratings, "SIG", level=0.95):
        assert one.difference.value == pytest.approx(0, abs=1e-9)
        assert math.isnan(one.difference.low)
        assert math.isnan(one.p)


def test_a_single_listener_has_no_interval() -> None:
    ratings = [one for one in panel(lambda one: 0.1 * one.trial) if one.listener == 0]
    for one in estimate_effects(ratings, "SIG", level=0.95):
        assert math.isnan(one.p)


def test_listeners_are_tied_together_by_what_they_share() -> None:
    listeners, shared = np.array([0, 1, 1, 2, 3, 4]), np.array([0, 0, 1, 1, 2, 2])
    assert connected_strata(listeners, shared, 5).tolist() == [0, 0, 0, 3, 3]
