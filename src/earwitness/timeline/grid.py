"""Boundaries of a whole batch on a grid of equal chunks, as sorted events.

All cases of a batch lie one after the other on a single line of chunks, far enough apart that no
measure reaches from one into the next. So each kernel works on one sorted array of events, and its
cost depends on the number of boundaries, not on the duration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from earwitness.errors import UsageError
from earwitness.timeline.ragged import Bools, Floats, Ints, Places, Ragged, bounds, row_sums

MOST_CHUNKS = 2**40
APART = 8
SMALL = 2**27  # a line of chunks whose events, with a few bits of tags, fit into 32 bits


@dataclass(frozen=True, slots=True)
class Grid:
    """How many chunks each case has, and where each case starts on the common line."""

    chunk_size: float
    end: Floats
    chunks: Ints
    start: Places

    @classmethod
    def of(cls, duration: Floats, chunk_size: float) -> Grid:
        """Whole chunks that fit into each duration; what is left over at the end is cut."""
        with np.errstate(invalid="ignore", over="ignore"):
            end = np.floor(duration / chunk_size) * chunk_size
            chunks = np.trunc(end / chunk_size)
        chunks = np.where(chunks > 0, chunks, 0)
        if (chunks > MOST_CHUNKS).any():
            raise UsageError(
                f"a duration of {duration[chunks > MOST_CHUNKS][0]:g} s has too many chunks of"
                f" {chunk_size:g} s — are durations in seconds? if so, choose a larger chunk_size"
            )
        whole = chunks.astype(np.int64)
        line = bounds(whole + APART)
        small = line[-1] < SMALL  # half the bytes is almost half the time
        return cls(chunk_size, end, whole, line[:-1].astype(np.int32 if small else np.int64))

    def place(self, boundaries: Ragged) -> tuple[Places, Ints]:
        """Positions on the common line, sorted and each once, and how many each case has."""
        rows = boundaries.rows
        keep = (boundaries.values > 0) & (boundaries.values <= self.end[rows])
        keep &= self.chunks[rows] > 0
        rows = rows[keep]
        chunk = (boundaries.values[keep] / self.chunk_size).astype(self.start.dtype)
        last = (self.start + (self.chunks - 1)).astype(self.start.dtype)
        position = np.minimum(self.start[rows] + chunk, last[rows])
        if (np.diff(position) < 0).any():
            position.sort()  # a case's events stay within its part of the line, so rows still fit
        fresh = np.ones(len(position), np.bool_)
        np.not_equal(position[1:], position[:-1], out=fresh[1:])
        return position[fresh], np.bincount(rows[fresh], minlength=len(self.chunks))


@dataclass(frozen=True, slots=True)
class Events:
    """Chunks that hold a boundary of the output, of the reference, or of both, in order."""

    position: Places
    in_output: Bools
    in_reference: Bools
    offsets: Ints
    n_output: Ints
    n_reference: Ints

    @classmethod
    def of(cls, grid: Grid, output: Ragged, reference: Ragged) -> Events:
        """Merge both sides."""
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
        """How many chunks of each case hold a boundary on both sides."""
        return self.n_output + self.n_reference - np.diff(self.offsets)
