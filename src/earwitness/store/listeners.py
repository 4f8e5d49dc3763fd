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
# The external id of a person is deleted on withdrawal. A hash of it is kept, keyed with a secret
# of the study: it reveals nothing by itself and cannot be linked across studies. Anyone with the
# database who guesses an id can check whether that person withdrew, so guessable ids are only as
# private as the database.


def hash_person(secret: str, outside: str) -> str:
    """Return the keyed hash that is kept of the id of a withdrawn person.

    >>> hash_person("a", "5f8a") == hash_person("a", "5f8a") != hash_person("b", "5f8a")
    True
    """
    return hmac.new(secret.encode(), outside.encode(), hashlib.sha256).hexdigest()


def read_secret(connection: Connection, digest: str) -> str | None:
    """Return the secret of a study, if any listener has withdrawn."""
    return connection.scalar(select(studies.c.secret).where(studies.c.digest == digest))


def ensure_secret(connection: Connection, digest: str) -> str:
    """Return the secret of a study, creating it if needed."""
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
LISTENER_BY_NUMBER = (  # compiled once, since each answer runs it
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
    """Add a study by the digest of its file, if it is not yet stored."""
    query = select(studies.c.serial).where(studies.c.digest == check_name("digest", digest))
    if connection.scalar(query) is None:
        row = {"digest": digest, "title": check_text("title", title), "added": server_time()}
        connection.execute(insert(studies).values(row))


def add_listeners(
    connection: Connection, study: str, numbers: Iterable[int], *, open: bool = False
) -> list[Listener]:
    """Create a link for each number without one. Open ones may be claimed."""
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
    """Limit on the number of listeners who join by the open link, and on their numbers."""

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
    """Claim the next open number; return None if there are no more.

    The same person, identified by the id of another service (``outside``) or by an id from their
    browser (``request``), gets the same number again.
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
    """Return the number that a person has claimed, if any, even after withdrawal."""
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
    """Return the number of open places that are still free."""
    serial = study_serial(connection, study)
    query = select(func.count()).where(_free_place_condition(serial, quota))
    free_places = connection.scalar(query) or 0
    if quota is None:
        return free_places
    return min(free_places, _count_remaining_quota(connection, serial, quota))


def _count_remaining_quota(connection: Connection, serial: int, quota: OpenPlaceQuota) -> int:
    """Return how many more may join; withdrawn listeners count as joined."""
    person_columns = (listeners.c.outside, listeners.c.request, listeners.c.gone)
    has_come = or_(*(column.is_not(None) for column in person_columns))
    query = select(func.count()).where(listeners.c.study == serial, has_come)
    return max(0, quota.max_people - (connection.scalar(query) or 0))


def uninvite(connection: Connection, study: str, most: int) -> list[int]:
    """Withdraw the links of the last invited listeners who have not started; return their numbers.

    Their numbers become unused, and their links stop working.
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
    """Return the column that identifies a person, and its value."""
    if (outside is None) == (request is None):
        raise UsageError("a claim needs exactly one of outside and request")
    if outside is None:
        return listeners.c.request, check_name("id", request or "")
    return listeners.c.outside, check_name("id", outside)


def listener_by_token(connection: Connection, token: str) -> Listener | None:
    """Return the listener of a link, if any."""
    row = connection.execute(LISTENER_BY_TOKEN, {"token": check_text("token", token)}).one_or_none()
    return None if row is None else listener_from_row(row)


def study_serial(connection: Connection, digest: str) -> int:
    """Return the row id of a study."""
    query = select(studies.c.serial).where(studies.c.digest == check_text("study", digest))
    serial: int | None = connection.scalar(query)
    if serial is None:
        message = f"no answers for this version of the study file ({digest[:12]}…)"
        raise UsageError(f"{message} — was the file edited after listeners started?")
    return serial


def listener_row(connection: Connection, study: str, number: int) -> Any:
    """Return the row of a listener: row id, state, code."""
    parameters = {"digest": check_text("study", study), "number": number}
    row = connection.execute(LISTENER_BY_NUMBER, parameters).one_or_none()
    if row is None:
        raise UsageError(f"listener {number} of study {study[:12]}… is not in the database")
    return row


def mark_joined(connection: Connection, serial: int) -> None:
    """Record that a listener has started."""
    change = {"state": ParticipationState.JOINED.value, "joined": server_time()}
    connection.execute(update(listeners).where(listeners.c.serial == serial).values(change))


def change_state(
    connection: Connection,
    study: str,
    number: int,
    before: ParticipationState,
    after: ParticipationState,
) -> bool:
    """Change the state of a listener if it is ``old``; return whether it was."""
    listener = listener_row(connection, study, number)
    if listener.state == before:
        query = update(listeners).where(listeners.c.serial == listener.serial)
        connection.execute(query.values({"state": after.value}))
    return bool(listener.state == before)


def listener_from_row(row: Sequence[Any]) -> Listener:
    """Return a listener from a row of ``LISTENER_COLUMNS``."""
    digest, number, token, outside, state, *times_and_code = row
    return Listener(digest, number, token, outside, ParticipationState(state), *times_and_code)


def _find_listener(connection: Connection, where: ColumnElement[bool]) -> Listener | None:
    row = connection.execute(
        select(*LISTENER_COLUMNS).select_from(LISTENERS_WITH_STUDIES).where(where)
    ).one_or_none()
    return None if row is None else listener_from_row(row)
