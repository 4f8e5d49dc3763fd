"""Embeddings of blocks, the grid of blocks and their frames, and unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT_BYTE, FRAMES_PER_SECOND, MEL_BANDS, Bytes
from earwitness.models.frames import FrameFile
from earwitness.recordings.types import Recording

# --- Embeddings of blocks ------------------------------------------------------------------------


Floats = NDArray[np.float32]
COLUMNS_PER_PORTION = 16  # at a time: a week of blocks takes little room
MIN_RELATIVE_SPREAD = 1e-6  # a spread that rounding makes


class BlockEmbeddings(NamedTuple):
    """Rows of vectors; rows of classes from 0 to 1 and their names, or none of either."""

    vectors: Floats
    classes: Floats | None = None
    class_names: tuple[str, ...] = ()


def standardise(vectors: Floats) -> None:
    """Make columns with a mean of 0 and a spread of 1, in place; one that never changes is 0."""
    if not len(vectors):
        return
    for first in range(0, vectors.shape[1], COLUMNS_PER_PORTION):
        columns = vectors[:, first : first + COLUMNS_PER_PORTION].astype(np.float64)
        means, spreads = columns.mean(axis=0), columns.std(axis=0)
        is_constant = spreads <= MIN_RELATIVE_SPREAD * (1 + abs(means))
        vectors[:, first : first + COLUMNS_PER_PORTION] = (columns - means) / np.where(
            is_constant, np.inf, spreads
        )


# --- Unit vectors --------------------------------------------------------------------------------


def unit_vectors(vectors: Floats) -> Floats:
    """Each row divided by its length; a row of zeros stays as it is.

    >>> unit_vectors(np.array([[3, 4], [0, 0]], np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)


# --- Grid of blocks ------------------------------------------------------------------------------
# Blocks lie one behind the other from the begin of each stretch; what is left at its end is too
# short to be one.


STRETCH_TOLERANCE_SECONDS = 1e-6  # seconds that a stretch may lack
BLOCKS_PER_PORTION = 64


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """A block: on the clock of the recording, and in which file from which position on."""

    start: float
    path: str
    at: float


def block_places(recording: Recording, block: float) -> tuple[BlockPlace, ...]:
    """Where the blocks of a recording are."""
    return tuple(
        BlockPlace(stretch.start + i * block, stretch.path, stretch.at + i * block)
        for stretch in recording.stretches
        for i in range(int((stretch.seconds + STRETCH_TOLERANCE_SECONDS) / block))
    )


def ignore_count(blocks: int) -> None:
    """Nobody wants to know."""
    del blocks


@dataclass(frozen=True, slots=True)
class FrameBlocks:
    """Frames of every block: ``rows`` of them each, looked up when asked for.

    ``on_portion`` is told how many blocks were looked up when their portion is done with.
    """

    places: tuple[BlockPlace, ...]
    rows: int
    files: dict[str, FrameFile]
    on_portion: Callable[[int], object] = ignore_count

    def __len__(self) -> int:
        return len(self.places)

    def portion(self, first: int, last: int) -> Bytes:
        """Blocks from ``first`` up to ``last``: block × frame × band."""
        places = self.places[first:last]
        frames = np.empty((len(places), self.rows, MEL_BANDS), np.uint8)
        for row, place in zip(frames, places, strict=True):
            begin = round(place.at * FRAMES_PER_SECOND)
            row[:] = self.files[place.path].rows(begin, begin + self.rows)
        return frames

    def portions(self) -> Iterator[Bytes]:
        """All blocks, a few at a time."""
        for first in range(0, len(self), BLOCKS_PER_PORTION):
            yield self.portion(first, first + BLOCKS_PER_PORTION)
            self.on_portion(min(BLOCKS_PER_PORTION, len(self) - first))

    def with_frames(self, needed: int) -> FrameBlocks:
        """Those blocks of which so many frames are there."""
        has_frames = [
            count >= needed
            for portion in self.portions()
            for count in (portion[:, :, 0] != ABSENT_BYTE).sum(axis=1)
        ]
        places = tuple(
            place for place, is_kept in zip(self.places, has_frames, strict=True) if is_kept
        )
        return FrameBlocks(places, self.rows, self.files, self.on_portion)
