"""Bootstrap over cases: sums of statistics for every draw, one resampling for all values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from earwitness.stats import weights
from earwitness.stats.exact import Floats, split, weighted_sums
from earwitness.stats.weights import Hashes

MULTINOMIAL_UP_TO = 100_000
FEWEST = 5  # cases that an interval needs: fewer say nothing about the spread
FOLDED = 200  # cases that get their Poisson weights at a time: few enough for the cache


class Resampled(NamedTuple):
    """Summed statistics: of all cases, and of every draw."""

    total: Floats
    draws: Floats
    method: str


@dataclass
class Bootstrap:
    """Takes cases as they come, in any order and in any portions.

    Up to ``limit`` cases are kept and drawn with replacement; beyond that every case gets Poisson
    weights at once and is forgotten, so that memory stays flat.
    """

    draws: int = 1000
    seed: int = 0
    limit: int = MULTINOMIAL_UP_TO
    count: int = 0
    _kept: list[tuple[Hashes, Floats]] = field(default_factory=list)
    _sums: Floats | None = None

    def add(self, hashes: Hashes, statistics: Floats) -> None:
        """Cases by the hash of their item, one row of statistics each."""
        self.count += len(hashes)
        self._kept.append((hashes, statistics))
        if self.count > self.limit:
            for kept in self._kept:
                self._fold(*kept)
            self._kept = []

    def cases(self) -> tuple[Hashes, Floats]:
        """The cases that are kept, in the order of their hashes."""
        if not self._kept:
            raise ValueError("a bootstrap needs at least one case")
        hashes = np.concatenate([hashes for hashes, _ in self._kept])
        statistics = np.concatenate([rows for _, rows in self._kept])
        order = np.argsort(hashes, kind="stable")
        return hashes[order], statistics[order]

    def finish(self) -> Resampled:
        """The sums of all that was added."""
        if self._sums is not None:
            return self._result(self._sums, "bootstrap-poisson")
        hashes, statistics = self.cases()
        parts = split(statistics)
        blocks = weights.multinomial(len(hashes), self.draws, self.seed)
        sums = [weighted_sums(np.ones((1, len(hashes))), parts)]
        sums += [weighted_sums(block, parts) for block in blocks]
        return self._result(np.concatenate(sums, axis=1), "bootstrap-multinomial")

    def _fold(self, hashes: Hashes, statistics: Floats) -> None:
        for start in range(0, len(hashes), FOLDED):
            cases = slice(start, start + FOLDED)
            drawn = np.ones((self.draws + 1, len(hashes[cases])))
            drawn[1:] = weights.poisson(hashes[cases], self.draws, self.seed).T
            sums = weighted_sums(drawn, split(statistics[cases]))
            self._sums = sums if self._sums is None else self._sums + sums

    @staticmethod
    def _result(parts: Floats, method: str) -> Resampled:
        sums = parts[0] + parts[1]
        return Resampled(sums[0], sums[1:], method)


def percentile_interval(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Both ends of the central interval of each column; undefined draws are passed over."""
    tail = 100 * (1 - level) / 2
    ends = np.full((2, draws.shape[1]), np.nan)
    for column in range(draws.shape[1]):
        defined = draws[~np.isnan(draws[:, column]), column]
        if len(defined):
            ends[:, column] = np.percentile(defined, [tail, 100 - tail])
    return ends[0], ends[1]
