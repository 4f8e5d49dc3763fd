"""Student's t: intervals of means, p of tests, and sizes of effects in standard deviations.

Where fewer than two values are known there is no interval and no p. Where values do not differ the
interval is a point. A test of such values has p = 1 if all are 0; else p is undefined, since
nothing says how much they might have differed. Either way a size in standard deviations is
undefined too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.exact import Bools, Floats

ALIKE = 1e-9  # spreads smaller than this, beside the mean, are of rounding alone
FAR = 100  # standard deviations beyond which the noncentral t is at its limit, to 1 in 1,000


class Moments(NamedTuple):
    """Of each column: the mean, the standard deviation (n − 1) and how many values there are."""

    mean: Floats
    sd: Floats
    n: Floats


def moments(total: Floats, squares: Floats, n: Floats) -> Moments:
    """From sums and from sums of squared differences from the mean; NaN where too few are known."""
    return Moments(ratio(total, n), np.sqrt(ratio(squares, n - 1)), n)


def column_moments(table: Floats) -> Moments:
    """Of columns with gaps (NaN)."""
    known = ~np.isnan(table)
    n = known.sum(axis=0).astype(np.float64)
    total = np.where(known, table, 0).sum(axis=0)
    apart = np.where(known, table - ratio(total, n), 0)
    return moments(total, (apart**2).sum(axis=0), n)


def ratio(above: Floats, below: Floats) -> Floats:
    """NaN where nothing is below."""
    found = np.full(np.shape(above), np.nan)
    np.divide(above, below, out=found, where=below > 0)
    return found


def interval(found: Moments, level: float) -> tuple[Floats, Floats]:
    """Both ends of the t interval of the mean, n − 1 degrees of freedom."""
    from scipy.special import stdtrit

    half = stdtrit(_freedom(found), (1 + level) / 2) * found.sd / _root(found)
    return found.mean - half, found.mean + half


def p_values(found: Moments) -> Floats:
    """Two-sided p of the t test that the mean is 0."""
    from scipy.special import stdtr

    p = 2 * stdtr(_freedom(found), -np.abs(_t(found)))
    return np.where(_same(found) & (np.abs(found.mean) <= ALIKE), 1.0, p)


class Sizes(NamedTuple):
    """Hedges' g and its interval."""

    value: Floats
    low: Floats
    high: Floats


def effect_sizes(found: Moments, level: float) -> Sizes:
    """The mean in standard deviations (d_z) times Hedges' exact factor for small samples: g_z.

    The interval holds all effects for which a t like this one is not among the rarest (noncentral
    t, solved for its centre), and is shrunk by the same factor. Two values have no g: the factor
    would be 0.
    """
    from scipy.special import gammaln

    freedom, t = _freedom(found), _t(found)
    freedom = np.where(freedom > 1, freedom, np.nan)
    shrunk = np.exp(gammaln(freedom / 2) - gammaln((freedom - 1) / 2)) * np.sqrt(2 / freedom)
    factor = shrunk / _root(found)
    ends = (_centre(freedom, t, np.abs(t) > FAR * _root(found), side * level) for side in (1, -1))
    low, high = (factor * end for end in ends)
    return Sizes(factor * t, low, high)


def _centre(freedom: Floats, t: Floats, far: Bools, level: float) -> Floats:
    """The centre of the noncentral t that has a chance of (1 + level) / 2 below ``t``.

    Far out only the spread of the denominator matters, which is chi; the search would not end.
    """
    from scipy.special import chdtri, nctdtrinc

    below = (1 + np.where(far, np.sign(t), 1) * level) / 2
    limit = t * np.sqrt(chdtri(freedom, below) / freedom)
    near = nctdtrinc(freedom, below, np.where(far, np.nan, t))
    return np.asarray(np.where(far, limit, near))


def _freedom(found: Moments) -> Floats:
    return np.where(found.n > 1, found.n - 1, np.nan)


def _root(found: Moments) -> Floats:
    return np.sqrt(np.where(found.n > 0, found.n, np.nan))


def _same(found: Moments) -> Bools:
    """Whether values do not differ; False where that cannot be known."""
    return np.asarray(found.sd <= ALIKE * np.maximum(1, np.abs(found.mean)))


def _t(found: Moments) -> Floats:
    """The statistic, NaN where values do not differ."""
    return ratio(found.mean * _root(found), np.where(_same(found), 0, found.sd))
