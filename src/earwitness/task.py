"""The task interface: a reader of records, batches of cases, and groups by field."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
from unicodedata import name

from msgspec import UNSET, Struct, UnsetType

from earwitness.core import Cases, OnError
from earwitness.errors import UsageError
from earwitness.io.records import Findings, RecordType
from earwitness.io.schema import Fault, Name, is_name
from earwitness.io.source import LineBlock
from earwitness.metric import Metric
from earwitness.metric_set import MetricSet
from earwitness.stats.arrays import Floats, Hashes, Ints
from earwitness.text.rouge import LATIN_WORD

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
        field, colon, rest = text.partition(":")
        try:
            cuts = tuple(float(cut) for cut in rest.split(",")) if colon else ()
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
    known: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, slicings: tuple[Slicing, ...], cases: Iterable[Fields]) -> GroupLabels:
        """Labels of cases."""
        if not slicings:
            return cls()
        found = list(cases)
        columns = [[slicing.label(*fields) for fields in found] for slicing in slicings]
        return cls(columns, {name for fields in found for record in fields for name in record})


# --- Dials of skims ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dial:
    """How a skim was made: a method that goes from TC to SD, and z (NaN is one that is no z)."""

    method: str
    z: float


# --- Lines of files ------------------------------------------------------------------------------


class ItemLine(Struct, forbid_unknown_fields=True, kw_only=True):
    """A line about an item; its faults are told in the order of its fields."""

    item: Name
    meta: dict[str, Any] | UnsetType = UNSET


class OutputLine(ItemLine, forbid_unknown_fields=True, kw_only=True):
    """A line of an outputs file; each task adds what an output is."""

    system: Name


# --- Parsed cases of a block ---------------------------------------------------------------------


@dataclass
class ParsedBatch:
    """The good cases of a block, the hashes of their items, and what was found wrong.

    ``remarks`` count what is odd but allowed. ``answered`` has, for a join, the systems and rows of
    references that lines spoke of, good or bad; ``audio`` is where an item's sound is, if its line
    says so. ``dials`` say how each output was made, where a task has such; else there are none.
    """

    cases: Cases
    lines: Ints
    hashes: Hashes
    findings: Findings
    remarks: Counter[str] = field(default_factory=Counter)
    answered: list[tuple[str, int]] = field(default_factory=list)
    labels: GroupLabels = field(default_factory=GroupLabels)
    audio: dict[str, str] = field(default_factory=dict)
    dials: list[Dial | None] = field(default_factory=list)


def given(value: Any) -> Any:
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
        self, block: LineBlock, system: str, on_error: OnError, by: tuple[Slicing, ...]
    ) -> ParsedBatch:
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


# --- Texts without Latin words -------------------------------------------------------------------


NOT_LATIN_REMARK, UNSPACED_REMARK = "not latin", "unspaced"
# scripts that put no blanks between words
UNSPACED_SCRIPTS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
ENGLISH_MODEL = "minilm"  # the model that was trained on English


def not_latin(text: str) -> bool:
    """Whether a text has letters, but no word of Latin letters or digits."""
    return any(letter.isalpha() for letter in text) and not LATIN_WORD.search(text.lower())


def unspaced(text: str) -> bool:
    """Whether most letters of a text are of a script that puts no blanks between words."""
    letters = [letter for letter in text if letter.isalpha()]
    own = sum(name(letter, "").startswith(UNSPACED_SCRIPTS) for letter in letters)
    return 2 * own > len(letters)


def latin_notes(count: int, metrics: Sequence[Metric]) -> Iterator[str]:
    """A warning, if a metric looks for such words."""
    blind = [metric.name for metric in metrics if getattr(metric, "words", "") == "latin"]
    if count and blind:
        what = "text of the references has" if count == 1 else "texts of the references have"
        yield f"{count:,} {what} no word in Latin letters: {blind[0]} needs --words unicode"
    model = [metric.name for metric in metrics if getattr(metric, "model", "") == ENGLISH_MODEL]
    if count and model:
        told = f"{count:,} texts of the references have no word in Latin letters"
        why = f"{ENGLISH_MODEL} knows English, so {model[0]} says little"
        yield f"{told}: {why} — name another --model"


# --- Tasks ---------------------------------------------------------------------------------------


class Folders(NamedTuple):
    """Where the files of outputs and of references are, if they are files."""

    outputs: Path | None
    references: Path | None


@dataclass(frozen=True)
class Task:
    """What is scored if nobody asks for more, also among people alone; and what its lines hold."""

    name: str
    defaults: tuple[str, ...]
    people: tuple[str, ...]
    lines: Callable[[MetricSet, dict[str, str], Folders], TaskReader]
    baselines: tuple[str, ...] = ()  # as the reader has them


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


@dataclass(frozen=True)
class MeasuredBatch:
    """What becomes of a block: its good cases measured, and what was found wrong.

    ``each`` has a row for every reference of every case, ``left_out`` a row for every case that has
    several references, as if each of them in turn did not exist, ``fewer`` all cases once more for
    every draw of their references.
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
    cases: Cases | None
    alignments: list[str]
    audio: dict[str, str]
    dials: list[Dial | None]
    done: int
