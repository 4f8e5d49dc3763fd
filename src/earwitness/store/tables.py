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

from earwitness.errors import BadAnswer, UsageError, printable, whole_characters

# --- Table definitions ---------------------------------------------------------------------------
# An answer that corrects none supersedes ``""``: so one constraint, that listener, page and
# superseded id are unique together, ensures both that a page is answered once and that an answer is
# corrected once. A row with ``aside`` is not an answer: it sets aside the one that it supersedes,
# and the page is open again. For withdrawn listeners, ``gone`` is their external id, hashed with
# the ``secret`` of the study. A number belongs to one listener at a time: if another person takes
# the place of a listener, ``former`` keeps the number, and ``number`` becomes minus ``serial``.


TABLES = MetaData()
ROWS_IN_MEMORY = 1000  # rows fetched at a time


def _serial_column() -> Column[int]:
    """Return the primary key, in order of arrival."""
    return Column("serial", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _text_column(name: str) -> Column[str]:
    return Column(name, Text, nullable=False, quote=name == "values")


def _optional_text_column(name: str) -> Column[str | None]:
    return Column(name, Text)


def _reference_column(name: str, table: str) -> Column[int]:
    return Column(name, BigInteger, ForeignKey(f"{table}.serial"), nullable=False)


layout = Table(  # one row
    "layout",
    TABLES,
    Column("number", Integer, primary_key=True, autoincrement=False),
    _text_column("version"),
    _text_column("created"),
)
studies = Table(
    "studies",
    TABLES,
    _serial_column(),
    _text_column("digest"),
    _text_column("title"),
    _text_column("added"),
    _optional_text_column("secret"),
    UniqueConstraint("digest"),
)
listeners = Table(
    "listeners",
    TABLES,
    _serial_column(),
    _reference_column("study", "studies"),
    Column("number", BigInteger, nullable=False),
    _text_column("token"),
    _optional_text_column("outside"),
    _optional_text_column("request"),
    _text_column("state"),
    _optional_text_column("joined"),
    _optional_text_column("finished"),
    _optional_text_column("withdrawn"),
    _optional_text_column("code"),
    _optional_text_column("gone"),
    Column("former", BigInteger),
    Column("repeats", Integer, nullable=False, server_default="0"),
    UniqueConstraint("token"),
    UniqueConstraint("study", "number"),
    UniqueConstraint("study", "outside"),
    UniqueConstraint("study", "request"),
    Index("listeners_by_state", "study", "state", "number"),
)
answers = Table(
    "answers",
    TABLES,
    _serial_column(),
    _reference_column("listener", "listeners"),
    _text_column("page"),
    _text_column("id"),
    _text_column("values"),
    _optional_text_column("heard"),
    _text_column("at"),
    _text_column("received"),
    _text_column("version"),
    _text_column("supersedes"),
    _optional_text_column("meta"),
    Column("aside", Integer, nullable=False, server_default="0"),
    UniqueConstraint("listener", "id"),
    UniqueConstraint("listener", "page", "supersedes"),
)
events = Table(
    "events",
    TABLES,
    _serial_column(),
    _reference_column("listener", "listeners"),
    _text_column("page"),
    _text_column("id"),
    _text_column("what"),
    _text_column("details"),
    _text_column("at"),
    _text_column("received"),
    UniqueConstraint("listener", "id"),
)


drafts = Table(
    "drafts",
    TABLES,
    _serial_column(),
    _reference_column("listener", "listeners"),
    _text_column("page"),
    _text_column("data"),
    Column("revision", BigInteger, nullable=False),
    _text_column("received"),
    UniqueConstraint("listener"),
)


study_texts = Table(
    "study_texts",
    TABLES,
    _serial_column(),
    _reference_column("study", "studies"),
    _text_column("texts"),
    _text_column("since"),
)
study_audio = Table(
    "study_audio",
    TABLES,
    _serial_column(),
    _reference_column("study", "studies"),
    _text_column("file"),
    _text_column("digest"),
    _text_column("since"),
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
