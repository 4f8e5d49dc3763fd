"""Days that nobody planned: chance timetables over chance sources, to prove things on many."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from earwitness.soundscapes.bank import chance
from earwitness.soundscapes.scene import Scene, scene_of
from earwitness.soundscapes.sources import SOURCES
from earwitness.soundscapes.timetable import HOURS, Row, Timetable

FEWEST, MOST = 7, 16  # sources of a day
MAIN = 3  # that fill much of some hours, and so give a day its course
RARE = 0.3  # how many of the others come only once or twice


def days(count: int, seed: int = 0, *, rate: int = 16_000, hour: float = 3600.0) -> Iterator[Scene]:
    """So many days; the first ones are the same however many there are."""
    for number in range(count):
        yield day(number, seed, rate=rate, hour=hour)


def day(number: int, seed: int = 0, *, rate: int = 16_000, hour: float = 3600.0) -> Scene:
    """One of them."""
    rng = chance(seed, "day", number)
    own = int(rng.integers(2**31))
    names = [str(name) for name in rng.permutation(sorted(SOURCES))]
    names = names[: int(rng.integers(FEWEST, MOST + 1))]
    lasting = [name for name in names if SOURCES[name].lasts]
    main = (lasting + [name for name in names if name not in lasting])[:MAIN]
    rows = tuple(_row(name, rng, main=name in main, hour=hour) for name in names)
    background = float(rng.uniform(-62, -52))
    timetable = Timetable(f"day {number + 1}", rows, hour, background)
    return scene_of(timetable, seed=own, rate=rate)


def _row(name: str, rng: np.random.Generator, *, main: bool, hour: float) -> Row:
    level = SOURCES[name].level + float(rng.uniform(-4, 4))
    if main:
        return Row(name, shares=_hump(rng, rng.uniform(0.4, 0.9)), level=level)
    if rng.random() < RARE:
        events = np.zeros(HOURS)
        events[rng.integers(HOURS, size=int(rng.integers(1, 4)))] = 1
        return Row(name, events=tuple(map(float, events)), level=level, seconds=(8, 40))
    most = float(rng.uniform(0.02, 0.2)) if hour >= 600 else float(rng.uniform(0.1, 0.3))
    return Row(name, shares=_hump(rng, most), level=level)


def _hump(rng: np.random.Generator, most: float) -> tuple[float, ...]:
    """More around one or two hours of the day, and nothing far from them."""
    hours, found = np.arange(HOURS), np.zeros(HOURS)
    for _ in range(int(rng.integers(1, 3))):
        away = np.abs((hours - rng.uniform(0, HOURS) + HOURS / 2) % HOURS - HOURS / 2)
        found = np.maximum(found, np.exp(-0.5 * (away / rng.uniform(1.0, 4.0)) ** 2))
    shares = most * np.clip(found * rng.uniform(0.7, 1.0, HOURS), 0, 1)
    return tuple(float(one) for one in np.where(shares < 0.02 * most, 0.0, shares))
