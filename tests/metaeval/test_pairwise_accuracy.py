"""Tie calibration: hand values, all margins tried in a loop, folds, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.pairwise_accuracy import calibrate_ties
from earwitness.stats.arrays import Bools, Floats
from helpers.plain_coefficients import best_margin, coefficient
from helpers.samples import many
from helpers.vote_grids import scores_of, votes_of

Group = tuple[list[float], list[float]]


def groups(scores: Floats, means: Floats, items: Bools) -> list[Group]:
    """What is known of some items, a group an item."""
    known = ~np.isnan(scores) & ~np.isnan(means) & items
    parts = [known & (np.arange(len(items)) == item) for item in np.flatnonzero(items)]
    return [(scores[part].tolist(), means[part].tolist()) for part in parts]


def test_the_margin_is_the_smallest_of_the_best_and_found_by_hand() -> None:
    # Both items: people tie the first two; the metric has them 0.1 and 0.3 apart, the third system
    # 1 or more away. A margin of 0.3 makes all pairs right; 0.1 makes five of six right.
    scores = np.array([[[0.0, 0.0], [0.1, 0.3], [1.1, 2.0]]])
    means = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    found = calibrate_ties(ScoreRatingGrid(scores, means), folds=2)
    assert found.margin.tolist() == [0.3]
    # Each item is judged with the margin of the other: 0.1 leaves one pair of the second wrong.
    assert sorted(found.margins[:, 0]) == [0.1, 0.3]
    assert found.value[0] == pytest.approx((3 / 3 + 2 / 3) / 2)


@settings(max_examples=many(20, 500))
@given(st.integers(0, 10**6), st.integers(2, 8))
def test_margins_and_values_are_what_loops_find(seed: int, folds: int) -> None:
    scores, means = scores_of(seed), cell_means(votes_of(seed))[0]
    found = calibrate_ties(ScoreRatingGrid(scores, means), folds=folds, seed=seed)
    everything = np.ones(scores.shape[2], bool)
    for metric, one in enumerate(scores):
        assert found.margin[metric] == best_margin(groups(one, means, everything))
        right = []
        for fold, margin in enumerate(found.margins[:, metric]):
            assert margin == best_margin(groups(one, means, found.folds != fold))
            for x, y in groups(one, means, found.folds == fold):
                share = coefficient("acc_23", x, y, range(len(x)), margin)
                if not math.isnan(share):
                    right.append(share)
        assert found.value[metric] == pytest.approx(sum(right) / len(right), abs=1e-12)


def test_a_margin_helps_where_people_tie_and_its_own_items_flatter_it() -> None:
    own = cross = plain = 0.0
    for seed in range(many(20, 200)):
        rng = np.random.default_rng(seed)
        means = rng.integers(1, 4, (6, 8)).astype(np.float64)
        grid = ScoreRatingGrid((means + 0.4 * rng.normal(size=means.shape))[None], means)
        found = calibrate_ties(grid, seed=seed)
        own += evaluate_grid(grid, "item", ["acc_23"], found.margin).value[0, 0]
        cross += float(found.value[0])
        plain += evaluate_grid(grid, "item", ["acc_23"]).value[0, 0]
    assert own > cross > plain


def test_the_same_seed_deals_the_same_folds_of_even_size() -> None:
    grid = ScoreRatingGrid(scores_of(1), cell_means(votes_of(1))[0])
    first, again = (calibrate_ties(grid, folds=3, seed=4) for _ in range(2))
    for ours, other in zip(first[:4], again[:4], strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(other).tobytes()
    assert np.bincount(first.folds).tolist() == [2, 2, 2]
    assert first.by_item.shape == (3, 6)


def test_one_item_has_no_calibration() -> None:
    found = calibrate_ties(
        ScoreRatingGrid(scores_of(1)[:, :, :1], cell_means(votes_of(1))[0][:, :1])
    )
    assert np.isnan(found.value).all()
    assert not found.is_possible


def test_a_metric_without_scores_has_no_margin_and_no_value() -> None:
    found = calibrate_ties(ScoreRatingGrid(np.full((1, 3, 4), np.nan), np.ones((3, 4))))
    assert np.isnan([*found.value, *found.margin, *found.margins.ravel()]).all()
