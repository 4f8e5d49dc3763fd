"""Sample formats, WAV headers, and a decoder for files with wrong lengths."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import (
    MAX_CHANNELS,
    MAX_RATE_HZ,
    DecodingError,
    Facts,
    Samples,
)
from earwitness.core import count_text
from earwitness.errors import UsageError

# --- Sample formats ------------------------------------------------------------------------------
# If systems had different sample formats, a listener could identify them by the size or header of
# the files sent to the browser. So all files are sent in the widest sample format of any of them:
# integers get zeros below their last bit, or become floats that represent each of them exactly.


PCM_TAG, FLOAT_TAG, EXTENSIBLE_TAG = 1, 3, 0xFFFE  # WAV format tags
# follows the tag in extensible headers
EXTENSIBLE_GUID_TAIL = bytes.fromhex("000000001000800000aa00389b71")
SUBTYPES = {"PCM_16": (PCM_TAG, 16), "PCM_24": (PCM_TAG, 24), "PCM_32": (PCM_TAG, 32)}
# sample formats that can be read and written here
CONVERTIBLE_SAMPLE_TYPES = {(PCM_TAG, 8), *SUBTYPES.values(), (FLOAT_TAG, 32)}


class Form(NamedTuple):
    """Format tag, bits per sample, channels, and sample rate."""

    tag: int
    bits: int
    channels: int
    rate: int

    @property
    def sample(self) -> tuple[int, int]:
        """Format tag and bits per sample."""
        return self.tag, self.bits

    @property
    def header(self) -> bytes:
        """The format as a WAV header."""
        frame = self.channels * self.bits // 8
        bytes_a_second = frame * self.rate
        return struct.pack(
            "<HHIIHH", self.tag, self.channels, self.rate, bytes_a_second, frame, self.bits
        )


def form_of(header: bytes) -> Form:
    """Return the format in a WAV header; extensible headers contain the actual tag.

    Bits are those of the container: if fewer are used, they are the most significant ones.
    """
    tag, channels, rate, frame = struct.unpack_from("<HHI4xH", header)
    if tag == EXTENSIBLE_TAG and channels <= 2 and header[26:40] == EXTENSIBLE_GUID_TAIL:
        tag = struct.unpack_from("<24xH", header)[0]
    return Form(tag, 8 * frame // max(1, channels), channels, rate)


def widest_sample(samples: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """Return the format that represents samples of all these formats exactly, or None.

    >>> widest_sample([(PCM_TAG, 16), (PCM_TAG, 24)])
    (1, 24)
    >>> widest_sample([(PCM_TAG, 16), (FLOAT_TAG, 32)])
    (3, 32)
    >>> widest_sample([(PCM_TAG, 32), (FLOAT_TAG, 32)])
    """
    sample_types = set(samples)
    if (
        not sample_types
        or not sample_types <= CONVERTIBLE_SAMPLE_TYPES
        or {(PCM_TAG, 32), (FLOAT_TAG, 32)} <= sample_types
    ):
        return None
    return max(sample_types)


def widen_wav(content: bytes, sample: tuple[int, int] | None, frames: int = 0) -> bytes:
    """Return a WAV file with only format and samples, converted to a format at least as wide.

    Without a common format, or if samples are compressed, the format is kept. Uncompressed audio
    shorter than ``frames`` is followed by silence.
    """
    header, samples = split_wav(content)
    form = form_of(header)
    if form.sample not in CONVERTIBLE_SAMPLE_TYPES:
        return build_wav(header, samples)
    sample = sample or form.sample
    wide = form._replace(tag=sample[0], bits=sample[1])
    if form.sample != sample:
        whole = len(samples) - len(samples) % (form.bits // 8)
        integers = _widen_integers(samples[:whole], form.bits)
        if wide.tag == FLOAT_TAG:
            samples = (integers.astype(np.float64) / 2**31).astype("<f4").tobytes()
        else:
            stored = integers.astype("<i4").view(np.uint8).reshape(-1, 4)
            samples = stored[:, 4 - wide.bits // 8 :].tobytes()
    missing = frames * wide.channels * wide.bits // 8 - len(samples)
    silence = b"\x80" if sample == (PCM_TAG, 8) else b"\0"  # 8-bit samples are unsigned
    return build_wav(wide.header, samples + silence * missing)


def _widen_integers(samples: bytes, bits: int) -> NDArray[np.int32]:
    """Return 32-bit integers with the given bits at the top; 8-bit samples are unsigned."""
    sample_bytes = np.frombuffer(samples, np.uint8).reshape(-1, bits // 8)
    wide = np.zeros((len(sample_bytes), 4), np.uint8)
    wide[:, 4 - bits // 8 :] = sample_bytes
    if bits == 8:
        wide[:, 3] ^= 0x80
    return wide.view("<i4")[:, 0]


# --- WAV headers ---------------------------------------------------------------------------------
# A WAV header gives the size of the audio in 32 bits. Streaming programs write 0 or a huge number,
# recorders that lose power never write it, and beyond 4 GiB it wraps around; libsndfile trusts it
# and silently reads less than there is. So it is compared with the size of the file, which is used
# if they differ.


NOT_WAV_FAULT = "not a WAV file with a format and audio"
MIN_FORMAT_CHUNK_BYTES = 16
# sizes that streaming programs write, some of them rounded down to whole frames
PLACEHOLDER_SIZES = (range(1), range(0x7FFFE000, 1 << 31), range(0xFFFFE000, 1 << 32))
DECODABLE_SAMPLE_TYPES = CONVERTIBLE_SAMPLE_TYPES | {(FLOAT_TAG, 64)}
SIZED_TAGS = (PCM_TAG, FLOAT_TAG, 6, 7)  # of samples of fixed size; 6 and 7: A-law, µ-law


class Riff(NamedTuple):
    """Format of a WAV file, start of its audio, and its size in the header and in the file."""

    form: Form
    start: int
    stated_bytes: int
    real: int
    header: bytes = b""

    @property
    def frame(self) -> int:
        """Bytes per sample of all channels."""
        return self.form.channels * self.form.bits // 8

    @property
    def is_honest(self) -> bool:
        """Whether the header gives the actual size, to within one sample."""
        return abs(self.stated_bytes - self.real) < max(2, self.frame)

    @property
    def is_plain(self) -> bool:
        """Whether samples are uncompressed."""
        return self.form.sample in DECODABLE_SAMPLE_TYPES

    @property
    def has_placeholder(self) -> bool:
        """Whether the size in the header is that of a streaming program."""
        return any(self.stated_bytes in sizes for sizes in PLACEHOLDER_SIZES)

    @property
    def is_truncated(self) -> bool:
        """Whether the end of the file is lost; a placeholder is no size."""
        return not (self.is_honest or self.has_placeholder) and self.real < self.stated_bytes

    @property
    def seconds(self) -> float:
        """Duration in seconds; compressed samples have a byte rate in the header."""
        if self.form.tag in SIZED_TAGS:
            return self.real // self.frame / self.form.rate
        byte_rate = int(struct.unpack_from("<8xI", self.header)[0])
        return self.real / byte_rate if byte_rate else 0.0


def riff_of(path: Path) -> Riff | None:
    """Return header and actual size of a WAV file; None for other files.

    Raises ``DecodingError`` if the format is impossible.
    """
    with path.open("rb") as file:
        return _read_riff(file, os.fstat(file.fileno()).st_size)


def complete_riff(path: str | Path) -> Riff:
    """Return header and size of a WAV file; one that is invalid or truncated is refused."""
    try:
        riff = riff_of(Path(path))
    except DecodingError as error:
        raise UsageError(f"{path}: {error}") from error
    if riff is None:
        raise UsageError(f"{path}: {NOT_WAV_FAULT}")
    if riff.is_truncated:
        raise UsageError(f"{path}: is truncated")
    return riff


def wav_seconds(path: str | Path) -> float:
    """Return the duration of a RIFF or RF64 file of any sample format."""
    return complete_riff(path).seconds


def split_wav(content: bytes) -> tuple[bytes, bytes]:
    """Return the format in the header of a WAV file, and its samples."""
    try:
        riff = _read_riff(io.BytesIO(content), len(content))
    except DecodingError as error:
        raise UsageError(str(error)) from error
    if riff is None:
        raise UsageError(NOT_WAV_FAULT)
    return riff.header, content[riff.start : riff.start + riff.real]


def build_wav(header: bytes, sound: bytes) -> bytes:
    """Return a WAV file with header and samples, and no other chunk.

    Names, dates and programs in other chunks could reveal the origin of the audio.
    """
    chunks = b"".join(
        name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
        for name, content in ((b"fmt ", header), (b"data", sound))
    )
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def _read_riff(file: BinaryIO, total: int) -> Riff | None:
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        return None
    header, long_size = b"", None
    for name, start, size in _iterate_chunks(file, 12):
        if name == b"fmt ":
            header = file.read(min(size, 64))
        elif name == b"ds64" and len(data := file.read(16)) == 16:
            long_size = struct.unpack("<8xQ", data)[0]
        elif name == b"data" and len(header) >= MIN_FORMAT_CHUNK_BYTES:
            stated_bytes = long_size if size == 0xFFFFFFFF and long_size is not None else size
            whole = 0 < stated_bytes <= total - start and _is_end(file, start + stated_bytes, total)
            real = stated_bytes if whole else total - start
            return Riff(_checked_form(header), start, stated_bytes, real, header)
    return None


def _checked_form(header: bytes) -> Form:
    """Return the format in a header; raises ``DecodingError`` if no file can have it."""
    form = form_of(header)
    frame, bits = struct.unpack_from("<12xHH", header)
    if not 0 < form.channels <= MAX_CHANNELS or not 0 < form.rate <= MAX_RATE_HZ:
        where = f"{form.channels:,} channels at {form.rate:,} Hz"
        raise DecodingError(f"invalid WAV header with {where}")
    if form.tag in SIZED_TAGS:
        unused = form.bits - bits  # of 24 bits in 32, for example
        if frame % form.channels or not frame or not 0 <= unused < (16 if bits > 16 else 8):
            sizes = f"{frame} bytes for {count_text(form.channels, 'channel')}"
            raise DecodingError(f"invalid WAV header with {sizes} of {bits} bits")
    return form


def _iterate_chunks(file: BinaryIO, place: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, start and size of each chunk; the file is positioned at its start."""
    while True:
        file.seek(place)
        head = file.read(8)
        if len(head) < 8 or not all(0x20 <= byte < 0x7F for byte in head[:4]):
            return
        name, size = struct.unpack("<4sI", head)
        yield name, place + 8, size
        place += 8 + size + size % 2


def _is_end(file: BinaryIO, place: int, total: int) -> bool:
    """Whether there are only other chunks from a position to the end."""
    place += place % 2
    for _, start, size in _iterate_chunks(file, place):
        if start + size > total + 1:
            return False
        place = start + size + size % 2
    return total - place < 8


def riff_facts(riff: Riff) -> Facts:
    """Return what can be read, with a note if the header is wrong."""
    frames = riff.real // riff.frame
    facts = Facts(riff.form.rate, riff.form.channels, frames)
    if riff.is_honest:
        return facts
    seconds = f"{riff.stated_bytes / riff.frame / riff.form.rate:.1f} s"
    stated = f"the header gives {'no length' if riff.has_placeholder else seconds}"
    has = f"the file has {facts.seconds:.1f} s"
    if riff.is_truncated:
        return facts._replace(note=f"truncated: {stated}, {has}", short=True)
    return facts._replace(note=f"{stated}, but {has}; all of it is used")


class PcmDecoder:
    """Decoder of uncompressed samples."""

    def __init__(self, path: Path, riff: Riff) -> None:
        if not riff.is_plain:
            raise DecodingError("the header has a wrong length, and samples are compressed")
        self._riff, self.facts = riff, riff_facts(riff)
        self._file = path.open("rb")
        self._frame = 0
        self.seek(0)

    def seek(self, frame: int) -> None:
        """Seek to a frame."""
        self._frame = min(frame, self.facts.frames)
        self._file.seek(self._riff.start + self._frame * self._riff.frame)

    def read(self, frames: int) -> Samples:
        """Return frames as 32-bit floats; integers are scaled to -1 to 1."""
        frames = min(frames, self.facts.frames - self._frame)
        data = self._file.read(frames * self._riff.frame)
        data = data[: len(data) - len(data) % self._riff.frame]
        samples = decode_floats(data, self._riff.form).reshape(-1, self._riff.form.channels)
        self._frame += len(samples)
        return samples

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def decode_floats(data: bytes, form: Form) -> Samples:
    """Return the samples of a WAV file as 32-bit floats; integers are scaled to -1 to 1."""
    if form.tag == FLOAT_TAG:
        return np.frombuffer(data, f"<f{form.bits // 8}").astype(np.float32)
    return np.asarray(_widen_integers(data, form.bits) / 2**31, np.float32)
