"""A single writer thread that commits waiting jobs in groups.

A commit costs more than a job. So jobs that are not urgent wait a little for others, and share
their commit. They do not even wake the thread while it has work: it looks for them at intervals.

Usually no job fails, and a group of jobs needs one transaction only. If a job fails, all jobs are
rolled back and run again with a savepoint per job, so that it fails alone. If the database itself
fails during a job, the other jobs of the transaction may be lost in spite of savepoints: then each
job gets its own transaction. If a commit fails, no success is reported; repeating a request with
the same id is always safe.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, RootTransaction
from sqlalchemy.exc import DBAPIError

from earwitness.errors import StoreError
from earwitness.store.database import execute_directly, is_timeout

T = TypeVar("T")
Job = Callable[[Connection], Any]
JobRunner = Callable[[Connection, Job], "JobResult"]
MAX_JOBS_PER_TRANSACTION = 500
PATIENT_SECONDS = 0.1  # longest wait of jobs that are not urgent
IDLE_SECONDS = 3.0  # without jobs, after which the log is emptied


@dataclass(frozen=True)
class PendingJob:
    """A job, and the future of its result."""

    job: Job
    future: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True)
class JobResult:
    """Result or error of a job."""

    result: Any = None
    error: Exception | None = None


class StoreWriter:
    """Accepts jobs from any thread and runs them in its own thread.

    Parameters
    ----------
    engine
        Engine for writing.
    check
        Raises StoreError if nothing can be stored; called before jobs, and after their commit.
    rest
        Called when no jobs have come for a while, and at the end.
    """

    def __init__(
        self, engine: Engine, check: Callable[[], object], rest: Callable[[], object]
    ) -> None:
        self._engine, self._check, self._rest = engine, check, rest
        self._waiting = deque[PendingJob]()  # in order of arrival
        self._signals = SimpleQueue[None]()  # at most one, which wakes the thread
        self._lock, self._closed = Lock(), False
        self._is_signalled, self._is_urgent, self._sleeps = False, False, False
        self._has_rested = True
        self._connection: Connection | None = None
        self._thread = Thread(target=self._serve, name="earwitness-store", daemon=True)
        self._thread.start()

    def add(self, job: Callable[[Connection], T], *, is_urgent: bool = True) -> Future[T]:
        """Queue a job; the future has its result after the commit.

        The future cannot be cancelled: data is stored even if the sender does not wait for it.
        """
        task = PendingJob(job)
        task.future.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise StoreError("the database is closed")
            self._waiting.append(task)
            self._is_urgent |= is_urgent
            if is_urgent or self._sleeps:
                self._wake()
        return task.future

    def close(self) -> None:
        """Finish all jobs and accept no more."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._wake()
        self._thread.join()
        self._disconnect()

    def _wake(self) -> None:
        self._sleeps = False
        if not self._is_signalled:
            self._is_signalled = True
            self._signals.put(None)

    def _serve(self) -> None:
        while tasks := self._take_waiting_jobs():
            for task, result in zip(tasks, self._run_tasks(tasks), strict=True):
                if result.error is None:
                    task.future.set_result(result.result)
                else:
                    task.future.set_exception(result.error)
            self._has_rested = False
        if not self._has_rested:
            self._rest()

    def _take_waiting_jobs(self) -> list[PendingJob]:
        """Return waiting jobs, in order of arrival; none if the writer is closed.

        If none is urgent, they have waited for others. The thread sleeps if none has come.
        """
        while True:
            is_signalled = self._wait()
            with self._lock:
                if is_signalled:
                    self._is_signalled = False
                    if not (self._is_urgent or self._closed):
                        continue
                count = min(len(self._waiting), MAX_JOBS_PER_TRANSACTION)
                tasks = [self._waiting.popleft() for _ in range(count)]
                self._is_urgent = bool(self._waiting)
                self._sleeps = not tasks and not is_signalled
                if self._is_urgent or self._closed:
                    self._wake()
                if tasks or self._closed:
                    return tasks

    def _wait(self) -> bool:
        """Wait for a signal; return whether there was one in time."""
        seconds = (
            PATIENT_SECONDS if not self._sleeps else None if self._has_rested else IDLE_SECONDS
        )
        try:
            self._signals.get(timeout=seconds)
        except Empty:
            if seconds == IDLE_SECONDS:
                self._has_rested = True
                self._rest()
            return False
        return True

    def _run_tasks(self, tasks: Sequence[PendingJob]) -> list[JobResult]:
        """Run and commit jobs; return the result of each."""
        try:
            self._check()
            results = self._run_together(tasks)
            self._check()
        except StoreError as error:
            return [JobResult(error=error)] * len(tasks)
        return results

    def _run_together(self, tasks: Sequence[PendingJob]) -> list[JobResult]:
        """Run and commit jobs in one transaction if possible."""
        for run in (_run_or_fail, _run_in_savepoint):
            try:
                return self._run_in_transaction(tasks, run)
            except _Spoilt as spoilt:
                if is_timeout(spoilt.error):
                    raise _store_error(spoilt.error) from None
        return self._run_separately(tasks)

    def _run_separately(self, tasks: Sequence[PendingJob]) -> list[JobResult]:
        """Run each job in its own transaction; if none can be opened, the remaining jobs fail."""
        results = list[JobResult]()
        for task in tasks:
            try:
                results += self._run_in_transaction([task], _run_in_savepoint)
            except _Spoilt as spoilt:
                results.append(JobResult(error=_store_error(spoilt.error)))
            except StoreError as error:
                return results + [JobResult(error=error)] * (len(tasks) - len(results))
        return results

    def _run_in_transaction(self, tasks: Sequence[PendingJob], run: JobRunner) -> list[JobResult]:
        """Run jobs in one transaction and commit it."""
        if not tasks:
            return []
        try:
            with self._begin() as connection:
                return _run_jobs(connection, tasks, run)
        except _Spoilt:
            raise
        except Exception as error:
            raise _store_error(error) from error

    @contextmanager
    def _begin(self) -> Iterator[Connection]:
        """Begin a transaction on the connection, which stays open in between."""
        try:
            with self._begin_connected() as transaction:
                yield transaction.connection
        except BaseException:  # a transaction that could not be committed may still be open
            self._disconnect()
            raise

    def _begin_connected(self) -> RootTransaction:
        """Begin a transaction; connect again if the server has closed the connection."""
        is_kept = self._connection is not None
        if self._connection is None:
            self._connection = self._engine.connect()
        try:
            return self._connection.begin()
        except DBAPIError as error:
            if not is_kept or not _is_lost(self._connection) or is_timeout(error):
                raise
        self._disconnect()
        return self._begin_connected()

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            if _is_lost(connection):
                connection.invalidate()
            connection.close()


def _is_lost(connection: Connection) -> bool:
    """Return whether the server has closed a connection."""
    if connection.invalidated:
        return True
    driver: Any = connection.connection.driver_connection
    return bool(getattr(driver, "closed", False))


class _Spoilt(Exception):
    """A job failed and invalidated its transaction."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _run_jobs(
    connection: Connection, tasks: Sequence[PendingJob], run: JobRunner
) -> list[JobResult]:
    """Run jobs and check that the transaction is still the one begun before them."""
    try:
        execute_directly(connection, "SAVEPOINT jobs")
        results = [run(connection, task.job) for task in tasks]
        execute_directly(connection, "RELEASE SAVEPOINT jobs")
    except DBAPIError as error:
        raise _Spoilt(error) from None
    return results


def _run_or_fail(connection: Connection, job: Job) -> JobResult:
    """Run a job; an error ends the transaction."""
    result = _try_job(connection, job)
    if result.error is not None:
        raise _Spoilt(result.error)
    return result


def _run_in_savepoint(connection: Connection, job: Job) -> JobResult:
    """Run a job in a savepoint, which is rolled back on an error."""
    savepoint = connection.begin_nested()
    result = _try_job(connection, job)
    if isinstance(result.error, DBAPIError):
        raise result.error
    (savepoint.commit if result.error is None else savepoint.rollback)()
    return result


def _try_job(connection: Connection, job: Job) -> JobResult:
    try:
        return JobResult(job(connection))
    except Exception as error:  # noqa: BLE001 — any error concerns this job alone
        return JobResult(error=error)


def _store_error(error: Exception) -> StoreError:
    return StoreError(f"database error: {getattr(error, 'orig', error)}")
