"""Store of listeners' answers in SQLite or PostgreSQL.

What was acknowledged is on disk. Answers are only ever added: a correction is a new row, and only
a listener who withdraws takes rows away. Every request may come again, and changes nothing then.
"""

from __future__ import annotations

from importlib.util import find_spec

from earwitness.errors import MissingExtra

if find_spec("sqlalchemy") is None:
    raise MissingExtra("sqlalchemy", "serve", "keeping answers in a database")
