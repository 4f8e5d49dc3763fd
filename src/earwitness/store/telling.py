"""What a store tells of a study: how far everybody is, and all that it holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, case, func, select

from earwitness.store.answers import COUNTS, given
from earwitness.store.events import happened
from earwitness.store.listeners import COLUMNS, JOINED, listener, study_serial
from earwitness.store.records import Listener, ListenerStatus, OtherStudy
from earwitness.store.tables import answers, events, listeners, migrations, studies

PRIVATE = ("token", "outside", "code")  # who has these could pass for the listener


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
    whole = answers.join(JOINED, answers.c.listener == listeners.c.serial)
    own = select(answers.c.serial).select_from(whole).where(studies.c.digest == study)
    return connection.scalar(own.limit(1)) is not None


def _counts(connection: Connection, serial: int) -> dict[int, tuple[int, int, str]]:
    now = func.sum(case((COUNTS, 1), else_=0))
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
    found = select(*COLUMNS).select_from(JOINED).where(listeners.c.study == serial)
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
        hidden = () if private else PRIVATE
        yield {"record": "listener"} | {name: told[name] for name in told if name not in hidden}
    for one in given(connection, study, None):
        own = {name: value for name, value in asdict(one).items() if name != "answer"}
        yield {"record": "answer"} | asdict(one.answer) | own
    for number, received, event in happened(connection, study, None):
        told = {"record": "event", "study": study, "listener": number}
        yield told | asdict(event) | {"received": received}
