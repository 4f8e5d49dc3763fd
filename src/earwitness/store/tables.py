"""Database tables and their layout, and checks of texts before they are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    insert,
    inspect,
    select,
)
from sqlalchemy.sql.schema import SchemaItem

from earwitness.errors import BadAnswer, UsageError, printable, whole_characters
from earwitness.store.records import server_time

# --- Table definitions ---------------------------------------------------------------------------
# An answer that corrects none supersedes ``""``: so one constraint, that listener, page and
# superseded id are unique together, ensures both that a page is answered once and that an answer is
# corrected once. A row with ``aside`` is not an answer: it sets aside the one that it supersedes,
# and the page is open again. For withdrawn listeners, ``gone`` is their external id, hashed with
# the ``secret`` of the study. A number belongs to one listener at a time: if another person takes
# the place of a listener, ``former`` keeps the number, and ``number`` becomes minus ``serial``.


TABLES = MetaData()
ROWS_IN_MEMORY = 1000  # rows fetched at a time


def _table(name: str, *parts: SchemaItem) -> Table:
    """Return a table whose primary key is in order of arrival."""
    kind = BigInteger().with_variant(Integer, "sqlite")
    return Table(name, TABLES, Column("serial", kind, primary_key=True), *parts)


def _text_columns(*names: str) -> list[Column[str]]:
    return [Column(name, Text, nullable=False, quote=name == "values") for name in names]


def _optional_text_columns(*names: str) -> list[Column[str | None]]:
    return [Column(name, Text) for name in names]


def columns_of(table: Table, *names: str) -> tuple[Column[Any], ...]:
    """Return columns of a table by name."""
    return tuple(table.c[name] for name in names)


def _reference_column(name: str, table: str) -> Column[int]:
    return Column(name, BigInteger, ForeignKey(f"{table}.serial"), nullable=False)


layout = Table(  # one row
    "layout",
    TABLES,
    Column("number", Integer, primary_key=True, autoincrement=False),
    *_text_columns("version", "created"),
)
studies = _table(
    "studies",
    *_text_columns("digest", "title", "added"),
    *_optional_text_columns("secret"),
    UniqueConstraint("digest"),
)
listeners = _table(
    "listeners",
    _reference_column("study", "studies"),
    Column("number", BigInteger, nullable=False),
    *_text_columns("token"),
    *_optional_text_columns("outside", "request"),
    *_text_columns("state"),
    *_optional_text_columns("joined", "finished", "withdrawn", "code", "gone"),
    Column("former", BigInteger),
    Column("repeats", Integer, nullable=False, server_default="0"),
    UniqueConstraint("token"),
    UniqueConstraint("study", "number"),
    UniqueConstraint("study", "outside"),
    UniqueConstraint("study", "request"),
    Index("listeners_by_state", "study", "state", "number"),
)
answers = _table(
    "answers",
    _reference_column("listener", "listeners"),
    *_text_columns("page", "id", "values"),
    *_optional_text_columns("heard"),
    *_text_columns("at", "received", "version", "supersedes"),
    *_optional_text_columns("meta"),
    Column("aside", Integer, nullable=False, server_default="0"),
    UniqueConstraint("listener", "id"),
    UniqueConstraint("listener", "page", "supersedes"),
)
events = _table(
    "events",
    _reference_column("listener", "listeners"),
    *_text_columns("page", "id", "what", "details", "at", "received"),
    UniqueConstraint("listener", "id"),
)


drafts = _table(
    "drafts",
    _reference_column("listener", "listeners"),
    *_text_columns("page", "data"),
    Column("revision", BigInteger, nullable=False),
    *_text_columns("received"),
    UniqueConstraint("listener"),
)


study_texts = _table(
    "study_texts",
    _reference_column("study", "studies"),
    *_text_columns("texts", "since"),
)
study_audio = _table(
    "study_audio",
    _reference_column("study", "studies"),
    *_text_columns("file", "digest", "since"),
)


# --- Checks of stored texts ----------------------------------------------------------------------


MAX_NAME_CHARACTERS = 200  # limit for indexed columns


def check_name(what: str, text: str) -> str:
    """Return a valid name; raise UsageError otherwise.

    >>> check_name("page", "1.12")
    '1.12'
    """
    misfit = _describe_misfit(text) or ("" if text else "is empty")
    if not misfit and text != printable(text):
        misfit = "contains a control character"
    if not misfit and len(text) > MAX_NAME_CHARACTERS:
        misfit = f"has {len(text):,} characters, more than {MAX_NAME_CHARACTERS}"
    if misfit:
        raise UsageError(f"{what} {misfit}: {whole_characters(text[:40])!r}")
    return text


def check_text(what: str, text: str) -> str:
    """Return a text of any length; raise UsageError for invalid characters."""
    if misfit := _describe_misfit(text):
        raise UsageError(f"{what} {misfit}: {whole_characters(text[:40])!r}")
    return text


def values_to_json(what: str, values: Mapping[str, Any]) -> str:
    r"""Return values as JSON; zero bytes are escaped.

    >>> values_to_json("values", {"remarks": "\0 & 🙂"})
    '{"remarks": "\\u0000 & 🙂"}'
    """
    try:
        text = json.dumps(dict(values), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadAnswer([f"{what} cannot be written as JSON: {error}"]) from None
    if misfit := _describe_misfit(text):
        raise BadAnswer([f"{what} {misfit}"])
    return text


def values_from_json(text: str) -> dict[str, Any]:
    """Return values from JSON."""
    values: dict[str, Any] = json.loads(text)
    return values


def _describe_misfit(text: str) -> str:
    if "\0" in text:
        return "contains a zero byte"
    return (
        "" if text == whole_characters(text) else "contains an invalid character (a lone surrogate)"
    )


# --- Layout of a database -------------------------------------------------------------------------


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
