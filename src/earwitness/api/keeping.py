"""Studies whose answers are in a store: links, who is where, and answers out of it."""

from __future__ import annotations

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from earwitness import __version__
from earwitness.api.beside import other_forms
from earwitness.api.studies import study_design
from earwitness.api.taking import check_heard, ratings_of
from earwitness.data import Answer, Design, Plan, Rating, Study, Who
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.formats.answers import answer_line
from earwitness.formats.study import read_study
from earwitness.listening.pages import counted, pages
from earwitness.listening.played import Played, played
from earwitness.store import Given, State, Store

Place = str | PathLike[str]
StudyGiven = Place | Study
FILE = "study.db"  # beside the study file, unless told
Record = dict[str, Any]


@dataclass(frozen=True)
class Stored:
    """Answers to a study out of a store, as they would stand in a file."""

    design: Design
    name: str
    given: tuple[Given, ...]

    @property
    def answers(self) -> tuple[Answer, ...]:
        """What was answered."""
        return tuple(one.answer for one in self.given)

    @property
    def lines(self) -> bytes:
        """As lines of a file."""
        return b"".join(map(answer_line, self.answers))

    @property
    def sha256(self) -> str:
        """Of the lines."""
        return hashlib.sha256(self.lines).hexdigest()

    def ratings(self) -> list[Rating]:
        """Ratings that follow from the answers."""
        given = dict(enumerate(self.answers, 1))
        check_heard(self.design, given, self.name)
        return ratings_of(self.design, given, self.name)

    def plays(self) -> dict[Who, Played]:
        """What every listener heard in the trials that count."""
        trials = {plan.listener: counted(plan) for plan in self.design.plans}
        found = defaultdict[Who, list[Played]](list)
        for answer, meta in ((one.answer, one.meta) for one in self.given):
            trial = trials.get(answer.listener, {}).get(answer.page)
            if trial is not None:
                found[answer.listener].append(played(self.design.study, trial, meta))
        return {who: Played(*map(sum, zip(*own, strict=True))) for who, own in found.items()}


def store_address(study: Place, db: Place | None) -> str:
    """The address of a store, or the one beside the study file."""
    return fspath(db) if db else str(Path(study).parent / FILE)


def is_there(db: Place) -> bool:
    """Whether a store is there; of servers of databases, it is taken to be."""
    address = fspath(db).removeprefix("sqlite:///")
    return "://" in address or Path(address).is_file()


@contextmanager
def opened(plan: Study, db: Place, *, new: bool = False) -> Iterator[Store]:
    """A store that has this study; a ``new`` one is made where there is none.

    It warns of answers to another form of the study.
    """
    address = fspath(db)
    if not new and not is_there(address):
        raise UsageError(f"{address}: there is no store — earwitness serve makes one")
    with Store.open(address, version=__version__) as store:
        for note in other_forms(store, plan):
            warnings.warn(note, EarwitnessWarning, stacklevel=4)
        if new:
            store.add_study(plan.digest, plan.title)
        yield store


def study_links(
    study: StudyGiven, db: Place, *, base: str = "", first: int | None = None
) -> list[Record]:
    """A link for every listener, or the first ones, who has no open place; the same every time."""
    made = study_design(study)
    numbers = [plan.listener for plan in made.plans]
    if first is not None and first > len(numbers):
        raise UsageError(f"the first {first} listeners, but there are {len(numbers)}")
    with opened(made.study, db, new=True) as store:
        found = store.add_listeners(made.study.digest, numbers[:first])
    return [
        {"listener": one.number, "state": one.state.value, "link": f"{base}/l/{one.token}"}
        for one in found
        if one.state != State.OPEN
    ]


def study_uninvite(study: StudyGiven, db: Place, most: int) -> list[int]:
    """Take links back from the last listeners of whom nothing has come; their numbers."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        return store.uninvite(plan.digest, most)


def study_unblock(study: StudyGiven, db: Place, listener: int) -> None:
    """Let a listener who was blocked come in once more."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        if not store.change_state(plan.digest, listener, State.BLOCKED, State.EXCUSED):
            raise UsageError(f"listener {listener} is not blocked")


@dataclass(frozen=True)
class Shown:
    """Pages by name, and whether they ask something; made once for plans that are as long.

    What is heard on them is another matter, and differs between listeners.
    """

    study: Study
    made: dict[tuple[int, ...], dict[str, bool]] = field(default_factory=dict)

    def of(self, plan: Plan) -> dict[str, bool]:
        """Those of a listener."""
        length = (len(plan.training), len(plan.anchors), *map(len, plan.sessions))
        if length not in self.made:
            shown = pages(self.study, plan, lambda *_: "")
            self.made[length] = {page.name: page.asks for page in shown}
        return self.made[length]


def stored_answers(study: StudyGiven, db: Place) -> Stored:
    """Answers that count, listener by listener; pages that only tell are left out."""
    made = study_design(plan_of(study))
    with opened(made.study, db) as store:
        found = store.counting(made.study.digest)
    shown = Shown(made.study)
    asks = {plan.listener: shown.of(plan) for plan in made.plans}
    kept = [one for one in found if _asks(asks, one.answer)]
    ordered = sorted(kept, key=lambda one: one.answer.listener)
    return Stored(made, _named(fspath(db)), tuple(ordered))


def study_records(study: StudyGiven, db: Place) -> Iterator[Record]:
    """All that a store has of a study: every answer ever given, events, what went with them."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        yield from store.export(plan.digest)


def _asks(asks: Mapping[int, Mapping[str, bool]], answer: Answer) -> bool:
    """Whether an answer is to a page that asks; those of listeners nobody knows are told later."""
    return answer.listener not in asks or asks[answer.listener].get(answer.page, False)


def _named(address: str) -> str:
    """An address without the password that may be in it."""
    start, mark, rest = address.partition("://")
    return f"{start}://{rest.rpartition('@')[2].partition('?')[0]}" if mark else address


def plan_of(study: StudyGiven) -> Study:
    """A study; what it has of answers can be told without its sounds."""
    return study if isinstance(study, Study) else read_study(Path(study), heard=False)
