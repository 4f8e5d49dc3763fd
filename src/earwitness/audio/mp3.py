"""MP3 files that are broken or say the wrong length, decoded run by run of whole frames.

libsndfile reads no more than it thinks a file to have. So it is opened at the frame where reading
is to begin (some before it, since frames need those before them), and again where it believes to
be at the end. What is lost between two runs of frames keeps its time, as far as its bytes tell it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.audio.mpeg import MARK, Layout, Run, is_tag, walked
from earwitness.audio.sources import MP3_BEFORE, Broken, Facts, Samples, faults, straight

FURTHER = (1, 3, 9, 27)  # it guesses the end by the first frame that it sees: others guess better


class Mp3:
    """A decoder that knows where each frame is."""

    def __init__(self, path: Path) -> None:
        self._path, self._layout = path, walked(path)
        self._skipped = _skipped(self._layout)
        self.facts = mp3_facts(self._layout)
        self._file: Any = None
        self._frame = 0
        self._run: Run | None = None

    def seek(self, frame: int) -> None:
        """Into the run of frames that holds it."""
        self._go(frame, 1)

    def _go(self, frame: int, further: int) -> None:
        """There, from so many times as many frames before it as are needed."""
        self.close()
        self._frame, self._run = frame, None
        samples = self._layout.kind.samples
        number = (frame + self._skipped) // samples
        for run in self._layout.runs:
            if run.first <= number < run.first + run.frames:
                self._run = run
                self._open(run, number, further)
                return
        raise Broken("there is no MP3 frame here")

    def read(self, frames: int) -> Samples:
        """To the end of the run at most; there is nothing right behind it."""
        if self._run is None:
            raise Broken("there is no MP3 frame here")
        end = (self._run.first + self._run.frames) * self._layout.kind.samples - self._skipped
        frames = min(frames, end - self._frame)
        if frames <= 0:
            return self._behind(end)
        found = self._decoded(frames)
        for further in FURTHER:
            if not len(found):
                self._go(self._frame, further)
                found = self._decoded(frames)
        self._frame += len(found)
        return found

    def _decoded(self, frames: int) -> Samples:
        try:
            return np.asarray(self._file.read(frames, dtype="float32", always_2d=True))
        except faults() as error:
            raise Broken(str(error)) from error

    def close(self) -> None:
        """Close it."""
        if self._file is not None:
            self._file.close()
        self._file = None

    def _behind(self, end: int) -> Samples:
        if end + self._skipped < self._layout.counted * self._layout.kind.samples:
            raise Broken("there is no MP3 frame here")
        return np.zeros((0, self.facts.channels), np.float32)

    def _open(self, run: Run, number: int, further: int) -> None:
        """libsndfile at a frame before that, and read up to where it shall go on."""
        kind = self._layout.kind
        first = max(0, number - run.first - further * MP3_BEFORE[kind.samples])
        start, place = _place(self._path, run, first, self._layout)
        handle = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        os.lseek(handle, place, os.SEEK_SET)
        self._file = straight(handle)
        ahead = self._frame - ((run.first + start) * kind.samples - self._skipped)
        self._decoded(max(0, ahead))


def _place(path: Path, run: Run, number: int, layout: Layout) -> tuple[int, int]:
    """Where a frame of a run stands; or one near it, if that holds a tag and no sound."""
    at, place = number - number % MARK, run.places[number // MARK]
    with path.open("rb") as file:
        while True:
            file.seek(place)
            head = file.read(48)
            if at >= number and not is_tag(head):
                return at, place
            place += layout.kind.sizes[head[2]]
            at += 1


def _skipped(layout: Layout) -> int:
    """Samples before the first that counts: the frame of the tag, and what it says."""
    return layout.kind.samples + layout.tag.skipped if layout.tag else 0


def mp3_facts(layout: Layout) -> Facts:
    """What a walked file has, or should have if it was cut short."""
    kind = layout.kind
    frames = layout.counted * kind.samples - _skipped(layout)
    told = layout.tag.frames * kind.samples - layout.tag.skipped if layout.tag else 0
    note = ""
    if layout.tag and frames > told + kind.rate:
        note = (
            f"its header tells {told / kind.rate:.1f} s, "
            f"but the file has {frames / kind.rate:.1f} s, which are read"
        )
    return Facts(kind.rate, kind.channels, max(frames, told), note)
