"""The simplest embedder: mean and spread of every band over a block, standardised.

It has no classes of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT, BANDS, FORM, Bytes, in_decibels
from earwitness.models.embedded import Embedded, standardise
from earwitness.models.grid import FrameBlocks


@dataclass(frozen=True, slots=True)
class LogMel:
    """The embedder; it has no parameters."""

    name: ClassVar[str] = "log-mel"
    takes: ClassVar[Literal["frames"]] = "frames"
    rate: ClassVar[None] = None

    @property
    def signature(self) -> str:
        """All that the result depends on."""
        return f"log-mel-statistics/1,{FORM}"

    def embed(self, day: FrameBlocks) -> Embedded:
        """Describe blocks."""
        rows = [described(portion) for portion in day.portions()]
        vectors = np.concatenate([np.zeros((0, 2 * BANDS), np.float32), *rows])
        standardise(vectors)
        return Embedded(vectors)


def described(portion: Bytes) -> NDArray[np.float32]:
    """Mean and spread of the decibels of every band over frames that are there, a row a block."""
    there = (portion[:, :, :1] != ABSENT).astype(np.float32)
    decibels = in_decibels(portion)
    counts = np.maximum(1, there.sum(axis=1))
    means = (decibels * there).sum(axis=1) / counts
    spreads = np.sqrt((np.square(decibels - means[:, None]) * there).sum(axis=1) / counts)
    return np.concatenate([means, spreads], axis=1)
