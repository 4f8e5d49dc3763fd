"""Frames of a stream of sound that comes in chunks, with holes where it could not be read.

Every frame stands at its own place in the file, whatever the chunks; those in a hole are absent.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator

import numpy as np

from earwitness.audio.logmel import (
    ABSENT,
    BANDS,
    Bytes,
    Floats,
    first_sample,
    frames_from,
    frames_within,
    kernel,
)
from earwitness.audio.reading import Chunk


def framed(chunks: Iterable[Chunk], rate: int, first: int = 0) -> Generator[Bytes, None, None]:
    """Frames from ``first`` on, in order and without a gap, a few seconds of them at a time."""
    held = Held(rate, first)
    for chunk in chunks:
        yield from held.take(round(chunk.position * rate), chunk.samples)
    yield held.finished()


class Held:
    """Samples that wait for those behind them, and the frame that comes next."""

    def __init__(self, rate: int, first: int) -> None:
        self.rate = rate
        self.next = first
        self.samples = np.zeros(0, np.float32)

    @property
    def begin(self) -> int:
        """The sample at which the held ones begin: that of the next frame."""
        return first_sample(self.next, self.rate)

    def take(self, at: int, samples: Floats) -> Iterator[Bytes]:
        """Samples from a place in the file on; those that were there before are passed over."""
        if at > self.begin + len(self.samples):
            yield self.finished()
            yield self._absent(frames_within(at - 1, self.rate) + 1 - self.next)
        end = self.begin + len(self.samples)
        self.samples = np.concatenate([self.samples, samples[max(0, end - at) :]])
        ready = self.begin + len(self.samples) - kernel(self.rate).reach
        yield self._frames(frames_within(ready, self.rate) + 1)

    def finished(self) -> Bytes:
        """Frames of what is held, as nothing follows it."""
        frames = self._frames(frames_within(self.begin + len(self.samples), self.rate))
        self.samples = self.samples[:0]
        return frames

    def _frames(self, last: int) -> Bytes:
        count, begin = max(0, last - self.next), self.begin
        frames = frames_from(self.samples, self.rate, self.next, count)
        self.next += count
        self.samples = self.samples[self.begin - begin :]
        return frames

    def _absent(self, count: int) -> Bytes:
        self.next += max(0, count)
        return np.full((max(0, count), BANDS), ABSENT, np.uint8)
