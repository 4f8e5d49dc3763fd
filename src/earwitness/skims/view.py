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
    made: tuple[str, ...] = ()

    @property
    def dated(self) -> bool:
        """Whether the time of day alone does not say when something was."""
        began, end = self.recording.began, self.recording.clock(self.recording.seconds)
        return began is not None and end is not None and self.recording.seconds > DAY_SECONDS

    @property
    def missing(self) -> float:
        """Seconds that nobody recorded, or nobody can read."""
        known = self.recording
        return known.seconds - sum(one.seconds for one in known.stretches)


def day_of(moment: datetime) -> str:
    """A day in words.

    >>> day_of(datetime(2025, 7, 2))
    '2 July 2025'
    """
    return f"{moment.day} {moment:%B %Y}"


def time_of(recording: Recording, start: float, form: str = "%H:%M:%S") -> str:
    """The time of day, or how long after the start it is where nobody knows the hour."""
    moment = recording.clock(start)
    return clock(start) if moment is None else f"{moment:{form}}"


def lasting(seconds: float) -> str:
    """How long something is.

    >>> lasting(63), lasting(5400), lasting(86_400), lasting(604_800)
    ('63 s', '1 h 30 min', '24 h', '7 days')
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    if seconds >= 2 * DAY_SECONDS:
        days, rest = divmod(round(seconds / 3_600), 24)
        return f"{days} days" + f" {rest} h" * (rest > 0)
    minutes = round(seconds / 60)
    parts = [f"{minutes // 60} h" * (minutes >= 60), f"{minutes % 60} min" * (minutes % 60 > 0)]
    return " ".join(part for part in parts if part)


def reasons(pick: Pick, recording: Recording) -> list[str]:
    """Why a pick is there, in words; reasons that are not known here are told as they are."""
    known = dict(pick.why)
    first, last = known.pop("from", None), known.pop("to", None)
    told = []
    if isinstance(first, float | int) and isinstance(last, float | int):
        whole = _span(recording, float(first), float(last)) if last > first else "itself"
        told.append(f"stands for {whole}")
    share = known.pop("brings", None)
    if isinstance(share, float | int):
        told.append(_brought(float(share)))
    period = known.pop("period", None)
    if isinstance(period, float | int):
        told.append(f"from the period at {time_of(recording, float(period), '%H:%M')}")
    return told + _others(known)


def _span(recording: Recording, first: float, last: float) -> str:
    """From when to when, with seconds if it is short; with dates if it is more than one, and does
    not end with its day."""
    form = "%H:%M" if last - first >= BRIEF_SPAN_SECONDS else "%H:%M:%S"
    times = [time_of(recording, time, form) for time in (first, last)]
    begin, end = recording.clock(first), recording.clock(last - 1)
    if (
        begin is None
        or end is None
        or begin.date() == end.date()
        or recording.seconds <= DAY_SECONDS
    ):
        return "–".join(times)
    days = (f"{one.day} {one:%b}" for one in (begin, recording.clock(last) or end))
    return " – ".join(f"{day}, {time}" for day, time in zip(days, times, strict=True))


def _brought(share: float) -> str:
    if share < 0.0005:
        return "brings nothing of its own"
    return f"brings {100 * share:.1f} % of all classes of sound, which no other pick does"


def _others(known: Mapping[str, str | float]) -> list[str]:
    told = []
    for name, value in known.items():
        if isinstance(value, str):
            told.append(f"{name}: {value}" if value else name)
        else:
            told.append(REASON_TEXTS.get(name, f"{name} {{:.3g}}").format(value))
    return told
