"""Whether one metric is nearer to people than another, by formula.

Two metrics on the same points share people, and often much of their error; so their correlations
with people are not independent. Williams' t (in Steiger's form, n − 3 degrees of freedom) and
Steiger's Z (Fisher's z, with the mean of the two correlations) allow for that: both take the two
correlations with people and that of the metrics with one another. Fisher's difference is for
metrics on different points.

ITU-T P.1401 compares RMSE by F and outlier ratios by the normal difference of shares, as if errors
of two metrics were independent. On the same points they are not, and where they go together both
tests find less than there is.

All p are two-sided, and all arguments may be arrays that broadcast. What is undefined has NaN: too
few points, a correlation that is not between −1 and 1, three correlations that cannot hold
together (they may come of different points). Where nothing could differ, as with two metrics that
are the same, there is no statistic either, and p is 1 if they are alike.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.student import ratio

ALIKE = 1e-12  # differences and determinants smaller than this are of rounding alone


class Difference(NamedTuple):
    """Statistics, above 0 where the first is the larger (F: above 1), and their two-sided p."""

    statistic: Floats
    p: Floats


def williams(first: ArrayLike, second: ArrayLike, between: ArrayLike, n: ArrayLike) -> Difference:
    """Williams' t for two correlations with people, and the one ``between`` the metrics.

    >>> [round(float(x), 4) for x in williams(0.3, 0.4, 0.5, 100)]
    [-1.0767, 0.2843]
    """
    from scipy.special import stdtr

    a, b, c, n = _floats(first, second, between, n)
    whole = _determinant(a, b, c)
    freedom = np.where(n > 3, n - 3, np.nan)
    varies = 2 * (n - 1) / freedom * whole + ((a + b) / 2) ** 2 * (1 - c) ** 3
    t = _over((a - b) * np.sqrt(np.maximum(0, (n - 1) * (1 + c))), varies)
    return Difference(t, _p(2 * stdtr(freedom, -np.abs(t)), varies, a, b))


def steiger(first: ArrayLike, second: ArrayLike, between: ArrayLike, n: ArrayLike) -> Difference:
    """Steiger's Z for two correlations with people, and the one ``between`` the metrics."""
    from scipy.special import ndtr

    a, b, c, n = _floats(first, second, between, n)
    mean = ((a + b) / 2) ** 2
    covariance = c * (1 - 2 * mean) - mean * (1 - 2 * mean - c * c) / 2
    shared = ratio(covariance, (1 - mean) ** 2)
    varies = 2 - 2 * shared + 0 * _determinant(a, b, c)
    points = np.where(n > 3, n - 3, np.nan)
    z = _over((_fisher(a) - _fisher(b)) * np.sqrt(points), varies)
    return Difference(z, _p(2 * ndtr(-np.abs(z)), varies, a, b))


def independent(
    first: ArrayLike, second: ArrayLike, first_n: ArrayLike, second_n: ArrayLike
) -> Difference:
    """Fisher's z for two correlations on different points."""
    from scipy.special import ndtr

    a, b, *counts = _floats(first, second, first_n, second_n)
    varies = sum((1 / np.where(n > 3, n - 3, np.nan) for n in counts), np.zeros(a.shape))
    z = _over(_fisher(a) - _fisher(b), varies)
    return Difference(z, 2 * ndtr(-np.abs(z)))


def rmse_difference(
    first: ArrayLike, second: ArrayLike, first_freedom: ArrayLike, second_freedom: ArrayLike
) -> Difference:
    """F of two RMSE, with N − d degrees of freedom each.

    P.1401 puts the larger above the smaller and asks whether F is beyond its 95 % point: that is
    p < 0.1 here, since either may be the larger.
    """
    from scipy.special import fdtr, fdtrc

    a, b, *freedom = _floats(first, second, first_freedom, second_freedom)
    m, n = (np.where(each > 0, each, np.nan) for each in freedom)
    f = ratio(a**2, b**2)
    return Difference(f, np.minimum(1, 2 * np.minimum(fdtr(m, n, f), fdtrc(m, n, f))))


def outlier_difference(
    first: ArrayLike, second: ArrayLike, first_n: ArrayLike, second_n: ArrayLike
) -> Difference:
    """The normal difference of two outlier ratios, with the variance of the pooled ratio."""
    from scipy.special import ndtr

    a, b, *counts = _floats(first, second, first_n, second_n)
    m, n = (np.where(each > 0, each, np.nan) for each in counts)
    pooled = (a * m + b * n) / (m + n)
    varies = pooled * (1 - pooled) * (1 / m + 1 / n)
    z = _over(a - b, varies)
    return Difference(z, _p(2 * ndtr(-np.abs(z)), varies, a, b))


def _floats(*given: ArrayLike) -> list[Floats]:
    return list(np.broadcast_arrays(*(np.asarray(each, np.float64) for each in given)))


def _fisher(r: Floats) -> Floats:
    return np.arctanh(np.where(np.abs(r) < 1, r, np.nan))


def _determinant(a: Floats, b: Floats, c: Floats) -> Floats:
    """Of the three correlations; NaN where they cannot hold together."""
    found = 1 - a * a - b * b - c * c + 2 * a * b * c
    possible = (found >= -ALIKE) & (np.maximum(np.maximum(np.abs(a), np.abs(b)), np.abs(c)) <= 1)
    return np.where(possible, np.maximum(0, found), np.nan)


def _over(difference: Floats, varies: Floats) -> Floats:
    """The difference over its spread; NaN where nothing varies."""
    return ratio(difference, np.sqrt(np.where(varies > ALIKE, varies, 0)))


def _p(p: Floats, varies: Floats, first: Floats, second: Floats) -> Floats:
    """1 where nothing varies and both are alike."""
    still: Bools = (varies <= ALIKE) & (np.abs(first - second) <= ALIKE)
    return np.where(still, 1.0, p)
