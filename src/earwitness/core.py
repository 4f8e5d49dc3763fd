"""Types shared by all packages: keys, cases, values, estimates, scores, ratings; JSON, groups."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray


def load_json(text: str) -> Any:
    """Parse JSON from outside; raise ValueError if it is invalid or cannot be written again."""
    try:
        value = json.loads(text)
        json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError:
        raise
    except UnicodeEncodeError:
        message = "contains an incomplete character (a lone surrogate)"
        raise ValueError(f"{message} — write complete characters") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:  # Python's limit on digits
        raise ValueError("a number has too many digits") from None
    return value


K = TypeVar("K")
T = TypeVar("T")


def group_values(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Return values by key, both in order of appearance.

    >>> group_values([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[K, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def number_keys(keys: Iterable[K]) -> dict[K, int]:
    """Return the number of each of some different keys, from 0."""
    return {key: number for number, key in enumerate(keys)}


def count_text(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> count_text(1, "vote"), count_text(2000, "vote"), count_text(2, "person", "people")
    ('1 vote', '2,000 votes', '2 people')
    """
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


# --- Keys, items and cases -----------------------------------------------------------------------


Titles = tuple[tuple[str, float], ...]
StrPath = str | PathLike[str]


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Item and system of an output; every score and every rating belongs to one key."""

    item: str
    system: str


@dataclass(frozen=True, slots=True)
class Item:
    """Facts about an item, which are the same for all systems.

    Attributes
    ----------
    duration
        Duration in seconds.
    meta
        Additional fields of the user.
    transcript
        Transcript of the item, if it has one.
    sentences
        Start times of the sentences of the transcript, in seconds.
    words
        Words of the transcript.
    times
        Start and end of every word, in seconds.
    recognized
        Position of every word of a recognizer in the transcript, starting at 1; 0 for a wrong word.
        None if these words are not known.
    """

    duration: float
    meta: Mapping[str, Any] = field(default_factory=dict)
    transcript: str | None = None
    sentences: tuple[float, ...] | None = None
    words: tuple[str, ...] = ()
    times: tuple[tuple[float, float], ...] | None = None
    recognized: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Chapters:
    """Chapters of a recording.

    Attributes
    ----------
    boundaries
        Start times of chapters in seconds. The first chapter starts at 0 and needs no boundary.
    titles
        Titles with their own start times, or None.
    text
        Transcript of the system, or None.
    sentences
        Start times of the sentences of the system's own transcript, or None.
    """

    boundaries: tuple[float, ...]
    titles: Titles | None = None
    text: str | None = None
    sentences: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of a transcript.

    Attributes
    ----------
    text
        The text of the summary.
    words
        The words of the summary.
    positions
        Position of every word in the transcript, starting at 1; 0 for a word that is not in the
        transcript, such as a recognition error. None for a summary in free wording.
    """

    text: str
    words: tuple[str, ...]
    positions: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Case:
    """One output with its item and references.

    The type of output and references depends on the task, such as Chapters or Summary.
    """

    key: Key
    item: Item
    output: Any
    references: tuple[Any, ...]


# --- Batches of cases ----------------------------------------------------------------------------


class Cases(Sequence[Case], ABC):
    """A sequence of cases that can be subset and rearranged without creating objects."""

    __slots__ = ()
    items: Sequence[str]
    systems: Sequence[str]

    @property
    @abstractmethod
    def counts(self) -> NDArray[Any]:
        """Number of references of every case."""

    @property
    @abstractmethod
    def has_several(self) -> bool:
        """Whether cases have, or had before a subset was taken, more than one reference."""

    @abstractmethod
    def take(self, index: NDArray[Any]) -> Self:
        """Return the cases at ``index``, in this order."""

    @abstractmethod
    def each(self) -> Self:
        """Return one case per reference."""

    @abstractmethod
    def keep(self, rows: NDArray[Any], counts: NDArray[Any]) -> Self:
        """Return the same cases with only some references: ``rows``, ``counts`` per case."""

    @abstractmethod
    def people(self) -> tuple[Self, NDArray[Any]]:
        """Return cases with each reference in turn as the output, against the other references.

        Only cases with two or more references are used. The second array has, for every new case,
        the row of its output among the references.
        """


# --- Values of a metric --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """Description of one value of a metric.

    Attributes
    ----------
    name
        Name of the value, such as ``"collar_f1"``.
    best
        ``"high"`` if higher is better, ``"low"`` if lower is better, ``"none"`` if neither is.
    low, high
        Range of the value.
    doc
        Short description.
    unit
        Unit of measurement, such as ``"s"``; empty for shares, rates and ratios.
    """

    name: str
    best: Literal["high", "low", "none"]
    low: float
    high: float
    doc: str
    unit: str = ""

    @classmethod
    def share(cls, name: str, doc: str) -> Value:
        """Return a value from 0 to 1, of which higher is better."""
        return cls(name, "high", 0, 1, doc)


# --- Estimates with intervals --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value over many cases, with its confidence interval.

    Attributes
    ----------
    value
        The estimate, or NaN if it is undefined.
    low, high
        Ends of the confidence interval, or NaN if there are too few cases.
    level
        Level of the confidence interval.
    n
        Number of cases for which the value is defined.
    undefined
        Number of cases for which the value is undefined.
    method
        Method of the interval, such as ``"bootstrap-multinomial"``.
    """

    value: float
    low: float
    high: float
    level: float
    n: int
    undefined: int
    method: str


Estimates = Mapping[str, Estimate]  # by the name of the value


# --- Scores of outputs ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Score:
    """Value of a metric for one output; NaN if it is undefined.

    ``references`` is the number of references the output was compared with, or 0 if unknown. If
    these were drawn at random from more references, ``draw`` is the number of the draw, from 1.
    """

    key: Key
    metric: str
    value: float
    references: int = 0
    draw: int = 0


# --- Answers and ratings -------------------------------------------------------------------------


UNHEARD_META_KEY = "unheard"  # metadata of an answer about sounds that cannot have been heard
WORKBOOK_META_KEY = "workbook"  # metadata of an answer from a workbook or from paper: its files


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers of a listener on one page of a study; ``study`` is the hash of the study file.

    ``heard`` describes the stimuli if the page is a trial: the item, the systems in order, and
    which of them was the unknown one. ``version`` is the version of the program that asked;
    ``comment`` is a remark on the sounds of the page. If the server knows that sounds cannot have
    been heard, ``unheard`` has the reasons. ``imported`` is true if the answer comes from a
    workbook or from paper. ``digest`` is that of an exported answer.
    """

    study: str
    listener: int
    page: str
    values: Mapping[str, Any]
    heard: Mapping[str, Any] | None = None
    at: str = ""
    version: str = ""
    unheard: Mapping[str, Any] | None = None
    comment: str | None = None
    imported: bool | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Rating:
    """Rating of one output by a listener, on its own or compared with another (``against``).

    ``place`` is the position of the output among those presented, from 0. ``trial`` is the number
    of the trial in its session and ``asked`` that of the question in the trial, both from 1, or 0
    if unknown.
    """

    key: Key
    scale: str
    listener: int | str
    session: int
    value: float
    against: Key | None = None
    place: int = 0
    trial: int = 0
    asked: int = 0


# --- Word alignments -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordPair:
    """An expected word and the actual word; either is empty if the word is missing.

    ``mark`` is S for a substitution, D for a deletion and I for an insertion. ``people`` is the
    number of people who went to this word, if known.
    """

    wanted: str
    actual: str
    mark: str = ""
    people: int | None = None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Word pairs in order, the label of the expected side, and additional text.

    Texts that no metric aligns have no pairs; they are in ``text``.
    """

    pairs: tuple[WordPair, ...]
    wanted: str = "REF"
    text: str = ""


# --- Map and progress protocols ------------------------------------------------------------------


R = TypeVar("R")
OnError = Literal["fail", "skip", "empty"]  # handling of an invalid sample


class Map(Protocol):
    """Apply a function to every item and yield the results in the order of the items."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]: ...


Jobs = int | Map  # a number of worker processes, or what distributes work


class Progress(Protocol):
    """Report progress: bytes read, total bytes (None if unknown), and cases so far."""

    def __call__(self, done: int, total: int | None, cases: int, /) -> None: ...


def no_progress(done: int, total: int | None, cases: int, /) -> None:
    """Ignore progress."""


@runtime_checkable
class PartProgress(Protocol):
    """Progress that can show a part of the work with a label, in seconds of audio."""

    def show_part(self, label: str) -> AbstractContextManager[Progress]: ...


def label_progress(progress: Progress, label: str) -> AbstractContextManager[Progress]:
    """Return the progress of a labelled part of the work; nothing is shown if it has no parts."""
    if isinstance(progress, PartProgress):
        return progress.show_part(label)
    return nullcontext(no_progress)


# --- Word networks -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordNetwork:
    """Word network of an item: its reference summaries merged into one graph.

    Attributes
    ----------
    item
        Name of the item.
    words
        Words of the transcript. Positions start at 1; node 0 is the start of the network, and node
        ``len(words) + 1`` its end.
    people
        Positions of the words that every annotator kept.
    arcs
        Number of people who went from one node to another.
    targets
        Positions of the path that is closest to the output, by system.
    signature
        Version, metric and parameters by which ``targets`` were determined.
    """

    item: str
    words: tuple[str, ...]
    people: Mapping[str, tuple[int, ...]]
    arcs: Mapping[tuple[int, int], int]
    targets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    signature: str = ""

    def name(self, node: int) -> str:
        """Return the word at a node; ``<s>`` and ``</s>`` at the start and the end."""
        if not node:
            return "<s>"
        return self.words[node - 1] if node <= len(self.words) else "</s>"


# --- Inputs, examples and provenance -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Input:
    """A file that was read: its name as given, the SHA-256 of its content, and its size."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class FaultyCase:
    """A case that was skipped, or scored with an empty output, and the reason."""

    key: Key
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class CaseValues:
    """The values of one case."""

    key: Key
    values: Mapping[str, float]


def is_address(audio: str) -> bool:
    """Whether audio is given by a URL, and not by a path."""
    return audio.lower().startswith(("http://", "https://", "file://"))


@dataclass(frozen=True, slots=True)
class BoundaryMatches:
    """One-to-one matches of the boundaries of one output with those of every annotator.

    ``matched`` has, for every boundary of the output, the annotators with a matched boundary; None
    if the metric ignores the boundary. ``missed`` are the boundaries without a match, by annotator.
    """

    matched: tuple[tuple[str, ...] | None, ...]
    missed: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class BoundaryMatching:
    """Matches by system; the distance of matched boundaries is at most ``collar`` seconds."""

    collar: float
    systems: Mapping[str, BoundaryMatches]


@dataclass(frozen=True, slots=True)
class TitlePair:
    """A reference title and the output title that was matched with it, each with its start time.

    Either is None if it has no match. ``score`` is NaN if it was not computed.
    """

    annotator: str
    reference: tuple[str, float] | None
    output: tuple[str, float] | None
    score: float


@dataclass(frozen=True, slots=True)
class ExampleItem:
    """An item that a report shows: boundaries by annotator and by system, and values by system.

    ``why`` is the reason for showing the item. ``alignments`` are word alignments by system.
    Summaries have a ``network`` and no boundaries. ``matches`` are matches of boundaries by the
    name of the value that counts them; those of an empty name are for all other values. ``titles``
    are pairs of titles by system, and ``title_score`` is the name of their score, if they have one.
    """

    item: str
    duration: float
    audio: str
    references: Mapping[str, tuple[float, ...]]
    outputs: Mapping[str, tuple[float, ...]]
    values: Mapping[str, Mapping[str, float]]
    why: str = ""
    alignments: Mapping[str, tuple[Alignment, ...]] = field(default_factory=dict)
    network: WordNetwork | None = None
    matches: Mapping[str, BoundaryMatching] = field(default_factory=dict)
    titles: Mapping[str, tuple[TitlePair, ...]] = field(default_factory=dict)
    title_score: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Versions, seed, input files, and numbers of cases and of references per item.

    ``references`` are the smallest and the largest number of references of an item.
    """

    version: str
    numpy: str
    seed: int
    inputs: tuple[Input, ...]
    cases: int
    skipped: int
    emptied: int
    references: tuple[int, int] = (1, 1)


# --- Contrasts of two systems --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contrast:
    """Comparison of one value of two systems on the same items.

    Attributes
    ----------
    value
        Name of the value.
    a, b
        Names of the systems.
    difference
        Value of ``a`` minus value of ``b``.
    p, p_corrected
        p-value before and after the correction for multiple comparisons.
    better
        Name of the better system if ``p_corrected`` is below the significance level, else empty:
        the systems are not significantly different.
    effect
        Effect size in standard deviations, if it was computed.
    note
        Why the pair was compared in another way than the others, or not at all.
    """

    value: str
    a: str
    b: str
    difference: Estimate
    p: float
    p_corrected: float
    better: str
    effect: Estimate | None = None
    note: str = ""
