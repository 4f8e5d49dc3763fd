"""Edit measures on boundary events: boundary similarity B and generalised Hamming distance.

References: Fournier (2013), Evaluating text segmentation using boundary edit distance;
Bookstein, Kulyukin and Raita (2002), Generalized Hamming distance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earwitness.timeline.grid import Events
from earwitness.timeline.ragged import Bools, Floats, Ints, bounds, row_sums

FAR = 3  # a shift by more chunks never beats a deletion and an insertion
BALANCES = np.arange(-FAR, FAR + 1, dtype=np.int32)
NEVER = 2**28  # a few of these still fit into 32 bits
Costs = NDArray[np.int32]


def edits(events: Events) -> tuple[Ints, Ints]:
    """Additions and transpositions over one chunk that turn one side into the other."""
    single = events.in_output != events.in_reference
    position, side = events.position[single], events.in_output[single]
    swaps = _transpositions(position, side, bounds(row_sums(single, events.offsets)))
    alone = events.n_output + events.n_reference - 2 * events.both
    return alone - 2 * swaps, swaps


def boundary_similarity(events: Events) -> Floats:
    """B: the share of pairs that need no edit; both sides empty gives 1, one side empty 0."""
    additions, swaps = edits(events)
    total = additions + swaps + events.both
    good = events.both + swaps / 2
    similarity: Floats = np.divide(good, total, out=np.ones(len(total)), where=total > 0)
    return similarity


def _transpositions(position: Ints, side: Bools, offsets: Ints) -> Ints:
    """Pairs in runs of adjacent chunks whose sides alternate, paired from the left."""
    if not len(position):
        return np.zeros(len(offsets) - 1, np.int64)
    starts = np.ones(len(position), np.bool_)
    starts[1:] = (np.diff(position) != 1) | (side[1:] == side[:-1])
    index = np.flatnonzero(starts)
    within = np.arange(len(position)) - np.repeat(index, np.diff(np.append(index, len(position))))
    return row_sums(within & 1, offsets)


def generalised_hamming(events: Events) -> Floats:
    """Least cost of turning one side into the other: 2 to add or drop, 1 per chunk of a shift.

    Boundaries further than three chunks from all others cost 2 if alone and 0 if both sides have
    them; the rest falls into short clusters that are independent of each other.
    """
    if not len(events.position):
        return np.zeros(len(events.n_output))
    starts = np.ones(len(events.position), np.bool_)
    np.greater(np.diff(events.position), FAR, out=starts[1:])
    first = np.flatnonzero(starts)
    length = np.diff(np.append(first, len(starts)))
    n_out = np.add.reduceat(events.in_output.astype(np.int64), first)
    n_ref = np.add.reduceat(events.in_reference.astype(np.int64), first)
    cost = 2 * np.abs(n_out - n_ref)  # right where one side is empty or both are equal
    both = n_out + n_ref - length
    hard = (n_out > 0) & (n_ref > 0) & (both < length)
    cost[hard] = _cluster_costs(events, first[hard], length[hard])
    per_event = np.zeros(len(starts), np.int64)
    per_event[first] = cost
    return row_sums(per_event, events.offsets).astype(np.float64)


def _cluster_costs(events: Events, first: Ints, length: Ints) -> Ints:
    """Solve all clusters in step, event by event, the longest cluster first.

    The state is the balance: how many boundaries of one side (positive: the output's) still wait
    for a partner. Waiting costs 1 per chunk and boundary, giving a boundary up costs 2.
    """
    order = np.argsort(-length, kind="stable")
    first, length = first[order], length[order]
    active = np.searchsorted(-length, -np.arange(length[0] if len(length) else 0))
    cost = np.full((len(BALANCES), len(first)), NEVER, np.int32)
    cost[FAR] = 0
    prices = _prices(events)
    for step, count in enumerate(active):
        event = first[:count] + step
        now = cost[:, :count]
        if step:
            gap = (events.position[event] - events.position[event - 1]).astype(np.int32)
            now = now + gap * np.abs(BALANCES)[:, None]
        cost[:, :count] = _advance(now, *(price[event] for price in prices))
    answer = np.empty(len(first), np.int64)
    answer[order] = cost[FAR]
    return answer


def _prices(events: Events) -> tuple[Costs, Costs, Costs]:
    """What it costs, at every event, to keep the balance, to raise it and to lower it."""
    both = events.in_output & events.in_reference
    stay = np.where(both, 0, 2).astype(np.int32)
    raise_ = np.where(both, 2, np.where(events.in_output, 0, NEVER)).astype(np.int32)
    lower = np.where(both, 2, np.where(events.in_reference, 0, NEVER)).astype(np.int32)
    return stay, raise_, lower


def _advance(cost: Costs, stay: Costs, raise_: Costs, lower: Costs) -> Costs:
    """One event in many clusters: the best cost of every balance after it."""
    best: Costs = cost + stay
    np.minimum(best[1:], cost[:-1] + raise_, out=best[1:])
    np.minimum(best[:-1], cost[1:] + lower, out=best[:-1])
    np.minimum(best, NEVER, out=best)
    return best
