"""Agreement among raters: single raters and random halves of the panel."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.coefficients import coefficient_names
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.levels import cell_means, compare_paired_tables
from earwitness.metaeval.results import Figure, HumanCeiling
from earwitness.stats.arrays import Floats, seeded_generator, split, weighted_sums
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
    """Agreement per rater or split; NaN if undefined."""

    values: Floats

    @property
    def defined(self) -> Floats:
        """Values that are defined."""
        return self.values[~np.isnan(self.values)]

    @property
    def mean(self) -> float:
        """Mean of the defined values."""
        return float(self.defined.mean()) if len(self.defined) else math.nan

    @property
    def stepped(self) -> float:
        """Agreement of two full panels by the Spearman–Brown formula; NaN if it is below 0."""
        return 2 * self.mean / (1 + self.mean) if self.mean >= 0 else math.nan

    def estimate(self, level: float, method: str) -> Estimate:
        """Return the mean, with the percentile range of raters or splits."""
        n, low, high = len(self.defined), math.nan, math.nan
        if n >= MIN_CASES_FOR_INTERVAL:
            ends = percentile_interval(self.defined[:, None], level)
            low, high = float(ends[0][0]), float(ends[1][0])
        return Estimate(self.mean, low, high, level, n, len(self.values) - n, method)


def measure_ceilings(
    votes: Votes, level: str, names: Sequence[str], *, splits: int, seed: int
) -> list[tuple[Ceiling, Ceiling]]:
    """Return both measures for each coefficient at a level.

    Coefficients share tables and pairs, which is much faster than one coefficient at a time.
    """
    values_by_way = []
    for firsts in (np.eye(votes.size[2]), draw_halves(votes, splits, seed)):
        tables = []
        for sides in side_tables(votes, firsts):
            if level == "global":  # all cells are outputs of one item
                first, second = (side.reshape(len(side), -1, 1) for side in sides)
                tables.append(compare_paired_tables(first, second, "item", names))
            else:
                tables.append(compare_paired_tables(*sides, level, names))
        values_by_way.append(np.concatenate([np.empty((len(names), 0)), *tables], axis=1))
    return [(Ceiling(a), Ceiling(b)) for a, b in zip(*values_by_way, strict=True)]


def draw_halves(votes: Votes, splits: int, seed: int) -> Floats:
    """Return one row per split: 1 for raters of the first half, 0 for others."""
    raters = np.unique(votes.listeners)
    rng = seeded_generator((seed, 0))
    order = np.argsort(rng.random((splits, len(raters))), axis=1, kind="stable")
    first_half = np.zeros((splits, votes.size[2]))
    np.put_along_axis(first_half, raters[order[:, : len(raters) // 2]], 1.0, axis=1)
    return first_half


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
            else ratio(weighted_sums(side, values).sum(axis=0), weighted_sums(side, counts)[0])
            for side in (block, 1 - block)
        )
        gaps = np.isnan(first) | np.isnan(second)
        first, second = (
            np.where(gaps, np.nan, side).reshape(-1, items, systems).swapaxes(1, 2)
            for side in (first, second)
        )
        yield first, second


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
        names, opinions = coefficient_names(level), comparison.at_level(level).opinions
        assert isinstance(opinions, Votes)
        measured = measure_ceilings(
            opinions, level, names, splits=settings.splits, seed=settings.seed
        )
        for name, (rater, halves) in zip(names, measured, strict=True):
            ceilings.append(
                HumanCeiling(
                    Figure(level, name),
                    rater.estimate(settings.level, "a rater against the others"),
                    halves.estimate(settings.level, "halves of the raters"),
                    halves.stepped if name == "pearson" else math.nan,
                )
            )
    return ceilings
