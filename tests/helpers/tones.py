"""What tests of embedders share: sounds with known parts, and readers that are made up."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile

from earwitness.audio.logmel import Floats
from earwitness.audio.read import Chunk
from earwitness.recordings.types import Recording, Stretch

RATE = 8000


def sound(seconds: float, rate: int = RATE, seed: int = 0) -> Floats:
    """Noise, with a tone in every other 8 s that is another each time."""
    rng = np.random.default_rng(seed)
    samples = 0.01 * rng.normal(size=round(seconds * rate))
    times = np.arange(len(samples)) / rate
    number = times // 16
    on = times % 16 < 8
    samples += on * 0.1 * np.sin(2 * np.pi * (300 + 150 * (number % 5)) * times)
    return np.asarray(samples, np.float32)


def written(path: Path, samples: Floats, rate: int = RATE) -> Path:
    """A WAV file, exact."""
    soundfile.write(path, samples, rate, subtype="FLOAT")
    return path


def recording(*paths: Path, rate: int = RATE, gap: float = 0.0) -> Recording:
    """Files one behind the other, with a gap between them."""
    stretches, start = [], 0.0
    for path in paths:
        seconds = soundfile.info(path).duration
        stretches.append(Stretch(str(path), 0.0, start, seconds))
        start += seconds + gap
    return Recording("test", tuple(stretches), start - gap, rate, 1)


def parts(samples: Floats, cuts: list[int], rate: int = RATE) -> Iterator[Chunk]:
    """Sound in chunks that are cut at places."""
    for begin, end in zip([0, *cuts], [*cuts, len(samples)], strict=True):
        yield Chunk(begin / rate, samples[begin:end])
