"""The task interface: fields, reader and collectors of a task, and batches of cases."""

from __future__ import annotations

import json
import operator
import re
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from math import isfinite, isnan
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from msgspec import UNSET, Struct, UnsetType
from numpy.typing import NDArray

from earwitness.core import Case, Cases, Estimates, ExampleItem, Key, OnError, Progress, Value
from earwitness.errors import UsageError
from earwitness.io.records import Findings, RecordType, hash_names
from earwitness.io.schema import Fault, Name, is_name
from earwitness.io.source import LineBlock
from earwitness.metric import CaseList, Metric
from earwitness.metric_set import MetricSet
from earwitness.report.parts import Section
from earwitness.stats.arrays import Floats

# --- Groups by a field ---------------------------------------------------------------------------

MISSING_GROUP = "(missing)"
NO_NUMBER_GROUP = "(no number)"
MAX_GROUP_NAME_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Slicing:
    """A field by which cases are grouped, and the cut points of its numbers, if any."""

    field: str
    cuts: tuple[float, ...] = ()

    @classmethod
    def of(cls, text: str) -> Slicing:
        """Parse ``field`` or ``field:cut,cut``.

        >>> Slicing.of("snr:0,10").labels
        ('below 0', '0 to 10', 'from 10')
        """
        field, colon, numbers = text.partition(":")
        try:
            cuts = tuple(float(cut) for cut in numbers.split(",")) if colon else ()
        except ValueError:
            raise UsageError(f'by "{text}": cut points must be numbers, as in snr:0,10') from None
        if not field or list(cuts) != sorted(set(cuts)) or not all(map(isfinite, cuts)):
            raise UsageError(f'by "{text}": give a field and increasing cut points, as in snr:0,10')
        return cls(field, cuts)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the ranges from low to high; empty without cut points."""
        if not self.cuts:
            return ()
        texts = [repr(cut).removesuffix(".0") for cut in self.cuts]
        inner = [f"{a} to {b}" for a, b in pairwise(texts)]
        return (f"below {texts[0]}", *inner, f"from {texts[-1]}")

    def label(self, *records: Mapping[str, Any]) -> str:
        """Return the group of a case, from the first record that has the field."""
        value = next((r[self.field] for r in records if r.get(self.field) is not None), None)
        if value is None:
            return MISSING_GROUP
        if not self.cuts:
            return _named(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return NO_NUMBER_GROUP
        return self.labels[bisect_right(self.cuts, value)]

    def order(self, label: str) -> tuple[Any, ...]:
        """Return a sort key: ranges from low to high, numbers by size, names, missing ones last."""
        if label in (MISSING_GROUP, NO_NUMBER_GROUP):
            return (3, label)
        if self.cuts:
            return (0, self.labels.index(label))
        size = _number(label)
        return (1, size, label) if isfinite(size) else (2, label)


def _named(value: Any) -> str:
    """Return the name of a group; 1, 1.0 and "1" have the same name."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_plain = isinstance(value, str) and is_name(value)
    text: str = value if is_plain else json.dumps(value, ensure_ascii=False)
    if len(text) <= MAX_GROUP_NAME_CHARACTERS:
        return text
    digest = blake2b(text.encode(), digest_size=4).hexdigest()
    return f"{text[:MAX_GROUP_NAME_CHARACTERS]}… ({digest})"


Fields = tuple[Mapping[str, Any], ...]  # records with the fields of a case; the first wins


@dataclass
class GroupLabels:
    """The groups of cases, one column per slicing, and the names of all available fields."""

    columns: list[list[str]] = field(default_factory=list)
    field_names: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, slicings: tuple[Slicing, ...], cases: Iterable[Fields]) -> GroupLabels:
        """Return the labels of cases."""
        if not slicings:
            return cls()
        records = list(cases)
        columns = [[slicing.label(*fields) for fields in records] for slicing in slicings]
        return cls(columns, {name for fields in records for record in fields for name in record})


# --- Filters by a field --------------------------------------------------------------------------

ORDERINGS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
CONDITION_PATTERN = re.compile(r"\s*([^<>=!]*[^<>=!\s])\s*(>=|<=|>|<|!=|==?)\s*(.*\S)\s*")


class FieldCondition(NamedTuple):
    """A comparison of a field with a number or a text."""

    field: str
    operator: str
    value: str

    def find(self, *records: Mapping[str, Any]) -> str | None:
        """Return the text of the first value of the field, or None."""
        values = (_named(r[self.field]) for r in records if r.get(self.field) is not None)
        return next(values, None)

    def holds(self, value: str) -> bool:
        """Whether the comparison holds for the text of a value."""
        mine, theirs = _number(value), _number(self.value)
        if self.operator in ORDERINGS:
            return bool(ORDERINGS[self.operator](mine, theirs))
        return (value == _named(self.value) or mine == theirs) == (self.operator == "=")


class Filter(NamedTuple):
    """Conditions on fields, all of which must hold; those without the field are left out."""

    conditions: tuple[FieldCondition, ...] = ()

    def __call__(self, *records: Mapping[str, Any]) -> bool:
        values = ((condition, condition.find(*records)) for condition in self.conditions)
        return all(value is not None and condition.holds(value) for condition, value in values)

    @property
    def signature(self) -> str:
        """The conditions after a ``|``; empty without conditions."""
        return f"|where({','.join(map(''.join, self.conditions))})" if self.conditions else ""


def parse_where(texts: Sequence[str] | str) -> Filter:
    """Parse conditions such as ``accuracy>=0.9``.

    >>> keep = parse_where(["accuracy>=0.9", "genre!=news"])
    >>> keep({"accuracy": 0.95, "genre": "talk"}), keep({"accuracy": 0.95, "genre": "news"})
    (True, False)
    """
    conditions = list[FieldCondition]()
    for text in [texts] if isinstance(texts, str) else texts:
        match = CONDITION_PATTERN.fullmatch(text)
        if match is None or (match[2] in ORDERINGS and isnan(_number(match[3]))):
            remedy = "give a field, >=, <=, >, < and a number, or = or != and a value"
            raise UsageError(f'where "{text}": {remedy}, as in accuracy>=0.9')
        conditions.append(FieldCondition(match[1], match[2].replace("==", "="), match[3]))
    return Filter(tuple(conditions))


def _number(text: str) -> float:
    """Return the number that a text is, or NaN."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


# --- Lines of files ------------------------------------------------------------------------------


class ItemLine(Struct, forbid_unknown_fields=True, kw_only=True):
    """A line about an item; faults are reported in the order of its fields."""

    item: Name
    meta: dict[str, Any] | UnsetType = UNSET


class OutputLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of an outputs file; each task adds the field of the output."""

    system: Name


# --- Parsed cases of a block ---------------------------------------------------------------------

Ints = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@dataclass
class ParsedBatch:
    """The valid cases of a block, the hashes of their items, and the problems of the others.

    Attributes
    ----------
    remarks, filtered
        Counts of input that is unusual but allowed, and of outputs that a filter leaves out.
    answered
        For a join: systems and rows of references of all lines, valid or not.
    audio
        Path or URL of the audio of items, if it is given.
    details
        Data of each output for the collectors of the task.
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
    filtered: Counter[str] = field(default_factory=Counter)


# --- Readers of a task ---------------------------------------------------------------------------


class TaskReader(ABC):
    """Base class of readers, which turn the lines of one task into cases; sent to the workers."""

    outputs: ClassVar[RecordType[Any]]
    references: ClassVar[RecordType[Any]]
    failed: ClassVar[Any]  # replacement of an output that is invalid or missing
    nothing: ClassVar[dict[str, Any]]  # the content of an empty output

    if_nothing: ClassVar[str]  # how to write an empty output, for error messages
    baselines: ClassVar[tuple[str, ...]] = ()  # names of baselines

    def baseline(self, name: str, cases: Cases, seed: int) -> list[Any]:
        """Return the outputs of a baseline; raise UsageError if the name is unknown."""
        if name not in self.baselines:
            known = ", ".join(self.baselines)
            remedy = f"known: {known}" if known else "this task has no baselines"
            raise UsageError(f'unknown baseline "{name}" — {remedy}')
        pairs = zip(cases, hash_names(list(cases.items)).tolist(), strict=True)
        return [self.draw_baseline(name, case, [seed, hash_]) for case, hash_ in pairs]

    def draw_baseline(self, name: str, case: Case, seeds: list[int]) -> Any:
        """Return the output of a baseline for a case."""
        raise NotImplementedError

    @property
    @abstractmethod
    def signature(self) -> str:
        """Options that change how lines are read, each after a ``|``."""

    @property
    def foreign_endings(self) -> Collection[str]:
        """Endings of files of other tools that ``gather`` converts; none by default."""
        return ()

    @property
    def separate_by(self) -> str:
        """Field of the parts of the input that are also scored separately; empty by default."""
        return ""

    def separate(self, remarks: Counter[str]) -> dict[str, TaskReader]:
        """Return readers of these parts, by the names of the parts; ``remarks`` are of the run."""
        return {}

    def with_progress(self, progress: Progress) -> TaskReader:
        """Return a reader that reports the progress of long work, in this process."""
        return self

    @abstractmethod
    def output(self, record: Any, cases: Cases, row: int) -> Any | list[Fault]:
        """Return the parsed output for the references at a row, or all of its faults."""

    def outputs_of(self, records: Sequence[Any], cases: Cases, rows: Sequence[int]) -> list[Any]:
        """Return many parsed outputs, each with its row; some tasks parse all at once."""
        return [self.output(record, cases, row) for record, row in zip(records, rows, strict=True)]

    @abstractmethod
    def reference(self, record: Any, names: Sequence[str]) -> tuple[list[Any], list[Fault]]:
        """Return the parsed references of a record, and all of their faults."""

    @abstractmethod
    def of_references(self, records: Sequence[Any], resolved: Sequence[list[Any]]) -> Cases:
        """Return cases with these references, empty outputs and no system."""

    def join(self, cases: Cases, systems: list[str], outputs: Sequence[Any]) -> Cases:
        """Return the same cases with the outputs of systems; these are first in parsed outputs."""
        rows = zip(cases, systems, outputs, strict=True)
        return CaseList(
            Case(Key(case.key.item, system), case.item, output[0], case.references)
            for case, system, output in rows
        )

    def samples(
        self, block: LineBlock, system: str, on_error: OnError, by: tuple[Slicing, ...]
    ) -> ParsedBatch:
        """Return cases of lines that have output and reference; UsageError if not supported."""
        raise UsageError("two files are required: outputs and references")

    def details(self, records: Sequence[Any]) -> list[Any]:
        """Return the data of each output for the collectors of the task."""
        return []

    def output_remarks(self, records: Sequence[Any]) -> Counter[str]:
        """Return remarks about additional fields of output lines."""
        return Counter()

    def example(
        self,
        item: ExampleItem,
        cases: Mapping[str, Case],
        references: Mapping[str, Any],
        metrics: MetricSet,
    ) -> ExampleItem:
        """Return an example item with all that the task shows.

        By default, these are the word alignments of metrics that align words. ``cases`` are by
        system, ``references`` by annotator.
        """
        alignments = {system: metrics.alignments(case) for system, case in cases.items()}
        aligned = {name: pairs for name, pairs in alignments.items() if pairs}
        return replace(item, alignments=aligned)

    @abstractmethod
    def fields(self, case: Cases, row: int) -> dict[str, Any]:
        """Return the fields for grouping in addition to ``meta``."""

    @abstractmethod
    def remarks(self, cases: Cases, resolved: Sequence[Any], *, references: bool) -> Counter[str]:
        """Return counts of unusual input, in the references or in the outputs of cases."""

    @abstractmethod
    def notes(self, remarks: Counter[str], metrics: Sequence[Metric]) -> Iterator[str]:
        """Yield the notes for these remarks and metrics."""


# --- Measured batches ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ReferenceDraw:
    """Values of cases with a number of references; ``draw`` is the number of the draw, from 1."""

    references: int
    draw: int
    values: Floats


@dataclass(frozen=True)
class ExtraStatistics:
    """Additional statistics of a block: rows with the indices of their cases."""

    case: Ints
    statistics: list[Floats]
    labels: list[str]


@dataclass(frozen=True, kw_only=True)
class MeasuredBatch:
    """Statistics of the valid cases of a block, and the problems of the others.

    Attributes
    ----------
    each
        One row per reference of every case.
    left_out
        One row per case with several references: the mean over leaving out each in turn.
    fewer
        Values of all cases for every draw of fewer references.
    most_references
        Largest number of references of an item.
    cases, annotators
        The cases and the names of their annotators, if a collector needs them.
    """

    items: list[str]
    systems: list[str]
    lines: Ints
    hashes: Hashes
    statistics: list[Floats]
    findings: Findings
    answered: list[tuple[str, int]]
    remarks: Counter[str]
    filtered: Counter[str]
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
    """Measured cases with their values, as input for collectors.

    ``codes`` are the indices of the cases' systems in ``systems``; -1 marks a case that is not
    counted because an earlier line has the same key.
    """

    measured: MeasuredBatch
    systems: Sequence[str]
    codes: Ints
    values: Floats
    is_baseline: bool = False

    @cached_property
    def counted(self) -> Ints:
        """Indices of the cases that count."""
        return np.flatnonzero(self.codes >= 0)

    @cached_property
    def keys(self) -> list[Key]:
        """Keys of the cases that count."""
        items, systems = self.measured.items, self.measured.systems
        return [Key(items[place], systems[place]) for place in self.counted.tolist()]


# --- Collectors ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollectorSettings:
    """The metrics of a run, and the settings of the bootstrap."""

    metrics: MetricSet
    draws: int
    seed: int
    limit: int  # number of items up to which the bootstrap is multinomial


class Collector(ABC):
    """Base class of collectors, which take scored batches and return one part of the result."""

    @abstractmethod
    def add(self, batch: ScoredBatch) -> None:
        """Add the cases of a batch that count."""

    def result(self, level: float) -> Any:  # noqa: B027 - files have none
        """Return this part of the result, with intervals of this level; None if it is a file."""

    def notes(self) -> Iterator[str]:
        """Yield notes about this part of the result; by default none."""
        return iter(())


class ResultPart(Protocol):
    """A part of the result that only one task has."""

    @property
    def name(self) -> str:
        """Name of the part in JSON."""

    def record(self) -> Any:
        """Return the whole part for JSON."""

    def estimates(self) -> Iterator[tuple[str, str, Mapping[str, Estimates]]]:
        """Yield field, group and estimates by system, for CSV."""

    def sections(self) -> Iterator[Section]:
        """Yield the sections for reports."""


class TaskCollector(Collector):
    """A collector of a task."""

    @abstractmethod
    def result(self, level: float) -> ResultPart:
        """Return this part of the result, with intervals of this level."""


# --- Tasks ---------------------------------------------------------------------------------------


class Folders(NamedTuple):
    """Folders of the outputs file and of the references file; None if not a file."""

    outputs: Path | None
    references: Path | None


class FirstLines(NamedTuple):
    """Field names of the first lines of outputs and references, and of the objects in them."""

    output_line: frozenset[str]
    reference_line: frozenset[str]
    content: frozenset[str]

    @classmethod
    def of(cls, output: Mapping[str, Any], reference: Mapping[str, Any]) -> FirstLines:
        """Return the field names of two records, which may be empty."""
        content, several = output.get("output"), reference.get("references")
        first = several[0] if isinstance(several, list) and several else None
        names = [name for part in (content, first) if isinstance(part, dict) for name in part]
        return cls(frozenset(output), frozenset(reference), frozenset(names))


@dataclass(frozen=True, kw_only=True)
class TaskFields:
    """Fields by which a task is detected from the first lines of the files.

    A task fits if any field of ``content``, ``output_line`` or ``reference_line`` is present. If
    several tasks fit, the one with the highest ``precedence`` is used.

    Attributes
    ----------
    content
        Fields of an output or of a single reference.
    output_line
        Fields of a line of the outputs file.
    reference_line
        Fields of a line of the references file.
    needed
        Fields of which the line of references must have at least one.
    absent
        Fields that the line of references must not have.
    precedence
        Precedence among several tasks that fit.
    """

    content: frozenset[str] = frozenset()
    output_line: frozenset[str] = frozenset()
    reference_line: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    precedence: int = 0

    def fit(self, lines: FirstLines) -> bool:
        """Whether the task fits these lines."""
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
    """An option of the reader of a task; ``default`` is shown, the reader sets it."""

    name: str
    help: str
    choices: tuple[str, ...] = ()
    default: str = ""
    is_flag: bool = False


ReaderFactory = Callable[[MetricSet, dict[str, str], Folders], TaskReader]
CollectorFactory = Callable[[CollectorSettings], Sequence[TaskCollector]]
# example items, the values to show, and the worst system of every item among the worst cases
ExampleSections = Callable[
    [Sequence[ExampleItem], Sequence[Value], Mapping[str, str]], Iterable[Section]
]


def no_example_sections(
    _shown: Sequence[ExampleItem], _values: Sequence[Value], _worst: Mapping[str, str]
) -> Iterable[Section]:
    """Return no sections."""
    return ()


def no_collectors(_settings: CollectorSettings) -> Sequence[TaskCollector]:
    """Return no collectors."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Task:
    """Description of a task: its metrics, and how its files are read.

    Attributes
    ----------
    name
        Name of the task.
    subject
        Name of the task as its metrics have it (``Metric.task``), by default ``name``. Several
        tasks may share it; they then differ in their default metrics.
    metrics
        Metric classes of the task.
    defaults
        Names of the default metrics of ``score`` and ``compare``.
    people
        Names of the default metrics of ``people``.
    reader
        Function that returns a reader from metrics, options by name, and the folders of the files.
    fields
        Fields by which the task of a plug-in is detected; those of built-in tasks are in
        ``registry``, so that only the task of a file is imported.
    options
        Options of the reader.
    baselines
        Names of the baselines of the reader.
    collectors
        Function that returns the collectors of the parts of a result that only this task has.
    example_sections
        Function that returns the sections of a report that show example items of this task.
    sample_cases
        Function that returns random cases with a given number of references, for tests of metrics.

    Examples
    --------
    >>> from earwitness.registry import TASKS
    >>> TASKS["chapters"].defaults
    ('chunks', 'collar')
    """

    name: str
    subject: str = ""
    metrics: tuple[type[Metric], ...] = ()
    defaults: tuple[str, ...]
    people: tuple[str, ...]
    reader: ReaderFactory
    fields: TaskFields = field(default_factory=TaskFields)
    options: tuple[TaskOption, ...] = ()
    baselines: tuple[str, ...] = ()
    collectors: CollectorFactory = no_collectors
    example_sections: ExampleSections = no_example_sections
    sample_cases: Callable[[Random, int], list[Case]] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "subject", self.subject or self.name)
