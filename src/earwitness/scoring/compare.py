"""The verb compare: paired differences between systems, with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Contrast, Estimate, Map, OnError, Progress, Value, no_progress
from earwitness.engines.local import in_process
from earwitness.errors import UsageError, nearest
from earwitness.metric_set import MetricChoice, MetricSet
from earwitness.scoring.assembly import Request, assemble_scores, listed, slicings_of
from earwitness.scoring.collectors import GroupScores
from earwitness.scoring.results import Comparison, GroupContrasts
from earwitness.scoring.score import Place, check, sources
from earwitness.scoring.setup import set_up
from earwitness.scoring.tally import SystemScores
from earwitness.stats.arrays import Floats, Hashes
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, Bootstrap, percentile_interval
from earwitness.stats.significance import compute_permutation_p_values, holm, permuted_differences

# --- Paired differences on common items ----------------------------------------------------------


MAX_PAIRED_ITEMS = 1_000_000  # items that are kept: differences need them all at once


@dataclass(frozen=True)
class DifferenceSettings:
    """How differences are judged."""

    families: MetricSet
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


class PairedSystemScores:
    """Systems on their common items; each value on the items where both sides have it."""

    def __init__(
        self,
        plan: DifferenceSettings,
        systems: dict[str, SystemScores],
        within: Hashes | None = None,
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
        by_system: dict[str, dict[str, Estimate]] = {}
        for name, defined in self._defined.items():
            total, draws = self._resample(name, np.ones(self.items, np.bool_))
            counts = defined.sum(axis=0)
            rows = self._rows_of_estimates(total, draws, counts, "bootstrap-multinomial")
            by_system[name] = dict(zip([v.name for v in self._plan.chosen], rows, strict=True))
        return by_system

    def _score(self, statistics: Floats) -> Floats:
        return self._plan.score(statistics, self._cuts)

    def _resample(self, name: str, items: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        key = name, items.tobytes()
        if key not in self._drawn:
            bootstrap = Bootstrap(self._plan.draws, self._plan.seed, MAX_PAIRED_ITEMS)
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
            tested = compute_permutation_p_values(mine, theirs, permuted)
            observed[columns], p[columns] = (mine - theirs)[columns], tested[columns]
            draws[:, columns] = (my_draws - their_draws)[:, columns]
        counts = both.sum(axis=0)
        return self._rows_of_estimates(observed, draws, counts, "paired-bootstrap"), p

    def _rows_of_estimates(
        self, values: Floats, draws: Floats, counts: NDArray[np.int64], method: str
    ) -> list[Estimate]:
        low, high = percentile_interval(draws, self._plan.level)
        low, high = (np.where(counts < MIN_CASES_FOR_INTERVAL, np.nan, end) for end in (low, high))
        rows = zip(values.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
        return [
            Estimate(point, least, most, self._plan.level, n, self.items - n, method)
            for point, least, most, n in rows
        ]


# --- Verb compare --------------------------------------------------------------------------------


def compare(
    outputs: Place,
    references: Place,
    *,
    values: Sequence[str] | str | None = None,
    metrics: MetricChoice | None = None,
    alpha: float = 0.05,
    permutations: int = 10_000,
    draws: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    on_error: OnError = "fail",
    worst: int = 0,
    worst_by: str | None = None,
    by: Sequence[str] | str = (),
    show: Sequence[str] | str = (),
    baselines: Sequence[str] | str = (),
    map: Map = in_process,
    progress: Progress = no_progress,
    **parameters: Any,
) -> Comparison:
    """Differences between all pairs of systems, with intervals and tests.

    Intervals come from a bootstrap in which both systems see the same items; p-values from swapping
    the systems' outputs item by item; for every value, p is corrected for all pairs by Holm's
    method. ``values`` are the headlines of the metrics unless others are named. ``by`` compares
    within every group of a field too; p is then corrected for all pairs and groups of the field.
    """
    check(
        draws=draws,
        level=level,
        seed=seed,
        on_error=on_error,
        permutations=permutations,
        worst=worst,
    )
    if not 0 < alpha < 1:
        raise UsageError(f"alpha must lie between 0 and 1, such as 0.05, got {alpha}")
    source, other = sources(outputs, references)
    setup = set_up(source, other, metrics, parameters)
    chosen = _chosen(setup.metrics, values)
    request = Request(
        setup=setup,
        draws=draws,
        seed=seed,
        on_error=on_error,
        limit=MAX_PAIRED_ITEMS,
        worst=worst,
        worst_by=worst_by,
        by=slicings_of(by),
        show=tuple(dict.fromkeys(listed(show))),
        baselines=tuple(listed(baselines)),
    )
    collectors = request.collectors(other or source)
    run = request.run(collectors)
    run.read(source, other, None, map, progress)
    systems = collectors.overall.systems
    if any(system.bootstrap.count > MAX_PAIRED_ITEMS for system in systems.values()):
        raise UsageError(
            f"differences need all items in memory: at most {MAX_PAIRED_ITEMS:,} of a system"
        )
    scores = assemble_scores(run, collectors, level)
    if len(systems) < 2:
        raise UsageError(f"there is one system only, {next(iter(systems))}: nothing to compare")
    plan = DifferenceSettings(setup.metrics, chosen, draws, level, seed, permutations)
    paired = PairedSystemScores(plan, systems)
    if not paired.items:
        raise UsageError("no item was answered by all systems: nothing to compare")
    return Comparison(
        signature=f"{scores.signature}|permutation(permutations={permutations},alpha={alpha})|holm",
        scores=scores,
        items=paired.items,
        alpha=alpha,
        values=tuple(value.name for value in chosen),
        systems=paired.estimates(),
        contrasts=_corrected([paired], chosen, alpha)[0],
        groups=tuple(_groups(plan, collectors.groups, paired.hashes, alpha)),
    )


def _groups(
    plan: DifferenceSettings, fields: GroupScores, common: Hashes, alpha: float
) -> Iterator[GroupContrasts]:
    """Contrasts within the groups of every field, on items that every system answered."""
    for name, groups in fields.sorted_groups():
        comparable = [
            (label, PairedSystemScores(plan, tally.systems, common)) for label, tally in groups
        ]
        comparable = [
            (label, paired) for label, paired in comparable if paired.items and paired.pairs
        ]
        contrasts_by_group = _corrected([paired for _, paired in comparable], plan.chosen, alpha)
        for (label, paired), contrasts in zip(comparable, contrasts_by_group, strict=True):
            yield GroupContrasts(name, label, paired.items, contrasts)


def _corrected(
    groups: list[PairedSystemScores], chosen: list[Value], alpha: float
) -> list[tuple[Contrast, ...]]:
    """Contrasts of each, value by value; p is corrected over all of them together.

    Contrasts of so few items that no outcome could tell the systems apart do not count.
    """
    answers: list[list[Contrast]] = [[] for _ in groups]
    tested = [
        (place, pair, *group.pair(*pair))
        for place, group in enumerate(groups)
        for pair in group.pairs
    ]
    for index, value in enumerate(chosen):
        corrected = holm([_countable(e[index], float(p[index]), alpha) for *_, e, p in tested])
        for (place, (a, b), estimates, p), fixed in zip(tested, corrected, strict=True):
            difference = estimates[index]
            better = _better(value, difference.value, a, b) if fixed < alpha else ""
            contrast = Contrast(value.name, a, b, difference, float(p[index]), fixed, better)
            answers[place].append(contrast)
    return [tuple(contrasts) for contrasts in answers]


def _chosen(families: MetricSet, names: Sequence[str] | str | None) -> list[Value]:
    by_name = {value.name: value for value in families.values}
    names = [names] if isinstance(names, str) else names
    names = [full for name in names or () for full in _variants(name, by_name)]
    for name in names:
        if name not in by_name:
            raise UsageError(f'there is no value "{name}" — {nearest(name, by_name)}')
        if by_name[name].best == "none":
            raise UsageError(f'"{name}" is neither good nor bad when high — choose another value')
    return [by_name[name] for name in dict.fromkeys(names or families.headlines)]


def _variants(name: str, names: Iterable[str]) -> list[str]:
    """A value that was scored with several parameters stands for all of them."""
    variants = [full for full in names if full.partition("@")[0] == name]
    return variants or [name]


def _countable(difference: Estimate, p: float, alpha: float) -> float:
    """p, or NaN where even the least p that so many items can give is not below alpha."""
    return p if 2.0 ** (1 - difference.n) < alpha else float("nan")


def _better(value: Value, difference: float, a: str, b: str) -> str:
    return a if (difference > 0) == (value.best == "high") else b
