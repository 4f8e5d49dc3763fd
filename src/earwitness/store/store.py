"""The Store class: thread-safe access to studies, listeners and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from functools import wraps
from os import fspath
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError, TimeoutError

from earwitness.core import Answer, StrPath
from earwitness.errors import StoreError
from earwitness.store import answers as stored_answers
from earwitness.store import drafts, listeners, versions
from earwitness.store import status as progress
from earwitness.store.database import Database, Scrubber, connect, prepare_for_serving
from earwitness.store.listeners import ListenerKey, OpenPlaceQuota
from earwitness.store.records import PageEvent, SubmittedAnswer, Visit, server_time
from earwitness.store.tables import ensure_tables
from earwitness.store.visits import VisitReader
from earwitness.store.writer import StoreWriter

IDLE_SEARCH_HOURS = 10 / 3600  # between two searches for places of idle listeners
SCRUB_WAIT_SECONDS = 1.0  # wait for the log to be emptied, which continues in any case
P = ParamSpec("P")
T = TypeVar("T")


def _job(job: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Return a method that runs a job and returns its result after the commit."""

    @wraps(job)
    def method(self: Store, /, *args: P.args, **options: P.kwargs) -> T:
        return self.write(job, *args, **options).result()

    return method


def _query(query: Callable[Concatenate[Connection, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Return a method that runs a query on the current state of the database."""

    @wraps(query)
    def method(self: Store, /, *args: P.args, **options: P.kwargs) -> T:
        return self.read(query, *args, **options)

    return method


class Store:
    """Database of studies, listeners and answers.

    All methods may be called from any thread. Methods that write return after the commit.

    Examples
    --------
    ``with Store.open("study.db") as store: ...``
    """

    def __init__(self, database: Database) -> None:
        self._database, files = database, database.files
        self._scrubber, self._visits = Scrubber(database.reader), VisitReader(database.reader)
        self._writer = StoreWriter(
            database.writer, files.check if files else lambda: None, self._scrubber.request
        )
        self._scrubber.request()  # another process may have been killed before it was done
        self._idle_search = dict[tuple[str, OpenPlaceQuota], str]()  # time of the next one
        self.loss = ""  # after closing: what happened to a file that was moved while in use

    @classmethod
    def open(cls, address: StrPath, *, version: str = "", serving: bool = False) -> Self:
        """Open a database, creating its tables if needed.

        Parameters
        ----------
        address
            ``sqlite:///file.db``, a path, or ``postgresql://…``.
        version
            Version of the program, recorded if tables are created.
        serving
            Whether people wait for every reply: connections to PostgreSQL are then given up early.

        Raises
        ------
        UsageError
            If the address is invalid, or the database belongs to another version or program.
        StoreError
            If the database cannot be reached.
        """
        database = connect(fspath(address))
        try:
            with _store_errors(), database.writer.begin() as connection:
                ensure_tables(connection, version)
        except BaseException:
            database.close()
            raise
        if serving:
            prepare_for_serving(database)
        return cls(database)

    def close(self) -> None:
        """Finish pending jobs and close the database."""
        self._writer.close()
        if self._database.files is not None:
            self.loss = self._database.files.describe_loss()
        self._scrubber.close()
        self._visits.close()
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> Future[T]:
        """Queue a job, as in ``write(add_answer, answer, id)``, and return a future.

        The future is done after the commit. In asyncio, use
        ``await asyncio.wrap_future(store.write(add_answer, answer, id))``. A job may run twice,
        must have no effects other than on the connection, and must not end its transaction.
        """
        return self._writer.add(lambda connection: job(connection, *args, **options))

    def write_soon(
        self, job: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> Future[T]:
        """Queue a job that is not urgent: it may wait a tenth of a second for others.

        Jobs are committed in the order in which they are queued, so never after a later answer.
        """
        return self._writer.add(
            lambda connection: job(connection, *args, **options), is_urgent=False
        )

    def read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """Run a query on the current state of the database."""
        with self._reading() as connection:
            return query(connection, *args, **options)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """Open a snapshot of the database for reading."""
        with _store_errors(), self._database.reader.connect() as connection:
            yield connection

    # jobs and queries of other modules, with their parameters after the connection
    add_study = _job(listeners.add_study)
    add_listeners = _job(listeners.add_listeners)
    uninvite = _job(listeners.uninvite)
    claim = _job(listeners.claim)
    reclaim = _job(listeners.reclaim)
    count_repeat = _job(listeners.count_repeat)
    ensure_secret = _job(listeners.ensure_secret)
    change_state = _job(listeners.change_state)
    let_in = _job(progress.let_in)
    add_answer = _job(stored_answers.add_answer)
    correct_answer = _job(stored_answers.correct_answer)
    set_aside = _job(stored_answers.set_aside)
    add_events = _job(stored_answers.add_events)
    finish = _job(progress.finish)
    record_texts = _job(versions.record_texts)
    record_audio = _job(versions.record_audio)
    add_draft = _job(drafts.add_draft)
    texts = _query(versions.read_texts)
    audio = _query(versions.read_audio)
    find_claim = _query(listeners.find_claim)
    count_free_places = _query(listeners.count_free_places)
    answer_to = _query(stored_answers.read_answer)
    counted_answers = _query(stored_answers.read_counted_answers)
    page_events = _query(stored_answers.read_page_events)
    draft = _query(drafts.read_draft)
    status = _query(progress.read_listener_statuses)
    other_studies = _query(progress.read_other_studies)
    has_answers = _query(progress.has_answers)

    def has_free_place(self, study: str, quota: OpenPlaceQuota) -> bool:
        """Return whether an open place is free.

        After a search for idle listeners without success, the next one is some seconds later.
        """
        due = self._idle_search.get((study, quota), "") <= server_time()
        is_free = self.read(listeners.has_free_place, study, quota, idle=due)
        if due and not is_free:
            wait = min(IDLE_SEARCH_HOURS, quota.unused_hours / 100)
            self._idle_search[study, quota] = server_time(-wait)
        return is_free

    @property
    def is_local(self) -> bool:
        """Whether the database is a file, which is read faster than another thread would start."""
        return self._database.reader.dialect.name == "sqlite"

    def visit(self, token: str) -> Visit | None:
        """Return the listener of a link and their answered pages, in one snapshot."""
        with _store_errors(self._database.reader):
            return self._visits.read(token)

    def recent_visit(self, token: str) -> Visit | None:
        """Return what was last known of a listener with answers, if it is in memory.

        Other processes may have changed it since.
        """
        return self._visits.recent(token)

    def extend_recent_visit(self, token: str, visit: Visit, pages: Mapping[str, str]) -> None:
        """Replace the answered pages of a recent visit after another answer was committed."""
        self._visits.extend(token, visit, pages)

    def answers(self, study: str, listener: int | None = None) -> list[Answer]:
        """Return the answers that count, in order of arrival."""
        return [answer.answer for answer in self.counted_answers(study, listener)]

    def history(self, study: str, listener: int | None = None) -> list[SubmittedAnswer]:
        """Return all answers ever given, except those of withdrawn listeners."""
        with self._reading() as connection:
            return list(stored_answers.iterate_answers(connection, study, listener))

    def events(self, study: str, listener: int) -> list[PageEvent]:
        """Return all page events of a listener."""
        with self._reading() as connection:
            return [
                event for *_, event in stored_answers.iterate_events(connection, study, listener)
            ]

    def withdraw(self, study: str, listener: ListenerKey) -> None:
        """Delete all data of a listener; a place of the open link is free again.

        In addition, the data is removed from the log of SQLite, at once or as soon as no other
        reader uses it.
        """
        self.write(progress.withdraw, study, listener).result()
        self._scrubber.request().wait(SCRUB_WAIT_SECONDS)

    def screen_out(self, study: str, listener: ListenerKey, page: str) -> bool:
        """Record that a listener may not take part, and delete their answers and events.

        Returns False if ``page`` has an answer or the listener has withdrawn. The data is removed
        from the log of SQLite as after a withdrawal.
        """
        is_out = self.write(progress.screen_out, study, listener, page).result()
        self._scrubber.request().wait(SCRUB_WAIT_SECONDS)
        return is_out

    def export(self, study: str, *, private: bool = False) -> Iterator[dict[str, Any]]:
        """Yield everything stored for a study as JSON records; if ``private``, also links, ids."""
        with self._reading() as connection:
            yield from progress.iterate_records(connection, study, private)
            yield from versions.iterate_version_records(connection, study)


@contextmanager
def _store_errors(engine: Engine | None = None) -> Iterator[None]:
    """Convert database errors to StoreError, with an engine also those of its driver."""
    driver_errors = () if engine is None else (engine.dialect.loaded_dbapi.Error,)
    try:
        yield
    except (DBAPIError, TimeoutError, *driver_errors) as error:
        raise StoreError(f"database error: {getattr(error, 'orig', error)}") from None
