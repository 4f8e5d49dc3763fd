"""A single writer thread that commits waiting jobs in groups.

Mostly nothing goes wrong, and a group of jobs needs nothing but one transaction. Where a job fails,
all is rolled back and done again, now with a savepoint for every job, so that it fails alone. Where
the database itself fails under a job, what others did in the transaction may be gone in spite of
savepoints: then every job gets a transaction of its own. Where a commit fails, nobody is told of
success; whoever asks again with the same id is answered rightly in any case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from earwitness.errors import StoreError

T = TypeVar("T")
Job = Callable[[Connection], Any]
JobRunner = Callable[[Connection, Job], "JobResult"]
MAX_JOBS_PER_TRANSACTION = 500


@dataclass(frozen=True)
class PendingJob:
    """A job, and whom to tell."""

    job: Job
    future: Future[Any] = field(default_factory=Future)


@dataclass(frozen=True)
class JobResult:
    """What came of a job."""

    result: Any = None
    error: Exception | None = None


class StoreWriter:
    """Takes jobs from any thread and runs them in its own."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: SimpleQueue[PendingJob | None] = SimpleQueue()
        self._lock, self._closed = Lock(), False
        self._thread = Thread(target=self._serve, name="earwitness-store", daemon=True)
        self._thread.start()

    def add(self, job: Callable[[Connection], T]) -> Future[T]:
        """Run a job soon; the future tells what came of it once that is committed.

        It cannot be cancelled: what somebody sent is kept, even if they do not wait for it.
        """
        task = PendingJob(job)
        task.future.set_running_or_notify_cancel()
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed")
            self._waiting.put(task)
        return task.future

    def close(self) -> None:
        """Finish all jobs, and take no more."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._thread.join()

    def _serve(self) -> None:
        more = True
        while more:
            tasks, more = self._take()
            for task, done in zip(tasks, self._settled(tasks), strict=True):
                if done.error is None:
                    task.future.set_result(done.result)
                else:
                    task.future.set_exception(done.error)

    def _take(self) -> tuple[list[PendingJob], bool]:
        """All jobs that wait, at least one; and whether more may come."""
        tasks, task = list[PendingJob](), self._waiting.get()
        while task is not None:
            tasks.append(task)
            if len(tasks) == MAX_JOBS_PER_TRANSACTION:
                return tasks, True
            try:
                task = self._waiting.get_nowait()
            except Empty:
                return tasks, True
        return tasks, False

    def _settled(self, tasks: Sequence[PendingJob]) -> list[JobResult]:
        """What came of all jobs, which are committed, or not, when this returns."""
        try:
            for run in (_run, _saved):
                with suppress(_Spoilt):
                    return self._together(tasks, run)
        except StoreError as error:
            return [JobResult(error=error)] * len(tasks)
        return self._one_by_one(tasks)

    def _one_by_one(self, tasks: Sequence[PendingJob]) -> list[JobResult]:
        """Every job in a transaction of its own; once there can be none, the rest fails too."""
        found = list[JobResult]()
        for task in tasks:
            try:
                found += self._together([task], _saved)
            except _Spoilt as spoilt:
                found.append(JobResult(error=_told(spoilt.error)))
            except StoreError as error:
                return found + [JobResult(error=error)] * (len(tasks) - len(found))
        return found

    def _together(self, tasks: Sequence[PendingJob], run: JobRunner) -> list[JobResult]:
        """Run jobs in one transaction and commit it."""
        if not tasks:
            return []
        try:
            with self._engine.begin() as connection:
                return _whole(connection, tasks, run)
        except _Spoilt:
            raise
        except Exception as error:
            raise _told(error) from error


class _Spoilt(Exception):
    """A job failed, and took the transaction with it."""

    def __init__(self, error: Exception) -> None:
        self.error = error


def _whole(connection: Connection, tasks: Sequence[PendingJob], run: JobRunner) -> list[JobResult]:
    """Run jobs and make sure that the transaction is still the one that began before them."""
    try:
        began = connection.begin_nested()
        done = [run(connection, task.job) for task in tasks]
        began.commit()
    except DBAPIError as error:
        raise _Spoilt(error) from None
    return done


def _run(connection: Connection, job: Job) -> JobResult:
    """Run a job that is hoped not to fail."""
    done = _tried(connection, job)
    if done.error is not None:
        raise _Spoilt(done.error)
    return done


def _saved(connection: Connection, job: Job) -> JobResult:
    """Run a job that may refuse what it was given, in a savepoint."""
    savepoint = connection.begin_nested()
    done = _tried(connection, job)
    if isinstance(done.error, DBAPIError):
        raise done.error
    (savepoint.commit if done.error is None else savepoint.rollback)()
    return done


def _tried(connection: Connection, job: Job) -> JobResult:
    try:
        return JobResult(job(connection))
    except Exception as error:  # noqa: BLE001 — whatever it is, it concerns this job alone
        return JobResult(error=error)


def _told(error: Exception) -> StoreError:
    return StoreError(f"the store failed: {getattr(error, 'orig', error)}")
