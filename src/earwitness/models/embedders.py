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
# The simplest embedder: mean and standard deviation of every band over a block, standardized. It
# has no classes of its own.


@dataclass(frozen=True, slots=True)
class LogMel:
    """The log-mel statistics embedder; it has no parameters."""

    name: ClassVar[str] = "log-mel"
    takes: ClassVar[Literal["frames"]] = "frames"
    rate: ClassVar[None] = None

    @property
    def signature(self) -> str:
        """All settings that determine the result."""
        return f"log-mel-statistics/1,{LOGMEL_FORMAT}"

    def embed(self, day: FrameBlocks) -> BlockEmbeddings:
        """Embed blocks."""
        rows = [describe_blocks(portion) for portion in day.portions()]
        vectors = np.concatenate([np.zeros((0, 2 * MEL_BANDS), np.float32), *rows])
        standardise(vectors)
        return BlockEmbeddings(vectors)


def describe_blocks(portion: Bytes) -> NDArray[np.float32]:
    """Return mean and standard deviation of every band over present frames, one row per block."""
    is_present = (portion[:, :, :1] != ABSENT_BYTE).astype(np.float32)
    decibels = decode_decibels(portion)
    counts = np.maximum(1, is_present.sum(axis=1))
    means = (decibels * is_present).sum(axis=1) / counts
    spreads = np.sqrt((np.square(decibels - means[:, None]) * is_present).sum(axis=1) / counts)
    return np.concatenate([means, spreads], axis=1)


# --- Embedders by name ---------------------------------------------------------------------------
# An embedder takes frames (all blocks at once, since it may learn from them) or audio (a few blocks
# at a time, at its own sample rate). Embedders without classes get those of the codebook.


class _NamedEmbedder(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def signature(self) -> str:
        """All parameters in one line, with the hash of weights; it changes if results change."""


class FrameEmbedder(_NamedEmbedder, Protocol):
    """An embedder of log-mel frames."""

    @property
    def takes(self) -> Literal["frames"]: ...

    @property
    def rate(self) -> None: ...

    def embed(self, day: FrameBlocks, /) -> BlockEmbeddings:
        """Return one row per block."""


class SoundEmbedder(_NamedEmbedder, Protocol):
    """An embedder of audio."""

    @property
    def takes(self) -> Literal["sound"]: ...

    @property
    def rate(self) -> int:
        """Required sample rate in Hz."""

    def embed(self, sounds: NDArray[np.float32], /) -> BlockEmbeddings:
        """Return one row per block; each row of samples is a block, or its middle if sparse.

        The result for a block must not depend on the other blocks of the call.
        """


Embedder = FrameEmbedder | SoundEmbedder

DEFAULT_EMBEDDER = "codebook"
YAMNET_PREFIX = "yamnet:"
EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {"codebook": Codebook, "log-mel": LogMel}


def find_embedder(name: str = DEFAULT_EMBEDDER) -> Embedder:
    """Return an embedder by name, YAMNet file (``.tflite``), or folder with a model."""
    if name in EMBEDDERS:
        return EMBEDDERS[name]()
    path = Path(name.removeprefix(YAMNET_PREFIX))
    if name.startswith(YAMNET_PREFIX) or path.suffix.lower() == ".tflite":
        return YamNet(path)
    if path.is_dir():
        return AudioModel(path)
    remedy = f"{nearest(name, EMBEDDERS)}, or give a .tflite file or a folder with a model"
    raise UsageError(f'unknown embedder "{name}" — {remedy}')
