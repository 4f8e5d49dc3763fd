"""Where the blocks of a recording are, and their frames.

Blocks lie one behind the other from the begin of each stretch; what is left at its end is too short
to be one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from earwitness.audio.logmel import ABSENT, BANDS, PER_SECOND, Bytes
from earwitness.data import Recording
from earwitness.models.frames import FrameFile

CLOSE = 1e-6  # seconds that a stretch may lack
PORTION = 64  # blocks at a time


@dataclass(frozen=True, slots=True)
class Place:
    """A block: on the clock of the recording, and in which file from which position on."""

    start: float
    path: str
    at: float


def grid(recording: Recording, block: float) -> tuple[Place, ...]:
    """Where the blocks of a recording are."""
    return tuple(
        Place(stretch.start + i * block, stretch.path, stretch.at + i * block)
        for stretch in recording.stretches
        for i in range(int((stretch.seconds + CLOSE) / block))
    )


def unheard(blocks: int) -> None:
    """Nobody wants to know."""
    del blocks


@dataclass(frozen=True, slots=True)
class FrameBlocks:
    """Frames of every block: ``rows`` of them each, looked up when asked for.

    ``told`` hears how many blocks were looked up when their portion is done with.
    """

    places: tuple[Place, ...]
    rows: int
    files: dict[str, FrameFile]
    told: Callable[[int], object] = unheard

    def __len__(self) -> int:
        return len(self.places)

    def portion(self, first: int, last: int) -> Bytes:
        """Blocks from ``first`` up to ``last``: block × frame × band."""
        chosen = self.places[first:last]
        found = np.empty((len(chosen), self.rows, BANDS), np.uint8)
        for row, place in zip(found, chosen, strict=True):
            begin = round(place.at * PER_SECOND)
            row[:] = self.files[place.path].rows(begin, begin + self.rows)
        return found

    def portions(self) -> Iterator[Bytes]:
        """All blocks, a few at a time."""
        for first in range(0, len(self), PORTION):
            yield self.portion(first, first + PORTION)
            self.told(min(PORTION, len(self) - first))

    def with_frames(self, needed: int) -> FrameBlocks:
        """Those blocks of which so many frames are there."""
        there = [
            count >= needed
            for portion in self.portions()
            for count in (portion[:, :, 0] != ABSENT).sum(axis=1)
        ]
        kept = tuple(place for place, kept in zip(self.places, there, strict=True) if kept)
        return FrameBlocks(kept, self.rows, self.files, self.told)
