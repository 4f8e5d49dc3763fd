"""The writer: nobody is told of success before the commit, and nothing stops it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event

from earwitness.errors import BadAnswer, StoreError, UsageError
from earwitness.store import writer as writer_module
from earwitness.store.answers import add_answer
from earwitness.store.records import AnswerOutcome
from earwitness.store.store import Store
from helpers.store_answers import DIGEST, answer, ask


@contextmanager
def held(store: Store) -> Iterator[None]:
    """Nothing is written meanwhile; all that was asked for is then written together."""
    started, release = threading.Event(), threading.Event()

    def wait(connection: Connection) -> None:
        del connection
        started.set()
        assert release.wait(60)

    waiting = store.write(wait)
    assert started.wait(60)
    try:
        yield
    finally:
        release.set()
        waiting.result()


def given(store: Store, count: int, first: int = 0) -> list[Future[AnswerOutcome]]:
    numbers = range(first, first + count)
    return [store.write(add_answer, answer(f"1.{one}"), f"id {one}") for one in numbers]


def uncommittable(connection: Connection) -> None:
    """Whatever else is in this transaction, its commit fails."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        columns = 'listener, page, id, "values", at, received, version, supersedes'
        connection.exec_driver_sql(
            f"INSERT INTO answers ({columns}) VALUES (999, '', '', '', '', '', '', '')"
        )
    else:
        connection.exec_driver_sql("CREATE TEMP TABLE one (a INT UNIQUE DEFERRABLE)")
        connection.exec_driver_sql("SET CONSTRAINTS ALL DEFERRED")
        connection.exec_driver_sql("INSERT INTO one VALUES (1), (1)")


def test_whoever_is_told_finds_it_in_the_database(store: Store, address: str) -> None:
    seen = list[Any]()

    def look(future: Future[AnswerOutcome]) -> None:
        seen.append((future.result(), ask(address, "SELECT count(*) FROM answers")[0][0]))

    with held(store):
        for future in given(store, 20):
            future.add_done_callback(look)
    store.add_study(DIGEST, "A study")  # comes after all of them
    assert seen == [(AnswerOutcome.STORED, 20)] * 20


def test_jobs_that_wait_are_committed_together(store: Store) -> None:
    commits = list[Connection]()
    event.listen(store._database.writer, "commit", commits.append)
    with held(store):
        futures = given(store, 400)
    assert [one.result() for one in futures] == [AnswerOutcome.STORED] * 400
    assert len(commits) == 2  # of the job that held the others up, and of all others


def test_jobs_that_are_not_urgent_wait_for_an_urgent_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "PATIENT_SECONDS", 60)
    commits, order = list[Connection](), list[int]()
    event.listen(store._database.writer, "commit", commits.append)

    def note(connection: Connection, number: int) -> None:
        del connection
        order.append(number)

    store.write(note, 0).result()  # the thread is awake
    patient = [store.write_soon(note, number) for number in (1, 2, 3)]
    assert order == [0]
    store.write(note, 4).result(30)
    assert all(one.done() for one in patient)
    assert order == [0, 1, 2, 3, 4]
    assert len(commits) == 2


def test_jobs_that_are_not_urgent_do_not_wait_for_ever(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "PATIENT_SECONDS", 0.01)
    for pause in (0.0, 0.2):  # the thread is awake, or sleeps
        time.sleep(pause)
        assert store.write_soon(lambda _: "written").result(30) == "written"


def test_a_job_that_refuses_fails_alone(store: Store) -> None:
    def wrong(connection: Connection) -> int:
        add_answer(connection, answer("1.98"), "id 98")
        return 1 // 0

    with held(store):
        good = given(store, 3)
        bad = store.write(add_answer, answer(ovrl=float("inf")), "id 97")
        bug = store.write(wrong)
        unknown = store.write(add_answer, answer(listener=99), "id 99")
        more = given(store, 3, first=3)
    for future, error in ((bad, BadAnswer), (bug, ZeroDivisionError), (unknown, UsageError)):
        assert isinstance(future.exception(), error)
    assert [one.result() for one in good + more] == [AnswerOutcome.STORED] * 6
    assert [one.page for one in store.answers(DIGEST)] == [f"1.{n}" for n in range(6)]


def test_a_job_under_which_the_database_fails_fails_alone(store: Store) -> None:
    def wrong(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT * FROM nowhere")

    with held(store):
        good, bad, more = given(store, 3), store.write(wrong), given(store, 3, first=3)
    with pytest.raises(StoreError, match=r"database error: .*nowhere"):
        bad.result()
    assert [one.result() for one in good + more] == [AnswerOutcome.STORED] * 6
    assert len(store.history(DIGEST)) == 6


def test_nobody_is_told_of_success_when_the_commit_fails(store: Store) -> None:
    with held(store):
        good, bad, more = given(store, 5), store.write(uncommittable), given(store, 5, first=5)
    assert isinstance(bad.exception(), StoreError)
    assert all(isinstance(one.exception(), StoreError) for one in good + more)
    assert store.history(DIGEST) == []
    assert [one.result() for one in given(store, 10)] == [AnswerOutcome.STORED] * 10


def test_a_transaction_that_is_gone_takes_nobody_with_it(store: Store) -> None:
    def gone(connection: Connection) -> None:
        connection.exec_driver_sql("ROLLBACK")

    with held(store):
        good, bad, more = given(store, 3), store.write(gone), given(store, 3, first=3)
    assert isinstance(bad.exception(), StoreError)
    assert {one.result() for one in good + more} <= {
        AnswerOutcome.STORED,
        AnswerOutcome.KNOWN,
    }  # no matter
    assert len(store.history(DIGEST)) == 6


def test_a_lost_connection_is_made_again(new_schema: Any) -> None:
    address = new_schema()
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"

    def lost(connection: Connection) -> None:
        connection.exec_driver_sql("SELECT pg_terminate_backend(pg_backend_pid())")

    with Store.open(address) as store:
        store.add_study(DIGEST, "A study")
        [listener] = store.add_listeners(DIGEST, [1])
        with held(store):
            good, bad, more = given(store, 3), store.write(lost), given(store, 3, first=3)
        assert isinstance(bad.exception(), StoreError)
        assert store.visit(listener.token) is not None
        assert [one.result() for one in good + more] == [AnswerOutcome.STORED] * 6
        assert len(store.history(DIGEST)) == 6
        ask(address, ends)  # while nobody uses them
        assert store.visit(listener.token) is not None
        assert given(store, 1, first=6)[0].result() == AnswerOutcome.STORED
        assert len(store.history(DIGEST)) == 7


def test_a_full_disk_is_told_and_gone_on_from(tmp_path: Path) -> None:
    def limit(connection: Connection, pages: int) -> None:
        connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")

    with Store.open(tmp_path / "store.db") as store:
        store.add_study(DIGEST, "A study")
        store.add_listeners(DIGEST, [1])
        store.write(limit, 1).result()  # that is, those which there are
        with held(store):
            small = given(store, 3)
            large = store.write(add_answer, answer("large", remarks="x" * 100_000), "large")
        with pytest.raises(StoreError, match="database or disk is full"):
            large.result()
        assert [one.result() for one in small] == [AnswerOutcome.STORED] * 3  # they had room
        assert len(store.history(DIGEST)) == 3
        store.write(limit, 100_000).result()
        assert (
            store.add_answer(answer("large", remarks="x" * 100_000), "large")
            == AnswerOutcome.STORED
        )


def test_readers_read_while_another_process_writes(store: Store, address: str) -> None:
    given(store, 1)[0].result()
    with Store.open(address) as other:
        with held(other):
            later = given(store, 1, first=1)[0]
            assert len(store.history(DIGEST)) == 1
            assert not later.done()
        assert later.result() == AnswerOutcome.STORED


def test_asyncio_waits_without_blocking(store: Store) -> None:
    async def many() -> list[AnswerOutcome]:
        return list(await asyncio.gather(*map(asyncio.wrap_future, given(store, 100))))

    assert asyncio.run(many()) == [AnswerOutcome.STORED] * 100


def test_what_was_sent_is_kept_even_if_nobody_waits_for_it(store: Store) -> None:
    async def impatient() -> None:
        with held(store):
            waiting = asyncio.wrap_future(given(store, 1)[0])
            waiting.cancel()
            await asyncio.sleep(0)

    asyncio.run(impatient())
    store.add_study(DIGEST, "A study")  # comes after it
    assert len(store.history(DIGEST)) == 1


def test_closing_finishes_what_was_asked_for(store: Store, address: str) -> None:
    with held(store):
        futures = given(store, 50)
        closing = threading.Thread(target=store.close)
        closing.start()
    closing.join()
    assert all(one.result(0) == AnswerOutcome.STORED for one in futures)
    assert ask(address, "SELECT count(*) FROM answers") == [(50,)]
