"""How well people do: every annotator in turn against the others of the same item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from earwitness.api.collect import Hashes, Tally
from earwitness.api.family import Families, Floats
from earwitness.data import Cases, Estimate, Map
from earwitness.formats.references import References

PORTION = 500  # items that a worker takes at a time
MOST = 50  # annotators that are listed by name


class Portion(NamedTuple):
    """Items with several references, and who made these."""

    cases: Cases
    hashes: Hashes
    names: list[str]


class Answers(NamedTuple):
    """Statistics of items, each the mean over its annotators, and of every annotator."""

    hashes: Hashes
    items: list[Floats]
    row_hashes: Hashes
    rows: list[Floats]
    names: list[str]


@dataclass(frozen=True)
class MeasurePeople:
    """Measure every reference against the others of its item."""

    families: Families

    def __call__(self, portion: Portion) -> Answers:
        people, chosen = portion.cases.people()
        rows = self.families.measure(people)
        counts = portion.cases.counts
        items = self.families.pool(rows, counts)
        names = [portion.names[reference] for reference in chosen.tolist()]
        return Answers(portion.hashes, items, np.repeat(portion.hashes, counts), rows, names)


@dataclass
class PeopleTally:
    """Collects how well people do."""

    ceiling: Tally
    annotators: Tally
    _many: bool = field(default=False)

    def read(self, references: References, map_: Map) -> None:
        """Measure all items that have several references."""
        several = np.flatnonzero(references.cases.counts > 1)
        work = MeasurePeople(self.ceiling.families)
        for answers in map_(work, _portions(references, several)) if len(several) else ():
            ours = np.zeros(len(answers.hashes), np.int64)
            self.ceiling.add(["people"], ours, answers.hashes, answers.items)
            self._by_name(answers)

    def _by_name(self, answers: Answers) -> None:
        if self._many:
            return
        names = sorted(set(answers.names))
        codes = np.array([names.index(name) for name in answers.names], np.int64)
        self.annotators.add(names, codes, answers.row_hashes, answers.rows)
        if len(self.annotators.systems) > MOST:
            self._many = True
            self.annotators.systems.clear()

    def estimates(self, level: float) -> dict[str, Estimate]:
        """The ceiling."""
        return self.ceiling.estimates(level)["people"]


def _portions(references: References, several: np.typing.NDArray[np.int64]) -> Iterator[Portion]:
    for start in range(0, len(several), PORTION):
        rows = several[start : start + PORTION]
        names = [name for row in rows.tolist() for name in references.annotators[row]]
        yield Portion(references.cases.take(rows), references.hashes[rows], names)
