"""Days to measure skims with: of recordings through an embedder, or given as they are.

Recordings are long, so what was made of the last few is kept; what an embedder makes of a recording
is also in the cache on disk, where skimming finds it, too.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from earwitness.data import Recording
from earwitness.stats.skims.day import Day
from earwitness.stats.skims.measures import Measured

KEPT = 4  # days in memory


class Recorded(NamedTuple):
    """A recording, and the seconds of the silences in it that mark hours (0: there are none)."""

    recording: Recording
    hour_gap: float = 0.0


Reference = Recorded | Day


class Known(NamedTuple):
    """The blocks of a recording, and the recording as it really was, on its true clock."""

    day: Day
    real: Recording


def embedded(reference: Recorded, embedder: str, block: float) -> Known:
    """A recording through an embedder."""
    from earwitness.models.blocks import blocks_of
    from earwitness.models.embedders import find_embedder

    recording, gap = reference
    blocks, real = blocks_of(recording, find_embedder(embedder), block=block, hour_gap=gap)
    every = np.ones(len(blocks.starts), np.bool_)
    vectors, classes = np.asarray(blocks.vectors), np.asarray(blocks.classes)
    return Known(Day(blocks.starts, blocks.seconds, vectors, classes, real.seconds, every), real)


def day_of(reference: Reference, embedder: str, block: float) -> Day:
    """The blocks of a recording; a day has its own."""
    if isinstance(reference, Day):
        return reference
    return embedded(reference, embedder, block).day


@lru_cache(KEPT)
def measured(reference: Reference, embedder: str, block: float, period: float) -> Measured:
    """A day with what belongs to it alone."""
    return Measured(day_of(reference, embedder, block), period)
