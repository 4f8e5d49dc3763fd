"""Table of sound sources, with default durations and levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from earwitness.soundscapes.sources import human, nature
from earwitness.soundscapes.synthesis import Make

Range = tuple[float, float]
CROSSFADE_SECONDS = 1.0  # cross-fade between clips of a continuous source


@dataclass(frozen=True)
class SoundSource:
    """How clips of a source are made, and how clips form an event.

    ``lengths`` are the durations of its clips, which are synthesized, or read from ``files``. Clips
    follow each other after a ``pause`` until the ``event`` has about the required length; without
    ``event``, an event is a single clip. A source that ``lasts`` is continuous: its clips are
    cross-faded without pauses. ``level`` is that of the loudest moment, in dBFS.
    """

    make: Make | None
    lengths: tuple[float, ...]
    level: float
    event: Range | None = None
    pause: Range = (0.0, 0.0)
    lasts: bool = False
    fade: float = 0.02
    files: tuple[str, ...] = ()


def spread(low: float, high: float, count: int) -> tuple[float, ...]:
    """Return durations from short to long."""
    return tuple(float(duration) for duration in np.linspace(low, high, count))


def _lasting(make: Make, level: float, event: Range, variants: int = 4) -> SoundSource:
    """Return a continuous source."""
    return SoundSource(make, (12.0,) * variants, level, event, lasts=True, fade=CROSSFADE_SECONDS)


def _calls(
    make: Make, seconds: Range, level: float, event: Range, pause: Range, variants: int = 8
) -> SoundSource:
    """Return a source that repeats calls with pauses."""
    return SoundSource(make, spread(*seconds, variants), level, event, pause)


def _once(make: Make, seconds: Range, level: float) -> SoundSource:
    """Return a source whose events are single clips."""
    return SoundSource(make, spread(*seconds, 6), level, fade=0.1)


STROKE_SECONDS = 6.0  # duration of a bell stroke
STROKE_INTERVAL_SECONDS = 2.2  # time between strokes
BELLS = SoundSource(
    human.bells,
    (STROKE_SECONDS,),
    -24,
    (STROKE_SECONDS, 30),
    (STROKE_INTERVAL_SECONDS - STROKE_SECONDS,) * 2,
    fade=0.005,
)
BACKGROUND = _lasting(nature.background, -58, (1, 1), variants=6)
SOURCES: Mapping[str, SoundSource] = {
    "birds": _calls(nature.birds, (1.5, 3.5), -28, (8, 45), (0.5, 2.0), 20),
    "chorus": _lasting(nature.chorus, -27, (300, 1500)),
    "cuckoo": _calls(nature.cuckoo, (2.4, 6.0), -32, (10, 40), (0.8, 2.0)),
    "owl": _calls(nature.owl, (3.2, 4.2), -32, (8, 40), (2.0, 4.0)),
    "crow": _calls(nature.crow, (1.2, 2.8), -28, (4, 20), (0.6, 2.5)),
    "rooster": _calls(nature.rooster, (2.4, 2.6), -26, (5, 20), (2.0, 4.0)),
    "dog": _calls(nature.dog, (0.9, 3.0), -25, (5, 40), (0.4, 2.0)),
    "frogs": _lasting(nature.frogs, -34, (60, 600)),
    "crickets": _lasting(nature.crickets, -38, (120, 1500)),
    "bees": _lasting(nature.bees, -38, (15, 120)),
    "wind": _lasting(nature.wind, -28, (40, 600)),
    "rain": _lasting(nature.rain, -32, (120, 1500)),
    "thunder": _once(nature.thunder, (5, 10), -20),
    "brook": _lasting(nature.brook, -38, (600, 3600)),
    "car": _once(human.car, (7, 16), -24),
    "motorbike": _once(human.motorbike, (6, 12), -22),
    "bicycle": _once(human.bicycle, (3, 6), -32),
    "train": _once(human.train, (14, 30), -24),
    "aeroplane": _once(human.aeroplane, (30, 60), -28),
    "siren": _once(human.siren, (12, 25), -26),
    "bells": BELLS,
    "footsteps": _calls(human.footsteps, (5, 9), -30, (6, 25), (0.0, 0.3)),
    "hammer": _calls(human.hammer, (3.0, 6.0), -26, (15, 120), (0.5, 2.0)),
    "saw": _calls(human.saw, (3.0, 6.0), -30, (10, 60), (0.5, 2.0)),
    "machine": _lasting(human.machine, -27, (60, 900)),
    "voice": _calls(human.voice, (3.0, 7.0), -28, (8, 60), (0.3, 1.5)),
    "babble": _lasting(human.babble, -29, (40, 600)),
}
