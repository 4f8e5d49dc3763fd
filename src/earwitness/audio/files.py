"""Files of sound, read and written whole."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError


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
