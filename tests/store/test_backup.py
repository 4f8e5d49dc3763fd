"""Backups: complete while others write, refused where they would replace something, restored."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from earwitness.errors import StoreError, UsageError
from earwitness.store.backup import open_copy, restore_backup, write_backup
from earwitness.store.listeners import OpenPlaceQuota
from earwitness.store.records import AnswerOutcome, Listener, PageEvent, ParticipationState
from earwitness.store.store import Store
from helpers import store_writer
from helpers.databases import BOTH
from helpers.store_answers import DIGEST, answer, ask

OTHER = "e" * 64
WHOSE = "SELECT name FROM sqlite_master WHERE type = 'table'"


@pytest.fixture(params=BOTH)
def other_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of another empty database of either sort."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'other.db'}"
    return str(request.getfixturevalue("new_schema")())


def filled(store: Store, address: str) -> None:
    """Something in every table: corrections, a withdrawal, a place that was passed on."""
    store.record_texts(DIGEST, {"title": "A study"})
    store.record_audio(DIGEST, {"a.wav": "0" * 64})
    store.add_answer(answer("1.1", 1), "id 1", {"plays": []})
    store.correct_answer(answer("1.1", 1, ovrl=2), "id 2", "id 1")
    store.add_answer(answer("1.2", 1, remarks="\0 & 🙂"), "id 3")
    store.set_aside(DIGEST, 1, ["1.2"])
    store.add_events(DIGEST, 1, [PageEvent("e 1", "1.1", "played", {"seconds": 1.5})])
    store.add_draft(DIGEST, 1, "1.3", {"note": "a draft"})
    quota = OpenPlaceQuota(2, 4, idle_hours=1)
    for person in ("a", "b"):
        place = store.claim(DIGEST, person, outside=f"outside {person}", quota=quota)
        assert isinstance(place, Listener)
        store.add_answer(answer(listener=place.number), person)
    store.withdraw(DIGEST, "b")
    ask(address, "UPDATE answers SET received = '2020' WHERE id = 'a'")
    ask(address, "UPDATE listeners SET joined = '2020' WHERE request = 'a'")
    for person in ("c", "d"):
        assert isinstance(store.claim(DIGEST, person, quota=quota), Listener)
    assert [one.listener.former for one in store.status(DIGEST)].count(None) == 4
    assert store.finish(DIGEST, 2, []).code is not None


def content(store: Store) -> list[Any]:
    """All that a database has of the study."""
    exported = [list(store.export(DIGEST, private=private)) for private in (False, True)]
    draft = store.draft(DIGEST, 1, "1.3")
    return [*exported, store.status(DIGEST), draft, store.ensure_secret(DIGEST)]


def test_a_restored_study_is_the_same_and_goes_on(
    store: Store, address: str, other_address: str, tmp_path: Path
) -> None:
    filled(store, address)
    found = write_backup(store, DIGEST, tmp_path / "backup.db")
    assert restore_backup(tmp_path / "backup.db", other_address, DIGEST, "9.9.9") == found
    assert found[:2] == (2, 2)  # of one who answered, and of one whose place was passed on
    with Store.open(other_address) as restored:
        assert content(restored) == content(store)
        assert store.claim(DIGEST, "c") == restored.claim(DIGEST, "c")
        assert restored.add_answer(answer("1.1", 1), "id 1", {"plays": []}) == AnswerOutcome.KNOWN
        assert restored.add_answer(answer("1.2", 1), "id 4") == AnswerOutcome.STORED
        assert restored.add_answer(answer("1.1", 2), "id 4") == AnswerOutcome.STORED
        assert restored.add_events(DIGEST, 2, [PageEvent("e 1", "1.1", "played")]) == 1
        assert restored.add_draft(DIGEST, 2, "1.3", {}) == 1
        assert [one.number for one in restored.add_listeners(DIGEST, [9])] == [9]
        restored.add_study(OTHER, "Another study")
        restored.record_audio(DIGEST, {"b.wav": "1" * 64})
        assert restored.record_texts(DIGEST, {"title": "New"})
        assert [one.answer.page for one in restored.history(DIGEST, 1)][-1] == "1.2"


def test_a_study_is_restored_beside_another(
    store: Store, address: str, other_address: str, tmp_path: Path
) -> None:
    filled(store, address)
    write_backup(store, DIGEST, tmp_path / "backup.db")
    with Store.open(other_address) as second:
        second.add_study(OTHER, "Another study")
        for number in (1, 2):
            second.add_listeners(OTHER, [number])
        lines = list(second.export(OTHER))
        restore_backup(tmp_path / "backup.db", other_address, DIGEST, "")
        assert list(second.export(OTHER)) == lines
        lapsed = [one.listener for one in second.status(DIGEST) if one.listener.former]
        assert [(one.number, one.former, one.state) for one in lapsed] == [
            (-6, 4, ParticipationState.WITHDRAWN),  # minus its row, which is two further
            (-5, 3, ParticipationState.LAPSED),
        ]
        mine = [one for one in store.export(DIGEST) if one["record"] in ("event", "texts", "audio")]
        assert [one for one in second.export(DIGEST) if one in mine] == mine
        assert [one.id for one in second.history(DIGEST)] == [
            one.id for one in store.history(DIGEST)
        ]
        with pytest.raises(UsageError, match="already has this study"):
            restore_backup(tmp_path / "backup.db", other_address, DIGEST, "")


def test_a_backup_is_one_private_file_and_replaces_only_its_like(
    store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    path = folder / "backup.db"
    for number in (1, 2):
        store.add_answer(answer(f"1.{number}"), f"id {number}")
        assert write_backup(store, DIGEST, path)[:2] == (1, number)
    assert [(one.name, one.stat().st_mode & 0o777) for one in folder.iterdir()] == [
        ("backup.db", 0o600)
    ]
    kept = {name: folder / name for name in ("diary", "live.db", "other.db")}
    kept["diary"].write_text("Dear diary")
    with Store.open(kept["live.db"]) as live, Store.open(tmp_path / "other.db") as other:
        live.add_study(DIGEST, "A study")
        other.add_study(OTHER, "Another study")
        write_backup(other, OTHER, kept["other.db"])
        before = {name: file.stat().st_ino for name, file in kept.items()}
        for file in kept.values():
            with pytest.raises(UsageError, match="exists and is not a backup of this study"):
                write_backup(store, DIGEST, file)
        assert {name: file.stat().st_ino for name, file in kept.items()} == before
    restore_backup(path, str(tmp_path / "restored.db"), DIGEST, "")
    with pytest.raises(UsageError, match="exists and is not a backup of this study"):
        write_backup(store, DIGEST, tmp_path / "restored.db")
    Store.open(path, serving=True).close()
    with pytest.raises(UsageError, match="exists and is not a backup of this study"):
        write_backup(store, DIGEST, path)
    with pytest.raises(UsageError, match=r"folder .* does not exist"):
        write_backup(store, DIGEST, tmp_path / "nowhere" / "backup.db")
    with pytest.raises(UsageError, match="no answers for this version"):
        write_backup(store, OTHER, folder / "new.db")
    assert sorted(one.name for one in folder.iterdir()) == ["backup.db", *sorted(kept)]


def test_a_backup_is_written_where_folders_cannot_be_opened(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_answer(answer("1.1"), "id 1")
    opened = os.open

    def refuse_folder(path: Any, *arguments: Any, **more: Any) -> int:
        if path == tmp_path:  # as on Windows
            raise PermissionError(13, "Permission denied")
        return opened(path, *arguments, **more)

    monkeypatch.setattr(os, "open", refuse_folder)
    assert write_backup(store, DIGEST, tmp_path / "backup.db")[:2] == (1, 1)


@pytest.mark.parametrize("log", ["-wal", "-journal"])
@pytest.mark.parametrize("deleted", [False, True])
def test_a_backup_is_not_written_beside_the_log_of_an_earlier_one(
    store: Store, tmp_path: Path, log: str, *, deleted: bool
) -> None:
    path = tmp_path / "backup.db"
    write_backup(store, DIGEST, path)
    path.with_name(f"backup.db{log}").touch()
    if deleted:
        path.unlink()
    before = path.read_bytes() if not deleted else None
    with pytest.raises(UsageError, match=rf"backup\.db{log} exists, so .* is in use"):
        write_backup(store, DIGEST, path)
    assert (path.read_bytes() if path.exists() else None) == before


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda data: data[: len(data) // 2], "malformed"),
        (lambda data: data[:4096], "malformed"),
        (lambda data: data[:-4096], "malformed"),
        (lambda data: data[: len(data) // 2] + bytes(4096) + data[len(data) // 2 + 4096 :], "."),
        (lambda data: data[::-1], "file is not a database"),
        (lambda data: data.replace(b"tablelisteners", b"table\xc6isteners"), "cannot be used as"),
        (lambda data: data[:0], "has no study — is it a copy made while the server was running"),
    ],
)
def test_damaged_backups_are_refused_and_nothing_is_restored(
    store: Store, tmp_path: Path, damage: Any, told: str
) -> None:
    for number in range(200):
        store.add_answer(answer(f"1.{number}"), f"id {number}")
    path = tmp_path / "backup.db"
    write_backup(store, DIGEST, path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(UsageError, match=told):
        restore_backup(path, str(tmp_path / "new.db"), DIGEST, "")
    with pytest.raises(UsageError, match="cannot be used as a database"):
        restore_backup(tmp_path / "nothing", str(tmp_path / "new.db"), DIGEST, "")
    assert not (tmp_path / "new.db").exists()
    assert not (tmp_path / "nothing").exists()


def test_all_files_of_a_killed_server_can_be_restored(tmp_path: Path) -> None:
    writer = store_writer.start(str(tmp_path / "store.db"), "w", 10_000)
    store_writer.go(writer)
    assert writer.stdout is not None
    told = [writer.stdout.readline().split()[0] for _ in range(50)]
    writer.send_signal(signal.SIGKILL)
    told += [line.split()[0] for line in writer.communicate()[0].splitlines() if " stored" in line]
    (tmp_path / "copy").mkdir()
    for name in ("store.db", "store.db-wal", "store.db-shm"):
        shutil.copy(tmp_path / name, tmp_path / "copy")
    restore_backup(tmp_path / "copy/store.db", str(tmp_path / "new.db"), DIGEST, "")
    with Store.open(tmp_path / "new.db") as store:
        assert set(told) <= {one.id for one in store.history(DIGEST)}


def test_a_backup_has_all_that_was_acknowledged_before_while_others_write(
    address: str, tmp_path: Path
) -> None:
    told, path = list[str](), tmp_path / "backup.db"
    with store_writer.start(address, "w", 400) as writer, Store.open(address) as store:
        store_writer.go(writer)
        assert writer.stdout is not None
        while line := writer.stdout.readline():
            told.append(line.split()[0])
            if len(told) % 40 == 0:
                write_backup(store, DIGEST, path)
                with open_copy(path) as copy:
                    kept = [one.id for one in copy.history(DIGEST)]
                assert set(told) <= set(kept)
                assert len(set(kept)) == len(kept)
    assert len(told) == 400


KILLED = """
import sys, time
from pathlib import Path
from earwitness.store import backup
from earwitness.store.store import Store

def stay(file):
    print("half", flush=True)
    time.sleep(60)

backup._check_integrity = stay
with Store.open(sys.argv[1]) as store:
    backup.write_backup(store, sys.argv[2], Path(sys.argv[3]))
"""


def test_a_killed_backup_leaves_the_earlier_one(store: Store, address: str, tmp_path: Path) -> None:
    path = tmp_path / "backup.db"
    store.add_answer(answer("1.1"), "id 1")
    write_backup(store, DIGEST, path)
    before = path.read_bytes()
    command = [sys.executable, "-c", KILLED, address, DIGEST, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "half\n"
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == before
    assert store.add_answer(answer("1.2"), "id 2") == AnswerOutcome.STORED
    assert write_backup(store, DIGEST, path)[:2] == (1, 2)


def test_a_full_disk_leaves_the_earlier_backup(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "backup.db"
    write_backup(store, DIGEST, path)
    before, names = path.read_bytes(), sorted(tmp_path.iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, limits[1]))
    try:
        with pytest.raises((UsageError, StoreError), match=r"full|disk I/O error"):
            write_backup(store, DIGEST, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (path.read_bytes(), sorted(tmp_path.iterdir())) == (before, names)


def test_reading_a_file_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        store.add_study(DIGEST, "A study")
    before = path.read_bytes()
    with open_copy(path) as copy:
        assert copy.status(DIGEST) == []
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (before, [path])
    with closing(sqlite3.connect(path)) as file:
        assert ("answers",) in file.execute(WHOSE).fetchall()
