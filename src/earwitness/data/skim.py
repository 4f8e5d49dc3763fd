"""Recordings of a day and longer, and skims: the little of them that stands for the whole.

All times are seconds on the clock of the recording, which starts when it began: time that nobody
recorded counts, silences that only mark hours do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from earwitness.data.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Stretch:
    """Sound without a gap: so many seconds of a file from the position ``at`` on."""

    path: str
    at: float
    start: float
    seconds: float

    @property
    def end(self) -> float:
        """When it ends, on the clock of the recording."""
        return self.start + self.seconds


@dataclass(frozen=True, slots=True)
class Damage:
    """Where a file is broken: the position in it, the time on the clock, and what is wrong."""

    path: str
    at: float
    start: float
    message: str


@dataclass(frozen=True, slots=True)
class Recording:
    """Stretches in the order of time, none over another.

    ``seconds`` last from the begin of the first to the end of the last, with all that is missing
    between them. ``began`` is when that was, and knows its zone if anybody said it.
    """

    name: str
    stretches: tuple[Stretch, ...]
    seconds: float
    rate: int
    channels: int
    began: datetime | None = None
    damages: tuple[Damage, ...] = ()
    notes: tuple[str, ...] = ()

    def clock(self, time: float) -> datetime | None:
        """The date and time of day at a time, in the zone in which it began."""
        if self.began is None:
            return None
        if self.began.tzinfo is None:
            return self.began + timedelta(seconds=time)
        moment = self.began.timestamp() + time
        return datetime.fromtimestamp(moment, self.began.tzinfo)

    def find(self, time: float) -> Stretch | None:
        """The stretch that holds a time, if any does."""
        return next((one for one in self.stretches if one.start <= time < one.end), None)


@dataclass(frozen=True, slots=True)
class Pick:
    """A block of a recording that is in a skim, and why; ``turned`` is played backwards."""

    start: float
    seconds: float
    turned: bool = False
    why: Mapping[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Skim:
    """Picks in the order in which they are heard; each overlaps the next by so many seconds."""

    picks: tuple[Pick, ...]
    overlap: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it is."""
        whole = sum(pick.seconds for pick in self.picks)
        return whole - self.overlap * max(0, len(self.picks) - 1)


@dataclass(frozen=True, slots=True)
class Skimmed:
    """A skim of a recording: how it was made, and what was measured (tc, sd, coverage, terms)."""

    recording: Recording
    method: str
    z: float | None
    skim: Skim
    measures: Mapping[str, float]
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """The method, with z if that matters to it."""
        return self.method if self.z is None else f"{self.method}-z{self.z:g}"


@dataclass(frozen=True, slots=True)
class Dial:
    """How a skim was made: a method that goes from TC to SD, and z (NaN is one that is no z)."""

    method: str
    z: float


@dataclass(frozen=True, slots=True)
class Course:
    """Skims of one method with z from 0 to 1: area below SD over TC, and how both go with z."""

    recording: str
    method: str
    area: float
    tc_with_z: float
    sd_with_z: float
    n: int


@dataclass(frozen=True, slots=True)
class Skimming:
    """All skims of a run, baselines beside them, and curves over z.

    Baselines are by recording, name and number of picks: they have as many as skims beside them.
    ``written`` are the files of skims that were made, ``kept`` the skims that were there already.
    """

    skims: tuple[Skimmed, ...]
    baselines: Mapping[tuple[str, str, int], Mapping[str, Estimate]]
    courses: tuple[Course, ...]
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
