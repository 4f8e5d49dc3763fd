"""Days of a few minutes to skim: five sources, 24 hours of 20 seconds, made in a moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.skims.options import SkimOptions
from earwitness.soundscapes.mix import Mixer
from earwitness.soundscapes.scene import Scene, make_scene
from earwitness.soundscapes.timetable import Timetable, TimetableRow, spread_over_hours
from earwitness.soundscapes.write import soundscape_write

RATE, HOUR, BLOCK = 16_000, 20.0, 4.0
ROWS = (
    TimetableRow("wind", shares=spread_over_hours({"0-24": 0.6})),
    TimetableRow("crickets", shares=spread_over_hours({"20-4": 0.9})),
    TimetableRow("chorus", shares=spread_over_hours({"4-8": 0.8})),
    TimetableRow("car", events=spread_over_hours({"7-19": 1})),
    TimetableRow("dog", events=spread_over_hours({"10-16": 2}), seconds=(4, 8)),
)


@cache
def scene(seed: int = 1) -> Scene:
    """A day of eight minutes."""
    return make_scene(Timetable("tiny", ROWS, hour=HOUR, seed=seed), rate=RATE)


@cache
def sound(seed: int = 1) -> Any:
    """All of it."""
    mixer = Mixer(scene(seed))
    return mixer.mix_frames(0, mixer.frames)


def write(path: Path, *, begin: float = 0.0, end: float = 24 * HOUR, **form: Any) -> Path:
    """A part of the day as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = sound()[round(begin * RATE) : round(end * RATE)]
    soundfile.write(path, samples, RATE, **form)
    return path


def write_marked(path: Path, gap: float) -> Path:
    """The day with silences between its hours."""
    soundscape_write(scene(), path, hour_gap=gap)
    return path


def asked(**options: Any) -> SkimOptions:
    """Small skims: six picks of four seconds."""
    return SkimOptions(**{"picks": 6, "block": BLOCK, "overlap": 1.0, "period": HOUR} | options)


def bare(**options: Any) -> SkimOptions:
    """The same, with no more than sound and JSON."""
    return replace(
        asked(**options), without=("csv", "labels", "file-labels", "raven", "picture", "page")
    )


def told(path: Path) -> Any:
    """What the JSON beside a skim says."""
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def heard(path: Path) -> Any:
    """Samples of a file."""
    return soundfile.read(path)[0]


@contextmanager
def frames_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How many frames are decoded while it lasts, by each reading."""
    plain, counts = soundfile.SoundFile.read, list[int]()

    def read(self: Any, *args: Any, **options: Any) -> Any:
        found = plain(self, *args, **options)
        counts.append(len(found))
        return found

    with monkeypatch.context() as patch:
        patch.setattr(soundfile.SoundFile, "read", read)
        yield counts


def alike(one: Any, other: Any) -> bool:
    """Whether two sounds are the same but for 16 bits."""
    return len(one) == len(other) and float(np.abs(np.ravel(one) - np.ravel(other)).max()) < 1e-4
