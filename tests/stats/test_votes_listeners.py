"""Listeners beside the others, and the rejection of BT.500, each with a plain twin."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from earwitness.stats.arrays import Floats
from earwitness.stats.observers import fit_subjects, reject_observers
from earwitness.stats.votes import connected_panels, leave_one_out_figures, table_entries
from helpers.samples import many


def random_votes(rng: np.random.Generator, most: int = 30) -> Floats:
    shape = int(rng.integers(1, 30)), int(rng.integers(1, most))
    table = np.rint(3 + rng.normal(size=(shape[0], 1)) + rng.normal(size=shape))
    table[rng.random(shape) < rng.choice([0, 0.4])] = np.nan
    return table


def plain_beside(table: Floats, listener: int) -> list[float]:
    """Stimulus by stimulus."""
    own, others = [], []
    for row in table.tolist():
        rest = [x for i, x in enumerate(row) if i != listener and not math.isnan(x)]
        if rest and not math.isnan(row[listener]):
            own.append(row[listener])
            others.append(math.fsum(rest) / len(rest))
    away = [a - b for a, b in zip(own, others, strict=True)]
    n = len(away)
    bias = math.fsum(away) / n if n else math.nan
    squares = math.fsum((x - bias) ** 2 for x in away)
    spread = math.sqrt(squares / (n - 1)) if n > 1 else math.nan
    rmse = math.sqrt(math.fsum(x**2 for x in away) / n) if n else math.nan
    varied = n > 1 and np.ptp(own) > 1e-9 and np.ptp(others) > 1e-9
    correlation = float(np.corrcoef(own, others)[0, 1]) if varied else math.nan
    return [n, bias, spread, correlation, rmse]


def test_figures_of_listeners_are_those_of_the_plain_version() -> None:
    rng = np.random.default_rng(1)
    for _ in range(many(15, 500)):
        table = random_votes(rng, 9)
        found = np.stack(leave_one_out_figures(table), axis=1)
        for listener, row in enumerate(found):
            twin = plain_beside(table, listener)
            np.testing.assert_allclose(row, twin, atol=1e-9)


def test_a_constant_listener_has_no_correlation_but_a_bias() -> None:
    table = np.array([[1.0, 2, 3], [3, 4, 3], [5, 4, 3]])
    found = leave_one_out_figures(table)
    assert math.isnan(found.correlation[2])
    # 3 − 1.5, 3 − 3.5, 3 − 4.5: mean −1/6
    assert found.bias[2] == pytest.approx(-1 / 6)


def test_votes_that_differ_by_rounding_alone_are_constant() -> None:
    table = np.array([[0.1 + 0.2, 1.0], [0.3, 2.0], [0.3, 3.0]])
    assert math.isnan(leave_one_out_figures(table).correlation[0])


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (4, 1), (1, 4)])
def test_tables_with_little_in_them_have_undefined_figures(shape: tuple[int, int]) -> None:
    found = leave_one_out_figures(np.ones(shape))
    assert np.isnan(found.correlation).all()
    assert len(reject_observers(np.ones(shape)).rejected) == shape[1]
    assert not reject_observers(np.ones(shape)).rejected.any()


def plain_rejected(table: Floats) -> list[tuple[int, int, int, bool]]:
    """BT.500 in fractions: nothing is rounded. A root is compared squared."""
    found = []
    for listener in range(table.shape[1]):
        votes = above = below = 0
        for row in table.tolist():
            if math.isnan(row[listener]):
                continue
            votes += 1
            whole = [Fraction(x) for x in row if not math.isnan(x)]
            middle = sum(whole) / len(whole)
            second = sum((x - middle) ** 2 for x in whole) / len(whole)
            if not second:
                continue
            kurtosis = sum((x - middle) ** 4 for x in whole) / len(whole) / second**2
            limit = 4 if 2 <= kurtosis <= 4 else 20
            variance = second * len(whole) / (len(whole) - 1)
            away = Fraction(row[listener]) - middle
            if away**2 >= limit * variance:
                above, below = above + (away > 0), below + (away < 0)
        far = above + below
        out = votes > 0 and Fraction(far, votes) > Fraction(5, 100)
        both = far > 0 and Fraction(abs(above - below), far) < Fraction(3, 10)
        found.append((votes, above, below, out and both))
    return found


def test_rejection_is_that_of_the_plain_version() -> None:
    rng, rejected, outside = np.random.default_rng(2), 0, 0
    for _ in range(many(15, 300)):
        table = random_votes(rng)
        wild = ~np.isnan(table) & (rng.random(table.shape[1]) < 0.1)
        table[wild] = 9.0 * rng.integers(0, 2, int(wild.sum()))
        twin = plain_rejected(table)
        found = list(zip(*(column.tolist() for column in reject_observers(table)), strict=True))
        assert found == twin
        rejected += sum(one[3] for one in twin)
        outside += sum(one[1] + one[2] for one in twin)
    assert rejected > 1
    assert outside > 30


def test_a_vote_exactly_two_deviations_away_is_outside() -> None:
    # mean 3, squares 2·1 + 2·4 = 10 over n − 1 = 10: S is 1; kurtosis 11 · 34 / 10² = 3.74
    row = [3.0] * 7 + [2.0, 4.0, 1.0, 5.0]
    found = reject_observers(np.array([row] * 4))
    assert found.above.tolist() == [0] * 10 + [4]
    assert found.below.tolist() == [0] * 9 + [4, 0]
    assert not found.rejected.any()  # always on one side: biased


def test_stimuli_on_which_all_agree_count_against_nobody() -> None:
    found = reject_observers(np.full((20, 8), 5.0))
    assert not found.above.any()
    assert not found.below.any()
    assert not found.rejected.any()


def test_limits_are_exact() -> None:
    # one listener above once and below once of 40: exactly 5 %, and kept; of 39 it is more
    others = np.array([1.0] * 6 + [-1.0] * 6)
    rows = np.tile(np.append(others, 0.0), (40, 1))
    rows[0, -1], rows[1, -1] = 4, -4
    assert reject_observers(rows).above[-1] == reject_observers(rows).below[-1] == 1
    assert not reject_observers(rows).rejected[-1]
    assert reject_observers(rows[:39]).rejected[-1]


def plain_panels(table: Floats) -> list[int]:
    """The panel of each listener, by following common stimuli; −1 without a vote."""
    heard = [set(np.flatnonzero(~np.isnan(column)).tolist()) for column in table.T]
    panels = [-1] * len(heard)
    for first, own in enumerate(heard):
        if not own or panels[first] >= 0:
            continue
        reached, number = set(own), max(panels) + 1
        while any(panels[n] < 0 and heard[n] & reached for n in range(len(heard))):
            for n, others in enumerate(heard):
                if others & reached:
                    panels[n] = number
                    reached |= others
    return panels


def test_panels_are_those_of_the_plain_version() -> None:
    rng = np.random.default_rng(12)
    for _ in range(many(60, 1000)):
        table = np.where(rng.random((30, 12)) < rng.choice([0.02, 0.05, 0.2]), 3.0, np.nan)
        assert connected_panels(table_entries(table)).tolist() == plain_panels(table)


@pytest.mark.parametrize("compute", [fit_subjects, leave_one_out_figures])
def test_tables_that_are_mostly_empty_are_not_copied(
    compute: Callable[[Floats], object],
) -> None:
    table, rng = np.full((5000, 200), np.nan), np.random.default_rng(13)
    table[rng.integers(0, 5000, 6000), rng.integers(0, 200, 6000)] = 3 + rng.normal(size=6000)
    compute(table[:20])  # imports
    tracemalloc.start()
    compute(table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < table.nbytes
