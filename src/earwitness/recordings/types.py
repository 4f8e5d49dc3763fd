"""Recording, Stretch and Damage: a long recording on one clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


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
