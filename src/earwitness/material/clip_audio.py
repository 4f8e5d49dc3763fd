"""Audio of clips: exact samples of a recording, level, SNR and waveform peaks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.decode import LibsndfileDecoder, open_decoder, seeks_directly
from earwitness.audio.files import Decoder, DecodingError, sound_subtype
from earwitness.audio.wav import PCM_TAG, riff_of
from earwitness.errors import UsageError
from earwitness.material.candidates import Span

# --- Exact samples -------------------------------------------------------------------------------
# Samples are copied without conversion: integers as integers of the same size, floats as floats.
# Compressed audio becomes the samples that its decoder returns: 16-bit integers for A-law and
# µ-law, and 32-bit floats otherwise.


Values = NDArray[Any]
# subtypes of libsndfile, and those of the WAV files into which they are copied exactly
INTEGER_SUBTYPES = {
    **{name: name for name in ("PCM_U8", "PCM_16", "PCM_24", "PCM_32")},
    "PCM_S8": "PCM_U8",
    **dict.fromkeys(("ULAW", "ALAW"), "PCM_16"),
}
FULL_SCALE_INT32 = 2.0**31
SKIP_SECONDS = 10.0  # decoded at once where a file cannot seek


class ClipReader:
    """Reads parts of a recording in the order of time, with the exact values of its samples."""

    def __init__(self, path: Path) -> None:
        self._path, self._frame = path, 0
        self._decoder: Decoder = open_decoder(path)
        self.facts = self._decoder.facts
        self._seeks = isinstance(self._decoder, LibsndfileDecoder) or seeks_directly(path)
        self.subtype = "FLOAT"
        riff = riff_of(path)
        if isinstance(self._decoder, LibsndfileDecoder):
            own = sound_subtype(path)
            self.subtype = "DOUBLE" if own == "DOUBLE" else INTEGER_SUBTYPES.get(own, "FLOAT")
            types = {"FLOAT": "float32", "DOUBLE": "float64"}
            self._decoder.sample_type = types.get(self.subtype, "int32")
        elif riff is not None and riff.form.tag == PCM_TAG and riff.form.bits <= 24:
            self.subtype = "PCM_U8" if riff.form.bits == 8 else f"PCM_{riff.form.bits}"

    def read(self, start: int, frames: int) -> Values:
        """Return frames from a position, with one column per channel: integers or floats."""
        try:
            samples = self._decode(start, frames)
        except (DecodingError, OSError) as error:
            at = start / self.facts.rate
            raise UsageError(f"{self._path}: cannot be read at {at:.2f} s: {error}") from error
        if len(samples) < frames:
            ends = (start + len(samples)) / self.facts.rate
            raise UsageError(f"{self._path}: ends unexpectedly at {ends:.2f} s")
        valid = np.isfinite(samples).all(axis=1)
        if not valid.all():
            at = (start + int(np.argmin(valid))) / self.facts.rate
            raise UsageError(f"{self._path}: has a sample that is not a number at {at:.2f} s")
        if self.subtype.startswith("PCM") and samples.dtype.kind == "f":
            samples = (samples * FULL_SCALE_INT32).astype(np.int32)
        return samples

    def _decode(self, start: int, frames: int) -> Values:
        if self._seeks:
            self._decoder.seek(start)
        else:
            most = round(SKIP_SECONDS * self.facts.rate)
            while left := max(0, start - self._frame):
                if not len(part := self._decoder.read(min(most, left))):
                    break
                self._frame += len(part)
        parts, count = list[Values](), 0
        while count < frames and len(part := self._decoder.read(frames - count)):
            parts.append(part)
            count += len(part)
        self._frame = start + count
        return np.concatenate(parts) if parts else np.zeros((0, self.facts.channels), np.float32)

    def close(self) -> None:
        """Close the file."""
        self._decoder.close()


# --- Measurements --------------------------------------------------------------------------------


MIN_LEVEL_DB = -120.0  # level of digital silence
SNR_LIMITS_DB = (-20.0, 80.0)  # estimates beyond them are not meaningful
PEAK_COUNT = 160  # columns of the waveform in the review


def measure_level(samples: Values) -> float:
    """Return the level of samples in dB relative to full scale (RMS over all channels).

    >>> measure_level(np.full((9, 1), 0.1)), measure_level(np.zeros((9, 1)))
    (-20.0, -120.0)
    """
    power = float(np.mean(np.square(samples, dtype=np.float64))) if samples.size else 0.0
    return round(max(10 * float(np.log10(power)), MIN_LEVEL_DB), 2) if power else MIN_LEVEL_DB


def estimate_snr(samples: Values, rate: int, spans: Sequence[Span]) -> float:
    """Return a rough SNR in dB: power in speech without that outside of it, to the latter.

    ``spans`` are the speech in seconds. The noise is taken to be as loud in speech as outside.
    """
    inside = np.zeros(len(samples), bool)
    for start, end in spans:
        inside[round(max(start, 0) * rate) : round(max(end, 0) * rate)] = True
    powers = np.square(samples, dtype=np.float64).mean(axis=1)
    noise = float(powers[~inside].mean()) if not inside.all() else 0.0
    speech = (float(powers[inside].mean()) if inside.any() else 0.0) - noise
    low, high = SNR_LIMITS_DB
    if speech <= 0 or noise <= 0:
        return high if speech > 0 else low
    return round(min(max(10 * float(np.log10(speech / noise)), low), high), 2)


def find_peaks(samples: Values, count: int = PEAK_COUNT) -> tuple[int, ...]:
    """Return the largest magnitude of each of ``count`` parts, from 0 to 100 (full scale)."""
    magnitudes = np.abs(samples).max(axis=1, initial=0)
    edges = np.linspace(0, len(magnitudes), count + 1).astype(int)[:-1]
    peaks = np.maximum.reduceat(magnitudes, np.minimum(edges, max(len(magnitudes) - 1, 0)))
    return tuple(np.clip(np.ceil(100 * peaks), 0, 100).astype(int).tolist())
