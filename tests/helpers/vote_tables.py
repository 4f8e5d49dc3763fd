"""Votes for tests, and what follows from them the slow way: loops over single votes."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

import numpy as np
from hypothesis import strategies as st

from earwitness.stats.votes import Votes

Vote = tuple[int, int, int, float]  # system, item, listener, value
SIZE = 3, 7, 9


def votes_of(rows: Sequence[Vote], size: tuple[int, int, int] = SIZE) -> Votes:
    """Votes from rows."""
    systems, items, listeners = np.array([row[:3] for row in rows], np.int64).reshape(-1, 3).T
    values = np.array([row[3] for row in rows], np.float64)
    return Votes(values, systems, items, listeners, size)


def rows_of(votes: Votes) -> list[Vote]:
    """Rows from votes."""
    columns = votes.systems, votes.items, votes.listeners, votes.values
    return list(zip(*(column.tolist() for column in columns), strict=True))


@st.composite
def gappy(draw: st.DrawFn) -> Votes:
    """Votes on a scale of five, some of them missing; at times few, at times none."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    share = draw(st.sampled_from([0.0, 0.05, 0.3, 0.7, 1.0]))
    highest = draw(st.sampled_from([1, 2, 5]))
    systems, items, listeners = np.nonzero(rng.random(SIZE) < share)
    values = rng.integers(1, highest + 1, len(systems)).astype(np.float64)
    return Votes(values, systems, items, listeners, SIZE)


def listener_means(rows: Sequence[Vote], system: int) -> dict[int, float]:
    """The mean vote of each listener on one system."""
    found = defaultdict[int, list[float]](list)
    for of, _, listener, value in rows:
        if of == system:
            found[listener].append(value)
    return {listener: fmean(values) for listener, values in found.items()}


def listener_differences(rows: Sequence[Vote], a: int, b: int) -> dict[int, float]:
    """Differences by listener: over common items, else of means."""
    found = {}
    means_a, means_b = listener_means(rows, a), listener_means(rows, b)
    for listener in means_a.keys() & means_b.keys():
        mine = {(row[0], row[1]): row[3] for row in rows if row[2] == listener}
        common = [
            value - mine[b, item]
            for (system, item), value in mine.items()
            if system == a and (b, item) in mine
        ]
        found[listener] = fmean(common) if common else means_a[listener] - means_b[listener]
    return found


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """NaN where nothing weighs anything."""
    whole = sum(weights)
    return sum(w * v for w, v in zip(weights, values, strict=True)) / whole if whole else math.nan
