"""Record types of the database."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
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


class AnswerOutcome(StrEnum):
    """Outcome of storing an answer; in no case need it be sent again."""

    STORED = "stored"
    KNOWN = "known"  # the same answer was stored before
    TAKEN = "taken"  # another answer came first, and counts
    WITHDRAWN = "withdrawn"  # the listener has withdrawn; nothing is stored
    EARLY = "early"  # the previous page has no answer that counts
    ASIDE = "aside"  # the same answer was stored before and set aside; the page is asked again


@dataclass(frozen=True, slots=True)
class Listener:
    """A listener, or a number that is still free; ``study`` is a digest.

    ``token`` is the secret part of the personal link; ``outside`` is the person's id in another
    service. Times are server times, or None.
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
    """Progress of a listener: answered pages, corrections, events and last activity."""

    listener: Listener
    answers: int
    corrections: int
    events: int
    last: str | None


@dataclass(frozen=True, slots=True)
class OtherStudy:
    """Another study in the same database: its listeners, answers that count, last activity."""

    digest: str
    title: str
    listeners: int
    answers: int
    last: str | None


def server_time() -> str:
    """Return the time of the server as sortable text."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
