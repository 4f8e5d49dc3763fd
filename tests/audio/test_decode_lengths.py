"""Lengths of files whose headers give none, or an impossible one."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.audio.decode import facts_of, open_decoder
from earwitness.audio.read import read_sound
from earwitness.audio.wav import wav_seconds
from earwitness.errors import EarwitnessError, UsageError
from earwitness.material.clip_audio import ClipReader
from earwitness.material.normalize import audio_normalize
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording
from earwitness.studies.file.audio_checks import measure_audio
from earwitness.web.media import plain_wav_bytes
from helpers.recorder_files import RATE, Samples, noise, state_length, write

IMPOSSIBLE = 2**36 - 1


@pytest.fixture(params=[0, IMPOSSIBLE], ids=["none", "impossible"])
def flac(tmp_path: Path, request: pytest.FixtureRequest) -> tuple[Path, Samples]:
    """A FLAC file of 5 s as programs write it to a pipe, or with a forged length."""
    path = write(tmp_path / "in" / "a.flac", noise(5, channels=2))
    samples = soundfile.read(path, dtype="float32", always_2d=True)[0]
    return state_length(path, request.param), np.asarray(samples)


def test_the_length_of_a_flac_file_is_counted(flac: tuple[Path, Samples]) -> None:
    path, samples = flac
    assert facts_of(path) == (RATE, 2, 5 * RATE, "", False)
    decoder = open_decoder(path)
    np.testing.assert_array_equal(decoder.read(10**6), samples)
    decoder.seek(3 * RATE + 7)
    np.testing.assert_array_equal(decoder.read(100), samples[3 * RATE + 7 :][:100])
    decoder.close()


def test_commands_read_such_a_flac_file(flac: tuple[Path, Samples], tmp_path: Path) -> None:
    path, samples = flac
    recording = open_recording([path])
    assert (recording.seconds, recording.notes, recording.damages) == (5, (), ())
    np.testing.assert_array_equal(cut(recording, 1, 2), samples[RATE : 3 * RATE])
    np.testing.assert_allclose(ClipReader(path).read(RATE, 9), samples[RATE:][:9])
    measured = measure_audio(str(path))
    assert (measured.frames, measured.fault) == (5 * RATE, "")
    [made] = audio_normalize(path, tmp_path / "out").files
    assert made.seconds == 5
    sent = plain_wav_bytes(path, (1, 16))
    assert len(sent) == 44 + 5 * RATE * 4


def riff(*, tag: int = 1, channels: int = 1, rate: int = RATE, frame: int = 2, bits: int = 16,
         size: int = 4000, kind: bytes = b"RIFF", chunk: int = 16) -> bytes:  # fmt: skip
    """A WAV file with 4,000 bytes of audio, whatever its header says."""
    header = struct.pack("<HHIIHH", tag, channels, rate, 1, frame, bits)
    content = b"fmt " + struct.pack("<I", chunk) + header[:chunk]
    content += b"data" + struct.pack("<I", size) + np.full(2000, 999, "<i2").tobytes()
    return kind + struct.pack("<I", 4 + len(content)) + b"WAVE" + content


@pytest.mark.parametrize("size", [0, 0xFFFFFFFF, 0x7FFFF000, 0x7FFFEFFF, 0xFFFFFEFE])
@pytest.mark.parametrize("kind", [b"RIFF", b"RF64"])
def test_all_audio_of_a_wav_file_from_a_pipe_is_used(
    tmp_path: Path, size: int, kind: bytes
) -> None:
    (path := tmp_path / "a.wav").write_bytes(riff(size=size, kind=kind))
    assert wav_seconds(path) == facts_of(path).seconds == 2000 / RATE
    assert len(plain_wav_bytes(path)) == 44 + 4000
    assert measure_audio(str(path)).frames == 2000


@pytest.mark.parametrize(
    "header",
    [
        {"channels": 0},
        {"channels": 65_535},
        {"rate": 0},
        {"rate": 2**32 - 1},
        {"frame": 0},
        {"frame": 3},
        {"frame": 65_535},
        {"bits": 0},
        {"bits": 65_535},
        {"bits": 32},
        {"channels": 2},
        {"tag": 3, "frame": 65_528, "bits": 32},
        {"tag": 7, "frame": 0, "bits": 0},
        {"chunk": 2},
    ],
    ids=str,
)
def test_a_wav_header_that_no_file_can_have_is_an_error_of_the_file(
    tmp_path: Path, header: dict[str, int]
) -> None:
    (path := tmp_path / "a.wav").write_bytes(riff(**header))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"a\.wav: (invalid|not a WAV file with)"):
        wav_seconds(path)
    with pytest.raises(UsageError, match=r"(invalid|not a WAV file with)"):
        plain_wav_bytes(path, (1, 32))
    with pytest.raises(EarwitnessError, match=r"a\.wav: "):
        facts_of(path)
    assert measure_audio(str(path)).fault


def test_the_forged_length_of_a_wav_file_is_an_error_of_the_file(tmp_path: Path) -> None:
    (path := tmp_path / "a.wav").write_bytes(riff(size=2**30))
    with pytest.raises(UsageError, match=r"a\.wav: is truncated"):
        wav_seconds(path)
    with pytest.raises(UsageError, match=r"a\.wav: truncated: the header gives"):
        read_sound(path)
    assert measure_audio(str(path)).fault.startswith("truncated: the header gives 67108.9 s")


@pytest.mark.parametrize("frames", [None, 0, 1, 10_000, 2**32 - 1])
def test_all_audio_of_an_mp3_file_without_a_length_is_used(
    tmp_path: Path, frames: int | None
) -> None:
    content = bytearray(write(path := tmp_path / "a.mp3", noise(5)).read_bytes())
    tag = content.index(b"Xing")
    if frames is None:  # as encoders write it to a pipe
        content[tag : tag + 4] = bytes(4)
    else:
        content[tag + 8 : tag + 12] = frames.to_bytes(4)
    path.write_bytes(content)
    facts, measured = facts_of(path), measure_audio(str(path))
    assert 5 <= facts.seconds < 5.3
    assert facts.note == "" if frames is None else facts.note.startswith("the header gives no len")
    assert (measured.frames, measured.fault) == (facts.frames, "")
    assert len(plain_wav_bytes(path, (1, 16))) == 44 + 2 * facts.frames


def test_a_file_that_ends_before_its_header_says_is_refused(tmp_path: Path) -> None:
    content = write(path := tmp_path / "a.mp3", noise(5)).read_bytes()
    path.write_bytes(content[: len(content) // 2])
    fault = "ends 2.7 s earlier than its header says"
    assert measure_audio(str(path)).fault == fault
    with pytest.raises(UsageError, match=fault):
        read_sound(path)
    assert 2 * RATE < len(plain_wav_bytes(path, (1, 16))) / 2 < 2.5 * RATE  # served nevertheless


def test_zeros_after_a_wav_header_are_not_searched_for_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (path := tmp_path / "a.wav").write_bytes(riff()[:36] + bytes(80_000))
    steps, unpack = [], struct.unpack

    def count(*given: Any) -> Any:
        steps.append(1)
        return unpack(*given)

    monkeypatch.setattr(struct, "unpack", count)
    with pytest.raises(UsageError, match=r"a\.wav: not a WAV file"):
        wav_seconds(path)
    assert len(steps) < 9
