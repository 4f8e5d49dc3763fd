"""Timetables: what sounds in which hour, how much and how loud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.soundscapes.sources import SOURCES, Source

HOURS = 24


@dataclass(frozen=True)
class Row:
    """A source over the hours of a day: shares of each hour, or events in each.

    A row that ``strikes`` has one event at the beginning of every hour that has any, with as many
    strokes as the hour has on a clock.
    """

    source: str
    shares: tuple[float, ...] = ()
    events: tuple[float, ...] = ()
    level: float | None = None
    seconds: tuple[float, float] | None = None
    strikes: bool = False


@dataclass(frozen=True)
class Timetable:
    """Rows, seconds in an hour, how loud the background is, a seed, and what makes the sounds."""

    title: str
    rows: tuple[Row, ...]
    hour: float = 3600.0
    background: float = -58.0
    seed: int = 0
    sources: Mapping[str, Source] = field(default_factory=lambda: SOURCES)


def hourly(text: Mapping[str, float]) -> tuple[float, ...]:
    """Numbers of 24 hours from what holds from one o'clock to another; zero elsewhere.

    >>> hourly({"22-2": 0.5, "12": 1})[-3:], hourly({"22-2": 0.5, "12": 1})[:3]
    ((0.0, 0.5, 0.5), (0.5, 0.5, 0.0))
    """
    found = [0.0] * HOURS
    for hours, value in text.items():
        first, _, last = hours.partition("-")
        start, end = int(first), int(last or int(first) + 1)
        for hour in range(start, end if end > start else end + HOURS):
            found[hour % HOURS] = float(value)
    return tuple(found)
