"""Pick, Skim, the result of a skim, and trade-off curves over z.

All times are seconds on the clock of the recording, which starts when it began: time that nobody
recorded counts, silences that only mark hours do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.core import Estimate, Estimates
from earwitness.recordings.types import Recording


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
class SkimResult:
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
class TradeoffCurve:
    """Skims of one method with z from 0 to 1: area below SD over TC, and how both go with z."""

    recording: str
    method: str
    area: float
    tc_with_z: float
    sd_with_z: float
    n: int


@dataclass(frozen=True, slots=True)
class SkimRun:
    """All skims of a run, baselines beside them, and curves over z.

    Baselines are by recording, name and number of picks: they have as many as skims beside them.
    ``written`` are the files of skims that were made, ``kept`` the skims that were there already.
    """

    skims: tuple[SkimResult, ...]
    baselines: Mapping[tuple[str, str, int], Mapping[str, Estimate]]
    courses: tuple[TradeoffCurve, ...]
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TradeoffPoint:
    """Means of TC and SD at one z, over the items that have an area."""

    z: float
    tc: Estimate
    sd: Estimate


@dataclass(frozen=True, slots=True)
class MeanTradeoffCurve:
    """The courses of a method over all its items: means of ``area``, ``tc_with_z``, ``sd_with_z``.

    ``family`` is the signature of the metric that measured TC and SD. Items with fewer than three
    z, or with one of them twice, are undefined.
    """

    family: str
    method: str
    estimates: Estimates
    points: tuple[TradeoffPoint, ...]
