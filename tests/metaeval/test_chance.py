"""Systems dealt anew: plain loops, and how often metrics that know nothing fall outside."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from earwitness.metaeval import chance
from earwitness.metaeval.chance import chance_coefficients
from earwitness.metaeval.levels import (
    ScoreRatingGrid,
    cell_means,
    evaluate_grid,
    fit_item_effects,
    subtract_item_effects,
)
from earwitness.stats.arrays import Bools
from helpers.samples import many
from helpers.vote_grids import scores_of, votes_of

Design = Callable[[np.random.Generator], Bools]
NAMES = ["kendall_b", "acc_23"]


@pytest.mark.parametrize("level", ["system", "item", "global"])
def test_each_draw_is_a_metric_beside_people_of_other_systems(level: str) -> None:
    grid = ScoreRatingGrid(np.nan_to_num(scores_of(2)), cell_means(votes_of(2, 1.0))[0])
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
    monkeypatch.setattr(chance, "NUMBERS_IN_MEMORY", 300)
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


# --- Designs in which not every system has every item --------------------------------------------


def block_design(rng: np.random.Generator) -> Bools:
    """20 systems × 16 items, with 5 systems per item; all systems are connected."""
    is_rated, names = np.zeros((20, 16), bool), rng.permutation(20)
    for item in range(16):
        is_rated[names[(5 * item + item // 4 + np.arange(5)) % 20], item] = True
    return is_rated


def crowd_design(rng: np.random.Generator) -> Bools:
    """12 systems × 40 items, of which about a third were rated, with at least two per item."""
    is_rated = rng.random((12, 40)) < 0.3
    is_rated[:, is_rated.sum(axis=0) < 2] = True
    return is_rated


def complete_design(_: np.random.Generator) -> Bools:
    return np.ones((8, 10), bool)


def adjusted(grid: ScoreRatingGrid, level: str) -> ScoreRatingGrid:
    if level != "system" or not np.isnan(grid.people).any():
        return grid
    people = grid.people
    return ScoreRatingGrid(
        subtract_item_effects(grid.scores, people), people - fit_item_effects(people)
    )


@pytest.mark.parametrize("level", ["item", "global"])
def test_only_observed_ratings_are_permuted_and_ties_are_kept(level: str) -> None:
    rng = np.random.default_rng(3)
    people = np.where(block_design(rng), rng.integers(1, 6, (20, 16)), np.nan)
    orders, columns = (np.stack([rng.permutation(n) for _ in range(30)]) for n in (20, 16))
    permuted = chance._permute_ratings(people, level, orders, columns)
    assert (np.isnan(permuted) == np.isnan(people)).all()
    for one in permuted:
        if level == "item":
            assert (np.sort(one, axis=0)[:5] == np.sort(people, axis=0)[:5]).all()
        else:
            assert (np.sort(one, axis=None)[:80] == np.sort(people, axis=None)[:80]).all()
    assert len({one.tobytes() for one in permuted}) == 30


def test_one_missing_cell_changes_little() -> None:
    rng = np.random.default_rng(4)
    people = rng.integers(1, 6, (8, 10)).astype(np.float64)
    scores = people + rng.normal(size=(1, 8, 10))
    missing = people.copy()
    missing[3, 4] = np.nan
    for level in ("system", "item", "global"):
        whole, most = (
            chance_coefficients(ScoreRatingGrid(scores, one), level, ["kendall_b"], 200, 1)
            for one in (people, missing)
        )
        assert np.corrcoef(whole[0], most[0])[0, 1] > 0.9


@pytest.mark.parametrize("level", ["system", "item", "global"])
def test_a_metric_equal_to_the_ratings_is_better_than_chance_with_5_of_20_systems_per_item(
    level: str,
) -> None:
    rng = np.random.default_rng(5)
    means = rng.normal(size=(20, 1)) + rng.normal(size=(20, 16))
    people = np.where(block_design(rng), means, np.nan)
    grid = adjusted(ScoreRatingGrid(people[None], people), level)
    own = evaluate_grid(grid, level, ["kendall_b"]).value[0, 0]
    low, high = np.percentile(chance_coefficients(grid, level, ["kendall_b"], 300, 1), [2.5, 97.5])
    assert own == pytest.approx(1)
    assert -0.6 < low < 0 < high < 0.6


def share_outside(design: Design, level: str, signal: float, runs: int) -> float:
    """How often a metric with this much of the ratings in it is outside the range of chance."""
    outside = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        is_rated = design(rng)
        systems, items = is_rated.shape
        means = 2 * rng.normal(size=(systems, 1)) + rng.normal(size=items)
        means = ((means + rng.normal(size=is_rated.shape)) * 2).round() / 2
        score = rng.normal(size=(systems, 1)) + rng.normal(size=items) / 2 + signal * means
        score = (score + rng.normal(size=is_rated.shape))[None]
        grid = adjusted(ScoreRatingGrid(score, np.where(is_rated, means, np.nan)), level)
        own = evaluate_grid(grid, level, ["kendall_b"]).value[0, 0]
        draws = chance_coefficients(grid, level, ["kendall_b"], 300, seed)
        low, high = np.percentile(draws, [2.5, 97.5])
        outside += not low <= own <= high
    return outside / runs


@pytest.mark.simulation
@pytest.mark.parametrize("level", ["system", "item", "global"])
@pytest.mark.parametrize("design", [complete_design, block_design, crowd_design])
def test_size_and_power_hold_in_every_design(design: Design, level: str) -> None:
    runs = many(60, 300)
    assert share_outside(design, level, 0, runs) < 0.07 + 3 * math.sqrt(0.07 * 0.93 / runs)
    assert share_outside(design, level, 0.7, runs) > 0.45
