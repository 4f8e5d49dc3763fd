"""The tables, one definition for every database; :mod:`migrations` is how they came to be so.

An answer that corrects none supersedes ``""``: so one rule, that listener, page and what is
superseded are unique together, says both that a page is answered once and that an answer is
corrected once. A row that is ``aside`` is no answer: it sets aside the one that it supersedes, and
the page is open again. Of who has withdrawn, ``gone`` is what another service called them, hashed
with the ``secret`` of the study.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

TABLES = MetaData()
PORTION = 1000  # rows that are in memory while all are read


def _serial() -> Column[int]:
    """Rows in the order they came."""
    return Column("serial", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, quote=name == "values")


def _perhaps(name: str) -> Column[str | None]:
    return Column(name, Text)


def _of(name: str, table: str) -> Column[int]:
    return Column(name, BigInteger, ForeignKey(f"{table}.serial"), nullable=False)


migrations = Table(
    "migrations",
    TABLES,
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text("name"),
    _text("applied"),
    _text("version"),
)
studies = Table(
    "studies",
    TABLES,
    _serial(),
    _text("digest"),
    _text("title"),
    _text("added"),
    _perhaps("secret"),
    UniqueConstraint("digest"),
)
listeners = Table(
    "listeners",
    TABLES,
    _serial(),
    _of("study", "studies"),
    Column("number", BigInteger, nullable=False),
    _text("token"),
    _perhaps("outside"),
    _perhaps("request"),
    _text("state"),
    _perhaps("joined"),
    _perhaps("finished"),
    _perhaps("withdrawn"),
    _perhaps("code"),
    _perhaps("gone"),
    UniqueConstraint("token"),
    UniqueConstraint("study", "number"),
    UniqueConstraint("study", "outside"),
    UniqueConstraint("study", "request"),
    Index("listeners_by_state", "study", "state", "number"),
)
answers = Table(
    "answers",
    TABLES,
    _serial(),
    _of("listener", "listeners"),
    _text("page"),
    _text("id"),
    _text("values"),
    _perhaps("heard"),
    _text("at"),
    _text("received"),
    _text("version"),
    _text("supersedes"),
    _perhaps("meta"),
    Column("aside", Integer, nullable=False),
    UniqueConstraint("listener", "id"),
    UniqueConstraint("listener", "page", "supersedes"),
)
events = Table(
    "events",
    TABLES,
    _serial(),
    _of("listener", "listeners"),
    _text("page"),
    _text("id"),
    _text("what"),
    _text("details"),
    _text("at"),
    _text("received"),
    UniqueConstraint("listener", "id"),
)
