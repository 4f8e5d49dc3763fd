"""The R-value: hits weighed against over-segmentation, which inflates recall.

With hit rate HR (the recall within the collar) and over-segmentation OS = outputs per reference
boundary − 1: R = 1 − (√((1 − HR)² + OS²) + |HR − 1 − OS| / √2) / 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats, ratio
from earwitness.metrics.chapters.matched import MatchedMetric
from earwitness.timeline import ChapterCases

INF = float("inf")


@dataclass(frozen=True)
class RValue(MatchedMetric):
    """R-value and over-segmentation of boundaries matched within a collar."""

    name = "r_value"
    title = "Hits against over-segmentation"
    values = (
        Value("r_value", "high", -INF, 1, "1 if every boundary is hit and none is added"),
        Value("over_segmentation", "none", -1, INF, "boundaries too many per reference boundary"),
    )
    headline = "r_value"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "over_segmentation -1; r_value 1 - √2 / 2",
        "reference empty": "undefined",
    }
    references = (
        "Räsänen, Laine and Altosaar (2009), An Improved Speech Segmentation Quality Measure: "
        "the R-value",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        hits, n_output, n_reference = self.counts(pairs)
        hit_rate = ratio(hits, n_reference, np.nan)
        over = ratio(n_output, n_reference, np.nan) - 1
        from_target = np.sqrt((1 - hit_rate) ** 2 + over**2)
        from_line = np.abs(hit_rate - 1 - over) / np.sqrt(2)
        return np.stack([1 - (from_target + from_line) / 2, over], axis=1)
