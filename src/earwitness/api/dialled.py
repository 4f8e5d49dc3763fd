"""Outputs of one method with several z: the course from TC to SD of every item, and their means.

Of a case no more is kept than its item's hash, method, z, TC and SD. Lines may come in any order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from earwitness.api.collect import Hashes, Ints, estimates_of
from earwitness.api.family import Families, Floats
from earwitness.api.measure import Measured
from earwitness.data import CoursePoint, Estimate, MeanCourse
from earwitness.metrics.means import mean_statistics, mean_values
from earwitness.stats import Bootstrap
from earwitness.stats.skims.curve import FEWEST, Along, along_z


class Rows(NamedTuple):
    """Cases of a method: the hash of the item, z, and TC and SD, as often as there are metrics."""

    hashes: Hashes
    z: Floats
    values: Floats

    def items(self) -> list[Rows]:
        """Those of each item, where they are in the order of items."""
        starts = np.flatnonzero(np.diff(self.hashes)) + 1
        return [Rows(*parts) for parts in zip(*(np.split(x, starts) for x in self), strict=True)]

    def by(self, metric: int) -> Rows:
        """With TC and SD of one metric."""
        return self._replace(values=self.values[:, 2 * metric : 2 * metric + 2])

    @property
    def different(self) -> int:
        """How many z there are."""
        return len(np.unique(self.z))


@dataclass
class Dialled:
    """Takes cases block by block."""

    families: Families
    draws: int
    seed: int
    limit: int
    bad: int = 0
    _methods: dict[str, list[Rows]] = field(default_factory=dict)

    def add(self, measured: Measured, codes: Ints, values: Floats) -> None:
        """Cases that have a dial, but for those whose code is -1."""
        if not measured.dials:
            return
        groups: dict[str, list[tuple[int, float]]] = {}
        for place, dial in enumerate(measured.dials):
            if dial is None or codes[place] < 0:
                continue
            if np.isnan(dial.z):
                self.bad += 1
            else:
                groups.setdefault(dial.method, []).append((place, dial.z))
        known = values[:, [column for pair in self._pairs.values() for column in pair]]
        for method, found in groups.items():
            index = np.array([place for place, _ in found])
            z = np.array([z for _, z in found], np.float64)
            rows = Rows(measured.hashes[index], z, known[index])
            self._methods.setdefault(method, []).append(rows)

    @property
    def _pairs(self) -> dict[str, tuple[int, int]]:
        """The columns of TC and SD of every metric that has them."""
        found, before = {}, 0
        for metric in self.families.metrics:
            names = [value.name for value in metric.values]
            if {"tc", "sd"} <= {*names}:
                found[metric.signature] = before + names.index("tc"), before + names.index("sd")
            before += len(names)
        return found

    def _sorted(self) -> Iterator[tuple[str, Rows]]:
        """All cases of each method, in the order of items and z."""
        for method, blocks in sorted(self._methods.items()):
            rows = Rows(*map(np.concatenate, zip(*blocks, strict=True)))
            order = np.lexsort((*rows.values.T, rows.z, rows.hashes))
            yield method, Rows(rows.hashes[order], rows.z[order], rows.values[order])

    def courses(self, level: float) -> tuple[MeanCourse, ...]:
        """Of methods that have three z and more for at least one item."""
        return tuple(
            self._course(family, method, rows.by(metric), level)
            for metric, family in enumerate(self._pairs)
            for method, rows in self._sorted()
            if _most(rows) >= FEWEST
        )

    def _course(self, family: str, method: str, rows: Rows, level: float) -> MeanCourse:
        items = rows.items()
        table = np.array([along_z(one.z, *one.values.T) for one in items])
        hashes = np.array([one.hashes[0] for one in items])
        estimates = self._means(Along._fields, hashes, table, level)
        whole = np.repeat(~np.isnan(table[:, 0]), [len(one.z) for one in items])
        drawn = Rows(rows.hashes[whole], rows.z[whole], rows.values[whole])
        return MeanCourse(family, method, estimates, tuple(self._points(drawn, level)))

    def _points(self, rows: Rows, level: float) -> Iterator[CoursePoint]:
        for z in np.unique(rows.z):
            here = rows.z == z
            found = self._means(("tc", "sd"), rows.hashes[here], rows.values[here], level)
            yield CoursePoint(float(z), found["tc"], found["sd"])

    def _means(
        self, names: Sequence[str], hashes: Hashes, table: Floats, level: float
    ) -> dict[str, Estimate]:
        """Means over items, with the bootstrap that all estimates have."""
        bootstrap = Bootstrap(self.draws, self.seed, self.limit)
        bootstrap.add(hashes, mean_statistics(table))
        total, draws, method = bootstrap.finish()
        undefined = np.isnan(table).sum(axis=0)
        counts = len(table) - undefined, undefined
        return estimates_of(names, mean_values(total), mean_values(draws), counts, level, method)

    def notes(self) -> Iterator[str]:
        """What is odd about z."""
        if self.bad:
            one = self.bad == 1
            outputs = "output has" if one else "outputs have"
            told = f"{self.bad:,} {outputs} a z in meta that is no number from 0 to 1"
            yield f"{told}: no curve over z has {'it' if one else 'them'}"
        known = list(self._sorted())
        for method, rows in known:
            twice = sum(one.different < len(one.z) for one in rows.items())
            if twice:
                items = "item, which has" if twice == 1 else "items, which have"
                told = f'method "{method}" has a z twice for {twice:,} {items} no curve'
                yield f"{told} — tell methods apart in meta"
        different = {float(z) for _, rows in known for z in rows.z}
        if len(different) >= FEWEST and all(_most(rows) < FEWEST for _, rows in known):
            told = "no method has three z for an item, so that there is no curve over z"
            yield f"{told} — name the method in meta"


def _most(rows: Rows) -> int:
    """How many z the item has that has most."""
    return max(one.different for one in rows.items())
