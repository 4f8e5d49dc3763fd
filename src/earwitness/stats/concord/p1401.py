"""How far a metric is from people after a mapping, as ITU-T P.1401 counts it.

Errors are values of people less mapped scores. Of N points and d numbers that the mapping took from
them, RMSE = √(Σe² / (N − d)): d is 4 for a cubic, 2 for a line, 1 for a mean and 1 without any
mapping. A mapping that fell back to fewer terms, or is flat, has the d of what was fitted.
(Programs differ: one that is much used has 1 for a line and 0 without a mapping, so its RMSE is a
little smaller.)

People are not certain of their own means. With the half width of the 95 % interval of each mean,
RMSE* leaves out of every error what is within it, and the outlier ratio is the share of points
beyond it. Where a width is unknown neither is defined: such points are left out of both, and
counted.

Intervals: Pearson by Fisher's z, RMSE by chi squared with N − d degrees of freedom, the outlier
ratio by Clopper and Pearson. None is offered for RMSE*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from earwitness.data import Estimate
from earwitness.stats.binomial import share
from earwitness.stats.concord.mapping import Fit, fit
from earwitness.stats.exact import Floats

ORDERS = {"none": 0, "linear": 1, "cubic": 3}
ALIKE = 1e-13  # spreads smaller than this, beside the numbers, are of rounding alone


@dataclass(frozen=True)
class Accuracy:
    """One metric against people. ``residuals`` has one number a point, NaN where unknown."""

    mapping: Fit | None
    d: int
    pearson: Estimate
    rmse: Estimate
    rmse_star: Estimate
    outliers: Estimate
    residuals: Floats


def accuracy(
    scores: Floats,
    people: Floats,
    widths: Floats,
    *,
    mapping: str = "cubic",
    direction: int = 0,
    level: float = 0.95,
) -> Accuracy:
    """Of one metric; ``widths`` are half widths of the intervals of the values of people.

    ``direction`` −1 says that low scores are good. Errors are of scores as they are; without a
    mapping the correlation is that of scores turned round, so that high is good for every metric.
    A flat mapping has no correlation.
    """
    if mapping not in ORDERS:
        raise ValueError(f"mapping: one of {', '.join(ORDERS)}, got {mapping}")
    found = fit(scores, people, ORDERS[mapping], direction) if mapping != "none" else None
    d = 1 if found is None else found.order + 1
    mapped = np.where(np.isfinite(scores), scores, np.nan) if found is None else found.at(scores)
    errors = np.where(np.isfinite(people), people, np.nan) - mapped
    return Accuracy(
        found,
        d,
        pearson(-mapped if found is None and direction < 0 else mapped, people, level),
        rmse(errors, d, level),
        rmse_star(errors, widths, d, level),
        outlier_ratio(errors, widths, level),
        errors,
    )


def pearson(first: Floats, second: Floats, level: float = 0.95) -> Estimate:
    """The correlation with Fisher's interval; undefined where one side does not differ."""
    from scipy.special import ndtri

    known = np.isfinite(first) & np.isfinite(second)
    n, missing = int(known.sum()), int((~known).sum())
    r = _correlation(first[known], second[known])
    half = float(ndtri((1 + level) / 2)) / math.sqrt(n - 3) if n > 3 else math.nan
    z = math.atanh(r) if abs(r) < 1 else math.copysign(math.inf, r) if r == r else math.nan
    return Estimate(r, math.tanh(z - half), math.tanh(z + half), level, n, missing, "fisher_z")


def _correlation(x: Floats, y: Floats) -> float:
    if len(x) < 2:
        return math.nan
    apart = [side - side.mean() for side in (x, y)]
    lengths = [float(np.sqrt(side @ side)) for side in apart]
    whole = [ALIKE * float(np.sqrt(side @ side)) for side in (x, y)]
    if any(length <= tiny for length, tiny in zip(lengths, whole, strict=True)):
        return math.nan
    r = float((apart[0] / lengths[0]) @ (apart[1] / lengths[1]))
    return min(1.0, max(-1.0, r))


def rmse(errors: Floats, d: int, level: float = 0.95) -> Estimate:
    """The root of the mean squared error; undefined without more points than ``d``."""
    from scipy.special import chdtri

    known = errors[~np.isnan(errors)]
    value, freedom = _root(known, d), len(known) - d
    low = high = math.nan
    if freedom > 0:
        low, high = (
            value * math.sqrt(freedom / float(chdtri(freedom, (1 + side * level) / 2)))
            for side in (-1, 1)
        )
    return Estimate(value, low, high, level, len(known), len(errors) - len(known), "chi_squared")


def rmse_star(errors: Floats, widths: Floats, d: int, level: float = 0.95) -> Estimate:
    """The same of what is left of errors beyond the intervals of people."""
    beyond = np.maximum(0, np.abs(errors) - widths)
    known = beyond[~np.isnan(beyond)]
    undefined = len(beyond) - len(known)
    return Estimate(_root(known, d), math.nan, math.nan, level, len(known), undefined, "none")


def outlier_ratio(errors: Floats, widths: Floats, level: float = 0.95) -> Estimate:
    """The share of points whose error is beyond the interval of people."""
    known = ~np.isnan(errors) & ~np.isnan(widths)
    outside = int((np.abs(errors[known]) > widths[known]).sum())
    return replace(share(outside, int(known.sum()), level), undefined=int((~known).sum()))


def _root(errors: Floats, d: int) -> float:
    return math.sqrt(float(errors @ errors) / (len(errors) - d)) if len(errors) > d else math.nan
