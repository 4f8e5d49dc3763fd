"""Blocks of a recording as vectors and sound classes, cached on disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import FRAMES_PER_SECOND, LOGMEL_FORMAT, frame_levels
from earwitness.audio.read import Chunk, read_blocks
from earwitness.audio.signal import resample
from earwitness.core import Progress, no_progress
from earwitness.errors import UsageError
from earwitness.models.base import BlockEmbeddings, BlockPlace, FrameBlocks, block_places
from earwitness.models.cache import (
    Cache,
    SealedFile,
    find_cache,
    hash_text,
    open_sealed,
    write_sealed,
)
from earwitness.models.codebook import CLASS_NAME_PREFIX, PATCH_FRAMES, Codebook, few_classes_note
from earwitness.models.embedders import Embedder, SoundEmbedder
from earwitness.models.frames import (
    SPARSE_KEPT_SECONDS,
    FrameFile,
    FrameSource,
    StreamReader,
    iterate_portions,
    load_frame_files,
    sound_digest,
)
from earwitness.recordings.cut import FilePiece
from earwitness.recordings.hour_marks import HourMarks, Silence, remove_hour_marks, remove_marks
from earwitness.recordings.recording import remove_breaks
from earwitness.recordings.types import Damage, Recording, Stretch

# --- Progress of reading and embedding -----------------------------------------------------------


# passes of an embedder over all frames; embedders with more passes report completion early
EMBEDDER_PASSES = 3


def progress_share(progress: Progress, before: int, weight: int, rounds: int) -> Progress:
    """Return progress for some of several equal rounds, scaled to the whole."""

    def report(done: int, total: int | None, cases: int) -> None:
        scaled_total = None if total is None else rounds * total
        progress(weight * done + before * (total or 0), scaled_total, cases)

    return report


@dataclass
class EmbedderProgress:
    """Reports the progress of an embedder that makes several passes over all blocks."""

    blocks: int
    progress: Progress
    done: int = 0

    def __call__(self, blocks: int) -> None:
        total = EMBEDDER_PASSES * self.blocks
        self.done = min(total, self.done + blocks)
        self.progress(self.done, total, self.blocks)


# --- Hour marks found by frames ------------------------------------------------------------------
# Frames are 20 ms apart, and 24 hour marks would shift the clock by half a second. So frames only
# show where to look; the audio itself is read there.


MARK_MARGIN_SECONDS = 1.0  # audio read on both sides of a silence


def without_hour_gaps(
    recording: Recording,
    files: Mapping[str, FrameFile],
    gap: float,
    read: StreamReader = read_blocks,
) -> Recording:
    """Return the recording without hour marks of a given length; adds a note if there are none."""
    rough, exact = HourMarks(gap), HourMarks(gap)
    for stretch in recording.stretches:
        for first, rows in iterate_portions(stretch, files):
            peaks = 10 ** (frame_levels(rows) / 20)
            start = stretch.start + first / FRAMES_PER_SECOND - stretch.at
            rough.feed_levels(start, peaks, 1 / FRAMES_PER_SECOND)
    for mark in rough.marks():
        for stretch in recording.stretches:
            _feed_sound_around(exact, stretch, mark, recording.rate, read)
    return remove_marks(recording, exact.marks(), gap=gap)


def _feed_sound_around(
    marks: HourMarks, stretch: Stretch, mark: Silence, rate: int, read: StreamReader
) -> None:
    """Feed the audio of a stretch around a silence, if it overlaps the stretch."""
    low = max(stretch.start, mark.start - MARK_MARGIN_SECONDS)
    high = min(stretch.end, mark.end + MARK_MARGIN_SECONDS)
    if low < high:
        at = stretch.at + low - stretch.start
        for chunk in read(Path(stretch.path), at=at, seconds=high - low):
            marks.feed(stretch.start + chunk.position - stretch.at, chunk.samples, rate)


# --- Blocks as sound -----------------------------------------------------------------------------
# Some embedders take audio at their own sample rate, a few blocks at a time. Their results are
# cached for each hour of blocks, so that an interrupted run resumes.


Floats = NDArray[np.float32]
BLOCKS_PER_BATCH = 16  # blocks passed to an embedder at a time
BLOCKS_PER_CACHE_FILE = 450  # blocks per cache file
SOUND_BLOCKS_VERSION = 1


class BlockCut(NamedTuple):
    """How blocks are cut: length in seconds, and whether only the middle is used."""

    block: float
    sparse: bool


def embed_sounds(
    places: Sequence[BlockPlace],
    embedder: SoundEmbedder,
    cut: BlockCut,
    source_of: Callable[[str], FrameSource],
    cache: Cache,
    on_blocks: Callable[[int], None] = lambda _: None,
) -> BlockEmbeddings:
    """Return one row per block; ``on_blocks`` is called with the number of finished blocks."""
    hours = list[BlockEmbeddings]()
    for run in iterate_runs(places, cut.block):
        key_parts = [cut, run[0].at, len(run), embedder.signature, SOUND_BLOCKS_VERSION]
        content = sound_digest(Path(run[0].path), cache)
        key = hash_text(content + msgspec.json.encode(key_parts).decode())
        hours.append(_embed_run(run, embedder, cut, source_of, cache.folder / "sounds" / key))
        on_blocks(sum(len(hour.vectors) for hour in hours))
    return join_embeddings(hours)


def iterate_runs(places: Sequence[BlockPlace], block: float) -> Iterator[Sequence[BlockPlace]]:
    """Yield runs of consecutive blocks of a file, at most an hour each."""
    first = 0
    for number, place in enumerate(places):
        before = places[max(first, number - 1)]
        follows = place.path == before.path and abs(place.at - before.at - block) < 1e-6
        if number > first and (not follows or number - first == BLOCKS_PER_CACHE_FILE):
            yield places[first:number]
            first = number
    if places:
        yield places[first:]


def _embed_run(
    run: Sequence[BlockPlace],
    embedder: SoundEmbedder,
    cut: BlockCut,
    source_of: Callable[[str], FrameSource],
    path: Path,
) -> BlockEmbeddings:
    stored = open_sealed(path.with_suffix(".sealed"))
    if stored is None:
        sounds = _read_block_sounds(run, cut, source_of(run[0].path), embedder.rate)
        batches = iter(lambda: list(islice(sounds, BLOCKS_PER_BATCH)), [])
        embeddings = join_embeddings([embedder.embed(np.stack(batch)) for batch in batches])
        arrays = [array for array in embeddings[:2] if array is not None]  # vectors and classes
        write_sealed(path.with_suffix(".sealed"), {"class_names": embeddings.class_names}, arrays)
        return embeddings
    vectors, *classes = map(np.copy, stored.arrays)  # of many files, which must not stay open
    return BlockEmbeddings(
        vectors, classes[0] if classes else None, tuple(stored.facts["class_names"])
    )


def join_embeddings(parts: Sequence[BlockEmbeddings]) -> BlockEmbeddings:
    """Concatenate rows of several embeddings."""
    if not parts:
        return BlockEmbeddings(np.zeros((0, 0), np.float32))
    vectors = np.concatenate([part.vectors for part in parts])
    classes = [part.classes for part in parts if part.classes is not None]
    return BlockEmbeddings(
        vectors, np.concatenate(classes) if classes else None, parts[0].class_names
    )


def _read_block_sounds(
    run: Sequence[BlockPlace], cut: BlockCut, source: FrameSource, rate: int
) -> Iterator[Floats]:
    """Yield the samples of every block of a run at a sample rate."""
    kept_seconds = min(SPARSE_KEPT_SECONDS, cut.block) if cut.sparse else cut.block
    skipped_seconds = (cut.block - kept_seconds) / 2
    size = round(kept_seconds * source.rate)
    if cut.sparse:
        pieces = iter([FilePiece(place.at + skipped_seconds, kept_seconds) for place in run])
        chunks = source.pieces(source.path, pieces)
    else:
        chunks = source.read(source.path, at=run[0].at, seconds=len(run) * cut.block)
    begins = [round((place.at + skipped_seconds) * source.rate) for place in run]
    for sound in fill_blocks(chunks, begins, size, source.rate):
        yield resample(sound, source.rate, rate)


def fill_blocks(
    chunks: Iterable[Chunk], begins: Sequence[int], size: int, rate: int
) -> Iterator[Floats]:
    """Yield ``samples`` samples from each start, in order; 0 where audio is missing."""
    waiting, sound = deque(begins), np.zeros(size, np.float32)
    for chunk in chunks:
        chunk_start = round(chunk.position * rate)
        chunk_end = chunk_start + len(chunk.samples)
        while waiting and waiting[0] < chunk_end:
            begin = waiting[0]
            low, high = max(chunk_start, begin), min(chunk_end, begin + size)
            if low < high:
                sound[low - begin : high - begin] = chunk.samples[
                    low - chunk_start : high - chunk_start
                ]
            if chunk_end < begin + size:
                break
            yield sound
            waiting.popleft()
            sound = np.zeros(size, np.float32)
    for _ in waiting:
        yield sound
        sound = np.zeros(size, np.float32)


# --- Blocks of a recording -----------------------------------------------------------------------
# Frames are read first, then embedded. Blocks are cached under everything they depend on, so that
# another skim of the same recording does not read its audio.


BLOCKS_VERSION = 2  # of the cache format
READING_TIME_RATIO = 3  # approximate time of reading relative to embedding


@dataclass(frozen=True, slots=True)
class RecordingBlocks:
    """Start times of blocks, their length, and one row each of vectors and classes (0 to 1).

    Arrays from the cache are read-only.
    """

    starts: NDArray[np.float64]
    seconds: float
    vectors: Floats
    classes: Floats
    class_names: tuple[str, ...]
    signature: str

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def few_classes_note(self) -> str:
        """A note if there are too few blocks to define all sound classes, else an empty string."""
        has_prototype_classes = all(name.startswith(CLASS_NAME_PREFIX) for name in self.class_names)
        return few_classes_note(len(self), len(self.class_names)) if has_prototype_classes else ""


class BlockSettings(NamedTuple):
    """Settings with which blocks are made."""

    block: float
    sparse: bool
    hour_gap: float
    cache: Cache
    read: StreamReader
    progress: Progress


def read_recording_blocks(
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
    """Return the blocks, and the recording without passages that cannot be read.

    Blocks with missing audio are left out (if sparse, blocks without frames). With ``hour_gap``,
    silences of that many seconds that mark hours are removed from the clock.
    """
    if not block * FRAMES_PER_SECOND >= PATCH_FRAMES:
        raise UsageError(
            f"block must be at least {PATCH_FRAMES / FRAMES_PER_SECOND:g} s, got {block:g}"
        )
    settings = BlockSettings(block, sparse, hour_gap, cache or find_cache(), read, progress)
    path = settings.cache.folder / "blocks" / f"{_blocks_key(recording, embedder, settings)}.sealed"
    if stored := open_sealed(path):
        return _load_blocks(stored, recording)
    blocks, real = _compute_blocks(recording, embedder, settings)
    _store_blocks(path, blocks, real)
    return blocks, real


def _blocks_key(recording: Recording, embedder: Embedder, settings: BlockSettings) -> str:
    paths = sorted({stretch.path for stretch in recording.stretches})
    key_parts = [
        BLOCKS_VERSION,
        LOGMEL_FORMAT,
        [settings.block, settings.sparse, settings.hour_gap, embedder.signature],
        [(path, sound_digest(Path(path), settings.cache)) for path in paths],
        [recording.rate, recording.stretches, recording.damages, recording.notes],
    ]
    return hash_text(msgspec.json.encode(key_parts).decode())


def _compute_blocks(
    recording: Recording, embedder: Embedder, settings: BlockSettings
) -> tuple[RecordingBlocks, Recording]:
    reading_rounds, rounds = (
        (1, 2) if embedder.takes == "sound" else (READING_TIME_RATIO, READING_TIME_RATIO + 1)
    )
    files = load_frame_files(
        recording,
        cache=settings.cache,
        sparse=settings.sparse,
        read=settings.read,
        progress=progress_share(settings.progress, 0, reading_rounds, rounds),
    )
    real = remove_breaks(recording, [gap for file in files.values() for gap in file.breaks])
    if settings.hour_gap and settings.sparse:  # marks may be where there are no frames
        real = remove_hour_marks(real, settings.hour_gap)
    elif settings.hour_gap:
        real = without_hour_gaps(real, files, settings.hour_gap, settings.read)
    rows = int(settings.block * FRAMES_PER_SECOND + 1e-6)
    needed = PATCH_FRAMES if settings.sparse else rows - 1
    blocks = FrameBlocks(block_places(real, settings.block), rows, files).with_frames(needed)
    if embedder.takes == "frames":
        progress = progress_share(settings.progress, reading_rounds, 1, rounds)
        blocks = replace(blocks, on_portion=EmbedderProgress(len(blocks), progress))
    starts = np.array([place.start for place in blocks.places], np.float64)
    signature = (
        f"{embedder.signature},block={settings.block:g}{',sparse' if settings.sparse else ''}"
    )
    return RecordingBlocks(
        starts, settings.block, *_embed_blocks(blocks, embedder, real.rate, settings), signature
    ), real


def _embed_blocks(
    blocks: FrameBlocks, embedder: Embedder, rate: int, settings: BlockSettings
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Return the embedder's vectors, and its classes or, if it has none, those of the codebook."""
    if embedder.takes == "frames":
        embeddings = embedder.embed(blocks)
    else:
        report = progress_share(settings.progress, 1, 1, 2)
        embeddings = embed_sounds(
            blocks.places,
            embedder,
            BlockCut(settings.block, settings.sparse),
            lambda path: FrameSource(Path(path), rate, settings.read),
            settings.cache,
            lambda done: report(done, len(blocks), done),
        )
    classified = Codebook().embed(blocks) if embeddings.classes is None else embeddings
    assert classified.classes is not None
    return embeddings.vectors, classified.classes, classified.class_names


def _store_blocks(path: Path, blocks: RecordingBlocks, real: Recording) -> None:
    facts: Mapping[str, Any] = {
        "seconds": blocks.seconds,
        "class_names": blocks.class_names,
        "signature": blocks.signature,
        "stretches": real.stretches,
        "damages": real.damages,
        "notes": real.notes,
        "lasts": real.seconds,
    }
    write_sealed(path, facts, [blocks.starts, blocks.vectors, blocks.classes])


def _load_blocks(stored: SealedFile, recording: Recording) -> tuple[RecordingBlocks, Recording]:
    facts = stored.facts
    names = tuple(facts["class_names"])
    starts, vectors, classes = stored.arrays
    blocks = RecordingBlocks(starts, facts["seconds"], vectors, classes, names, facts["signature"])
    real = replace(
        recording,
        stretches=msgspec.convert(facts["stretches"], tuple[Stretch, ...]),
        seconds=facts["lasts"],
        damages=msgspec.convert(facts["damages"], tuple[Damage, ...]),
        notes=tuple(facts["notes"]),
    )
    return blocks, real
