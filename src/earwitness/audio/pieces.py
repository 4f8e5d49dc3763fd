"""Pieces of a file of sound, one after another, through one open file: the rest is not decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from earwitness.audio.ahead import ahead
from earwitness.audio.decoders import decoder_of
from earwitness.audio.mending import Break
from earwitness.audio.reading import Chunk, ignore, mono
from earwitness.audio.sources import Broken, Decoder, Samples
from earwitness.errors import UsageError


class Piece(NamedTuple):
    """So many seconds from a position on."""

    at: float
    seconds: float


def read_pieces(
    path: Path, pieces: Iterator[Piece], *, broken: Callable[[Break], object] = ignore
) -> Iterator[Chunk]:
    """Pieces up to the first that begins behind the end of the file, decoded ahead in a thread.

    Those that cannot be read are left out and told to ``broken``: what lies from the first of them
    up to the next that can be read counts as one break.
    """
    return ahead(lambda: _pieces(path, pieces, broken), depth=16)


def _pieces(
    path: Path, pieces: Iterator[Piece], broken: Callable[[Break], object]
) -> Iterator[Chunk]:
    lost: tuple[float, str] | None = None
    end = 0.0
    for piece, (samples, fault), seconds in _tried(path, pieces):
        if not len(samples):
            lost, end = lost or (piece.at, fault), seconds
            continue
        if lost:
            broken(_break(path, *lost, piece.at))
            lost = None
        yield Chunk(piece.at, mono(samples))
    if lost:
        broken(_break(path, *lost, end))


def _tried(
    path: Path, pieces: Iterator[Piece]
) -> Iterator[tuple[Piece, tuple[Samples, str], float]]:
    """Pieces from a whole sample on, what was read of each or why not, and when the file ends."""
    try:
        decoder = decoder_of(path)
    except Broken as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    rate, frames = decoder.facts.rate, decoder.facts.frames
    try:
        for piece in pieces:
            begin = round(piece.at * rate)
            if begin >= frames:
                return
            count = min(frames - begin, round(piece.seconds * rate))
            exact = Piece(begin / rate, count / rate)
            yield exact, _read(decoder, begin, count), decoder.facts.seconds
    finally:
        decoder.close()


def _break(path: Path, at: float, fault: str, end: float) -> Break:
    return Break(str(path), at, end - at, f"cannot be read for {end - at:.1f} s: {fault}")


def _read(decoder: Decoder, begin: int, count: int) -> tuple[Samples, str]:
    """Frames of a piece, however few come at once; or none and why."""
    try:
        decoder.seek(begin)
        found = more = decoder.read(count)
        while len(more) and len(found) < count:
            more = decoder.read(count - len(found))
            found = np.concatenate([found, more])
        return found, "ends here"
    except Broken as error:
        return np.zeros((0, 1), np.float32), str(error)
