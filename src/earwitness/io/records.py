"""JSON Lines decoding with located errors, duplicate-key detection and file-kind hints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.core import FaultyCase, Key, OnError
from earwitness.errors import SHOWN_PROBLEMS, InputError, Problem
from earwitness.io.schema import UNKNOWN_FIELD, BadLine, Fault, derive_check, load_json_line
from earwitness.io.source import LineBlock

# --- Record types and findings -------------------------------------------------------------------


Record = TypeVar("Record")
STEP_ERRORS = (AttributeError, LookupError, TypeError, ValueError)  # a path that leads nowhere
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeError, RecursionError)
SHOWN_FAULTS = 20


@dataclass
class Findings:
    """What was wrong in some part of the input, and what became of it."""

    on_error: OnError = "fail"
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    skipped: list[FaultyCase] = field(default_factory=list)
    emptied: list[FaultyCase] = field(default_factory=list)

    def bad(
        self, source: str, line: int, key: Key, faults: list[Fault], *, skip: bool = True
    ) -> None:
        """A record that cannot be taken as it is."""
        problems = [Problem(source, line, *fault) for fault in faults]
        if self.on_error == "fail":
            for problem in problems:
                names_item = f'"{key.item}"' in problem.message or key.item == f"line {line}"
                self.add(problem if names_item else replace(problem, item=key.item))
            return
        reasons = [str(problem) for problem in problems[:SHOWN_FAULTS]]
        if len(problems) > SHOWN_FAULTS:
            reasons.append(f"… and {len(problems) - SHOWN_FAULTS:,} more")
        (self.skipped if skip else self.emptied).append(FaultyCase(key, line, "; ".join(reasons)))

    def add(self, problem: Problem) -> None:
        """A problem; the first thousand are kept, all are counted."""
        self.count += 1
        if len(self.problems) < SHOWN_PROBLEMS:
            self.problems.append(problem)

    def merge(self, other: Findings) -> None:
        """Add what was found in the part that follows."""
        self.count += other.count
        self.problems += other.problems[: SHOWN_PROBLEMS - len(self.problems)]
        self.skipped += other.skipped
        self.emptied += other.emptied


class RecordType(Generic[Record]):
    """A kind of record, described by a struct: a fast decoder, and a check of what it refuses.

    Both must accept the same lines; a test holds them to it. ``output`` names the field that may be
    emptied where it is faulty.
    """

    def __init__(self, struct: type[Record], output: str = "") -> None:
        self._decode = msgspec.json.Decoder(struct).decode
        self._check = derive_check(struct)
        self._output = output

    def read(self, block: LineBlock) -> Iterator[tuple[int, Record | bytes]]:
        """Line numbers with records, or with the text of a line that is not good."""
        for line, text in enumerate(block.lines, block.line):
            try:
                yield line, self._decode(text)
            except DECODE_ERRORS:
                if text.strip():
                    yield line, text

    def faults(self, text: bytes) -> tuple[dict[str, Any], list[Fault]]:
        """The record as far as it can be read, and all that is wrong with it."""
        try:
            value = load_json_line(text)
        except BadLine as error:
            return {}, [error.fault]
        faults = list(self._check(value, ""))
        return value if isinstance(value, dict) else {}, faults or self._refusal(text)

    def mended(self, value: dict[str, Any], faults: list[Fault]) -> Record | None:
        """The record without its unknown fields, if nothing else is wrong; for further checks."""
        cleaned = deepcopy(value)
        for fault in faults:
            if fault.message != UNKNOWN_FIELD:
                return None
            container: Any = cleaned
            try:
                *path, last = re.findall(r"[^.\[\]]+", fault.field)
                for step in path:
                    container = (
                        container[int(step)] if isinstance(container, list) else container[step]
                    )
                del container[last]
            except STEP_ERRORS:  # a name that is empty, cut short, or has dots or brackets in it
                return None
        try:
            return self._decode(msgspec.json.encode(cleaned))
        except DECODE_ERRORS:
            return None

    def without_output(
        self, value: dict[str, Any], faults: list[Fault], empty: Any
    ) -> Record | None:
        """The record with an empty output, if its output is all that is wrong with it."""
        inside = (f"{self._output}.", f"{self._output}[")
        if not all(f.field == self._output or f.field.startswith(inside) for f in faults):
            return None
        try:
            return self._decode(msgspec.json.encode({**value, self._output: empty}))
        except DECODE_ERRORS:
            return None

    def _refusal(self, text: bytes) -> list[Fault]:
        try:
            self._decode(text)
        except DECODE_ERRORS as error:
            return [Fault("", f"not strict JSON: {error}")]
        return []


# --- Duplicate keys ------------------------------------------------------------------------------


Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def hash_names(names: list[str]) -> Hashes:
    """Eight bytes for each name, the same on every machine."""
    digests = b"".join([blake2b(name.encode(), digest_size=8).digest() for name in names])
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def hash_keys(items: Hashes, systems: Hashes) -> Hashes:
    """Eight bytes for each pair of item and system."""
    return items ^ (systems * HASH_MULTIPLIER)


class KeyIndex:
    """Remembers hashes in sorted runs that are merged as they grow, like a deck that is riffled.

    Two names share a hash with a chance of 3 in 100 million among a million names.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Hashes, Ints]] = []

    def add(self, hashes: Hashes, lines: Ints) -> Ints:
        """For every hash the line where it was first seen, or 0 if it is new."""
        order = np.argsort(hashes, kind="stable")
        hashes, lines = hashes[order], lines[order]
        first = np.searchsorted(hashes, hashes)
        earlier = np.where(first < np.arange(len(hashes)), lines[first], 0)
        for run, numbers in self._runs:
            position = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            earlier = np.where(run[position] == hashes, numbers[position], earlier)
        self._keep(hashes[earlier == 0], lines[earlier == 0])
        first_lines = np.empty(len(earlier), np.int64)
        first_lines[order] = earlier
        return first_lines

    def _keep(self, hashes: Hashes, lines: Ints) -> None:
        while self._runs and len(self._runs[-1][0]) <= 2 * len(hashes):
            run, numbers = self._runs.pop()
            hashes, lines = np.append(run, hashes), np.append(numbers, lines)
            order = np.argsort(hashes, kind="stable")
            hashes, lines = hashes[order], lines[order]
        if len(hashes):
            self._runs.append((hashes, lines))


# --- Hints for wrong files -----------------------------------------------------------------------


JSON_ARRAY_MESSAGE = "is a JSON array — write one object a line"
GATHER_SUFFIXES = ("ctm", "srt", "vtt", "ffmeta")
FILE_KIND_LINES = 5  # lines from which the kind of a file is told
FILE_KIND_FIELDS = {"samples": "hypothesis", "outputs": "output", "references": "references"}
WRONG_FILE_MESSAGES = {  # expected file: telling field of another one, and what to do
    "samples": {
        "output": "looks like an outputs file — name the references file behind it",
        "references": "looks like a references file — name the outputs file before it",
    },
    "outputs": {
        "hypothesis": "chunkseg's lines hold both sides — give this file alone",
        "references": "looks like a references file — are the two files swapped?",
    },
    "references": {
        "hypothesis": "chunkseg's lines hold both sides — give such a file alone",
        "output": "looks like an outputs file — are the two files swapped?",
    },
}


def refuse_other_files(expected: str, block: LineBlock, on_error: OnError) -> None:
    """Say in one sentence if all of the first lines show that this is another kind of file."""
    if block.line != 1 or on_error != "fail":
        return
    ending = block.source.lower().rpartition(".")[2]
    if ending in GATHER_SUFFIXES and block.lines and not block.lines[0].lstrip().startswith(b"{"):
        message = f"is a {ending.upper()} file — `earwitness gather` makes JSON lines of it"
        raise InputError([Problem(block.source, 1, "", message)])
    messages = {
        _describe_wrong_file(expected, line)
        for line in block.lines[:FILE_KIND_LINES]
        if line.strip()
    }
    if len(messages) == 1 and (problem := messages.pop()):
        raise InputError([Problem(block.source, 1, "", problem)])
    if block.lines and block.lines[0].strip() == b"[":
        raise InputError([Problem(block.source, 1, "", JSON_ARRAY_MESSAGE)])


def _describe_wrong_file(expected: str, line: bytes) -> str:
    """What the line looks like instead, or nothing."""
    try:
        value = msgspec.json.decode(line)
    except DECODE_ERRORS:
        return ""
    if isinstance(value, list):
        return JSON_ARRAY_MESSAGE
    if not isinstance(value, dict) or FILE_KIND_FIELDS[expected] in value:
        return ""
    return next(
        (problem for key, problem in WRONG_FILE_MESSAGES[expected].items() if key in value), ""
    )
