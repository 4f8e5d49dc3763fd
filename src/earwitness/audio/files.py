"""Whole-file reading and writing, and the decoder protocol."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import Any, BinaryIO, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import MissingExtra, UsageError

# --- Whole-file reading and writing --------------------------------------------------------------


MAX_HEADER_BYTES = 128  # of a WAV file, before its samples


class Sound(NamedTuple):
    """Samples (one column per channel), sample rate, and sample format."""

    samples: NDArray[Any]
    rate: int
    subtype: str


def sound_subtype(path: Path) -> str:
    """Return the sample format of a file; 16-bit PCM if only PyAV can read it."""
    soundfile = sound_library()
    try:
        return str(soundfile.info(path).subtype)
    except soundfile.SoundFileError:
        return "PCM_16"


def write_sound(path: Path, sound: Sound) -> None:
    """Write a new WAV file; samples beyond full scale, or not numbers, are refused."""
    peak = abs(sound.samples).max(initial=0)
    if not np.isfinite(peak):
        raise UsageError(f"{path}: has samples that are not numbers")
    if peak > 1 and not sound.subtype.startswith(("FLOAT", "DOUBLE")):
        raise UsageError(f"{path}: samples exceed full scale and would clip")
    write_new_wav(path, sound)


def write_new_wav(path: Path, sound: Sound) -> None:
    """Write a new WAV file, without a check of its samples."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            write_wav(file, sound)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def write_wav(file: BinaryIO, sound: Sound) -> None:
    """Write WAV into an open file."""
    buffer = io.BytesIO()
    channels = 1 if sound.samples.ndim == 1 else sound.samples.shape[1]
    with SoundWriter(buffer, sound.rate, channels, "WAV", sound.subtype) as writer:
        writer.write(sound.samples)
    content = buffer.getbuffer()
    peak_chunk = bytes(content[:MAX_HEADER_BYTES]).find(b"PEAK")
    if peak_chunk > 0:  # in float files; without its time stamp, equal samples give equal files
        content[peak_chunk + 12 : peak_chunk + 16] = bytes(4)
    file.write(content)


ENCODE_BLOCK_FRAMES = 32_768  # per call: libsndfile crashes on long Ogg writes


class SoundWriter:
    """Encodes audio into an open binary file, best without a buffer: its errors come late.

    libsndfile writes by calls of Python functions, from which no exception returns: neither that of
    Ctrl-C nor that of a full disk. So it runs in a thread, where no signals arrive, and the first
    error of the file is kept and raised after the call.
    """

    def __init__(
        self, file: BinaryIO, rate: int, channels: int, form: str, subtype: str | None = None
    ) -> None:
        self._output, self._lock = _QuietFile(file), Lock()
        self._file: Any = None
        how = {"subtype": subtype, "format": form}
        library = sound_library()
        self._open = partial(library.SoundFile, self._output, "w", rate, channels, **how)

    def __enter__(self) -> Self:
        def work() -> None:
            self._file = self._open()

        try:
            self._run(work)
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def write(self, samples: NDArray[Any]) -> None:
        """Encode samples, with one column per channel."""
        for start in range(0, len(samples), ENCODE_BLOCK_FRAMES):
            block = samples[start : start + ENCODE_BLOCK_FRAMES]
            self._run(partial(self._file.write, block))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        def work() -> None:
            file, self._file = self._file, None
            file.close()

        with suppress(Exception) if kind else nullcontext():
            self._run(work)

    def _run(self, work: Callable[[], object]) -> None:
        """Wait for a call of libsndfile in a thread, which Ctrl-C leaves to its end."""
        errors = list[BaseException]()

        def attempt() -> None:
            try:
                with self._lock:
                    work()
            except BaseException as error:  # noqa: BLE001 - raised again by the caller
                errors.append(error)

        thread = Thread(target=attempt, daemon=True)
        thread.start()
        thread.join()
        for error in (*errors, self._output.error):
            if error is not None:
                raise error


class _QuietFile:
    """A file for libsndfile; nothing is written after an error, which is kept."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None
        self.seek, self.tell, self.read = file.seek, file.tell, file.read

    def write(self, content: bytes) -> int:
        try:
            rest = memoryview(content)
            while len(rest) and self.error is None:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.error = error
        return len(content)


def sound_library() -> Any:
    """Return soundfile, or raise an error if it is not installed."""
    if find_spec("soundfile") is None:
        raise MissingExtra("soundfile", "audio", "reading audio")
    import soundfile

    return soundfile


# --- Decoder protocol ----------------------------------------------------------------------------
# A decoder knows how many frames a file should have, seeks to a frame and reads from there. If it
# cannot, it raises ``DecodingError``; the caller decides what to do.


Samples = NDArray[np.float32]
PYAV_FORMATS = re.split(" ", "opus m4a mp4 aac webm mka mkv wma ac3 3gp mov amr wv ape")  # for PyAV


class DecodingError(Exception):
    """An unreadable file or passage; ``resumes`` is the frame at which audio continues."""

    def __init__(self, message: str, resumes: int | None = None) -> None:
        super().__init__(message)
        self.resumes = resumes


class Facts(NamedTuple):
    """Properties of a file that are known without decoding it, and a note if they are wrong.

    ``short`` means that the end of the file is lost; the note then says so.
    """

    rate: int
    channels: int
    frames: int
    note: str = ""
    short: bool = False

    @property
    def seconds(self) -> float:
        """Expected duration in seconds."""
        return self.frames / self.rate


MAX_CHANNELS, MAX_RATE_HZ = 512, 1_000_000
MAX_FRAMES_PER_BYTE = 8192  # of any codec, also of silence


def check_facts(path: Path, facts: Facts) -> Facts:
    """Return properties of a file; raises ``DecodingError`` if no file of its size has them."""
    if not 0 < facts.rate <= MAX_RATE_HZ or not 0 < facts.channels <= MAX_CHANNELS:
        where = f"{facts.channels:,} channels at {facts.rate:,} Hz"
        raise DecodingError(f"invalid header with {where}")
    if not 0 <= facts.frames <= MAX_FRAMES_PER_BYTE * path.stat().st_size:
        seconds = f"{facts.seconds:.4g} s"
        raise DecodingError(f"the header gives {seconds}, which the file cannot contain")
    return facts


class Decoder(Protocol):
    """Reads a file from any frame; samples have one column per channel."""

    @property
    def facts(self) -> Facts:
        """Properties of the file."""

    def seek(self, frame: int) -> None:
        """Continue reading from a frame."""

    def read(self, frames: int) -> Samples:
        """Return the next frames, fewer at the end of the file."""

    def close(self) -> None:
        """Close the file."""
