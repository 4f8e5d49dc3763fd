"""Answers: added, corrected by new ones, set aside, and read; each function is a job, or reads."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, union_all

from earwitness.data import Answer
from earwitness.errors import UsageError
from earwitness.store.listeners import JOINED, joined, listener_row, study_serial
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
    answers.c.meta,
    answers.c.aside,
)
WHOLE = answers.join(JOINED, answers.c.listener == listeners.c.serial)
LATER = answers.alias("later")
OF_SAME = (LATER.c.listener == answers.c.listener) & (LATER.c.page == answers.c.page)
SUPERSEDED = select(LATER.c.serial).where(OF_SAME, LATER.c.supersedes == answers.c.id).exists()
COUNTS = ~SUPERSEDED & (answers.c.aside == 0)
NEARBY = (answers.c.id, answers.c.page, answers.c["values"], answers.c.supersedes, answers.c.aside)
OWN = select(*NEARBY).where(answers.c.listener == bindparam("listener"))
NEAR = union_all(  # with the same id, or to these pages: each found by an index of its own
    OWN.where(answers.c.id == bindparam("id")),
    OWN.where(answers.c.page == bindparam("page")),
    OWN.where(answers.c.page == bindparam("after")),
)
ADD = insert(answers)
ANSWERED = (  # made once: what every visit asks
    select(answers.c.page, answers.c.received)
    .where(answers.c.listener == bindparam("listener"), COUNTS)
    .order_by(answers.c.serial)
)
Meta = Mapping[str, Any] | None


def add_answer(
    connection: Connection, answer: Answer, id: str, meta: Meta = None, after: str = ""
) -> Outcome:
    """Keep an answer; the first to a page counts, however many come.

    If a page is named that it comes ``after``, that must have an answer which counts.
    """
    return _add(connection, answer, named("id", id), "", meta, after)


def correct_answer(
    connection: Connection, answer: Answer, id: str, supersedes: str, meta: Meta = None
) -> Outcome:
    """Keep an answer in place of the one with that id, which stays, but counts no more."""
    return _add(connection, answer, named("id", id), named("supersedes", supersedes), meta)


def _add(
    connection: Connection, answer: Answer, id: str, supersedes: str, meta: Meta, after: str = ""
) -> Outcome:
    who = listener_row(connection, answer.study, answer.listener)
    row = {"listener": who.serial, "id": id, **_row(answer, meta)}
    if who.state == State.WITHDRAWN:
        return Outcome.WITHDRAWN
    same = {one.id: one for one in connection.execute(NEAR, row | {"after": after})}
    of_page = [one for one in same.values() if one.page == answer.page]
    emptied = _emptied(of_page)
    if id in same:
        _check(same[id], row, {supersedes} if supersedes else {"", *emptied})
        return _again(of_page, id)
    taken = {one.supersedes for one in of_page}
    if not supersedes:
        supersedes = next((one for one in emptied if one not in taken), "")
    if supersedes in taken:
        return Outcome.TAKEN
    if after and not _has_answer(same.values(), after):
        return Outcome.EARLY
    if supersedes and supersedes not in {one.id for one in of_page}:
        raise UsageError(f"page {answer.page} has no answer {supersedes!r} to correct")
    connection.execute(ADD, row | {"supersedes": supersedes, "received": now()})
    if who.state in NEW:
        joined(connection, who.serial)
    return Outcome.STORED


def _again(of_page: Iterable[Any], id: str) -> Outcome:
    """What became of an answer that comes again: it may have been set aside since."""
    later = {one.supersedes: one for one in of_page}
    after = list[Any]()
    while id in later:
        after.append(later[id])
        id = after[-1].id
    if not any(one.aside for one in after):
        return Outcome.KNOWN
    return Outcome.ASIDE if after[-1].aside else Outcome.TAKEN


def _has_answer(rows: Iterable[Any], page: str) -> bool:
    """Whether one of a page's rows counts."""
    own = [one for one in rows if one.page == page]
    past = {one.supersedes for one in own}
    return any(one.id not in past and not one.aside for one in own)


def _emptied(rows: Iterable[Any]) -> list[str]:
    """Ids of rows that set an answer aside."""
    return [one.id for one in rows if one.aside]


def _row(answer: Answer, meta: Meta) -> dict[str, Any]:
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
    if who.state == State.WITHDRAWN:
        return 0
    chosen = select(answers).where(answers.c.listener == who.serial, COUNTS)
    same = ("listener", "page", "values", "heard", "at", "version")
    rows = [
        {name: one._mapping[name] for name in same}
        | {"id": secrets.token_hex(16), "supersedes": one.id, "received": now(), "aside": 1}
        for one in connection.execute(chosen.order_by(answers.c.serial))
        if one.page in wanted
    ]
    if rows:
        connection.execute(ADD, rows)
    return len(rows)


def counting(connection: Connection, study: str, listener: int | None) -> list[Given]:
    """Answers that count now, of all listeners or of one: those that nothing supersedes."""
    chosen = _chosen(connection, study, listener).where(COUNTS)
    return [_given(row) for row in connection.execute(chosen)]


def answered(connection: Connection, study: str, listener: int) -> dict[str, str]:
    """Pages with an answer that counts, in the order they came, and when they did."""
    who = listener_row(connection, study, listener)
    rows = connection.execute(ANSWERED, {"listener": who.serial})
    return {page: received for page, received in rows}  # noqa: C416


def answer_to(connection: Connection, study: str, listener: int, page: str) -> Answer | None:
    """The answer to a page that counts."""
    chosen = _chosen(connection, study, listener).where(COUNTS)
    row = connection.execute(chosen.where(answers.c.page == page)).one_or_none()
    return None if row is None else _given(row).answer


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
    id, digest, number, page, values, heard, at, version, received, supersedes, meta, aside = row
    presented = None if heard is None else read(heard)
    answer = Answer(digest, number, page, read(values), presented, at, version)
    kept = None if meta is None else read(meta)
    return Given(id, answer, received, supersedes or None, kept, bool(aside))
