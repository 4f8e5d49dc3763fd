"""Answered pages of listeners, read incrementally: each request reads only the new answers.

Answers are only ever added, except that a withdrawal deletes all answers of a listener. So the
answers in memory are still complete up to the last one if that one is still stored. Nothing is
assumed about who writes: other processes may use the same database.

Most requests run this query and no other. It is sent to the driver directly, which costs half.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from sqlalchemy import Engine, PoolProxiedConnection, bindparam, select

from earwitness.store.database import is_timeout, values_in_order
from earwitness.store.listeners import (
    LISTENER_COLUMNS,
    LISTENERS_WITH_STUDIES,
    listener_from_row,
)
from earwitness.store.records import Listener, Visit
from earwitness.store.tables import answers, check_text, columns_of, listeners

MAX_UNUSED_CONNECTIONS = 8  # kept for the next visits; the pool has the others
MAX_CACHED_PAGES = 600_000  # of all listeners, about 70 MB, and 1 kB per listener
ANSWER_COLUMNS = columns_of(answers, "serial", "id", "page", "received", "supersedes", "aside")
VISIT_QUERY = (  # one row per answer from ``first`` on, or one row without an answer
    select(*LISTENER_COLUMNS, *ANSWER_COLUMNS)
    .select_from(
        LISTENERS_WITH_STUDIES.outerjoin(
            answers,
            (answers.c.listener == listeners.c.serial) & (answers.c.serial >= bindparam("first")),
        )
    )
    .where(listeners.c.token == bindparam("token"))
    .order_by(answers.c.serial)
)
Rows = Sequence[Sequence[Any]]  # as the query returns them


@dataclass(frozen=True, slots=True)
class AnsweredPages:
    """Answered pages of a listener with the server's times, and the last answer of any kind."""

    listener: Listener
    last_row: Sequence[Any]  # as the query returns it
    pages: Mapping[str, str]

    @property
    def last_serial(self) -> int:
        """Serial number of the last answer."""
        return int(self.last_row[len(LISTENER_COLUMNS)])

    @property
    def last_id(self) -> str:
        """Id of the last answer."""
        return str(self.last_row[len(LISTENER_COLUMNS) + 1])


class VisitReader:
    """Reads listeners with their answered pages; may be used from any thread."""

    def __init__(self, engine: Engine) -> None:
        compiled = VISIT_QUERY.compile(engine)
        self._engine, self._sql = engine, str(compiled)
        self._names: Sequence[str] | None = getattr(compiled, "positiontup", None)
        self._unused = list[PoolProxiedConnection]()  # open connections
        self._cache = OrderedDict[str, AnsweredPages]()  # least recently changed first
        self._page_count, self._lock = 0, Lock()

    def read(self, token: str) -> Visit | None:
        """Return the listener of a link and their answered pages, if there is such a link."""
        known = self._cache.get(check_text("token", token))
        rows = self._read_rows(token, known)
        if known is not None and len(rows) == 1 and rows[0] == known.last_row:  # nothing is new
            return Visit(known.listener, known.pages)
        if known is not None and not _continues(rows, known):
            known = None
            rows = self._read_rows(token, None)
        if not rows:
            self._keep(token, None)
            return None
        listener = listener_from_row(rows[0][: len(LISTENER_COLUMNS)])
        answer_rows = [row[len(LISTENER_COLUMNS) :] for row in rows]
        if answer_rows[0][0] is None:  # no answers
            self._keep(token, None)
            return Visit(listener, {})
        if known is None:
            pages: Mapping[str, str] = _counted_pages(answer_rows)
        elif len(answer_rows) > 1:
            pages = {**known.pages, **_counted_pages(answer_rows[1:])}
        else:
            pages = known.pages
        self._keep(token, AnsweredPages(listener, rows[-1], pages))
        return Visit(listener, pages)

    def recent(self, token: str) -> Visit | None:
        """Return what was last known of a listener with answers, if it is in memory."""
        answered = self._cache.get(token)
        return None if answered is None else Visit(answered.listener, answered.pages)

    def extend(self, token: str, visit: Visit, pages: Mapping[str, str]) -> None:
        """Replace the answered pages of a recent visit after another answer was committed.

        Nothing is changed if the visit is not the last known one any more.
        """
        answered = self._cache.get(token)
        if answered is not None and answered.pages is visit.pages:
            self._keep(token, replace(answered, pages=pages))

    def _read_rows(self, token: str, known: AnsweredPages | None) -> Rows:
        """Return rows from the last known answer on, in one statement and so of one state."""
        first = 0 if known is None else known.last_serial
        values = values_in_order({"token": token, "first": first}, self._names)
        try:
            connection = self._unused.pop()
        except IndexError:
            return self._read_with(self._connect(), values)
        try:
            return self._read_with(connection, values)
        except self._engine.dialect.loaded_dbapi.OperationalError as error:
            if self._engine.dialect.name == "sqlite" or is_timeout(error):
                raise
            # the server may have been restarted
            return self._read_with(self._connect(), values)

    def _connect(self) -> PoolProxiedConnection:
        connection = self._engine.raw_connection()
        if self._engine.dialect.name == "postgresql" and connection.dbapi_connection is not None:
            # a statement is a transaction of its own
            self._engine.dialect.set_isolation_level(connection.dbapi_connection, "AUTOCOMMIT")
        return connection

    def _read_with(self, connection: PoolProxiedConnection, values: Any) -> Rows:
        """Return rows, and keep the connection for the next visit unless it has failed."""
        try:
            driver: Any = connection.driver_connection
            rows: Rows = driver.execute(self._sql, values).fetchall()
        except BaseException:
            connection.invalidate()
            raise
        if len(self._unused) < MAX_UNUSED_CONNECTIONS:
            self._unused.append(connection)
        else:
            self._return(connection)
        return rows

    def _return(self, connection: PoolProxiedConnection) -> None:
        """Return a connection to the pool as it was."""
        if self._engine.dialect.name == "postgresql" and connection.dbapi_connection is not None:
            self._engine.dialect.reset_isolation_level(connection.dbapi_connection)
        connection.close()

    def close(self) -> None:
        """Close all connections."""
        while self._unused:
            self._return(self._unused.pop())

    def _keep(self, token: str, answered: AnsweredPages | None) -> None:
        """Keep answered pages, or forget those of a listener who has none any more."""
        with self._lock:
            old = self._cache.pop(token, None)
            self._page_count -= 0 if old is None else len(old.pages)
            if answered is None:
                return
            self._page_count += len(answered.pages)
            self._cache[token] = answered
            while self._page_count > MAX_CACHED_PAGES:
                _, oldest = self._cache.popitem(last=False)
                self._page_count -= len(oldest.pages)


def _continues(rows: Rows, known: AnsweredPages) -> bool:
    """Whether rows start with the last known answer, and no later one replaces another."""
    if not rows:
        return False
    (serial, id, *_), *new_rows = [row[len(LISTENER_COLUMNS) :] for row in rows]
    is_plain = all(not supersedes and not aside for *_, supersedes, aside in new_rows)
    return (serial, id) == (known.last_serial, known.last_id) and is_plain


def _counted_pages(answer_rows: Rows) -> dict[str, str]:
    """Return pages with an answer that counts, in order of arrival, with the times."""
    superseded = {row[4] for row in answer_rows}
    return {
        sys.intern(page): received
        for _, id, page, received, _, aside in answer_rows
        if id not in superseded and not aside
    }
