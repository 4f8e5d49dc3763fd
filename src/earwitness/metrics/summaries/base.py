"""What metrics of summaries share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Case, Summary
from earwitness.metrics.base import Floats, Metric
from earwitness.metrics.cases import CaseList
from earwitness.metrics.pairs import PairMetric
from earwitness.timeline.ragged import Bools


@dataclass(frozen=True)
class SummaryMetric(Metric):
    """A family that looks at all manual summaries of an item at once."""

    task = "summaries"
    width: ClassVar[int]

    @abstractmethod
    def statistics(self, case: Case) -> Sequence[float]:
        """A row of ``width`` statistics."""

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        rows = [self.statistics(case) for case in CaseList.of(cases)]
        return np.array(rows, np.float64).reshape(len(rows), self.width)


@dataclass(frozen=True)
class SummaryPairs(PairMetric):
    """A family that compares with one manual summary at a time."""

    task = "summaries"
    width: ClassVar[int]

    @abstractmethod
    def pair(self, case: Case) -> Sequence[float]:
        """A row of ``width`` statistics."""

    def columns(self, cases: Sequence[Case]) -> CaseList:
        return CaseList.of(cases)

    def measure_pairs(self, pairs: CaseList) -> Floats:
        rows = [self.pair(case) for case in pairs]
        return np.array(rows, np.float64).reshape(len(rows), self.width)

    def same(self, pairs: CaseList) -> Bools:
        return np.array([case.output == case.references[0] for case in pairs], np.bool_)


def positions(summary: Summary) -> tuple[int, ...]:
    """Where the words of a summary stand; it must have been read with them."""
    assert summary.positions is not None, "the metric needs positions"
    return summary.positions
