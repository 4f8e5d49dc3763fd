"""How often intervals hold what they should, in simulated studies.

What an interval should hold is the mean of the coefficient over
new studies in which what is drawn is new and all else is the same.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval.resampling import bootstrap_interval, resample_coefficients
from earwitness.stats.arrays import Floats
from helpers.samples import many
from helpers.simulated_studies import KINDS, SIZE, values, votes_of, world

NAMES = ["pearson", "kendall_b"]
STUDIES = many(40, 150)
NEW = many(60, 100)


def held(level: str, over: str) -> tuple[Floats, Floats]:
    """Coefficients × metrics: how often our intervals hold the mean, and how often percentiles."""
    count = dict(zip(KINDS, SIZE, strict=True)).get(over)
    ours, plain = [], []
    for seed in range(STUDIES):
        rng = np.random.default_rng((seed, 77))
        here = world(rng)
        scores, votes = here.study(rng)
        points = values((scores, votes), level, NAMES)
        drawn = resample_coefficients(
            scores, votes_of(votes), level, NAMES, over=over, draws=200, seed=seed
        )
        others = [values(here.other(rng, over).study(rng), level, NAMES) for _ in range(NEW)]
        mean = np.nanmean(others, axis=0)
        found = bootstrap_interval(points, drawn, NAMES, count=count)
        low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=1)
        ours.append((found.low <= mean) & (mean <= found.high))
        plain.append((low <= mean) & (mean <= high))
    return np.mean(ours, axis=0), np.mean(plain, axis=0)


@pytest.mark.parametrize("level", ["system", "item"])
@pytest.mark.parametrize("over", ["raters", "items", "systems", "all"])
def test_intervals_hold_the_mean_of_new_studies(level: str, over: str) -> None:
    ours, _ = held(level, over)
    assert ours.mean() > 0.95 - 3 * math.sqrt(0.05 * 0.95 / STUDIES) - 0.01
    assert ours.min() > 0.95 - 4 * math.sqrt(0.05 * 0.95 / STUDIES) - 0.02


def test_percentiles_of_draws_do_not_where_raters_are_drawn() -> None:
    ours, plain = held("item", "raters")
    assert plain[0, 0] < 0.8 < 0.87 < ours[0, 0]


def test_ends_lie_within_the_range_about_the_value() -> None:
    points = np.array([[0.9995, -1.0], [1.0, 0.0]])
    drawn = np.random.default_rng(1).uniform(0, 1, (2, 50, 2))
    found = bootstrap_interval(points, drawn, ["kendall_b", "acc_23"], count=6)
    assert (found.low <= points).all()
    assert (found.high >= points).all()
    assert (found.low >= [[-1], [0]]).all()
    assert (found.high <= 1).all()


def test_an_interval_by_hand() -> None:
    # Fisher's z of draws: 0, ln 3 / 2 · {−1, 1}; their standard deviation is √(2/3) · 0.5493. The
    # value is 0, so ends are tanh(± 1.95996 · 0.4485) = ± 0.7059.
    drawn = np.array([-0.5, 0.0, 0.5, math.nan]).reshape(1, 4, 1)
    found = bootstrap_interval(np.zeros((1, 1)), drawn, ["pearson"])
    assert found.high[0, 0] == pytest.approx(0.7059, abs=1e-4)
    assert found.low[0, 0] == -found.high[0, 0]
    # Of three systems: Student's t with 2 degrees of freedom is 4.3027, times √(3/2).
    few = bootstrap_interval(np.zeros((1, 1)), drawn, ["pearson"], count=3)
    assert few.high[0, 0] == pytest.approx(math.tanh(4.3027 * math.sqrt(1.5) * 0.44852), abs=1e-4)


def test_an_interval_of_pairs_by_hand() -> None:
    # Arc sines of draws: 0 and ± π / 6; their standard deviation is √(2/3) · 0.5236 = 0.4275, so
    # ends are sin(± 1.95996 · 0.4275) = ± 0.7433; for a share they are half as far from one half.
    drawn = np.array([-0.5, 0.0, 0.5]).reshape(1, 3, 1)
    found = bootstrap_interval(np.zeros((1, 1)), drawn, ["kendall_b"])
    assert found.high[0, 0] == pytest.approx(0.7433, abs=1e-4)
    share = bootstrap_interval(np.full((1, 1), 0.5), drawn / 2 + 0.5, ["acc_23"])
    assert share.low[0, 0] == pytest.approx(0.5 - 0.7433 / 2, abs=1e-4)


def test_draws_that_are_all_the_same_have_no_interval() -> None:
    drawn = np.ones((2, 20, 1))
    drawn[0, 0] = 1 - 1e-15
    found = bootstrap_interval(np.ones((2, 1)), drawn, ["kendall_b", "pearson"])
    assert np.isnan([found.low, found.high]).all()
    drawn[:, 0] = 0.9
    found = bootstrap_interval(np.ones((2, 1)), drawn, ["kendall_b", "pearson"])
    assert ((found.low < 1) & (found.low > 0.5)).all()


def test_no_draws_and_no_value_have_no_interval() -> None:
    drawn = np.full((1, 3, 2), math.nan)
    drawn[:, :, 1] = 0.5
    found = bootstrap_interval(np.array([[0.5, math.nan]]), drawn, ["acc_23"])
    assert np.isnan([found.low, found.high]).all()
