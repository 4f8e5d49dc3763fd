"""Costs of a day's course, and the cheapest picks, beside brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.skims.day import Day, split_periods
from earwitness.skims.measures import find_cheapest_picks, find_course, prefix_sums
from helpers.random_days import all_skims, made, plain_cost, seeds, with_allowed


@given(seeds, st.integers(4, 16), st.integers(1, 4))
def test_the_cost_is_that_of_the_best_cuts(seed: int, blocks: int, picks: int) -> None:
    day = made(seed, blocks, gaps=True)
    known = split_periods(day, 16.0)
    for rows in list(all_skims(day, 16.0, picks))[:: max(1, blocks)]:
        found = find_course(prefix_sums(day.vectors[list(rows)], known.means), known.of[list(rows)])
        assert found.cost == pytest.approx(plain_cost(day, 16.0, rows), rel=1e-5, abs=1e-5)
        assert found.first[0] == 0
        assert found.first[-1] == len(known.means)
        for row, low, high in zip(rows, found.first, found.first[1:], strict=False):
            assert low <= known.of[row] < high


@given(seeds, st.integers(4, 12), st.integers(1, 3), st.data())
def test_no_skim_is_cheaper_than_the_cheapest(
    seed: int, blocks: int, picks: int, data: st.DataObject
) -> None:
    day = made(seed, blocks, gaps=True)
    day = with_allowed(day, data.draw(st.lists(st.booleans(), min_size=blocks, max_size=blocks)))
    every = {rows: plain_cost(day, 16.0, rows) for rows in all_skims(day, 16.0, picks)}
    if every:
        found = tuple(find_cheapest_picks(day, split_periods(day, 16.0), picks).tolist())
        assert every[found] == pytest.approx(min(every.values()), rel=1e-6, abs=1e-6)


def test_picks_in_one_period_share_it() -> None:
    # periods 0, 4, 9; picks 1 and 3 in the second: 0 to the first, 4 to the nearer, 9 to the last
    day = Day.of([0.0, 16.0, 24.0, 32.0], 8.0, [[0.0], [1.0], [7.0], [9.0]], np.zeros((4, 1)))
    known = split_periods(day, 16.0)
    assert known.means[:, 0].tolist() == [0.0, 4.0, 9.0]
    found = find_course(prefix_sums(day.vectors[[1, 2]], known.means), known.of[[1, 2]])
    assert found.cost == pytest.approx(1 + 3 + 2)
    assert found.first.tolist() == [0, 1, 3]
