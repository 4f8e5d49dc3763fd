"""Base classes of summary metrics: all references at once, all cases of an item, or pairs."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import ClassVar

import numpy as np

from earwitness.core import Case, Summary
from earwitness.metric import CaseList, Metric, PairMetric, ReferenceViews, ratio
from earwitness.stats.arrays import Bools, Floats
from earwitness.summaries.network import ItemCases


@dataclass(frozen=True)
class SummaryMetric(Metric):
    """Base class of metrics that use all reference summaries of an item at once."""

    task = "summaries"
    needs: ClassVar[str] = "positions"  # or text: what summaries must have
    width: ClassVar[int]

    @abstractmethod
    def statistics(self, case: Case) -> Sequence[float] | Floats:
        """A row of ``width`` statistics."""

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        rows = [self.statistics(case) for case in CaseList.of(cases)]
        return np.array(rows, np.float64).reshape(-1, self.width)


@dataclass(frozen=True)
class SummaryItems(SummaryMetric):
    """Base class of metrics that measure all cases of an item at once."""

    @abstractmethod
    def measure_items(
        self,
        items: Sequence[ItemCases],
        rows: Floats,
        case: Callable[[int], Case],
        names: Collection[str] = (),
    ) -> None:
        """Fill the rows of all cases of the items; ``case`` returns the case of a row.

        ``names`` are the values that are needed, by default all.
        """

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        listed = CaseList.of(cases)
        rows = np.zeros((len(listed), self.width))
        self.measure_items(ItemCases.group(listed), rows, listed.__getitem__)
        return rows

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> ReferenceViews:
        listed = CaseList.of(cases)
        counts = np.where(listed.counts > 1, listed.counts, 0)
        starts = np.cumsum(counts) - counts
        rows = np.zeros((int(counts.sum()), self.width))

        def smaller(row: int) -> Case:
            number = int(np.searchsorted(starts, row, "right")) - 1
            people, left = listed[number].references, int(counts[number] + starts[number]) - 1 - row
            return replace(listed[number], references=people[:left] + people[left + 1 :])

        items, whole = ItemCases.group(listed), np.zeros((len(listed), self.width))
        self.measure_items(items, whole, listed.__getitem__)
        fewer = [item.left_out(starts.tolist()) for item in items]
        self.measure_items([item for item in fewer if item.rows], rows, smaller)
        alone = self.measure_many(listed.each() if each else [])
        return ReferenceViews(whole, alone, self.pool(rows, counts[counts > 1]))

    def measure_subsets(
        self, cases: Sequence[Case], subsets: Bools, names: Collection[str] = ()
    ) -> Floats:
        """Compute the statistics of all subsets from one table of who kept which words."""
        listed = CaseList.of(cases)
        rows = np.zeros((len(subsets) * len(listed), self.width))

        def smaller(row: int) -> Case:
            subset, number = divmod(row, len(listed))
            people = compress(listed[number].references, subsets[subset])
            return replace(listed[number], references=tuple(people))

        self.measure_items(ItemCases.of_subsets(listed, subsets), rows, smaller, names)
        return rows.reshape(len(subsets), len(listed), self.width)


@dataclass(frozen=True)
class SummaryPairs(PairMetric):
    """Base class of metrics that use one reference summary at a time."""

    task = "summaries"
    needs: ClassVar[str] = "positions"  # or "text": what summaries must have
    width: ClassVar[int]

    def pair(self, case: Case) -> Sequence[float]:
        """A row of ``width`` statistics; metrics define this or ``measure_pairs``."""
        return [float(number) for number in self.measure_pairs(CaseList([case]))[0]]

    def columns(self, cases: Sequence[Case]) -> CaseList:
        return CaseList.of(cases)

    def measure_pairs(self, pairs: CaseList) -> Floats:
        return np.array(list(map(self.pair, pairs)), np.float64).reshape(-1, self.width)

    def same(self, pairs: CaseList) -> Bools:
        return np.array([case.output == case.references[0] for case in pairs], np.bool_)


def quotients(*pairs: tuple[Floats, Floats]) -> Floats:
    """Return quotients along a new last axis; NaN where the divisor is 0."""
    return np.stack([ratio(top, bottom, np.nan) for top, bottom in pairs], axis=-1)


def list_empty_cells(output_empty: str) -> dict[str, str]:
    """Return what metrics do without words: reference summaries must have some."""
    refusal = "error: a reference summary must have words"
    return {"both empty": refusal, "output empty": output_empty, "reference empty": refusal}


def positions(summary: Summary) -> tuple[int, ...]:
    """Return the positions of the words of a summary."""
    assert summary.positions is not None, "the metric needs positions"
    return summary.positions
