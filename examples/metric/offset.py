"""Example metric: distance of output boundaries from the nearest reference boundaries.

This example is complete; CONTRIBUTING.md explains it, and the contract tests cover it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from earwitness.core import Case, Value
from earwitness.metric import Metric, ratio
from earwitness.stats.arrays import Floats


@dataclass(frozen=True)
class Offset(Metric):
    """Mean distance to the nearest reference boundary.

    Parameters
    ----------
    most
        Largest distance that counts, in seconds.
    """

    most: float = field(default=30.0, metadata={"least": 0})

    task = "chapters"
    name = "offset"
    title = "Distance to the nearest boundary"
    values = (Value("offset_mean", "low", 0, math.inf, "mean distance, in seconds"),)
    headline = "offset_mean"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "undefined",
        "reference empty": "undefined",
    }
    references = ("this file",)

    def measure_many(self, cases: Sequence[Case]) -> Floats:
        """Return the number of distances and their sum, one row per case."""
        rows = np.zeros((len(cases), 2))  # an empty batch returns an empty table
        for row, case in zip(rows, cases, strict=True):
            output = np.array(case.output.boundaries)
            reference = np.array(case.references[0].boundaries)
            if len(output) and len(reference):
                distance = np.abs(output[:, None] - reference).min(axis=1)
                row[:] = len(output), np.minimum(distance, self.most).sum()
        return rows

    def score(self, statistics: Floats) -> Floats:
        """Return the mean over all boundaries of the summed cases."""
        return ratio(statistics[..., 1:], statistics[..., :1], np.nan)
