"""Clips of sources, each made once and pasted often, so that a day takes seconds to make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np

from earwitness.soundscapes.clips import read_clip
from earwitness.soundscapes.sources import Source
from earwitness.soundscapes.tones import Sound

MOMENT = 0.05  # seconds over which loudness is taken


def chance(seed: int, *names: str | int) -> np.random.Generator:
    """A stream of its own for everything that has a name: others do not move it."""
    keys = [crc32(name.encode()) if isinstance(name, str) else name for name in names]
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=keys)))


class Bank:
    """Clips of every source at a rate, made or read when they are first asked for."""

    def __init__(self, sources: Mapping[str, Source], rate: int, seed: int = 0) -> None:
        self.rate = rate
        self._sources, self._seed = sources, seed
        self._clips: dict[str, list[Sound]] = {}

    def clips(self, name: str) -> Sequence[Sound]:
        """All clips of a source; each has a mean square of one at its loudest moment."""
        if name not in self._clips:
            count = len(self._sources[name].lengths)
            self._clips[name] = [self._clip(name, number) for number in range(count)]
        return self._clips[name]

    def _clip(self, name: str, number: int) -> Sound:
        source, rng = self._sources[name], chance(self._seed, name, number)
        if source.make is None:
            return levelled(read_clip(source.files[number], self.rate), self.rate)
        return levelled(source.make(rng, source.lengths[number], self.rate), self.rate)


def levelled(clip: Sound, rate: int) -> Sound:
    """With a mean square of one at its loudest moment; silence stays silence."""
    size = max(1, round(MOMENT * rate))
    whole = clip[: len(clip) // size * size] if len(clip) >= size else clip
    moments = np.mean(whole.reshape(-1, min(size, len(whole))) ** 2, axis=1, dtype=np.float64)
    loudest = float(np.sqrt(moments.max(initial=0.0)))
    return clip if loudest == 0 else clip / np.float32(loudest)
