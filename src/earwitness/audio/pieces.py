"""Pieces of a file of sound, one after another, through one open file: the rest is not decoded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import sound_library
from earwitness.errors import UsageError

MINUTE = 60.0


class Piece(NamedTuple):
    """So many seconds from a position on."""

    at: float
    seconds: float


class PieceOfSound(NamedTuple):
    """Where it begins in the file, in seconds, and its samples, channels averaged."""

    position: float
    samples: NDArray[np.float32]


def read_pieces(path: Path, pieces: Iterator[Piece]) -> Iterator[PieceOfSound]:
    """Pieces up to the first that begins behind the end; those that cannot be read are left out."""
    library = sound_library()
    try:
        with library.SoundFile(path) as file:
            for piece in pieces:
                begin = round(piece.at * file.samplerate)
                if begin >= file.frames:
                    return
                samples = _read(library, file, begin, round(piece.seconds * file.samplerate))
                yield PieceOfSound(begin / file.samplerate, samples)
    except library.SoundFileError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error


def _read(library: Any, file: Any, begin: int, count: int) -> NDArray[np.float32]:
    """Samples of a piece, or none."""
    try:
        file.seek(begin)
        samples = file.read(count, dtype="float32", always_2d=True)
    except library.SoundFileError:
        return np.zeros(0, np.float32)
    return np.asarray(samples[:, 0] if samples.shape[1] == 1 else samples.mean(axis=1))


def read_through(
    path: Path, *, at: float = 0.0, seconds: float | None = None
) -> Iterator[PieceOfSound]:
    """A file from a position on, minute by minute, to its end or for so many seconds."""
    end = float("inf") if seconds is None else at + seconds
    begins = takewhile(lambda begin: begin < end, count(at, MINUTE))
    yield from read_pieces(path, (Piece(begin, min(MINUTE, end - begin)) for begin in begins))
