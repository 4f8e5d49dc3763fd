"""One-to-one matching of boundaries in continuous time."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from earwitness.timeline.ragged import (
    Bools,
    Floats,
    Ints,
    Ragged,
    bounds,
    count_true,
    row_sums,
)

MOST_PAIRS = 4_000_000


def greedy_matches(output: Ragged, reference: Ragged, collar: float) -> Ints:
    """How many pairs each case gets when the closest are matched first.

    A pair may match if it is at most ``collar`` apart. Equal distances go to the lower reference
    index, then to the lower output index.
    """
    order, out = _sorted_rows(output)
    low, high = _reach(out, reference, collar)
    pairs_before = np.concatenate([[0], np.cumsum(high - low)])[reference.offsets]
    counts, start = np.zeros(len(output), np.int64), 0
    while start < len(output):  # whole cases, as many as fit into memory
        stop = int(np.searchsorted(pairs_before, pairs_before[start] + MOST_PAIRS, "right")) - 1
        stop = max(stop, start + 1)
        span = slice(reference.offsets[start], reference.offsets[stop])
        matched = _match(out, order, reference, low, high, span)
        cut = reference.offsets[start : stop + 1] - reference.offsets[start]
        counts[start:stop] = row_sums(matched, cut)
        start = stop
    return counts


def _sorted_rows(boundaries: Ragged) -> tuple[Ints, Ragged]:
    """The same with every row in order, and which value came from where."""
    steps, rows = np.diff(boundaries.values), boundaries.rows
    if not ((steps < 0) & (rows[1:] == rows[:-1])).any():
        return np.arange(len(rows)), boundaries
    order = np.lexsort((boundaries.values, rows))
    return order, Ragged(boundaries.values[order], boundaries.offsets)


def _reach(out: Ragged, reference: Ragged, collar: float) -> tuple[Ints, Ints]:
    """For every reference boundary the range of output boundaries within the collar."""
    rows, time = reference.rows, reference.values
    middle = _behind(out, reference)
    start, stop = out.offsets[rows], out.offsets[rows + 1]
    with np.errstate(invalid="ignore"):  # infinity less infinity is never within a collar
        low = middle - _steps(
            middle - start, lambda k, at: time[at] - out.values[middle[at] - 1 - k] <= collar
        )
        high = middle + _steps(
            stop - middle, lambda k, at: out.values[middle[at] + k] - time[at] <= collar
        )
    return low, high


@lru_cache(maxsize=4)
def _behind(out: Ragged, reference: Ragged) -> Ints:
    """For every reference boundary the first output boundary that is not before it.

    Kept, since every collar starts from there.
    """
    rows, time = reference.rows, reference.values
    start, stop = out.offsets[rows], out.offsets[rows + 1]
    return start + count_true(start, stop, lambda i: out.values[i] < time)


def _steps(most: Ints, test: Callable[[int, Ints], Bools]) -> Ints:
    """How many steps pass a test that, once false, stays false; few are expected.

    ``test`` takes the number of steps done and the places that ask.
    """
    steps = np.zeros(len(most), np.int64)
    going = np.flatnonzero(most > 0)
    done = 0
    while len(going):
        going = going[test(done, going)]
        done += 1
        steps[going] = done
        going = going[most[going] > done]
    return steps


def _match(
    out: Ragged, order: Ints, reference: Ragged, low: Ints, high: Ints, span: slice
) -> Bools:
    """Which reference boundaries of the span find a partner."""
    reach = high[span] - low[span]
    offsets = bounds(reach)
    ref = np.repeat(np.arange(len(reach)), reach)
    hyp = np.arange(offsets[-1]) + np.repeat(low[span] - offsets[:-1], reach)
    rivals = np.bincount(hyp)[hyp]
    matched = np.zeros(len(reach), np.bool_)
    contested = (reach[ref] > 1) | (rivals > 1)
    matched[ref[~contested]] = True
    ref, hyp = ref[contested], hyp[contested]
    distance = np.abs(reference.values[span][ref] - out.values[hyp])
    _take_closest(matched, ref, order[hyp], distance)
    return matched


def _take_closest(matched: Bools, ref: Ints, hyp: Ints, distance: Floats) -> None:
    """Match the contested pairs one by one, the closest first."""
    ranked = np.lexsort((hyp, ref, distance))
    taken: set[int] = set()
    used: set[int] = set()
    for r, h in zip(ref[ranked].tolist(), hyp[ranked].tolist(), strict=True):
        if r not in taken and h not in used:
            taken.add(r)
            used.add(h)
    matched[list(taken)] = True


def optimal_matches(output: Ragged, reference: Ragged, collar: float) -> Ints:
    """As many pairs as can be made, each at most ``collar`` apart.

    On sorted lists it is enough to walk both at once: the two first boundaries are a pair, or the
    earlier of them has no partner. All cases walk in step.
    """
    out, ref = _sorted_rows(output)[1], _sorted_rows(reference)[1]
    i, j = out.offsets[:-1].copy(), ref.offsets[:-1].copy()
    counts = np.zeros(len(i), np.int64)
    going = np.flatnonzero((i < out.offsets[1:]) & (j < ref.offsets[1:]))
    while len(going):
        mine, theirs = out.values[i[going]], ref.values[j[going]]
        with np.errstate(invalid="ignore"):
            pair = np.abs(theirs - mine) <= collar
        counts[going] += pair
        i[going] += pair | (mine < theirs)
        j[going] += pair | (mine >= theirs)
        going = going[(i[going] < out.offsets[going + 1]) & (j[going] < ref.offsets[going + 1])]
    return counts


def median_distance(of: Ragged, to: Ragged) -> Floats:
    """For every case the median distance of its boundaries to the nearest one of the other side."""
    near = _sorted_rows(to)[1]
    rows, median = of.rows, np.full(len(of), np.nan)
    start, stop = near.offsets[rows], near.offsets[rows + 1]
    behind = _behind(near, of)
    distance = np.full(len(rows), np.inf)
    for index in (behind - 1, behind):
        there = (index >= start) & (index < stop)
        gap = np.abs(near.values[index[there]] - of.values[there])
        distance[there] = np.minimum(distance[there], gap)
    some = np.flatnonzero((of.lengths > 0) & (near.lengths > 0))
    median[some] = _medians(distance, of.offsets, some)
    return median


def _medians(values: Floats, offsets: Ints, rows: Ints) -> Floats:
    """The median of each of these rows; rows of about the same length are sorted together."""
    lengths = np.diff(offsets)[rows]
    sizes = np.ceil(np.log2(lengths)).astype(np.int64)
    found = np.empty(len(rows))
    for size in np.unique(sizes):
        chosen = np.flatnonzero(sizes == size)
        length = lengths[chosen]
        place = np.arange(int(length.max()))
        inside = place < length[:, None]
        table = np.full(inside.shape, np.inf)
        table[inside] = values[(offsets[rows[chosen]][:, None] + place)[inside]]
        table.sort(axis=1)
        each = np.arange(len(chosen))
        found[chosen] = table[each, (length - 1) // 2] / 2 + table[each, length // 2] / 2
    return found


MATCHINGS = {"greedy": greedy_matches, "optimal": optimal_matches}
