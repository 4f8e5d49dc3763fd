"""The Store class: thread-safe verbs on studies, listeners and answers."""

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

SCRUB_WAIT_SECONDS = 1.0  # for the log to be emptied, which goes on in any case
P = ParamSpec("P")
T = TypeVar("T")


class Store:
    """All that is known of studies, listeners and answers, in one database.

    Any thread may call any verb. Verbs that write return once that is committed.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._writer = database, StoreWriter(database.writer)
        self._scrubber = Scrubber(database.reader)
        self._scrubber.request()  # another process may have been killed before it could

    @classmethod
    def open(cls, address: str | PathLike[str], *, version: str = "") -> Self:
        """Open ``sqlite:///file.db``, a path, or ``postgresql://…``; make its tables if needed.

        ``version``, of the program, is recorded if tables are made or changed.
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
        """Finish what was asked for, and let go of the database."""
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
        """Do not wait: ``write(add_answer, answer, id)``; the future tells once it is committed.

        In asyncio: ``await asyncio.wrap_future(store.write(add_answer, answer, id))``. A job may
        run twice, and must do nothing but use the connection.
        """
        return self._writer.add(lambda connection: job(connection, *args, **options))

    def _read(
        self, query: Callable[Concatenate[Connection, P], T], *args: P.args, **options: P.kwargs
    ) -> T:
        """What a query finds in the database as it is now."""
        with self._reading() as connection:
            return query(connection, *args, **options)

    @contextmanager
    def _reading(self) -> Iterator[Connection]:
        """A view of the database as it is now."""
        with _store_errors(), self._database.reader.connect() as connection:
            yield connection

    def add_study(self, digest: str, title: str) -> None:
        """Enter a study by the digest of its file; it may be there already."""
        self.write(listeners.add_study, digest, title).result()

    def add_listeners(
        self, study: str, numbers: Iterable[int], *, open: bool = False
    ) -> list[Listener]:
        """Give every number a link; numbers that have one keep it. Open ones may be claimed."""
        return self.write(listeners.add_listeners, study, list(numbers), open=open).result()

    def uninvite(self, study: str, most: int) -> list[int]:
        """Take links back from the last who were invited and of whom nothing has come; who."""
        return self.write(listeners.uninvite, study, most).result()

    def claim(
        self,
        study: str,
        *,
        outside: str | None = None,
        request: str | None = None,
        quota: OpenPlaceQuota | None = None,
    ) -> Listener | None:
        """The next open number, the same again for the same person; None if there are no more."""
        person = {"outside": outside, "request": request}
        return self.write(listeners.claim, study, **person, quota=quota).result()

    def find_claim(
        self, study: str, *, outside: str | None = None, request: str | None = None
    ) -> Listener | None:
        """The number that a person has claimed, if any; nothing is taken."""
        return self._read(listeners.find_claim, study, outside=outside, request=request)

    def count_free_places(self, study: str, quota: OpenPlaceQuota | None = None) -> int:
        """How many open numbers wait for somebody."""
        return self._read(listeners.count_free_places, study, quota)

    def listener_by_token(self, token: str) -> Listener | None:
        """Whose link this is."""
        return self._read(listeners.listener_by_token, token)

    def visit(self, token: str) -> Visit | None:
        """Whose link this is, and what they have answered, as of one moment."""
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
        """Let a listener who is in one state be in another; whether they were."""
        return self.write(listeners.change_state, study, listener, before, after).result()

    def let_in(self, study: str, listener: int, visit: str) -> bool:
        """Whether an excuse lets this visit in, which uses it up; the same visit may ask again."""
        return self.write(status.let_in, study, listener, visit).result()

    def add_answer(self, answer: Answer, id: str, meta: Meta = None) -> AnswerOutcome:
        """Keep an answer under an id that its sender made; the first to a page counts."""
        return self.write(answers.add_answer, answer, id, meta).result()

    def correct_answer(
        self, answer: Answer, id: str, supersedes: str, meta: Meta = None
    ) -> AnswerOutcome:
        """Keep an answer in place of another, which stays, but counts no more."""
        return self.write(answers.correct_answer, answer, id, supersedes, meta).result()

    def set_aside(self, study: str, listener: int, pages: Iterable[str]) -> int:
        """Let answers to these pages count no more, so that they are asked again; how many."""
        return self.write(answers.set_aside, study, listener, tuple(pages)).result()

    def answer_to(self, study: str, listener: int, page: str) -> Answer | None:
        """The answer to a page that counts."""
        return self._read(answers.read_answer, study, listener, page)

    def answers(self, study: str, listener: int | None = None) -> list[Answer]:
        """Answers that count now, in the order they came."""
        return [one.answer for one in self.counted_answers(study, listener)]

    def counted_answers(self, study: str, listener: int | None = None) -> list[SubmittedAnswer]:
        """The same, with what went with them."""
        return self._read(answers.read_counted_answers, study, listener)

    def history(self, study: str, listener: int | None = None) -> list[SubmittedAnswer]:
        """All answers that were ever given, but by those who withdrew."""
        with self._reading() as connection:
            return list(answers.iterate_answers(connection, study, listener))

    def add_events(self, study: str, listener: int, page_events: Sequence[PageEvent]) -> int:
        """Keep what happened on pages; how many of these events were new."""
        return self.write(answers.add_events, study, listener, tuple(page_events)).result()

    def page_events(self, study: str, listener: int, page: str, what: str) -> list[PageEvent]:
        """What happened of one sort on one page of a listener."""
        return self._read(answers.read_page_events, study, listener, page, what)

    def events(self, study: str, listener: int) -> list[PageEvent]:
        """What happened on a listener's pages."""
        with self._reading() as connection:
            return [event for *_, event in answers.iterate_events(connection, study, listener)]

    def finish(self, study: str, listener: int, pages: Iterable[str]) -> FinishReceipt:
        """The pages that are not answered, or a code if all are; the same code every time."""
        return self.write(status.finish, study, listener, tuple(pages)).result()

    def withdraw(self, study: str, listener: int) -> None:
        """Delete all that came from a listener; the number stays used.

        Unlike the job of this name, it also sees to it that nothing is left in the log of SQLite:
        at once, or as soon as nobody reads there any more.
        """
        self.write(status.withdraw, study, listener).result()
        self._scrubber.request().wait(SCRUB_WAIT_SECONDS)

    def status(self, study: str) -> list[ListenerStatus]:
        """How far every listener is, by number."""
        return self._read(status.read_listener_statuses, study)

    def other_studies(self, study: str) -> list[OtherStudy]:
        """Studies beside this one, which need not be there, to which somebody has answered."""
        return self._read(status.read_other_studies, study)

    def has_answers(self, study: str) -> bool:
        """Whether anybody has answered this study, which need not be there."""
        return self._read(status.has_answers, study)

    def export(self, study: str, *, private: bool = False) -> Iterator[dict[str, Any]]:
        """All that is kept of a study, as records of JSON; links and ids of people if asked."""
        with self._reading() as connection:
            yield from status.iterate_records(connection, study, private)


@contextmanager
def _store_errors() -> Iterator[None]:
    """Errors of the database, as ours."""
    try:
        yield
    except DBAPIError as error:
        raise StoreError(f"the store failed: {error.orig}") from None
