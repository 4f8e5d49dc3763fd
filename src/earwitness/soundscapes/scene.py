"""A scene: all events of a day, drawn from a timetable, each with its exact times.

Events of one source never overlap. Every hour and source draws from a stream of its own, so that
one more source, or a longer day, leaves the rest as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from earwitness.soundscapes.bank import chance
from earwitness.soundscapes.sequence import Placed, sequence
from earwitness.soundscapes.sources import SEAM, SOURCES, Source
from earwitness.soundscapes.timetable import HOURS, Row, Timetable

SPREAD = 3.0  # dB by which events of a source differ, up and down
SHORTEST = 1.0  # seconds of an event that goes on


@dataclass(frozen=True, slots=True, order=True)
class Event:
    """A source that sounds from a time to another; ``level`` is in dB of full scale."""

    start: float
    end: float
    source: str
    level: float = 0.0
    clips: tuple[Placed, ...] = ()


@dataclass(frozen=True)
class Scene:
    """Events in the order of time, and all that it takes to make them heard."""

    name: str
    events: tuple[Event, ...]
    seconds: float
    hour: float = 3600.0
    rate: int = 32_000
    seed: int = 0
    background: float = -58.0
    sources: Mapping[str, Source] = field(default_factory=lambda: SOURCES)


class Span(NamedTuple):
    """Where an event should be, before it is known which clips make it."""

    start: float
    seconds: float


def scene_of(
    timetable: Timetable, *, seed: int | None = None, hours: int = HOURS, rate: int = 32_000
) -> Scene:
    """A day, or less or more of it, by a timetable that begins again after 24 hours."""
    seed = timetable.seed if seed is None else seed
    events = [one for row in timetable.rows for one in _events(timetable, row, hours, seed)]
    return Scene(
        timetable.title,
        tuple(sorted(events)),
        hours * timetable.hour,
        timetable.hour,
        rate,
        seed,
        timetable.background,
        timetable.sources,
    )


def _events(timetable: Timetable, row: Row, hours: int, seed: int) -> Iterator[Event]:
    """All events of a row."""
    source = timetable.sources[row.source]
    spans = [one for hour in range(hours) for one in _spans(timetable, row, hour, seed)]
    base = source.level if row.level is None else row.level
    for number, span in enumerate(_joined(spans) if source.lasts else spans):
        rng = chance(seed, "clips", row.source, number)
        level = base + float(rng.uniform(-SPREAD, SPREAD))
        clips = sequence(source, span.seconds, rng)
        end = span.seconds if source.lasts else min(span.seconds, clips[-1].end(source))
        yield Event(span.start, span.start + end, row.source, level, clips)


def _spans(timetable: Timetable, row: Row, hour: int, seed: int) -> Iterator[Span]:
    """Where events of a row are in an hour, with chance gaps between them."""
    rng, source = chance(seed, "spans", row.source, hour), timetable.sources[row.source]
    at, room = hour * timetable.hour, timetable.hour
    if row.strikes:
        yield from _strokes(row, source, hour, Span(at, room))
        return
    lengths = _lengths(row, source, hour % HOURS, room, rng)
    cuts = np.sort(rng.uniform(0, max(0.0, room - sum(lengths)), len(lengths)))
    for gap, seconds in zip(np.diff(cuts, prepend=0.0), lengths, strict=True):
        at += float(gap)
        yield Span(at, seconds)
        at += seconds


def _strokes(row: Row, source: Source, hour: int, room: Span) -> Iterator[Span]:
    """As many strokes as a clock has at that hour."""
    if (row.events or row.shares)[hour % HOURS]:
        strokes, clip = (hour - 1) % 12 + 1, source.lengths[0]
        seconds = clip + (strokes - 1) * (clip + source.pause[0])
        yield Span(room.start, min(seconds + 1e-6, room.seconds))


def _lengths(
    row: Row, source: Source, hour: int, room: float, rng: np.random.Generator
) -> list[float]:
    """How long the events of an hour are: its share of them, or so many as there should be."""
    if row.shares:
        return _filling(row, source, row.shares[hour] * room, room, rng)
    whole, part = divmod(row.events[hour], 1)
    count = int(whole) + int(rng.random() < part)
    found = [_length(row, source, rng) for _ in range(count)]
    kept = int(np.sum(np.cumsum(found) <= room))
    return found[:kept]


def _length(row: Row, source: Source, rng: np.random.Generator) -> float:
    if source.event is None:
        return source.lengths[int(rng.integers(len(source.lengths)))]
    return float(rng.uniform(*(row.seconds or source.event)))


def _filling(
    row: Row, source: Source, wanted: float, room: float, rng: np.random.Generator
) -> list[float]:
    """Events until there is as much as wanted: exactly where they can be cut, else about."""
    found: list[float] = []
    while (left := wanted - sum(found)) > 1e-9:
        length = _length(row, source, rng)
        if source.lasts:
            found.append(left if left - length < SHORTEST else length)
        elif rng.random() * length < left and sum(found) + length <= room:
            found.append(length)
        else:
            break
    return found


def _joined(spans: list[Span]) -> list[Span]:
    """Spans that touch are one."""
    found: list[Span] = []
    for span in spans:
        if found and span.start - sum(found[-1]) < SEAM:
            found[-1] = Span(found[-1].start, sum(span) - found[-1].start)
        else:
            found.append(span)
    return found
