"""Pairs: hand counts with ties, and two fast ways against loops over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from earwitness.metaeval import pair_counts
from earwitness.metaeval.pair_counts import (
    count_pairs,
    sum_ordered_pairs,
)
from earwitness.stats.arrays import Floats
from helpers.plain_coefficients import kinds
from helpers.samples import many

#            a  b  c  d  e
METRIC = [1, 1, 2, 3, 3]
PEOPLE = [1, 2, 2, 4, 4]
# ab: tied in the metric.  ac, ad, ae, bd, be, cd, ce: in the same order.
# bc: tied in people.      de: tied in both.


def table(*rows: list[float] | list[int]) -> Floats:
    return np.array([rows], np.float64)


def found(x: Floats, y: Floats, w: Floats, margin: Floats | float = 0.0) -> list[int]:
    return [int(count[0, 0, 0]) for count in count_pairs(x, y, w, margin).kinds]


def test_pairs_with_ties_in_either_and_in_both_are_those_counted_by_hand() -> None:
    assert found(table(METRIC), table(PEOPLE), np.ones((1, 1, 5))) == [7, 0, 1, 1, 1]


def test_a_metric_upside_down_swaps_the_orders_and_keeps_the_ties() -> None:
    assert found(-table(METRIC), table(PEOPLE), np.ones((1, 1, 5))) == [0, 7, 1, 1, 1]


def test_a_difference_of_the_margin_is_a_tie() -> None:
    # |differences| up to 1: ab, ac, bc, cd, ce, de; beyond: ad, ae, bd, be (in the same order).
    # Of the tied, bc and de are tied by people too.
    assert found(table(METRIC), table(PEOPLE), np.ones((1, 1, 5)), 1.0) == [4, 0, 4, 0, 2]


def test_a_thing_drawn_twice_makes_no_pair_with_itself() -> None:
    # a twice, b once, d once: ab twice, ad twice, bd once.
    assert found(table(METRIC), table(PEOPLE), table([2, 1, 0, 1, 0])) == [3, 0, 2, 0, 0]


def test_margins_may_differ_from_group_to_group_and_metric_to_metric() -> None:
    metrics = np.array([[METRIC, METRIC], [METRIC, METRIC]], np.float64)
    people = np.array([[PEOPLE], [PEOPLE]], np.float64)
    pairs = count_pairs(metrics, people, np.ones((2, 1, 5)), np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert pairs.concordant[:, 0].tolist() == [[7, 4], [0, 7]]


def numbers(rng: np.random.Generator, shape: tuple[int, ...], highest: int) -> Floats:
    return rng.integers(0, highest, shape) / 7


@given(st.integers(0, 10**6), st.integers(1, 24), st.sampled_from([2, 4, 1000]), st.integers(0, 3))
def test_both_ways_count_what_loops_count(seed: int, n: int, highest: int, margin: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = numbers(rng, (2, 3, n), highest), numbers(rng, (2, 4, n), 5)
    w = rng.multinomial(n, [1 / n] * n, (2, 4)).astype(np.float64)
    laid_out = count_pairs(x, y, w, margin / 7).kinds
    for group in range(2):
        if not margin:
            swept = pair_counts.count_pairs_by_sweep(x[group], y[group], w[group]).kinds
            assert np.array_equal(laid_out[:, group], swept)
        for draw in range(4):
            picked = np.repeat(np.arange(n), w[group, draw].astype(int)).tolist()
            for metric in range(3):
                args = x[group, metric].tolist(), y[group, draw].tolist(), picked, margin / 7
                assert laid_out[:, group, draw, metric].tolist() == kinds(*args)


@pytest.mark.parametrize("highest", [3, 50, 10**9])
def test_many_things_are_counted_as_if_laid_out(
    highest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, n = np.random.default_rng(highest), many(750, 1500)
    x, y = numbers(rng, (1, 2, n), highest), numbers(rng, (1, 1, n), highest)
    w = rng.integers(0, 3, (1, 2, n)).astype(np.float64)
    swept = count_pairs(x, y, w).kinds
    monkeypatch.setattr("earwitness.metaeval.pair_counts.MAX_THINGS_ALL_PAIRS", n)
    assert np.array_equal(swept, count_pairs(x, y, w).kinds)


def test_heavy_weights_are_exact_beyond_single_precision() -> None:
    # ab: 5001 × 5003 tied in the metric, ac and bc in the same order.
    heavy = table([5001, 5003, 7, 0, 0])
    pairs = found(table(METRIC), table(PEOPLE), heavy)
    assert pairs == [5001 * 7, 0, 5001 * 5003, 5003 * 7, 0]


def test_portions_of_memory_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, y = numbers(rng, (5, 3, 9), 4), numbers(rng, (5, 7, 9), 4)
    w = rng.integers(0, 3, (5, 7, 9)).astype(np.float64)
    whole = count_pairs(x, y, w).kinds
    monkeypatch.setattr("earwitness.metaeval.pair_counts.NUMBERS_IN_MEMORY", 80)
    assert np.array_equal(whole, count_pairs(x, y, w).kinds)


def test_fewer_than_two_things_make_no_pair() -> None:
    for n in (0, 1):
        pairs = count_pairs(np.zeros((1, 2, n)), np.zeros((1, 1, n)), np.ones((1, 1, n)))
        assert pairs.kinds.tolist() == [[[[0, 0]]]] * 5


@given(st.integers(0, 10**6), st.integers(0, 60), st.booleans())
def test_what_stands_ahead_and_below_is_what_a_loop_adds_up(seed: int, n: int, whole: bool) -> None:
    rng = np.random.default_rng(seed)
    ranks = np.array([rng.permutation(n) for _ in range(3)], np.int64).reshape(3, n)
    weights = rng.integers(0, 5, (3, n)) / (1 if whole else 3)
    found = sum_ordered_pairs(ranks, weights)
    for row in range(3):
        total = sum(
            weights[row, i] * weights[row, j]
            for j in range(n)
            for i in range(j)
            if ranks[row, i] < ranks[row, j]
        )
        assert found[row] == (total if whole else pytest.approx(total, abs=1e-9))


def test_few_keys_and_ranks_in_blocks_give_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, n = np.random.default_rng(7), 400
    keys = rng.integers(0, 30, (3, n))
    weights = rng.integers(0, 5, (3, n)).astype(np.float64)
    by_key = sum_ordered_pairs(keys, weights)
    monkeypatch.setattr(pair_counts, "MAX_KEYS_WITHOUT_BLOCKS", 2)
    assert np.array_equal(by_key, sum_ordered_pairs(keys, weights))
    later, earlier = np.triu(np.ones((n, n)), 1), keys[:, :, None] < keys[:, None, :]
    assert np.array_equal(by_key, np.einsum("ri,ij,rij,rj->r", weights, later, earlier, weights))


@pytest.mark.peer
def test_forty_thousand_things_have_the_tau_of_scipy() -> None:
    rng, n = np.random.default_rng(5), many(8_000, 40_000)
    x = rng.integers(0, 3000, (1, 2, n)).astype(np.float64)
    y = np.rint(x[:, :1] / 500 + rng.normal(size=n))
    pairs = count_pairs(x, y, np.ones((1, 1, n)))
    assert pairs.all.tolist() == [[[n * (n - 1) / 2] * 2]]
    below = np.sqrt(pairs.apart_metric * pairs.apart_people)
    ours = (pairs.net / below)[0, 0]
    assert ours == pytest.approx([kendalltau(row, y[0, 0]).statistic for row in x[0]], abs=1e-13)
