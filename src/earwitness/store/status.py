"""Progress of listeners, completion codes, withdrawal, re-entry and export."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, case, delete, func, select, update

from earwitness.store.answers import IS_COUNTED, add_events, answered, given, happened
from earwitness.store.listeners import (
    LISTENER_COLUMNS,
    LISTENERS_WITH_STUDIES,
    change_state,
    hashed,
    listener,
    listener_row,
    new_secret,
    study_serial,
)
from earwitness.store.records import (
    FinishReceipt,
    Listener,
    ListenerStatus,
    OtherStudy,
    PageEvent,
    ParticipationState,
    now,
)
from earwitness.store.tables import answers, events, listeners, migrations, studies

# --- Status and export ---------------------------------------------------------------------------


PRIVATE_FIELDS = ("token", "outside", "code")  # who has these could pass for the listener


def status(connection: Connection, study: str) -> list[ListenerStatus]:
    """How far every listener is, by number."""
    serial = study_serial(connection, study)
    answered = _counts(connection, serial)
    happened_to = _events(connection, serial)
    found = []
    for one in _listeners(connection, serial):
        first, corrections, last = answered.get(one.number, (0, 0, None))
        count, latest = happened_to.get(one.number, (0, None))
        times = [time for time in (last, latest) if time is not None]
        found.append(ListenerStatus(one, first, corrections, count, max(times, default=None)))
    return found


def others(connection: Connection, study: str) -> list[OtherStudy]:
    """Studies beside this one to which somebody has answered, in the order they were added."""
    rows = connection.execute(select(studies).order_by(studies.c.serial))
    found = list[OtherStudy]()
    for row in rows.all():
        given = _counts(connection, row.serial) if row.digest != study else {}
        if given:
            answered, last = (
                sum(one[0] for one in given.values()),
                max(o[2] for o in given.values()),
            )
            found.append(OtherStudy(row.digest, row.title, len(given), answered, last))
    return found


def has_answers(connection: Connection, study: str) -> bool:
    """Whether anybody has answered this study, which need not be there."""
    whole = answers.join(LISTENERS_WITH_STUDIES, answers.c.listener == listeners.c.serial)
    own = select(answers.c.serial).select_from(whole).where(studies.c.digest == study)
    return connection.scalar(own.limit(1)) is not None


def _counts(connection: Connection, serial: int) -> dict[int, tuple[int, int, str]]:
    now = func.sum(case((IS_COUNTED, 1), else_=0))
    more = func.sum(case(((answers.c.supersedes != "") & (answers.c.aside == 0), 1), else_=0))
    columns = (listeners.c.number, now, more, func.max(answers.c.received))
    whole = answers.join(listeners, answers.c.listener == listeners.c.serial)
    by = select(*columns).select_from(whole).where(listeners.c.study == serial)
    rows = connection.execute(by.group_by(listeners.c.number))
    return {number: (int(one), int(again), latest) for number, one, again, latest in rows}


def _events(connection: Connection, serial: int) -> dict[int, tuple[int, str]]:
    columns = (listeners.c.number, func.count(), func.max(events.c.received))
    whole = events.join(listeners, events.c.listener == listeners.c.serial)
    by = select(*columns).select_from(whole).where(listeners.c.study == serial)
    rows = connection.execute(by.group_by(listeners.c.number))
    return {number: (count, last) for number, count, last in rows}


def _listeners(connection: Connection, serial: int) -> list[Listener]:
    found = (
        select(*LISTENER_COLUMNS)
        .select_from(LISTENERS_WITH_STUDIES)
        .where(listeners.c.study == serial)
    )
    return [listener(row) for row in connection.execute(found.order_by(listeners.c.number))]


def records(connection: Connection, study: str, private: bool) -> Iterator[dict[str, Any]]:
    """All that is kept of a study, as records of JSON that say what they are."""
    serial = study_serial(connection, study)
    for row in connection.execute(select(migrations).order_by(migrations.c.number)):
        yield {"record": "migration", **row._mapping}
    about = select(studies.c.digest, studies.c.title, studies.c.added)
    for row in connection.execute(about.where(studies.c.serial == serial)):
        yield {"record": "study", **row._mapping}
    for who in _listeners(connection, serial):
        told = asdict(who) | {"state": who.state.value}
        hidden = () if private else PRIVATE_FIELDS
        yield {"record": "listener"} | {name: told[name] for name in told if name not in hidden}
    for one in given(connection, study, None):
        own = {name: value for name, value in asdict(one).items() if name != "answer"}
        yield {"record": "answer"} | asdict(one.answer) | own
    for number, received, event in happened(connection, study, None):
        told = {"record": "event", "study": study, "listener": number}
        yield told | asdict(event) | {"received": received}


# --- Completion and withdrawal -------------------------------------------------------------------


CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # none looks like another
CODE_LENGTH = 10


def finish(
    connection: Connection, study: str, listener: int, pages: Iterable[str]
) -> FinishReceipt:
    """Count answers to all ``pages``: those missing, or a code, the same however often asked.

    Of who has withdrawn, all are missing.
    """
    who = listener_row(connection, study, listener)
    done = answered(connection, study, listener)
    missing = tuple(page for page in pages if page not in done)
    if missing or who.state == ParticipationState.WITHDRAWN:
        return FinishReceipt(missing, None)
    if who.code is not None:
        return FinishReceipt((), who.code)
    code = "".join(secrets.choice(CODE_LETTERS) for _ in range(CODE_LENGTH))
    change = {"state": ParticipationState.FINISHED.value, "finished": now(), "code": code}
    connection.execute(update(listeners).where(listeners.c.serial == who.serial).values(change))
    return FinishReceipt((), code)


def withdraw(connection: Connection, study: str, listener: int) -> None:
    """Delete all that came from a listener; that the number was used is kept, and its link.

    What another service calls them is deleted, too; a keyed hash of it is kept, by which they are
    known should they come again.
    """
    who = listener_row(connection, study, listener)
    for table in (answers, events):
        connection.execute(delete(table).where(table.c.listener == who.serial))
    if who.state == ParticipationState.WITHDRAWN:
        return
    own = update(listeners).where(listeners.c.serial == who.serial)
    outside = select(listeners.c.outside).where(listeners.c.serial == who.serial)
    if (name := connection.scalar(outside)) is not None:
        connection.execute(own.values({"gone": hashed(new_secret(connection, study), name)}))
    change = {
        "state": ParticipationState.WITHDRAWN.value,
        "withdrawn": now(),
        "outside": None,
        "code": None,
    }
    connection.execute(own.values(change))


# --- Re-entry of blocked listeners ---------------------------------------------------------------


EXCUSE_EVENT = "excused"  # the event that says which visit used an excuse


def let_in(connection: Connection, study: str, listener: int, visit: str) -> bool:
    """Whether an excuse lets this visit in, which uses it up.

    A visit has an id that its sender made, so that one whose first reply was lost is known again;
    one without an id is let in once.
    """
    used = change_state(
        connection, study, listener, ParticipationState.EXCUSED, ParticipationState.JOINED
    )
    if used and visit:
        add_events(connection, study, listener, [PageEvent(_id(visit), "", EXCUSE_EVENT)])
    return used or (bool(visit) and _used(connection, study, listener, visit))


def _used(connection: Connection, study: str, listener: int, visit: str) -> bool:
    who = listener_row(connection, study, listener)
    own = (events.c.listener == who.serial) & (events.c.id == _id(visit))
    found = connection.scalar(select(events.c.serial).where(own, events.c.what == EXCUSE_EVENT))
    return found is not None and who.state == ParticipationState.JOINED


def _id(visit: str) -> str:
    return f"visit {visit}"  # ids of events that browsers make have no blank
