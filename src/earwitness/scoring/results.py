"""Result types of score and compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from earwitness.core import (
    CaseValues,
    Contrast,
    Estimate,
    Estimates,
    ExampleItem,
    FaultyCase,
    Provenance,
    Value,
)
from earwitness.metric_set import Sweep
from earwitness.task import ResultPart

# --- Results of scoring --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Slice:
    """Estimates by group and system, for the groups that a field of ``meta`` makes."""

    field: str
    groups: Mapping[str, Mapping[str, Estimates]]


@dataclass(frozen=True, slots=True)
class AnnotatorScores:
    """How well people do: each annotator in turn against the others of the item.

    ``systems`` are scored on the same items against as many references. ``annotators`` has
    everyone by name; it is empty if there are too many to list.
    """

    items: int
    ceiling: Estimates
    systems: Mapping[str, Estimates]
    annotators: Mapping[str, Estimates]


@dataclass(frozen=True, slots=True)
class Scores:
    """Estimates by system and value name, with everything that is needed to make them again.

    ``spread`` has, by system and value, the values of the cases, or of a fixed choice of them where
    there are very many. ``parts`` are those that only the task of the run has.
    """

    signature: str
    provenance: Provenance
    families: Mapping[str, tuple[Value, ...]]
    headlines: tuple[str, ...]
    systems: Mapping[str, Estimates]
    slices: tuple[Slice, ...] = ()
    people: AnnotatorScores | None = None
    sweeps: tuple[Sweep, ...] = ()
    parts: tuple[ResultPart, ...] = ()
    spread: Mapping[str, Mapping[str, tuple[float, ...]]] | None = None
    shown: tuple[ExampleItem, ...] = ()
    skipped: tuple[FaultyCase, ...] = ()
    emptied: tuple[FaultyCase, ...] = ()
    worst: tuple[CaseValues, ...] = ()
    worst_by: str = ""
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> dict[str, Value]:
        """All values by name."""
        return {value.name: value for values in self.families.values() for value in values}

    def part(self, name: str) -> Any:
        """The part of the task that has this name in JSON; None where the task has none."""
        return next((part for part in self.parts if part.name == name), None)


# --- Results of a comparison ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupContrasts:
    """Contrasts on the items of one group of a slice; p is corrected over all groups and pairs."""

    field: str
    group: str
    items: int
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Contrasts of all pairs of systems; ``systems`` has their values on the common items.

    ``scores`` are those of every system on all items that it answered.
    """

    signature: str
    scores: Scores
    items: int
    alpha: float
    values: tuple[str, ...]
    systems: Mapping[str, Mapping[str, Estimate]]
    contrasts: tuple[Contrast, ...]
    groups: tuple[GroupContrasts, ...] = ()
