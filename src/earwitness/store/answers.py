"""Answers and page events: added, corrected, set aside and read."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, union_all

from earwitness.core import Answer
from earwitness.errors import UsageError
from earwitness.store.listeners import (
    LISTENERS_WITH_STUDIES,
    add_listeners,
    add_study,
    joined,
    listener_row,
    study_serial,
)
from earwitness.store.records import (
    AnswerOutcome,
    Listener,
    PageEvent,
    ParticipationState,
    SubmittedAnswer,
    now,
)
from earwitness.store.tables import (
    ROWS_IN_MEMORY,
    answers,
    events,
    listeners,
    named,
    plain,
    read,
    studies,
    written,
)

# --- Answers -------------------------------------------------------------------------------------


UNJOINED_STATES = (ParticipationState.OPEN, ParticipationState.INVITED)
ANSWER_COLUMNS = (
    answers.c.id,
    studies.c.digest,
    listeners.c.number,
    answers.c.page,
    answers.c["values"],
    answers.c.heard,
    answers.c.at,
    answers.c.version,
    answers.c.received,
    answers.c.supersedes,
    answers.c.meta,
    answers.c.aside,
)
ANSWERS_WITH_LISTENERS = answers.join(
    LISTENERS_WITH_STUDIES, answers.c.listener == listeners.c.serial
)
LATER_ANSWERS = answers.alias("later")
IS_SAME_PAGE = (LATER_ANSWERS.c.listener == answers.c.listener) & (
    LATER_ANSWERS.c.page == answers.c.page
)
IS_SUPERSEDED = (
    select(LATER_ANSWERS.c.serial)
    .where(IS_SAME_PAGE, LATER_ANSWERS.c.supersedes == answers.c.id)
    .exists()
)
IS_COUNTED = ~IS_SUPERSEDED & (answers.c.aside == 0)
RELATED_COLUMNS = (
    answers.c.id,
    answers.c.page,
    answers.c["values"],
    answers.c.supersedes,
    answers.c.aside,
)
LISTENER_ANSWERS = select(*RELATED_COLUMNS).where(answers.c.listener == bindparam("listener"))
RELATED_ANSWERS = (
    union_all(  # with the same id, or to these pages: each found by an index of its own
        LISTENER_ANSWERS.where(answers.c.id == bindparam("id")),
        LISTENER_ANSWERS.where(answers.c.page == bindparam("page")),
        LISTENER_ANSWERS.where(answers.c.page == bindparam("after")),
    )
)
INSERT_ANSWER = insert(answers)
ANSWERED_PAGES = (  # made once: what every visit asks
    select(answers.c.page, answers.c.received)
    .where(answers.c.listener == bindparam("listener"), IS_COUNTED)
    .order_by(answers.c.serial)
)
Meta = Mapping[str, Any] | None


def add_answer(
    connection: Connection, answer: Answer, id: str, meta: Meta = None, after: str = ""
) -> AnswerOutcome:
    """Keep an answer; the first to a page counts, however many come.

    If a page is named that it comes ``after``, that must have an answer which counts.
    """
    return _add(connection, answer, named("id", id), "", meta, after)


def correct_answer(
    connection: Connection, answer: Answer, id: str, supersedes: str, meta: Meta = None
) -> AnswerOutcome:
    """Keep an answer in place of the one with that id, which stays, but counts no more."""
    return _add(connection, answer, named("id", id), named("supersedes", supersedes), meta)


def _add(
    connection: Connection, answer: Answer, id: str, supersedes: str, meta: Meta, after: str = ""
) -> AnswerOutcome:
    who = listener_row(connection, answer.study, answer.listener)
    row = {"listener": who.serial, "id": id, **_make_answer_row(answer, meta)}
    if who.state == ParticipationState.WITHDRAWN:
        return AnswerOutcome.WITHDRAWN
    same = {one.id: one for one in connection.execute(RELATED_ANSWERS, row | {"after": after})}
    of_page = [one for one in same.values() if one.page == answer.page]
    emptied = _emptied(of_page)
    if id in same:
        _check(same[id], row, {supersedes} if supersedes else {"", *emptied})
        return _again(of_page, id)
    taken = {one.supersedes for one in of_page}
    if not supersedes:
        supersedes = next((one for one in emptied if one not in taken), "")
    if supersedes in taken:
        return AnswerOutcome.TAKEN
    if after and not _has_answer(same.values(), after):
        return AnswerOutcome.EARLY
    if supersedes and supersedes not in {one.id for one in of_page}:
        raise UsageError(f"page {answer.page} has no answer {supersedes!r} to correct")
    connection.execute(INSERT_ANSWER, row | {"supersedes": supersedes, "received": now()})
    if who.state in UNJOINED_STATES:
        joined(connection, who.serial)
    return AnswerOutcome.STORED


def _again(of_page: Iterable[Any], id: str) -> AnswerOutcome:
    """What became of an answer that comes again: it may have been set aside since."""
    later = {one.supersedes: one for one in of_page}
    after = list[Any]()
    while id in later:
        after.append(later[id])
        id = after[-1].id
    if not any(one.aside for one in after):
        return AnswerOutcome.KNOWN
    return AnswerOutcome.ASIDE if after[-1].aside else AnswerOutcome.TAKEN


def _has_answer(rows: Iterable[Any], page: str) -> bool:
    """Whether one of a page's rows counts."""
    own = [one for one in rows if one.page == page]
    past = {one.supersedes for one in own}
    return any(one.id not in past and not one.aside for one in own)


def _emptied(rows: Iterable[Any]) -> list[str]:
    """Ids of rows that set an answer aside."""
    return [one.id for one in rows if one.aside]


def _make_answer_row(answer: Answer, meta: Meta) -> dict[str, Any]:
    return {
        "page": named("page", answer.page),
        "values": written("values", answer.values),
        "heard": None if answer.heard is None else written("heard", answer.heard),
        "at": plain("at", answer.at),
        "version": plain("version", answer.version),
        "meta": None if meta is None else written("meta", meta),
        "aside": 0,
    }


def _check(known: Any, row: dict[str, Any], supersedes: set[str]) -> None:
    """Refuse an id that is used for something else: neither must be lost for the other."""
    other = any(known._mapping[name] != row[name] for name in ("page", "values"))
    if other or known.aside or known.supersedes not in supersedes:
        raise UsageError(f"id {row['id']!r} was used for another answer — make a new one")


def set_aside(connection: Connection, study: str, listener: int, pages: Iterable[str]) -> int:
    """Let answers to these pages count no more, so that they are asked again; how many."""
    who, wanted = listener_row(connection, study, listener), set(pages)
    if who.state == ParticipationState.WITHDRAWN:
        return 0
    chosen = select(answers).where(answers.c.listener == who.serial, IS_COUNTED)
    same = ("listener", "page", "values", "heard", "at", "version")
    rows = [
        {name: one._mapping[name] for name in same}
        | {"id": secrets.token_hex(16), "supersedes": one.id, "received": now(), "aside": 1}
        for one in connection.execute(chosen.order_by(answers.c.serial))
        if one.page in wanted
    ]
    if rows:
        connection.execute(INSERT_ANSWER, rows)
    return len(rows)


def counting(connection: Connection, study: str, listener: int | None) -> list[SubmittedAnswer]:
    """Answers that count now, of all listeners or of one: those that nothing supersedes."""
    chosen = _chosen(connection, study, listener).where(IS_COUNTED)
    return [_given(row) for row in connection.execute(chosen)]


def answered(connection: Connection, study: str, listener: int) -> dict[str, str]:
    """Pages with an answer that counts, in the order they came, and when they did."""
    who = listener_row(connection, study, listener)
    rows = connection.execute(ANSWERED_PAGES, {"listener": who.serial})
    return {page: received for page, received in rows}  # noqa: C416


def answer_to(connection: Connection, study: str, listener: int, page: str) -> Answer | None:
    """The answer to a page that counts."""
    chosen = _chosen(connection, study, listener).where(IS_COUNTED)
    row = connection.execute(chosen.where(answers.c.page == page)).one_or_none()
    return None if row is None else _given(row).answer


def given(connection: Connection, study: str, listener: int | None) -> Iterator[SubmittedAnswer]:
    """All answers as they were given, in the order they came."""
    chosen = _chosen(connection, study, listener).execution_options(yield_per=ROWS_IN_MEMORY)
    with connection.execute(chosen) as rows:
        yield from map(_given, rows)


def _chosen(connection: Connection, study: str, listener: int | None) -> Select[Any]:
    chosen = select(*ANSWER_COLUMNS).select_from(ANSWERS_WITH_LISTENERS).order_by(answers.c.serial)
    if listener is None:
        return chosen.where(listeners.c.study == study_serial(connection, study))
    return chosen.where(answers.c.listener == listener_row(connection, study, listener).serial)


def _given(row: Sequence[Any]) -> SubmittedAnswer:
    id, digest, number, page, values, heard, at, version, received, supersedes, meta, aside = row
    presented = None if heard is None else read(heard)
    answer = Answer(digest, number, page, read(values), presented, at, version)
    kept = None if meta is None else read(meta)
    return SubmittedAnswer(id, answer, received, supersedes or None, kept, bool(aside))


# --- Bulk changes of answers ---------------------------------------------------------------------
# Whoever decides sees all that was ever answered by the listeners in question, under the lock of
# the one writer, so nothing can come in between.


@dataclass(frozen=True, slots=True)
class AnswerHistory:
    """Listeners, and by number all answers they ever gave."""

    listeners: tuple[Listener, ...]
    answers: Mapping[int, tuple[SubmittedAnswer, ...]]

    def last(self, listener: int, page: str) -> SubmittedAnswer | None:
        """What stands last on a page: an answer that counts, or one that was set aside."""
        own = [one for one in self.answers[listener] if one.answer.page == page]
        past = {one.supersedes for one in own}
        return next((one for one in own if one.id not in past), None)


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer to be kept, and the id of the one that it corrects, if it does."""

    answer: Answer
    id: str
    supersedes: str = ""
    meta: Meta = None


Decide = Callable[[AnswerHistory], Sequence[AnswerChange]]


def change_answers(
    connection: Connection, study: str, title: str, numbers: Iterable[int], decide: Decide
) -> tuple[AnswerChange, ...]:
    """Keep what is decided; the study and its listeners are entered if they are not there."""
    add_study(connection, study, title)
    who = tuple(add_listeners(connection, study, numbers))
    every = {one.number: tuple(given(connection, study, one.number)) for one in who}
    changes = tuple(decide(AnswerHistory(who, every)))
    for one in changes:
        if _kept(connection, one) != AnswerOutcome.STORED:
            raise UsageError(f"page {one.answer.page}: the answer could not be kept")
    return changes


def _kept(connection: Connection, one: AnswerChange) -> AnswerOutcome:
    if one.supersedes:
        return correct_answer(connection, one.answer, one.id, one.supersedes, one.meta)
    return add_answer(connection, one.answer, one.id, one.meta)


# --- Page events ---------------------------------------------------------------------------------


MAX_EVENTS_PER_CALL = 1000


def add_events(
    connection: Connection, study: str, listener: int, happened: Sequence[PageEvent]
) -> int:
    """Keep events; how many were new. Of who has withdrawn, nothing is kept."""
    if len(happened) > MAX_EVENTS_PER_CALL:
        raise UsageError(f"{len(happened):,} events at once are more than {MAX_EVENTS_PER_CALL:,}")
    who = listener_row(connection, study, listener)
    rows = {one.id: _make_event_row(who.serial, one) for one in happened}
    if who.state == ParticipationState.WITHDRAWN or not rows:
        return 0
    known = select(events.c.id).where(events.c.listener == who.serial, events.c.id.in_(rows))
    for id in set(connection.scalars(known)):
        del rows[id]
    if rows:
        connection.execute(insert(events), list(rows.values()))
    return len(rows)


def _make_event_row(serial: int, event: PageEvent) -> dict[str, Any]:
    return {
        "listener": serial,
        "id": named("id", event.id),
        "page": plain("page", event.page),
        "what": named("what", event.what),
        "details": written("details", event.details),
        "at": plain("at", event.at),
        "received": now(),
    }


def of_page(
    connection: Connection, study: str, listener: int, page: str, what: str
) -> list[PageEvent]:
    """Events of one sort on one page, in the order they came."""
    who = listener_row(connection, study, listener)
    columns = (events.c.id, events.c.page, events.c.what, events.c.details, events.c.at)
    chosen = select(*columns).where(
        events.c.listener == who.serial, events.c.page == page, events.c.what == what
    )
    rows = connection.execute(chosen.order_by(events.c.serial))
    return [PageEvent(id, page, what, read(details), at) for id, page, what, details, at in rows]


def happened(
    connection: Connection, study: str, listener: int | None
) -> Iterator[tuple[int, str, PageEvent]]:
    """All events in the order they came, with the listener's number and the server's time."""
    columns = (events.c.id, events.c.page, events.c.what, events.c.details, events.c.at)
    whole = events.join(LISTENERS_WITH_STUDIES, events.c.listener == listeners.c.serial)
    chosen = select(listeners.c.number, events.c.received, *columns).select_from(whole)
    if listener is None:
        chosen = chosen.where(listeners.c.study == study_serial(connection, study))
    else:
        who = listener_row(connection, study, listener)
        chosen = chosen.where(events.c.listener == who.serial)
    portions = chosen.order_by(events.c.serial).execution_options(yield_per=ROWS_IN_MEMORY)
    with connection.execute(portions) as rows:
        for number, received, id, page, what, details, at in rows:
            yield number, received, PageEvent(id, page, what, read(details), at)
