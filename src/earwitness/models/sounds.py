"""Blocks as sound, for embedders that want it: at their own rate, a few blocks at a time.

What they say is kept by the hour of blocks, so that whoever is interrupted goes on where they were.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from earwitness.audio.pieces import Piece
from earwitness.audio.reading import Chunk
from earwitness.audio.resampling import resampled
from earwitness.models.cached import Cache, digest_of, open_sealed, write_sealed
from earwitness.models.embedded import Embedded
from earwitness.models.embedders import SoundEmbedder
from earwitness.models.frames import KEPT, Source
from earwitness.models.grid import Place

Floats = NDArray[np.float32]
TOGETHER = 16  # blocks that an embedder gets at a time
HOUR = 450  # blocks that are kept together
VERSION = 1


class Cut(NamedTuple):
    """How blocks are cut: seconds of each, and whether only the middle is wanted."""

    block: float
    sparse: bool


def embed_sounds(
    places: Sequence[Place],
    embedder: SoundEmbedder,
    cut: Cut,
    source_of: Callable[[str], Source],
    cache: Cache,
    told: Callable[[int], None] = lambda _: None,
) -> Embedded:
    """A row a block; ``told`` of blocks that are done."""
    done: list[Embedded] = []
    for run in runs(places, cut.block):
        made = [cut, run[0].at, len(run), embedder.signature, VERSION]
        content = cache.digest(Path(run[0].path))
        key = digest_of(content + msgspec.json.encode(made).decode())
        done.append(_hour(run, embedder, cut, source_of, cache.folder / "sounds" / key))
        told(sum(len(one.vectors) for one in done))
    return joined(done)


def runs(places: Sequence[Place], block: float) -> Iterator[Sequence[Place]]:
    """Blocks that follow each other in a file, at most an hour of them."""
    first = 0
    for number, place in enumerate(places):
        before = places[max(first, number - 1)]
        follows = place.path == before.path and abs(place.at - before.at - block) < 1e-6
        if number > first and (not follows or number - first == HOUR):
            yield places[first:number]
            first = number
    if places:
        yield places[first:]


def _hour(
    run: Sequence[Place],
    embedder: SoundEmbedder,
    cut: Cut,
    source_of: Callable[[str], Source],
    place: Path,
) -> Embedded:
    kept = open_sealed(place.with_suffix(".sealed"))
    if kept is None:
        sounds = _sounds(run, cut, source_of(run[0].path), embedder.rate)
        made = joined([embedder.embed(np.stack(some)) for some in _together(sounds)])
        arrays = [made.vectors] if made.classes is None else [made.vectors, made.classes]
        write_sealed(place.with_suffix(".sealed"), {"class_names": made.class_names}, arrays)
        return made
    classes = kept.arrays[1] if len(kept.arrays) > 1 else None
    return Embedded(kept.arrays[0], classes, tuple(kept.facts["class_names"]))


def joined(parts: Sequence[Embedded]) -> Embedded:
    """Rows of several, one behind the other."""
    if not parts:
        return Embedded(np.zeros((0, 0), np.float32))
    vectors = np.concatenate([part.vectors for part in parts])
    classes = [part.classes for part in parts if part.classes is not None]
    return Embedded(vectors, np.concatenate(classes) if classes else None, parts[0].class_names)


def _together(sounds: Iterable[Floats]) -> Iterator[list[Floats]]:
    some: list[Floats] = []
    for sound in sounds:
        some.append(sound)
        if len(some) == TOGETHER:
            yield some
            some = []
    if some:
        yield some


def _sounds(run: Sequence[Place], cut: Cut, source: Source, rate: int) -> Iterator[Floats]:
    """Samples of every block of a run, at a rate."""
    lasts = min(KEPT, cut.block) if cut.sparse else cut.block
    skipped = (cut.block - lasts) / 2
    size = round(lasts * source.rate)
    if cut.sparse:
        pieces = iter([Piece(place.at + skipped, lasts) for place in run])
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
