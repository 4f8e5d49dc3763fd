"""The seam between tasks and files: what lines hold, and how cases are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from earwitness.data import Cases, Dial
from earwitness.errors import UsageError
from earwitness.formats.check import Fault
from earwitness.formats.parsed import Parsed
from earwitness.formats.records import Layout, OnError
from earwitness.formats.slices import Slicing
from earwitness.formats.source import Block
from earwitness.metrics import Metric


class Lines(ABC):
    """Lines of one task; sent to the workers."""

    outputs: ClassVar[Layout[Any]]
    references: ClassVar[Layout[Any]]
    failed: ClassVar[Any]  # what becomes of an output that cannot be read, or is not there
    nothing: ClassVar[dict[str, Any]]  # the content of an empty output

    if_nothing: ClassVar[str]  # what to write for an output that has nothing in it
    baselines: ClassVar[tuple[str, ...]] = ()  # systems that need no system

    def baseline(self, name: str, cases: Cases, seed: int) -> list[Any]:
        """What a baseline gives for cases; refused if there is none of that name."""
        del cases, seed
        known = f"known: {', '.join(self.baselines)}" if self.baselines else "this task has none"
        raise UsageError(f'no baseline "{name}" — {known}')

    @property
    @abstractmethod
    def signature(self) -> str:
        """What changes how lines are read, each with a bar before it."""

    @abstractmethod
    def output(self, record: Any, cases: Cases, row: int) -> Any | list[Fault]:
        """What an output is, for the references at a row, or all that is wrong with it."""

    def outputs_of(self, records: Sequence[Any], cases: Cases, rows: Sequence[int]) -> list[Any]:
        """The same for many outputs, each with its row; some tasks do better with all at once."""
        return [self.output(record, cases, row) for record, row in zip(records, rows, strict=True)]

    @abstractmethod
    def reference(self, record: Any, names: Sequence[str]) -> tuple[list[Any], list[Fault]]:
        """What each reference of a record is, and all that is wrong with them."""

    @abstractmethod
    def of_references(self, records: Sequence[Any], resolved: Sequence[list[Any]]) -> Cases:
        """References as cases of nobody, with empty outputs."""

    @abstractmethod
    def join(self, cases: Cases, systems: list[str], outputs: Sequence[Any]) -> Cases:
        """The same cases with outputs of systems."""

    def samples(
        self, block: Block, system: str, on_error: OnError, by: tuple[Slicing, ...]
    ) -> Parsed:
        """Cases of lines that hold both sides; refused where there are no such lines."""
        del block, system, on_error, by
        raise UsageError("needs two files: outputs, and references")

    def dials(self, records: Sequence[Any]) -> list[Dial | None]:
        """How each output was made; nothing at all where a task has no dial."""
        del records
        return []

    def made(self, records: Sequence[Any]) -> Counter[str]:
        """Remarks about how outputs were made; none where a task knows nothing of it."""
        del records
        return Counter()

    @abstractmethod
    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        """What groups can be made of besides ``meta``."""

    @abstractmethod
    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """What is odd about cases: about their references, or about their outputs."""

    @abstractmethod
    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        """What is said about it, if these metrics were asked for."""
