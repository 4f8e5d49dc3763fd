"""Agreement beyond chance: boundary similarity of all cases together, less what chance gives.

Time is cut into chunks as for `chunks`. The observed agreement A is Fournier's B over the edits of
all cases; chance puts a boundary into a chunk as often as both sides do on average, and two of them
into the same one with the square of that share, E. π = (A − E) / (1 − E) is Scott's π for two and
Fleiss' for several people, as segeval defines it; it is the usual agreement between annotators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from earwitness.data import Value
from earwitness.metrics.base import Floats, ratio
from earwitness.metrics.chapters.chunked import ChunkedMetric
from earwitness.timeline import ChapterCases, Events, Grid, edits

INF = float("inf")


@dataclass(frozen=True)
class Agreement(ChunkedMetric):
    """Observed agreement and π over chunks of time."""

    name = "agreement"
    title = "Agreement beyond chance"
    values = (
        Value("agreement", "high", 0, 1, "B over the edits of all cases together"),
        Value("pi", "high", -INF, 1, "agreement beyond chance, 1 if perfect, 0 if by chance"),
    )
    headline = "pi"
    empty_cells: ClassVar[dict[str, str]] = {
        "both empty": "undefined alone: there is nothing to agree on",
        "output empty": "0, and below 0",
        "reference empty": "0, and below 0",
        "shorter than one chunk": "undefined, counted",
    }
    references = (
        "Fournier and Inkpen (2012), Segmentation Similarity and Agreement",
        "Artstein and Poesio (2008), Inter-Coder Agreement for Computational Linguistics",
    )

    def measure_pairs(self, pairs: ChapterCases) -> Floats:
        grid = Grid.of(pairs.duration, self.chunk_size)
        events = Events.of(grid, pairs.output, pairs.reference)
        additions, swaps = edits(events)
        given = events.n_output + events.n_reference
        rows = [
            events.both + swaps / 2,
            events.both + swaps + additions,
            ratio(given, 2 * grid.chunks, 0.0),
            np.ones(len(pairs)),
        ]
        return np.where(grid.chunks > 0, np.array(rows, np.float64), 0.0).T

    def score(self, statistics: Floats) -> Floats:
        good, total, share, count = np.moveaxis(statistics, -1, 0)
        observed = ratio(good, total, np.nan)
        chance = ratio(share, count, np.nan) ** 2
        pi = ratio(observed - chance, 1 - chance, np.nan)
        return np.stack([observed, pi], axis=-1)
