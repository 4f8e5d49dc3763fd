"""Scenes: events with exact times drawn from a timetable, and random days."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from earwitness.soundscapes.sources import CROSSFADE_SECONDS, SOURCES, SoundSource
from earwitness.soundscapes.timetable import HOURS_PER_DAY, Timetable, TimetableRow, named_generator

# --- Clips of an event ---------------------------------------------------------------------------


CLIP_LEVEL_JITTER_DB = 1.0  # clips of an event differ by up to ± this many dB


class ClipPlacement(NamedTuple):
    """A clip by number, its start after the start of the event (s), and its gain (dB)."""

    at: float
    number: int
    gain: float

    def end(self, source: SoundSource) -> float:
        """Return its end, in seconds after the start of the event."""
        return self.at + source.lengths[self.number]


def place_clips(source: SoundSource, seconds: float, rng: Generator) -> tuple[ClipPlacement, ...]:
    """Return at least one clip for an event of about ``seconds``.

    Continuous sounds fill the event and are cut at its end; calls are complete, so they may
    end earlier.
    """
    if source.event is None:
        differences = [abs(length - seconds) for length in source.lengths]
        fits = [n for n, difference in enumerate(differences) if difference <= min(differences)]
        return (ClipPlacement(0.0, fits[int(rng.integers(len(fits)))], 0.0),)
    return tuple(_place_many(source, seconds, rng))


def _place_many(source: SoundSource, seconds: float, rng: Generator) -> Iterator[ClipPlacement]:
    """Yield clips that are cross-faded, or calls with pauses that end in time, but at least one."""
    lengths, at = np.array(source.lengths), 0.0
    every = np.arange(len(lengths))
    fits = every if source.lasts else np.flatnonzero(lengths <= seconds)
    fits = fits if len(fits) else every[[lengths.argmin()]]
    while len(fits) and at < seconds:
        number = int(rng.choice(fits))
        gain = float(rng.uniform(-CLIP_LEVEL_JITTER_DB, CLIP_LEVEL_JITTER_DB))
        yield ClipPlacement(at, number, gain)
        pause = -CROSSFADE_SECONDS if source.lasts else float(rng.uniform(*source.pause))
        at += source.lengths[number] + pause
        fits = every if source.lasts else np.flatnonzero(lengths <= seconds - at)


# --- Events of a scene ---------------------------------------------------------------------------
# Events of the same source never overlap. Every hour and source has its own random stream, so
# adding a source or extending the day does not change the rest.


EVENT_LEVEL_SPREAD_DB = 3.0  # events of a source differ by up to ± this many dB
MIN_EVENT_SECONDS = 1.0  # shortest event of a continuous source


@dataclass(frozen=True, slots=True, order=True)
class SoundEvent:
    """An event of a source from start to end; ``level`` is in dB relative to full scale."""

    start: float
    end: float
    source: str
    level: float = 0.0
    clips: tuple[ClipPlacement, ...] = ()


@dataclass(frozen=True)
class Scene:
    """Events in chronological order, and everything needed to render them."""

    name: str
    events: tuple[SoundEvent, ...]
    seconds: float
    hour: float = 3600.0
    rate: int = 32_000
    seed: int = 0
    background: float = -58.0
    sources: Mapping[str, SoundSource] = field(default_factory=lambda: SOURCES)


class EventSpan(NamedTuple):
    """Time span of an event, before its clips are chosen."""

    start: float
    seconds: float


def make_scene(
    timetable: Timetable, *, seed: int | None = None, hours: int = HOURS_PER_DAY, rate: int = 32_000
) -> Scene:
    """Return a scene of the given hours; the timetable repeats after 24 hours."""
    seed = timetable.seed if seed is None else seed
    events = [
        event for row in timetable.rows for event in _make_events(timetable, row, hours, seed)
    ]
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


def _make_events(
    timetable: Timetable, row: TimetableRow, hours: int, seed: int
) -> Iterator[SoundEvent]:
    """Return all events of a row."""
    source = timetable.sources[row.source]
    spans = [span for hour in range(hours) for span in _draw_spans(timetable, row, hour, seed)]
    base = source.level if row.level is None else row.level
    for number, span in enumerate(_join_spans(spans) if source.lasts else spans):
        rng = named_generator(seed, "clips", row.source, number)
        level = base + float(rng.uniform(-EVENT_LEVEL_SPREAD_DB, EVENT_LEVEL_SPREAD_DB))
        clips = place_clips(source, span.seconds, rng)
        end = span.seconds if source.lasts else min(span.seconds, clips[-1].end(source))
        yield SoundEvent(span.start, span.start + end, row.source, level, clips)


def _draw_spans(
    timetable: Timetable, row: TimetableRow, hour: int, seed: int
) -> Iterator[EventSpan]:
    """Return the time spans of a row's events in one hour, with random gaps between them."""
    rng, source = named_generator(seed, "spans", row.source, hour), timetable.sources[row.source]
    at, room = hour * timetable.hour, timetable.hour
    if row.strikes:
        if (row.events or row.shares)[hour % HOURS_PER_DAY]:
            strokes, clip = (hour - 1) % 12 + 1, source.lengths[0]
            seconds = clip + (strokes - 1) * (clip + source.pause[0])
            yield EventSpan(at, min(seconds + 1e-6, room))
        return
    lengths = _draw_lengths(row, source, hour % HOURS_PER_DAY, room, rng)
    cuts = np.sort(rng.uniform(0, max(0.0, room - sum(lengths)), len(lengths)))
    for gap, seconds in zip(np.diff(cuts, prepend=0.0), lengths, strict=True):
        at += float(gap)
        yield EventSpan(at, seconds)
        at += seconds


def _draw_lengths(
    row: TimetableRow, source: SoundSource, hour: int, room: float, rng: Generator
) -> list[float]:
    """Return the durations of the events of one hour, by share or by number of events.

    A share is filled exactly if events can be cut, otherwise roughly.
    """
    if row.shares:
        lengths: list[float] = []
        while (missing := row.shares[hour] * room - sum(lengths)) > 1e-9:
            length = _draw_length(row, source, rng)
            if source.lasts:
                lengths.append(missing if missing - length < MIN_EVENT_SECONDS else length)
            elif rng.random() * length < missing and sum(lengths) + length <= room:
                lengths.append(length)
            else:
                break
        return lengths
    count_floor, count_fraction = divmod(row.events[hour], 1)
    count = int(count_floor) + int(rng.random() < count_fraction)
    lengths = [_draw_length(row, source, rng) for _ in range(count)]
    fitting = int(np.sum(np.cumsum(lengths) <= room))
    return lengths[:fitting]


def _draw_length(row: TimetableRow, source: SoundSource, rng: Generator) -> float:
    if source.event is None:
        return source.lengths[int(rng.integers(len(source.lengths)))]
    return float(rng.uniform(*(row.seconds or source.event)))


def _join_spans(spans: list[EventSpan]) -> list[EventSpan]:
    """Join spans that touch."""
    joined: list[EventSpan] = []
    for span in spans:
        if joined and span.start - sum(joined[-1]) < CROSSFADE_SECONDS:
            joined[-1] = EventSpan(joined[-1].start, sum(span) - joined[-1].start)
        else:
            joined.append(span)
    return joined
