"""MP3 frame headers, frame search, and a decoder that knows where each frame is."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from earwitness.audio.files import DecodingError, Facts, Samples
from earwitness.audio.packets import PacketDecoder, Piece, av_library
from earwitness.stats.arrays import Ints

# --- MP3 frame headers ---------------------------------------------------------------------------
# An MP3 file is a sequence of frames, each with its own header. The length of the file is given, if
# at all, by a tag in the first frame (Xing, Info); in files without a tag, joined files and
# truncated files, it is missing or wrong.


BITRATES_KBPS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
SAMPLE_RATES_HZ = (44_100, 48_000, 32_000, 0)
DECODER_DELAY_SAMPLES = 529  # delay of every decoder
TAG_SIZE_TOLERANCE = 0.01  # relative error of the size in a tag
HEADER_BYTES = 4
Bytes = bytes | mmap.mmap


class FrameFormat(NamedTuple):
    """Properties shared by all frames of a file: second byte, samples, rate, channels, sizes."""

    second: int
    samples: int
    rate: int
    channels: int
    sizes: tuple[int, ...]  # frame size by third byte; 0 if invalid


class XingTag(NamedTuple):
    """Contents of the tag: frames, bytes, and samples to skip at both ends."""

    frames: int
    size: int
    skipped: int
    padding: int


class FrameRun(NamedTuple):
    """Frames without a gap: number of the first, frame count, and positions of some frames."""

    first: int
    frames: int
    # position of each frame whose number in the run is a multiple of FRAMES_PER_BOOKMARK
    places: tuple[int, ...]


class Mp3Layout(NamedTuple):
    """A file: its first frame, its tag, and all runs of frames (after the file was scanned)."""

    kind: FrameFormat
    start: int
    size: int
    tag: XingTag | None
    runs: tuple[FrameRun, ...] = ()

    @property
    def stated_frames(self) -> int:
        """Number of frames according to the tag; 0 if as many bytes cannot have so many."""
        if self.tag is None:
            return 0
        sizes, size = list(filter(None, self.kind.sizes)), self.tag.size or self.size
        is_possible = size / max(sizes) - 1 <= self.tag.frames <= size / min(sizes)
        return self.tag.frames if is_possible else 0

    @property
    def is_honest(self) -> bool:
        """Whether the tag gives the actual size of the file, and frames that it can contain."""
        if self.tag is None or not self.stated_frames:
            return False
        return abs(self.size - self.tag.size) <= max(TAG_SIZE_TOLERANCE * self.tag.size, 4096)

    @property
    def skipped(self) -> int:
        """Samples before the first one that counts: the tag frame, and the delay in the tag."""
        return self.kind.samples + self.tag.skipped if self.tag else 0

    @property
    def stated_samples(self) -> int:
        """Number of samples according to the tag."""
        if self.tag is None or not self.stated_frames:
            return 0
        return max(0, self.stated_frames * self.kind.samples - self.tag.skipped - self.tag.padding)

    @property
    def counted(self) -> int:
        """Number of frames, including those lost between runs."""
        return self.runs[-1].first + self.runs[-1].frames if self.runs else 0


def kind_of(head: bytes) -> FrameFormat | None:
    """Return what a frame header says; None if it is not a layer III header."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return None
    version, place = head[1] >> 3 & 3, head[2] >> 2 & 3
    if version == 1 or not SAMPLE_RATES_HZ[place]:
        return None
    rate = SAMPLE_RATES_HZ[place] >> {3: 0, 2: 1, 0: 2}[version]
    samples, table = (1152, BITRATES_KBPS[3]) if version == 3 else (576, BITRATES_KBPS[2])
    sizes = tuple(
        samples * 125 * table[byte >> 4] // rate + (byte >> 1 & 1)
        if byte >> 2 & 3 == place and table[byte >> 4]
        else 0
        for byte in range(256)
    )
    return FrameFormat(head[1], samples, rate, 1 if head[3] >> 6 == 3 else 2, sizes)


def layout_of(path: Path) -> Mp3Layout:
    """Return what the first frame of a file says; ``DecodingError`` if there is none."""
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        start, head = 0, file.read(10)
        if head[:3] == b"ID3" and len(head) == 10:  # a tag, whose size has seven bits per byte
            for byte in head[6:]:
                start = start << 7 | byte & 0x7F
            start += 10
        file.seek(start)
        head = file.read(1 << 16)
    for place in range(len(head) - 4):
        kind = kind_of(head[place : place + 4])
        if kind and has_frames(head, place, kind, 2):
            frame = head[place : place + kind.sizes[head[place + 2]]]
            return Mp3Layout(kind, start + place, total - start - place, _read_tag(frame, kind))
    raise DecodingError("no MP3 frame at the start of the file")


def _read_tag(frame: bytes, kind: FrameFormat) -> XingTag | None:
    """Return the contents of a Xing or Info tag, with the LAME extension."""
    wide = kind.samples == 1152
    side = (17 if wide else 9) if kind.channels == 1 else (32 if wide else 17)
    content = frame[HEADER_BYTES + side :]
    if content[:4] not in (b"Xing", b"Info") or len(content) < 16:
        return None
    flags, numbers = content[7], content[8:]
    frames = struct.unpack(">I", numbers[:4])[0] if flags & 1 else 0
    numbers = numbers[4 * (flags & 1) :]
    size = struct.unpack(">I", numbers[:4])[0] if flags & 2 else 0
    numbers = numbers[4 * (flags >> 1 & 1) + 100 * (flags >> 2 & 1) + 4 * (flags >> 3 & 1) :]
    if len(numbers) < 24 or not numbers[0]:
        return XingTag(frames, size, 0, 0)
    skipped = (numbers[21] << 4 | numbers[22] >> 4) + DECODER_DELAY_SAMPLES
    padding = ((numbers[22] & 15) << 8 | numbers[23]) - DECODER_DELAY_SAMPLES
    return XingTag(frames, size, skipped, max(0, padding))


# --- MP3 frame search ----------------------------------------------------------------------------
# Only the header of a frame says where it ends, so a file is scanned from frame to frame without
# decoding. FFmpeg's own search takes noise for frames where two bytes look like a header, gives no
# positions after a seek, and is several times slower.


MIN_CONSECUTIVE_FRAMES = 4  # consecutive headers that rule out chance
FRAMES_PER_BOOKMARK = 256  # between stored positions
MIN_PART_BYTES, MAX_PART_BYTES = 1 << 16, 1 << 22  # searched at once


def walk_file(path: Path) -> Mp3Layout:
    """Return the layout of a file with all its runs; cached while the file is unchanged."""
    status = path.stat()
    return _walk_version(path, status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=64)
def _walk_version(path: Path, size: int, changed: int) -> Mp3Layout:  # noqa: ARG001 - part of the key
    layout = layout_of(path)
    runs: list[FrameRun] = []
    holes: list[int] = []  # unreadable bytes before each run
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        end = layout.start
        while (place := _find_frames(data, end, layout.kind)) is not None:
            holes.append(place - end)
            places, count, end = _walk(data, place, layout.kind)
            runs.append(FrameRun(0, count, tuple(places)))
    return layout._replace(runs=_number_runs(runs, holes, end, layout))


def _walk(data: Bytes, place: int, kind: FrameFormat) -> tuple[list[int], int, int]:
    """Return positions of some frames (see ``FrameRun``), the frame count, and the end.

    Everything that looks like a header is found at once, part by part of the file; headers that no
    frame leads to are skipped.
    """
    content, sizes = np.frombuffer(data, np.uint8), np.array(kind.sizes, np.int64)
    places: list[int] = []
    count, part_bytes = 0, MIN_PART_BYTES
    while place <= len(content) - HEADER_BYTES:
        part = content[place : place + part_bytes]
        headers = np.flatnonzero(part[:-2] == 0xFF)
        headers = headers[part[headers + 1] == kind.second]
        if not len(headers) or headers[0]:
            break
        frames = place + headers[_follow_frames(headers, headers + sizes[part[headers + 2]])]
        last_size = int(sizes[content[frames[-1] + 2]])
        end = int(frames[-1]) + last_size
        if not last_size or end > len(content):  # the last frame may be incomplete
            frames, end = frames[:-1], int(frames[-1])
        places += frames[-count % FRAMES_PER_BOOKMARK :: FRAMES_PER_BOOKMARK].tolist()
        count += len(frames)
        if end == place:
            break
        place, part_bytes = end, min(2 * part_bytes, MAX_PART_BYTES)
    return places, count, place


def _follow_frames(headers: Ints, ends: Ints) -> Ints:
    """Return the indices of the frames from the first header on, each where the last one ends."""
    following = np.searchsorted(headers, ends)
    within = np.minimum(following, len(headers) - 1)
    leads_on = (headers[within] == ends) & (ends > headers)
    # stops: frames that are not followed by the very next header
    stops = np.flatnonzero(~leads_on | (following != np.arange(1, len(headers) + 1)))
    runs, frame = [], 0
    while True:
        stop = int(stops[np.searchsorted(stops, frame)])
        runs.append(np.arange(frame, stop + 1))
        if not leads_on[stop]:
            return np.concatenate(runs)
        frame = int(following[stop])


def _find_frames(data: Bytes, place: int, kind: FrameFormat) -> int | None:
    """Return the next position at which frames start."""
    sync = bytes((0xFF, kind.second))
    place = data.find(sync, place)
    while place >= 0 and not has_frames(data, place, kind, MIN_CONSECUTIVE_FRAMES):
        place = data.find(sync, place + 1)
    return place if place >= 0 else None


def has_frames(data: Bytes, place: int, kind: FrameFormat, count: int) -> bool:
    """Whether ``count`` consecutive frames start there, or as many as fit before the end."""
    for number in range(count):
        if place + HEADER_BYTES > len(data):
            return number > 1
        if data[place] != 0xFF or data[place + 1] != kind.second:
            return False
        if not (size := kind.sizes[data[place + 2]]):
            return False
        place += size
    return True


def _number_runs(
    runs: list[FrameRun], holes: list[int], end: int, layout: Mp3Layout
) -> tuple[FrameRun, ...]:
    """Return runs with the number of their first frame, so that lost frames keep their time.

    If the tag gives the number of frames, and no bytes are missing, the missing frames are shared
    among the holes; otherwise they are estimated from bytes and the mean frame size.
    """
    if not runs:
        return ()
    counts = [run.frames for run in runs]
    missing = sum(holes) * sum(counts) / max(1, end - layout.start - sum(holes))
    if layout.tag and layout.is_honest and layout.size >= layout.tag.size and sum(holes):
        missing = max(0, layout.tag.frames + 1 - sum(counts))
    lost = [round(missing * hole / max(1, sum(holes))) for hole in accumulate(holes)]
    before = accumulate(counts, initial=0)
    firsts = (count + gap for count, gap in zip(before, lost, strict=False))
    return tuple(run._replace(first=first) for run, first in zip(runs, firsts, strict=True))


# --- MP3 decoder ---------------------------------------------------------------------------------
# A frame needs bytes of earlier frames (the bit reservoir) and overlaps with the previous one, so
# some earlier frames are decoded and discarded. The first frames after a hole are lost, and so is
# the last frame before it, since the hole starts somewhere in it.


MP3_PREROLL_FRAMES = {1152: 12, 576: 28}  # by samples per frame
RESERVOIR_BYTES = 511  # 255 in MPEG-2
FRAMES_PER_PIECE = 64  # decoded at once
MAX_SIDE_BYTES = 38  # header, checksum and side information


class Mp3Decoder(PacketDecoder):
    """MP3 decoder that knows the position of each frame."""

    hole = "MP3 frames are missing"

    def __init__(self, path: Path) -> None:
        self._av, self._layout = av_library(), walk_file(path)
        self._data: Bytes = b""
        if self._layout.runs:
            with path.open("rb") as file:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        super().__init__(mp3_facts(self._layout))

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()

    def _pieces_before(self, frame: int) -> Iterator[Piece]:
        number = (frame + self._layout.skipped) // self._layout.kind.samples
        preroll = MP3_PREROLL_FRAMES[self._layout.kind.samples]
        for run, behind in pairwise((*self._layout.runs, None)):
            assert run is not None
            count = run.frames - (behind is not None)
            start = max(0, number - run.first - preroll)
            if start < count:
                yield from self._decode_run(run, start, count)

    def _decode_run(self, run: FrameRun, start: int, count: int) -> Iterator[Piece]:
        """Yield the frames of a run in pieces; frames that cannot be decoded are skipped."""
        kind, skipped = self._layout.kind, self._layout.skipped
        data, sizes, packet, fault = self._data, kind.sizes, self._av.Packet, self._av.FFmpegError
        decode = self._av.CodecContext.create("mp3float", "r").decode
        steady = start > 0 or run is self._layout.runs[0]  # whether the bit reservoir is complete
        needed = RESERVOIR_BYTES
        batch: list[Any] = []
        place = run.places[start // FRAMES_PER_BOOKMARK]
        for number in range(start - start % FRAMES_PER_BOOKMARK, count):
            size = sizes[data[place + 2]]
            if number >= start:
                try:
                    frames = decode(packet(data[place : place + size]))
                except fault:
                    frames = []
                if steady:
                    batch += frames
                if len(batch) == FRAMES_PER_PIECE or (batch and not frames):
                    first = run.first + number + len(frames) - len(batch)
                    yield first * kind.samples - skipped, _join_frames(batch, kind)
                    batch = []
                steady = steady or needed <= 0
                needed -= size - MAX_SIDE_BYTES
            place += size
        if batch:
            first = run.first + count - len(batch)
            yield first * kind.samples - skipped, _join_frames(batch, kind)


def _join_frames(frames: list[Any], kind: FrameFormat) -> Samples:
    """Return samples of consecutive frames; mixed to mono if the number of channels varies."""
    rows = np.empty((kind.channels, len(frames) * kind.samples), np.float32)
    for number, frame in enumerate(frames):
        part = rows[:, number * kind.samples : (number + 1) * kind.samples]
        planes = frame.planes
        if len(planes) == kind.channels:
            for channel, plane in enumerate(planes):
                part[channel] = np.frombuffer(plane, np.float32, kind.samples)
        else:
            parts = [np.frombuffer(plane, np.float32, kind.samples) for plane in planes]
            part[:] = np.mean(parts, axis=0)
    return rows.T


def mp3_facts(layout: Mp3Layout) -> Facts:
    """Return the properties of a file, or expected ones if truncated; scans it if necessary."""
    kind, stated_samples = layout.kind, layout.stated_samples
    if layout.is_honest:
        return Facts(kind.rate, kind.channels, stated_samples)
    frames = layout.counted * kind.samples - layout.skipped
    note = ""
    if layout.tag and frames > stated_samples + kind.rate:
        stated = f"{stated_samples / kind.rate:.1f} s" if layout.stated_frames else "no length"
        note = (
            f"the header gives {stated}, but the file has {frames / kind.rate:.1f} s; "
            "all of it is used"
        )
    return Facts(kind.rate, kind.channels, max(frames, stated_samples), note)
