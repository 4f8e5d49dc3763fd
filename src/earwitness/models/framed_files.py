"""Frames of all files of a recording."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from earwitness.audio.reading import read_blocks
from earwitness.data import Progress, Recording, no_progress
from earwitness.models.cached import Cache, find_cache
from earwitness.models.frames import FrameFile, Read, Source, frame_file


def frame_files(
    recording: Recording,
    *,
    cache: Cache | None = None,
    sparse: bool = False,
    read: Read = read_blocks,
    progress: Progress = no_progress,
) -> dict[str, FrameFile]:
    """Frames of every file of a recording, by its path; progress is in bytes, and in files."""
    cache = cache or find_cache()
    ends: dict[str, float] = {}
    for stretch in recording.stretches:
        ends[stretch.path] = max(ends.get(stretch.path, 0.0), stretch.at + stretch.seconds)
    sizes = {path: Path(path).stat().st_size for path in ends}
    found: dict[str, FrameFile] = {}
    for path, end in ends.items():
        before = sum(sizes[other] for other in found)
        told = _teller(progress, before, sizes[path], sum(sizes.values()), len(found), end)
        source = Source(Path(path), recording.rate, read)
        found[path] = frame_file(source, cache, sparse=sparse, told=told)
    return found


def _teller(
    progress: Progress, before: int, size: int, total: int, files: int, end: float
) -> Callable[[float], None]:
    """Seconds of a file as bytes of all."""

    def told(seconds: float) -> None:
        share = min(1.0, seconds / end) if end else 1.0
        progress(before + int(share * size), total, files)

    return told
