"""Changes of the texts and audio files of a study after its first answer.

The texts and the digests of audio files are recorded when a study is served. What changed after the
first answer is reported by serve, status, check and analyse.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from earwitness.core import count_text
from earwitness.store.records import SubmittedAnswer
from earwitness.store.store import Store
from earwitness.store.versions import AudioVersion, TextVersion
from earwitness.studies.file.reader import study_texts
from earwitness.studies.file.recordings import recording_texts
from earwitness.studies.study import Study

SHOWN_CHANGES = 5  # files and texts named in a note


def record_version(store: Store, plan: Study, files: Iterable[str], folder: Path) -> None:
    """Record the texts of a study, and the digests of those audio files that can be read.

    Of long recordings, the names and sizes of their files stand with the texts.
    """
    store.record_texts(plan.digest, study_texts(plan) | recording_texts(plan, folder))
    store.record_audio(plan.digest, _hash_files(files, folder))


def _hash_files(files: Iterable[str], folder: Path) -> dict[str, str]:
    """Return the SHA-256 digests of files by name; those that cannot be read are left out."""
    digests = dict[str, str]()
    for name in files:
        with suppress(OSError), (folder / name).open("rb") as file:
            digests[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return digests


def changed_audio_notes(store: Store, plan: Study, folder: Path) -> list[str]:
    """Return notes on audio files that are not those of the first answer, or no longer exist.

    Of files that were restored, only those are named of which another version was answered.
    """
    if not store.has_answers(plan.digest):
        return []
    recorded = store.audio(plan.digest)
    present = _hash_files(recorded, folder)
    changed = [
        f"{name} ({_change_text(versions, present.get(name))})"
        for name, versions in recorded.items()
        if present.get(name) != versions[0].digest
    ]
    notes = []
    if changed:
        notes = [
            f"{_count_files(changed)} changed since the first answer: {_list_shown(changed)} — "
            "restore the files, or use a separate database for the new ones (--db)"
        ]
    if any(len(versions) > 1 for versions in recorded.values()):
        notes += answered_audio_notes(recorded, store.counted_answers(plan.digest))
    return notes


def answered_audio_notes(
    recorded: Mapping[str, Sequence[AudioVersion]], submissions: Sequence[SubmittedAnswer]
) -> list[str]:
    """Return a note on audio files that changed while trials were answered, and how many."""
    received = sorted(
        submission.received for submission in submissions if submission.answer.heard is not None
    )
    changed = []
    for name, versions in recorded.items():
        parts = []
        for version, end in zip(
            versions, [version.since for version in versions[1:]] + [""], strict=True
        ):
            last = bisect_left(received, end) if end else len(received)
            count = last - bisect_left(received, version.since)
            if count > 0 and version.digest != versions[0].digest:
                since = version.since[:16]
                period = f"from {since} to {end[:16]}" if end else f"since {since}"
                parts.append(f"{count:,} of {len(received):,} trials {period}")
        if parts:
            changed.append(f"{name} ({', '.join(parts)})")
    if not changed:
        return []
    return [f"{_count_files(changed)} changed while listeners answered: {_list_shown(changed)}"]


def _count_files(files: Sequence[str]) -> str:
    return count_text(len(files), "audio file")


def _list_shown(changes: Sequence[str]) -> str:
    return ", ".join(changes[:SHOWN_CHANGES]) + (", …" if len(changes) > SHOWN_CHANGES else "")


def _change_text(versions: Sequence[AudioVersion], present: str | None) -> str:
    """Return since when a file is another one."""
    if present is None:
        return "cannot be read"
    if present != versions[-1].digest:
        return "not served yet"
    return f"served since {versions[-1].since[:16]}"


def changed_text_notes(
    versions: Sequence[TextVersion], submissions: Sequence[SubmittedAnswer]
) -> list[str]:
    """Return a note per change of texts after the first answer: when, and which texts."""
    notes = []
    for before, after in pairwise(versions):
        names = [
            name
            for name in {**before.texts, **after.texts}
            if before.texts.get(name) != after.texts.get(name)
        ]
        earlier = sum(submission.received < after.since for submission in submissions)
        notes.append(
            f"texts changed at {after.since[:16]}, after {earlier:,} of {len(submissions):,} "
            f"answers: {_list_shown(names)}"
        )
    return notes
