"""Pick, Skim, the result of a skim, and trade-off curves over z.

All times are in seconds on the clock of the recording, which starts at 0 when the recording starts.
Gaps count; silences that only mark hours do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.core import Estimate, Estimates
from earwitness.errors import Problem
from earwitness.recordings.types import Recording
from earwitness.report.result import Result


@dataclass(frozen=True, slots=True)
class SoundClass:
    """A named class of a tagger, and its score from 0 to 1."""

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Pick:
    """A block of a recording in a skim, and why it was chosen.

    ``turned``: played backwards. ``classes`` are the highest named sound classes, highest first;
    ``gain`` is applied to its samples, in dB.
    """

    start: float
    seconds: float
    turned: bool = False
    why: Mapping[str, str | float] = field(default_factory=dict)
    classes: tuple[SoundClass, ...] = ()
    gain: float = 0.0

    @property
    def class_names(self) -> str:
        """Names of the classes, separated by semicolons."""
        return "; ".join(class_.name for class_ in self.classes)


@dataclass(frozen=True, slots=True)
class Skim:
    """Picks in playing order; each overlaps the next by ``overlap`` seconds."""

    picks: tuple[Pick, ...]
    overlap: float = 0.0

    @property
    def seconds(self) -> float:
        """Duration in seconds."""
        whole = sum(pick.seconds for pick in self.picks)
        return whole - self.overlap * max(0, len(self.picks) - 1)


@dataclass(frozen=True, slots=True)
class SkimResult:
    """A skim of a recording, its settings and its measures (tc, sd, coverage, terms)."""

    recording: Recording
    method: str
    z: float | None
    skim: Skim
    measures: Mapping[str, float]
    signature: str
    notes: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """Name of the method, with z if the method uses z."""
        return self.method if self.z is None else f"{self.method}-z{self.z:g}"


@dataclass(frozen=True, slots=True)
class Dial:
    """The method and z of a skim; z is NaN if it is invalid."""

    method: str
    z: float


@dataclass(frozen=True, slots=True)
class TradeoffCurve:
    """Skims of one method over z: area of SD against TC, and correlations of both with z."""

    recording: str
    method: str
    area: float
    tc_with_z: float
    sd_with_z: float
    n: int


@dataclass(frozen=True, slots=True, repr=False)
class SkimRun(Result):
    """All skims of a run, baselines and trade-off curves.

    Baselines are keyed by recording, name and number of picks, which is that of the skims.
    ``written`` are the files that were written, ``kept`` the skims that already existed, and
    ``skipped`` the problems of recordings and files that were left out.
    """

    skims: tuple[SkimResult, ...]
    baselines: Mapping[tuple[str, str, int], Mapping[str, Estimate]]
    courses: tuple[TradeoffCurve, ...]
    written: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    skipped: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class TradeoffPoint:
    """Means of TC and SD at one z, over the items that have an area."""

    z: float
    tc: Estimate
    sd: Estimate


@dataclass(frozen=True, slots=True)
class MeanTradeoffCurve:
    """Mean trade-off curve of a method: means of ``area``, ``tc_with_z`` and ``sd_with_z``.

    ``family`` is the signature of the metric. Items with fewer than three values of z, or with a
    duplicate z, are undefined.
    """

    family: str
    method: str
    estimates: Estimates
    points: tuple[TradeoffPoint, ...]
