"""A summary in words of a transcript: where do its words stand?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from earwitness.text.words import same

MANY = 10**9  # ways are counted up to here


class Extraction(NamedTuple):
    """Positions of the words of a summary, from 1, and how many ways are as good."""

    positions: tuple[int, ...]
    ways: int


class NoExtraction(NamedTuple):
    """The first word of a summary, from 0, with which it cannot go on."""

    place: int


def extraction(summary: Sequence[str], transcript: Sequence[str]) -> Extraction | NoExtraction:
    """The positions that keep the most neighbours together, and of these the earliest ones.

    Words are the same but for case and punctuation around them.

    >>> said = "the beautiful cherry blossoms in Japan bloom in spring".split()
    >>> extraction("blossoms bloom in spring".split(), said)
    Extraction(positions=(4, 7, 8, 9), ways=1)
    >>> extraction("blossoms in".split(), "in blossoms".split())
    NoExtraction(place=1)
    """
    where: dict[str, list[int]] = {}
    for position, word in enumerate(transcript, 1):
        where.setdefault(same(word), []).append(position)
    steps: list[_Step] = []
    for place, word in enumerate(summary):
        step = _step(where.get(same(word), []), steps[-1] if steps else None)
        if not step.positions:
            return NoExtraction(place)
        steps.append(step)
    if not steps:
        return Extraction((), 1)
    best = max(steps[-1].together)
    ways = sum(w for w, t in zip(steps[-1].ways, steps[-1].together, strict=True) if t == best)
    return Extraction(_earliest(steps, best), min(ways, MANY))


class _Step(NamedTuple):
    """Where a word of the summary may stand; for each position the most neighbours up to there."""

    positions: list[int]
    together: list[int]
    ways: list[int]


def _step(candidates: list[int], before: _Step | None) -> _Step:
    if before is None:
        return _Step(candidates, [0] * len(candidates), [1] * len(candidates))
    step = _Step([], [], [])
    passed, most, ways = 0, -1, 0  # positions before a candidate, their best, in how many ways
    for position in candidates:
        while passed < len(before.positions) and before.positions[passed] < position:
            other = before.together[passed]
            if other > most:
                most, ways = other, 0
            ways = min(MANY, ways + before.ways[passed] * (other == most))
            passed += 1
        if not passed:
            continue
        best, number = most, ways
        if before.positions[passed - 1] == position - 1:
            beside = before.together[passed - 1] + 1
            if beside > best:
                best, number = beside, before.ways[passed - 1]
            elif beside == best:
                number = min(MANY, number + before.ways[passed - 1])
        step.positions.append(position)
        step.together.append(best)
        step.ways.append(number)
    return step


def _earliest(steps: list[_Step], best: int) -> tuple[int, ...]:
    """The smallest positions, from the first word on, that still reach the best."""
    reach: list[list[int]] = [[0] * len(steps[-1].positions)]  # the most neighbours from there on
    for step, after in zip(reversed(steps[:-1]), reversed(steps[1:]), strict=True):
        rest, onward = reach[-1], [-1] * (len(after.positions) + 1)
        for index in reversed(range(len(after.positions))):
            onward[index] = max(onward[index + 1], rest[index])
        own = []
        for position in step.positions:
            index = bisect_left(after.positions, position + 1)
            beside = index < len(after.positions) and after.positions[index] == position + 1
            own.append(max(onward[index], rest[index] + 1) if beside else onward[index])
        reach.append(own)
    reach.reverse()
    path: list[int] = []
    for step, rest in zip(steps, reach, strict=True):
        for position, more in zip(step.positions, rest, strict=True):
            if path and position <= path[-1]:
                continue
            gained = bool(path) and position == path[-1] + 1
            if more >= 0 and more + gained == best:
                path.append(position)
                best = more
                break
    return tuple(path)
