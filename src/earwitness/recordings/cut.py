"""Exact cuts and pieces of a recording, without decoding the rest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from earwitness.audio.decode import open_decoder
from earwitness.audio.files import Decoder, DecodingError, Samples
from earwitness.audio.read import (
    MAX_READ_VALUES,
    Break,
    Chunk,
    ignore_break,
    iterate_ahead,
    mix_to_mono,
    read_blocks,
)
from earwitness.errors import UsageError
from earwitness.recordings.types import Recording, Stretch

# --- Recordings in chunks ------------------------------------------------------------------------


def read_recording(
    recording: Recording, *, start: float = 0.0, seconds: float | None = None
) -> Iterator[tuple[float, Chunk]]:
    """Yield chunks of a recording from a time onwards, with their times on its clock."""
    end = recording.seconds if seconds is None else start + seconds
    for stretch in recording.stretches:
        low, high = max(start, stretch.start), min(end, stretch.end)
        if high > low:
            offset, path = stretch.start - stretch.at, Path(stretch.path)
            for chunk in read_blocks(path, at=low - offset, seconds=high - low):
                yield chunk.position + offset, chunk


# --- Exact cuts ----------------------------------------------------------------------------------


def cut(recording: Recording, start: float, seconds: float) -> Samples:
    """Return exactly these samples of a recording, one column per channel.

    Parameters
    ----------
    recording
        The recording.
    start, seconds
        Start on the clock of the recording, and duration. The samples may come from several
        stretches if these follow each other without a gap.

    Returns
    -------
    numpy.ndarray
        Samples as 32-bit floats.

    Raises
    ------
    UsageError
        If not all of this time was recorded and can be read.
    """
    first, frame_count = round(start * recording.rate), round(seconds * recording.rate)
    pieces: list[Samples] = []
    for stretch in recording.stretches:
        first_frame, last_frame = _stretch_frames(stretch, recording.rate)
        next_frame = first + sum(map(len, pieces))
        if last_frame <= next_frame or frame_count <= next_frame - first:
            continue
        if first_frame > next_frame + 1 or (first_frame > next_frame and not pieces):
            break
        skipped = max(0, next_frame - first_frame)
        count = min(last_frame - first_frame - skipped, first + frame_count - next_frame)
        pieces.append(_read_exactly(stretch, recording, skipped, count, recording.channels))
    if sum(map(len, pieces)) < frame_count:
        raise UsageError(
            f"{recording.name}: {start:g} s to {start + seconds:g} s was not recorded completely"
        )
    return np.concatenate([np.zeros((0, recording.channels), np.float32), *pieces])


def cut_filled(recording: Recording, first: int, count: int, channels: int = 0) -> Samples:
    """Return ``count`` samples from the sample ``first``, one column per channel.

    ``channels`` is 1 for the mean of all channels; by default, all are returned. Where nothing was
    recorded or the audio cannot be read, the samples are silent.
    """
    channels = channels or recording.channels
    samples = np.zeros((count, channels), np.float32)
    for stretch in find_stretches(
        recording, first / recording.rate, (first + count) / recording.rate
    ):
        first_frame, last_frame = _stretch_frames(stretch, recording.rate)
        low, high = max(first, first_frame), min(first + count, last_frame)
        if low < high:
            with suppress(UsageError):
                samples[low - first : high - first] = _read_exactly(
                    stretch, recording, low - first_frame, high - low, channels
                )
    return samples


def find_stretches(recording: Recording, start: float, end: float) -> tuple[Stretch, ...]:
    """Return the stretches that may have audio between two times, in order."""
    stretches, margin = recording.stretches, 1 / recording.rate
    low = bisect_left(stretches, start - margin, key=lambda stretch: stretch.end)
    high = bisect_right(stretches, end + margin, key=lambda stretch: stretch.start)
    return stretches[low:high]


def _stretch_frames(stretch: Stretch, rate: int) -> tuple[int, int]:
    low = round(stretch.start * rate)
    return low, low + round(stretch.seconds * rate)


def _read_exactly(
    stretch: Stretch, recording: Recording, skipped: int, count: int, channels: int
) -> Samples:
    path, frame = Path(stretch.path), round(stretch.at * recording.rate) + skipped
    is_damaged = any(damage.path == stretch.path for damage in recording.damages)
    decoder = open_decoder(path, careful=is_damaged)
    try:
        decoder.seek(frame)
        parts, portion = list[Samples](), max(1, MAX_READ_VALUES // decoder.facts.channels)
        while count > 0:
            samples = decoder.read(min(count, portion))
            if not len(samples):
                raise DecodingError("unexpected end of file")
            count -= len(samples)
            parts.append(mix_to_mono(samples)[:, None] if channels == 1 else samples)
        return np.concatenate(parts)
    except (DecodingError, OSError) as error:
        position = frame / recording.rate
        raise UsageError(
            f"{path}: cannot be read from {position:.1f} s onwards: {error}"
        ) from error
    finally:
        decoder.close()


# --- Pieces of one file --------------------------------------------------------------------------


class FilePiece(NamedTuple):
    """A piece of a file: position and duration in seconds."""

    at: float
    seconds: float


def read_pieces(
    path: Path, pieces: Iterator[FilePiece], *, broken: Callable[[Break], object] = ignore_break
) -> Iterator[Chunk]:
    """Yield pieces of a file up to its end, decoded ahead in a thread.

    Pieces that cannot be read are left out and reported to ``broken``; from the first unreadable
    piece to the next readable one counts as one break.
    """
    return iterate_ahead(_read_readable_pieces(path, pieces, broken), depth=16)


def _read_readable_pieces(
    path: Path, pieces: Iterator[FilePiece], broken: Callable[[Break], object]
) -> Iterator[Chunk]:
    decoder = open_decoder(path)
    rate, frames = decoder.facts.rate, decoder.facts.frames
    lost: tuple[float, str] | None = None  # start of the first unreadable piece, and the reason
    try:
        for piece in pieces:
            if (begin := round(piece.at * rate)) >= frames:
                break
            count = min(frames - begin, round(piece.seconds * rate))
            samples, fault = _read_piece(decoder, begin, count)
            if not len(samples):
                lost = lost or (begin / rate, fault)
                continue
            if lost:
                broken(_make_break(path, *lost, begin / rate))
                lost = None
            yield Chunk(begin / rate, mix_to_mono(samples))
        if lost:
            broken(_make_break(path, *lost, decoder.facts.seconds))
    finally:
        decoder.close()


def _make_break(path: Path, at: float, fault: str, end: float) -> Break:
    return Break(str(path), at, end - at, f"cannot be read for {end - at:.1f} s: {fault}")


def _read_piece(decoder: Decoder, begin: int, count: int) -> tuple[Samples, str]:
    """Return the frames of a piece; or none, and the reason."""
    try:
        decoder.seek(begin)
        samples = chunk = decoder.read(count)
        while len(chunk) and len(samples) < count:
            chunk = decoder.read(count - len(samples))
            samples = np.concatenate([samples, chunk])
        return samples, "unexpected end of file"
    except DecodingError as error:
        return np.zeros((0, 1), np.float32), str(error)
