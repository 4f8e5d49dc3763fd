"""Sums per system, and scores of annotators against one another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Cases, Estimate, Key, Map
from earwitness.metric_set import MetricSet
from earwitness.scoring.join import References
from earwitness.stats.arrays import Floats, Hashes, Ints
from earwitness.stats.bootstrap import Bootstrap, bootstrap_estimates
from earwitness.task import CollectorSettings

# --- Tallies per system --------------------------------------------------------------------------


@dataclass
class SystemScores:
    """Statistics of the cases of one system."""

    metrics: MetricSet
    bootstrap: Bootstrap
    undefined: NDArray[np.int64]
    cuts: list[int] = field(default_factory=list)
    items: int = 0

    def add(self, hashes: Hashes, statistics: Sequence[Floats], values: Floats) -> None:
        """Add cases with their statistics and values."""
        self.cuts = np.cumsum([table.shape[1] for table in statistics])[:-1].tolist()
        self.bootstrap.add(hashes, np.concatenate(statistics, axis=1))
        self.items ^= int(np.bitwise_xor.reduce(hashes))  # the same for the same set of items
        self.undefined += np.isnan(values).sum(axis=0)

    def estimates(self, level: float) -> dict[str, Estimate]:
        """Return an estimate for every value."""
        resampled = self.bootstrap.finish()
        total = self.metrics.score(np.split(resampled.total, self.cuts))
        draws = self.metrics.score(np.split(resampled.draws, self.cuts, axis=1))
        names = self.metrics.value_names
        counts = self.bootstrap.count - self.undefined, self.undefined
        return bootstrap_estimates(names, total, draws, counts, level, resampled.method)


@dataclass
class Tally:
    """Statistics of the cases of all systems."""

    settings: CollectorSettings
    systems: dict[str, SystemScores] = field(default_factory=dict)

    def add(
        self,
        names: Sequence[str],
        codes: Ints,
        hashes: Hashes,
        statistics: Sequence[Floats],
        values: Floats | None = None,
    ) -> None:
        """Add cases; a code is the index of a system in ``names``, or -1 to leave out the case.

        ``values`` are the values of the statistics, if already known.
        """
        settings = self.settings
        if values is None:
            values = settings.metrics.score(statistics)
        for code, name in enumerate(names):
            index = np.flatnonzero(codes == code)
            if not len(index):
                continue
            rows = [table[index] for table in statistics]
            if name not in self.systems:
                bootstrap = Bootstrap(settings.draws, settings.seed, settings.limit)
                undefined = np.zeros(values.shape[1], np.int64)
                self.systems[name] = SystemScores(settings.metrics, bootstrap, undefined)
            self.systems[name].add(hashes[index], rows, values[index])

    def estimates(self, level: float) -> dict[str, dict[str, Estimate]]:
        """Return the estimates of every system, by name."""
        return {name: self.systems[name].estimates(level) for name in sorted(self.systems)}

    @property
    def items(self) -> int:
        """Number of items of the system that has most."""
        return max(system.bootstrap.count for system in self.systems.values())


# --- Annotators against one another --------------------------------------------------------------


ITEMS_PER_JOB = 500  # items per job of a worker
MAX_LISTED_ANNOTATORS = 50  # number of annotators up to which they are listed by name


class AnnotatedItems(NamedTuple):
    """Items with several references, and the names of their annotators."""

    cases: Cases
    hashes: Hashes
    names: list[str]


class AnnotatorStatistics(NamedTuple):
    """Statistics of items (means over annotators) and of every annotator.

    A key of ``keys`` has the item and, as its system, the annotator.
    """

    hashes: Hashes
    items: list[Floats]
    row_hashes: Hashes
    rows: list[Floats]
    keys: list[Key]


@dataclass(frozen=True)
class MeasurePeople:
    """Measure every reference against the others of its item."""

    metrics: MetricSet

    def __call__(self, portion: AnnotatedItems) -> AnnotatorStatistics:
        people, chosen = portion.cases.people()
        rows = self.metrics.measure(people)
        counts = portion.cases.counts
        items = self.metrics.pool(rows, counts)
        names = [portion.names[reference] for reference in chosen.tolist()]
        keys = [Key(item, name) for item, name in zip(people.items, names, strict=True)]
        return AnnotatorStatistics(
            portion.hashes, items, np.repeat(portion.hashes, counts), rows, keys
        )


class SampleWriter(Protocol):
    """A table of values per case, in a file or in memory."""

    def write(self, keys: Sequence[Key], values: Sequence[Sequence[float]]) -> None:
        """Add cases with their values."""


@dataclass
class PeopleTally:
    """Scores of annotators against the other annotators of the same item.

    ``samples`` takes the values of every annotator and item.
    """

    ceiling: Tally
    annotators: Tally
    samples: SampleWriter | None = None
    _many: bool = field(default=False)

    def read(self, references: References, map_: Map) -> None:
        """Measure all items that have several references."""
        several = np.flatnonzero(references.cases.counts > 1)
        work = MeasurePeople(self.ceiling.settings.metrics)
        for answers in map_(work, _portions(references, several)) if len(several) else ():
            ours = np.zeros(len(answers.hashes), np.int64)
            self.ceiling.add(["people"], ours, answers.hashes, answers.items)
            if not self._many:
                names = sorted({key.system for key in answers.keys})
                codes = np.array([names.index(key.system) for key in answers.keys], np.int64)
                self.annotators.add(names, codes, answers.row_hashes, answers.rows)
                if len(self.annotators.systems) > MAX_LISTED_ANNOTATORS:
                    self._many = True
                    self.annotators.systems.clear()
            if self.samples is not None:
                values = self.ceiling.settings.metrics.score(answers.rows)
                self.samples.write(answers.keys, values.tolist())

    def estimates(self, level: float) -> dict[str, Estimate]:
        """Return the estimates of the human ceiling."""
        return self.ceiling.estimates(level)["people"]


def _portions(
    references: References, several: np.typing.NDArray[np.int64]
) -> Iterator[AnnotatedItems]:
    for start in range(0, len(several), ITEMS_PER_JOB):
        rows = several[start : start + ITEMS_PER_JOB]
        names = [name for row in rows.tolist() for name in references.annotators[row]]
        yield AnnotatedItems(references.cases.take(rows), references.hashes[rows], names)
