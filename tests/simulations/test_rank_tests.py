"""Rank tests find a difference where there is none in at most 6 % of studies.

Votes are on five points, so listeners' differences have ties and zeros. In unbalanced studies
listeners rate between 1 and 10 items, so their means differ in precision.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from earwitness.stats.significance import friedman_test, signed_rank_tests
from helpers.samples import many

ALPHA, LARGEST_SIZE = 0.05, 0.06
MAX_ITEMS = 10
Floats = NDArray[np.float64]


def listener_means(
    rng: np.random.Generator,
    runs: int,
    listeners: int,
    systems: int,
    *,
    balanced: bool,
    better: float = 0.0,
) -> Floats:
    """Mean votes, runs × listeners × systems: the first system may be better than the others."""
    shape = (runs, listeners, systems, MAX_ITEMS)
    latent = (
        3.2
        + rng.normal(0, 0.5, (runs, listeners, 1, 1))
        + rng.normal(0, 0.3, (runs, listeners, systems, 1))
        + rng.normal(0, 0.5, (runs, 1, 1, MAX_ITEMS))
        + rng.normal(0, 0.8, shape)
    )
    latent[:, :, 0] += better
    votes = np.clip(np.round(latent), 1, 5)
    if balanced:
        return np.asarray(votes[..., :4].mean(axis=-1))
    rated = np.arange(MAX_ITEMS) < rng.integers(1, MAX_ITEMS + 1, (runs, listeners, 1, 1))
    return np.asarray((votes * rated).sum(axis=-1) / rated.sum(axis=-1))


@pytest.mark.parametrize("balanced", [True, False], ids=["balanced", "unbalanced"])
@pytest.mark.parametrize("listeners", [6, 12, 24])
def test_equal_systems_rarely_differ(listeners: int, balanced: bool) -> None:
    runs, rng = many(300, 6_000), np.random.default_rng(listeners + balanced)
    means = listener_means(rng, runs, listeners, 4, balanced=balanced)
    differences = means[..., 0] - means[..., 1]
    assert (differences == 0).any()
    wilcoxon = float((signed_rank_tests(differences.T).p < ALPHA).mean())
    friedman = float(np.mean([friedman_test(run).p < ALPHA for run in means]))
    error = (ALPHA * (1 - ALPHA) / runs) ** 0.5
    print(f"Wilcoxon {wilcoxon:.4f}, Friedman {friedman:.4f}; {runs} runs, error {error:.4f}")
    allowed = LARGEST_SIZE if many(0, 1) else LARGEST_SIZE + 3 * error
    assert wilcoxon <= allowed
    assert friedman <= allowed


def test_a_difference_is_found_nearly_as_often_as_by_the_t_test() -> None:
    from scipy import stats

    runs, rng = many(200, 3_000), np.random.default_rng(3)
    means = listener_means(rng, runs, 24, 2, balanced=True, better=0.4)
    differences = means[..., 0] - means[..., 1]
    wilcoxon = float((signed_rank_tests(differences.T).p < ALPHA).mean())
    t = float((stats.ttest_1samp(differences, 0, axis=1).pvalue < ALPHA).mean())
    print(f"power: Wilcoxon {wilcoxon:.3f}, t {t:.3f}")
    assert 0.5 < t < 0.99
    assert wilcoxon > t - 0.08
