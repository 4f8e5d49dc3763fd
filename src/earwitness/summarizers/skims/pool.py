"""Blocks among which skims are sought, and what each would add to picks that are there already."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from earwitness.stats.skims.course import course, prefixes
from earwitness.stats.skims.day import Bools, Day, Floats, Ints, Periods, Singles

SIZE = 1500  # blocks of all periods together, besides those of classes
FULLEST = 3  # blocks of every class
LATEST = 100  # picks whose neighbours are remembered: sweeps come back to them


@dataclass(frozen=True)
class Pool:
    """Rows of blocks, their periods, sums of distances to periods before each, and classes."""

    rows: Ints
    lies: Ints
    sums: Floats
    classes: Singles
    _known: dict[bytes, tuple[Floats, Floats]] = field(default_factory=dict, repr=False)

    def terms(self, taken: Ints) -> tuple[float, float]:
        """What picks, by their places in the pool, cost and cover."""
        cost = course(self.sums[taken], self.lies[taken]).cost
        return cost, float(self.classes[taken].max(axis=0).sum(dtype=np.float64))

    def beside(self, taken: Ints) -> tuple[Floats, Floats]:
        """Costs and coverages with each block beside those taken; the latest are remembered."""
        key = taken.tobytes()
        if key not in self._known:
            if len(self._known) == LATEST:
                del self._known[next(iter(self._known))]
            self._known[key] = self.costs(taken), self.covers(taken)
        return self._known[key]

    def covers(self, taken: Ints) -> Floats:
        """Coverage with each block of the pool beside those taken."""
        have = self.classes[taken].max(axis=0) if len(taken) else np.float32(0)
        return _summed(np.maximum(self.classes, have))

    def costs(self, taken: Ints) -> Floats:
        """Cost of the course with each block beside those taken; infinite in a period that is had.

        Taken blocks are in the order of time. Between two of them only the two changes of a new
        block's neighbours matter; all blocks of a gap are reckoned at once.
        """
        count = self.sums.shape[1] - 1
        result = np.full(len(self.rows), np.inf)
        lies = [-1, *self.lies[taken].tolist(), count]
        for gap in range(len(taken) + 1):
            inside = slice(*np.searchsorted(self.lies, [lies[gap] + 1, lies[gap + 1]]))
            if inside.start < inside.stop:
                left = self.sums[taken[gap - 1]] if gap else None
                right = self.sums[taken[gap]] if gap < len(taken) else None
                span = (lies[gap], lies[gap + 1])
                result[inside] = self._between(inside, left, right, span)
        return result + self._rest(taken) if len(taken) else result

    def _rest(self, taken: Ints) -> Floats:
        """Cost of all that does not lie in the gap of a block: of the other gaps, and of picks."""
        lies = self.lies[taken]
        sums, count = self.sums[taken], self.sums.shape[1] - 1
        gaps = np.zeros(len(taken) + 1)
        gaps[0], gaps[-1] = sums[0, lies[0]], sums[-1, count] - sums[-1, lies[-1] + 1]
        for gap in range(1, len(taken)):
            span = slice(lies[gap - 1] + 1, lies[gap] + 1)
            more = sums[gap - 1, span] - sums[gap, span]
            gaps[gap] = more.min() + sums[gap, lies[gap]] - sums[gap - 1, lies[gap - 1] + 1]
        each = np.arange(len(taken))
        own = float((sums[each, lies + 1] - sums[each, lies]).sum())
        which = np.searchsorted(lies, self.lies)
        result: Floats = own + gaps.sum() - gaps[which]
        return result

    def _between(
        self, inside: slice, left: Floats | None, right: Floats | None, span: tuple[int, int]
    ) -> Floats:
        """Cost of a gap, both ends out, with each of some blocks in it."""
        lies, sums = self.lies[inside], self.sums[inside]
        each = np.arange(len(lies))
        low, high = span[0] + 1, span[1]  # the first period of the gap, and that behind it
        cost = sums[each, lies + 1] - sums[each, lies]
        if left is None:
            cost = cost + sums[each, lies]
        else:
            more = left[None, low : high + 1] - sums[:, low : high + 1]
            more = np.minimum.accumulate(more, axis=1)
            cost = cost + more[each, lies - low] + sums[each, lies] - left[low]
        if right is None:
            return cost + sums[:, -1] - sums[each, lies + 1]
        less = sums[:, low : high + 1] - right[None, low : high + 1]
        less = np.minimum.accumulate(less[:, ::-1], axis=1)[:, ::-1]
        result: Floats = cost + less[each, lies + 1 - low] + right[high] - sums[each, lies + 1]
        return result


def pool_of(day: Day, known: Periods, extra: Ints) -> Pool:
    """Of every period the blocks nearest to its mean and those with most classes; of every class
    the blocks that have most of it; and extra rows."""
    each = max(1, SIZE // (2 * len(known.means)))
    full = day.classes.sum(axis=1)
    rows = [extra, _fullest(day)]
    for period in range(len(known.means)):
        inside = np.arange(known.first[period], known.first[period + 1])
        inside = inside[day.allowed[inside]]
        away = ((day.vectors[inside] - known.means[period].astype(np.float32)) ** 2).sum(axis=1)
        rows += [inside[np.argsort(away, kind="stable")[:each]]]
        rows += [inside[np.argsort(-full[inside], kind="stable")[:each]]]
    index = np.unique(np.concatenate(rows)).astype(np.int64)
    sums = prefixes(day.vectors[index], known.means)
    return Pool(index, known.of[index], sums, day.classes[index])


def _fullest(day: Day) -> Ints:
    allowed = np.flatnonzero(day.allowed)
    classes = day.classes[allowed]
    kept: list[Ints] = []
    for one in classes.T:
        count = min(FULLEST, len(one))
        top = np.argpartition(-one, count - 1)[:count]
        kept.append(allowed[top[one[top] > 0]])
    return np.concatenate(kept).astype(np.int64) if kept else np.zeros(0, np.int64)


def widest(day: Day, known: Periods, picks: int) -> Ints:
    """Blocks that cover most classes, each with the most that is still missing; one a period."""
    have = np.zeros(day.classes.shape[1], np.float32)
    free: Bools = day.allowed.copy()
    chosen: list[int] = []
    while len(chosen) < picks and free.any():
        rows = np.flatnonzero(free)
        gains = _sums(day.classes, rows, have)
        best = int(rows[np.argmax(gains)])
        chosen.append(best)
        have = np.maximum(have, day.classes[best])
        free &= known.of != known.of[best]
    return np.array(sorted(chosen), np.int64)


def _sums(classes: Singles, rows: Ints, have: Singles, step: int = 4096) -> Floats:
    """Coverage with each of the rows, some at a time so that little memory is needed."""
    parts = [rows[first : first + step] for first in range(0, len(rows), step)]
    return np.concatenate([_summed(np.maximum(classes[part], have)) for part in parts])


def _summed(classes: Singles) -> Floats:
    """Sums of rows, as a product, which is faster."""
    return (classes @ np.ones(classes.shape[1], np.float32)).astype(np.float64)
