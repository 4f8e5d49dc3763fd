"""Damaged files of every kind: each hole is told with its time, and all later sound is in place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile

from earwitness.audio.decode import LibsndfileDecoder, decoder_name, decoder_of
from earwitness.audio.mp3 import layout_of
from earwitness.audio.packets import PyAvDecoder
from earwitness.audio.read import Break, read_blocks
from earwitness.recordings.cut import cut
from earwitness.recordings.recording import open_recording, remove_breaks
from helpers.recorder_files import Samples, encode_aac, noise, recorded, write

RATE, SECONDS = 48_000, 20
ENDINGS = ["flac", "mp3", "ogg", "opus", "m4a", "mka"]
CONTAINERS = ("m4a", "mka")


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same noise in every kind of file."""
    folder, samples = tmp_path_factory.mktemp("originals"), noise(SECONDS, RATE)
    for ending in ENDINGS:
        path = folder / f"a.{ending}"
        if ending in CONTAINERS:
            encode_aac(path, samples, RATE)
        else:
            write(path, samples, RATE)
    return folder


def overwritten(path: Path, target: Path, shares: list[float], count: int = 300) -> Path:
    """The same file with zeros in some places."""
    data = bytearray(path.read_bytes())
    for share in shares:
        place = round(len(data) * share)
        data[place : place + count] = bytes(count)
    target.write_bytes(data)
    return target


def heard(path: Path) -> tuple[Samples, list[Break]]:
    """All sound in its place, with silence in holes, and what is broken."""
    breaks: list[Break] = []
    samples = np.zeros((SECONDS + 1) * RATE, np.float32)
    for chunk in read_blocks(path, size=1.7, broken=breaks.append):
        first = round(chunk.position * RATE)
        samples[first : first + len(chunk.samples)] = chunk.samples
    return samples, [hole for hole in breaks if hole.message]


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("shares", [[0.5], [0.2, 0.5, 0.8]])
def test_small_damages_are_told_and_all_other_sound_is_in_place(
    originals: Path, tmp_path: Path, ending: str, shares: list[float]
) -> None:
    intact, none = heard(originals / f"a.{ending}")
    path = overwritten(originals / f"a.{ending}", tmp_path / f"a.{ending}", shares)
    found, breaks = heard(path)
    assert not none
    assert [hole.at for hole in breaks] == pytest.approx([20 * share for share in shares], abs=1.3)
    expected = intact.copy()
    for hole in breaks:
        assert hole.seconds < 5.5  # Matroska is found again at its next cluster
        first, last = (round(time * RATE) for time in (hole.at, hole.at + hole.seconds))
        expected[first:last] = 0
        expected[first - 1024 : first] = found[first - 1024 : first]  # may be half of a packet
    np.testing.assert_allclose(found, expected, atol=2e-3)


@pytest.mark.parametrize("ending", ["mp3", "ogg", "opus", "m4a"])
def test_a_cut_behind_a_damage_is_that_of_the_intact_file(
    originals: Path, tmp_path: Path, ending: str
) -> None:
    path = overwritten(originals / f"a.{ending}", tmp_path / f"a.{ending}", [0.4])
    breaks: list[Break] = []
    for _ in read_blocks(path, broken=breaks.append):
        pass
    whole, holed = (
        open_recording([originals / f"a.{ending}"]),
        remove_breaks(open_recording([path]), breaks),
    )
    assert len(holed.damages) == 1
    np.testing.assert_allclose(cut(holed, 12, 2), cut(whole, 12, 2), atol=1e-6)


@pytest.mark.parametrize("ending", ["ogg", "opus"])
def test_a_first_page_that_is_lost_does_not_move_the_others(
    originals: Path, tmp_path: Path, ending: str
) -> None:
    intact, _ = heard(originals / f"a.{ending}")
    path = overwritten(originals / f"a.{ending}", tmp_path / f"a.{ending}", [0.03])
    found, [hole] = heard(path)
    assert hole.at == 0
    assert 0.1 < hole.seconds < 2
    np.testing.assert_allclose(found[3 * RATE :], intact[3 * RATE :], atol=1e-3)


@pytest.mark.parametrize("ending", CONTAINERS)
def test_what_an_encoder_puts_before_the_sound_is_left_out(originals: Path, ending: str) -> None:
    found, breaks = heard(originals / f"a.{ending}")
    assert not breaks
    samples = noise(SECONDS, RATE)[:, 0]
    for start in (0, 5 * RATE, 19 * RATE):
        likeness = np.corrcoef(found[start : start + RATE], samples[start : start + RATE])[0, 1]
        assert likeness > 0.5
    if ending == "m4a":
        assert open_recording([originals / "a.m4a"]).seconds == SECONDS


def test_the_content_of_a_file_counts_and_not_its_ending(originals: Path, tmp_path: Path) -> None:
    plain = recorded(tmp_path / "a.wav", 2)
    shutil.copy(plain, tmp_path / "b.mp3")
    np.testing.assert_array_equal(
        cut(open_recording([tmp_path / "b.mp3"]), 0, 2), cut(open_recording([plain]), 0, 2)
    )
    assert isinstance(decoder_of(tmp_path / "b.mp3"), LibsndfileDecoder)
    for ending in ("mp3", "ogg", "m4a", "flac"):
        shutil.copy(originals / f"a.{ending}", path := tmp_path / f"{ending}.wav")
        assert open_recording([path]).seconds == pytest.approx(SECONDS, abs=0.01)


def test_a_damaged_file_leaves_nothing_on_stderr(
    originals: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for ending in ENDINGS:
        path = overwritten(originals / f"a.{ending}", tmp_path / f"a.{ending}", [0.3, 0.7], 9000)
        open_recording([path])
        heard(path)
    assert capfd.readouterr() == ("", "")


def test_a_packet_with_a_wrong_time_is_left_out(
    originals: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place_of = PyAvDecoder._place

    def wrong(self: PyAvDecoder, frame: Any, end: int | None) -> int:
        place = place_of(self, frame, end)
        return place + 9 * RATE if 480_000 <= place < 481_000 else place

    monkeypatch.setattr(PyAvDecoder, "_place", wrong)
    _, [hole] = heard(originals / "a.m4a")
    assert hole.at == pytest.approx(10, abs=0.1)
    assert hole.seconds < 0.5


def test_lost_frames_keep_the_time_that_the_tag_of_an_mp3_file_tells(
    originals: Path, tmp_path: Path
) -> None:
    path = overwritten(originals / "a.mp3", tmp_path / "a.mp3", [0.25, 0.5], 3000)
    layout = layout_of(path)
    assert layout.is_honest
    recording = open_recording([path])
    assert recording.seconds == SECONDS
    assert not recording.notes


def test_a_decoder_is_named_with_its_version(originals: Path) -> None:
    assert decoder_name(originals / "a.flac").startswith("libsndfile-1.")
    assert decoder_name(originals / "a.ogg") == decoder_name(originals / "a.mp3")
    assert decoder_name(originals / "a.mp3").startswith("libavcodec-")


def test_a_file_that_changes_its_channels_keeps_those_of_its_header(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.wav"
    soundfile.write(path, np.linspace(-0.5, 0.5, 800), 8000)
    decoder = LibsndfileDecoder(path)
    both = np.stack([np.full(800, 0.25), np.full(800, 0.5)], axis=1)  # as of a damaged MP3 file
    monkeypatch.setattr(decoder._file, "read", lambda frames, **_: both[:frames])
    assert decoder.read(100).tolist() == [[0.375]] * 100
