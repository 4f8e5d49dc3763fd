"""Methods of skimming: optima by brute force, order in z, and the published formulas."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.errors import UsageError
from earwitness.skims.day import Day, Ints, split_periods
from earwitness.skims.methods import METHODS, Picker, pick
from earwitness.skims.methods.pareto import find_widest_picks, make_archive, make_pool
from earwitness.skims.methods.plan import SkimPlan, describe_selection, fit_periods
from earwitness.skims.methods.tailleur import (
    MainEvents,
    choose_sequence,
    event_weights,
    find_events,
)
from helpers.random_days import (
    all_skims,
    made,
    plain_cost,
    plain_cover,
    plain_places,
    seeds,
    with_allowed,
)

TINY = SkimPlan(picks=3, block=8.0, overlap=3.0, period=16.0)
ZS = (0.0, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 1.0)


@given(seeds, st.integers(7, 12), st.lists(st.integers(0, 11), max_size=3))
def test_at_z_0_no_skim_stands_better_for_the_course(
    seed: int, blocks: int, left_out: list[int]
) -> None:
    day = with_allowed(made(seed, blocks, gaps=True), [r not in left_out for r in range(blocks)])
    _, period = fit_periods(day, TINY)
    found = pick(day, TINY, "pareto", 0.0)
    least = min(plain_cost(day, period, rows) for rows in all_skims(day, period, 3))
    count = len(split_periods(day, period).means)
    assert -found.tc_term * count == pytest.approx(least, rel=1e-5, abs=1e-5)


@given(seeds, st.integers(7, 12))
def test_at_z_1_half_of_the_widest_coverage_is_had_and_mostly_all(seed: int, blocks: int) -> None:
    day = made(seed, blocks, classes=6)
    _, period = fit_periods(day, TINY)
    found = plain_cover(day, pick(day, TINY, "pareto", 1.0).rows)
    best = max(plain_cover(day, rows) for rows in all_skims(day, period, 3))
    assert found >= best / 2  # what greedy choice with one pick a period warrants
    assert found >= 0.9 * best


@given(seeds, st.integers(7, 60), st.integers(1, 5), st.booleans())
def test_both_terms_never_turn_as_z_grows(seed: int, blocks: int, picks: int, gaps: bool) -> None:
    plan = SkimPlan(picks=picks, period=40.0)
    picker = Picker(made(seed, blocks, gaps=gaps), plan)
    found = [picker.pick("pareto", z) for z in ZS]
    assert all(np.diff([one.tc_term for one in found]) <= 1e-9)
    assert all(np.diff([one.sd_term for one in found]) >= -1e-9)


@given(seeds, st.integers(7, 30))
def test_a_z_takes_the_best_of_the_archive(seed: int, blocks: int) -> None:
    archive = make_archive(made(seed, blocks), SkimPlan(picks=3, period=24.0))
    costs, covers = np.array(archive.costs), np.array(archive.coverages)
    assert all(np.diff(costs) > 0)
    assert all(np.diff(covers) > 0)
    if len(costs) < 2:
        return
    near = (costs[-1] - costs) / (costs[-1] - costs[0])
    wide = (covers - covers[0]) / (covers[-1] - covers[0])
    for z in ZS:
        worth = (1 - z) * near + z * wide
        chosen = archive.skims.index(archive.rows(z))
        assert worth[chosen] == pytest.approx(worth.max(), abs=1e-9)


@given(seeds, st.integers(8, 40), st.integers(0, 4))
def test_the_cost_with_another_block_is_that_of_all(seed: int, blocks: int, picks: int) -> None:
    day = made(seed, blocks, gaps=True)
    known = split_periods(day, 24.0)
    pool = make_pool(day, known, np.arange(blocks))
    rng = np.random.default_rng(seed)
    taken = np.sort(np.array(next(iter(_spread(pool.lies, rng, picks))), np.int64))
    costs, covers = pool.costs(taken), pool.covers(taken)
    for one in range(len(pool.rows)):
        if pool.lies[one] in pool.lies[taken]:
            assert costs[one] == math.inf
            continue
        cost, cover = pool.terms(np.sort(np.append(taken, one)))
        assert costs[one] == pytest.approx(cost, rel=1e-9, abs=1e-9)
        assert covers[one] == pytest.approx(cover, rel=1e-5)


def _spread(lies: Ints, rng: np.random.Generator, picks: int) -> list[list[int]]:
    """So many places in different periods, or as many as there are less one."""
    kinds = np.unique(lies)
    chosen = rng.choice(kinds, min(picks, len(kinds) - 1), replace=False)
    return [[int(rng.choice(np.flatnonzero(lies == kind))) for kind in chosen]]


@given(seeds, st.integers(8, 40))
def test_greedy_coverage_takes_what_is_missing_most(seed: int, blocks: int) -> None:
    day, known = made(seed, blocks), split_periods(made(seed, blocks), 24.0)
    picks = min(4, len(known.means))
    chosen: list[int] = []
    while len(chosen) < picks:
        free = [r for r in range(blocks) if known.of[r] not in known.of[chosen]]
        covers = [plain_cover(day, [*chosen, row]) for row in free]
        best = max(covers)
        chosen.append(next(r for r, c in zip(free, covers, strict=True) if c >= best - 1e-6))
    assert plain_cover(day, find_widest_picks(day, known, picks).tolist()) == pytest.approx(
        plain_cover(day, chosen), rel=0.1
    )


def plain_objective(events: MainEvents, taken: list[int], z: float) -> float:
    """J, term by term."""
    beta = [5 ** (-((1 - z) ** 6) * float(x)) for x in events.scarcity]
    theta = [10 ** (-((1 - z) ** 3) * n) for n in range(len(taken))]
    total = 0.0
    for i, one in enumerate(taken):
        below = sum(theta[abs(i - m)] for m in range(len(taken)) if m != i)
        for j, other in enumerate(taken):
            if j != i:
                apart = math.dist(events.vectors[one].tolist(), events.vectors[other].tolist())
                total += apart * beta[one] * beta[other] * theta[abs(i - j)] / below
    return total


@given(seeds, st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_the_published_sequence_is_greedy_in_its_objective(seed: int, z: float) -> None:
    day = made(seed, 60)
    events = find_events(day, split_periods(day, 80.0), 0)
    beta = event_weights(events.scarcity, z)
    middle = (beta[:, None] * events.vectors).sum(axis=0) / beta.sum()
    taken = [max(range(len(beta)), key=lambda e: beta[e] * math.dist(events.vectors[e], middle))]
    while len(taken) < 4:
        had = {events.periods[one] for one in taken}
        free = [e for e in range(len(beta)) if events.periods[e] not in had]
        taken.append(max(free, key=lambda e: plain_objective(events, sorted([*taken, e]), z)))
        taken.sort()
    assert choose_sequence(events, 4, z).tolist() == taken


def test_main_events_are_fifteen_of_a_hundred_blocks_with_their_scarcity() -> None:
    day = made(2, 224)
    known = split_periods(day, 896.0)
    events = find_events(day, known, 0)
    assert np.bincount(events.periods).tolist() == [16, 16]  # int(.15 · 112)
    for period in (0, 1):
        sizes = events.sizes[events.periods == period]
        assert sizes.sum() == 112
        assert np.allclose(events.scarcity[events.periods == period], sizes.max() / sizes - 1)
    assert event_weights(np.array([2.0]), 0.0)[0] == pytest.approx(1 / 25)
    assert event_weights(np.array([2.0]), 1.0)[0] == 1


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_to_the_plan(method: str) -> None:
    day = made(4, 200, gaps=True)
    allowed = [row % 3 > 0 for row in range(200)]
    day, plan = with_allowed(day, allowed), SkimPlan(picks=6, period=100.0, seed=7)
    for z in (0.0, 0.5, 1.0):
        found = pick(day, plan, method, z)
        assert len(found.rows) == len(found.why) == 6
        assert list(found.rows) == sorted(set(found.rows))
        assert all(allowed[row] for row in found.rows)
        assert found == pick(day, plan, method, z)
        if method in ("pareto", "published"):
            places = plain_places(day, 100.0)
            assert len({places[row] for row in found.rows}) == 6
            for row, why in zip(found.rows, found.why, strict=True):
                assert float(why["from"]) <= day.starts[row] < float(why["to"])
        assert all(0 <= float(why["brings"]) <= 1 for why in found.why)


@pytest.mark.parametrize("method", ["downsampling", "random"])
def test_another_seed_draws_other_blocks(method: str) -> None:
    day = made(4, 200)
    one, other = (pick(day, SkimPlan(picks=6, seed=seed), method).rows for seed in (1, 2))
    assert one != other
    if method == "downsampling":
        ends = [0, 34, 68, 101, 134, 167, 200]  # 34, 34, 33, 33, 33, 33 blocks
        assert all(low <= row < high for row, (low, high) in zip(one, pairwise(ends), strict=True))


def test_picks_stand_for_all_of_the_day_one_after_the_other() -> None:
    day = made(9, 120)
    found = pick(day, SkimPlan(picks=5, period=64.0), "pareto", 0.3)
    ends = [(float(why["from"]), float(why["to"])) for why in found.why]
    assert ends[0][0] == 0
    assert ends[-1][1] == day.length
    assert all(low[1] == high[0] for low, high in pairwise(ends))


def test_a_pick_brings_what_only_it_has() -> None:
    classes = [[0.8, 0.1], [0.5, 0.4], [0.0, 0.0]]
    day = Day.of([0.0, 8.0, 16.0], 8.0, [[0.0], [1.0], [2.0]], classes)
    found = describe_selection(day, split_periods(day, 8.0), 8.0, [0, 1], [{}, {}])
    # maxima .8 and .4; without the first .5 and .4: .3 of 1.2; without the second .8 and .1
    assert [float(why["brings"]) for why in found.why] == pytest.approx([0.25, 0.25])
    assert found.sd_term == pytest.approx(1)


def test_too_few_blocks_are_all_picked_with_a_note() -> None:
    day = made(1, 5)
    found = pick(day, SkimPlan(), "published", 0.5)
    assert found.rows == (0, 1, 2, 3, 4)
    assert found.notes == ("only 5 blocks available for 12 picks: every available block is used",)
    none = pick(with_allowed(day, [False] * 5), SkimPlan())
    assert none.rows == ()
    assert none.notes == ("only 0 blocks available for 12 picks: every available block is used",)


def test_short_recordings_have_shorter_periods() -> None:
    day = made(1, 20)
    known, seconds = fit_periods(day, SkimPlan())
    assert seconds == 900 / 2**7  # 160 s of sound: 7 s, less than a block; 14 s make 12 of 20
    assert len(known.means) >= 12


def test_names_and_numbers_out_of_range_are_refused() -> None:
    day = made(1, 30)
    with pytest.raises(UsageError, match='unknown method "parreto" — did you mean "pareto"'):
        pick(day, SkimPlan(), "parreto")
    with pytest.raises(UsageError, match=r"z must be from 0 \(TC\) to 1 \(SD\), got 1.5"):
        pick(day, SkimPlan(), z=1.5)
    with pytest.raises(UsageError, match="picks must be at least 1, got 0"):
        SkimPlan(picks=0)
    with pytest.raises(UsageError, match="overlap must be from 0 to half a block"):
        SkimPlan(overlap=5.0)
    with pytest.raises(UsageError, match="period must be at least one block"):
        SkimPlan(period=2.0)
    with pytest.raises(UsageError, match="block must be a number of seconds above 0"):
        SkimPlan(block=0.0)
