"""Log-mel frames of whole files on disk, and spectrograms made of them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import decoder_name
from earwitness.audio.logmel import (
    ABSENT_BYTE,
    FRAMES_PER_SECOND,
    LOGMEL_FORMAT,
    MEL_BANDS,
    WINDOW_SECONDS,
    Bytes,
    Floats,
    first_sample,
    frames_from,
    frames_within,
    kernel,
)
from earwitness.audio.read import Break, Chunk, ignore, read_blocks
from earwitness.core import Progress, no_progress
from earwitness.models.cache import Cache, find_cache, open_sealed, write_sealed
from earwitness.recordings.cut import FilePiece, read_pieces
from earwitness.recordings.types import Recording

# --- Frames of a stream --------------------------------------------------------------------------
# Every frame stands at its own place in the file, whatever the chunks; those in a hole are absent.


def framed(chunks: Iterable[Chunk], rate: int, first: int = 0) -> Generator[Bytes, None, None]:
    """Frames from ``first`` on, in order and without a gap, a few seconds of them at a time."""
    held = PendingSamples(rate, first)
    for chunk in chunks:
        yield from held.take(round(chunk.position * rate), chunk.samples)
    yield held.finished()


class PendingSamples:
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
        return np.full((max(0, count), MEL_BANDS), ABSENT_BYTE, np.uint8)


# --- Frames of a file ----------------------------------------------------------------------------
# A file of 24 hours has 173 MB of frames; they are looked at where they lie. Whoever is interrupted
# finds the hours that were done. Sparse frames are those of 2 s in the middle of each 8 s; all
# others count as absent, like those of sound that cannot be read.


SHARD_FRAMES = 3600 * FRAMES_PER_SECOND
# sparse frames keep the middle of each period
SPARSE_PERIOD_SECONDS, SPARSE_KEPT_SECONDS = 8.0, 2.0
SecondsCallback = Callable[[float], None]


class StreamReader(Protocol):
    """Reads a file from a position on, in order; what it must pass over it tells to ``broken``."""

    def __call__(
        self,
        path: Path,
        /,
        *,
        at: float = 0.0,
        seconds: float | None = None,
        broken: Callable[[Break], object] = ignore,
    ) -> Iterable[Chunk]: ...


class PieceReader(Protocol):
    """Reads pieces of a file one after another, up to the first that begins behind its end."""

    def __call__(
        self,
        path: Path,
        pieces: Iterator[FilePiece],
        /,
        *,
        broken: Callable[[Break], object] = ignore,
    ) -> Iterable[Chunk]: ...


class FrameSource(NamedTuple):
    """A file: where, its rate, and who reads it."""

    path: Path
    rate: int
    read: StreamReader = read_blocks
    pieces: PieceReader = read_pieces


@dataclass(frozen=True, slots=True)
class FrameFile:
    """All frames of a file, in shards of an hour, and what of it could not be read."""

    shards: tuple[Bytes, ...]
    breaks: tuple[Break, ...] = ()

    def __len__(self) -> int:
        return sum(len(shard) for shard in self.shards)

    def rows(self, first: int, last: int) -> Bytes:
        """Frames from ``first`` up to ``last``; absent ones before the begin and after the end."""
        found = np.full((last - first, MEL_BANDS), ABSENT_BYTE, np.uint8)
        for number in range(
            max(0, first // SHARD_FRAMES), min(len(self.shards), -(-last // SHARD_FRAMES))
        ):
            begin = number * SHARD_FRAMES
            part = self.shards[number][max(0, first - begin) : max(0, last - begin)]
            at = max(first, begin) - first
            found[at : at + len(part)] = part
        return found

    def present(self, first: int, last: int) -> NDArray[np.bool_]:
        """Which frames from ``first`` up to ``last`` are there."""
        step = 60 * FRAMES_PER_SECOND
        parts = [self.rows(at, min(last, at + step))[:, 0] for at in range(first, last, step)]
        return np.asarray(np.concatenate([np.zeros(0, np.uint8), *parts]) != ABSENT_BYTE)


def frame_file(
    source: FrameSource,
    cache: Cache,
    *,
    sparse: bool = False,
    told: SecondsCallback = lambda _: None,
) -> FrameFile:
    """Frames of a file: those that are kept, and the rest made; ``told`` of seconds read."""
    form = f"{LOGMEL_FORMAT.replace('/', '-')}{'-sparse' * sparse}"
    folder = cache.folder / "frames" / f"{form}-{sound_digest(source.path, cache)}"
    shards: list[Bytes] = []
    breaks: list[Break] = []
    while True:
        found = open_sealed(_place(folder, len(shards)))
        if found is None:
            _make(source, folder, len(shards), sparse, told)
            continue
        shards.append(found.arrays[0])
        breaks += [Break(str(source.path), *one) for one in found.facts["breaks"]]
        told(len(shards) * SHARD_FRAMES / FRAMES_PER_SECOND)
        if found.facts["last"]:
            return FrameFile(tuple(shards), tuple(breaks))


def sound_digest(path: Path, cache: Cache) -> str:
    """A name for the samples of a file: what decodes it, and its content."""
    content = cache.digest(path)
    return f"{decoder_name(path)}-{content}"


def _place(folder: Path, number: int) -> Path:
    return folder / f"{number:05}.sealed"


def _make(
    source: FrameSource, folder: Path, number: int, sparse: bool, told: SecondsCallback
) -> None:
    """Shards from a number on, up to one that is there."""
    begin = number * SHARD_FRAMES / FRAMES_PER_SECOND
    breaks: list[Break] = []
    stream = _frames(source, number * SHARD_FRAMES, sparse, breaks)
    for shard, last in _shards(stream, lambda frames: told(begin + frames / FRAMES_PER_SECOND)):
        number += 1
        own = [one for one in breaks if last or one.at < number * SHARD_FRAMES / FRAMES_PER_SECOND]
        del breaks[: len(own)]  # in one step: the reader's thread may add to it
        facts = {"last": last, "breaks": [one[1:] for one in own]}
        write_sealed(_place(folder, number - 1), facts, [shard])
        if not last and open_sealed(_place(folder, number)) is not None:
            break
    stream.close()


def _shards(stream: Iterator[Bytes], told: SecondsCallback) -> Iterator[tuple[Bytes, bool]]:
    """Frames by the hour, and whether it is the last."""
    held: list[Bytes] = []
    count = done = 0
    for frames in stream:
        while count + len(frames) > SHARD_FRAMES:
            room = SHARD_FRAMES - count
            yield np.concatenate([*held, frames[:room]]), False
            held, count, frames = [], 0, frames[room:]
        held.append(frames)
        count += len(frames)
        done += len(frames)
        told(done)
    yield np.concatenate([np.zeros((0, MEL_BANDS), np.uint8), *held]), True


def _frames(
    source: FrameSource, first: int, sparse: bool, breaks: list[Break]
) -> Generator[Bytes, None, None]:
    """Frames of a file from one on; breaks come to the list in their order."""
    at, path = first / FRAMES_PER_SECOND, source.path
    if sparse:
        chunks = source.pieces(path, _middles(at), broken=breaks.append)
    else:
        chunks = source.read(path, at=at, broken=breaks.append)
    return framed(chunks, source.rate, first)


def _middles(at: float) -> Iterator[FilePiece]:
    """Where the sound of sparse frames lies, from a position on, without an end."""
    number = round(at / SPARSE_PERIOD_SECONDS)
    while True:
        yield FilePiece(
            number * SPARSE_PERIOD_SECONDS + (SPARSE_PERIOD_SECONDS - SPARSE_KEPT_SECONDS) / 2,
            SPARSE_KEPT_SECONDS + WINDOW_SECONDS - 1 / FRAMES_PER_SECOND,
        )
        number += 1


# --- Frames of a recording -----------------------------------------------------------------------


def frame_files(
    recording: Recording,
    *,
    cache: Cache | None = None,
    sparse: bool = False,
    read: StreamReader = read_blocks,
    progress: Progress = no_progress,
) -> dict[str, FrameFile]:
    """Frames of every file of a recording, by its path; progress is in bytes, and in files."""
    cache = cache or find_cache()
    ends: dict[str, float] = {}
    for stretch in recording.stretches:
        ends[stretch.path] = max(ends.get(stretch.path, 0.0), stretch.at + stretch.seconds)
    sizes = {path: Path(path).stat().st_size for path in ends}
    found: dict[str, FrameFile] = {}
    for path, end in ends.items():
        before = sum(sizes[other] for other in found)
        told = _teller(progress, before, sizes[path], sum(sizes.values()), len(found), end)
        source = FrameSource(Path(path), recording.rate, read)
        found[path] = frame_file(source, cache, sparse=sparse, told=told)
    return found


def _teller(
    progress: Progress, before: int, size: int, total: int, files: int, end: float
) -> Callable[[float], None]:
    """Seconds of a file as bytes of all."""

    def told(seconds: float) -> None:
        share = min(1.0, seconds / end) if end else 1.0
        progress(before + int(share * size), total, files)

    return told


# --- Spectrogram columns -------------------------------------------------------------------------
# A column has of every band the loudest frame and the mean of all, so that a sound of a tenth of a
# second stays visible in a picture of a day. Columns in which nothing was recorded are absent.


COLUMN_PORTION_FRAMES = 600 * FRAMES_PER_SECOND


class SpectrogramColumns(NamedTuple):
    """Band × column, in bytes as frames are; 255 where there is none."""

    loudest: Bytes
    mean: Bytes


def columns_of(
    recording: Recording, files: Mapping[str, FrameFile], count: int
) -> SpectrogramColumns:
    """So many columns over all of the clock of a recording."""
    most = np.zeros((count, MEL_BANDS), np.uint8)
    sums, counts = np.zeros((count, MEL_BANDS)), np.zeros(count, np.int64)
    for rows, times in _there(recording, files):
        places = np.minimum(count - 1, times * count / recording.seconds).astype(np.intp)
        own, starts = np.unique(places, return_index=True)
        most[own] = np.maximum(most[own], np.maximum.reduceat(rows, starts, axis=0))
        sums[own] += np.add.reduceat(rows, starts, axis=0, dtype=np.float64)
        counts += np.bincount(places, minlength=count)
    mean = np.rint(sums / np.maximum(1, counts)[:, None]).astype(np.uint8)
    most[counts == 0] = mean[counts == 0] = ABSENT_BYTE
    return SpectrogramColumns(most.T, mean.T)


def _there(
    recording: Recording, files: Mapping[str, FrameFile]
) -> Iterator[tuple[Bytes, NDArray[np.float64]]]:
    """Frames that are there and their times on the clock, some at a time."""
    for stretch in recording.stretches:
        first = round(stretch.at * FRAMES_PER_SECOND)
        last = round((stretch.at + stretch.seconds) * FRAMES_PER_SECOND)
        for begin in range(first, last, COLUMN_PORTION_FRAMES):
            rows = files[stretch.path].rows(begin, min(last, begin + COLUMN_PORTION_FRAMES))
            times = (
                stretch.start
                + np.arange(begin - first, begin - first + len(rows)) / FRAMES_PER_SECOND
            )
            there = rows[:, 0] != ABSENT_BYTE
            if there.any():
                yield rows[there], times[there]
