"""MP3 files whose headers lie, or that are broken: what is there is read, and where it was."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
import soundfile

from earwitness.audio.decode import decoder_of
from earwitness.audio.files import DecodingError
from earwitness.audio.mp3 import kind_of, layout_of, walk_file
from earwitness.audio.read import Break, read_blocks
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording, remove_breaks
from helpers.recorder_files import Samples, noise, write
from helpers.samples import many

ROUNDING = 4e-6  # by which two decoders of MP3 may differ
RATES = [8000, 16_000, 24_000, 32_000, 44_100, 48_000]


def made(path: Path, seconds: float = 20, rate: int = 16_000, channels: int = 1) -> Samples:
    """A file, and its samples as the library reads them through."""
    write(path, noise(seconds, rate, channels), rate)
    return np.asarray(soundfile.read(path, dtype="float32", always_2d=True)[0].mean(axis=1))


def sound(path: Path, breaks: list[Break] | None = None) -> list[tuple[int, Samples]]:
    """All chunks, with the frame at which each begins."""
    rate = layout_of(path).kind.rate
    told = [] if breaks is None else breaks
    chunks = list(read_blocks(path, size=3, broken=told.append))
    return [(round(one.position * rate), one.samples) for one in chunks]


def whole(path: Path) -> Samples:
    """All samples in a row."""
    return np.concatenate([samples for _, samples in sound(path)])


def untagged(path: Path) -> None:
    """Take off the frame that tells the length."""
    layout, data = layout_of(path), path.read_bytes()
    path.write_bytes(data[layout.start + layout.kind.sizes[data[layout.start + 2]] :])


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("channels", [1, 2])
def test_a_layout_is_that_of_the_library(tmp_path: Path, rate: int, channels: int) -> None:
    samples = made(path := tmp_path / "a.mp3", 5, rate, channels)
    layout = walk_file(path)
    assert layout.is_honest
    assert layout.tag is not None
    assert len(layout.runs) == 1
    assert layout.counted == layout.tag.frames + 1
    assert (layout.kind.rate, layout.kind.channels) == (rate, channels)
    told = layout.tag.frames * layout.kind.samples - layout.tag.skipped
    assert 0 <= told - len(samples) < 3 * layout.kind.samples


@pytest.mark.parametrize("rate", RATES)
def test_a_file_that_does_not_tell_its_length_is_read_to_its_end(tmp_path: Path, rate: int) -> None:
    samples = made(path := tmp_path / "a.mp3", 20, rate)
    tag = layout_of(path).tag
    untagged(path)
    assert not layout_of(path).is_honest
    found = whole(path)
    assert open_recording([path]).seconds == pytest.approx(len(found) / rate)
    assert tag is not None
    late = found[tag.skipped :][: len(samples)]
    np.testing.assert_allclose(late, samples, atol=ROUNDING)


def test_joined_files_are_read_to_their_end_and_the_lie_is_told(tmp_path: Path) -> None:
    samples = made(path := tmp_path / "a.mp3", 20)
    path.write_bytes(path.read_bytes() * 3)
    recording = open_recording([path])
    assert 60 < recording.seconds < 60.6
    assert "the header gives 20.0 s, but the file has 60." in recording.notes[0]
    found = whole(path)
    assert len(found) == round(recording.seconds * 16_000)
    np.testing.assert_allclose(found[: len(samples) - 9000], samples[:-9000], atol=ROUNDING)


def test_seeking_in_joined_files_gives_what_reading_through_gives(tmp_path: Path) -> None:
    made(path := tmp_path / "a.mp3", 20)
    path.write_bytes(path.read_bytes() * 3)
    recording, through = open_recording([path]), whole(path)
    for frame in np.random.default_rng(1).integers(0, len(through) - 4000, 40):
        found = cut(recording, frame / 16_000, 0.25)[:, 0]
        np.testing.assert_allclose(found, through[frame : frame + 4000], atol=1e-6)


ENCODINGS = list(product(RATES, (0.0, 0.5, 0.99), ("CONSTANT", "VARIABLE"), (False, True)))


@pytest.mark.parametrize(("rate", "level", "mode", "careful"), ENCODINGS[:: many(5, 1)])
def test_seeking_is_exact_however_much_of_a_frame_stands_in_those_before(
    tmp_path: Path, rate: int, level: float, mode: str, careful: bool
) -> None:
    path, samples = tmp_path / "a.mp3", noise(8, rate, 1)
    samples[: 4 * rate] *= np.linspace(0, 1, 4 * rate)[:, None] ** 4  # quiet frames save bytes
    settings = {"format": "MP3", "bitrate_mode": mode, "compression_level": level}
    with soundfile.SoundFile(path, "w", rate, 1, **settings) as file:
        file.write(samples)
    through = whole(path)
    decoder = decoder_of(path, careful=careful)
    for frame in np.random.default_rng(3).integers(0, len(through) - 4000, many(8, 200)):
        decoder.seek(int(frame))
        found = decoder.read(3000)[:, 0]
        while len(found) < 3000:
            found = np.append(found, decoder.read(3000 - len(found))[:, 0])
        np.testing.assert_allclose(found, through[frame : frame + 3000], atol=1e-6)
    decoder.close()


@pytest.mark.parametrize("content", ["zeros", "noise"])
def test_what_is_overwritten_is_missing_and_the_rest_is_where_it_was(
    tmp_path: Path, content: str
) -> None:
    samples = made(path := tmp_path / "a.mp3", 60)
    data = path.read_bytes()
    low, high = len(data) // 2, len(data) // 2 + len(data) // 20  # 3 s of 60
    other = bytes(high - low) if content == "zeros" else b"\1\2\3" * ((high - low) // 3)
    path.write_bytes(data[:low] + other.ljust(high - low, b"\0") + data[high:])
    breaks: list[Break] = []
    chunks = sound(path, breaks)
    assert len([one for one in breaks if one.message]) == 1
    assert breaks[0].at == pytest.approx(30, abs=0.5)
    assert 2.8 < breaks[0].seconds < 4.2
    for frame, found in chunks:
        begin = 2000 if frame > 31 * 16_000 else 0  # what needs frames that are lost
        plain = samples[frame + begin : frame + len(found)]
        np.testing.assert_allclose(found[begin:][: len(plain)], plain, atol=ROUNDING)
    recording = remove_breaks(open_recording([path]), breaks)
    assert [one.message for one in recording.damages] == [breaks[0].message]
    late = cut(recording, 50, 1)[:, 0]
    np.testing.assert_allclose(late, samples[50 * 16_000 : 51 * 16_000], atol=ROUNDING)


def test_a_file_that_was_cut_short_is_read_up_to_there(tmp_path: Path) -> None:
    samples = made(path := tmp_path / "a.mp3", 30)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    breaks: list[Break] = []
    found = np.concatenate([one for _, one in sound(path, breaks)])
    assert 14 < len(found) / 16_000 < 16
    np.testing.assert_allclose(found, samples[: len(found)], atol=ROUNDING)
    assert [one.at for one in breaks] == [len(found) / 16_000]
    assert breaks[0].message.startswith("cannot be read to the end")
    assert remove_breaks(open_recording([path]), breaks).seconds == len(found) / 16_000


def test_names_before_the_sound_are_passed_over(tmp_path: Path) -> None:
    samples = made(path := tmp_path / "a.mp3", 5)
    path.write_bytes(b"ID3\4\0\0\0\0\2\0" + bytes(256) + path.read_bytes())
    assert layout_of(path).start == 266
    np.testing.assert_allclose(whole(path), samples, atol=ROUNDING)


def test_what_is_no_mp3_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.mp3").write_bytes(bytes(5000))
    with pytest.raises(DecodingError, match="no MP3 frame"):
        layout_of(tmp_path / "a.mp3")
    assert kind_of(b"\xff\xfb") is None
    assert kind_of(b"\xff\xf3\xff\x00") is None
