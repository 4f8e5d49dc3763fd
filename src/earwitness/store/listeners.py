"""Studies, listeners, open places and the hashed identifiers of withdrawn listeners."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from earwitness.errors import UsageError
from earwitness.store.records import Listener, ParticipationState, server_time
from earwitness.store.tables import answers, check_name, check_text, events, listeners, studies

# --- Hashed identifiers of withdrawn listeners ---------------------------------------------------
# What another service calls a person is deleted when they withdraw. A hash of it is kept, made with
# a secret of the study: it says nothing by itself, and nobody can find the person by it in another
# study. Whoever has the store and guesses an id can see whether it withdrew; so ids that can be
# guessed stay as private as the store.


def hash_person(secret: str, outside: str) -> str:
    """What is kept of the id of a person who withdrew.

    >>> hash_person("a", "5f8a") == hash_person("a", "5f8a") != hash_person("b", "5f8a")
    True
    """
    return hmac.new(secret.encode(), outside.encode(), hashlib.sha256).hexdigest()


def read_secret(connection: Connection, digest: str) -> str | None:
    """The secret of a study, if anybody has withdrawn from it."""
    return connection.scalar(select(studies.c.secret).where(studies.c.digest == digest))


def ensure_secret(connection: Connection, digest: str) -> str:
    """The secret of a study, made when it is first needed."""
    secret = read_secret(connection, digest)
    if secret is None:
        secret = secrets.token_hex(32)
        study_update = update(studies).where(studies.c.digest == digest)
        connection.execute(study_update.values({"secret": secret}))
    return secret


# --- Studies and listeners -----------------------------------------------------------------------


LISTENER_COLUMNS = (
    studies.c.digest,
    listeners.c.number,
    listeners.c.token,
    listeners.c.outside,
    listeners.c.state,
    listeners.c.joined,
    listeners.c.finished,
    listeners.c.withdrawn,
    listeners.c.code,
)
LISTENERS_WITH_STUDIES = listeners.join(studies, listeners.c.study == studies.c.serial)
LISTENER_BY_NUMBER = (  # made once: what every answer asks
    select(listeners.c.serial, listeners.c.state, listeners.c.code)
    .select_from(LISTENERS_WITH_STUDIES)
    .where(studies.c.digest == bindparam("digest"), listeners.c.number == bindparam("number"))
)

LISTENER_BY_TOKEN = (
    select(*LISTENER_COLUMNS)
    .select_from(LISTENERS_WITH_STUDIES)
    .where(listeners.c.token == bindparam("token"))
)


def add_study(connection: Connection, digest: str, title: str) -> None:
    """Enter a study by the digest of its file; it may be there already."""
    query = select(studies.c.serial).where(studies.c.digest == check_name("digest", digest))
    if connection.scalar(query) is None:
        row = {"digest": digest, "title": check_text("title", title), "added": server_time()}
        connection.execute(insert(studies).values(row))


def add_listeners(
    connection: Connection, study: str, numbers: Iterable[int], *, open: bool = False
) -> list[Listener]:
    """Give every number a link; numbers that have one keep it. Open ones may be claimed."""
    serial, wanted_numbers = study_serial(connection, study), sorted(set(numbers))
    numbers_query = select(listeners.c.number).where(listeners.c.study == serial)
    stored_numbers = set(connection.scalars(numbers_query))
    state = ParticipationState.OPEN if open else ParticipationState.INVITED
    rows = [
        {
            "study": serial,
            "number": number,
            "token": secrets.token_urlsafe(24),
            "state": state.value,
        }
        for number in wanted_numbers
        if number not in stored_numbers
    ]
    if rows:
        connection.execute(insert(listeners), rows)
    query = (
        select(*LISTENER_COLUMNS)
        .select_from(LISTENERS_WITH_STUDIES)
        .where(listeners.c.study == serial)
    )
    stored_rows = connection.execute(query.order_by(listeners.c.number))
    return [listener_from_row(row) for row in stored_rows if row.number in set(wanted_numbers)]


@dataclass(frozen=True)
class OpenPlaceQuota:
    """So many may come by the open link in all, to numbers up to the last of the study."""

    max_people: int
    last_number: int


def claim(
    connection: Connection,
    study: str,
    *,
    outside: str | None = None,
    request: str | None = None,
    quota: OpenPlaceQuota | None = None,
) -> Listener | None:
    """The open number that is next, for whoever comes; None when there are no more.

    The same person, by what another service calls them (``outside``) or by an id that their browser
    made (``request``), gets the same number again.
    """
    listener = find_claim(connection, study, outside=outside, request=request)
    if listener is not None:
        return listener
    column, person = _person_column(outside, request)
    serial = study_serial(connection, study)
    if quota is not None and not _count_remaining_quota(connection, serial, quota):
        return None
    free_place = _free_place_condition(serial, quota)
    next_place = select(listeners.c.serial).where(free_place).order_by(listeners.c.number).limit(1)
    change = {
        column: person,
        listeners.c.state: ParticipationState.JOINED.value,
        listeners.c.joined: server_time(),
    }
    connection.execute(
        update(listeners).where(listeners.c.serial == next_place.scalar_subquery()).values(change)
    )
    return _find_listener(connection, (listeners.c.study == serial) & (column == person))


def find_claim(
    connection: Connection, study: str, *, outside: str | None = None, request: str | None = None
) -> Listener | None:
    """The number that a person has claimed, if any, also who has withdrawn; nothing is taken."""
    column, person = _person_column(outside, request)
    serial = study_serial(connection, study)
    listener = _find_listener(connection, (listeners.c.study == serial) & (column == person))
    if listener is not None or outside is None:
        return listener
    if (secret := read_secret(connection, study)) is None:
        return None
    has_withdrawn = listeners.c.gone == hash_person(secret, outside)
    return _find_listener(connection, (listeners.c.study == serial) & has_withdrawn)


def count_free_places(
    connection: Connection, study: str, quota: OpenPlaceQuota | None = None
) -> int:
    """How many open numbers wait for somebody."""
    serial = study_serial(connection, study)
    query = select(func.count()).where(_free_place_condition(serial, quota))
    free_places = connection.scalar(query) or 0
    if quota is None:
        return free_places
    return min(free_places, _count_remaining_quota(connection, serial, quota))


def _count_remaining_quota(connection: Connection, serial: int, quota: OpenPlaceQuota) -> int:
    """How many more may come: everybody counts who ever came, also who has withdrawn since."""
    person_columns = (listeners.c.outside, listeners.c.request, listeners.c.gone)
    has_come = or_(*(column.is_not(None) for column in person_columns))
    query = select(func.count()).where(listeners.c.study == serial, has_come)
    return max(0, quota.max_people - (connection.scalar(query) or 0))


def uninvite(connection: Connection, study: str, most: int) -> list[int]:
    """Take links back from the last listeners who were invited and of whom nothing has come.

    Their numbers are as if nobody had ever had them; those who have a link now find nothing.
    """
    serial = study_serial(connection, study)
    traces = (
        select(table.c.listener).where(table.c.listener == listeners.c.serial).exists()
        for table in (answers, events)
    )
    is_idle = (listeners.c.study == serial) & (
        listeners.c.state == ParticipationState.INVITED.value
    )
    query = select(listeners.c.number).where(is_idle, *(~trace for trace in traces))
    numbers = list(connection.scalars(query.order_by(listeners.c.number.desc()).limit(most)))
    is_uninvited = (listeners.c.study == serial) & listeners.c.number.in_(numbers)
    connection.execute(delete(listeners).where(is_uninvited))
    return sorted(numbers)


def _free_place_condition(serial: int, quota: OpenPlaceQuota | None) -> ColumnElement[bool]:
    is_free = (listeners.c.study == serial) & (listeners.c.state == ParticipationState.OPEN.value)
    return is_free if quota is None else is_free & (listeners.c.number <= quota.last_number)


def _person_column(outside: str | None, request: str | None) -> tuple[Column[str | None], str]:
    """By which column a person is known, and as what."""
    if (outside is None) == (request is None):
        raise UsageError("a claim needs either the id of another service or that of a request")
    if outside is None:
        return listeners.c.request, check_name("id", request or "")
    return listeners.c.outside, check_name("id", outside)


def listener_by_token(connection: Connection, token: str) -> Listener | None:
    """Whose link this is."""
    row = connection.execute(LISTENER_BY_TOKEN, {"token": check_text("token", token)}).one_or_none()
    return None if row is None else listener_from_row(row)


def study_serial(connection: Connection, digest: str) -> int:
    """The row of a study."""
    query = select(studies.c.serial).where(studies.c.digest == check_text("study", digest))
    serial: int | None = connection.scalar(query)
    if serial is None:
        message = f"the store has no study {digest[:12]}…"
        raise UsageError(f"{message} — has the study file changed since?")
    return serial


def listener_row(connection: Connection, study: str, number: int) -> Any:
    """The row of a listener: serial, state, code."""
    parameters = {"digest": check_text("study", study), "number": number}
    row = connection.execute(LISTENER_BY_NUMBER, parameters).one_or_none()
    if row is None:
        raise UsageError(f"the store has no listener {number} of study {study[:12]}…")
    return row


def mark_joined(connection: Connection, serial: int) -> None:
    """Remember that somebody takes part from now on."""
    change = {"state": ParticipationState.JOINED.value, "joined": server_time()}
    connection.execute(update(listeners).where(listeners.c.serial == serial).values(change))


def change_state(
    connection: Connection,
    study: str,
    number: int,
    before: ParticipationState,
    after: ParticipationState,
) -> bool:
    """Let a listener who is in one state be in another; whether they were."""
    listener = listener_row(connection, study, number)
    if listener.state == before:
        query = update(listeners).where(listeners.c.serial == listener.serial)
        connection.execute(query.values({"state": after.value}))
    return bool(listener.state == before)


def listener_from_row(row: Sequence[Any]) -> Listener:
    """A listener out of ``LISTENER_COLUMNS``."""
    digest, number, token, outside, state, *times_and_code = row
    return Listener(digest, number, token, outside, ParticipationState(state), *times_and_code)


def _find_listener(connection: Connection, where: ColumnElement[bool]) -> Listener | None:
    row = connection.execute(
        select(*LISTENER_COLUMNS).select_from(LISTENERS_WITH_STUDIES).where(where)
    ).one_or_none()
    return None if row is None else listener_from_row(row)
