"""The human ceiling: hand counts, plain loops, panels whose reliability is known, and gaps."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from earwitness.metaeval import ceiling
from earwitness.metaeval.ceiling import (
    Ceiling,
    draw_halves,
    measure_ceilings,
    side_tables,
)
from earwitness.metaeval.coefficients import coefficient_names
from earwitness.metaeval.levels import ScoreRatingGrid, evaluate_grid, tie_rounded_means
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Votes
from helpers.samples import many

Coefficient = Callable[[Floats, Floats], float]
TableCoefficient = Callable[[Floats, Floats], Floats]  # pairs × systems × items to a value a pair


def r(x: Floats, y: Floats) -> float:
    return float(stats.pearsonr(x, y)[0])


def rho(x: Floats, y: Floats) -> float:
    return float(stats.spearmanr(x, y)[0])


def differs(x: Floats) -> bool:
    return len(x) > 1 and float(np.ptp(x)) > 1e-12


def compare_sides(votes: Votes, firsts: Floats, concordance: TableCoefficient) -> Floats:
    """Raters with a 1 against those with a 0, row by row."""
    values = [concordance(*pair) for pair in side_tables(votes, firsts)]
    return np.concatenate(values) if values else np.zeros(0)


def rater_ceiling(votes: Votes, concordance: TableCoefficient) -> Ceiling:
    """Every rater against the others, by any coefficient."""
    return Ceiling(compare_sides(votes, np.eye(votes.size[2]), concordance))


def halves_ceiling(
    votes: Votes, concordance: TableCoefficient, *, splits: int, seed: int
) -> Ceiling:
    """Halves of the raters against each other, by any coefficient."""
    return Ceiling(compare_sides(votes, draw_halves(votes, splits, seed), concordance))


def counts(found: Ceiling) -> tuple[int, int]:
    """Numbers of defined and of undefined values."""
    estimate = found.estimate(0.95, "")
    return estimate.n, estimate.undefined


def everywhere(coefficient: Coefficient) -> TableCoefficient:
    """Over all cells at once."""

    def values(first: Floats, second: Floats) -> Floats:
        found = []
        for x, y in zip(first, second, strict=True):
            known = ~np.isnan(x)
            assert (known == ~np.isnan(y)).all()
            defined = differs(x[known]) and differs(y[known])
            found.append(coefficient(x[known], y[known]) if defined else math.nan)
        return np.array(found)

    return values


def over_systems(coefficient: Coefficient) -> TableCoefficient:
    """Over means of systems, all of which must have a cell."""

    def values(first: Floats, second: Floats) -> Floats:
        pairs = zip(first, second, strict=True)
        return np.array([coefficient(np.nanmean(x, 1), np.nanmean(y, 1)) for x, y in pairs])

    return values


def votes_of(table: Floats) -> Votes:
    """From raters × systems × items."""
    raters, systems, items = np.nonzero(~np.isnan(table))
    size = (table.shape[1], table.shape[2], table.shape[0])
    return Votes(table[raters, systems, items], systems, items, raters, size)


def panel(rng: np.random.Generator, shape: tuple[int, int, int], missing: float = 0.0) -> Floats:
    """Raters × systems × items with unit variance of cells and of raters' own noise."""
    table = rng.normal(size=shape[1:]) + rng.normal(size=shape)
    return np.where(rng.random(shape) < missing, np.nan, table)


def test_three_raters_by_hand() -> None:
    # One system, four items. A 1 2 3 4, B 1 3 2 4, C 4 3 2 1.
    table = np.array([[[1.0, 2, 3, 4]], [[1.0, 3, 2, 4]], [[4.0, 3, 2, 1]]])
    found = rater_ceiling(votes_of(table), everywhere(r))
    # A with (B + C)/2 = 2.5 3 2 2.5: Sxy = −1.5·0 − .5·.5 + .5·(−.5) + 0 = −.5, Sxx 5, Syy .5
    # B with (A + C)/2 = 2.5 everywhere: undefined
    # C with (A + B)/2 = 1 2.5 2.5 4: Sxy = 1.5·(−1.5)·2 = −4.5, Sxx 5, Syy 4.5
    assert found.values[[0, 2]] == pytest.approx([-0.5 / math.sqrt(2.5), -4.5 / math.sqrt(22.5)])
    assert (math.isnan(found.values[1]), *counts(found)) == (True, 2, 1)
    assert found.mean == pytest.approx(-(0.5 / math.sqrt(2.5) + 4.5 / math.sqrt(22.5)) / 2)


def plain_others(table: Floats, rater: int, coefficient: Coefficient) -> float:
    """One rater against the rest, cell by cell."""
    x, y = [], []
    for system in range(table.shape[1]):
        for item in range(table.shape[2]):
            own = table[rater, system, item]
            rest = [float(v) for v in np.delete(table[:, system, item], rater) if v == v]
            if own == own and rest:
                x.append(own)
                y.append(sum(rest) / len(rest))
    return coefficient(np.array(x), np.array(y))


@pytest.mark.parametrize("coefficient", [r, rho])
def test_plain_loops_over_raters_and_cells_give_the_same(coefficient: Coefficient) -> None:
    rng = np.random.default_rng(1)
    for _ in range(many(3, 20)):
        table = panel(rng, (6, 4, 5), 0.4)
        found = rater_ceiling(votes_of(table), everywhere(coefficient))
        slow = [plain_others(table, rater, coefficient) for rater in range(6)]
        assert found.values == pytest.approx(slow)
        assert found.mean == pytest.approx(sum(slow) / 6)


def test_halves_are_halves_of_those_who_voted_and_every_split_is_counted_by_hand() -> None:
    rng = np.random.default_rng(2)
    table = panel(rng, (7, 3, 8), 0.2)
    table[4] = np.nan
    votes = votes_of(table)
    firsts = draw_halves(votes, 50, 9)
    assert (firsts.sum(axis=1) == 3).all()
    assert not firsts[:, 4].any()
    found = halves_ceiling(votes, everywhere(rho), splits=50, seed=9)
    for row, got in zip(firsts, found.values, strict=True):
        one, other = table[row == 1], np.delete(table, 4, 0)[np.delete(row, 4) == 0]
        known = ~np.isnan(one).all(axis=0) & ~np.isnan(other).all(axis=0)
        means = [np.nanmean(side[:, known], axis=0) for side in (one, other)]
        assert got == pytest.approx(rho(*means))
    of_one = halves_ceiling(votes_of(table[:1]), everywhere(rho), splits=4, seed=9)
    assert (*counts(of_one), math.isnan(of_one.mean)) == (0, 4, True)


def test_every_split_of_four_raters_comes_equally_often() -> None:
    splits = many(3000, 30000)
    rows, counts = np.unique(
        draw_halves(votes_of(np.ones((4, 1, 2))), splits, 3), axis=0, return_counts=True
    )
    assert len(rows) == 6
    assert np.abs(counts / splits - 1 / 6).max() < 4 * math.sqrt(5 / 36 / splits)


def test_a_panel_of_known_reliability_has_it() -> None:
    # Cells and raters' own noise have variance 1. One rater with the mean of nine others:
    # 1 / √(2 · (1 + 1/9)); halves of five: 1 / (1 + 1/5); stepped up, two panels of ten: 1 / 1.1.
    rng = np.random.default_rng(4)
    votes = votes_of(panel(rng, (10, 20, many(100, 1000))))
    alone = rater_ceiling(votes, everywhere(r))
    wide = 4 / math.sqrt(20 * many(100, 1000))
    assert alone.mean == pytest.approx(1 / math.sqrt(20 / 9), abs=wide)
    both = halves_ceiling(votes, everywhere(r), splits=20, seed=1)
    assert both.mean == pytest.approx(1 / 1.2, abs=wide)
    assert both.stepped == pytest.approx(1 / 1.1, abs=wide)
    assert both.stepped == pytest.approx(2 * both.mean / (1 + both.mean))


def test_halves_that_disagree_are_not_stepped_up() -> None:
    table = np.array([[[1.0, 2, 3]], [[3.0, 2, 1.5]]])
    found = halves_ceiling(votes_of(table), everywhere(r), splits=5, seed=1)
    assert found.mean < 0
    assert math.isnan(found.stepped)


def test_the_level_is_up_to_the_caller() -> None:
    rng = np.random.default_rng(5)
    table = panel(rng, (5, 6, 4))
    found = rater_ceiling(votes_of(table), over_systems(r))
    means = table.mean(axis=2)
    slow = [r(means[i], np.delete(means, i, 0).mean(axis=0)) for i in range(5)]
    assert found.values == pytest.approx(slow)


def test_a_seed_gives_the_same_bytes_and_blocks_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    votes = votes_of(panel(np.random.default_rng(6), (9, 4, 11), 0.3))

    def run(seed: int) -> bytes:
        return halves_ceiling(votes, everywhere(r), splits=40, seed=seed).values.tobytes()

    first, alone = run(1), rater_ceiling(votes, everywhere(r)).values.tobytes()
    assert run(1) == first
    assert run(2) != first
    monkeypatch.setattr(ceiling, "CELLS_IN_CACHE", 100)
    assert run(1) == first
    assert rater_ceiling(votes, everywhere(r)).values.tobytes() == alone


def test_more_splits_begin_with_the_same_ones() -> None:
    votes = votes_of(panel(np.random.default_rng(7), (9, 2, 3)))
    assert (draw_halves(votes, 30, 1)[:10] == draw_halves(votes, 10, 1)).all()


def test_nobody_and_nothing_give_no_numbers() -> None:
    none = votes_of(np.full((3, 2, 2), np.nan))
    found = rater_ceiling(none, everywhere(r))
    assert (*counts(found), math.isnan(found.mean)) == (0, 3, True)
    assert counts(halves_ceiling(none, everywhere(r), splits=2, seed=1)) == (0, 2)
    empty = halves_ceiling(none, everywhere(r), splits=0, seed=1)
    assert (len(empty.values), *counts(empty), math.isnan(empty.stepped)) == (0, 0, 0, True)


@pytest.mark.parametrize("level", ["system", "item"])
def test_all_coefficients_at_once_are_what_each_gives(level: str) -> None:
    votes = votes_of(panel(np.random.default_rng(8), (7, 5, 6), 0.3).round(1))
    names = coefficient_names(level)
    found = measure_ceilings(votes, level, names, splits=20, seed=3)

    for name, (alone, both) in zip(names, found, strict=True):

        def one(first: Floats, second: Floats, name: str = name) -> Floats:
            sides = (
                tie_rounded_means(x, float(np.nanmax(np.abs(x))), axis=1) for x in (first, second)
            )
            pairs = zip(*sides, strict=True)
            return np.array(
                [
                    evaluate_grid(ScoreRatingGrid(a[None], b), level, [name]).value[0, 0]
                    for a, b in pairs
                ]
            )

        slow = rater_ceiling(votes, one)
        assert alone.values == pytest.approx(slow.values, abs=1e-9, nan_ok=True)
        slow = halves_ceiling(votes, one, splits=20, seed=3)
        assert both.values == pytest.approx(slow.values, abs=1e-9, nan_ok=True)
        assert both.stepped == pytest.approx(slow.stepped, abs=1e-9, nan_ok=True)
