"""WAV files without a library: how long one is, and what of it is sound."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

from earwitness.errors import UsageError

UNKNOWN = 0xFFFFFFFF  # a size that stands in the chunk ds64 of a long file
SHORTEST = 16  # bytes of a header


class Head(NamedTuple):
    """The header of a file, which says its format, and how many bytes of sound follow."""

    header: bytes
    size: int

    @property
    def seconds(self) -> float:
        """How long it lasts, by the bytes a second that the header tells."""
        return self.size / int(struct.unpack_from("<8xI", self.header)[0])


def wav_seconds(path: str | Path) -> float:
    """Seconds of a RIFF or RF64 file, of any sample format."""
    return wav_head(path).seconds


def wav_head(path: str | Path) -> Head:
    """What a RIFF or RF64 file says of itself; its samples are not read."""
    with Path(path).open("rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
            raise UsageError(f"{path}: not a WAV file")
        header, size = _chunks(file, Path(path).stat().st_size)
    if len(header) < SHORTEST or not any(header[8:12]) or size is None:
        raise UsageError(f"{path}: a WAV file without a header or without sound")
    return Head(header, size)


def wav_parts(content: bytes) -> tuple[bytes, bytes]:
    """The header of a WAV file, and its samples."""
    file = io.BytesIO(content)
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        raise UsageError("not a WAV file")
    header, sound = b"", None
    while sound is None and len(head := file.read(8)) == 8:
        name, size = struct.unpack("<4sI", head)
        own = file.read() if name == b"data" and size == UNKNOWN else file.read(size)
        file.seek(size % 2, io.SEEK_CUR)
        header = own if name == b"fmt " else header
        sound = own if name == b"data" else None
    if len(header) < SHORTEST or sound is None:
        raise UsageError("a WAV file without a header or without sound")
    return header, sound


def made_wav(header: bytes, sound: bytes) -> bytes:
    """A WAV file of a header and samples, and no other chunk.

    Names, dates and programs that stand in other chunks would tell where a sound comes from.
    """
    chunks = b"".join(_chunk(*one) for one in ((b"fmt ", header), (b"data", sound)))
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def _chunks(file: BinaryIO, total: int) -> tuple[bytes, int | None]:
    """The header, and how many bytes of sound there are."""
    header, long_size = b"", None
    while len(head := file.read(8)) == 8:
        name, size = struct.unpack("<4sI", head)
        start = file.tell()
        if name == b"fmt ":
            header = file.read(min(size, 64))
        elif name == b"ds64":
            long_size = _field(file, "<8xQ")
        elif name == b"data":
            if size == UNKNOWN and long_size is not None:
                size = long_size
            if UNKNOWN > size > total - start:
                raise UsageError(f"{file.name}: is cut short")
            return header, min(size, total - start)
        file.seek(start + size + size % 2)
    return header, None


def _field(file: BinaryIO, form: str) -> int:
    data = file.read(struct.calcsize(form))
    return int(struct.unpack(form, data)[0]) if len(data) == struct.calcsize(form) else 0
