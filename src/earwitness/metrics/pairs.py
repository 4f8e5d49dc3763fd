"""Metrics that compare with one reference at a time, then with all of an item together.

Where an item has several references, its statistics are the mean over them, or those of the
reference that it agrees with best (by the family's headline; the first among equals).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.data import Case, Cases
from earwitness.metrics.base import Floats, Metric, Views, one_of
from earwitness.timeline.ragged import Bools, Ints, all_others, bounds

AGAINST = {
    "help": "of several references of an item: the mean over all, or the best",
    "choices": ("mean", "best"),
}


@dataclass(frozen=True)
class PairMetric(Metric):
    """A family of values of pairs."""

    against: str = field(default="mean", kw_only=True, metadata=AGAINST)

    def __post_init__(self) -> None:
        one_of(AGAINST["choices"], "against", self.against)

    @abstractmethod
    def columns(self, cases: Sequence[Case]) -> Cases:
        """Cases in the way that the task keeps them."""

    @abstractmethod
    def measure_pairs(self, pairs: Any) -> Floats:
        """Statistics of outputs, each beside one reference."""

    def pairs(self, columns: Any) -> Any:
        """Every output beside every reference."""
        return columns.each()

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Statistics of outputs beside all of their references."""
        columns = self.columns(cases)
        pairs = self.pairs(columns)
        each = self.measure_pairs(pairs)
        return self._whole(each, columns, self._goodness(each, pairs))

    def measure_views(self, cases: Sequence[Case], *, each: bool = True) -> Views:
        """Every pair is measured once, whatever is made of it."""
        del each
        columns = self.columns(cases)
        pairs, counts = self.pairs(columns), columns.counts
        rows = self.measure_pairs(pairs)
        goodness = self._goodness(rows, pairs)
        several = np.repeat(counts > 1, counts)
        left_out = self._left_out(rows[several], counts[counts > 1], goodness[several])
        return Views(self._whole(rows, columns, goodness), rows, left_out)

    def _whole(self, each: Floats, columns: Cases, goodness: Floats) -> Floats:
        if not columns.several:
            return each
        if self.against == "mean":
            return self.pool(each, columns.counts)
        first = bounds(columns.counts)[:-1]
        return np.asarray(each[_ranked(goodness, columns.counts)[first]])

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

    def _goodness(self, each: Floats, pairs: Any) -> Floats:
        """By the headline; undefined is worst, but for a pair that is the same on both sides."""
        if self.against != "best":
            return np.zeros(len(each))
        column = [value.name for value in self.values].index(self.headline)
        sign = 1 if self.values[column].best == "high" else -1
        goodness = sign * self.score(each)[:, column]
        open_ = np.isnan(goodness)
        goodness[open_] = np.where(self.same(pairs)[open_], np.inf, -np.inf)
        return np.asarray(goodness)

    @abstractmethod
    def same(self, pairs: Any) -> Bools:
        """Where both sides say the same, though no value is defined."""


def _ranked(goodness: Floats, counts: NDArray[np.int64]) -> Ints:
    """Rows case by case, the best reference first, the first among equals."""
    return np.lexsort((-goodness, np.repeat(np.arange(len(counts)), counts)))
