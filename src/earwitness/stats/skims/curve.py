"""What becomes of TC and SD as z goes from the one to the other: the area below, and the order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from earwitness.stats.skims.day import Floats

FEWEST = 3  # z that a curve needs


class Along(NamedTuple):
    """Area below SD over TC, and Spearman's correlation of z with each of them."""

    area: float
    tc_with_z: float
    sd_with_z: float


def along_z(z: ArrayLike, tc: ArrayLike, sd: ArrayLike) -> Along:
    """What skims of one recording by one method say, each with another z.

    NaN where there are fewer than three z, or where one of them comes twice.
    """
    dial = np.asarray(z, np.float64)
    if len(dial) < FEWEST or len(np.unique(dial)) < len(dial):
        return Along(*(float("nan"),) * 3)
    return Along(area(tc, sd), z_correlation(dial, tc), z_correlation(dial, sd))


def area(tc: ArrayLike, sd: ArrayLike) -> float:
    """The area below the curve of SD over TC, from TC 0 on; NaN where a point is missing.

    Points are joined by lines in the order of TC. Left of the first the curve goes on at its
    height, since less TC is easily had; right of the last there is nothing.
    """
    across, up = np.asarray(tc, np.float64), np.asarray(sd, np.float64)
    if not len(across) or not (np.isfinite(across).all() and np.isfinite(up).all()):
        return float("nan")
    order = np.lexsort((-up, across))
    across, up = across[order], up[order]
    return float(across[0] * up[0] + np.sum(np.diff(across) * (up[1:] + up[:-1]) / 2))


def z_correlation(z: ArrayLike, measured: ArrayLike) -> float:
    """Spearman's rank correlation of z with what was measured; NaN where either stays the same."""
    from scipy.stats import rankdata

    first, second = np.asarray(z, np.float64), np.asarray(measured, np.float64)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return float("nan")
    return _pearson(rankdata(first), rankdata(second))


def _pearson(first: Floats, second: Floats) -> float:
    one, other = first - first.mean(), second - second.mean()
    size = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / size if size > 0 else float("nan")
