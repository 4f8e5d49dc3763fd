"""Result types of score and compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from earwitness.core import (
    CaseValues,
    Contrast,
    Estimate,
    Estimates,
    ExampleItem,
    FaultyCase,
    Key,
    Provenance,
    Value,
)
from earwitness.errors import UsageError, nearest
from earwitness.metric_set import Sweep
from earwitness.report.result import Result
from earwitness.task import ResultPart

KEY_COLUMNS = ("item", "system")
REFERENCE_COLUMNS = ("references", "draw")

# --- Results of scoring --------------------------------------------------------------------------


@dataclass(slots=True)
class SampleValues:
    """Values of every case, in the order in which cases were scored.

    Attributes
    ----------
    columns
        Names of the columns: item, system, (number of references and of the draw,) values.
    rows
        One row per case. Undefined values are NaN.
    """

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]] = field(default_factory=list)

    @classmethod
    def of(cls, names: Sequence[str], *, drawn: bool = False) -> SampleValues:
        """Return a table of these values; references are ``drawn`` if cases have fewer of them."""
        return cls((*KEY_COLUMNS, *(REFERENCE_COLUMNS if drawn else ()), *names))

    def write(
        self,
        keys: Sequence[Key],
        values: Sequence[Sequence[float]],
        references: tuple[int, int] = (0, 0),
    ) -> None:
        """Add cases with their values, and the number of references and of the draw."""
        drawn = references if "draw" in self.columns else ()
        for key, row in zip(keys, values, strict=True):
            self.rows.append((key.item, key.system, *drawn, *row))

    def select(self, kept: Collection[str]) -> SampleValues:
        """Return the same cases with only these values."""
        names = (*KEY_COLUMNS, *REFERENCE_COLUMNS, *kept)
        places = [place for place, name in enumerate(self.columns) if name in names]
        return SampleValues(
            tuple(self.columns[place] for place in places),
            [tuple(row[place] for place in places) for row in self.rows],
        )


@dataclass(frozen=True, slots=True)
class Slice:
    """Estimates per group and system, for the groups of one field.

    Attributes
    ----------
    field
        Name of the field: a field of ``meta``, ``duration`` or ``annotator``.
    groups
        Estimates by group, system and value name.
    """

    field: str
    groups: Mapping[str, Mapping[str, Estimates]]


@dataclass(frozen=True, slots=True)
class AnnotatorScores:
    """Scores of annotators: each annotator in turn against the others of the same item.

    Attributes
    ----------
    items
        Number of items with two or more references.
    ceiling
        Estimates of the mean annotator, by value name (the human ceiling).
    systems
        Estimates of every system on the same items, against the same number of references.
    annotators
        Estimates of every annotator; empty if there are too many annotators to list.
    """

    items: int
    ceiling: Estimates
    systems: Mapping[str, Estimates]
    annotators: Mapping[str, Estimates]


@dataclass(frozen=True, slots=True, repr=False)
class Scores(Result):
    """Result of ``score`` and ``people``: estimates by system and value name, with provenance.

    Attributes
    ----------
    signature
        Version, metrics with all parameters, and settings that determine the numbers.
    provenance
        Versions, seed, input files with hashes, and numbers of cases and references.
    families
        Values of every metric, by the signature of the metric.
    headlines
        Names of the main value of every metric.
    systems
        Estimates by system and value name.
    slices
        Estimates per group, one ``Slice`` per field of ``by``.
    people
        Scores of annotators, or None if no item has several references.
    sweeps
        Values over a range of a parameter, such as ``collar=[1, 3, 5]``.
    parts
        Parts of the result that only the task of the run has.
    spread
        Values of single cases by system and value name; a fixed sample of cases if there are many.
        Undefined values are NaN.
    spread_items
        Items of these cases by system, in the order of the values.
    shown
        Example items: those of ``show``, and those of the worst cases.
    skipped, emptied
        Cases that were skipped, or scored with an empty output, with the reason.
    worst
        The worst cases of every system by the value ``worst_by``, worst first.
    worst_by
        Name of the value by which the worst cases were chosen.
    samples
        Values of every case, or None unless ``samples=True`` was passed.
    notes
        Remarks about the input and the result.
    task
        Name of the task, whose sections show the example items.
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
    spread_items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shown: tuple[ExampleItem, ...] = ()
    skipped: tuple[FaultyCase, ...] = ()
    emptied: tuple[FaultyCase, ...] = ()
    worst: tuple[CaseValues, ...] = ()
    worst_by: str = ""
    samples: SampleValues | None = None
    notes: tuple[str, ...] = ()
    task: str = ""

    @property
    def values(self) -> dict[str, Value]:
        """All values of the metrics, by name."""
        return {value.name: value for values in self.families.values() for value in values}

    def part(self, name: str) -> Any:
        """Return the part of the result with this name in JSON, or None."""
        return next((part for part in self.parts if part.name == name), None)


# --- Results of a comparison ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GroupContrasts:
    """Contrasts on the items of one group; p is corrected across all groups and pairs.

    Attributes
    ----------
    field, group
        Field and group, such as ``"snr"`` and ``"0 to 10"``.
    items
        Number of items of the group that every system has an output for.
    contrasts
        One contrast per value and pair of systems.
    """

    field: str
    group: str
    items: int
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Result):
    """Result of ``compare``: contrasts of all pairs of systems on their common items.

    Attributes
    ----------
    signature
        Signature of the scores, with the settings of the test.
    scores
        Scores of every system on all items that it has an output for.
    items
        Number of items that every system has an output for.
    alpha
        Significance level.
    values
        Names of the compared values.
    systems
        Estimates by system and value name, on the common items.
    contrasts
        One contrast per value and pair of systems.
    groups
        Contrasts within the groups of the fields of ``by``.
    permutations
        Number of permutations of a test, if not all are used.
    """

    signature: str
    scores: Scores
    items: int
    alpha: float
    values: tuple[str, ...]
    systems: Mapping[str, Mapping[str, Estimate]]
    contrasts: tuple[Contrast, ...]
    groups: tuple[GroupContrasts, ...] = ()
    permutations: int = 10_000


# --- Selection of values -------------------------------------------------------------------------


def find_values(values: Sequence[Value], names: Sequence[str] | str | None) -> list[str]:
    """Return the full names of values.

    Parameters
    ----------
    values
        All values of a run.
    names
        Names of values. A value that was computed with several parameters, such as
        ``collar_f1@1.0`` and ``collar_f1@3.0``, is selected by its full name, or by ``collar_f1``
        together with its variants.

    Returns
    -------
    list of str
        Each selected value once; empty if there are no names.

    Raises
    ------
    UsageError
        If there is no value of this name.
    """
    known = [value.name for value in values]
    selected: list[str] = []
    for name in [names] if isinstance(names, str) else names or ():
        variants = [full for full in known if name in (full, full.partition("@")[0])]
        if not variants:
            raise UsageError(f'unknown value "{name}" — {nearest(name, known)}')
        selected += variants
    return list(dict.fromkeys(selected))


def first_ranked(values: Sequence[Value], names: Sequence[str]) -> str | None:
    """Return the first of these values that has a better end, or None."""
    ranked = {value.name for value in values if value.best != "none"}
    return next((name for name in names if name in ranked), None)


def select_values(scores: Scores, names: Sequence[str]) -> Scores:
    """Return scores with only these values.

    Parameters
    ----------
    scores
        Scores with all values.
    names
        Full names of values; if there are none, all values are kept. The value that ranks the
        worst samples is kept as well.

    Returns
    -------
    Scores
        The same scores, without the other values. Parts of a task are not changed.
    """
    if not names:
        return scores
    kept = {*names, *([scores.worst_by] if scores.worst else [])}
    people = scores.people
    if people is not None:
        people = replace(
            people,
            ceiling=_select({"": people.ceiling}, kept)[""],
            systems=_select(people.systems, kept),
            annotators=_select(people.annotators, kept),
        )
    families = {
        signature: tuple(value for value in values if value.name in kept)
        for signature, values in scores.families.items()
    }
    return replace(
        scores,
        families={signature: values for signature, values in families.items() if values},
        headlines=tuple(names),
        systems=_select(scores.systems, kept),
        slices=tuple(
            replace(
                part,
                groups={group: _select(systems, kept) for group, systems in part.groups.items()},
            )
            for part in scores.slices
        ),
        people=people,
        sweeps=tuple(
            sweep for sweep in scores.sweeps if all(name in kept for _, name in sweep.points)
        ),
        worst=tuple(
            replace(case, values={n: value for n, value in case.values.items() if n in kept})
            for case in scores.worst
        ),
        samples=None if scores.samples is None else scores.samples.select(kept),
    )


def _select(systems: Mapping[str, Estimates], kept: set[str]) -> dict[str, Estimates]:
    return {
        system: {name: estimate for name, estimate in estimates.items() if name in kept}
        for system, estimates in systems.items()
    }
