"""Exact tests of a count against a chance, and the interval of Clopper and Pearson for a share.

The two-sided test adds up all outcomes that are no more likely than the one observed, as R and
SciPy do. Without any trial nothing is defined: NaN.
"""

from __future__ import annotations

import math

import numpy as np

from earwitness.data import Estimate

ALIKE = 1 + 1e-7  # likelihoods that rounding alone keeps apart are equal
METHOD = "clopper_pearson"


def at_least(count: int, trials: int, chance: float = 0.5) -> float:
    """The chance of so many, or more.

    >>> at_least(9, 10)  # (10 + 1) / 1024
    0.0107421875
    """
    return _between(count, trials, trials, chance)


def at_most(count: int, trials: int, chance: float = 0.5) -> float:
    """The chance of so many, or fewer."""
    return _between(0, count, trials, chance)


def two_sided(count: int, trials: int, chance: float = 0.5) -> float:
    """The chance of all outcomes that are no more likely than this one.

    >>> two_sided(9, 10)  # 0, 1, 9 or 10
    0.021484375
    """
    if trials == 0:
        return math.nan
    likely = _logarithms(trials, chance)
    as_likely = np.flatnonzero(likely > likely[count] + math.log(ALIKE))  # one stretch, or nothing
    if as_likely.size == 0:
        return 1.0
    first, last = int(as_likely[0]), int(as_likely[-1])
    below = at_most(first - 1, trials, chance) if first > 0 else 0.0
    above = at_least(last + 1, trials, chance) if last < trials else 0.0
    return min(1.0, below + above)


def share(count: int, trials: int, level: float = 0.95) -> Estimate:
    """The share with its exact interval."""
    from scipy.special import betaincinv

    if trials == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, 0, METHOD)
    outside = (1 - level) / 2
    low = float(betaincinv(count, trials - count + 1, outside)) if count > 0 else 0.0
    high = float(betaincinv(count + 1, trials - count, 1 - outside)) if count < trials else 1.0
    return Estimate(count / trials, low, high, level, trials, 0, METHOD)


def _between(first: int, last: int, trials: int, chance: float) -> float:
    """The chance of a tail: one of the two ends must be that of all outcomes."""
    from scipy.special import bdtr, bdtrc

    if trials == 0:
        return math.nan
    if first > 0:
        return float(bdtrc(first - 1, trials, chance))
    return float(bdtr(last, trials, chance))


def _logarithms(trials: int, chance: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The logarithm of how likely each outcome is."""
    from scipy.special import gammaln, xlog1py, xlogy

    counts = np.arange(trials + 1, dtype=np.float64)
    ways = gammaln(trials + 1) - gammaln(counts + 1) - gammaln(trials - counts + 1)
    found = ways + xlogy(counts, chance) + xlog1py(trials - counts, -chance)
    return np.asarray(found, np.float64)
