"""Answers of returned workbooks in a store: all of them or none.

What comes again changes nothing. A workbook that was corrected takes the place of what it said
before, page by page; what was answered in a browser is only replaced if that is asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from os import PathLike
from typing import Any

from earwitness.api.answering import StudyGiven, study_import_answers
from earwitness.api.keeping import is_there, opened
from earwitness.api.matching import WORKBOOK, JudgedPage, Matched
from earwitness.api.returning import IMPORTED, row_problem
from earwitness.errors import InputError, Problem
from earwitness.listening.kinds.rubric import ASKED, COMMENT
from earwitness.store import Change, Given, Held, State, Store, change_answers

Place = str | PathLike[str]
EMPTY = "make it the same, or leave all rows of this clip empty"
OR_REPLACE = f"{EMPTY}; or say --replace"


@dataclass(frozen=True)
class Entered:
    """What came of workbooks: pages that are new, corrected, and as they were."""

    matched: Matched
    new: int
    corrected: int
    known: int


def study_enter(
    study: StudyGiven, files: Sequence[Place], db: Place, *, replace: bool = False
) -> Entered:
    """Keep the answers of workbooks in a store, which is made where there is none."""
    found = study_import_answers(study, files)
    with opened(found.study, db, new=not is_there(db)) as store:
        return entered(found, entering(store, found, OR_REPLACE, replace=replace).result())


def entering(
    store: Store, found: Matched, remedy: str, *, replace: bool = False
) -> Future[tuple[Change, ...]]:
    """Enter answers in one transaction; the ``remedy`` is for who has answered otherwise."""
    study, numbers = found.study, sorted(found.sources)
    decide = _Decide(found, remedy, replace)
    return store.write(change_answers, study.digest, study.title, numbers, decide)


def entered(found: Matched, changes: Sequence[Change]) -> Entered:
    """What came of workbooks, by what was changed."""
    corrected = sum(bool(one.supersedes) for one in changes)
    new, known = len(changes) - corrected, len(found.pages) - len(changes)
    return Entered(found, new, corrected, known)


@dataclass(frozen=True)
class _Decide:
    """Decides what is kept of workbooks, by what a store holds; or says all that is wrong."""

    found: Matched
    remedy: str
    replace: bool

    def __call__(self, held: Held) -> list[Change]:
        problems, changes = list(self._gone(held)), list[Change]()
        for page in self.found.pages:
            last = held.last(page.answer.listener, page.answer.page)
            counts = last is not None and not last.aside
            if last is not None and counts and _same(last, page.answer.values):
                continue
            if last is not None and counts and not (self.replace or _by_workbook(last)):
                problems.append(_otherwise(page, self.remedy))
            supersedes = last.id if last is not None and counts else ""
            id = _id(page, "" if last is None else last.id)
            changes.append(Change(page.answer, id, supersedes, page.meta))
        if problems:
            raise InputError(problems, done=IMPORTED)
        return changes

    def _gone(self, held: Held) -> Iterator[Problem]:
        for one in held.listeners:
            if one.state == State.WITHDRAWN:
                told = f"listener {one.number} has withdrawn"
                source = self.found.sources[one.number]
                yield Problem(source, 0, "", told, "nothing of theirs may be kept")


def _by_workbook(given: Given) -> bool:
    return given.meta is not None and WORKBOOK in given.meta


def _same(given: Given, values: Mapping[str, Any]) -> bool:
    """Whether a workbook says what is known; of a browser, texts that it lacks do not matter."""
    known, new = _said(given.answer.values), _said(values)
    if not _by_workbook(given):
        known = {name: one for name, one in known.items() if name in new or not _is_text(name)}
    return known == new


def _said(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in values.items() if one not in (None, "")}


def _is_text(name: str) -> bool:
    return name == ASKED or name.endswith(f".{COMMENT}")


def _otherwise(page: JudgedPage, remedy: str) -> Problem:
    row = page.rows[0]
    told = f'clip "{row.record}" was answered otherwise in a browser'
    return row_problem(row, row.place.cell, told, remedy)


def _id(page: JudgedPage, last: str) -> str:
    """The same for the same answer in the same place, so that what comes again is known."""
    one = page.answer
    content = [WORKBOOK, one.study, one.listener, one.page, _said(one.values), last]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
