"""Matched boundaries of one case: the pairs that the metrics count."""

from __future__ import annotations

import tracemalloc
from random import Random
from time import process_time

import pytest

from algorithms import collar as slow_collar
from earwitness.chapters.matching import MATCHINGS, PAIRINGS, match_boundaries
from earwitness.scoring.score import score
from earwitness.stats.arrays import Ragged


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_pairs_are_as_many_as_the_metric_counts(name: str) -> None:
    rng = Random(1)
    for _ in range(60):
        collar = rng.choice([0.0, 1.0, 3.0, 30.0])
        output, reference = (
            [float(rng.randrange(1, 60)) for _ in range(rng.randrange(12))] for _ in range(2)
        )
        pairs = PAIRINGS[name](output, reference, collar)
        count = MATCHINGS[name](Ragged.from_rows([output]), Ragged.from_rows([reference]), collar)
        assert len(pairs) == count[0]
        assert len({mine for mine, _ in pairs}) == len({theirs for _, theirs in pairs}) == count[0]
        assert all(abs(output[mine] - reference[theirs]) <= collar for mine, theirs in pairs)


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_dense_boundaries_match_as_by_the_plain_algorithm(name: str) -> None:
    rng = Random(2)
    plain = {"greedy": slow_collar.greedy, "optimal": slow_collar.optimal}[name]
    for _ in range(40):
        grain = rng.choice([0, 1, 3])  # decimals: few give many ties and equal times
        output, reference = (
            [round(rng.uniform(1, 40), grain) for _ in range(rng.randrange(40, 90))]
            for _ in range(2)
        )
        if rng.random() < 0.5:
            output, reference = sorted(output), sorted(reference)
        collar = rng.choice([2.0, 10.0, 50.0])
        sides = Ragged.from_rows([output] * 3), Ragged.from_rows([reference] * 3)
        count = plain(output, reference, collar)
        assert MATCHINGS[name](*sides, collar).tolist() == [count] * 3
        assert len(PAIRINGS[name](output, reference, collar)) == count


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_5000_boundaries_all_within_the_collar_are_matched_in_time_and_memory(name: str) -> None:
    rng = Random(3)
    output, reference = ([rng.uniform(1, 50) for _ in range(5000)] for _ in range(2))
    sides = Ragged.from_rows([output]), Ragged.from_rows([reference])
    start = process_time()
    found = MATCHINGS[name](*sides, 60.0)
    pairs = PAIRINGS[name](output, reference, 60.0)
    assert process_time() - start < 2
    assert (found.tolist(), len(pairs)) == ([5000], 5000)
    tracemalloc.start()
    MATCHINGS[name](*sides, 60.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_one_boundary_matches_once_and_the_ends_are_ignored() -> None:
    found = match_boundaries(
        (0.0, 9.0, 59.0, 61.0, 80.0),
        {"anna": (60.0, 95.0), "ben": (58.0, 62.0)},
        duration=100,
        collar=3.0,
        matching="greedy",
        edge=10.0,
    )
    assert found.matched == (None, None, ("anna", "ben"), ("ben",), ())
    assert found.missed == {"anna": (), "ben": ()}


def test_matches_of_an_item_follow_the_value_that_is_shown() -> None:
    sample = {"id": "a", "hypothesis": [64, 120], "reference": [60], "duration": 180}
    scores = score([sample], show="a", collar=[3, 5])
    matches = scores.shown[0].matches
    assert matches["collar_f1@3.0"].systems["outputs"].missed == {"reference": (60.0,)}
    assert matches["collar_f1@5.0"].systems["outputs"].matched == (("reference",), ())
    assert matches["collar_recall@5.0"].collar == 5
    assert matches[""].collar == 3
