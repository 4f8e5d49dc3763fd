"""What all chapter metrics share: boundaries near the edges of a recording may be left out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from earwitness.data import Case
from earwitness.metrics.base import Floats, at_least
from earwitness.metrics.means import mean_pool, mean_statistics, mean_values
from earwitness.metrics.pairs import PairMetric
from earwitness.timeline import ChapterCases
from earwitness.timeline.ragged import Bools, Ints, same_rows

EDGE = {"help": "boundaries this close to start or end count on neither side, in seconds"}


@dataclass(frozen=True)
class ChapterMetric(PairMetric):
    """A family of chapter values; an edge of 0 leaves every boundary where its metric wants it."""

    edge: float = field(default=0.0, kw_only=True, metadata=EDGE)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "edge", at_least(0, "edge", self.edge))

    @abstractmethod
    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        """Statistics of outputs, each beside one reference."""

    def columns(self, cases: Sequence[Case]) -> ChapterCases:
        return ChapterCases.of(cases)

    def pairs(self, columns: ChapterCases) -> ChapterCases:
        return columns.each().without_edges(self.edge)

    def same(self, pairs: ChapterCases) -> Bools:
        return same_rows(*pairs.positive())


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
