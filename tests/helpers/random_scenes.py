"""Random days of sound, and the audio of a scene in pieces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.scene import Scene, make_scene
from earwitness.soundscapes.sources import SOURCES
from earwitness.soundscapes.synthesis import Sound
from earwitness.soundscapes.timetable import (
    HOURS_PER_DAY,
    Timetable,
    TimetableRow,
    named_generator,
)

MIN_SOURCES, MAX_SOURCES = 7, 16  # number of sources of a day
MAIN_SOURCES = 3  # sources that dominate some hours
RARE_SOURCE_SHARE = 0.3  # share of the others that occur only once or twice


def iterate_random_days(
    count: int, seed: int = 0, *, rate: int = 16_000, hour: float = 3600.0
) -> Iterator[Scene]:
    """Yield random days; the first ones are the same for any number of days."""
    for number in range(count):
        yield make_random_day(number, seed, rate=rate, hour=hour)


def make_random_day(
    number: int, seed: int = 0, *, rate: int = 16_000, hour: float = 3600.0
) -> Scene:
    """Return one random day."""
    rng = named_generator(seed, "day", number)
    scene_seed = int(rng.integers(2**31))
    names = [str(name) for name in rng.permutation(sorted(SOURCES))]
    names = names[: int(rng.integers(MIN_SOURCES, MAX_SOURCES + 1))]
    lasting = [name for name in names if SOURCES[name].lasts]
    main = (lasting + [name for name in names if name not in lasting])[:MAIN_SOURCES]
    rows = tuple(_random_row(name, rng, main=name in main, hour=hour) for name in names)
    background = float(rng.uniform(-62, -52))
    timetable = Timetable(f"day {number + 1}", rows, hour, background)
    return make_scene(timetable, seed=scene_seed, rate=rate)


def _random_row(name: str, rng: np.random.Generator, *, main: bool, hour: float) -> TimetableRow:
    level = SOURCES[name].level + float(rng.uniform(-4, 4))
    if main:
        return TimetableRow(
            name, shares=draw_hourly_profile(rng, rng.uniform(0.4, 0.9)), level=level
        )
    if rng.random() < RARE_SOURCE_SHARE:
        events = np.zeros(HOURS_PER_DAY)
        events[rng.integers(HOURS_PER_DAY, size=int(rng.integers(1, 4)))] = 1
        return TimetableRow(name, events=tuple(map(float, events)), level=level, seconds=(8, 40))
    max_share = float(rng.uniform(0.02, 0.2)) if hour >= 600 else float(rng.uniform(0.1, 0.3))
    return TimetableRow(name, shares=draw_hourly_profile(rng, max_share), level=level)


def draw_hourly_profile(rng: np.random.Generator, max_share: float) -> tuple[float, ...]:
    """Return hourly values that peak around one or two hours and are 0 far from them."""
    hours, profile = np.arange(HOURS_PER_DAY), np.zeros(HOURS_PER_DAY)
    for _ in range(int(rng.integers(1, 3))):
        hours_away = np.abs(
            (hours - rng.uniform(0, HOURS_PER_DAY) + HOURS_PER_DAY / 2) % HOURS_PER_DAY
            - HOURS_PER_DAY / 2
        )
        profile = np.maximum(profile, np.exp(-0.5 * (hours_away / rng.uniform(1.0, 4.0)) ** 2))
    shares = max_share * np.clip(profile * rng.uniform(0.7, 1.0, HOURS_PER_DAY), 0, 1)
    return tuple(float(one) for one in np.where(shares < 0.02 * max_share, 0.0, shares))


def iterate_sound(scene: Scene, *, seconds: float = 30.0) -> Iterator[Sound]:
    """Yield the audio of a scene in pieces."""
    mixer = Mixer(scene)
    size = max(1, round(seconds * scene.rate))
    for first in range(0, mixer.frames, size):
        yield mixer.mix_frames(first, min(mixer.frames, first + size))
