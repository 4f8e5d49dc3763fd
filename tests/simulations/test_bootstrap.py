"""Intervals keep what they promise: shown by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.chapters.metrics import Chunks
from earwitness.stats.bootstrap import Bootstrap, percentile_interval, poisson_weights
from helpers.samples import many

HASHES = np.random.default_rng(9).integers(0, 2**63, 100_000).astype(np.uint64)
CASES = 80
NAMES = [value.name for value in Chunks.values]


def population(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Statistics of cases that differ in size and in how well they are done.

    Columns as the chunks family has them: precision and recall of a case, their F1, and the counts
    that f1_micro is made of.
    """
    reference = rng.integers(3, 40, n)
    skill = rng.beta(4, 3, n)
    tp = rng.binomial(reference, skill)
    fp = rng.poisson(0.4 * reference)
    precision = np.where(tp + fp > 0, tp / np.maximum(tp + fp, 1), 0)
    recall = tp / reference
    f1 = 2 * tp / (2 * tp + fp + (reference - tp))
    rows = np.zeros((n, 14))
    rows[:, 0] = 1
    rows[:, 1], rows[:, 2], rows[:, 11] = precision, recall, f1
    rows[:, 12], rows[:, 13] = 2 * tp, tp + fp + reference
    return rows


def covered(limit: int, runs: int) -> dict[str, float]:
    """How often the 95 % interval holds the true value."""
    metric, rng = Chunks(), np.random.default_rng(17)
    truth = metric.score(population(rng, 2_000_000).sum(axis=0))
    hits = np.zeros(len(NAMES))
    for run in range(runs):
        bootstrap = Bootstrap(draws=1000, seed=run, limit=limit)
        bootstrap.add(rng.choice(HASHES, CASES, replace=False), population(rng, CASES))
        low, high = percentile_interval(metric.score(bootstrap.finish().draws), 0.95)
        hits += (low <= truth) & (truth <= high)
    return dict(zip(NAMES, (hits / runs).tolist(), strict=True))


@pytest.mark.parametrize("limit", [10**6, 10], ids=["multinomial", "poisson"])
@pytest.mark.parametrize("name", ["precision", "recall", "f1", "f1_micro", "f1_sample"])
def test_95_percent_intervals_cover_95_percent(
    name: str, limit: int, coverage: dict[int, dict[str, float]]
) -> None:
    # percentile intervals of 80 cases fall short by about a point; allow three standard errors more
    runs = many(200, 4000)
    slack = 0.012 + 3 * math.sqrt(0.95 * 0.05 / runs)
    assert coverage[limit][name] == pytest.approx(0.95, abs=slack)


@pytest.fixture(scope="module")
def coverage() -> dict[int, dict[str, float]]:
    runs = many(200, 4000)
    found = {limit: covered(limit, runs) for limit in (10**6, 10)}
    print({limit: {k: round(v, 4) for k, v in found[limit].items()} for limit in found})
    return found


def test_poisson_weights_have_mean_and_variance_1_and_no_correlation() -> None:
    drawn = poisson_weights(HASHES[: many(4000, 40_000)], 200, 3).astype(np.float64)
    size = drawn.size
    assert drawn.mean() == pytest.approx(1, abs=1e-4 + 4 / math.sqrt(size))
    assert drawn.var() == pytest.approx(1, abs=1e-3 + 4 * math.sqrt(3 / size))
    between_draws = np.asarray(np.corrcoef(drawn[:, :40].T))[np.triu_indices(40, 1)]
    between_cases = np.asarray(np.corrcoef(drawn[:60]))[np.triu_indices(60, 1)]
    assert np.abs(between_draws).max() < 5 / math.sqrt(len(drawn))
    assert np.abs(between_cases).max() < 5 / math.sqrt(200)


def test_seeds_give_unrelated_weights() -> None:
    a, b = (poisson_weights(HASHES[:2000], 100, seed).astype(np.float64).ravel() for seed in (0, 1))
    assert abs(np.corrcoef(a, b)[0, 1]) < 5 / math.sqrt(len(a))


def test_a_wider_level_gives_a_wider_interval() -> None:
    draws = np.random.default_rng(0).normal(size=(1000, 1))
    low90, high90 = percentile_interval(draws, 0.90)
    low99, high99 = percentile_interval(draws, 0.99)
    assert low99[0] < low90[0] < high90[0] < high99[0]


def test_undefined_draws_are_passed_over() -> None:
    draws = np.array([[1.0, np.nan], [np.nan, np.nan], [3.0, np.nan]])
    low, high = percentile_interval(draws, 0.5)
    assert (low[0], high[0]) == (1.5, 2.5)
    assert np.isnan([low[1], high[1]]).all()


@pytest.mark.parametrize(
    ("cases", "method"),
    [(100_000, "bootstrap-multinomial"), (100_001, "bootstrap-poisson")],
)
def test_beyond_a_hundred_thousand_cases_memory_stays_flat(cases: int, method: str) -> None:
    bootstrap = Bootstrap(draws=2)
    for portion in np.array_split(np.arange(cases, dtype=np.uint64), 7):
        bootstrap.add(portion, np.ones((len(portion), 1)))
    assert bootstrap.finish().method == method
    assert bootstrap.finish().total.tolist() == [cases]
    assert (sum(len(hashes) for hashes, _ in bootstrap._kept) == 0) == (cases > 100_000)


def test_no_case_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one case"):
        Bootstrap().finish()
