"""Rows of returned workbooks as answers to the pages of a study.

A row is known by its clip and the hash of its caption, a rater by the number in the workbook, or
in the name of the file. What is wrong with all files is told at once; then there are no answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from earwitness import __version__
from earwitness.api.returning import (
    IMPORTED,
    blank_cells,
    is_filled,
    joined,
    row_problem,
    told_once,
)
from earwitness.api.sending import kind_of
from earwitness.data import Answer, Design, Plan, Study, Trial
from earwitness.errors import BadAnswer, InputError, Problem, nearest, whole_characters
from earwitness.formats.workbooks import Finding, JudgedRow, Returned, caption_hash
from earwitness.formats.workbooks.keys import Caption
from earwitness.listening.kinds.base import LETTERS
from earwitness.listening.kinds.rubric import ASKED, COMMENT
from earwitness.listening.pages import counted, heard

NUMBERED = re.compile(r"P0*([1-9]\d{0,8})", re.I)
WORKBOOK = "workbook"  # what goes with an answer that came so
FILL = "fill it in: this study takes no blanks"
SHOWN = 40  # characters of a caption in a message


@dataclass(frozen=True)
class JudgedPage:
    """The answer to a page, and the rows that it was made of."""

    answer: Answer
    rows: tuple[JudgedRow, ...]
    meta: Mapping[str, Any]


@dataclass(frozen=True)
class Matched:
    """Answers of all files, what was odd, and by number the file that came from each rater."""

    study: Study
    pages: tuple[JudgedPage, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    sources: Mapping[int, str]

    @property
    def answers(self) -> tuple[Answer, ...]:
        """What is answered, rater by rater, in the order of their plans."""
        return tuple(one.answer for one in self.pages)


def matched(made: Design, returned: Sequence[Returned], listener: int = 0) -> Matched:
    """Answers of workbooks, of whoever sent them, or of one ``listener`` alone."""
    found = _Matching(made, {plan.listener: plan for plan in made.plans})
    books = [one for book in returned for one in found.known(book, listener)]
    rows: dict[int, dict[Caption, JudgedRow]] = {_number(one.rater): {} for one in books}
    for rater, row in joined(books, found.problems):
        rows[_number(rater)][row.key] = row
    files = {one.input.name: one for one in books}
    pages = [page for number in sorted(rows) for page in found.pages(number, rows[number], files)]
    if found.problems:
        raise InputError(found.problems, done=IMPORTED)
    kept = [row for own in rows.values() for row in own.values()]
    sources = {_number(one.rater): one.input.name for one in books}
    findings = (*told_once(books, kept), *found.findings)
    return Matched(made.study, tuple(pages), findings, tuple(found.notes), sources)


@dataclass
class _Matching:
    """Finds pages for rows; gathers what is wrong and what is odd."""

    made: Design
    plans: Mapping[int, Plan]
    problems: list[Problem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def known(self, book: Returned, listener: int) -> Iterator[Returned]:
        """A workbook under the number of its rater, if it is of this study."""
        name, number = book.input.name, book.listener or _number(book.rater)
        if book.digest and book.digest != self.made.study.digest:
            told = f'is of another study, or of another form of it: "{book.study}"'
            remedy = "take the workbook that was made for this study"
            self.problems.append(Problem(name, 0, "", told, remedy))
        elif listener and book.study and number != listener:
            told = f"is the workbook of {book.rater}, and this is the link of P{listener}"
            self.problems.append(Problem(name, 0, "", told, "send back your own workbook"))
        elif (listener or number) in self.plans:
            yield replace(book, rater=f"P{listener or number}")
        else:
            told = f"there is no listener {number}" if number else "does not say whose it is"
            remedy = f"name it by its rater, P{min(self.plans)}.xlsx to P{max(self.plans)}.xlsx"
            self.problems.append(Problem(name, 0, "", told, remedy))

    def pages(
        self, number: int, rows: dict[Caption, JudgedRow], files: Mapping[str, Returned]
    ) -> Iterator[JudgedPage]:
        """Pages of a listener that are answered."""
        trials, answered = counted(self.plans[number]), 0
        self._strangers(trials.values(), rows)
        for page, trial in trials.items():
            own = self._rows(trial, rows)
            if not any(map(is_filled, filter(None, own))):
                self._unheeded(own)
            elif self._whole(trial, own) and (values := self._values(number, trial, own)):
                answered += 1
                judged = tuple(row for row in own if row is not None)
                yield self._judged(number, page, trial, values, judged, files)
        if answered < len(trials):
            left = len(trials) - answered
            told = f"P{number}: {left:,} of {len(trials):,} clips are empty, and stay as they were"
            self.notes.append(told)

    def _judged(
        self,
        number: int,
        page: str,
        trial: Trial,
        values: dict[str, Any],
        rows: tuple[JudgedRow, ...],
        files: Mapping[str, Returned],
    ) -> JudgedPage:
        digest = self.made.study.digest
        answer = Answer(digest, number, page, values, heard(trial), "", __version__)
        sources = [files[one].input for one in dict.fromkeys(row.place.source for row in rows)]
        told = [{"name": Path(one.name).name, "sha256": one.sha256} for one in sources]
        return JudgedPage(answer, rows, {WORKBOOK: told})

    def _strangers(self, trials: Any, rows: Mapping[Caption, JudgedRow]) -> None:
        """Rows that were filled in and are of no clip or caption of this rater."""
        known = {(trial.item, caption_hash(one)) for trial in trials for one in self._texts(trial)}
        items = {item for item, _ in known}
        for key, row in rows.items():
            if key in known or not is_filled(row):
                continue
            told, remedy = f'there is no clip "{row.record}"', nearest(row.record, items)
            if row.record in items:
                told = f'clip "{row.record}" has no such caption: "{row.caption[:SHOWN]}"'
                remedy = "put the caption back"
            self.problems.append(row_problem(row, row.place.cell, told, remedy))

    def _texts(self, trial: Trial) -> list[str]:
        return [self.made.study.caption(trial.item, one) for one in trial.systems]

    def _rows(self, trial: Trial, rows: Mapping[Caption, JudgedRow]) -> list[JudgedRow | None]:
        return [rows.get((trial.item, caption_hash(one))) for one in self._texts(trial)]

    def _whole(self, trial: Trial, own: Sequence[JudgedRow | None]) -> bool:
        """Whether all captions of a clip have a row, and no blanks where there may be none."""
        there = [row for row in own if row is not None]
        for row, text in zip(own, self._texts(trial), strict=True):
            if row is None:
                told = f'clip "{trial.item}" has no row for the caption "{text[:SHOWN]}"'
                place = there[0].place.cell
                self.problems.append(row_problem(there[0], place, told, "put the row back"))
        blanks = [one for row in there for one in blank_cells(row, FILL)]
        if kind_of(self.made.study).blank == "refuse":
            self.problems += blanks
        return len(there) == len(own)

    def _values(
        self, number: int, trial: Trial, own: Sequence[JudgedRow | None]
    ) -> dict[str, Any] | None:
        """The answer to a page, by letter; nothing where it cannot be."""
        kind, rows = kind_of(self.made.study), [row for row in own if row is not None]
        values: dict[str, Any] = {}
        for letter, row in zip(LETTERS, rows, strict=False):
            values |= {f"{letter}.{name}": value for name, value in row.values.items()}
            if row.comment:
                values[f"{letter}.{COMMENT}"] = whole_characters(row.comment)
        said = next((row.synthesised for row in rows if row.synthesised is not None), None)
        if kind.synthesised and said is not None:
            values[ASKED] = "yes" if said else "no"
        try:
            kind.read(trial, values, number, 1)
        except BadAnswer as error:
            self.problems += [
                row_problem(rows[0], rows[0].place.cell, one, "") for one in error.wrong
            ]
            return None
        return values

    def _unheeded(self, own: Sequence[JudgedRow | None]) -> None:
        """Comments on captions of a clip that has no number at all, which is no answer."""
        for row in own:
            if row is not None and row.comment:
                told = "there is a comment, but no number: not kept"
                self.findings.append(Finding("unrated", row.place, told))


def _number(rater: str) -> int:
    """The number of a rater.

    >>> _number("P03"), _number("anna")
    (3, 0)
    """
    found = NUMBERED.fullmatch(rater)
    return int(found[1]) if found else 0
