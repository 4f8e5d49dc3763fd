"""Answers and page events: added, corrected, set aside and read."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, insert, select, union_all
from sqlalchemy.dialects import postgresql, sqlite

from earwitness.core import UNHEARD_META_KEY, WORKBOOK_META_KEY, Answer
from earwitness.errors import UsageError
from earwitness.store.database import DirectStatement
from earwitness.store.listeners import (
    LISTENERS_WITH_STUDIES,
    ListenerKey,
    OpenPlaceQuota,
    add_listeners,
    add_study,
    claim,
    delete_draft,
    is_in_state,
    key_values,
    listener_row,
    mark_joined,
    study_serial,
)
from earwitness.store.records import (
    ENDED_STATES,
    AnswerOutcome,
    Listener,
    PageEvent,
    ParticipationState,
    PlaceRefusal,
    SubmittedAnswer,
    server_time,
)
from earwitness.store.tables import (
    ROWS_IN_MEMORY,
    answers,
    check_name,
    check_text,
    columns_of,
    events,
    listeners,
    studies,
    values_from_json,
    values_to_json,
)

# --- Answers -------------------------------------------------------------------------------------


BROWSER_ENDED_STATES = (*ENDED_STATES, ParticipationState.BLOCKED)
UNJOINED_STATES = (ParticipationState.OPEN, ParticipationState.INVITED)
ANSWER_COLUMNS = (
    answers.c.id,
    studies.c.digest,
    listeners.c.number,
    *columns_of(
        answers,
        "page",
        "values",
        "heard",
        "at",
        "version",
        "received",
        "supersedes",
        "meta",
        "aside",
    ),
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
RELATED_COLUMNS = columns_of(answers, "id", "page", "values", "supersedes", "aside")
LISTENER_ANSWERS = select(*RELATED_COLUMNS).where(answers.c.listener == bindparam("listener"))
RELATED_ANSWERS = DirectStatement(
    union_all(  # rows with the same id, or of these pages: each found by its own index
        LISTENER_ANSWERS.where(answers.c.id == bindparam("id")),
        LISTENER_ANSWERS.where(answers.c.page == bindparam("page")),
        LISTENER_ANSWERS.where(answers.c.page == bindparam("after")),
    )
)
INSERT_ANSWER = DirectStatement(
    insert(answers).inline(), (column.name for column in answers.c if column.name != "serial")
)
ANSWERED_PAGES = (  # compiled once, since each visit runs it
    select(answers.c.page, answers.c.received)
    .where(answers.c.listener == bindparam("listener"), IS_COUNTED)
    .order_by(answers.c.serial)
)
Meta = Mapping[str, Any] | None


def add_answer(
    connection: Connection,
    answer: Answer,
    id: str,
    meta: Meta = None,
    after: str = "",
    token: str = "",
    supersedes: str = "",
) -> AnswerOutcome:
    """Store an answer; the first answer to a page counts.

    If ``after`` is given, that page must have an answer that counts. If ``token`` is given, it
    identifies the listener instead of the number, which may have passed to another person. An
    answer that ``supersedes`` the one with that id is a correction.
    """
    listener = listener_row(connection, answer.study, token or answer.listener)
    row = {
        "listener": listener.serial,
        "id": check_name("id", id),
        **_make_answer_row(answer, meta),
    }
    if listener.state in (BROWSER_ENDED_STATES if token else ENDED_STATES):
        return AnswerOutcome.WITHDRAWN
    related = {old.id: old for old in RELATED_ANSWERS.rows(connection, row | {"after": after})}
    page_rows = [old for old in related.values() if old.page == answer.page]
    setting_aside = [old.id for old in page_rows if old.aside]  # rows that set an answer aside
    if id in related:
        stored, allowed = related[id], {supersedes} if supersedes else {"", *setting_aside}
        is_other = any(getattr(stored, name) != row[name] for name in ("page", "values"))
        if is_other or stored.aside or stored.supersedes not in allowed:
            raise UsageError(f"id {id!r} is already used by another answer — use a new id")
        return _repeated_outcome(page_rows, id)
    taken = {old.supersedes for old in page_rows}
    if not supersedes:
        supersedes = next((old_id for old_id in setting_aside if old_id not in taken), "")
    if supersedes in taken:
        return AnswerOutcome.TAKEN
    before = [old for old in related.values() if old.page == after]
    superseded = {old.supersedes for old in before}
    if after and all(old.aside or old.id in superseded for old in before):  # none counts
        return AnswerOutcome.EARLY
    if supersedes and supersedes not in {old.id for old in page_rows}:
        raise UsageError(f"page {answer.page} has no answer {supersedes!r} to correct")
    received = {"supersedes": supersedes, "received": server_time()}
    INSERT_ANSWER.insert(connection, [row | received])
    if listener.state in UNJOINED_STATES:
        mark_joined(connection, listener.serial)
    return AnswerOutcome.STORED


def add_first_answer(
    connection: Connection,
    answer: Answer,
    id: str,
    meta: Meta,
    token: str,
    *,
    outside: str | None,
    quota: OpenPlaceQuota,
) -> AnswerOutcome | PlaceRefusal:
    """Take a place at the open link and store the first answer, or return why there is no place."""
    listener = claim(connection, answer.study, token, outside=outside, quota=quota)
    if isinstance(listener, PlaceRefusal):
        return listener
    return add_answer(connection, replace(answer, listener=listener.number), id, meta)


def correct_answer(
    connection: Connection, answer: Answer, id: str, supersedes: str, meta: Meta = None
) -> AnswerOutcome:
    """Store a correction of the answer with that id, which is kept, but no longer counts."""
    superseded = check_name("supersedes", supersedes)
    return add_answer(connection, answer, id, meta, supersedes=superseded)


def _repeated_outcome(page_rows: Iterable[Any], id: str) -> AnswerOutcome:
    """Return the outcome of a repeated answer, which may have been set aside since."""
    later = {row.supersedes: row for row in page_rows}
    corrections = list[Any]()
    while id in later:
        corrections.append(later[id])
        id = corrections[-1].id
    if not any(row.aside for row in corrections):
        return AnswerOutcome.KNOWN
    return AnswerOutcome.ASIDE if corrections[-1].aside else AnswerOutcome.TAKEN


def _make_answer_row(answer: Answer, meta: Meta) -> dict[str, Any]:
    return {
        "page": check_name("page", answer.page),
        "values": values_to_json("values", answer.values),
        "heard": None if answer.heard is None else values_to_json("heard", answer.heard),
        "at": check_text("at", answer.at),
        "version": check_text("version", answer.version),
        "meta": None if meta is None else values_to_json("meta", meta),
        "aside": 0,
    }


def set_aside(
    connection: Connection, study: str, listener: ListenerKey, pages: Collection[str]
) -> int:
    """Set aside the answers to these pages, so that they are asked again; return their number."""
    listener_record, wanted = listener_row(connection, study, listener), set(pages)
    if listener_record.state in ENDED_STATES:
        return 0
    query = select(answers).where(answers.c.listener == listener_record.serial, IS_COUNTED)
    copied_columns = ("listener", "page", "values", "heard", "at", "version")
    rows = [
        {name: row._mapping[name] for name in copied_columns}
        | {"id": secrets.token_hex(16), "supersedes": row.id, "received": server_time()}
        | {"meta": None, "aside": 1}
        for row in connection.execute(query.order_by(answers.c.serial))
        if row.page in wanted
    ]
    return INSERT_ANSWER.insert(connection, rows)


def read_counted_answers(
    connection: Connection, study: str, listener: ListenerKey | None = None
) -> list[SubmittedAnswer]:
    """Return the answers that count, of all listeners or of one: those not superseded.

    Answers of listeners whose place was given to another person do not count.
    """
    is_current = listeners.c.former.is_(None)
    query = _answers_query(connection, study, listener).where(IS_COUNTED, is_current)
    return [_answer_from_row(row) for row in connection.execute(query)]


def read_answered_pages(
    connection: Connection, study: str, listener: ListenerKey
) -> dict[str, str]:
    """Return pages with an answer that counts, in order of arrival, with the times."""
    listener_record = listener_row(connection, study, listener)
    rows = connection.execute(ANSWERED_PAGES, {"listener": listener_record.serial})
    return {page: received for page, received in rows}  # noqa: C416


def read_answer(
    connection: Connection, study: str, listener: ListenerKey, page: str
) -> Answer | None:
    """Return the answer to a page that counts."""
    query = _answers_query(connection, study, listener).where(IS_COUNTED)
    row = connection.execute(query.where(answers.c.page == page)).one_or_none()
    return None if row is None else _answer_from_row(row).answer


def iterate_answers(
    connection: Connection, study: str, listener: int | None
) -> Iterator[SubmittedAnswer]:
    """Yield all answers ever given, in order of arrival."""
    query = _answers_query(connection, study, listener).execution_options(yield_per=ROWS_IN_MEMORY)
    with connection.execute(query) as rows:
        yield from map(_answer_from_row, rows)


def _answers_query(connection: Connection, study: str, listener: ListenerKey | None) -> Select[Any]:
    query = select(*ANSWER_COLUMNS).select_from(ANSWERS_WITH_LISTENERS).order_by(answers.c.serial)
    return _restrict_query(query, answers, connection, study, listener)


def _restrict_query(
    query: Select[Any],
    table: Table,
    connection: Connection,
    study: str,
    listener: ListenerKey | None,
) -> Select[Any]:
    """Return a query for the rows of one listener, or of all listeners of a study."""
    if listener is None:
        return query.where(listeners.c.study == study_serial(connection, study))
    return query.where(table.c.listener == listener_row(connection, study, listener).serial)


def _answer_from_row(row: Sequence[Any]) -> SubmittedAnswer:
    id, digest, number, page, values, heard, at, version, received, supersedes, meta, aside = row
    presented = None if heard is None else values_from_json(heard)
    answer_meta = None if meta is None else values_from_json(meta)
    known_meta = answer_meta or {}
    unheard, imported = known_meta.get(UNHEARD_META_KEY), WORKBOOK_META_KEY in known_meta or None
    given = values_from_json(values)
    answer = Answer(digest, number, page, given, presented, at, version, unheard, imported=imported)
    return SubmittedAnswer(id, answer, received, supersedes or None, answer_meta, bool(aside))


# --- Bulk changes of answers ---------------------------------------------------------------------
# The decision function sees all answers ever given by the listeners in question, under the lock of
# the single writer, so that no answer can arrive in between.


@dataclass(frozen=True, slots=True)
class AnswerHistory:
    """Listeners, and all answers that each ever gave."""

    listeners: tuple[Listener, ...]
    answers: Mapping[int, tuple[SubmittedAnswer, ...]]

    def last(self, listener: int, page: str) -> SubmittedAnswer | None:
        """Return the last answer to a page, whether it counts or was set aside."""
        page_answers = [answer for answer in self.answers[listener] if answer.answer.page == page]
        superseded = {answer.supersedes for answer in page_answers}
        return next((answer for answer in page_answers if answer.id not in superseded), None)


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """An answer to store, and the id of the answer that it corrects, if any."""

    answer: Answer
    id: str
    supersedes: str = ""
    meta: Meta = None


Decide = Callable[[AnswerHistory], Sequence[AnswerChange]]


def change_answers(
    connection: Connection,
    study: str,
    title: str,
    numbers: Collection[int],
    decide: Decide,
    token: str = "",
) -> tuple[AnswerChange, ...]:
    """Store the changes that are decided; the study and its listeners are added if needed.

    If ``token`` is given, the listeners must have it: a number may have passed to another person.
    """
    add_study(connection, study, title)
    study_listeners = tuple(add_listeners(connection, study, numbers))
    if token and any(listener.token != token for listener in study_listeners):
        raise UsageError("this place was given to another person")
    answers_by_listener = {
        listener.number: tuple(iterate_answers(connection, study, listener.number))
        for listener in study_listeners
    }
    changes = tuple(decide(AnswerHistory(study_listeners, answers_by_listener)))
    for change in changes:
        outcome = add_answer(
            connection, change.answer, change.id, change.meta, supersedes=change.supersedes
        )
        if outcome != AnswerOutcome.STORED:
            raise UsageError(f"page {change.answer.page}: the answer could not be stored")
        serial = listener_row(connection, study, change.answer.listener).serial
        delete_draft(connection, serial, change.answer.page)
    return changes


# --- Page events ---------------------------------------------------------------------------------


MAX_EVENTS_PER_CALL = 1000
EVENTS_WITH_LISTENERS = events.join(LISTENERS_WITH_STUDIES, events.c.listener == listeners.c.serial)
EVENT_COLUMNS = ("id", "page", "what", "details", "at", "received")


def add_events(
    connection: Connection, study: str, listener: ListenerKey, page_events: Sequence[PageEvent]
) -> int:
    """Store events and return the number of new ones; nothing is stored after a withdrawal."""
    if len(page_events) > MAX_EVENTS_PER_CALL:
        raise UsageError(
            f"at most {MAX_EVENTS_PER_CALL:,} events are allowed per call, got {len(page_events):,}"
        )
    column, key = key_values(study, listener)
    rows = {
        event.id: {
            "id": check_name("id", event.id),
            "page": check_text("page", event.page),
            "what": check_name("what", event.what),
            "details": values_to_json("details", event.details),
            "at": check_text("at", event.at),
            "received": server_time(),
        }
        for event in page_events
    }
    statement = _insert_new_event(connection.dialect.name, column)
    new_count = statement.insert(connection, (key | row for row in rows.values()))
    if not new_count:
        listener_row(connection, study, listener)  # raises an error if there is no such listener
    return new_count


@cache
def _insert_new_event(dialect: str, key: str) -> DirectStatement:
    """Return the statement that inserts an event, if it is new and its listener takes part.

    ``key`` is the column by which the listener is found.
    """
    row = (
        select(listeners.c.serial, *(bindparam(n, type_=events.c[n].type) for n in EVENT_COLUMNS))
        .select_from(LISTENERS_WITH_STUDIES)
        .where(
            studies.c.digest == bindparam("digest"),
            listeners.c[key] == bindparam(key),
            ~is_in_state(ENDED_STATES),
        )
    )
    insert_into: Any = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[dialect]
    statement = insert_into(events).from_select(["listener", *EVENT_COLUMNS], row)
    return DirectStatement(statement.on_conflict_do_nothing(index_elements=["listener", "id"]))


@cache
def _stored_event_ids(count: int) -> DirectStatement:
    """Return the query for this many ids."""
    return DirectStatement(
        select(events.c.id)
        .select_from(EVENTS_WITH_LISTENERS)
        .where(
            studies.c.digest == bindparam("digest"),
            listeners.c.token == bindparam("token"),
            events.c.id.in_([bindparam(f"id{number}") for number in range(count)]),
        )
    )


def read_event_ids(connection: Connection, study: str, token: str, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that are stored for the listener of a link."""
    values = {"digest": study, "token": token} | {f"id{n}": id for n, id in enumerate(ids)}
    return {row.id for row in _stored_event_ids(len(ids)).rows(connection, values)}


def read_page_events(
    connection: Connection, study: str, listener: ListenerKey, page: str, what: str
) -> list[PageEvent]:
    """Return events of one type on one page, in order of arrival."""
    query = _events_query(connection, study, listener)
    rows = connection.execute(query.where(events.c.page == page, events.c.what == what))
    return [_event_from_row(row) for row in rows]


def iterate_events(
    connection: Connection, study: str, listener: int | None
) -> Iterator[tuple[int, str, PageEvent]]:
    """Yield all events in order of arrival, with the listener's number and the server's time."""
    query = _events_query(connection, study, listener).execution_options(yield_per=ROWS_IN_MEMORY)
    with connection.execute(query) as rows:
        for row in rows:
            yield row.number, row.received, _event_from_row(row)


def _events_query(connection: Connection, study: str, listener: ListenerKey | None) -> Select[Any]:
    query = select(listeners.c.number, events).select_from(EVENTS_WITH_LISTENERS)
    return _restrict_query(query.order_by(events.c.serial), events, connection, study, listener)


def _event_from_row(row: Any) -> PageEvent:
    return PageEvent(row.id, row.page, row.what, values_from_json(row.details), row.at)
