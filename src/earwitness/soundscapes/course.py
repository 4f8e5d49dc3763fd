"""Blocks that follow the course of a day: hours are cut into parts, and a block stands for each.

With costs between hours and blocks, the best cut and the best blocks are found exactly (Bellman).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.soundscapes.truth import distances

Matrix = NDArray[np.float64]
LEAN = 0.35  # mean cost of an hour that a source which was not heard yet is worth


class Course:
    """What it costs to let a block stand for hours; a block may stand only for those around it."""

    def __init__(self, hours: Matrix, blocks: Matrix, hour_of: NDArray[Any]) -> None:
        self._count = len(hours)
        self._hour_of = hour_of.astype(int)
        costs = distances(hours, blocks)
        self._sums = np.concatenate([np.zeros((1, len(blocks))), np.cumsum(costs, axis=0)])

    def best(self, picks: int) -> list[int]:
        """Rows of the blocks that follow the day best, in its order."""
        return [self._nearest(first, last) for first, last in self._parts(picks)]

    def balanced(self, heard: NDArray[np.bool_], picks: int) -> list[int]:
        """The same parts; in each the block that is near and brings sources not heard yet."""
        left, rows = np.ones(heard.shape[1], bool), list[int]()
        for first, last in self._parts(picks):
            inside = self._inside(first, last)
            far = (self._sums[last, inside] - self._sums[first, inside]) / (last - first)
            brings = np.minimum((heard[inside] & left).sum(1), 1)
            rows.append(int(inside[int(np.argmin(far - LEAN * brings))]))
            left &= ~heard[rows[-1]]
        return rows

    def _inside(self, first: int, last: int) -> NDArray[np.intp]:
        return np.flatnonzero((self._hour_of >= first) & (self._hour_of < last))

    def _nearest(self, first: int, last: int) -> int:
        inside = self._inside(first, last)
        return int(inside[int(np.argmin(self._sums[last, inside] - self._sums[first, inside]))])

    def _parts(self, picks: int) -> list[tuple[int, int]]:
        """Hours from one to another for every pick, with the least sum of costs."""
        count, picks = self._count, min(picks, self._count)
        cost = np.full((count + 1, count + 1), np.inf)
        for first in range(count):
            for last in range(first + 1, count + 1):
                row = self._nearest(first, last)
                cost[first, last] = self._sums[last, row] - self._sums[first, row]
        least, back = cost[0], list[NDArray[np.intp]]()
        for _ in range(picks - 1):
            ways = least[:, None] + cost
            back.append(ways.argmin(axis=0))
            least = ways.min(axis=0)
        ends = [count]
        for table in reversed(back):
            ends.append(int(table[ends[-1]]))
        edges = [0, *reversed(ends)]
        return list(pairwise(edges))
