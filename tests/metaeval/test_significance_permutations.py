"""Permutation tests between metrics: every swap there is, seeds, gaps, and false alarms."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from earwitness.metaeval import significance
from earwitness.metaeval.coefficients import coefficient_names
from earwitness.metaeval.levels import ScoreRatingGrid, StudyDraws, evaluate_grid
from earwitness.metaeval.pairwise_accuracy import soft_accuracy_draws, soft_pairwise_accuracy
from earwitness.metaeval.significance import (
    SWAP_UNITS,
    SwappedDifferences,
    standardise_scores,
    swap_metrics,
    williams_test,
)
from earwitness.stats.arrays import Floats
from helpers.plain_permutations import step_down_p, swapped_p
from helpers.samples import many


def permutation_p(*args: Any, **options: Any) -> Floats:
    """p of each pair, not corrected."""
    return swap_metrics(*args, **options).p_values()


NAN = math.nan


def tiny(seed: int, items: int = 4) -> tuple[Floats, Floats]:
    """Three systems; the last metric has a gap, and there are ties."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(3, 3, items)).round(1)
    scores[2, 0, 1] = NAN
    return scores, rng.integers(1, 4, (3, items)).astype(np.float64)


@pytest.mark.parametrize("what", SWAP_UNITS)
@pytest.mark.parametrize("level", ["system", "item", "global"])
def test_p_is_near_the_share_of_all_swaps(level: str, what: str) -> None:
    permutations = many(400, 4000)
    wide = 4.5 * math.sqrt(0.25 / permutations) + 1 / permutations
    names = coefficient_names(level) if what == "systems" else ["kendall_b", "pearson"]
    scores, people = tiny(1, 3 if what == "outputs" else 4)
    for name in names:
        found = permutation_p(
            scores, people, [(0, 1), (2, 1)], level, name, what, permutations=permutations
        )
        for (a, b), p in zip([(0, 1), (2, 1)], found, strict=True):
            first, second = scores[a].tolist(), scores[b].tolist()
            slow = swapped_p(first, second, people.tolist(), level, name, what)
            assert p == pytest.approx(slow, abs=wide)


def test_p_is_never_0_and_1_for_a_metric_and_itself() -> None:
    rng = np.random.default_rng(2)
    people = rng.normal(size=(12, 12))
    scores = np.stack([people, -people, people])
    for what in SWAP_UNITS:
        args = ("system", "pearson", what)
        found = permutation_p(scores, people, [(0, 1), (0, 2)], *args, permutations=99)
        assert found[0] == 1 / 100
        assert found[1] == 1


def test_outputs_swaps_every_cell_by_itself() -> None:
    (masks,) = significance._swap_masks((3, 4), "outputs", 2000, 1, is_complete=False)
    flat = masks.reshape(2000, 12).astype(np.float64)
    # Of four cells at the corners of a rectangle any number may be swapped, odd ones too.
    odd = masks[:, 0, 0] ^ masks[:, 0, 1] ^ masks[:, 1, 0] ^ masks[:, 1, 1]
    assert odd.mean() == pytest.approx(0.5, abs=0.05)
    assert np.abs(np.corrcoef(flat.T) - np.eye(12)).max() < 0.12
    (items,) = significance._swap_masks((3, 4), "items", 5, 1, is_complete=False)
    (systems,) = significance._swap_masks((3, 4), "systems", 5, 1, is_complete=False)
    assert (items.shape, systems.shape) == ((5, 1, 4), (5, 3, 1))


@pytest.mark.parametrize("level", ["system", "item"])
@pytest.mark.parametrize("what", SWAP_UNITS)
def test_the_same_seed_gives_the_same_p_in_any_company_and_in_blocks(
    level: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    people = rng.normal(size=(9, 10))  # more swaps than are made
    scores = people + rng.normal(size=(4, 9, 10)) * np.array([0.3, 1, 2, 4])[:, None, None]
    scores[3, 2, 2] = NAN

    def run(pairs: list[tuple[int, int]], seed: int = 7) -> bytes:
        found = permutation_p(
            scores, people, pairs, level, "kendall_b", what, permutations=200, seed=seed
        )
        return found.tobytes()

    whole = run([(0, 1), (1, 2), (3, 0)])
    assert run([(0, 1), (1, 2), (3, 0)]) == whole
    assert run([(0, 1)]) + run([(1, 2)]) + run([(3, 0)]) == whole
    assert run([(0, 1), (1, 2), (3, 0)], 8) != whole
    monkeypatch.setattr(significance, "WEIGHTS_IN_MEMORY", 4 * 90 * 7)
    assert run([(0, 1), (1, 2), (3, 0)]) == whole


@pytest.mark.parametrize("level", ["system", "item"])
def test_where_all_swaps_can_be_made_p_is_their_share_whatever_the_seed(level: str) -> None:
    rng = np.random.default_rng(5)
    people = rng.normal(size=(6, 4))
    scores = np.stack([people + rng.normal(size=(6, 4)), rng.normal(size=(6, 4))])
    found = [
        permutation_p(scores, people, [(0, 1)], level, "pearson", "systems", seed=seed)[0]
        for seed in (1, 2)
    ]
    assert found[0] == found[1]
    assert found[0] * 32 == int(found[0] * 32) >= 1
    assert significance.smallest_p(6, 1000) == 1 / 32
    assert significance.smallest_p(20, 1000) == 1 / 1001


@pytest.mark.parametrize("scale", [1e-13, 1e160])
def test_scales_of_scores_do_not_matter(scale: float) -> None:
    rng = np.random.default_rng(6)
    people = rng.normal(size=(7, 5))
    scores = np.stack([people + rng.normal(size=(7, 5)), rng.normal(size=(7, 5))])
    plain, other = (
        permutation_p(own, people, [(0, 1)], "system", "pearson", "systems")
        for own in (scores, scores * np.array([scale, 1])[:, None, None])
    )
    assert plain == pytest.approx(other)


def test_a_constant_metric_has_no_difference() -> None:
    rng = np.random.default_rng(4)
    people = rng.normal(size=(5, 6))
    scores = np.stack([np.full((5, 6), 0.3), people])
    for level in ("system", "item", "global"):
        assert np.isnan(
            permutation_p(scores, people, [(0, 1)], level, "pearson", "outputs", permutations=9)
        )
    assert (standardise_scores(scores)[0] == 0).all()


def test_scales_of_metrics_do_not_matter_and_no_pairs_give_nothing() -> None:
    rng = np.random.default_rng(5)
    people = rng.normal(size=(6, 7))
    scores = people + rng.normal(size=(2, 6, 7))
    other = np.stack([scores[0], 100 + 1000 * scores[1]])
    args = ([(0, 1)], "system", "spearman", "items")
    assert permutation_p(scores, people, *args) == permutation_p(other, people, *args)
    assert permutation_p(scores, people, [], "item", "kendall_b", "outputs").shape == (0,)
    with pytest.raises(ValueError, match="one of items, systems, outputs, got raters"):
        permutation_p(scores, people, [(0, 1)], "system", "pearson", "raters")


def study(seed: int, by_system: float, by_cell: float) -> tuple[Floats, Floats]:
    """Two equally good metrics of 8 systems × 10 items, and means of 8 raters' votes."""
    rng = np.random.default_rng((seed, 8))
    true = rng.normal(0, 0.7, (8, 1)) + rng.normal(0, 0.4, 10) + rng.normal(0, 0.4, (8, 10))
    bias = rng.normal(0, 0.4, 8) + rng.normal(0, 0.3, (8, 1, 8))
    votes = np.rint(3 + true[..., None] + bias + rng.normal(0, 0.7, (8, 10, 8)))
    errors = rng.normal(0, by_system, (2, 8, 1)) + rng.normal(0, by_cell, (2, 8, 10))
    return true + errors, np.clip(votes, 1, 5).mean(axis=2)


def alarms(what: str, level: str, name: str, by_system: float, by_cell: float) -> float:
    """How often two equally good metrics are told apart at 0.05."""
    found = []
    for seed in range(many(80, 600)):
        scores, people = study(seed, by_system, by_cell)
        p = permutation_p(scores, people, [(0, 1)], level, name, what, permutations=99, seed=seed)
        found.append(p[0] <= 0.05)
    return float(np.mean(found))


MOST = 0.05 + 3.5 * math.sqrt(0.05 * 0.95 / many(80, 600)) + 0.02


@pytest.mark.simulation
@pytest.mark.parametrize("errors", [(0.5, 0.5), (0.0, 0.8)])
def test_swaps_of_systems_have_few_false_alarms(errors: tuple[float, float]) -> None:
    assert alarms("systems", "system", "pearson", *errors) < MOST
    assert alarms("systems", "item", "kendall_b", *errors) < MOST


@pytest.mark.simulation
@pytest.mark.parametrize("what", ["items", "outputs"])
def test_other_swaps_have_few_false_alarms_only_where_errors_are_of_cells(what: str) -> None:
    assert alarms(what, "item", "kendall_b", 0.0, 0.8) < MOST
    assert alarms(what, "system", "pearson", 0.0, 0.8) < MOST
    assert alarms(what, "system", "pearson", 0.5, 0.5) > 0.25


@pytest.mark.simulation
def test_williams_has_few_false_alarms_on_means_of_systems() -> None:
    found = []
    for seed in range(many(400, 4000)):
        scores, people = study(seed, 0.5, 0.5)
        r = np.corrcoef([*scores.mean(axis=2), people.mean(axis=1)])
        found.append(williams_test(r[0, 2], r[1, 2], r[0, 1], 8).p <= 0.05)
    assert np.mean(found) < 0.05 + 4 * math.sqrt(0.05 * 0.95 / len(found))


# --- Correction for all pairs --------------------------------------------------------------------


def correlated(seed: int, shift: float = 0.0) -> SwappedDifferences:
    """Differences of five pairs over all 64 swaps of 7 units, one of them undefined."""
    rng = np.random.default_rng(seed)
    own = rng.normal(size=(7, 1)) + rng.normal(size=(7, 5)) + shift * np.arange(5)
    signs = 1.0 - 2 * (np.arange(64)[:, None] >> np.arange(7) & 1)
    swapped = np.asarray(signs @ own, np.float64)
    swapped[:, 4] = NAN
    return SwappedDifferences(swapped[0], swapped, True, 7)


@pytest.mark.parametrize("seed", range(5))
def test_correction_is_that_of_plain_loops(seed: int) -> None:
    given = correlated(seed, 0.4)
    found = given.test(0.95)
    columns = [given.swapped[:, n].tolist() for n in range(4)]
    assert found.p[:4] == pytest.approx(step_down_p(columns), abs=1e-12)
    assert np.isnan(found.p[4])
    assert np.isnan(found.half_width[4])
    plain = given.test(0.95, corrected=False)
    assert plain.p[:4] == pytest.approx(given.p_values()[:4])
    assert (found.p[:4] >= plain.p[:4]).all()


@pytest.mark.parametrize("corrected", [True, False])
def test_intervals_exclude_0_if_and_only_if_the_test_is_significant(*, corrected: bool) -> None:
    decided = 0
    for seed in range(60):
        given = correlated(seed, 0.2 * (seed % 7))
        found = given.test(0.95, corrected=corrected)
        is_significant = found.p[:4] < 0.05
        assert ((np.abs(given.observed) > found.half_width)[:4] == is_significant).all()
        decided += int(is_significant.sum())
    assert 20 < decided < 220


def test_seven_systems_are_enough_to_find_25_metrics_that_are_much_worse() -> None:
    rng = np.random.default_rng(1)
    true = rng.normal(0, 0.7, (7, 1)) + rng.normal(0, 0.5, (7, 60))
    people = true + rng.normal(0, 0.2, (7, 60))
    bad = 0.3 * true + rng.normal(0, 0.3, (25, 7, 1)) + rng.normal(size=(25, 7, 60))
    scores = np.concatenate([(true + rng.normal(0, 0.2, (7, 60)))[None], bad])
    pairs = list(combinations(range(26), 2))
    given = swap_metrics(scores, people, pairs, "item", "kendall_b", "systems")
    found = given.test(0.95)
    assert pairs[:25] == [(0, n) for n in range(1, 26)]
    assert (given.observed[:25] > 0.4).all()
    assert (found.p[:25] < 0.05).all()
    assert (given.observed[:25] > found.half_width[:25]).all()


def test_too_few_units_for_a_significant_p_have_no_interval() -> None:
    own = np.array([1.0, 2.0, 1.5, 1.2, 1.1])
    signs = 1.0 - 2 * (np.arange(16)[:, None] >> np.arange(5) & 1)
    found = SwappedDifferences(own.sum(keepdims=True), (signs @ own)[:, None], True, 5)
    assert found.test(0.95).p[0] == 1 / 16
    assert np.isnan(found.test(0.95).half_width[0])
    assert found.test(0.9).half_width[0] < own.sum()


def test_how_many_units_a_significant_p_needs() -> None:
    for alpha in (0.2, 0.05, 0.01, 0.001):
        needed = significance.count_needed_units(alpha)
        assert significance.smallest_p(needed, 10**6) < alpha
        assert significance.smallest_p(needed - 1, 10**6) >= alpha


# --- False alarms and power of families ----------------------------------------------------------


def equal_metrics(seed: int, metrics: int, by_system: float) -> tuple[Floats, Floats]:
    """Equally good metrics of 8 systems × 10 items, and means of 8 raters' votes."""
    rng = np.random.default_rng((seed, 9))
    true = rng.normal(0, 0.7, (8, 1)) + rng.normal(0, 0.4, 10) + rng.normal(0, 0.4, (8, 10))
    votes = np.rint(3 + true[..., None] + rng.normal(0, 0.7, (8, 10, 8)))
    errors = rng.normal(0, by_system, (metrics, 8, 1)) + rng.normal(0, 0.6, (metrics, 8, 10))
    return true + errors, np.clip(votes, 1, 5).mean(axis=2)


@pytest.mark.simulation
@pytest.mark.parametrize("metrics", [2, 6, 12])
@pytest.mark.parametrize("level", ["system", "item"])
def test_families_have_few_false_alarms(level: str, metrics: int) -> None:
    runs, alarms = many(150, 2000), 0
    pairs = list(combinations(range(metrics), 2))
    for seed in range(runs):
        scores, people = equal_metrics(seed, metrics, 0.5)
        found = swap_metrics(scores, people, pairs, level, "kendall_b", "systems").test(0.95)
        alarms += bool((found.p < 0.05).any())
    assert alarms / runs < 0.06 + 3 * math.sqrt(0.06 * 0.94 / runs)
    if metrics > 2 or level == "item":  # tau of two metrics over 8 systems has few values
        assert alarms / runs > 0.03 - 3 * math.sqrt(0.03 * 0.97 / runs)


# --- Soft pairwise accuracy and calibrated ties --------------------------------------------------


def with_gap(seed: int) -> tuple[Floats, Floats]:
    """Two metrics of 7 systems × 9 items with a gap, and ratings with ties."""
    rng = np.random.default_rng((seed, 10))
    scores = rng.normal(size=(2, 7, 9)).round(1)
    scores[:, 2, 3] = NAN
    return scores, rng.integers(1, 6, (7, 9)).astype(np.float64)


def test_swaps_of_systems_change_soft_pairwise_accuracy_as_computed_anew() -> None:
    scores, people = with_gap(1)
    found = swap_metrics(
        scores, people, [(0, 1)], "system", "soft_pairwise_accuracy", "systems", permutations=300
    )
    assert found.is_complete
    both = standardise_scores(scores)
    for swap in (0, 1, 22, 63):
        is_swapped = (swap >> np.arange(7) & 1).astype(bool)[:, None]
        mixed = np.stack([np.where(is_swapped, both[1 - n], both[n]) for n in (0, 1)])
        first, second = soft_pairwise_accuracy(
            ScoreRatingGrid(mixed, people), permutations=300, seed=0
        )
        assert found.swapped[swap, 0] == pytest.approx(first - second, abs=1e-12)
    assert found.observed[0] == pytest.approx(found.swapped[0, 0])


@pytest.mark.parametrize("what", ["items", "outputs"])
def test_other_swaps_of_soft_pairwise_accuracy_use_the_normal_approximation(what: str) -> None:
    scores, people = with_gap(2)
    scores[1] += 0.6 * people
    args = "system", "soft_pairwise_accuracy", what
    found = swap_metrics(scores, people, [(0, 1)], *args, permutations=300)
    first, second = soft_pairwise_accuracy(
        ScoreRatingGrid(scores, people), permutations=4000, seed=1
    )
    assert found.observed[0] == pytest.approx(first - second, abs=0.03)
    once = StudyDraws(np.ones((1, 7)), np.ones((1, 9)), people[None])
    normal = soft_accuracy_draws(scores, once)[0]
    assert found.observed[0] == pytest.approx(normal[0] - normal[1], abs=1e-6)


def test_swaps_tie_scores_of_two_metrics_by_the_mean_of_their_margins() -> None:
    scores, people = with_gap(3)
    scores[1] *= 10
    margins = np.array([[0.4] * 9, [7.0] * 9])
    found = swap_metrics(
        scores, people, [(0, 1)], "item", "acc_23_calibrated", "systems", margins=margins
    )
    own = evaluate_grid(ScoreRatingGrid(scores, people), "item", ["acc_23"], margins).value[0]
    assert found.observed[0] == pytest.approx(own[0] - own[1])
    both = standardise_scores(scores)
    limits = [
        m * np.nanstd(b) / np.nanstd(s) for m, b, s in zip((0.4, 7), both, scores, strict=True)
    ]

    def accuracy(metrics: list[int]) -> float:
        """acc_23 within items, of systems that each have a score of one of the metrics."""
        shares = []
        for item in range(9):
            known = [s for s in range(7) if not np.isnan(both[0, s, item])]
            right = [
                int(np.sign(gap) if abs(gap) > limit + 1e-9 else 0)
                == int(np.sign(people[s, item] - people[t, item]))
                for s, t in combinations(known, 2)
                for gap in [both[metrics[s], s, item] - both[metrics[t], t, item]]
                for limit in [(limits[metrics[s]] + limits[metrics[t]]) / 2]
            ]
            shares.append(np.mean(right))
        return float(np.mean(shares))

    for swap in (0, 5, 40):
        metrics = [swap >> s & 1 for s in range(7)]
        wanted = accuracy(metrics) - accuracy([1 - one for one in metrics])
        assert found.swapped[swap, 0] == pytest.approx(wanted)


def test_metrics_that_differ_by_rounding_only_do_not_differ() -> None:
    tiny_differences = SwappedDifferences(np.array([1e-16]), np.full((8, 1), 1e-16), True, 4)
    assert tiny_differences.test(0.95).p[0] == 1
