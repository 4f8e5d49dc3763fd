"""Chunked streaming of audio files, with damage recovery, resampling and a read-ahead thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from earwitness.audio.decode import LibsndfileDecoder, decoder_of, open_decoder, open_sound
from earwitness.audio.files import Decoder, DecodingError, Facts, Samples, Sound, sound_subtype
from earwitness.audio.signal import resample_pieces
from earwitness.errors import UsageError

# --- Read-ahead thread ---------------------------------------------------------------------------


T = TypeVar("T")
QUEUE_DEPTH = 3  # results decoded ahead


def iterate_ahead(results: Iterator[T], depth: int = QUEUE_DEPTH) -> Iterator[T]:
    """Yield from an iterator that runs ahead in a thread, which ends with this generator.

    >>> list(iterate_ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    pool = ThreadPoolExecutor(1, "ahead")
    try:
        ahead = deque(pool.submit(next, results, None) for _ in range(depth))
        while (result := ahead.popleft().result()) is not None:
            ahead.append(pool.submit(next, results, None))
            yield result
    finally:
        pool.shutdown(cancel_futures=True)
        if isinstance(results, Generator):
            results.close()


# --- Chunked reading -----------------------------------------------------------------------------
# A file is decoded in its own thread, a few chunks ahead, so that decoding and processing overlap.
# At damage, a careful decoder finds where audio continues; the damaged passage is reported to
# ``broken``.
#
# Opening some files takes time (an MP3 file is scanned once), and so does starting in the middle.
# To process a file in shards, read it once and split it.


CHUNK_SECONDS = 10.0  # length of a chunk
MAX_READ_VALUES = 1 << 20  # of all channels: decoded at a time, to save memory
END_TOLERANCE_SECONDS = 0.1  # files may end this much early without being reported
MIN_SOUND_SECONDS = 0.5  # shorter audio between two holes is dropped


class Break(NamedTuple):
    """An unreadable passage of a file: position and duration in seconds.

    Without a message it is not damage: the file is only slightly shorter than its header says.
    """

    path: str
    at: float
    seconds: float
    message: str = ""


class Chunk(NamedTuple):
    """Audio of a file from a position in seconds: one channel, the mean of all."""

    position: float
    samples: Samples


def ignore_break(_: Break) -> None:
    """Do nothing."""


def read_blocks(
    path: Path,
    *,
    at: float = 0.0,
    seconds: float | None = None,
    size: float = CHUNK_SECONDS,
    broken: Callable[[Break], object] = ignore_break,
) -> Iterator[Chunk]:
    """Yield chunks of a file from a position, for the given seconds or to the end.

    Chunks are consecutive except for breaks, which are reported to ``broken`` before the chunk that
    follows; chunks are shorter than ``size`` at breaks and at the end.
    """
    return iterate_ahead(_read_chunks(path, at, seconds, size, broken))


def _read_chunks(
    path: Path, at: float, seconds: float | None, size: float, broken: Callable[[Break], object]
) -> Iterator[Chunk]:
    walk = Walk(path, size, broken)
    first = round(at * walk.rate)
    if seconds is not None:
        walk.last = min(first + round(seconds * walk.rate), walk.last)
    yield from walk.chunks(first)


class Walk:
    """Reads a file in order, skipping damaged passages."""

    def __init__(self, path: Path, size: float, broken: Callable[[Break], object]) -> None:
        self.path, self.broken, self.decoder = path, broken, open_decoder(path)
        facts = self.decoder.facts
        self.rate, self.last, self.size = facts.rate, facts.frames, round(size * facts.rate)
        self.careful = not isinstance(self.decoder, LibsndfileDecoder)
        self._portion = max(1, MAX_READ_VALUES // facts.channels)
        self._fault: DecodingError | None = None  # of the portion after those that were read

    def chunks(self, frame: int) -> Iterator[Chunk]:
        """Yield chunks from a frame to the last, and close the file."""
        try:
            yield from self._skip_damage(frame)
        finally:
            self.decoder.close()

    def _skip_damage(self, frame: int) -> Iterator[Chunk]:
        lost: tuple[int, str] | None = None  # start of a hole, and its cause
        with suppress(DecodingError):  # reading will raise it again
            self.decoder.seek(frame)
        while frame < self.last:
            samples, fault = self._read(frame)
            # audio after a hole must last a while, otherwise the hole continues
            least = min(round(MIN_SOUND_SECONDS * self.rate), self.last - frame) if lost else 1
            if len(samples) >= least:
                if lost:
                    self._report_break(*lost, frame)
                    lost = None
                for start in range(0, len(samples), self.size):
                    part = samples[start : start + self.size]
                    yield Chunk((frame + start) / self.rate, part)
            elif not len(samples) and not self.careful:
                self.careful = True  # another decoder may read where the first one could not
                with suppress(DecodingError):
                    decoder = decoder_of(self.path, careful=True)
                    self.decoder.close()
                    self.decoder = decoder
                    decoder.seek(frame)
            elif not len(samples):
                lost = lost or (frame, str(fault))
                frame = self.last if fault.resumes is None else fault.resumes
            frame += len(samples)
        if lost:
            self._report_break(*lost, self.last)

    def _read(self, frame: int) -> tuple[Samples, DecodingError]:
        """Return the next samples in one channel, or none and the reason."""
        parts = [np.zeros(0, np.float32)]
        fault, self._fault = self._fault, None
        left = min(max(self.size, round(MIN_SOUND_SECONDS * self.rate)), self.last - frame)
        while fault is None and left > 0:
            try:
                samples = self.decoder.read(min(left, self._portion))
            except DecodingError as error:
                fault = error
            else:
                parts.append(mix_to_mono(samples))
                left -= len(samples)
                if not len(samples):
                    fault = DecodingError("unexpected end of file")
        found = np.concatenate(parts)
        if len(found):
            self._fault = fault
        return found, fault or DecodingError("unexpected end of file")

    def _report_break(self, start: int, fault: str, end: int) -> None:
        """Report a damaged passage; a file that ends slightly early is not reported as damaged."""
        seconds = (end - start) / self.rate
        slight = end == self.last and seconds <= END_TOLERANCE_SECONDS
        extent = "to the end" if end == self.last else f"for {seconds:.1f} s"
        message = "" if slight else f"cannot be read {extent}: {fault}"
        self.broken(Break(str(self.path), start / self.rate, seconds, message))


def stream_mono(
    path: Path, rate: int, *, broken: Callable[[Break], object] = ignore_break
) -> Iterator[Samples]:
    """Yield a file as consecutive pieces of about ten seconds at a sample rate, in one channel.

    Joined, the pieces equal the whole file resampled at once, but memory does not grow with the
    duration. Damaged passages are silent and keep their length; they are reported to ``broken``
    before the piece that follows. Raises UsageError if the file cannot be read.
    """
    return iterate_ahead(_stream_mono(path, rate, broken))


def _stream_mono(path: Path, rate: int, broken: Callable[[Break], object]) -> Iterator[Samples]:
    holes: list[Break] = []

    def report(hole: Break) -> None:
        holes.append(hole)
        broken(hole)

    walk = Walk(path, CHUNK_SECONDS, report)
    yield from resample_pieces(_fill_holes(walk, holes), walk.rate, rate)


def _fill_holes(walk: Walk, holes: list[Break]) -> Iterator[Samples]:
    """Yield the samples of a file, and silence for each hole that was reported before them."""
    for chunk in chain(walk.chunks(0), [None]):
        while holes:
            hole = holes.pop(0)
            frames = round(hole.seconds * walk.rate) if hole.message else 0
            for start in range(0, frames, walk.size):
                yield np.zeros(min(walk.size, frames - start), np.float32)
        if chunk is not None:
            yield chunk.samples


def early_end(facts: Facts, frames: int) -> str:
    """Return the fault of a file of which only some frames could be read; empty if there is none.

    >>> early_end(Facts(8000, 1, 16_000), 12_000), early_end(Facts(8000, 1, 16_000), 16_000)
    ('ends 0.5 s earlier than its header says', '')
    """
    missing = facts.seconds - frames / facts.rate
    late = f"ends {missing:.1f} s earlier than its header says" if missing > 0 else ""
    return facts.note if facts.short else (late if missing > END_TOLERANCE_SECONDS else "")


class MonoSound(NamedTuple):
    """All samples of a file, the mean of its channels, and the sample rate."""

    samples: Samples
    rate: int


def read_mono(path: Path) -> MonoSound:
    """Read a whole file in any supported format; raises UsageError if it cannot be read."""
    decoder = open_decoder(path)
    parts = map(mix_to_mono, read_portions(path, decoder))
    return MonoSound(np.concatenate([np.zeros(0, np.float32), *parts]), decoder.facts.rate)


def read_sound(path: Path, *, truncated: bool = False) -> Sound:
    """Read a whole file in any supported format, with all channels and the precision it has.

    Raises UsageError if it ends earlier than its header says, unless it may be ``truncated``.
    """
    decoder = open_sound(path)
    if isinstance(decoder, LibsndfileDecoder):
        decoder.sample_type = "float64"
    parts = read_portions(path, decoder)
    samples = np.concatenate([np.zeros((0, decoder.facts.channels)), *parts])
    if not truncated and (fault := early_end(decoder.facts, len(samples))):
        raise UsageError(f"{path}: {fault}")
    return Sound(samples, decoder.facts.rate, sound_subtype(path))


def read_portions(path: Path, decoder: Decoder) -> Iterator[Samples]:
    """Yield the rest of a file in portions, and close it; raises UsageError if it is damaged."""
    try:
        while len(samples := decoder.read(max(1, MAX_READ_VALUES // decoder.facts.channels))):
            yield samples
    except DecodingError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    finally:
        decoder.close()


def mix_to_mono(samples: Samples) -> Samples:
    """Return the mean of all channels."""
    if samples.shape[1] == 1:
        return samples[:, 0]
    return np.asarray(samples.mean(axis=1), np.float32)
