"""A day in blocks and periods, and dynamic time warping."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# --- Blocks and periods --------------------------------------------------------------------------
# A day has a vector and classes for every block. Means of periods and maxima of classes are those
# of all blocks, also of those that may not be picked, since these were heard in the day.


Doubles = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
PERIOD_SECONDS = 900.0
PERIOD_TOLERANCE = 1e-6  # of a period: times that are so close to the next one belong to it


@dataclass(frozen=True, eq=False)
class Day:
    """Blocks in the order of time: when each begins, its vector, its classes from 0 to 1.

    Every block has so many ``seconds``, the whole of it ``length``, with missing time. ``allowed``
    are the blocks that may be picked.
    """

    starts: Doubles
    seconds: float
    vectors: Singles
    classes: Singles
    length: float
    allowed: Bools

    def __post_init__(self) -> None:
        sizes = {len(self.starts), len(self.vectors), len(self.classes), len(self.allowed)}
        assert len(sizes) == 1, "a row a block"
        assert bool(np.all(np.diff(self.starts) > 0)), "blocks in the order of time"

    @classmethod
    def of(
        cls, starts: Any, seconds: float, vectors: Any, classes: Any, length: float | None = None
    ) -> Day:
        """A day of which every block may be picked; without a length it ends with the last."""
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
    """Periods that have blocks: when each begins, the mean of its vectors, and its blocks.

    ``of`` has the place of every block's period, ``first`` the first block of every period, and
    behind them the number of blocks.
    """

    starts: Doubles
    means: Doubles
    of: Ints
    first: Ints


def split_periods(day: Day, seconds: float = PERIOD_SECONDS) -> Periods:
    """Periods of so many seconds; a block belongs to the one in which it begins."""
    number = np.floor(day.starts / seconds + PERIOD_TOLERANCE).astype(np.int64)
    kept, first, of = np.unique(number, return_index=True, return_inverse=True)
    means = np.zeros((len(kept), day.vectors.shape[1]))
    ends = np.append(first, len(day))
    for row in range(len(kept)):
        means[row] = day.vectors[ends[row] : ends[row + 1]].mean(axis=0, dtype=np.float64)
    return Periods(kept * np.float64(seconds), means, of.astype(np.int64), ends.astype(np.int64))


class BlockContent(NamedTuple):
    """What is heard in picks, in their order: a vector and classes for each."""

    vectors: Doubles
    classes: Doubles


def hear_rows(day: Day, rows: Any) -> BlockContent:
    """Picks that are blocks of the day."""
    index = np.asarray(rows, np.int64)
    return BlockContent(
        day.vectors[index].astype(np.float64), day.classes[index].astype(np.float64)
    )


def hear_picks(day: Day, picks: Any) -> BlockContent | None:
    """Picks by start and seconds, which need not begin where blocks do; None if there is no sound.

    A pick has the mean of the blocks that it overlaps, each by its share of the pick, so that a
    pick that is a block has exactly the block's. Of a pick longer than a block, classes are the
    highest in its parts of a block's length.
    """
    vectors, classes = [], []
    for start, seconds in picks:
        parts = [_hear_part(day, *part) for part in _split_pick(start, seconds, day.seconds)]
        audible = [part for part in parts if part is not None]
        if not audible:
            return None
        vectors.append(np.mean([part[0] for part in audible], axis=0))
        classes.append(np.max([part[1] for part in audible], axis=0))
    empty = (0, day.vectors.shape[1]), (0, day.classes.shape[1])
    return BlockContent(
        np.array(vectors) if vectors else np.zeros(empty[0]),
        np.array(classes) if classes else np.zeros(empty[1]),
    )


def _split_pick(start: float, seconds: float, block: float) -> list[tuple[float, float]]:
    count = max(1, round(seconds / block))
    return [(start + part * seconds / count, seconds / count) for part in range(count)]


def _hear_part(day: Day, start: float, seconds: float) -> tuple[Doubles, Doubles] | None:
    """What is heard in a part: the blocks that it overlaps, or one that it touches nearly."""
    first = int(np.searchsorted(day.starts, start - day.seconds, side="right"))
    last = int(np.searchsorted(day.starts, start + seconds, side="left"))
    begins = day.starts[first:last]
    over = np.minimum(begins + day.seconds, start + seconds) - np.maximum(begins, start)
    over = np.where(over > PERIOD_TOLERANCE * seconds, over, 0.0)
    if not over.any():
        return _hear_nearest(day, start, seconds)
    share = over / over.sum()
    return share @ day.vectors[first:last], share @ day.classes[first:last]


def _hear_nearest(day: Day, start: float, seconds: float) -> tuple[Doubles, Doubles] | None:
    """The nearest block, for a part in a remainder that was too short to be a block."""
    if not len(day):
        return None
    apart = np.maximum(day.starts - start - seconds, start - day.starts - day.seconds)
    row = int(np.argmin(apart))
    if apart[row] >= day.seconds:
        return None
    return day.vectors[row].astype(np.float64), day.classes[row].astype(np.float64)


# --- Dynamic time warping ------------------------------------------------------------------------
# Every step goes on in the one, in the other or in both; the distance is the sum over all steps of
# the Euclidean distance of what stands beside each other, from both first ones to both last ones.


def euclidean_distances(first: Doubles, second: Doubles) -> Doubles:
    """Euclidean distances, a row for every row of the first; what is equal is exactly 0 apart."""
    result = np.zeros((len(first), len(second)))
    for column, vector in enumerate(second):
        result[:, column] = np.sqrt(((first - vector) ** 2).sum(axis=1))
    return result


def warp_cost(costs: Doubles) -> float:
    """The least sum of costs from corner to corner; diagonal by diagonal."""
    rows, columns = costs.shape
    if not rows or not columns:
        return float("nan")
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
    """How far picks lie from the course of means; NaN if there are none of either."""
    return warp_cost(euclidean_distances(means, picks))
