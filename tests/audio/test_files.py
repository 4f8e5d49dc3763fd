"""Files of sound: how long they are, and what a low-pass leaves of them."""

from __future__ import annotations

import errno
import io
import struct
import wave
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earwitness.audio.files import Sound, write_sound, write_wav
from earwitness.audio.read import read_sound
from earwitness.audio.signal import low_pass
from earwitness.audio.wav import wav_seconds
from earwitness.errors import UsageError

RATE = 48_000


@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT", "PCM_U8"])
@pytest.mark.parametrize("form", ["WAV", "WAVEX", "RF64"])
@pytest.mark.parametrize("channels", [1, 2])
def test_seconds_are_those_of_a_library(
    tmp_path: Path, subtype: str, form: str, channels: int
) -> None:
    path = tmp_path / "x.wav"
    soundfile.write(path, np.zeros((1234, channels)), 16_000, subtype=subtype, format=form)
    assert wav_seconds(path) == pytest.approx(1234 / 16_000)
    assert wav_seconds(path) == pytest.approx(soundfile.info(path).duration)


def test_chunks_before_the_sound_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(16_000))
    data = path.read_bytes()
    odd = b"LIST" + struct.pack("<I", 3) + b"abc\0"
    path.write_bytes(data[:12] + odd + data[12:])
    assert wav_seconds(path) == 1.0


def test_a_file_that_was_cut_short_is_refused(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "x.wav", np.zeros(1000), 8000)
    (tmp_path / "x.wav").write_bytes((tmp_path / "x.wav").read_bytes()[:500])
    with pytest.raises(UsageError, match=r"x\.wav: is truncated"):
        wav_seconds(tmp_path / "x.wav")


@pytest.mark.parametrize("data", [b"", b"RIFF", b"RIFF\0\0\0\0WAVE", b"ID3" * 20])
def test_what_is_no_wav_file_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.wav").write_bytes(data)
    with pytest.raises(UsageError, match=r"x\.wav: (not a )?WAV file"):
        wav_seconds(tmp_path / "x.wav")


def test_equal_samples_give_equal_float_files_without_a_time_stamp() -> None:
    file = io.BytesIO()
    write_wav(file, Sound(np.full((100, 1), 0.25), 8000, "FLOAT"))
    place = file.getvalue().index(b"PEAK")
    version, stamp = struct.unpack_from("<II", file.getvalue(), place + 8)
    assert (version, stamp) == (1, 0)
    file.seek(0)
    assert soundfile.read(file)[0].tolist() == [0.25] * 100


@pytest.mark.parametrize("cutoff", [3500, 7000])
@pytest.mark.parametrize("rate", [16_000, 44_100, 48_000])
def test_a_low_pass_keeps_what_it_should_and_stops_the_rest(cutoff: float, rate: int) -> None:
    impulse = np.zeros(8192)
    impulse[4096] = 1
    response = np.abs(np.fft.rfft(low_pass(impulse, rate, cutoff)))
    frequencies = np.fft.rfftfreq(8192, 1 / rate)
    level = 20 * np.log10(np.maximum(response, 1e-9))
    assert np.abs(level[frequencies <= cutoff]).max() < 0.1
    assert level[frequencies >= cutoff + 500].max() < -50


def test_a_low_pass_is_neither_early_nor_late() -> None:
    time = np.arange(RATE) / RATE
    tone = np.sin(2 * np.pi * 1000 * time) * np.hanning(RATE)
    stereo = np.stack([tone, -tone], axis=1)
    found = low_pass(stereo, RATE, 3500)
    assert found.shape == stereo.shape
    np.testing.assert_allclose(found, stereo, atol=2e-3)
    lags = [float(tone[100:-100] @ found[100 + n : RATE - 100 + n, 0]) for n in range(-50, 51)]
    assert int(np.argmax(lags)) == 50


def test_a_low_pass_is_the_plain_sum_of_its_definition() -> None:
    rng = np.random.default_rng(0)
    sound, impulse = rng.normal(size=300), np.zeros(2001)
    impulse[1000] = 1
    taps = low_pass(impulse, RATE, 3500)
    plain = np.convolve(sound, taps)[1000:1300]
    np.testing.assert_allclose(low_pass(sound, RATE, 3500), plain, atol=1e-9)


def test_sound_that_has_nothing_to_leave_out_is_refused() -> None:
    with pytest.raises(UsageError, match="has no content above 7000 Hz"):
        low_pass(np.zeros(100), 8000, 7000)


def test_files_are_written_as_they_were_stored_and_never_over_others(tmp_path: Path) -> None:
    samples = np.linspace(-0.5, 0.5, 100)[:, None]
    soundfile.write(tmp_path / "a.wav", samples, 8000, subtype="PCM_24")
    sound = read_sound(tmp_path / "a.wav")
    write_sound(tmp_path / "new" / "b.wav", sound)
    assert soundfile.info(tmp_path / "new" / "b.wav").subtype == "PCM_24"
    with pytest.raises(UsageError, match=r"b\.wav: cannot be written: File exists"):
        write_sound(tmp_path / "new" / "b.wav", sound)
    with pytest.raises(UsageError, match="would clip"):
        write_sound(tmp_path / "c.wav", Sound(samples * 4, 8000, "PCM_16"))
    for subtype in ("PCM_16", "FLOAT"):
        with pytest.raises(UsageError, match="not numbers"):
            write_sound(tmp_path / "c.wav", Sound(samples * np.nan, 8000, subtype))
    assert not (tmp_path / "c.wav").exists()


def test_a_full_disk_is_an_error_of_the_file() -> None:
    class FullFile(io.BytesIO):
        def write(self, _content: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_wav(FullFile(), Sound(np.zeros(100), 8000, "PCM_16"))
