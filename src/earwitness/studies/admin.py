"""Verbs study links, status, export and unblock on a study with a store."""

from __future__ import annotations

import hashlib
import warnings
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import fspath
from pathlib import Path
from typing import Any

from earwitness.core import Answer, Rating, StrPath
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.store.records import ListenerStatus, OtherStudy, ParticipationState, SubmittedAnswer
from earwitness.store.store import Store
from earwitness.studies.answers import WORKBOOK_META_KEY, answer_line
from earwitness.studies.design.report import study_design
from earwitness.studies.device import PlaybackCounts, played
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import counted, pages
from earwitness.studies.ratings.from_answers import (
    StudySource,
    check_against_design,
    ratings_from_answers,
)
from earwitness.studies.results import Who
from earwitness.studies.study import STORE_FILE_NAME, Design, ListenerPlan, Study
from earwitness.studies.trials import block_kind
from earwitness.studies.trials.base import LETTERS
from earwitness.version import __version__

# --- Answers to other study versions -------------------------------------------------------------
# A study is known by the digest of its file. Whoever changes the file in the midst of a study cuts
# everybody off who takes part, and must be told.


MAX_LISTENERS_IN_NOTE = 5
OTHER_FORM_REMEDY = (
    "links to it lead nowhere while this form is served: put the study file back as it was,"
    " or keep this form in a store of its own (--db)"
)


def other_forms(store: Store, plan: Study) -> list[str]:
    """What is to be said of answers to other forms of a study.

    Those of the same title are, and all if nobody has answered this one: then its file, and perhaps
    its title, has been changed since.
    """
    found = store.other_studies(plan.digest)
    own = [one for one in found if one.title == plan.title]
    return [_told(one, plan) for one in (own if store.has_answers(plan.digest) else found)]


def _told(other: OtherStudy, plan: Study) -> str:
    same = other.title == plan.title
    what = "another form of this study" if same else f'another study, "{other.title}"'
    answers = f"{other.answers:,} answer{'s' * (other.answers != 1)}"
    people = f"{other.listeners:,} listener{'s' * (other.listeners != 1)}"
    about = f"digest {other.digest[:12]}…, {answers} of {people}, the last {other.last}"
    return f"the store holds answers to {what} ({about}) — {OTHER_FORM_REMEDY}"


def left_out(store: Store, plan: Study, numbers: Container[int]) -> list[str]:
    """What is to be said of listeners whom the store knows and the study has no more."""
    known = [one.listener.number for one in store.status(plan.digest) if one.answers]
    gone = [number for number in known if number not in numbers]
    if not gone:
        return []
    who = ", ".join(map(str, gone[:MAX_LISTENERS_IN_NOTE])) + ", …" * (
        len(gone) > MAX_LISTENERS_IN_NOTE
    )
    told = f"listeners {who} have answered, but the study has no such listeners any more"
    return [f"{told} — their links lead nowhere; let listeners be {max(gone)} again"]


# --- Links and export from a store ---------------------------------------------------------------


Record = dict[str, Any]


@dataclass(frozen=True)
class StoredAnswers:
    """Answers to a study out of a store, as they would stand in a file."""

    design: Design
    name: str
    given: tuple[SubmittedAnswer, ...]

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
        answers = dict(enumerate(self.answers, 1))
        check_against_design(self.design, answers, self.name)
        return ratings_from_answers(self.design.study, answers, self.name)

    def plays(self) -> dict[Who, PlaybackCounts]:
        """What every listener heard in the trials that count."""
        trials = {plan.listener: counted(plan) for plan in self.design.plans}
        found = defaultdict[Who, list[PlaybackCounts]](list)
        for answer, meta in ((one.answer, one.meta) for one in self.given):
            trial = trials.get(answer.listener, {}).get(answer.page)
            if trial is not None:
                found[answer.listener].append(played(self.design.study, trial, meta))
        return {
            who: PlaybackCounts(*map(sum, zip(*own, strict=True))) for who, own in found.items()
        }


def store_address(study: StrPath, db: StrPath | None) -> str:
    """The address of a store, or the one beside the study file."""
    return fspath(db) if db else str(Path(study).parent / STORE_FILE_NAME)


def is_there(db: StrPath) -> bool:
    """Whether a store is there; of servers of databases, it is taken to be."""
    address = fspath(db).removeprefix("sqlite:///")
    return "://" in address or Path(address).is_file()


@contextmanager
def opened(plan: Study, db: StrPath, *, new: bool = False) -> Iterator[Store]:
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
    study: StudySource, db: StrPath, *, base: str = "", first: int | None = None
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
        if one.state != ParticipationState.OPEN
    ]


def study_uninvite(study: StudySource, db: StrPath, most: int) -> list[int]:
    """Take links back from the last listeners of whom nothing has come; their numbers."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        return store.uninvite(plan.digest, most)


def study_unblock(study: StudySource, db: StrPath, listener: int) -> None:
    """Let a listener who was blocked come in once more."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        if not store.change_state(
            plan.digest, listener, ParticipationState.BLOCKED, ParticipationState.EXCUSED
        ):
            raise UsageError(f"listener {listener} is not blocked")


@dataclass(frozen=True)
class PageNames:
    """Pages by name, and whether they ask something; made once for plans that are as long.

    What is heard on them is another matter, and differs between listeners.
    """

    study: Study
    made: dict[tuple[int, ...], dict[str, bool]] = field(default_factory=dict)

    def of(self, plan: ListenerPlan) -> dict[str, bool]:
        """Those of a listener."""
        length = (len(plan.training), len(plan.anchors), *map(len, plan.sessions))
        if length not in self.made:
            shown = pages(self.study, plan, lambda *_: "")
            self.made[length] = {page.name: page.asks for page in shown}
        return self.made[length]


def stored_answers(study: StudySource, db: StrPath) -> StoredAnswers:
    """Answers that count, listener by listener; pages that only tell are left out."""
    made = study_design(plan_of(study))
    with opened(made.study, db) as store:
        found = store.counted_answers(made.study.digest)
    shown = PageNames(made.study)
    asks = {plan.listener: shown.of(plan) for plan in made.plans}
    kept = [one for one in found if _asks(asks, one.answer)]
    ordered = sorted(kept, key=lambda one: one.answer.listener)
    return StoredAnswers(made, _named(fspath(db)), tuple(ordered))


def study_records(study: StudySource, db: StrPath) -> Iterator[Record]:
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


def plan_of(study: StudySource) -> Study:
    """A study; what it has of answers can be told without its sounds."""
    return study if isinstance(study, Study) else read_study(Path(study), heard=False)


# --- Returned workbooks --------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkbookReceipt:
    """When something new last came of a workbook; rows with numbers, of all, and blanks in them."""

    at: str
    rows: int
    all: int
    blanks: int

    def __str__(self) -> str:
        blanks = f", {self.blanks} blank" if self.blanks else ""
        return f"{self.at[:16]} {self.rows}/{self.all} rows{blanks}"


def came(given: Iterable[SubmittedAnswer], every: int) -> WorkbookReceipt | None:
    """What came of a rater's workbooks, by the answers that count; nothing if none came."""
    own = [one for one in given if one.meta is not None and WORKBOOK_META_KEY in one.meta]
    if not own:
        return None
    rows = [row for one in own for row in _rows(one.answer)]
    filled = [row for row in rows if any(value is not None for value in row)]
    blanks = sum(value is None for row in filled for value in row)
    return WorkbookReceipt(max(one.received for one in own), len(filled), every, blanks)


def _rows(answer: Answer) -> list[list[float | None]]:
    """Numbers by caption; texts are none."""
    found: dict[str, list[float | None]] = {}
    for name, value in answer.values.items():
        letter, mark, _ = name.partition(".")
        if mark and letter in LETTERS and not isinstance(value, str):
            found.setdefault(letter, []).append(value)
    return list(found.values())


def captions_in(plan: ListenerPlan) -> int:
    """How many captions a listener judges."""
    return sum(len(trial.systems) for trial in counted(plan).values())


def judges_captions(study: Study) -> bool:
    """Whether a study may have workbooks."""
    return all(block_kind(block).captioned for block in study.blocks)


# --- Progress of listeners -----------------------------------------------------------------------


def study_status(study: StudySource, db: StrPath) -> list[Record]:
    """How far every listener is whom the store knows; of captions, also what came in workbooks."""
    plan = plan_of(study)
    with opened(plan, db) as store:
        found = store.status(plan.digest)
        given = store.counted_answers(plan.digest) if judges_captions(plan) else None
    counts = _page_counts(plan)
    records = _status(found, counts)
    return records if given is None else [*_with_workbooks(plan, records, given)]


def _with_workbooks(
    study: Study, records: Sequence[Record], given: Sequence[SubmittedAnswer]
) -> Iterator[Record]:
    """Records with what came of each listener's workbooks, or nothing."""
    own = defaultdict[int, list[SubmittedAnswer]](list)
    for one in given:
        own[one.answer.listener].append(one)
    captions = _per_listener(study, captions_in)
    for record in records:
        number = record["listener"]
        yield {**record, "workbook": came(own[number], captions[number])}


def _status(found: Sequence[ListenerStatus], counts: Mapping[int, int]) -> list[Record]:
    return [
        {
            "listener": one.listener.number,
            "state": one.listener.state.value,
            "answered": one.answers,
            "all": counts[one.listener.number] - 1,
            "last": one.last or "",
            "finished": one.listener.finished or "",
            "withdrawn": one.listener.withdrawn or "",
            "outside": one.listener.outside or "",
            "code": one.listener.code or "",
        }
        for one in found
        if one.listener.number in counts
    ]


def _page_counts(study: Study) -> dict[int, int]:
    """How many pages every listener has; all of one panel have as many.

    So only the first listener of every panel is planned, whom no later one moves.
    """
    shown = PageNames(study)
    return _per_listener(study, lambda plan: len(shown.of(plan)))


def _per_listener(study: Study, count: Callable[[ListenerPlan], int]) -> dict[int, int]:
    """Something that is counted in the plans of all listeners, and alike in one panel."""
    if study.plans:
        return {plan.listener: count(plan) for plan in study.plans}
    first = replace(study, listeners=min(study.listeners, study.panels))
    each = [count(plan) for plan in study_design(first).plans]
    return {number + 1: each[number % len(each)] for number in range(study.listeners)}
