"""Verdicts on several systems keep 5 % over all pairs, and their intervals agree with them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.analysis.means import compare_systems
from earwitness.analysis.prepare import CodedRatings, code_ratings
from earwitness.core import Key, Rating
from earwitness.studies.analyse import settings_of
from helpers.samples import many

SYSTEMS = 5
ITEM_SYSTEM = 0.3  # standard deviation of item × system effects, in points of the scale


def study(
    rng: np.random.Generator, items: int, listeners: int, means: tuple[float, ...], spread: float
) -> CodedRatings:
    """Votes with effects of listeners and items alone and with systems."""
    own = np.array(means)[:, None, None] + rng.normal(0, spread, (SYSTEMS, items, 1))
    own = own + rng.normal(0, 0.5, (1, items, 1)) + rng.normal(0, 0.5, (1, 1, listeners))
    own = own + rng.normal(0, 0.3, (SYSTEMS, 1, listeners))
    values = own + rng.normal(0, 0.7, own.shape)
    ratings = [
        Rating(Key(f"clip{item}", f"s{system}"), "QUALITY", who, 1, float(value))
        for (system, item, who), value in np.ndenumerate(values)
    ]
    return code_ratings(ratings, "QUALITY")


@pytest.mark.parametrize("items", [3, 8, 20])
def test_other_items_do_not_make_equal_systems_different(items: int) -> None:
    """The default test is about these items: it finds differences between their items."""
    runs, rng = many(25, 400), np.random.default_rng(items)
    settings = settings_of(None, generalize="items")
    calls = 0
    for _ in range(runs):
        found = compare_systems(study(rng, items, 16, (3,) * SYSTEMS, ITEM_SYSTEM), settings, None)
        calls += any(contrast.better for contrast in found)
    error = math.sqrt(0.05 * 0.95 / runs)
    print(f"{items} items: {calls} of {runs} ± {error:.4f}")
    assert calls / runs < 0.06 + 3 * error


@pytest.mark.parametrize("correction", ["holm", "bh", "none"])
@pytest.mark.parametrize("means", [(3, 3, 3, 3, 3), (2.6, 3, 3, 3.4, 3.8)])
def test_intervals_cover_all_differences_at_once_and_agree_with_tests(
    means: tuple[float, ...], correction: str
) -> None:
    runs, rng = many(60, 1000), np.random.default_rng(7)
    settings = settings_of(None, correction=correction)
    truth = {f"s{number}": mean for number, mean in enumerate(means)}
    covered = 0
    for _ in range(runs):
        found = compare_systems(study(rng, 6, 12, means, 0.0), settings, None)
        all_inside = True
        for contrast in found:
            low, high = contrast.difference.low, contrast.difference.high
            is_clear = low >= 0 or high <= 0
            assert is_clear == bool(contrast.better), contrast
            inside = low <= truth[contrast.a] - truth[contrast.b] <= high
            all_inside = all_inside and inside
        covered += all_inside
    error = math.sqrt(0.05 * 0.95 / runs)
    print(f"{means} {correction}: all differences inside in {covered} of {runs} ± {error:.4f}")
    if correction == "holm":
        assert covered / runs > 0.95 - 3 * error
