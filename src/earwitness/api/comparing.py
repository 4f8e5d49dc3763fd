"""Compare systems on the items that all of them answered."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.api.collect import SystemScores, Worst
from earwitness.api.family import Chosen, Families, Floats
from earwitness.api.run import Run
from earwitness.api.scoring import Place, check, sources
from earwitness.data import (
    Comparison,
    Contrast,
    Estimate,
    Map,
    Progress,
    Value,
    no_progress,
)
from earwitness.engines import in_process
from earwitness.errors import UsageError, nearest
from earwitness.formats.records import OnError
from earwitness.stats import Bootstrap, percentile_interval
from earwitness.stats.paired import holm, p_values, permuted_differences

MOST = 1_000_000  # items that are kept: differences need them all at once


def compare(
    outputs: Place,
    references: Place,
    *,
    values: Sequence[str] | str | None = None,
    metrics: Chosen | None = None,
    alpha: float = 0.05,
    permutations: int = 10_000,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Comparison:
    """Differences between all pairs of systems, with intervals and tests.

    Intervals come from a bootstrap in which both systems see the same items; p-values from swapping
    the systems' outputs item by item; for every value, p is corrected for all pairs by Holm's
    method. ``values`` are the headlines of the metrics unless others are named.
    """
    check(draws=draws, level=level, seed=seed, on_error=on_error, permutations=permutations)
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, such as 0.05, got {alpha}")
    families = Families.of(metrics, parameters)
    chosen = _chosen(families, values)
    nobody = Worst(families, 0, families.headlines[0])
    run = Run(families, draws, seed, on_error, nobody, limit=MOST)
    source, other = sources(outputs, references)
    run.read(source, other, None, map, progress)
    if any(system.bootstrap.count > MOST for system in run.systems.values()):
        raise UsageError(f"differences need all items in memory: at most {MOST:,} of a system")
    scores = run.result(level)
    if len(run.systems) < 2:
        raise UsageError(f"there is one system only, {next(iter(run.systems))}: nothing to compare")
    paired = Paired(families, run.systems, chosen, draws, level, seed, permutations)
    return Comparison(
        signature=f"{scores.signature}|permutation(permutations={permutations},alpha={alpha})|holm",
        scores=scores,
        items=paired.items,
        alpha=alpha,
        values=tuple(value.name for value in chosen),
        systems=paired.estimates(),
        contrasts=paired.contrasts(alpha),
    )


def _chosen(families: Families, names: Sequence[str] | str | None) -> list[Value]:
    known = {value.name: value for value in families.values}
    names = [names] if isinstance(names, str) else names
    for name in names or ():
        if name not in known:
            raise UsageError(f'there is no value "{name}" — {nearest(name, known)}')
        if known[name].best == "none":
            raise UsageError(f'"{name}" is neither good nor bad when high — choose another value')
    return [known[name] for name in dict.fromkeys(names or families.headlines)]


class Paired:
    """All systems on their common items; each value on the items where both sides have it."""

    def __init__(
        self,
        families: Families,
        systems: dict[str, SystemScores],
        chosen: list[Value],
        draws: int,
        level: float,
        seed: int,
        permutations: int,
    ) -> None:
        self._families, self._chosen = families, chosen
        self._draws, self._level, self._seed = draws, level, seed
        self._permutations = permutations
        self._cuts = next(iter(systems.values())).cuts
        cases = {name: systems[name].bootstrap.cases() for name in sorted(systems)}
        self._hashes = reduce(np.intersect1d, (hashes for hashes, _ in cases.values()))
        self.items = len(self._hashes)
        if not self.items:
            raise UsageError("no item was answered by all systems: nothing to compare")
        self._rows = {n: rows[np.isin(hashes, self._hashes)] for n, (hashes, rows) in cases.items()}
        self._defined = {n: ~np.isnan(self._score(rows)) for n, rows in self._rows.items()}
        self._drawn: dict[tuple[str, bytes], tuple[Floats, Floats]] = {}

    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Every system's values on the common items."""
        found: dict[str, dict[str, Estimate]] = {}
        for name, defined in self._defined.items():
            total, draws = self._resample(name, np.ones(self.items, np.bool_))
            counts = defined.sum(axis=0)
            rows = self._rows_of_estimates(total, draws, counts, "bootstrap-multinomial")
            found[name] = dict(zip([v.name for v in self._chosen], rows, strict=True))
        return found

    def contrasts(self, alpha: float) -> tuple[Contrast, ...]:
        """Every value, every pair."""
        pairs = list(combinations(self._rows, 2))
        found = [self._pair(a, b) for a, b in pairs]
        result = []
        for index, value in enumerate(self._chosen):
            corrected = holm([float(p[index]) for _, p in found])
            for (a, b), (estimates, p), fixed in zip(pairs, found, corrected, strict=True):
                difference = estimates[index]
                better = _better(value, difference.value, a, b) if fixed < alpha else ""
                contrast = Contrast(value.name, a, b, difference, float(p[index]), fixed, better)
                result.append(contrast)
        return tuple(result)

    def _score(self, statistics: Floats) -> Floats:
        values = self._families.score(np.split(statistics, self._cuts, axis=-1))
        names = [value.name for value in self._families.values]
        return values[..., [names.index(value.name) for value in self._chosen]]

    def _resample(self, name: str, items: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        key = name, items.tobytes()
        if key not in self._drawn:
            bootstrap = Bootstrap(self._draws, self._seed, MOST)
            bootstrap.add(self._hashes[items], self._rows[name][items])
            resampled = bootstrap.finish()
            self._drawn[key] = self._score(resampled.total), self._score(resampled.draws)
        return self._drawn[key]

    def _pair(self, a: str, b: str) -> tuple[list[Estimate], Floats]:
        """Differences and p-values; values that share their defined items are tested together."""
        both = self._defined[a] & self._defined[b]
        observed, p = np.full(len(self._chosen), np.nan), np.full(len(self._chosen), np.nan)
        draws = np.full((self._draws, len(self._chosen)), np.nan)
        for items in np.unique(both, axis=1).T:
            columns = (both == items[:, None]).all(axis=0)
            if not items.any():
                continue
            (mine, my_draws), (theirs, their_draws) = (self._resample(n, items) for n in (a, b))
            rows = self._rows[a][items], self._rows[b][items]
            permuted = permuted_differences(*rows, self._score, self._permutations, self._seed)
            tested = p_values(mine, theirs, permuted)
            observed[columns], p[columns] = (mine - theirs)[columns], tested[columns]
            draws[:, columns] = (my_draws - their_draws)[:, columns]
        counts = both.sum(axis=0)
        return self._rows_of_estimates(observed, draws, counts, "paired-bootstrap"), p

    def _rows_of_estimates(
        self, values: Floats, draws: Floats, counts: NDArray[np.int64], method: str
    ) -> list[Estimate]:
        low, high = percentile_interval(draws, self._level)
        low, high = (np.where(counts < 2, np.nan, end) for end in (low, high))
        rows = zip(values.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
        return [
            Estimate(point, least, most, self._level, n, self.items - n, method)
            for point, least, most, n in rows
        ]


def _better(value: Value, difference: float, a: str, b: str) -> str:
    return a if (difference > 0) == (value.best == "high") else b
