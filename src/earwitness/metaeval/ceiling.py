"""Human ceiling: single raters and halves of the panel against one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.core import Estimate
from earwitness.metaeval.figures import ScaleComparison
from earwitness.metaeval.levels import paired
from earwitness.metaeval.results import Figure, HumanCeiling
from earwitness.stats.arrays import Floats, Parts, split, weighted_sums
from earwitness.stats.bootstrap import MIN_CASES_FOR_INTERVAL, percentile_interval
from earwitness.stats.significance import ratio
from earwitness.stats.votes import Votes

# --- Agreement among raters ----------------------------------------------------------------------
# Two ways. Every rater against the mean of the others, on the cells (items of systems) that both
# have votes on: as well as one more person would do. And random halves of the raters against one
# another, many times: as well as another panel of half the size would do. For Pearson the formula
# of Spearman and Brown says what two whole panels would have; for other coefficients there is no
# such formula, so it is done only where asked for, and kept apart.
#
# Which coefficient, and at which level (over systems, within items, over everything), is up to the
# caller: a function that takes two batches of tables, systems × items with NaN in the same cells of
# both, and gives one value for each pair. Where that is NaN it is counted as undefined.


CELLS_IN_MEMORY = 2_000_000  # at a time

CoefficientFunction = Callable[[Floats, Floats], Floats]
"""Two arrays, pairs × systems × items, to one value a pair."""


@dataclass(frozen=True)
class Ceiling:
    """``values`` has one number a rater or a split, ``mean`` is that of the ``n`` defined ones.

    ``stepped`` is the mean by Spearman and Brown's formula; NaN where that was not asked for, and
    where the mean is below 0: halves that disagree say nothing about the whole.
    """

    values: Floats
    mean: float
    n: int
    undefined: int
    stepped: float = math.nan


def each_against_others(votes: Votes, concordance: CoefficientFunction) -> Ceiling:
    """One value a rater, NaN for raters without a vote that others share."""
    return _ceiling(_values(votes, np.eye(votes.size[2]), concordance))


def split_halves(
    votes: Votes, concordance: CoefficientFunction, *, splits: int, seed: int, step_up: bool = False
) -> Ceiling:
    """One value a split; of an odd number of raters the second half has one more.

    ``step_up`` is for Pearson alone. Raters without any vote are in neither half.
    """
    found = _ceiling(_values(votes, halves(votes, splits, seed), concordance))
    return _stepped(found) if step_up else found


def measure_ceilings(
    votes: Votes, level: str, names: Sequence[str], *, splits: int, seed: int
) -> list[tuple[Ceiling, Ceiling]]:
    """Both ways for every coefficient at a level; Pearson's halves are stepped up.

    Coefficients share tables and pairs, so this is much faster than one after the other.
    """
    found = []
    for firsts in (np.eye(votes.size[2]), halves(votes, splits, seed)):
        tables = [paired(*pair, level, names) for pair in _pairs(votes, firsts)]
        found.append(np.concatenate([np.empty((len(names), 0)), *tables], axis=1))
    return [
        (_ceiling(alone), _stepped(_ceiling(split)) if name == "pearson" else _ceiling(split))
        for name, alone, split in zip(names, *found, strict=True)
    ]


def halves(votes: Votes, splits: int, seed: int) -> Floats:
    """A row a split: 1 for raters of the first half, 0 for others."""
    there = np.unique(votes.listeners)
    rng = np.random.Generator(np.random.PCG64((seed, 0)))
    order = np.argsort(rng.random((splits, len(there))), axis=1, kind="stable")
    found = np.zeros((splits, votes.size[2]))
    np.put_along_axis(found, there[order[:, : len(there) // 2]], 1.0, axis=1)
    return found


def _stepped(found: Ceiling) -> Ceiling:
    if not found.mean >= 0:
        return found
    return replace(found, stepped=2 * found.mean / (1 + found.mean))


def _ceiling(values: Floats) -> Ceiling:
    known = values[~np.isnan(values)]
    mean = float(known.mean()) if len(known) else math.nan
    return Ceiling(values, mean, len(known), len(values) - len(known))


def _values(votes: Votes, firsts: Floats, concordance: CoefficientFunction) -> Floats:
    """Raters with a 1 against those with a 0, row by row."""
    found = [concordance(*pair) for pair in _pairs(votes, firsts)]
    return np.concatenate(found) if found else np.zeros(0)


def _pairs(votes: Votes, firsts: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Means of both sides in blocks, NaN where either has no vote."""
    systems, items, _ = votes.size
    table = votes.table().T
    known = ~np.isnan(table)
    values, counts = split(np.where(known, table, 0)), split(known.astype(np.float64))
    rows = max(1, CELLS_IN_MEMORY // max(1, systems * items))
    for start in range(0, len(firsts), rows):
        block = firsts[start : start + rows]
        first, second = (_means(side, values, counts) for side in (block, 1 - block))
        gaps = np.isnan(first) | np.isnan(second)
        first[gaps] = second[gaps] = np.nan
        yield (
            first.reshape(-1, items, systems).swapaxes(1, 2),
            second.reshape(-1, items, systems).swapaxes(1, 2),
        )


def _means(weights: Floats, values: Parts, counts: Parts) -> Floats:
    """Of each row's raters in each cell; NaN where none has a vote."""
    return ratio(weighted_sums(weights, values).sum(axis=0), weighted_sums(weights, counts)[0])


# --- Human ceilings of a scale -------------------------------------------------------------------


MIN_RATERS_FOR_CEILING = 3


def estimate_ceilings(asked: ScaleComparison) -> list[HumanCeiling]:
    """By every figure; none where votes of single raters are not known, or of too few."""
    settings = asked.settings
    if (
        not isinstance(asked.given, Votes)
        or len(np.unique(asked.given.listeners)) < MIN_RATERS_FOR_CEILING
    ):
        return []
    found = []
    for level in asked.levels:
        if level == "global":
            continue
        names, given = settings.figures(level), asked.at(level).given
        assert isinstance(given, Votes)
        both = measure_ceilings(given, level, names, splits=settings.splits, seed=settings.seed)
        for name, (rater, halves) in zip(names, both, strict=True):
            found.append(
                HumanCeiling(
                    Figure(level, name),
                    _estimate(rater, settings.level, "a rater against the others"),
                    _estimate(halves, settings.level, "halves of the raters"),
                    halves.stepped,
                )
            )
    return found


def _estimate(found: Ceiling, level: float, method: str) -> Estimate:
    """The mean; the range of most raters or splits."""
    low = high = math.nan
    if found.n >= MIN_CASES_FOR_INTERVAL:
        ends = percentile_interval(found.values[~np.isnan(found.values)][:, None], level)
        low, high = float(ends[0][0]), float(ends[1][0])
    return Estimate(found.mean, low, high, level, found.n, found.undefined, method)
