"""How well ordered picks stand for the course of a day, and the best that can be done.

Every pick stands for a run of periods that holds the period in which it lies, so that runs follow
each other without a gap; the cost is the sum of the distances of the periods' means to the picks
that stand for them. Between two picks the best place to go over from one to the other is taken.
The cheapest picks of all are found by Bellman's recursion over runs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.skims.day import Day, Floats, Ints, Periods, Singles


def prefixes(vectors: Floats | Singles, means: Floats) -> Floats:
    """Sums of distances to the means before each period and to all, a row for every vector."""
    exact = np.asarray(vectors, np.float64)
    squares = (exact**2).sum(axis=1)[:, None] + (means**2).sum(axis=1)[None]
    apart = np.sqrt(np.maximum(squares - 2 * exact @ means.T, 0.0))
    result = np.zeros((len(exact), len(means) + 1))
    np.cumsum(apart, axis=1, out=result[:, 1:])
    return result


class Course(NamedTuple):
    """What picks cost, and the first period that each stands for, with the number of all behind."""

    cost: float
    first: Ints


def course(sums: Floats, lies: Ints) -> Course:
    """Picks in the order of time, with their sums of distances and the periods in which they lie.

    Of picks in one period the nearest stands for it, the first for what comes before it and the
    last for what follows.
    """
    count = sums.shape[1] - 1
    cost = float(sums[0, lies[0]]) + float(sums[-1, count] - sums[-1, lies[-1] + 1])
    first = np.zeros(len(lies) + 1, np.int64)
    first[-1] = count
    for period in np.unique(lies):
        cost += float(np.min((sums[:, period + 1] - sums[:, period])[lies == period]))
    for row in range(len(lies) - 1):
        here, there = int(lies[row]), int(lies[row + 1])
        if here == there:
            first[row + 1] = here
            continue
        more = sums[row, here + 1 : there + 1] - sums[row + 1, here + 1 : there + 1]
        place = int(np.argmin(more))
        cost += float(more[place] + sums[row + 1, there] - sums[row, here + 1])
        first[row + 1] = here + 1 + place
    return Course(cost, first)


def run_costs(day: Day, known: Periods) -> Singles:
    """What the best block within each run of periods costs: from a row's to a column's, both in.

    Infinite where no block may be picked. In single precision, which halves the time of long
    recordings: what is cheapest is so up to a ten millionth.
    """
    count = len(known.means)
    costs = np.full((count, count), np.inf, np.float32)
    room = np.empty(count * count, np.float32)
    for period in range(count):
        sums = prefixes(day.vectors[_rows(day, known, period, period)], known.means)
        before = (sums[:, period, None] - sums[:, : period + 1]).astype(np.float32)
        behind = (sums[:, period + 1 :] - sums[:, period, None]).astype(np.float32)
        best = costs[: period + 1, period:]
        total = room[: best.size].reshape(best.shape)
        for row in _hopeful(before, behind):
            np.add(before[row, :, None], behind[row, None], out=total)
            np.minimum(best, total, out=best)
    return costs


def _hopeful(before: Singles, behind: Singles) -> list[int]:
    """Blocks of a period without those that are never better than one of its best.

    A block's cost in a run is the sum of one number for where the run begins and one for where it
    ends; who has no lower one of either than another can be left out.
    """
    if not len(before):
        return []
    begins = [before[:, place] for place in (0, before.shape[1] // 2, -1)]
    ends = [behind[:, place] for place in (0, behind.shape[1] // 2, -1)]
    totals = [begin + end for begin in begins for end in ends]
    best = list(dict.fromkeys(int(np.argmin(total)) for total in totals))
    left = np.ones(len(before), np.bool_)
    for one in best:
        worse = (before >= before[one]).all(axis=1) & (behind >= behind[one]).all(axis=1)
        worse[one] = False
        left &= ~worse | np.isin(np.arange(len(left)), best)
    return np.flatnonzero(left).tolist()


def _rows(day: Day, known: Periods, first: int, last: int) -> Ints:
    rows = np.arange(known.first[first], known.first[last + 1])
    return rows[day.allowed[rows]]


def cheapest(day: Day, known: Periods, picks: int) -> Ints:
    """The rows of so many picks, no two in one period, that stand for the course at least cost."""
    costs = run_costs(day, known)
    count = len(costs)
    best = np.concatenate([[0.0], np.full(count, np.inf)])  # of the periods before each
    cuts = np.zeros((picks, count + 1), np.int64)
    for pick in range(picks):
        total = best[:-1, None] + costs  # run from a row's period to a column's
        cuts[pick, 1:] = np.argmin(total, axis=0)
        best = np.concatenate([[np.inf], total.min(axis=0)])
    chosen, end = [], count
    for pick in reversed(range(picks)):
        start = int(cuts[pick, end])
        chosen.append(_representative(day, known, start, end))
        end = start
    return np.array(chosen[::-1], np.int64)


def _representative(day: Day, known: Periods, start: int, end: int) -> int:
    """The block within a run that stands for it at least cost.

    One period's blocks at a time: a run may hold most of a week.
    """
    best, found = np.inf, -1
    for period in range(start, end):
        rows = _rows(day, known, period, period)
        costs = prefixes(day.vectors[rows], known.means[start:end])[:, -1]
        if len(rows) and costs.min() < best:
            best, found = float(costs.min()), int(rows[np.argmin(costs)])
    return found
