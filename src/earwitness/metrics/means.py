"""Metrics whose corpus value is the mean of the cases' own values."""

from __future__ import annotations

import numpy as np

from earwitness.metrics.base import Floats, ratio


def mean_statistics(values: Floats) -> Floats:
    """A row a case: its values, and behind them which of them are defined (not NaN)."""
    defined = ~np.isnan(values)
    return np.concatenate([np.where(defined, values, 0.0), defined], axis=1)


def mean_values(statistics: Floats) -> Floats:
    """Means over the cases in which a value is defined."""
    sums, counts = np.split(statistics, 2, axis=-1)
    return ratio(sums, counts, np.nan)
