"""Lines to records: a fast decoder for good lines, a thorough check for the rest."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Literal, TypeVar

import msgspec

from earwitness.data import Key, Left
from earwitness.errors import SHOWN_PROBLEMS, Problem
from earwitness.formats.check import UNKNOWN, BadLine, Check, Fault, Field, load, record
from earwitness.formats.source import Block

OnError = Literal["fail", "skip", "empty"]
Record = TypeVar("Record")
REFUSALS = (msgspec.MsgspecError, UnicodeError, RecursionError)
SHOWN_FAULTS = 20


@dataclass
class Findings:
    """What was wrong in some part of the input, and what became of it."""

    on_error: OnError = "fail"
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    skipped: list[Left] = field(default_factory=list)
    emptied: list[Left] = field(default_factory=list)

    def bad(
        self, source: str, line: int, key: Key, faults: list[Fault], *, skip: bool = True
    ) -> None:
        """A record that cannot be taken as it is."""
        problems = [Problem(source, line, *fault) for fault in faults]
        if self.on_error == "fail":
            for problem in problems:
                named = f'"{key.item}"' in problem.message or key.item == f"line {line}"
                self.add(problem if named else replace(problem, item=key.item))
            return
        reasons = [str(problem) for problem in problems[:SHOWN_FAULTS]]
        if len(problems) > SHOWN_FAULTS:
            reasons.append(f"… and {len(problems) - SHOWN_FAULTS:,} more")
        (self.skipped if skip else self.emptied).append(Left(key, line, "; ".join(reasons)))

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


class Layout(Generic[Record]):
    """A kind of record: its type for the fast decoder, its fields for the thorough check.

    Both must accept the same lines; a test holds them to it.
    """

    def __init__(
        self, type_: type[Record], fields: Mapping[str, Field], output: str = "", inner: str = ""
    ) -> None:
        self._decode = msgspec.json.Decoder(type_).decode
        self._check: Check = record(fields, inner=output or inner)
        self._output = output

    def read(self, block: Block) -> Iterator[tuple[int, Record | bytes]]:
        """Line numbers with records, or with the text of a line that is not good."""
        for line, text in enumerate(block.lines, block.line):
            try:
                yield line, self._decode(text)
            except REFUSALS:
                if text.strip():
                    yield line, text

    def faults(self, text: bytes) -> tuple[dict[str, Any], list[Fault]]:
        """The record as far as it can be read, and all that is wrong with it."""
        try:
            value = load(text)
        except BadLine as error:
            return {}, [error.fault]
        found = list(self._check(value, ""))
        return value if isinstance(value, dict) else {}, found or self._refusal(text)

    def mended(self, value: dict[str, Any], faults: list[Fault]) -> Record | None:
        """The record without its unknown fields, if nothing else is wrong; for further checks."""
        rest = deepcopy(value)
        for fault in faults:
            if fault.message != UNKNOWN:
                return None
            *path, last = re.findall(r"[^.\[\]]+", fault.field)
            inside: Any = rest
            for step in path:
                inside = inside[int(step)] if isinstance(inside, list) else inside.get(step, {})
            inside.pop(last, None)
        try:
            return self._decode(msgspec.json.encode(rest))
        except REFUSALS:
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
        except REFUSALS:
            return None

    def _refusal(self, text: bytes) -> list[Fault]:
        try:
            self._decode(text)
        except REFUSALS as error:
            return [Fault("", f"not strict JSON: {error}")]
        return []
