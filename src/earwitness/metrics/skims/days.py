"""Days to measure skims with: of recordings through an embedder, or given as they are.

Recordings are long, so what was made of the last few is kept; what an embedder makes of a recording
is also in the cache on disk, where skimming finds it, too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from earwitness.data import Recording
from earwitness.stats.skims.day import Day
from earwitness.stats.skims.measures import Measured

KEPT = 4  # days in memory


def day_of(reference: Recording | Day, embedder: str, block: float) -> Day:
    """The blocks of a recording; a day has its own."""
    if isinstance(reference, Day):
        return reference
    from earwitness.models.blocks import blocks_of
    from earwitness.models.embedders import find_embedder

    blocks, real = blocks_of(reference, find_embedder(embedder), block=block)
    every = np.ones(len(blocks.starts), np.bool_)
    vectors, classes = np.asarray(blocks.vectors), np.asarray(blocks.classes)
    return Day(blocks.starts, blocks.seconds, vectors, classes, real.seconds, every)


@lru_cache(KEPT)
def measured(reference: Recording | Day, embedder: str, block: float, period: float) -> Measured:
    """A day with what belongs to it alone."""
    return Measured(day_of(reference, embedder, block), period)
