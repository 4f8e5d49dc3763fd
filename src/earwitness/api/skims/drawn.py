"""The spectrogram of a whole recording, for pictures; kept, as a day has four million frames.

A column is halfway between the mean and the loudest of its frames: a mean alone would lose a call
of a tenth of a second in the minute that a column stands for, and the loudest alone would make
every windy day look full.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from earwitness.audio.logmel import ABSENT, FORM, edges
from earwitness.data import Recording
from earwitness.models.cached import Cache, digest_of, open_sealed, write_sealed
from earwitness.models.columns import columns_of
from earwitness.models.framed_files import frame_files
from earwitness.report.skims import Spectrogram

WIDEST = 1_200  # columns


def spectrogram_of(recording: Recording, cache: Cache, *, sparse: bool = False) -> Spectrogram:
    """Levels of all bands over the time of a recording."""
    whole = edges(recording.rate)
    bands = (float(whole[0]), float(whole[-1]))
    key = digest_of(f"{FORM}|{sparse}|{sound_key(recording, cache)}")
    place = cache.folder / "pictures" / f"{key}.sealed"
    kept = open_sealed(place)
    if kept is not None:
        return Spectrogram(kept.arrays[0], kept.arrays[1].astype(np.bool_), *bands)
    files = frame_files(recording, cache=cache, sparse=sparse)
    count = max(1, min(WIDEST, int(recording.seconds)))
    found = columns_of(recording, files, count)
    levels = ((found.loudest.astype(np.uint16) + found.mean) // 2).astype(np.uint8)
    missing = found.loudest[0] == ABSENT
    write_sealed(place, {}, [levels, missing.astype(np.uint8)])
    return Spectrogram(levels, missing, *bands)


def sound_key(recording: Recording, cache: Cache) -> str:
    """A name for what is heard in a recording and when, whatever its files are called."""
    spans = [
        (cache.digest(Path(one.path)), one.at, one.start, one.seconds)
        for one in recording.stretches
    ]
    made = [recording.rate, recording.seconds, spans]
    return digest_of(msgspec.json.encode(made).decode())
