"""Where things lie in the picture of a day: hours, frequencies, and the numbers of picks."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log10
from typing import NamedTuple

from earwitness.data import Recording
from earwitness.report.numbers import clock

DAY = 86_400
STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200]
MOST = 9  # ticks of time
OCTAVES = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 64_000)


class Tick(NamedTuple):
    """A mark on an axis, in percent of its length, and what stands beside it."""

    place: float
    text: str


def time_ticks(recording: Recording) -> list[Tick]:
    """Round times of day, and the date where a day begins; without a clock, round times."""
    whole = recording.seconds or 1.0
    step = _step(whole)
    if recording.began is None:
        return [Tick(_percent(t, whole), clock(t)) for t in _multiples(0, step, whole)]
    found = []
    for t in _multiples(_of_day(recording, 0.0), min(step, 3_600), whole):
        moment = recording.clock(t)
        if moment is None or round(_of_day(recording, t)) % min(step, DAY):
            continue
        if step > DAY and moment.toordinal() % (step // DAY):
            continue
        midnight = (moment.hour, moment.minute, moment.second) == (0, 0, 0)
        text = f"{moment.day} {moment:%b}" if midnight and whole > DAY else f"{moment:%H:%M}"
        if step < 60:
            text = f"{moment:%H:%M:%S}"
        found.append(Tick(_percent(t, whole), text))
    return found


def _step(seconds: float) -> int:
    days = [DAY * n for n in (1, 2, 5, 7, 14, 28)]
    longest = DAY * ceil(seconds / DAY / MOST)
    return next((step for step in [*STEPS, *days] if seconds / step <= MOST), longest)


def _multiples(begin: float, step: float, length: float) -> list[float]:
    """Times after a begin at which a clock that shows the begin then shows multiples of a step."""
    first = -begin % step
    return [first + n * step for n in range(int((length - first) // step) + 1)]


def _of_day(recording: Recording, time: float) -> float:
    moment = recording.clock(time)
    if moment is None:
        return time
    seconds = moment.hour * 3_600 + moment.minute * 60 + moment.second
    return seconds + moment.microsecond / 1e6


def frequency_ticks(low: float, high: float) -> list[Tick]:
    """Octaves in kHz, from below; those near the ends are left out."""
    found = []
    for hertz in OCTAVES:
        place = 100 * (_mel(hertz) - _mel(low)) / (_mel(high) - _mel(low))
        if 2 <= place <= 98 or hertz == high:
            found.append(Tick(round(min(100.0, place), 3), f"{hertz / 1_000:g}"))
    return found


def _mel(hertz: float) -> float:
    return 2_595 * log10(1 + hertz / 700)


def gaps(missing: Sequence[bool]) -> list[tuple[float, float]]:
    """Runs of missing columns: from where to where, in percent.

    >>> gaps([False, True, True, False])
    [(25.0, 75.0)]
    """
    found: list[tuple[float, float]] = []
    start: int | None = None
    for place, gone in enumerate([*missing, False]):
        if gone and start is None:
            start = place
        elif not gone and start is not None:
            found.append((_percent(start, len(missing)), _percent(place, len(missing))))
            start = None
    return found


def spread(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Places moved as little as can be (in squares), so that all are this far apart or farther.

    >>> spread([10, 50, 50], 4, 0, 100)
    [10.0, 48.0, 52.0]
    """
    apart = min(apart, (high - low) / max(1, len(places) - 1))
    order = sorted(range(len(places)), key=lambda n: places[n])
    top = high - apart * (len(places) - 1)
    runs: list[list[float]] = []  # sum and count of places that are pushed together
    for rank, n in enumerate(order):
        runs.append([places[n] - apart * rank, 1])
        while len(runs) > 1 and runs[-2][0] / runs[-2][1] >= runs[-1][0] / runs[-1][1]:
            total, count = runs.pop()
            runs[-1] = [runs[-1][0] + total, runs[-1][1] + count]
    level = [min(top, max(low, total / count)) for total, count in runs for _ in range(int(count))]
    found = [0.0] * len(places)
    for rank, n in enumerate(order):
        found[n] = round(level[rank] + apart * rank, 3)
    return found


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 3)
