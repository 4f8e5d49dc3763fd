"""What all decoders share: a small seam, facts about a file, and how they fail.

A decoder knows how many frames a file should have, seeks to a frame and reads on from there.
Where it cannot, it raises ``Broken``; what to do then is not its business.

soundfile seeks behind each read to where the file already is. In MP3 that loses what the next frame
needs, and the first samples of each read may be wrong. It does so only if a file says that it can
seek; so ours says that it cannot.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import sound_library

Samples = NDArray[np.float32]
BEFORE = 1.0  # seconds that are read and thrown away where frames need those before them
MP3_BEFORE = {1152: 12, 576: 28}  # frames, by their samples: room for 511 bytes, and for 255


class Broken(Exception):
    """A file, or a place in it, that cannot be read."""


class Facts(NamedTuple):
    """What a file has by all that can be told without decoding it, and what is wrong with that.

    It is ``short`` if its end is known to be lost; then the note says so.
    """

    rate: int
    channels: int
    frames: int
    note: str = ""
    short: bool = False

    @property
    def seconds(self) -> float:
        """How long it should be."""
        return self.frames / self.rate


class Decoder(Protocol):
    """Reads a file from any frame on; a column a channel."""

    @property
    def facts(self) -> Facts:
        """What the file says of itself."""

    def seek(self, frame: int) -> None:
        """Go on from there."""

    def read(self, frames: int) -> Samples:
        """So many frames, or fewer where the file ends."""

    def close(self) -> None:
        """Let go of the file."""


def straight(file: Path | int) -> Any:
    """A file (or an open one, by its number) for libsndfile to read without seeking in between."""
    try:
        return _straight()(file)
    except faults() as error:
        raise Broken(str(error)) from error


def faults() -> tuple[type[Exception], ...]:
    """What soundfile raises where a file is broken."""
    return sound_library().SoundFileError, OSError, RuntimeError


@lru_cache
def _straight() -> Any:
    soundfile = sound_library()

    class Straight(soundfile.SoundFile):  # type: ignore[misc, name-defined]
        def seekable(self) -> bool:
            return False

    return Straight
