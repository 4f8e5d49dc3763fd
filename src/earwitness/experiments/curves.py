"""Curves of values over numbers of people, and correlations with judges, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Map, Progress
from earwitness.errors import UsageError
from earwitness.experiments.people_orders import (
    PeopleSubsets,
    SavedBlocks,
    ScoreSubsets,
    first_people,
    merge_subsets,
    score_tasks,
)
from earwitness.experiments.reader import ExperimentData, Judgements
from earwitness.metaeval.coefficients import ScoreRatingSample, compute_coefficients
from earwitness.metaeval.levels import cell_means, mean_of_defined, tie_rounded_means
from earwitness.metaeval.resampling import Interval, bootstrap_interval
from earwitness.metaeval.settings import MIN_SIZES_FOR_INTERVAL, MIN_SYSTEMS_FOR_SYSTEM_LEVEL
from earwitness.stats.arrays import Bools, Floats, Ints
from earwitness.stats.bootstrap import (
    MIN_CASES_FOR_INTERVAL,
    draw_weight_blocks,
    percentile_interval,
)
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Votes

# --- Curves of one value -------------------------------------------------------------------------
# Three sources of variation of the mean over items:
# - orders: the means of single orders, that is of studies with k of these people on these items.
#   With all people there is one subset, and no variation: people are drawn from those there are.
# - items: the mean over orders, with items drawn with replacement.
# - both: the means of single orders, one drawn at random for every draw of items.


@dataclass(frozen=True)
class OrderValues:
    """One value of one system, as subsets × items, and rows of subsets as orders × sizes."""

    values: Floats
    index: Ints

    def means(self, weights: Floats) -> Floats:
        """Return means over items as draws × subsets; ``weights`` are draws × items."""
        known = ~np.isnan(self.values)
        sums = weights @ np.where(known, self.values, 0).T
        if known.all():
            return np.asarray(sums / weights.sum(axis=1, keepdims=True))
        return ratio(sums, weights @ known.T.astype(np.float64))

    def order_means(self) -> Floats:
        """Return means over items as orders × sizes."""
        means: Floats = self.means(np.ones((1, self.values.shape[1])))[0][self.index]
        return means

    def only(self, items: Bools) -> OrderValues:
        """Return the values of some items; others are undefined."""
        return OrderValues(np.where(items, self.values, np.nan), self.index)


@dataclass(frozen=True)
class DrawSettings:
    """Number of draws, confidence level and seed."""

    draws: int
    level: float
    seed: int

    def weights(self, counts: tuple[int, ...]) -> list[Floats]:
        """Return weights of resampled units: one array per kind, one row per draw."""
        blocks = draw_weight_blocks(counts, self.draws, self.seed)
        return [np.concatenate(kind) for kind in zip(*blocks, strict=True)]

    def drawn_orders(self, orders: int) -> Ints:
        """Return the number of one order per draw."""
        rng = np.random.Generator(np.random.PCG64((self.seed, ORDER_STREAM)))
        return rng.integers(0, orders, self.draws)


ORDER_STREAM = 3  # systems, items and judges have the streams before
DRAWS_AT_ONCE = 500
CORRELATIONS_AT_ONCE = 50_000


class CurveBands(NamedTuple):
    """Mean and interval by source, each with one number per size; ``items`` are defined ones."""

    mean: Floats
    bands: Mapping[str, tuple[Floats, Floats]]
    items: Ints


def curve_bands(system: OrderValues, settings: DrawSettings) -> CurveBands:
    """Return the curve of a system."""
    order_means = system.order_means()
    orders, items = len(system.index), system.values.shape[1]
    (weights,) = settings.weights((items,))
    chosen = settings.drawn_orders(orders)
    by_items, by_both = [], []
    for start in range(0, settings.draws, DRAWS_AT_ONCE):
        means = system.means(weights[start : start + DRAWS_AT_ONCE])
        by_items.append(_mean_over_orders(means, system.index))
        drawn = system.index[chosen[start : start + DRAWS_AT_ONCE]]
        by_both.append(np.take_along_axis(means, drawn, axis=1))
    known = ~np.isnan(system.values)
    defined = known[system.index].any(axis=0).sum(axis=1)
    level = expanded_level(settings.level, int(defined.max()))
    bands = {
        "orders": percentile_interval(order_means, settings.level),
        "items": percentile_interval(np.concatenate(by_items), level),
        "both": percentile_interval(np.concatenate(by_both), level),
    }
    for source in ("items", "both"):
        for end in bands[source]:
            end[defined < MIN_CASES_FOR_INTERVAL] = np.nan
    return CurveBands(mean_of_defined(order_means), bands, defined)


def expanded_level(level: float, items: int) -> float:
    """Return the level of percentiles of draws that makes an interval as wide as Student's t does.

    Plain percentiles are too narrow for few items (Hesterberg 2015).

    >>> [round(expanded_level(0.95, items), 3) for items in (5, 10, 30, 1000)]
    [0.998, 0.983, 0.962, 0.95]
    """
    from scipy.special import ndtr, stdtrit

    n = max(2, items)
    return float(2 * ndtr(stdtrit(n - 1, (1 + level) / 2) * np.sqrt(n / (n - 1))) - 1)


def _mean_over_orders(means: Floats, index: Ints) -> Floats:
    """Return draws × sizes from draws × subsets; orders with an undefined mean are left out."""
    sizes = index.shape[1]
    shares = np.zeros((means.shape[1], sizes))
    np.add.at(shares, (index, np.arange(sizes)), 1.0)
    known = ~np.isnan(means)
    return ratio(np.where(known, means, 0) @ shares, known.astype(np.float64) @ shares)


# --- Correlations with judges --------------------------------------------------------------------
# A coefficient is computed over system means for every order, and averaged over orders. In draws of
# systems, items or judges, it is averaged over all orders, too; in draws of all, every draw has one
# order, since a study has one group of people.


class OrderCorrelations(NamedTuple):
    """Coefficients × sizes: mean over orders, number of undefined orders, interval by source."""

    systems: int
    mean: Floats
    undefined: Ints
    intervals: Mapping[str, Interval]


def order_correlations(
    systems: Sequence[OrderValues], votes: Votes, names: Sequence[str], settings: DrawSettings
) -> OrderCorrelations:
    """Return correlations of system means with the mean votes of systems.

    The values of ``systems`` must be undefined for items without a vote.
    """
    size = len(systems), systems[0].values.shape[1], votes.size[2]
    order_means = np.stack([system.order_means() for system in systems], axis=-1)
    orders, sizes, _ = order_means.shape
    if len(systems) < MIN_SYSTEMS_FOR_SYSTEM_LEVEL:
        nothing = np.full((len(names), sizes), np.nan)
        none = Interval(nothing, nothing)
        return OrderCorrelations(
            len(systems), nothing, np.full(nothing.shape, orders), dict.fromkeys(SOURCE_UNITS, none)
        )
    ratings = cell_means(votes)[0]
    flat, alike = order_means.reshape(1, -1, len(systems)), np.ones((1, 1, len(systems)))
    judged = _mean_ratings(ratings, np.ones((1, size[1])))[None]
    found = _correlate(flat, judged, alike, names).reshape(len(names), orders, sizes)
    mean = mean_of_defined(found.swapaxes(0, 1))
    system_weights, item_weights, judge_weights = settings.weights(size)
    by_judge = cell_means(votes, judge_weights)
    drawn = {
        "systems": _average(flat, judged, system_weights[None], names, sizes),
        "judges": _average(
            flat,
            _mean_ratings(by_judge, np.ones((1, size[1])))[None],
            np.ones((1, settings.draws, len(systems))),
            names,
            sizes,
        ),
    }
    chosen = settings.drawn_orders(orders)
    by_items, by_all = [], []
    step = max(1, CORRELATIONS_AT_ONCE // (orders * sizes))
    for start in range(0, settings.draws, step):
        block = slice(start, start + step)
        weights = item_weights[block]
        means = [system.means(weights) for system in systems]
        indexed = zip(means, systems, strict=True)
        table = np.stack(
            [system_means[:, system.index.ravel()] for system_means, system in indexed], axis=-1
        )
        people = _mean_ratings(ratings, weights)[:, None]
        ones = np.ones((len(weights), 1, len(systems)))
        each = _correlate(table, people, ones, names)[:, :, 0]
        by_items.append(_over_orders(each, sizes))
        single = table.reshape(len(weights), orders, sizes, -1)
        single = single[np.arange(len(weights)), chosen[block]]
        people = _mean_ratings(by_judge[block], weights)[:, None]
        by_all.append(_correlate(single, people, system_weights[block][:, None], names)[:, :, 0])
    drawn |= {"items": np.concatenate(by_items, axis=1), "all": np.concatenate(by_all, axis=1)}
    return OrderCorrelations(
        len(systems),
        mean,
        np.isnan(found).sum(axis=1),
        {
            source: _interval(mean, drawn[source], names, units, size, settings.level)
            for source, units in SOURCE_UNITS.items()
        },
    )


SOURCE_UNITS = {
    "systems": ("systems",),
    "items": ("items",),
    "judges": ("raters",),
    "all": ("systems", "items", "raters"),
}


def _interval(
    mean: Floats,
    draws: Floats,
    names: Sequence[str],
    units: tuple[str, ...],
    size: tuple[int, int, int],
    level: float,
) -> Interval:
    """Return the interval of draws; undefined if there are too few resampled units."""
    counts = dict(zip(MIN_SIZES_FOR_INTERVAL, size, strict=True))
    count = counts[units[0]] if len(units) == 1 else None
    interval = bootstrap_interval(mean, draws, names, level=level, count=count)
    if all(counts[unit] >= MIN_SIZES_FOR_INTERVAL[unit] for unit in units):
        return interval
    nothing = np.full(mean.shape, np.nan)
    return interval._replace(low=nothing, high=nothing)


def _mean_ratings(ratings: Floats, weights: Floats) -> Floats:
    """Return mean ratings as draws × systems, over items; both may have one draw."""
    known = ~np.isnan(ratings)
    tables = np.where(known, ratings, 0), known.astype(np.float64)
    return ratio(*(np.einsum("...si,...i->...s", table, weights) for table in tables))


def _average(
    scores: Floats, people: Floats, weights: Floats, names: Sequence[str], sizes: int
) -> Floats:
    """Return coefficients × draws × sizes, averaged over orders, with blocks of draws."""
    parts = []
    step = max(1, CORRELATIONS_AT_ONCE // scores.shape[1])
    for start in range(0, weights.shape[1], step):
        block = slice(start, start + step)
        judged = people if people.shape[1] == 1 else people[:, block]
        each = _correlate(scores, judged, weights[:, block], names)[:, 0]
        parts.append(_over_orders(each, sizes))
    return np.concatenate(parts, axis=1)


def _over_orders(coefficients: Floats, sizes: int) -> Floats:
    """Return coefficients × draws × sizes from coefficients × draws × (orders × sizes)."""
    table = coefficients.reshape(*coefficients.shape[:2], -1, sizes)
    return mean_of_defined(np.moveaxis(table, 2, 0))


def _correlate(scores: Floats, people: Floats, weights: Floats, names: Sequence[str]) -> Floats:
    """Return coefficients × groups × draws × metrics; undefined if a mean is.

    Scores are groups × metrics × systems, ratings and weights groups × draws × systems.
    """
    unknown = np.asarray(np.isnan(scores).any(axis=2))
    filled = np.nan_to_num(scores)
    if any(name != "pearson" for name in names):
        filled = tie_rounded_means(filled, float(np.abs(filled).max(initial=0)))
        people = tie_rounded_means(people, float(np.nanmax(np.abs(people), initial=0)))
    missing = np.isnan(people)
    weights = np.where(missing, 0, weights) if missing.any() else weights
    found = compute_coefficients(ScoreRatingSample(filled, np.nan_to_num(people), weights), names)
    return np.where(unknown[:, None, :], np.nan, found)


# --- Scores of all orders ------------------------------------------------------------------------


@dataclass(frozen=True)
class OrderTables:
    """Values (values × subsets × items) and rows of subsets (orders × sizes), by system."""

    values: tuple[Floats, ...]
    subsets: tuple[PeopleSubsets, ...]

    def of_value(self, number: int) -> tuple[OrderValues, ...]:
        """Return one value of every system."""
        pairs = zip(self.values, self.subsets, strict=True)
        return tuple(OrderValues(values[number], subset.rows) for values, subset in pairs)

    def most_people(self) -> list[int]:
        """Return the number of people of the largest subset, by system."""
        return [int(subset.subsets[subset.rows[0, -1]].sum()) for subset in self.subsets]

    def with_all_people(self) -> Floats:
        """Return values × systems × items with all people, who are the last size."""
        pairs = zip(self.values, self.subsets, strict=True)
        return np.stack([values[:, subset.rows[0, -1]] for values, subset in pairs], axis=1)


def score_orders(
    data: ExperimentData,
    orders: Ints,
    isolated: Sequence[int],
    sizes_by_isolation: Mapping[bool, Sequence[int]],
    map_: Map,
    progress: Progress,
    saved: SavedBlocks | None,
) -> dict[bool, OrderTables]:
    """Return the scores with and, if there are isolated people, without these."""
    merged = [
        merge_subsets(
            [
                first_people(orders, sorted({*group, *(() if with_all else isolated)}), sizes)
                for with_all, sizes in sizes_by_isolation.items()
            ]
        )
        for group in data.groups
    ]
    worker = ScoreSubsets(
        data.setup.metrics, data.names, tuple(parts[0].subsets for parts in merged)
    )
    _check_memory(data, worker)
    group_of = [0 if n not in data.people else data.own_people.index(n) + 1 for n in data.systems]
    values = tuple(
        np.full((len(data.names), len(worker.groups[group]), len(data.items)), np.nan)
        for group in group_of
    )
    for task, block in score_tasks(worker, data.tasks, map_, progress, saved):
        for place, system in enumerate(task.systems):
            values[system][:, :, task.item] = block[:, place].T
    return {
        with_all: OrderTables(values, tuple(merged[group][part] for group in group_of))
        for part, with_all in enumerate(sizes_by_isolation)
    }


MAX_SCORES = 250_000_000  # in memory, 2 GB


def _check_memory(data: ExperimentData, worker: ScoreSubsets) -> None:
    """Raise UsageError if the scores of all subsets do not fit into memory."""
    subsets = max(map(len, worker.groups))
    scores = subsets * len(data.names) * len(data.systems) * len(data.items)
    if scores > MAX_SCORES:
        raise UsageError(
            f"{scores:,} scores of {subsets:,} groups of people do not fit into memory — use fewer "
            "orders, sizes or items"
        )


def _judged_values(systems: Sequence[OrderValues], judged: Judgements) -> list[OrderValues]:
    """Return the values of judged systems and items; undefined for outputs without a vote."""
    is_rated = ~np.isnan(cell_means(judged.votes)[0])
    return [
        OrderValues(systems[number].values[:, judged.items], systems[number].index).only(rated)
        for number, rated in zip(judged.systems, is_rated, strict=True)
    ]


class ValueTask(NamedTuple):
    """One value of all systems, and whether lower is better."""

    systems: tuple[OrderValues, ...]
    low_is_good: bool


class ValueSummary(NamedTuple):
    """Curves by system, and correlations with and without the human system."""

    curves: list[CurveBands]
    correlations: dict[bool, OrderCorrelations]


@dataclass(frozen=True)
class SummarizeValue:
    """Curves and correlations of one value; sent to each worker once.

    ``human`` is the number of the human system, or -1.
    """

    settings: DrawSettings
    judged: Judgements | None
    names: tuple[str, ...]
    human: int

    def __call__(self, task: ValueTask) -> ValueSummary:
        curves = [curve_bands(system, self.settings) for system in task.systems]
        systems = [
            replace(system, values=-system.values) if self.is_negated(task.low_is_good) else system
            for system in task.systems
        ]
        return ValueSummary(
            curves,
            {
                human: order_correlations(
                    _judged_values(systems, judged), judged.votes, self.names, self.settings
                )
                for human, judged in self.judged_by_human().items()
            },
        )

    def is_negated(self, low_is_good: bool) -> bool:
        """Whether values are negated, so that better values go with higher ratings."""
        return self.judged is not None and low_is_good != (self.judged.scale.best == "low")

    def judged_by_human(self) -> dict[bool, Judgements]:
        """Return the judgements with the human system, if there is one, and without."""
        if self.judged is None:
            return {}
        with_human = {True: self.judged} if self.human in self.judged.systems else {}
        return {**with_human, False: self.judged.without(self.human)}
