"""PostgreSQL that does not reply: processes that are stopped, and a server that starts."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from earwitness.errors import EarwitnessWarning, StoreError
from earwitness.store import database as database_module
from earwitness.store.records import AnswerOutcome
from earwitness.store.store import Store
from helpers.starting_postgresql import starting
from helpers.store_answers import DIGEST, answer, ask

CLIENTS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
LONG_SECONDS = 30  # a test that waits so long has failed


@pytest.fixture
def address(new_schema: Callable[[], str]) -> str:
    return new_schema() + "&connect_timeout=2"


@pytest.fixture
def store(address: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of a server, which waits for half a second."""
    monkeypatch.setattr(database_module, "REPLY_SECONDS", 0.5)
    with Store.open(address, serving=True) as opened:
        opened.add_study(DIGEST, "A study")
        opened.add_listeners(DIGEST, [1])
        opened.add_answer(answer("1.0"), "id 0")
        yield opened


@contextmanager
def stopped(address: str, *, postmaster: bool = False) -> Iterator[None]:
    """All processes of connections are stopped, and on request the one that accepts them."""
    pids = [pid for (pid,) in ask(address, f"{CLIENTS} AND pid != pg_backend_pid()")]
    if postmaster:
        [(folder,)] = ask(address, "SHOW data_directory")
        pids.append(int((Path(folder) / "postmaster.pid").read_text().split()[0]))
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def within_time(act: Callable[[], Any]) -> Any:
    """What an act returns, or the error that it raises, if it ends at all."""
    found = list[Any]()

    def run() -> None:
        try:
            found.append(act())
        except Exception as error:  # noqa: BLE001 — looked at by the caller
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(LONG_SECONDS)
    assert found, "it hangs"
    return found[0]


def test_an_answer_is_refused_and_sent_again(store: Store, address: str) -> None:
    with stopped(address):
        refused = within_time(lambda: store.add_answer(answer("1.1"), "id 1"))
        assert isinstance(refused, StoreError)
        assert "no reply in" in str(refused)
    assert store.add_answer(answer("1.1"), "id 1") in (AnswerOutcome.STORED, AnswerOutcome.KNOWN)
    assert [one.id for one in store.history(DIGEST)] == ["id 0", "id 1"]


def test_answers_that_wait_for_another_do_not_hang(store: Store, address: str) -> None:
    with stopped(address):
        waiting = [store.write(lambda _: None) for _ in range(5)]
        assert all(isinstance(one.exception(LONG_SECONDS), StoreError) for one in waiting)
        for _ in range(2):
            assert isinstance(within_time(store.write(lambda _: None).result), StoreError | None)


@pytest.mark.parametrize("postmaster", [False, True])
def test_readers_do_not_hang(store: Store, address: str, *, postmaster: bool) -> None:
    [one] = store.add_listeners(DIGEST, [1])
    reads: list[Callable[[], Any]] = [
        lambda: store.visit(one.token),
        lambda: store.status(DIGEST),
        lambda: store.draft(DIGEST, 1, "1.0"),
    ]
    for read in reads:
        read()
    with stopped(address, postmaster=postmaster):
        results = [within_time(read) for read in reads]
        assert any(isinstance(result, StoreError) for result in results)
        errors = [result for result in results if isinstance(result, Exception)]
        assert {type(error) for error in errors} == {StoreError}
    for read in reads:
        assert not isinstance(read(), Exception)


def test_closing_does_not_hang(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "REPLY_SECONDS", 0.5)
    store = Store.open(address, serving=True)
    store.add_study(DIGEST, "A study")
    store.status(DIGEST)
    with stopped(address, postmaster=True):
        last = store.write(lambda _: None)
        within_time(store.close)
        assert isinstance(last.exception(LONG_SECONDS), StoreError)


def test_an_answer_whose_commit_got_no_reply_is_stored_once(store: Store, address: str) -> None:
    ask(
        address,
        "CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN PERFORM pg_sleep(1.5); RETURN NULL; END $$",
    )
    ask(
        address,
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON answers DEFERRABLE INITIALLY DEFERRED"
        " FOR EACH ROW EXECUTE FUNCTION late()",
    )
    refused = within_time(lambda: store.add_answer(answer("1.1"), "id 1"))
    assert isinstance(refused, StoreError)
    ask(address, f"SELECT pg_advisory_lock({database_module.WRITER_LOCK_ID})")  # has ended since
    ask(address, "DROP TRIGGER late ON answers")
    assert store.add_answer(answer("1.1"), "id 1") == AnswerOutcome.KNOWN
    assert [one.id for one in store.history(DIGEST)] == ["id 0", "id 1"]


def test_commands_of_the_operator_may_take_long(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "REPLY_SECONDS", 0.1)

    def sleep(connection: Connection) -> Any:
        return connection.exec_driver_sql("SELECT 'done', pg_sleep(1)").fetchone()[0]  # type: ignore[index]

    with Store.open(address) as store:
        assert store.write(sleep).result() == store.read(sleep) == "done"


def test_a_server_that_starts_is_waited_for(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    host = address.partition("host=")[2].partition("&")[0]

    def through(port: int) -> str:
        return address.replace(f"host={host}", f"host=127.0.0.1&port={port}")

    with starting(f"{host}/.s.PGSQL.5432", 2) as port:
        with pytest.warns(EarwitnessWarning, match="PostgreSQL is starting: waiting up to 300 s"):
            Store.open(through(port)).close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Store.open(through(port)).close()
    monkeypatch.setattr(database_module, "START_SECONDS", 0)
    with (
        starting(host, 1000) as port,
        pytest.raises(StoreError, match=r"cannot connect to the database: .* le système démarre"),
    ):
        Store.open(through(port))
