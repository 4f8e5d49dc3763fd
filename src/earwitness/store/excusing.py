"""Who was blocked and is excused may come in once: by one visit, however often that asks."""

from __future__ import annotations

from sqlalchemy import Connection, select

from earwitness.store.events import add_events
from earwitness.store.listeners import change_state, listener_row
from earwitness.store.records import Event, State
from earwitness.store.tables import events

EXCUSED = "excused"  # the event that says which visit used an excuse


def let_in(connection: Connection, study: str, listener: int, visit: str) -> bool:
    """Whether an excuse lets this visit in, which uses it up.

    A visit has an id that its sender made, so that one whose first reply was lost is known again;
    one without an id is let in once.
    """
    used = change_state(connection, study, listener, State.EXCUSED, State.JOINED)
    if used and visit:
        add_events(connection, study, listener, [Event(_id(visit), "", EXCUSED)])
    return used or (bool(visit) and _used(connection, study, listener, visit))


def _used(connection: Connection, study: str, listener: int, visit: str) -> bool:
    who = listener_row(connection, study, listener)
    own = (events.c.listener == who.serial) & (events.c.id == _id(visit))
    found = connection.scalar(select(events.c.serial).where(own, events.c.what == EXCUSED))
    return found is not None and who.state == State.JOINED


def _id(visit: str) -> str:
    return f"visit {visit}"  # ids of events that browsers make have no blank
