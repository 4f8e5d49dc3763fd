"""True temporal consistency and source diversity of skims of a synthetic day.

The presence of a source in a time span is the share of the span in which it sounds; the share in
which nothing sounds belongs to the background; presences are normalized to a sum of 1. True SD is
the share of the day's sources that a skim contains. True TC is 1 minus the mean cost of the best
monotonic alignment of the hours of the day with the picks, where the cost of an hour and a pick is
the total variation distance between their presences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from earwitness.skims.types import Pick
from earwitness.soundscapes.scene import SoundEvent

Matrix = NDArray[np.float64]
MIN_PRESENT_SECONDS = 5.0  # shorter sources do not count as sources of the day
MIN_HEARD_SECONDS = 1.0  # shorter sources do not count as heard in a skim
BACKGROUND_SOURCE = "background"


class Truth:
    """When each source sounds: non-overlapping spans, joined where they touch."""

    def __init__(self, events: Iterable[SoundEvent]) -> None:
        spans: dict[str, list[tuple[float, float]]] = {}
        everything: list[tuple[float, float]] = []
        for event in events:
            spans.setdefault(event.source, []).append((event.start, event.end))
            everything.append((event.start, event.end))
        self._spans = {name: _Sounding(spans[name]) for name in sorted(spans)}
        self._any = _Sounding(everything)

    @property
    def sources(self) -> tuple[str, ...]:
        """Return all sources that sound long enough to count."""
        return tuple(name for name, one in self._spans.items() if one.total >= MIN_PRESENT_SECONDS)

    def seconds(self, starts: Sequence[float], ends: Sequence[float]) -> Matrix:
        """Return the seconds that each source (column) sounds in each span (row)."""
        low, high = np.asarray(starts, np.float64), np.asarray(ends, np.float64)
        columns = [self._spans[name].within(low, high) for name in self.sources]
        return np.stack(columns, 1) if columns else np.zeros((len(low), 0))

    def presence(self, starts: Sequence[float], ends: Sequence[float]) -> Matrix:
        """Return the presences in each span, background last; every row sums to 1."""
        low, high = np.asarray(starts, np.float64), np.asarray(ends, np.float64)
        length = np.maximum(high - low, 1e-12)
        background = length - self._any.within(low, high)
        shares = np.column_stack([self.seconds(starts, ends), np.maximum(background, 0.0)])
        total = shares.sum(1, keepdims=True)
        presence = np.divide(shares, total, out=_background_only(shares), where=total > 1e-12)
        return np.asarray(presence)

    def sd(self, picks: Sequence[Pick]) -> float:
        """Return the share of the day's sources that sound for at least a second in the picks."""
        if not self.sources:
            return float("nan")
        heard = self.seconds(*_pick_spans(picks)).sum(0)
        return float(np.mean(heard >= MIN_HEARD_SECONDS - 1e-9))

    def tc(self, picks: Sequence[Pick], seconds: float, hour: float = 3600.0) -> float:
        """Return how faithfully picks follow the hours of a day, in playing order."""
        if not picks or seconds <= 0:
            return float("nan")
        starts = np.arange(0, seconds - 1e-9, hour)
        hours = self.presence(list(starts), list(np.minimum(starts + hour, seconds)))
        return 1 - least_mean_path_cost(total_variation(hours, self.presence(*_pick_spans(picks))))


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


def true_sd(events: Iterable[SoundEvent], picks: Sequence[Pick]) -> float:
    """Return the share of the day's sources that a skim contains."""
    return Truth(events).sd(picks)


def true_tc(
    events: Iterable[SoundEvent],
    picks: Sequence[Pick],
    seconds: float = 86_400.0,
    hour: float = 3600.0,
) -> float:
    """Return how faithfully a skim follows a day of the given length."""
    return Truth(events).tc(picks, seconds, hour)


def total_variation(rows: Matrix, other_rows: Matrix) -> Matrix:
    """Return the total variation distances between all rows of two tables."""
    return np.asarray(0.5 * np.abs(rows[:, None, :] - other_rows[None, :, :]).sum(2))


def least_mean_path_cost(costs: Matrix) -> float:
    """Return the lowest mean cost of a monotonic path from the first cell to the last.

    The mean is minimized, not the sum: it is unique even if several paths have the same sum, and
    never rises when a cost falls. ``least[j, k]`` is the lowest sum of k + 1 cells up to column j.
    """
    rows, columns = costs.shape
    least = np.full((columns, rows + columns), np.inf)
    for row in range(rows):
        above = least
        least = np.full_like(above, np.inf)
        for column in range(columns):
            predecessors = [
                above[column],
                *((above[column - 1], least[column - 1]) if column else ()),
            ]
            least[column, 1:] = np.minimum.reduce(predecessors)[:-1] + costs[row, column]
            if row == column == 0:
                least[0, 0] = costs[0, 0]
    return float(np.min(least[-1] / np.arange(1, rows + columns + 1)))


def _pick_spans(picks: Sequence[Pick]) -> tuple[list[float], list[float]]:
    return [one.start for one in picks], [one.start + one.seconds for one in picks]


def _background_only(shares: Matrix) -> Matrix:
    """Assign spans in which only uncounted sources sound to the background."""
    presence = np.zeros_like(shares)
    presence[:, -1] = 1.0
    return presence
