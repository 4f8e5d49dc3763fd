"""Fewer and more raters and items: plain loops, simulated studies, and what is enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval import sample_size
from earwitness.metaeval.levels import ScoreRatingGrid, cell_means, evaluate_grid
from earwitness.metaeval.sample_size import (
    SAMPLE_UNITS,
    coefficients_at_counts,
    count_units,
    estimate_with_references,
    extrapolate_coefficient,
    sufficient_count,
)
from earwitness.stats.arrays import Floats
from earwitness.stats.votes import Votes
from helpers.plain_coefficients import level_value
from helpers.samples import many
from helpers.vote_grids import SIZE, rows_of, scores_of, votes_of

NAN = math.nan


def full(table: Floats) -> Votes:
    """Votes of systems × items × raters."""
    systems, items, raters = (one.ravel() for one in np.indices(table.shape))
    return Votes(table.ravel(), systems, items, raters, table.shape)


def first_of_cells(votes: Votes, order: list[int], count: int) -> list[list[float]]:
    """Means of the first raters of every cell, in plain loops."""
    found = [[NAN] * votes.size[1] for _ in range(votes.size[0])]
    for system in range(votes.size[0]):
        for item in range(votes.size[1]):
            own = [(order[r], x) for s, i, r, x in rows_of(votes) if (s, i) == (system, item)]
            kept = [x for _, x in sorted(own)[:count]]
            found[system][item] = sum(kept) / len(kept) if kept else NAN
    return found


@pytest.mark.parametrize("what", SAMPLE_UNITS)
@pytest.mark.parametrize("level", ["system", "item", "global"])
def test_plain_loops_over_fewer_raters_or_items_find_the_same(what: str, level: str) -> None:
    scores, votes = scores_of(3), votes_of(3, 0.95)
    whole, count = count_units(votes, what), 2
    found = coefficients_at_counts(
        scores, votes, (level, "kendall_b"), what, [count], draws=5, seed=2
    )[0]
    rng = np.random.Generator(np.random.PCG64((2, SAMPLE_UNITS.index(what))))
    orders = np.argsort(rng.random((5, SIZE[2] if what == "raters" else SIZE[1])), axis=1)
    rows = []
    for order in orders.tolist():
        items = [n for n in range(SIZE[1]) if what == "raters" or order[n] < count]
        means = first_of_cells(votes, order if what == "raters" else [*range(SIZE[2])], 9)
        if what == "raters":
            means = first_of_cells(votes, order, count)
        systems = list(range(SIZE[0]))
        rows.append(
            [level_value(level, "kendall_b", one.tolist(), means, systems, items) for one in scores]
        )
    slow = np.array(rows)
    middle = np.nanmean(slow, axis=0)
    assert found.value == pytest.approx(middle, abs=1e-9)
    arcs = np.arcsin(slow)
    arcs = np.arcsin(middle) + (arcs - np.nanmean(arcs, axis=0)) / math.sqrt(1 - count / whole)
    spread = np.sin(np.clip(arcs, -np.pi / 2, np.pi / 2))
    assert found.draws == pytest.approx(spread, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("what", SAMPLE_UNITS)
def test_with_all_there_are_the_curve_is_at_the_value(what: str) -> None:
    scores, votes = scores_of(5), votes_of(5)
    for level in ("system", "item"):
        own = evaluate_grid(
            ScoreRatingGrid(scores, cell_means(votes)[0]), level, ["spearman"]
        ).value[0]
        have = count_units(votes, what)
        found = coefficients_at_counts(scores, votes, (level, "spearman"), what, [have], draws=6)[0]
        assert found.value.tolist() == own.tolist()


def study(rng: np.random.Generator, raters: int) -> tuple[Floats, Floats]:
    """A metric, and votes from 1 to 5 of twice as many raters, who have likings of their own."""
    systems, items = 10, 10
    true = 0.4 * rng.normal(size=(systems, 1)) + 0.5 * rng.normal(size=items)
    true = true + 0.3 * rng.normal(size=(systems, items))
    heard = true[..., None] + 0.2 * rng.normal(size=(systems, 1, 2 * raters))
    votes = np.rint(3 + heard + rng.normal(size=(systems, items, 2 * raters)))
    return (true + 0.2 * rng.normal(size=true.shape))[None], np.clip(votes, 1, 5)


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("level", "name", "raters"),
    [
        ("item", "kendall_b", 4),
        ("item", "pearson", 6),
        ("item", "acc_23", 8),
        ("system", "kendall_b", 8),
        ("system", "spearman", 6),
    ],
)
def test_fewer_and_twice_as_many_raters_are_near_what_such_studies_have(
    level: str, name: str, raters: int
) -> None:
    counts = [1, raters // 2, raters, 2 * raters]
    curve, truth = [], []
    for seed in range(many(40, 200)):
        scores, table = study(np.random.default_rng((seed, raters)), raters)
        votes = full(table[:, :, :raters])
        found = coefficients_at_counts(
            scores, votes, (level, name), "raters", counts, draws=30, seed=seed
        )
        curve.append([one.value[0] for one in found])
        means = [table[:, :, :count].mean(axis=2) for count in counts]
        truth.append(
            [
                evaluate_grid(ScoreRatingGrid(scores, one), level, [name]).value[0, 0]
                for one in means
            ]
        )
    apart = np.mean(curve, axis=0) - np.mean(truth, axis=0)
    noise = np.std(np.subtract(curve, truth), axis=0) / math.sqrt(len(curve))
    assert apart[2] == pytest.approx(0, abs=1e-12)
    assert (np.abs(apart) < 0.04 + 3 * noise).all()
    assert np.mean(curve, axis=0)[3] > np.mean(curve, axis=0)[2] + 0.02


@pytest.mark.simulation
def test_draws_spread_as_much_as_studies_with_other_raters_do() -> None:
    rng = np.random.default_rng(3)
    true = rng.normal(size=(8, 12))
    counts, runs = [2, 4, 8], many(60, 300)
    values, spreads = [], []
    for seed in range(runs):
        table = true[..., None] + 1.5 * rng.normal(size=(8, 12, 8))
        figure = ("item", "pearson")
        found = coefficients_at_counts(
            true[None], full(table), figure, "raters", counts, draws=60, seed=seed
        )
        spreads.append([one.draws.std() for one in found])
        means = [table[:, :, :count].mean(axis=2) for count in counts]
        values.append(
            [
                evaluate_grid(ScoreRatingGrid(true[None], one), *_one(figure)).value[0, 0]
                for one in means
            ]
        )
    ratios = np.sqrt(np.mean(np.square(spreads), axis=0)) / np.std(values, axis=0)
    assert (np.abs(ratios - 1) < 0.15 + 3 / math.sqrt(2 * runs)).all(), ratios


def _one(figure: tuple[str, str]) -> tuple[str, list[str]]:
    return figure[0], [figure[1]]


def test_of_outputs_with_raters_of_their_own_none_is_lost() -> None:
    # Each of four items has three raters of its own of twelve: two of each output, not two in all.
    rng = np.random.default_rng(8)
    systems, items, own = (one.ravel() for one in np.indices((5, 4, 3)))
    votes = Votes(rng.integers(1, 6, 60).astype(float), systems, items, items * 3 + own, (5, 4, 12))
    assert count_units(votes, "raters") == 3
    scores = rng.normal(size=(1, 5, 4))
    found = coefficients_at_counts(
        scores, votes, ("system", "kendall_b"), "raters", [1, 2, 3, 6], draws=20
    )
    assert all(not np.isnan(one.draws).any() for one in found)
    assert votes.size[2] > 6


def test_a_line_through_fewer_and_all_is_read_off_further_on() -> None:
    r = [np.array([1, -1]) * math.sqrt(0.8 * k / (k + 3)) for k in (3, 7, 14)]
    for name, values in (
        ("kendall_b", [2 / np.pi * np.arcsin(one) for one in r]),
        ("spearman", [6 / np.pi * np.arcsin(one / 2) for one in r]),
        ("pairwise_accuracy", [0.5 + np.arcsin(one) / np.pi for one in r]),
    ):
        assert extrapolate_coefficient(values[0], values[1], name, (3, 7, 14)) == pytest.approx(
            values[2]
        )
    straight = extrapolate_coefficient(np.array([0.6]), np.array([0.7]), "acc_23", (4, 8, 16))
    assert straight == pytest.approx([0.75])
    # It never leaves the range, grows with the root at most, and not at all where signs differ.
    few, all_ = np.array([0.5, 0.001, -0.1]), np.array([0.99, 0.1, 0.1])
    more = extrapolate_coefficient(few, all_, "pearson", (4, 8, 16))
    assert more == pytest.approx([1, 0.1 * math.sqrt(2), 0.1])


def test_other_things_than_raters_and_items_are_refused() -> None:
    with pytest.raises(ValueError, match="raters or items, got systems"):
        count_units(votes_of(5), "systems")


def test_a_seed_gives_the_same_bytes_and_blocks_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(seed: int) -> bytes:
        args = (scores_of(6), votes_of(6), ("item", "acc_23"), "raters", [1])
        return coefficients_at_counts(*args, draws=30, seed=seed)[0].draws.tobytes()

    first = run(1)
    assert (run(1) == first, run(2) == first) == (True, False)
    monkeypatch.setattr(sample_size, "NUMBERS_IN_MEMORY", 400)
    assert run(1) == first


def test_enough_needs_a_small_gain_and_a_small_spread() -> None:
    counts, means = [1, 2, 4, 8, 16], np.array([0.5, 0.6, 0.63, 0.64, 0.645])
    halves = np.array([0.4, 0.3, 0.2, 0.1, 0.05])
    # Gains of twice as many: 0.1, 0.03, 0.01, 0.005.
    assert sufficient_count(counts, means, halves, 0.05, 1) == 2
    assert sufficient_count(counts, means, halves, 0.02, 1) == 4
    assert sufficient_count(counts, means, halves, 0.02, 0.1) == 8
    # 16 would do, but what 32 gain is not known.
    assert sufficient_count(counts, means, halves, 0.02, 0.05) == 0
    assert sufficient_count(counts, means, halves, 0.001, 1) == 0


def test_a_double_between_two_counts_is_read_off_their_line() -> None:
    # Twice 3 is 6, of which log2 lies 0.585 of the way from 4 to 8: 0.63 + 0.585 · 0.02 = 0.6417.
    counts, means = [3, 4, 8], np.array([0.61, 0.63, 0.65])
    nothing = np.zeros(3)
    assert sufficient_count(counts, means, nothing, 0.0318, 0) == 3
    assert sufficient_count(counts, means, nothing, 0.0316, 0) == 4


def test_unknown_means_and_spreads_are_never_enough() -> None:
    counts = [1, 2, 4]
    assert sufficient_count(counts, np.full(3, NAN), np.zeros(3), 1, 1) == 0
    assert sufficient_count(counts, np.ones(3), np.array([NAN, 0.1, 0.1]), 0.5, 0.1) == 2
    # Without a spread where twice as many are known, nothing can be said.
    assert sufficient_count(counts, np.ones(3), np.array([NAN, NAN, 0.1]), 0.5, 0.1) is None
    assert sufficient_count([3, 4], np.ones(2), np.zeros(2), 0.5, 0.1) is None


def test_ranges_of_references_are_wider_than_those_of_draws_by_hand() -> None:
    # Arc sines of draws are 0.3 ± 0.1 · {0, 1, 2}; their standard deviation is 0.1 · √2.5 = 0.1581.
    one = np.sin(0.3 + 0.1 * np.array([-2.0, -1, 0, 1, 2]))
    draws = {1: one, 4: np.array([0.5])}
    # One of four: 0.1581 / √(3 / 4) = 0.1826, and Student's t with 3 degrees of freedom is 3.1824.
    middle = math.asin(one.mean())
    found = estimate_with_references(draws, 1, "kendall_b", 0.95)
    assert found.value == one.mean()
    assert found.low == pytest.approx(math.sin(middle - 3.1824 * 0.18257), abs=1e-4)
    assert found.high == pytest.approx(math.sin(middle + 3.1824 * 0.18257), abs=1e-4)
    # All four: the variance of one of four is divided by 4, so the spread is half as large.
    whole = estimate_with_references(draws, 4, "kendall_b", 0.95)
    assert whole.value == 0.5
    assert whole.low == pytest.approx(math.sin(math.asin(0.5) - 3.1824 * 0.09129), abs=1e-4)
    assert whole.high == pytest.approx(math.sin(math.asin(0.5) + 3.1824 * 0.09129), abs=1e-4)
    # With more annotators than draws, these are what is few: t with 4 degrees of freedom is 2.7764.
    more = estimate_with_references({1: one, 9: one[:1]}, 1, "kendall_b", 0.95)
    assert more.high == pytest.approx(
        math.sin(middle + 2.7764 * 0.15811 / math.sqrt(8 / 9)), abs=1e-4
    )


def test_the_range_with_all_references_is_that_of_about_half() -> None:
    rng = np.random.default_rng(4)
    draws = {k: rng.uniform(0.2, 0.8, 6) for k in (1, 3, 5)} | {6: np.array([0.5])}
    whole = estimate_with_references(draws, 6, "pearson", 0.9)
    half = {k: draws[k] for k in (3, 6)}
    assert whole == estimate_with_references(half, 6, "pearson", 0.9)
    few = draws | {3: draws[3][:4]}  # of which four draws are too few
    assert whole != estimate_with_references(few, 6, "pearson", 0.9)
    assert estimate_with_references(few, 6, "pearson", 0.9).low > -1


def test_ranges_of_references_need_draws_that_have_a_value() -> None:
    draws = {1: np.array([0.1, 0.2, 0.3, 0.4, NAN]), 2: np.array([0.5])}
    for count, value, undefined in ((1, 0.25, 1), (2, 0.5, 0)):
        found = estimate_with_references(draws, count, "kendall_b", 0.95)
        assert found.value == pytest.approx(value)
        assert found.undefined == undefined
        assert math.isnan(found.low)
        assert math.isnan(found.high)
    assert math.isnan(estimate_with_references(draws, 3, "kendall_b", 0.95).value)
    same = {1: np.full(5, 0.5), 2: np.array([0.6])}
    found = estimate_with_references(same, 1, "kendall_b", 0.95)
    assert (found.low, found.high) == pytest.approx((0.5, 0.5))
