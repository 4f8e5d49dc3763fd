"""How well people agree with people: what a metric can hardly beat.

Two ways. Every rater against the mean of the others, on the cells (items of systems) that both have
votes on: as well as one more person would do. And random halves of the raters against one another,
many times: as well as another panel of half the size would do. For Pearson the formula of Spearman
and Brown says what two whole panels would have; for other coefficients there is no such formula,
so it is done only where asked for, and kept apart.

Which coefficient, and at which level (over systems, within items, over everything), is up to the
caller: a function that takes two batches of tables, systems × items with NaN in the same cells of
both, and gives one value for each pair. Where that is NaN it is counted as undefined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from earwitness.stats.concord.levels import paired
from earwitness.stats.exact import Floats, Parts, split, weighted_sums
from earwitness.stats.student import ratio
from earwitness.stats.votes import Votes

HELD = 2_000_000  # cells in memory at a time

Concordance = Callable[[Floats, Floats], Floats]
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


def each_against_others(votes: Votes, concordance: Concordance) -> Ceiling:
    """One value a rater, NaN for raters without a vote that others share."""
    return _ceiling(_values(votes, np.eye(votes.size[2]), concordance))


def split_halves(
    votes: Votes, concordance: Concordance, *, splits: int, seed: int, step_up: bool = False
) -> Ceiling:
    """One value a split; of an odd number of raters the second half has one more.

    ``step_up`` is for Pearson alone. Raters without any vote are in neither half.
    """
    found = _ceiling(_values(votes, halves(votes, splits, seed), concordance))
    return _stepped(found) if step_up else found


def ceilings(
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


def _values(votes: Votes, firsts: Floats, concordance: Concordance) -> Floats:
    """Raters with a 1 against those with a 0, row by row."""
    found = [concordance(*pair) for pair in _pairs(votes, firsts)]
    return np.concatenate(found) if found else np.zeros(0)


def _pairs(votes: Votes, firsts: Floats) -> Iterator[tuple[Floats, Floats]]:
    """Means of both sides in blocks, NaN where either has no vote."""
    systems, items, _ = votes.size
    table = votes.table().T
    known = ~np.isnan(table)
    values, counts = split(np.where(known, table, 0)), split(known.astype(np.float64))
    rows = max(1, HELD // max(1, systems * items))
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
