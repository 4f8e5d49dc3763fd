"""Blocks and periods of a day, and dynamic time warping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# --- Blocks and periods --------------------------------------------------------------------------
# Each block has a vector and sound classes. Period means and class maxima use all blocks, including
# those that may not be picked, because they are part of the day.


Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
PERIOD_SECONDS = 3600.0
PERIOD_TOLERANCE = 1e-6  # share of a period: times this close to the next one belong to it


@dataclass(frozen=True, eq=False)
class Day:
    """Blocks in chronological order: start times, vectors, and classes from 0 to 1.

    Every block lasts ``seconds``; ``length`` is the duration of the day, including missing time.
    ``allowed`` marks the blocks that may be picked.
    """

    starts: Doubles
    seconds: float
    vectors: Singles
    classes: Singles
    length: float
    allowed: Bools

    def __post_init__(self) -> None:
        sizes = {len(self.starts), len(self.vectors), len(self.classes), len(self.allowed)}
        assert len(sizes) == 1, "arrays must have one row per block"
        assert bool(np.all(np.diff(self.starts) > 0)), "blocks must be in chronological order"

    @classmethod
    def of(
        cls, starts: Any, seconds: float, vectors: Any, classes: Any, length: float | None = None
    ) -> Day:
        """Return a day whose blocks may all be picked; by default it ends with the last block."""
        begins = np.asarray(starts, np.float64)
        end = float(begins[-1]) + seconds if len(begins) else 0.0
        return cls(
            begins,
            seconds,
            np.asarray(vectors, np.float32),
            np.asarray(classes, np.float32),
            end if length is None else length,
            np.ones(len(begins), np.bool_),
        )

    def __len__(self) -> int:
        return len(self.starts)


class Periods(NamedTuple):
    """Periods that contain blocks: start times, mean vectors, and their blocks.

    ``of`` is the index of each block's period; ``first`` is the index of each period's first block,
    followed by the number of blocks.
    """

    starts: Doubles
    means: Doubles
    of: Ints
    first: Ints


def split_periods(day: Day, seconds: float = PERIOD_SECONDS) -> Periods:
    """Return periods of the given length; a block belongs to the period in which it starts."""
    number = np.floor(day.starts / seconds + PERIOD_TOLERANCE).astype(np.int64)
    kept, first, of = np.unique(number, return_index=True, return_inverse=True)
    means = np.zeros((len(kept), day.vectors.shape[1]))
    ends = np.append(first, len(day))
    for row in range(len(kept)):
        means[row] = day.vectors[ends[row] : ends[row + 1]].mean(axis=0, dtype=np.float64)
    return Periods(kept * np.float64(seconds), means, of.astype(np.int64), ends.astype(np.int64))


def allowed_rows(day: Day, day_periods: Periods, period: int) -> Ints:
    """Return the blocks of a period that may be picked."""
    rows = np.arange(day_periods.first[period], day_periods.first[period + 1])
    return rows[day.allowed[rows]]


class BlockContent(NamedTuple):
    """Vectors and classes of picks, one row per pick in playing order."""

    vectors: Doubles
    classes: Doubles


def hear_rows(day: Day, rows: Any) -> BlockContent:
    """Return the content of picks given as rows (block indices) of the day."""
    index = np.asarray(rows, np.int64)
    return BlockContent(
        day.vectors[index].astype(np.float64), day.classes[index].astype(np.float64)
    )


def hear_picks(day: Day, picks: Any) -> BlockContent | None:
    """Return the content of picks given as (start, seconds), or None if none has any sound.

    Picks need not start where blocks do. A pick has the mean of the blocks that it overlaps,
    weighted by overlap, so a pick that is a block has exactly the values of the block. If a pick is
    longer than a block, its classes are the maxima over parts of one block length.
    """
    vectors = np.zeros((len(picks), day.vectors.shape[1]))
    classes = np.zeros((len(picks), day.classes.shape[1]))
    for row, (start, seconds) in enumerate(picks):
        count = max(1, round(seconds / day.seconds))
        parts = (
            _hear_part(day, start + part * seconds / count, seconds / count)
            for part in range(count)
        )
        audible = [part for part in parts if part is not None]
        if not audible:
            return None
        vectors[row] = np.mean([part[0] for part in audible], axis=0)
        classes[row] = np.max([part[1] for part in audible], axis=0)
    return BlockContent(vectors, classes)


def _hear_part(day: Day, start: float, seconds: float) -> tuple[Doubles, Doubles] | None:
    """Return the weighted mean of overlapping blocks, or of the nearest block if none overlaps."""
    first = int(np.searchsorted(day.starts, start - day.seconds, side="right"))
    last = int(np.searchsorted(day.starts, start + seconds, side="left"))
    begins = day.starts[first:last]
    over = np.minimum(begins + day.seconds, start + seconds) - np.maximum(begins, start)
    over = np.where(over > PERIOD_TOLERANCE * seconds, over, 0.0)
    if not over.any():
        # the nearest block, for a part in a remainder that was too short to be a block
        apart = np.maximum(day.starts - start - seconds, start - day.starts - day.seconds)
        if apart.min(initial=np.inf) >= day.seconds:
            return None
        row = int(np.argmin(apart))
        return day.vectors[row].astype(np.float64), day.classes[row].astype(np.float64)
    share = over / over.sum()
    return share @ day.vectors[first:last], share @ day.classes[first:last]


# --- Dynamic time warping ------------------------------------------------------------------------
# Every step advances in one sequence, the other, or both. The distance is the sum, over all steps
# from the first pair to the last, of the Euclidean distances between paired vectors.


def euclidean_distances(first: Doubles, second: Doubles) -> Doubles:
    """Return Euclidean distances (rows: first, columns: second); exactly 0 for equal vectors."""
    result = np.zeros((len(first), len(second)))
    for column, vector in enumerate(second):
        result[:, column] = np.sqrt(((first - vector) ** 2).sum(axis=1))
    return result


def warp_cost(costs: Doubles) -> float:
    """Return the smallest sum of costs from corner to corner, computed by diagonals."""
    rows, columns = costs.shape
    if not rows or not columns:
        return np.nan
    before, last = np.full(rows + 1, np.inf), np.full(rows + 1, np.inf)
    before[0] = 0.0  # the corner before the first cell
    for diagonal in range(rows + columns - 1):
        low, high = max(0, diagonal - columns + 1), min(rows, diagonal + 1)
        row = np.arange(low, high)
        best = np.minimum(np.minimum(last[low:high], last[low + 1 : high + 1]), before[low:high])
        now = np.full(rows + 1, np.inf)
        now[low + 1 : high + 1] = best + costs[row, diagonal - row]
        before, last = last, now
    return float(last[rows])


def dtw(means: Doubles, picks: Doubles) -> float:
    """Return the DTW distance of picks from the period means; NaN if either is empty."""
    return warp_cost(euclidean_distances(means, picks))
