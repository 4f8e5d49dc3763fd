"""Metrics whose corpus value is the mean of the cases' own values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.data import Case
from earwitness.metrics.base import Floats, Metric, ratio


@dataclass(frozen=True)
class MeanMetric(Metric):
    """Subclasses say what each value of a case is; NaN leaves the case out of that value's mean."""

    @abstractmethod
    def case_values(self, cases: Sequence[Case]) -> Floats:
        """A row a case, a column a value."""

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """The values, and behind them which of them are defined."""
        values = self.case_values(cases)
        defined = ~np.isnan(values)
        return np.concatenate([np.where(defined, values, 0.0), defined], axis=1)

    def score(self, statistics: Floats) -> Floats:
        """Means over the cases in which a value is defined."""
        sums, counts = np.split(statistics, 2, axis=-1)
        return ratio(sums, counts, np.nan)
