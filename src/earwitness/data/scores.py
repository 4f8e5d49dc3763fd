"""The result of scoring: estimates for every system, and how they came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from earwitness.data.case import Key
from earwitness.data.estimate import Estimate
from earwitness.data.value import Value


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


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where the numbers come from."""

    version: str
    numpy: str
    seed: int
    inputs: tuple[Input, ...]
    cases: int
    skipped: int
    emptied: int


@dataclass(frozen=True, slots=True)
class Scores:
    """Estimates by system and value name, with everything that is needed to make them again."""

    signature: str
    provenance: Provenance
    families: Mapping[str, tuple[Value, ...]]
    systems: Mapping[str, Mapping[str, Estimate]]
    skipped: tuple[Left, ...] = ()
    emptied: tuple[Left, ...] = ()
    worst: tuple[Sample, ...] = ()
    worst_by: str = ""
    notes: tuple[str, ...] = ()
