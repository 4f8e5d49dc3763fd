"""A long recording, cut at midnight into days."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, time, timedelta
from itertools import pairwise

from earwitness.data import Recording, Stretch
from earwitness.errors import UsageError

SHORTEST = 1e-6  # seconds that are worth a stretch


def days_of(recording: Recording) -> list[Recording]:
    """One recording a day on which anything was recorded, named by its date.

    Midnight is that of the zone in which the recording began, so that a day on which clocks change
    has 23 or 25 hours. The first and the last day may be short.
    """
    if recording.began is None:
        raise UsageError(
            f"{recording.name}: nobody knows when it began, so it has no days"
            " — say it (--start 2025-07-22T06:30:00), or name files as recorders do"
        )
    cuts = [0.0, *_midnights(recording, recording.began), recording.seconds]
    found = [_between(recording, low, high) for low, high in pairwise(cuts)]
    return [day for day in found if day is not None]


def _midnights(recording: Recording, began: datetime) -> list[float]:
    """All midnights within a recording, on its clock."""
    found: list[float] = []
    date = began.date()
    while True:
        date += timedelta(days=1)
        midnight = datetime.combine(date, time(), began.tzinfo)
        if began.tzinfo is None:
            after = (midnight - began).total_seconds()
        else:
            after = midnight.timestamp() - began.timestamp()
        if after >= recording.seconds:
            return found
        found.append(after)


def _between(recording: Recording, low: float, high: float) -> Recording | None:
    """What was recorded from one time to another; none if that is nothing."""
    inside = [_cut(one, low, high) for one in recording.stretches]
    kept = [one for one in inside if one.seconds > SHORTEST]
    began = recording.clock(low + kept[0].start) if kept else None
    if began is None:
        return None
    first = kept[0].start
    stretches = tuple(replace(one, start=one.start - first) for one in kept)
    hurt = tuple(
        replace(one, start=one.start - low - first)
        for one in recording.damages
        if low <= one.start < high
    )
    return replace(
        recording,
        name=f"{recording.name}_{began:%Y%m%d}",
        stretches=stretches,
        seconds=stretches[-1].end,
        began=began,
        damages=hurt,
    )


def _cut(stretch: Stretch, low: float, high: float) -> Stretch:
    """What of a stretch lies between two times, on the clock that starts at the first."""
    start, end = max(stretch.start, low), min(stretch.end, high)
    at = stretch.at + (start - stretch.start)
    return Stretch(stretch.path, at, start - low, end - start)
