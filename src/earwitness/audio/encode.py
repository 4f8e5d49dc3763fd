"""Encoding to FLAC, WAV, MP3, Ogg Vorbis and Opus.

Formats with a limited set of sample rates use the next higher one. Files are written completely or
not at all: they are written under a temporary name and renamed when finished.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import sound_library
from earwitness.audio.signal import resample
from earwitness.errors import UsageError, nearest

Samples = NDArray[Any]
ENCODE_BLOCK_FRAMES = 32_768  # per call: libsndfile crashes on long Ogg writes
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


def write_audio(path: str | Path, samples: Samples, rate: int) -> tuple[str, ...]:
    """Write audio in the format of the file's extension; return notes on changes to the audio."""
    path = Path(path)
    sound = encode(samples, rate, path.suffix)
    write_whole(path, sound.content)
    return sound.notes


def encode(samples: Samples, rate: int, ending: str, bits: int = DEFAULT_BITS) -> EncodedSound:
    """Return audio as the content of a file; samples have one column per channel.

    FLAC and WAV have 16 or 24 ``bits`` per sample; other formats have no choice.
    """
    kind = kind_of(ending, bits)
    _refuse_broken(samples)
    written = _written_rate(rate, kind)
    notes = [f"resampled from {rate:,} to {written:,} Hz"] if written != rate else []
    samples, loud = _prevent_clipping(resample(samples, rate, written), bits)
    file = io.BytesIO()
    channels = 1 if samples.ndim == 1 else samples.shape[1]
    try:
        with sound_library().SoundFile(
            file, "w", written, channels, subtype=kind.subtype, format=kind.format
        ) as sound:
            for portion in _iterate_portions(samples):
                sound.write(portion)
    except sound_library().SoundFileError as error:
        message = f"{channels} channels at {written:,} Hz cannot be written as {ending}"
        raise UsageError(f"{message} — use another format, such as .wav") from error
    return EncodedSound(file.getvalue(), kind.mime, (*notes, *loud))


def write_whole(path: Path, content: bytes) -> None:
    """Write a file completely or not at all, replacing an existing one."""
    beside = path.with_name(f".{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            beside.write_bytes(content)
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from error


def _written_rate(rate: int, kind: FileFormat) -> int:
    if not kind.rates or rate in kind.rates:
        return rate
    return next((allowed for allowed in kind.rates if allowed >= rate), kind.rates[-1])


def _prevent_clipping(samples: Samples, bits: int) -> tuple[Samples, tuple[str, ...]]:
    """Reduce the level if the loudest sample would clip."""
    full_scale = 1 - 2.0 ** (1 - bits)  # largest sample
    peak = float(abs(samples).max(initial=0))
    if peak <= 1:
        return np.clip(samples, -1, full_scale), ()
    decibels = 20 * np.log10(peak / full_scale)
    return samples * (full_scale / peak), (f"level reduced by {decibels:.1f} dB to avoid clipping",)


def _iterate_portions(samples: Samples) -> Iterator[Samples]:
    for start in range(0, len(samples), ENCODE_BLOCK_FRAMES):
        yield samples[start : start + ENCODE_BLOCK_FRAMES]


def _refuse_broken(samples: Samples) -> None:
    if not len(samples):
        raise UsageError("there is no audio to write")
    if not np.isfinite(samples).all():
        raise UsageError("the audio has samples that are not numbers")
