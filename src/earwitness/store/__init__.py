"""Database of listeners' answers in SQLite or PostgreSQL.

Acknowledged answers are on disk. Answers are only ever added: a correction is a new row, and rows
are deleted only when a listener withdraws. All requests are idempotent.
"""

from __future__ import annotations

from importlib.util import find_spec

from earwitness.errors import MissingExtra

if find_spec("sqlalchemy") is None:
    raise MissingExtra("sqlalchemy", "serve", "keeping answers in a database")
