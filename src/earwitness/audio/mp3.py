"""MP3 frame headers, frame search, and a decoder for damaged or mislabeled files."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import (
    MP3_PREROLL_FRAMES,
    DecodingError,
    Facts,
    Samples,
    faults,
    straight,
)

# --- MP3 frame search ----------------------------------------------------------------------------
# Where a frame ends only its header tells, so a file is walked through from frame to frame. A lane
# begins where some frames follow each other, which is hardly ever chance. All lanes go on side by
# side, each up to the begin of the next. A walk from the front then takes whole lanes at a time
# where it meets their begins, and single frames where it does not; so a begin that was chance does
# no harm.


MIN_CONSECUTIVE_FRAMES = 4  # frames in a row that are no chance
LANE_BYTES = 1 << 16
Bytes = bytes | bytearray | mmap.mmap
Ints = NDArray[np.int64]


class FrameFormat(NamedTuple):
    """What all frames of a file share: the second byte, samples, rate, channels, and sizes."""

    second: int
    samples: int
    rate: int
    channels: int
    sizes: tuple[int, ...]  # of a frame, by its third byte; 0 where that cannot be


def starts_in(piece: bytearray, kind: FrameFormat) -> tuple[list[int], int]:
    """Where frames begin, one behind the other from the front on, and where the next would."""
    lanes = _lanes(piece, kind)
    starts: list[int] = []
    at, last = 0, len(piece) - 4
    while at <= last:
        if (lane := lanes.get(at)) is not None:
            starts += lane.tolist()
            at = starts[-1]
        elif not follows(piece, at, kind, 1):
            break
        else:
            starts.append(at)
        at += kind.sizes[piece[at + 2]]
    return starts, at


def _lanes(piece: bytearray, kind: FrameFormat) -> dict[int, Ints]:
    """Frames of lanes by where these begin; none of a lane is left out, but for the last bytes."""
    found = dict.fromkeys(begins(piece, range(0, len(piece), LANE_BYTES), kind))
    first = np.array(list(found), np.int64)
    ends = np.append(first[1:], len(piece) - 3)
    data, sizes = np.frombuffer(piece, np.uint8), np.array(kind.sizes, np.int64)
    at, going = first.copy(), np.flatnonzero(first < ends)
    owners, places = [going[:0]], [first[:0]]
    while len(going):
        here = at[going]
        steps = sizes[data[here + 2]]
        good = (data[here] == 0xFF) & (data[here + 1] == kind.second) & (steps > 0)
        going, here = going[good], here[good]
        owners.append(going)
        places.append(here)
        at[going] = here + steps[good]
        going = going[at[going] < ends[going]]
    owner, place = np.concatenate(owners), np.concatenate(places)
    ordered = place[np.argsort(owner, kind="stable")]
    cuts = np.cumsum(np.bincount(owner, minlength=len(first)))[:-1]
    return {int(one[0]): one for one in np.split(ordered, cuts) if len(one)}


def begins(data: Bytes, places: Iterable[int], kind: FrameFormat) -> Iterator[int]:
    """The next begin of frames from each place on, if there is one."""
    sync = bytes((0xFF, kind.second))
    for place in places:
        at = data.find(sync, place)
        while at >= 0 and not follows(data, at, kind, MIN_CONSECUTIVE_FRAMES):
            at = data.find(sync, at + 1)
        if at >= 0:
            yield at


def follows(data: Bytes, place: int, kind: FrameFormat, count: int) -> bool:
    """Whether so many frames stand in a row there, or as many as the end leaves."""
    for number in range(count):
        if place + 4 > len(data):
            return number > 1
        if data[place] != 0xFF or data[place + 1] != kind.second:
            return False
        if not (size := kind.sizes[data[place + 2]]):
            return False
        place += size
    return True


# --- MP3 file layout -----------------------------------------------------------------------------
# An MP3 file is a row of frames, each with a header of its own. Its length stands in a tag in the
# first frame (Xing, Info), if anywhere: files without one, joined files and files that were cut
# short say something else than they hold, and libsndfile believes them. So where size and tag do
# not agree the frames are walked through, without decoding any: some tenths of a second for a day.


BITRATES_KBPS = {
    3: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0),
}
SAMPLE_RATES_HZ = (44_100, 48_000, 32_000, 0)
FRAMES_PER_BOOKMARK = 256  # frames from one remembered place to the next
WALK_PIECE_BYTES = 1 << 24  # bytes that are looked through at once
DECODER_DELAY_SAMPLES = 529  # samples by which every decoder is late
TAG_SIZE_TOLERANCE = 0.01  # share by which the size in a tag may be off


class XingTag(NamedTuple):
    """What the first frame tells: frames and bytes, and samples to leave out at the front."""

    frames: int
    size: int
    skipped: int


class FrameRun(NamedTuple):
    """Frames without a gap: the number of the first in the file, how many, and where some are."""

    first: int
    frames: int
    # of each frame whose number in the run is a multiple of FRAMES_PER_BOOKMARK
    places: tuple[int, ...]


class Mp3Layout(NamedTuple):
    """A file: its first frame, what that tells, and all runs of frames (once walked)."""

    kind: FrameFormat
    start: int
    size: int
    tag: XingTag | None
    runs: tuple[FrameRun, ...] = ()

    @property
    def honest(self) -> bool:
        """Whether a tag tells the size that the file has."""
        if self.tag is None or not self.tag.frames:
            return False
        return abs(self.size - self.tag.size) <= max(TAG_SIZE_TOLERANCE * self.tag.size, 4096)

    @property
    def counted(self) -> int:
        """Frames that are there, with those that are lost between runs."""
        return self.runs[-1].first + self.runs[-1].frames if self.runs else 0


def kind_of(head: bytes) -> FrameFormat | None:
    """What the header of a frame tells; None if it is none of layer III."""
    if len(head) < 4 or head[0] != 0xFF or head[1] & 0xE6 != 0xE2:
        return None
    version, place = head[1] >> 3 & 3, head[2] >> 2 & 3
    if version == 1 or not SAMPLE_RATES_HZ[place]:
        return None
    rate = SAMPLE_RATES_HZ[place] >> {3: 0, 2: 1, 0: 2}[version]
    samples, table = (1152, BITRATES_KBPS[3]) if version == 3 else (576, BITRATES_KBPS[2])
    sizes = (_size(byte, samples, rate, table, place) for byte in range(256))
    return FrameFormat(head[1], samples, rate, 1 if head[3] >> 6 == 3 else 2, tuple(sizes))


def _size(byte: int, samples: int, rate: int, table: tuple[int, ...], place: int) -> int:
    """Bytes of a frame by its third byte."""
    if byte >> 2 & 3 != place or not table[byte >> 4]:
        return 0
    return samples * 125 * table[byte >> 4] // rate + (byte >> 1 & 1)


def layout_of(path: Path) -> Mp3Layout:
    """What the first frame of a file tells; ``DecodingError`` if there is none."""
    with path.open("rb") as file:
        total = os.fstat(file.fileno()).st_size
        start = _behind_names(file.read(10))
        file.seek(start)
        head = file.read(1 << 16)
    for place in range(len(head) - 4):
        kind = kind_of(head[place : place + 4])
        if kind and follows(head, place, kind, 2):
            frame = head[place : place + kind.sizes[head[place + 2]]]
            return Mp3Layout(kind, start + place, total - start - place, _tag(frame, kind))
    raise DecodingError("there is no MP3 frame at its start")


def _behind_names(head: bytes) -> int:
    """Where sound begins: behind an ID3 tag, whose size has seven bits a byte."""
    if head[:3] != b"ID3" or len(head) < 10:
        return 0
    size = 0
    for byte in head[6:10]:
        size = size << 7 | byte & 0x7F
    return 10 + size


def _tag(frame: bytes, kind: FrameFormat) -> XingTag | None:
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
    skipped = (
        (numbers[21] << 4 | numbers[22] >> 4) + DECODER_DELAY_SAMPLES if any(numbers[:1]) else 0
    )
    return XingTag(frames, size, skipped)


def is_tag(frame: bytes) -> bool:
    """Whether a frame holds a tag instead of sound."""
    return any(name in frame[:48] for name in (b"Xing", b"Info"))


def walked(path: Path) -> Mp3Layout:
    """The layout of a file with all of its runs; remembered while the file stays as it is."""
    known = path.stat()
    return _walked(path, known.st_size, known.st_mtime_ns)


@lru_cache(maxsize=64)
def _walked(path: Path, size: int, changed: int) -> Mp3Layout:  # noqa: ARG001 - part of the key
    layout = layout_of(path)
    runs: list[FrameRun] = []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place: int | None = layout.start
        first, end = 0, layout.start
        while place is not None:
            if runs:
                each = (end - layout.start) / max(1, sum(run.frames for run in runs))
                first = runs[-1].first + runs[-1].frames + round((place - end) / each)
            places, count, end = _run(data, place, layout.kind)
            runs.append(FrameRun(first, count, tuple(places)))
            place = _next(data, max(end, place + 1), layout.kind)
    return layout._replace(runs=tuple(runs))


def _run(data: mmap.mmap, place: int, kind: FrameFormat) -> tuple[list[int], int, int]:
    """Frames from a place on: where some are (see ``FrameRun``), how many, and where they end."""
    places: list[int] = []
    count, room = 0, bytearray(min(WALK_PIECE_BYTES, len(data) - place))
    while True:
        piece = _filled(room, data, place)
        starts, at = starts_in(piece, kind)
        if starts and place + at > len(data):  # the last frame is not whole
            at = starts.pop()
        places += [
            place + start for start in starts[-count % FRAMES_PER_BOOKMARK :: FRAMES_PER_BOOKMARK]
        ]
        count += len(starts)
        place += at
        if not starts or at <= len(piece) - 4:
            return places, count, place


def _filled(room: bytearray, data: mmap.mmap, place: int) -> bytearray:
    """Bytes from a place on, in the same room again and again: new room takes more time."""
    size = min(len(room), len(data) - place)
    memoryview(room)[:size] = memoryview(data)[place : place + size]
    return room if size == len(room) else room[:size]


def _next(data: mmap.mmap, place: int, kind: FrameFormat) -> int | None:
    """The next place at which frames begin again."""
    return next(begins(data, [place], kind), None)


# --- MP3 decoder ---------------------------------------------------------------------------------
# libsndfile reads no more than it thinks a file to have. So it is opened at the frame where reading
# is to begin (some before it, since frames need those before them), and again where it believes to
# be at the end. What is lost between two runs of frames keeps its time, as far as its bytes tell
# it.


# libsndfile guesses the end by the first frame that it sees: others guess better
RETRY_FRAME_FACTORS = (1, 3, 9, 27)


class Mp3Decoder:
    """A decoder that knows where each frame is."""

    def __init__(self, path: Path) -> None:
        self._path, self._layout = path, walked(path)
        self._skipped = _skipped(self._layout)
        self.facts = mp3_facts(self._layout)
        self._file: Any = None
        self._frame = 0
        self._run: FrameRun | None = None

    def seek(self, frame: int) -> None:
        """Into the run of frames that holds it."""
        self._go(frame, 1)

    def _go(self, frame: int, further: int) -> None:
        """There, from so many times as many frames before it as are needed."""
        self.close()
        self._frame, self._run = frame, None
        samples = self._layout.kind.samples
        number = (frame + self._skipped) // samples
        for run in self._layout.runs:
            if run.first <= number < run.first + run.frames:
                self._run = run
                self._open(run, number, further)
                return
        raise DecodingError("there is no MP3 frame here")

    def read(self, frames: int) -> Samples:
        """To the end of the run at most; there is nothing right behind it."""
        if self._run is None:
            raise DecodingError("there is no MP3 frame here")
        end = (self._run.first + self._run.frames) * self._layout.kind.samples - self._skipped
        frames = min(frames, end - self._frame)
        if frames <= 0:
            return self._behind(end)
        found = self._decoded(frames)
        for further in RETRY_FRAME_FACTORS:
            if not len(found):
                self._go(self._frame, further)
                found = self._decoded(frames)
        self._frame += len(found)
        return found

    def _decoded(self, frames: int) -> Samples:
        try:
            return np.asarray(self._file.read(frames, dtype="float32", always_2d=True))
        except faults() as error:
            raise DecodingError(str(error)) from error

    def close(self) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _behind(self, end: int) -> Samples:
        if end + self._skipped < self._layout.counted * self._layout.kind.samples:
            raise DecodingError("there is no MP3 frame here")
        return np.zeros((0, self.facts.channels), np.float32)

    def _open(self, run: FrameRun, number: int, further: int) -> None:
        """libsndfile at a frame before that, and read up to where it shall go on."""
        kind = self._layout.kind
        first = max(0, number - run.first - further * MP3_PREROLL_FRAMES[kind.samples])
        start, place = _place(self._path, run, first, self._layout)
        handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        os.lseek(handle, place, os.SEEK_SET)
        self._file = straight(handle)
        ahead = self._frame - ((run.first + start) * kind.samples - self._skipped)
        self._decoded(max(0, ahead))


def _place(path: Path, run: FrameRun, number: int, layout: Mp3Layout) -> tuple[int, int]:
    """Where a frame of a run stands; or one near it, if that holds a tag and no sound."""
    at, place = number - number % FRAMES_PER_BOOKMARK, run.places[number // FRAMES_PER_BOOKMARK]
    with path.open("rb") as file:
        while True:
            file.seek(place)
            head = file.read(48)
            if at >= number and not is_tag(head):
                return at, place
            place += layout.kind.sizes[head[2]]
            at += 1


def _skipped(layout: Mp3Layout) -> int:
    """Samples before the first that counts: the frame of the tag, and what it says."""
    return layout.kind.samples + layout.tag.skipped if layout.tag else 0


def mp3_facts(layout: Mp3Layout) -> Facts:
    """What a walked file has, or should have if it was cut short."""
    kind = layout.kind
    frames = layout.counted * kind.samples - _skipped(layout)
    told = layout.tag.frames * kind.samples - layout.tag.skipped if layout.tag else 0
    note = ""
    if layout.tag and frames > told + kind.rate:
        note = (
            f"its header tells {told / kind.rate:.1f} s, "
            f"but the file has {frames / kind.rate:.1f} s, which are read"
        )
    return Facts(kind.rate, kind.channels, max(frames, told), note)
