"""Embeddings of blocks, the grid of blocks and their frames, and unit vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT_BYTE, FRAMES_PER_SECOND, MEL_BANDS, Bytes
from earwitness.models.frames import FrameFile
from earwitness.recordings.types import Recording

# --- Embeddings of blocks ------------------------------------------------------------------------


Floats = NDArray[np.float32]
COLUMNS_PER_PORTION = 16  # columns at a time, to save memory
MIN_RELATIVE_SPREAD = 1e-6  # smaller spreads are rounding errors


class BlockEmbeddings(NamedTuple):
    """Vectors, one row per block; and classes from 0 to 1 with their names, if any."""

    vectors: Floats
    classes: Floats | None = None
    class_names: tuple[str, ...] = ()


def standardise(vectors: Floats) -> None:
    """Scale columns to mean 0 and standard deviation 1, in place; constant columns become 0."""
    if not len(vectors):
        return
    for first in range(0, vectors.shape[1], COLUMNS_PER_PORTION):
        columns = vectors[:, first : first + COLUMNS_PER_PORTION].astype(np.float64)
        means, spreads = columns.mean(axis=0), columns.std(axis=0)
        is_constant = spreads <= MIN_RELATIVE_SPREAD * (1 + abs(means))
        vectors[:, first : first + COLUMNS_PER_PORTION] = (columns - means) / np.where(
            is_constant, np.inf, spreads
        )


# --- Unit vectors and windows ---------------------------------------------------------------------


def unit_vectors(vectors: Floats) -> Floats:
    """Return rows divided by their norm; rows of zeros are unchanged.

    >>> unit_vectors(np.array([[3, 4], [0, 0]], np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), np.float32)


@cache
def hann_window(samples: int) -> Floats:
    """Return a periodic Hann window."""
    places = np.arange(samples) / samples
    return (0.5 - 0.5 * np.cos(2 * np.pi * places)).astype(np.float32)


# --- Grid of blocks ------------------------------------------------------------------------------
# Blocks are consecutive from the start of each stretch; a remainder shorter than a block is left
# out.


STRETCH_TOLERANCE_SECONDS = 1e-6  # tolerance for the last block
BLOCKS_PER_PORTION = 64


@dataclass(frozen=True, slots=True)
class BlockPlace:
    """A block: its time on the clock of the recording, its file, and its position in the file."""

    start: float
    path: str
    at: float


def block_places(recording: Recording, block: float) -> tuple[BlockPlace, ...]:
    """Return the positions of the blocks of a recording."""
    return tuple(
        BlockPlace(stretch.start + i * block, stretch.path, stretch.at + i * block)
        for stretch in recording.stretches
        for i in range(int((stretch.seconds + STRETCH_TOLERANCE_SECONDS) / block))
    )


@dataclass(frozen=True, slots=True)
class FrameBlocks:
    """Frames of every block (``rows`` each), loaded on demand.

    ``on_portion`` is called with the number of blocks after each portion.
    """

    places: tuple[BlockPlace, ...]
    rows: int
    files: dict[str, FrameFile]
    on_portion: Callable[[int], object] = lambda _: None

    def __len__(self) -> int:
        return len(self.places)

    def portion(self, first: int, last: int) -> Bytes:
        """Return blocks from ``first`` up to ``last``: block × frame × band."""
        places = self.places[first:last]
        frames = np.empty((len(places), self.rows, MEL_BANDS), np.uint8)
        for row, place in zip(frames, places, strict=True):
            begin = round(place.at * FRAMES_PER_SECOND)
            row[:] = self.files[place.path].rows(begin, begin + self.rows)
        return frames

    def portions(self) -> Iterator[Bytes]:
        """Yield all blocks in portions."""
        for first in range(0, len(self), BLOCKS_PER_PORTION):
            yield self.portion(first, first + BLOCKS_PER_PORTION)
            self.on_portion(min(BLOCKS_PER_PORTION, len(self) - first))

    def with_frames(self, needed: int) -> FrameBlocks:
        """Return the blocks that have at least ``needed`` frames."""
        has_frames = [
            count >= needed
            for portion in self.portions()
            for count in (portion[:, :, 0] != ABSENT_BYTE).sum(axis=1)
        ]
        return replace(self, places=tuple(compress(self.places, has_frames)))
