"""Means and shares are those of plain loops, of scipy and of statsmodels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings

from earwitness.analysis import plan
from earwitness.stats import bootstrap
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.means import ITEM_T, METHODS, drop_unvoted, estimate_means, vote_shares
from earwitness.stats.mixed_model import Components
from earwitness.stats.votes import Votes
from helpers.samples import many
from helpers.vote_model import Points, crossed_design, simulate_votes
from helpers.vote_tables import SIZE, gappy, listener_means, rows_of, votes_of, weighted_mean

DRAWS, SEED = 40, 3
USUAL = Components.from_variances(0.3, 0.2, 0.1, 0.1, 0.5)


def panel(listeners: int = 8, items: int = 6, panels: int = 1) -> Votes:
    design = crossed_design(3, items, listeners, panels)
    return simulate_votes(design, [2, 3, 4], USUAL, seed=listeners, points=Points())


def drawn(*counts: int) -> Iterator[tuple[list[float], ...]]:
    """The very weights of the fast version, a draw at a time."""
    (block,) = bootstrap.draw_weight_blocks(counts, DRAWS, SEED)
    yield from zip(*(weights.tolist() for weights in block), strict=True)


def same(found: object, want: object) -> bool:
    return bool(found == pytest.approx(want, nan_ok=True, abs=1e-9))


@pytest.mark.peer
@given(votes=gappy())
def test_t_intervals_are_those_of_scipy(votes: Votes) -> None:
    from scipy import stats

    rows = rows_of(votes)
    for system in range(SIZE[0]):
        single = [value for of, _, _, value in rows if of == system]
        clusters = list(listener_means(rows, system).values())
        for method, values in (("naive_t", single), ("cluster_t", clusters)):
            found = estimate_means(votes, method, level=0.9)[system]
            assert found.n == len(values)
            assert same(found.value, fmean(values) if values else math.nan)
            if len({*values}) > 1 or len(values) > 2:  # two that agree have no interval
                middle, scale = fmean(values), stats.sem(values)
                want = (
                    stats.t.interval(0.9, len(values) - 1, middle, scale) if scale else [middle] * 2
                )
                assert same([found.low, found.high], list(want))
            else:
                assert math.isnan(found.low)
                assert math.isnan(found.high)


@pytest.mark.peer
def test_the_spread_over_listeners_is_that_of_a_cluster_robust_regression() -> None:
    from scipy.special import stdtrit
    from statsmodels.api import OLS

    votes = panel()
    for system, found in enumerate(estimate_means(votes, "cluster_t")):
        mine = votes.select(votes.systems == system)
        fitted = OLS(mine.values, np.ones_like(mine.values)).fit(
            cov_type="cluster", cov_kwds={"groups": mine.listeners}
        )
        half = stdtrit(votes.size[2] - 1, 0.975) * fitted.bse[0]
        assert same([found.low, found.high], [found.value - half, found.value + half])


@given(votes=gappy())
@settings(max_examples=many(15, 400))
def test_the_cluster_bootstrap_is_that_of_loops(votes: Votes) -> None:
    votes = drop_unvoted(votes)
    rows, estimates = (
        rows_of(votes),
        estimate_means(votes, "cluster_bootstrap", draws=DRAWS, seed=SEED),
    )
    for system, found in enumerate(estimates):
        of = listener_means(rows, system)
        column = [
            weighted_mean(list(of.values()), [weights[listener] for listener in of])
            for (weights,) in drawn(votes.size[2])
        ]
        (low,), (high,) = percentile_interval(np.array(column)[:, None], 0.95)
        enough = len(of) >= MIN_CASES_FOR_INTERVAL
        assert same(found.value, fmean(of.values()) if of else math.nan)
        assert same([found.low, found.high], [low, high] if enough else [math.nan] * 2)


@given(votes=gappy())
@settings(max_examples=many(15, 400))
def test_the_two_way_bootstrap_is_that_of_loops(votes: Votes) -> None:
    votes = drop_unvoted(votes)
    rows, estimates = (
        rows_of(votes),
        estimate_means(votes, "two_way_bootstrap", draws=DRAWS, seed=SEED),
    )
    for system, found in enumerate(estimates):
        mine = [row[1:] for row in rows if row[0] == system]
        values = [value for *_, value in mine]
        column = [
            weighted_mean(values, [people[who] * clips[item] for item, who, _ in mine])
            for people, clips in drawn(votes.size[2], votes.size[1])
        ]
        (low,), (high,) = percentile_interval(np.array(column)[:, None], 0.95)
        enough = (
            min(len({i for i, *_ in mine}), len({who for _, who, _ in mine}))
            >= MIN_CASES_FOR_INTERVAL
        )
        passed = sum(math.isnan(one) for one in column)
        assert same(found.value, fmean(values) if values else math.nan)
        assert same([found.low, found.high], [low, high] if enough else [math.nan] * 2)
        said = f"two_way_bootstrap, draws skipped: {passed}" if passed else "two_way_bootstrap"
        assert found.method == said


@pytest.mark.parametrize("method", ["cluster_bootstrap", "two_way_bootstrap"])
def test_blocks_change_nothing(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    votes = panel(listeners=11, items=7)
    whole = estimate_means(votes, method, draws=50, seed=1)
    monkeypatch.setattr(bootstrap, "WEIGHTS_IN_MEMORY", 100)
    monkeypatch.setattr(bootstrap, "PRODUCTS_IN_CACHE", 30)
    for a, b in zip(whole, estimate_means(votes, method, draws=50, seed=1), strict=True):
        assert same([a.value, a.low, a.high], [b.value, b.low, b.high])


@pytest.mark.parametrize("method", METHODS)
def test_listeners_left_out_and_unknown_systems_leave_no_trace(method: str) -> None:
    votes = panel(listeners=9)
    kept = votes.select(votes.listeners != 4)
    renumbered = replace(kept, listeners=kept.listeners - (kept.listeners > 4), size=(3, 6, 8))
    assert estimate_means(kept, method) == estimate_means(renumbered, method)
    more = estimate_means(replace(kept, size=(4, 10, 20)), method)
    assert more[:3] == estimate_means(kept, method)
    assert (more[3].n, math.isnan(more[3].value)) == (0, True)


@pytest.mark.parametrize("method", METHODS)
def test_panels_with_items_of_their_own_have_intervals(method: str) -> None:
    for found in estimate_means(panel(listeners=12, items=12, panels=3), method):
        assert found.low < found.value < found.high


def test_resampling_items_too_widens_intervals() -> None:
    votes = panel(listeners=30, items=6)
    both = (estimate_means(votes, f"{name}_bootstrap") for name in ("cluster", "two_way"))
    for narrow, wide in zip(*both, strict=True):
        assert wide.high - wide.low > 1.1 * (narrow.high - narrow.low)


def test_all_systems_share_the_draws() -> None:
    votes = panel()
    twice = [
        (s, i, p, v) for s in (0, 1) for _, i, p, v in rows_of(votes.select(votes.systems == 0))
    ]
    for method in METHODS:
        first, second = estimate_means(votes_of(twice, (2, 6, 8)), method)
        assert first == second


@pytest.mark.parametrize("method", METHODS)
def test_a_seed_and_a_level_are_kept_to(method: str) -> None:
    votes = panel()
    assert estimate_means(votes, method, seed=1) == estimate_means(votes, method, seed=1)
    narrow, wide = (estimate_means(votes, method, level=level)[0] for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    assert (narrow.level, wide.level) == (0.8, 0.99)


@pytest.mark.parametrize("method", METHODS)
def test_equal_votes_have_an_interval_of_one_point(method: str) -> None:
    votes = panel()
    for found in estimate_means(replace(votes, values=np.full_like(votes.values, 3.3)), method):
        assert same([found.value, found.low, found.high], [3.3] * 3)


def test_one_listener_has_a_mean_and_no_interval() -> None:
    votes = panel()
    for method in set(METHODS) - {"naive_t"}:
        found = estimate_means(votes.select(votes.listeners == 2), method)[1]
        assert found.n == 1
        assert not math.isnan(found.value)
        assert math.isnan(found.low)
        assert math.isnan(found.high)


def test_listeners_who_rated_other_systems_only_are_counted_as_undefined() -> None:
    votes = panel()
    some = votes.select((votes.systems != 1) | (votes.listeners < 5))
    for method in set(METHODS) - {"naive_t"}:
        assert [(e.n, e.undefined) for e in estimate_means(some, method)] == [
            (8, 0),
            (5, 3),
            (8, 0),
        ]


def test_shares_are_means_of_listeners_shares_and_stay_within_0_and_1() -> None:
    # listener 0: 4 of 4, listener 1: 2 of 4, so 0.75; t(1) makes the interval leave 0 to 1
    rows = [(0, i, 0, 5.0) for i in range(4)] + [(0, i, 1, 3.0 + i % 2) for i in range(4)]
    (good,) = vote_shares(votes_of(rows, (1, 4, 2)), at_least=4)
    assert (good.value, good.low, good.high, good.n) == (0.75, 0, 1, 2)
    (poor,) = vote_shares(votes_of(rows, (1, 4, 2)), at_most=2)
    assert poor.value == 0
    assert math.isnan(poor.low)  # where all agree, nothing is known of others
    assert math.isnan(poor.high)


@given(votes=gappy())
def test_shares_of_both_sides_of_a_limit_add_up_to_1(votes: Votes) -> None:
    for system, (good, other) in enumerate(
        zip(vote_shares(votes, at_least=3), vote_shares(votes, at_most=2), strict=True)
    ):
        rows = [(s, i, p, float(v >= 3)) for s, i, p, v in rows_of(votes)]
        want = listener_means(rows, system).values()
        assert same(good.value, fmean(want) if want else math.nan)
        assert same(good.value + other.value, 1.0 if want else math.nan)
        assert same([good.low, good.high], [1 - other.high, 1 - other.low])


def test_a_plan_may_name_every_method() -> None:
    assert set(METHODS) - {ITEM_T} <= set(plan.ANALYSIS_INTERVALS)  # that of tables of means


def test_equal_shares_of_listeners_have_no_interval() -> None:
    design = crossed_design(1, 3, 10, 1)
    votes = replace(design, values=np.where(design.items == 0, 5.0, 1.0))
    (share,) = vote_shares(votes, at_least=4)
    assert share.value == pytest.approx(1 / 3)
    assert share.n == 10
    assert (math.isnan(share.low), math.isnan(share.high)) == (True, True)
