"""Files that libsndfile does not know (AAC, M4A, WebM and others), decoded with PyAV.

A frame of such a file says when it is to be heard, in some only to the millisecond. There the place
of the first frame behind a seek is the nearest point of a grid, since all frames but the first are
of one length (not in Vorbis, where a seek may be off by half a millisecond). All others follow the
frame before, unless their time says that something is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.audio.sources import BEFORE, Broken, Facts, Samples
from earwitness.errors import MissingExtra

BARE = (".aac", ".ac3", ".amr")  # frames and nothing else: they tell no times and no length
NEAR = 0.004  # seconds by which a time may be off its point of the grid


class Av:
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
            raise Broken(str(error) or "there is no sound in it") from error

    def _seconds(self) -> float:
        """As the stream tells it, or else the whole file; what tells nothing is counted."""
        if self._path.suffix.lower() in BARE:
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
            raise Broken("there is no sound in it")
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
        early = frame / self._rate - BEFORE
        if early > 0 and self._path.suffix.lower() not in BARE:
            self._jump(early)

    def _jump(self, seconds: float) -> None:
        """To a frame before a time; that one may be cut at its front, so the next is the first."""
        time = round(seconds / self._stream.time_base) + (self._stream.start_time or 0)
        try:
            self._container.seek(time, stream=self._stream)
        except self._av.error.FFmpegError as error:
            raise Broken(str(error)) from error
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
            if self._end is not None and abs(place - self._end) <= NEAR * self._rate:
                place = self._end
            self._end = place + len(samples)
            if place + len(samples) <= wanted:
                continue
            if place > wanted:
                raise Broken("frames are missing")
            return samples[wanted - place :]
        return None

    def _place(self, frame: Any) -> int:
        """The sample at which a frame begins."""
        if frame.time is None:
            raise Broken("a frame does not tell its time")
        time, start, length = self._grid
        away = (float(frame.time) - time) * self._rate
        steps = round(away / length)
        if away < -0.5:
            return 0
        exact = self._stream.time_base * self._rate <= 1
        if exact or abs(away - steps * length) > NEAR * self._rate:
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
