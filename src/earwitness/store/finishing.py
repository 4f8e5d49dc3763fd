"""How taking part ends: with a code that proves it, or with nothing left; each a job."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from sqlalchemy import Connection, delete, select, update

from earwitness.store.answers import answered
from earwitness.store.knowing import hashed, new_secret
from earwitness.store.listeners import listener_row
from earwitness.store.records import Finish, State, now
from earwitness.store.tables import answers, events, listeners

LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # none looks like another
LENGTH = 10


def finish(connection: Connection, study: str, listener: int, pages: Iterable[str]) -> Finish:
    """Count answers to all ``pages``: those missing, or a code, the same however often asked.

    Of who has withdrawn, all are missing.
    """
    who = listener_row(connection, study, listener)
    done = answered(connection, study, listener)
    missing = tuple(page for page in pages if page not in done)
    if missing or who.state == State.WITHDRAWN:
        return Finish(missing, None)
    if who.code is not None:
        return Finish((), who.code)
    code = "".join(secrets.choice(LETTERS) for _ in range(LENGTH))
    change = {"state": State.FINISHED.value, "finished": now(), "code": code}
    connection.execute(update(listeners).where(listeners.c.serial == who.serial).values(change))
    return Finish((), code)


def withdraw(connection: Connection, study: str, listener: int) -> None:
    """Delete all that came from a listener; that the number was used is kept, and its link.

    What another service calls them is deleted, too; a keyed hash of it is kept, by which they are
    known should they come again.
    """
    who = listener_row(connection, study, listener)
    for table in (answers, events):
        connection.execute(delete(table).where(table.c.listener == who.serial))
    if who.state == State.WITHDRAWN:
        return
    own = update(listeners).where(listeners.c.serial == who.serial)
    outside = select(listeners.c.outside).where(listeners.c.serial == who.serial)
    if (name := connection.scalar(outside)) is not None:
        connection.execute(own.values({"gone": hashed(new_secret(connection, study), name)}))
    change = {"state": State.WITHDRAWN.value, "withdrawn": now(), "outside": None, "code": None}
    connection.execute(own.values(change))
