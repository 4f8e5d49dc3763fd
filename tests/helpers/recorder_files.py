"""Files as recorders write them: noise that no two places share, in any form."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
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
AAC_CONTAINERS = {"m4a": "mp4", "mp4": "mp4", "mka": "matroska"}


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


def encode_aac(path: Path, samples: Samples, rate: int = RATE, *, pns: bool = False) -> Path:
    """A mono file whose times begin before zero, by what the encoder puts before the first sample.

    With ``pns``, which encoders use by default, some bands of noise are drawn anew.
    """
    with av.open(str(path), "w", format=AAC_CONTAINERS[path.suffix[1:]]) as container:
        stream: Any = container.add_stream("aac", rate=rate, options={"aac_pns": str(int(pns))})
        stream.layout = "mono"
        for start in range(0, len(samples), 1024):
            part = np.ascontiguousarray(samples[start : start + 1024].T)
            frame = av.AudioFrame.from_ndarray(part, format="fltp", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = rate, start, Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def recorded(path: Path, seconds: float, rate: int = RATE, channels: int = 1) -> Path:
    """A file of noise."""
    return write(path, noise(seconds, rate, channels), rate)


def state_length(path: Path, frames: int) -> Path:
    """Write a length into the header of a FLAC file: 0 is what programs write to a pipe."""
    content = bytearray(path.read_bytes())
    content[21] = content[21] & 0xF0 | frames >> 32  # 36 bits in STREAMINFO
    content[22:26] = (frames & 0xFFFFFFFF).to_bytes(4)
    path.write_bytes(content)
    return path
