"""What turns blocks into vectors, and how to find one by its name.

An embedder takes frames (all blocks at once, as it may learn from them) or sound (a few blocks at a
time, at its own rate). Whoever has no classes gets those of the codebook.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UsageError, nearest
from earwitness.models.codebook import Codebook
from earwitness.models.embedded import Embedded
from earwitness.models.grid import FrameBlocks
from earwitness.models.hugging import AudioModel
from earwitness.models.log_mel import LogMel
from earwitness.models.yamnet import YamNet


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

    def embed(self, day: FrameBlocks, /) -> Embedded:
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

    def embed(self, sounds: NDArray[np.float32], /) -> Embedded:
        """A row a block; a row of samples is a block, or the middle of it where it is sparse.

        It must not matter which blocks come together.
        """


Embedder = FrameEmbedder | SoundEmbedder

DEFAULT = "codebook"
YAMNET = "yamnet:"
EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {"codebook": Codebook, "log-mel": LogMel}


def find_embedder(name: str = DEFAULT) -> Embedder:
    """An embedder by its name, a file of YAMNet's (``.tflite``), or a folder with a model."""
    if name in EMBEDDERS:
        return EMBEDDERS[name]()
    path = Path(name.removeprefix(YAMNET))
    if name.startswith(YAMNET) or path.suffix.lower() == ".tflite":
        return YamNet(path)
    if path.is_dir():
        return AudioModel(path)
    told = f"{nearest(name, EMBEDDERS)}, or name a .tflite file or a folder with a model"
    raise UsageError(f'there is no embedder "{name}" — {told}')
