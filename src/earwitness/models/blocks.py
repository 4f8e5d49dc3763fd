"""Blocks of a recording as vectors and sound classes, cached on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import FRAMES_PER_SECOND, LOGMEL_FORMAT, levels
from earwitness.audio.read import Chunk, read_blocks
from earwitness.audio.signal import resampled
from earwitness.core import Progress, no_progress
from earwitness.errors import UsageError
from earwitness.models.base import BlockEmbeddings, BlockPlace, FrameBlocks, grid
from earwitness.models.cache import (
    Cache,
    SealedFile,
    digest_of,
    find_cache,
    open_sealed,
    write_sealed,
)
from earwitness.models.codebook import CLASS_NAME_PREFIX, PATCH_FRAMES, Codebook, few
from earwitness.models.embedders import Embedder, SoundEmbedder
from earwitness.models.frames import (
    SPARSE_KEPT_SECONDS,
    FrameFile,
    FrameSource,
    StreamReader,
    frame_files,
    sound_digest,
)
from earwitness.recordings.cut import FilePiece
from earwitness.recordings.hour_marks import HourMarks, Silence, without_hours, without_marks
from earwitness.recordings.recording import mended
from earwitness.recordings.types import Damage, Recording, Stretch

# --- Progress of reading and embedding -----------------------------------------------------------


# of an embedder through all frames; who needs one more is told to be done before
EMBEDDER_PASSES = 3


def share(progress: Progress, before: int, own: int, rounds: int) -> Progress:
    """Some rounds of several that are equally long, told as so much of all of them."""

    def told(done: int, total: int | None, cases: int) -> None:
        every = None if total is None else rounds * total
        progress(own * done + before * (total or 0), every, cases)

    return told


@dataclass
class EmbedderProgress:
    """Tells how far an embedder is that goes through the frames of all blocks a few times."""

    blocks: int
    progress: Progress
    done: int = 0

    def __call__(self, blocks: int) -> None:
        whole = EMBEDDER_PASSES * self.blocks
        self.done = min(whole, self.done + blocks)
        self.progress(self.done, whole, self.blocks)


# --- Hour marks found by frames ------------------------------------------------------------------
# Frames are 20 ms apart, and 24 marks an hour apart would move the clock by half a second. So
# frames only say where to look; there the sound itself is read.


MARK_MARGIN_SECONDS = 1.0  # seconds of sound around a silence that are read
MARK_PORTION_FRAMES = 600 * FRAMES_PER_SECOND


def without_hour_gaps(
    recording: Recording,
    files: Mapping[str, FrameFile],
    gap: float,
    read: StreamReader = read_blocks,
) -> Recording:
    """The recording without silences of such a length that mark hours; a note if there are none."""
    rough, exact = HourMarks(gap), HourMarks(gap)
    for stretch in recording.stretches:
        for first, last in _portions(stretch):
            peaks = 10 ** (levels(files[stretch.path].rows(first, last)) / 20)
            start = stretch.start + first / FRAMES_PER_SECOND - stretch.at
            rough.feed_levels(start, peaks, 1 / FRAMES_PER_SECOND)
    for mark in rough.found():
        for stretch in recording.stretches:
            _feed(exact, stretch, mark, recording.rate, read)
    return without_marks(recording, exact.found(), gap=gap)


def _portions(stretch: Stretch) -> Iterator[tuple[int, int]]:
    first = round(stretch.at * FRAMES_PER_SECOND)
    last = round((stretch.at + stretch.seconds) * FRAMES_PER_SECOND)
    for begin in range(first, last, MARK_PORTION_FRAMES):
        yield begin, min(last, begin + MARK_PORTION_FRAMES)


def _feed(marks: HourMarks, stretch: Stretch, mark: Silence, rate: int, read: StreamReader) -> None:
    """Sound of a stretch around a silence, if it has any of it."""
    low, high = (
        max(stretch.start, mark.start - MARK_MARGIN_SECONDS),
        min(stretch.end, mark.end + MARK_MARGIN_SECONDS),
    )
    if low >= high:
        return
    at = stretch.at + low - stretch.start
    for chunk in read(Path(stretch.path), at=at, seconds=high - low):
        marks.feed(stretch.start + chunk.position - stretch.at, chunk.samples, rate)


# --- Blocks as sound -----------------------------------------------------------------------------
# Some embedders want sound, at their own rate, a few blocks at a time. What they say is kept by the
# hour of blocks, so that whoever is interrupted goes on where they were.


Floats = NDArray[np.float32]
BLOCKS_PER_BATCH = 16  # blocks that an embedder gets at a time
BLOCKS_PER_CACHE_FILE = 450  # blocks that are kept together
SOUND_BLOCKS_VERSION = 1


class BlockCut(NamedTuple):
    """How blocks are cut: seconds of each, and whether only the middle is wanted."""

    block: float
    sparse: bool


def embed_sounds(
    places: Sequence[BlockPlace],
    embedder: SoundEmbedder,
    cut: BlockCut,
    source_of: Callable[[str], FrameSource],
    cache: Cache,
    told: Callable[[int], None] = lambda _: None,
) -> BlockEmbeddings:
    """A row a block; ``told`` of blocks that are done."""
    done: list[BlockEmbeddings] = []
    for run in runs(places, cut.block):
        made = [cut, run[0].at, len(run), embedder.signature, SOUND_BLOCKS_VERSION]
        content = sound_digest(Path(run[0].path), cache)
        key = digest_of(content + msgspec.json.encode(made).decode())
        done.append(_hour(run, embedder, cut, source_of, cache.folder / "sounds" / key))
        told(sum(len(one.vectors) for one in done))
    return joined(done)


def runs(places: Sequence[BlockPlace], block: float) -> Iterator[Sequence[BlockPlace]]:
    """Blocks that follow each other in a file, at most an hour of them."""
    first = 0
    for number, place in enumerate(places):
        before = places[max(first, number - 1)]
        follows = place.path == before.path and abs(place.at - before.at - block) < 1e-6
        if number > first and (not follows or number - first == BLOCKS_PER_CACHE_FILE):
            yield places[first:number]
            first = number
    if places:
        yield places[first:]


def _hour(
    run: Sequence[BlockPlace],
    embedder: SoundEmbedder,
    cut: BlockCut,
    source_of: Callable[[str], FrameSource],
    place: Path,
) -> BlockEmbeddings:
    kept = open_sealed(place.with_suffix(".sealed"))
    if kept is None:
        sounds = _sounds(run, cut, source_of(run[0].path), embedder.rate)
        made = joined([embedder.embed(np.stack(some)) for some in _together(sounds)])
        arrays = [made.vectors] if made.classes is None else [made.vectors, made.classes]
        write_sealed(place.with_suffix(".sealed"), {"class_names": made.class_names}, arrays)
        return made
    classes = kept.arrays[1] if len(kept.arrays) > 1 else None
    return BlockEmbeddings(kept.arrays[0], classes, tuple(kept.facts["class_names"]))


def joined(parts: Sequence[BlockEmbeddings]) -> BlockEmbeddings:
    """Rows of several, one behind the other."""
    if not parts:
        return BlockEmbeddings(np.zeros((0, 0), np.float32))
    vectors = np.concatenate([part.vectors for part in parts])
    classes = [part.classes for part in parts if part.classes is not None]
    return BlockEmbeddings(
        vectors, np.concatenate(classes) if classes else None, parts[0].class_names
    )


def _together(sounds: Iterable[Floats]) -> Iterator[list[Floats]]:
    some: list[Floats] = []
    for sound in sounds:
        some.append(sound)
        if len(some) == BLOCKS_PER_BATCH:
            yield some
            some = []
    if some:
        yield some


def _sounds(
    run: Sequence[BlockPlace], cut: BlockCut, source: FrameSource, rate: int
) -> Iterator[Floats]:
    """Samples of every block of a run, at a rate."""
    lasts = min(SPARSE_KEPT_SECONDS, cut.block) if cut.sparse else cut.block
    skipped = (cut.block - lasts) / 2
    size = round(lasts * source.rate)
    if cut.sparse:
        pieces = iter([FilePiece(place.at + skipped, lasts) for place in run])
        chunks = source.pieces(source.path, pieces)
    else:
        chunks = source.read(source.path, at=run[0].at, seconds=len(run) * cut.block)
    begins = [round((place.at + skipped) * source.rate) for place in run]
    for sound in filled(chunks, begins, size, source.rate):
        yield resampled(sound, source.rate, rate)


def filled(
    chunks: Iterable[Chunk], begins: Sequence[int], size: int, rate: int
) -> Iterator[Floats]:
    """So many samples from each begin on, in order; 0 where nothing came."""
    waiting, sound = deque(begins), np.zeros(size, np.float32)
    for chunk in chunks:
        at = round(chunk.position * rate)
        end = at + len(chunk.samples)
        while waiting and waiting[0] < end:
            begin = waiting[0]
            low, high = max(at, begin), min(end, begin + size)
            if low < high:
                sound[low - begin : high - begin] = chunk.samples[low - at : high - at]
            if end < begin + size:
                break
            yield sound
            waiting.popleft()
            sound = np.zeros(size, np.float32)
    for _ in waiting:
        yield sound
        sound = np.zeros(size, np.float32)


# --- Blocks of a recording -----------------------------------------------------------------------
# Frames come first, then what an embedder makes of them. The blocks are kept in the cache under all
# that made them, so that another skim of the same recording reads no sound.


BLOCKS_VERSION = 2  # of what is kept
READING_TIME_RATIO = 3  # how much longer frames take to be read than to be embedded, about


@dataclass(frozen=True, slots=True)
class RecordingBlocks:
    """When blocks start, how long each is, a row each of a vector and of classes from 0 to 1.

    Arrays that come from the cache can only be read.
    """

    starts: NDArray[np.float64]
    seconds: float
    vectors: NDArray[np.float32]
    classes: NDArray[np.float32]
    class_names: tuple[str, ...]
    signature: str

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def few(self) -> str:
        """What is said about classes that the recording itself has, if they are few."""
        own = all(name.startswith(CLASS_NAME_PREFIX) for name in self.class_names)
        return few(len(self)) if own else ""


class BlockSettings(NamedTuple):
    """How blocks are made."""

    block: float
    sparse: bool
    hour_gap: float
    cache: Cache
    read: StreamReader
    progress: Progress


def blocks_of(
    recording: Recording,
    embedder: Embedder,
    *,
    block: float = 8.0,
    cache: Cache | None = None,
    sparse: bool = False,
    hour_gap: float = 0.0,
    read: StreamReader = read_blocks,
    progress: Progress = no_progress,
) -> tuple[RecordingBlocks, Recording]:
    """Blocks, and the recording as it really was: what could not be read is missing from it.

    Blocks of which not all sound is there are left out; sparse, those without any frames. With an
    ``hour_gap``, silences of so many seconds that mark hours are taken out of the clock.
    """
    if not block * FRAMES_PER_SECOND >= PATCH_FRAMES:
        raise UsageError(
            f"a block must be at least {PATCH_FRAMES / FRAMES_PER_SECOND:g} s, got {block:g}"
        )
    work = BlockSettings(block, sparse, hour_gap, cache or find_cache(), read, progress)
    place = work.cache.folder / "blocks" / f"{_key(recording, embedder, work)}.sealed"
    kept = open_sealed(place)
    if kept is not None:
        return _kept(kept, recording)
    blocks, real = _made(recording, embedder, work)
    _keep(place, blocks, real)
    return blocks, real


def _key(recording: Recording, embedder: Embedder, work: BlockSettings) -> str:
    paths = sorted({stretch.path for stretch in recording.stretches})
    made = [
        BLOCKS_VERSION,
        LOGMEL_FORMAT,
        [work.block, work.sparse, work.hour_gap, embedder.signature],
        [(path, sound_digest(Path(path), work.cache)) for path in paths],
        [recording.rate, recording.stretches, recording.damages, recording.notes],
    ]
    return digest_of(msgspec.json.encode(made).decode())


def _made(
    recording: Recording, embedder: Embedder, work: BlockSettings
) -> tuple[RecordingBlocks, Recording]:
    reading, rounds = (
        (1, 2) if embedder.takes == "sound" else (READING_TIME_RATIO, READING_TIME_RATIO + 1)
    )
    files = frame_files(
        recording,
        cache=work.cache,
        sparse=work.sparse,
        read=work.read,
        progress=share(work.progress, 0, reading, rounds),
    )
    real = mended(recording, [one for file in files.values() for one in file.breaks])
    if work.hour_gap and work.sparse:  # marks may lie where there are no frames
        real = without_hours(real, work.hour_gap)
    elif work.hour_gap:
        real = without_hour_gaps(real, files, work.hour_gap, work.read)
    rows = int(work.block * FRAMES_PER_SECOND + 1e-6)
    needed = PATCH_FRAMES if work.sparse else rows - 1
    day = FrameBlocks(grid(real, work.block), rows, files).with_frames(needed)
    if embedder.takes == "frames":
        day = replace(
            day, told=EmbedderProgress(len(day), share(work.progress, reading, 1, rounds))
        )
    starts = np.array([place.start for place in day.places], np.float64)
    signature = f"{embedder.signature},block={work.block:g}{',sparse' * work.sparse}"
    return RecordingBlocks(
        starts, work.block, *_embedded(day, embedder, real.rate, work), signature
    ), real


def _embedded(
    day: FrameBlocks, embedder: Embedder, rate: int, work: BlockSettings
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Vectors of the embedder, and its classes, or those of the codebook if it knows none."""
    if embedder.takes == "frames":
        own = embedder.embed(day)
    else:
        told = share(work.progress, 1, 1, 2)
        own = embed_sounds(
            day.places,
            embedder,
            BlockCut(work.block, work.sparse),
            lambda path: FrameSource(Path(path), rate, work.read),
            work.cache,
            lambda done: told(done, len(day), done),
        )
    known = Codebook().embed(day) if own.classes is None else own
    assert known.classes is not None
    return own.vectors, known.classes, known.class_names


def _keep(place: Path, blocks: RecordingBlocks, real: Recording) -> None:
    facts: Mapping[str, Any] = {
        "seconds": blocks.seconds,
        "class_names": blocks.class_names,
        "signature": blocks.signature,
        "stretches": real.stretches,
        "damages": real.damages,
        "notes": real.notes,
        "lasts": real.seconds,
    }
    write_sealed(place, facts, [blocks.starts, blocks.vectors, blocks.classes])


def _kept(kept: SealedFile, recording: Recording) -> tuple[RecordingBlocks, Recording]:
    facts = kept.facts
    names = tuple(facts["class_names"])
    starts, vectors, classes = kept.arrays
    blocks = RecordingBlocks(starts, facts["seconds"], vectors, classes, names, facts["signature"])
    stretches = msgspec.convert(facts["stretches"], tuple[Stretch, ...])
    damages = msgspec.convert(facts["damages"], tuple[Damage, ...])
    real = Recording(
        recording.name,
        stretches,
        facts["lasts"],
        recording.rate,
        recording.channels,
        recording.began,
        damages,
        tuple(facts["notes"]),
    )
    return blocks, real
