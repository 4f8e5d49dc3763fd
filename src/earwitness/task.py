"""The task interface: fields, reader and collectors of a task, and batches of cases."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from earwitness.core import Case, Cases, Estimates, ExampleItem, Key, OnError
from earwitness.errors import UsageError
from earwitness.io.records import Findings, RecordType
from earwitness.io.schema import Fault, Name, is_name
from earwitness.io.source import LineBlock
from earwitness.metric import Metric
from earwitness.metric_set import MetricSet
from earwitness.report.parts import Section
from earwitness.stats.arrays import Floats

# --- Groups by a field ---------------------------------------------------------------------------


MISSING_GROUP = "(missing)"
NO_NUMBER_GROUP = "(no number)"
MAX_GROUP_NAME_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Slicing:
    """A field, and where its numbers are cut into ranges, if they are."""

    field: str
    cuts: tuple[float, ...] = ()

    @classmethod
    def of(cls, text: str) -> Slicing:
        """From ``field`` or ``field:cut,cut``.

        >>> Slicing.of("snr:0,10").labels
        ('below 0', '0 to 10', 'from 10')
        """
        field, colon, numbers = text.partition(":")
        try:
            cuts = tuple(float(cut) for cut in numbers.split(",")) if colon else ()
        except ValueError:
            raise UsageError(f'by "{text}": cuts are numbers, as in snr:0,10') from None
        if not field or list(cuts) != sorted(set(cuts)) or not all(map(isfinite, cuts)):
            raise UsageError(f'by "{text}": name a field, and cuts that rise, as in snr:0,10')
        return cls(field, cuts)

    @property
    def labels(self) -> tuple[str, ...]:
        """The ranges from low to high; none if nothing is cut."""
        if not self.cuts:
            return ()
        texts = [repr(cut).removesuffix(".0") for cut in self.cuts]
        inner = [f"{a} to {b}" for a, b in pairwise(texts)]
        return (f"below {texts[0]}", *inner, f"from {texts[-1]}")

    def label(self, *records: Mapping[str, Any]) -> str:
        """The group of a case: the first record that has the field decides."""
        value = next((r[self.field] for r in records if r.get(self.field) is not None), None)
        if value is None:
            return MISSING_GROUP
        if not self.cuts:
            return _named(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return NO_NUMBER_GROUP
        return self.labels[bisect_right(self.cuts, value)]

    def order(self, label: str) -> tuple[Any, ...]:
        """Ranges from low to high, numbers by size, other names by letter, odd ones last."""
        if label in (MISSING_GROUP, NO_NUMBER_GROUP):
            return (3, label)
        if self.cuts:
            return (0, self.labels.index(label))
        try:
            size = float(label)
        except ValueError:
            size = float("nan")
        return (1, size, label) if isfinite(size) else (2, label)


def _named(value: Any) -> str:
    """A group's name: different values have different names, but 1, 1.0 and "1" are the same."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = (
        value
        if isinstance(value, str) and is_name(value)
        else json.dumps(value, ensure_ascii=False)
    )
    if len(text) <= MAX_GROUP_NAME_CHARACTERS:
        return text
    return (
        f"{text[:MAX_GROUP_NAME_CHARACTERS]}… ({blake2b(text.encode(), digest_size=4).hexdigest()})"
    )


Fields = tuple[Mapping[str, Any], ...]  # records that may hold a case's fields, the first wins


@dataclass
class GroupLabels:
    """The groups of cases, a column a slicing, and which fields were there to choose from."""

    columns: list[list[str]] = field(default_factory=list)
    field_names: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, slicings: tuple[Slicing, ...], cases: Iterable[Fields]) -> GroupLabels:
        """Labels of cases."""
        if not slicings:
            return cls()
        records = list(cases)
        columns = [[slicing.label(*fields) for fields in records] for slicing in slicings]
        return cls(columns, {name for fields in records for record in fields for name in record})


# --- Lines of files ------------------------------------------------------------------------------


class ItemLine(Struct, forbid_unknown_fields=True, kw_only=True):
    """A line about an item; its faults are told in the order of its fields."""

    item: Name
    meta: dict[str, Any] | UnsetType = UNSET


class OutputLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of an outputs file; each task adds what an output is."""

    system: Name


# --- Parsed cases of a block ---------------------------------------------------------------------


Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@dataclass
class ParsedBatch:
    """The good cases of a block, the hashes of their items, and what was found wrong.

    ``remarks`` count what is odd but allowed. ``answered`` has, for a join, the systems and rows of
    references that lines spoke of, good or bad; ``audio`` is where an item's sound is, if its line
    says so. ``details`` are what the task's own collectors need of each output, if it has any.
    """

    cases: Cases
    lines: Ints
    hashes: Hashes
    findings: Findings
    remarks: Counter[str] = field(default_factory=Counter)
    answered: list[tuple[str, int]] = field(default_factory=list)
    labels: GroupLabels = field(default_factory=GroupLabels)
    audio: dict[str, str] = field(default_factory=dict)
    details: list[Any] = field(default_factory=list)


def unset_to_empty(value: Any) -> Any:
    """An object that may have been left out."""
    return {} if value is UNSET else value


def item_name(named: Any, line: int) -> str:
    """An item's own name, or its line where it has none that is good."""
    return str(named) if is_name(named) else f"line {line}"


# --- Readers of a task ---------------------------------------------------------------------------


class TaskReader(ABC):
    """Lines of one task; sent to the workers."""

    outputs: ClassVar[RecordType[Any]]
    references: ClassVar[RecordType[Any]]
    failed: ClassVar[Any]  # what becomes of an output that cannot be read, or is not there
    nothing: ClassVar[dict[str, Any]]  # the content of an empty output

    if_nothing: ClassVar[str]  # what to write for an output that has nothing in it
    baselines: ClassVar[tuple[str, ...]] = ()  # systems that need no system

    def baseline(self, name: str, cases: Cases, seed: int) -> list[Any]:
        """What a baseline gives for cases; refused if there is none of that name."""
        del cases, seed
        remedy = f"known: {', '.join(self.baselines)}" if self.baselines else "this task has none"
        raise UsageError(f'no baseline "{name}" — {remedy}')

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
        self, block: LineBlock, system: str, on_error: OnError, by: tuple[Slicing, ...]
    ) -> ParsedBatch:
        """Cases of lines that hold both sides; refused where there are no such lines."""
        del block, system, on_error, by
        raise UsageError("needs two files: outputs, and references")

    def details(self, records: Sequence[Any]) -> list[Any]:
        """What the task's own collectors need of each output; nothing where it has none."""
        del records
        return []

    def output_remarks(self, records: Sequence[Any]) -> Counter[str]:
        """Remarks about what output lines say of themselves; none unless a task reads it."""
        del records
        return Counter()

    def example(
        self,
        item: ExampleItem,
        cases: Mapping[str, Case],
        references: Mapping[str, Any],
        metrics: MetricSet,
    ) -> ExampleItem:
        """An item to look at, with all that the task draws: cases by system, references by name.

        Unless a task draws more, words are shown below each other where metrics align them.
        """
        del references
        alignments = {system: metrics.alignments(case) for system, case in cases.items()}
        return replace(
            item, alignments={name: pairs for name, pairs in alignments.items() if pairs}
        )

    @abstractmethod
    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        """What groups can be made of besides ``meta``."""

    @abstractmethod
    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """What is odd about cases: about their references, or about their outputs."""

    @abstractmethod
    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        """What is said about it, if these metrics were asked for."""


# --- Measured batches ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceDraw:
    """Values of cases against so many references; which draw of these it was, from 1."""

    references: int
    draw: int
    values: Floats


@dataclass(frozen=True)
class ExtraStatistics:
    """Cases of a block measured in another way: rows with the places of their cases."""

    case: Ints
    statistics: list[Floats]
    labels: list[str]


@dataclass(frozen=True, kw_only=True)
class MeasuredBatch:
    """What becomes of a block: its good cases measured, and what was found wrong.

    ``each`` has a row for every reference of every case, ``left_out`` a row for every case that has
    several references, as if each of them in turn did not exist, ``fewer`` all cases once more for
    every draw of their references, of which an item has up to ``most_references``. ``cases``, with
    the names of their ``annotators``, are there if they are to be looked at.
    """

    items: list[str]
    systems: list[str]
    lines: Ints
    hashes: Hashes
    statistics: list[Floats]
    findings: Findings
    answered: list[tuple[str, int]]
    remarks: Counter[str]
    labels: GroupLabels
    each: ExtraStatistics | None
    left_out: ExtraStatistics | None
    fewer: list[ReferenceDraw]
    most_references: int
    cases: Cases | None
    annotators: list[list[str]]
    alignments: list[str]
    audio: dict[str, str]
    details: list[Any]
    done: int


@dataclass(frozen=True, kw_only=True)
class ScoredBatch:
    """Measured cases with the values of each, as collectors take them.

    ``codes`` are the places of the cases' systems among ``systems``; -1 is a case that is not to be
    counted, since an earlier line has the same key.
    """

    measured: MeasuredBatch
    systems: Sequence[str]
    codes: Ints
    values: Floats
    is_baseline: bool = False

    @cached_property
    def counted(self) -> Ints:
        """The places of the cases that count."""
        return np.flatnonzero(self.codes >= 0)

    @cached_property
    def keys(self) -> list[Key]:
        """The keys of the cases that count."""
        items, systems = self.measured.items, self.measured.systems
        return [Key(items[place], systems[place]) for place in self.counted.tolist()]


# --- Collectors ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectorSettings:
    """The metrics of a run, and the bootstrap that all estimates have."""

    metrics: MetricSet
    draws: int
    seed: int
    limit: int  # items up to which draws are multinomial


class Collector(ABC):
    """Takes scored batches one after the other and gives one part of the result."""

    @abstractmethod
    def add(self, batch: ScoredBatch) -> None:
        """Take cases; those that do not count are to be left out."""

    def result(self, level: float) -> Any:
        """What was collected, with intervals of this level; nothing if it went into a file."""
        del level

    def notes(self) -> Iterator[str]:
        """What is odd about it; nothing unless a collector says so."""
        return iter(())


class ResultPart(Protocol):
    """A part of the result that only one task has, as its own collectors give it."""

    @property
    def name(self) -> str:
        """By which it is called in JSON."""

    def record(self) -> Any:
        """All of it, for JSON."""

    def estimates(self) -> Iterator[tuple[str, str, Mapping[str, Estimates]]]:
        """For CSV: field, group, and estimates by system."""

    def sections(self) -> Iterator[Section]:
        """For reports."""


class TaskCollector(Collector):
    """A collector that a task brings."""

    @abstractmethod
    def result(self, level: float) -> ResultPart:
        """What was collected, with intervals of this level."""


# --- Tasks ---------------------------------------------------------------------------------------


class Folders(NamedTuple):
    """Where the files of outputs and of references are, if they are files."""

    outputs: Path | None
    references: Path | None


class FirstLines(NamedTuple):
    """What the first lines of the files have: fields of both lines, and of what is in them."""

    output_line: frozenset[str]
    reference_line: frozenset[str]
    content: frozenset[str]

    @classmethod
    def of(cls, output: Mapping[str, Any], reference: Mapping[str, Any]) -> FirstLines:
        """From records, which may be empty."""
        content, several = output.get("output"), reference.get("references")
        first = several[0] if isinstance(several, list) and several else None
        names = [name for part in (content, first) if isinstance(part, dict) for name in part]
        return cls(frozenset(output), frozenset(reference), frozenset(names))


@dataclass(frozen=True, kw_only=True)
class TaskFields:
    """Fields by which the first lines of files tell a task.

    Any of ``content`` (of an output, or of a reference of an item), ``output_line`` or
    ``reference_line`` will do; of ``needed`` the line of references must have one as well, and of
    ``absent`` none. Where several tasks fit, the greatest ``precedence`` decides.
    """

    content: frozenset[str] = frozenset()
    output_line: frozenset[str] = frozenset()
    reference_line: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    precedence: int = 0

    def fit(self, lines: FirstLines) -> bool:
        """Whether these lines are of the task."""
        if self.absent & lines.reference_line:
            return False
        if self.needed and not self.needed & lines.reference_line:
            return False
        return bool(
            self.content & lines.content
            or self.output_line & lines.output_line
            or self.reference_line & lines.reference_line
        )


class TaskOption(NamedTuple):
    """An option of how the lines of a task are read."""

    name: str
    help: str
    choices: tuple[str, ...] = ()


ReaderFactory = Callable[[MetricSet, dict[str, str], Folders], TaskReader]
CollectorFactory = Callable[[CollectorSettings], Sequence[TaskCollector]]


def no_collectors(settings: CollectorSettings) -> Sequence[TaskCollector]:
    """Those of a task that has none of its own."""
    del settings
    return ()


@dataclass(frozen=True, kw_only=True)
class Task:
    """All that the engine must know of a task.

    ``subject`` is what its metrics call their task; several tasks may share it, and then differ in
    what is scored if nobody names metrics (``defaults``; ``people`` among references alone).
    ``reader`` makes a reader from the metrics, from options by name and from the files' folders.
    ``collectors`` give the parts of a result that only this task has, named in ``parts``.
    ``sample_cases`` makes random cases with so many references, for tests of metrics.
    """

    name: str
    subject: str = ""
    metrics: tuple[type[Metric], ...] = ()
    defaults: tuple[str, ...]
    people: tuple[str, ...]
    reader: ReaderFactory
    fields: TaskFields = field(default_factory=TaskFields)
    options: tuple[TaskOption, ...] = ()
    baselines: tuple[str, ...] = ()  # as the reader has them
    collectors: CollectorFactory = no_collectors
    parts: tuple[str, ...] = ()
    sample_cases: Callable[[Random, int], list[Case]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", self.subject or self.name)
