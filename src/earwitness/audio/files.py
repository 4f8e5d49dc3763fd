"""Whole-file reading and writing, and the decoder protocol."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError

# --- Whole-file reading and writing --------------------------------------------------------------


class Sound(NamedTuple):
    """Samples (a column a channel), samples a second, and how they are stored."""

    samples: NDArray[Any]
    rate: int
    subtype: str


def read_sound(path: Path) -> Sound:
    """All of a file."""
    soundfile = sound_library()
    try:
        samples, rate = soundfile.read(path, always_2d=True)
        return Sound(samples, rate, soundfile.info(path).subtype)
    except soundfile.SoundFileError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def sound_rate(path: Path) -> int:
    """Samples a second of a file."""
    soundfile = sound_library()
    try:
        return int(soundfile.info(path).samplerate)
    except soundfile.SoundFileError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def write_sound(path: Path, sound: Sound) -> None:
    """As a WAV file, which must not be there yet; samples beyond full scale are refused."""
    if abs(sound.samples).max(initial=0) > 1 and not sound.subtype.startswith(("FLOAT", "DOUBLE")):
        raise UsageError(f"{path}: would clip")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            write_wav(file, sound)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_wav(file: BinaryIO, sound: Sound) -> None:
    """Into an open file, as WAV."""
    sound_library().write(file, sound.samples, sound.rate, subtype=sound.subtype, format="WAV")


def sound_library() -> Any:
    """What decodes files, if it is installed."""
    if find_spec("soundfile") is None:
        raise MissingExtra("soundfile", "audio", "reading sound")
    import soundfile

    return soundfile


# --- Decoder protocol ----------------------------------------------------------------------------
# A decoder knows how many frames a file should have, seeks to a frame and reads on from there.
# Where it cannot, it raises ``DecodingError``; what to do then is not its business.


Samples = NDArray[np.float32]
PYAV_FORMATS = re.split(" ", "opus m4a mp4 aac webm mka mkv wma ac3 3gp mov amr wv ape")  # for PyAV


class DecodingError(Exception):
    """A file, or a place in it, that cannot be read; and the frame at which sound goes on."""

    def __init__(self, message: str, resumes: int | None = None) -> None:
        super().__init__(message)
        self.resumes = resumes


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
