"""Matched boundaries of one case: the pairs that the metrics count."""

from __future__ import annotations

import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType, ModuleType
from typing import Any

import pytest

from algorithms import collar as slow_collar
from earwitness.chapters import matching
from earwitness.chapters.matching import (
    MATCHINGS,
    MAX_LISTED_PAIRS_PER_BOUNDARY,
    MIN_PARALLEL_CASES,
    PAIRINGS,
    TM_RULES,
    by_start_and_end,
    match_boundaries,
)
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
def test_cases_of_a_batch_are_matched_alone_however_dense_they_are(name: str) -> None:
    rng = Random(4)
    plain = {"greedy": slow_collar.greedy, "optimal": slow_collar.optimal}[name]
    sizes = [70, 3, 0, 60, 12, 1, 80, 9, 50, 2]  # with a collar of 30, more than 32 are dense
    output, reference = (
        [[round(rng.uniform(1, 60), 1) for _ in range(size)] for size in sizes] for _ in range(2)
    )
    counts = MATCHINGS[name](Ragged.from_rows(output), Ragged.from_rows(reference), 30.0)
    assert counts.tolist() == [
        plain(mine, theirs, 30.0) for mine, theirs in zip(output, reference, strict=True)
    ]


@pytest.mark.parametrize("cases", [1, MIN_PARALLEL_CASES])
@pytest.mark.parametrize("copies", [1, 3 * MAX_LISTED_PAIRS_PER_BOUNDARY])
@pytest.mark.parametrize("name", list(MATCHINGS))
def test_boundaries_at_the_collar_match_and_beyond_it_do_not(
    name: str, copies: int, cases: int
) -> None:
    for output, reference in ((10.0, 13.0), (13.0, 10.0)):
        rows = [output] * copies, [reference] * copies
        mine, theirs = (Ragged.from_rows([row] * cases) for row in rows)
        assert MATCHINGS[name](mine, theirs, 3.0).tolist() == [copies] * cases
        assert MATCHINGS[name](mine, theirs, 2.875).tolist() == [0] * cases
        assert len(PAIRINGS[name](*rows, 3.0)) == copies
        assert PAIRINGS[name](*rows, 2.875) == []


@pytest.mark.parametrize("name", list(MATCHINGS))
def test_boundaries_all_within_the_collar_are_matched_in_linear_steps_and_memory(
    name: str,
) -> None:
    rng = Random(3)
    steps = []
    for size in (300, 600):
        output, reference = ([rng.uniform(1, 50) for _ in range(size)] for _ in range(2))
        sides = Ragged.from_rows([output]), Ragged.from_rows([reference])
        with lines_of(matching) as lines:
            found = MATCHINGS[name](*sides, 60.0)
            pairs = PAIRINGS[name](output, reference, 60.0)
        steps.append(sum(lines.values()))
        assert (found.tolist(), len(pairs)) == ([size], size)
    assert steps[1] < 2.2 * steps[0]
    tracemalloc.start()
    MATCHINGS[name](*sides, 60.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6  # all pairs would take 2.88e6 for one number each


@contextmanager
def lines_of(module: ModuleType) -> Iterator[Counter[int]]:
    """Counts how often each line of a module runs."""
    counts = Counter[int]()

    def trace(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        if frame.f_code.co_filename != module.__file__:
            return None
        counts[frame.f_lineno] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield counts
    finally:
        sys.settrace(before)


def test_titles_at_the_tolerance_match_and_beyond_it_do_not() -> None:
    output, reference = (("a", 0.0), ("b", 20.0)), (("c", 5.0), ("d", 25.0))
    for rule in TM_RULES.values():
        assert rule(output, reference, 5.0, 60.0) == [(0, 0), (1, 1)]
        assert rule(output, reference, 4.875, 60.0) == []
    # a lasts to 40, c to 60
    assert by_start_and_end((("a", 0.0), ("b", 40.0)), (("c", 0.0),), 15.0, 60.0) == []


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
