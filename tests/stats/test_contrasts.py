"""Differences within listeners are those of plain loops, of scipy and of statsmodels."""

from __future__ import annotations

import itertools
import math
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings

from earwitness.stats import bootstrap
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.contrasts import (
    estimate_contrasts,
)
from earwitness.stats.means import METHODS, drop_unvoted
from earwitness.stats.mixed_model import Components
from earwitness.stats.significance import NONCENTRAL_LIMIT_SDS, Moments, effect_sizes
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.vote_model import Points, crossed_design, estimate_contrast, simulate_votes
from helpers.vote_tables import (
    gappy,
    listener_differences,
    listener_means,
    rows_of,
    votes_of,
    weighted_mean,
)

DRAWS, SEED = 40, 3
PAIRS = list(itertools.permutations(range(3), 2))
USUAL = Components.from_variances(0.3, 0.2, 0.1, 0.1, 0.5)


def panel(listeners: int = 10, items: int = 8) -> Votes:
    return simulate_votes(
        crossed_design(3, items, listeners), [2, 3, 4], USUAL, seed=1, points=Points()
    )


def latin(listeners: int = 10, items: int = 12) -> Votes:
    """Every listener hears an item in one system only."""
    votes = panel(listeners, items)
    return votes.select((votes.items + votes.listeners) % 3 == votes.systems)


def same(found: object, want: object) -> bool:
    return bool(found == pytest.approx(want, nan_ok=True, abs=1e-9))


@given(votes=gappy())
def test_differences_are_those_of_loops(votes: Votes) -> None:
    rows = rows_of(votes)
    for (a, b), found in zip(PAIRS, estimate_contrasts(votes, PAIRS), strict=True):
        want = listener_differences(rows, a, b)
        assert found.difference.n == found.effect.n == len(want)
        assert same(found.difference.value, fmean(want.values()) if want else math.nan)


@pytest.mark.peer
@given(votes=gappy())
def test_tests_and_intervals_are_those_of_scipy_and_statsmodels(votes: Votes) -> None:
    from scipy import stats
    from statsmodels.stats.weightstats import DescrStatsW

    for a, b in PAIRS:
        want = list(listener_differences(rows_of(votes), a, b).values())
        found = estimate_contrast(votes, a, b, level=0.9)
        if len(want) > 1 and np.std(want) > 1e-6:
            assert same(found.p, stats.ttest_1samp(want, 0).pvalue)
            ends = DescrStatsW(want).tconfint_mean(0.1)
            assert same([found.difference.low, found.difference.high], list(ends))


@pytest.mark.peer
def test_the_test_of_a_full_design_is_that_of_paired_means() -> None:
    from scipy import stats

    votes = panel()
    table = votes.table().reshape(8, 3, 10)
    means = table.mean(axis=0)
    found = estimate_contrast(votes, 0, 1)
    assert same(found.p, stats.ttest_rel(means[0], means[1]).pvalue)
    naive = estimate_contrast(votes, 0, 1, "naive_t")
    assert same(naive.p, stats.ttest_rel(table[:, 0].ravel(), table[:, 1].ravel()).pvalue)
    assert naive.difference.n == 80
    assert naive.effect == found.effect


@pytest.mark.peer
@pytest.mark.parametrize("listeners", [3, 8, 32, 200])
def test_effects_are_hedges_g_with_the_interval_of_the_noncentral_t(listeners: int) -> None:
    from scipy import stats

    votes = panel(listeners)
    want = np.array(list(listener_differences(rows_of(votes), 0, 1).values()))
    effect, freedom = estimate_contrast(votes, 0, 1).effect, listeners - 1
    d = want.mean() / want.std(ddof=1)
    factor, t = effect.value / d, d * math.sqrt(listeners)
    assert factor == pytest.approx(1 / stats.nct.mean(freedom, 1))  # so that g is not biased
    for end, tail in ((effect.low, 0.975), (effect.high, 0.025)):
        centre = end / factor * math.sqrt(listeners)
        assert stats.nct.cdf(t, freedom, centre) == pytest.approx(tail, abs=1e-4)


@pytest.mark.parametrize("n", [3.0, 8.0, 200.0])
@pytest.mark.parametrize("side", [1, -1])
def test_intervals_of_effects_go_on_smoothly_to_the_largest(n: float, side: int) -> None:
    sizes = np.array([NONCENTRAL_LIMIT_SDS * 0.9999, NONCENTRAL_LIMIT_SDS * 1.0001, 1e4, 1e8])
    ends = effect_sizes(Moments(side * sizes, np.ones(4), np.full(4, n)), 0.95)
    for end in (ends.low, ends.high):
        assert (end / sizes / (end / sizes)[-1]).tolist() == pytest.approx([1] * 4, abs=2e-3)
    assert (ends.low < ends.value).all()
    assert (ends.value < ends.high).all()


@given(votes=gappy())
@settings(max_examples=many(15, 400))
def test_the_cluster_bootstrap_is_that_of_loops(votes: Votes) -> None:
    votes = drop_unvoted(votes)
    (block,) = bootstrap.draw_weight_blocks((votes.size[2],), DRAWS, SEED)
    for (a, b), found in zip(
        PAIRS,
        estimate_contrasts(votes, PAIRS, "cluster_bootstrap", draws=DRAWS, seed=SEED),
        strict=True,
    ):
        want = listener_differences(rows_of(votes), a, b)
        column = [
            weighted_mean(list(want.values()), [weights[who] for who in want])
            for weights in block[0].tolist()
        ]
        (low,), (high,) = percentile_interval(np.array(column)[:, None], 0.95)
        ends = [low, high] if len(want) >= MIN_CASES_FOR_INTERVAL else [math.nan] * 2
        assert same([found.difference.low, found.difference.high], ends)


@given(votes=gappy())
@settings(max_examples=many(15, 400))
def test_the_two_way_bootstrap_is_that_of_loops(votes: Votes) -> None:
    votes = drop_unvoted(votes)
    for (a, b), found in zip(
        PAIRS,
        estimate_contrasts(votes, PAIRS, "two_way_bootstrap", draws=DRAWS, seed=SEED),
        strict=True,
    ):
        low, high = slow_two_way(votes, a, b)
        assert same([found.difference.low, found.difference.high], [low, high])


def slow_two_way(votes: Votes, a: int, b: int) -> tuple[float, float]:
    """Both ends: of differences on common items; without any, of differences of means."""
    rows = rows_of(votes)
    mine = {row[:3]: row[3] for row in rows}
    raters = listener_means(rows, a).keys() & listener_means(rows, b).keys()
    sides = [[row[1:] for row in rows if row[0] == one and row[2] in raters] for one in (a, b)]
    common = [(i, p, v - mine[b, i, p]) for i, p, v in sides[0] if (b, i, p) in mine]
    parts = [common] if common else sides
    if (
        min(min(len({r[0] for r in part}), len({r[1] for r in part})) for part in parts)
        < MIN_CASES_FOR_INTERVAL
    ):
        return math.nan, math.nan
    (block,) = bootstrap.draw_weight_blocks((votes.size[2], votes.size[1]), DRAWS, SEED)
    column = []
    for people, clips in zip(*(weights.tolist() for weights in block), strict=True):
        of = [
            weighted_mean([v for *_, v in part], [people[p] * clips[i] for i, p, _ in part])
            for part in parts
        ]
        column.append(of[0] if common else of[0] - of[1])
    (low,), (high,) = percentile_interval(np.array(column)[:, None], 0.95)
    return float(low), float(high)


@pytest.mark.parametrize("method", METHODS)
def test_without_common_items_means_are_compared_and_that_is_said(method: str) -> None:
    found = estimate_contrast(latin(), 2, 0, method).difference
    assert found.low < found.value < found.high
    assert found.method == f"{method}, listeners without a common item, compared by means: 10"
    assert estimate_contrast(panel(), 2, 0, method).difference.method == method


def test_items_rated_in_one_system_only_do_not_count() -> None:
    # item 0 in both: 4 − 3; item 1 in one only
    rows = [(0, 0, 0, 4.0), (1, 0, 0, 3.0), (0, 1, 0, 1.0)]
    found = estimate_contrast(votes_of(rows, (2, 2, 1)), 0, 1)
    assert (found.difference.value, found.difference.n) == (1, 1)
    assert math.isnan(found.p)


def test_the_two_way_bootstrap_leaves_out_those_without_common_items() -> None:
    votes = panel()
    some = votes.select((votes.listeners > 1) | ((votes.systems == 0) == (votes.items % 2 == 0)))
    by = {method: estimate_contrast(some, 0, 1, method).difference for method in METHODS}
    assert by["two_way_bootstrap"].n == 8
    assert by["two_way_bootstrap"].undefined == 2
    said = ", listeners without a common item"
    assert by["two_way_bootstrap"].method.endswith(f"{said}, excluded: 2")
    assert by["cluster_t"].n == 10
    assert by["cluster_t"].method == f"cluster_t{said}, compared by means: 2"


@pytest.mark.parametrize("votes", [panel(), latin()], ids=["panel", "latin"])
@pytest.mark.parametrize("method", METHODS)
def test_a_pair_does_not_depend_on_its_company_and_turns_round(method: str, votes: Votes) -> None:
    found = dict(zip(PAIRS, estimate_contrasts(votes, PAIRS, method, draws=200), strict=True))
    assert found[0, 2] == estimate_contrast(votes, 0, 2, method, draws=200)
    there, back = found[0, 2], found[2, 0]
    assert same(there.p, back.p)
    for one, other in ((there.difference, back.difference), (there.effect, back.effect)):
        assert one.value == pytest.approx(-other.value)
        assert [one.low, one.high] == pytest.approx([-other.high, -other.low], rel=1e-4)


def constant(difference: float, listeners: int) -> Votes:
    """Everybody hears the same difference, but likes the whole more or less."""
    pairs = itertools.product(range(5), range(listeners))
    rows = [
        row
        for item, listener in pairs
        for low in [1 + 0.1 * listener]
        for row in [(0, item, listener, low + difference), (1, item, listener, low)]
    ]
    return votes_of(rows, (2, 5, listeners))


@pytest.mark.parametrize("method", METHODS)
def test_equal_differences_have_no_p_unless_they_are_0(method: str) -> None:
    equal, none = (estimate_contrast(constant(d, 6), 0, 1, method) for d in (0.7, 0.0))
    assert same([equal.difference.low, equal.difference.value, equal.difference.high], [0.7] * 3)
    assert math.isnan(equal.p)
    assert none.p == 1
    assert none.difference.value == none.difference.low == none.difference.high == 0
    assert math.isnan(equal.effect.value)
    assert math.isnan(none.effect.value)


@pytest.mark.parametrize("method", METHODS)
def test_two_listeners_have_a_p_and_no_effect(method: str) -> None:
    votes = panel(2)
    found = estimate_contrast(votes, 0, 1, method)
    drawn = method == "two_way_bootstrap"  # from fewer than five nothing is drawn
    assert math.isnan(found.p) if drawn else 0 <= found.p <= 1
    assert math.isnan(found.effect.value)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_in_common_is_undefined(method: str) -> None:
    votes = panel()
    apart = votes.select((votes.systems == 0) == (votes.listeners < 5))
    for found in (
        estimate_contrast(apart, 0, 1, method),
        estimate_contrast(votes.select(votes.values > 9), 0, 1, method),
    ):
        assert found.difference.n == 0
        numbers = found.difference.value, found.difference.low, found.p, found.effect.value
        assert all(math.isnan(number) for number in numbers)
    assert estimate_contrasts(votes, [], method) == []
