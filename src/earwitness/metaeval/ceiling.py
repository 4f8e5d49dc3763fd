"""Agreement among raters: single raters and random halves of the panel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.levels import cell_means, compare_paired_tables
from earwitness.metaeval.results import Figure, HumanCeiling
from earwitness.stats.arrays import Floats, Parts, split, weighted_sums
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import ratio
from earwitness.stats.votes import MedianVotes, Votes

# --- Agreement among raters ----------------------------------------------------------------------
# Two measures. Each rater is compared with the mean of the other raters on the cells (items of
# systems) on which both have votes: the agreement of one more rater. Random halves of the raters
# are compared with each other, many times: the agreement of another panel of half the size. For
# Pearson's r, the Spearman–Brown formula gives the agreement of two full panels; there is no such
# formula for other coefficients.


CELLS_IN_CACHE = 50_000  # number of cells processed at once; tables of pairs fit the cache


@dataclass(frozen=True)
class Ceiling:
    """Agreement per rater or split (``values``), and the ``mean`` of the ``n`` defined values.

    ``stepped`` is the mean after the Spearman–Brown formula. It is NaN if not requested, and if the
    mean is below 0.
    """

    values: Floats
    mean: float
    n: int
    undefined: int
    stepped: float = math.nan


def measure_ceilings(
    votes: Votes, level: str, names: Sequence[str], *, splits: int, seed: int
) -> list[tuple[Ceiling, Ceiling]]:
    """Return both measures for each coefficient at a level, with Spearman–Brown for Pearson's r.

    Coefficients share tables and pairs, which is much faster than one coefficient at a time.
    """
    values_by_way = []
    for firsts in (np.eye(votes.size[2]), draw_halves(votes, splits, seed)):
        sides = side_tables(votes, firsts)
        tables = [_compare_sides(*pair, level, names) for pair in sides]
        values_by_way.append(np.concatenate([np.empty((len(names), 0)), *tables], axis=1))
    return [
        (
            summarise_values(rater_values),
            step_up(summarise_values(half_values))
            if name == "pearson"
            else summarise_values(half_values),
        )
        for name, rater_values, half_values in zip(names, *values_by_way, strict=True)
    ]


def _compare_sides(first: Floats, second: Floats, level: str, names: Sequence[str]) -> Floats:
    """Return coefficients × tables; all cells are outputs of one item at the global level."""
    if level == "global":
        first, second = (side.reshape(len(side), -1, 1) for side in (first, second))
        level = "item"
    return compare_paired_tables(first, second, level, names)


def draw_halves(votes: Votes, splits: int, seed: int) -> Floats:
    """Return one row per split: 1 for raters of the first half, 0 for others."""
    raters = np.unique(votes.listeners)
    rng = np.random.Generator(np.random.PCG64((seed, 0)))
    order = np.argsort(rng.random((splits, len(raters))), axis=1, kind="stable")
    first_half = np.zeros((splits, votes.size[2]))
    np.put_along_axis(first_half, raters[order[:, : len(raters) // 2]], 1.0, axis=1)
    return first_half


def step_up(ceiling: Ceiling) -> Ceiling:
    """Add the agreement of two full panels by the Spearman–Brown formula."""
    if not ceiling.mean >= 0:
        return ceiling
    return replace(ceiling, stepped=2 * ceiling.mean / (1 + ceiling.mean))


def summarise_values(values: Floats) -> Ceiling:
    """Return the mean of defined values; NaN counts as undefined."""
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if len(defined) else math.nan
    return Ceiling(values, mean, len(defined), len(values) - len(defined))


def side_tables(votes: Votes, firsts: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Yield cell means of both sides in blocks, NaN where either side has no vote."""
    systems, items, _ = votes.size
    table = votes.table().T
    is_known = ~np.isnan(table)
    values, counts = split(np.where(is_known, table, 0)), split(is_known.astype(np.float64))
    rows = max(1, CELLS_IN_CACHE // max(1, systems * items))
    for start in range(0, len(firsts), rows):
        block = firsts[start : start + rows]
        first, second = (
            cell_means(votes, side).swapaxes(1, 2).reshape(len(block), -1)
            if isinstance(votes, MedianVotes)
            else _cell_means(side, values, counts)
            for side in (block, 1 - block)
        )
        gaps = np.isnan(first) | np.isnan(second)
        first[gaps] = second[gaps] = np.nan
        yield (
            first.reshape(-1, items, systems).swapaxes(1, 2),
            second.reshape(-1, items, systems).swapaxes(1, 2),
        )


def _cell_means(weights: Floats, values: Parts, counts: Parts) -> Floats:
    """Return the mean vote of the raters of each row in each cell; NaN without a vote."""
    return ratio(weighted_sums(weights, values).sum(axis=0), weighted_sums(weights, counts)[0])


# --- Rater agreement on a scale ------------------------------------------------------------------


MIN_RATERS_FOR_CEILING = 3


def estimate_ceilings(comparison: ScaleComparison) -> list[HumanCeiling]:
    """Return rater agreement for each coefficient; empty with choices or too few raters."""
    settings = comparison.settings
    if (
        not isinstance(comparison.opinions, Votes)
        or len(np.unique(comparison.opinions.listeners)) < MIN_RATERS_FOR_CEILING
    ):
        return []
    ceilings = []
    for level in comparison.levels:
        if level == "global" and len(comparison.table.systems) > 1:
            continue
        names, opinions = settings.coefficient_names(level), comparison.at_level(level).opinions
        assert isinstance(opinions, Votes)
        measured = measure_ceilings(
            opinions, level, names, splits=settings.splits, seed=settings.seed
        )
        for name, (rater, halves) in zip(names, measured, strict=True):
            ceilings.append(
                HumanCeiling(
                    Figure(level, name),
                    _estimate(rater, settings.level, "a rater against the others"),
                    _estimate(halves, settings.level, "halves of the raters"),
                    halves.stepped,
                )
            )
    return ceilings


def _estimate(ceiling: Ceiling, level: float, method: str) -> Estimate:
    """Return the mean, with the percentile range of raters or splits."""
    low = high = math.nan
    if ceiling.n >= MIN_CASES_FOR_INTERVAL:
        ends = percentile_interval(ceiling.values[~np.isnan(ceiling.values)][:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(ceiling.mean, low, high, level, ceiling.n, ceiling.undefined, method)
