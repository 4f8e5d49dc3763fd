"""How often two equally good metrics are called different, with few and with many systems."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.join import MetricColumn, ScoreRatingTable
from earwitness.metaeval.ranking import metric_differences
from earwitness.metaeval.results import Figure
from earwitness.metaeval.settings import AgreementSettings
from earwitness.stats.votes import Votes
from helpers.samples import many

STUDIES = many(8, 400)
ITEMS, RATERS = 20, 8


def null_study(systems: int, seed: int, settings: AgreementSettings) -> ScaleComparison:
    """Return two equally good metrics, which each overrate some systems, and votes of raters."""
    rng = np.random.default_rng((systems, seed))
    shape = systems, ITEMS
    truth = rng.normal(0, 0.7, (systems, 1)) + rng.normal(0, 0.4, ITEMS)
    truth = truth + rng.normal(0, 0.3, shape)
    scores = truth + rng.normal(0, 0.5, (2, systems, 1)) + rng.normal(0, 0.5, (2, *shape))
    votes = np.clip(np.rint(3 + truth[:, :, None] + rng.normal(0, 0.8, (*shape, RATERS))), 1, 5)
    names = tuple(f"S{n}" for n in range(systems)), tuple(f"i{n}" for n in range(ITEMS))
    places = [indices.ravel() for indices in np.indices(votes.shape)]
    opinions = Votes(votes.ravel(), places[0], places[1], places[2], (*shape, RATERS))
    metrics = MetricColumn("a"), MetricColumn("b")
    table = ScoreRatingTable("MOS", metrics, *names, scores, opinions, (), paired=False)
    return ScaleComparison(table, opinions, settings)


@pytest.mark.parametrize("systems", range(3, 9))
@pytest.mark.parametrize(
    ("level", "coefficient"),
    [
        ("system", "kendall_b"),
        ("system", "pearson"),
        ("system", "soft_pairwise_accuracy"),
        ("item", "kendall_b"),
        ("item", "acc_23_calibrated"),
    ],
)
def test_equal_metrics_are_rarely_called_different(
    level: str, coefficient: str, systems: int
) -> None:
    settings = AgreementSettings(coefficient=coefficient, permutations=200)
    figure, alarms = Figure(level, coefficient), 0
    for seed in range(STUDIES):
        [test], ranking = metric_differences(null_study(systems, seed, settings), figure)
        alarms += test.is_distinct or len(ranking.groups) > 1
        assert test.is_distinct == (test.difference.low * test.difference.high > 0)
    print(f"\n{figure}, {systems} systems: {alarms / STUDIES:.3f}")
    if systems < 6:  # so few systems support no claim about others
        assert alarms == 0
    assert alarms / STUDIES < 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / STUDIES)


@pytest.mark.parametrize("level", ["system", "item"])
def test_equal_metrics_differ_on_these_systems(level: str) -> None:
    """On these systems one metric is better: swaps of items see it, and say nothing on others."""
    settings = AgreementSettings(generalize="items", permutations=200)
    alarms = [
        metric_differences(null_study(4, seed, settings), Figure(level, "kendall_b"))[0][0]
        for seed in range(STUDIES)
    ]
    assert np.mean([one.is_distinct for one in alarms]) > 0.1
    assert {one.unit for one in alarms} == {"items"}
