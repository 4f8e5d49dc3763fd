"""How far off boundaries are: median distances to the nearest boundary of the other side.

Boundaries at or before 0 are no boundaries. Without a boundary on either side there is no distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats
from earwitness.metrics.chapters.pairs import ChapterMeans
from earwitness.timeline import ChapterCases, median_distance

INF = float("inf")


@dataclass(frozen=True)
class Deviation(ChapterMeans):
    """Median distances in seconds, seen from either side."""

    name = "deviation"
    title = "Distance to the nearest boundary"
    values = (
        Value("deviation_of_reference", "low", 0, INF, "from reference boundaries, in seconds"),
        Value("deviation_of_output", "low", 0, INF, "from output boundaries, in seconds"),
    )
    headline = "deviation_of_reference"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined",
        "output empty": "undefined",
        "reference empty": "undefined",
    }
    references = (
        "Turnbull et al. (2007), A Supervised Approach for Detecting Boundaries in Music",
        "Raffel et al. (2014), mir_eval: A Transparent Implementation of Common MIR Metrics",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        output, reference = pairs.positive()
        return np.stack(
            [median_distance(reference, output), median_distance(output, reference)], axis=1
        )
