"""Intraclass correlations: published values, a plain twin, and what is undefined."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from earwitness.stats.agreement import estimate_icc, estimate_pooled_icc, panel_tables
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Votes
from helpers.literature_tables import SHROUT_FLEISS
from helpers.samples import many


def test_shrout_and_fleiss_have_their_published_values() -> None:
    found = estimate_icc(SHROUT_FLEISS)
    one, mean = found["ICC(2,1)"], found["ICC(2,k)"]
    # MSR 1349/120, MSC 2339/72, MSE 367/360 (11.24, 32.49, 1.02 in the paper)
    rows, columns, rest = Fraction(1349, 120), Fraction(2339, 72), Fraction(367, 360)
    assert [round(float(x), 2) for x in (rows, columns, rest)] == [11.24, 32.49, 1.02]
    exact = (rows - rest) / (rows + 3 * rest + 4 * (columns - rest) / 6)
    assert one.value == pytest.approx(float(exact), abs=1e-15)
    assert round(one.value, 2) == 0.29
    assert mean.value == pytest.approx(float((rows - rest) / (rows + (columns - rest) / 6)))
    assert round(mean.value, 2) == 0.62
    assert (round(one.low, 3), round(one.high, 3)) == (0.019, 0.761)
    assert (round(mean.low, 3), round(mean.high, 3)) == (0.071, 0.927)
    assert (one.n, one.undefined) == (6, 0)


def plain(table: list[list[float]], level: float) -> list[float]:
    """Sums over cells, and the interval as Shrout & Fleiss write it, stepped up for the mean."""
    from scipy.stats import f

    n, k = len(table), len(table[0])
    everything = sum(map(sum, table)) / (n * k)
    by_row = [sum(row) / k for row in table]
    by_column = [sum(row[j] for row in table) / n for j in range(k)]
    rows = k * sum((mean - everything) ** 2 for mean in by_row) / (n - 1)
    columns = n * sum((mean - everything) ** 2 for mean in by_column) / (k - 1)
    rest = 0.0
    for i in range(n):
        for j in range(k):
            rest += (table[i][j] - by_row[i] - by_column[j] + everything) ** 2
    rest /= (n - 1) * (k - 1)
    value = (rows - rest) / (rows + (k - 1) * rest + k * (columns - rest) / n)
    ratio, share = columns / rest, max(0, value)  # a negative coefficient would leave no df
    top = (k * share * ratio + n * (1 + (k - 1) * share) - k * share) ** 2
    below = (n - 1) * (k * share * ratio) ** 2 + (n * (1 + (k - 1) * share) - k * share) ** 2
    df = (k - 1) * (n - 1) * top / below
    upper, lower = f.ppf((1 + level) / 2, n - 1, df), f.ppf((1 + level) / 2, df, n - 1)
    spread = k * columns + (k * n - k - n) * rest
    low = n * (rows - upper * rest) / (upper * spread + n * rows)
    high = n * (lower * rows - rest) / (spread + n * lower * rows)
    stepped = [k * x / (1 + (k - 1) * x) for x in (value, low, high)]
    return [value, low, high, *stepped]


@pytest.mark.peer
def test_values_and_intervals_are_those_of_the_plain_version() -> None:
    rng = np.random.default_rng(1)
    for _ in range(many(50, 2000)):
        n, k = int(rng.integers(3, 40)), int(rng.integers(2, 12))
        table = rng.normal(size=(n, 1)) * 1.5 + rng.normal(size=k) + rng.normal(size=(n, k))
        level = float(rng.choice([0.8, 0.95, 0.99]))
        found = [
            x for one in estimate_icc(table, level).values() for x in (one.value, one.low, one.high)
        ]
        for ours, twin in zip(found, plain(table.tolist(), level), strict=True):
            # a stepped-up end has no meaning beyond the pole of Spearman–Brown
            assert math.isnan(ours) or ours == pytest.approx(twin, abs=1e-9, rel=1e-7)
        assert not math.isnan(found[0] + found[1] + found[2])


def test_rows_with_a_gap_are_counted_and_left_out() -> None:
    gap = np.vstack([SHROUT_FLEISS, [[np.nan, 3, 4, 5]]])
    found, whole = estimate_icc(gap)["ICC(2,1)"], estimate_icc(SHROUT_FLEISS)["ICC(2,1)"]
    assert (found.n, found.undefined) == (6, 1)
    assert (found.value, found.low, found.high) == (whole.value, whole.low, whole.high)


@pytest.mark.parametrize(
    "table",
    [
        np.zeros((0, 0)),
        np.zeros((0, 3)),
        np.ones((1, 4)),
        np.ones((6, 1)),
        np.ones((6, 4)),
        np.full((6, 4), np.nan),
        np.vstack([SHROUT_FLEISS[:4], np.full((300, 4), np.nan)]),  # hardly a complete row
    ],
)
def test_what_cannot_be_said_is_undefined(table: Floats) -> None:
    for one in estimate_icc(table).values():
        assert math.isnan(one.value)
        assert math.isnan(one.low)
        assert math.isnan(one.high)


def test_listeners_who_all_agree_have_one() -> None:
    for one in estimate_icc(np.arange(6.0)[:, None] + np.zeros(4)).values():
        assert (one.value, one.low, one.high) == (1, 1, 1)


def test_equal_panels_pool_to_the_same_value_with_a_narrower_interval() -> None:
    found, alone = (
        estimate_pooled_icc([SHROUT_FLEISS, SHROUT_FLEISS + 3]),
        estimate_icc(SHROUT_FLEISS),
    )
    for name, one in found.items():
        assert one.value == pytest.approx(alone[name].value, abs=1e-12)
        assert alone[name].low < one.low < one.value < one.high < alone[name].high
        assert one.n == 12


def test_panels_that_say_nothing_do_not_spoil_the_pool() -> None:
    found = estimate_pooled_icc([SHROUT_FLEISS, np.ones((3, 1))])["ICC(2,1)"]
    assert found.value == estimate_icc(SHROUT_FLEISS)["ICC(2,1)"].value
    assert (found.n, found.undefined) == (6, 3)


def test_tables_of_panels_have_their_own_stimuli() -> None:
    values = np.array([1.0, 2, 3, 4, 5])
    items, listeners = np.array([0, 1, 0, 1, 2]), np.array([0, 0, 2, 2, 1])
    votes = Votes(values, np.zeros(5, np.int64), items, listeners, (1, 3, 3))
    (first, one), (second, other) = panel_tables(votes)
    assert (first, second) == ([0, 2], [1])
    assert one.tolist() == [[1, 3], [2, 4]]
    assert other.tolist() == [[5]]


@pytest.mark.simulation
def test_pooled_intervals_cover_what_was_planted() -> None:
    runs, hits, rng = many(200, 2000), 0, np.random.default_rng(7)
    true = 1 / (1 + 0.25 + 0.64)  # variances of stimuli, listeners, rest
    for _ in range(runs):
        panels = [
            rng.normal(size=(30, 1)) + 0.5 * rng.normal(size=8) + 0.8 * rng.normal(size=(30, 8))
            for _ in range(4)
        ]
        one = estimate_pooled_icc(panels)["ICC(2,1)"]
        hits += one.low <= true <= one.high
    error = math.sqrt(0.95 * 0.05 / runs)
    print(f"pooled ICC(2,1) covers {hits / runs:.3f} ± {error:.3f} of {runs}")
    assert abs(hits / runs - 0.95) < 4 * error


def test_intervals_of_unrelated_votes_contain_0_in_95_percent() -> None:
    runs = many(3000, 10_000)
    rng = np.random.default_rng(4)
    tables = rng.normal(size=(runs, 3, 30)) + 3 * rng.normal(size=(runs, 1, 30))
    found = [estimate_icc(table)["ICC(2,1)"] for table in tables]
    covered = sum(one.low <= 0 <= one.high for one in found) / runs
    assert abs(covered - 0.95) < 3 * math.sqrt(0.05 * 0.95 / runs)
