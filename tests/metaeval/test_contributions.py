"""Differences as sums of contributions: against swaps one by one, and against loops over pairs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval import contributions
from earwitness.metaeval.coefficients import coefficient_names
from earwitness.metaeval.contributions import count_unit_pairs, rating_levels, sort_units
from earwitness.metaeval.significance import SWAP_UNITS, swap_metrics
from helpers.plain_coefficients import kinds

NAN = math.nan


@pytest.mark.parametrize("unit", SWAP_UNITS)
@pytest.mark.parametrize("level", ["system", "item", "global"])
def test_swaps_are_sums_of_contributions(
    level: str, unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(11)
    scores, people = rng.normal(size=(3, 4, 3)), rng.integers(1, 4, (4, 3)).astype(np.float64)
    scores[2, 0, 1] = NAN
    for name in set(contributions.PAIR_COEFFICIENTS) & {*coefficient_names(level)}:
        found = []
        for coefficients in (contributions.PAIR_COEFFICIENTS, ()):
            monkeypatch.setattr(contributions, "PAIR_COEFFICIENTS", coefficients)
            found.append(swap_metrics(scores, people, [(0, 1), (2, 1)], level, name, unit))
            monkeypatch.undo()
        assert found[0].swapped == pytest.approx(found[1].swapped, abs=1e-12)
        assert found[0].observed == pytest.approx(found[1].observed, abs=1e-12)


def test_tied_scores_are_swapped_one_by_one_if_there_are_few(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(12)
    people = rng.normal(size=(6, 8))
    scores = (people + rng.normal(size=(2, 6, 8))).round(0)
    arguments = scores, people, [(0, 1)], "item", "kendall_b", "systems"
    exact = swap_metrics(*arguments)
    monkeypatch.setattr(contributions, "MAX_TERMS_ONE_BY_ONE", 0)
    held = swap_metrics(*arguments)
    assert held.swapped[0] == pytest.approx(held.observed)  # the identity is exact
    assert 0 < np.abs(held.swapped - exact.swapped).max() < 0.1
    monkeypatch.setattr(contributions, "PAIR_COEFFICIENTS", ())
    assert (swap_metrics(*arguments).swapped == exact.swapped).all()


def test_many_outputs_are_counted_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(13)
    people = rng.integers(1, 40, (5, 9)) / 4
    scores = (people + rng.normal(size=(3, 5, 9))).round(1)
    scores[1, 2, 3] = NAN
    for name in ("kendall_b", "kendall_c", "acc_23", "tau_23"):
        arguments = scores, people, [(0, 1), (2, 0)], "global", name, "systems"
        monkeypatch.setattr(contributions, "MAX_TERMS_ONE_BY_ONE", 0)
        few = swap_metrics(*arguments).swapped
        monkeypatch.setattr(contributions, "MAX_UNITS_ALL_PAIRS", 1)
        assert swap_metrics(*arguments).swapped == pytest.approx(few, abs=1e-12)
        monkeypatch.undo()


@pytest.mark.parametrize("levels", [1, 3, 90, 500])
def test_pairs_of_each_unit_are_those_of_loops(levels: int) -> None:
    rng = np.random.default_rng(levels)
    n = 150
    first, second = rng.integers(0, 2 * levels, (2, n)).astype(np.float64)
    people = rng.integers(0, levels, n).astype(np.float64)
    ratings = rating_levels(people)
    for mine in (first, second):
        slow = np.zeros((5, n))
        for s in range(n):
            for t in set(range(n)) - {s}:
                scores = (float(mine[s]), float(second[t]))
                (kind,) = np.flatnonzero(kinds(list(scores), [people[s], people[t]], [0, 1]))
                slow[kind, s] += 1
        assert (count_unit_pairs(mine, sort_units(second, ratings), ratings) == slow).all()
