"""Files that only PyAV reads: every sample where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
import soundfile
from numpy.testing import assert_allclose

from earwitness.audio import packets
from earwitness.audio.decode import decoder_of
from earwitness.audio.read import Break, read_blocks, read_mono
from earwitness.errors import MissingExtra
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording, remove_breaks
from helpers.recorder_files import Samples, noise, recorded
from helpers.samples import many

FORMS = [("m4a", "aac"), ("webm", "libopus"), ("mka", "aac"), ("aac", "aac")]
RATE = 48_000


def made(path: Path, codec: str, seconds: float = 8, channels: int = 2) -> Samples:
    """A file with a codec, and what was put into it."""
    samples = noise(seconds, RATE, channels)
    form = {"aac": "adts", "mka": "matroska", "m4a": "mp4"}.get(path.suffix[1:])
    with av.open(str(path), "w", format=form) as container:
        options = {"aac_pns": "0"} if codec == "aac" else {}  # else noise is drawn anew each time
        stream: Any = container.add_stream(codec, rate=RATE, options=options)
        stream.layout = "stereo" if channels == 2 else "mono"
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples.T), format="fltp", layout=stream.layout.name
        )
        frame.sample_rate = RATE
        resampler = av.AudioResampler(
            format=stream.codec_context.format or "fltp",
            layout=stream.layout,
            rate=RATE,
            frame_size=stream.codec_context.frame_size or 1024,
        )
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            container.mux(stream.encode(piece))
        container.mux(stream.encode(None))
    return samples


def whole(path: Path, size: float = 0.7) -> Samples:
    """All samples in a row."""
    return np.concatenate([one.samples for one in read_blocks(path, size=size)])


@pytest.mark.parametrize(("ending", "codec"), FORMS)
def test_seeking_gives_the_samples_that_reading_through_gives(
    tmp_path: Path, ending: str, codec: str
) -> None:
    samples = made(path := tmp_path / f"a.{ending}", codec)
    recording, through = open_recording([path]), whole(path)
    assert recording.rate == RATE
    assert recording.seconds == pytest.approx(8, abs=0.2)
    assert len(through) / RATE == pytest.approx(8, abs=0.2)
    for frame in np.random.default_rng(1).integers(0, len(through) - 9000, many(12, 200)):
        found = cut(recording, frame / RATE, 0.1).mean(axis=1)
        np.testing.assert_allclose(found, through[frame : frame + 4800], atol=1e-6)
    late = _late(through, samples.mean(axis=1))
    assert 0 <= late < 0.06 * RATE


def _late(found: Samples, samples: Samples) -> int:
    """By how many samples a file is later than what was put into it."""
    part = samples[RATE : 2 * RATE]
    spectrum = np.fft.rfft(found[RATE : 3 * RATE], 4 * RATE)
    return int(np.argmax(np.fft.irfft(spectrum * np.fft.rfft(part, 4 * RATE).conj())[:RATE]))


@pytest.mark.parametrize(("ending", "codec"), FORMS)
def test_whole_files_are_read_as_one_channel(tmp_path: Path, ending: str, codec: str) -> None:
    made(path := tmp_path / f"a.{ending}", codec, 2)
    sound = read_mono(path)
    assert sound.rate == RATE
    np.testing.assert_array_equal(sound.samples, whole(path))


def test_opus_is_read_with_pyav(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.opus", 3, RATE)
    assert isinstance(decoder_of(path), packets.PyAvDecoder)
    assert open_recording([path]).seconds == pytest.approx(3, abs=0.05)


def test_a_file_that_was_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    made(path := tmp_path / "a.mka", "aac", 20)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    breaks: list[Break] = []
    found = np.concatenate([one.samples for one in read_blocks(path, broken=breaks.append)])
    assert 9 < len(found) / RATE < 11
    recording = remove_breaks(open_recording([path]), breaks)
    assert recording.seconds == pytest.approx(len(found) / RATE)


def test_what_is_no_sound_is_a_damage(tmp_path: Path) -> None:
    (tmp_path / "20250722_060000.m4a").write_bytes(bytes(1000))
    recorded(tmp_path / "20250722_060100.wav", 1)
    found = open_recording([tmp_path])
    assert [one.at for one in found.damages] == [0]
    assert found.seconds == 61


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(path := tmp_path / "a.m4a", "aac", 1)
    monkeypatch.setattr(packets, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"reading audio needs av.*\[audio\]"):
        open_recording([path])


def test_sound_with_short_and_long_vorbis_blocks_has_no_holes(tmp_path: Path) -> None:
    rng, rate = np.random.default_rng(3), 32_000
    clicks = np.repeat(rng.random(2000) < 0.1, rate * 60 // 2000)
    sound = rng.normal(0, 0.02, rate * 60) * np.where(clicks, 20, 1)
    path = tmp_path / "clicks.ogg"
    soundfile.write(path, np.clip(sound, -1, 1), rate, format="OGG", subtype="VORBIS")
    expected, _ = soundfile.read(path, dtype="float32", always_2d=True)
    decoder = packets.PyAvDecoder(path)
    assert_allclose(decoder.read(len(expected)), expected, atol=1e-6)
    for start in rng.integers(0, len(expected) - rate, 20):
        decoder.seek(int(start))
        assert_allclose(decoder.read(rate), expected[start : start + rate], atol=1e-6)
