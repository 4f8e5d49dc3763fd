"""The result of scoring: estimates for every system, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.data.alignment import Alignment
from earwitness.data.case import Key
from earwitness.data.estimate import Estimate
from earwitness.data.network import WordNetwork
from earwitness.data.value import Value

Estimates = Mapping[str, Estimate]  # by the name of the value


@dataclass(frozen=True, slots=True)
class Input:
    """A file that was read, by the name it was given and the hash of the bytes in it."""

    name: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Left:
    """A case that was skipped, or scored with an empty output, and why."""

    key: Key
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of one case."""

    key: Key
    values: Mapping[str, float]


def is_address(audio: str) -> bool:
    """Whether sound has an address of its own, and is not a path."""
    return audio.lower().startswith(("http://", "https://", "file://"))


@dataclass(frozen=True, slots=True)
class Shown:
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
class Slice:
    """Estimates by group and system, for the groups that a field of ``meta`` makes."""

    field: str
    groups: Mapping[str, Mapping[str, Estimates]]


@dataclass(frozen=True, slots=True)
class People:
    """How well people do: each annotator in turn against the others of the item.

    ``systems`` are scored on the same items against as many references. ``annotators`` has
    everyone by name; it is empty if there are too many to list.
    """

    items: int
    ceiling: Estimates
    systems: Mapping[str, Estimates]
    annotators: Mapping[str, Estimates]


@dataclass(frozen=True, slots=True)
class Sweep:
    """One value for several numbers of a parameter: the numbers, and the value's name for each.

    ``unit`` is that of the numbers, if they have one.
    """

    value: str
    parameter: str
    unit: str
    points: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class CoursePoint:
    """Means of TC and SD at one z, over the items that have an area."""

    z: float
    tc: Estimate
    sd: Estimate


@dataclass(frozen=True, slots=True)
class MeanCourse:
    """The courses of a method over all its items: means of ``area``, ``tc_with_z``, ``sd_with_z``.

    ``family`` is the signature of the metric that measured TC and SD. Items with fewer than three
    z, or with one of them twice, are undefined.
    """

    family: str
    method: str
    estimates: Estimates
    points: tuple[CoursePoint, ...]


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


@dataclass(frozen=True, slots=True)
class Scores:
    """Estimates by system and value name, with everything that is needed to make them again.

    ``spread`` has, by system and value, the values of the cases, or of a fixed choice of them where
    there are very many.
    """

    signature: str
    provenance: Provenance
    families: Mapping[str, tuple[Value, ...]]
    headlines: tuple[str, ...]
    systems: Mapping[str, Estimates]
    slices: tuple[Slice, ...] = ()
    people: People | None = None
    sweeps: tuple[Sweep, ...] = ()
    courses: tuple[MeanCourse, ...] = ()
    spread: Mapping[str, Mapping[str, tuple[float, ...]]] | None = None
    shown: tuple[Shown, ...] = ()
    skipped: tuple[Left, ...] = ()
    emptied: tuple[Left, ...] = ()
    worst: tuple[Sample, ...] = ()
    worst_by: str = ""
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Value]:
        """All values by name."""
        return {value.name: value for values in self.families.values() for value in values}
