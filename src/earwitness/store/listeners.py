"""Studies, listeners, open places and the hashed identifiers of withdrawn listeners."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    bindparam,
    delete,
    func,
    insert,
    literal_column,
    or_,
    select,
    update,
)

from earwitness.errors import UsageError
from earwitness.store.database import DirectStatement
from earwitness.store.records import Listener, ParticipationState, PlaceRefusal, server_time
from earwitness.store.tables import (
    answers,
    check_name,
    check_text,
    columns_of,
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
    rows = STUDY_SECRET.rows(connection, {"digest": digest})
    return rows[0].secret if rows else None


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
    *columns_of(
        listeners,
        "number",
        "token",
        "outside",
        "state",
        "joined",
        "finished",
        "withdrawn",
        "code",
        "former",
        "repeats",
    ),
)
ListenerKey = int | str  # number, or token of the personal link
LISTENERS_WITH_STUDIES = listeners.join(studies, listeners.c.study == studies.c.serial)
LISTENER_KEY = (
    select(listeners.c.serial, listeners.c.state, listeners.c.code)
    .select_from(LISTENERS_WITH_STUDIES)
    .where(studies.c.digest == bindparam("digest"))
)
LISTENER_BY_KEY = {
    name: DirectStatement(LISTENER_KEY.where(listeners.c[name] == bindparam(name)))
    for name in ("number", "token")
}
LISTENER = select(*LISTENER_COLUMNS).select_from(LISTENERS_WITH_STUDIES)
LISTENER_BY_PERSON = {
    column.name: DirectStatement(
        LISTENER.where(studies.c.digest == bindparam("digest"), column == bindparam(column.name))
    )
    for column in (listeners.c.request, listeners.c.outside, listeners.c.gone)
}
STUDY_SECRET = DirectStatement(
    select(studies.c.secret).where(studies.c.digest == bindparam("digest"))
)


def add_study(connection: Connection, digest: str, title: str) -> None:
    """Add a study by the digest of its file, if it is not yet stored."""
    query = select(studies.c.serial).where(studies.c.digest == check_name("digest", digest))
    if connection.scalar(query) is None:
        row = {"digest": digest, "title": check_text("title", title), "added": server_time()}
        connection.execute(insert(studies).values(row))


def add_listeners(
    connection: Connection, study: str, numbers: Collection[int], *, open: bool = False
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
    query = LISTENER.where(listeners.c.study == serial)
    stored_rows = connection.execute(query.order_by(listeners.c.number))
    return [listener_from_row(row) for row in stored_rows if row.number in set(wanted_numbers)]


# --- Places at the open link ---------------------------------------------------------------------
# A place is free if nobody has taken it, if its listener has withdrawn or may not take part, or if
# its listener has not been active for a time, which is short until a second answer. In the last
# case, the place is only given away when another person takes it: until then, an idle listener can
# continue. The answers of a replaced listener are kept, but do not count.


GONE_STATES = (ParticipationState.WITHDRAWN, ParticipationState.INELIGIBLE)
MAX_REPEATS = 1000  # further repeats are not counted
MAX_NUMBER = 2**31 - 1  # of places and people
UNUSED_HOURS = 0.5  # idle time after the answer that took the place, until another one
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
    may take the place (0: never). With only the answer that took the place, it is half an hour.
    """

    max_people: int = MAX_NUMBER
    last_number: int = MAX_NUMBER
    idle_hours: float = 0

    @property
    def unused_hours(self) -> float:
        """Idle time after which a place without a second answer is free."""
        return min(self.idle_hours or UNUSED_HOURS, UNUSED_HOURS)


ANY_PLACE = OpenPlaceQuota()


def is_in_state(states: Iterable[ParticipationState]) -> ColumnElement[bool]:
    """Return the condition for the states of a listener, for statements compiled once."""
    names: list[ColumnElement[str]] = [literal_column(f"'{state.value}'") for state in states]
    return listeners.c.state.in_(names)


def _is_idle(since: str) -> ColumnElement[bool]:
    """Return the condition for listeners who have not been active since the time of this name."""
    is_idle: ColumnElement[bool] = listeners.c.joined < bindparam(since)
    for table in (answers, events, drafts):
        is_own = table.c.listener == listeners.c.serial
        is_recent = table.c.received >= bindparam(since)
        is_idle &= ~select(table.c.serial).where(is_own, is_recent).exists()
    return is_idle


HAS_COME = or_(
    *(
        column.is_not(None)
        for column in (listeners.c.outside, listeners.c.request, listeners.c.gone)
    )
)  # by the open link
STUDY_SERIAL = select(studies.c.serial).where(studies.c.digest == bindparam("digest"))
IS_CURRENT = (listeners.c.study == STUDY_SERIAL.scalar_subquery()) & listeners.c.former.is_(None)
IS_PLACE = IS_CURRENT & (listeners.c.number <= bindparam("last_number"))
HAS_ANSWERED_TWICE = (  # plain numbers would become parameters
    select(answers.c.serial)
    .where(answers.c.listener == listeners.c.serial)
    .limit(literal_column("1"))
    .offset(literal_column("1"))
    .exists()
)
FREE_CONDITIONS = (  # unused, of listeners who left, and of idle ones
    IS_PLACE & is_in_state([ParticipationState.OPEN]),
    IS_PLACE & HAS_COME & is_in_state(GONE_STATES),
    IS_PLACE
    & HAS_COME
    & is_in_state(UNFINISHED_STATES)
    & (_is_idle("since") | (~HAS_ANSWERED_TWICE & _is_idle("unused_since"))),
)
LAST_ANSWERED = select(func.max(answers.c.received)).where(answers.c.listener == listeners.c.serial)
LAST_ACTIVE = func.coalesce(
    LAST_ANSWERED.scalar_subquery(), listeners.c.joined, literal_column("''")
)
PLACE_COLUMNS = columns_of(listeners, "serial", "study", "number", "state")
HOLDERS = select(func.count()).where(IS_CURRENT, HAS_COME, ~is_in_state(GONE_STATES))
UNHELD = select(listeners.c.serial).where(FREE_CONDITIONS[0] | FREE_CONDITIONS[1])
COUNT_HOLDERS = DirectStatement(
    select(HOLDERS.label("holders"), UNHELD.exists().label("is_unheld"))
)
COUNT_FREE = [
    DirectStatement(select(func.count()).where(condition)) for condition in FREE_CONDITIONS
]
FIND_IDLE = DirectStatement(
    select(listeners.c.serial)
    .where(FREE_CONDITIONS[2])
    .limit(bindparam("wanted"))
    .offset(literal_column("0"))
)
FIND_NEXT = [
    DirectStatement(
        select(*PLACE_COLUMNS).where(condition).order_by(LAST_ACTIVE, listeners.c.number)
    )
    for condition in FREE_CONDITIONS
]


def _place_values(study: str, quota: OpenPlaceQuota) -> dict[str, Any]:
    """Return the parameters of the statements above."""
    return {
        "digest": study,
        "last_number": quota.last_number,
        "since": server_time(quota.idle_hours) if quota.idle_hours else "",
        "unused_since": server_time(quota.unused_hours),
    }


def claim(
    connection: Connection,
    study: str,
    request: str,
    *,
    outside: str | None = None,
    quota: OpenPlaceQuota = ANY_PLACE,
) -> Listener | PlaceRefusal:
    """Take the next free place, or return why there is none.

    A person is identified by ``request``, a secret of their browser, which also becomes the token
    of their link: the same one gets the same place again. An id of another service (``outside``)
    can be claimed once, and identifies nobody.
    """
    listener = find_claim(connection, study, request=check_name("id", request))
    if listener is not None:
        return listener
    if outside is not None and count_repeat(connection, study, outside):
        return PlaceRefusal.STARTED
    place = _vacate_place(connection, study, quota)
    if place is None:
        return PlaceRefusal.FULL
    person = {"token": request, "request": request, "outside": outside, "repeats": 0}
    connection.execute(insert(listeners).values(place | person))
    claimed = find_claim(connection, study, request=request)
    assert claimed is not None
    return claimed


def reclaim(connection: Connection, study: str, token: str, quota: OpenPlaceQuota) -> bool:
    """Give a free place to a replaced listener who has answered once; return whether this worked.

    Nothing that they have answered was about another number.
    """
    is_own = (listeners.c.token == token) & is_in_state([ParticipationState.LAPSED])
    query = select(listeners.c.serial).where(is_own, ~HAS_ANSWERED_TWICE)
    serial = connection.scalar(query)
    change = None if serial is None else _vacate_place(connection, study, quota)
    if change is not None:
        change["serial"] = serial
        connection.execute(update(listeners).where(listeners.c.serial == serial), change)
    return change is not None


def _vacate_place(
    connection: Connection, study: str, quota: OpenPlaceQuota
) -> dict[str, Any] | None:
    """Take the next free place from whoever had it; return the values of its new listener.

    Without a free place, return None. The answers of the former listener are kept.
    """
    place = _next_place(connection, study, quota)
    if place is None:
        return None
    change = {"study": place.study, "number": place.number, "former": None}
    if place.state == ParticipationState.OPEN:
        connection.execute(delete(listeners).where(listeners.c.serial == place.serial))
        change["serial"] = place.serial
    else:
        is_gone = place.state in GONE_STATES
        state = place.state if is_gone else ParticipationState.LAPSED.value
        change_listener(
            connection, place.serial, number=-place.serial, former=place.number, state=state
        )
        delete_draft(connection, place.serial)
    return change | {"state": ParticipationState.JOINED.value, "joined": server_time()}


def find_claim(
    connection: Connection, study: str, *, outside: str | None = None, request: str | None = None
) -> Listener | None:
    """Return the listener who has claimed a place, if any, even after withdrawal or replacement."""
    if (outside is None) == (request is None):
        raise UsageError("a claim needs exactly one of outside and request")
    if outside is None:
        return _find_listener(connection, study, "request", check_name("id", request or ""))
    listener = _find_listener(connection, study, "outside", check_name("id", outside))
    if listener is not None or (secret := read_secret(connection, study)) is None:
        return listener
    return _find_listener(connection, study, "gone", hash_person(secret, outside))


def count_repeat(connection: Connection, study: str, outside: str) -> bool:
    """Count another claim of an external id; return whether the id was claimed before."""
    listener = find_claim(connection, study, outside=outside)
    if listener is None:
        return False
    is_same = (listeners.c.token == listener.token) & (listeners.c.repeats < MAX_REPEATS)
    connection.execute(update(listeners).where(is_same).values(repeats=listeners.c.repeats + 1))
    return True


def count_free_places(connection: Connection, study: str, quota: OpenPlaceQuota = ANY_PLACE) -> int:
    """Return the number of open places that are still free, or free again."""
    values = _place_values(study, quota)
    counts: list[int] = [statement.rows(connection, values)[0][0] for statement in COUNT_FREE]
    active: int = COUNT_HOLDERS.rows(connection, values)[0].holders - counts[-1]
    return min(sum(counts), max(0, quota.max_people - active))


def has_free_place(
    connection: Connection, study: str, quota: OpenPlaceQuota, *, idle: bool = True
) -> bool:
    """Return whether an open place is free; fast, since anyone may ask.

    Idle listeners are looked for with ``idle``, if needed, and only as many as must be idle.
    """
    values = _place_values(study, quota)
    [(holders, is_unheld)] = COUNT_HOLDERS.rows(connection, values)
    if is_unheld and holders < quota.max_people:
        return True
    if not idle:
        return False
    wanted: int = max(1, holders - quota.max_people + 1)
    values["wanted"] = wanted
    return len(FIND_IDLE.rows(connection, values)) == wanted


def _next_place(connection: Connection, study: str, quota: OpenPlaceQuota) -> Any:
    """Return the row of the next free place: an unused one if any, else the longest idle one.

    If the quota is reached together with idle listeners, one of these is replaced: so it is not
    exceeded if the others come back.
    """
    if not has_free_place(connection, study, quota):
        return None
    values = _place_values(study, quota)
    [(holders, _)] = COUNT_HOLDERS.rows(connection, values)
    statements = FIND_NEXT[2 * (holders >= quota.max_people) :]
    found = (place for statement in statements for place in statement.rows(connection, values))
    return next(found, None)


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
    column, values = key_values(study, listener)
    rows = LISTENER_BY_KEY[column].rows(connection, values)
    if not rows:
        who = "with this link" if isinstance(listener, str) else listener
        raise UsageError(f"listener {who} of study {study[:12]}… is not in the database")
    return rows[0]


def key_values(study: str, listener: ListenerKey) -> tuple[str, dict[str, Any]]:
    """Return the column that identifies a listener, and the values that a statement needs."""
    column = "token" if isinstance(listener, str) else "number"
    who = check_text(column, listener) if isinstance(listener, str) else listener
    return column, {"digest": check_text("study", study), column: who}


def delete_draft(connection: Connection, serial: int, page: str = "") -> None:
    """Delete the draft of a listener; if a page is given, only a draft of this page."""
    is_draft = drafts.c.listener == serial
    if page:
        is_draft &= drafts.c.page == page
    connection.execute(delete(drafts).where(is_draft))


def change_listener(connection: Connection, serial: int, **values: Any) -> None:
    """Change columns of a listener."""
    connection.execute(update(listeners).where(listeners.c.serial == serial).values(values))


def mark_joined(connection: Connection, serial: int) -> None:
    """Record that a listener has started."""
    change_listener(connection, serial, state=ParticipationState.JOINED.value, joined=server_time())


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
        change_listener(connection, row.serial, state=after.value)
    return bool(row.state == before)


def listener_from_row(row: Sequence[Any]) -> Listener:
    """Return a listener from a row of ``LISTENER_COLUMNS``."""
    digest, number, token, outside, state, *times_and_code = row
    return Listener(digest, number, token, outside, ParticipationState(state), *times_and_code)


def _find_listener(connection: Connection, study: str, column: str, person: str) -> Listener | None:
    rows = LISTENER_BY_PERSON[column].rows(connection, {"digest": study, column: person})
    return listener_from_row(rows[0]) if rows else None
