"""Files of SQLite that are copied, renamed, deleted or replaced while they are in use."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from earwitness.errors import StoreError, UsageError
from earwitness.store import writer as writer_module
from earwitness.store.answers import add_answer
from earwitness.store.records import AnswerOutcome
from earwitness.store.store import Store
from helpers.store_answers import DIGEST, answer, ask


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store with three answers."""
    with Store.open(path) as opened:
        opened.add_study(DIGEST, "A study")
        opened.add_listeners(DIGEST, [1])
        for number in range(3):
            opened.add_answer(answer(f"1.{number}"), f"id {number}")
        yield opened


def kept(path: Path) -> list[Any]:
    """The answers in a copy of a file, without anything beside it."""
    copy = path.parent / "copy"
    shutil.copyfile(path, copy)
    found = ask(f"sqlite:///{copy}", "SELECT id FROM answers ORDER BY id")
    copy.unlink()
    return [id for (id,) in found]


ALL = ["id 0", "id 1", "id 2"]


def refused(store: Store) -> str:
    """What is said of an answer that is refused."""
    with pytest.raises(StoreError) as caught:
        store.add_answer(answer("1.9"), "id 9")
    return str(caught.value)


def test_a_plain_copy_of_an_idle_database_is_complete(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "IDLE_SECONDS", 0.05)
    with Store.open(path) as store:
        store.add_study(DIGEST, "A study")
        store.add_listeners(DIGEST, [1])
        for number in range(3):
            store.add_answer(answer(f"1.{number}"), f"id {number}")
            for _ in range(3000):  # half a minute
                if not path.with_name("store.db-wal").stat().st_size:
                    break
                time.sleep(0.01)
            assert kept(path) == ALL[: number + 1]


def test_a_process_that_ends_leaves_nothing_in_the_log_of_others(store: Store, path: Path) -> None:
    with Store.open(path) as other:
        other.add_answer(answer("1.3"), "id 3")
    assert kept(path) == [*ALL, "id 3"]
    assert store.add_answer(answer("1.3"), "id 3") == AnswerOutcome.KNOWN


def test_a_copy_made_while_the_server_was_running_is_told(path: Path) -> None:
    copy = path.with_name("copy.db")
    with Store.open(path) as store:
        shutil.copyfile(path, copy)
        store.add_study(DIGEST, "A study")
        for _ in ("without tables", "with empty tables"):
            with Store.open(copy) as copied:
                for query in (copied.status, copied.answers, copied.texts):
                    with pytest.raises(UsageError, match=r"copy made while .* study backup"):
                        query(DIGEST)
    with Store.open(copy) as copied:
        copied.add_study("e" * 64, "Another study")
        with pytest.raises(UsageError, match="was the file edited"):
            copied.status(DIGEST)


def test_answers_are_refused_while_the_file_is_renamed(store: Store, path: Path) -> None:
    [one] = store.add_listeners(DIGEST, [1])
    assert store.visit(one.token) is not None  # opens a connection for the visits below
    other = path.with_name("moved.db")
    for name in (other, path.parent / "again.db"):
        path.rename(name)
        told = refused(store)
        assert told == (
            f"{path} was renamed while in use; the answers received before are in {name};"
            " nothing is saved until the file is back or the server is restarted"
        )
        assert not path.exists()
        assert kept(name)[:3] == ALL
        visit = store.visit(one.token)
        assert visit is not None
        assert set(visit.pages) >= {"1.0", "1.1", "1.2"}
        name.rename(path)
        assert store.add_answer(answer("1.9"), "id 9") in AnswerOutcome
        assert [each.id for each in store.history(DIGEST)] == [*ALL, "id 9"]
    path.rename(other)
    store.close()
    assert store.loss == (
        f"{path} was renamed while in use; the answers received before are in {other}"
    )
    assert kept(other) == [*ALL, "id 9"]
    log = path.with_name("store.db-wal")
    assert (path.exists(), log.stat().st_size) == (False, 0)


def test_an_answer_is_refused_if_the_file_is_renamed_before_its_commit(
    store: Store, path: Path
) -> None:
    moved = path.with_name("moved.db")

    def add(connection: Connection) -> None:
        add_answer(connection, answer("1.3"), "id 3")
        path.rename(moved)

    with pytest.raises(StoreError, match="was renamed while in use"):
        store.write(add).result()
    moved.rename(path)
    assert store.add_answer(answer("1.3"), "id 3") == AnswerOutcome.KNOWN


def test_a_log_that_a_reader_still_needs_is_named(store: Store, path: Path) -> None:
    with store._reading() as connection:
        connection.exec_driver_sql("SELECT * FROM answers").fetchall()
        store.add_answer(answer("1.3"), "id 3")
        path.rename(path.with_name("moved.db"))
        assert "moved.db and in its log (-wal); nothing is saved" in refused(store)
    assert "moved.db; nothing is saved" in refused(store)
    assert kept(path.with_name("moved.db")) == [*ALL, "id 3"]


def test_all_files_that_are_moved_together_have_all_answers(store: Store, path: Path) -> None:
    folder = path.parent / "elsewhere"
    folder.mkdir()
    for end in ("", "-wal", "-shm"):
        path.with_name(f"store.db{end}").rename(folder / f"store.db{end}")
    assert f"are in {folder / 'store.db'}" in refused(store)
    store.close()
    assert kept(folder / "store.db") == ALL
    with Store.open(folder / "store.db") as moved:
        assert [one.id for one in moved.history(DIGEST)] == ALL


@pytest.mark.parametrize("new", [None, "a database", "a diary"])
def test_answers_of_a_file_that_is_deleted_or_replaced_are_in_a_new_one(
    store: Store, path: Path, new: str | None
) -> None:
    path.unlink()
    if new == "a database":
        with Store.open(path.with_name("new.db")) as other:
            other.add_study("e" * 64, "Another study")
        path.with_name("new.db").rename(path)
    elif new == "a diary":
        path.write_text("Dear diary")
    before = path.read_bytes() if new else None
    told = refused(store)
    found = re.match(r"(.*) was deleted or replaced while in use; .* before are in (\S+);", told)
    assert found
    assert (found[1], refused(store)) == (str(path), told)
    saved = Path(found[2])
    assert kept(saved) == ALL
    assert saved.stat().st_mode & 0o777 == 0o600
    store.close()
    assert store.loss == told.partition("; nothing is saved")[0]
    assert (path.read_bytes() if new else None) == before
    assert kept(saved) == ALL


def test_a_reader_never_opens_another_file(store: Store, path: Path) -> None:
    with Store.open(path.with_name("new.db")) as other:
        other.add_study("e" * 64, "Another study")
    path.rename(path.with_name("moved.db"))
    path.with_name("new.db").rename(path)
    store._database.reader.dispose()
    store._visits.close()
    with pytest.raises(StoreError, match="was renamed while in use"):
        store.status(DIGEST)
    with pytest.raises(StoreError, match="was renamed while in use"):
        store.visit("token")


@pytest.mark.parametrize("new", [None, "log.old"])
def test_answers_are_refused_when_the_log_is_gone(
    store: Store, path: Path, new: str | None
) -> None:
    log = path.with_name("store.db-wal")
    if new is None:
        log.unlink()
    else:
        log.rename(path.with_name(new))
    told = refused(store)
    assert told.startswith(
        f"{log} was renamed or deleted while in use; the answers received before are in {path};"
    )
    assert kept(path) == ALL
    if new is not None:
        path.with_name(new).rename(log)
        assert store.add_answer(answer("1.9"), "id 9") == AnswerOutcome.STORED
    store.close()
    assert bool(store.loss) == (new is None)
    assert kept(path) == ALL + ["id 9"] * (new is not None)


def test_a_link_to_a_file_is_watched_as_the_file(path: Path) -> None:
    link = path.with_name("link.db")
    link.symlink_to("store.db")
    with Store.open(path) as store:
        store.add_study(DIGEST, "A study")
    with Store.open(link) as store:
        store.add_listeners(DIGEST, [1])
        assert store.add_answer(answer("1.0"), "id 0") == AnswerOutcome.STORED
        path.rename(path.with_name("moved.db"))
        assert "are in " + str(path.with_name("moved.db")) in refused(store)


def test_a_folder_that_is_renamed_is_told(store: Store, path: Path) -> None:
    folder = path.parent.rename(path.parent.with_name("moved"))
    assert f"{path} was renamed while in use" in refused(store)
    assert f"are in {folder / 'store.db'}" in refused(store)
    (folder / "store.db").unlink()
    folder.rename(path.parent)
    store.close()
    assert "deleted" in store.loss
    assert kept(Path(store.loss.rpartition(" ")[2])) == ALL


def test_answers_that_cannot_be_copied_are_told(store: Store, path: Path) -> None:
    path.unlink()
    folder = path.parent.rename(path.parent.with_name("moved"))
    assert f"{path} was deleted or replaced while in use, and its answers cannot be" in refused(
        store
    )
    folder.rename(path.parent)
