"""Detection and removal of the silences that mark hours in a recording."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError
from earwitness.recordings.cut import read_recording
from earwitness.recordings.types import Recording, Stretch
from earwitness.stats.arrays import Bools

# --- Spacing of hour marks -----------------------------------------------------------------------


HOUR_TOLERANCE_SECONDS = 1.0  # tolerance per hour
MIN_EVEN_SHARE = 2 / 3  # of the steps must be equal


def find_spacing(starts: Sequence[float], gap: float) -> float | None:
    """Return the seconds of sound between evenly spaced silences, or None.

    Two silences are enough if the recording starts on the hour, otherwise three are needed.

    >>> find_spacing([600, 1205, 1810], 5), find_spacing([100, 705, 1310], 5)
    (600.0, 600.0)
    >>> find_spacing([600, 700], 5) is None
    True
    """
    if len(starts) < 2:
        return None
    times = [-gap, *starts]
    steps = [after - before for before, after in pairwise(times)]
    step = median(steps)
    even_steps = [seconds for seconds in steps if abs(seconds - step) <= HOUR_TOLERANCE_SECONDS]
    if len(even_steps) < MIN_EVEN_SHARE * len(steps) or step <= 2 * gap:
        return None
    return sum(even_steps) / len(even_steps) - gap


# --- Silences between hours ----------------------------------------------------------------------
# Some day-long recordings are 24 files of an hour, joined with a few seconds of silence. That
# silence does not belong to the site: it must not be picked, and each silence would shift the
# clock. A silence marks an hour if it has the given length (within 0.3 s) and if others are at
# multiples of an hour of sound from it; any other silence is normal audio. Synthetic days may have
# short hours: if more silences are evenly spaced than lie hours apart, these are the marks.
#
# Only levels of short frames are needed, so any pass over the files can provide them::
#
#     marks = HourMarks(5.0)
#     for stretch in recording.stretches:
#         for chunk in read_blocks(Path(stretch.path), at=stretch.at, seconds=stretch.seconds):
#             marks.feed(stretch.start + chunk.position - stretch.at, chunk.samples, recording.rate)
#     recording = remove_marks(recording, marks.marks(), gap=5.0)


HOUR_SECONDS = 3600.0
SILENCE_FRAME_SECONDS = 0.02
# loudest sample that counts as silence; lossy coding leaves some noise
MAX_SILENCE_AMPLITUDE = 10 ** (-75 / 20)
MARK_LENGTH_TOLERANCE_SECONDS = 0.3  # tolerance of the length of a silence


class Silence(NamedTuple):
    """A silence: start and end on the clock."""

    start: float
    end: float


class HourMarks:
    """Finds silences of a given length in audio or frame levels, fed in chronological order."""

    def __init__(self, gap: float, *, hour: float = HOUR_SECONDS) -> None:
        if gap <= MARK_LENGTH_TOLERANCE_SECONDS:
            raise UsageError(
                f"hour marks must be longer than {MARK_LENGTH_TOLERANCE_SECONDS} s of silence"
            )
        self.gap, self.hour = gap, hour
        self._open: Silence | None = None
        self._closed: list[Silence] = []

    def feed(self, start: float, samples: NDArray[np.float32], rate: int) -> None:
        """Add audio from a time on the clock; edges are found to the sample."""
        if not len(samples):
            return
        quiet = np.abs(samples) <= MAX_SILENCE_AMPLITUDE
        for first, last in _quiet_spans(quiet, max(1, round(SILENCE_FRAME_SECONDS * rate))):
            self._add(Silence(start + first / rate, start + last / rate), 0.5 / rate)
        self._settle(start + (len(samples) - 0.5) / rate)

    def feed_levels(self, start: float, peaks: NDArray[np.floating], frame: float) -> None:
        """Add peaks (1 is full scale) of frames of ``frame`` seconds from a time onwards."""
        for low, high in _true_runs(np.asarray(peaks) <= MAX_SILENCE_AMPLITUDE):
            self._add(Silence(start + low * frame, start + high * frame), frame / 2)
        self._settle(start + (len(peaks) - 0.5) * frame)

    def _add(self, silence: Silence, slack: float) -> None:
        """Add a silence, joined to the last one if it continues it."""
        last = self._open
        if last is not None and silence.start - last.end <= slack:
            silence = Silence(last.start, silence.end)
        elif last is not None:
            self._close(last)
        self._open = silence

    def _settle(self, time: float) -> None:
        """Close silences that ended before this time."""
        if self._open is not None and self._open.end < time:
            self._close(self._open)
            self._open = None

    def _close(self, silence: Silence) -> None:
        if abs(silence.end - silence.start - self.gap) <= MARK_LENGTH_TOLERANCE_SECONDS:
            self._closed.append(silence)

    @property
    def candidates(self) -> tuple[Silence, ...]:
        """Return all silences of the right length that have ended."""
        return tuple(self._closed)

    def marks(self) -> tuple[Silence, ...]:
        """Return the silences that mark hours: the longest series at multiples of an hour of sound.

        A series with another, even spacing is used only if it is longer.
        """
        self._settle(float("inf"))
        hourly = _find_spaced_silences(self._closed, self.hour + self.gap, self.hour)
        hour = self.learn_hour()
        evenly_spaced = (
            () if hour is None else _find_spaced_silences(self._closed, hour + self.gap, hour)
        )
        return max(hourly, evenly_spaced, key=len)

    def learn_hour(self) -> float | None:
        """Return the length of an hour, from silences that have ended."""
        return find_spacing([silence.start for silence in self._closed], self.gap)


def _true_runs(values: Bools) -> list[list[int]]:
    """Return the start and end of each run of true values."""
    padded = np.concatenate([[False], values, [False]])
    runs: list[list[int]] = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2).tolist()
    return runs


def _quiet_spans(quiet: Bools, size: int) -> list[tuple[int, int]]:
    """Return quiet spans: runs of quiet frames, and quiet samples at both ends."""
    count = len(quiet)
    spans = [(0, _count_quiet_end(quiet[::-1]))]
    for low, high in _true_runs(np.logical_and.reduceat(quiet, np.arange(0, count, size))):
        first, last = low * size, min(high * size, count)
        first -= _count_quiet_end(quiet[max(0, first - size) : first])
        last += _count_quiet_end(quiet[last : last + size][::-1])
        spans.append((first, last))
    spans.append((count - _count_quiet_end(quiet), count))
    return [span for span in spans if span[1] > span[0]]


def _count_quiet_end(quiet: Bools) -> int:
    """Return the number of true values at the end."""
    loud = np.flatnonzero(~quiet)
    return len(quiet) - 1 - int(loud[-1]) if len(loud) else len(quiet)


def _find_spaced_silences(
    silences: Sequence[Silence], step: float, hour: float
) -> tuple[Silence, ...]:
    """Return the largest set of silences whose neighbours are whole numbers of steps apart.

    A single silence marks an hour only if it lies one hour of sound after the start.
    """
    rows: list[list[Silence]] = []
    for silence in silences:
        before = []
        for row in rows:
            apart = silence.start - row[-1].start
            count = round(apart / step)
            if count >= 1 and abs(apart - count * step) <= HOUR_TOLERANCE_SECONDS * count:
                before.append(row)
        rows.append([*max(before, key=len, default=[]), silence])
    best = max(rows, key=len, default=[])
    if len(best) == 1:
        best = [
            silence for silence in silences if abs(silence.start - hour) <= HOUR_TOLERANCE_SECONDS
        ][:1]
    return tuple(best)


def remove_marks(recording: Recording, marks: Sequence[Silence], *, gap: float = 0.0) -> Recording:
    """Return the recording without the silences that mark hours; the clock closes the gaps.

    If ``gap`` is given and there are no marks, a note is added.
    """
    if not marks:
        note = f"no hour marks (silences of {gap:g} s) were found"
        return replace(recording, notes=(*recording.notes, note)) if gap else recording
    stretches = [
        replace(piece, start=piece.start - _mark_seconds_before(piece.start, marks))
        for stretch in recording.stretches
        for piece in _split_at_marks(stretch, marks)
    ]
    total = recording.seconds - _mark_seconds_before(recording.seconds, marks)
    return replace(
        recording,
        stretches=tuple(stretches),
        seconds=max((stretch.end for stretch in stretches), default=total),
        damages=tuple(
            replace(damage, start=damage.start - _mark_seconds_before(damage.start, marks))
            for damage in recording.damages
        ),
    )


def _split_at_marks(stretch: Stretch, marks: Sequence[Silence]) -> list[Stretch]:
    """Return what a stretch has before, between and after marks, not yet shifted."""
    pieces, start = [], stretch.start
    for low, high in [*marks, (stretch.end, stretch.end)]:
        end = min(max(low, start), stretch.end)
        if end > start:
            at = stretch.at + start - stretch.start
            pieces.append(Stretch(stretch.path, at, start, end - start))
        start = max(start, high)
    return pieces


def _mark_seconds_before(time: float, marks: Sequence[Silence]) -> float:
    """Return the seconds of marks before a time."""
    count = bisect_right(marks, (time, time))
    total = sum(mark.end - mark.start for mark in marks[:count])
    return total - max(0.0, marks[count - 1].end - time) if count else total


# --- Hour marks from few reads -------------------------------------------------------------------
# The first two hours are read. Each silence of the right length in them may be a mark: if so, there
# are others at multiples of an hour of sound, and only these positions are read. So reading
# an hour is usually enough for a day. If no silence is a mark, hours may be short: then silences
# are evenly spaced. The clock is correct as soon as the recording is opened.


SEARCH_MARGIN_SECONDS = 2.0  # read on both sides of a silence
MIN_MARKED_SHARE = 0.5  # of the expected positions must have a mark


def remove_hour_marks(recording: Recording, gap: float, *, hour: float = HOUR_SECONDS) -> Recording:
    """Return the recording without hour marks of ``gap`` seconds; adds a note if there are none."""
    return remove_marks(recording, find_hour_marks(recording, gap, hour=hour), gap=gap)


def find_hour_marks(
    recording: Recording, gap: float, *, hour: float = HOUR_SECONDS
) -> tuple[Silence, ...]:
    """Return hour marks; none unless one is in the first two hours and half of the rest follow."""
    marks, tried_count = HourMarks(gap, hour=hour), 0
    reach = 2 * (hour + gap) + gap + SEARCH_MARGIN_SECONDS
    for time, chunk in read_recording(recording, seconds=reach):
        marks.feed(time, chunk.samples, recording.rate)
        for silence in marks.candidates[tried_count:]:
            tried_count += 1
            if row := _follow_hourly_silences(recording, silence, gap, hour):
                return row
    short_hour = marks.learn_hour()
    rows = (
        _follow_hourly_silences(recording, silence, gap, short_hour)
        for silence in marks.candidates
        if short_hour is not None
    )
    return next(filter(None, rows), ())


def _follow_hourly_silences(
    recording: Recording, first: Silence, gap: float, hour: float
) -> tuple[Silence, ...]:
    """Return a silence and those whole hours after it, if it is a mark."""
    row, step = [first], hour + gap
    tried_places, place = 0, first.start + step
    while place + gap + SEARCH_MARGIN_SECONDS < recording.seconds:
        tried_places += 1
        silence = _find_silence_near(recording, place, gap, hour)
        row += [silence] if silence else []
        place = (silence.start if silence else place) + step
    if tried_places:
        return tuple(row) if len(row) - 1 >= MIN_MARKED_SHARE * tried_places else ()
    return tuple(row) if abs(first.start - hour) <= HOUR_TOLERANCE_SECONDS else ()


def _find_silence_near(
    recording: Recording, place: float, gap: float, hour: float
) -> Silence | None:
    """Return a silence of the right length that starts near a time."""
    marks, slack = HourMarks(gap, hour=hour), HOUR_TOLERANCE_SECONDS + SEARCH_MARGIN_SECONDS
    window = read_recording(recording, start=place - slack, seconds=gap + 2 * slack)
    for time, chunk in window:
        marks.feed(time, chunk.samples, recording.rate)
    return next(
        (
            candidate
            for candidate in marks.candidates
            if abs(candidate.start - place) <= HOUR_TOLERANCE_SECONDS
        ),
        None,
    )
