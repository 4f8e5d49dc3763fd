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
STEP_ERRORS = (AttributeError, LookupError, TypeError, ValueError)  # the path does not exist
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeError, RecursionError)
SHOWN_FAULTS = 20


@dataclass
class Findings:
    """Problems of a part of the input, and the cases that were skipped or emptied."""

    on_error: OnError = "fail"
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    skipped: list[FaultyCase] = field(default_factory=list)
    emptied: list[FaultyCase] = field(default_factory=list)

    def bad(
        self, source: str, line: int, key: Key, faults: list[Fault], *, skip: bool = True
    ) -> None:
        """Add an invalid record."""
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
        """Add a problem; the first thousand are kept, all are counted."""
        self.count += 1
        if len(self.problems) < SHOWN_PROBLEMS:
            self.problems.append(problem)

    def merge(self, other: Findings) -> None:
        """Add the findings of the following part."""
        self.count += other.count
        self.problems += other.problems[: SHOWN_PROBLEMS - len(self.problems)]
        self.skipped += other.skipped
        self.emptied += other.emptied


class RecordType(Generic[Record]):
    """A type of record, described by a struct: a fast decoder, and a check that finds all faults.

    Both accept the same lines, which a test verifies. ``output`` is the name of the field that may
    be replaced by an empty output if it is invalid.
    """

    def __init__(self, struct: type[Record], output: str = "") -> None:
        self._decode = msgspec.json.Decoder(struct).decode
        self._check = derive_check(struct)
        self._output = output

    def read(self, block: LineBlock) -> Iterator[tuple[int, Record | bytes]]:
        """Yield line numbers with records, or with the text of an invalid line."""
        for line, text in enumerate(block.lines, block.line):
            try:
                yield line, self._decode(text)
            except DECODE_ERRORS:
                if text.strip():
                    yield line, text

    def faults(self, text: bytes) -> tuple[dict[str, Any], list[Fault]]:
        """Return the record as far as it can be read, and all of its faults."""
        try:
            value = load_json_line(text)
        except BadLine as error:
            return {}, [error.fault]
        faults = list(self._check(value, ""))
        return value if isinstance(value, dict) else {}, faults or self._refusal(text)

    def mended(self, value: dict[str, Any], faults: list[Fault]) -> Record | None:
        """Return the record without unknown fields, if it has no other fault; else None."""
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
            except STEP_ERRORS:  # a name that is empty, shortened, or has dots or brackets
                return None
        try:
            return self._decode(msgspec.json.encode(cleaned))
        except DECODE_ERRORS:
            return None

    def without_output(
        self, value: dict[str, Any], faults: list[Fault], empty: Any
    ) -> Record | None:
        """Return the record with an empty output, if only its output is invalid; else None."""
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
    """Return a 64-bit hash of each name, the same on every machine."""
    digests = b"".join([blake2b(name.encode(), digest_size=8).digest() for name in names])
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def hash_keys(items: Hashes, systems: Hashes) -> Hashes:
    """Return a 64-bit hash of each pair of item and system."""
    return items ^ (systems * HASH_MULTIPLIER)


class KeyIndex:
    """Index of hashes, in sorted runs that are merged as they grow.

    Among a million names, the probability that two share a hash is 3 in 100 million.
    """

    def __init__(self) -> None:
        self._runs: list[tuple[Hashes, Ints]] = []

    def add(self, hashes: Hashes, lines: Ints) -> Ints:
        """Add hashes, and return the line where each was first seen, or 0 if it is new."""
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


JSON_ARRAY_MESSAGE = "is a JSON array — write one object per line"
GATHER_SUFFIXES = ("ctm", "srt", "vtt", "ffmeta")
FILE_KIND_LINES = 5  # number of lines from which the kind of a file is detected
FILE_KIND_FIELDS = {"samples": "hypothesis", "outputs": "output", "references": "references"}
WRONG_FILE_MESSAGES = {  # by expected file: field of another kind of file, and message
    "samples": {
        "output": "looks like an outputs file — give the references file after it",
        "references": "looks like a references file — give the outputs file before it",
    },
    "outputs": {
        "hypothesis": "has outputs and references, as in chunkseg — give only this file",
        "references": "looks like a references file — are the two files swapped?",
    },
    "references": {
        "hypothesis": "has outputs and references, as in chunkseg — give only one file",
        "output": "looks like an outputs file — are the two files swapped?",
    },
}


def refuse_other_files(expected: str, block: LineBlock, on_error: OnError) -> None:
    """Raise InputError with one message if all first lines show another kind of file."""
    if block.line != 1 or on_error != "fail":
        return
    ending = block.source.lower().rpartition(".")[2]
    if ending in GATHER_SUFFIXES and block.lines and not block.lines[0].lstrip().startswith(b"{"):
        message = (
            f"is a {ending.upper()} file — use `earwitness gather` to convert it to JSON Lines"
        )
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
    """Return a message about the actual kind of file, or an empty text."""
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
