"""How an MP3 file is laid out: where its frames are, and what its header says of that.

An MP3 file is a row of frames, each with a header of its own. Its length stands in a tag in the
first frame (Xing, Info), if anywhere: files without one, joined files and files that were cut short
say something else than they hold, and libsndfile believes them. So where size and tag do not agree
the frames are walked through, without decoding any: some tenths of a second for a day.
"""

from __future__ import annotations

import mmap
import os
import struct
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from earwitness.audio.lanes import Kind, begins, follows, starts_in
from earwitness.audio.sources import Broken

KILOBITS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
RATES = (44_100, 48_000, 32_000, 0)
MARK = 256  # frames from one remembered place to the next
PIECE = 1 << 24  # bytes that are looked through at once
DECODER = 529  # samples by which every decoder is late
ENDS = 0.01  # share by which the size in a tag may be off


class Tag(NamedTuple):
    """What the first frame tells: frames and bytes, and samples to leave out at the front."""

    frames: int
    size: int
    skipped: int


class Run(NamedTuple):
    """Frames without a gap: the number of the first in the file, how many, and where some are."""

    first: int
    frames: int
    places: tuple[int, ...]  # of each frame whose number in the run is a multiple of MARK


class Layout(NamedTuple):
    """A file: its first frame, what that tells, and all runs of frames (once walked)."""

    kind: Kind
    start: int
    size: int
    tag: Tag | None
    runs: tuple[Run, ...] = ()

    @property
    def honest(self) -> bool:
        """Whether a tag tells the size that the file has."""
        if self.tag is None or not self.tag.frames:
            return False
        return abs(self.size - self.tag.size) <= max(ENDS * self.tag.size, 4096)

    @property
    def counted(self) -> int:
        """Frames that are there, with those that are lost between runs."""
        return self.runs[-1].first + self.runs[-1].frames if self.runs else 0


def kind_of(head: bytes) -> Kind | None:
    """What the header of a frame tells; None if it is none of layer III."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return None
    version, place = head[1] >> 3 & 3, head[2] >> 2 & 3
    if version == 1 or not RATES[place]:
        return None
    rate = RATES[place] >> {3: 0, 2: 1, 0: 2}[version]
    samples, table = (1152, KILOBITS[3]) if version == 3 else (576, KILOBITS[2])
    sizes = (_size(byte, samples, rate, table, place) for byte in range(256))
    return Kind(head[1], samples, rate, 1 if head[3] >> 6 == 3 else 2, tuple(sizes))


def _size(byte: int, samples: int, rate: int, table: tuple[int, ...], place: int) -> int:
    """Bytes of a frame by its third byte."""
    if byte >> 2 & 3 != place or not table[byte >> 4]:
        return 0
    return samples * 125 * table[byte >> 4] // rate + (byte >> 1 & 1)


def layout_of(path: Path) -> Layout:
    """What the first frame of a file tells; Broken if there is none."""
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        start = _behind_names(file.read(10))
        file.seek(start)
        head = file.read(1 << 16)
    for place in range(len(head) - 4):
        kind = kind_of(head[place : place + 4])
        if kind and follows(head, place, kind, 2):
            frame = head[place : place + kind.sizes[head[place + 2]]]
            return Layout(kind, start + place, total - start - place, _tag(frame, kind))
    raise Broken("there is no MP3 frame at its start")


def _behind_names(head: bytes) -> int:
    """Where sound begins: behind an ID3 tag, whose size has seven bits a byte."""
    if head[:3] != b"ID3" or len(head) < 10:
        return 0
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size


def _tag(frame: bytes, kind: Kind) -> Tag | None:
    """Xing or Info, with what LAME puts behind it."""
    wide = kind.samples == 1152
    side = (17 if wide else 9) if kind.channels == 1 else (32 if wide else 17)
    own = frame[4 + side :]
    if own[:4] not in (b"Xing", b"Info") or len(own) < 16:
        return None
    flags, numbers = own[7], own[8:]
    frames = struct.unpack(">I", numbers[:4])[0] if flags & 1 else 0
    numbers = numbers[4 * (flags & 1) :]
    size = struct.unpack(">I", numbers[:4])[0] if flags & 2 else 0
    numbers = numbers[4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1) :]
    skipped = (numbers[21] << 4 | numbers[22] >> 4) + DECODER if any(numbers[:1]) else 0
    return Tag(frames, size, skipped)


def is_tag(frame: bytes) -> bool:
    """Whether a frame holds a tag instead of sound."""
    return any(name in frame[:48] for name in (b"Xing", b"Info"))


def walked(path: Path) -> Layout:
    """The layout of a file with all of its runs; remembered while the file stays as it is."""
    known = path.stat()
    return _walked(path, known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=64)
def _walked(path: Path, size: int, changed: int) -> Layout:  # noqa: ARG001 - part of the key
    layout = layout_of(path)
    runs: list[Run] = []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place: int | None = layout.start
        first, end = 0, layout.start
        while place is not None:
            if runs:
                each = (end - layout.start) / max(1, sum(run.frames for run in runs))
                first = runs[-1].first + runs[-1].frames + round((place - end) / each)
            places, count, end = _run(data, place, layout.kind)
            runs.append(Run(first, count, tuple(places)))
            place = _next(data, max(end, place + 1), layout.kind)
    return layout._replace(runs=tuple(runs))


def _run(data: mmap.mmap, place: int, kind: Kind) -> tuple[list[int], int, int]:
    """Frames from a place on: where each MARK-th is, how many, and where they end."""
    places: list[int] = []
    count, room = 0, bytearray(min(PIECE, len(data) - place))
    while True:
        piece = _filled(room, data, place)
        starts, at = starts_in(piece, kind)
        if starts and place + at > len(data):  # the last frame is not whole
            at = starts.pop()
        places += [place + start for start in starts[-count % MARK :: MARK]]
        count += len(starts)
        place += at
        if not starts or at <= len(piece) - 4:
            return places, count, place


def _filled(room: bytearray, data: mmap.mmap, place: int) -> bytearray:
    """Bytes from a place on, in the same room again and again: new room takes more time."""
    size = min(len(room), len(data) - place)
    memoryview(room)[:size] = memoryview(data)[place : place + size]
    return room if size == len(room) else room[:size]


def _next(data: mmap.mmap, place: int, kind: Kind) -> int | None:
    """The next place at which frames begin again."""
    return next(begins(data, [place], kind), None)
