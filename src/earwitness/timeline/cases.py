"""Cases of chapters as columns: kernels see arrays, and nobody builds a million objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import overload

import numpy as np

from earwitness.data import Case, Chapters, Item, Key
from earwitness.errors import NotYet
from earwitness.timeline.ragged import Floats, Ints, Ragged


@dataclass(frozen=True, slots=True)
class ChapterCases(Sequence[Case]):
    """A sequence of cases; one that is asked for is made on the spot."""

    items: Sequence[str]
    systems: Sequence[str]
    duration: Floats
    output: Ragged
    reference: Ragged

    @classmethod
    def of(cls, cases: Sequence[Case]) -> ChapterCases:
        """Cases as columns; columns stay as they are."""
        if isinstance(cases, ChapterCases):
            return cases
        if any(len(case.references) != 1 for case in cases):
            raise NotYet("chapters are scored against exactly one reference per item for now")
        return cls(
            [case.key.item for case in cases],
            [case.key.system for case in cases],
            np.array([case.item.duration for case in cases], np.float64),
            Ragged.of([case.output.boundaries for case in cases]),
            Ragged.of([case.references[0].boundaries for case in cases]),
        )

    def __len__(self) -> int:
        return len(self.duration)

    @overload
    def __getitem__(self, index: int) -> Case: ...

    @overload
    def __getitem__(self, index: slice) -> ChapterCases: ...

    def __getitem__(self, index: int | slice) -> Case | ChapterCases:
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        return Case(
            Key(self.items[index], self.systems[index]),
            Item(float(self.duration[index])),
            Chapters(tuple(self.output.row(index).tolist())),
            (Chapters(tuple(self.reference.row(index).tolist())),),
        )

    def without_edges(self, edge: float) -> ChapterCases:
        """Without boundaries at most ``edge`` from the start or the end; 0 changes nothing."""
        if not edge:
            return self

        def inner(side: Ragged) -> Ragged:
            stop = self.duration[side.rows] - edge
            return side.where((side.values > edge) & (side.values < stop))

        return replace(self, output=inner(self.output), reference=inner(self.reference))

    def positive(self) -> tuple[Ragged, Ragged]:
        """Output and reference without what lies at or before 0."""
        return (
            self.output.where(self.output.values > 0),
            self.reference.where(self.reference.values > 0),
        )

    def take(self, index: Ints) -> ChapterCases:
        """The cases of ``index``, in its order."""
        return ChapterCases(
            [self.items[i] for i in index],
            [self.systems[i] for i in index],
            self.duration[index],
            self.output.take(index),
            self.reference.take(index),
        )
