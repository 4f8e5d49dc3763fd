"""Each listener beside the mean of the others on the same stimuli, their own votes left out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from earwitness.stats.exact import Bools, Floats
from earwitness.stats.votes import Codes

ALIKE = 1e-9  # a spread below this part of the largest vote is rounding


class BesideOthers(NamedTuple):
    """By listener, over stimuli on which others voted too; NaN where undefined.

    ``bias`` is the mean difference, ``inconsistency`` the SD of differences about it (n − 1),
    ``correlation`` Pearson's, ``rmse`` the root of the mean squared difference. A correlation needs
    votes that vary on both sides.
    """

    compared: Codes
    bias: Floats
    inconsistency: Floats
    correlation: Floats
    rmse: Floats


def beside_others(table: Floats) -> BesideOthers:
    """Figures of a table with a row a stimulus and a column a listener; NaN where no vote is."""
    there = ~np.isnan(table)
    votes = np.where(there, table, 0.0)
    count = there.sum(axis=1, keepdims=True)
    both = there & (count > 1)
    n = both.sum(axis=0)
    sums = votes.sum(axis=1, keepdims=True) - votes
    others = np.where(both, sums / np.maximum(count - 1, 1), 0.0)
    own = np.where(both, votes, 0.0)
    away = own - others
    bias = _ratio(away.sum(axis=0), n)
    spread = _ratio(((away - bias) ** 2).sum(axis=0, where=both), n - 1)
    rmse = np.sqrt(_ratio((away**2).sum(axis=0), n))
    return BesideOthers(n, bias, np.sqrt(spread), _correlation(own, others, both), rmse)


def _correlation(own: Floats, others: Floats, both: Bools) -> Floats:
    n = both.sum(axis=0)
    x = np.where(both, own - np.nan_to_num(_ratio(own.sum(axis=0), n)), 0.0)
    y = np.where(both, others - np.nan_to_num(_ratio(others.sum(axis=0), n)), 0.0)
    least = (ALIKE * np.abs(own).max(initial=0)) ** 2 * n
    xx, yy, xy = (x**2).sum(axis=0), (y**2).sum(axis=0), (x * y).sum(axis=0)
    varied = (xx > least) & (yy > least)
    found = _ratio(np.where(varied, xy, np.nan), np.where(varied, np.sqrt(xx * yy), 1))
    return np.clip(found, -1, 1)


def _ratio(above: Floats, below: Floats | Codes) -> Floats:
    found: Floats = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return found
