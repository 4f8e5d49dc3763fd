"""True temporal consistency and source diversity of skims of a synthetic day.

The background, heard where nothing else sounds, is a source like the others. The presence of a
source in a time span is the share of the span in which it sounds; presences are normalized to a sum
of 1. True SD is the share of the day's sources that a skim contains. True TC is 1 minus the mean
cost of the best monotonic alignment of the hours of the day with the picks, where the cost of an
hour and a pick is the total variation distance between their presences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from earwitness.skims.types import Pick
from earwitness.soundscapes.scene import SoundEvent

Matrix = NDArray[np.float64]
MIN_PRESENT_SECONDS = 5.0  # shorter sources do not count as sources of the day
MIN_HEARD_SECONDS = 1.0  # shorter sources do not count as heard in a skim
BACKGROUND_SOURCE = "background"


class Truth:
    """When each source of a day sounds: non-overlapping spans, joined where they touch.

    ``names`` has the sources that sound for at least ``MIN_PRESENT_SECONDS``, and the background;
    tables have their columns in this order. Shorter sources do not count, and the time in which
    only they sound belongs to no source.
    """

    def __init__(self, events: Iterable[SoundEvent], seconds: float) -> None:
        spans: dict[str, list[tuple[float, float]]] = {}
        everything: list[tuple[float, float]] = []
        for event in events:
            spans.setdefault(event.source, []).append((event.start, event.end))
            everything.append((event.start, event.end))
        sounding = {name: _Sounding(spans[name]) for name in sorted(spans)}
        self.day_seconds = seconds
        self._spans = {
            name: span for name, span in sounding.items() if span.total >= MIN_PRESENT_SECONDS
        }
        self._any = _Sounding(everything)
        self.names = (*self._spans, BACKGROUND_SOURCE)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return all sources of the day; the background is last, unless it is too short."""
        return tuple(name for name, counts in zip(self.names, self._counts, strict=True) if counts)

    def seconds(self, starts: Sequence[float], ends: Sequence[float]) -> Matrix:
        """Return the seconds that each of ``names`` (column) sounds in each span (row)."""
        low, high = np.asarray(starts, np.float64), np.asarray(ends, np.float64)
        background = np.maximum(high - low - self._any.within(low, high), 0.0)
        return np.stack([*(span.within(low, high) for span in self._spans.values()), background], 1)

    def presence(self, starts: Sequence[float], ends: Sequence[float]) -> Matrix:
        """Return the presence of each of ``names`` in each span; every row sums to 1."""
        seconds = self.seconds(starts, ends)
        total = seconds.sum(1, keepdims=True)
        presence = np.zeros_like(seconds)
        presence[:, -1] = 1.0  # where only sources sound that do not count
        return np.asarray(np.divide(seconds, total, out=presence, where=total > 1e-12))

    def heard(self, picks: Sequence[Pick]) -> tuple[str, ...]:
        """Return the sources of the day that sound for at least a second in the picks."""
        heard = self._is_heard(picks)
        return tuple(name for name, is_heard in zip(self.sources, heard, strict=True) if is_heard)

    def sd(self, picks: Sequence[Pick]) -> float:
        """Return the share of the day's sources that sound for at least a second in the picks."""
        return float(np.mean(self._is_heard(picks))) if self.sources else float("nan")

    def tc(self, picks: Sequence[Pick], hour: float = 3600.0) -> float:
        """Return how faithfully picks follow the hours of the day, in playing order."""
        if not picks or self.day_seconds <= 0:
            return float("nan")
        hours = self.presence(*hour_spans(self.day_seconds, hour))
        return 1 - least_mean_path_cost(total_variation(hours, self.presence(*_pick_spans(picks))))

    @cached_property
    def _counts(self) -> NDArray[np.bool_]:
        seconds = self.seconds([0.0], [self.day_seconds])[0]
        return np.asarray(seconds >= MIN_PRESENT_SECONDS - 1e-9)

    def _is_heard(self, picks: Sequence[Pick]) -> NDArray[np.bool_]:
        seconds = self.seconds(*_pick_spans(picks)).sum(0)[self._counts]
        return np.asarray(seconds >= MIN_HEARD_SECONDS - 1e-9)


class _Sounding:
    """Spans of one source, joined, with the cumulative duration before each."""

    def __init__(self, spans: Sequence[tuple[float, float]]) -> None:
        joined: list[list[float]] = []
        for start, end in sorted(spans):
            if joined and start <= joined[-1][1]:
                joined[-1][1] = max(joined[-1][1], end)
            else:
                joined.append([start, end])
        table = np.array(joined or [[0.0, 0.0]])
        self._knots = table.ravel()
        lengths = table[:, 1] - table[:, 0]
        after = np.cumsum(lengths)
        self._before = np.column_stack([after - lengths, after]).ravel()
        self.total = float(after[-1])

    def within(self, low: Matrix, high: Matrix) -> Matrix:
        """Return the seconds that sound in each span."""
        curve = self._knots, self._before
        return np.asarray(np.interp(high, *curve) - np.interp(low, *curve))


def hour_spans(seconds: float, hour: float = 3600.0) -> tuple[list[float], list[float]]:
    """Return the starts and ends of the hours of a day; the last one may be shorter."""
    starts = [float(start) for start in np.arange(0, seconds - 1e-9, hour)]
    return starts, [min(start + hour, seconds) for start in starts]


def total_variation(rows: Matrix, other_rows: Matrix) -> Matrix:
    """Return the total variation distances between all rows of two tables."""
    return np.asarray(0.5 * np.abs(rows[:, None, :] - other_rows[None, :, :]).sum(2))


def least_mean_path_cost(costs: Matrix) -> float:
    """Return the lowest mean cost of a monotonic path from the first cell to the last."""
    return float(least_mean_path_costs(costs[None])[0])


def least_mean_path_costs(tables: Matrix) -> Matrix:
    """Return the lowest mean cost of a monotonic path in each of several tables of costs.

    The mean is minimized, not the sum: it is unique even if several paths have the same sum, and
    never rises when a cost falls. ``least[:, j, k]`` is the lowest sum of k + 1 cells up to
    column j.
    """
    count, rows, columns = tables.shape
    least = np.full((count, columns, rows + columns), np.inf)
    for row in range(rows):
        above = least
        least = np.full_like(above, np.inf)
        for column in range(columns):
            before = above[:, column, :-1]
            if column:
                before = np.minimum(before, above[:, column - 1, :-1])
                before = np.minimum(before, least[:, column - 1, :-1])
            least[:, column, 1:] = before + tables[:, row, column, None]
            if row == column == 0:
                least[:, 0, 0] = tables[:, 0, 0]
    return np.asarray(np.min(least[:, -1] / np.arange(1, rows + columns + 1), axis=1))


def _pick_spans(picks: Sequence[Pick]) -> tuple[list[float], list[float]]:
    return [pick.start for pick in picks], [pick.start + pick.seconds for pick in picks]
