"""Log-mel frames of whole files, on disk: made once for a content, an hour of the file at a time.

A file of 24 hours has 173 MB of frames; they are looked at where they lie. Whoever is interrupted
finds the hours that were done. Sparse frames are those of 2 s in the middle of each 8 s; all others
count as absent, like those of sound that cannot be read.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.logmel import ABSENT, BANDS, FORM, PER_SECOND, WINDOW, Bytes
from earwitness.audio.mending import Break
from earwitness.audio.pieces import Piece, read_pieces
from earwitness.audio.reading import Chunk, ignore, read_blocks
from earwitness.models.cached import Cache, open_sealed, write_sealed
from earwitness.models.framing import framed

HOUR = 3600 * PER_SECOND  # frames of a shard
EVERY, KEPT = 8.0, 2.0  # seconds: sparse frames keep the middle of each
Told = Callable[[float], None]


class Read(Protocol):
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


class ReadPieces(Protocol):
    """Reads pieces of a file one after another, up to the first that begins behind its end."""

    def __call__(
        self, path: Path, pieces: Iterator[Piece], /, *, broken: Callable[[Break], object] = ignore
    ) -> Iterable[Chunk]: ...


class Source(NamedTuple):
    """A file: where, its rate, and who reads it."""

    path: Path
    rate: int
    read: Read = read_blocks
    pieces: ReadPieces = read_pieces


@dataclass(frozen=True, slots=True)
class FrameFile:
    """All frames of a file, in shards of an hour, and what of it could not be read."""

    shards: tuple[Bytes, ...]
    breaks: tuple[Break, ...] = ()

    def __len__(self) -> int:
        return sum(len(shard) for shard in self.shards)

    def rows(self, first: int, last: int) -> Bytes:
        """Frames from ``first`` up to ``last``; absent ones before the begin and after the end."""
        found = np.full((last - first, BANDS), ABSENT, np.uint8)
        for number in range(max(0, first // HOUR), min(len(self.shards), -(-last // HOUR))):
            begin = number * HOUR
            part = self.shards[number][max(0, first - begin) : max(0, last - begin)]
            at = max(first, begin) - first
            found[at : at + len(part)] = part
        return found

    def present(self, first: int, last: int) -> NDArray[np.bool_]:
        """Which frames from ``first`` up to ``last`` are there."""
        step = 60 * PER_SECOND
        parts = [self.rows(at, min(last, at + step))[:, 0] for at in range(first, last, step)]
        return np.asarray(np.concatenate([np.zeros(0, np.uint8), *parts]) != ABSENT)


def frame_file(
    source: Source, cache: Cache, *, sparse: bool = False, told: Told = lambda _: None
) -> FrameFile:
    """Frames of a file: those that are kept, and the rest made; ``told`` of seconds read."""
    folder = cache.folder / "frames" / _key(cache.digest(source.path), sparse)
    shards: list[Bytes] = []
    breaks: list[Break] = []
    while True:
        found = open_sealed(_place(folder, len(shards)))
        if found is None:
            _make(source, folder, len(shards), sparse, told)
            continue
        shards.append(found.arrays[0])
        breaks += [Break(str(source.path), *one) for one in found.facts["breaks"]]
        told(len(shards) * HOUR / PER_SECOND)
        if found.facts["last"]:
            return FrameFile(tuple(shards), tuple(breaks))


def _key(digest: str, sparse: bool) -> str:
    return f"{FORM.replace('/', '-')}{'-sparse' * sparse}-{digest}"


def _place(folder: Path, number: int) -> Path:
    return folder / f"{number:05}.sealed"


def _make(source: Source, folder: Path, number: int, sparse: bool, told: Told) -> None:
    """Shards from a number on, up to one that is there."""
    begin = number * HOUR / PER_SECOND
    breaks: list[Break] = []
    stream = _frames(source, number * HOUR, sparse, breaks)
    for shard, last in _shards(stream, lambda frames: told(begin + frames / PER_SECOND)):
        number += 1
        own = [one for one in breaks if last or one.at < number * HOUR / PER_SECOND]
        del breaks[: len(own)]  # in one step: the reader's thread may add to it
        facts = {"last": last, "breaks": [one[1:] for one in own]}
        write_sealed(_place(folder, number - 1), facts, [shard])
        if not last and open_sealed(_place(folder, number)) is not None:
            break
    stream.close()


def _shards(stream: Iterator[Bytes], told: Told) -> Iterator[tuple[Bytes, bool]]:
    """Frames by the hour, and whether it is the last."""
    held: list[Bytes] = []
    count = done = 0
    for frames in stream:
        while count + len(frames) > HOUR:
            room = HOUR - count
            yield np.concatenate([*held, frames[:room]]), False
            held, count, frames = [], 0, frames[room:]
        held.append(frames)
        count += len(frames)
        done += len(frames)
        told(done)
    yield np.concatenate([np.zeros((0, BANDS), np.uint8), *held]), True


def _frames(
    source: Source, first: int, sparse: bool, breaks: list[Break]
) -> Generator[Bytes, None, None]:
    """Frames of a file from one on; breaks come to the list in their order."""
    at, path = first / PER_SECOND, source.path
    if sparse:
        chunks = source.pieces(path, _middles(at), broken=breaks.append)
    else:
        chunks = source.read(path, at=at, broken=breaks.append)
    return framed(chunks, source.rate, first)


def _middles(at: float) -> Iterator[Piece]:
    """Where the sound of sparse frames lies, from a position on, without an end."""
    number = round(at / EVERY)
    while True:
        yield Piece(number * EVERY + (EVERY - KEPT) / 2, KEPT + WINDOW - 1 / PER_SECOND)
        number += 1
