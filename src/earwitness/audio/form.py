"""How the samples of a sound are stored, and one form for many sounds that loses nothing.

A listener who looks at what the browser gets could tell systems by sizes and headers alone, if one
wrote 16 bits a sample and another 24. So all are sent in the widest form that any of them has:
whole numbers get zeros below their last bit, or become floats that hold each of them exactly.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from earwitness.audio.files import sound_library
from earwitness.audio.wav import made_wav, wav_head, wav_parts
from earwitness.errors import UsageError

WHOLE, FLOAT, EXTENSIBLE = 1, 3, 0xFFFE  # tags of WAV
STANDARD = bytes.fromhex("000000001000800000aa00389b71")  # follows the tag in extensible headers
SUBTYPES = {"PCM_16": (WHOLE, 16), "PCM_24": (WHOLE, 24), "PCM_32": (WHOLE, 32)}
PLAIN = {(WHOLE, 8), *SUBTYPES.values(), (FLOAT, 32)}  # what can be read and written here


class Form(NamedTuple):
    """Tag and bits of a sample, channels, and samples a second."""

    tag: int
    bits: int
    channels: int
    rate: int

    @property
    def sample(self) -> tuple[int, int]:
        """Tag and bits."""
        return self.tag, self.bits

    @property
    def header(self) -> bytes:
        """As WAV has it."""
        frame = self.channels * self.bits // 8
        bytes_a_second = frame * self.rate
        return struct.pack(
            "<HHIIHH", self.tag, self.channels, self.rate, bytes_a_second, frame, self.bits
        )


class Measured(NamedTuple):
    """The form in which a file would be sent as it is, and how long it lasts."""

    form: Form
    seconds: float


def measured(path: Path) -> Measured:
    """What a file says of itself; its samples are not read."""
    if path.suffix.lower() != ".wav":
        return _decoded(path)
    head = wav_head(path)
    return Measured(form_of(head.header), head.seconds)


def _decoded(path: Path) -> Measured:
    soundfile = sound_library()
    try:
        known = soundfile.info(path)
    except soundfile.SoundFileError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    sample = SUBTYPES.get(known.subtype, (FLOAT, 32))
    form = Form(*sample, known.channels, known.samplerate)
    return Measured(form, known.frames / known.samplerate)


def form_of(header: bytes) -> Form:
    """What the header of a WAV file says; the tag of an extensible one is looked up in it.

    Bits are those that a sample takes up: if fewer of them are used, these are at the top.
    """
    tag, channels, rate, frame = struct.unpack_from("<HHI4xH", header)
    if tag == EXTENSIBLE and channels <= 2 and header[26:40] == STANDARD:
        tag = struct.unpack_from("<24xH", header)[0]
    return Form(tag, 8 * frame // max(1, channels), channels, rate)


def widest(samples: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
    """Tag and bits that hold samples of all these exactly; None if there are none such.

    >>> widest([(WHOLE, 16), (WHOLE, 24)])
    (1, 24)
    >>> widest([(WHOLE, 16), (FLOAT, 32)])
    (3, 32)
    >>> widest([(WHOLE, 32), (FLOAT, 32)])
    """
    known = set(samples)
    if not known or not known <= PLAIN or {(WHOLE, 32), (FLOAT, 32)} <= known:
        return None
    return max(known)


def widened(content: bytes, sample: tuple[int, int] | None) -> bytes:
    """A WAV file with format and samples alone, its samples in a form that is as wide or wider.

    Without a form for all, each keeps its own; what is in no plain form is left as it is.
    """
    header, samples = wav_parts(content)
    form = form_of(header)
    if form.sample not in PLAIN:
        return made_wav(header, samples)
    sample = sample or form.sample
    wide = form._replace(tag=sample[0], bits=sample[1])
    if form.sample != sample:
        whole = len(samples) - len(samples) % (form.bits // 8)
        samples = _written(_whole(samples[:whole], form.bits), sample)
    return made_wav(wide.header, samples)


def _whole(samples: bytes, bits: int) -> NDArray[np.int32]:
    """Whole numbers of 32 bits, the given ones at the top; those of 8 bits have no sign."""
    given = np.frombuffer(samples, np.uint8).reshape(-1, bits // 8)
    wide = np.zeros((len(given), 4), np.uint8)
    wide[:, 4 - bits // 8 :] = given
    if bits == 8:
        wide[:, 3] ^= 0x80
    return wide.view("<i4")[:, 0]


def _written(samples: NDArray[np.int32], sample: tuple[int, int]) -> bytes:
    tag, bits = sample
    if tag == FLOAT:
        floats: NDArray[Any] = samples.astype(np.float64) / 2**31
        return floats.astype("<f4").tobytes()
    return samples.astype("<i4").view(np.uint8).reshape(-1, 4)[:, 4 - bits // 8 :].tobytes()
