"""Student t, rank, exact binomial and permutation tests, and corrections for multiple tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from earwitness.core import Estimate
from earwitness.stats.arrays import (
    Bools,
    Floats,
    Ints,
    Parts,
    seeded_generator,
    split,
    weighted_sums,
)

# --- Student's t tests ---------------------------------------------------------------------------
# With fewer than two values there is no interval and no p. If all values are equal, the interval is
# a point; p is 1 if they are 0 and undefined otherwise, since there is no estimate of the spread,
# and the effect size is undefined.


SPREAD_TOLERANCE = 1e-9  # smaller standard deviations, relative to the mean, are rounding
# effect size beyond which the noncentral t equals its limit within 1 in 1,000
NONCENTRAL_LIMIT_SDS = 100


class Moments(NamedTuple):
    """Mean, standard deviation (n − 1) and number of values of each column."""

    mean: Floats
    sd: Floats
    n: Floats

    @property
    def freedom(self) -> Floats:
        """Degrees of freedom; NaN with fewer than two values."""
        return np.where(self.n > 1, self.n - 1, np.nan)

    @property
    def root_n(self) -> Floats:
        """Root of the number of values; NaN without a value."""
        return np.sqrt(np.where(self.n > 0, self.n, np.nan))

    @property
    def is_constant(self) -> Bools:
        """Whether all values are equal; False if unknown."""
        return np.asarray(self.sd <= SPREAD_TOLERANCE * np.maximum(1, np.abs(self.mean)))

    @property
    def t(self) -> Floats:
        """The t statistic; NaN if all values are equal."""
        return ratio(self.mean * self.root_n, np.where(self.is_constant, 0, self.sd))


def moments_from_sums(total: Floats, squares: Floats, n: Floats) -> Moments:
    """Return moments from sums and sums of squared deviations; NaN with too few values."""
    return Moments(ratio(total, n), np.sqrt(ratio(squares, n - 1)), n)


def column_moments(table: Floats) -> Moments:
    """Return the moments of columns with gaps (NaN)."""
    is_known = ~np.isnan(table)
    n = is_known.sum(axis=0).astype(np.float64)
    total = np.where(is_known, table, 0).sum(axis=0)
    deviations = np.where(is_known, table - ratio(total, n), 0)
    return moments_from_sums(total, (deviations**2).sum(axis=0), n)


def ratio(numerator: Floats, denominator: Floats | Ints) -> Floats:
    """Return numerator / denominator, NaN where the denominator is not positive."""
    ratios = np.full(np.shape(numerator), np.nan)
    np.divide(numerator, denominator, out=ratios, where=denominator > 0)
    return ratios


def mean_interval(moments: Moments, level: float) -> tuple[Floats, Floats]:
    """Return both ends of the t interval of the mean, with n − 1 degrees of freedom."""
    from scipy.special import stdtrit

    half = stdtrit(moments.freedom, (1 + level) / 2) * moments.sd / moments.root_n
    return moments.mean - half, moments.mean + half


def build_estimates(
    value: Floats,
    ends: tuple[Floats, Floats],
    level: float,
    n: Floats | Ints | int,
    undefined: Floats | Ints | float,
    methods: Sequence[str] | str,
) -> list[Estimate]:
    """Return one estimate per system from columns, or from what all systems share."""
    methods = [methods] * len(value) if isinstance(methods, str) else methods
    counts = (np.broadcast_to(count, value.shape) for count in (n, undefined))
    columns = zip(value.tolist(), *(end.tolist() for end in ends), *counts, methods, strict=True)
    return [
        Estimate(value, low, high, level, int(n), int(undefined), method)
        for value, low, high, n, undefined, method in columns
    ]


def compute_t_p_values(moments: Moments) -> Floats:
    """Return the two-sided p of the t test of a mean of 0."""
    from scipy.special import stdtr

    p = 2 * stdtr(moments.freedom, -np.abs(moments.t))
    return np.where(moments.is_constant & (np.abs(moments.mean) <= SPREAD_TOLERANCE), 1.0, p)


class Sizes(NamedTuple):
    """Hedges' g and its interval."""

    value: Floats
    low: Floats
    high: Floats


def effect_sizes(moments: Moments, level: float) -> Sizes:
    """Return Hedges' g_z: mean over standard deviation (d_z) times the exact small-sample factor.

    The interval inverts the noncentral t test and is multiplied by the same factor. With two values
    g is
    undefined, as the factor would be 0.
    """
    from scipy.special import gammaln

    t = moments.t
    freedom = np.where(moments.freedom > 1, moments.freedom, np.nan)
    shrunk = np.exp(gammaln(freedom / 2) - gammaln((freedom - 1) / 2)) * np.sqrt(2 / freedom)
    factor, is_far = shrunk / moments.root_n, np.abs(t) > NONCENTRAL_LIMIT_SDS * moments.root_n
    low, high = (factor * _noncentral_centre(freedom, t, is_far, side * level) for side in (1, -1))
    return Sizes(factor * t, low, high)


def _noncentral_centre(freedom: Floats, t: Floats, is_far: Bools, level: float) -> Floats:
    """Return the noncentrality with probability (1 + level) / 2 below ``t``.

    For large ``t`` only the chi distribution of the denominator matters; the search would
    not converge.
    """
    from scipy.special import chdtri, nctdtrinc

    chance = (1 + np.where(is_far, np.sign(t), 1) * level) / 2
    limit = t * np.sqrt(chdtri(freedom, chance) / freedom)
    near = nctdtrinc(freedom, chance, np.where(is_far, np.nan, t))
    return np.asarray(np.where(is_far, limit, near))


# --- Rank tests ----------------------------------------------------------------------------------
# The signed-rank test flips the signs of differences, so that it needs no normal distribution, only
# one that is symmetric around 0 without an effect. Ranks of tied differences are averaged.
# Differences of 0 have ranks, but no sign (Pratt 1959). p is exact, given the ranks, up to
# MAX_EXACT_DIFFERENCES; beyond that the sum of ranks is taken as normal, without a continuity
# correction. Without differences p is NaN; if all are 0, it is 1.
#
# Friedman's test compares the ranks of systems within listeners, by the chi-square distribution
# with a correction for ties. With two systems that distribution rejects too often, so there is no
# test.


MAX_EXACT_DIFFERENCES = 200
MIN_SYSTEMS_FOR_FRIEDMAN = 3
TIE_DECIMALS = 9  # differences that are equal to these decimals are ties


class SignedRankTests(NamedTuple):
    """Wilcoxon's test of each column: p, rank-biserial correlation, and number of differences."""

    p: Floats
    correlation: Floats
    n: Floats


def signed_rank_tests(table: Floats) -> SignedRankTests:
    """Return the two-sided Wilcoxon signed-rank test of columns with gaps (NaN).

    The matched-pairs rank-biserial correlation is the sum of ranks of positive differences minus
    that of negative ones, divided by the sum of both.

    >>> tests = signed_rank_tests(np.array([[1.0], [2.0], [3.0], [-4.0], [5.0]]))
    >>> tests.p.tolist(), tests.correlation.tolist()  # 4 of 15 or less: 7 of 32 ways, twice
    ([0.4375], [0.4666666666666667])
    """
    columns = [_signed_rank_test(column[~np.isnan(column)]) for column in table.T]
    n = (~np.isnan(table)).sum(axis=0).astype(np.float64)
    p, correlation = np.array(columns, np.float64).reshape(-1, 2).T
    return SignedRankTests(p, correlation, n)


def _signed_rank_test(differences: Floats) -> tuple[float, float]:
    """Return p and the rank-biserial correlation."""
    from scipy.special import ndtr

    if not len(differences):
        return math.nan, math.nan
    signs = np.sign(np.round(differences, TIE_DECIMALS))
    ranks = mid_ranks(np.abs(differences)[None, :])[0][signs != 0]
    balance = float((ranks * signs[signs != 0]).sum())  # positive minus negative ranks
    if not len(ranks):
        return 1.0, 0.0
    if len(ranks) <= MAX_EXACT_DIFFERENCES:
        p = _exact_balance_p(ranks, balance)
    else:
        p = float(2 * ndtr(-abs(balance) / math.sqrt(float((ranks**2).sum()))))
    return p, balance / float(ranks.sum())


def _exact_balance_p(ranks: Floats, balance: float) -> float:
    """Return the share of all signs of the ranks whose balance is at least as large."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # whole numbers: ties have ranks such as 2.5
    total = int(doubled.sum())
    shares = np.zeros(total + 1)  # of ways to reach each sum of positive ranks
    shares[0] = 1.0
    for rank in doubled.tolist():
        shares[rank:] += shares[:-rank].copy()
        shares /= 2
    balances = np.abs(2 * np.arange(total + 1) - total)
    return min(1.0, float(shares[balances >= round(2 * abs(balance))].sum()))


def mid_ranks(rows: Floats) -> Floats:
    """Return ranks within rows, from 1; ranks of ties are averaged.

    >>> mid_ranks(np.array([[3.0, 1.0, 3.0]])).tolist()
    [[2.5, 1.0, 2.5]]
    """
    rounded = np.round(rows, TIE_DECIMALS)
    below = rounded[..., :, None] > rounded[..., None, :]
    tied = rounded[..., :, None] == rounded[..., None, :]
    return np.asarray(below.sum(axis=-1) + (tied.sum(axis=-1) + 1) / 2)


class FriedmanStatistics(NamedTuple):
    """Friedman's chi-square, its degrees of freedom, p, and the number of complete rows."""

    statistic: float
    freedom: int
    p: float
    n: int


def friedman_test(table: Floats) -> FriedmanStatistics:
    """Return Friedman's test of equal columns, corrected for ties, over rows without gaps (NaN).

    Statistic and p are NaN without a complete row and with fewer than three columns. If all
    columns are tied in every row, the statistic is 0 and p is 1.
    """
    from scipy.special import chdtrc

    complete = table[~np.isnan(table).any(axis=1)]
    n, k = complete.shape
    if n == 0 or k < MIN_SYSTEMS_FOR_FRIEDMAN:
        return FriedmanStatistics(math.nan, max(k - 1, 0), math.nan, n)
    deviations = mid_ranks(complete) - (k + 1) / 2
    spread = float((deviations**2).sum())
    between = float((deviations.sum(axis=0) ** 2).sum())
    statistic = (k - 1) * between / spread if spread > 0 else 0.0
    return FriedmanStatistics(statistic, k - 1, float(chdtrc(k - 1, statistic)), n)


# --- Exact binomial tests ------------------------------------------------------------------------
# The two-sided test adds the probabilities of all outcomes that are no more likely than the
# observed one, as in R and SciPy. Without trials the result is NaN.


LIKELIHOOD_TOLERANCE_FACTOR = 1 + 1e-7  # likelihoods within this factor are equal
CLOPPER_PEARSON = "clopper_pearson"


def binomial_at_least(count: int, trials: int, chance: float = 0.5) -> float:
    """Return the probability of at least ``count`` successes.

    >>> binomial_at_least(9, 10)  # (10 + 1) / 1024
    0.0107421875
    """
    from scipy.special import bdtrc

    if trials == 0:
        return math.nan
    return float(bdtrc(count - 1, trials, chance)) if count > 0 else 1.0


def binomial_at_most(count: int, trials: int, chance: float = 0.5) -> float:
    """Return the probability of at most ``count`` successes."""
    from scipy.special import bdtr

    return float(bdtr(count, trials, chance)) if trials else math.nan


def binomial_two_sided(count: int, trials: int, chance: float = 0.5) -> float:
    """Return the probability of all outcomes that are no more likely than ``count``.

    >>> binomial_two_sided(9, 10)  # 0, 1, 9 or 10
    0.021484375
    """
    from scipy.special import gammaln, xlog1py, xlogy

    if trials == 0:
        return math.nan
    counts = np.arange(trials + 1, dtype=np.float64)
    ways = gammaln(trials + 1) - gammaln(counts + 1) - gammaln(trials - counts + 1)
    logarithms = ways + xlogy(counts, chance) + xlog1py(trials - counts, -chance)
    as_likely = np.flatnonzero(
        logarithms > logarithms[count] + math.log(LIKELIHOOD_TOLERANCE_FACTOR)
    )  # contiguous, or empty
    if as_likely.size == 0:
        return 1.0
    first, last = int(as_likely[0]), int(as_likely[-1])
    below = binomial_at_most(first - 1, trials, chance) if first > 0 else 0.0
    above = binomial_at_least(last + 1, trials, chance) if last < trials else 0.0
    return min(1.0, below + above)


def binomial_share(count: int, trials: int, level: float = 0.95) -> Estimate:
    """Return a proportion with its exact (Clopper–Pearson) interval."""
    from scipy.special import betaincinv

    if trials == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, 0, CLOPPER_PEARSON)
    outside = (1 - level) / 2
    low = float(betaincinv(count, trials - count + 1, outside)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, trials - count, 1 - outside)) if count < trials else 1.0
    return Estimate(count / trials, low, high, level, trials, 0, CLOPPER_PEARSON)


# --- Corrections for multiple tests --------------------------------------------------------------
# An undefined p stays undefined and does not count as a test.


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p by Holm's step-down method, which controls the familywise error rate.

    >>> holm([0.01, 0.04, 0.03])  # 3 · 0.01, then 2 · 0.03, then no less than that
    [0.03, 0.06, 0.06]
    """
    order = _defined_order(p)
    adjusted, least = [float("nan")] * len(p), 0.0
    for rank, i in enumerate(order):
        least = max(least, min(1.0, (len(order) - rank) * p[i]))
        adjusted[i] = least
    return adjusted


def bh(p: Sequence[float]) -> list[float]:
    """Adjust p by the Benjamini–Hochberg method, which controls the false discovery rate.

    >>> bh([0.01, 0.05, 0.03])  # the largest as it is, then 3/2 · 0.03, then 3/1 · 0.01
    [0.03, 0.05, 0.045]
    """
    order = _defined_order(p)
    adjusted, most = [float("nan")] * len(p), 1.0
    for rank, i in reversed(list(enumerate(order, start=1))):
        most = min(most, len(order) / rank * p[i])
        adjusted[i] = most
    return adjusted


def _defined_order(p: Sequence[float]) -> list[int]:
    """Return the indices of defined p, in ascending order of p."""
    return sorted((i for i, p_value in enumerate(p) if not np.isnan(p_value)), key=lambda i: p[i])


Correction = Callable[[Sequence[float]], list[float]]
CORRECTIONS: dict[str, Correction] = {"holm": holm, "bh": bh, "none": list}


# --- Intervals of several differences ------------------------------------------------------------
# With Holm's method, intervals are simultaneous: Bonferroni's, at 1 − alpha / m for m tests. With
# the method of Benjamini and Hochberg, they are at 1 − R alpha / m for R significant tests, so that
# the expected share of wrong ones among those of significant differences is alpha (Benjamini and
# Yekutieli 2005). Holm's method goes step by step and can find a difference whose simultaneous
# interval contains 0; then the interval ends at 0, and 0 is not part of it. Where the interval
# comes from another method than p, such as a bootstrap, it is extended to 0 if p is not
# significant. So an interval excludes 0 if and only if its difference is significant.


def simultaneous_level(correction: str, level: float, corrected: Sequence[float]) -> float:
    """Return the level of the intervals of all tests with these corrected p values.

    >>> round(simultaneous_level("holm", 0.95, [0.01, 0.2, 0.2, 0.3, math.nan]), 4)
    0.9875
    """
    count = sum(not math.isnan(p) for p in corrected)
    if correction == "none" or count < 2:
        return level
    is_bh = correction == "bh"
    share = max(1, sum(p < 1 - level for p in corrected)) / count if is_bh else 1 / count
    return 1 - (1 - level) * share


def agree_with_test(difference: Estimate, p: float, alpha: float, null: float = 0.0) -> Estimate:
    """Return an estimate whose interval excludes ``null`` if and only if p is significant."""
    low, high = difference.low, difference.high
    if math.isnan(p) or math.isnan(low + high):
        return difference
    if p < alpha:
        if low <= null <= high:
            low, high = (null, high) if difference.value > null else (low, null)
        return replace(difference, low=low, high=high)
    return replace(difference, low=min(low, null), high=max(high, null))


def widen_interval(estimate: Estimate, level: float) -> Estimate:
    """Return an interval at another level, its ends moved out by the ratio of normal quantiles."""
    from scipy.special import ndtri

    ratio = float(ndtri((1 + level) / 2) / ndtri((1 + estimate.level) / 2))
    low, high = (
        estimate.value + ratio * (x - estimate.value) for x in (estimate.low, estimate.high)
    )
    return replace(estimate, low=low, high=high, level=level)


# --- Sign-flip permutation tests -----------------------------------------------------------------


FLIPS_IN_MEMORY = 2_000_000
EXACT_SUMS_IN_MEMORY = 262_144  # few enough for the cache of a core
MAX_EXACT_ITEMS = 20  # items with different outputs up to which all swaps are enumerated
DIFFERENCE_TOLERANCE = 1e-9  # differences within this tolerance, relative to the values, are equal


class PermutedDifferences(NamedTuple):
    """Differences, one row per permutation, and whether all permutations are included.

    If all are included, only one of each two opposite permutations is listed: swapping all other
    items instead only changes the sign of the difference.
    """

    differences: Floats
    exact: bool


def permuted_differences(
    a: Floats, b: Floats, score: Callable[[Floats], Floats], permutations: int, seed: int
) -> PermutedDifferences:
    """Return differences of corpus values with outputs of random items swapped.

    ``a`` and ``b`` have statistics of the same items in the same order. All swaps are used if at
    most ``MAX_EXACT_ITEMS`` items differ, or if there are at most ``permutations`` swaps.
    """
    both = weighted_sums(np.ones((1, len(a))), split(np.concatenate([a, b], axis=1)))
    sum_a, sum_b = np.split(both.sum(axis=0)[0], 2)
    parts = split(a - b)
    is_different = (a != b).any(axis=1)
    count = int(is_different.sum())
    exact = count <= MAX_EXACT_ITEMS or (count < 63 and 2**count <= permutations)
    if exact:
        moves = _all_moves(split((a - b)[is_different]))
    else:
        rng, block = seeded_generator(seed), max(1, FLIPS_IN_MEMORY // len(a))
        sizes = (min(block, permutations - done) for done in range(0, permutations, block))
        flips = (rng.integers(0, 2, (size, len(a)), np.int8) for size in sizes)
        moves = (weighted_sums(flip.astype(np.float64), parts).sum(axis=0) for flip in flips)
    rows = [score(sum_a - moved) - score(sum_b + moved) for moved in moves]
    return PermutedDifferences(np.concatenate(rows), exact)


def _all_moves(parts: Parts) -> Iterator[Floats]:
    """Yield the sums of all subsets of the items without the first item, in blocks.

    Sums of subsets of the first half of the items are added to those of the second half.
    """
    items, columns = parts.coarse.shape
    middle = 1 + (items - 1) // 2
    low, high = (
        weighted_sums(_all_flips(len(chosen)), Parts(chosen, parts.fine[span], parts.inexact))
        for span in (slice(1, middle), slice(middle, None))
        for chosen in (parts.coarse[span],)
    )
    block = max(1, EXACT_SUMS_IN_MEMORY // (low.shape[1] * columns))
    for start in range(0, high.shape[1], block):
        coarse, fine = high[:, start : start + block, None] + low[:, None]  # without rounding
        yield (coarse + fine).reshape(-1, columns)


def _all_flips(n: int) -> Floats:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.float64)


def compute_permutation_p_values(a: Floats, b: Floats, permuted: PermutedDifferences) -> Floats:
    """Return two-sided p, never 0: the observed difference is one of the permutations.

    Differences that are equal except for rounding are ties; an undefined difference counts
    as extreme.
    """
    observed = a - b
    tolerance = DIFFERENCE_TOLERANCE * np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
    is_extreme = ~(np.abs(permuted.differences) < np.abs(observed) - tolerance)
    observed_count = 0 if permuted.exact else 1  # all swaps include the identity
    p = (observed_count + is_extreme.sum(axis=0)) / (observed_count + len(permuted.differences))
    return np.where(np.isnan(observed), np.nan, p)
