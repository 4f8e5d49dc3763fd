"""Packet-wise decoding with PyAV: exact positions of samples, and holes with known ends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import accumulate, chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.audio.files import (
    MAX_FRAMES_PER_BYTE,
    DecodingError,
    Facts,
    Samples,
    check_facts,
)
from earwitness.errors import MissingExtra

# --- Pieces of sound in their places -------------------------------------------------------------


Piece = tuple[int, Samples]  # position of the first sample in the file, and samples


class PacketDecoder(ABC):
    """Reads packets in sequence: a decoder for pieces with known positions.

    If a piece starts later than the previous one ended, there is a hole. ``read`` returns what is
    before the hole; the next call raises an error that says where audio continues, and the call
    after that reads from there. ``settling`` is the number of samples that are lost after a hole.
    """

    hole = "frames are missing"
    settling = 0

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.seek(0)

    def seek(self, frame: int) -> None:
        """Seek exactly to a frame; packets are decoded from slightly before it."""
        self._position = frame
        self._pieces = self._pieces_before(frame)
        self._pending: Piece | None = None

    def read(self, frames: int) -> Samples:
        """Return the next frames; fewer before a hole and at the end."""
        parts: list[Samples] = [np.zeros((0, self.facts.channels), np.float32)]
        needed = min(frames, self.facts.frames - self._position)
        while needed > 0 and (piece := self._pending or next(self._pieces, None)) is not None:
            self._pending = None
            place, samples = piece
            if place > self._position:
                self._pending = piece
                if len(parts) > 1:
                    break
                self._position = min(place + self.settling, self.facts.frames)
                raise DecodingError(self.hole, self._position)
            samples = samples[self._position - place :]
            if len(samples) > needed:
                self._pending = self._position + needed, samples[needed:]
                samples = samples[:needed]
            if len(samples):
                parts.append(samples)
                needed -= len(samples)
                self._position += len(samples)
        return np.concatenate(parts)

    @abstractmethod
    def _pieces_before(self, frame: int) -> Iterator[Piece]:
        """Yield pieces in order, from one that ends at or before a frame."""


def av_library() -> Any:
    """Return PyAV, with FFmpeg's messages to stderr suppressed."""
    if find_spec("av") is None:
        raise MissingExtra("av", "audio", "reading audio")
    import av

    return av


def samples_of(frame: Any, channels: int) -> Samples:
    """Return the samples of a decoded frame as floats from -1 to 1, one column per channel."""
    width = frame.layout.nb_channels
    if frame.format.name == "fltp":  # most frequent: fast path
        planes = [np.frombuffer(plane, np.float32, frame.samples) for plane in frame.planes]
        rows = planes[0][:, None] if width == 1 else np.stack(planes, axis=1)
    else:
        data = frame.to_ndarray()
        rows = data.T if frame.format.is_planar else data.reshape(-1, width)
        if rows.dtype == np.uint8:
            rows = (rows - 128.0) / 128
        elif rows.dtype.kind == "i":
            rows = rows / 2.0 ** (8 * rows.dtype.itemsize - 1)
    return np.asarray(match_channels(rows, channels), np.float32)


def match_channels(rows: Samples, channels: int) -> Samples:
    """Return samples in a number of channels, which changes within joined and damaged files."""
    if rows.shape[1] == channels:
        return rows
    return np.repeat(rows.mean(axis=1, keepdims=True), channels, axis=1)


# --- Files with packet times ---------------------------------------------------------------------
# Packets of most files have times: to the sample, or (Matroska, WebM) to the millisecond. A packet
# within half its length of the end of the previous packet directly follows it. After a seek, the
# first packet is placed at the nearest point of a grid if times are coarse, since all packets but
# the first have the same length there.
#
# In Ogg Vorbis, FFmpeg takes packets at page borders for shorter or longer than they are: times are
# wrong by up to a quarter of the longest block. So most of several packets decide after a seek.
#
# Streams of bare frames (AAC, AC-3, AMR) have no times and no length: packets are counted, and
# decoded from the first.


RAW_STREAM_FORMATS = {"aac", "ac3", "eac3", "amr"}
LOSSLESS_CODECS = {"alac", "ape", "flac", "wavpack"}
SETTLING_SECONDS = 0.25  # until other codecs have recovered from a loss
SEEK_PREROLLS_SECONDS = (1.0, 30.0)  # before the target; the second if needed
COARSE_TIME_SECONDS = 0.004  # error of times in milliseconds
VORBIS_TIME_ERROR = 2048  # samples; the longest block has 8,192
VORBIS_START_PACKETS = 15  # that decide where a seek has led
# Ogg streams that start between these times have lost their first pages
FIRST_TIME_SECONDS, LOST_START_SECONDS = 0.1, 60.0
COUNTED_FRAMES = dict[tuple[Path, int, int], int]()  # by path, size and time of change


class PyAvDecoder(PacketDecoder):
    """Decoder based on PyAV."""

    def __init__(self, path: Path) -> None:
        self._av, self._path = av_library(), path
        self._open()
        codec = self._stream.codec_context
        self._rate, self._channels = int(codec.sample_rate), int(codec.channels)
        if not self._rate or not self._channels:
            raise DecodingError("contains no audio")
        self._raw = self._container.format.name in RAW_STREAM_FORMATS
        self._is_ogg = self._container.format.name == "ogg"
        lossless = codec.name in LOSSLESS_CODECS or codec.name.startswith("pcm_")
        self.settling = 0 if lossless else round(SETTLING_SECONDS * self._rate)
        self._is_vorbis = self._is_ogg and codec.name == "vorbis"
        self._samples_per_tick = float(self._stream.time_base * self._rate)
        self._find_grid()
        super().__init__(check_facts(path, Facts(self._rate, self._channels, self._count_frames())))

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def _open(self) -> None:
        try:
            self._container = self._av.open(str(self._path), metadata_errors="replace")
            self._stream = self._container.streams.audio[0]
        except (self._av.error.FFmpegError, OSError, IndexError) as error:
            reason = getattr(error, "strerror", None) or "contains no audio"
            raise DecodingError(reason) from error
        if self._stream.codec_context is None:
            raise DecodingError("has an unknown codec")
        if self._stream.codec_context.name == "flac":  # check the checksums of FLAC
            self._stream.codec_context.options = {"err_detect": "crccheck+explode"}

    def _find_grid(self) -> None:
        """Find the time of the first frame, and time and position of the second."""
        frames = [frame for frame, _ in zip(self._iterate_frames(), range(2), strict=False)]
        if not frames or any(frame.pts is None for frame in frames):
            raise DecodingError("contains no audio")
        self._first_tick, self._grid_tick = frames[0].pts, frames[-1].pts
        self._grid_start = sum(int(frame.samples) for frame in frames[:-1])
        self._grid_step = int(frames[-1].samples)
        lost = self._first_tick * self._samples_per_tick / self._rate
        if self._is_ogg and FIRST_TIME_SECONDS < lost < LOST_START_SECONDS:
            self._first_tick = 0

    def _count_frames(self) -> int:
        """Return the length given by stream or container if the file can contain it.

        Otherwise, packets are counted, once while the file is unchanged.
        """
        frames = 0
        if not self._raw and self._stream.duration is not None:
            ticks = self._stream.duration
            if self._is_vorbis:
                ticks += (self._stream.start_time or 0) - self._first_tick  # Opus counts from 0
            frames = round(float(ticks * self._samples_per_tick))
        elif not self._raw and self._container.duration is not None:
            frames = round(float(self._container.duration / self._av.time_base * self._rate))
        status = self._path.stat()
        if 0 < frames <= MAX_FRAMES_PER_BYTE * status.st_size:
            return frames
        version = self._path.absolute(), status.st_size, status.st_mtime_ns
        if version not in COUNTED_FRAMES:
            self._container.close()
            self._open()
            ends = (
                packet.pts + (packet.duration or 0) - self._first_tick
                for packet in self._iterate_packets()
                if packet.pts is not None
            )
            COUNTED_FRAMES[version] = round(max(ends, default=0) * self._samples_per_tick)
        return COUNTED_FRAMES[version]

    def _pieces_before(self, frame: int) -> Iterator[Piece]:
        """Yield pieces from a second before, which the first packets need, or from the start."""
        for preroll in () if self._raw else SEEK_PREROLLS_SECONDS:
            start = frame - round(preroll * self._rate)
            if start <= 0 or not self._jump(start):
                continue
            frames = self._iterate_frames()
            next(frames, None)  # its start may be cut
            first_frames = list(islice(frames, VORBIS_START_PACKETS if self._is_vorbis else 0))
            # the position of the first frame by most times of the first ones
            before = accumulate((int(frame.samples) for frame in first_frames), initial=0)
            counted = zip(first_frames, before, strict=False)
            places = Counter(self._place(decoded, None) - count for decoded, count in counted)
            start_place = places.most_common(1)[0][0] if places else None
            pieces = self._place_frames(chain(first_frames, frames), start_place)
            first = next(pieces, None)
            if first is not None and first[0] <= frame:
                yield first
                yield from pieces
                return
        self._container.close()
        self._open()
        yield from self._place_frames(self._iterate_frames(), 0)

    def _jump(self, start: int) -> bool:
        """Seek to a packet at or before a sample, if the file allows seeking."""
        self._container.close()
        self._open()
        tick = self._first_tick + int(start / self._samples_per_tick)
        try:
            self._container.seek(tick, stream=self._stream)
        except self._av.error.FFmpegError:
            return False
        return True

    def _place_frames(self, frames: Iterable[Any], end: int | None) -> Iterator[Piece]:
        """Yield frames with their positions; a frame followed by an earlier time had a wrong time.

        ``end`` is the expected position of the first frame, if known.
        """
        held: Piece | None = None
        for frame in frames:
            samples = samples_of(frame, self._channels)
            place = self._place(frame, end)
            if held is not None and held[0] <= place:
                yield held
            held, end = (place, samples), place + len(samples)
        if held is not None:
            yield held

    def _place(self, frame: Any, end: int | None) -> int:
        """Return the first sample of a frame: the end of the previous one, or by its time."""
        if frame.pts is None and end is not None:
            return end
        ticks = (frame.pts or 0) - self._first_tick
        exact, place = self._samples_per_tick <= 1, round(float(ticks * self._samples_per_tick))
        slack = 0.0 if exact else COARSE_TIME_SECONDS * self._rate
        slack = VORBIS_TIME_ERROR if self._is_vorbis else slack
        if end is not None and abs(place - end) <= max(slack, frame.samples / 2):
            return end
        if exact or frame.pts < self._grid_tick:
            return place
        behind = float((frame.pts - self._grid_tick) * self._samples_per_tick)
        steps = round(behind / self._grid_step)
        on_grid = abs(behind - steps * self._grid_step) <= slack
        return self._grid_start + (steps * self._grid_step if on_grid else round(behind))

    def _iterate_frames(self) -> Iterator[Any]:
        """Yield frames from the current position; packets that cannot be decoded are skipped."""
        for packet in self._iterate_packets():
            try:
                yield from packet.decode()
            except self._av.error.FFmpegError:
                continue

    def _iterate_packets(self) -> Iterator[Any]:
        """Yield packets to the end, or until no more can be found."""
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except self._av.error.FFmpegError:
                return
            if packet is None:
                return
            yield packet
