"""Answers: added, corrected by new ones, and read; each function is a job, or reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, union_all, update

from earwitness.data import Answer
from earwitness.errors import UsageError
from earwitness.store.listeners import JOINED, listener_row, study_serial
from earwitness.store.records import Given, Outcome, State, now
from earwitness.store.tables import PORTION, answers, listeners, studies
from earwitness.store.texts import named, plain, read, written

NEW = (State.OPEN, State.INVITED)
COLUMNS = (
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
)
WHOLE = answers.join(JOINED, answers.c.listener == listeners.c.serial)
LATER = answers.alias("later")
OWN = select(answers.c.id, answers.c.page, answers.c["values"], answers.c.supersedes).where(
    answers.c.listener == bindparam("listener")
)
NEAR = union_all(  # with the same id, or to the same page: each found by an index of its own
    OWN.where(answers.c.id == bindparam("id")), OWN.where(answers.c.page == bindparam("page"))
)
ADD = insert(answers)


def add_answer(connection: Connection, answer: Answer, id: str) -> Outcome:
    """Keep an answer; the first to a page counts, however many come."""
    return _add(connection, answer, named("id", id), "")


def correct_answer(connection: Connection, answer: Answer, id: str, supersedes: str) -> Outcome:
    """Keep an answer in place of the one with that id, which stays, but counts no more."""
    return _add(connection, answer, named("id", id), named("supersedes", supersedes))


def _add(connection: Connection, answer: Answer, id: str, supersedes: str) -> Outcome:
    who = listener_row(connection, answer.study, answer.listener)
    row = {"listener": who.serial, "id": id, "supersedes": supersedes, **_row(answer)}
    if who.state == State.WITHDRAWN:
        return Outcome.WITHDRAWN
    same = {one.id: one for one in connection.execute(NEAR, row)}
    if id in same:
        _check(same[id], row)
        return Outcome.KNOWN
    if any(one.supersedes == supersedes for one in same.values() if one.page == answer.page):
        return Outcome.TAKEN
    if supersedes and (supersedes not in same or same[supersedes].page != answer.page):
        raise UsageError(f"page {answer.page} has no answer {supersedes!r} to correct")
    connection.execute(ADD, row | {"received": now()})
    if who.state in NEW:
        joined = {"state": State.JOINED.value, "joined": now()}
        connection.execute(update(listeners).where(listeners.c.serial == who.serial).values(joined))
    return Outcome.STORED


def _row(answer: Answer) -> dict[str, Any]:
    return {
        "page": named("page", answer.page),
        "values": written("values", answer.values),
        "heard": None if answer.heard is None else written("heard", answer.heard),
        "at": plain("at", answer.at),
        "version": plain("version", answer.version),
    }


def _check(known: Any, row: dict[str, Any]) -> None:
    """Refuse an id that is used for something else: neither must be lost for the other."""
    if any(known._mapping[name] != row[name] for name in ("page", "values", "supersedes")):
        raise UsageError(f"id {row['id']!r} was used for another answer — make a new one")


def counting(connection: Connection, study: str, listener: int | None) -> list[Answer]:
    """Answers that count now, of all listeners or of one: those that nothing supersedes."""
    of_same = (LATER.c.listener == answers.c.listener) & (LATER.c.page == answers.c.page)
    corrected = select(LATER.c.serial).where(of_same, LATER.c.supersedes == answers.c.id)
    chosen = _chosen(connection, study, listener).where(~corrected.exists())
    return [_given(row).answer for row in connection.execute(chosen)]


def given(connection: Connection, study: str, listener: int | None) -> Iterator[Given]:
    """All answers as they were given, in the order they came."""
    chosen = _chosen(connection, study, listener).execution_options(yield_per=PORTION)
    with connection.execute(chosen) as rows:
        yield from map(_given, rows)


def _chosen(connection: Connection, study: str, listener: int | None) -> Select[Any]:
    chosen = select(*COLUMNS).select_from(WHOLE).order_by(answers.c.serial)
    if listener is None:
        return chosen.where(listeners.c.study == study_serial(connection, study))
    return chosen.where(answers.c.listener == listener_row(connection, study, listener).serial)


def _given(row: Sequence[Any]) -> Given:
    id, digest, number, page, values, heard, at, version, received, supersedes = row
    presented = None if heard is None else read(heard)
    answer = Answer(digest, number, page, read(values), presented, at, version)
    return Given(id, answer, received, supersedes or None)
