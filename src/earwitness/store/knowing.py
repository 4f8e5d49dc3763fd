"""Who has withdrawn is known again, though nothing says who it was.

What another service calls a person is deleted when they withdraw. A hash of it is kept, made with a
secret of the study: it says nothing by itself, and nobody can find the person by it in another
study. Whoever has the store and guesses an id can see whether it withdrew; so ids that can be
guessed stay as private as the store.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets

from sqlalchemy import Connection, select, update

from earwitness.store.tables import studies


def hashed(secret: str, outside: str) -> str:
    """What is kept of the id of a person who withdrew.

    >>> hashed("a", "5f8a") == hashed("a", "5f8a") != hashed("b", "5f8a")
    True
    """
    return hmac.new(secret.encode(), outside.encode(), hashlib.sha256).hexdigest()


def secret_of(connection: Connection, digest: str) -> str | None:
    """The secret of a study, if anybody has withdrawn from it."""
    return connection.scalar(select(studies.c.secret).where(studies.c.digest == digest))


def new_secret(connection: Connection, digest: str) -> str:
    """The secret of a study, made when it is first needed."""
    found = secret_of(connection, digest)
    if found is None:
        found = secrets.token_hex(32)
        own = update(studies).where(studies.c.digest == digest)
        connection.execute(own.values({"secret": found}))
    return found
