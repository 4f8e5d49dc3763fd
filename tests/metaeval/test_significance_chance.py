"""Systems dealt anew: plain loops, and how often metrics that know nothing fall outside."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval import significance
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.significance import chance_coefficients
from helpers.samples import many
from helpers.vote_grids import scores_of, votes_of

NAMES = ["kendall_b", "acc_23"]


@pytest.mark.parametrize("level", ["system", "item", "global"])
def test_each_draw_is_a_metric_beside_people_of_other_systems(level: str) -> None:
    grid = ScoreRatingGrid(scores_of(2), cell_means(votes_of(2))[0])
    found = chance_coefficients(grid, level, NAMES, 12, seed=3)
    rng = np.random.Generator(np.random.PCG64((3, 9)))
    orders = np.argsort(rng.random((12, 5)), axis=1, kind="stable")
    columns = np.argsort(rng.random((12, 6)), axis=1, kind="stable")
    for draw, order in enumerate(orders):
        scores, said = grid.scores[draw % 3], grid.people
        if level == "global":
            scores = np.array(
                [[scores[system, item] for item in columns[draw]] for system in order]
            )
        else:
            said = np.array([said[system] for system in order])
        slow = evaluate_grid(ScoreRatingGrid(scores[None], said), level, NAMES).value[:, 0]
        assert found[:, draw] == pytest.approx(slow, nan_ok=True)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = ScoreRatingGrid(scores_of(4), cell_means(votes_of(4))[0])
    first = chance_coefficients(grid, "item", NAMES, 40, seed=1)
    monkeypatch.setattr(significance, "NUMBERS_IN_MEMORY", 300)
    assert chance_coefficients(grid, "item", NAMES, 40, seed=1) == pytest.approx(
        first, abs=1e-12, nan_ok=True
    )


@pytest.mark.simulation
def test_metrics_that_favour_systems_at_random_seldom_fall_outside() -> None:
    runs, outside, plain = many(100, 600), 0, 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        means = 2 * rng.normal(size=(8, 1)) + rng.normal(size=(8, 10))
        score = rng.normal(size=(8, 1)) + rng.normal(size=(8, 10))
        grid = ScoreRatingGrid(score[None], means)
        own = evaluate_grid(grid, "item", ["kendall_b"]).value[0, 0]
        low, high = np.percentile(
            chance_coefficients(grid, "item", ["kendall_b"], 300, seed), [2.5, 97.5]
        )
        noise = ScoreRatingGrid(rng.normal(size=(300, 8, 10)), means)
        ends = np.percentile(evaluate_grid(noise, "item", ["kendall_b"]).value[0], [2.5, 97.5])
        outside += not low <= own <= high
        plain += not ends[0] <= own <= ends[1]
    assert outside / runs < 0.05 + 4 * math.sqrt(0.0475 / runs)
    assert plain / runs > 0.2  # noise that is new for every output is too narrow


def test_over_all_outputs_a_metric_that_knows_which_items_are_hard_knows_something() -> None:
    rng = np.random.default_rng(5)
    items = rng.normal(size=20)
    means = items + 0.3 * rng.normal(size=(8, 1)) + 0.3 * rng.normal(size=(8, 20))
    grid = ScoreRatingGrid((items + 0.3 * rng.normal(size=(8, 20)))[None], means)
    own = evaluate_grid(grid, "global", ["kendall_b"]).value[0, 0]
    low, high = np.percentile(
        chance_coefficients(grid, "global", ["kendall_b"], 300, 0), [2.5, 97.5]
    )
    assert low < 0 < high < own
    assert (
        high > 0.15
    )  # items hang together: cells are not 160 things that were drawn by themselves
