"""Database tables, and checks of texts before they are stored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

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

from earwitness.errors import BadAnswer, UsageError, whole_characters

# --- Table definitions ---------------------------------------------------------------------------
# An answer that corrects none supersedes ``""``: so one rule, that listener, page and what is
# superseded are unique together, says both that a page is answered once and that an answer is
# corrected once. A row that is ``aside`` is no answer: it sets aside the one that it supersedes,
# and the page is open again. Of who has withdrawn, ``gone`` is what another service called them,
# hashed with the ``secret`` of the study.


TABLES = MetaData()
ROWS_IN_MEMORY = 1000  # rows that are in memory while all are read


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


# --- Checks of stored texts ----------------------------------------------------------------------


MAX_NAME_CHARACTERS = 200  # so that it fits into an index


def named(what: str, text: str) -> str:
    """A short text that something is found by.

    >>> named("page", "1.12")
    '1.12'
    """
    wrong = _misfit(text) or ("" if text else "is empty")
    if not wrong and len(text) > MAX_NAME_CHARACTERS:
        wrong = f"has {len(text):,} characters, more than {MAX_NAME_CHARACTERS}"
    if wrong:
        raise UsageError(f"{what} {wrong}: {whole_characters(text[:40])!r}")
    return text


def plain(what: str, text: str) -> str:
    """Any text, empty or long, without what is no character."""
    if wrong := _misfit(text):
        raise UsageError(f"{what} {wrong}: {whole_characters(text[:40])!r}")
    return text


def written(what: str, values: Mapping[str, Any]) -> str:
    r"""Values as JSON; a zero byte is spelt there, so that it survives.

    >>> written("values", {"remarks": "\0 & 🙂"})
    '{"remarks": "\\u0000 & 🙂"}'
    """
    try:
        text = json.dumps(dict(values), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise BadAnswer([f"{what} cannot be written as JSON: {error}"]) from None
    if wrong := _misfit(text):
        raise BadAnswer([f"{what} {wrong}"])
    return text


def read(text: str) -> dict[str, Any]:
    """Values that were written."""
    found: dict[str, Any] = json.loads(text)
    return found


def _misfit(text: str) -> str:
    if "\0" in text:
        return "has a zero byte"
    return "" if text == whole_characters(text) else "has half a character (a lone surrogate)"
