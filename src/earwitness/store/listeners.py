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
    true,
    update,
)

from earwitness.errors import UsageError
from earwitness.store.database import DirectStatement
from earwitness.store.records import Listener, ParticipationState, PlaceRefusal, server_time
from earwitness.store.tables import (
    answers,
    check_name,
    check_text,
    drafts,
    events,
    listeners,
    studies,
)

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
    listeners.c.former,
    listeners.c.repeats,
)
ListenerKey = int | str  # number, or token of the personal link
LISTENERS_WITH_STUDIES = listeners.join(studies, listeners.c.study == studies.c.serial)
LISTENER_KEY = (
    select(listeners.c.serial, listeners.c.state, listeners.c.code)
    .select_from(LISTENERS_WITH_STUDIES)
    .where(studies.c.digest == bindparam("digest"))
)
LISTENER_KEY_BY_NUMBER = DirectStatement(
    LISTENER_KEY.where(listeners.c.number == bindparam("number"))
)
LISTENER_KEY_BY_TOKEN = DirectStatement(LISTENER_KEY.where(listeners.c.token == bindparam("token")))
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
            "repeats": 0,
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


# --- Places at the open link ---------------------------------------------------------------------
# A place is free if nobody has taken it, if its listener has withdrawn or may not take part, or if
# its listener has not been active for a time. In the last case, the place is only given away when
# another person takes it: until then, an idle listener can continue. The answers of a replaced
# listener are kept, but do not count.


GONE_STATES = (ParticipationState.WITHDRAWN, ParticipationState.INELIGIBLE)
MAX_REPEATS = 1000  # further repeats are not counted
UNFINISHED_STATES = (
    ParticipationState.JOINED,
    ParticipationState.BLOCKED,
    ParticipationState.EXCUSED,
)


@dataclass(frozen=True)
class OpenPlaceQuota:
    """Limits on listeners who join by the open link.

    ``max_people`` is how many may hold a place at the same time, ``last_number`` the highest number
    of a place, and ``idle_hours`` how long an unfinished listener may be idle before another person
    may take the place (0: never).
    """

    max_people: int
    last_number: int
    idle_hours: float = 0


HAS_COME = or_(
    *(
        column.is_not(None)
        for column in (listeners.c.outside, listeners.c.request, listeners.c.gone)
    )
)  # by the open link


def _free_place_conditions(serial: int, quota: OpenPlaceQuota | None) -> list[ColumnElement[bool]]:
    """Return the conditions for places that are unused, of listeners who left, and of idle ones."""
    is_place = (listeners.c.study == serial) & listeners.c.former.is_(None)
    conditions: list[ColumnElement[bool]] = [
        is_place & (listeners.c.state == ParticipationState.OPEN.value),
        is_place & HAS_COME & listeners.c.state.in_([state.value for state in GONE_STATES]),
    ]
    if quota is not None and quota.idle_hours:
        since = server_time(quota.idle_hours)
        states = [state.value for state in UNFINISHED_STATES]
        is_idle = is_place & HAS_COME & listeners.c.state.in_(states) & (listeners.c.joined < since)
        for table in (answers, events, drafts):
            active = (table.c.listener == listeners.c.serial) & (table.c.received >= since)
            is_idle &= ~select(table.c.serial).where(active).exists()
        conditions.append(is_idle)
    return conditions


def _is_within(quota: OpenPlaceQuota | None) -> ColumnElement[bool]:
    """Return the condition for numbers that the study has."""
    return true() if quota is None else listeners.c.number <= quota.last_number


def claim(
    connection: Connection,
    study: str,
    request: str,
    *,
    outside: str | None = None,
    quota: OpenPlaceQuota | None = None,
) -> Listener | PlaceRefusal:
    """Take the next free place, or return why there is none.

    A person is identified by ``request``, a secret of their browser, which also becomes the token
    of their link: the same one gets the same place again. An id of another service (``outside``)
    can be claimed once, and identifies nobody.
    """
    listener = find_claim(connection, study, request=check_name("id", request))
    if listener is not None:
        return listener
    serial = study_serial(connection, study)
    if outside is not None and count_repeat(connection, study, outside):
        return PlaceRefusal.STARTED
    is_full = quota is not None and not has_free_place(connection, study, quota)
    place = None if is_full else _next_place(connection, serial, quota)
    if place is None:
        return PlaceRefusal.FULL
    change = {
        "token": request,
        "request": request,
        "outside": outside,
        "state": ParticipationState.JOINED.value,
        "joined": server_time(),
    }
    if place.state == ParticipationState.OPEN:
        connection.execute(update(listeners).where(listeners.c.serial == place.serial), change)
    else:
        _replace_listener(connection, place, change)
    claimed = find_claim(connection, study, request=request)
    assert claimed is not None
    return claimed


def _replace_listener(connection: Connection, place: Any, change: dict[str, Any]) -> None:
    """Give the place of a listener to another person; the answers of the former are kept."""
    state = place.state
    if state not in GONE_STATES:
        state = ParticipationState.LAPSED.value
    former = {"number": -place.serial, "former": place.number, "state": state}
    connection.execute(update(listeners).where(listeners.c.serial == place.serial), former)
    delete_draft(connection, place.serial)
    row = {"study": place.study, "number": place.number, "repeats": 0, **change}
    connection.execute(insert(listeners).values(row))


def find_claim(
    connection: Connection, study: str, *, outside: str | None = None, request: str | None = None
) -> Listener | None:
    """Return the listener who has claimed a place, if any, even after withdrawal or replacement."""
    column, person = _person_column(outside, request)
    serial = study_serial(connection, study)
    listener = _find_listener(connection, (listeners.c.study == serial) & (column == person))
    if listener is not None or outside is None:
        return listener
    if (secret := read_secret(connection, study)) is None:
        return None
    has_withdrawn = listeners.c.gone == hash_person(secret, outside)
    return _find_listener(connection, (listeners.c.study == serial) & has_withdrawn)


def count_repeat(connection: Connection, study: str, outside: str) -> bool:
    """Count another claim of an external id; return whether the id was claimed before."""
    listener = find_claim(connection, study, outside=outside)
    if listener is None:
        return False
    is_same = (listeners.c.token == listener.token) & (listeners.c.repeats < MAX_REPEATS)
    connection.execute(update(listeners).where(is_same).values(repeats=listeners.c.repeats + 1))
    return True


def count_free_places(
    connection: Connection, study: str, quota: OpenPlaceQuota | None = None
) -> int:
    """Return the number of open places that are still free, or free again."""
    serial = study_serial(connection, study)
    is_free = or_(*_free_place_conditions(serial, quota)) & _is_within(quota)
    query = select(func.count()).where(is_free)
    free_places = connection.scalar(query) or 0
    if quota is None:
        return free_places
    holders = _count_holders(connection, serial, quota, count_idle=False)
    return min(free_places, max(0, quota.max_people - holders))


def has_free_place(connection: Connection, study: str, quota: OpenPlaceQuota) -> bool:
    """Return whether an open place is free; fast, since anyone may ask.

    Idle listeners are looked for only if needed, and only as many as must be idle.
    """
    serial, wanted = study_serial(connection, study), 1
    conditions = _free_place_conditions(serial, quota)
    too_many = _count_holders(connection, serial, quota, count_idle=True) - quota.max_people
    if too_many >= 0:
        wanted += too_many
        del conditions[:2]
    queries = (select(listeners.c.serial).where(one, _is_within(quota)) for one in conditions)
    return any(len(connection.execute(one.limit(wanted)).all()) == wanted for one in queries)


def _count_holders(
    connection: Connection, serial: int, quota: OpenPlaceQuota, *, count_idle: bool
) -> int:
    """Return how many people hold a place of the open link, with or without idle ones."""
    has_place = (listeners.c.study == serial) & HAS_COME & listeners.c.former.is_(None)
    is_active: ColumnElement[bool] = listeners.c.state.not_in(
        [state.value for state in GONE_STATES]
    )
    _, _, *is_idle = _free_place_conditions(serial, quota)
    if is_idle and not count_idle:
        is_active &= ~(is_idle[0] & _is_within(quota))
    return connection.scalar(select(func.count()).where(has_place, is_active)) or 0


def _next_place(connection: Connection, serial: int, quota: OpenPlaceQuota | None) -> Any:
    """Return the row of the next free place: an unused one if any, else the longest idle one.

    If the quota is reached together with idle listeners, one of these is replaced: so it is not
    exceeded if the others come back.
    """
    columns = (listeners.c.serial, listeners.c.study, listeners.c.number, listeners.c.state)
    answered = select(func.max(answers.c.received)).where(answers.c.listener == listeners.c.serial)
    last = func.coalesce(answered.scalar_subquery(), listeners.c.joined, "")
    conditions = _free_place_conditions(serial, quota)
    if (
        quota is not None
        and _count_holders(connection, serial, quota, count_idle=True) >= quota.max_people
    ):
        del conditions[:2]
    for is_free in conditions:
        query = select(*columns).where(is_free, _is_within(quota))
        query = query.order_by(last, listeners.c.number).limit(1)
        if (place := connection.execute(query).one_or_none()) is not None:
            return place
    return None


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
    if serial is not None:
        return serial
    if connection.scalar(select(studies.c.serial).limit(1)) is None:
        raise UsageError(
            "the database has no study — is it a copy made while the server was running?"
            " Copy databases with: earwitness study backup"
        )
    message = f"no answers for this version of the study file ({digest[:12]}…)"
    raise UsageError(f"{message} — was the file edited after listeners started?")


def listener_row(connection: Connection, study: str, listener: ListenerKey) -> Any:
    """Return the row of a listener, by number or by token: row id, state, code.

    A number may pass to another person between two calls; a token always belongs to the same one.
    """
    parameters: dict[str, Any] = {"digest": check_text("study", study)}
    if isinstance(listener, str):
        by_token = parameters | {"token": check_text("token", listener)}
        rows = LISTENER_KEY_BY_TOKEN.rows(connection, by_token)
    else:
        rows = LISTENER_KEY_BY_NUMBER.rows(connection, parameters | {"number": listener})
    if not rows:
        who = "with this link" if isinstance(listener, str) else listener
        raise UsageError(f"listener {who} of study {study[:12]}… is not in the database")
    return rows[0]


def delete_draft(connection: Connection, serial: int, page: str = "") -> None:
    """Delete the draft of a listener; if a page is given, only a draft of this page."""
    is_draft = drafts.c.listener == serial
    if page:
        is_draft &= drafts.c.page == page
    connection.execute(delete(drafts).where(is_draft))


def mark_joined(connection: Connection, serial: int) -> None:
    """Record that a listener has started."""
    change = {"state": ParticipationState.JOINED.value, "joined": server_time()}
    connection.execute(update(listeners).where(listeners.c.serial == serial).values(change))


def change_state(
    connection: Connection,
    study: str,
    listener: ListenerKey,
    before: ParticipationState,
    after: ParticipationState,
) -> bool:
    """Change the state of a listener if it is ``old``; return whether it was."""
    row = listener_row(connection, study, listener)
    if row.state == before:
        query = update(listeners).where(listeners.c.serial == row.serial)
        connection.execute(query.values({"state": after.value}))
    return bool(row.state == before)


def listener_from_row(row: Sequence[Any]) -> Listener:
    """Return a listener from a row of ``LISTENER_COLUMNS``."""
    digest, number, token, outside, state, *times_and_code = row
    return Listener(digest, number, token, outside, ParticipationState(state), *times_and_code)


def _find_listener(connection: Connection, where: ColumnElement[bool]) -> Listener | None:
    row = connection.execute(
        select(*LISTENER_COLUMNS).select_from(LISTENERS_WITH_STUDIES).where(where)
    ).one_or_none()
    return None if row is None else listener_from_row(row)
