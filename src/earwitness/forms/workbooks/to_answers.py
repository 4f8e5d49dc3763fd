"""Completed workbooks as answers to a study, in a file or in a database."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from earwitness.core import WORKBOOK_META_KEY, Answer, StrPath
from earwitness.errors import (
    BadAnswer,
    EarwitnessWarning,
    InputError,
    Problem,
    UsageError,
    find_close,
    list_names,
    refuse_problems,
    whole_characters,
)
from earwitness.forms.workbooks.export import rubric_kind, study_rubric
from earwitness.forms.workbooks.layout import Caption, caption_hash
from earwitness.forms.workbooks.read import (
    IMPORT_DONE_WORD,
    Finding,
    JudgedRow,
    ReturnedWorkbook,
    read_workbooks,
    rejected_raters,
    rejection,
)
from earwitness.forms.workbooks.to_ratings import (
    ImportedRatings,
    blank_cells,
    check_faults,
    comment_record,
    further_questions,
    import_ratings,
    is_filled,
    join_rows,
    merge_findings,
)
from earwitness.forms.workbooks.wording import fault, fault_problem
from earwitness.ratings.rubric_totals import FAULT_POLICIES
from earwitness.studies.answers import answer_line
from earwitness.studies.design.report import study_design
from earwitness.studies.file.reader import read_study
from earwitness.studies.from_answers import StudySource
from earwitness.studies.pages import counted_trials, presented_trial
from earwitness.studies.study import Design, ListenerPlan, Study, Trial
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.rubric import (
    COMMENT_FIELD,
    MAX_COMMENT_CHARACTERS,
    SYNTHESIZED_FIELD,
    RubricKind,
)
from earwitness.version import __version__

if TYPE_CHECKING:  # only a database needs the extra serve
    from earwitness.store.answers import AnswerChange, AnswerHistory
    from earwitness.store.records import SubmittedAnswer
    from earwitness.store.store import Store

# --- Rows matched to pages -----------------------------------------------------------------------
# A row is identified by its clip and the hash of its caption, a rater by the number in the workbook
# or in the file name. The problems of all files are reported at once, and their raters rejected.


RATER_NUMBER = re.compile(r"P0*([1-9]\d{0,8})", re.I)
SHOWN_CAPTION_CHARACTERS = 40  # in messages


@dataclass(frozen=True)
class ReturnedPage:
    """Answer to a page from a returned file, and the metadata to store.

    ``conflict`` is the problem that the page has a different answer from the browser; ``rows`` are
    those of a workbook that the answer is based on.
    """

    answer: Answer
    meta: Mapping[str, Any]
    conflict: Problem
    rows: tuple[JudgedRow, ...] = ()


@dataclass(frozen=True)
class ReturnedAnswers:
    """Answers of returned files, and the file of each listener by number."""

    study: Study
    pages: tuple[ReturnedPage, ...]
    sources: Mapping[int, str]
    notes: tuple[str, ...] = ()

    @property
    def answers(self) -> tuple[Answer, ...]:
        """Answers by listener, in the order of their plans."""
        return tuple(page.answer for page in self.pages)

    @property
    def lines(self) -> str:
        """Answers as lines of a file; the same files give the same lines."""
        return b"".join(map(answer_line, self.answers)).decode()


@dataclass(frozen=True)
class MatchedAnswers(ReturnedAnswers):
    """Answers of all workbooks by rater, in the order of their plans, and findings."""

    findings: tuple[Finding, ...] = ()
    rejection: InputError | None = None  # problems of raters that were not imported


def match_answers(
    design: Design,
    returned: Sequence[ReturnedWorkbook],
    listener: int = 0,
    problems: Sequence[Problem] = (),
) -> MatchedAnswers:
    """Match workbooks to the pages of a study; ``listener`` limits them to one listener.

    Raters with problems, or with ``problems`` in other workbooks, are rejected.
    """
    matching = _Matching(design, {plan.listener: plan for plan in design.plans}, [*problems])
    books = [book for received in returned for book in matching.of_this_study(received, listener)]
    rows: dict[int, dict[Caption, JudgedRow]] = {_rater_number(book.rater): {} for book in books}
    for rater, row in join_rows(books, matching.problems):
        rows[_rater_number(rater)][row.key] = row
    files = {book.input.name: book for book in books}
    pages = [
        page
        for number in sorted(rows)
        for page in matching.answered_pages(number, rows[number], files)
    ]
    rejected = {
        _rater_number(rater) for rater in rejected_raters(matching.problems, [*returned, *books])
    }
    books = [book for book in books if _rater_number(book.rater) not in rejected]
    sources = {_rater_number(book.rater): book.input.name for book in books}
    kept = [row for number in sources for row in rows[number].values()]
    matching.add_question_note(kept)
    return MatchedAnswers(
        design.study,
        tuple(page for page in pages if page.answer.listener in sources),
        sources,
        tuple(matching.notes),
        (*merge_findings(books, kept), *matching.findings),
        rejection(matching.problems, _rater_names(sources)),
    )


@dataclass
class _Matching:
    """Matches rows to pages; collects problems, findings and notes."""

    design: Design
    plans: Mapping[int, ListenerPlan]
    problems: list[Problem] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @cached_property
    def kind(self) -> RubricKind:
        """The trial kind of the study."""
        return rubric_kind(self.design.study)

    def of_this_study(self, book: ReturnedWorkbook, listener: int) -> Iterator[ReturnedWorkbook]:
        """Yield a workbook with the number of its rater, if it belongs to this study."""
        number, plans = book.listener or _rater_number(book.rater), self.plans
        if book.digest not in ("", self.design.study.digest):
            self._add_problem(book, "other_study", name=book.study)
        elif listener and book.study and number != listener:
            self._add_problem(book, "other_rater", name=book.rater, other=f"P{listener}")
        elif (listener or number) in plans:
            yield dataclasses.replace(book, rater=f"P{listener or number}")
        else:
            code = "unknown_listener" if number else "no_rater"
            first, last = (f"P{plan_number}.xlsx" for plan_number in (min(plans), max(plans)))
            self._add_problem(book, code, number=number, name=first, other=last)

    def _add_problem(self, book: ReturnedWorkbook, code: str, **values: object) -> None:
        self.problems.append(fault_problem(fault(code, **values), book.input.name))

    def answered_pages(
        self, number: int, rows: dict[Caption, JudgedRow], files: Mapping[str, ReturnedWorkbook]
    ) -> Iterator[ReturnedPage]:
        """Yield the answered pages of a listener."""
        trials, answered = counted_trials(self.plans[number]), 0
        self._check_unknown_rows(trials.values(), rows)
        for page, trial in trials.items():
            clip_rows = self._clip_rows(trial, rows)
            if not any(map(is_filled, filter(None, clip_rows))):
                self._add_lone_comments(clip_rows)
            elif self._has_all_rows(trial, clip_rows) and (
                values := self._page_values(number, trial, clip_rows)
            ):
                answered += 1
                judged = tuple(row for row in clip_rows if row is not None)
                yield self._judged_page(number, page, trial, values, judged, files)
        if 0 < answered < len(trials):
            left = len(trials) - answered
            message = f"P{number}: {left:,} of {len(trials):,} clips are empty and left unchanged"
            self.notes.append(message)

    def add_question_note(self, rows: Sequence[JudgedRow]) -> None:
        """Note questions that are answered in workbooks and not part of the study."""
        names = [f'"{name}"' for name in further_questions(rows)]
        if not self.kind.synthesised:
            names += (
                ["synthesized or not"] if any(row.synthesised is not None for row in rows) else []
            )
        if names:
            asked = f"questions that the study does not ask: {', '.join(names)}"
            self.notes.append(f"{asked}; their answers are only written with --comments")

    def _judged_page(
        self,
        number: int,
        page: str,
        trial: Trial,
        values: dict[str, Any],
        rows: tuple[JudgedRow, ...],
        files: Mapping[str, ReturnedWorkbook],
    ) -> ReturnedPage:
        digest = self.design.study.digest
        heard = presented_trial(trial)
        answer = Answer(digest, number, page, values, heard, "", __version__, imported=True)
        workbooks = [
            {"name": Path(source).name, "sha256": files[source].input.sha256}
            for source in dict.fromkeys(row.place.source for row in rows)
        ]
        conflict = rows[0].place.problem(fault("conflict", name=rows[0].record))
        return ReturnedPage(answer, {WORKBOOK_META_KEY: workbooks}, conflict, rows)

    def _check_unknown_rows(self, trials: Any, rows: Mapping[Caption, JudgedRow]) -> None:
        """Report filled rows whose clip or caption is not one of this rater."""
        captions = {
            (trial.item, caption_hash(text))
            for trial in trials
            for text in self._caption_texts(trial)
        }
        items = {item for item, _ in captions}
        for key, row in rows.items():
            if key in captions or not is_filled(row):
                continue
            if row.record in items:
                caption = row.caption[:SHOWN_CAPTION_CHARACTERS]
                wrong = fault("unknown_caption", name=row.record, value=caption)
            elif close := find_close(row.record, items):
                wrong = fault("misspelled_clip", name=row.record, other=close)
            else:
                wrong = fault("unknown_clip", name=row.record, names=list_names(items))
            self.problems.append(row.place.problem(wrong))

    def _caption_texts(self, trial: Trial) -> list[str]:
        return [self.design.study.caption(trial.item, system) for system in trial.systems]

    def _clip_rows(self, trial: Trial, rows: Mapping[Caption, JudgedRow]) -> list[JudgedRow | None]:
        return [rows.get((trial.item, caption_hash(text))) for text in self._caption_texts(trial)]

    def _has_all_rows(self, trial: Trial, clip_rows: Sequence[JudgedRow | None]) -> bool:
        """Return whether all captions of a clip have a row; report missing rows and blanks."""
        there = [row for row in clip_rows if row is not None]
        for row, text in zip(clip_rows, self._caption_texts(trial), strict=True):
            if row is None:
                caption = text[:SHOWN_CAPTION_CHARACTERS]
                wrong = fault("missing_row", name=trial.item, value=caption)
                self.problems.append(there[0].place.problem(wrong))
        blanks = [problem for row in there for problem in blank_cells(row, "blank")]
        if self.kind.blank == "refuse":
            self.problems += blanks
        return len(there) == len(clip_rows)

    def _page_values(
        self, number: int, trial: Trial, clip_rows: Sequence[JudgedRow | None]
    ) -> dict[str, Any] | None:
        """Return the answer to a page by letter, or None if it is invalid."""
        rows = [row for row in clip_rows if row is not None]
        values: dict[str, Any] = {}
        for letter, row in zip(LETTERS, rows, strict=False):
            values |= {f"{letter}.{name}": value for name, value in row.values.items()}
            if row.comment:
                values[f"{letter}.{COMMENT_FIELD}"] = whole_characters(row.comment)
        said = next((row.synthesised for row in rows if row.synthesised is not None), None)
        if self.kind.synthesised and said is not None:
            values[SYNTHESIZED_FIELD] = "yes" if said else "no"
        try:
            self.kind.read(trial, values, number, 1)
        except BadAnswer as error:
            place = rows[0].place
            for name, message in zip_longest(error.about, error.wrong, fillvalue=""):
                if name.endswith(f".{COMMENT_FIELD}"):
                    most = f"{MAX_COMMENT_CHARACTERS:,}"
                    self.problems.append(place.problem(fault("long_text", name=name, number=most)))
                else:
                    self.problems.append(place.problem(fault("wrong_answer", value=message)))
            return None
        return values

    def _add_lone_comments(self, clip_rows: Sequence[JudgedRow | None]) -> None:
        """Report comments on clips without any value, which are not answers."""
        for row in clip_rows:
            if row is not None and row.comment:
                message = "comment without values is not imported"
                self.findings.append(Finding("unrated", row.place, message))


def _rater_names(numbers: Iterable[int]) -> list[str]:
    return [f"P{number}" for number in numbers]


def _rater_number(rater: str) -> int:
    """Return the number of a rater, or 0.

    >>> _rater_number("P03"), _rater_number("anna")
    (3, 0)
    """
    match = RATER_NUMBER.fullmatch(rater)
    return int(match[1]) if match else 0


# --- Answers of completed workbooks --------------------------------------------------------------


def study_import_answers(
    study: StudySource, files: Sequence[StrPath], *, faults: str = FAULT_POLICIES[0]
) -> MatchedAnswers:
    """Return the answers of completed workbooks; raise InputError if all raters are rejected."""
    if not files:
        raise UsageError("no workbooks to import — name the completed workbooks")
    plan = study if isinstance(study, Study) else read_study(Path(study), heard=False)
    rubric = study_rubric(plan)
    check_faults(faults, rubric_kind(plan).blank)
    returned, problems = read_workbooks(files, rubric, faults)
    return match_answers(study_design(plan), returned, problems=problems)


def matched_comment_records(matched: MatchedAnswers) -> Iterator[dict[str, Any]]:
    """Yield comments and further answers of raters with their captions."""
    study = matched.study
    for page in matched.pages:
        item = page.rows[0].record
        system_of = {caption_hash(study.caption(item, system)): system for system in study.systems}
        for row in page.rows:
            yield comment_record(row, system_of[row.key[1]], page.answer.listener)


def check_new(path: Path, text: str) -> bool:
    """Return whether to write a file; raise UsageError if lines of it would be lost."""
    if not path.is_file():
        return True
    new, old = text.encode(), path.read_bytes()
    if {*old.splitlines()} <= {*new.splitlines()}:
        return old != new
    remedy = "choose another file, or use a database (--db), where answers can be corrected"
    raise UsageError(f"{path} already exists with different content — {remedy}")


# --- Answers into a database ---------------------------------------------------------------------
# Importing the same workbook again changes nothing. A corrected workbook replaces its earlier
# answers page by page; answers from a browser are replaced only on request. Each rater has a
# transaction.


CONFLICT_REMEDY = "enter the same values, leave all rows of this clip empty, or use --replace"


@dataclass(frozen=True)
class WorkbookEntryResult:
    """Result of an import: numbers of new, corrected and unchanged pages."""

    matched: MatchedAnswers
    new: int
    corrected: int
    unchanged: int

    @property
    def rejection(self) -> InputError | None:
        """Problems of raters that were not imported."""
        return self.matched.rejection


def enter_workbooks(
    study: StudySource,
    files: Sequence[StrPath],
    db: StrPath,
    *,
    replace: bool = False,
    faults: str = FAULT_POLICIES[0],
) -> WorkbookEntryResult:
    """Import the answers of workbooks into a database, which is created if missing."""
    from earwitness.studies.admin import has_store, open_store

    matched = study_import_answers(study, files, faults=faults)
    problems = list(matched.rejection.problems if matched.rejection else ())
    sources: dict[int, str] = {}
    changes: list[AnswerChange] = []
    with open_store(matched.study, db, new=not has_store(db)) as store:
        for number, source in matched.sources.items():
            pages = tuple(page for page in matched.pages if page.answer.listener == number)
            own = dataclasses.replace(matched, pages=pages, sources={number: source})
            entry = enter_answers(store, own, CONFLICT_REMEDY, replace=replace)
            try:
                changes += entry.result()
                sources[number] = source
            except InputError as error:
                problems += error.problems
    pages = tuple(page for page in matched.pages if page.answer.listener in sources)
    matched = dataclasses.replace(
        matched, pages=pages, sources=sources, rejection=rejection(problems, _rater_names(sources))
    )
    return WorkbookEntryResult(matched, *count_changes(changes, len(pages)))


def count_changes(changes: Sequence[AnswerChange], pages: int) -> tuple[int, int, int]:
    """Return the numbers of new, corrected and unchanged pages."""
    corrected = sum(bool(change.supersedes) for change in changes)
    return len(changes) - corrected, corrected, pages - len(changes)


def enter_answers(
    store: Store,
    matched: ReturnedAnswers,
    remedy: str = "",
    *,
    replace: bool = False,
    token: str = "",
) -> Future[tuple[AnswerChange, ...]]:
    """Store answers in one transaction; ``remedy``, if given, is shown for conflicting answers.

    If ``token`` is given, they are stored only if it is still that of the listener.
    """
    from earwitness.store.answers import change_answers

    study, numbers = matched.study, sorted(matched.sources)
    decide = _Decide(matched, remedy, replace)
    return store.write(change_answers, study.digest, study.title, numbers, decide, token)


@dataclass(frozen=True)
class _Decide:
    """Decides which answers to store; raises InputError with all conflicts."""

    matched: ReturnedAnswers
    remedy: str
    replace: bool

    def __call__(self, held: AnswerHistory) -> list[AnswerChange]:
        from earwitness.store.answers import AnswerChange

        problems, changes = list(self._withdrawn_problems(held)), list[AnswerChange]()
        for page in self.matched.pages:
            last = held.last(page.answer.listener, page.answer.page)
            counted = last if last is not None and not last.aside else None
            if counted is not None and _is_same_answer(counted, page.answer.values):
                continue
            if counted is not None and not (self.replace or counted.answer.imported):
                remedy = self.remedy or page.conflict.remedy
                problems.append(dataclasses.replace(page.conflict, remedy=remedy))
            id = _answer_id(page, "" if last is None else last.id)
            supersedes = "" if counted is None else counted.id
            changes.append(AnswerChange(page.answer, id, supersedes, page.meta))
        refuse_problems(problems, IMPORT_DONE_WORD)
        return changes

    def _withdrawn_problems(self, held: AnswerHistory) -> Iterator[Problem]:
        from earwitness.store.records import ENDED_STATES, ParticipationState

        for listener in held.listeners:
            if listener.state in ENDED_STATES:
                has_withdrawn = listener.state == ParticipationState.WITHDRAWN
                code = "withdrawn" if has_withdrawn else "excluded"
                source = self.matched.sources[listener.number]
                yield fault_problem(fault(code, number=listener.number), source)


def _is_same_answer(submitted: SubmittedAnswer, values: Mapping[str, Any]) -> bool:
    """Return whether a stored answer equals a file's; texts from a browser may be missing."""
    stored, new = _answered_values(submitted.answer.values), _answered_values(values)
    if not submitted.answer.imported:
        stored = {
            name: value
            for name, value in stored.items()
            if name in new
            or not (
                isinstance(value, str)
                or name == SYNTHESIZED_FIELD
                or name.endswith(f".{COMMENT_FIELD}")
            )
        }
    return stored == new


def _answered_values(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in (None, "")}


def _answer_id(page: ReturnedPage, last: str) -> str:
    """Return an ID that is the same for repeated imports of the same answer."""
    answer = page.answer
    content = [
        WORKBOOK_META_KEY,
        answer.study,
        answer.listener,
        answer.page,
        _answered_values(answer.values),
        last,
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


# --- Import of any workbooks ---------------------------------------------------------------------


def study_import_xlsx(
    files: Sequence[StrPath],
    study: StudySource | None = None,
    *,
    db: StrPath | None = None,
    replace: bool = False,
    faults: str = "refuse",
    **reading: Any,
) -> ImportedRatings | MatchedAnswers | WorkbookEntryResult:
    """Import completed workbooks of raters.

    A workbook that is passed twice, or in both flavours, counts once. Raters whose workbooks have
    problems are rejected, with all of their workbooks; the others are imported. A warning and
    ``rejection`` of the result list the problems of all files.

    Parameters
    ----------
    files
        Paths of the workbooks.
    study
        Study or path of its file, to import answers; without it, ratings are imported.
    db
        Path or address of the database in which answers are saved. By default they are
        only returned.
    replace
        Whether to replace answers given in a browser.
    faults
        ``refuse`` values outside a scale, or ``drop`` them, that is treat them as blanks.
    **reading
        Without a study: ``rubric``, ``blank`` and ``key``, the table of captions.

    Returns
    -------
    ImportedRatings or MatchedAnswers or WorkbookEntryResult
        Ratings; with a study, its answers; with a database, numbers of new and corrected pages.

    Raises
    ------
    InputError
        If all raters are rejected.
    UsageError
        If an argument is invalid, or the arguments do not fit together.
    """
    result: ImportedRatings | MatchedAnswers | WorkbookEntryResult
    if study is None:
        if db is not None or replace:
            raise UsageError("db and replace require a study")
        result = import_ratings(files, faults=faults, **reading)
    elif reading:
        raise UsageError(f"{next(iter(reading))} cannot be used with a study, which sets it")
    elif db is None:
        if replace:
            raise UsageError("replace requires a database — set db")
        result = study_import_answers(study, files, faults=faults)
    else:
        result = enter_workbooks(study, files, db, replace=replace, faults=faults)
    if result.rejection is not None:
        warnings.warn(str(result.rejection), EarwitnessWarning, stacklevel=2)
    return result
