"""Whether pages of an Ogg file are missing.

libsndfile passes silently over pages that are gone or overwritten: all sound behind them comes too
early then. Pages are numbered, so that a walk from head to head shows it without decoding.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path

HEAD = struct.Struct("<4s10xII4xB")  # magic, stream, number of the page, entries of its table
SIZE = 27  # bytes of a head


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
            head = file.read(SIZE + 255)
            if len(head) < SIZE:
                return False
            magic, stream, number, entries = HEAD.unpack_from(head)
            if magic != b"OggS" or number != numbers.get(stream, -1) + 1:
                return False
            numbers[stream] = number
            place += SIZE + entries + sum(head[SIZE : SIZE + entries])
    return place == size
