"""The layout of a database: its tables are created, or those of another layout refused."""

from __future__ import annotations

from sqlalchemy import Connection, insert, inspect, select

from earwitness.errors import UsageError
from earwitness.store.records import server_time
from earwitness.store.tables import TABLES, layout

LAYOUT = 1  # number of the present layout; raised by every change of the tables


def ensure_tables(connection: Connection, version: str) -> None:
    """Create all tables in an empty database.

    Raises UsageError for a database of another version or another program.
    """
    names = set(inspect(connection).get_table_names())
    if layout.name in names:
        number, creator = connection.execute(select(layout.c.number, layout.c.version)).first() or (
            0,
            "",
        )
        if number != LAYOUT:
            raise UsageError(
                f"the database was created by another version (earwitness {creator or 'unknown'}, "
                f"layout {number}; this version supports layout {LAYOUT}) — use that version, or "
                "another database"
            )
        return
    if foreign := sorted(names & set(TABLES.tables)):
        raise UsageError(
            f"the database has tables of another program or version ({', '.join(foreign)}) — use "
            "another database"
        )
    TABLES.create_all(connection)
    row = {"number": LAYOUT, "version": version, "created": server_time()}
    connection.execute(insert(layout).values(row))
