"""Addresses, tables and how they came to be."""

from __future__ import annotations

import importlib.util
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import DBAPIError

from earwitness import store as store_package
from earwitness.errors import MissingExtra, StoreError, UsageError
from earwitness.store import database as database_module
from earwitness.store.store import Store
from earwitness.store.tables import LAYOUT
from helpers.store_answers import DIGEST, ask


@pytest.mark.parametrize("number", [LAYOUT - 1, LAYOUT + 1])
def test_a_database_of_another_layout_is_refused_and_left_alone(address: str, number: int) -> None:
    Store.open(address, version="1.2.3").close()
    assert ask(address, "SELECT number, version FROM layout") == [(LAYOUT, "1.2.3")]
    Store.open(address, version="1.2.4").close()
    ask(address, f"UPDATE layout SET number = {number}")
    message = rf"another version \(earwitness 1.2.3, layout {number}; .* layout {LAYOUT}\)"
    with pytest.raises(UsageError, match=message):
        Store.open(address)
    assert ask(address, "SELECT number, version FROM layout") == [(number, "1.2.3")]


def test_tables_of_another_program_are_refused_and_left_alone(address: str) -> None:
    ask(address, "CREATE TABLE answers (question TEXT)")
    with pytest.raises(UsageError, match=r"tables of another program or version \(answers\)"):
        Store.open(address)
    assert ask(address, "SELECT * FROM answers") == []
    with pytest.raises(Exception, match="layout"):
        ask(address, "SELECT * FROM layout")


def test_many_who_open_an_empty_database_at_once_make_it_once(address: str) -> None:
    def opened(number: int) -> None:
        Store.open(address, version=str(number)).close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(opened, range(16)))
    assert ask(address, "SELECT number FROM layout") == [(LAYOUT,)]


def test_a_plain_path_is_a_file_of_sqlite(tmp_path: Path) -> None:
    name = tmp_path / "ä & b%20c #1 ?.db"
    for path in (name, str(name), f"sqlite:///{tmp_path / 'other.db'}"):
        with Store.open(path) as store:
            store.add_study(DIGEST, "A study")
            assert store.status(DIGEST) == []
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([name.name, "other.db"])


def test_only_the_owner_can_read_a_new_file(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Store.open(path) as store:
        store.add_study(DIGEST, "A study")
        modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
        assert modes == dict.fromkeys(("store.db", "store.db-wal", "store.db-shm"), 0o600)
    path.chmod(0o640)
    Store.open(path).close()
    assert path.stat().st_mode & 0o777 == 0o640  # as somebody has set it


def test_sqlite_writes_ahead_and_syncs(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.db") as store:
        wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 30000}
        for engine in (store._database.writer, store._database.reader):
            with engine.connect() as connection:
                for name, value in wanted.items():
                    assert connection.exec_driver_sql(f"PRAGMA {name}").scalar() == value


def test_postgresql_syncs_even_if_the_server_does_not(new_schema: Any) -> None:
    address = new_schema() + "%20-csynchronous_commit%3Doff"
    assert ask(address, "SHOW synchronous_commit") == [("off",)]
    with Store.open(address) as store, store._database.writer.connect() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_readers_cannot_write(store: Store) -> None:
    reader = store._database.reader
    with reader.connect() as connection, pytest.raises(DBAPIError, match=r"read-?only"):
        connection.exec_driver_sql("DELETE FROM studies")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("mysql://host/x", "unsupported database mysql"),
        ("what://is this", "unsupported database what"),
        ("://", "invalid database address"),
        ("sqlite://", "an in-memory database would not keep answers"),
        ("sqlite:///:memory:", "an in-memory database would not keep answers"),
        (":memory:", "an in-memory database would not keep answers"),
        ("nowhere/store.db", "folder .* does not exist"),
        (".", "cannot be used as a database: unable to open"),
    ],
)
def test_addresses_that_cannot_be_are_refused(address: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Store.open(address)


def test_a_file_with_damaged_names_of_tables_is_refused(tmp_path: Path) -> None:
    Store.open(tmp_path / "a.db").close()
    (tmp_path / "a.db").write_bytes(
        (tmp_path / "a.db").read_bytes().replace(b"tablelisteners", b"table\xc6isteners")
    )
    with pytest.raises(UsageError, match=r"a\.db: cannot be used as a database: .* codec can't"):
        Store.open(tmp_path / "a.db")


def test_a_file_that_is_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "diary.txt"
    path.write_text("Dear diary" * 1000)
    with pytest.raises(
        UsageError, match=r"diary\.txt: cannot be used as a database: file is not a database"
    ):
        Store.open(path)
    assert path.read_text() == "Dear diary" * 1000
    assert list(tmp_path.iterdir()) == [path]


def test_a_server_that_is_not_there_is_told_without_its_password(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot connect to the database") as caught:
        Store.open(f"postgresql://me:secret@/x?host={tmp_path}")
    assert "secret" not in str(caught.value)


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r'psycopg, .* pip install .*\[postgresql\]"'):
        Store.open("postgresql://localhost/x")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r'sqlalchemy, .* pip install .*\[serve\]"'):
        runpy.run_path(str(store_package.__file__))
