"""SkimView: contents of the page and the picture of a skim, duty cycles, and reasons as text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.recordings.types import Recording
from earwitness.report.numbers import clock
from earwitness.report.parts import Plane
from earwitness.skims.types import Pick, Skim

Levels = NDArray[np.uint8]
ColumnMask = NDArray[np.bool_]
DAY_SECONDS = 86_400.0
BRIEF_SPAN_SECONDS = 120.0  # shorter spans are shown with seconds
REASON_TEXTS = {  # reasons with a number
    "scarcity": "scarcity {:.2g}",
    "cluster": "most typical of {:.0f} similar blocks",
}


@dataclass(frozen=True, slots=True)
class Spectrogram:
    """Levels of a recording: one row per band, low to high, and one column per time step.

    Bands are evenly spaced in mel from ``low`` to ``high`` Hz, columns evenly in time. ``missing``
    marks columns in which nothing was recorded.
    """

    levels: Levels
    missing: ColumnMask
    low: float
    high: float


# --- Duty cycles ---------------------------------------------------------------------------------
# Recorders often record one minute in ten. A picture draws each part over the time up to the next
# one, since most of its columns would be empty otherwise; longer gaps stay empty.


MIN_CYCLE_PARTS = 6  # fewer parts have no cycle
MIN_REGULAR_SHARE = 0.8  # share of parts that follow the previous one after a cycle
CYCLE_TOLERANCE = 0.05  # share of a cycle by which its length may vary
MAX_RECORDED_SHARE = 0.9  # recordings with more are drawn as they are
MAX_JOINED_GAP_SECONDS = 1.0  # files with shorter gaps between them are one part


class RecordedPart(NamedTuple):
    """A part without gaps: start, duration, and the duration over which it is drawn."""

    start: float
    seconds: float
    drawn: float


@dataclass(frozen=True, slots=True)
class DutyCycle:
    """A recording in regular parts: ``recorded`` of every ``period`` seconds."""

    recorded: float
    period: float
    parts: tuple[RecordedPart, ...]

    def __str__(self) -> str:
        recorded, period = format_duration(self.recorded), format_duration(self.period)
        if self.recorded >= 60 and self.recorded % 60 == 0 and self.period < 3_600:
            recorded, period = f"{self.recorded / 60:.0f} min", f"{self.period / 60:g}"
        return f"{recorded} in {period}"

    def draw_time(self, time: float) -> float:
        """Return where on the time axis a recorded time is drawn."""
        for part in self.parts:
            if part.start <= time <= part.start + part.seconds:
                return part.start + (time - part.start) * part.drawn / part.seconds
        return time


def find_duty_cycle(recording: Recording) -> DutyCycle | None:
    """Return the duty cycle of a recording, or None if it has none.

    Parts have a cycle if there are at least six, four of five follow the previous one after the
    same time, and they fill at most 90 % of that time.
    """
    parts: list[tuple[float, float]] = []  # start and end
    for stretch in recording.stretches:
        if parts and stretch.start - parts[-1][1] <= MAX_JOINED_GAP_SECONDS:
            parts[-1] = (parts[-1][0], stretch.end)
        else:
            parts.append((stretch.start, stretch.end))
    if len(parts) < MIN_CYCLE_PARTS:
        return None
    steps = [later[0] - earlier[0] for earlier, later in pairwise(parts)]
    period, recorded = median(steps), median(end - start for start, end in parts)
    regular = sum(abs(step - period) <= CYCLE_TOLERANCE * period for step in steps)
    if regular < MIN_REGULAR_SHARE * len(steps) or recorded > MAX_RECORDED_SHARE * period:
        return None
    limits = [*(start for start, _ in parts[1:]), recording.seconds]
    drawn = (
        RecordedPart(start, end - start, max(end - start, min(period, limit - start)))
        for (start, end), limit in zip(parts, limits, strict=True)
    )
    return DutyCycle(recorded, period, tuple(drawn))


# --- Contents of a page --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkimMeasure:
    """A measure of a skim with its description."""

    name: str
    value: float
    doc: str = ""


@dataclass(frozen=True, slots=True)
class SkimView:
    """A skim with its recording, audio, measures and provenance.

    ``plane`` has all skims of the recording and the baselines; ``marked`` is the series and the
    name of the point of this skim.
    ``own_spectrogram`` is that of the skim itself, ``spectrogram`` that of the recording.
    """

    recording: Recording
    skim: Skim
    spectrogram: Spectrogram
    audio: bytes = b""
    mime: str = "audio/flac"
    measures: tuple[SkimMeasure, ...] = ()
    plane: Plane | None = None
    marked: tuple[str, str] | None = None
    provenance: tuple[str, ...] = ()
    own_spectrogram: Spectrogram | None = None

    @property
    def has_dates(self) -> bool:
        """Whether dates are needed in addition to times of day."""
        began, end = self.recording.began, self.recording.clock(self.recording.seconds)
        return began is not None and end is not None and self.recording.seconds > DAY_SECONDS

    @property
    def missing(self) -> float:
        """Seconds that were not recorded or cannot be read, apart from those of a duty cycle."""
        recording, cycle = self.recording, find_duty_cycle(self.recording)
        if cycle is not None:
            return recording.seconds - sum(part.drawn for part in cycle.parts)
        return recording.seconds - sum(stretch.seconds for stretch in recording.stretches)


# --- Texts ---------------------------------------------------------------------------------------


def format_day(moment: datetime) -> str:
    """Return a date as text.

    >>> format_day(datetime(2025, 7, 2))
    '2 July 2025'
    """
    return f"{moment.day} {moment:%B %Y}"


def format_time(recording: Recording, start: float, form: str = "%H:%M:%S") -> str:
    """Return the time of day, or the time since the start if the time of day is unknown."""
    moment = recording.clock(start)
    return clock(start) if moment is None else f"{moment:{form}}"


def format_duration(seconds: float) -> str:
    """Return a duration as text.

    >>> [format_duration(seconds) for seconds in (63, 5400, 86_400, 604_800)]
    ['63 s', '1 h 30 min', '24 h', '7 days']
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds >= 2 * DAY_SECONDS:
        days, hours = divmod(round(seconds / 3_600), 24)
        return f"{days} days" + (f" {hours} h" if hours > 0 else "")
    minutes = round(seconds / 60)
    parts = [
        f"{minutes // 60} h" if minutes >= 60 else "",
        f"{minutes % 60} min" if minutes % 60 > 0 else "",
    ]
    return " ".join(part for part in parts if part)


def describe_gain(pick: Pick) -> str:
    """Return the gain of a pick as text, empty if it has none.

    >>> describe_gain(Pick(0.0, 8.0, gain=-3.25))
    'level −3.2 dB'
    """
    return f"level {pick.gain:+.1f} dB".replace("-", "−") if pick.gain else ""


def describe_reasons(pick: Pick, recording: Recording) -> list[str]:
    """Return the reasons for a pick as text; unknown reasons are shown as name and value."""
    remaining = dict(pick.why)
    first, last = remaining.pop("from", None), remaining.pop("to", None)
    texts = []
    if isinstance(first, float | int) and isinstance(last, float | int):
        whole = _format_span(recording, first, last) if last > first else "itself"
        texts.append(f"represents {whole}")
    share = remaining.pop("brings", None)
    if isinstance(share, float | int):
        covered = f"{100 * share:.1f} % of the sound classes are covered only by this pick"
        texts.append(covered if share >= 0.0005 else "covers no sound class of its own")
    period = remaining.pop("period", None)
    if isinstance(period, float | int):
        texts.append(f"chosen from the period at {format_time(recording, period, '%H:%M')}")
    for name, value in remaining.items():
        if isinstance(value, str):
            texts.append(f"{name}: {value}" if value else name)
        else:
            texts.append(REASON_TEXTS.get(name, f"{name} {{:.3g}}").format(value))
    return texts


def _format_span(recording: Recording, first: float, last: float) -> str:
    """Return a time span, with seconds if it is short, and with dates if it spans several days
    of a recording longer than one day."""
    form = "%H:%M" if last - first >= BRIEF_SPAN_SECONDS else "%H:%M:%S"
    times = [format_time(recording, time, form) for time in (first, last)]
    begin, end = recording.clock(first), recording.clock(last - 1)
    if (
        begin is None
        or end is None
        or begin.date() == end.date()
        or recording.seconds <= DAY_SECONDS
    ):
        return "–".join(times)
    days = (f"{moment.day} {moment:%b}" for moment in (begin, recording.clock(last) or end))
    return " – ".join(f"{day}, {time}" for day, time in zip(days, times, strict=True))
