"""Encoding to FLAC, WAV, MP3, Ogg Vorbis and Opus.

Formats with a limited set of sample rates use the next higher one.
"""

from __future__ import annotations

import io
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import SoundWriter, sound_library
from earwitness.audio.signal import resample
from earwitness.errors import UsageError, nearest

Samples = NDArray[Any]
MP3_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
DEFAULT_BITS, BIT_DEPTHS = 16, (16, 24)
PCM_ENDINGS = (".flac", ".wav")  # formats with a choice of bits per sample
VORBIS_RATES_HZ = (8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000, 192_000)


class FileFormat(NamedTuple):
    """Name in libsndfile, MIME type, and supported sample rates, if not all."""

    format: str
    subtype: str
    mime: str
    rates: tuple[int, ...] = ()


FILE_FORMATS = {
    ".flac": FileFormat("FLAC", "PCM_16", "audio/flac"),
    ".wav": FileFormat("WAV", "PCM_16", "audio/wav"),
    ".mp3": FileFormat("MP3", "MPEG_LAYER_III", "audio/mpeg", MP3_RATES_HZ),
    ".ogg": FileFormat("OGG", "VORBIS", "audio/ogg", VORBIS_RATES_HZ),
    ".opus": FileFormat("OGG", "OPUS", "audio/ogg", (48_000,)),
}


class EncodedSound(NamedTuple):
    """Content of an audio file, its MIME type, and notes on changes to the audio."""

    content: bytes
    mime: str
    notes: tuple[str, ...]


def kind_of(ending: str, bits: int = DEFAULT_BITS) -> FileFormat:
    """Return the format of a file extension such as ``.flac``, with 16 or 24 bits per sample."""
    if ending.lower() not in FILE_FORMATS:
        raise UsageError(
            f'audio cannot be written as "{ending}" — {nearest(ending.lower(), FILE_FORMATS)}'
        )
    kind = FILE_FORMATS[ending.lower()]
    if bits == DEFAULT_BITS:
        return kind
    if bits not in BIT_DEPTHS or ending.lower() not in PCM_ENDINGS:
        allowed = f"{' or '.join(PCM_ENDINGS)} with {' or '.join(map(str, BIT_DEPTHS))} bits"
        raise UsageError(f"{ending} cannot have {bits} bits per sample — use {allowed}")
    return kind._replace(subtype=f"PCM_{bits}")


def encode(samples: Samples, rate: int, ending: str, bits: int = DEFAULT_BITS) -> EncodedSound:
    """Return audio as the content of a file; samples have one column per channel.

    FLAC and WAV have 16 or 24 ``bits`` per sample; other formats have no choice.
    """
    kind = kind_of(ending, bits)
    if not len(samples):
        raise UsageError("there is no audio to write")
    if not np.isfinite(samples).all():
        raise UsageError("the audio has samples that are not numbers")
    written = rate
    if kind.rates and rate not in kind.rates:
        written = next((allowed for allowed in kind.rates if allowed >= rate), kind.rates[-1])
    notes = [f"resampled from {rate:,} to {written:,} Hz"] if written != rate else []
    samples = resample(samples, rate, written)
    full_scale = 1 - 2.0 ** (1 - bits)  # largest sample
    peak = float(abs(samples).max(initial=0))
    if peak <= 1:
        samples = np.clip(samples, -1, full_scale)
    else:
        samples = samples * (full_scale / peak)
        decibels = 20 * np.log10(peak / full_scale)
        notes.append(f"level reduced by {decibels:.1f} dB to avoid clipping")
    file = io.BytesIO()
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    try:
        with SoundWriter(file, written, channels, kind.format, kind.subtype) as sound:
            sound.write(samples)
    except sound_library().SoundFileError as error:
        message = f"{channels} channels at {written:,} Hz cannot be written as {ending}"
        raise UsageError(f"{message} — use another format, such as .wav") from error
    return EncodedSound(file.getvalue(), kind.mime, tuple(notes))
