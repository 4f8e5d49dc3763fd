"""Where numbers lie on a line, in percent of its length, and which ticks to write beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil, floor, isfinite, log10

from earwitness.data import Value

TICKS = 5
TIMES = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400]


@dataclass(frozen=True, slots=True)
class Axis:
    """A line from low to high with ticks."""

    low: float
    high: float
    ticks: tuple[float, ...]

    def place(self, x: float) -> float:
        """In percent, kept within the line."""
        share = (x - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 3)


def axis_of(numbers: Iterable[float], value: Value | None = None) -> Axis:
    """A line that holds the numbers; shares go from 0 to 1, scales from end to end.

    >>> axis_of([0.2, 3.1]).ticks
    (0.0, 1.0, 2.0, 3.0, 4.0)
    """
    if value is not None and (value.low, value.high) == (0, 1):
        return Axis(0.0, 1.0, (0.0, 0.25, 0.5, 0.75, 1.0))
    if value is not None and value.high != 1 and isfinite(value.high - value.low):
        return _whole(value.low, value.high)
    found = [x for x in numbers if isfinite(x)] or [0.0, 1.0]
    low, high = min(found), max(found)
    if value is not None and (value.low == 0 or value.high == 1):
        low = min(low, 0.0)
    if value is not None and value.high == 1:
        high = 1.0  # the same end for all pictures of the value
    if low == high:
        low, high = low - 0.5, high + 0.5
    step = _step((high - low) / (TICKS - 1))
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    ticks = tuple(round(i * step, 10) for i in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks)


def _whole(low: float, high: float) -> Axis:
    """A whole scale, with round ticks that end where it ends.

    >>> _whole(0, 100).ticks
    (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
    """
    width = high - low
    power = 10.0 ** floor(log10(width))
    steps = [m * power for m in (0.1, 0.2, 0.5, 1, 2, 5)]
    counts = [round(width / s) for s in steps if abs(width / s - round(width / s)) < 1e-9]
    count = min(counts or [TICKS - 1], key=lambda n: abs(n - TICKS))
    return Axis(
        low, high, tuple(round(low + width * i / count, 10) + 0.0 for i in range(count + 1))
    )


def times_of(duration: float) -> Axis:
    """A line of time with round ticks."""
    high = duration or 1.0
    days = [86400.0 * 10**n for n in range(1, 6)]
    step = next((s for s in [*TIMES, *days] if high / s <= 2 * TICKS), high)
    ticks = tuple(float(step * i) for i in range(int(high / step) + 1))
    return Axis(0.0, high, ticks)


def _step(raw: float) -> float:
    """A round number from ``raw`` on: 1, 2 or 5 times a power of ten."""
    power = 10.0 ** floor(log10(raw))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= raw * (1 - 1e-9))
