"""Tie calibration: hand values, all margins tried in a loop, folds, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.stats.concord.calibration import calibrated
from earwitness.stats.concord.levels import Grid, people, value
from earwitness.stats.exact import Bools, Floats
from oracles.concordance import best_margin, coefficient
from stats.concord.grids import scores_of, votes_of
from support import many

Group = tuple[list[float], list[float]]


def groups(level: str, scores: Floats, means: Floats, items: Bools) -> list[Group]:
    """What is known of some items: a group an item, or one of all."""
    known = ~np.isnan(scores) & ~np.isnan(means) & items
    if level == "global":
        return [(scores[known].tolist(), means[known].tolist())]
    parts = [known & (np.arange(len(items)) == item) for item in np.flatnonzero(items)]
    return [(scores[part].tolist(), means[part].tolist()) for part in parts]


def test_the_margin_is_the_smallest_of_the_best_and_found_by_hand() -> None:
    # Both items: people tie the first two; the metric has them 0.1 and 0.3 apart, the third system
    # 1 or more away. A margin of 0.3 makes all pairs right; 0.1 makes five of six right.
    scores = np.array([[[0.0, 0.0], [0.1, 0.3], [1.1, 2.0]]])
    means = np.array([[1.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
    found = calibrated(Grid(scores, means), "item", folds=2)
    assert found.margin.tolist() == [0.3]
    # Each item is judged with the margin of the other: 0.1 leaves one pair of the second wrong.
    assert sorted(found.margins[:, 0]) == [0.1, 0.3]
    assert found.value[0] == pytest.approx((3 / 3 + 2 / 3) / 2)


@settings(max_examples=many(60, 500))
@given(st.integers(0, 10**6), st.sampled_from(["item", "global"]), st.integers(2, 8))
def test_margins_and_values_are_what_loops_find(seed: int, level: str, folds: int) -> None:
    scores, means = scores_of(seed), people(votes_of(seed))[0]
    found = calibrated(Grid(scores, means), level, folds=folds, seed=seed)
    everything = np.ones(scores.shape[2], bool)
    for metric, one in enumerate(scores):
        assert found.margin[metric] == best_margin(groups(level, one, means, everything))
        right = []
        for fold, margin in enumerate(found.margins[:, metric]):
            assert margin == best_margin(groups(level, one, means, found.folds != fold))
            for x, y in groups(level, one, means, found.folds == fold):
                share = coefficient("acc_23", x, y, range(len(x)), margin)
                weight = len(x) * (len(x) - 1) / 2 if level == "global" else 1
                if not math.isnan(share):
                    right.append((share * weight, weight))
        assert found.value[metric] == pytest.approx(
            sum(a for a, _ in right) / sum(b for _, b in right), abs=1e-12
        )


@pytest.mark.parametrize("level", ["item", "global"])
def test_a_margin_helps_where_people_tie_and_its_own_items_flatter_it(level: str) -> None:
    own = cross = plain = 0.0
    for seed in range(many(20, 200)):
        rng = np.random.default_rng(seed)
        means = rng.integers(1, 4, (6, 8)).astype(np.float64)
        grid = Grid((means + 0.4 * rng.normal(size=means.shape))[None], means)
        found = calibrated(grid, level, seed=seed)
        own += value(grid, level, ["acc_23"], found.margin).value[0, 0]
        cross += float(found.value[0])
        plain += value(grid, level, ["acc_23"]).value[0, 0]
    assert own > cross > plain


def test_the_same_seed_deals_the_same_folds_of_even_size() -> None:
    grid = Grid(scores_of(1), people(votes_of(1))[0])
    first, again = (calibrated(grid, "item", folds=3, seed=4) for _ in range(2))
    for ours, other in zip(first[:4], again[:4], strict=True):
        assert np.asarray(ours).tobytes() == np.asarray(other).tobytes()
    assert np.bincount(first.folds).tolist() == [2, 2, 2]
    assert first.by_item.shape == (3, 6)


def test_of_very_many_cells_some_choose_the_margin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(6)
    means = rng.integers(1, 5, (6, 40)).astype(np.float64)
    grid = Grid((means + 0.3 * rng.normal(size=means.shape))[None], means)
    whole = calibrated(grid, "global")
    monkeypatch.setattr("earwitness.stats.concord.calibration.MOST", 100)
    some = calibrated(grid, "global")
    assert some.margin[0] != whole.margin[0]
    assert some.value[0] == pytest.approx(whole.value[0], abs=0.03)


def test_where_there_is_no_calibration_a_reason_is_given() -> None:
    grid = Grid(scores_of(1), people(votes_of(1))[0])
    found = calibrated(grid, "system")
    assert np.isnan(found.value).all()
    assert "too few" in found.reason
    found = calibrated(Grid(grid.scores[:, :, :1], grid.people[:, :1]), "item")
    assert np.isnan(found.value).all()
    assert "one item" in found.reason


def test_a_metric_without_scores_has_no_margin_and_no_value() -> None:
    grid = Grid(np.full((1, 3, 4), np.nan), np.ones((3, 4)))
    for level in ("item", "global"):
        found = calibrated(grid, level)
        assert np.isnan([*found.value, *found.margin, *found.margins.ravel()]).all()
