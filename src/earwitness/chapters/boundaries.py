"""Boundaries on a grid: Pk, WindowDiff, boundary similarity and Hamming distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError
from earwitness.stats.arrays import Bools, Floats, Ints, Places, Ragged, bounds, row_sums

# --- Grid of chunks ------------------------------------------------------------------------------
# All cases of a batch are placed on one axis of chunks, far enough apart that no measure reaches
# from one case into the next. So each kernel works on one sorted array of events, and its cost
# depends on the number of boundaries, not on the duration.


MAX_CHUNKS = 2**40
CASE_GAP_CHUNKS = 8
# length of the axis up to which events with a few tag bits fit into 32 bits
CHUNKS_IN_32_BITS = 2**27


@dataclass(frozen=True, slots=True)
class ChunkGrid:
    """Number of chunks of each output, and its start on the common axis."""

    chunk_size: float
    end: Floats
    chunks: Ints
    start: Places

    @classmethod
    def of(cls, duration: Floats, chunk_size: float) -> ChunkGrid:
        """Return a grid of the complete chunks of each duration."""
        with np.errstate(invalid="ignore", over="ignore"):
            end = np.floor(duration / chunk_size) * chunk_size
            chunks = np.trunc(end / chunk_size)
        chunks = np.where(chunks > 0, chunks, 0)
        if (chunks > MAX_CHUNKS).any():
            raise UsageError(
                f"a duration of {duration[chunks > MAX_CHUNKS][0]:g} s gives too many chunks of"
                f" {chunk_size:g} s — check that durations are in seconds,"
                " or use a larger chunk_size"
            )
        whole = chunks.astype(np.int64)
        line = bounds(whole + CASE_GAP_CHUNKS)
        small = line[-1] < CHUNKS_IN_32_BITS  # half the bytes take almost half the time
        return cls(chunk_size, end, whole, line[:-1].astype(np.int32 if small else np.int64))

    def place(self, boundaries: Ragged) -> tuple[Places, Ints]:
        """Return sorted unique positions on the common axis, and their number per case."""
        rows = boundaries.rows
        keep = (boundaries.values > 0) & (boundaries.values <= self.end[rows])
        keep &= self.chunks[rows] > 0
        rows = rows[keep]
        chunk = (boundaries.values[keep] / self.chunk_size).astype(self.start.dtype)
        last = (self.start + (self.chunks - 1)).astype(self.start.dtype)
        position = np.minimum(self.start[rows] + chunk, last[rows])
        if (np.diff(position) < 0).any():
            position.sort()  # events of a case stay in its part of the axis, so rows remain valid
        fresh = np.ones(len(position), np.bool_)
        np.not_equal(position[1:], position[:-1], out=fresh[1:])
        return position[fresh], np.bincount(rows[fresh], minlength=len(self.chunks))


@dataclass(frozen=True, slots=True)
class BoundaryEvents:
    """Chunks with a boundary of the output, of the reference, or of both, in order."""

    position: Places
    in_output: Bools
    in_reference: Bools
    offsets: Ints
    n_output: Ints
    n_reference: Ints

    @classmethod
    def of(cls, grid: ChunkGrid, output: Ragged, reference: Ragged) -> BoundaryEvents:
        """Merge the boundaries of both sides."""
        out, n_output = grid.place(output)
        ref, n_reference = grid.place(reference)
        tagged = np.concatenate([out * 2, ref * 2 + 1])
        tagged.sort(kind="stable")  # two sorted runs: a linear merge
        position, side = tagged >> 1, (tagged & 1).astype(np.bool_)
        offsets = bounds(n_output + n_reference)
        twin = np.zeros(len(position), np.bool_)  # the reference half of a chunk that has both
        np.equal(position[1:], position[:-1], out=twin[1:])
        first = ~twin
        in_output = ~side[first]
        in_reference = side.copy()
        in_reference[:-1] |= twin[1:]
        both = row_sums(twin, offsets)
        return cls(
            position[first],
            in_output,
            in_reference[first],
            bounds(n_output + n_reference - both),
            n_output,
            n_reference,
        )

    @property
    def both(self) -> Ints:
        """Number of chunks of each output with a boundary on both sides."""
        return self.n_output + self.n_reference - np.diff(self.offsets)

    @property
    def none(self) -> Bools:
        """Cases without a boundary on either side."""
        return np.asarray(self.n_output + self.n_reference == 0)


# --- Pk and WindowDiff ---------------------------------------------------------------------------
# A window slides over the chunks. A boundary in chunk p is inside the windows p − w + 1 … p, so it
# switches on at one window and off at another; between two switches nothing changes, and whole
# stretches of windows are counted at once.
#
# References: Beeferman, Berger and Lafferty (1999), Statistical models for text segmentation;
# Pevzner and Hearst (2002), A critique and improvement of an evaluation metric for text
# segmentation.


def window_size(grid: ChunkGrid, events: BoundaryEvents) -> Ints:
    """Return half the mean reference segment in chunks, rounded half to even, at least 2."""
    segments = events.n_reference + 1
    half = np.rint((grid.chunks + 1) / (2 * segments)).astype(np.int64)
    return np.maximum(half, 2)


def window_errors(grid: ChunkGrid, events: BoundaryEvents) -> tuple[Floats, Floats]:
    """Return Pk and WindowDiff of every case: the shares of wrong windows.

    A case of a single chunk has no window: Pk is 0; WindowDiff is 0 if both sides agree, else 1.
    """
    width = window_size(grid, events)
    windows = grid.chunks + 1 - width
    pk_sum, diff_sum = _wrong_windows(grid, events, width, windows)
    count = np.maximum(windows, 1)
    alike = events.both == np.maximum(events.n_output, events.n_reference)
    diff = np.where(windows > 0, diff_sum / count, ~alike)
    return pk_sum / count, diff


def _wrong_windows(
    grid: ChunkGrid, events: BoundaryEvents, width: Ints, windows: Ints
) -> tuple[Ints, Ints]:
    sizes, kind = np.diff(events.offsets), grid.start.dtype
    low = np.repeat(grid.start, sizes)
    high = np.repeat((grid.start + windows).astype(kind), sizes)
    on = np.maximum(events.position - np.repeat((width - 1).astype(kind), sizes), low)
    off = np.minimum(events.position + 1, high)
    sides = events.in_output + 2 * events.in_reference.view(np.int8)
    switch = np.concatenate([on * 8 + sides, off * 8 + 4 + sides])
    switch.sort(kind="stable")
    step = 1 - ((switch >> 1) & 2)
    n_output = np.cumsum(np.where(switch & 1, step, 0), dtype=kind)
    n_reference = np.cumsum(np.where(switch & 2, step, 0), dtype=kind)
    place = switch >> 3
    stretch = np.zeros_like(place)
    np.subtract(place[1:], place[:-1], out=stretch[:-1])
    pk = np.where((n_output > 0) != (n_reference > 0), stretch, 0)
    diff = np.where(n_output != n_reference, stretch, 0)
    return row_sums(pk, 2 * events.offsets), row_sums(diff, 2 * events.offsets)


# --- Boundary similarity and Hamming distance ----------------------------------------------------
# References: Fournier (2013), Evaluating text segmentation using boundary edit distance; Bookstein,
# Kulyukin and Raita (2002), Generalized Hamming distance.


MAX_SHIFT_CHUNKS = 3  # a shift by more chunks never beats a deletion and an insertion
BALANCES = np.arange(-MAX_SHIFT_CHUNKS, MAX_SHIFT_CHUNKS + 1, dtype=np.int32)
UNREACHABLE_COST = 2**28  # a few of these still fit into 32 bits
EditCosts = NDArray[np.int32]


def edits(events: BoundaryEvents) -> tuple[Ints, Ints]:
    """Return the additions and the transpositions by one chunk between both sides."""
    single = events.in_output != events.in_reference
    position, side = events.position[single], events.in_output[single]
    swaps = _transpositions(position, side, bounds(row_sums(single, events.offsets)))
    alone = events.n_output + events.n_reference - 2 * events.both
    return alone - 2 * swaps, swaps


def boundary_similarity(events: BoundaryEvents) -> Floats:
    """Return Fournier's B; 1 if both sides are empty, 0 if one side is."""
    additions, swaps = edits(events)
    total = additions + swaps + events.both
    good = events.both + swaps / 2
    similarity: Floats = np.divide(good, total, out=np.ones(len(total)), where=total > 0)
    return similarity


def _transpositions(position: Ints, side: Bools, offsets: Ints) -> Ints:
    """Count pairs in runs of adjacent chunks with alternating sides, from the left."""
    if not len(position):
        return np.zeros(len(offsets) - 1, np.int64)
    starts = np.ones(len(position), np.bool_)
    starts[1:] = (np.diff(position) != 1) | (side[1:] == side[:-1])
    index = np.flatnonzero(starts)
    within = np.arange(len(position)) - np.repeat(index, np.diff(np.append(index, len(position))))
    return row_sums(within & 1, offsets)


def generalised_hamming(events: BoundaryEvents) -> Floats:
    """Return the generalized Hamming distance: 2 per insertion or deletion, 1 per chunk of shift.

    A boundary more than three chunks from all others costs 2 if one side has it, and 0 if both
    have it; all others form short clusters that are independent of each other.
    """
    if not len(events.position):
        return np.zeros(len(events.n_output))
    starts = np.ones(len(events.position), np.bool_)
    np.greater(np.diff(events.position), MAX_SHIFT_CHUNKS, out=starts[1:])
    first = np.flatnonzero(starts)
    length = np.diff(np.append(first, len(starts)))
    n_out = np.add.reduceat(events.in_output.astype(np.int64), first)
    n_ref = np.add.reduceat(events.in_reference.astype(np.int64), first)
    cost = 2 * np.abs(n_out - n_ref)  # exact if one side is empty or both are equal
    both = n_out + n_ref - length
    hard = (n_out > 0) & (n_ref > 0) & (both < length)
    cost[hard] = _cluster_costs(events, first[hard], length[hard])
    per_event = np.zeros(len(starts), np.int64)
    per_event[first] = cost
    return row_sums(per_event, events.offsets).astype(np.float64)


def _cluster_costs(events: BoundaryEvents, first: Ints, length: Ints) -> Ints:
    """Solve all clusters in parallel, event by event, the longest cluster first.

    The state is the balance: the number of unmatched boundaries of one side (positive: output).
    Keeping one costs 1 per chunk, giving it up costs 2.
    """
    order = np.argsort(-length, kind="stable")
    first, length = first[order], length[order]
    active = np.searchsorted(-length, -np.arange(length[0] if len(length) else 0))
    cost = np.full((len(BALANCES), len(first)), UNREACHABLE_COST, np.int32)
    cost[MAX_SHIFT_CHUNKS] = 0
    prices = _prices(events)
    for step, count in enumerate(active):
        event = first[:count] + step
        now = cost[:, :count]
        if step:
            gap = (events.position[event] - events.position[event - 1]).astype(np.int32)
            now = now + gap * np.abs(BALANCES)[:, None]
        cost[:, :count] = _advance(now, *(price[event] for price in prices))
    answer = np.empty(len(first), np.int64)
    answer[order] = cost[MAX_SHIFT_CHUNKS]
    return answer


def _prices(events: BoundaryEvents) -> tuple[EditCosts, EditCosts, EditCosts]:
    """Return the costs of keeping, raising and lowering the balance at every event."""
    both = events.in_output & events.in_reference
    stay = np.where(both, 0, 2).astype(np.int32)
    raise_ = np.where(both, 2, np.where(events.in_output, 0, UNREACHABLE_COST)).astype(np.int32)
    lower = np.where(both, 2, np.where(events.in_reference, 0, UNREACHABLE_COST)).astype(np.int32)
    return stay, raise_, lower


def _advance(cost: EditCosts, stay: EditCosts, raise_: EditCosts, lower: EditCosts) -> EditCosts:
    """Return the lowest cost of every balance after one event, in many clusters."""
    best: EditCosts = cost + stay
    np.minimum(best[1:], cost[:-1] + raise_, out=best[1:])
    np.minimum(best[:-1], cost[1:] + lower, out=best[:-1])
    np.minimum(best, UNREACHABLE_COST, out=best)
    return best
