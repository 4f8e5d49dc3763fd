"""Decoder selection by the content of a file, and the decoder based on libsndfile."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earwitness.audio.files import (
    PYAV_FORMATS,
    Decoder,
    DecodingError,
    Facts,
    Samples,
    check_facts,
    sound_library,
    sound_subtype,
)
from earwitness.audio.mp3 import Mp3Decoder, Mp3Layout, layout_of, mp3_facts
from earwitness.audio.packets import PyAvDecoder, av_library, match_channels
from earwitness.audio.wav import (
    FLOAT_TAG,
    SUBTYPES,
    Form,
    PcmDecoder,
    Riff,
    complete_riff,
    riff_of,
)
from earwitness.errors import UsageError

# --- libsndfile ----------------------------------------------------------------------------------


class LibsndfileDecoder:
    """Decoder based on libsndfile; it reopens the file after an error, which leaves it unusable."""

    sample_type = "float32"

    def __init__(self, path: Path) -> None:
        self._path, self._library = path, sound_library()
        self._open()
        file = self._file
        self.facts = check_facts(path, Facts(file.samplerate, file.channels, file.frames))

    def _open(self) -> None:
        self._file: Any = None
        self._file = self._attempt(lambda: self._library.SoundFile(self._path))

    def seek(self, frame: int) -> None:
        """Seek exactly to a frame."""
        if self._file is None:
            self._open()
        self._attempt(lambda: self._file.seek(frame))

    def read(self, frames: int) -> Samples:
        """Return frames as 32-bit floats, or as another chosen sample type."""
        if self._file is None:
            raise DecodingError("seeking failed")
        how = {"dtype": self.sample_type, "always_2d": True}
        samples = np.asarray(self._attempt(lambda: self._file.read(frames, **how)))
        return match_channels(samples, self.facts.channels)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

    def _attempt(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (self._library.SoundFileError, OSError, RuntimeError) as error:
            self.close()
            self._file = None
            raise DecodingError(str(error)) from error


# --- Decoder selection ---------------------------------------------------------------------------
# The content of a file counts, not its extension. libsndfile reads uncompressed formats and FLAC,
# but trusts any header, cannot skip damage, and cannot read a FLAC file without a length, which
# programs write to a pipe. PyAV reads all other formats, and what libsndfile cannot read. MP3
# frames are found by ``earwitness.audio.mp3``, and WAV files with a wrong header are read by
# ``earwitness.audio.wav``, since FFmpeg would scan the whole file to seek.


LIBSNDFILE_MAGICS = (b"fLaC", b"FORM", b"caff", b".snd", b"riff")
MP3_MAGICS = (b"ID3", b"\xff")


def decoder_of(path: Path, *, careful: bool = False) -> Decoder:
    """Return the decoder of a file; raises ``DecodingError`` if there is none.

    A careful decoder can skip damaged passages.
    """
    riff = riff_of(path)
    if riff is not None:
        return PcmDecoder(path, riff) if _is_lie(riff) else LibsndfileDecoder(path)
    if _read_magic(path) in LIBSNDFILE_MAGICS:
        if not careful:
            with suppress(DecodingError):
                return LibsndfileDecoder(path)
        return PyAvDecoder(path)
    return Mp3Decoder(path) if mp3_layout(path) else _open_other(path)


def _is_lie(riff: Riff) -> bool:
    return not riff.is_honest and riff.is_plain


def mp3_layout(path: Path) -> Mp3Layout | None:
    """Return what the first frame of an MP3 file says; None for other files."""
    if not _read_magic(path).startswith(MP3_MAGICS) and path.suffix.lower() != ".mp3":
        return None
    try:
        return layout_of(path)
    except DecodingError:
        return None


def _read_magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4)


def _open_other(path: Path) -> Decoder:
    """Open a file with PyAV; errors are worded according to the file's extension."""
    ending = path.suffix.lower()[1:]
    try:
        return PyAvDecoder(path)
    except DecodingError:
        if ending in PYAV_FORMATS:
            raise
    if ending == "mp3":
        layout_of(path)
    return LibsndfileDecoder(path)


def decoder_name(path: Path) -> str:
    """Return the decoder and its version, since another version may give other samples."""
    riff = riff_of(path)
    if riff is not None and _is_lie(riff):
        return "pcm"
    if riff is not None or _read_magic(path) in LIBSNDFILE_MAGICS:
        return f"libsndfile-{sound_library().__libsndfile_version__}"
    return "libavcodec-" + ".".join(map(str, av_library().library_versions["libavcodec"]))


def seeks_directly(path: Path) -> bool:
    """Whether reading from the middle of a file gives the same samples as from its start.

    Other files may decode differently after a seek, or have to be read from their start.
    """
    return (
        riff_of(path) is not None
        or _read_magic(path) in LIBSNDFILE_MAGICS
        or mp3_layout(path) is not None
    )


def facts_of(path: Path) -> Facts:
    """Return the properties of a file, from its header alone if it is reliable.

    This is the length of a file for all commands. Raises an error that names the file if it cannot
    be read.
    """
    try:
        layout = None if riff_of(path) else mp3_layout(path)
    except (DecodingError, OSError) as error:
        raise _reading_error(path, error) from error
    if layout and layout.is_honest and av_library():
        return mp3_facts(layout)
    decoder = open_decoder(path)
    decoder.close()
    return decoder.facts


def open_decoder(path: Path, *, careful: bool = False) -> Decoder:
    """Return the decoder of a file; raises an error that names the file if there is none."""
    try:
        return decoder_of(path, careful=careful)
    except (DecodingError, OSError) as error:
        raise _reading_error(path, error) from error


def _reading_error(path: Path, error: Exception) -> UsageError:
    """Return an error that names the file once; libraries repeat its name."""
    text = str(getattr(error, "strerror", None) or error)
    reason = f"cannot be read: {text.removeprefix(f'Error opening {str(path)!r}: ')}"
    with suppress(OSError):  # it may have vanished
        reason = "is empty" if path.is_file() and not path.stat().st_size else reason
    return UsageError(f"{path}: {reason}")


def open_sound(path: Path) -> Decoder:
    """Return the decoder of a file that listeners hear: libsndfile wherever it can read the file.

    Its last samples of short Ogg files are right. What is checked is then what is served.
    """
    with suppress(DecodingError, OSError):
        if riff_of(path) is None:
            decoder = LibsndfileDecoder(path)
            facts = facts_of(path) if mp3_layout(path) else decoder.facts
            if decoder.facts.frames >= facts.frames:
                decoder.facts = facts
                return decoder
            decoder.close()  # it estimates the length of MP3 files, and reads no more
    return open_decoder(path)


class SoundProfile(NamedTuple):
    """The format in which a file would be sent unchanged, and its duration."""

    form: Form
    seconds: float


def read_profile(path: Path) -> SoundProfile:
    """Return the format and duration of a file of a study."""
    if path.suffix.lower() == ".wav":
        riff = complete_riff(path)
        return SoundProfile(riff.form, riff.seconds)
    decoder = open_sound(path)
    decoder.close()
    facts = decoder.facts
    sample = SUBTYPES.get(sound_subtype(path), (FLOAT_TAG, 32))
    return SoundProfile(Form(*sample, facts.channels, facts.rate), facts.seconds)
