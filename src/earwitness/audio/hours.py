"""Silences that mark hours, found without reading all of a recording.

The first two hours are read. Each silence of the right length in them may be a mark: if it is,
there are others at whole hours of sound behind it, and only these places are looked at. So a day
costs an hour. If none is, hours may be short: then silences are evenly spaced. The clock is right
as soon as the recording is there, whatever is then done with it.
"""

from __future__ import annotations

from earwitness.audio.reading import sound_of
from earwitness.audio.silences import HOUR, HourMarks, Silence, without_marks
from earwitness.audio.spacing import PLACE
from earwitness.data import Recording

AROUND = 2.0  # seconds that are read on both sides of a silence
ENOUGH = 0.5  # share of the places at which a mark must be


def without_hours(recording: Recording, gap: float, *, hour: float = HOUR) -> Recording:
    """The recording without its silences of ``gap`` seconds that mark hours; a note if none do."""
    return without_marks(recording, hour_marks(recording, gap, hour=hour), gap=gap)


def hour_marks(recording: Recording, gap: float, *, hour: float = HOUR) -> tuple[Silence, ...]:
    """Where they are; none unless one is in the first two hours and half of the others follow."""
    marks, tried = HourMarks(gap, hour=hour), 0
    reach = 2 * (hour + gap) + gap + AROUND
    for time, chunk in sound_of(recording, seconds=reach):
        marks.feed(time, chunk.samples, recording.rate)
        for one in marks.candidates[tried:]:
            tried += 1
            if row := _row(recording, one, gap, hour):
                return row
    short = marks.learnt()
    rows = (_row(recording, one, gap, short) for one in marks.candidates if short is not None)
    return next(filter(None, rows), ())


def _row(recording: Recording, first: Silence, gap: float, hour: float) -> tuple[Silence, ...]:
    """A silence with those at whole hours behind it, if it is a mark."""
    row, step = [first], hour + gap
    places, place = 0, first.start + step
    while place + gap + AROUND < recording.seconds:
        places += 1
        found = _near(recording, place, gap, hour)
        row += [found] if found else []
        place = (found.start if found else place) + step
    if places:
        return tuple(row) if len(row) - 1 >= ENOUGH * places else ()
    return tuple(row) if abs(first.start - hour) <= PLACE else ()


def _near(recording: Recording, place: float, gap: float, hour: float) -> Silence | None:
    """A silence of the right length that begins about there."""
    marks, slack = HourMarks(gap, hour=hour), PLACE + AROUND
    window = sound_of(recording, start=place - slack, seconds=gap + 2 * slack)
    for time, chunk in window:
        marks.feed(time, chunk.samples, recording.rate)
    return next((one for one in marks.candidates if abs(one.start - place) <= PLACE), None)
