"""Simulated votes have the variances they were given, and the means that are computed for them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.stats.mixed_model import Components
from helpers.samples import many
from helpers.vote_model import (
    Points,
    crossed_design,
    draw_votes,
    expected_vote,
    simulate_votes,
    stimulus_qualities,
)

COMPONENTS = Components.from_variances(0.3, 0.2, 0.1, 0.15, 0.5)
POINTS = Points()


def generator(seed: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(seed))


@pytest.mark.parametrize("points", [None, POINTS, Points(0, 100, 5)])
def test_means_of_many_listeners_are_those_that_are_computed(points: Points | None) -> None:
    design, runs = crossed_design(3, 4, 10), many(1000, 20_000)
    stimuli = stimulus_qualities([1.5, 3, 4.7], 4, COMPONENTS, generator(1))
    values = draw_votes(design, stimuli, COMPONENTS, generator(2), runs=runs, points=points)
    want = expected_vote(stimuli, COMPONENTS.within_stimuli, points)
    means = values.mean(axis=0).reshape(10, 4, 3).mean(axis=0).T
    spread = 3 if points == Points(0, 100, 5) else 1  # points of 5 make the spread larger
    assert np.abs(means - want).max() < 5 * spread / math.sqrt(10 * runs)


def test_means_over_items_too_are_those_that_are_computed() -> None:
    design, runs = crossed_design(2, 6, 6), many(1000, 10_000)
    runs_of = [
        simulate_votes(design, [2, 4.2], COMPONENTS, seed=seed, points=POINTS)
        for seed in range(runs)
    ]
    found = np.mean([votes.values.reshape(36, 2).mean(axis=0) for votes in runs_of], axis=0)
    variance = COMPONENTS.within_stimuli + COMPONENTS.between_items
    assert found == pytest.approx(
        expected_vote([2, 4.2], variance, POINTS), abs=2 / math.sqrt(runs)
    )


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("listener", "the same listener, other item, other system"),
        ("listener_system", "the same listener and system, other item"),
        ("residual", "the very same vote"),
    ],
)
def test_votes_share_the_variance_of_what_they_share(name: str, pairs: str) -> None:
    design, runs = crossed_design(2, 2, 2), many(20_000, 400_000)
    values = draw_votes(design, np.zeros((2, 2)), COMPONENTS, generator(3), runs=runs)
    votes = values.reshape(runs, 2, 2, 2)  # run, listener, item, system
    shared = {
        "listener": votes[:, 0, 0, 0] * votes[:, 0, 1, 1],
        "listener_system": votes[:, 0, 0, 0] * (votes[:, 0, 1, 0] - votes[:, 0, 1, 1]),
        "residual": votes[:, 0, 0, 0] * (votes[:, 0, 0, 0] - votes[:, 0, 1, 0]),
    }[name]
    assert shared.mean() == pytest.approx(
        getattr(COMPONENTS, name) ** 2, abs=5 * shared.std() / math.sqrt(runs)
    ), pairs


def test_items_differ_by_their_variance_and_alike_in_all_systems() -> None:
    items = many(20_000, 400_000)
    found = stimulus_qualities([0, 1], items, COMPONENTS, generator(4)) - [[0], [1]]
    slack = 5 / math.sqrt(items)
    assert (found[0] * found[1]).mean() == pytest.approx(COMPONENTS.item**2, abs=slack)
    assert (found[0] ** 2).mean() == pytest.approx(COMPONENTS.between_items, abs=slack)


def test_listeners_hear_the_items_of_their_panel_only() -> None:
    design = crossed_design(2, 6, 4, panels=2)
    assert len(design.values) == 2 * 3 * 4
    assert design.panels() == [[0, 2], [1, 3]]


def test_without_any_variance_votes_are_the_nearest_points() -> None:
    votes = simulate_votes(
        crossed_design(3, 1, 1), [0.2, 3.4, 3.6], Components(), seed=0, points=POINTS
    )
    assert votes.values.tolist() == [1, 3, 4]
    assert expected_vote([0.2, 3.4, 3.6], 0, POINTS).tolist() == [1, 3, 4]


def test_a_seed_gives_the_same_votes_again() -> None:
    one, same, other = (
        simulate_votes(crossed_design(2, 3, 4), [2, 3], COMPONENTS, seed=seed).values
        for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).all()
