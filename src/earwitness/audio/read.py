"""Chunked streaming of audio files, with damage recovery and a read-ahead thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Full, Queue
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import LibsndfileDecoder, decoder_of, open_decoder
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


def iterate_ahead(make: Callable[[], Iterator[T]], depth: int = QUEUE_DEPTH) -> Iterator[T]:
    """What an iterator gives, made ahead in a thread that ends with this one.

    >>> list(iterate_ahead(lambda: iter("abc")))
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
# with the sound share the time. Where it is broken, a careful decoder tells where sound goes on;
# what lies before that is told to ``broken``.
#
# Opening some files costs time (an MP3 file is walked through once), and so does starting in their
# middle. Who wants a file in shards reads it once and divides it.


CHUNK_SECONDS = 10.0  # seconds of a chunk
END_TOLERANCE_SECONDS = 0.1  # seconds by which a file may end early without being called damaged
MIN_SOUND_SECONDS = 0.5  # sound between two holes that is shorter is lost with them


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


def ignore_break(_: Break) -> None:
    """Nobody wants to know."""


def read_blocks(
    path: Path,
    *,
    at: float = 0.0,
    seconds: float | None = None,
    size: float = CHUNK_SECONDS,
    broken: Callable[[Break], object] = ignore_break,
) -> Iterator[Chunk]:
    """A file from a position on, in order; so many seconds of it, or all.

    Chunks follow each other without a gap but for breaks, which are told to ``broken`` before the
    chunk behind them comes; a chunk is shorter than ``size`` at breaks and at the end.
    """
    return iterate_ahead(lambda: _read_chunks(path, at, seconds, size, broken))


def _read_chunks(
    path: Path, at: float, seconds: float | None, size: float, broken: Callable[[Break], object]
) -> Iterator[Chunk]:
    decoder = open_decoder(path)
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
        self.careful = not isinstance(decoder, LibsndfileDecoder)

    def chunks(self, frame: int) -> Iterator[Chunk]:
        """From a frame to the last."""
        lost: tuple[int, str] | None = None  # where a hole began, and why
        with suppress(DecodingError):  # reading tells it again
            self.decoder.seek(frame)
        while frame < self.last:
            samples, fault = self._read(frame)
            # sound behind a hole must go on for a while, or the hole does
            least = min(round(MIN_SOUND_SECONDS * self.rate), self.last - frame) if lost else 1
            if len(samples) >= least:
                if lost:
                    self._report_break(*lost, frame)
                    lost = None
                yield from self._split_chunks(frame, samples)
            elif (
                not len(samples)
                and isinstance(self.decoder, LibsndfileDecoder)
                and not self.careful
            ):
                self._take_care(frame)
            elif not len(samples):
                lost = lost or (frame, str(fault))
                frame = self.last if fault.resumes is None else fault.resumes
            frame += len(samples)
        if lost:
            self._report_break(*lost, self.last)

    def _read(self, frame: int) -> tuple[Samples, DecodingError]:
        """What comes next, and why it is nothing if it is."""
        size = max(self.size, round(MIN_SOUND_SECONDS * self.rate))
        try:
            return self.decoder.read(min(size, self.last - frame)), DecodingError("ends here")
        except DecodingError as error:
            return np.zeros((0, 1), np.float32), error

    def _split_chunks(self, frame: int, samples: Samples) -> Iterator[Chunk]:
        for start in range(0, len(samples), self.size):
            part = samples[start : start + self.size]
            yield Chunk((frame + start) / self.rate, mix_to_mono(part))

    def _take_care(self, frame: int) -> None:
        """Go on with a decoder that may well read where the first one could not."""
        self.careful = True
        with suppress(DecodingError):
            decoder = decoder_of(self.path, careful=True)
            self.decoder.close()
            self.decoder = decoder
            decoder.seek(frame)

    def _report_break(self, start: int, fault: str, end: int) -> None:
        """Tell a hole; a file that ends a little early is not called damaged."""
        seconds = (end - start) / self.rate
        slight = end == self.last and seconds <= END_TOLERANCE_SECONDS
        extent = "to the end" if end == self.last else f"for {seconds:.1f} s"
        message = "" if slight else f"cannot be read {extent}: {fault}"
        self.broken(Break(str(self.path), start / self.rate, seconds, message))


def mix_to_mono(samples: Samples) -> NDArray[np.float32]:
    """The mean of all channels."""
    if samples.shape[1] == 1:
        return samples[:, 0]
    return np.asarray(samples.mean(axis=1), np.float32)
