"""Differences of differences are those of loops and of scipy."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean

import numpy as np
import pytest
from scipy import stats

from earwitness.stats.contrasts import (
    group_contrasts,
    group_differences,
)
from earwitness.stats.mixed_model import (
    Components,
    mixed_contrasts,
)
from earwitness.stats.votes import Votes
from helpers.vote_model import crossed_design, simulate_votes
from helpers.vote_tables import rows_of

ITEMS, LISTENERS = 12, 10
OF_ITEMS = np.array([0, 1, 1, 0, 2, -1] * 2)
OF_LISTENERS = np.array([0, 1, 0, 1, -1] * 2)
USUAL = Components.from_variances(0.3, 0.2, 0.1, 0.1, 0.5)


def votes(share: float = 0.9) -> Votes:
    whole = simulate_votes(crossed_design(2, ITEMS, LISTENERS), [2.5, 3.0], USUAL, seed=2)
    return whole.select(np.random.default_rng(1).random(len(whole.values)) < share)


def apart(found: Votes, groups: np.ndarray, place: int) -> dict[int, dict[int, list[float]]]:
    """Differences by group and listener, the slow way; ``place`` is 0 for items, 1 for people."""
    given = {row[:3]: row[3] for row in rows_of(found)}
    made: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for item in range(ITEMS):
        for who in range(LISTENERS):
            group = int(groups[(item, who)[place]])
            if group >= 0 and {(0, item, who), (1, item, who)} <= given.keys():
                made[group][who].append(given[0, item, who] - given[1, item, who])
    return made


def test_groups_of_items_are_compared_within_listeners() -> None:
    found = votes()
    rows = group_differences(found, (0, 1), OF_ITEMS, of_listeners=False)
    want = apart(found, OF_ITEMS, 0)
    for pair, (one, p) in zip(
        [(0, 1), (1, 2)], group_contrasts(rows, [(0, 1), (1, 2)], of_listeners=False), strict=True
    ):
        both = sorted(want[pair[0]].keys() & want[pair[1]].keys())
        values = [fmean(want[pair[0]][who]) - fmean(want[pair[1]][who]) for who in both]
        assert one.value == pytest.approx(fmean(values))
        assert one.n == len(values)
        assert one.method == "cluster_t"
        assert p == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_groups_of_listeners_are_compared_by_the_test_of_welch() -> None:
    found = votes()
    rows = group_differences(found, (0, 1), OF_LISTENERS, of_listeners=True)
    ((one, p),) = group_contrasts(rows, [(0, 1)], of_listeners=True)
    want = apart(found, OF_LISTENERS, 1)
    sides = [[fmean(own) for own in want[group].values()] for group in (0, 1)]
    assert one.value == pytest.approx(fmean(sides[0]) - fmean(sides[1]))
    assert one.n == sum(map(len, sides))
    assert p == pytest.approx(stats.ttest_ind(*sides, equal_var=False).pvalue)


def test_the_mixed_model_of_complete_groups_has_the_same_difference() -> None:
    found = votes(1.0)
    rows = group_differences(found, (0, 1), OF_ITEMS, of_listeners=False)
    ((plain, _),) = group_contrasts(rows, [(0, 1)], of_listeners=False)
    ((model, p),) = mixed_contrasts(rows, [(0, 1)])
    assert model.value == pytest.approx(plain.value)
    assert model.method == "mixed"
    assert 0 < p <= 1


@pytest.mark.parametrize("of_listeners", [False, True])
def test_who_is_in_no_group_does_not_count(of_listeners: bool) -> None:
    found, groups = votes(), OF_LISTENERS if of_listeners else OF_ITEMS
    rows = group_differences(found, (0, 1), groups, of_listeners=of_listeners)
    want = apart(found, groups, int(of_listeners))
    assert len(rows.values) == sum(len(own) for one in want.values() for own in one.values())
    assert rows.size[0] == groups.max() + 1


@pytest.mark.parametrize("method", ["naive_t", "cluster_bootstrap", "two_way_bootstrap"])
@pytest.mark.parametrize("of_listeners", [False, True])
def test_every_method_of_means_has_a_test_of_groups(method: str, of_listeners: bool) -> None:
    found, groups = votes(1.0), OF_LISTENERS if of_listeners else np.arange(ITEMS) % 2
    rows = group_differences(found, (0, 1), groups, of_listeners=of_listeners)
    pair = [(0, 1)]
    ((one, p),) = group_contrasts(rows, pair, method, of_listeners=of_listeners, draws=100)
    ((plain, _),) = group_contrasts(rows, pair, of_listeners=of_listeners)
    assert one.value == pytest.approx(plain.value)
    assert one.method == ("welch" if of_listeners else method)
    assert one.low < one.value < one.high
    assert 0 < p <= 1
