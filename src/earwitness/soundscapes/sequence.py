"""Which clips make an event, and when each begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from earwitness.soundscapes.sources import SEAM, Source

JITTER = 1.0  # dB by which clips of one event differ


class Placed(NamedTuple):
    """A clip by its number, seconds after the event begins, and how much louder it is, in dB."""

    at: float
    number: int
    gain: float

    def end(self, source: Source) -> float:
        """When it ends, after the event begins."""
        return self.at + source.lengths[self.number]


def sequence(source: Source, seconds: float, rng: np.random.Generator) -> tuple[Placed, ...]:
    """Clips for an event of about so many seconds; at least one.

    What lasts is filled to the end and will be cut there; calls are whole, so they may end early.
    """
    if source.event is None:
        near = min(abs(length - seconds) for length in source.lengths)
        fits = [n for n, one in enumerate(source.lengths) if abs(one - seconds) <= near]
        return (Placed(0.0, fits[int(rng.integers(len(fits)))], 0.0),)
    return tuple(_filled(source, seconds, rng) if source.lasts else _called(source, seconds, rng))


def _filled(source: Source, seconds: float, rng: np.random.Generator) -> Iterator[Placed]:
    at = 0.0
    while at < seconds:
        number = int(rng.integers(len(source.lengths)))
        yield Placed(at, number, float(rng.uniform(-JITTER, JITTER)))
        at += source.lengths[number] - SEAM


def _called(source: Source, seconds: float, rng: np.random.Generator) -> Iterator[Placed]:
    lengths, at = np.array(source.lengths), 0.0
    fits = np.flatnonzero(lengths <= seconds)
    fits = fits if len(fits) else np.array([int(lengths.argmin())])
    while len(fits):
        number = int(rng.choice(fits))
        yield Placed(at, number, float(rng.uniform(-JITTER, JITTER)))
        at += source.lengths[number] + float(rng.uniform(*source.pause))
        fits = np.flatnonzero(lengths <= seconds - at)
