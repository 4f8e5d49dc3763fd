"""Log-mel frames of whole files on disk, and spectrograms made of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import decoder_name, seeks_directly
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
    make_kernel,
)
from earwitness.audio.read import Break, Chunk, ignore_break, read_blocks
from earwitness.core import Map, Progress, no_progress
from earwitness.errors import EarwitnessError
from earwitness.models.cache import (
    Cache,
    CacheHold,
    StoredRows,
    find_cache,
    mark_used,
    open_sealed,
    open_stored_rows,
    write_sealed,
)
from earwitness.recordings.cut import FilePiece, read_pieces
from earwitness.recordings.types import Recording, Stretch

# --- Frames of a stream --------------------------------------------------------------------------
# Every frame keeps its position in the file, whatever the chunks; frames in a hole are absent.


def iterate_frames(
    chunks: Iterable[Chunk], rate: int, first: int = 0
) -> Generator[Bytes, None, None]:
    """Yield consecutive frames from ``first``, a few seconds at a time."""
    pending = PendingSamples(rate, first)
    for chunk in chunks:
        yield from pending.take(round(chunk.position * rate), chunk.samples)
    yield pending.finish()


class PendingSamples:
    """Samples that wait for the following ones, and the next frame."""

    def __init__(self, rate: int, first: int) -> None:
        self.rate = rate
        self.next = first
        self.samples = np.zeros(0, np.float32)

    @property
    def begin(self) -> int:
        """Position of the first pending sample: the start of the next frame."""
        return first_sample(self.next, self.rate)

    def take(self, at: int, samples: Floats) -> Iterator[Bytes]:
        """Add samples at a position in the file; samples that were added before are skipped."""
        if at > self.begin + len(self.samples):
            yield self.finish()
            skipped = max(0, frames_within(at - 1, self.rate) + 1 - self.next)
            self.next += skipped
            yield np.full((skipped, MEL_BANDS), ABSENT_BYTE, np.uint8)
        end = self.begin + len(self.samples)
        self.samples = np.concatenate([self.samples, samples[max(0, end - at) :]])
        last_complete = self.begin + len(self.samples) - make_kernel(self.rate).reach
        yield self._take_frames(frames_within(last_complete, self.rate) + 1)

    def finish(self) -> Bytes:
        """Return the frames of the pending samples, at the end of the file."""
        frames = self._take_frames(frames_within(self.begin + len(self.samples), self.rate))
        self.samples = self.samples[:0]
        return frames

    def _take_frames(self, last: int) -> Bytes:
        count, begin = max(0, last - self.next), self.begin
        frames = frames_from(self.samples, self.rate, self.next, count)
        self.next += count
        self.samples = self.samples[self.begin - begin :]
        return frames


# --- Frames of a file ----------------------------------------------------------------------------
# A file of 24 hours has 173 MB of frames, which are memory-mapped while they are used. After an
# interruption, finished hours are reused. Sparse frames are those of 2 s in the middle of each 8 s;
# all others are absent, like those of audio that cannot be read.


SHARD_FRAMES = 3600 * FRAMES_PER_SECOND
# sparse frames are those in the middle of each period
SPARSE_PERIOD_SECONDS, SPARSE_KEPT_SECONDS = 8.0, 2.0
SecondsCallback = Callable[[float], None]
RowsCallback = Callable[[Bytes], None]


class StreamReader(Protocol):
    """Reads a file from a position, in order; reports skipped passages to ``broken``."""

    def __call__(
        self,
        path: Path,
        /,
        *,
        at: float = 0.0,
        seconds: float | None = None,
        broken: Callable[[Break], object] = ignore_break,
    ) -> Iterable[Chunk]: ...


class PieceReader(Protocol):
    """Reads pieces of a file in order, up to the first that starts after its end."""

    def __call__(
        self,
        path: Path,
        pieces: Iterator[FilePiece],
        /,
        *,
        broken: Callable[[Break], object] = ignore_break,
    ) -> Iterable[Chunk]: ...


class FrameSource(NamedTuple):
    """A file: path, sample rate, and readers."""

    path: Path
    rate: int
    read: StreamReader = read_blocks
    pieces: PieceReader = read_pieces


@dataclass(frozen=True, slots=True)
class FrameFile:
    """All frames of a file, in shards of an hour, and its unreadable passages.

    While it exists, ``hold`` keeps the shards in the cache.
    """

    shards: tuple[Bytes | StoredRows, ...]
    breaks: tuple[Break, ...] = ()
    hold: CacheHold | None = field(default=None, compare=False, repr=False)

    def __len__(self) -> int:
        return sum(len(shard) for shard in self.shards)

    def rows(self, first: int, last: int) -> Bytes:
        """Return frames from ``first`` up to ``last``; absent outside the file."""
        frames = np.full((last - first, MEL_BANDS), ABSENT_BYTE, np.uint8)
        low, high = max(0, first // SHARD_FRAMES), min(len(self.shards), -(-last // SHARD_FRAMES))
        for number in range(low, high):
            begin = number * SHARD_FRAMES
            part = self.shards[number][max(0, first - begin) : max(0, last - begin)]
            offset = max(first, begin) - first
            frames[offset : offset + len(part)] = part
        return frames

    def present(self, first: int, last: int) -> NDArray[np.bool_]:
        """Return which frames from ``first`` up to ``last`` are present."""
        step = 60 * FRAMES_PER_SECOND
        parts = [self.rows(at, min(last, at + step))[:, 0] for at in range(first, last, step)]
        return np.asarray(np.concatenate([np.zeros(0, np.uint8), *parts]) != ABSENT_BYTE)


def load_frame_file(
    source: FrameSource,
    cache: Cache,
    *,
    sparse: bool = False,
    on_seconds: SecondsCallback = lambda _: None,
    hold: CacheHold | None = None,
) -> FrameFile:
    """Return the frames of a file, from the cache as far as possible.

    ``on_seconds`` is called with the number of seconds read. Frames of several files may share
    a ``hold``.
    """
    hold = hold or CacheHold(cache)
    hold.add(shard_folder(source.path, cache, sparse=sparse))
    shards = list(iterate_shards(source, cache, sparse=sparse, on_seconds=on_seconds))
    breaks = tuple(gap for shard in shards for gap in shard.breaks)
    return FrameFile(tuple(shard.rows for shard in shards), breaks, hold)


class FrameShard(NamedTuple):
    """The frames of an hour of a file, and the unreadable passages in it."""

    rows: StoredRows
    breaks: tuple[Break, ...]


def iterate_shards(
    source: FrameSource,
    cache: Cache,
    *,
    sparse: bool = False,
    on_seconds: SecondsCallback = lambda _: None,
    on_rows: RowsCallback = lambda _: None,
) -> Iterator[FrameShard]:
    """Yield the hours of a file in order, from the cache as far as possible.

    ``on_rows`` is called with the frames so far of an hour that is being read, which do not change.
    """
    folder = shard_folder(source.path, cache, sparse=sparse)
    mark_used(folder)
    number = 0
    writing: Iterator[int] = iter(())
    while True:
        stored = open_stored_rows(_shard_path(folder, number))
        if stored is None:
            if next(writing, None) is None:
                writing = _write_shards(source, folder, number, sparse, on_seconds, on_rows=on_rows)
                next(writing)
            continue
        facts, rows = stored
        yield FrameShard(rows, tuple(Break(str(source.path), *fact) for fact in facts["breaks"]))
        number += 1
        on_seconds(number * SHARD_FRAMES / FRAMES_PER_SECOND)
        if facts["last"]:
            return


def sound_digest(path: Path, cache: Cache) -> str:
    """Return a hash of the samples of a file: its decoder and its content."""
    content = cache.digest(path)
    return f"{decoder_name(path)}-{content}"


def shard_folder(path: Path, cache: Cache, *, sparse: bool = False) -> Path:
    """Return the folder of the frames of a file in the cache."""
    form = f"{LOGMEL_FORMAT.replace('/', '-')}{'-sparse' if sparse else ''}"
    return cache.folder / "frames" / f"{form}-{sound_digest(path, cache)}"


def _shard_path(folder: Path, number: int) -> Path:
    return folder / f"{number:05}.sealed"


def _write_shards(
    source: FrameSource,
    folder: Path,
    number: int,
    sparse: bool,
    on_seconds: SecondsCallback,
    end_number: int | None = None,
    on_rows: RowsCallback = lambda _: None,
) -> Iterator[int]:
    """Write shards from a number up to the next existing one, or to ``end_number``.

    Yields, after each shard, the number of shards before the next one to write.
    """
    begin = number * SHARD_FRAMES / FRAMES_PER_SECOND
    breaks = list[Break]()
    with closing(_stream_frames(source, number * SHARD_FRAMES, sparse, breaks)) as stream:
        for shard, last in _split_into_shards(
            stream, lambda frames: on_seconds(begin + frames / FRAMES_PER_SECOND), on_rows
        ):
            number += 1
            end = number * SHARD_FRAMES / FRAMES_PER_SECOND
            shard_breaks = [gap for gap in breaks if last or gap.at < end]
            del breaks[: len(shard_breaks)]  # atomic, since the reader's thread may append
            facts = {"last": last, "breaks": [gap[1:] for gap in shard_breaks]}
            write_sealed(_shard_path(folder, number - 1), facts, [shard])
            yield number
            if number == end_number:
                return
            if not last and open_sealed(_shard_path(folder, number)) is not None:
                return


def _split_into_shards(
    stream: Iterator[Bytes], on_frames: SecondsCallback, on_rows: RowsCallback
) -> Iterator[tuple[Bytes, bool]]:
    """Yield the frames of each hour, and whether it is the last."""
    shard = np.empty((SHARD_FRAMES, MEL_BANDS), np.uint8)
    count = done = 0
    for frames in stream:
        while count + len(frames) > SHARD_FRAMES:
            room = SHARD_FRAMES - count
            shard[count:] = frames[:room]
            yield shard, False
            shard, count, frames = np.empty_like(shard), 0, frames[room:]
        shard[count : count + len(frames)] = frames
        count += len(frames)
        done += len(frames)
        on_frames(done)
        on_rows(shard[:count])
    yield shard[:count], True


def _stream_frames(
    source: FrameSource, first: int, sparse: bool, breaks: list[Break]
) -> Generator[Bytes, None, None]:
    """Yield frames of a file from a frame onwards; breaks are appended to the list in order."""
    at, path = first / FRAMES_PER_SECOND, source.path
    if sparse:
        chunks = source.pieces(path, _iterate_sparse_pieces(at), broken=breaks.append)
    else:
        chunks = source.read(path, at=at, broken=breaks.append)
    return iterate_frames(chunks, source.rate, first)


def _iterate_sparse_pieces(at: float) -> Iterator[FilePiece]:
    """Yield, without end, the positions of the audio of sparse frames."""
    number = round(at / SPARSE_PERIOD_SECONDS)
    while True:
        yield FilePiece(
            number * SPARSE_PERIOD_SECONDS + (SPARSE_PERIOD_SECONDS - SPARSE_KEPT_SECONDS) / 2,
            SPARSE_KEPT_SECONDS + WINDOW_SECONDS - 1 / FRAMES_PER_SECOND,
        )
        number += 1


# --- Frames of a recording -----------------------------------------------------------------------


def load_frame_files(
    recording: Recording,
    *,
    cache: Cache | None = None,
    sparse: bool = False,
    read: StreamReader = read_blocks,
    progress: Progress = no_progress,
) -> dict[str, FrameFile]:
    """Return the frames of every file of a recording, by path; progress is in bytes and files."""
    cache = cache or find_cache()
    ends = _file_ends(recording)
    sizes = {path: Path(path).stat().st_size for path in ends}
    files = dict[str, FrameFile]()
    hold = CacheHold(cache)
    bytes_before, total = 0, sum(sizes.values())

    def report(seconds: float) -> None:
        share = min(1.0, seconds / ends[path]) if ends[path] else 1.0
        progress(bytes_before + int(share * sizes[path]), total, len(files))

    for path in ends:
        source = FrameSource(Path(path), recording.rate, read)
        files[path] = load_frame_file(source, cache, sparse=sparse, on_seconds=report, hold=hold)
        bytes_before += sizes[path]
    return files


def _file_ends(recording: Recording) -> dict[str, float]:
    """Return how far every file of a recording is used, in seconds."""
    ends = dict[str, float]()
    for stretch in recording.stretches:
        ends[stretch.path] = max(ends.get(stretch.path, 0.0), stretch.at + stretch.seconds)
    return ends


@dataclass(frozen=True)
class RecordingFrames:
    """Log-mel frames of a recording, by their time on its clock."""

    recording: Recording
    files: Mapping[str, FrameFile]

    def __len__(self) -> int:
        return round(self.recording.seconds * FRAMES_PER_SECOND)

    @cached_property
    def _starts(self) -> list[float]:
        return [stretch.start * FRAMES_PER_SECOND for stretch in self.recording.stretches]

    def rows(self, first: int, last: int) -> Bytes:
        """Return frames from ``first`` up to ``last``; absent where nothing was recorded."""
        rows = np.full((last - first, MEL_BANDS), ABSENT_BYTE, np.uint8)
        stretches = self.recording.stretches
        for number in range(max(0, bisect_right(self._starts, first) - 1), len(stretches)):
            stretch = stretches[number]
            begin = round(self._starts[number])
            end = begin + round(stretch.seconds * FRAMES_PER_SECOND)
            if begin >= last:
                break
            low, high = max(first, begin), min(last, end)
            if low < high:
                in_file = round(stretch.at * FRAMES_PER_SECOND) - begin
                rows[low - first : high - first] = self.files[stretch.path].rows(
                    low + in_file, high + in_file
                )
        return rows


# --- Frames of many files in worker processes ----------------------------------------------------
# Workers write shards into the cache, and return only how much they read. Long files are divided,
# so that workers share them.


SHARDS_PER_TASK = 6


class ShardTask(NamedTuple):
    """Shards of a file that one worker writes: from ``first`` up to ``end``."""

    source: FrameSource
    first: int
    end: int
    seconds: float


@dataclass(frozen=True, slots=True)
class ShardWriter:
    """Writes the missing shards of a task into the cache; sent to workers."""

    cache: Cache
    sparse: bool = False

    def __call__(self, task: ShardTask) -> float:
        """Return the seconds of audio of the task; whoever loads the frames raises its errors."""
        with suppress(EarwitnessError):
            self._write(task)
        return task.seconds

    def is_finished(self, task: ShardTask) -> bool:
        """Whether all shards of a task are in the cache."""
        with suppress(EarwitnessError):
            folder = shard_folder(task.source.path, self.cache, sparse=self.sparse)
            shards = range(task.first, task.end)
            return all(_shard_path(folder, number).is_file() for number in shards)
        return False  # whoever loads the frames raises the error

    def _write(self, task: ShardTask) -> None:
        folder = shard_folder(task.source.path, self.cache, sparse=self.sparse)
        number = task.first
        while number < task.end:
            if open_sealed(_shard_path(folder, number)) is not None:
                number += 1
                continue
            for written in _write_shards(
                task.source, folder, number, self.sparse, lambda _: None, task.end
            ):
                number = written
            if number < task.end and open_sealed(_shard_path(folder, number)) is None:
                return  # the file ends earlier than its header says


def prepare_frames(
    recordings: Iterable[Recording],
    map_: Map,
    *,
    cache: Cache,
    sparse: bool = False,
    progress: Callable[[float], object] = lambda _: None,
) -> None:
    """Write the frames of all files of recordings into the cache, distributed by ``map_``.

    ``progress`` is called with the seconds of audio read so far. Files that cannot be read are
    left to ``load_frame_files``, which raises their errors.
    """
    ends = dict[str, float]()
    rates = dict[str, int]()
    for recording in recordings:
        for path, end in _file_ends(recording).items():
            ends[path], rates[path] = max(ends.get(path, 0.0), end), recording.rate
    writer = ShardWriter(cache, sparse)
    done = 0.0
    with CacheHold(cache) as hold:

        def list_tasks() -> Iterator[ShardTask]:
            for path, end in ends.items():
                with suppress(EarwitnessError):  # whoever loads the frames raises the error
                    hold.add(shard_folder(Path(path), cache, sparse=sparse))
                for task in _split_file(FrameSource(Path(path), rates[path]), end):
                    if not writer.is_finished(task):
                        yield task

        for seconds in map_(writer, list_tasks()):
            done += seconds
            progress(done)


def _split_file(source: FrameSource, end: float) -> Iterator[ShardTask]:
    """Yield the tasks of a file; a file that must be read from its start is one task."""
    count = max(1, -(-round(end * FRAMES_PER_SECOND) // SHARD_FRAMES))
    is_divided = count > SHARDS_PER_TASK and seeks_directly(source.path)
    step = SHARDS_PER_TASK if is_divided else count
    hour = SHARD_FRAMES / FRAMES_PER_SECOND
    for first in range(0, count, step):
        last = min(count, first + step)
        yield ShardTask(source, first, last, min(end, last * hour) - first * hour)


# --- Spectrogram columns -------------------------------------------------------------------------
# A column has the maximum and the mean of its frames per band, so that a sound of a tenth of a
# second stays visible in a picture of a day. Columns in which nothing was recorded are absent.


PORTION_FRAMES = 600 * FRAMES_PER_SECOND


class SpectrogramColumns(NamedTuple):
    """Band × column, in bytes as in frames; 255 is absent."""

    loudest: Bytes
    mean: Bytes


def make_spectrogram_columns(
    recording: Recording, files: Mapping[str, FrameFile], count: int
) -> SpectrogramColumns:
    """Return ``count`` columns over the whole clock of a recording."""
    loudest = np.zeros((count, MEL_BANDS), np.uint8)
    sums, counts = np.zeros((count, MEL_BANDS)), np.zeros(count, np.int64)
    for rows, times in _iterate_present_frames(recording, files):
        places = np.minimum(count - 1, times * count / recording.seconds).astype(np.intp)
        touched, starts = np.unique(places, return_index=True)
        loudest[touched] = np.maximum(loudest[touched], np.maximum.reduceat(rows, starts, axis=0))
        sums[touched] += np.add.reduceat(rows, starts, axis=0, dtype=np.float64)
        counts += np.bincount(places, minlength=count)
    mean = np.rint(sums / np.maximum(1, counts)[:, None]).astype(np.uint8)
    loudest[counts == 0] = mean[counts == 0] = ABSENT_BYTE
    return SpectrogramColumns(loudest.T, mean.T)


def iterate_portions(
    stretch: Stretch, files: Mapping[str, FrameFile]
) -> Iterator[tuple[int, Bytes]]:
    """Yield the frames of a stretch in portions, each with the number of its first in the file."""
    first = round(stretch.at * FRAMES_PER_SECOND)
    last = round((stretch.at + stretch.seconds) * FRAMES_PER_SECOND)
    for begin in range(first, last, PORTION_FRAMES):
        yield begin, files[stretch.path].rows(begin, min(last, begin + PORTION_FRAMES))


def _iterate_present_frames(
    recording: Recording, files: Mapping[str, FrameFile]
) -> Iterator[tuple[Bytes, NDArray[np.float64]]]:
    """Yield present frames with their times on the clock, in portions."""
    for stretch in recording.stretches:
        first = round(stretch.at * FRAMES_PER_SECOND)
        for begin, rows in iterate_portions(stretch, files):
            offsets = np.arange(begin - first, begin - first + len(rows))
            times = stretch.start + offsets / FRAMES_PER_SECOND
            is_present = rows[:, 0] != ABSENT_BYTE
            if is_present.any():
                yield rows[is_present], times[is_present]
