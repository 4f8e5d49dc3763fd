"""Krippendorff's alpha: how far votes on the same stimulus agree beyond chance, gaps allowed.

Alpha is 1 − observed / expected disagreement, of pairs of votes on one unit beside pairs of all
votes. On an interval scale disagreement is the squared difference, and sums over pairs follow from
sums and sums of squares. On an ordinal scale it is the squared difference of mid-ranks: what
Krippendorff counts between two values is exactly that. On a nominal scale pairs of equal votes are
counted. So the work grows with the votes, not with the square of the number of different values.

The interval is by a bootstrap over units: each draw is the alpha of a table of as many units,
drawn with replacement; ranks are those of the draw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from earwitness.data import Estimate
from earwitness.stats import weights
from earwitness.stats.bootstrap import FEWEST, percentile_interval
from earwitness.stats.exact import Floats
from earwitness.stats.votes import Codes

Level = Literal["nominal", "ordinal", "interval"]
HELD = 2_000_000  # votes of draws in memory at a time
TABLE = 1_000_000  # counts of values by unit that are held
LEAST = 1e-12  # expected disagreement below this part of the squares is rounding


@dataclass(frozen=True)
class Units:
    """Votes of units that have two or more, unit by unit; ``starts`` is where each begins."""

    votes: Floats
    sizes: Floats
    starts: Codes
    left: int

    @cached_property
    def units(self) -> Codes:
        """The unit of each vote."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes.astype(np.int64))

    @cached_property
    def codes(self) -> Codes:
        """The number of each vote's value, in the order of values."""
        return np.unique(self.votes, return_inverse=True)[1].reshape(-1)

    @cached_property
    def counts(self) -> Floats | None:
        """How often every unit has every value, unless that is too large a table."""
        shape = len(self.sizes), int(self.codes.max()) + 1
        if shape[0] * shape[1] > TABLE:
            return None
        found = np.bincount(self.units * shape[1] + self.codes, minlength=shape[0] * shape[1])
        return found.reshape(shape).astype(np.float64)

    @cached_property
    def by_value(self) -> tuple[Codes, Codes]:
        """The unit of each vote in the order of values, and where each value begins."""
        order = np.argsort(self.codes, kind="stable")
        return self.units[order], np.flatnonzero(np.diff(self.codes[order], prepend=-1))

    @cached_property
    def same(self) -> Floats:
        """Pairs of equal votes of every unit, each vote with itself too."""
        if self.counts is not None:
            found: Floats = (self.counts**2).sum(axis=1)
            return found
        order = np.lexsort((self.codes, self.units))
        pairs = np.stack([self.units[order], self.codes[order]])
        first = np.flatnonzero(np.diff(pairs, prepend=-1).any(axis=0))
        equal = np.diff(np.append(first, pairs.shape[1])).astype(np.float64) ** 2
        return np.bincount(pairs[0][first], equal, len(self.sizes)).astype(np.float64)


def alpha(
    table: Floats,
    measured: Level = "ordinal",
    *,
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Estimate:
    """Alpha of a table with a row a unit and a column a rater; NaN where there is no vote.

    Units with fewer than two votes pair with nothing and are counted as undefined. Where all votes
    are equal nothing is expected to differ, and alpha is undefined.
    """
    units = paired(table)
    count, method = len(units.sizes), f"bootstrap-units-{draws}"
    nan = float("nan")
    if not count:
        return Estimate(nan, nan, nan, level, 0, units.left, method)
    of = MEASURES[measured]
    value = float(of(units, np.ones((1, count)))[0])
    low = high = np.array([nan])
    if count >= FEWEST and draws:
        low, high = percentile_interval(_drawn(units, of, draws, seed)[:, None], level)
    return Estimate(value, float(low[0]), float(high[0]), level, count, units.left, method)


def _drawn(units: Units, of: Measure, draws: int, seed: int) -> Floats:
    count, step = len(units.sizes), max(1, HELD // len(units.votes))
    found = []
    for block in weights.multinomial(count, draws, seed):
        found += [of(units, block[at : at + step]) for at in range(0, len(block), step)]
    return np.concatenate(found)


def paired(table: Floats) -> Units:
    """What pairs with something, out of a table."""
    there = ~np.isnan(table)
    sizes = there.sum(axis=1)
    both = sizes >= 2
    sizes = sizes[both]
    votes = table[both][there[both]]
    return Units(votes, sizes.astype(np.float64), np.cumsum(sizes) - sizes, len(table) - len(sizes))


def _interval(units: Units, drawn: Floats) -> Floats:
    """By moments: a unit has its sum, its sum of squares and the squares about its own mean."""
    moved = units.votes - units.votes.mean()
    sums = np.add.reduceat(moved, units.starts)
    squares = np.add.reduceat(moved**2, units.starts)
    own = moved - (sums / units.sizes)[units.units]
    inside = np.add.reduceat(own**2, units.starts) * units.sizes / (units.sizes - 1)
    n, total, square, within = (drawn @ np.stack([units.sizes, sums, squares, inside], axis=1)).T
    return _alpha(within, (n * square - total**2) / (n - 1), n * square)


def _ordinal(units: Units, drawn: Floats) -> Floats:
    """As on an interval scale, of mid-ranks, which differ from draw to draw."""
    counts = _totals(units, drawn)
    n = counts.sum(axis=1)
    ranks = np.cumsum(counts, axis=1) - counts / 2 - n[:, None] / 2  # about their mean
    inside = _inside(units, ranks) * (units.sizes / (units.sizes - 1))
    square = (counts * ranks**2).sum(axis=1)
    return _alpha((drawn * inside).sum(axis=1), n * square / (n - 1), n**3)


def _inside(units: Units, ranks: Floats) -> Floats:
    """Squares of ranks about the mean of each unit, by draw."""
    if units.counts is not None:
        sums, squares = ranks @ units.counts.T, ranks**2 @ units.counts.T
        return np.maximum(squares - sums**2 / units.sizes, 0)
    own = ranks[:, units.codes]
    own -= (np.add.reduceat(own, units.starts, axis=1) / units.sizes)[:, units.units]
    found: Floats = np.add.reduceat(own**2, units.starts, axis=1)
    return found


def _nominal(units: Units, drawn: Floats) -> Floats:
    """Pairs of votes that differ: all pairs less those of equal votes."""
    counts = _totals(units, drawn)
    n = counts.sum(axis=1)
    within = drawn @ ((units.sizes**2 - units.same) / (units.sizes - 1))
    return _alpha(within, (n**2 - (counts**2).sum(axis=1)) / (n - 1), n)


def _totals(units: Units, drawn: Floats) -> Floats:
    """How often every draw has every value."""
    if units.counts is not None:
        return drawn @ units.counts
    found: Floats = np.add.reduceat(drawn[:, units.by_value[0]], units.by_value[1], axis=1)
    return found


def _alpha(observed: Floats, expected: Floats, scale: Floats) -> Floats:
    """Both disagreements are times the number of votes; rounding beside the scale is nothing."""
    defined = expected > LEAST * scale
    share: Floats = np.divide(observed, expected, np.full(len(observed), np.nan), where=defined)
    return 1 - share


Measure = Callable[[Units, Floats], Floats]
MEASURES: dict[Level, Measure] = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval}
