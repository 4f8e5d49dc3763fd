"""Types shared by all packages: keys, cases, values, estimates, scores and ratings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray


# --- Keys, items and cases -----------------------------------------------------------------------


Titles = tuple[tuple[str, float], ...]
StrPath = str | PathLike[str]


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """The spine: every score and every rating is about one output of one system for one item."""

    item: str
    system: str


@dataclass(frozen=True, slots=True)
class Item:
    """What belongs to neither side: facts about the thing that was given to every system.

    ``transcript`` is what was said, ``sentences`` when each of its sentences begins, ``words`` its
    words one by one, and ``times`` when each of these begins and ends.
    """

    duration: float
    meta: Mapping[str, Any] = field(default_factory=dict)
    transcript: str | None = None
    sentences: tuple[float, ...] | None = None
    words: tuple[str, ...] = ()
    times: tuple[tuple[float, float], ...] | None = None


@dataclass(frozen=True, slots=True)
class Chapters:
    """Where chapters begin, in seconds; the first chapter begins at 0 and needs no boundary.

    ``titles`` have times of their own; ``text`` is what was said, ``sentences`` when the sentences
    of a system's own transcript begin. None is what nobody gave.
    """

    boundaries: tuple[float, ...]
    titles: Titles | None = None
    text: str | None = None
    sentences: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What was kept of what was said: words, and the position of each in the transcript, from 1.

    Position 0 is a word that stands nowhere in the transcript, such as one that was recognised
    wrongly. A summary in words of its own has no positions: None.
    """

    text: str
    words: tuple[str, ...]
    positions: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Case:
    """One output with all that is needed to judge it.

    What output and references are depends on the task: Chapters, Summary.
    """

    key: Key
    item: Item
    output: Any
    references: tuple[Any, ...]


# --- Batches of cases ----------------------------------------------------------------------------


class Cases(Sequence[Case], ABC):
    """A sequence of cases that can be chosen from and turned round without making objects."""

    __slots__ = ()
    items: Sequence[str]
    systems: Sequence[str]

    @property
    @abstractmethod
    def counts(self) -> NDArray[Any]:
        """How many references every case has."""

    @property
    @abstractmethod
    def several(self) -> bool:
        """Whether there are cases with more than one reference, or were before some were taken."""

    @abstractmethod
    def take(self, index: NDArray[Any]) -> Self:
        """The cases of ``index``, in its order."""

    @abstractmethod
    def each(self) -> Self:
        """A case for every reference."""

    @abstractmethod
    def keep(self, rows: NDArray[Any], counts: NDArray[Any]) -> Self:
        """The same cases with some of their references: these rows of all, so many of a case."""

    @abstractmethod
    def people(self) -> tuple[Self, NDArray[Any]]:
        """Every reference in turn as the output, against the other references of its case.

        Only cases with two references and more are taken; the second answer has, for every new
        case, the row of its output among the references.
        """


# --- Values of a metric --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Value:
    """A number that a metric gives: its name, its range and which end is good."""

    name: str
    best: Literal["high", "low", "none"]
    low: float
    high: float
    doc: str


# --- Estimates with intervals --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value over many cases.

    ``n`` counts the cases that the value rests on, ``undefined`` those for which it has no value.
    Where nothing can be said, ``value``, ``low`` and ``high`` are NaN.
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
    """A number that a metric gives to one output; NaN where it gives none.

    ``references`` is how many references the output was compared with, 0 where that is not known;
    where these were drawn out of more, ``draw`` numbers the draws from 1.
    """

    key: Key
    metric: str
    value: float
    references: int = 0
    draw: int = 0


# --- Answers and ratings -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Answer:
    """What a listener said on one page of a study; ``study`` is the digest of its file.

    ``heard`` says what was presented, if it was a trial: the item, systems in order, and which of
    them was the unknown one. ``version`` is that of the program that asked.
    """

    study: str
    listener: int
    page: str
    values: Mapping[str, Any]
    heard: Mapping[str, Any] | None = None
    at: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Rating:
    """A number that a listener gave to one output, or to one beside another (``against``).

    ``place`` is where that output stood among those presented, from 0; ``trial`` is the number of
    the trial in its session and ``asked`` that of the question in the trial, from 1, or 0 where
    nothing is known.
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
    """A word that was wanted and the one that is there; where there is none, nothing.

    ``mark`` is S if it was replaced, D if it is missing, I if it is too much. ``people`` is how
    many went to this word, where that is known.
    """

    wanted: str
    actual: str
    mark: str = ""
    people: int | None = None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs in order, what is wanted by name (a reference, a path), and more in words.

    Texts that no metric lays beside each other have no pairs, and all is in ``text``.
    """

    pairs: tuple[WordPair, ...]
    wanted: str = "REF"
    text: str = ""


# --- Map and progress protocols ------------------------------------------------------------------


T = TypeVar("T")
R = TypeVar("R")
OnError = Literal["fail", "skip", "empty"]  # what becomes of a bad sample


class Map(Protocol):
    """Apply a function to every item and give the results in the items' order."""

    def __call__(self, function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]: ...


class Progress(Protocol):
    """Told how far the work is: bytes read of how many (None if unknown), and cases so far."""

    def __call__(self, done: int, total: int | None, cases: int, /) -> None: ...


def no_progress(done: int, total: int | None, cases: int, /) -> None:
    """Nobody is watching."""


# --- Word networks -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class WordNetwork:
    """What people kept of an item, and the paths that outputs are closest to.

    Positions start at 1; an arc from 0 leads to a first word, one to the number of words and one
    more comes from a last word. ``arcs`` have how many people went along them; ``signature`` says
    how targets were found.
    """

    item: str
    words: tuple[str, ...]
    people: Mapping[str, tuple[int, ...]]
    arcs: Mapping[tuple[int, int], int]
    targets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    signature: str = ""

    def name(self, node: int) -> str:
        """The word at a node; ``<s>`` and ``</s>`` stand at the ends."""
        if not node:
            return "<s>"
        return self.words[node - 1] if node <= len(self.words) else "</s>"


# --- Inputs, examples and provenance -------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Input:
    """A file that was read, by the name it was given and the hash of the bytes in it."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class FaultyCase:
    """A case that was skipped, or scored with an empty output, and why."""

    key: Key
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class CaseValues:
    """The values of one case."""

    key: Key
    values: Mapping[str, float]


def is_address(audio: str) -> bool:
    """Whether sound has an address of its own, and is not a path."""
    return audio.lower().startswith(("http://", "https://", "file://"))


@dataclass(frozen=True, slots=True)
class ExampleItem:
    """An item to look at: boundaries by annotator and by system, and every system's values.

    Boundaries within ``near`` seconds of a reference's are close. ``why`` says why it is shown.
    ``alignments`` have, by system, what was wanted above what the system wrote, where both are
    known. Summaries have a ``network`` and no boundaries.
    """

    item: str
    duration: float
    audio: str
    references: Mapping[str, tuple[float, ...]]
    outputs: Mapping[str, tuple[float, ...]]
    values: Mapping[str, Mapping[str, float]]
    near: float = 3.0
    why: str = ""
    alignments: Mapping[str, tuple[Alignment, ...]] = field(default_factory=dict)
    network: WordNetwork | None = None


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the numbers come from; ``references`` are the fewest and the most of an item."""

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
    """One value of two systems on the same items.

    ``difference`` is that of ``a`` less that of ``b``. ``better`` names the better system if the
    corrected p is below the threshold, else it is empty: they cannot be told apart. ``effect`` is
    its size in standard deviations, where one is given.
    """

    value: str
    a: str
    b: str
    difference: Estimate
    p: float
    p_corrected: float
    better: str
    effect: Estimate | None = None
