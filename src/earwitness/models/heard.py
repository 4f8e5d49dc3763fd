"""A recording as it was really heard: frames that are absent are missing time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from earwitness.audio.logmel import PER_SECOND
from earwitness.data import Recording, Stretch
from earwitness.models.frames import FrameFile


def heard(recording: Recording, files: Mapping[str, FrameFile]) -> Recording:
    """The recording without what could not be read; to 20 ms, within what was there."""
    found = tuple(
        part for stretch in recording.stretches for part in _parts(stretch, files[stretch.path])
    )
    return replace(recording, stretches=found)


def _parts(stretch: Stretch, file: FrameFile) -> Iterator[Stretch]:
    """Runs of frames that are there. One at either end of the stretch keeps that end."""
    first = round(stretch.at * PER_SECOND)
    last = round((stretch.at + stretch.seconds) * PER_SECOND - 0.5)
    there = np.zeros(last - first + 2, bool)
    there[1:-1] = file.present(first, last)
    for begin, end in np.flatnonzero(there[1:] != there[:-1]).reshape(-1, 2).tolist():
        at = stretch.at if begin == 0 else (first + begin) / PER_SECOND
        till = stretch.at + stretch.seconds if end == last - first else (first + end) / PER_SECOND
        yield Stretch(stretch.path, at, stretch.start + at - stretch.at, till - at)
