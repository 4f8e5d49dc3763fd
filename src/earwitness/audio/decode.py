"""Decoder selection, with decoders based on libsndfile and PyAV."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.audio.files import (
    MP3_PREROLL_FRAMES,
    PYAV_FORMATS,
    SEEK_PREROLL_SECONDS,
    Decoder,
    DecodingError,
    Facts,
    Samples,
    faults,
    straight,
)
from earwitness.audio.mp3 import Mp3Decoder, layout_of
from earwitness.audio.wav import PcmDecoder, riff_of
from earwitness.errors import MissingExtra, UsageError

# --- Missing Ogg pages ---------------------------------------------------------------------------
# libsndfile passes silently over pages that are gone or overwritten: all sound behind them comes
# too early then. Pages are numbered, so that a walk from head to head shows it without decoding.


# magic, stream, number of the page, entries of its table
PAGE_HEADER = struct.Struct("<4s10xII4xB")
PAGE_HEADER_BYTES = 27  # bytes of a head


def has_all_pages(path: Path) -> bool:
    """Whether every page of a file follows the one before; remembered while it stays as it is."""
    known = path.stat()
    return _has_all_pages(path, known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=256)
def _has_all_pages(path: Path, size: int, changed: int) -> bool:  # noqa: ARG001 - part of the key
    numbers: dict[int, int] = {}
    place = 0
    with path.open("rb") as file:
        while place < size:
            file.seek(place)
            head = file.read(PAGE_HEADER_BYTES + 255)
            if len(head) < PAGE_HEADER_BYTES:
                return False
            magic, stream, number, entries = PAGE_HEADER.unpack_from(head)
            if magic != b"OggS" or number != numbers.get(stream, -1) + 1:
                return False
            numbers[stream] = number
            place += (
                PAGE_HEADER_BYTES
                + entries
                + sum(head[PAGE_HEADER_BYTES : PAGE_HEADER_BYTES + entries])
            )
    return place == size


# --- PyAV decoder --------------------------------------------------------------------------------
# libsndfile does not know some files (AAC, M4A, WebM and others). A frame of such a file says when
# it is to be heard, in some only to the millisecond. There the place of the first frame behind a
# seek is the nearest point of a grid, since all frames but the first are of one length (not in
# Vorbis, where a seek may be off by half a millisecond). All others follow the frame before, unless
# their time says that something is missing.


# frames and nothing else: they tell no times and no length
RAW_STREAM_SUFFIXES = (".aac", ".ac3", ".amr")
TIME_TOLERANCE_SECONDS = 0.004  # seconds by which a time may be off its point of the grid


class PyAvDecoder:
    """A decoder with PyAV."""

    def __init__(self, path: Path) -> None:
        if find_spec("av") is None:
            raise MissingExtra("av", "av", f"reading {path.suffix[1:]} files")
        import av

        self._av, self._path = av, path
        self._stream: Any
        self._open()
        self._rate = int(self._stream.codec_context.sample_rate)
        self._channels = int(self._stream.codec_context.channels)
        self.facts = Facts(self._rate, self._channels, round(self._seconds() * self._rate))
        self._grid = self._first_frames()
        self.seek(0)

    def _open(self) -> None:
        try:
            self._container = self._av.open(str(self._path))
            self._stream = self._container.streams.audio[0]
        except (self._av.error.FFmpegError, OSError, IndexError) as error:
            raise DecodingError(str(error) or "there is no sound in it") from error

    def _seconds(self) -> float:
        """As the stream tells it, or else the whole file; what tells nothing is counted."""
        if self._path.suffix.lower() in RAW_STREAM_SUFFIXES:
            ticks = sum(one.duration or 0 for one in self._container.demux(self._stream))
            self._container.close()
            self._open()
            return float(ticks * self._stream.time_base)
        if self._stream.duration is not None:
            return float(self._stream.duration * self._stream.time_base)
        return (self._container.duration or 0) / self._av.time_base

    def _first_frames(self) -> tuple[float, int, int]:
        """The time of the second frame, where it begins, and how long it and all others are."""
        frames = [frame for frame, _ in zip(self._frames(), range(2), strict=False)]
        if not frames:
            raise DecodingError("there is no sound in it")
        return float(frames[-1].time), sum(one.samples for one in frames[:-1]), frames[-1].samples

    def seek(self, frame: int) -> None:
        """From a second before, which the first frames need; what comes too early is left out.

        Bare frames are decoded from the first on, since no place in them tells its time.
        """
        self._container.close()
        self._open()
        self._position, self._decoded = frame, self._frames()
        self._left = np.zeros((0, self._channels), np.float32)
        self._end: int | None = None
        early = frame / self._rate - SEEK_PREROLL_SECONDS
        if early > 0 and self._path.suffix.lower() not in RAW_STREAM_SUFFIXES:
            self._jump(early)

    def _jump(self, seconds: float) -> None:
        """To a frame before a time; that one may be cut at its front, so the next is the first."""
        time = round(seconds / self._stream.time_base) + (self._stream.start_time or 0)
        try:
            self._container.seek(time, stream=self._stream)
        except self._av.error.FFmpegError as error:
            raise DecodingError(str(error)) from error
        next(self._decoded, None)

    def read(self, frames: int) -> Samples:
        """So many, of as many frames of the file as it takes."""
        pieces, count = [self._left], len(self._left)
        while count < frames and (samples := self._next(self._position + count)) is not None:
            pieces.append(samples)
            count += len(samples)
        whole = np.concatenate(pieces)
        self._left = whole[frames:]
        self._position += len(whole[:frames])
        return whole[:frames]

    def close(self) -> None:
        """Close it."""
        self._container.close()

    def _next(self, wanted: int) -> Samples | None:
        """Samples from a place on; None at the end. It is broken if what comes next comes later."""
        for frame in self._decoded:
            place, samples = self._place(frame), _samples(frame)
            if (
                self._end is not None
                and abs(place - self._end) <= TIME_TOLERANCE_SECONDS * self._rate
            ):
                place = self._end
            self._end = place + len(samples)
            if place + len(samples) <= wanted:
                continue
            if place > wanted:
                raise DecodingError("frames are missing")
            return samples[wanted - place :]
        return None

    def _place(self, frame: Any) -> int:
        """The sample at which a frame begins."""
        if frame.time is None:
            raise DecodingError("a frame does not tell its time")
        time, start, length = self._grid
        away = (float(frame.time) - time) * self._rate
        steps = round(away / length)
        if away < -0.5:
            return 0
        exact = self._stream.time_base * self._rate <= 1
        if exact or abs(away - steps * length) > TIME_TOLERANCE_SECONDS * self._rate:
            return start + round(away)
        return start + steps * length

    def _frames(self) -> Iterator[Any]:
        """Frames from where the file stands; packets that cannot be decoded are passed over."""
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets)
            except (StopIteration, self._av.error.FFmpegError):
                return
            try:
                yield from packet.decode()
            except self._av.error.FFmpegError:
                continue


def _samples(frame: Any) -> Samples:
    """Of a frame, a column a channel; whole numbers from -1 to 1."""
    data = frame.to_ndarray()
    rows = data.T if frame.format.is_planar else data.reshape(-1, frame.layout.nb_channels)
    if rows.dtype.kind == "f":
        return np.asarray(rows, np.float32)
    if rows.dtype == np.uint8:
        return np.asarray((rows - 128.0) / 128, np.float32)
    return np.asarray(rows / 2.0 ** (8 * rows.dtype.itemsize - 1), np.float32)


# --- Decoder selection and libsndfile ------------------------------------------------------------
# libsndfile reads most files, and PyAV what libsndfile does not know. Files whose headers lie have
# decoders of their own, since libsndfile believes any header.
#
# Seeking must give the samples that reading through gives. In MP3 and Vorbis a frame needs what
# came before it (the bit reservoir, the overlap of windows), and libsndfile forgets that: its first
# samples behind a seek are wrong. So these are read from a second before, or from as many frames as
# MP3 can need, and what was too early is thrown away.


class LibsndfileDecoder:
    """libsndfile. After a fault it no longer finds anything, so the file is opened anew then."""

    def __init__(self, path: Path) -> None:
        self._path, self._faulty = path, False
        self._file: Any = straight(path)
        self.facts = Facts(self._file.samplerate, self._file.channels, self._file.frames)
        self._before = _before(self._file.subtype, self.facts.rate)

    def seek(self, frame: int) -> None:
        """Exactly there, with what the first frames need of those before."""
        if self._faulty:
            self._file.close()
            self._file, self._faulty = straight(self._path), False
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
        except faults() as error:
            self._faulty = True
            raise DecodingError(str(error)) from error


def _before(subtype: str, rate: int) -> int:
    """Samples before the first of a seek that must be decoded for it to be right."""
    if subtype.startswith("MPEG"):
        samples = 1152 if rate >= 32_000 else 576
        return MP3_PREROLL_FRAMES[samples] * samples
    return round(SEEK_PREROLL_SECONDS * rate) if subtype == "VORBIS" else 0


def decoder_of(path: Path, *, careful: bool = False) -> Decoder:
    """What reads this file; ``DecodingError`` if nothing does.

    A careful one costs more, and knows where it is in a file that is known to be damaged. It also
    goes to any place of a long MP3 file at once, where libsndfile passes over all frames before.
    """
    ending = path.suffix.lower()[1:]
    if ending == "mp3" and (careful or not layout_of(path).honest):
        return Mp3Decoder(path)
    riff = riff_of(path)
    if riff and not riff.honest and riff.plain:
        return PcmDecoder(path, riff)
    if find_spec("av") is None and ending in ("opus", "ogg", "oga"):
        return LibsndfileDecoder(path)
    if ending in PYAV_FORMATS or (ending in ("ogg", "oga") and not has_all_pages(path)):
        return PyAvDecoder(path)
    return LibsndfileDecoder(path)


def facts_of(path: Path) -> Facts:
    """What a file says of itself, from its header alone."""
    decoder = decoder_of(path)
    try:
        return decoder.facts
    finally:
        decoder.close()


def opened(path: Path, *, careful: bool = False) -> Decoder:
    """What reads this file; an error that names the file if nothing does."""
    try:
        return decoder_of(path, careful=careful)
    except (DecodingError, OSError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
