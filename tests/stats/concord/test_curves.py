"""Fewer and more raters and items: plain loops, counts beyond what there is, and what is enough."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.stats.concord import curves
from earwitness.stats.concord.curves import WHAT, enough, with_count
from earwitness.stats.concord.levels import people
from oracles.concordance import cell_means, level_value
from stats.concord.grids import SIZE, rows_of, scores_of, votes_of

NAN = math.nan


def picked(what: str, count: int, draws: int, seed: int) -> list[list[int]]:
    """The indices of every draw."""
    whole = SIZE[2] if what == "raters" else SIZE[1]
    rng = np.random.Generator(np.random.PCG64((seed, WHAT.index(what), count)))
    rows = rng.multinomial(count, np.full(whole, 1 / whole), size=draws)
    return [np.repeat(np.arange(whole), row).tolist() for row in rows]


@pytest.mark.parametrize("what", WHAT)
@pytest.mark.parametrize("level", ["system", "item", "global"])
@pytest.mark.parametrize("count", [1, 3, 20])
def test_plain_loops_over_drawn_raters_or_items_find_the_same(
    what: str, level: str, count: int
) -> None:
    scores, votes = scores_of(3), votes_of(3)
    found = with_count(scores, votes, level, "kendall_b", what, count, draws=5, seed=2)
    for row, chosen in zip(found, picked(what, count, 5, 2), strict=True):
        raters = chosen if what == "raters" else list(range(SIZE[2]))
        items = chosen if what == "items" else list(range(SIZE[1]))
        means = cell_means(rows_of(votes), raters, SIZE)
        systems = list(range(SIZE[0]))
        slow = [
            level_value(level, "kendall_b", one.tolist(), means, systems, items) for one in scores
        ]
        assert row == pytest.approx(slow, abs=1e-9, nan_ok=True)


def test_more_raters_than_there_are_agree_better_and_spread_less() -> None:
    rng = np.random.default_rng(4)
    size = (8, 10, 12)
    true = rng.normal(size=size[:2])
    votes = votes_of(4, 1.0, size)
    noisy = true.ravel()[:, None] + rng.normal(0, 1.5, (80, 12))
    votes = type(votes)(noisy.ravel(), votes.systems, votes.items, votes.listeners, size)
    rows = [
        with_count(true[None], votes, "item", "pearson", "raters", count, draws=300)
        for count in (1, 4, 12, 48)
    ]
    assert (np.diff([one.mean() for one in rows]) > 0).all()
    assert (np.diff([one.std() for one in rows]) < 0).all()


def test_means_of_people_serve_for_items_and_not_for_raters() -> None:
    scores, votes = scores_of(5), votes_of(5)
    args = ("system", "spearman")
    ours = with_count(scores, votes, *args, "items", 4, draws=6)
    means = with_count(scores, people(votes)[0], *args, "items", 4, draws=6)
    assert ours.tobytes() == means.tobytes()
    with pytest.raises(ValueError, match=r"raters .where votes are known. or items, got raters"):
        with_count(scores, people(votes)[0], *args, "raters", 4)
    with pytest.raises(ValueError, match="got systems"):
        with_count(scores, votes, *args, "systems", 4)


def test_a_seed_gives_the_same_bytes_and_blocks_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def run(seed: int) -> bytes:
        args = (scores_of(6), votes_of(6), "item", "acc_23", "raters", 3)
        return with_count(*args, draws=30, seed=seed).tobytes()

    first = run(1)
    assert (run(1) == first, run(2) == first) == (True, False)
    monkeypatch.setattr(curves, "HELD", 400)
    assert run(1) == first


def test_enough_needs_a_small_gain_and_a_small_spread() -> None:
    counts, means = [1, 2, 4, 8, 16], np.array([0.5, 0.6, 0.63, 0.64, 0.645])
    halves = np.array([0.4, 0.3, 0.2, 0.1, 0.05])
    # Gains of twice as many: 0.1, 0.03, 0.01, 0.005.
    assert enough(counts, means, halves, 0.05, 1) == 2
    assert enough(counts, means, halves, 0.02, 1) == 4
    assert enough(counts, means, halves, 0.02, 0.1) == 8
    # 16 would do, but what 32 gain is not known.
    assert enough(counts, means, halves, 0.02, 0.05) == 0
    assert enough(counts, means, halves, 0.001, 1) == 0


def test_a_double_between_two_counts_is_read_off_their_line() -> None:
    # Twice 3 is 6, of which log2 lies 0.585 of the way from 4 to 8: 0.63 + 0.585 · 0.02 = 0.6417.
    counts, means = [3, 4, 8], np.array([0.61, 0.63, 0.65])
    nothing = np.zeros(3)
    assert enough(counts, means, nothing, 0.0318, 0) == 3
    assert enough(counts, means, nothing, 0.0316, 0) == 4


def test_unknown_means_and_spreads_are_never_enough() -> None:
    counts = [1, 2, 4]
    assert enough(counts, np.full(3, NAN), np.zeros(3), 1, 1) == 0
    assert enough(counts, np.ones(3), np.array([NAN, 0.1, 0.1]), 0.5, 0.1) == 2
