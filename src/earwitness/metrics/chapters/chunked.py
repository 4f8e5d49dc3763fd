"""What metrics share that cut time into chunks."""

from __future__ import annotations

from dataclasses import dataclass, field

from earwitness.metrics.base import at_least
from earwitness.metrics.chapters.pairs import ChapterMetric

CHUNK_SIZE = {"help": "length of a chunk, in seconds"}
SHORTEST = 0.001  # seconds; thirty years of such chunks can still be counted


@dataclass(frozen=True)
class ChunkedMetric(ChapterMetric):
    """A family over chunks of time."""

    chunk_size: float = field(default=6.0, metadata=CHUNK_SIZE)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "chunk_size", at_least(SHORTEST, "chunk_size", self.chunk_size))
