"""WAV files without a library: how long one is, and what of it is sound."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import BinaryIO

from earwitness.errors import UsageError

UNKNOWN = 0xFFFFFFFF  # a size that stands in the chunk ds64 of a long file


def wav_seconds(path: str | Path) -> float:
    """Seconds of a RIFF or RF64 file, of any sample format."""
    with Path(path).open("rb") as file:
        head = file.read(12)
        if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
            raise UsageError(f"{path}: not a WAV file")
        rate, size = _chunks(file, Path(path).stat().st_size)
    if not rate or size is None:
        raise UsageError(f"{path}: a WAV file without a header or without sound")
    return size / rate


def bare_wav(content: bytes) -> bytes:
    """The same sound with its format and its samples, and no other chunk.

    Names, dates and programs that stand in other chunks would tell where a sound comes from.
    """
    file = io.BytesIO(content)
    head = file.read(12)
    if head[:4] not in (b"RIFF", b"RF64") or head[8:] != b"WAVE":
        raise UsageError("not a WAV file")
    form, sound = b"", None
    while sound is None and len(head := file.read(8)) == 8:
        name, size = struct.unpack("<4sI", head)
        own = file.read() if name == b"data" and size == UNKNOWN else file.read(size)
        file.seek(size % 2, io.SEEK_CUR)
        form = own if name == b"fmt " else form
        sound = own if name == b"data" else None
    if not form or sound is None:
        raise UsageError("a WAV file without a header or without sound")
    chunks = b"".join(_chunk(*one) for one in ((b"fmt ", form), (b"data", sound)))
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)


def _chunks(file: BinaryIO, total: int) -> tuple[int, int | None]:
    """Bytes a second, and bytes of sound."""
    rate, long_size = 0, None
    while len(head := file.read(8)) == 8:
        name, size = struct.unpack("<4sI", head)
        start = file.tell()
        if name == b"fmt ":
            rate = _field(file, "<8xI4x")
        elif name == b"ds64":
            long_size = _field(file, "<8xQ")
        elif name == b"data":
            if size == UNKNOWN and long_size is not None:
                size = long_size
            if UNKNOWN > size > total - start:
                raise UsageError(f"{file.name}: is cut short")
            return rate, min(size, total - start)
        file.seek(start + size + size % 2)
    return rate, None


def _field(file: BinaryIO, form: str) -> int:
    data = file.read(struct.calcsize(form))
    return int(struct.unpack(form, data)[0]) if len(data) == struct.calcsize(form) else 0
