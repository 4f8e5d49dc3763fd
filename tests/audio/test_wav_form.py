"""One form for all sounds: as wide as the widest, every sample as it was."""

from __future__ import annotations

import io
import itertools
import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earwitness.audio.decode import read_profile
from earwitness.audio.wav import (
    FLOAT_TAG,
    PCM_TAG,
    build_wav,
    form_of,
    split_wav,
    widen_wav,
    widest_sample,
)
from earwitness.errors import UsageError

SUBTYPES = {
    "PCM_U8": (PCM_TAG, 8),
    "PCM_16": (PCM_TAG, 16),
    "PCM_24": (PCM_TAG, 24),
    "PCM_32": (PCM_TAG, 32),
    "FLOAT": (FLOAT_TAG, 32),
}
WIDER = [
    (one, other)
    for one, other in itertools.combinations_with_replacement(SUBTYPES, 2)
    if widest_sample([SUBTYPES[one], SUBTYPES[other]])
]


def wav(subtype: str, form: str = "WAV", channels: int = 2) -> bytes:
    """Noise with the loudest and the softest samples that there are."""
    noise = np.random.default_rng(1).integers(-(2**31), 2**31, (999, channels))
    noise[0], noise[1], noise[2], noise[3] = -(2**31), 2**31 - 1, 0, -1
    file = io.BytesIO()
    soundfile.write(file, noise.astype(np.int32), 16_000, subtype=subtype, format=form)
    return file.getvalue()


def read(content: bytes) -> np.ndarray:
    """Samples as a library reads them."""
    return np.asarray(soundfile.read(io.BytesIO(content), dtype="float64", always_2d=True)[0])


@pytest.mark.parametrize(("narrow", "wide"), WIDER)
@pytest.mark.parametrize("form", ["WAV", "WAVEX"])
@pytest.mark.parametrize("channels", [1, 2])
def test_no_sample_changes_in_a_wider_form(
    narrow: str, wide: str, form: str, channels: int
) -> None:
    given = wav(narrow, form, channels)
    sent = widen_wav(given, SUBTYPES[wide])
    assert np.array_equal(read(sent), read(given))
    header, samples = split_wav(sent)
    assert form_of(header).sample == SUBTYPES[wide]
    assert (len(header), len(samples)) == (16, 999 * channels * SUBTYPES[wide][1] // 8)
    assert soundfile.info(io.BytesIO(sent)).subtype == wide


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_without_a_form_for_all_a_header_is_still_the_short_one(subtype: str) -> None:
    assert widen_wav(wav(subtype, "WAVEX"), None) == widen_wav(wav(subtype), None)


@pytest.mark.parametrize("subtype", ["ALAW", "IMA_ADPCM", "DOUBLE"])
def test_what_is_in_no_plain_form_is_left_as_it_is(subtype: str) -> None:
    given = wav(subtype, channels=1)
    assert widen_wav(given, (PCM_TAG, 24)) == build_wav(*split_wav(given))
    assert np.array_equal(read(widen_wav(given, (PCM_TAG, 24))), read(given))


def test_where_each_speaker_is_stays_in_the_header() -> None:
    given = wav("PCM_16", "WAVEX", channels=6)
    assert widen_wav(given, (PCM_TAG, 24)) == build_wav(*split_wav(given))


def test_twenty_bits_in_three_bytes_are_bits_of_three_bytes() -> None:
    header, samples = split_wav(wav("PCM_24", channels=1))
    odd = header[:14] + struct.pack("<H", 20)
    sent = widen_wav(build_wav(odd, samples), (PCM_TAG, 32))
    assert np.array_equal(read(sent), read(wav("PCM_24", channels=1)))


def test_a_form_that_holds_all_exactly_or_none() -> None:
    plain = list(SUBTYPES.values())
    assert widest_sample(plain[:4]) == (PCM_TAG, 32)
    assert widest_sample([*plain[:3], (FLOAT_TAG, 32)]) == (FLOAT_TAG, 32)
    assert widest_sample([(PCM_TAG, 32), (FLOAT_TAG, 32)]) is None  # floats have 24 bits that count
    assert widest_sample([(PCM_TAG, 16), (FLOAT_TAG, 64)]) is None  # which browsers may not decode
    assert widest_sample([]) is None


@pytest.mark.parametrize(
    ("form", "subtype", "ending"),
    [("WAV", "PCM_24", "wav"), ("FLAC", "PCM_24", "flac"), ("OGG", "VORBIS", "ogg")],
)
def test_a_file_is_measured_without_its_samples(
    tmp_path: Path, form: str, subtype: str, ending: str
) -> None:
    path = tmp_path / f"x.{ending}"
    soundfile.write(path, np.zeros((800, 2)), 8000, subtype=subtype, format=form)
    sample = (FLOAT_TAG, 32) if ending == "ogg" else (PCM_TAG, 24)
    assert read_profile(path) == ((*sample, 2, 8000), 0.1)
    path.write_bytes(b"no sound")
    with pytest.raises(UsageError, match=r"x\.\w+: (not a WAV file|cannot be read)"):
        read_profile(path)
