"""What all chapter metrics share: one reference at a time, then all of an item together.

A metric compares an output with one reference. Where an item has several, its statistics are the
mean over them, or those of the reference that it agrees with best (by the family's headline; the
first among equals). Boundaries near the edges of a recording may be left out on both sides.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from earwitness.data import Case
from earwitness.metrics.base import Floats, Metric, Views, at_least, one_of
from earwitness.metrics.means import mean_statistics, mean_values
from earwitness.timeline import ChapterCases
from earwitness.timeline.ragged import Ints, bounds

EDGE = {"help": "boundaries this close to start or end count on neither side, in seconds"}
AGAINST = {
    "help": "of several references of an item: the mean over all, or the best",
    "choices": ("mean", "best"),
}


@dataclass(frozen=True)
class ChapterMetric(Metric):
    """A family of chapter values; an edge of 0 leaves every boundary where its metric wants it."""

    edge: float = field(default=0.0, kw_only=True, metadata=EDGE)
    against: str = field(default="mean", kw_only=True, metadata=AGAINST)

    def __post_init__(self) -> None:
        object.__setattr__(self, "edge", at_least(0, "edge", self.edge))
        one_of(AGAINST["choices"], "against", self.against)

    @abstractmethod
    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Statistics of outputs, each beside one reference."""

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Statistics of outputs beside all of their references."""
        columns = ChapterCases.of(cases)
        return self._whole(self._each(columns), columns)

    def measure_views(self, cases: Sequence[Case]) -> Views:
        """Every pair is measured once, whatever is made of it."""
        columns = ChapterCases.of(cases)
        each, counts = self._each(columns), columns.counts
        several = np.repeat(counts > 1, counts)
        left_out = self._left_out(each[several], counts[counts > 1])
        return Views(self._whole(each, columns), each, left_out)

    def _each(self, columns: ChapterCases) -> Floats:
        return self.measure_pairs(columns.each().without_edges(self.edge))

    def _whole(self, each: Floats, columns: ChapterCases) -> Floats:
        if columns.spans is None:
            return each
        if self.against == "mean":
            return _means(each, columns.counts)
        return np.asarray(each[self._ranked(each, columns.counts)[columns.spans[:-1]]])

    def _left_out(self, each: Floats, counts: Ints) -> Floats:
        if self.against == "mean":
            return _means(each, counts)
        first = bounds(counts)[:-1]
        ranked = self._ranked(each, counts)
        best, second = each[ranked[first]], each[ranked[first + 1]]
        many = counts[:, None]  # the second best counts when the best is left out
        return np.asarray(((many - 1) * best + second) / many)

    def _ranked(self, statistics: Floats, counts: Ints) -> Ints:
        """Rows case by case, the best reference first, undefined ones last."""
        column = [value.name for value in self.values].index(self.headline)
        sign = 1 if self.values[column].best == "high" else -1
        goodness = np.nan_to_num(sign * self.score(statistics)[:, column], nan=-np.inf)
        return np.lexsort((-goodness, np.repeat(np.arange(len(counts)), counts)))


@dataclass(frozen=True)
class ChapterMeans(ChapterMetric):
    """Subclasses say what each value of a pair is; NaN leaves it out of that value's mean."""

    @abstractmethod
    def pair_values(self, pairs: ChapterCases) -> Floats:
        """A row a pair, a column a value."""

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        return mean_statistics(self.pair_values(pairs))

    def score(self, statistics: Floats) -> Floats:
        return mean_values(statistics)


def _means(statistics: Floats, counts: Ints) -> Floats:
    sums: Floats = np.add.reduceat(statistics, bounds(counts)[:-1], axis=0)
    return sums / counts[:, None]
