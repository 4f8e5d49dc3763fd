"""Blocks of a recording as vectors and classes: what methods choose from and metrics measure with.

Frames come first, then what an embedder makes of them. The blocks are kept in the cache under all
that made them, so that another skim of the same recording reads no sound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import FORM, PER_SECOND
from earwitness.data import Damage, Progress, Recording, Stretch, no_progress
from earwitness.errors import UsageError
from earwitness.models.cached import Cache, Sealed, digest_of, find_cache, open_sealed, write_sealed
from earwitness.models.codebook import PATCH, Codebook
from earwitness.models.embedders import Embedder
from earwitness.models.framed_files import frame_files
from earwitness.models.frames import FrameFile, Read
from earwitness.models.grid import FrameBlocks, grid
from earwitness.models.heard import heard

Floats = NDArray[np.float32]
VERSION = 1  # of what is kept


@dataclass(frozen=True, slots=True)
class Blocks:
    """When blocks start, how long each is, a row each of a vector and of classes from 0 to 1."""

    starts: NDArray[np.float64]
    seconds: float
    vectors: NDArray[np.float32]
    classes: NDArray[np.float32]
    class_names: tuple[str, ...]
    signature: str

    def __len__(self) -> int:
        return len(self.starts)


def blocks_of(
    recording: Recording,
    embedder: Embedder,
    *,
    block: float = 8.0,
    cache: Cache | None = None,
    sparse: bool = False,
    read: Read | None = None,
    progress: Progress = no_progress,
) -> tuple[Blocks, Recording]:
    """Blocks, and the recording as it really was: what could not be read is missing from it.

    Blocks of which not all sound is there are left out; sparse, those without any frames.
    """
    if not block * PER_SECOND >= PATCH:
        raise UsageError(f"a block must be at least {PATCH / PER_SECOND:g} s, got {block:g}")
    cache = cache or find_cache()
    place = cache.folder / "blocks" / f"{_key(recording, embedder, block, sparse, cache)}.sealed"
    kept = open_sealed(place)
    if kept is None:
        files = frame_files(recording, cache=cache, sparse=sparse, read=read, progress=progress)
        blocks, real = _made(recording, embedder, block, sparse, files)
        _keep(place, blocks, real)
        return blocks, real
    return _kept(kept, recording)


def _key(recording: Recording, embedder: Embedder, block: float, sparse: bool, cache: Cache) -> str:
    paths = {stretch.path: cache.digest(Path(stretch.path)) for stretch in recording.stretches}
    stretches = [(one.path, one.at, one.start, one.seconds) for one in recording.stretches]
    made = [VERSION, FORM, recording.rate, sparse, block, embedder.signature, paths, stretches]
    return digest_of(msgspec.json.encode(made).decode())


def _made(
    recording: Recording,
    embedder: Embedder,
    block: float,
    sparse: bool,
    files: dict[str, FrameFile],
) -> tuple[Blocks, Recording]:
    real = recording if sparse else heard(recording, files)
    rows = int(block * PER_SECOND + 1e-6)
    day = FrameBlocks(grid(real, block), rows, files).with_frames(PATCH if sparse else rows - 1)
    embedded = _embedded(day, embedder)
    starts = np.array([place.start for place in day.places], np.float64)
    signature = f"{embedder.signature},block={block:g}{',sparse' * sparse}"
    return Blocks(starts, block, *embedded, signature), real


def _embedded(day: FrameBlocks, embedder: Embedder) -> tuple[Floats, Floats, tuple[str, ...]]:
    """Vectors of the embedder, and its classes, or those of the codebook if it knows none."""
    own = embedder.embed(day)
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
