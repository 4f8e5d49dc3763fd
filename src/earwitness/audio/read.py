"""Chunked streaming of audio files, with damage recovery and a read-ahead thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Full, Queue
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import opened
from earwitness.audio.files import Decoder, DecodingError, Samples

# --- Read-ahead thread ---------------------------------------------------------------------------


T = TypeVar("T")
QUEUE_DEPTH = 3  # results that may wait


class _Ahead(Generic[T]):
    """A thread that fills a short queue until all is done or nobody wants more."""

    def __init__(self, make: Callable[[], Iterator[T]], depth: int) -> None:
        self.make = make
        self.queue: Queue[tuple[T | None, BaseException | None]] = Queue(depth)
        self.unwanted = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True, name="ahead")

    def work(self) -> None:
        """Fill the queue; what is raised is raised again where the results are taken."""
        fault: BaseException | None = None
        results = self.make()
        try:
            for result in results:
                if not self.put(result, None):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again by who takes the results
            fault = error
        finally:
            results.close() if hasattr(results, "close") else None
        self.put(None, fault)

    def put(self, result: T | None, fault: BaseException | None) -> bool:
        """Wait for room; False if nobody wants it any more."""
        while not self.unwanted.is_set():
            try:
                self.queue.put((result, fault), timeout=0.1)
            except Full:
                continue
            return True
        return False


def ahead(make: Callable[[], Iterator[T]], depth: int = QUEUE_DEPTH) -> Iterator[T]:
    """What an iterator gives, made ahead in a thread that ends with this one.

    >>> list(ahead(lambda: iter("abc")))
    ['a', 'b', 'c']
    """
    work = _Ahead(make, depth)
    work.thread.start()
    try:
        while True:
            result, fault = work.queue.get()
            if fault is not None:
                raise fault
            if result is None:
                return
            yield result
    finally:
        work.unwanted.set()
        work.thread.join()


# --- Chunked reading -----------------------------------------------------------------------------
# A file is decoded in a thread of its own, a few chunks ahead, so that decoding and what is done
# with the sound share the time. Where it is broken, reading goes on behind the place: a second
# further on, two, and so on for a minute, then in ever longer steps. Each such place is told to
# ``broken``.
#
# Opening some files costs time (an MP3 file that does not tell its length is walked through once),
# and so does starting in their middle. Who wants a file in shards reads it once and divides it.


CHUNK_SECONDS = 10.0  # seconds of a chunk
MIN_READ_SECONDS = 0.02  # seconds: a place is broken if not even this much of it can be read
END_TOLERANCE_SECONDS = 0.1  # seconds by which a file may end early without being called damaged
# seconds behind a broken place
SKIP_STEPS_SECONDS = (*range(1, 61), *(60 * 2**n for n in range(1, 16)))


class Break(NamedTuple):
    """So many seconds of a file from a position on that cannot be read.

    Without a message it is no damage: the file only is a little shorter than its header says.
    """

    path: str
    at: float
    seconds: float
    message: str = ""


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
    size: float = CHUNK_SECONDS,
    broken: Callable[[Break], object] = ignore,
) -> Iterator[Chunk]:
    """A file from a position on, in order; so many seconds of it, or all.

    Chunks follow each other without a gap but for breaks, which are told to ``broken`` before the
    chunk behind them comes; a chunk is shorter than ``size`` at breaks and at the end.
    """
    return ahead(lambda: _chunks(path, at, seconds, size, broken))


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
        except DecodingError as error:
            return str(error)
        return ""

    def _read(self, frame: int) -> tuple[Samples | None, str]:
        """What comes next, in ever smaller pieces where a large one holds something broken."""
        count, fault = min(self.size, self.last - frame), ""
        while True:
            try:
                return self.decoder.read(count), ""
            except DecodingError as error:
                fault = str(error)
            if count <= MIN_READ_SECONDS * self.rate or self._at(frame):
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
        steps = (frame + step * self.rate for step in SKIP_STEPS_SECONDS)
        tried = (to for to in steps if to < self.last)
        found = next((to for to in tried if self._good(to)), self.last)
        lost = (found - frame) / self.rate
        slight = found == self.last and lost <= END_TOLERANCE_SECONDS
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
        except DecodingError:
            return False
        return good


def mono(samples: Samples) -> NDArray[np.float32]:
    """The mean of all channels."""
    if samples.shape[1] == 1:
        return samples[:, 0]
    return np.asarray(samples.mean(axis=1), np.float32)
