"""Exact cuts out of recordings, without reading what is before them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from earwitness.audio.decoders import opened
from earwitness.audio.reading import mono
from earwitness.audio.sources import Broken, Decoder, Samples
from earwitness.data import Recording, Stretch
from earwitness.errors import UsageError

FAR = 600.0  # seconds into a file from which on it pays to know where its frames are


def cut(recording: Recording, start: float, seconds: float) -> Samples:
    """Exactly these samples of a recording, a column a channel; all of them, or an error.

    They may come from several stretches if these follow each other without a gap.
    """
    first, wanted = round(start * recording.rate), round(seconds * recording.rate)
    pieces: list[Samples] = []
    for stretch in recording.stretches:
        low, high = _frames(stretch, recording.rate)
        behind = first + sum(map(len, pieces))
        if high <= behind or wanted <= behind - first:
            continue
        if low > behind + 1 or (low > behind and not pieces):
            break
        skipped = max(0, behind - low)
        count = min(high - low - skipped, first + wanted - behind)
        pieces.append(_exact(stretch, recording, skipped, count))
    if sum(map(len, pieces)) < wanted:
        raise UsageError(
            f"{recording.name}: not all of {seconds:g} s from {start:g} s on was recorded"
        )
    return np.concatenate([np.zeros((0, recording.channels), np.float32), *pieces])


def _frames(stretch: Stretch, rate: int) -> tuple[int, int]:
    low = round(stretch.start * rate)
    return low, low + round(stretch.seconds * rate)


def _exact(stretch: Stretch, recording: Recording, skipped: int, count: int) -> Samples:
    path, frame = Path(stretch.path), round(stretch.at * recording.rate) + skipped
    far = frame > FAR * recording.rate
    broken = any(one.path == stretch.path for one in recording.damages)
    decoder = opened(path, careful=far or broken)
    try:
        decoder.seek(frame)
        samples = np.concatenate(list(_pieces(decoder, count)))
    except Broken as error:
        position = frame / recording.rate
        raise UsageError(f"{path}: cannot be read from {position:.1f} s on: {error}") from error
    finally:
        decoder.close()
    if recording.channels == 1 and samples.shape[1] > 1:
        return mono(samples)[:, None]
    return samples


def _pieces(decoder: Decoder, count: int) -> Iterator[Samples]:
    """So many frames, however few come at once."""
    while count > 0:
        samples = decoder.read(count)
        if not len(samples):
            raise Broken("ends here")
        count -= len(samples)
        yield samples
