"""What metrics share that match boundaries one to one within a collar."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from earwitness.metrics.base import at_least, one_of
from earwitness.metrics.chapters.pairs import ChapterMeans
from earwitness.timeline import MATCHINGS, ChapterCases
from earwitness.timeline.ragged import Ints

COLLAR = {"help": "largest distance of a match, in seconds"}
MATCHING = {"help": "closest pairs first, or as many as possible", "choices": tuple(MATCHINGS)}


@dataclass(frozen=True)
class MatchedMetric(ChapterMeans):
    """Values made of how many boundaries match, and how many there are on either side."""

    collar: float = field(default=3.0, metadata=COLLAR)
    matching: str = field(default="greedy", metadata=MATCHING)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "collar", at_least(0, "collar", self.collar))
        one_of(MATCHINGS, "matching", self.matching)

    def counts(self, pairs: ChapterCases) -> tuple[Ints, Ints, Ints]:
        """Matches, boundaries of the output, boundaries of the reference."""
        return _counts(pairs, self.collar, self.matching)


@lru_cache(maxsize=16)
def _counts(pairs: ChapterCases, collar: float, matching: str) -> tuple[Ints, Ints, Ints]:
    """Kept, since several families ask the same of the same cases one after the other."""
    output, reference = pairs.positive()
    matches = MATCHINGS[matching](output, reference, collar)
    return matches, output.lengths, reference.lengths
