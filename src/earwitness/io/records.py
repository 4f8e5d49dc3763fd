"""JSON Lines decoding with located errors, duplicate-key detection and file-kind hints."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
from msgspec import UNSET, inspect
from msgspec.structs import astuple
from numpy.typing import NDArray

from earwitness.core import FaultyCase, Key, OnError
from earwitness.errors import SHOWN_PROBLEMS, InputError, Problem
from earwitness.io.formats import has_ending
from earwitness.io.schema import (
    UNKNOWN_FIELD,
    BadLine,
    Fault,
    derive_check,
    derive_null_removal,
    find_repeated_key,
    is_name,
    load_json_line,
)
from earwitness.io.source import LineBlock

# --- Record types and findings -------------------------------------------------------------------


Record = TypeVar("Record")
STEP_ERRORS = (AttributeError, LookupError, TypeError, ValueError)  # the path does not exist
DECODE_ERRORS = (msgspec.MsgspecError, UnicodeError, RecursionError)
SHOWN_FAULTS = 20
NULL_REMARK = "null"  # remark that counts optional fields that are null


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
        self._drop_nulls = derive_null_removal(struct)
        self._output = output
        self._count_keys = _derive_key_count(struct)

    def read(
        self, block: LineBlock, remarks: Counter[str] | None = None
    ) -> Iterator[tuple[int, Record | bytes]]:
        """Yield line numbers with records, or with the text of an invalid line.

        Optional fields that are null are read as missing, and counted in ``remarks``.
        """
        for line, text in enumerate(block.lines, block.line):
            try:
                record = self._decode(text)
            except DECODE_ERRORS:
                if text.strip():
                    mended = self._without_nulls(text, remarks) if b"null" in text else None
                    yield line, text if mended is None else mended
                continue
            yield line, text if self._repeats_key(text, record) else record

    def faults(self, text: bytes) -> tuple[dict[str, Any], list[Fault]]:
        """Return the record as far as it can be read, and all of its faults."""
        try:
            value = load_json_line(text)
        except BadLine as error:
            return {}, [error.fault]
        if self._drop_nulls(value):
            text = json.dumps(value).encode()
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
        return self._decode_value(cleaned)

    def without_output(
        self, value: dict[str, Any], faults: list[Fault], empty: Any
    ) -> Record | None:
        """Return the record with an empty output, if only its output is invalid; else None."""
        inside = (f"{self._output}.", f"{self._output}[")
        if not all(f.field == self._output or f.field.startswith(inside) for f in faults):
            return None
        return self._decode_value({**value, self._output: empty})

    def without_entries(self, value: dict[str, Any], name: str, places: set[int]) -> Record | None:
        """Return the record without some entries of a list, if it has no other fault; else None."""
        kept = [entry for place, entry in enumerate(value[name]) if place not in places]
        return self._decode_value({**value, name: kept})

    def _decode_value(self, value: Any) -> Record | None:
        """Return the record of a JSON value, or None if it is invalid."""
        try:
            return self._decode(msgspec.json.encode(value))
        except DECODE_ERRORS:
            return None

    def _without_nulls(self, text: bytes, remarks: Counter[str] | None) -> Record | None:
        """Return the record of a line whose only fault are optional fields that are null."""
        try:
            value = load_json_line(text)
            dropped = self._drop_nulls(value)
            record = self._decode(json.dumps(value)) if dropped else None
        except (BadLine, *DECODE_ERRORS):
            return None
        if record is not None and remarks is not None:
            remarks[NULL_REMARK] += dropped
        return record

    def _repeats_key(self, text: bytes, record: Record) -> bool:
        """Whether a key appears twice in one object of a line, of which decoding keeps the last.

        As a rule, the line has as many colons after quotes as the record has keys; only other
        lines are read again.
        """
        colons = text.count(b'":')
        if b"\\" in text:
            colons -= text.count(b'\\":')  # a quote inside a text
        usual = b'" :' not in text and b'\\\\":' not in text
        if usual and colons == self._count_keys(record):
            return False
        return find_repeated_key(text.decode()) is not None

    def _refusal(self, text: bytes) -> list[Fault]:
        try:
            self._decode(text)
        except DECODE_ERRORS as error:
            return [Fault("", f"not strict JSON: {error}")]
        return []


# --- Values of records ---------------------------------------------------------------------------


def unset_to_empty(value: Any) -> Any:
    """Return the value, or an empty object if it is unset."""
    return {} if value is UNSET else value


def item_name(named: Any, line: int) -> str:
    """Return the name of an item, or its line if the name is missing or invalid."""
    return str(named) if is_name(named) else f"line {line}"


# --- Keys that appear twice in one object --------------------------------------------------------


def _derive_key_count(struct: type) -> Callable[[Any], int]:
    """Return a function that counts the keys of the JSON object of a record.

    A line with more colons after quotes than keys may have a key twice, which decoding hides.
    """
    fields = inspect.type_info(struct).fields  # type: ignore[attr-defined]
    nested = [field.name for field in fields if _may_have_keys(field.type)]

    def count_keys(record: Any) -> int:
        count = len(fields) - astuple(record).count(UNSET)
        for name in nested:
            value = getattr(record, name)
            if value is not UNSET:
                count += _count_inside(value)
        return count

    return count_keys


_count_struct_keys = cache(_derive_key_count)


def _may_have_keys(kind: inspect.Type) -> bool:
    """Whether a value of this type may be or contain an object."""
    match kind:
        case inspect.Metadata():
            return _may_have_keys(kind.type)
        case inspect.ListType():
            return _may_have_keys(kind.item_type)
        case inspect.TupleType():
            return any(map(_may_have_keys, kind.item_types))
        case inspect.UnionType():
            return any(map(_may_have_keys, kind.types))
        case inspect.StructType(array_like=True):
            return any(_may_have_keys(field.type) for field in kind.fields)
        case inspect.StrType() | inspect.IntType() | inspect.FloatType() | inspect.BoolType():
            return False
    return True


def _count_inside(value: Any) -> int:
    """Return the number of keys in a value of a record."""
    if isinstance(value, msgspec.Struct):
        return _count_struct_keys(type(value))(value)
    if isinstance(value, dict):
        return len(value) + sum(map(_count_inside, value.values()))
    return sum(map(_count_inside, value)) if isinstance(value, list | tuple) else 0


# --- Duplicate names -----------------------------------------------------------------------------


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
        "output": "looks like an outputs file — are the two files swapped, or were references "
        "gathered without --durations?",
    },
}


def refuse_other_files(
    expected: str, block: LineBlock, on_error: OnError, foreign: Iterable[str] = ()
) -> None:
    """Raise InputError with one message if all first lines show another kind of file.

    ``foreign`` are endings of files of other tools that can be converted to records.
    """
    if block.line != 1 or on_error != "fail":
        return
    ending = block.source.lower().rpartition(".")[2]
    is_record = bool(block.lines) and block.lines[0].lstrip().startswith(b"{")
    is_foreign = has_ending(block.source, foreign)
    if is_foreign and block.lines and (not is_record or ending == "jams"):
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
