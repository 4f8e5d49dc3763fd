"""Means over cells: hand values, the t interval of listeners, and coverage with gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from earwitness.metaeval.levels import cell_means, interval_half_widths, system_means
from earwitness.stats import significance
from earwitness.stats.means import estimate_means
from earwitness.stats.votes import Codes, Votes
from helpers.samples import many
from helpers.vote_grids import votes_of


def test_cells_count_once_whoever_voted_on_them() -> None:
    # One system: three listeners give item 0 a 5, one of them gives item 1 a 1. Cells: 5 and 1.
    zeros = np.zeros(4, np.int64)
    votes = Votes(
        np.array([5.0, 5, 5, 1]), zeros, np.array([0, 0, 0, 1]), np.array([0, 1, 2, 0]), (1, 2, 3)
    )
    found = system_means(votes)
    assert (found.mean.tolist(), found.n.tolist()) == ([3.0], [3.0])
    # Votes weigh 1/6 1/6 1/6 1/2 and are 2 2 2 −2 above: listeners move it by −2/3 1/3 1/3; the
    # squares make 2/3, times 3² / (3 − 1).
    assert found.sd[0] == pytest.approx(math.sqrt(3))
    only = system_means(votes, np.array([[True, False]]))
    assert (only.mean[0], only.sd[0]) == (5, 0)


def test_where_all_vote_on_all_it_is_the_interval_of_listeners_means() -> None:
    votes = votes_of(3, 1.1)
    found = system_means(votes)
    low, high = significance.mean_interval(found, 0.9)
    for n, peer in enumerate(estimate_means(votes, "cluster_t", level=0.9)):
        assert (found.mean[n], low[n], high[n]) == pytest.approx((peer.value, peer.low, peer.high))


def test_means_are_those_of_cells_that_count() -> None:
    votes = votes_of(4, 0.5)
    cells = cell_means(votes)[0]
    known = np.random.default_rng(4).random(cells.shape) < 0.7
    slow = [np.nanmean(row[own]) for row, own in zip(cells, known, strict=True)]
    assert system_means(votes, known).mean == pytest.approx(slow)
    nothing = system_means(votes, np.zeros_like(known))
    assert np.isnan([*nothing.mean, *nothing.sd]).all()


def test_rounding_keeps_no_two_systems_apart() -> None:
    votes = votes_of(6, 0.7, (5, 7, 6))
    same = Votes(np.full(len(votes.values), 3.3), *_places(votes))
    assert len(set(system_means(same).mean.tolist())) == 1


def _places(votes: Votes) -> tuple[Codes, Codes, Codes, tuple[int, int, int]]:
    return votes.systems, votes.items, votes.listeners, votes.size


@pytest.mark.simulation
def test_the_interval_covers_as_often_as_it_says_also_with_gaps() -> None:
    runs, hits = many(300, 3000), 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        items = 3 + np.linspace(-0.5, 0.5, 8)
        table = items + rng.normal(0, 0.5, (12, 1)) + rng.normal(0, 0.7, (12, 8))
        listeners, heard = np.nonzero(rng.random((12, 8)) < 0.6)
        zeros = np.zeros(len(heard), np.int64)
        votes = Votes(table[listeners, heard], zeros, heard, listeners, (1, 8, 12))
        half = interval_half_widths(votes, np.ones((1, 8), bool), 0.95)[0]
        hits += abs(system_means(votes).mean[0] - 3) <= half
    assert abs(hits / runs - 0.95) < 0.02 + 4 * math.sqrt(0.0475 / runs)
