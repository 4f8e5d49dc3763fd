"""The append-only answers file (answers.jsonl): reading, locking and writing; exported answers.

A process that is killed while it writes leaves half a line at the end. No bytes are ever removed:
the next writer ends that line with a mark, and readers skip it. Several processes may append to one
file: each reads the file again and appends under a lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.core import Answer, Item, StrPath
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.io.schema import (
    BadLine,
    Fault,
    Name,
    WholeNumber,
    choice_of,
    derive_check,
    load_json_line,
    whole_range,
)
from earwitness.io.source import Records, RecordSource
from earwitness.ratings.scales import SUMMARY_SCALE
from earwitness.studies.trials.base import LETTERS
from earwitness.studies.trials.words import ReadingKind, WordsKind

try:
    import fcntl
except ImportError:  # not available on all systems
    fcntl = None  # type: ignore[assignment]

SIMULATED_TIMESTAMP = "simulated"  # replaces the time of an answer
CUT_LINE_MARK = b" # cut short"  # appended to half a line; cannot end JSON


class HeardTrial(Struct, forbid_unknown_fields=True):
    """Trial that was presented on the page of an answer."""

    item: str
    systems: Annotated[list[str], Meta(min_length=1)]
    target: float


class AnswerRecord(Struct, forbid_unknown_fields=True):
    """One line of a file of answers."""

    study: str
    listener: int
    page: str
    values: dict[str, Any]
    heard: HeardTrial | UnsetType = UNSET
    at: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    unheard: dict[str, Any] | UnsetType = UNSET
    comment: str | UnsetType = UNSET
    imported: bool | UnsetType = UNSET


check_answer = derive_check(AnswerRecord, hints=False)


@dataclass(frozen=True)
class AnswerLines:
    """Content of a file: answers by line number, and incomplete lines."""

    lines: Mapping[int, Answer]
    cut: tuple[int, ...] = ()

    def pages(self, listener: int) -> set[str]:
        """Return the pages that a listener has answered."""
        return {answer.page for answer in self.lines.values() if answer.listener == listener}


@dataclass
class AnswersFile:
    """A file of answers to one study; after the first time, only new lines are read."""

    path: Path
    digest: str
    content: bytes | None = None  # lines in memory, instead of those of the file
    former: str = ""  # digest of the study in earlier versions, also accepted
    _read: bytes = b""
    _lines: dict[int, Answer] = field(default_factory=dict)
    _cut: list[int] = field(default_factory=list)
    _seen: dict[tuple[int, str], int] = field(default_factory=dict)

    def read(self) -> AnswerLines:
        """Return the current content of the file."""
        if self.content is not None:
            return self._parse_lines(self.content)
        try:
            return self._parse_lines(self.path.read_bytes())
        except FileNotFoundError:
            return self._parse_lines(b"")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot read answers: {error.strerror}") from None

    def check(self) -> None:
        """Raise UsageError if answers cannot be added."""
        try:
            wrong = _obstacle(self.path)
        except OSError as error:
            wrong = str(error.strerror)
        if wrong:
            raise UsageError(f"{self.path}: cannot add answers: {wrong}")

    def add(self, answer: Answer) -> bool:
        """Add one answer and flush it to disk; return False if the page already has an answer."""
        with self.path.open("a+b") as file, _lock_file(file):
            file.seek(0)
            raw = file.read()
            if answer.page in self._parse_lines(raw).pages(answer.listener):
                return False
            file.write(self._ending(raw) + answer_line(answer))
            file.flush()
            os.fsync(file.fileno())
        return True

    def _ending(self, raw: bytes) -> bytes:
        """Return the bytes to write before a new line."""
        last = raw.rpartition(b"\n")[2]
        if not last:
            return b""
        return (CUT_LINE_MARK if self._is_half_line(last) else b"") + b"\n"

    def _is_half_line(self, line: bytes) -> bool:
        """Return whether a line is an incomplete answer to this study."""
        content = line.partition(b"#")[0].rstrip(b" ")  # the mark may be incomplete too
        if not content or not any(
            content.startswith(start) or start.startswith(content) for start in self._line_starts
        ):
            return False
        try:
            load_json_line(line)
        except BadLine:
            return True
        return False

    @property
    def _digests(self) -> tuple[str, ...]:
        return (self.digest, self.former) if self.former else (self.digest,)

    @property
    def _line_starts(self) -> list[bytes]:
        return [json.dumps({"study": digest})[:-1].encode() for digest in self._digests]

    def _parse_lines(self, raw: bytes) -> AnswerLines:
        if not self._read or not raw.startswith(self._read):
            self._read, self._lines, self._cut, self._seen = b"", {}, [], {}
        first = self._read.count(b"\n") + 1
        *whole, last = raw[len(self._read) :].split(b"\n")
        half = [first + len(whole)] * self._is_half_line(last)
        problems = [
            problem
            for line, content in enumerate(whole if half else [*whole, last], first)
            for problem in self._take_line(content.strip(), line)
        ]
        self._read = b"" if problems else raw.removesuffix(last) if half else raw
        if problems:
            raise InputError(problems, done="read")
        return AnswerLines(dict(self._lines), (*self._cut, *half))

    def _take_line(self, line: bytes, number: int) -> Iterator[Problem]:
        """Add the answer of a line, or yield its problems; blank lines are skipped."""
        if not line:
            return
        if line.endswith(CUT_LINE_MARK) and self._is_half_line(line.removesuffix(CUT_LINE_MARK)):
            self._cut.append(number)
            return
        try:
            value = load_json_line(line)
            faults = list(_find_faults(value, self._digests, self._seen))
        except BadLine as bad:
            faults = [bad.fault]
        yield from (Problem(str(self.path), number, *fault) for fault in faults)
        if not faults:
            self._lines[number] = Answer(**(value | {"study": self.digest}))
            self._seen[value["listener"], value["page"]] = number


def _find_faults(
    value: Any, digests: Sequence[str], seen: dict[tuple[int, str], int]
) -> Iterator[Fault]:
    faults = list(check_answer(value, ""))
    yield from faults
    if faults:
        return
    if line := seen.get((value["listener"], value["page"])):
        yield Fault("page", f"already answered on line {line}", "keep one")
    if value["study"] not in digests:
        given, wanted = value["study"][:12], digests[0][:12]
        message = f"answer to another version of the study ({given}…, not {wanted}…)"
        yield Fault("study", message, "was the study file edited?")


def answer_line(answer: Answer) -> bytes:
    """Return an answer as a line of a file."""
    fields = {name: value for name, value in asdict(answer).items() if value is not None}
    return json.dumps(fields, ensure_ascii=False).encode() + b"\n"


def _obstacle(path: Path) -> str:
    """Return why lines cannot be added to a file, or an empty string."""
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        return "is a folder"
    if path.exists():
        if not path.is_file():
            return "is not a regular file"
        return "" if os.access(path, os.R_OK | os.W_OK) else "no permission to read and write"
    if not folder.is_dir():
        return f"folder {path.parent} does not exist"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "no permission to write to its folder"


@contextmanager
def _lock_file(file: IO[bytes]) -> Iterator[None]:
    """Lock a file against other writers; the lock ends when the file is closed."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
    yield


# --- Answers of the trial kinds words and reading ------------------------------------------------
# These trials present text. Their answers are read from the answers file of a study, or from a
# plain export with one answer per line, which other tools can write too.


WORDS_KIND, READING_KIND = WordsKind.name, ReadingKind.name
READING_SCALE = "score"  # column of the ratings


class WordsAnswer(Struct, forbid_unknown_fields=True):
    """Positions of the words of a transcript that a person keeps."""

    kind: Annotated[str, choice_of("kind", [WORDS_KIND])]
    listener: Name
    item: Name
    positions: list[WholeNumber]
    study: str | UnsetType = UNSET
    at: str | UnsetType = UNSET


class ReadingAnswer(Struct, forbid_unknown_fields=True):
    """Rating of one summary that is read beside the original, from 1 (incorrect) to 5 (best)."""

    kind: Annotated[str, choice_of("kind", [READING_KIND])]
    listener: Name
    item: Name
    system: Name
    rating: Annotated[int, whole_range(1, 5)]
    study: str | UnsetType = UNSET
    at: str | UnsetType = UNSET


class AnswerKind(NamedTuple):
    """Check of an exported answer, its fields that identify it, and the name of its value."""

    struct: type
    key: tuple[str, ...]
    value: str


ANSWER_KINDS = {
    WORDS_KIND: AnswerKind(WordsAnswer, ("listener", "item"), "positions"),
    READING_KIND: AnswerKind(ReadingAnswer, ("listener", "item", "system"), "rating"),
}


def read_word_answers(path: StrPath | Records, items: StrPath | Records) -> list[dict[str, Any]]:
    """Read answers of the trial kind ``words`` as records of references.

    Parameters
    ----------
    path
        Answers of a study, or exported answers (JSON Lines).
    items
        Transcripts: lines of a references file without ``references``.

    Returns
    -------
    list of dict
        One record per item that has an answer, as in a references file; the annotator is the
        listener.

    Raises
    ------
    InputError
        If a file has invalid lines; all of them are listed.

    Examples
    --------
    >>> answer = {"kind": "words", "listener": "anna", "item": "a", "positions": [1, 2]}
    >>> records = read_word_answers([answer], [{"item": "a", "transcript": "it rains a lot"}])
    >>> records[0]["references"]
    [{'annotator': 'anna', 'positions': [1, 2]}]
    """
    from earwitness.summaries.reader import SummaryOptions, of_person
    from earwitness.summaries.records import SummaryAnnotation

    records, transcripts, problems = _read_items(items)
    made: dict[str, list[dict[str, Any]]] = {}
    answers, answer_problems = _read_answers(path, WORDS_KIND)
    problems += answer_problems
    for place, answer in answers:
        item = str(answer["item"])
        if item not in transcripts:
            if not any(problem.item == item for problem in problems):
                message = f'no item "{item}" among the items'
                problems.append(Problem(*place, "item", message, nearest(item, transcripts)))
            continue
        annotation = SummaryAnnotation(positions=answer["positions"])
        located = of_person(annotation, transcripts[item], SummaryOptions(), "")
        if isinstance(located, list):
            problems += [
                Problem(*place, fault.field.lstrip("."), fault.message, fault.remedy)
                for fault in located
            ]
        person = {"annotator": str(answer["listener"]), "positions": answer["positions"]}
        made.setdefault(item, []).append(person)
    if problems:
        raise InputError(problems, done="read")
    return [{**records[item], "references": made[item]} for item in records if item in made]


def read_reading_answers(path: StrPath | Records) -> list[dict[str, Any]]:
    """Read answers of the trial kind ``reading`` as rows of a table of ratings.

    Parameters
    ----------
    path
        Answers of a study, or exported answers (JSON Lines).

    Returns
    -------
    list of dict
        ``item``, ``system``, ``listener`` and ``score`` of every answer.

    Raises
    ------
    InputError
        If the file has invalid lines; all of them are listed.

    Examples
    --------
    >>> answer = {"kind": "reading", "listener": 3, "item": "a", "system": "s", "rating": 4}
    >>> read_reading_answers([answer])
    [{'item': 'a', 'system': 's', 'listener': '3', 'score': 4}]
    """
    answers, problems = _read_answers(path, READING_KIND)
    if problems:
        raise InputError(problems, done="read")
    return [
        {
            **{name: str(answer[name]) for name in ("item", "system", "listener")},
            READING_SCALE: answer["rating"],
        }
        for _, answer in answers
    ]


Place = tuple[str, int]  # file and line


def _read_answers(
    path: StrPath | Records, kind: str
) -> tuple[list[tuple[Place, dict[str, Any]]], list[Problem]]:
    """Return the answers of a kind with their places, and all problems of the file."""
    source = RecordSource(path, "" if isinstance(path, str | os.PathLike) else "answers")
    known, seen = ANSWER_KINDS[kind], dict[tuple[str, ...], int]()
    check = derive_check(known.struct, hints=False)
    answers, problems = list[tuple[Place, dict[str, Any]]](), list[Problem]()
    first_pages: dict[tuple[str, int, str], str] = {}
    for line, value, faults in _parsed_lines(source):
        found = [value]
        if not faults and isinstance(value, dict) and "values" in value:
            faults = list(check_answer(value, ""))
            found = [] if faults else _exported_answers(value, kind)
            if found:
                trial = value["study"], value["listener"], value["heard"]["item"]
                if first_pages.setdefault(trial, value["page"]) != value["page"]:
                    continue  # a repeated trial
        for answer in [] if faults else found:
            wrong = list(check(answer, ""))
            if not wrong:
                key = tuple(str(answer[name]) for name in known.key)
                first = seen.setdefault(key, line)
                if first != line:
                    message = f"{', '.join(key)} is also on line {first}"
                    wrong = [Fault("", message, "keep one")]
            faults += wrong
            answers += [((source.name, line), answer)] * (not wrong)
        problems += [Problem(source.name, line, *fault) for fault in faults]
    if not answers and not problems:
        problems.append(Problem(source.name, 0, "", f'has no answers of the kind "{kind}"'))
    return answers, problems


def _exported_answers(value: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return a line of an answers file as exported answers; none of other pages and practice."""
    heard, name = value.get("heard"), ANSWER_KINDS[kind].value
    if heard is None or not value["page"][:1].isdigit():
        return []
    given = value["values"]
    answer = {"kind": kind, "listener": value["listener"], "item": heard["item"]}
    if kind == WORDS_KIND:
        return [{**answer, name: given[name]}] if given.get(name) is not None else []
    names = [f"{letter}.{SUMMARY_SCALE.name}" for letter in LETTERS[: len(heard["systems"])]]
    names[0] = name if name in given else names[0]  # of one summary
    return [
        {**answer, "system": system, name: given[question]}
        for question, system in zip(names, heard["systems"], strict=False)
        if given.get(question) is not None
    ]


def _read_items(
    items: StrPath | Records,
) -> tuple[dict[str, dict[str, Any]], dict[str, Item], list[Problem]]:
    """Return records and transcripts by item, and all problems of the file."""
    from earwitness.summaries.reader import SummaryOptions, item_of
    from earwitness.summaries.records import ITEMS

    source = RecordSource(items, "" if isinstance(items, str | os.PathLike) else "items")
    records, transcripts = dict[str, dict[str, Any]](), dict[str, Item]()
    problems = list[Problem]()
    for block in source.blocks():
        for line, record in ITEMS.read(block):
            if isinstance(record, bytes):
                value, faults = ITEMS.faults(record)
                name = str(value.get("item", ""))
            else:
                name = str(record.item)
                item = item_of(record, SummaryOptions())
                faults = item if isinstance(item, list) else []
                if name in records:
                    faults = [Fault("item", f'"{name}" is given twice', "keep one")]
                if isinstance(item, Item):
                    records[name] = load_json_line(block.lines[line - block.line])
                    transcripts[name] = item
            problems += [Problem(source.name, line, *fault, item=name) for fault in faults]
    return records, transcripts, problems


def _parsed_lines(source: RecordSource) -> Iterator[tuple[int, Any, list[Fault]]]:
    """Yield the number and the value of every line, or a fault if it is not JSON."""
    for block in source.blocks():
        for line, text in enumerate(block.lines, block.line):
            if not text.strip():
                continue
            try:
                yield line, load_json_line(text), []
            except BadLine as bad:
                yield line, None, [bad.fault]
