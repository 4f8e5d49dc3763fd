"""Segmentation similarity S: the share of places between units at which no edit is needed.

Time is cut into chunks as for `chunks`; a boundary that is off by one chunk is half an edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats, ratio
from earwitness.metrics.chapters.chunked import ChunkedMetric
from earwitness.metrics.chapters.pairs import ChapterMeans
from earwitness.timeline import ChapterCases, Events, Grid, edits


@dataclass(frozen=True)
class Similarity(ChapterMeans, ChunkedMetric):
    """Fournier and Inkpen's S over chunks of time."""

    name = "similarity"
    title = "Segmentation similarity"
    values = (
        Value("segmentation_similarity", "high", 0, 1, "chunks at which nothing must be edited"),
    )
    headline = "segmentation_similarity"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "1",
        "output empty": "1 less the share of chunks with a reference boundary",
        "reference empty": "1 less the share of chunks with an output boundary",
        "shorter than one chunk": "undefined, counted",
    }
    references = (
        "Fournier and Inkpen (2012), Segmentation Similarity and Agreement",
        "Fournier (2013), Evaluating Text Segmentation using Boundary Edit Distance",
    )

    def pair_values(self, pairs: ChapterCases) -> Floats:
        grid = Grid.of(pairs.duration, self.chunk_size)
        additions, swaps = edits(Events.of(grid, pairs.output, pairs.reference))
        share = ratio(additions + swaps / 2, grid.chunks, np.nan)
        return np.asarray(1 - share[:, None])
