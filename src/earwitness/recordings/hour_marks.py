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
from earwitness.recordings.types import Damage, Recording, Stretch

# --- Spacing of hour marks -----------------------------------------------------------------------


HOUR_TOLERANCE_SECONDS = 1.0  # seconds by which an hour may be off, each time
MIN_EVEN_SHARE = 2 / 3  # share of the steps that are alike


def find_spacing(starts: Sequence[float], gap: float) -> float | None:
    """Seconds of sound between evenly spaced silences; None if there is no such spacing.

    The recording itself begins an hour before the first of them, if it begins with an hour: so two
    silences are enough, and else three.

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
    even_steps = [one for one in steps if abs(one - step) <= HOUR_TOLERANCE_SECONDS]
    if len(even_steps) < MIN_EVEN_SHARE * len(steps) or step <= 2 * gap:
        return None
    return sum(even_steps) / len(even_steps) - gap


# --- Silences between hours ----------------------------------------------------------------------
# Some recordings of a day are 24 files of an hour in a row, with a few seconds of silence between
# them. That silence is no sound of the place: it is no block to pick, and each of them would move
# the clock. A silence marks an hour if it is as long as was said (within 0.3 s), and if others lie
# whole hours of sound from it; one that lies elsewhere is sound like any other. Made days may have
# short hours: where more silences are evenly spaced than lie whole hours apart, these are the
# marks.
#
# The levels of short frames are all that is needed, so any pass through the files can feed them::
#
#     marks = HourMarks(5.0)
#     for stretch in recording.stretches:
#         for chunk in read_blocks(Path(stretch.path), at=stretch.at, seconds=stretch.seconds):
#             marks.feed(stretch.start + chunk.position - stretch.at, chunk.samples, recording.rate)
#     recording = remove_marks(recording, marks.marks(), gap=5.0)


HOUR_SECONDS = 3600.0
SILENCE_FRAME_SECONDS = 0.02
# the loudest sample that still is silence: coding leaves a little
MAX_SILENCE_AMPLITUDE = 10 ** (-75 / 20)
MARK_LENGTH_TOLERANCE_SECONDS = 0.3  # seconds by which a silence may be longer or shorter


class Silence(NamedTuple):
    """From when to when there is none, on the clock."""

    start: float
    end: float


class HourMarks:
    """Silences of a length, from sound or from the levels of frames, fed in the order of time."""

    def __init__(self, gap: float, *, hour: float = HOUR_SECONDS) -> None:
        if gap <= MARK_LENGTH_TOLERANCE_SECONDS:
            raise UsageError(
                f"a silence that marks hours must be longer than {MARK_LENGTH_TOLERANCE_SECONDS} s"
            )
        self.gap, self.hour = gap, hour
        self._open: Silence | None = None
        self._closed: list[Silence] = []

    def feed(self, start: float, samples: NDArray[np.float32], rate: int) -> None:
        """Sound from a time on the clock on; edges are found to the sample."""
        if not len(samples):
            return
        quiet = np.abs(samples) <= MAX_SILENCE_AMPLITUDE
        for first, last in _quiet_spans(quiet, max(1, round(SILENCE_FRAME_SECONDS * rate))):
            self._add(Silence(start + first / rate, start + last / rate), 0.5 / rate)
        self._settle(start + (len(samples) - 0.5) / rate)

    def feed_levels(self, start: float, peaks: NDArray[np.floating], frame: float) -> None:
        """Peaks (1 is full scale) of frames of so many seconds from a time on."""
        for low, high in _true_runs(np.asarray(peaks) <= MAX_SILENCE_AMPLITUDE):
            self._add(Silence(start + low * frame, start + high * frame), frame / 2)
        self._settle(start + (len(peaks) - 0.5) * frame)

    def _add(self, silence: Silence, slack: float) -> None:
        """Joined to the last one, if it goes on from there."""
        last = self._open
        if last is not None and silence.start - last.end <= slack:
            silence = Silence(last.start, silence.end)
        elif last is not None:
            self._close(last)
        self._open = silence

    def _settle(self, time: float) -> None:
        """Sound was there by now: what was silent before has ended."""
        if self._open is not None and self._open.end < time:
            self._close(self._open)
            self._open = None

    def _close(self, silence: Silence) -> None:
        if abs(silence.end - silence.start - self.gap) <= MARK_LENGTH_TOLERANCE_SECONDS:
            self._closed.append(silence)

    @property
    def candidates(self) -> tuple[Silence, ...]:
        """All of the right length that have ended, wherever they lie."""
        return tuple(self._closed)

    def marks(self) -> tuple[Silence, ...]:
        """Those that mark hours, in order: the longest row of them at whole hours of sound.

        Of hours of another length, which even spacing tells, the row must be longer.
        """
        self._settle(float("inf"))
        hourly = _find_spaced_silences(self._closed, self.hour + self.gap, self.hour)
        hour = self.learn_hour()
        evenly_spaced = (
            () if hour is None else _find_spaced_silences(self._closed, hour + self.gap, hour)
        )
        return max(hourly, evenly_spaced, key=len)

    def learn_hour(self) -> float | None:
        """How long hours are, by silences that have ended."""
        return find_spacing([one.start for one in self._closed], self.gap)


def _true_runs(values: NDArray[np.bool_]) -> list[list[int]]:
    """From where to where values are true."""
    padded = np.concatenate([[False], values, [False]])
    runs: list[list[int]] = np.flatnonzero(padded[1:] != padded[:-1]).reshape(-1, 2).tolist()
    return runs


def _quiet_spans(quiet: NDArray[np.bool_], size: int) -> list[tuple[int, int]]:
    """Where whole frames are quiet, with what is around them; and both ends, however short."""
    count = len(quiet)
    spans = [(0, _count_quiet_end(quiet[::-1]))]
    for low, high in _true_runs(np.logical_and.reduceat(quiet, np.arange(0, count, size))):
        first, last = low * size, min(high * size, count)
        first -= _count_quiet_end(quiet[max(0, first - size) : first])
        last += _count_quiet_end(quiet[last : last + size][::-1])
        spans.append((first, last))
    spans.append((count - _count_quiet_end(quiet), count))
    return [span for span in spans if span[1] > span[0]]


def _count_quiet_end(quiet: NDArray[np.bool_]) -> int:
    """How many of the last are true without a break."""
    loud = np.flatnonzero(~quiet)
    return len(quiet) - 1 - int(loud[-1]) if len(loud) else len(quiet)


def _find_spaced_silences(
    silences: Sequence[Silence], step: float, hour: float
) -> tuple[Silence, ...]:
    """The largest set of silences of which neighbours lie a whole number of steps apart.

    One alone marks an hour only if it lies an hour of sound behind the start.
    """
    rows: list[list[Silence]] = []
    for silence in silences:
        before = [row for row in rows if _is_whole_steps(row[-1].start, silence.start, step)]
        rows.append([*max(before, key=len, default=[]), silence])
    best = max(rows, key=len, default=[])
    if len(best) == 1:
        best = [
            silence for silence in silences if abs(silence.start - hour) <= HOUR_TOLERANCE_SECONDS
        ][:1]
    return tuple(best)


def _is_whole_steps(first: float, second: float, step: float) -> bool:
    """Whether a whole number of steps lies between two times, one at least."""
    count = round((second - first) / step)
    return count >= 1 and abs(second - first - count * step) <= HOUR_TOLERANCE_SECONDS * count


def remove_marks(recording: Recording, marks: Sequence[Silence], *, gap: float = 0.0) -> Recording:
    """The recording without silences that mark hours: what they parted joins on the clock.

    If there are none although a gap was asked for, a note says so.
    """
    if not marks:
        note = f"no silences of {gap:g} s were found that mark hours"
        return replace(recording, notes=(*recording.notes, note)) if gap else recording
    pieces = [piece for stretch in recording.stretches for piece in _split_at_marks(stretch, marks)]
    stretches = [
        replace(piece, start=piece.start - _mark_seconds_before(piece.start, marks))
        for piece in pieces
    ]
    total = recording.seconds - _mark_seconds_before(recording.seconds, marks)
    return replace(
        recording,
        stretches=tuple(stretches),
        seconds=max((stretch.end for stretch in stretches), default=total),
        damages=tuple(_move_damage(damage, marks) for damage in recording.damages),
    )


def _split_at_marks(stretch: Stretch, marks: Sequence[Silence]) -> list[Stretch]:
    """What a stretch has before, between and behind marks, not yet moved."""
    pieces, start = [], stretch.start
    for low, high in [*marks, (stretch.end, stretch.end)]:
        end = min(max(low, start), stretch.end)
        if end > start:
            at = stretch.at + start - stretch.start
            pieces.append(Stretch(stretch.path, at, start, end - start))
        start = max(start, high)
    return pieces


def _mark_seconds_before(time: float, marks: Sequence[Silence]) -> float:
    """Seconds of marks before a time."""
    count = bisect_right(marks, (time, time))
    total = sum(one.end - one.start for one in marks[:count])
    return total - max(0.0, marks[count - 1].end - time) if count else total


def _move_damage(damage: Damage, marks: Sequence[Silence]) -> Damage:
    return replace(damage, start=damage.start - _mark_seconds_before(damage.start, marks))


# --- Hour marks from few reads -------------------------------------------------------------------
# The first two hours are read. Each silence of the right length in them may be a mark: if it is,
# there are others at whole hours of sound behind it, and only these places are looked at. So a day
# costs an hour. If none is, hours may be short: then silences are evenly spaced. The clock is right
# as soon as the recording is there, whatever is then done with it.


SEARCH_MARGIN_SECONDS = 2.0  # seconds that are read on both sides of a silence
MIN_MARKED_SHARE = 0.5  # share of the places at which a mark must be


def remove_hour_marks(recording: Recording, gap: float, *, hour: float = HOUR_SECONDS) -> Recording:
    """The recording without its silences of ``gap`` seconds that mark hours; a note if none do."""
    return remove_marks(recording, find_hour_marks(recording, gap, hour=hour), gap=gap)


def find_hour_marks(
    recording: Recording, gap: float, *, hour: float = HOUR_SECONDS
) -> tuple[Silence, ...]:
    """Where they are; none unless one is in the first two hours and half of the others follow."""
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
    """A silence with those at whole hours behind it, if it is a mark."""
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
    """A silence of the right length that begins about there."""
    marks, slack = HourMarks(gap, hour=hour), HOUR_TOLERANCE_SECONDS + SEARCH_MARGIN_SECONDS
    window = read_recording(recording, start=place - slack, seconds=gap + 2 * slack)
    for time, chunk in window:
        marks.feed(time, chunk.samples, recording.rate)
    return next(
        (one for one in marks.candidates if abs(one.start - place) <= HOUR_TOLERANCE_SECONDS), None
    )
