"""Everything that is kept of measured cases: whole, by group, left out, drawn and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from earwitness.api.collect import Ints, Tally, Worst
from earwitness.api.dialled import Dialled
from earwitness.api.family import Families
from earwitness.api.fewer import Fewer
from earwitness.api.measure import Measured
from earwitness.api.pictures import Gallery, Spread
from earwitness.data import Key, Slice
from earwitness.errors import UsageError, nearest
from earwitness.formats.alignments import AlignmentFile
from earwitness.formats.samples import SampleTable
from earwitness.formats.slices import MISSING, NO_NUMBER, Slicing

MOST_GROUPS = 50
ANNOTATOR = "annotator"


@dataclass
class Collected:
    """Takes cases block by block."""

    families: Families
    draws: int
    seed: int
    limit: int
    worst: Worst
    by: tuple[Slicing, ...] = ()
    show: tuple[str, ...] = ()
    table: SampleTable | None = None
    alignments: AlignmentFile | None = None
    groups: dict[Slicing, dict[str, Tally]] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    cases: int = 0
    fewer: Fewer = field(default_factory=Fewer)

    def __post_init__(self) -> None:
        self.whole, self.left_out = self.tally(), self.tally()
        self.spread = Spread(self.families)
        self.gallery = Gallery(self.families, self.show)
        self.dialled = Dialled(self.families, self.draws, self.seed, self.limit)
        self.groups = {slicing: {} for slicing in self.by}

    @property
    def by_meta(self) -> tuple[Slicing, ...]:
        """Slices by what records say of themselves."""
        return tuple(slicing for slicing in self.by if slicing.field != ANNOTATOR)

    @property
    def by_annotator(self) -> Slicing | None:
        """The slice by who made the reference, if it is wanted."""
        return next((slicing for slicing in self.by if slicing.field == ANNOTATOR), None)

    @property
    def pictured(self) -> bool:
        """Whether cases themselves are needed."""
        return bool(self.show or self.worst.count)

    def tally(self) -> Tally:
        """An empty one."""
        return Tally(self.families, self.draws, self.seed, self.limit)

    def add(
        self, measured: Measured, names: Sequence[str], codes: Ints, *, baseline: bool = False
    ) -> None:
        """Cases whose code is the index of their system's name; -1 is left out.

        A baseline is never among the worst.
        """
        values = self.whole.add(names, codes, measured.hashes, measured.statistics)
        self._slice(measured, names, codes)
        if (more := measured.left_out) is not None:
            self.left_out.add(names, codes[more.case], measured.hashes[more.case], more.statistics)
        self.spread.add(names, codes, measured.hashes, values)
        self.dialled.add(measured, codes, values)
        index = np.flatnonzero(codes >= 0)
        self.cases += len(index)
        if self.table is None and self.alignments is None and not self.pictured:
            return
        keys = [Key(measured.items[i], measured.systems[i]) for i in index]
        if not baseline:
            self.worst.add(keys, values[index])
        if self.table is not None:
            self.table.write(keys, values[index].tolist(), (self.fewer.most, 0))
            for one in measured.fewer:
                self.table.write(keys, one.values[index].tolist(), (one.references, one.draw))
        if self.alignments is not None:
            self.alignments.write(keys, [measured.alignments[i] for i in index])
        if measured.cases is not None:
            audio = {
                key.item: measured.audio[key.item] for key in keys if key.item in measured.audio
            }
            self.gallery.add(measured.cases, index, values, audio)
            self.gallery.prune(self.worst.items)

    def _slice(self, measured: Measured, names: Sequence[str], codes: Ints) -> None:
        self.known |= measured.labels.known
        for slicing, labels in zip(self.by_meta, measured.labels.columns, strict=False):
            for label, mine in self._labelled(slicing, labels, codes):
                self._group(slicing, label).add(names, mine, measured.hashes, measured.statistics)
        if (more := measured.each) is not None and self.by_annotator is not None:
            hashes = measured.hashes[more.case]
            for label, mine in self._labelled(self.by_annotator, more.labels, codes[more.case]):
                self._group(self.by_annotator, label).add(names, mine, hashes, more.statistics)

    @staticmethod
    def _labelled(slicing: Slicing, labels: Sequence[str], codes: Ints) -> list[tuple[str, Ints]]:
        """For every label the codes of its cases, and -1 for all others."""
        distinct = sorted(set(labels), key=slicing.order)
        place = {label: index for index, label in enumerate(distinct)}
        which = np.array([place[label] for label in labels], np.int64)
        found = [(label, np.where(which == i, codes, -1)) for label, i in place.items()]
        return [(label, mine) for label, mine in found if (mine >= 0).any()]

    def _group(self, slicing: Slicing, label: str) -> Tally:
        groups = self.groups[slicing]
        if label not in groups:
            if len(groups) == MOST_GROUPS:
                remedy = f" — cut numbers into ranges, as in {slicing.field}:10,20"
                told = f'by "{slicing.field}": more than {MOST_GROUPS} groups'
                raise UsageError(told + remedy * (slicing.field != ANNOTATOR))
            groups[label] = self.tally()
        return groups[label]

    def sorted_groups(self) -> list[tuple[str, list[tuple[str, Tally]]]]:
        """For every field its groups in order; refused if no case has the field."""
        found = []
        for slicing, groups in self.groups.items():
            filled = {label: tally for label, tally in groups.items() if tally.systems}
            if not filled or filled.keys() == {MISSING}:
                if slicing.field == ANNOTATOR:
                    raise UsageError("by annotator: needs a references file")
                remedy = nearest(slicing.field, {*self.known, ANNOTATOR})
                raise UsageError(f'by: no case has a field "{slicing.field}" — {remedy}')
            if filled.keys() <= {MISSING, NO_NUMBER}:
                raise UsageError(f'by: no case has a number in "{slicing.field}" to cut')
            ordered = sorted(filled.items(), key=lambda pair: slicing.order(pair[0]))
            found.append((slicing.field, ordered))
        return found

    def slices(self, level: float) -> tuple[Slice, ...]:
        """Estimates of every group."""
        return tuple(
            Slice(name, {label: tally.estimates(level) for label, tally in groups})
            for name, groups in self.sorted_groups()
        )
