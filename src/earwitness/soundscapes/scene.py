"""Scenes: events with exact times drawn from a timetable, and random days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from earwitness.soundscapes.sources import CROSSFADE_SECONDS, SOURCES, SoundSource
from earwitness.soundscapes.timetable import HOURS_PER_DAY, Timetable, TimetableRow, chance

# --- Clips of an event ---------------------------------------------------------------------------


CLIP_LEVEL_JITTER_DB = 1.0  # dB by which clips of one event differ


class ClipPlacement(NamedTuple):
    """A clip by its number, seconds after the event begins, and how much louder it is, in dB."""

    at: float
    number: int
    gain: float

    def end(self, source: SoundSource) -> float:
        """When it ends, after the event begins."""
        return self.at + source.lengths[self.number]


def sequence(
    source: SoundSource, seconds: float, rng: np.random.Generator
) -> tuple[ClipPlacement, ...]:
    """Clips for an event of about so many seconds; at least one.

    What lasts is filled to the end and will be cut there; calls are whole, so they may end early.
    """
    if source.event is None:
        near = min(abs(length - seconds) for length in source.lengths)
        fits = [n for n, one in enumerate(source.lengths) if abs(one - seconds) <= near]
        return (ClipPlacement(0.0, fits[int(rng.integers(len(fits)))], 0.0),)
    return tuple(_filled(source, seconds, rng) if source.lasts else _called(source, seconds, rng))


def _filled(
    source: SoundSource, seconds: float, rng: np.random.Generator
) -> Iterator[ClipPlacement]:
    at = 0.0
    while at < seconds:
        number = int(rng.integers(len(source.lengths)))
        yield ClipPlacement(
            at, number, float(rng.uniform(-CLIP_LEVEL_JITTER_DB, CLIP_LEVEL_JITTER_DB))
        )
        at += source.lengths[number] - CROSSFADE_SECONDS


def _called(
    source: SoundSource, seconds: float, rng: np.random.Generator
) -> Iterator[ClipPlacement]:
    lengths, at = np.array(source.lengths), 0.0
    fits = np.flatnonzero(lengths <= seconds)
    fits = fits if len(fits) else np.array([int(lengths.argmin())])
    while len(fits):
        number = int(rng.choice(fits))
        yield ClipPlacement(
            at, number, float(rng.uniform(-CLIP_LEVEL_JITTER_DB, CLIP_LEVEL_JITTER_DB))
        )
        at += source.lengths[number] + float(rng.uniform(*source.pause))
        fits = np.flatnonzero(lengths <= seconds - at)


# --- Events of a scene ---------------------------------------------------------------------------
# Events of one source never overlap. Every hour and source draws from a stream of its own, so that
# one more source, or a longer day, leaves the rest as it was.


EVENT_LEVEL_SPREAD_DB = 3.0  # dB by which events of a source differ, up and down
MIN_EVENT_SECONDS = 1.0  # seconds of an event that goes on


@dataclass(frozen=True, slots=True, order=True)
class SoundEvent:
    """A source that sounds from a time to another; ``level`` is in dB of full scale."""

    start: float
    end: float
    source: str
    level: float = 0.0
    clips: tuple[ClipPlacement, ...] = ()


@dataclass(frozen=True)
class Scene:
    """Events in the order of time, and all that it takes to make them heard."""

    name: str
    events: tuple[SoundEvent, ...]
    seconds: float
    hour: float = 3600.0
    rate: int = 32_000
    seed: int = 0
    background: float = -58.0
    sources: Mapping[str, SoundSource] = field(default_factory=lambda: SOURCES)


class EventSpan(NamedTuple):
    """Where an event should be, before it is known which clips make it."""

    start: float
    seconds: float


def scene_of(
    timetable: Timetable, *, seed: int | None = None, hours: int = HOURS_PER_DAY, rate: int = 32_000
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


def _events(timetable: Timetable, row: TimetableRow, hours: int, seed: int) -> Iterator[SoundEvent]:
    """All events of a row."""
    source = timetable.sources[row.source]
    spans = [one for hour in range(hours) for one in _spans(timetable, row, hour, seed)]
    base = source.level if row.level is None else row.level
    for number, span in enumerate(_joined(spans) if source.lasts else spans):
        rng = chance(seed, "clips", row.source, number)
        level = base + float(rng.uniform(-EVENT_LEVEL_SPREAD_DB, EVENT_LEVEL_SPREAD_DB))
        clips = sequence(source, span.seconds, rng)
        end = span.seconds if source.lasts else min(span.seconds, clips[-1].end(source))
        yield SoundEvent(span.start, span.start + end, row.source, level, clips)


def _spans(timetable: Timetable, row: TimetableRow, hour: int, seed: int) -> Iterator[EventSpan]:
    """Where events of a row are in an hour, with chance gaps between them."""
    rng, source = chance(seed, "spans", row.source, hour), timetable.sources[row.source]
    at, room = hour * timetable.hour, timetable.hour
    if row.strikes:
        yield from _strokes(row, source, hour, EventSpan(at, room))
        return
    lengths = _lengths(row, source, hour % HOURS_PER_DAY, room, rng)
    cuts = np.sort(rng.uniform(0, max(0.0, room - sum(lengths)), len(lengths)))
    for gap, seconds in zip(np.diff(cuts, prepend=0.0), lengths, strict=True):
        at += float(gap)
        yield EventSpan(at, seconds)
        at += seconds


def _strokes(
    row: TimetableRow, source: SoundSource, hour: int, room: EventSpan
) -> Iterator[EventSpan]:
    """As many strokes as a clock has at that hour."""
    if (row.events or row.shares)[hour % HOURS_PER_DAY]:
        strokes, clip = (hour - 1) % 12 + 1, source.lengths[0]
        seconds = clip + (strokes - 1) * (clip + source.pause[0])
        yield EventSpan(room.start, min(seconds + 1e-6, room.seconds))


def _lengths(
    row: TimetableRow, source: SoundSource, hour: int, room: float, rng: np.random.Generator
) -> list[float]:
    """How long the events of an hour are: its share of them, or so many as there should be."""
    if row.shares:
        return _filling(row, source, row.shares[hour] * room, room, rng)
    whole, part = divmod(row.events[hour], 1)
    count = int(whole) + int(rng.random() < part)
    found = [_length(row, source, rng) for _ in range(count)]
    kept = int(np.sum(np.cumsum(found) <= room))
    return found[:kept]


def _length(row: TimetableRow, source: SoundSource, rng: np.random.Generator) -> float:
    if source.event is None:
        return source.lengths[int(rng.integers(len(source.lengths)))]
    return float(rng.uniform(*(row.seconds or source.event)))


def _filling(
    row: TimetableRow, source: SoundSource, wanted: float, room: float, rng: np.random.Generator
) -> list[float]:
    """Events until there is as much as wanted: exactly where they can be cut, else about."""
    found: list[float] = []
    while (left := wanted - sum(found)) > 1e-9:
        length = _length(row, source, rng)
        if source.lasts:
            found.append(left if left - length < MIN_EVENT_SECONDS else length)
        elif rng.random() * length < left and sum(found) + length <= room:
            found.append(length)
        else:
            break
    return found


def _joined(spans: list[EventSpan]) -> list[EventSpan]:
    """Spans that touch are one."""
    found: list[EventSpan] = []
    for span in spans:
        if found and span.start - sum(found[-1]) < CROSSFADE_SECONDS:
            found[-1] = EventSpan(found[-1].start, sum(span) - found[-1].start)
        else:
            found.append(span)
    return found


# --- Random days ---------------------------------------------------------------------------------


MIN_SOURCES, MAX_SOURCES = 7, 16  # sources of a day
MAIN_SOURCES = 3  # that fill much of some hours, and so give a day its course
RARE_SOURCE_SHARE = 0.3  # how many of the others come only once or twice


def days(count: int, seed: int = 0, *, rate: int = 16_000, hour: float = 3600.0) -> Iterator[Scene]:
    """So many days; the first ones are the same however many there are."""
    for number in range(count):
        yield day(number, seed, rate=rate, hour=hour)


def day(number: int, seed: int = 0, *, rate: int = 16_000, hour: float = 3600.0) -> Scene:
    """One of them."""
    rng = chance(seed, "day", number)
    own = int(rng.integers(2**31))
    names = [str(name) for name in rng.permutation(sorted(SOURCES))]
    names = names[: int(rng.integers(MIN_SOURCES, MAX_SOURCES + 1))]
    lasting = [name for name in names if SOURCES[name].lasts]
    main = (lasting + [name for name in names if name not in lasting])[:MAIN_SOURCES]
    rows = tuple(_row(name, rng, main=name in main, hour=hour) for name in names)
    background = float(rng.uniform(-62, -52))
    timetable = Timetable(f"day {number + 1}", rows, hour, background)
    return scene_of(timetable, seed=own, rate=rate)


def _row(name: str, rng: np.random.Generator, *, main: bool, hour: float) -> TimetableRow:
    level = SOURCES[name].level + float(rng.uniform(-4, 4))
    if main:
        return TimetableRow(name, shares=_hump(rng, rng.uniform(0.4, 0.9)), level=level)
    if rng.random() < RARE_SOURCE_SHARE:
        events = np.zeros(HOURS_PER_DAY)
        events[rng.integers(HOURS_PER_DAY, size=int(rng.integers(1, 4)))] = 1
        return TimetableRow(name, events=tuple(map(float, events)), level=level, seconds=(8, 40))
    most = float(rng.uniform(0.02, 0.2)) if hour >= 600 else float(rng.uniform(0.1, 0.3))
    return TimetableRow(name, shares=_hump(rng, most), level=level)


def _hump(rng: np.random.Generator, most: float) -> tuple[float, ...]:
    """More around one or two hours of the day, and nothing far from them."""
    hours, found = np.arange(HOURS_PER_DAY), np.zeros(HOURS_PER_DAY)
    for _ in range(int(rng.integers(1, 3))):
        away = np.abs(
            (hours - rng.uniform(0, HOURS_PER_DAY) + HOURS_PER_DAY / 2) % HOURS_PER_DAY
            - HOURS_PER_DAY / 2
        )
        found = np.maximum(found, np.exp(-0.5 * (away / rng.uniform(1.0, 4.0)) ** 2))
    shares = most * np.clip(found * rng.uniform(0.7, 1.0, HOURS_PER_DAY), 0, 1)
    return tuple(float(one) for one in np.where(shares < 0.02 * most, 0.0, shares))
