"""The append-only answers file (answers.jsonl): reading, locking and writing.

A process that is killed while it writes leaves half a line at the end. No bytes are ever removed:
the next writer ends that line with a mark, and readers skip it. Several processes may append to one
file: each reads the file again and appends under a lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from earwitness.core import Answer
from earwitness.errors import InputError, Problem, UsageError
from earwitness.io.schema import BadLine, Fault, derive_check, load_json_line

try:
    import fcntl
except ImportError:  # not available on all systems
    fcntl = None  # type: ignore[assignment]

SIMULATED_TIMESTAMP = "simulated"  # replaces the time of an answer
CUT_LINE_MARK = b" # cut short"  # appended to half a line; cannot end JSON
WORKBOOK_META_KEY = "workbook"  # metadata key of answers imported from a workbook


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
        start = json.dumps({"study": self.digest})[:-1].encode()
        content = line.partition(b"#")[0].rstrip(b" ")  # the mark may be incomplete too
        if not content or not (content.startswith(start) or start.startswith(content)):
            return False
        try:
            load_json_line(line)
        except BadLine:
            return True
        return False

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
            faults = list(_find_faults(value, self.digest, self._seen))
        except BadLine as bad:
            faults = [bad.fault]
        yield from (Problem(str(self.path), number, *fault) for fault in faults)
        if not faults:
            self._lines[number] = Answer(**value)
            self._seen[value["listener"], value["page"]] = number


def _find_faults(value: Any, digest: str, seen: dict[tuple[int, str], int]) -> Iterator[Fault]:
    faults = list(check_answer(value, ""))
    yield from faults
    if faults:
        return
    if line := seen.get((value["listener"], value["page"])):
        yield Fault("page", f"already answered on line {line}", "keep one")
    if value["study"] != digest:
        message = (
            f"answer to another version of the study ({value['study'][:12]}…, not {digest[:12]}…)"
        )
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
