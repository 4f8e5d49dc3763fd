"""Sound is written as its ending says, whole or not at all, and never clips."""

from __future__ import annotations

import errno
import io
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from earwitness.audio.encode import FILE_FORMATS, FileFormat, encode
from earwitness.audio.files import SoundWriter
from earwitness.audio.signal import resample
from earwitness.errors import UsageError


def tones(seconds: float, rate: int, channels: int = 1) -> NDArray[Any]:
    """Another frequency in each channel, each of them the loudest where it was made."""
    times = np.arange(round(seconds * rate)) / rate
    columns = [0.5 * np.sin(2 * np.pi * 400 * (n + 1) * times) for n in range(channels)]
    return np.stack(columns, axis=1).astype(np.float32)


def loudest(samples: NDArray[Any], rate: int) -> float:
    """The frequency of the highest peak."""
    spectrum = abs(np.fft.rfft(samples * np.hanning(len(samples))))
    return float(spectrum.argmax() * rate / len(samples))


@pytest.mark.parametrize("ending", FILE_FORMATS)
@pytest.mark.parametrize("rate", [16_000, 32_000, 44_100, 48_000])
@pytest.mark.parametrize("channels", [1, 2])
def test_sound_is_written_as_its_ending_says(
    tmp_path: Path, ending: str, rate: int, channels: int
) -> None:
    path = tmp_path / f"a{ending}"
    made = encode(tones(3, rate, channels), rate, ending)
    path.write_bytes(made.content)
    read, found = soundfile.read(path, always_2d=True)
    kind = FILE_FORMATS[ending]
    assert soundfile.info(path).subtype == kind.subtype
    assert found == (48_000 if ending == ".opus" else rate)
    assert bool(made.notes) == (found != rate)
    assert len(read) / found == pytest.approx(3, abs=0.05)
    assert read.shape[1] == channels
    for channel in range(channels):
        middle = read[found : 2 * found, channel]
        assert loudest(middle, found) == pytest.approx(400 * (channel + 1), abs=2)
        assert abs(middle).max() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("ending", [".flac", ".wav"])
def test_24_bits_keep_what_16_bits_lose(ending: str) -> None:
    whole = np.random.default_rng(1).integers(-(2**23), 2**23, 5_000).astype(np.int32)
    whole[:2] = -(2**23), 2**23 - 1
    made = encode(whole / 2**23, 32_000, ending, bits=24)
    read, _ = soundfile.read(io.BytesIO(made.content), dtype="int32")
    assert soundfile.info(io.BytesIO(made.content)).subtype == "PCM_24"
    assert np.array_equal(read >> 8, whole)


@pytest.mark.parametrize(("ending", "bits"), [(".mp3", 24), (".ogg", 24), (".wav", 20)])
def test_other_bits_are_refused_with_a_remedy(ending: str, bits: int) -> None:
    message = rf"\{ending} cannot have {bits} bits.* use \.flac or \.wav"
    with pytest.raises(UsageError, match=message):
        encode(tones(0.1, 32_000), 32_000, ending, bits)


@pytest.mark.parametrize("ending", [".flac", ".wav"])
def test_samples_come_back_as_they_were(ending: str) -> None:
    whole = np.random.default_rng(1).integers(-(2**15), 2**15, 70_000).astype(np.int16)
    whole[:3] = -(2**15), 2**15 - 1, 0
    made = encode((whole / 2**15).astype(np.float32), 32_000, ending)
    read, _ = soundfile.read(io.BytesIO(made.content), dtype="int16")
    assert np.array_equal(read, whole)
    assert made.notes == ()


@pytest.mark.parametrize(
    ("ending", "rate", "written"),
    [(".mp3", 96_000, 48_000), (".mp3", 10_000, 11_025), (".ogg", 250_000, 192_000)],
)
def test_a_rate_that_a_kind_does_not_know_becomes_the_next(
    ending: str, rate: int, written: int
) -> None:
    made = encode(tones(1, rate), rate, ending)
    read, found = soundfile.read(io.BytesIO(made.content))
    assert found == written
    assert made.notes == (f"resampled from {rate:,} to {written:,} Hz",)
    assert loudest(read[written // 4 : 3 * written // 4], written) == pytest.approx(400, abs=5)


def test_long_sound_is_written_as_ogg() -> None:
    """In one go, libsndfile dies of it."""
    made = encode(tones(90, 32_000), 32_000, ".ogg")
    assert soundfile.info(io.BytesIO(made.content)).duration == pytest.approx(90, abs=0.1)


def test_sound_that_would_clip_is_made_softer_and_that_is_said() -> None:
    made = encode(4 * tones(1, 8_000)[:, 0], 8_000, ".wav")
    read, _ = soundfile.read(io.BytesIO(made.content))
    assert made.notes == ("level reduced by 6.0 dB to avoid clipping",)
    assert 0.999 < abs(read).max() < 1
    assert np.allclose(read, 2 * tones(1, 8_000)[:, 0], atol=1e-3)


def test_frequencies_that_the_other_rate_cannot_hold_are_left_out() -> None:
    times = np.arange(96_000) / 96_000
    high = np.sin(2 * np.pi * 40_000 * times).astype(np.float32)
    assert abs(resample(high, 96_000, 48_000)[1_000:-1_000]).max() < 0.01


def test_an_ending_that_is_not_known_is_refused() -> None:
    with pytest.raises(UsageError, match=r'"\.fla" — did you mean "\.flac"'):
        encode(tones(1, 8_000), 8_000, ".fla")


@pytest.mark.parametrize(
    ("samples", "told"),
    [([], "no audio"), ([0.0, np.nan], "not numbers"), ([np.inf], "not numbers")],
)
def test_what_is_no_sound_is_refused(samples: list[float], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        encode(np.array(samples), 8_000, ".wav")


class InterruptedFile(io.BytesIO):
    """A file during whose writing the user presses Ctrl-C once."""

    interruptions = 1

    def write(self, content: Any) -> int:
        if self.interruptions:
            self.interruptions -= 1
            signal.raise_signal(signal.SIGINT)
        return super().write(content)


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Let SIGINT interrupt Python, also in tests that run in the background of a shell."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize("ending", FILE_FORMATS)
def test_ctrl_c_while_the_library_writes_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(io, "BytesIO", InterruptedFile)
    with pytest.raises(KeyboardInterrupt):
        encode(tones(2, 8_000), 8_000, ending)


class FullFile(io.BytesIO):
    """A file on a disk that is full after some bytes."""

    def write(self, content: Any) -> int:
        if self.tell() > 4_000:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super().write(content)


@pytest.mark.parametrize("kind", FILE_FORMATS.values(), ids=str)
def test_a_full_disk_is_an_error_of_the_file(kind: FileFormat) -> None:
    noise = np.random.default_rng(0).normal(size=(48_000, 1)) / 10
    with (
        pytest.raises(OSError, match="No space left"),
        SoundWriter(FullFile(), 48_000, 1, kind.format, kind.subtype) as writer,
    ):
        writer.write(noise)
