"""Monotonic mapping of scores to the rating scale, and errors as defined in ITU-T P.1401."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.polynomial import polynomial

from earwitness.core import Estimate
from earwitness.stats.arrays import Bools, Floats
from earwitness.stats.significance import binomial_share

# --- Monotonic polynomials -----------------------------------------------------------------------
# A metric need not use the rating scale, so ITU-T P.1401 compares after a mapping: a first- or
# third-order polynomial, fitted by least squares, monotonic over the range of the scores. Scores
# are first scaled to −1 … 1.
#
# The cubic is found exactly, without a search. Its slope is a quadratic that must not change sign
# between −1 and 1. The best such cubic is the best among those whose slope is 0 at the same points,
# and there are few cases: nowhere, at −1, at 1, at both, twice at one point, or everywhere. All but
# the fifth are ordinary least squares with fewer terms. The fifth is a·(u − t)³ with an unknown t,
# which is a root of a polynomial of fourth order. The candidates are fitted, those that are not
# monotonic are discarded, and the best remaining one is used. Both increasing and decreasing
# mappings are allowed unless a direction is requested.
#
# With few points there are fewer terms: a cubic needs 4 distinct scores and 5 points, a line 2
# distinct scores and 3 points; otherwise scores are mapped to the mean, which the result reports.
# If no curve of the allowed direction fits better than the mean, the mapping is flat, with one
# parameter instead of four.


POLYNOMIAL_ORDERS = (1, 3)
# smaller slopes of the wrong sign, relative to the terms, are 0
SLOPE_TOLERANCE = 1e-12

# The slope is 0 at −1, at 1, or at both: coefficients of u, u² and u³.
ZERO_SLOPE_BASES = (
    np.array([[1, 1 / 2, 0], [0, 1 / 2, 1 / 3]]),  # (1 + u)(a + bu)
    np.array([[1, -1 / 2, 0], [0, 1 / 2, -1 / 3]]),  # (1 − u)(a + bu)
    np.array([[1, 0, -1 / 3]]),  # a(1 − u²)
)


@dataclass(frozen=True)
class Fit:
    """Polynomial of scores that are scaled from ``low`` … ``high`` to −1 … 1.

    ``order`` is the one that the points allow. ``direction`` is 1 if increasing, −1 if decreasing,
    0 if flat. ``bound`` means that the unconstrained fit was not monotonic; ``flat`` that the
    points allow a curve, but none fits better than the mean.
    """

    terms: tuple[float, ...]
    low: float
    high: float
    order: int
    direction: int
    bound: bool
    flat: bool = False

    def map_scores(self, scores: Floats) -> Floats:
        """Return scores on the rating scale; NaN outside the fitted range."""
        inside = np.isfinite(scores) & (scores >= self.low) & (scores <= self.high)
        scaled = _scale_scores(np.where(inside, scores, self.low), self.low, self.high)
        return np.where(inside, polynomial.polyval(scaled, np.array(self.terms)), np.nan)


def fit_mapping(scores: Floats, people: Floats, order: int, direction: int = 0) -> Fit:
    """Fit the best monotonic mapping of one metric's scores.

    Parameters
    ----------
    scores, people
        Scores and mean ratings; NaN if unknown.
    order
        1 for a line, 3 for a cubic.
    direction
        1 for increasing, −1 for decreasing, 0 for either.

    Returns
    -------
    Fit
        Fitted polynomial.

    Raises
    ------
    ValueError
        If ``order`` is not 1 or 3.

    References
    ----------
    ITU-T P.1401.

    Examples
    --------
    >>> found = fit_mapping(np.array([0.0, 1, 2, 3, 4]), np.array([1.0, 1, 2, 3, 3]), 1)
    >>> found.map_scores(np.array([0.0, 4, 5])).round(3).tolist(), found.direction
    ([0.8, 3.2, nan], 1)
    """
    if order not in POLYNOMIAL_ORDERS:
        raise ValueError(f"order must be {' or '.join(map(str, POLYNOMIAL_ORDERS))}, got {order}")
    is_known = np.isfinite(scores) & np.isfinite(people)
    if not is_known.any():
        return Fit((np.nan,), np.nan, np.nan, 0, 0, False)
    x, y = scores[is_known], people[is_known]
    low, high = float(x.min()), float(x.max())
    n, different = len(x), len(np.unique(x))
    degrees = (
        degree for degree in (3, 1) if degree <= order and different > degree and n > degree + 1
    )
    allowed = next(degrees, 0)
    deviations = y - y.mean()
    if np.sqrt(deviations @ deviations) <= SPREAD_TOLERANCE * np.sqrt(y @ y):
        deviations = np.zeros(n)  # what is left is rounding
    slopes, bound = _fit_slopes(_scale_scores(x, low, high), deviations, allowed, direction)
    powers = polynomial.polyvander(_scale_scores(x, low, high), allowed)[:, 1:]
    terms = (float(y.mean() - slopes @ powers.mean(axis=0)), *map(float, slopes))
    rises, falls = _slope_signs(slopes) if len(slopes) else (False, False)
    slope_direction = int(rises) - int(falls)
    if slope_direction == 0:
        terms = (float(y.mean()),)
    used = allowed if slope_direction else 0
    return Fit(terms, low, high, used, slope_direction, bound, allowed > used)


def _scale_scores(scores: Floats, low: float, high: float) -> Floats:
    half = (high - low) / 2
    return np.clip((scores - (low + half)) / half, -1, 1) if half > 0 else np.zeros_like(scores)


def _fit_slopes(u: Floats, y: Floats, order: int, direction: int) -> tuple[Floats, bool]:
    """Return all terms but the constant, and whether the unconstrained fit was not monotonic."""
    powers = polynomial.polyvander(u, order)[:, 1:]
    powers = powers - powers.mean(axis=0)
    if order == 0:
        return np.zeros(0), False
    free = _least_squares(powers, y, np.eye(order))
    if _is_monotonic(free, direction):
        return free, False
    candidates = [np.zeros(order)]
    if order == 3:
        # the slope is 0 at an end, at both, or twice at t, as of (u − t)³ without its constant
        saddles = (np.array([[3 * t * t, -3 * t, 1]]) for t in _saddle_points(powers, y))
        cubics = (_least_squares(powers, y, base) for base in (*ZERO_SLOPE_BASES, *saddles))
        candidates += [slopes for slopes in cubics if _is_monotonic(slopes, direction)]
    errors = [float(((y - powers @ slopes) ** 2).sum()) for slopes in candidates]
    return candidates[int(np.argmin(errors))], True


def _least_squares(powers: Floats, y: Floats, proportions: Floats) -> Floats:
    """Fit by least squares with terms in these proportions."""
    return np.asarray(np.linalg.lstsq(powers @ proportions.T, y, rcond=None)[0] @ proportions)


def _saddle_points(powers: Floats, y: Floats) -> Floats:
    """Return all t at which (u − t)³ may fit best.

    With A its product with the ratings and B its square, both polynomials of t, A²/B is largest
    where
    2A′B = AB′; the terms of fifth order cancel.
    """
    gram, projections = powers.T @ powers, powers.T @ y
    above = np.array([projections[2], -3 * projections[1], 3 * projections[0]])
    below = np.array(
        [
            gram[2, 2],
            -6 * gram[1, 2],
            9 * gram[1, 1] + 6 * gram[0, 2],
            -18 * gram[0, 1],
            9 * gram[0, 0],
        ]
    )
    left = 2 * np.convolve(polynomial.polyder(above), below)
    right = np.convolve(above, polynomial.polyder(below))
    roots = polynomial.polyroots(np.trim_zeros((left - right)[:5], "b"))
    return np.concatenate([np.clip(roots.real, -1, 1), [-1.0, 1.0]])


def _slope_signs(slopes: Floats) -> Bools:
    """Return whether the polynomial increases anywhere, and whether it decreases anywhere.

    Its slope is extreme at the ends, and where the slope of a cubic turns if that is between them.
    """
    slope = slopes * np.arange(1, len(slopes) + 1)
    places = [-1.0, 1.0]
    if len(slope) == 3 and abs(slope[1]) < 2 * abs(slope[2]):
        places.append(-slope[1] / (2 * slope[2]))
    extremes = polynomial.polyval(np.array(places), slope)
    tiny = SLOPE_TOLERANCE * np.abs(slopes).sum()
    return np.array([(extremes > tiny).any(), (extremes < -tiny).any()])


def _is_monotonic(slopes: Floats, direction: int) -> bool:
    rises, falls = _slope_signs(slopes)
    return not (rises and falls) and not (direction > 0 and falls) and not (direction < 0 and rises)


# --- Errors after ITU-T P.1401 -------------------------------------------------------------------
# Errors are ratings minus mapped scores. For N points and d parameters of the mapping, RMSE = √(Σe²
# / (N − d)): d is 4 for a cubic, 2 for a line, 1 for a mean and 1 without a mapping. A mapping with
# fewer terms than requested, or a flat one, has the d of what was fitted. (Programs differ: a
# widely used one has 1 for a line and 0 without a mapping, so its RMSE is slightly smaller.)
#
# Mean ratings are uncertain. Given the half width of the 95 % interval of each mean, RMSE* ignores
# the part of each error within it, and the outlier ratio is the share of points beyond it. Points
# with an unknown width are excluded from both, and counted.
#
# Intervals: Fisher's z for Pearson's r, chi-squared with N − d degrees of freedom for RMSE,
# Clopper–Pearson for the outlier ratio. RMSE* has none.


MAPPING_ORDERS = {"none": 0, "linear": 1, "cubic": 3}
SPREAD_TOLERANCE = 1e-13  # smaller spreads, relative to the values, are rounding


@dataclass(frozen=True)
class Accuracy:
    """Accuracy of one metric after mapping; ``residuals`` has one value per point."""

    mapping: Fit | None
    d: int
    pearson: Estimate
    rmse: Estimate
    rmse_star: Estimate
    outliers: Estimate
    residuals: Floats


def measure_accuracy(
    scores: Floats,
    people: Floats,
    widths: Floats,
    *,
    mapping: str = "cubic",
    direction: int = 0,
    level: float = 0.95,
) -> Accuracy:
    """Measure the accuracy of one metric as defined in ITU-T P.1401.

    Parameters
    ----------
    scores, people
        Scores and mean ratings.
    widths
        Half widths of the confidence intervals of the mean ratings.
    mapping
        ``none``, ``linear`` or ``cubic``.
    direction
        −1 if lower scores are better. Without a mapping the correlation is then that of negated
        scores, so that higher is better for all metrics.
    level
        Confidence level.

    Returns
    -------
    Accuracy
        Pearson's r, RMSE, RMSE* and outlier ratio. With a flat mapping r is undefined.

    Raises
    ------
    ValueError
        If ``mapping`` is unknown.

    References
    ----------
    ITU-T P.1401.
    """
    if mapping not in MAPPING_ORDERS:
        raise ValueError(f"mapping must be one of {', '.join(MAPPING_ORDERS)}, got {mapping}")
    mapping_fit: Fit | None = None
    d, mapped = 1, np.where(np.isfinite(scores), scores, np.nan)
    if mapping != "none":
        mapping_fit = fit_mapping(scores, people, MAPPING_ORDERS[mapping], direction)
        d, mapped = mapping_fit.order + 1, mapping_fit.map_scores(scores)
    errors = np.where(np.isfinite(people), people, np.nan) - mapped
    return Accuracy(
        mapping_fit,
        d,
        pearson(-mapped if mapping_fit is None and direction < 0 else mapped, people, level),
        rmse(errors, d, level),
        rmse_star(errors, widths, d, level),
        outlier_ratio(errors, widths, level),
        errors,
    )


def pearson(first: Floats, second: Floats, level: float = 0.95) -> Estimate:
    """Return Pearson's r with Fisher's interval; undefined if either side is constant."""
    from scipy.special import ndtri

    is_known = np.isfinite(first) & np.isfinite(second)
    n, undefined = int(is_known.sum()), int((~is_known).sum())
    r, sides = math.nan, (first[is_known], second[is_known])
    if n > 1:
        deviations = [side - side.mean() for side in sides]
        lengths = [float(np.sqrt(side @ side)) for side in deviations]
        rounding = [SPREAD_TOLERANCE * float(np.sqrt(side @ side)) for side in sides]
        if all(length > tiny for length, tiny in zip(lengths, rounding, strict=True)):
            x, y = (side / length for side, length in zip(deviations, lengths, strict=True))
            r = min(1.0, max(-1.0, float(x @ y)))
    half = float(ndtri((1 + level) / 2)) / math.sqrt(n - 3) if n > 3 else math.nan
    z = math.atanh(r) if abs(r) < 1 else math.copysign(math.inf, r) if r == r else math.nan
    return Estimate(r, math.tanh(z - half), math.tanh(z + half), level, n, undefined, "fisher_z")


def rmse(errors: Floats, d: int, level: float = 0.95) -> Estimate:
    """Return the root mean squared error; undefined unless there are more than ``d`` points."""
    from scipy.special import chdtri

    defined = errors[~np.isnan(errors)]
    value, freedom = _root_mean_square(defined, d), len(defined) - d
    low = high = math.nan
    if freedom > 0:
        low, high = (
            value * math.sqrt(freedom / float(chdtri(freedom, (1 + side * level) / 2)))
            for side in (-1, 1)
        )
    return Estimate(
        value, low, high, level, len(defined), len(errors) - len(defined), "chi_squared"
    )


def rmse_star(errors: Floats, widths: Floats, d: int, level: float = 0.95) -> Estimate:
    """Return the RMSE of the parts of errors beyond the intervals of the ratings."""
    beyond = np.maximum(0, np.abs(errors) - widths)
    defined = beyond[~np.isnan(beyond)]
    undefined = len(beyond) - len(defined)
    return Estimate(
        _root_mean_square(defined, d), math.nan, math.nan, level, len(defined), undefined, "none"
    )


def outlier_ratio(errors: Floats, widths: Floats, level: float = 0.95) -> Estimate:
    """Return the share of points whose error is beyond the interval of the rating."""
    is_known = ~np.isnan(errors) & ~np.isnan(widths)
    outside = int((np.abs(errors[is_known]) > widths[is_known]).sum())
    return replace(
        binomial_share(outside, int(is_known.sum()), level), undefined=int((~is_known).sum())
    )


def _root_mean_square(errors: Floats, d: int) -> float:
    return math.sqrt(float(errors @ errors) / (len(errors) - d)) if len(errors) > d else math.nan
