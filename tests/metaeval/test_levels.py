"""Three levels and their draws: hand values, loops over indices, gaps, orders, seeds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.metaeval.coefficients import LEVELS, coefficient_names
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.resampling import RESAMPLED_AXES, bootstrap_interval, resample_coefficients
from earwitness.stats.arrays import Floats
from earwitness.stats.bootstrap import draw_weight_blocks
from earwitness.stats.votes import Votes
from helpers.plain_coefficients import Table, level_value
from helpers.plain_coefficients import cell_means as plain_cell_means
from helpers.samples import many
from helpers.vote_grids import SIZE, rows_of, scores_of, votes_of

NAN = math.nan
#                 items: 1  2    3
PEOPLE = np.array([[1.0, 2.0, 3.0], [2.0, 2.0, NAN], [4.0, 1.0, 5.0]])
SCORES = np.array([[[1.0, 3.0, 0.0], [3.0, NAN, 9.0], [2.0, 1.0, 0.0]]])


def test_hand_values_at_all_levels_with_gaps() -> None:
    grid = ScoreRatingGrid(SCORES, PEOPLE)
    # System means where both are known: scores 4/3, 3, 1; people 2, 2, 10/3: one pair is tied by
    # people, ac (4/3 > 1, 2 < 10/3) and bc (3 > 1, 2 < 10/3) are the other way round.
    assert evaluate_grid(grid, "system", ["acc_23"]).value.tolist() == [[0]]
    found = evaluate_grid(grid, "system", ["kendall_b"])
    assert found.value[0, 0] == pytest.approx(-2 / math.sqrt(3 * 2))
    assert (found.n.tolist(), found.undefined.tolist()) == ([[3]], [[0]])
    # Item 1: 1 3 2 and 1 2 4, two of three alike; item 2: systems 1 and 3 (3 1 and 2 1), alike;
    # item 3: systems 1 and 3, tied by the metric alone, so Kendall's b is undefined.
    found = evaluate_grid(grid, "item", ["kendall_b", "acc_23"])
    assert found.value[:, 0] == pytest.approx([(1 / 3 + 1) / 2, (2 / 3 + 1 + 0) / 3])
    assert (found.n.tolist(), found.undefined.tolist()) == ([[2], [3]], [[1], [0]])
    found = evaluate_grid(grid, "global", ["acc_23"])
    assert (found.n.tolist(), found.undefined.tolist()) == ([[7]], [[1]])


def twins(level: str, scores: Floats, means: Table, systems: list[int], items: list[int]) -> Floats:
    found = [
        [level_value(level, name, one.tolist(), means, systems, items) for one in scores]
        for name in coefficient_names(level)
    ]
    return np.array(found)


@settings(max_examples=many(20, 500))
@given(st.integers(0, 10**6), st.sampled_from(LEVELS), st.sampled_from([0.1, 0.6, 1.0]))
def test_values_are_what_loops_find(seed: int, level: str, share: float) -> None:
    scores, votes = scores_of(seed), votes_of(seed, share)
    means = cell_means(votes)[0]
    plain = plain_cell_means(rows_of(votes), range(SIZE[2]), SIZE)
    assert means == pytest.approx(np.array(plain, np.float64), abs=1e-9, nan_ok=True)
    found = evaluate_grid(ScoreRatingGrid(scores, means), level, coefficient_names(level))
    twin = twins(level, scores, plain, list(range(SIZE[0])), list(range(SIZE[1])))
    assert found.value == pytest.approx(twin, abs=1e-9, nan_ok=True)
    whole = {"system": SIZE[0], "item": SIZE[1], "global": (~np.isnan(means)).sum()}[level]
    assert (found.n + found.undefined == whole).all()


@settings(max_examples=many(20, 500))
@given(st.integers(0, 10**6), st.sampled_from(LEVELS), st.sampled_from(list(RESAMPLED_AXES)))
def test_draws_are_what_loops_over_drawn_indices_find(seed: int, level: str, over: str) -> None:
    scores, votes = scores_of(seed), votes_of(seed)
    found = resample_coefficients(
        scores, votes, level, coefficient_names(level), over=over, draws=4, seed=seed
    )
    (drawn,) = draw_weight_blocks(SIZE, 4, seed)
    for draw in range(4):
        picked = [
            np.repeat(np.arange(len(w[draw])), w[draw].astype(int) if yes else 1).tolist()
            for w, yes in zip(drawn, RESAMPLED_AXES[over], strict=True)
        ]
        means = plain_cell_means(rows_of(votes), picked[2], SIZE)
        twin = twins(level, scores, means, picked[0], picked[1])
        assert found[:, draw] == pytest.approx(twin, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("level", LEVELS)
def test_the_order_of_systems_items_votes_and_metrics_changes_no_value(level: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(many(2, 100)):
        scores, votes = scores_of(seed), votes_of(seed)
        systems, items, listeners = (rng.permutation(n) for n in SIZE)
        shuffled = votes.select(rng.permutation(len(votes.values)))
        moved = Votes(
            shuffled.values,
            np.argsort(systems)[shuffled.systems],
            np.argsort(items)[shuffled.items],
            np.argsort(listeners)[shuffled.listeners],
            SIZE,
        )
        ours = evaluate_grid(
            ScoreRatingGrid(scores, cell_means(votes)[0]), level, coefficient_names(level)
        )
        other = ScoreRatingGrid(scores[::-1][:, systems][:, :, items], cell_means(moved)[0])
        theirs = evaluate_grid(other, level, coefficient_names(level))
        assert ours.value == pytest.approx(theirs.value[:, ::-1], abs=1e-12, nan_ok=True)
        assert np.array_equal(ours.n, theirs.n[:, ::-1])


@pytest.mark.parametrize("level", LEVELS)
def test_the_same_seed_gives_the_same_bytes_and_another_other_ones(level: str) -> None:
    scores, votes = scores_of(1), votes_of(1)
    args = scores, votes, level, coefficient_names(level)
    first, again, other = (resample_coefficients(*args, draws=30, seed=seed) for seed in (7, 7, 8))
    assert first.tobytes() == again.tobytes()
    assert first.tobytes() != other.tobytes()


@pytest.mark.parametrize("level", LEVELS)
def test_blocks_change_no_draw(level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scores, votes = scores_of(2), votes_of(2)
    whole = resample_coefficients(scores, votes, level, coefficient_names(level), draws=40)
    monkeypatch.setattr("earwitness.metaeval.resampling.NUMBERS_IN_MEMORY", 400)
    monkeypatch.setattr("earwitness.metaeval.levels.NUMBERS_IN_CACHE", 1)
    parts = resample_coefficients(scores, votes, level, coefficient_names(level), draws=40)
    assert whole == pytest.approx(parts, abs=1e-12, nan_ok=True)


def test_a_metric_gets_the_same_draws_in_any_company() -> None:
    scores, votes = scores_of(3), votes_of(3)
    together = resample_coefficients(scores, votes, "item", ["kendall_b"], draws=20)
    alone = resample_coefficients(scores[2:], votes, "item", ["kendall_b"], draws=20)
    assert together[:, :, 2:] == pytest.approx(alone, abs=1e-12, nan_ok=True)


def test_draws_without_a_value_have_no_interval() -> None:
    # Two systems: half of all draws pick one of them twice.
    scores = np.array([[[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]]])
    systems, items, raters = np.indices((2, 3, 1)).reshape(3, -1)
    votes = Votes(1.0 + systems.astype(np.float64), systems, items, raters, (2, 3, 1))
    drawn = resample_coefficients(scores, votes, "system", ["kendall_b"], over="systems", draws=400)
    found = bootstrap_interval(np.ones((1, 1)), drawn, ["kendall_b"], count=2)
    assert np.isnan(drawn).sum() == pytest.approx(200, abs=60)
    assert np.isnan([found.low, found.high]).all()  # all others are 1


def test_means_that_rounding_tells_apart_are_ties() -> None:
    # 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in the last digit.
    rows = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.5, 0.5, 0.5]])
    assert rows[0].sum() != rows[1].sum()
    found = evaluate_grid(ScoreRatingGrid(rows[None], rows), "system", ["acc_23", "kendall_b"])
    assert found.value.tolist() == [[1], [1]]


def test_votes_with_decimals_that_rounding_tells_apart_are_ties() -> None:
    # 0.1 + 0.2 + 0.3 in three orders of listeners, and 0.7 three times.
    codes = np.repeat(np.arange(4), 3), np.zeros(12, np.int64), np.tile(np.arange(3), 4)
    values = np.array([0.1, 0.2, 0.3, 0.3, 0.2, 0.1, 0.2, 0.3, 0.1, 0.7, 0.7, 0.7])
    means = cell_means(Votes(values, *codes, (4, 1, 3)))[0, :, 0]
    assert means[0] == means[1] == means[2] < means[3]
    assert means == pytest.approx([0.2, 0.2, 0.2, 0.7])


def test_a_metric_of_tiny_numbers_keeps_its_order_beside_one_of_huge_ones() -> None:
    tiny = np.array([[3e-12, 1e-12], [5e-12, 4e-12], [9e-12, 8e-12]])
    grid = ScoreRatingGrid(np.stack([tiny, 1e12 * (1 + tiny)]), tiny)
    assert evaluate_grid(grid, "system", ["kendall_b"]).value[0, 0] == 1


def test_infinite_scores_and_other_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        ScoreRatingGrid(np.full((1, 2, 2), np.inf), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="same systems and items"):
        ScoreRatingGrid(np.zeros((1, 2, 2)), np.zeros((2, 3)))
