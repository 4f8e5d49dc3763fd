"""Collectors of every task: estimates, groups, left-out references, worst cases and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from earwitness.core import CaseValues, Estimates, Key, number_keys
from earwitness.errors import UsageError, nearest
from earwitness.metric_set import MetricSet
from earwitness.scoring.records import AlignmentFile, SampleTable
from earwitness.scoring.results import SampleValues, Slice
from earwitness.scoring.tally import SystemScores, Tally
from earwitness.stats.arrays import Floats, Ints
from earwitness.task import (
    MISSING_GROUP,
    NO_NUMBER_GROUP,
    Collector,
    CollectorSettings,
    ScoredBatch,
    Slicing,
)

# --- Estimates of systems ------------------------------------------------------------------------


class TallyCollector(Collector):
    """Estimates of systems."""

    def __init__(self, settings: CollectorSettings) -> None:
        self._tally = Tally(settings)

    def result(self, level: float) -> dict[str, Estimates]:
        """Estimates by system."""
        return {**self._tally.estimates(level)}


class OverallScores(TallyCollector):
    """Estimates of every system over all of its cases."""

    @property
    def systems(self) -> dict[str, SystemScores]:
        """Statistics of each system."""
        return self._tally.systems

    def add(self, batch: ScoredBatch) -> None:
        """Add the cases of a batch."""
        measured = batch.measured
        self._tally.add(
            batch.systems, batch.codes, measured.hashes, measured.statistics, batch.values
        )

    def notes(self) -> Iterator[str]:
        """Yield a note if systems were scored on different items."""
        if len({(scores.bootstrap.count, scores.items) for scores in self.systems.values()}) > 1:
            yield "not all systems were scored on the same items — compare them with care"


class LeftOutScores(TallyCollector):
    """Estimates over outputs with several references, with each reference left out in turn."""

    def add(self, batch: ScoredBatch) -> None:
        """Add the cases of a batch that have several references."""
        measured, left_out = batch.measured, batch.measured.left_out
        if left_out is not None:
            codes, hashes = batch.codes[left_out.case], measured.hashes[left_out.case]
            self._tally.add(batch.systems, codes, hashes, left_out.statistics)


# --- Groups by field -----------------------------------------------------------------------------


MAX_GROUPS = 50
ANNOTATOR_FIELD = "annotator"


def by_meta(slicings: Sequence[Slicing]) -> tuple[Slicing, ...]:
    """Return the slicings by fields of records."""
    return tuple(slicing for slicing in slicings if slicing.field != ANNOTATOR_FIELD)


def by_annotator(slicings: Sequence[Slicing]) -> Slicing | None:
    """Return the slicing by annotator, if requested."""
    return next((slicing for slicing in slicings if slicing.field == ANNOTATOR_FIELD), None)


@dataclass
class GroupScores(Collector):
    """Estimates within the groups of fields."""

    settings: CollectorSettings
    by: tuple[Slicing, ...] = ()
    field_names: set[str] = field(default_factory=set)  # of all cases

    def __post_init__(self) -> None:
        self._groups: dict[Slicing, dict[str, Tally]] = {slicing: {} for slicing in self.by}

    def add(self, batch: ScoredBatch) -> None:
        """Add cases to their groups, and references to the groups of their annotators."""
        measured, codes = batch.measured, batch.codes
        self.field_names |= measured.labels.field_names
        columns = zip(by_meta(self.by), measured.labels.columns, strict=False)
        for slicing, labels in columns:
            for label, members in _members(slicing, labels, codes):
                self._group(slicing, label).add(
                    batch.systems, members, measured.hashes, measured.statistics, batch.values
                )
        annotators, each = by_annotator(self.by), measured.each
        if each is not None and annotators is not None:
            hashes = measured.hashes[each.case]
            for label, members in _members(annotators, each.labels, codes[each.case]):
                self._group(annotators, label).add(batch.systems, members, hashes, each.statistics)

    def _group(self, slicing: Slicing, label: str) -> Tally:
        groups = self._groups[slicing]
        if label not in groups:
            if len(groups) == MAX_GROUPS:
                remedy = f" — cut numbers into ranges, as in {slicing.field}:10,20"
                message = f'by "{slicing.field}": more than {MAX_GROUPS} groups'
                raise UsageError(message + (remedy if slicing.field != ANNOTATOR_FIELD else ""))
            groups[label] = Tally(self.settings)
        return groups[label]

    def sorted_groups(self) -> list[tuple[str, list[tuple[str, Tally]]]]:
        """Return the sorted groups of every field; raise UsageError if no case has the field."""
        fields = []
        for slicing, groups in self._groups.items():
            filled = {label: tally for label, tally in groups.items() if tally.systems}
            if not filled or filled.keys() == {MISSING_GROUP}:
                if slicing.field == ANNOTATOR_FIELD:
                    raise UsageError("by annotator: requires a references file")
                remedy = nearest(slicing.field, {*self.field_names, ANNOTATOR_FIELD})
                raise UsageError(f'by: no item has a field "{slicing.field}" — {remedy}')
            if filled.keys() <= {MISSING_GROUP, NO_NUMBER_GROUP}:
                raise UsageError(f'by: no item has a number in "{slicing.field}"')
            ordered = sorted(filled.items(), key=lambda pair: slicing.order(pair[0]))
            fields.append((slicing.field, ordered))
        return fields

    def result(self, level: float) -> tuple[Slice, ...]:
        """Estimates of every group."""
        return tuple(
            Slice(name, {label: tally.estimates(level) for label, tally in groups})
            for name, groups in self.sorted_groups()
        )


def _members(slicing: Slicing, labels: Sequence[str], codes: Ints) -> Iterator[tuple[str, Ints]]:
    """Yield every label with the codes of its cases, and -1 for all other cases."""
    distinct = sorted(set(labels), key=slicing.order)
    place = number_keys(distinct)
    places = np.array([place[label] for label in labels], np.int64)
    for label, index in place.items():
        members = np.where(places == index, codes, -1)
        if (members >= 0).any():
            yield label, members


# --- Worst cases ---------------------------------------------------------------------------------


MAX_WORST_ITEMS = 20  # worst items that a report shows in detail


class WorstCases(Collector):
    """The cases with the worst values of every system so far; baselines are never among them."""

    def __init__(self, metrics: MetricSet, count: int, by: str) -> None:
        values = {value.name: (column, value) for column, value in enumerate(metrics.values)}
        if by not in values:
            raise UsageError(f'unknown value "{by}" — {nearest(by, values)}')
        self._column, value = values[by]
        if value.best == "none":
            raise UsageError(f'"{by}" has no better direction (high or low) — choose another value')
        self._sign = 1 if value.best == "high" else -1
        self._names, self.count, self.by = list(values), count, by
        self._kept: dict[str, list[tuple[float, Key, Floats]]] = {}

    def add(self, batch: ScoredBatch) -> None:
        """Keep the cases that are among the worst; equal cases are sorted by name."""
        if not self.count or batch.is_baseline:
            return
        for code, system in enumerate(batch.systems):
            places = np.flatnonzero(batch.codes == code)
            values = batch.values[places]
            goodness = self._sign * values[:, self._column]
            if np.isnan(goodness).all():
                continue
            last = np.sort(goodness)[: self.count]  # NaN is sorted last
            chosen = np.flatnonzero(goodness <= np.nanmax(last)).tolist()
            items = batch.measured.items
            new = [(float(goodness[i]), Key(items[places[i]], system), values[i]) for i in chosen]
            kept = [*self._kept.get(system, []), *new]
            self._kept[system] = sorted(kept, key=lambda one: one[:2])[: self.count]

    @property
    def all_items(self) -> list[str]:
        """The items of the worst cases without repetition: the worst of every system first."""
        ranked = zip_longest(*(self._kept[system] for system in sorted(self._kept)))
        cases = [case for cases in ranked for case in cases if case is not None]
        return list(dict.fromkeys(key.item for _, key, _ in cases))

    @property
    def items(self) -> list[str]:
        """The first of these items, which are shown in detail."""
        return self.all_items[: max(self.count, MAX_WORST_ITEMS)]

    def notes(self) -> Iterator[str]:
        """Yield a note if not all worst items are shown in detail."""
        count, shown = len(self.all_items), len(self.items)
        if shown < count:
            yield f"{shown:,} of the {count:,} items with the worst outputs are shown in detail"

    def reasons(self) -> dict[str, str]:
        """Return the reason for showing each of these items."""
        systems: dict[str, list[str]] = {}
        for system in sorted(self._kept):
            for _, key, _ in self._kept[system]:
                systems.setdefault(key.item, []).append(system)
        return {
            item: "; ".join(f"{name} is among the worst by {self.by}" for name in names)
            for item, names in systems.items()
        }

    def result(self, level: float) -> tuple[CaseValues, ...]:
        """Return the worst cases by system, worst first."""
        return tuple(
            CaseValues(key, dict(zip(self._names, row.tolist(), strict=True)))
            for system in sorted(self._kept)
            for _, key, row in self._kept[system]
        )


# --- Files with a row per case -------------------------------------------------------------------


@dataclass
class SampleRows(Collector):
    """Writer of the values of every case to the table of samples, or to the result."""

    table: SampleTable | SampleValues

    def add(self, batch: ScoredBatch) -> None:
        """Write cases with all of their references, then with every draw of fewer."""
        measured, counted = batch.measured, batch.counted
        rows = batch.values[counted].tolist()
        self.table.write(batch.keys, rows, (measured.most_references, 0))
        for drawn in measured.fewer:
            rows = drawn.values[counted].tolist()
            self.table.write(batch.keys, rows, (drawn.references, drawn.draw))


@dataclass
class AlignmentRows(Collector):
    """Writer of the word alignment of every case to the file of alignments."""

    file: AlignmentFile

    def add(self, batch: ScoredBatch) -> None:
        """Write cases."""
        alignments = batch.measured.alignments
        self.file.write(batch.keys, [alignments[place] for place in batch.counted.tolist()])
