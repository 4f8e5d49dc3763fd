"""Files of sound read in chunks, whatever their length.

A file is decoded in a thread of its own, a few chunks ahead, so that decoding and what is done with
the sound share the time. Where it is broken, reading goes on behind the place: a second further on,
two, and so on for a minute, then in ever longer steps. Each such place is told to ``broken``.

Opening some files costs time (an MP3 file that does not tell its length is walked through once),
and so does starting in their middle. Who wants a file in shards reads it once and divides it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.ahead import ahead
from earwitness.audio.decoders import opened
from earwitness.audio.mending import Break
from earwitness.audio.sources import Broken, Decoder, Samples
from earwitness.data import Recording

SIZE = 10.0  # seconds of a chunk
FINEST = 0.02  # seconds: a place is broken if not even this much of it can be read
SLACK = 0.1  # seconds by which a file may end early without being called damaged
STEPS = (*range(1, 61), *(60 * 2**n for n in range(1, 16)))  # seconds behind a broken place


class Chunk(NamedTuple):
    """Sound of a file from a position in seconds on: one channel, the mean of all."""

    position: float
    samples: NDArray[np.float32]


def ignore(one: Break) -> None:
    """Nobody wants to know."""


def read_blocks(
    path: Path,
    *,
    at: float = 0.0,
    seconds: float | None = None,
    size: float = SIZE,
    broken: Callable[[Break], object] = ignore,
) -> Iterator[Chunk]:
    """A file from a position on, in order; so many seconds of it, or all.

    Chunks follow each other without a gap but for breaks, which are told to ``broken`` before the
    chunk behind them comes; a chunk is shorter than ``size`` at breaks and at the end.
    """
    return ahead(lambda: _chunks(path, at, seconds, size, broken))


def sound_of(
    recording: Recording,
    *,
    start: float = 0.0,
    seconds: float | None = None,
    size: float = SIZE,
    broken: Callable[[Break], object] = ignore,
) -> Iterator[tuple[float, Chunk]]:
    """A recording from a time on, in order: chunks with their times on its clock."""
    end = recording.seconds if seconds is None else start + seconds
    for stretch in recording.stretches:
        low, high = max(start, stretch.start), min(end, stretch.end)
        if high > low:
            away, path = stretch.start - stretch.at, Path(stretch.path)
            chunks = read_blocks(path, at=low - away, seconds=high - low, size=size, broken=broken)
            yield from ((chunk.position + away, chunk) for chunk in chunks)


def _chunks(
    path: Path, at: float, seconds: float | None, size: float, broken: Callable[[Break], object]
) -> Iterator[Chunk]:
    decoder = opened(path)
    facts = decoder.facts
    first = round(at * facts.rate)
    last = facts.frames if seconds is None else first + round(seconds * facts.rate)
    walk = Walk(path, decoder, min(last, facts.frames), round(size * facts.rate), broken)
    try:
        yield from walk.chunks(first)
    finally:
        walk.decoder.close()


class Walk:
    """The way through a file, around what is broken."""

    def __init__(
        self,
        path: Path,
        decoder: Decoder,
        last: int,
        size: int,
        broken: Callable[[Break], object],
    ) -> None:
        self.path, self.decoder, self.last, self.size = path, decoder, last, size
        self.broken = broken
        self.rate = decoder.facts.rate
        self.careful = False

    def chunks(self, frame: int) -> Iterator[Chunk]:
        """From a frame to the last."""
        fault = self._at(frame)
        while frame < self.last:
            samples, fault = (None, fault) if fault else self._read(frame)
            if samples is not None and len(samples):
                yield Chunk(frame / self.rate, mono(samples))
                frame += len(samples)
            else:
                frame, fault = self._behind(frame, fault or "ends here"), ""

    def _at(self, frame: int) -> str:
        try:
            self.decoder.seek(frame)
        except Broken as error:
            return str(error)
        return ""

    def _read(self, frame: int) -> tuple[Samples | None, str]:
        """What comes next, in ever smaller pieces where a large one holds something broken."""
        count, fault = min(self.size, self.last - frame), ""
        while True:
            try:
                return self.decoder.read(count), ""
            except Broken as error:
                fault = str(error)
            if count <= FINEST * self.rate or self._at(frame):
                return None, fault
            count = max(1, count // 4)

    def _behind(self, frame: int, fault: str) -> int:
        """The first frame behind a break that can be read, after telling the break.

        At the first one a careful decoder is taken, which may well read on from there.
        """
        if not self.careful:
            self.decoder.close()
            self.decoder, self.careful = opened(self.path, careful=True), True
            if self._good(frame):
                return frame
        steps = (frame + step * self.rate for step in STEPS)
        tried = (to for to in steps if to < self.last)
        found = next((to for to in tried if self._good(to)), self.last)
        lost = (found - frame) / self.rate
        slight = found == self.last and lost <= SLACK
        place = "to the end" if found == self.last else f"for {lost:.1f} s"
        message = "" if slight else f"cannot be read {place}: {fault}"
        self.broken(Break(str(self.path), frame / self.rate, lost, message))
        return found

    def _good(self, frame: int) -> bool:
        """Whether a frame can be read; if so, the decoder stands there."""
        try:
            self.decoder.seek(frame)
            good = len(self.decoder.read(1)) > 0
            self.decoder.seek(frame)
        except Broken:
            return False
        return good


def mono(samples: Samples) -> NDArray[np.float32]:
    """The mean of all channels."""
    if samples.shape[1] == 1:
        return samples[:, 0]
    return np.asarray(samples.mean(axis=1), np.float32)
