"""Skims of days of which the truth is known: promises of our method, and of the measures.

The days are those of ``benchmarks/skim_days.py``, whose seed chose nothing.
"""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.skim_days import (
    ZS,
    Row,
    areas,
    by_day,
    interval,
    made,
    swapped,
    worth,
)

from helpers.samples import FULL, many

COUNT = many(4, 20)
NEVER = 1e-9


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return made(COUNT, length=600.0 if FULL else 240.0)


def example(rows: list[Row], number: int, name: str) -> np.ndarray:
    return by_day(rows, f"example {number}", np.nan, name)


def along(rows: list[Row], method: str, name: str) -> np.ndarray:
    """Days by z."""
    return np.stack([by_day(rows, method, z, name) for z in ZS], axis=1)


def test_both_terms_are_monotone_in_z_on_every_day(rows: list[Row]) -> None:
    assert (np.diff(along(rows, "pareto", "tc_term"), axis=1) <= NEVER).all()
    assert (np.diff(along(rows, "pareto", "sd_term"), axis=1) >= -NEVER).all()


@pytest.mark.parametrize(("name", "sign"), [("tc", -1), ("sd", 1)])
def test_measured_values_are_monotone_in_z_on_average(
    rows: list[Row], name: str, sign: int
) -> None:
    means = sign * along(rows, "pareto", name).mean(axis=0)
    if FULL:
        assert (np.diff(means) > 0).all()
    assert means[-1] > means[0]


@pytest.mark.parametrize(("name", "sign"), [("true_tc", -1), ("true_sd", 1)])
def test_true_values_follow_z_and_no_step_falls_significantly(
    rows: list[Row], name: str, sign: int
) -> None:
    values = sign * along(rows, "pareto", name)
    assert values.mean(axis=0)[-1] > values.mean(axis=0)[0]
    if FULL:
        assert interval(values[:, -1] - values[:, 0])[1] > 0
        assert all(interval(step)[2] > 0 for step in np.diff(values, axis=1).T)


def test_at_z_0_true_tc_is_at_least_that_of_downsampling(rows: list[Row]) -> None:
    ours = by_day(rows, "pareto", 0.0, "true_tc")
    theirs = by_day(rows, "downsampling", np.nan, "true_tc")
    assert ours.mean() >= theirs.mean()
    if FULL:
        assert interval(ours - theirs)[1] > 0


def test_at_z_1_true_sd_is_at_least_that_of_the_published_method(rows: list[Row]) -> None:
    ours, theirs = (by_day(rows, method, 1.0, "true_sd") for method in ("pareto", "published"))
    assert ours.mean() >= theirs.mean()
    if FULL:
        assert interval(ours - theirs)[1] > 0


def test_the_curve_lies_above_that_of_the_published_method(rows: list[Row]) -> None:
    apart = areas(rows, "pareto") - areas(rows, "published")
    assert apart.mean() > 0
    if FULL:
        assert swapped(apart) < 0.01


@pytest.mark.parametrize(("measure", "truth"), [("tc", "true_tc"), ("sd", "true_sd")])
def test_measures_go_with_the_truth(rows: list[Row], measure: str, truth: str) -> None:
    mean, low, _ = interval(worth(rows, measure, truth))
    assert mean >= (0.7 if FULL else 0.5)  # few and short days say less
    assert low > 0.4


def test_another_order_leaves_sd_exactly_equal_and_lowers_tc(rows: list[Row]) -> None:
    for name in ("sd", "coverage", "true_sd"):
        assert example(rows, 6, name).tolist() == example(rows, 7, name).tolist()
    assert (example(rows, 7, "true_tc") < example(rows, 6, "true_tc")).all()
    assert example(rows, 7, "tc").mean() < example(rows, 6, "tc").mean()


def test_one_steady_source_has_the_lowest_sd_of_the_examples(rows: list[Row]) -> None:
    steady = example(rows, 3, "true_sd")
    assert all((steady < example(rows, number, "true_sd")).all() for number in (1, 2, 4, 5, 6))
    measured = [example(rows, number, "sd").mean() for number in range(1, 8)]
    assert min(measured) == measured[2]


def test_the_course_of_the_day_has_the_highest_tc_of_the_examples(rows: list[Row]) -> None:
    course = example(rows, 5, "true_tc")
    others = [example(rows, number, "true_tc") for number in (1, 2, 3, 4, 6, 7)]
    assert all((course >= other).all() for other in others)
    measured = [example(rows, number, "tc").mean() for number in range(1, 8)]
    assert max(measured) == measured[4]
