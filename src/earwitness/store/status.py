"""Progress of listeners, completion codes, withdrawal, re-entry and export."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, Connection, Table, case, delete, func, select

from earwitness.core import UNHEARD_META_KEY
from earwitness.store.answers import (
    ANSWERS_WITH_LISTENERS,
    IS_COUNTED,
    add_events,
    iterate_answers,
    iterate_events,
    read_answered_pages,
    read_page_events,
)
from earwitness.store.listeners import (
    LISTENER,
    ListenerKey,
    change_listener,
    change_state,
    ensure_secret,
    hash_person,
    listener_from_row,
    listener_row,
    study_serial,
)
from earwitness.store.records import (
    ENDED_STATES,
    FinishReceipt,
    Listener,
    ListenerStatus,
    OtherStudy,
    PageEvent,
    ParticipationState,
    server_time,
)
from earwitness.store.tables import answers, drafts, events, listeners, studies

# --- Status and export ---------------------------------------------------------------------------


PRIVATE_FIELDS = ("token", "outside", "code")  # allow impersonation of the listener


def read_listener_statuses(connection: Connection, study: str) -> list[ListenerStatus]:
    """Return the progress of all listeners, by number."""
    serial = study_serial(connection, study)
    answer_counts = _count_answers(connection, serial)
    event_counts = _count_rows(connection, serial, events, func.count())
    statuses = []
    for listener in _read_listeners(connection, serial):
        answered, corrections, unheard, last = answer_counts.get(listener.number, (0, 0, 0, None))
        count, latest = event_counts.get(listener.number, (0, None))
        times = [time for time in (last, latest) if time is not None]
        statuses.append(
            ListenerStatus(
                listener, answered, corrections, count, max(times, default=None), unheard
            )
        )
    return statuses


def read_last_time(connection: Connection) -> str | None:
    """Return when the last answer was received, if any."""
    last: str | None = connection.scalar(select(func.max(answers.c.received)))
    return last


def read_other_studies(connection: Connection, study: str) -> list[OtherStudy]:
    """Return other studies that have answers, in the order they were added."""
    rows = connection.execute(select(studies).order_by(studies.c.serial))
    studies_with_answers = list[OtherStudy]()
    for row in rows.all():
        counts_by_listener = _count_answers(connection, row.serial) if row.digest != study else {}
        if counts_by_listener:
            answer_count = sum(count for count, *_ in counts_by_listener.values())
            last_time = max(time for *_, time in counts_by_listener.values())
            studies_with_answers.append(
                OtherStudy(row.digest, row.title, len(counts_by_listener), answer_count, last_time)
            )
    return studies_with_answers


def has_answers(connection: Connection, study: str) -> bool:
    """Return whether a study has answers; it need not be in the database."""
    query = select(answers.c.serial).select_from(ANSWERS_WITH_LISTENERS)
    return connection.scalar(query.where(studies.c.digest == study).limit(1)) is not None


def _count_answers(connection: Connection, serial: int) -> dict[int, tuple[Any, ...]]:
    """Return the answers that count, corrections, marked answers and last time per listener."""
    is_correction = (answers.c.supersedes != "") & (answers.c.aside == 0)
    is_marked = answers.c.meta.contains(f'"{UNHEARD_META_KEY}": {{', autoescape=True)
    conditions = IS_COUNTED, is_correction, IS_COUNTED & is_marked
    counts = (func.sum(case((condition, 1), else_=0)) for condition in conditions)
    return _count_rows(connection, serial, answers, *counts)


def _count_rows(
    connection: Connection, serial: int, table: Table, *counts: ColumnElement[int]
) -> dict[int, tuple[Any, ...]]:
    """Return counts of the rows of each listener of a study, and the last time."""
    columns = (listeners.c.number, *counts, func.max(table.c.received))
    rows_with_listeners = table.join(listeners, table.c.listener == listeners.c.serial)
    query = select(*columns).select_from(rows_with_listeners).where(listeners.c.study == serial)
    rows = connection.execute(query.group_by(listeners.c.number))
    return {number: (*map(int, sums), last) for number, *sums, last in rows}


def _read_listeners(connection: Connection, serial: int) -> list[Listener]:
    query = LISTENER.where(listeners.c.study == serial)
    return [
        listener_from_row(row) for row in connection.execute(query.order_by(listeners.c.number))
    ]


def iterate_records(connection: Connection, study: str, private: bool) -> Iterator[dict[str, Any]]:
    """Yield everything stored for a study, as JSON records with their type."""
    serial = study_serial(connection, study)
    about = select(studies.c.digest, studies.c.title, studies.c.added)
    for row in connection.execute(about.where(studies.c.serial == serial)):
        yield {"record": "study", **row._mapping}
    for listener in _read_listeners(connection, serial):
        fields = asdict(listener) | {"state": listener.state.value}
        hidden = () if private else PRIVATE_FIELDS
        yield {"record": "listener"} | {name: fields[name] for name in fields if name not in hidden}
    for submitted in iterate_answers(connection, study, None):
        fields = asdict(submitted)
        given = fields.pop("answer")
        del given["comment"]  # is part of the metadata
        yield {"record": "answer"} | given | fields
    for number, received, event in iterate_events(connection, study, None):
        fields = {"record": "event", "study": study, "listener": number}
        yield fields | asdict(event) | {"received": received}


# --- Completion and withdrawal -------------------------------------------------------------------


CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # without similar characters
CODE_LENGTH = 10


def finish(
    connection: Connection, study: str, listener: ListenerKey, pages: Collection[str]
) -> FinishReceipt:
    """Return the unanswered pages of ``pages``, or the completion code, always the same.

    For withdrawn listeners all pages are unanswered. Replaced listeners get no code.
    """
    listener_record = listener_row(connection, study, listener)
    answered_pages = read_answered_pages(connection, study, listener)
    missing = tuple(page for page in pages if page not in answered_pages)
    if missing or listener_record.state in ENDED_STATES:
        return FinishReceipt(missing, None)
    if listener_record.code is not None:
        return FinishReceipt((), listener_record.code)
    code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
    change_listener(
        connection,
        listener_record.serial,
        state=ParticipationState.FINISHED.value,
        finished=server_time(),
        code=code,
    )
    return FinishReceipt((), code)


def _delete_data(connection: Connection, serial: int) -> None:
    """Delete the answers, events and drafts of a listener."""
    for table in (answers, events, drafts):
        connection.execute(delete(table).where(table.c.listener == serial))


def withdraw(connection: Connection, study: str, listener: ListenerKey) -> None:
    """Delete all data of a listener; the link is kept, and says so.

    The external id is deleted too; a keyed hash of it is kept to recognize a returning person. A
    place of the open link is free again; other numbers stay used.
    """
    listener_record = listener_row(connection, study, listener)
    _delete_data(connection, listener_record.serial)
    if listener_record.state == ParticipationState.WITHDRAWN:
        return
    outside = select(listeners.c.outside).where(listeners.c.serial == listener_record.serial)
    if (name := connection.scalar(outside)) is not None:
        gone = hash_person(ensure_secret(connection, study), name)
        change_listener(connection, listener_record.serial, gone=gone)
    change_listener(
        connection,
        listener_record.serial,
        state=ParticipationState.WITHDRAWN.value,
        withdrawn=server_time(),
        outside=None,
        code=None,
    )


def screen_out(connection: Connection, study: str, listener: ListenerKey, page: str) -> bool:
    """Record that a listener may not take part, and delete all their answers and events.

    The person is recognized, so that the form cannot be tried again. A place of the open link is
    free again; other numbers stay used. Nothing changes if ``page`` already has an answer that
    counts, or if the listener has withdrawn or was replaced.
    """
    listener_record = listener_row(connection, study, listener)
    if listener_record.state == ParticipationState.INELIGIBLE:
        return True
    answered = page in read_answered_pages(connection, study, listener)
    if answered or listener_record.state in ENDED_STATES:
        return False
    _delete_data(connection, listener_record.serial)
    change_listener(connection, listener_record.serial, state=ParticipationState.INELIGIBLE.value)
    return True


# --- Re-entry of blocked listeners ---------------------------------------------------------------


EXCUSE_EVENT = "excused"  # event of the visit that used an excuse


def let_in(connection: Connection, study: str, listener: ListenerKey, visit: str) -> bool:
    """Return whether an excuse admits this visit, which uses it up.

    A visit has an id from its sender, so that it is recognized if the first reply was lost; a visit
    without an id is admitted once.
    """
    used = change_state(
        connection, study, listener, ParticipationState.EXCUSED, ParticipationState.JOINED
    )
    event_id = f"visit {visit}"  # ids of events from browsers contain no space
    if used and visit:
        add_events(connection, study, listener, [PageEvent(event_id, "", EXCUSE_EVENT)])
    if used or not visit:
        return used
    excuses = read_page_events(connection, study, listener, "", EXCUSE_EVENT)
    state = listener_row(connection, study, listener).state
    return state == ParticipationState.JOINED and event_id in {excuse.id for excuse in excuses}
