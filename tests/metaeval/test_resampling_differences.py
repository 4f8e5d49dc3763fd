"""Differences between metrics: by hand, and how often intervals hold those of new studies."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval.resampling import (
    bootstrap_interval,
    difference_interval,
    resample_coefficients,
)
from earwitness.stats.arrays import Floats
from helpers.samples import many
from helpers.simulated_studies import KINDS, SIZE, values, votes_of, world

PAIRS = [(0, 1), (0, 2), (1, 2), (1, 3)]  # the last two are as good as each other
STUDIES = many(30, 100)
NEW = many(40, 100)


def held(level: str, over: str) -> Floats:
    """Coefficients × pairs: how often the interval holds the mean difference of new studies."""
    names = ["pearson", "spearman", "kendall_b", *(["pairwise_accuracy"] * (level == "system"))]
    count = dict(zip(KINDS, SIZE, strict=True)).get(over)
    first, second = np.array(PAIRS).T
    hits = []
    for seed in range(STUDIES):
        rng = np.random.default_rng((seed, 78))
        here = world(rng)
        scores, votes = here.study(rng)
        points = values((scores, votes), level, names)
        drawn = resample_coefficients(
            scores, votes_of(votes), level, names, over=over, draws=200, seed=seed
        )
        others = [values(here.other(rng, over).study(rng), level, names) for _ in range(NEW)]
        mean = np.nanmean(others, axis=0)
        mean = mean[:, first] - mean[:, second]
        ends = [
            difference_interval(points[n], drawn[n], name, PAIRS, over=over, count=count)
            for n, name in enumerate(names)
        ]
        low, high = (np.array([one[side] for one in ends]) for side in (0, 1))
        hits.append(np.where(np.isnan(low), np.nan, (low <= mean) & (mean <= high)))
    return np.asarray(np.nanmean(hits, axis=0))


@pytest.mark.simulation
@pytest.mark.parametrize("level", ["system", "item"])
@pytest.mark.parametrize("over", ["raters", "items", "systems", "all"])
def test_intervals_hold_the_mean_difference_of_new_studies(level: str, over: str) -> None:
    found = held(level, over)
    assert found.mean() > 0.95 - 3 * math.sqrt(0.05 * 0.95 / STUDIES) - 0.01
    assert found.min() > 0.95 - 4 * math.sqrt(0.05 * 0.95 / STUDIES) - 0.02


def test_a_difference_of_correlations_by_hand() -> None:
    # Draws ± 0.5 and 0 of both about 0, the same in both, the opposite in both, and independent of
    # each other: each end is 0.7059 from its value (see test_coverage), and that of the difference
    # is 0, twice that, and √2 times that from 0.
    one = np.array([-0.5, 0, 0.5])
    first, second = (grid.ravel() for grid in np.meshgrid(one, one))
    drawn = np.stack([first, first, -first, second], axis=1)
    pairs = [(0, 1), (0, 2), (0, 3)]
    found = difference_interval(np.zeros(4), drawn, "pearson", pairs, over="all")
    assert found.high == pytest.approx([0, 2 * 0.7059, math.sqrt(2) * 0.7059], abs=2e-4)
    assert found.low == pytest.approx(-found.high)


def test_other_coefficients_and_other_draws_take_the_spread_of_differences() -> None:
    rng = np.random.default_rng(2)
    points, drawn = rng.random(3), rng.random((40, 3))
    for name, over in (("kendall_b", "all"), ("pearson", "raters")):
        found = difference_interval(points, drawn, name, [(2, 0)], over=over, count=9)
        plain = bootstrap_interval(
            (points[2] - points[0])[None, None],
            (drawn[:, 2] - drawn[:, 0])[None, :, None],
            [name],
            count=9,
            difference=True,
        )
        assert (found.low[0], found.high[0]) == (plain.low[0, 0], plain.high[0, 0])


def test_a_metric_that_never_changes_adds_nothing_and_two_have_no_interval() -> None:
    rng = np.random.default_rng(3)
    drawn = np.stack([np.full(50, 0.9), np.full(50, 0.5), rng.uniform(0, 0.8, 50)], axis=1)
    drawn[:4, 2] = np.nan
    points = np.array([0.9, 0.5, 0.4])
    found = difference_interval(points, drawn, "pearson", [(0, 1), (0, 2)], over="systems", count=8)
    own = bootstrap_interval(points[None], drawn[None], ["pearson"], count=8)
    assert np.isnan([found.low[0], found.high[0]]).all()
    assert found.low[1] == pytest.approx(0.9 - own.high[0, 2])
    assert found.high[1] == pytest.approx(0.9 - own.low[0, 2])
    assert found.undefined.tolist() == [0, 4]
