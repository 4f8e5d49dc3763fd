"""Intervals of mean votes and tests between systems keep what they promise: shown by simulation.

The true means are computed, not simulated: see ``earwitness.stats.power``.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from benchmarks.intervals import COMPONENTS, LISTENERS, SCALES, Covered, covered

from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.contrasts import estimate_contrasts
from earwitness.stats.mixed_model import Components
from earwitness.stats.significance import CORRECTIONS
from helpers.samples import many
from helpers.vote_model import Points, crossed_design, draw_votes, expected_vote, stimulus_qualities

RUNS = many(100, 2000)
TESTS = many(300, 4000)
PAIRS = list(itertools.combinations(range(4), 2))
WITHOUT_TASTE_OF_ITEMS = replace(COMPONENTS, item_system=0)


@cache
def coverage(listeners: int, scale: str) -> dict[str, Covered]:
    found = covered(listeners, SCALES[scale], RUNS)
    for name, one in found.items():
        print(
            f"{scale}, {listeners} listeners, {name}: "
            f"these items {one.these_items:.3f} ± {one.error:.3f}, "
            f"all items {one.all_items:.3f} ± {one.error_all:.3f}, width {one.width:.3f}"
        )
    return found


def slack(error: float, least: float = 0.02) -> float:
    """Two points, or three Monte Carlo errors where there are few runs."""
    return max(least, 3 * error)


each_size = pytest.mark.parametrize("listeners", LISTENERS)
each_scale = pytest.mark.parametrize("scale", SCALES)


@each_size
@each_scale
def test_the_t_interval_over_listeners_covers_95_percent(listeners: int, scale: str) -> None:
    found = coverage(listeners, scale)["cluster_t"]
    assert found.these_items == pytest.approx(0.95, abs=slack(found.error))


@each_size
@each_scale
def test_the_naive_interval_covers_far_less_and_does_not_improve(
    listeners: int, scale: str
) -> None:
    found = coverage(listeners, scale)
    assert found["naive_t"].these_items < 0.75
    assert found["naive_t"].width < 0.6 * found["cluster_t"].width


@each_scale
@pytest.mark.parametrize(("listeners", "usual"), [(8, 0.89), (16, 0.925), (32, 0.94)])
def test_the_bootstrap_over_listeners_is_too_narrow_for_few(
    listeners: int, usual: float, scale: str
) -> None:
    found = coverage(listeners, scale)["cluster_bootstrap"]
    assert found.these_items == pytest.approx(usual, abs=slack(found.error))


@each_size
@each_scale
def test_only_intervals_that_draw_items_too_speak_about_other_items(
    listeners: int, scale: str
) -> None:
    found = coverage(listeners, scale)
    both, one = found["two_way_bootstrap"], found["cluster_t"]
    assert both.all_items == pytest.approx(0.94, abs=slack(both.error_all, 0.025))
    assert both.these_items > 0.95
    assert one.all_items < one.these_items - 0.02


def p_values(
    listeners: int, points: Points | None, components: Components, method: str
) -> tuple[Floats, Floats]:
    """p of all pairs of four equal systems, and whether intervals hold the true difference."""
    rng = np.random.Generator(np.random.PCG64(listeners))
    design, p, held = crossed_design(4, 12, listeners), [], []
    for _ in range(TESTS):
        stimuli = stimulus_qualities([3.4] * 4, 12, components, rng)
        values = draw_votes(design, stimuli, components, rng, points=points)[0]
        means = expected_vote(stimuli, components.within_stimuli, points).mean(axis=1)
        found = estimate_contrasts(replace(design, values=values), PAIRS, method)
        p.append([one.p for one in found])
        held.append(
            [
                one.difference.low <= means[a] - means[b] <= one.difference.high
                for (a, b), one in zip(PAIRS, found, strict=True)
            ]
        )
    return np.array(p), np.array(held, np.float64)


def averaged(rows: Floats | Bools) -> tuple[float, float]:
    """The mean over runs and pairs, and its Monte Carlo error: pairs of a run are related."""
    of_runs = rows.mean(axis=1)
    return float(of_runs.mean()), float(of_runs.std(ddof=1) / math.sqrt(len(of_runs)))


@each_size
@each_scale
def test_equal_systems_are_told_apart_in_5_percent_and_holm_keeps_families(
    listeners: int, scale: str
) -> None:
    p, held = p_values(listeners, SCALES[scale], WITHOUT_TASTE_OF_ITEMS, "cluster_t")
    single, error = averaged(p < 0.05)
    kept, _ = averaged(held)
    of_family = math.sqrt(0.05 * 0.95 / TESTS)
    family = {
        name: np.mean([min(correction(row.tolist())) < 0.05 for row in p])
        for name, correction in CORRECTIONS.items()
    }
    print(
        f"{scale}, {listeners} listeners: a pair {single:.4f} ± {error:.4f}, "
        f"any of six (± {of_family:.4f}): "
        + ", ".join(f"{name} {found:.4f}" for name, found in family.items())
    )
    assert single == pytest.approx(0.05, abs=0.003 + 3 * error)
    assert kept == pytest.approx(0.95, abs=0.003 + 3 * error)
    assert family["holm"] < 0.05 + 3 * of_family
    assert family["bh"] < 0.05 + 3 * of_family  # all are equal, so that any finding is false
    assert family["none"] > 0.1


def test_intervals_of_differences_speak_about_these_items() -> None:
    p, held = p_values(16, Points(), COMPONENTS, "cluster_t")
    (kept, error), (told, _) = averaged(held), averaged(p < 0.05)
    print(
        f"systems equal over all items, not over these: told apart {told:.4f}, "
        f"the difference on these items held {kept:.4f} ± {error:.4f}"
    )
    assert kept == pytest.approx(0.95, abs=0.003 + 3 * error)
    assert told > 0.08


def test_a_test_over_single_votes_calls_equal_systems_different() -> None:
    p, _ = p_values(16, Points(), WITHOUT_TASTE_OF_ITEMS, "naive_t")
    print(f"naive test of equal systems: {(p < 0.05).mean():.4f}")
    assert (p < 0.05).mean() > 0.1
