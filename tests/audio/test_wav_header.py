"""WAV files whose headers lie: what is there is read, and the lie is told."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earwitness.audio.decode import LibsndfileDecoder
from earwitness.audio.read import read_blocks
from earwitness.audio.wav import PcmDecoder, complete_riff, riff_of
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording
from helpers.recorder_files import RATE, Samples, noise

SUBTYPES = ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT", "DOUBLE"]


def made(path: Path, subtype: str = "PCM_16", form: str = "WAV", channels: int = 2) -> Samples:
    """A file of 4 s, and its samples as the library reads them."""
    soundfile.write(path, noise(4, channels=channels), RATE, subtype=subtype, format=form)
    return np.asarray(soundfile.read(path, dtype="float32", always_2d=True)[0])


def tell(path: Path, size: int) -> None:
    """Write another size of the sound into the header."""
    data = path.read_bytes()
    place = data.index(b"data") + 4
    path.write_bytes(data[:place] + struct.pack("<I", size) + data[place + 4 :])


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("form", ["WAV", "WAVEX", "RF64"])
@pytest.mark.parametrize("channels", [1, 2])
def test_plain_numbers_are_those_of_the_library(
    tmp_path: Path, subtype: str, form: str, channels: int
) -> None:
    samples = made(path := tmp_path / "a.wav", subtype, form, channels)
    riff = riff_of(path)
    assert riff is not None
    assert riff.is_honest
    assert riff.real == complete_riff(path).real
    plain, library = PcmDecoder(path, riff), LibsndfileDecoder(path)
    assert plain.facts == library.facts
    np.testing.assert_array_equal(plain.read(10**6), samples)
    for decoder in (plain, library):
        decoder.seek(12_345)
        np.testing.assert_array_equal(decoder.read(1000), samples[12_345:13_345])
        decoder.close()


@pytest.mark.parametrize(
    ("size", "tells"),
    [
        (0, "no length"),
        (0xFFFFFFFF, "no length"),
        (0x7FFFF000, "no length"),
        (32_000, "1.0 s"),
        (4, "0.0 s"),
    ],
)
@pytest.mark.parametrize("subtype", SUBTYPES)
def test_a_lie_is_told_and_all_is_read(tmp_path: Path, size: int, tells: str, subtype: str) -> None:
    samples = made(path := tmp_path / "a.wav", subtype)
    tell(path, size)
    recording = open_recording([path])
    wide = {"PCM_U8": 2.0, "PCM_24": 2 / 3, "PCM_32": 0.5, "FLOAT": 0.5, "DOUBLE": 0.25}
    told = f"{wide.get(subtype, 1):.1f} s" if size == 32_000 else tells
    assert recording.notes == (
        f"{path}: the header gives {told}, but the file has 4.0 s; all of it is used",
    )
    assert not recording.damages
    np.testing.assert_array_equal(cut(recording, 0, 4), samples)
    found = np.concatenate([one.samples for one in read_blocks(path, size=0.3)])
    np.testing.assert_allclose(found, samples.mean(axis=1), atol=1e-7)


def test_a_size_that_began_again_at_zero_is_a_lie(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    made(path)
    with path.open("r+b") as file:  # a file with a hole, which takes no room
        file.truncate((1 << 32) + 44 + 64_000)
    tell_at = 40
    with path.open("r+b") as file:
        file.seek(tell_at)
        file.write(struct.pack("<I", 64_000))
    recording = open_recording([path])
    assert recording.seconds == pytest.approx(((1 << 32) + 64_000) / 4 / RATE)
    assert "the header gives 2.0 s, but the file has 134219.7 s" in recording.notes[0]
    assert len(cut(recording, recording.seconds - 1, 1)) == RATE


def test_a_file_that_was_cut_short_is_damaged_at_its_end(tmp_path: Path) -> None:
    samples = made(path := tmp_path / "20250722_060000.wav")
    path.write_bytes(path.read_bytes()[: -2 * RATE * 4 + 1])
    recording = open_recording([tmp_path])
    assert recording.seconds == pytest.approx(2)
    assert recording.notes == ()
    damage = recording.damages[0]
    assert (damage.at, damage.start) == pytest.approx((2, 2))
    assert damage.message == "truncated: the header gives 4.0 s, the file has 2.0 s"
    np.testing.assert_array_equal(cut(recording, 0, 2), samples[: 2 * RATE])


def test_other_chunks_behind_the_sound_are_no_sound(tmp_path: Path) -> None:
    made(path := tmp_path / "a.wav")
    path.write_bytes(path.read_bytes() + b"LIST" + struct.pack("<I", 5) + b"hello\0")
    assert open_recording([path]).notes == ()
    assert open_recording([path]).seconds == 4


def test_packed_samples_are_left_to_the_library(tmp_path: Path) -> None:
    soundfile.write(path := tmp_path / "a.wav", noise(4), RATE, subtype="IMA_ADPCM")
    tell(path, 0xFFFFFFFF)
    assert open_recording([path]).seconds == pytest.approx(4, abs=0.1)


@pytest.mark.parametrize("data", [b"", b"RIFF", b"RIFF\0\0\0\0WAVE", b"RIFF\0\0\0\0WAVEdata\0\0"])
def test_what_is_no_wav_has_no_header(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.wav").write_bytes(data)
    assert riff_of(tmp_path / "a.wav") is None
