"""Record sources: files, standard input or objects, decompressed and read in line blocks."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import msgspec

from earwitness.core import Input, StrPath
from earwitness.errors import (
    InputError,
    MissingExtra,
    Problem,
    UsageError,
    file_problem,
    whole_characters,
)
from earwitness.io.frames import DataFrame, frame_records, is_frame

READ_BLOCK_BYTES = 1 << 19
FIRST_RECORD_SEARCH_LINES = 100  # number of lines searched for a first record
UTF8_BOM = b"\xef\xbb\xbf"
GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
Records = Iterable[Mapping[str, Any]]
TableInput = StrPath | Records | DataFrame


def is_present(path: Path, kind: Callable[[Path], bool] = Path.is_file) -> bool:
    """Return whether a path that a file names exists, also if no file can have such a name.

    >>> is_present(Path("x" * 300), Path.exists), is_present(Path(chr(0)))
    (False, False)
    """
    try:
        return kind(path)
    except (OSError, ValueError):
        return False


class LineBlock(NamedTuple):
    """Complete lines of a source without LF, and the number of the first line."""

    source: str
    line: int
    lines: list[bytes]
    done: int


@dataclass
class RecordSource:
    """Source of records: a path, ``-`` for standard input, or records in memory."""

    place: StrPath | Records
    name: str = ""
    problems: list[Problem] = field(default_factory=list)
    _hash: Any = field(default_factory=hashlib.sha256)
    _bytes_read: int = 0
    _first_blocks: list[LineBlock] | None = None
    _remaining: Iterator[LineBlock] = field(default_factory=lambda: iter(()))

    def __post_init__(self) -> None:
        if not self.name:
            self.name = str(self.place) if isinstance(self.place, str | PathLike) else "outputs"
        self.name = "stdin" if self.name == "-" else whole_characters(self.name)

    @property
    def stem(self) -> str:
        """Name without folders and extensions.

        >>> RecordSource("runs/gpt-4.1.jsonl.gz").stem
        'gpt-4.1'
        """
        name = Path(self.name).name.removesuffix(".gz").removesuffix(".zst")
        return Path(name).stem or self.name

    @property
    def folder(self) -> Path | None:
        """Folder of the file, or None if the source is not a file."""
        if isinstance(self.place, str | PathLike) and self.place != "-":
            return Path(self.place).parent
        return None

    @property
    def total(self) -> int | None:
        """Number of bytes to read, or None if unknown."""
        if isinstance(self.place, str | PathLike) and Path(self.place).is_file():
            return Path(self.place).stat().st_size
        return None

    def read(self) -> Input:
        """Return name, hash and size of the input, after all blocks were read."""
        return Input(self.name, self._hash.hexdigest(), self._bytes_read)

    def check_rereadable(self, reason: str) -> None:
        """Raise UsageError if the source can be read only once; ``reason`` is named."""
        if self.place == "-" or isinstance(self.place, Iterator):
            what = "standard input" if self.place == "-" else "an iterator"
            raise UsageError(f"{reason} reads the input several times — use a file, not {what}")

    def starts_with(self, *starts: bytes) -> bool:
        """Return whether the source is a file that starts with some of these bytes."""
        if self.folder is None or not is_present(path := Path(str(self.place))):
            return False
        with path.open("rb") as file:
            return file.read(max(map(len, starts))).startswith(starts)

    def content(self) -> bytes:
        """Return all bytes of the source, from which nothing was read before."""
        return b"".join(self._chunks())

    def again(self) -> RecordSource:
        """Return the same source, to be read from its start."""
        return RecordSource(self.place, self.name)

    def first(self) -> dict[str, Any]:
        """Return the first record, or an empty one; ``blocks`` still has all lines."""
        if self._first_blocks is None:
            self._remaining = self._blocks()
            self._first_blocks = list(islice(self._remaining, 1))
        for line in (
            line for block in self._first_blocks for line in block.lines[:FIRST_RECORD_SEARCH_LINES]
        ):
            try:
                record = msgspec.json.decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                continue
            if isinstance(record, dict):
                return record
        return {}

    def blocks(self) -> Iterator[LineBlock]:
        """Yield all lines in order."""
        if self._first_blocks is None:
            yield from self._blocks()
            return
        ahead, self._first_blocks = self._first_blocks, None
        yield from ahead
        yield from self._remaining

    def _blocks(self) -> Iterator[LineBlock]:
        """Yield all lines in order, and note byte-order marks and CRLF."""
        line, crlf_count = 1, 0
        for data in _split_at_lines(self._chunks()):
            if line == 1 and data.startswith(UTF8_BOM):
                data = data[len(UTF8_BOM) :]
                self._note(
                    1,
                    "starts with a byte-order mark",
                    "save the file as UTF-8 without a byte-order mark",
                )
            lines = data.split(b"\n")
            if not lines[-1]:
                lines.pop()
            if b"\r\n" in data or data.endswith(b"\r"):
                crlf = [number for number, text in enumerate(lines, line) if text.endswith(b"\r")]
                if not crlf_count:
                    first = crlf[0]
                crlf_count += len(crlf)
            yield LineBlock(self.name, line, lines, self._bytes_read)
            line += len(lines)
        if crlf_count:
            line_words = "line ends" if crlf_count == 1 else "lines end"
            self._note(first, f"{crlf_count:,} {line_words} in CRLF", "save with LF line endings")

    def _note(self, line: int, message: str, remedy: str) -> None:
        self.problems.append(Problem(self.name, line, "", message, remedy))

    def _chunks(self) -> Iterator[bytes]:
        if not isinstance(self.place, str | PathLike):
            for record in self.place:
                yield self._count(_encode_line(record))
            return
        try:
            with self._open(str(self.place)) as raw:
                yield from _decompress(raw, self.name)
        except (OSError, EOFError, ValueError, zlib.error) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError([file_problem(self.name, f"cannot be read: {reason}")]) from error

    def _open(self, place: str) -> io.BufferedReader:
        if place == "-" and sys.stdin is None:
            raise OSError("standard input is closed")
        file = sys.stdin.buffer if place == "-" else Path(place).open("rb")  # noqa: SIM115
        return io.BufferedReader(
            _CountingReader(file, self._count, close=place != "-"), READ_BLOCK_BYTES
        )

    def _count(self, data: bytes) -> bytes:
        self._hash.update(data)
        self._bytes_read += len(data)
        return data


class _CountingReader(io.RawIOBase):
    """A stream whose bytes are counted and hashed while read."""

    def __init__(self, file: Any, count: Any, *, close: bool) -> None:
        self._file, self._count, self._close = file, count, close

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._count(
            self._file.read1(len(buffer))
        )  # one system call, so that signals are handled
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if self._close:
            self._file.close()
        super().close()


def _decompress(raw: io.BufferedReader, name: str) -> Iterator[bytes]:
    first_bytes = raw.peek(4)
    if name.endswith(".gz") or first_bytes.startswith(GZIP_MAGIC):
        yield from _read_chunks(gzip.GzipFile(fileobj=raw), READ_BLOCK_BYTES)
    elif name.endswith(".zst") or first_bytes.startswith(ZSTD_MAGIC):
        yield from _decompress_zstd(raw)
    else:
        yield from _read_chunks(raw, READ_BLOCK_BYTES)


def _read_chunks(file: Any, size: int) -> Iterator[bytes]:
    while data := file.read(size):
        yield data


def _decompress_zstd(raw: BinaryIO) -> Iterator[bytes]:
    """Yield all frames of a zstd file, in small chunks, since few bytes may expand to many."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtra("zstandard", "zstd", "reading .zst files") from None
    frame, is_unfinished = zstandard.ZstdDecompressor().decompressobj(), False
    try:
        for data in _read_chunks(raw, 8192):
            remaining, is_unfinished = data, True
            while remaining:
                yield frame.decompress(remaining)
                remaining = frame.unused_data
                if frame.eof:
                    frame, is_unfinished = (
                        zstandard.ZstdDecompressor().decompressobj(),
                        bool(remaining),
                    )
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from error
    if is_unfinished:
        raise EOFError("the file ends in the middle of a frame")


def _split_at_lines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the same bytes, split only after line endings; lines may be longer than a chunk."""
    pending: list[bytes] = []
    pending_bytes = 0
    for chunk in chunks:
        line_end = chunk.rfind(b"\n") + 1
        if not line_end or pending_bytes + line_end < READ_BLOCK_BYTES // 2:
            pending.append(chunk)
            pending_bytes += len(chunk)
            continue
        yield b"".join([*pending, chunk[:line_end]])
        pending = [chunk[line_end:]]
        pending_bytes = len(pending[0])
    if last := b"".join(pending):
        yield last


def _encode_line(record: Any) -> bytes:
    """Return a record as a line of JSON; values such as NaN are left to the check."""
    line = msgspec.json.encode(record, enc_hook=_plain_value)
    if b"null" in line:  # may be a NaN
        line = json.dumps(record, default=_plain_value).encode()
    return line + b"\n"


def _plain_value(value: Any) -> Any:
    """Convert arrays in records to lists."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"cannot be written as JSON: {type(value).__name__}")


def table_inputs(tables: TableInput | Iterable[TableInput], name: str) -> list[Path | RecordSource]:
    """Return one or more tables: paths, and sources of the rows of tables in memory.

    Parameters
    ----------
    tables
        A path, records, a data frame, or a list of these.
    name
        Name of tables in memory, for messages.
    """
    if isinstance(tables, str | PathLike):
        return [Path(tables)]
    if is_frame(tables):
        return [RecordSource(frame_records(tables), name)]
    parts: list[Any] = list(tables)  # type: ignore[arg-type]
    if parts and all(isinstance(part, Mapping) for part in parts):
        return [RecordSource(parts, name)]
    return [source for part in parts for source in table_inputs(part, name)]
