"""What a listener withdrew is gone from the files of SQLite, also if somebody reads meanwhile."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from earwitness.store.records import AnswerOutcome
from earwitness.store.store import Store
from helpers.store_answers import DIGEST, answer

SECRET = "never tell anybody"


@contextmanager
def opened(path: Path) -> Iterator[Store]:
    """A store in a file, with two listeners."""
    with Store.open(path) as store:
        store.add_study(DIGEST, "A study")
        store.add_listeners(DIGEST, [1, 2])
        yield store


@pytest.fixture
def other(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody else who has the file open."""
    with opened(tmp_path / "store.db") as store:
        store.add_answer(answer(remarks=SECRET), "id 1")
        with closing(sqlite3.connect(tmp_path / "store.db", isolation_level=None)) as connection:
            yield connection


def reads(connection: sqlite3.Connection) -> None:
    """Begin to read, and go on for as long as one likes."""
    connection.execute("BEGIN")
    assert SECRET in repr(connection.execute("SELECT * FROM answers").fetchall())


def left(folder: Path) -> bool:
    """Whether anything of it is in any file."""
    return any(SECRET.encode() in one.read_bytes() for one in folder.glob("store.db*"))


def test_it_is_gone_at_once_if_nobody_reads(tmp_path: Path, other: sqlite3.Connection) -> None:
    assert other.execute("SELECT count(*) FROM answers").fetchall() == [(1,)]
    with Store.open(tmp_path / "store.db") as store:
        assert left(tmp_path)
        store.withdraw(DIGEST, 1)
        assert not left(tmp_path)
        assert (tmp_path / "store.db-wal").stat().st_size == 0


def test_it_is_gone_when_who_read_goes_away_and_nobody_waits_meanwhile(
    tmp_path: Path, other: sqlite3.Connection
) -> None:
    with Store.open(tmp_path / "store.db") as store:
        reads(other)
        store.withdraw(DIGEST, 1)
        assert left(tmp_path)
        for number in range(20):
            given = answer(f"1.{number}", listener=2)
            assert store.add_answer(given, f"id {number}") == AnswerOutcome.STORED
        assert left(tmp_path)
        other.execute("ROLLBACK")
        assert store._scrubber.request().wait(60)
        assert not left(tmp_path)
        assert len(store.history(DIGEST)) == 20


def test_whoever_opens_the_file_next_does_what_could_not_be_done(
    tmp_path: Path, other: sqlite3.Connection
) -> None:
    with Store.open(tmp_path / "store.db") as store:
        reads(other)
        store.withdraw(DIGEST, 1)
    assert left(tmp_path)
    other.execute("ROLLBACK")
    with Store.open(tmp_path / "store.db") as store:
        assert store._scrubber._log_is_empty.wait(60)
        assert not left(tmp_path)
