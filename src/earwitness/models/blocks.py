"""Blocks of a recording as vectors and classes: what methods choose from and metrics measure with.

Frames come first, then what an embedder makes of them. The blocks are kept in the cache under all
that made them, so that another skim of the same recording reads no sound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.hours import without_hours
from earwitness.audio.logmel import FORM, PER_SECOND
from earwitness.audio.mending import mended
from earwitness.audio.reading import read_blocks
from earwitness.data import Damage, Progress, Recording, Stretch, no_progress
from earwitness.errors import UsageError
from earwitness.models.cached import Cache, Sealed, digest_of, find_cache, open_sealed, write_sealed
from earwitness.models.codebook import LIKE, PATCH, Codebook
from earwitness.models.embedders import Embedder
from earwitness.models.framed_files import frame_files
from earwitness.models.frames import Read, Source
from earwitness.models.grid import FrameBlocks, grid
from earwitness.models.marked import without_hour_gaps
from earwitness.models.prototypes import few
from earwitness.models.shares import Passes, share
from earwitness.models.sounds import Cut, embed_sounds

Floats = NDArray[np.float32]
VERSION = 2  # of what is kept
READING = 3  # how much longer frames take to be read than to be embedded, about


@dataclass(frozen=True, slots=True)
class Blocks:
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
        own = all(name.startswith(LIKE) for name in self.class_names)
        return few(len(self)) if own else ""


class Work(NamedTuple):
    """How blocks are made."""

    block: float
    sparse: bool
    hour_gap: float
    cache: Cache
    read: Read
    progress: Progress


def blocks_of(
    recording: Recording,
    embedder: Embedder,
    *,
    block: float = 8.0,
    cache: Cache | None = None,
    sparse: bool = False,
    hour_gap: float = 0.0,
    read: Read = read_blocks,
    progress: Progress = no_progress,
) -> tuple[Blocks, Recording]:
    """Blocks, and the recording as it really was: what could not be read is missing from it.

    Blocks of which not all sound is there are left out; sparse, those without any frames. With an
    ``hour_gap``, silences of so many seconds that mark hours are taken out of the clock.
    """
    if not block * PER_SECOND >= PATCH:
        raise UsageError(f"a block must be at least {PATCH / PER_SECOND:g} s, got {block:g}")
    work = Work(block, sparse, hour_gap, cache or find_cache(), read, progress)
    place = work.cache.folder / "blocks" / f"{_key(recording, embedder, work)}.sealed"
    kept = open_sealed(place)
    if kept is not None:
        return _kept(kept, recording)
    blocks, real = _made(recording, embedder, work)
    _keep(place, blocks, real)
    return blocks, real


def _key(recording: Recording, embedder: Embedder, work: Work) -> str:
    paths = sorted({stretch.path for stretch in recording.stretches})
    made = [
        VERSION,
        FORM,
        [work.block, work.sparse, work.hour_gap, embedder.signature],
        [(path, work.cache.digest(Path(path))) for path in paths],
        [recording.rate, recording.stretches, recording.damages, recording.notes],
    ]
    return digest_of(msgspec.json.encode(made).decode())


def _made(recording: Recording, embedder: Embedder, work: Work) -> tuple[Blocks, Recording]:
    reading, rounds = (1, 2) if embedder.takes == "sound" else (READING, READING + 1)
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
    rows = int(work.block * PER_SECOND + 1e-6)
    needed = PATCH if work.sparse else rows - 1
    day = FrameBlocks(grid(real, work.block), rows, files).with_frames(needed)
    if embedder.takes == "frames":
        day = replace(day, told=Passes(len(day), share(work.progress, reading, 1, rounds)))
    starts = np.array([place.start for place in day.places], np.float64)
    signature = f"{embedder.signature},block={work.block:g}{',sparse' * work.sparse}"
    return Blocks(starts, work.block, *_embedded(day, embedder, real.rate, work), signature), real


def _embedded(
    day: FrameBlocks, embedder: Embedder, rate: int, work: Work
) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Vectors of the embedder, and its classes, or those of the codebook if it knows none."""
    if embedder.takes == "frames":
        own = embedder.embed(day)
    else:
        told = share(work.progress, 1, 1, 2)
        own = embed_sounds(
            day.places,
            embedder,
            Cut(work.block, work.sparse),
            lambda path: Source(Path(path), rate, work.read),
            work.cache,
            lambda done: told(done, len(day), done),
        )
    known = Codebook().embed(day) if own.classes is None else own
    assert known.classes is not None
    return own.vectors, known.classes, known.class_names


def _keep(place: Path, blocks: Blocks, real: Recording) -> None:
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


def _kept(kept: Sealed, recording: Recording) -> tuple[Blocks, Recording]:
    facts = kept.facts
    names = tuple(facts["class_names"])
    starts, vectors, classes = kept.arrays
    blocks = Blocks(starts, facts["seconds"], vectors, classes, names, facts["signature"])
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
