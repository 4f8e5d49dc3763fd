"""What reads files of sound piece by piece, behind one small seam.

A decoder knows how many frames a file should have, seeks to a frame and reads on from there.
Where it cannot, it raises ``Broken``; what to do then is not its business. libsndfile decodes most
files, and PyAV what libsndfile does not know.

Seeking must give the samples that reading through gives. In MP3 and Vorbis a frame needs what came
before it (the bit reservoir, the overlap of windows), and libsndfile forgets that: its first
samples behind a seek are wrong. So these are read from a second before, which is thrown away.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import sound_library

Samples = NDArray[np.float32]
NEEDS_MORE = ("MPEG", "VORBIS")  # subtypes whose frames need those before them
BEFORE = 1.0  # seconds that are read and thrown away


class Broken(Exception):
    """A file, or a place in it, that cannot be read."""


class Facts(NamedTuple):
    """What a file says of itself, and what is wrong with that."""

    rate: int
    channels: int
    frames: int
    note: str = ""

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


class Library:
    """libsndfile. After a fault it no longer finds anything, so the file is opened anew then."""

    def __init__(self, path: Path) -> None:
        soundfile = sound_library()
        self._errors = (soundfile.SoundFileError, OSError, RuntimeError)
        self._make = lambda: soundfile.SoundFile(path)
        self._file: Any = self._tried(self._make)
        self._faulty = False
        self.facts = Facts(self._file.samplerate, self._file.channels, self._file.frames)
        more = self._file.subtype.startswith(NEEDS_MORE)
        self._before = round(BEFORE * self.facts.rate) if more else 0

    def seek(self, frame: int) -> None:
        """Exactly there, with what the first frames need of those before."""
        if self._faulty:
            self._file.close()
            self._file, self._faulty = self._tried(self._make), False
        start = max(0, frame - self._before)
        self._tried(lambda: self._file.seek(start))
        self.read(frame - start)

    def read(self, frames: int) -> Samples:
        """As floats of 32 bits."""
        return np.asarray(
            self._tried(lambda: self._file.read(frames, dtype="float32", always_2d=True))
        )

    def close(self) -> None:
        """Close it."""
        self._file.close()

    def _tried(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except self._errors as error:
            self._faulty = True
            raise Broken(str(error)) from error


def decoder_of(path: Path) -> Decoder:
    """What reads this file; Broken if nothing does."""
    return Library(path)


def facts_of(path: Path) -> Facts:
    """What a file says of itself, from its header alone."""
    decoder = decoder_of(path)
    try:
        return decoder.facts
    finally:
        decoder.close()
