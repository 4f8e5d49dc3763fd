"""What tests of the store share: a study, answers to it, and a look into databases from outside."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import psycopg

from earwitness.core import Answer

DIGEST = "d" * 64


def answer(page: str = "1.1", listener: int = 1, **values: Any) -> Answer:
    """An answer to a page."""
    heard = {"item": "a", "systems": ["C0"], "target": 0}
    return Answer(DIGEST, listener, page, values or {"ovrl": 4}, heard, "2026-01-01", "1.2.3")


def ask(address: str, query: str) -> list[tuple[Any, ...]]:
    """Ask the database itself, past the store."""
    if address.startswith("sqlite"):
        with closing(sqlite3.connect(address.removeprefix("sqlite:///"))) as connection:
            found = connection.execute(query).fetchall()
            connection.commit()
            return found
    with psycopg.connect(address) as other:
        cursor = other.execute(query.encode())
        return cursor.fetchall() if cursor.description else []
