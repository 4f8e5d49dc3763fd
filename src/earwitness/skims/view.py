"""SkimView: the contents of the page and the picture of a skim, reasons in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from earwitness.recordings.types import Recording
from earwitness.report.numbers import clock
from earwitness.skims.types import Pick, Skim

Levels = NDArray[np.uint8]
ColumnMask = NDArray[np.bool_]
DAY_SECONDS = 86_400.0
BRIEF_SPAN_SECONDS = 120.0  # seconds below which both ends are told to the second
REASON_TEXTS = {  # reasons that a number says
    "scarcity": "scarcity {:.2g}",
    "cluster": "the middle of {:.0f} alike",
}


@dataclass(frozen=True, slots=True)
class Spectrogram:
    """Levels of a whole recording: a row a band from low to high, a column a part of the time.

    Bands are evenly spaced in mel from ``low`` to ``high`` Hz, columns evenly in time. Nothing was
    recorded in columns that are ``missing``.
    """

    levels: Levels
    missing: ColumnMask
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SkimMeasure:
    """A number about a skim, and what it is."""

    name: str
    value: float
    doc: str = ""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Temporal consistency and source diversity of the skim for one z."""

    z: float
    tc: float
    sd: float


@dataclass(frozen=True, slots=True)
class SkimView:
    """A skim with its recording, its sound, what was measured, and how it was made.

    ``curve`` has the skims for several z; ``z`` is that of this skim, if it has one.
    """

    recording: Recording
    skim: Skim
    spectrogram: Spectrogram
    audio: bytes = b""
    mime: str = "audio/flac"
    measures: tuple[SkimMeasure, ...] = ()
    curve: tuple[CurvePoint, ...] = ()
    z: float | None = None
    provenance: tuple[str, ...] = ()

    @property
    def has_dates(self) -> bool:
        """Whether the time of day alone does not say when something was."""
        began, end = self.recording.began, self.recording.clock(self.recording.seconds)
        return began is not None and end is not None and self.recording.seconds > DAY_SECONDS

    @property
    def missing(self) -> float:
        """Seconds that nobody recorded, or nobody can read."""
        recording = self.recording
        return recording.seconds - sum(stretch.seconds for stretch in recording.stretches)


def format_day(moment: datetime) -> str:
    """A day in words.

    >>> format_day(datetime(2025, 7, 2))
    '2 July 2025'
    """
    return f"{moment.day} {moment:%B %Y}"


def format_time(recording: Recording, start: float, form: str = "%H:%M:%S") -> str:
    """The time of day, or how long after the start it is where nobody knows the hour."""
    moment = recording.clock(start)
    return clock(start) if moment is None else f"{moment:{form}}"


def format_duration(seconds: float) -> str:
    """How long something is.

    >>> [format_duration(seconds) for seconds in (63, 5400, 86_400, 604_800)]
    ['63 s', '1 h 30 min', '24 h', '7 days']
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds >= 2 * DAY_SECONDS:
        days, hours = divmod(round(seconds / 3_600), 24)
        return f"{days} days" + f" {hours} h" * (hours > 0)
    minutes = round(seconds / 60)
    parts = [f"{minutes // 60} h" * (minutes >= 60), f"{minutes % 60} min" * (minutes % 60 > 0)]
    return " ".join(part for part in parts if part)


def describe_reasons(pick: Pick, recording: Recording) -> list[str]:
    """Why a pick is there, in words; reasons that are not known here are told as they are."""
    remaining = dict(pick.why)
    first, last = remaining.pop("from", None), remaining.pop("to", None)
    texts = []
    if isinstance(first, float | int) and isinstance(last, float | int):
        whole = _format_span(recording, float(first), float(last)) if last > first else "itself"
        texts.append(f"stands for {whole}")
    share = remaining.pop("brings", None)
    if isinstance(share, float | int):
        texts.append(_coverage_sentence(float(share)))
    period = remaining.pop("period", None)
    if isinstance(period, float | int):
        texts.append(f"from the period at {format_time(recording, float(period), '%H:%M')}")
    return texts + _describe_others(remaining)


def _format_span(recording: Recording, first: float, last: float) -> str:
    """From when to when, with seconds if it is short; with dates if it is more than one, and does
    not end with its day."""
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


def _coverage_sentence(share: float) -> str:
    if share < 0.0005:
        return "brings nothing of its own"
    return f"brings {100 * share:.1f} % of all classes of sound, which no other pick does"


def _describe_others(reasons: Mapping[str, str | float]) -> list[str]:
    texts = []
    for name, value in reasons.items():
        if isinstance(value, str):
            texts.append(f"{name}: {value}" if value else name)
        else:
            texts.append(REASON_TEXTS.get(name, f"{name} {{:.3g}}").format(value))
    return texts
