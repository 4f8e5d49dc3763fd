"""Systems side by side on the items that all of them answered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from earwitness.api.collect import Hashes, SystemScores
from earwitness.api.family import Families, Floats
from earwitness.data import Estimate, Value
from earwitness.stats import FEWEST, Bootstrap, percentile_interval
from earwitness.stats.paired import p_values, permuted_differences

MOST = 1_000_000  # items that are kept: differences need them all at once


@dataclass(frozen=True)
class Plan:
    """How differences are judged."""

    families: Families
    chosen: list[Value]
    draws: int
    level: float
    seed: int
    permutations: int

    def score(self, statistics: Floats, cuts: list[int]) -> Floats:
        """The chosen values from summed statistics of all metrics side by side."""
        values = self.families.score(np.split(statistics, cuts, axis=-1))
        names = [value.name for value in self.families.values]
        return values[..., [names.index(value.name) for value in self.chosen]]


class Paired:
    """Systems on their common items; each value on the items where both sides have it."""

    def __init__(
        self, plan: Plan, systems: dict[str, SystemScores], within: Hashes | None = None
    ) -> None:
        self._plan, self._cuts = plan, next(iter(systems.values())).cuts
        cases = {name: systems[name].bootstrap.cases() for name in sorted(systems)}
        sets = [hashes for hashes, _ in cases.values()]
        self.hashes = reduce(np.intersect1d, sets if within is None else [*sets, within])
        self.items = len(self.hashes)
        self.pairs = list(combinations(cases, 2))
        self._rows = {n: rows[np.isin(hashes, self.hashes)] for n, (hashes, rows) in cases.items()}
        self._defined = {n: ~np.isnan(self._score(rows)) for n, rows in self._rows.items()}
        self._drawn: dict[tuple[str, bytes], tuple[Floats, Floats]] = {}

    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Every system's values on the common items."""
        found: dict[str, dict[str, Estimate]] = {}
        for name, defined in self._defined.items():
            total, draws = self._resample(name, np.ones(self.items, np.bool_))
            counts = defined.sum(axis=0)
            rows = self._rows_of_estimates(total, draws, counts, "bootstrap-multinomial")
            found[name] = dict(zip([v.name for v in self._plan.chosen], rows, strict=True))
        return found

    def _score(self, statistics: Floats) -> Floats:
        return self._plan.score(statistics, self._cuts)

    def _resample(self, name: str, items: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        key = name, items.tobytes()
        if key not in self._drawn:
            bootstrap = Bootstrap(self._plan.draws, self._plan.seed, MOST)
            bootstrap.add(self.hashes[items], self._rows[name][items])
            resampled = bootstrap.finish()
            self._drawn[key] = self._score(resampled.total), self._score(resampled.draws)
        return self._drawn[key]

    def pair(self, a: str, b: str) -> tuple[list[Estimate], Floats]:
        """Differences and p-values; values that share their defined items are tested together."""
        both = self._defined[a] & self._defined[b]
        plan, wide = self._plan, len(self._plan.chosen)
        observed, p = np.full(wide, np.nan), np.full(wide, np.nan)
        draws = np.full((plan.draws, wide), np.nan)
        for items in np.unique(both, axis=1).T:
            columns = (both == items[:, None]).all(axis=0)
            if not items.any():
                continue
            (mine, my_draws), (theirs, their_draws) = (self._resample(n, items) for n in (a, b))
            rows = self._rows[a][items], self._rows[b][items]
            permuted = permuted_differences(*rows, self._score, plan.permutations, plan.seed)
            tested = p_values(mine, theirs, permuted)
            observed[columns], p[columns] = (mine - theirs)[columns], tested[columns]
            draws[:, columns] = (my_draws - their_draws)[:, columns]
        counts = both.sum(axis=0)
        return self._rows_of_estimates(observed, draws, counts, "paired-bootstrap"), p

    def _rows_of_estimates(
        self, values: Floats, draws: Floats, counts: NDArray[np.int64], method: str
    ) -> list[Estimate]:
        low, high = percentile_interval(draws, self._plan.level)
        low, high = (np.where(counts < FEWEST, np.nan, end) for end in (low, high))
        rows = zip(values.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
        return [
            Estimate(point, least, most, self._plan.level, n, self.items - n, method)
            for point, least, most, n in rows
        ]
