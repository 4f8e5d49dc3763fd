"""Embedder protocols, embedders by name, and the log-mel statistics embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT_BYTE, LOGMEL_FORMAT, MEL_BANDS, Bytes, decode_decibels
from earwitness.errors import UsageError, nearest
from earwitness.models.base import BlockEmbeddings, FrameBlocks, standardise
from earwitness.models.codebook import Codebook
from earwitness.models.huggingface import AudioModel
from earwitness.models.yamnet import YamNet

# --- Log-mel statistics --------------------------------------------------------------------------
# The simplest embedder: mean and spread of every band over a block, standardised. It has no classes
# of its own.


@dataclass(frozen=True, slots=True)
class LogMel:
    """The embedder; it has no parameters."""

    name: ClassVar[str] = "log-mel"
    takes: ClassVar[Literal["frames"]] = "frames"
    rate: ClassVar[None] = None

    @property
    def signature(self) -> str:
        """All that the result depends on."""
        return f"log-mel-statistics/1,{LOGMEL_FORMAT}"

    def embed(self, day: FrameBlocks) -> BlockEmbeddings:
        """Describe blocks."""
        rows = [describe_blocks(portion) for portion in day.portions()]
        vectors = np.concatenate([np.zeros((0, 2 * MEL_BANDS), np.float32), *rows])
        standardise(vectors)
        return BlockEmbeddings(vectors)


def describe_blocks(portion: Bytes) -> NDArray[np.float32]:
    """Mean and spread of the decibels of every band over frames that are there, a row a block."""
    is_present = (portion[:, :, :1] != ABSENT_BYTE).astype(np.float32)
    decibels = decode_decibels(portion)
    counts = np.maximum(1, is_present.sum(axis=1))
    means = (decibels * is_present).sum(axis=1) / counts
    spreads = np.sqrt((np.square(decibels - means[:, None]) * is_present).sum(axis=1) / counts)
    return np.concatenate([means, spreads], axis=1)


# --- Embedders by name ---------------------------------------------------------------------------
# An embedder takes frames (all blocks at once, as it may learn from them) or sound (a few blocks at
# a time, at its own rate). Whoever has no classes gets those of the codebook.


class FrameEmbedder(Protocol):
    """Takes log-mel frames."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str:
        """All parameters in one line: whatever has another signature has other results."""

    @property
    def takes(self) -> Literal["frames"]: ...

    @property
    def rate(self) -> None: ...

    def embed(self, day: FrameBlocks, /) -> BlockEmbeddings:
        """A row a block."""


class SoundEmbedder(Protocol):
    """Takes sound."""

    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str:
        """All parameters in one line, with the hash of the weights."""

    @property
    def takes(self) -> Literal["sound"]: ...

    @property
    def rate(self) -> int:
        """Samples a second that it wants."""

    def embed(self, sounds: NDArray[np.float32], /) -> BlockEmbeddings:
        """A row a block; a row of samples is a block, or the middle of it where it is sparse.

        It must not matter which blocks come together.
        """


Embedder = FrameEmbedder | SoundEmbedder

DEFAULT_EMBEDDER = "codebook"
YAMNET_PREFIX = "yamnet:"
EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {"codebook": Codebook, "log-mel": LogMel}


def find_embedder(name: str = DEFAULT_EMBEDDER) -> Embedder:
    """An embedder by its name, a file of YAMNet's (``.tflite``), or a folder with a model."""
    if name in EMBEDDERS:
        return EMBEDDERS[name]()
    path = Path(name.removeprefix(YAMNET_PREFIX))
    if name.startswith(YAMNET_PREFIX) or path.suffix.lower() == ".tflite":
        return YamNet(path)
    if path.is_dir():
        return AudioModel(path)
    remedy = f"{nearest(name, EMBEDDERS)}, or name a .tflite file or a folder with a model"
    raise UsageError(f'there is no embedder "{name}" — {remedy}')
