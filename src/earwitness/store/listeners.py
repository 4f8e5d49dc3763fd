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
from earwitness.store.records import Listener, ParticipationState, now
from earwitness.store.tables import answers, events, listeners, named, plain, studies

# --- Hashed identifiers of withdrawn listeners ---------------------------------------------------
# What another service calls a person is deleted when they withdraw. A hash of it is kept, made with
# a secret of the study: it says nothing by itself, and nobody can find the person by it in another
# study. Whoever has the store and guesses an id can see whether it withdrew; so ids that can be
# guessed stay as private as the store.


def hashed(secret: str, outside: str) -> str:
    """What is kept of the id of a person who withdrew.

    >>> hashed("a", "5f8a") == hashed("a", "5f8a") != hashed("b", "5f8a")
    True
    """
    return hmac.new(secret.encode(), outside.encode(), hashlib.sha256).hexdigest()


def secret_of(connection: Connection, digest: str) -> str | None:
    """The secret of a study, if anybody has withdrawn from it."""
    return connection.scalar(select(studies.c.secret).where(studies.c.digest == digest))


def new_secret(connection: Connection, digest: str) -> str:
    """The secret of a study, made when it is first needed."""
    found = secret_of(connection, digest)
    if found is None:
        found = secrets.token_hex(32)
        own = update(studies).where(studies.c.digest == digest)
        connection.execute(own.values({"secret": found}))
    return found


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
    known = select(studies.c.serial).where(studies.c.digest == named("digest", digest))
    if connection.scalar(known) is None:
        row = {"digest": digest, "title": plain("title", title), "added": now()}
        connection.execute(insert(studies).values(row))


def add_listeners(
    connection: Connection, study: str, numbers: Iterable[int], *, open: bool = False
) -> list[Listener]:
    """Give every number a link; numbers that have one keep it. Open ones may be claimed."""
    serial, wanted = study_serial(connection, study), sorted(set(numbers))
    at = select(listeners.c.number).where(listeners.c.study == serial)
    known = set(connection.scalars(at))
    state = ParticipationState.OPEN if open else ParticipationState.INVITED
    rows = [
        {"study": serial, "number": one, "token": secrets.token_urlsafe(24), "state": state.value}
        for one in wanted
        if one not in known
    ]
    if rows:
        connection.execute(insert(listeners), rows)
    found = (
        select(*LISTENER_COLUMNS)
        .select_from(LISTENERS_WITH_STUDIES)
        .where(listeners.c.study == serial)
    )
    rows_now = connection.execute(found.order_by(listeners.c.number))
    return [listener(row) for row in rows_now if row.number in set(wanted)]


@dataclass(frozen=True)
class OpenPlaceQuota:
    """So many may come by the open link in all, to numbers up to the last of the study."""

    most: int
    last: int


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
    known = claimed(connection, study, outside=outside, request=request)
    if known is not None:
        return known
    column, by = _person(outside, request)
    serial = study_serial(connection, study)
    if quota is not None and not _left(connection, serial, quota):
        return None
    free = _free(serial, quota)
    next_one = select(listeners.c.serial).where(free).order_by(listeners.c.number).limit(1)
    change = {
        column: by,
        listeners.c.state: ParticipationState.JOINED.value,
        listeners.c.joined: now(),
    }
    connection.execute(
        update(listeners).where(listeners.c.serial == next_one.scalar_subquery()).values(change)
    )
    return _find(connection, (listeners.c.study == serial) & (column == by))


def claimed(
    connection: Connection, study: str, *, outside: str | None = None, request: str | None = None
) -> Listener | None:
    """The number that a person has claimed, if any, also who has withdrawn; nothing is taken."""
    column, by = _person(outside, request)
    serial = study_serial(connection, study)
    found = _find(connection, (listeners.c.study == serial) & (column == by))
    if found is not None or outside is None:
        return found
    if (secret := secret_of(connection, study)) is None:
        return None
    gone = listeners.c.gone == hashed(secret, outside)
    return _find(connection, (listeners.c.study == serial) & gone)


def free(connection: Connection, study: str, quota: OpenPlaceQuota | None = None) -> int:
    """How many open numbers wait for somebody."""
    serial = study_serial(connection, study)
    waiting = connection.scalar(select(func.count()).where(_free(serial, quota))) or 0
    return waiting if quota is None else min(waiting, _left(connection, serial, quota))


def _left(connection: Connection, serial: int, quota: OpenPlaceQuota) -> int:
    """How many more may come: everybody counts who ever came, also who has withdrawn since."""
    by = (listeners.c.outside, listeners.c.request, listeners.c.gone)
    came = or_(*(column.is_not(None) for column in by))
    own = select(func.count()).where(listeners.c.study == serial, came)
    return max(0, quota.most - (connection.scalar(own) or 0))


def uninvite(connection: Connection, study: str, most: int) -> list[int]:
    """Take links back from the last listeners who were invited and of whom nothing has come.

    Their numbers are as if nobody had ever had them; those who have a link now find nothing.
    """
    serial = study_serial(connection, study)
    came = (
        select(table.c.listener).where(table.c.listener == listeners.c.serial).exists()
        for table in (answers, events)
    )
    idle = (listeners.c.study == serial) & (listeners.c.state == ParticipationState.INVITED.value)
    chosen = select(listeners.c.number).where(idle, *(~one for one in came))
    numbers = list(connection.scalars(chosen.order_by(listeners.c.number.desc()).limit(most)))
    own = (listeners.c.study == serial) & listeners.c.number.in_(numbers)
    connection.execute(delete(listeners).where(own))
    return sorted(numbers)


def _free(serial: int, quota: OpenPlaceQuota | None) -> ColumnElement[bool]:
    waiting = (listeners.c.study == serial) & (listeners.c.state == ParticipationState.OPEN.value)
    return waiting if quota is None else waiting & (listeners.c.number <= quota.last)


def _person(outside: str | None, request: str | None) -> tuple[Column[str | None], str]:
    """By which column a person is known, and as what."""
    if (outside is None) == (request is None):
        raise UsageError("a claim needs either the id of another service or that of a request")
    if outside is None:
        return listeners.c.request, named("id", request or "")
    return listeners.c.outside, named("id", outside)


def listener_by_token(connection: Connection, token: str) -> Listener | None:
    """Whose link this is."""
    row = connection.execute(LISTENER_BY_TOKEN, {"token": plain("token", token)}).one_or_none()
    return None if row is None else listener(row)


def study_serial(connection: Connection, digest: str) -> int:
    """The row of a study."""
    found = select(studies.c.serial).where(studies.c.digest == plain("study", digest))
    serial: int | None = connection.scalar(found)
    if serial is None:
        told = f"the store has no study {digest[:12]}…"
        raise UsageError(f"{told} — has the study file changed since?")
    return serial


def listener_row(connection: Connection, study: str, number: int) -> Any:
    """The row of a listener: serial, state, code."""
    by = {"digest": plain("study", study), "number": number}
    row = connection.execute(LISTENER_BY_NUMBER, by).one_or_none()
    if row is None:
        raise UsageError(f"the store has no listener {number} of study {study[:12]}…")
    return row


def joined(connection: Connection, serial: int) -> None:
    """Remember that somebody takes part from now on."""
    change = {"state": ParticipationState.JOINED.value, "joined": now()}
    connection.execute(update(listeners).where(listeners.c.serial == serial).values(change))


def change_state(
    connection: Connection,
    study: str,
    number: int,
    before: ParticipationState,
    after: ParticipationState,
) -> bool:
    """Let a listener who is in one state be in another; whether they were."""
    who = listener_row(connection, study, number)
    if who.state == before:
        own = update(listeners).where(listeners.c.serial == who.serial)
        connection.execute(own.values({"state": after.value}))
    return bool(who.state == before)


def listener(row: Sequence[Any]) -> Listener:
    """A listener out of ``LISTENER_COLUMNS``."""
    digest, number, token, outside, state, *rest = row
    return Listener(digest, number, token, outside, ParticipationState(state), *rest)


def _find(connection: Connection, where: ColumnElement[bool]) -> Listener | None:
    row = connection.execute(
        select(*LISTENER_COLUMNS).select_from(LISTENERS_WITH_STUDIES).where(where)
    ).one_or_none()
    return None if row is None else listener(row)
