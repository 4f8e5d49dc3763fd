"""Equivalence is that of statsmodels, of intervals, and of draws counted one by one."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.stats.contrasts import difference_draws, equivalence_tests, estimate_contrasts
from earwitness.stats.means import IntervalSettings, drop_unvoted
from earwitness.stats.mixed_model import (
    Components,
    combine_means,
    fit_mixed_model,
    mixed_contrasts,
)
from earwitness.stats.votes import Votes, vote_differences
from helpers.vote_model import crossed_design, simulate_votes
from helpers.vote_tables import gappy, listener_differences, rows_of, votes_of

PAIRS = list(itertools.combinations(range(3), 2))
USUAL = Components.from_variances(0.3, 0.2, 0.1, 0.1, 0.5)
METHODS = ("cluster_t", "naive_t", "cluster_bootstrap", "two_way_bootstrap", "mixed")


def panel(listeners: int = 12, items: int = 8) -> Votes:
    return simulate_votes(crossed_design(3, items, listeners), [2.0, 2.2, 2.3], USUAL, seed=4)


@pytest.mark.peer
@pytest.mark.parametrize("margin", [0.1, 0.3, 1.0])
def test_p_over_listeners_is_that_of_statsmodels(margin: float) -> None:
    from statsmodels.stats.weightstats import ttost_paired

    votes = panel()
    rows = rows_of(votes)
    for pair, found in zip(PAIRS, equivalence_tests(votes, PAIRS, margin), strict=True):
        apart = listener_differences(rows, *pair)
        values = np.array([apart[who] for who in sorted(apart)])
        want, *_ = ttost_paired(values, np.zeros(len(values)), -margin, margin)
        assert found.p == pytest.approx(want, rel=1e-9)


@given(votes=gappy(), margin=st.sampled_from([0.2, 0.7, 2.0]))
def test_p_is_below_alpha_exactly_where_the_interval_lies_within_the_margin(
    votes: Votes, margin: float
) -> None:
    for found in equivalence_tests(votes, PAIRS, margin):
        if not math.isnan(found.p):
            assert found.difference.level == 0.9
            assert (found.p < 0.05) == (found.smallest_margin < margin)


@pytest.mark.parametrize("method", METHODS)
def test_the_difference_is_that_of_the_difference_test(method: str) -> None:
    votes = panel()
    found = equivalence_tests(votes, PAIRS, 0.5, method, draws=200)
    if method == "mixed":
        want = [one for one, _ in mixed_contrasts(votes, PAIRS)]
    else:
        own = "cluster_t" if method == "cluster_bootstrap" else method  # whose test is that of t
        want = [one.difference for one in estimate_contrasts(votes, PAIRS, own, draws=200)]
    for one, other in zip(found, want, strict=True):
        assert one.difference.value == pytest.approx(other.value)
        assert other.low < one.difference.low < one.difference.high < other.high
        assert one.difference.n == other.n


def test_the_mixed_model_tests_both_sides_with_its_own_error_and_freedom() -> None:
    from scipy.stats import t

    votes = panel()
    model = fit_mixed_model(votes)
    value, error, freedom, _ = (float(one[0]) for one in combine_means(votes, model, [(0, 1)]))
    want = max(t.sf((value + 0.4) / error, freedom), t.cdf((value - 0.4) / error, freedom))
    (found,) = equivalence_tests(votes, [(0, 1)], 0.4, "mixed", fitted=model)
    assert found.p == pytest.approx(float(want), rel=1e-9)


def test_draws_are_counted_beyond_either_end_and_p_is_never_0() -> None:
    votes = drop_unvoted(panel())
    wanted = IntervalSettings(0.9, 300, 5)
    drawn = difference_draws(votes, PAIRS, vote_differences(votes, PAIRS), wanted).draws
    found = equivalence_tests(votes, PAIRS, 0.3, "two_way_bootstrap", draws=300, seed=5)
    for column, one in enumerate(found):
        low = sum(value <= -0.3 for value in drawn[:, column])
        high = sum(value >= 0.3 for value in drawn[:, column])
        assert one.p == pytest.approx((1 + max(low, high)) / 301)
    (sure,) = equivalence_tests(votes, [(0, 1)], 50, "two_way_bootstrap", draws=300)
    assert sure.p == pytest.approx(1 / 301)


def test_without_a_margin_there_is_no_p_but_the_smallest_margin() -> None:
    for method in METHODS:
        (found,) = equivalence_tests(panel(), [(0, 1)], math.nan, method, draws=200)
        assert math.isnan(found.p)
        assert found.smallest_margin == max(abs(found.difference.low), abs(found.difference.high))


@pytest.mark.parametrize("method", METHODS)
def test_differences_without_spread_show_nothing(method: str) -> None:
    rows = [(s, i, w, 3.0) for s in range(2) for i in range(6) for w in range(6)]
    (found,) = equivalence_tests(votes_of(rows, (2, 6, 6)), [(0, 1)], 0.5, method, draws=50)
    assert math.isnan(found.p)
