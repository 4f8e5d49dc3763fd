"""Small days made at random, and slow plain twins of what is measured of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

import numpy as np
from hypothesis import strategies as st

from earwitness.skims.day import Day


def made(
    seed: int,
    blocks: int,
    *,
    numbers: int = 3,
    classes: int = 4,
    gaps: bool = False,
    drift: float = 0.0,
) -> Day:
    """A day of few blocks of 8 s; with gaps, some were never recorded; it may drift away."""
    rng = np.random.default_rng(seed)
    starts = np.arange(2 * blocks if gaps else blocks) * 8.0
    starts = np.sort(rng.choice(starts, blocks, replace=False))
    vectors = rng.normal(size=(blocks, numbers)).round(2)
    vectors[:, 0] += drift * np.linspace(0, 1, blocks)
    return Day.of(starts, 8.0, vectors, rng.random((blocks, classes)).round(2))


def with_allowed(day: Day, allowed: Sequence[bool]) -> Day:
    """The same day, of which only some blocks may be picked."""
    return Day(
        day.starts, day.seconds, day.vectors, day.classes, day.length, np.array(allowed, np.bool_)
    )


seeds = st.integers(0, 10**6)


def plain_dtw(means: Sequence[Sequence[float]], picks: Sequence[Sequence[float]]) -> float:
    """The recursion as it is written in books."""
    table = [[math.inf] * (len(picks) + 1) for _ in range(len(means) + 1)]
    table[0][0] = 0.0
    for i, mean in enumerate(means, 1):
        for j, pick in enumerate(picks, 1):
            before = min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
            table[i][j] = math.dist(mean, pick) + before
    return table[-1][-1]


def plain_means(day: Day, period: float) -> list[list[float]]:
    """Means of the periods that have blocks."""
    inside: dict[int, list[list[float]]] = {}
    for start, vector in zip(day.starts.tolist(), day.vectors.tolist(), strict=True):
        inside.setdefault(int(start // period), []).append(vector)
    return [
        [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        for _, rows in sorted(inside.items())
    ]


def plain_places(day: Day, period: float) -> list[int]:
    """The place of every block's period among those that have blocks."""
    numbers = [int(start // period) for start in day.starts.tolist()]
    order = sorted(set(numbers))
    return [order.index(number) for number in numbers]


def plain_cost(day: Day, period: float, rows: Sequence[int]) -> float:
    """The cheapest of all ways to cut the periods into runs, each with its pick in it.

    No two picks lie in one period.
    """
    means, places = plain_means(day, period), plain_places(day, period)
    vectors = day.vectors.tolist()
    best = math.inf
    for cuts in combinations(range(1, len(means)), len(rows) - 1):
        bounds = [0, *cuts, len(means)]
        spans = [(low, high, row) for (low, high), row in zip(pairwise(bounds), rows, strict=True)]
        if all(low <= places[row] < high for low, high, row in spans):
            apart = [
                math.dist(means[place], vectors[row])
                for low, high, row in spans
                for place in range(low, high)
            ]
            best = min(best, sum(apart))
    return best


def all_skims(day: Day, period: float, picks: int) -> Iterator[tuple[int, ...]]:
    """Every choice of blocks that may be picked, no two in one period."""
    places = plain_places(day, period)
    allowed = [row for row in range(len(day)) if day.allowed[row]]
    for rows in combinations(allowed, picks):
        if len({places[row] for row in rows}) == picks:
            yield rows


def plain_cover(day: Day, rows: Sequence[int]) -> float:
    """What rows reach of the maxima of all classes, summed."""
    classes = day.classes.tolist()
    return math.fsum(max(classes[row][c] for row in rows) for c in range(len(classes[0])))
