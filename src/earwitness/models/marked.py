"""Silences that mark hours, found by the frames of a recording and then to the sample.

Frames are 20 ms apart, and 24 marks an hour apart would move the clock by half a second. So frames
only say where to look; there the sound itself is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from earwitness.audio.logmel import PER_SECOND, levels
from earwitness.audio.reading import read_blocks
from earwitness.audio.silences import HourMarks, Silence, without_marks
from earwitness.data import Recording, Stretch
from earwitness.models.frames import FrameFile, Read

MARGIN = 1.0  # seconds of sound around a silence that are read
PORTION = 600 * PER_SECOND  # frames at a time


def without_hour_gaps(
    recording: Recording, files: Mapping[str, FrameFile], gap: float, read: Read = read_blocks
) -> Recording:
    """The recording without silences of such a length that mark hours; a note if there are none."""
    rough, exact = HourMarks(gap), HourMarks(gap)
    for stretch in recording.stretches:
        for first, last in _portions(stretch):
            peaks = 10 ** (levels(files[stretch.path].rows(first, last)) / 20)
            start = stretch.start + first / PER_SECOND - stretch.at
            rough.feed_levels(start, peaks, 1 / PER_SECOND)
    for mark in rough.found():
        for stretch in recording.stretches:
            _feed(exact, stretch, mark, recording.rate, read)
    return without_marks(recording, exact.found(), gap=gap)


def _portions(stretch: Stretch) -> Iterator[tuple[int, int]]:
    first = round(stretch.at * PER_SECOND)
    last = round((stretch.at + stretch.seconds) * PER_SECOND)
    for begin in range(first, last, PORTION):
        yield begin, min(last, begin + PORTION)


def _feed(marks: HourMarks, stretch: Stretch, mark: Silence, rate: int, read: Read) -> None:
    """Sound of a stretch around a silence, if it has any of it."""
    low, high = max(stretch.start, mark.start - MARGIN), min(stretch.end, mark.end + MARGIN)
    if low >= high:
        return
    at = stretch.at + low - stretch.start
    for chunk in read(Path(stretch.path), at=at, seconds=high - low):
        marks.feed(stretch.start + chunk.position - stretch.at, chunk.samples, rate)
