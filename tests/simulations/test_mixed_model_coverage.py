"""Intervals of the mixed model hold the truth about other listeners and items 95 times in 100.

Votes come from the model, as they are or put on a scale of five points. The truth is then the mean
over all listeners and all items: on five points, 1 plus the chances to be above 1.5, 2.5, 3.5, 4.5.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtr

from earwitness.stats.arrays import Floats
from earwitness.stats.mixed_model import Components, fit_mixed_model, mixed_contrasts, mixed_means
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.simulated_votes import drawn

USUAL = Components(0.5, 0.4, 0.3, 0.3, 0.7)
MEANS = np.array([2.0, 2.7, 3.3, 3.3])
DIFFERENT, EQUAL = (0, 1), (2, 3)


class Covered(NamedTuple):
    """Shares: intervals of means and of a difference that hold the truth, equals told apart."""

    mean: float
    difference: float
    called: float


class Plan(NamedTuple):
    """Who hears what."""

    items: int
    listeners: int
    parts: Components = USUAL
    rounded: bool = False
    panels: int = 1
    missing: float = 0.0


def on_five_points(votes: Votes) -> Votes:
    return replace(votes, values=np.clip(np.rint(votes.values), 1, 5))


def truth(plan: Plan) -> Floats:
    if not plan.rounded:
        return MEANS
    parts = plan.parts
    sd = math.hypot(
        parts.listener, parts.item, parts.listener_system, parts.item_system, parts.residual
    )
    above = [ndtr((MEANS - threshold) / sd) for threshold in (1.5, 2.5, 3.5, 4.5)]
    return np.asarray(1 + np.sum(above, axis=0))


def covered(plan: Plan, runs: int) -> Covered:
    right, rng = truth(plan), np.random.default_rng([plan.items, plan.listeners])
    means, differences, called = 0.0, 0, 0
    for _ in range(runs):
        votes = drawn(rng, plan.parts, MEANS, plan.items, plan.listeners, plan.panels)
        votes = on_five_points(votes) if plan.rounded else votes
        votes = votes.select(rng.random(len(votes.values)) >= plan.missing)
        fitted = fit_mixed_model(votes)
        found = mixed_means(votes, fitted=fitted)
        held = [one.low <= aim <= one.high for one, aim in zip(found, right, strict=True)]
        means += sum(held) / len(held)
        (one, _), (_, p) = mixed_contrasts(votes, [DIFFERENT, EQUAL], fitted=fitted)
        differences += one.low <= right[0] - right[1] <= one.high
        called += p < 0.05
    return Covered(means / runs, differences / runs, called / runs)


PLANS = {
    "8 listeners": Plan(12, 8),
    "16 listeners": Plan(12, 16),
    "32 listeners": Plan(16, 32),
    "8 listeners, five points": Plan(12, 8, rounded=True),
    "16 listeners, five points": Plan(12, 16, rounded=True),
    "32 listeners, five points": Plan(16, 32, rounded=True),
    "8 listeners, 40 items": Plan(40, 8),
    "8 listeners, votes missing": Plan(12, 8, missing=0.2),
    "16 listeners in 4 panels": Plan(48, 16, panels=4),
    "no item differs": Plan(12, 8, Components(0.5, 0.0, 0.3, 0.0, 0.7)),
    "listeners alone differ": Plan(12, 8, Components(0.8, 0.0, 0.0, 0.0, 0.7)),
    "items matter most": Plan(12, 8, Components(0.2, 0.6, 0.1, 0.5, 0.7)),
}
CAREFUL = {"listeners alone differ"}  # no part with systems: what is no less than 0 is too much


@pytest.mark.parametrize("name", PLANS)
def test_95_percent_intervals_cover_93_to_97_percent_and_tests_keep_their_size(name: str) -> None:
    runs = many(30, 1500)
    found = covered(PLANS[name], runs)
    chance = math.sqrt(0.95 * 0.05 / runs)
    print(
        f"\n{name}: means {found.mean:.4f}, a difference {found.difference:.4f}, equal systems "
        f"told apart {found.called:.4f}, {runs} runs, Monte Carlo error {chance:.4f}"
    )
    # with full counts 93 to 97 %, with few what chance allows
    slack = max(0.02, 3.5 * chance)
    above = 0.03 if name in CAREFUL else slack
    assert 0.95 - slack <= found.mean <= 0.95 + slack
    assert 0.95 - slack <= found.difference <= 0.95 + max(above, slack)
    assert 0.05 - max(above, slack) <= found.called <= 0.05 + slack
