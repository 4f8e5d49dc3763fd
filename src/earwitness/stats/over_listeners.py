"""One number a listener: its mean with an interval by t, and the difference of two groups."""

from __future__ import annotations

import math

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

METHOD = "cluster_t"
STILL = 1e-9  # a spread below this, beside the mean, is none


def over_listeners(
    values: Floats, level: float, *, expected: float = 0.0, wider: float = 1.0, upper: bool = False
) -> tuple[Estimate, float]:
    """The mean of one number a listener, NaN where there is none, and p of its being ``expected``.

    ``upper`` is for a one-sided p: of a mean that large, or larger. With one listener, or without
    any spread, the interval and p are NaN.
    """
    known = values[~np.isnan(values)]
    n, undefined = len(known), len(values) - len(known)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, level, 0, undefined, METHOD), math.nan
    mean = float(known.mean())
    spread = float(known.std(ddof=1)) if n > 1 else 0.0
    error = wider * spread / math.sqrt(n) if spread > STILL * max(1.0, abs(mean)) else math.nan
    low, high, p = by_t(mean, error, n - 1, level, expected=expected, upper=upper)
    return Estimate(mean, low, high, level, n, undefined, METHOD), p


def by_t(
    value: float,
    error: float,
    freedom: float,
    level: float,
    *,
    expected: float = 0.0,
    upper: bool = False,
) -> tuple[float, float, float]:
    """Low and high ends by t, and p; NaN without an error or degrees of freedom."""
    from scipy.special import stdtr, stdtrit

    if not (error > 0 and freedom > 0):
        return math.nan, math.nan, math.nan
    half = float(stdtrit(freedom, (1 + level) / 2)) * error
    t = (value - expected) / error
    p = float(stdtr(freedom, -t)) if upper else 2 * float(stdtr(freedom, -abs(t)))
    return value - half, value + half, p


def between(values: Floats, first: Bools, strata: Codes, level: float) -> tuple[Estimate, float]:
    """The mean of some listeners less that of the others, within strata, and its p.

    ``values`` has a number a listener; listeners of different strata are not comparable. In one
    stratum it is Welch's test; over several, that of a linear model with a mean for each. NaN where
    no stratum has both kinds, or nothing is left to judge the spread by.
    """
    if len(set(strata.tolist())) == 1:
        return _welch(values[first], values[~first], level)
    centred, own = values.copy(), first.astype(np.float64)
    for stratum in set(strata.tolist()):
        inside = strata == stratum
        centred[inside] -= centred[inside].mean()
        own[inside] -= own[inside].mean()
    weight = float(own @ own)
    freedom = len(values) - len(set(strata.tolist())) - 1
    value = float(own @ centred) / weight if weight > STILL else math.nan
    left = float(((centred - value * own) ** 2).sum())
    error = math.sqrt(left / freedom / weight) if freedom > 0 and weight > STILL else math.nan
    return _judged(value, error, freedom, level, len(values), "t_between")


def _welch(a: Floats, b: Floats, level: float) -> tuple[Estimate, float]:
    n = len(a) + len(b)
    value = float(a.mean() - b.mean()) if len(a) and len(b) else math.nan
    if min(len(a), len(b)) < 2:
        return _judged(value, math.nan, 0, level, n, "welch")
    parts = float(a.var(ddof=1)) / len(a), float(b.var(ddof=1)) / len(b)
    total = sum(parts)
    if total <= STILL**2:
        return _judged(value, math.nan, 0, level, n, "welch")
    freedom = total**2 / (parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1))
    return _judged(value, math.sqrt(total), freedom, level, n, "welch")


def _judged(
    value: float, error: float, freedom: float, level: float, n: int, method: str
) -> tuple[Estimate, float]:
    low, high, p = by_t(value, error, freedom, level)
    return Estimate(value, low, high, level, n, 0, method), p
