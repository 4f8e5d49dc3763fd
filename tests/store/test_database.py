"""Addresses, tables and how they came to be."""

from __future__ import annotations

import importlib.util
import runpy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Inspector, inspect
from sqlalchemy.exc import DBAPIError

from earwitness import store as store_package
from earwitness.errors import MissingExtra, StoreError, UsageError
from earwitness.store import database as database_module
from earwitness.store.database import connect
from earwitness.store.migrations import MIGRATIONS, migrate
from earwitness.store.records import AnswerOutcome, PageEvent, ParticipationState
from earwitness.store.store import Store
from earwitness.store.tables import TABLES
from helpers.store_answers import DIGEST, answer, ask

LISTENER = "INSERT INTO listeners (study, number, token, state, joined, finished) VALUES "


def made(address: str, steps: int) -> None:
    """A database as it was after so many steps."""
    database = connect(address)
    with database.writer.begin() as connection:
        migrate(connection, "0.0.1", MIGRATIONS[:steps])
    database.close()


def shape(inspector: Inspector) -> dict[str, Any]:
    """Columns and rules of all tables."""
    return {
        table: (
            [
                (one["name"], "INT" in str(one["type"]), one["nullable"])
                for one in inspector.get_columns(table)
            ],
            sorted(
                tuple(sorted(map(str, one["column_names"])))
                for one in inspector.get_unique_constraints(table)
            ),
            sorted(
                (one["constrained_columns"], one["referred_table"], one["referred_columns"])
                for one in inspector.get_foreign_keys(table)
            ),
            inspector.get_pk_constraint(table)["constrained_columns"],
            sorted(
                (str(one["name"]), one["column_names"])
                for one in inspector.get_indexes(table)
                if not one["unique"]
            ),
        )
        for table in sorted(inspector.get_table_names())
    }


def test_all_steps_give_the_tables_that_the_program_uses(address: str) -> None:
    database = connect(address)
    with database.writer.begin() as connection:
        migrate(connection, "1.2.3")
        by_steps = shape(inspect(connection))
        TABLES.drop_all(connection)
        TABLES.create_all(connection)
        assert shape(inspect(connection)) == by_steps
        assert sorted(by_steps) == sorted(TABLES.tables)
    database.close()


def test_steps_are_numbered_and_recorded(address: str) -> None:
    assert [step.number for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    for version in ("1.2.3", "1.2.4"):  # the second time, there is nothing to do
        Store.open(address, version=version).close()
        rows = ask(address, "SELECT number, name, version FROM migrations ORDER BY number")
        assert rows == [(step.number, step.name, "1.2.3") for step in MIGRATIONS]
    assert all(time for (time,) in ask(address, "SELECT applied FROM migrations"))


def test_a_store_of_the_version_before_is_changed_and_keeps_everything(address: str) -> None:
    made(address, 1)
    ask(address, f"INSERT INTO studies (digest, title, added) VALUES ('{DIGEST}', 'Old', 'then')")
    ask(address, f"{LISTENER}(1, 1, 'token 1', 'finished', 'then', 'then')")
    ask(address, f"{LISTENER}(1, 2, 'token 2', 'joined', 'then', NULL)")
    ask(
        address,
        'INSERT INTO answers (listener, page, id, "values", at, received, version, supersedes)'
        " VALUES (1, '1.1', 'id 1', '{\"ovrl\": 4}', 'then', 'then', '0.0.1', '')",
    )
    with Store.open(address, version="1.2.3") as store:
        first, second = (one.listener for one in store.status(DIGEST))
        assert (first.state, first.token, first.code) == (
            ParticipationState.FINISHED,
            "token 1",
            None,
        )
        assert (second.state, second.finished) == (ParticipationState.JOINED, None)
        assert store.history(DIGEST)[0].answer.values == {"ovrl": 4}
        assert store.add_answer(answer(), "id 1") == AnswerOutcome.KNOWN
        assert store.add_events(DIGEST, 1, [PageEvent("e1", "1.1", "played")]) == 1
        assert store.finish(DIGEST, 1, ["1.1"]).code is not None
        assert [one.number for one in store.add_listeners(DIGEST, [3])] == [3]
    versions = ask(address, "SELECT version FROM migrations ORDER BY number")
    assert versions == [("0.0.1",), *[("1.2.3",)] * (len(MIGRATIONS) - 1)]


def test_answers_of_before_count_and_can_be_set_aside(address: str) -> None:
    made(address, 2)
    ask(address, f"INSERT INTO studies (digest, title, added) VALUES ('{DIGEST}', 'Old', 'then')")
    ask(address, f"{LISTENER}(1, 1, 'token 1', 'joined', 'then', NULL)")
    ask(
        address,
        'INSERT INTO answers (listener, page, id, "values", at, received, version, supersedes)'
        " VALUES (1, '1.1', 'id 1', '{\"ovrl\": 4}', 'then', 'then', '0.0.1', '')",
    )
    with Store.open(address, version="1.2.3") as store:
        [old] = store.history(DIGEST)
        assert (old.meta, old.aside) == (None, False)
        assert store.visit("token 1") is not None
        assert store.set_aside(DIGEST, 1, ["1.1"]) == 1
        assert store.answers(DIGEST) == []
        assert store.add_answer(answer(ovrl=2), "id 2", {"plays": []}) == AnswerOutcome.STORED
        assert [one.meta for one in store.history(DIGEST)] == [None, None, {"plays": []}]


def test_who_withdrew_before_is_not_known_and_who_withdraws_now_is(address: str) -> None:
    made(address, 3)
    ask(address, f"INSERT INTO studies (digest, title, added) VALUES ('{DIGEST}', 'Old', 'then')")
    ask(address, f"{LISTENER}(1, 1, 'token 1', 'withdrawn', 'then', NULL)")
    ask(address, f"{LISTENER}(1, 2, 'token 2', 'joined', 'then', NULL)")
    ask(address, f"{LISTENER}(1, 3, 'token 3', 'open', NULL, NULL)")
    ask(address, "UPDATE listeners SET outside = '5f8a' WHERE number = 2")
    with Store.open(address, version="1.2.3") as store:
        assert store.find_claim(DIGEST, outside="5f8b") is None
        known = store.find_claim(DIGEST, outside="5f8a")
        assert known is not None
        assert known.number == 2
        store.withdraw(DIGEST, 2)
        again = store.find_claim(DIGEST, outside="5f8a")
        assert again is not None
        assert (again.number, again.state, again.outside) == (2, ParticipationState.WITHDRAWN, None)
        assert store.count_free_places(DIGEST) == 2
    versions = ask(address, "SELECT version FROM migrations ORDER BY number")
    assert versions == [*[("0.0.1",)] * 3, *[("1.2.3",)] * (len(MIGRATIONS) - 3)]


def test_a_step_that_fails_leaves_nothing_behind(address: str) -> None:
    made(address, 1)
    ask(address, "CREATE TABLE events (something INTEGER)")
    with pytest.raises(StoreError, match="events"):
        Store.open(address)
    assert ask(address, "SELECT number FROM migrations") == [(1,)]
    ask(address, "DROP TABLE events")
    Store.open(address).close()
    numbers = ask(address, "SELECT number FROM migrations ORDER BY number")
    assert numbers == [(step.number,) for step in MIGRATIONS]


def test_a_store_of_a_later_version_is_refused_and_left_alone(address: str) -> None:
    Store.open(address, version="1.2.3").close()
    known = len(MIGRATIONS)
    ask(address, f"INSERT INTO migrations VALUES ({known + 1}, 'something new', 'now', '9.8.7')")
    message = rf"newer version \(earwitness 9.8.7, schema {known + 1}; .* schema {known}"
    with pytest.raises(UsageError, match=message):
        Store.open(address)
    assert len(ask(address, "SELECT * FROM migrations")) == known + 1


def test_tables_of_another_program_are_refused_and_left_alone(address: str) -> None:
    ask(address, "CREATE TABLE answers (question TEXT)")
    with pytest.raises(UsageError, match=r"tables of another program \(answers\)"):
        Store.open(address)
    assert ask(address, "SELECT * FROM answers") == []
    with pytest.raises(Exception, match="migrations"):
        ask(address, "SELECT * FROM migrations")


def test_many_who_open_an_empty_database_at_once_make_it_once(address: str) -> None:
    def opened(number: int) -> None:
        Store.open(address, version=str(number)).close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(opened, range(16)))
    rows = ask(address, "SELECT number, version FROM migrations ORDER BY number")
    assert [number for number, _ in rows] == [step.number for step in MIGRATIONS]
    assert len({version for _, version in rows}) == 1


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
