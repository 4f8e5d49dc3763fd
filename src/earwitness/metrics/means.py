"""Metrics whose corpus value is the mean of the cases' own values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from earwitness.metrics.base import Floats, ratio, row_sums


def mean_statistics(values: Floats) -> Floats:
    """A row a case: its values, and behind them which of them are defined (not NaN)."""
    defined = ~np.isnan(values)
    return np.concatenate([np.where(defined, values, 0.0), defined], axis=1)


def mean_pool(statistics: Floats, counts: NDArray[np.int64]) -> Floats:
    """A row for every so many rows: means over those in which a value is defined.

    Whoever is defined once weighs as much as whoever is defined always.
    """
    sums, defined = np.split(row_sums(statistics, counts), 2, axis=1)
    return np.concatenate([ratio(sums, defined, 0.0), defined > 0], axis=1)


def mean_values(statistics: Floats) -> Floats:
    """Means over the cases in which a value is defined."""
    sums, counts = np.split(statistics, 2, axis=-1)
    return ratio(sums, counts, np.nan)
