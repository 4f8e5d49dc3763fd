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
from earwitness.metrics.means import mean_pool, mean_statistics, mean_values
from earwitness.timeline import ChapterCases
from earwitness.timeline.ragged import Bools, Ints, all_others, bounds, same_rows

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
        pairs = columns.each().without_edges(self.edge)
        each = self.measure_pairs(pairs)
        return self._whole(each, columns, self._goodness(each, pairs))

    def measure_views(self, cases: Sequence[Case]) -> Views:
        """Every pair is measured once, whatever is made of it."""
        columns = ChapterCases.of(cases)
        pairs, counts = columns.each().without_edges(self.edge), columns.counts
        each = self.measure_pairs(pairs)
        goodness = self._goodness(each, pairs)
        several = np.repeat(counts > 1, counts)
        left_out = self._left_out(each[several], counts[counts > 1], goodness[several])
        return Views(self._whole(each, columns, goodness), each, left_out)

    def _whole(self, each: Floats, columns: ChapterCases, goodness: Floats) -> Floats:
        if columns.spans is None:
            return each
        if self.against == "mean":
            return self.pool(each, columns.counts)
        return np.asarray(each[_ranked(goodness, columns.counts)[columns.spans[:-1]]])

    def _left_out(self, each: Floats, counts: Ints, goodness: Floats) -> Floats:
        """Without each reference in turn: rows of all choices, pooled."""
        first = bounds(counts)[:-1]
        if self.against == "mean":
            other, rest = all_others(counts)
            fewer = self.pool(each[other], rest)
            return self.pool(fewer, counts)
        ranked = _ranked(goodness, counts)
        best = np.repeat(each[ranked[first]], counts, axis=0)
        is_best = np.zeros(len(each), np.bool_)
        is_best[ranked[first]] = True  # the second best counts when the best is left out
        best[is_best] = each[ranked[first + 1]]
        return self.pool(best, counts)

    def _goodness(self, each: Floats, pairs: ChapterCases) -> Floats:
        """By the headline; undefined is worst, but for a pair that is the same on both sides."""
        if self.against != "best":
            return np.zeros(len(each))
        column = [value.name for value in self.values].index(self.headline)
        sign = 1 if self.values[column].best == "high" else -1
        goodness = sign * self.score(each)[:, column]
        open_ = np.isnan(goodness)
        goodness[open_] = np.where(self.same(pairs)[open_], np.inf, -np.inf)
        return np.asarray(goodness)

    def same(self, pairs: ChapterCases) -> Bools:
        """Where both sides say the same, though no value is defined."""
        return same_rows(*pairs.positive())


def _ranked(goodness: Floats, counts: Ints) -> Ints:
    """Rows case by case, the best reference first, the first among equals."""
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

    def pool(self, statistics: Floats, counts: Ints) -> Floats:
        return mean_pool(statistics, counts)
