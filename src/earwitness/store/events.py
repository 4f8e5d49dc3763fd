"""What happened on pages: sounds played, windows hidden, sound that came too late."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, insert, select

from earwitness.errors import UsageError
from earwitness.store.listeners import JOINED, listener_row, study_serial
from earwitness.store.records import Event, State, now
from earwitness.store.tables import PORTION, events, listeners
from earwitness.store.texts import named, plain, read, written

MOST = 1000  # events at once


def add_events(connection: Connection, study: str, listener: int, happened: Sequence[Event]) -> int:
    """Keep events; how many were new. Of who has withdrawn, nothing is kept."""
    if len(happened) > MOST:
        raise UsageError(f"{len(happened):,} events at once are more than {MOST:,}")
    who = listener_row(connection, study, listener)
    rows = {one.id: _row(who.serial, one) for one in happened}
    if who.state == State.WITHDRAWN or not rows:
        return 0
    known = select(events.c.id).where(events.c.listener == who.serial, events.c.id.in_(rows))
    for id in set(connection.scalars(known)):
        del rows[id]
    if rows:
        connection.execute(insert(events), list(rows.values()))
    return len(rows)


def _row(serial: int, event: Event) -> dict[str, Any]:
    return {
        "listener": serial,
        "id": named("id", event.id),
        "page": plain("page", event.page),
        "what": named("what", event.what),
        "details": written("details", event.details),
        "at": plain("at", event.at),
        "received": now(),
    }


def of_page(connection: Connection, study: str, listener: int, page: str, what: str) -> list[Event]:
    """Events of one sort on one page, in the order they came."""
    who = listener_row(connection, study, listener)
    columns = (events.c.id, events.c.page, events.c.what, events.c.details, events.c.at)
    chosen = select(*columns).where(
        events.c.listener == who.serial, events.c.page == page, events.c.what == what
    )
    rows = connection.execute(chosen.order_by(events.c.serial))
    return [Event(id, page, what, read(details), at) for id, page, what, details, at in rows]


def happened(
    connection: Connection, study: str, listener: int | None
) -> Iterator[tuple[int, str, Event]]:
    """All events in the order they came, with the listener's number and the server's time."""
    columns = (events.c.id, events.c.page, events.c.what, events.c.details, events.c.at)
    whole = events.join(JOINED, events.c.listener == listeners.c.serial)
    chosen = select(listeners.c.number, events.c.received, *columns).select_from(whole)
    if listener is None:
        chosen = chosen.where(listeners.c.study == study_serial(connection, study))
    else:
        who = listener_row(connection, study, listener)
        chosen = chosen.where(events.c.listener == who.serial)
    portions = chosen.order_by(events.c.serial).execution_options(yield_per=PORTION)
    with connection.execute(portions) as rows:
        for number, received, id, page, what, details, at in rows:
            yield number, received, Event(id, page, what, read(details), at)
