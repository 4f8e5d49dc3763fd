"""The function compare: paired differences between systems, with intervals and tests."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Contrast, Estimate, Jobs, Progress, Value, no_progress
from earwitness.engines.local import choose_map
from earwitness.errors import UsageError
from earwitness.metric_set import MetricSet
from earwitness.scoring.assembly import Request, assemble_scores
from earwitness.scoring.collectors import GroupScores, SampleRows
from earwitness.scoring.results import Comparison, GroupContrasts, SampleValues, find_values
from earwitness.scoring.score import Place, refuse_separation, sources
from earwitness.scoring.settings import ComparisonSettings
from earwitness.scoring.setup import set_up
from earwitness.scoring.tally import SystemScores
from earwitness.stats.arrays import Floats, Hashes
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, Bootstrap, percentile_interval
from earwitness.stats.significance import (
    agree_with_test,
    compute_permutation_p_values,
    holm,
    permuted_differences,
    simultaneous_level,
    widen_interval,
)

# --- Paired differences on common items ----------------------------------------------------------


MAX_PAIRED_ITEMS = 1_000_000  # items kept in memory: a difference needs all of them at once


@dataclass(frozen=True)
class DifferenceSettings:
    """Settings of the comparison of systems."""

    families: MetricSet
    chosen: list[Value]
    settings: ComparisonSettings

    def score(self, statistics: Floats, cuts: list[int]) -> Floats:
        """Return the chosen values, from summed statistics of all metrics in one array."""
        columns: dict[str, Floats] = {}
        names = {value.name for value in self.chosen}
        tables = np.split(statistics, cuts, axis=-1)
        for metric, table in zip(self.families.metrics, tables, strict=True):
            values = self.families.named[metric.signature]
            if any(value.name in names for value in values):  # others need not be computed
                scored = metric.score(table)
                columns |= {value.name: scored[..., i] for i, value in enumerate(values)}
        return np.stack([columns[value.name] for value in self.chosen], axis=-1)


class PairedSystemScores:
    """Scores of systems on their common items; each value on the items where it is defined."""

    def __init__(
        self,
        plan: DifferenceSettings,
        systems: dict[str, SystemScores],
        within: Hashes | None = None,
    ) -> None:
        self._plan, self._settings = plan, plan.settings
        self._cuts = next(iter(systems.values())).cuts
        cases = {name: systems[name].bootstrap.cases() for name in sorted(systems)}
        sets = [hashes for hashes, _ in cases.values()]
        self.hashes = reduce(np.intersect1d, sets if within is None else [*sets, within])
        self.items = len(self.hashes)
        self.pairs = list(combinations(cases, 2))
        self._rows = {n: rows[np.isin(hashes, self.hashes)] for n, (hashes, rows) in cases.items()}
        self._defined = {n: ~np.isnan(self._score(rows)) for n, rows in self._rows.items()}
        self._drawn: dict[tuple[str, bytes], tuple[Floats, Floats]] = {}

    def estimates(self) -> dict[str, dict[str, Estimate]]:
        """Return the estimates of every system on the common items."""
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
            bootstrap = Bootstrap(self._settings.draws, self._settings.seed, MAX_PAIRED_ITEMS)
            bootstrap.add(self.hashes[items], self._rows[name][items])
            resampled = bootstrap.finish()
            self._drawn[key] = self._score(resampled.total), self._score(resampled.draws)
        return self._drawn[key]

    def pair(self, a: str, b: str) -> tuple[list[Estimate], Floats]:
        """Return differences and p-values of two systems."""
        both = self._defined[a] & self._defined[b]
        settings, wide = self._settings, len(self._plan.chosen)
        observed, p = np.full(wide, np.nan), np.full(wide, np.nan)
        draws = np.full((settings.draws, wide), np.nan)
        for items in np.unique(both, axis=1).T:  # values defined on the same items: one test
            columns = (both == items[:, None]).all(axis=0)
            if not items.any():
                continue
            (mine, my_draws), (theirs, their_draws) = (self._resample(n, items) for n in (a, b))
            rows = self._rows[a][items], self._rows[b][items]
            permuted = permuted_differences(
                *rows, self._score, self._settings.permutations, self._settings.seed
            )
            tested = compute_permutation_p_values(mine, theirs, permuted)
            observed[columns], p[columns] = (mine - theirs)[columns], tested[columns]
            draws[:, columns] = (my_draws - their_draws)[:, columns]
        counts = both.sum(axis=0)
        return self._rows_of_estimates(observed, draws, counts, "paired-bootstrap"), p

    def _rows_of_estimates(
        self, values: Floats, draws: Floats, counts: NDArray[np.int64], method: str
    ) -> list[Estimate]:
        low, high = percentile_interval(draws, self._settings.level)
        low, high = (np.where(counts < MIN_CASES_FOR_INTERVAL, np.nan, end) for end in (low, high))
        rows = zip(values.tolist(), low.tolist(), high.tolist(), counts.tolist(), strict=True)
        return [
            Estimate(point, least, most, self._settings.level, n, self.items - n, method)
            for point, least, most, n in rows
        ]


# --- Function compare ----------------------------------------------------------------------------


def compare(
    outputs: Place,
    references: Place,
    *,
    samples: bool = False,
    jobs: Jobs = 1,
    progress: Progress = no_progress,
    **options: Any,
) -> Comparison:
    """Compare all pairs of systems on the items that every system has an output for.

    Confidence intervals are from a paired bootstrap over items. p-values are from a paired
    permutation test, which swaps the outputs of two systems item by item. For every value, p is
    Holm-corrected across pairs of systems.

    Parameters
    ----------
    outputs
        Path, ``"-"`` for standard input, records, or a data frame of two or more systems, as
        for ``score``.
    references
        Path, ``"-"``, records or a data frame with references, joined with the outputs by ``item``.
    samples
        Whether to keep the values of every output, as ``to_records("samples")``.
    jobs
    progress
        Function that is called with bytes read, total bytes and outputs so far.
    **options
        Settings (see ``ComparisonSettings``), parameters of the metrics, and options of the input
        format, as for ``score``. With ``by``, systems are also compared within every group, and p
        is corrected across all pairs and all groups of the field.

    Returns
    -------
    Comparison
        Contrasts of all pairs of systems, and the scores of every system.

    Raises
    ------
    InputError
        If a file cannot be read or has invalid lines.
    UsageError
        If an argument is invalid, or if there are fewer than two systems or no common items.

    Examples
    --------
    >>> references = [
    ...     {"item": name, "duration": 180, "references": [{"boundaries": [60]}]} for name in "abc"
    ... ]
    >>> outputs = [
    ...     {"item": name, "system": system, "output": {"boundaries": [time]}}
    ...     for name in "abc"
    ...     for system, time in (("good", 61), ("poor", 90))
    ... ]
    >>> comparison = compare(outputs, references, metrics="collar")
    >>> comparison.contrasts[0].difference.value
    1.0
    """
    settings, parameters = ComparisonSettings.split(options)
    source, other = sources(outputs, references)
    setup = set_up(source, other, settings.metrics, parameters)
    refuse_separation(setup)
    by_name = {value.name: value for value in setup.metrics.values}
    names = find_values(setup.metrics.values, settings.values)
    for name in names:
        if by_name[name].best == "none":
            raise UsageError(
                f'"{name}" has no better direction (high or low) — choose another value'
            )
    chosen = [by_name[name] for name in names or setup.metrics.headlines]
    request = Request(setup=setup, settings=settings, limit=MAX_PAIRED_ITEMS)
    collectors = request.collectors(other or source)
    kept = SampleValues.of(setup.metrics.value_names) if samples else None
    if kept is not None:
        collectors.files.append(SampleRows(kept))
    run = request.run(collectors)
    run.read(source, other, None, choose_map(jobs), progress)
    systems = collectors.overall.systems
    if any(system.bootstrap.count > MAX_PAIRED_ITEMS for system in systems.values()):
        raise UsageError(
            f"a comparison keeps all items in memory: at most {MAX_PAIRED_ITEMS:,} per system"
        )
    scores = replace(assemble_scores(run, collectors, settings.level), samples=kept)
    if len(systems) < 2:
        raise UsageError(
            f"only one system, {next(iter(systems))} — a comparison needs at least two"
        )
    plan = DifferenceSettings(setup.metrics, chosen, settings)
    paired = PairedSystemScores(plan, systems)
    if not paired.items:
        raise UsageError("no item has outputs of all systems: nothing to compare")
    return Comparison(
        f"{scores.signature}|{settings.test_signature}",
        scores,
        paired.items,
        settings.alpha,
        tuple(value.name for value in chosen),
        paired.estimates(),
        _corrected([paired], chosen, settings.alpha)[0],
        tuple(_groups(plan, collectors.groups, paired.hashes)),
        settings.permutations,
    )


def _groups(
    plan: DifferenceSettings, fields: GroupScores, common: Hashes
) -> Iterator[GroupContrasts]:
    """Yield contrasts within the groups of every field, on the common items of all systems."""
    for name, groups in fields.sorted_groups():
        scores = {label: PairedSystemScores(plan, tally.systems, common) for label, tally in groups}
        comparable = {
            label: score for label, score in scores.items() if score.items and score.pairs
        }
        contrasts_by_group = _corrected([*comparable.values()], plan.chosen, plan.settings.alpha)
        for (label, paired), contrasts in zip(comparable.items(), contrasts_by_group, strict=True):
            yield GroupContrasts(name, label, paired.items, contrasts)


def _corrected(
    groups: list[PairedSystemScores], chosen: list[Value], alpha: float
) -> list[tuple[Contrast, ...]]:
    """Return contrasts per group, with p corrected across all of them for every value.

    Intervals of differences are simultaneous at 1 − alpha, and agree with corrected p.
    Contrasts with too few items for any difference to be significant do not count.
    """
    answers: list[list[Contrast]] = [[] for _ in groups]
    tested = [
        (place, pair, *group.pair(*pair))
        for place, group in enumerate(groups)
        for pair in group.pairs
    ]
    for index, value in enumerate(chosen):
        corrected = holm(
            [
                float(p[index]) if 2.0 ** (1 - e[index].n) < alpha else float("nan")
                for *_, e, p in tested
            ]
        )
        level = simultaneous_level("holm", 1 - alpha, corrected)
        for (place, (a, b), estimates, p), fixed in zip(tested, corrected, strict=True):
            difference = widen_interval(estimates[index], level)
            difference = agree_with_test(difference, fixed, alpha)
            is_first = (difference.value > 0) == (value.best == "high")
            better = (a if is_first else b) if fixed < alpha else ""
            contrast = Contrast(value.name, a, b, difference, float(p[index]), fixed, better)
            answers[place].append(contrast)
    return [tuple(contrasts) for contrasts in answers]
