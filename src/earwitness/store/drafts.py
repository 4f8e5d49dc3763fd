"""Unfinished input of listeners: the last draft of the open page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from earwitness.store.answers import read_answered_pages
from earwitness.store.listeners import ListenerKey, listener_row
from earwitness.store.records import ENDED_STATES, server_time
from earwitness.store.tables import check_name, drafts, values_from_json, values_to_json


class StoredDraft(NamedTuple):
    """Data of a draft, and how often drafts of this listener were saved."""

    data: dict[str, Any]
    revision: int


def add_draft(
    connection: Connection,
    study: str,
    listener: ListenerKey,
    page: str,
    data: Mapping[str, Any],
    revision: int = 0,
) -> int:
    """Store a draft in place of the earlier one; return its revision.

    ``revision`` is that of the draft which was changed. Nothing is stored, and 0 is returned, if
    the page has an answer or the listener has withdrawn; -1, if another author has changed the
    draft since.
    """
    record = listener_row(connection, study, listener)
    is_answered = page in read_answered_pages(connection, study, listener)
    if is_answered or record.state in ENDED_STATES:
        return 0
    own = drafts.c.listener == record.serial
    row = {
        "page": check_name("page", page),
        "data": values_to_json("draft", data),
        "received": server_time(),
    }
    last = connection.execute(select(drafts).where(own)).one_or_none()
    if last is None and revision:
        return -1
    if last is None:
        connection.execute(insert(drafts).values(listener=record.serial, revision=1, **row))
        return 1
    is_other = values_from_json(last.data).get("author") != data.get("author")
    if is_other and last.page == page and last.revision != revision:
        return -1
    connection.execute(update(drafts).where(own).values(revision=last.revision + 1, **row))
    return int(last.revision) + 1


def read_draft(
    connection: Connection, study: str, listener: ListenerKey, page: str
) -> StoredDraft | None:
    """Return the draft of a page, if any."""
    serial = listener_row(connection, study, listener).serial
    query = select(drafts.c.data, drafts.c.revision)
    query = query.where(drafts.c.listener == serial, drafts.c.page == page)
    row = connection.execute(query).one_or_none()
    return None if row is None else StoredDraft(values_from_json(row.data), row.revision)
