"""Cases come in portions, estimates go out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness.api.family import Families, Floats
from earwitness.data import Estimate, Key, Sample
from earwitness.errors import UsageError, nearest
from earwitness.stats import FEWEST, Bootstrap, percentile_interval

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]


@dataclass
class SystemScores:
    """All that is kept of one system's cases."""

    families: Families
    bootstrap: Bootstrap
    undefined: NDArray[np.int64]
    cuts: list[int] = field(default_factory=list)
    items: int = 0

    def add(self, hashes: Hashes, statistics: Sequence[Floats], values: Floats) -> None:
        """Cases with their statistics and their own values."""
        self.cuts = np.cumsum([table.shape[1] for table in statistics])[:-1].tolist()
        self.bootstrap.add(hashes, np.concatenate(statistics, axis=1))
        self.items ^= int(np.bitwise_xor.reduce(hashes))  # the same for the same set of items
        self.undefined += np.isnan(values).sum(axis=0)

    def estimates(self, level: float) -> dict[str, Estimate]:
        """An estimate for every value."""
        resampled = self.bootstrap.finish()
        total = self.families.score(np.split(resampled.total, self.cuts))
        draws = self.families.score(np.split(resampled.draws, self.cuts, axis=1))
        names = [value.name for value in self.families.values]
        counts = self.bootstrap.count - self.undefined, self.undefined
        return estimates_of(names, total, draws, counts, level, resampled.method)


def estimates_of(
    names: Sequence[str],
    total: Floats,
    draws: Floats,
    counts: tuple[Ints, Ints],
    level: float,
    method: str,
) -> dict[str, Estimate]:
    """Values of all cases and of every draw, a column a name; counts of defined and undefined."""
    lows, highs = percentile_interval(draws, level)
    few = counts[0] < FEWEST
    lows[few] = highs[few] = np.nan
    rows = zip(names, total, lows, highs, *counts, strict=True)
    return {
        name: Estimate(float(point), float(low), float(high), level, int(n), int(no), method)
        for name, point, low, high, n, no in rows
    }


@dataclass
class Tally:
    """Systems with all that is kept of their cases."""

    families: Families
    draws: int
    seed: int
    limit: int
    systems: dict[str, SystemScores] = field(default_factory=dict)

    def add(
        self, names: Sequence[str], codes: Ints, hashes: Hashes, statistics: Sequence[Floats]
    ) -> Floats:
        """Cases whose code is the index of their system's name; -1 is left out.

        The answer is every case's values.
        """
        values = self.families.score(statistics)
        for code, name in enumerate(names):
            index = np.flatnonzero(codes == code)
            if not len(index):
                continue
            rows = [table[index] for table in statistics]
            if name not in self.systems:
                bootstrap = Bootstrap(self.draws, self.seed, self.limit)
                empty = np.zeros(values.shape[1], np.int64)
                self.systems[name] = SystemScores(self.families, bootstrap, empty)
            self.systems[name].add(hashes[index], rows, values[index])
        return values

    def estimates(self, level: float) -> dict[str, dict[str, Estimate]]:
        """Estimates of every system, by name."""
        return {name: self.systems[name].estimates(level) for name in sorted(self.systems)}

    @property
    def items(self) -> int:
        """Of the system that has most."""
        return max(system.bootstrap.count for system in self.systems.values())


class Worst:
    """The cases with the worst values so far."""

    def __init__(self, families: Families, count: int, by: str) -> None:
        values = {value.name: (column, value) for column, value in enumerate(families.values)}
        if by not in values:
            raise UsageError(f'there is no value "{by}" — {nearest(by, values)}')
        self._column, value = values[by]
        if value.best == "none":
            raise UsageError(f'"{by}" is neither good nor bad when high — choose another value')
        self._sign = 1 if value.best == "high" else -1
        self._names, self.count, self.by = list(values), count, by
        self._kept: list[tuple[float, Key, Floats]] = []

    def add(self, keys: Sequence[Key], values: Floats) -> None:
        """Keep those of the cases that are among the worst; among equals the first by name."""
        goodness = self._sign * values[:, self._column]
        if not self.count or np.isnan(goodness).all():
            return
        last = np.sort(goodness)[: self.count]  # NaN comes behind all numbers
        chosen = np.flatnonzero(goodness <= np.nanmax(last)).tolist()
        self._kept += [(float(goodness[i]), keys[i], values[i]) for i in chosen]
        self._kept = sorted(self._kept, key=lambda kept: kept[:2])[: self.count]

    @property
    def items(self) -> list[str]:
        """The items of the worst cases, each once, the worst first."""
        return list(dict.fromkeys(key.item for _, key, _ in self._kept))

    def samples(self) -> tuple[Sample, ...]:
        """The worst first."""
        return tuple(
            Sample(key, dict(zip(self._names, row.tolist(), strict=True)))
            for _, key, row in self._kept
        )
