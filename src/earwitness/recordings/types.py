"""Recording, Stretch and Damage: a long recording on one clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True)
class Stretch:
    """A passage without a gap: ``seconds`` of a file from the position ``at``."""

    path: str
    at: float
    start: float
    seconds: float

    @property
    def end(self) -> float:
        """End on the clock of the recording."""
        return self.start + self.seconds


@dataclass(frozen=True, slots=True)
class Damage:
    """A damaged passage: file, position in it, time on the clock, and what is wrong."""

    path: str
    at: float
    start: float
    message: str


@dataclass(frozen=True, slots=True)
class Recording:
    """Stretches in chronological order, without overlaps.

    ``seconds`` is the time from the start of the first to the end of the last, including gaps.
    ``began`` is the start time, with a time zone if it is known.
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
        """Return the date and time of day at a time, in the recording's time zone."""
        if self.began is None:
            return None
        if self.began.tzinfo is None:
            return self.began + timedelta(seconds=time)
        moment = self.began.timestamp() + time
        return datetime.fromtimestamp(moment, self.began.tzinfo)

    def find(self, time: float) -> Stretch | None:
        """Return the stretch that contains a time, or None."""

        return next(
            (stretch for stretch in self.stretches if stretch.start <= time < stretch.end), None
        )
