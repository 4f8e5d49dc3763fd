"""Record types that go into a store and come out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from earwitness.core import Answer


class ParticipationState(StrEnum):
    """How far a listener is."""

    OPEN = "open"  # whoever comes by the open link may have this number
    INVITED = "invited"  # has a link of their own, and did not come yet
    JOINED = "joined"
    BLOCKED = "blocked"  # came again in the midst of a session, where that is not allowed
    EXCUSED = "excused"  # may come again once
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"


class AnswerOutcome(StrEnum):
    """What became of an answer; whatever it is, it need not be sent again."""

    STORED = "stored"
    KNOWN = "known"  # this very answer came before
    TAKEN = "taken"  # another one came first, and counts
    WITHDRAWN = "withdrawn"  # nothing of this listener is kept any more
    EARLY = "early"  # the page before it is not answered, or not any more
    ASIDE = "aside"  # this very answer came before and was set aside; the page is asked again


@dataclass(frozen=True, slots=True)
class Listener:
    """Somebody who takes part, or a number that waits for somebody; ``study`` is a digest.

    ``token`` is what nobody can guess in the listener's own link; ``outside`` is what another
    service calls this person. Times are those of the server, or None.
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
    """An answer as it was given: ``id`` was made by the one who sent it.

    ``received`` is the server's time; ``supersedes`` is the id of the answer that this corrects.
    ``meta`` is what went with it, such as how often sounds were played. One that is ``aside`` is no
    answer: it sets aside the one that it supersedes.
    """

    id: str
    answer: Answer
    received: str
    supersedes: str | None
    meta: Mapping[str, Any] | None = None
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """A listener, and all pages that they have answered, each with the server's time."""

    listener: Listener
    pages: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PageEvent:
    """Something that happened on a page, such as a sound that was played; ``at`` as the page says.

    ``id`` was made by the one who sent it, as that of an answer.
    """

    id: str
    page: str
    what: str
    details: Mapping[str, Any] = field(default_factory=dict)
    at: str = ""


@dataclass(frozen=True, slots=True)
class FinishReceipt:
    """Pages that are not answered, or, if there are none, the code that proves it."""

    missing: tuple[str, ...]
    code: str | None


@dataclass(frozen=True, slots=True)
class ListenerStatus:
    """How far a listener is: pages answered, answers corrected, events, and when last heard of."""

    listener: Listener
    answers: int
    corrections: int
    events: int
    last: str | None


@dataclass(frozen=True, slots=True)
class OtherStudy:
    """A study that is in the same store: who came to it, answers that count, when last heard of."""

    digest: str
    title: str
    listeners: int
    answers: int
    last: str | None


def server_time() -> str:
    """The time of the server, as text that sorts."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
