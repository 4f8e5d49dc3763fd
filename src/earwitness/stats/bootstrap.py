"""Bootstrap over outputs, listeners and items: weights of draws and percentile intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.core import Estimate
from earwitness.stats.arrays import Floats, Hashes, Ints, seeded_generator, split, weighted_sums
from earwitness.stats.significance import build_estimates, ratio
from earwitness.stats.votes import Votes

# --- Draw weights --------------------------------------------------------------------------------


WEIGHTS_IN_MEMORY = 2_000_000
# Counts of the weights 0, 1, 2 … 8 among 65,536 equally likely numbers: Poisson(1), rounded.
POISSON_TABLE = np.repeat(
    np.arange(9, dtype=np.uint8), [24109, 24109, 12055, 4018, 1005, 201, 33, 5, 1]
)
GOLDEN_RATIO_64 = np.uint64(0x9E3779B97F4A7C15)
SPLITMIX_STEPS = (
    (np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)),
    (np.uint64(27), np.uint64(0x94D049BB133111EB)),
)


def multinomial_weights(n: int, draws: int, seed: int) -> Iterator[Floats]:
    """Yield blocks of rows; each row is one draw of ``n`` out of ``n`` cases with replacement."""
    if n * draws <= WEIGHTS_IN_MEMORY:
        yield _cached_weights(n, draws, seed)
        return
    yield from _weight_blocks(n, draws, seed)


@lru_cache(maxsize=2)
def _cached_weights(n: int, draws: int, seed: int) -> Floats:
    """Return the weights; cached, since many estimates have the same number of cases."""
    (weights,) = _weight_blocks(n, draws, seed)
    weights.flags.writeable = False
    return weights


def _weight_blocks(n: int, draws: int, seed: int) -> Iterator[Floats]:
    rng = seeded_generator(seed)
    block = max(1, WEIGHTS_IN_MEMORY // n)
    for start in range(0, draws, block):
        yield draw_weights(n, min(block, draws - start), rng)


def draw_weights(n: int, rows: int, rng: np.random.Generator) -> Floats:
    """Return counts of ``n`` units drawn ``n`` times with replacement, one row per draw."""
    picks = rng.integers(0, max(n, 1), (rows, n))
    picks += np.arange(rows)[:, None] * n
    counts = np.bincount(picks.ravel(), minlength=rows * n)
    return counts.reshape(rows, n).astype(np.float64)


def poisson_weights(hashes: Hashes, draws: int, seed: int) -> NDArray[np.uint8]:
    """Return independent Poisson(1) weights, one row per case and one column per draw.

    The weights of a case depend only on its hash and the seed, so they do not depend on the order
    or grouping of cases.
    """
    words = -(-draws // 4)
    start = hashes ^ mix_hashes(np.array([seed], np.uint64))
    steps = np.arange(1, words + 1, dtype=np.uint64) * GOLDEN_RATIO_64
    bits = mix_hashes(start[:, None] + steps)
    weights: NDArray[np.uint8] = POISSON_TABLE[bits.astype("<u8", copy=False).view("<u2")]
    return weights[:, :draws]


def mix_hashes(numbers: Hashes) -> Hashes:
    """Mix 64-bit numbers with SplitMix64 (Steele, Lea & Flood 2014)."""
    for shift, factor in SPLITMIX_STEPS:
        numbers = (numbers ^ (numbers >> shift)) * factor
    return numbers ^ (numbers >> np.uint64(31))


# --- Bootstrap over outputs ----------------------------------------------------------------------


MULTINOMIAL_UP_TO = 100_000
MIN_CASES_FOR_INTERVAL = 5  # smallest number of cases for an interval
CASES_PER_FOLD = 200  # number of cases that get Poisson weights at once; fits the cache


class BootstrapSums(NamedTuple):
    """Summed statistics of all cases, and of each draw."""

    total: Floats
    draws: Floats
    method: str


@dataclass
class Bootstrap:
    """Bootstrap sums of cases that arrive in any order and in any portions.

    Up to ``limit`` cases are kept and drawn with replacement. With more cases, each case gets
    Poisson
    weights on arrival and is not kept, so that memory use is constant.
    """

    draws: int = 1000
    seed: int = 0
    limit: int = MULTINOMIAL_UP_TO
    count: int = 0
    _kept: list[tuple[Hashes, Floats]] = field(default_factory=list)
    _sums: Floats | None = None

    def add(self, hashes: Hashes, statistics: Floats) -> None:
        """Add cases: hashes of their items, and one row of statistics per case."""
        self.count += len(hashes)
        self._kept.append((hashes, statistics))
        if self.count > self.limit:
            for kept_hashes, rows in self._kept:
                for start in range(0, len(kept_hashes), CASES_PER_FOLD):
                    cases = slice(start, start + CASES_PER_FOLD)
                    weights = np.ones((self.draws + 1, len(kept_hashes[cases])))
                    weights[1:] = poisson_weights(kept_hashes[cases], self.draws, self.seed).T
                    sums = weighted_sums(weights, split(rows[cases]))
                    self._sums = sums if self._sums is None else self._sums + sums
            self._kept = []

    def cases(self) -> tuple[Hashes, Floats]:
        """Return the kept cases in order of their hashes."""
        if not self._kept:
            raise ValueError("a bootstrap needs at least one case")
        hashes = np.concatenate([hashes for hashes, _ in self._kept])
        statistics = np.concatenate([rows for _, rows in self._kept])
        order = np.argsort(hashes, kind="stable")
        return hashes[order], statistics[order]

    def finish(self) -> BootstrapSums:
        """Return the sums of all added cases."""
        if self._sums is not None:
            return self._result(self._sums, "bootstrap-poisson")
        hashes, statistics = self.cases()
        parts = split(statistics)
        blocks = multinomial_weights(len(hashes), self.draws, self.seed)
        sums = [weighted_sums(np.ones((1, len(hashes))), parts)]
        sums += [weighted_sums(block, parts) for block in blocks]
        return self._result(np.concatenate(sums, axis=1), "bootstrap-multinomial")

    @staticmethod
    def _result(parts: Floats, method: str) -> BootstrapSums:
        sums = parts[0] + parts[1]
        return BootstrapSums(sums[0], sums[1:], method)


def percentile_interval(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Return both ends of the percentile interval of each column; undefined draws are skipped."""
    tail = 100 * (1 - level) / 2
    ends = np.full((2, draws.shape[1]), np.nan)
    for column in range(draws.shape[1]):
        defined = draws[~np.isnan(draws[:, column]), column]
        if len(defined):
            ends[:, column] = np.percentile(defined, [tail, 100 - tail])
    return ends[0], ends[1]


def bootstrap_estimates(
    names: Sequence[str],
    total: Floats,
    draws: Floats,
    counts: tuple[Ints, Ints],
    level: float,
    method: str,
) -> dict[str, Estimate]:
    """Return estimates by name from values of all cases and of each draw.

    ``counts`` has the numbers of defined and of undefined cases by name. With fewer than
    ``MIN_CASES_FOR_INTERVAL`` defined cases there is no interval.
    """
    lows, highs = percentile_interval(draws, level)
    is_few = counts[0] < MIN_CASES_FOR_INTERVAL
    lows[is_few] = highs[is_few] = np.nan
    estimates = build_estimates(total, (lows, highs), level, *counts, method)
    return dict(zip(names, estimates, strict=True))


# --- Listener and item draws ---------------------------------------------------------------------
# All systems share the draws, and a listener is drawn with all their votes. A draw is a row of
# integer weights: how often each listener (or item) was drawn. Weights are created in blocks, so
# that memory use does not grow with the number of draws; block size does not change results.


PRODUCTS_IN_CACHE = 200_000  # number of weight products at once; fits the cache


def draw_weight_blocks(counts: tuple[int, ...], draws: int, seed: int) -> Iterator[list[Floats]]:
    """Yield weights of independently drawn units: one array per kind, one row per draw."""
    rngs = [seeded_generator((seed, stream)) for stream in range(len(counts))]
    rows = max(1, WEIGHTS_IN_MEMORY // max(1, sum(counts)))
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        yield [draw_weights(n, count, rng) for n, rng in zip(counts, rngs, strict=True)]


def listener_draws(table: Floats, draws: int, seed: int) -> Floats:
    """Return column means of a table whose rows are resampled, one row per draw; gaps are NaN."""
    is_known = ~np.isnan(table)
    columns = np.concatenate([np.where(is_known, table, 0), is_known], axis=1)
    width = table.shape[1]
    sums = [weight @ columns for (weight,) in draw_weight_blocks((len(table),), draws, seed)]
    sums_and_counts = np.concatenate(sums) if sums else np.zeros((0, 2 * width))
    return ratio(sums_and_counts[:, :width], sums_and_counts[:, width:])


def two_way_draws(votes: Votes, draws: int, seed: int) -> Floats:
    """Return system means with listeners and items resampled independently, one row per draw.

    All listeners and items of ``votes.size`` are resampled, including those without a vote.
    """
    means = [
        _weighted_means(votes, *pair)
        for pair in draw_weight_blocks(votes.size[2:0:-1], draws, seed)
    ]
    return np.concatenate(means) if means else np.zeros((0, votes.size[0]))


def _weighted_means(votes: Votes, listeners: Floats, items: Floats) -> Floats:
    """Return means of votes, weighted by the product of listener and item weights."""
    listener_weights = np.ascontiguousarray(listeners.T)
    item_weights = np.ascontiguousarray(items.T)
    sums = np.zeros((2, votes.size[0], len(listeners)))
    step = max(1, PRODUCTS_IN_CACHE // len(listeners))
    for system in range(votes.size[0]):
        own = np.flatnonzero(votes.systems == system)
        for start in range(0, len(own), step):
            places = own[start : start + step]
            product = listener_weights[votes.listeners[places]]
            product *= item_weights[votes.items[places]]
            rows = np.stack([votes.values[places], np.ones(len(places))])
            sums[:, system] += rows @ product
    return ratio(*sums).T
