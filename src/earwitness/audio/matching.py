"""A skim that is given as sound is found in its recording: which parts of it come from when.

Seconds of the skim are first looked for roughly among the frames of the whole recording. Those
that run along with it are then laid over its samples, exactly; and where two parts meet, the fade
between them tells when each begins and ends. Neither levels nor lossy encoding matter much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.encoding import resampled
from earwitness.audio.likeness import EVERY, HOP, SECOND, Frames, Pieces, Place, places
from earwitness.audio.runs import Run, runs_of
from earwitness.audio.seams import Seam, seam
from earwitness.data import Pick, Recording, Skim
from earwitness.errors import UsageError

Samples = NDArray[Any]
PROBE = HOP * SECOND
AROUND = 0.15  # seconds around a rough place in which the exact one is looked for
HEARD = 2.0  # seconds of a part that are laid over the recording
SURE = 0.3  # likeness of samples from which on a place is exact
ROUGHLY = 0.6  # likeness of frames that is believed without samples
FARTHEST = 5.0  # seconds between parts that may still fade into each other
ALIKE = 0.1  # seconds by which overlaps may differ from the common one
CONFIDENCE = "confidence"


@dataclass(frozen=True)
class Source:
    """What is asked of a recording.

    ``frames`` gives its log-mel frames, ``describe`` those of samples at its rate, and ``cut`` so
    many seconds of one channel from a time on.
    """

    frames: Callable[[], Pieces]
    describe: Callable[[Samples], Frames]
    cut: Callable[[float, float], Samples]


@dataclass(frozen=True, slots=True)
class Matched:
    """A skim as it was found, and what was not found."""

    skim: Skim
    notes: tuple[str, ...] = ()


def find_picks(
    samples: Samples, rate: int, recording: Recording, *, source: Source | None = None
) -> Skim:
    """The picks of a skim that is given as sound; each has its ``confidence``, up to 1, as reason.

    Parts that are not in the recording are left out: ``match`` says which they are.
    """
    return match(samples, rate, recording, source=source).skim


def match(
    samples: Samples, rate: int, recording: Recording, *, source: Source | None = None
) -> Matched:
    """The same, with what was not found in words."""
    asked = source or source_of(recording)
    mono = samples if samples.ndim == 1 else samples.mean(axis=1)
    heard = resampled(np.asarray(mono, np.float32), rate, recording.rate)
    parts = _Parts(heard, recording, asked)
    runs = [exact for run in _rough(heard, asked) if (exact := parts.exact(run)) is not None]
    if not runs:
        return Matched(Skim(()), ("nothing of it is in the recording",))
    return parts.matched(_joined(runs))


def source_of(recording: Recording) -> Source:
    """A recording as it is read from its files."""
    reading, logmel = (import_module(f"earwitness.audio.{name}") for name in ("reading", "logmel"))

    def frames() -> Pieces:
        for one in recording.stretches:
            chunks = reading.read_blocks(one.path, at=one.at, seconds=one.seconds, size=600.0)
            for chunk in chunks:
                start = one.start + chunk.position - one.at
                yield start, logmel.log_mel(chunk.samples, recording.rate)

    def cut(start: float, seconds: float) -> Samples:
        return np.asarray(reading.cut(recording, start, seconds).mean(axis=1))

    return Source(frames, lambda sound: np.asarray(logmel.log_mel(sound, recording.rate)), cut)


def _rough(heard: Samples, asked: Source) -> list[Run]:
    """Parts by frames alone; only if something is not found, backwards, too."""
    skim = asked.describe(heard)
    probes = len(range(0, len(skim) - SECOND + 1, EVERY))
    forwards = places(skim, asked.frames())
    found = runs_of(forwards, [], probes, PROBE)
    lost = probes - sum(round((run.last - run.first) / HOP / EVERY) + 1 for run in found)
    if HOP * EVERY * lost < HEARD and found:
        return found
    turned = [_turned(one, probes) for one in places(skim[::-1], asked.frames())]
    return runs_of(forwards, turned, probes, PROBE)


def _turned(place: Place, probes: int) -> Place:
    """A place of the skim played backwards, counted from the skim's begin."""
    return place
