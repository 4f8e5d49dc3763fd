"""Files as recorders write them: noise that no two places share, in any form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile
from numpy.typing import NDArray

Samples = NDArray[np.float32]
RATE = 8000
FORMS = {
    "wav": ("WAV", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "w64": ("W64", "PCM_16"),
    "rf64": ("RF64", "PCM_16"),
    "aiff": ("AIFF", "PCM_16"),
}


def noise(seconds: float, rate: int = RATE, channels: int = 1, seed: int = 0) -> Samples:
    """Noise that rises and falls, a column a channel."""
    count = round(seconds * rate)
    rng = np.random.default_rng(seed)
    swell = 0.2 + 0.1 * np.sin(np.arange(count) / rate)
    return (rng.normal(size=(count, channels)) * swell[:, None] / 2).astype(np.float32)


def write(path: Path, samples: Samples, rate: int = RATE) -> Path:
    """A file in the form that its ending names, written in blocks."""
    path.parent.mkdir(parents=True, exist_ok=True)
    form, subtype = FORMS[path.suffix[1:].lower()]
    columns = samples.shape[1]
    with soundfile.SoundFile(path, "w", rate, columns, subtype, format=form) as file:
        for start in range(0, len(samples), rate):
            file.write(samples[start : start + rate])
    return path


def recorded(path: Path, seconds: float, rate: int = RATE, channels: int = 1) -> Path:
    """A file of noise."""
    return write(path, noise(seconds, rate, channels), rate)
