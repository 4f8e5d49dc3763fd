"""A skim that is given as sound is found in its recording: which parts of it come from when.

Seconds of the skim are first looked for roughly among the frames of the whole recording. Those
that run along with it are then laid over its samples, exactly; and where two parts meet, the fade
between them tells when each begins and ends. Neither levels nor lossy encoding matter much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.along import Along, Matched, joined
from earwitness.audio.cutting import cut as cut_out
from earwitness.audio.likeness import (
    EVERY,
    HOP,
    Frames,
    Pieces,
    places,
    probe_count,
    turned_places,
)
from earwitness.audio.logmel import log_mel
from earwitness.audio.reading import read_blocks
from earwitness.audio.resampling import resampled
from earwitness.audio.runs import Run, runs_of
from earwitness.data import Recording, Skim

Samples = NDArray[Any]
TURNED = 2.0  # seconds that must be lost before they are looked for backwards
WINDOW = 0.032  # seconds of a frame
PIECE = 120.0  # seconds that are described at once


@dataclass(frozen=True)
class Source:
    """What is asked of a recording.

    ``frames`` gives its log-mel frames, ``describe`` those of samples at its rate, and ``cut`` so
    many seconds of one channel from a time on.
    """

    frames: Callable[[], Pieces]
    describe: Callable[[Samples], Frames]
    cut: Callable[[float, float], Samples]


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
    along = Along(heard, recording, asked.cut)
    runs = [exact for run in _rough(heard, asked) if (exact := along.exact(run)) is not None]
    if not runs:
        return Matched(Skim(()), ("nothing of it is in the recording",))
    return along.matched(along.own(joined(runs)))


def source_of(recording: Recording) -> Source:
    """A recording as it is read from its files."""

    def frames() -> Pieces:
        for one in recording.stretches:
            chunks = read_blocks(Path(one.path), at=one.at, seconds=one.seconds, size=PIECE)
            for chunk in chunks:
                start = one.start + chunk.position - one.at
                yield start, log_mel(chunk.samples, recording.rate)

    def cut(start: float, seconds: float) -> Samples:
        return np.asarray(cut_out(recording, start, seconds).mean(axis=1))

    return Source(frames, lambda sound: np.asarray(log_mel(sound, recording.rate)), cut)


def _rough(heard: Samples, asked: Source) -> list[Run]:
    """Parts by frames alone; backwards only if something is not found."""
    skim = asked.describe(heard)
    probes = probe_count(skim)
    forwards = places(skim, asked.frames())
    found = runs_of(forwards, [], probes)
    lost = probes - sum(round((run.last - run.first) / HOP / EVERY) + 1 for run in found)
    if HOP * EVERY * lost < TURNED:
        return found
    return runs_of(forwards, turned_places(skim, asked.frames(), WINDOW), probes)
