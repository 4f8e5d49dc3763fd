"""Links, status, export, backups and unblocking of listeners, using the database of a study."""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from os import fspath
from pathlib import Path
from typing import Any, Literal

from earwitness.analysis.evidence import PlaybackCounts, QualityEvidence, TaskTimes
from earwitness.core import Answer, Rating, StrPath, count_text, group_values
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.ratings.records import Who
from earwitness.store.backup import BackupContent, restore_backup, write_backup
from earwitness.store.records import ListenerStatus, OtherStudy, ParticipationState, SubmittedAnswer
from earwitness.store.store import Store
from earwitness.studies.answers import answer_line
from earwitness.studies.changes import (
    answered_audio_notes,
    changed_audio_notes,
    changed_text_notes,
)
from earwitness.studies.design.report import study_design
from earwitness.studies.device import count_playback, sum_playback
from earwitness.studies.file.reader import read_study
from earwitness.studies.from_answers import StudySource, ratings_from_answers
from earwitness.studies.pages import answered_trial, asked_pages, counted_trials, pages
from earwitness.studies.quality import evidence_of_answers, task_times
from earwitness.studies.study import STORE_FILE_NAME, ListenerPlan, Study, choose_listeners
from earwitness.studies.trials import study_kinds, trial_kind
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.plane import is_placed
from earwitness.studies.trials.rubric import COMMENT_FIELD
from earwitness.version import __version__

# --- Answers to other study versions -------------------------------------------------------------
# A study is identified by the digest of its design. Editing the design during a study disables the
# links of all listeners, so a warning is shown; texts may be edited.


MAX_LISTENERS_IN_NOTE = 5
OTHER_FORM_REMEDY = (
    "its links do not work while this version is being served: restore the study file,"
    " or use a separate database for this version (--db)"
)


def other_form_notes(store: Store, plan: Study) -> list[str]:
    """Return notes on answers to other versions of a study.

    Only studies with the same title are considered, unless this version has no answers: then its
    file, and perhaps its title, may have been edited.
    """
    studies = store.other_studies(plan.digest)
    same_title = [other for other in studies if other.title == plan.title]
    return [
        _other_form_note(other, plan)
        for other in (same_title if store.has_answers(plan.digest) else studies)
    ]


def _other_form_note(other: OtherStudy, plan: Study) -> str:
    same = other.title == plan.title
    what = "another version of this study" if same else f'another study, "{other.title}"'
    answers = count_text(other.answers, "answer")
    people = count_text(other.listeners, "listener")
    about = f"digest {other.digest[:12]}…, {answers} from {people}, last {other.last}"
    return f"the database has answers to {what} ({about}) — {OTHER_FORM_REMEDY}"


def missing_listener_notes(store: Store, plan: Study, numbers: Container[int]) -> list[str]:
    """Return notes on listeners who have answered but are no longer part of the study."""
    answered = [
        status.listener.number
        for status in store.status(plan.digest)
        if status.answers and status.listener.former is None
    ]
    gone = [number for number in answered if number not in numbers]
    if not gone:
        return []
    who = ", ".join(map(str, gone[:MAX_LISTENERS_IN_NOTE])) + (
        ", …" if len(gone) > MAX_LISTENERS_IN_NOTE else ""
    )
    message = f"listeners {who} have answered, but are no longer part of the study"
    return [f"{message} — their links do not work; set listeners to {max(gone)} again"]


# --- Links and export from a store ---------------------------------------------------------------


Record = dict[str, Any]
OTHERS_MAY_READ = 0o004  # permission bit of a file


@dataclass(frozen=True)
class StoredAnswers:
    """Answers to a study from a database, as in a file of answers."""

    study: Study
    name: str
    submissions: tuple[SubmittedAnswer, ...]
    notes: tuple[str, ...] = ()
    skipped: int = 0  # pages without questions

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers, with comments."""
        return tuple(map(_add_comment, self.submissions))

    @property
    def lines(self) -> bytes:
        """The answers as lines of a file."""
        return b"".join(map(answer_line, self.answers))

    @property
    def sha256(self) -> str:
        """SHA-256 digest of the lines."""
        return hashlib.sha256(self.lines).hexdigest()

    def ratings(self) -> list[Rating]:
        """Return the ratings of the answers."""
        answers = dict(enumerate(self.answers, 1))
        return ratings_from_answers(self.study, answers, self.name)

    def plays(self) -> dict[Who, PlaybackCounts]:
        """Return playback counts per listener, for trials that count."""
        return sum_playback(
            (submission.answer.listener, count_playback(self.study, trial, submission.meta))
            for submission in self.submissions
            if (trial := answered_trial(submission.answer))
        )

    def quality(self) -> QualityEvidence:
        """Return answers to gold and trapping clips, and times of trials, per listener.

        The answers of a workbook arrive all at once, so they have no times.
        """
        received = group_values(
            (submission.answer.listener, (answered_trial(submission.answer), submission.received))
            for submission in self.submissions
            if not _is_imported(submission)
        )
        times: dict[Who, TaskTimes] = {
            who: task_times(self.study, answers) for who, answers in received.items()
        }
        return evidence_of_answers(self.study, self.answers, times)


def _is_imported(submission: SubmittedAnswer) -> bool:
    """Return whether an answer comes from a workbook or from paper."""
    return bool(submission.answer.imported)


def _add_comment(submission: SubmittedAnswer) -> Answer:
    """Return an answer with the comment that was sent along, if any."""
    comment = (submission.meta or {}).get(COMMENT_FIELD)
    has_comment = isinstance(comment, str) and comment.strip() != ""
    return replace(submission.answer, comment=comment) if has_comment else submission.answer


def store_address(study: StudySource, db: StrPath | None) -> str:
    """Return the address of a database; by default, the file next to the study file."""
    if db:
        return fspath(db)
    if isinstance(study, Study):
        raise UsageError("db is required unless the study is given by its file")
    return str(Path(study).parent / STORE_FILE_NAME)


def has_store(db: StrPath) -> bool:
    """Return whether a database exists; assumed for database servers."""
    address = fspath(db).removeprefix("sqlite:///")
    return "://" in address or Path(address).is_file()


def exposure_notes(db: StrPath) -> list[str]:
    """Return a note if other users of the machine can read the file of a database."""
    path = Path(fspath(db).removeprefix("sqlite:///"))
    if "://" in str(path) or os.name != "posix" or not path.is_file():
        return []
    if not path.stat().st_mode & OTHERS_MAY_READ:
        return []
    return [f"other users of this machine can read {path} — protect it with: chmod 600 {path}"]


@contextmanager
def open_store(plan: Study, db: StrPath, *, new: bool = False) -> Iterator[Store]:
    """Open the database of a study; if ``new``, create it where it does not exist.

    Warns of answers to another version of the study.
    """
    address = fspath(db)
    if not new and not has_store(address):
        raise UsageError(f"{address}: database does not exist — create it with earwitness serve")
    with Store.open(address, version=__version__) as store:
        for note in other_form_notes(store, plan):
            warnings.warn(note, EarwitnessWarning, stacklevel=4)
        if new:
            store.add_study(plan.digest, plan.title)
        yield store


def study_links(
    study: StudySource, db: StrPath | None = None, *, base: str = "", listener: str = ""
) -> list[Record]:
    """Return personal links of listeners; the same on every call.

    Parameters
    ----------
    study
    db
        Path or address of the database, which is created if needed. By default ``study.db`` next to
        the study file.
    base
        Base URL of the server, which precedes each link; that of this machine may be short, such as
        ``localhost``.
    listener
        Listeners to invite by number, such as ``1-16,20``. By default all.

    Returns
    -------
    list of dict
        ``listener``, ``state`` and ``link`` of each listener without an open place, and the id of
        another service that a listener passed at ``/join`` (``external ID``).

    Raises
    ------
    UsageError
        If the study does not have these listeners, or ``base`` is no web address.

    Examples
    --------
    >>> links = study_links("study.yaml", "listeners.db", base="https://listen.example.org")
    >>> [link["listener"] for link in links]
    [1, 2]
    """
    design, base = study_design(study), complete_base(base)
    numbers = [plan.listener for plan in design.plans]
    invited = choose_listeners(listener, numbers)
    with open_store(design.study, store_address(study, db), new=True) as store:
        store.add_listeners(design.study.digest, invited)
        known = [status.listener for status in store.status(design.study.digest)]
    return [
        {
            "listener": listener.number,
            "state": listener.state.value,
            "link": f"{base}/l/{listener.token}",
            "external ID": listener.outside or "",
        }
        for listener in known
        if listener.state != ParticipationState.OPEN
        and listener.number in numbers
        and (listener.number in invited or listener.state != ParticipationState.INVITED)
    ]


DEFAULT_PORT = 8000  # of serve
LOCAL_BASE = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(/.*)?")


def complete_base(base: str) -> str:
    """Return the base URL of links, completed if it is that of this machine.

    >>> complete_base("localhost"), complete_base("https://listen.example.org/")
    ('http://localhost:8000', 'https://listen.example.org')
    """
    base = base.rstrip("/")
    if match := LOCAL_BASE.fullmatch(base):
        host, port, path = match.groups()
        return f"http://{host}{port or f':{DEFAULT_PORT}'}{path or ''}"
    if base and not re.match(r"https?://[^/]", base):
        raise UsageError(
            f'base: "{base}" is no web address — write it as in https://listen.example.org'
        )
    return base


def study_uninvite(study: StudySource, db: StrPath, most: int) -> list[int]:
    """Withdraw links of the last listeners who have not started; return their numbers."""
    plan = load_study(study)
    with open_store(plan, db) as store:
        return store.uninvite(plan.digest, most)


def study_unblock(study: StudySource, db: StrPath, listener: int) -> None:
    """Let a blocked listener return once."""
    plan = load_study(study)
    with open_store(plan, db) as store:
        if not store.change_state(
            plan.digest, listener, ParticipationState.BLOCKED, ParticipationState.EXCUSED
        ):
            raise UsageError(f"listener {listener} is not blocked")


def study_backup(study: StudySource, path: StrPath, db: StrPath | None = None) -> BackupContent:
    """Write a backup of the database of a study, which may be in use.

    Parameters
    ----------
    study
    path
        SQLite file to write. An older backup of the same study is replaced.
    db
        Path or address of the database. By default ``study.db`` next to the study file.

    Returns
    -------
    BackupContent
        Number of listeners with answers and of their answers, and time of the last activity.

    Raises
    ------
    UsageError
        If the database does not exist, or the file cannot be written.

    Examples
    --------
    >>> links = study_links("study.yaml", "live.db")
    >>> study_backup("study.yaml", "backup.db", "live.db").answers
    0
    >>> study_restore("study.yaml", "backup.db", "restored.db").answers
    0
    """
    plan, address = load_study(study), store_address(study, db)
    with open_store(plan, address) as store:
        return write_backup(store, plan.digest, Path(path))


def study_restore(study: StudySource, path: StrPath, db: StrPath | None = None) -> BackupContent:
    """Copy a study from a backup into a database that does not have it.

    Parameters
    ----------
    study
    path
        File that was written by ``study_backup``.
    db
        Path or address of the database, which is created if needed. By default ``study.db`` next to
        the study file.

    Returns
    -------
    BackupContent
        Number of listeners with answers and of their answers, and time of the last activity.

    Raises
    ------
    UsageError
        If the database already has the study, or the file is no backup of it.

    Examples
    --------
    See ``study_backup``.
    """
    plan, address = load_study(study), store_address(study, db)
    return restore_backup(Path(path), address, plan.digest, __version__)


def stored_answers(study: StudySource, db: StrPath) -> StoredAnswers:
    """Return the current answers by listener, without pages that ask nothing."""
    plan = load_study(study)
    with open_store(plan, db) as store:
        submissions = store.counted_answers(plan.digest)
        notes = changed_text_notes(store.texts(plan.digest), submissions)
        notes += answered_audio_notes(store.audio(plan.digest), submissions)
    asked = asked_pages(plan)
    kept = [
        submission
        for submission in submissions
        if submission.answer.heard is not None or submission.answer.page in asked
    ]
    ordered = sorted(kept, key=lambda submission: submission.answer.listener)
    name, skipped = _hide_password(fspath(db)), len(submissions) - len(kept)
    return StoredAnswers(plan, name, tuple(ordered), tuple(notes), skipped)


def study_export(
    study: StudySource,
    db: StrPath | None = None,
    *,
    content: Literal["answers", "all"] = "answers",
) -> list[Record]:
    """Return the answers to a study from its database, as records.

    Parameters
    ----------
    study
    db
        Path or address of the database. By default ``study.db`` next to the study file.
    content
        ``"answers"``, or ``"all"`` records of the study, including events and corrections.

    Returns
    -------
    list of dict
        One record per answer, in the format of a file of answers, without pages that have no
        questions; or all records.

    Raises
    ------
    UsageError
        If the database does not exist.

    Examples
    --------
    >>> links = study_links("study.yaml", "unanswered.db")
    >>> study_export("study.yaml", "unanswered.db")
    []
    """
    address = store_address(study, db)
    if content == "all":
        return list(study_records(study, address))
    lines = stored_answers(study, address).lines.splitlines()
    return [json.loads(line) for line in lines]


def study_records(study: StudySource, db: StrPath) -> Iterator[Record]:
    """Yield everything stored for a study: all answers ever given, events and metadata."""
    plan = load_study(study)
    with open_store(plan, db) as store:
        yield from store.export(plan.digest)


def _hide_password(address: str) -> str:
    """Return a database address without its password."""
    start, mark, remainder = address.partition("://")
    return f"{start}://{remainder.rpartition('@')[2].partition('?')[0]}" if mark else address


def load_study(study: StudySource) -> Study:
    """Return a study, reading it from a path if needed; audio files may be missing."""
    if isinstance(study, Study):
        return study
    try:
        return read_study(Path(study), heard=False)
    except InputError as error:
        raise InputError(error.problems, error.count, done="read") from None


# --- Returned workbooks --------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkbookReceipt:
    """Last import of a rater's workbook: time, completed rows, all rows and blank cells."""

    at: str
    rows: int
    all: int
    blanks: int

    def __str__(self) -> str:
        blanks = f", {self.blanks} blank" if self.blanks else ""
        return f"{self.at[:16]} {self.rows}/{self.all} rows{blanks}"


def workbook_receipt(
    submissions: Iterable[SubmittedAnswer], row_count: int
) -> WorkbookReceipt | None:
    """Return the receipt of a rater's workbooks; None if none was imported."""
    workbook_answers = [submission for submission in submissions if _is_imported(submission)]
    if not workbook_answers:
        return None
    rows = [
        row for submission in workbook_answers for row in _numbers_by_caption(submission.answer)
    ]
    filled = [row for row in rows if any(value is not None for value in row)]
    blanks = sum(value is None for row in filled for value in row)
    return WorkbookReceipt(
        max(submission.received for submission in workbook_answers), len(filled), row_count, blanks
    )


def _numbers_by_caption(answer: Answer) -> list[list[float | None]]:
    """Return numeric answers by caption."""
    numbers: dict[str, list[float | None]] = {}
    for name, value in answer.values.items():
        letter, mark, _ = name.partition(".")
        if mark and letter in LETTERS and not isinstance(value, str):
            numbers.setdefault(letter, []).append(value)
    return list(numbers.values())


def count_captions(plan: ListenerPlan) -> int:
    """Return the number of captions that a listener judges."""
    return sum(len(trial.systems) for trial in counted_trials(plan).values())


def judges_captions(study: Study) -> bool:
    """Return whether all blocks judge captions, so that workbooks are supported."""
    return all(kind.captioned for kind in study_kinds(study))


# --- Progress of listeners -----------------------------------------------------------------------


ON_PAPER_STATE = "on paper"  # shown instead of joined if all planes of a listener are there


def study_status(study: StudySource, db: StrPath | None = None) -> list[Record]:
    """Return the progress of each listener in the database.

    Parameters
    ----------
    study
    db
        Path or address of the database. By default ``study.db`` next to the study file.

    Returns
    -------
    list of dict
        ``listener``, ``state``, number of pages ``answered`` of the ``total``, time of the ``last``
        activity, and more; for captions, also the receipt of a ``workbook``. If planes were
        entered from ``paper``, there is their number, and the state is ``on paper`` if no plane
        of the listener is missing.

    Raises
    ------
    UsageError
        If the database does not exist.

    Examples
    --------
    >>> links = study_links("study.yaml", "progress.db")
    >>> study_status("study.yaml", "progress.db")[0]["answered"]
    0
    """
    plan = load_study(study)
    with open_store(plan, store_address(study, db)) as store:
        statuses = store.status(plan.digest)
        is_read = judges_captions(plan) or _has_planes(plan)
        submissions = store.counted_answers(plan.digest) if is_read else []
        if not isinstance(study, Study):
            for note in changed_audio_notes(store, plan, Path(study).parent):
                warnings.warn(note, EarwitnessWarning, stacklevel=2)
    counts = _count_per_listener(plan, partial(_count_pages, plan))
    known = [status for status in statuses if status.listener.plan_number in counts]
    known.sort(key=lambda status: (status.listener.plan_number, status.listener.former is None))
    records = [_status_record(status, counts) for status in known]
    by_listener = defaultdict[int, list[SubmittedAnswer]](list)
    for submission in submissions:
        by_listener[submission.answer.listener].append(submission)
    if judges_captions(plan) or any(map(_is_imported, submissions)):
        has_captions = judges_captions(plan)
        count = count_captions if has_captions else partial(_count_planes, plan)
        totals = _count_per_listener(plan, count)
        for status, record in zip(known, records, strict=True):
            own, total = by_listener[status.listener.number], totals[status.listener.plan_number]
            if has_captions:
                record["workbook"] = workbook_receipt(own, total)
            else:
                _add_paper(record, own, total)
    return records


def _has_planes(study: Study) -> bool:
    return any(kind.on_paper for kind in study_kinds(study))


def _count_planes(study: Study, plan: ListenerPlan) -> int:
    trials = counted_trials(plan).values()
    return sum(trial_kind(study, trial).on_paper for trial in trials)


def _add_paper(record: Record, submissions: Sequence[SubmittedAnswer], planes: int) -> None:
    """Add the number of planes from paper; if no plane is missing, this is the state."""
    answers = [submission for submission in submissions if is_placed(submission.answer)]
    from_paper = sum(map(_is_imported, answers))
    record["paper"] = f"{from_paper}/{planes} planes" if from_paper else ""
    is_complete = from_paper > 0 and len(answers) == planes
    if is_complete and record["state"] == ParticipationState.JOINED:
        record["state"] = ON_PAPER_STATE


def _status_record(status: ListenerStatus, counts: Mapping[int, int]) -> Record:
    listener, all_pages = status.listener, counts[status.listener.plan_number] - 1
    return {
        "listener": listener.plan_number,
        "state": listener.state.value,
        "answered": status.answers,
        "total": all_pages,
        "last": status.last or "",
        "finished": listener.finished or "",
        "withdrawn": listener.withdrawn or "",
        "external ID": listener.outside or "",
        "repeats": listener.repeats,
        "code": listener.code or "",
        "unheard": status.unheard,
    }


def _count_pages(study: Study, plan: ListenerPlan) -> int:
    return sum(1 for _ in pages(study, plan, lambda *_: "", outline=True))


def _count_per_listener(study: Study, count: Callable[[ListenerPlan], int]) -> dict[int, int]:
    """Return a count per listener that is the same within a panel.

    Only the first listener of each panel is planned, since later listeners do not change it.
    """
    if study.plans:
        return {plan.listener: count(plan) for plan in study.plans}
    first = replace(study, listeners=min(study.listeners, study.panels))
    each = [count(plan) for plan in study_design(first).plans]
    return {number + 1: each[number % len(each)] for number in range(study.listeners)}
