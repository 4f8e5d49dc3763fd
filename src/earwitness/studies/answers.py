"""The append-only answers file (answers.jsonl): reading, locking and writing.

A process that is killed while it writes leaves half a line at the end. Nobody's bytes are ever
removed: whoever adds next ends that line with a mark, and readers pass over it. Several processes
may add to one file: what is there is read again, and added to, under a lock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from earwitness.core import Answer
from earwitness.errors import InputError, Problem, UsageError
from earwitness.io.schema import (
    BadLine,
    Fault,
    Field,
    check_either,
    check_list,
    check_mapping,
    check_name,
    check_number,
    check_record,
    check_text,
    load_json_line,
)

try:
    import fcntl
except ImportError:  # some systems have no such locks
    fcntl = None  # type: ignore[assignment]

PRESENTED_TRIAL_SHAPE = check_record(
    {
        "item": Field(check_text, required=True),
        "systems": Field(check_list(check_text, least=1), required=True),
        "target": Field(check_number, required=True),
    },
    custom_hint="",
)
ANSWER_SHAPE = check_record(
    {
        "study": Field(check_text, required=True),
        "listener": Field(check_either(int, check_number, check_name), required=True),
        "page": Field(check_text, required=True),
        "values": Field(check_mapping, required=True),
        "heard": Field(PRESENTED_TRIAL_SHAPE),
        "at": Field(check_text),
        "version": Field(check_text),
    },
    custom_hint="",
)
SIMULATED_TIMESTAMP = "simulated"  # stands where the time of an answer does
CUT_LINE_MARK = b" # cut short"  # ends half a line; no JSON ends in it
WORKBOOK_META_KEY = "workbook"  # stands in what goes with an answer that came in a workbook


@dataclass(frozen=True)
class AnswerLines:
    """What a file holds: answers by the number of their line, and lines that were cut short."""

    lines: Mapping[int, Answer]
    cut: tuple[int, ...] = ()

    def pages(self, listener: int) -> set[str]:
        """Pages that a listener has answered."""
        return {one.page for one in self.lines.values() if one.listener == listener}


@dataclass
class AnswersFile:
    """A file of answers to one study; remembers what it has read, and reads on from there."""

    path: Path
    digest: str
    _read: bytes = b""
    _lines: dict[int, Answer] = field(default_factory=dict)
    _cut: list[int] = field(default_factory=list)
    _seen: dict[tuple[int, str], int] = field(default_factory=dict)

    def read(self) -> AnswerLines:
        """All that the file holds now."""
        try:
            return self._understood(self.path.read_bytes())
        except FileNotFoundError:
            return self._understood(b"")
        except OSError as error:
            raise UsageError(f"{self.path}: cannot be read: {error.strerror}") from None

    def check(self) -> None:
        """See to it, before anybody is asked, that lines can be added."""
        try:
            wrong = _obstacle(self.path)
        except OSError as error:
            wrong = str(error.strerror)
        if wrong:
            raise UsageError(f"{self.path}: answers cannot be added: {wrong}")

    def add(self, answer: Answer) -> bool:
        """Add one line; on return it is on disk. False if that page was answered meanwhile."""
        with self.path.open("a+b") as file, _locked(file):
            file.seek(0)
            raw = file.read()
            if answer.page in self._understood(raw).pages(answer.listener):
                return False
            file.write(self._ending(raw) + answer_line(answer))
            file.flush()
            os.fsync(file.fileno())
        return True

    def _ending(self, raw: bytes) -> bytes:
        """What must come before a new line can start."""
        last = raw.rpartition(b"\n")[2]
        if not last:
            return b""
        return (CUT_LINE_MARK if self._half(last) else b"") + b"\n"

    def _half(self, line: bytes) -> bool:
        """Whether this is an answer to this study that was not written to its end."""
        start = json.dumps({"study": self.digest})[:-1].encode()
        own = line.partition(b"#")[0].rstrip(b" ")  # a mark may have been cut short, too
        if not own or not (own.startswith(start) or start.startswith(own)):
            return False
        try:
            load_json_line(line)
        except BadLine:
            return True
        return False

    def _understood(self, raw: bytes) -> AnswerLines:
        if not self._read or not raw.startswith(self._read):
            self._read, self._lines, self._cut, self._seen = b"", {}, [], {}
        first = self._read.count(b"\n") + 1
        *whole, last = raw[len(self._read) :].split(b"\n")
        half = [first + len(whole)] * self._half(last)
        problems = [
            problem
            for line, own in enumerate(whole if half else [*whole, last], first)
            for problem in self._taken(own.strip(), line)
        ]
        self._read = b"" if problems else raw.removesuffix(last) if half else raw
        if problems:
            raise InputError(problems, done="read")
        return AnswerLines(dict(self._lines), (*self._cut, *half))

    def _taken(self, line: bytes, number: int) -> Iterator[Problem]:
        """Keep an answer, or say what is wrong with it; blank lines are passed over."""
        if not line:
            return
        if line.endswith(CUT_LINE_MARK) and self._half(line.removesuffix(CUT_LINE_MARK)):
            self._cut.append(number)
            return
        try:
            value = load_json_line(line)
            faults = list(_wrong(value, self.digest, self._seen))
        except BadLine as bad:
            faults = [bad.fault]
        yield from (Problem(str(self.path), number, *fault) for fault in faults)
        if not faults:
            self._lines[number] = Answer(**value)
            self._seen[value["listener"], value["page"]] = number


def _wrong(value: Any, digest: str, seen: dict[tuple[int, str], int]) -> Iterator[Fault]:
    faults = list(ANSWER_SHAPE(value, ""))
    yield from faults
    if faults:
        return
    if not isinstance(value["listener"], int) or isinstance(value["listener"], bool):
        yield Fault("listener", "must be a whole number")
    elif (value["listener"], value["page"]) in seen:
        where = seen[value["listener"], value["page"]]
        yield Fault("page", f"was answered on line {where} already", "keep one")
    if value["study"] != digest:
        told = f"is of study {value['study'][:12]}…, this is {digest[:12]}…"
        yield Fault("study", told, "has the study file changed since?")


def answer_line(answer: Answer) -> bytes:
    """An answer as a line of a file."""
    known = {name: value for name, value in asdict(answer).items() if value is not None}
    return json.dumps(known, ensure_ascii=False).encode() + b"\n"


def _obstacle(path: Path) -> str:
    """Why lines cannot be added to a file, if so."""
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        return "it is a folder"
    if path.exists():
        if not path.is_file():
            return "it is no plain file"
        return "" if os.access(path, os.R_OK | os.W_OK) else "it may not be read and written"
    if not folder.is_dir():
        return f"there is no folder {path.parent}"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "its folder may not be written to"


@contextmanager
def _locked(file: IO[bytes]) -> Iterator[None]:
    """Nobody else adds to the file meanwhile; closing it, or dying, gives it back."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX)
    yield
