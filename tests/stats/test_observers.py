"""The subject model: the worked example of P.910, a plain twin, and panels that would collapse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.core import Estimate
from earwitness.stats.arrays import Floats
from earwitness.stats.observers import SubjectFit, _inconsistency_ends, fit_subjects
from helpers.literature_tables import BIASES, INCONSISTENCIES, P910, QUALITIES, numbers
from helpers.samples import many


def values(estimates: tuple[Estimate, ...]) -> Floats:
    return np.array([one.value for one in estimates])


def test_the_worked_example_of_p910_has_its_published_values() -> None:
    found = fit_subjects(P910)
    np.testing.assert_allclose(values(found.qualities), numbers(QUALITIES), atol=1e-12)
    np.testing.assert_allclose(values(found.biases), numbers(BIASES), atol=1e-12)
    np.testing.assert_allclose(values(found.inconsistencies), numbers(INCONSISTENCIES), atol=1e-12)
    assert found.converged
    assert (found.rounds, found.floored, found.warning) == (16, (), "")


def test_one_vote_more_or_less_would_not_have_them() -> None:
    changed = P910.copy()
    changed[0, 0] -= 1
    found = values(fit_subjects(changed).qualities)
    assert np.abs(found - numbers(QUALITIES)).max() > 1e-3


def mean(numbers: list[float]) -> float:
    return math.fsum(numbers) / len(numbers)


def plain(table: Floats) -> tuple[list[float], list[float], list[float]]:
    """The algorithm of the recommendation, vote by vote, without a floor."""
    stimuli, listeners = table.shape
    votes = {(j, i): float(table[j, i]) for j, i in np.argwhere(~np.isnan(table)).tolist()}
    of_stimulus = [[i for i in range(listeners) if (j, i) in votes] for j in range(stimuli)]
    of_listener = [[j for j in range(stimuli) if (j, i) in votes] for i in range(listeners)]
    quality = [mean([votes[j, i] for i in own]) for j, own in enumerate(of_stimulus)]
    bias = [mean([votes[j, i] - quality[j] for j in own]) for i, own in enumerate(of_listener)]
    for _ in range(1000):
        spread = []
        for i, own in enumerate(of_listener):
            rest = [votes[j, i] - quality[j] - bias[i] for j in own]
            spread.append(math.sqrt(mean([(x - mean(rest)) ** 2 for x in rest])))
        weight = [1 / (x**2 + 1e-8) for x in spread]
        before, quality = quality, []
        for j, who in enumerate(of_stimulus):
            total = math.fsum(weight[i] * (votes[j, i] - bias[i]) for i in who)
            quality.append(total / math.fsum(weight[i] for i in who))
        bias = [mean([votes[j, i] - quality[j] for j in own]) for i, own in enumerate(of_listener)]
        if math.dist(before, quality) < 1e-8:
            break
    middle = mean(bias)
    return [x + middle for x in quality], [x - middle for x in bias], spread


def panel(rng: np.random.Generator, stimuli: int, listeners: int, spread: float = 0.7) -> Floats:
    """Votes by the model itself, with equal inconsistencies."""
    truth = rng.normal(3, 1, (stimuli, 1)) + rng.normal(0, 0.4, listeners)
    found: Floats = truth + spread * rng.normal(size=(stimuli, listeners))
    return found


@pytest.mark.parametrize(("stimuli", "listeners", "missing"), [(25, 9, 0.1), (200, 20, 0.8)])
def test_without_a_floor_it_is_the_plain_algorithm(
    stimuli: int, listeners: int, missing: float
) -> None:
    rng = np.random.default_rng(4)
    for _ in range(many(4, 20)):
        table = panel(rng, stimuli, listeners)
        table[rng.random(table.shape) < missing] = np.nan
        table = table[~np.isnan(table).all(axis=1)]
        found, twin = fit_subjects(table, share=0), plain(table)
        ours = values(found.qualities), values(found.biases), values(found.inconsistencies)
        for own, theirs in zip(ours, twin, strict=True):
            np.testing.assert_allclose(own, theirs, atol=1e-7)


def test_a_panel_of_five_collapses_without_a_floor_and_does_not_with_it() -> None:
    table = panel(np.random.default_rng(9), 60, 5)
    quality, bias, spread = plain(table)
    one = int(np.argmin(spread))
    assert spread[one] < 1e-4  # beside a true 0.7, and the others are
    assert sorted(spread)[1] > 0.5
    # all the weight is that listener's: qualities are their votes, but for the bias
    np.testing.assert_allclose(quality, table[:, one] - bias[one], atol=1e-3)
    held = fit_subjects(table)
    assert held.floored == (one,)
    assert held.inconsistencies[one].value == held.floor > 0.3
    assert held.warning == (
        f"the inconsistency of 1 of 5 listeners was raised to the minimum of {held.floor:.2f}, "
        "because the panel is too small to weight them fully"
    )
    assert np.abs(values(held.qualities) - table[:, one] + bias[one]).max() > 0.1


@pytest.mark.parametrize("listeners", [2, 3, 16])
def test_intervals_of_inconsistencies_contain_them(listeners: int) -> None:
    """Also where the interval without the bias of fitting lies above the defined value."""
    found = fit_subjects(panel(np.random.default_rng(8), 200, listeners)).inconsistencies
    assert all(one.low <= one.value < one.high for one in found)


@pytest.mark.simulation
def test_who_collapses_without_a_floor_is_floored() -> None:
    runs, rng = many(40, 2000), np.random.default_rng(5)
    collapsed = floored = 0
    for _ in range(runs):
        table = panel(rng, 60, 5)
        spread = values(fit_subjects(table, share=0).inconsistencies)
        gone = set(np.flatnonzero(spread < 0.01).tolist())
        found = fit_subjects(table)
        assert found.converged
        assert bool(found.floored) or not gone
        collapsed += bool(gone)
        floored += bool(found.floored)
    error = math.sqrt(0.25 / runs)
    print(f"panels of five: {collapsed} of {runs} collapse, {floored} floored (± {error:.3f})")
    assert collapsed > 0.2 * runs


def inside(found: tuple[Estimate, ...], truth: Floats) -> float:
    return float(np.mean([e.low <= x <= e.high for e, x in zip(found, truth, strict=True)]))


@pytest.mark.simulation
@pytest.mark.parametrize(("listeners", "least"), [(5, 0.90), (8, 0.92), (16, 0.93), (32, 0.93)])
def test_intervals_cover_what_was_planted(listeners: int, least: float) -> None:
    runs, rng = many(60, 2000), np.random.default_rng(listeners)
    hits = []
    for _ in range(runs):
        quality, bias = rng.normal(3, 1, 60), rng.normal(0, 0.4, listeners)
        spread = np.full(listeners, 0.7)
        table = quality[:, None] + bias + spread * rng.normal(size=(60, listeners))
        found = fit_subjects(table)
        hits.append(
            [
                inside(found.qualities, quality + bias.mean()),
                inside(found.biases, bias - bias.mean()),
                inside(found.inconsistencies, spread),
            ]
        )
    shares, errors = np.mean(hits, axis=0), np.std(hits, axis=0) / math.sqrt(runs)
    told = ", ".join(f"{a:.3f} ± {b:.3f}" for a, b in zip(shares, errors, strict=True))
    print(f"{listeners} listeners: qualities, biases, inconsistencies cover {told} ({runs} runs)")
    assert least < shares[0] + 3 * errors[0]
    assert shares[0] < 0.97
    assert shares[1] + 3 * errors[1] > 0.93
    assert shares[2] > 0.85 - 3 * errors[2]


def test_biases_sum_to_nothing_within_each_part() -> None:
    rng = np.random.default_rng(6)
    table = np.full((40, 16), np.nan)
    table[:20, :8], table[20:, 8:] = panel(rng, 20, 8), panel(rng, 20, 8) + 1
    found = fit_subjects(table)
    assert found.parts == (0,) * 8 + (1,) * 8
    biases = values(found.biases)
    assert abs(biases[:8].sum()) < 1e-12
    assert abs(biases[8:].sum()) < 1e-12
    alone = fit_subjects(table[:20, :8], share=0)
    both = fit_subjects(table, share=0)
    np.testing.assert_allclose(values(both.qualities)[:20], values(alone.qualities), atol=1e-6)


def test_listeners_linked_by_way_of_others_are_one_part() -> None:
    table = np.full((3, 5), np.nan)
    table[0, :2], table[1, 1:3], table[2, 3] = 3, 4, 5
    found = fit_subjects(table)
    assert found.parts == (0, 0, 0, 1, -1)
    assert [math.isnan(one.value) for one in found.biases] == [False, False, False, True, True]
    assert found.qualities[2].value == 5
    assert math.isnan(found.qualities[2].low)


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((0, 0)),
        np.zeros((0, 3)),
        np.full((4, 3), np.nan),
        np.ones((1, 1)),
        np.ones((6, 1)),
        np.ones((1, 6)),
        np.ones((5, 4)),
    ],
)
def test_small_and_constant_tables_are_defined_or_undefined(table: Floats) -> None:
    found: SubjectFit = fit_subjects(table)
    assert len(found.qualities) == len(table)
    assert len(found.biases) == table.shape[1]
    for one, row in zip(found.qualities, table, strict=True):
        assert math.isnan(one.value) if np.isnan(row).all() else one.value == 1
    assert found.converged


def test_hardly_any_degree_of_freedom_gives_no_upper_end_and_no_warning() -> None:
    df = np.array([1e-6, 8.0])
    few, many_votes = _inconsistency_ends(np.full(2, 0.5), np.full(2, 0.5), df, 0.95)[1]
    assert few == np.inf
    assert 0.5 < many_votes < 2
