"""The Store class: thread-safe access to studies, listeners and answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from os import PathLike, fspath
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from earwitness.core import Answer
from earwitness.errors import StoreError
from earwitness.store import answers, listeners, status
from earwitness.store.answers import Meta
from earwitness.store.database import Database, Scrubber, connect
from earwitness.store.listeners import OpenPlaceQuota
from earwitness.store.migrations import migrate
from earwitness.store.records import (
    AnswerOutcome,
    FinishReceipt,
    Listener,
    ListenerStatus,
    OtherStudy,
    PageEvent,
    ParticipationState,
    SubmittedAnswer,
    Visit,
)
from earwitness.store.writer import StoreWriter

SCRUB_WAIT_SECONDS = 1.0  # wait for the log to be emptied, which continues in any case
P = ParamSpec("P")
T = TypeVar("T")


class Store:
    """Database of studies, listeners and answers.

    All methods may be called from any thread. Methods that write return after the commit.

    Examples
    --------
    ``with Store.open("study.db") as store: ...``
    """

    def __init__(self, database: Database) -> None:
        self._database, self._writer = database, StoreWriter(database.writer)
        self._scrubber = Scrubber(database.reader)
        self._scrubber.request()  # another process may have been killed before it was done

    @classmethod
    def open(cls, address: str | PathLike[str], *, version: str = "") -> Self:
        """Open a database, creating its tables if needed.

        Parameters
        ----------
        address
            ``sqlite:///file.db``, a path, or ``postgresql://…``.
        version
            Version of the program, recorded if tables are created or changed.

        Raises
        ------
        UsageError
            If the address is invalid, or the database belongs to a newer or another program.
        StoreError
            If the database cannot be reached.
        """
        database = connect(fspath(address))
        try:
            with _store_errors(), database.writer.begin() as connection:
                migrate(connection, version)
        except BaseException:
            database.close()
            raise
        return cls(database)

    def close(self) -> None:
        """Finish pending jobs and close the database."""
        self._writer.close()
        self._scrubber.close()
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
        ``await asyncio.wrap_future(store.write(add_answer, answer, id))``. A job may run twice, and
        must have no effects other than on the connection.
        """
        return self._writer.add(lambda connection: job(connection, *args, **options))

    def _read(
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

    def add_study(self, digest: str, title: str) -> None:
        """Add a study by the digest of its file, if it is not yet stored."""
        self.write(listeners.add_study, digest, title).result()

    def add_listeners(
        self, study: str, numbers: Iterable[int], *, open: bool = False
    ) -> list[Listener]:
        """Create a link for each number without one. Open ones may be claimed."""
        return self.write(listeners.add_listeners, study, list(numbers), open=open).result()

    def uninvite(self, study: str, most: int) -> list[int]:
        """Withdraw links of the last invited listeners who have not started; return them."""
        return self.write(listeners.uninvite, study, most).result()

    def claim(
        self,
        study: str,
        *,
        outside: str | None = None,
        request: str | None = None,
        quota: OpenPlaceQuota | None = None,
    ) -> Listener | None:
        """Claim the next open number, the same again for the same person; None if none is left."""
        person = {"outside": outside, "request": request}
        return self.write(listeners.claim, study, **person, quota=quota).result()

    def find_claim(
        self, study: str, *, outside: str | None = None, request: str | None = None
    ) -> Listener | None:
        """Return the number that a person has claimed, if any."""
        return self._read(listeners.find_claim, study, outside=outside, request=request)

    def count_free_places(self, study: str, quota: OpenPlaceQuota | None = None) -> int:
        """Return the number of open places that are still free."""
        return self._read(listeners.count_free_places, study, quota)

    def listener_by_token(self, token: str) -> Listener | None:
        """Return the listener of a link, if any."""
        return self._read(listeners.listener_by_token, token)

    def visit(self, token: str) -> Visit | None:
        """Return the listener of a link and their answered pages, in one snapshot."""
        with self._reading() as connection:
            listener = listeners.listener_by_token(connection, token)
            if listener is None:
                return None
            return Visit(
                listener, answers.read_answered_pages(connection, listener.study, listener.number)
            )

    def change_state(
        self, study: str, listener: int, before: ParticipationState, after: ParticipationState
    ) -> bool:
        """Change the state of a listener if it is ``old``; return whether it was."""
        return self.write(listeners.change_state, study, listener, before, after).result()

    def let_in(self, study: str, listener: int, visit: str) -> bool:
        """Return whether an excuse admits this visit, which uses it up; repeatable per visit."""
        return self.write(status.let_in, study, listener, visit).result()

    def add_answer(self, answer: Answer, id: str, meta: Meta = None) -> AnswerOutcome:
        """Store an answer under an id from its sender; the first answer to a page counts."""
        return self.write(answers.add_answer, answer, id, meta).result()

    def correct_answer(
        self, answer: Answer, id: str, supersedes: str, meta: Meta = None
    ) -> AnswerOutcome:
        """Store a correction of another answer, which is kept, but no longer counts."""
        return self.write(answers.correct_answer, answer, id, supersedes, meta).result()

    def set_aside(self, study: str, listener: int, pages: Iterable[str]) -> int:
        """Set aside the answers to these pages, which are asked again; return their number."""
        return self.write(answers.set_aside, study, listener, tuple(pages)).result()

    def answer_to(self, study: str, listener: int, page: str) -> Answer | None:
        """Return the answer to a page that counts."""
        return self._read(answers.read_answer, study, listener, page)

    def answers(self, study: str, listener: int | None = None) -> list[Answer]:
        """Return the answers that count, in order of arrival."""
        return [one.answer for one in self.counted_answers(study, listener)]

    def counted_answers(self, study: str, listener: int | None = None) -> list[SubmittedAnswer]:
        """Return the answers that count, with their metadata."""
        return self._read(answers.read_counted_answers, study, listener)

    def history(self, study: str, listener: int | None = None) -> list[SubmittedAnswer]:
        """Return all answers ever given, except those of withdrawn listeners."""
        with self._reading() as connection:
            return list(answers.iterate_answers(connection, study, listener))

    def add_events(self, study: str, listener: int, page_events: Sequence[PageEvent]) -> int:
        """Store page events; return the number of new ones."""
        return self.write(answers.add_events, study, listener, tuple(page_events)).result()

    def page_events(self, study: str, listener: int, page: str, what: str) -> list[PageEvent]:
        """Return events of one type on one page of a listener."""
        return self._read(answers.read_page_events, study, listener, page, what)

    def events(self, study: str, listener: int) -> list[PageEvent]:
        """Return all page events of a listener."""
        with self._reading() as connection:
            return [event for *_, event in answers.iterate_events(connection, study, listener)]

    def finish(self, study: str, listener: int, pages: Iterable[str]) -> FinishReceipt:
        """Return the unanswered pages, or the completion code, always the same."""
        return self.write(status.finish, study, listener, tuple(pages)).result()

    def withdraw(self, study: str, listener: int) -> None:
        """Delete all data of a listener; the number stays used.

        In addition, the data is removed from the log of SQLite, at once or as soon as no other
        reader uses it.
        """
        self.write(status.withdraw, study, listener).result()
        self._scrubber.request().wait(SCRUB_WAIT_SECONDS)

    def status(self, study: str) -> list[ListenerStatus]:
        """Return the progress of all listeners, by number."""
        return self._read(status.read_listener_statuses, study)

    def other_studies(self, study: str) -> list[OtherStudy]:
        """Return other studies in the database that have answers."""
        return self._read(status.read_other_studies, study)

    def has_answers(self, study: str) -> bool:
        """Return whether a study has answers; it need not be in the database."""
        return self._read(status.has_answers, study)

    def export(self, study: str, *, private: bool = False) -> Iterator[dict[str, Any]]:
        """Yield everything stored for a study as JSON records; if ``private``, also links, ids."""
        with self._reading() as connection:
            yield from status.iterate_records(connection, study, private)


@contextmanager
def _store_errors() -> Iterator[None]:
    """Convert database errors to StoreError."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"database error: {error.orig}") from None
