"""Evidence for screening: plays, devices, known answers, times on task and repeated votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from earwitness.core import Key
from earwitness.ratings.records import Who

GOLD_ROLE, TRAP_ROLE, REPEAT_ROLE = "gold", "trap", "repeat"  # of inserted trials
MIN_HIT_SHARE = 0.8  # share of right rounds to pass a test of a device: 5 of 6
DeviceHits = Mapping[str, tuple[int, int]]  # right rounds and all rounds of each check


class PlaybackCounts(NamedTuple):
    """Number of sounds not played to the end, out of all that a listener had to hear.

    ``marked`` is how many of them were reported as played, but cannot have been.
    """

    unheard: int
    all: int
    unknown: int = 0  # answers without a record of plays
    marked: int = 0


class CheckAnswer(NamedTuple):
    """Answer to a clip with a known answer, on one scale."""

    role: str
    value: float
    expected: float


class TrialTime(NamedTuple):
    """Seconds until a trial was answered, and seconds of its sounds, heard as often as asked."""

    seconds: float
    sound_seconds: float


@dataclass(frozen=True)
class TaskTimes:
    """Times of the trials of one listener, and minutes from the first to the last answer."""

    trials: tuple[TrialTime, ...]
    minutes: float


@dataclass(frozen=True, slots=True)
class RepeatedVote:
    """Repeated votes of one listener on one stimulus and scale, and the vote used."""

    key: Key
    scale: str
    listener: Who
    values: tuple[float, ...]
    counted: float


@dataclass(frozen=True)
class QualityEvidence:
    """What screening rules on quality control need, by listener.

    ``checks`` are answers to gold and trapping clips, ``times`` those of trials, ``repeats`` the
    votes of listeners who rated a stimulus more than once, and ``thresholds`` the speech reception
    thresholds of the hearing test, in dB.
    """

    checks: Mapping[Who, Sequence[CheckAnswer]] = field(default_factory=dict)
    times: Mapping[Who, TaskTimes] = field(default_factory=dict)
    repeats: Sequence[RepeatedVote] = ()
    thresholds: Mapping[Who, float] = field(default_factory=dict)

    def answers(self, role: str) -> dict[Who, list[CheckAnswer]]:
        """Return the answers to clips with a role, of listeners who have any."""
        found = {
            who: [answer for answer in answers if answer.role == role]
            for who, answers in self.checks.items()
        }
        return {who: answers for who, answers in found.items() if answers}


@dataclass(frozen=True)
class ScreeningEvidence:
    """What rules judge besides ratings.

    ``reference`` and ``anchor`` are the hidden reference and the middle anchor of MUSHRA; plays and
    hits in device checks are by listener.
    """

    reference: str = ""
    anchor: str = ""
    plays: Mapping[Who, PlaybackCounts] = field(default_factory=dict)
    devices: Mapping[Who, DeviceHits] = field(default_factory=dict)
    quality: QualityEvidence = field(default_factory=QualityEvidence)
