"""Versions of the texts and audio files of a study, with the time from which each was served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, insert, select

from earwitness.core import group_values
from earwitness.store.listeners import study_serial
from earwitness.store.records import server_time
from earwitness.store.status import has_answers
from earwitness.store.tables import (
    check_text,
    study_audio,
    study_texts,
    values_from_json,
    values_to_json,
)

# --- Texts ---------------------------------------------------------------------------------------


class TextVersion(NamedTuple):
    """Texts of a study by name, and the time from which they were served."""

    since: str
    texts: Mapping[str, str]


def record_texts(connection: Connection, study: str, texts: Mapping[str, str]) -> bool:
    """Record the texts of a study if they have changed; return whether they have.

    Before the first answer, only the present texts are kept.
    """
    serial, recorded = study_serial(connection, study), read_texts(connection, study)
    if recorded and recorded[-1].texts == texts:
        return False
    if not has_answers(connection, study):
        connection.execute(delete(study_texts).where(study_texts.c.study == serial))
    content = values_to_json("texts", texts)
    row = {"study": serial, "texts": content, "since": server_time()}
    connection.execute(insert(study_texts).values(row))
    return bool(recorded)


def read_texts(connection: Connection, study: str) -> list[TextVersion]:
    """Return the recorded texts of a study, the first ones first."""
    serial = study_serial(connection, study)
    rows = connection.execute(
        select(study_texts.c.since, study_texts.c.texts)
        .where(study_texts.c.study == serial)
        .order_by(study_texts.c.serial)
    )
    return [TextVersion(since, values_from_json(texts)) for since, texts in rows]


# --- Audio files ---------------------------------------------------------------------------------


class AudioVersion(NamedTuple):
    """Digest of an audio file, and the time from which it was served."""

    since: str
    digest: str


def record_audio(connection: Connection, study: str, digests: Mapping[str, str]) -> None:
    """Record the digests of audio files that have changed.

    Before the first answer, only the present digests are kept.
    """
    serial = study_serial(connection, study)
    if not has_answers(connection, study):
        connection.execute(delete(study_audio).where(study_audio.c.study == serial))
    known = read_audio(connection, study)
    now = server_time()
    rows = [
        {"study": serial, "file": check_text("file", name), "digest": digest, "since": now}
        for name, digest in digests.items()
        if name not in known or known[name][-1].digest != digest
    ]
    if rows:
        connection.execute(insert(study_audio), rows)


def read_audio(connection: Connection, study: str) -> dict[str, list[AudioVersion]]:
    """Return the recorded digests of each audio file, the first ones first."""
    serial = study_serial(connection, study)
    rows = connection.execute(
        select(study_audio.c.file, study_audio.c.since, study_audio.c.digest)
        .where(study_audio.c.study == serial)
        .order_by(study_audio.c.serial)
    )
    return group_values((name, AudioVersion(since, digest)) for name, since, digest in rows)


# --- Export --------------------------------------------------------------------------------------


def iterate_version_records(connection: Connection, study: str) -> Iterator[dict[str, Any]]:
    """Yield all recorded texts and digests of audio files as JSON records with their type."""
    for texts in read_texts(connection, study):
        yield {"record": "texts", "study": study, **texts._asdict()}
    for name, file_versions in read_audio(connection, study).items():
        for version in file_versions:
            yield {"record": "audio", "study": study, "file": name, **version._asdict()}
