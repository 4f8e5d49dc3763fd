"""Candidates beside a search on a grid, and their choice beside all subsets."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from earwitness.errors import UsageError
from earwitness.material.candidates import (
    ClipCandidate,
    ClipRule,
    Span,
    choose_candidates,
    find_candidates,
    merge_spans,
    spread_choice,
    sum_speech,
    widen_spans,
)
from helpers.samples import many

STEP = 0.125  # of the grid on which speech starts and ends


def random_spans(rng: np.random.Generator) -> tuple[list[Span], float]:
    count = int(rng.integers(1, 6))
    lengths = np.stack([rng.integers(1, 7, count), rng.integers(2, 24, count)], axis=1)
    edges = np.cumsum(lengths) * STEP
    seconds = float(edges[-1] + rng.integers(0, 6) * STEP)
    return [(float(a), float(b)) for a, b in edges.reshape(-1, 2)], seconds


def plain_speech(spans: list[Span], start: float, end: float) -> float:
    return sum(max(0.0, min(b, end) - max(a, start)) for a, b in spans)


def plain_cores(spans: list[Span], seconds: float, rule: ClipRule) -> set[tuple[float, float]]:
    """First and last speech of all parts on a fine grid that fulfil the rule."""
    cores = set()
    places = np.arange(round(seconds / STEP) + 1) * STEP
    for start in places:
        for end in places[places > start]:
            long = rule.seconds[0] <= end - start <= rule.seconds[1]
            ends = ((start, start + rule.silence), (end - rule.silence, end))
            free = not any(plain_speech(spans, *one) for one in ends)
            if long and free and plain_speech(spans, start, end) >= rule.speech_seconds:
                inside = [(a, b) for a, b in spans if a < end and b > start]
                cores.add((inside[0][0], inside[-1][1]))
    return cores


def test_candidates_are_the_parts_that_a_search_finds() -> None:
    rule = ClipRule(seconds=(4, 5), min_speech=3, silence=0.25)
    count = 0
    for seed in range(many(60, 2_000)):
        spans, seconds = random_spans(np.random.default_rng(seed))
        found = find_candidates(spans, seconds, rule)
        cores = set()
        for one in found:
            assert 0 <= one.start < one.end <= seconds + 1e-9
            assert 4 - 1e-9 <= one.end - one.start <= 5 + 1e-9
            assert one.speech == pytest.approx(plain_speech(spans, one.start, one.end))
            assert one.speech >= 3 - 1e-9
            assert plain_speech(spans, one.start, one.start + 0.25) <= 1e-9
            assert plain_speech(spans, one.end - 0.25, one.end) <= 1e-9
            inside = [(a, b) for a, b in spans if a < one.end and b > one.start]
            cores.add((inside[0][0], inside[-1][1]))
        assert cores == plain_cores(spans, seconds, rule)
        count += len(found)
    assert count > 20


def test_extra_time_is_divided_between_the_ends_where_pauses_allow() -> None:
    (one,) = find_candidates([(2.0, 5.0)], 10, ClipRule())
    assert one == ClipCandidate(1.5, 5.5, 3.0)
    (one,) = find_candidates([(0.25, 3.25)], 10, ClipRule())  # 0.25 s before, so 0.75 s after
    assert one == ClipCandidate(0.0, 4.0, 3.0)


def plain_best(candidates: list[ClipCandidate], gap: float) -> tuple[int, float]:
    best = (0, 0.0)
    for size in range(1, len(candidates) + 1):
        for chosen in combinations(sorted(candidates), size):
            if all(b.start - a.end >= gap - 1e-9 for a, b in pairwise(chosen)):
                best = max(best, (size, round(sum(one.speech for one in chosen), 6)))
    return best


def test_the_choice_has_most_clips_and_then_most_speech() -> None:
    for seed in range(many(60, 2_000)):
        rng = np.random.default_rng(seed)
        starts, gap = rng.uniform(0, 25, 9), float(rng.choice([0.0, 0.7]))
        found = [
            ClipCandidate(float(s), float(s + rng.uniform(4, 5)), round(rng.uniform(3, 4), 3))
            for s in starts
        ]
        chosen = choose_candidates(found, gap)
        assert all(b.start - a.end >= gap - 1e-6 for a, b in pairwise(chosen))
        total = round(sum(one.speech for one in chosen), 6)
        assert (len(chosen), total) == plain_best(found, gap)


def test_spans_are_merged_widened_and_summed() -> None:
    assert merge_spans([(2, 3), (0, 1), (1, 1.5), (2.2, 2.5)]) == [(0, 1.5), (2, 3)]
    spans = [(0.05, 1.0), (1.15, 2.0), (4.0, 5.0)]
    parts = widen_spans(spans, 0.1, 5.0)
    assert parts == [(0, 2.1), (3.9, 5.0)]
    assert sum_speech(spans, parts) == [pytest.approx(1.8), 1.0]


def test_some_of_many_are_spread() -> None:
    assert spread_choice(10, 2) == [2, 7]
    assert spread_choice(3, None) == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seconds": (6, 5)}, "a clip cannot last 6 to 5 s — set seconds to"),
        ({"seconds": (4,)}, "shortest and the longest duration"),
        ({"min_speech": 4.8}, "increase seconds"),
        ({"silence": -1}, "silence must be 0 s or more"),
        ({"gap": float("nan")}, "gap must be"),
    ],
)
def test_rules_that_no_clip_can_fulfil_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ClipRule(**options)
