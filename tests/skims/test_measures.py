"""TC, SD and coverage of skims beside plain twins and hand counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.skims.day import Day, dtw, hear_picks, hear_rows, split_periods
from earwitness.skims.measures import (
    DayMeasures,
    calibration_sd,
    calibration_tc,
    coverage,
    msiou,
)
from earwitness.skims.tradeoff import area_below_curve, correlate_with_z, measure_curve
from helpers.random_days import made, plain_dtw, plain_means, plain_places, seeds


@given(seeds, st.integers(1, 20), st.integers(1, 20))
def test_warping_is_the_recursion_of_the_books(seed: int, rows: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    means, picks = rng.normal(size=(rows, 3)), rng.normal(size=(columns, 3))
    plain = plain_dtw(means.tolist(), picks.tolist())
    assert dtw(means, picks) == pytest.approx(plain, rel=1e-12)
    assert dtw(picks, means) == pytest.approx(plain, rel=1e-12)


def test_warping_waits_for_the_slower_one() -> None:
    # 0 0 1 1 against 0 1: nothing apart; against 1 0: 0-1, 0-1, 1-1, 1-0 or longer: 3
    course = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert dtw(course, np.array([[0.0], [1.0]])) == 0
    assert dtw(course, np.array([[1.0], [0.0]])) == 3
    assert math.isnan(dtw(course, np.zeros((0, 1))))


@given(seeds, st.integers(1, 40), st.sampled_from([8.0, 24.0, 30.0, 100.0]))
def test_periods_have_the_means_of_their_blocks(seed: int, blocks: int, period: float) -> None:
    day = made(seed, blocks, gaps=True)
    found = split_periods(day, period)
    assert np.allclose(found.means, plain_means(day, period), atol=1e-6)
    assert found.of.tolist() == plain_places(day, period)
    lengths = np.diff(found.first)
    assert lengths.tolist() == [found.of.tolist().count(p) for p in range(len(found.means))]


def plain_msiou(skim: list[float], day: list[float]) -> float:
    """Sets of classes above .01, .02, … .99."""
    shares = []
    for hundredth in range(1, 100):
        mine = {c for c, value in enumerate(skim) if value > hundredth / 100}
        theirs = {c for c, value in enumerate(day) if value > hundredth / 100}
        if mine | theirs:
            shares.append(len(mine & theirs) / len(mine | theirs))
    return sum(shares) / len(shares) if shares else math.nan


@given(seeds, st.integers(1, 6))
def test_agreement_of_classes_is_that_of_their_sets(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    mine, theirs = rng.random(classes).round(2), (rng.random(classes) * 0.8).round(2)
    found = msiou(mine, theirs)
    assert found == pytest.approx(plain_msiou(mine.tolist(), theirs.tolist()), nan_ok=True)


def test_agreement_is_counted_by_hand() -> None:
    # day .5 and .25; skim .5 and 0: above t below .25 (24 of them) one of two, then one of one (25)
    found = msiou(np.array([0.5, 0.0]), np.array([0.5, 0.25]))
    assert found == pytest.approx((24 * 0.5 + 25 * 1) / 49)
    assert math.isnan(msiou(np.zeros(2), np.zeros(2)))
    assert coverage(np.array([0.5, 0.0]), np.array([0.5, 0.25])) == pytest.approx(2 / 3)
    assert math.isnan(coverage(np.zeros(2), np.zeros(2)))


def test_calibrations_are_the_central_blocks_and_the_holders_of_maxima() -> None:
    vectors = [[0.0], [1.0], [5.0], [9.0], [7.0], [8.0]]
    classes = [[0.1, 0.9, 0], [0.8, 0, 0], [0, 0, 0.2], [0, 0.9, 0.7], [0, 0, 0], [0, 0, 0]]
    day = Day.of(np.arange(6) * 8.0, 8.0, vectors, classes)
    # means 2 and 8: nearest are block 1 (1) and block 5 (8)
    assert calibration_tc(day, 2).tolist() == [1, 5]
    # maxima .9 in block 0 (first of equals), .8 in block 1, .7 in block 3
    assert calibration_sd(day, 2).tolist() == [0, 1]
    assert calibration_sd(day, 5).tolist() == [0, 1, 3]


@given(seeds, st.integers(4, 30), st.integers(1, 4))
def test_ratios_are_those_of_calibration_and_skim(seed: int, blocks: int, picks: int) -> None:
    day = made(seed, blocks)
    rows = np.random.default_rng(seed).choice(blocks, picks, replace=False)
    skim = hear_rows(day, rows)
    means, vectors, classes = plain_means(day, 24.0), day.vectors.tolist(), day.classes.max(axis=0)
    central, holders = calibration_tc(day, picks), calibration_sd(day, picks)
    best = plain_dtw(means, [vectors[row] for row in central])
    assert DayMeasures(day, 24.0).tc(skim) == pytest.approx(
        best / plain_dtw(means, [vectors[row] for row in rows]), rel=1e-5
    )
    mine, known = skim.classes.max(axis=0), day.classes[holders].max(axis=0)
    assert DayMeasures(day).sd(skim) == pytest.approx(mine.sum() / known.sum())
    published = DayMeasures(day).sd_msiou(skim)
    assert published == pytest.approx(msiou(mine, classes) / msiou(known, classes))


def test_the_order_of_picks_matters_to_tc_alone() -> None:
    day = made(3, 40)
    measured = DayMeasures(day, 40.0)
    rows = calibration_tc(day, 5)
    right, turned = hear_rows(day, rows), hear_rows(day, rows[::-1])
    assert measured.tc(right) == 1
    assert measured.tc(turned) < 1
    assert measured.sd(right) == measured.sd(turned)
    assert measured.coverage(right) == measured.coverage(turned)


def test_picks_that_are_blocks_are_heard_exactly() -> None:
    day = made(5, 30, gaps=True)
    rows = [3, 17, 4]
    found = hear_picks(day, [(float(day.starts[row]), 8.0) for row in rows])
    assert found is not None
    assert np.array_equal(found.vectors, day.vectors[rows].astype(np.float64))
    assert np.array_equal(found.classes, day.classes[rows].astype(np.float64))


def test_picks_between_blocks_have_a_share_of_each() -> None:
    classes = [[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]]
    day = Day.of([0.0, 8.0, 100.0], 8.0, [[0.0], [4.0], [8.0]], classes)
    found = hear_picks(day, [(2.0, 8.0), (0.0, 16.0), (109.0, 2.0), (6.0, 1.0)])
    assert found is not None
    # 6 s of the first and 2 s of the second; both; nearly the third; inside the first
    assert found.vectors[:, 0].tolist() == [1.0, 2.0, 8.0, 0.0]
    assert found.classes.tolist() == [[0.75, 0.25], [1.0, 1.0], [0.0, 0.5], [1.0, 0.0]]
    assert hear_picks(day, [(50.0, 8.0)]) is None
    assert hear_picks(day, [(900.0, 8.0)]) is None


def test_nothing_has_nothing_of_a_day_and_of_no_day_all_is_undefined() -> None:
    day = made(1, 10)
    measured, nothing = DayMeasures(day), hear_rows(day, [])
    assert measured.tc(nothing) == measured.sd(nothing) == measured.coverage(nothing) == 0
    assert measured.agreement(nothing) == 0
    assert math.isnan(measured.distance(nothing))
    never = DayMeasures(made(1, 0))
    assert math.isnan(never.tc(nothing))
    assert math.isnan(never.sd(nothing))
    assert math.isnan(never.coverage(nothing))
    same = Day.of([0.0, 8.0], 8.0, [[1.0], [1.0]], [[0.0], [0.0]])
    alike, first = DayMeasures(same), hear_rows(same, [0])
    assert math.isnan(alike.tc(first))  # silence can neither be followed nor covered
    assert math.isnan(alike.sd(first))
    assert math.isnan(alike.sd_msiou(first))
    assert math.isnan(alike.sd(hear_rows(same, [])))


def test_the_area_below_a_curve_is_counted_by_hand() -> None:
    # up to .2 at height .8: .16; from (.2, .8) to (.6, .4): .4 · .6 = .24
    assert area_below_curve([0.6, 0.2], [0.4, 0.8]) == pytest.approx(0.4)
    assert area_below_curve([0.5], [0.5]) == 0.25
    assert math.isnan(area_below_curve([], []))
    assert math.isnan(area_below_curve([0.1, math.nan], [0.2, 0.3]))


def test_z_follows_the_order_of_what_is_measured() -> None:
    assert correlate_with_z([0, 0.5, 1], [0.9, 0.5, 0.1]) == pytest.approx(-1)
    assert correlate_with_z([0, 0.5, 1], [0.1, 0.5, 0.5]) == pytest.approx(math.sqrt(3) / 2)
    assert math.isnan(correlate_with_z([0, 0.5, 1], [0.5, 0.5, 0.5]))
    assert math.isnan(correlate_with_z([0, 1], [0.5, math.nan]))


def test_a_course_needs_three_z_each_of_them_once() -> None:
    tc, sd = [0.9, 0.5, 0.1, 0.1], [0.2, 0.4, 0.8, 0.8]
    found = measure_curve([0, 0.5, 1], tc[:3], sd[:3])
    # 0.1 · 0.8 + 0.4 · (0.8 + 0.4) / 2 + 0.4 · (0.4 + 0.2) / 2 = 0.08 + 0.24 + 0.12
    assert found == pytest.approx((0.44, -1, 1))
    assert all(map(math.isnan, measure_curve([0, 0.5], tc[:2], sd[:2])))
    assert all(map(math.isnan, measure_curve([0, 0.5, 1, 1], tc, sd)))
    some = measure_curve([0, 0.5, 1], [0.9, 0.5, math.nan], sd[:3])
    assert [math.isnan(x) for x in some] == [True, True, False]
