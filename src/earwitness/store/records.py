"""Record types of the database."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from earwitness.core import Answer


class ParticipationState(StrEnum):
    """State of a listener."""

    OPEN = "open"  # free place that anyone with the open link may claim
    INVITED = "invited"  # has a personal link, has not started
    JOINED = "joined"
    BLOCKED = "blocked"  # returned mid-session where that is not allowed
    EXCUSED = "excused"  # may return once
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"
    INELIGIBLE = "ineligible"  # may not take part
    LAPSED = "lapsed"  # was idle, and another person has taken the place


ENDED_STATES = (  # nothing is stored any more
    ParticipationState.WITHDRAWN,
    ParticipationState.INELIGIBLE,
    ParticipationState.LAPSED,
)


class PlaceRefusal(StrEnum):
    """Reason why a person gets no place at the open link."""

    FULL = "full"  # all places are taken
    STARTED = "started"  # somebody has already taken a place with the same external id


class AnswerOutcome(StrEnum):
    """Outcome of storing an answer; in no case need it be sent again."""

    STORED = "stored"
    KNOWN = "known"  # the same answer was stored before
    TAKEN = "taken"  # another answer came first, and counts
    WITHDRAWN = "withdrawn"  # the listener has withdrawn, was replaced or blocked; not stored
    EARLY = "early"  # the previous page has no answer that counts
    ASIDE = "aside"  # the same answer was stored before and set aside; the page is asked again


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener, or a number that is still free; ``study`` is a digest.

    ``token`` is the secret part of the personal link; ``outside`` is the id in another service that
    the person claims to have, and ``repeats`` how often others claimed the same id. Times are
    server times, or None. After another person has taken the place, ``former`` is the number that
    the listener had, and ``number`` is negative.
    """

    study: str
    number: int
    token: str = field(repr=False)
    outside: str | None
    state: ParticipationState
    joined: str | None
    finished: str | None
    withdrawn: str | None
    code: str | None
    former: int | None = None
    repeats: int = 0

    @property
    def plan_number(self) -> int:
        """Number in the design of the study, also after the place was given to another person."""
        return self.number if self.former is None else self.former


@dataclass(frozen=True, slots=True)
class SubmittedAnswer:
    """An answer as it was submitted; ``id`` was created by the sender.

    ``received`` is the server's time; ``supersedes`` is the id of the answer that this corrects.
    ``meta`` is metadata, such as how often sounds were played. A row with ``aside`` is not an
    answer: it sets aside the answer that it supersedes.
    """

    id: str
    answer: Answer
    received: str
    supersedes: str | None
    meta: Mapping[str, Any] | None = None
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """A listener and all pages that they have answered, each with the server's time."""

    listener: Listener
    pages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PageEvent:
    """An event on a page, such as playback of a sound; ``at`` is the browser's time.

    ``id`` was created by the sender, as with answers.
    """

    id: str
    page: str
    what: str
    details: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""


@dataclass(frozen=True, slots=True)
class FinishReceipt:
    """Unanswered pages or, if there are none, the completion code."""

    missing: tuple[str, ...]
    code: str | None


@dataclass(frozen=True, slots=True)
class ListenerStatus:
    """Progress of a listener: answered pages, corrections, events and last activity.

    ``unheard`` is the number of answers to sounds that cannot have been heard.
    """

    listener: Listener
    answers: int
    corrections: int
    events: int
    last: str | None
    unheard: int = 0


@dataclass(frozen=True, slots=True)
class OtherStudy:
    """Another study in the same database: its listeners, answers that count, last activity."""

    digest: str
    title: str
    listeners: int
    answers: int
    last: str | None


# --- Clock ---------------------------------------------------------------------------------------


def _steady_seconds() -> float:
    """Return seconds that only ever grow, on Linux also while the machine sleeps."""
    if sys.platform == "linux":
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()


class ServerClock:
    """Time of this process: the system's time at its start, and the seconds since.

    So if the system's clock is set, neither a rest nor an idle time gets longer or shorter.

    Parameters
    ----------
    system
        Time of the system's clock in seconds since 1970, read once.
    steady
        Seconds that only ever grow.
    """

    def __init__(
        self,
        system: Callable[[], float] = time.time,
        steady: Callable[[], float] = _steady_seconds,
    ) -> None:
        self._steady, self._offset = steady, system() - steady()

    def now(self) -> datetime:
        """Return the time."""
        return datetime.fromtimestamp(self._offset + self._steady(), UTC)

    def reach(self, time: datetime) -> float:
        """Advance to a time if it is later, such as a stored one; return by how many seconds."""
        seconds = (time - self.now()).total_seconds()
        offset = time.timestamp() - self._steady()
        self._offset = max(self._offset, offset)  # the same if several threads do this
        return max(0.0, seconds)


SERVER_CLOCK = ServerClock()


def server_time(hours_ago: float = 0) -> str:
    """Return the time of the server, or an earlier one, as sortable text."""
    return (SERVER_CLOCK.now() - timedelta(hours=hours_ago)).isoformat(timespec="milliseconds")
