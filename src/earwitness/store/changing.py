"""Many answers at once, all of them or none: what is kept is decided by what is there already.

Whoever decides sees all that was ever answered by the listeners in question, under the lock of the
one writer, so nothing can come in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from earwitness.data import Answer
from earwitness.errors import UsageError
from earwitness.store.answers import Meta, add_answer, correct_answer, given
from earwitness.store.listeners import add_listeners, add_study
from earwitness.store.records import Given, Listener, Outcome


@dataclass(frozen=True, slots=True)
class Held:
    """Listeners, and by number all answers they ever gave."""

    listeners: tuple[Listener, ...]
    answers: Mapping[int, tuple[Given, ...]]

    def last(self, listener: int, page: str) -> Given | None:
        """What stands last on a page: an answer that counts, or one that was set aside."""
        own = [one for one in self.answers[listener] if one.answer.page == page]
        past = {one.supersedes for one in own}
        return next((one for one in own if one.id not in past), None)


@dataclass(frozen=True, slots=True)
class Change:
    """An answer to be kept, and the id of the one that it corrects, if it does."""

    answer: Answer
    id: str
    supersedes: str = ""
    meta: Meta = None


Decide = Callable[[Held], Sequence[Change]]


def change_answers(
    connection: Connection, study: str, title: str, numbers: Iterable[int], decide: Decide
) -> tuple[Change, ...]:
    """Keep what is decided; the study and its listeners are entered if they are not there."""
    add_study(connection, study, title)
    who = tuple(add_listeners(connection, study, numbers))
    every = {one.number: tuple(given(connection, study, one.number)) for one in who}
    changes = tuple(decide(Held(who, every)))
    for one in changes:
        if _kept(connection, one) != Outcome.STORED:
            raise UsageError(f"page {one.answer.page}: the answer could not be kept")
    return changes


def _kept(connection: Connection, one: Change) -> Outcome:
    if one.supersedes:
        return correct_answer(connection, one.answer, one.id, one.supersedes, one.meta)
    return add_answer(connection, one.answer, one.id, one.meta)
