"""Skims given as sound are found in their recording; what is not, or may be wrong, is told."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray
from scipy.signal import butter, sosfilt

from earwitness.audio.encode import encode
from earwitness.audio.signal import render, resample
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Recording, Stretch
from earwitness.skims.locate import LocatedSkim, locate_skims
from earwitness.skims.types import Pick, Skim

RATE = 16_000
SECONDS = 300
REPEATED = slice(270 * RATE, 290 * RATE)  # the same sound as from 40 to 60 s
Samples = NDArray[Any]


class Day(NamedTuple):
    samples: Samples
    recording: Recording


def make_wind(seconds: float, seed: int, rate: int = RATE) -> Samples:
    """Wind whose strength changes, over a hum, with calls in it."""
    rng = np.random.default_rng(seed)
    count = round(seconds * rate)
    noise = rng.normal(0, 1, count)
    sums, marks = np.cumsum(noise), np.arange(0, count + rate, rate)
    noise[50:] += (sums[50:] - sums[:-50]) / 5
    wind = noise * np.interp(np.arange(count), marks, rng.uniform(0.3, 1, len(marks)))
    time = np.arange(count) / rate
    sound = 0.02 * wind + 0.02 * np.sin(2 * np.pi * 100 * time)
    for start in rng.integers(0, count - rate, round(seconds / 3)):
        phase = rng.uniform(100, 2_000) * time[:rate] + rng.uniform(-500, 500) * time[:rate] ** 2
        sound[start : start + rate] += 0.05 * np.hanning(rate) * np.sin(2 * np.pi * phase)
    return np.asarray(sound, np.float32)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    samples = make_wind(SECONDS, 1)
    samples[REPEATED] = samples[40 * RATE : 60 * RATE]
    path = tmp_path_factory.mktemp("day") / "day.flac"
    soundfile.write(path, samples, RATE)
    return Day(samples, open_recording([path]))


def draw_skim(seed: int, overlap: float = 3.0) -> Skim:
    starts = np.random.default_rng(seed).choice(np.arange(70, 255, 9), 12, replace=False)
    return Skim(tuple(Pick(start + 0.377, 8.0) for start in starts.tolist()), overlap)


def render_skim(samples: Samples, skim: Skim) -> Samples:
    pieces = []
    for pick in skim.picks:
        piece = samples[round(pick.start * RATE) :][: round(pick.seconds * RATE)]
        pieces.append(piece[::-1] if pick.turned else piece)
    return render(pieces, RATE, skim.overlap)


def assert_located(found: LocatedSkim, skim: Skim) -> None:
    """Picks are found within their fades, each at its true distance from the recording."""
    assert (found.notes, found.doubtful) == ((), ())
    assert len(found.skim.picks) == len(skim.picks)
    step = skim.picks[0].seconds - skim.overlap
    for number, (pick, wanted) in enumerate(zip(found.skim.picks, skim.picks, strict=True)):
        assert pick.turned == wanted.turned
        cut, cut_end = pick.start - wanted.start, wanted.start + wanted.seconds - pick.start
        assert -0.4 <= cut <= 0.75 * skim.overlap + 0.4
        assert -0.4 <= cut_end - pick.seconds <= 0.75 * skim.overlap + 0.4
        late = cut_end - pick.seconds if pick.turned else cut
        assert found.heard[number] == pytest.approx(number * step + late, abs=0.01)


def read_encoded(samples: Samples, ending: str) -> Samples:
    content = encode(samples, RATE, ending).content
    assert ending != ".mp3" or len(content) * 8 <= 65_000 * len(samples) / RATE
    heard, rate = soundfile.read(io.BytesIO(content), dtype="float32")
    return resample(heard, rate, RATE)


@pytest.mark.parametrize(("ending", "overlap"), [(".flac", 3.0), (".mp3", 3.0), (".opus", 0.0)])
def test_all_picks_are_found_whatever_the_format_and_the_level(
    day: Day, ending: str, overlap: float
) -> None:
    skim = draw_skim(2, overlap)
    sound = read_encoded(0.3 * render_skim(day.samples, skim), ending)
    [found] = locate_skims([sound], day.recording)
    assert_located(found, skim)


def test_skims_at_other_rates_inverted_and_backwards_are_found(day: Day) -> None:
    skim = draw_skim(3)
    sound = render_skim(day.samples, skim)
    low = resample(resample(sound, RATE, 11_025), 11_025, RATE)
    turned = Skim(tuple(Pick(p.start, p.seconds, True) for p in skim.picks[:4]), 3.0)
    other, inverted, backwards = locate_skims(
        [low, -sound, render_skim(day.samples, turned)], day.recording
    )
    assert_located(other, skim)
    assert_located(inverted, skim)
    assert_located(backwards, turned)


@pytest.mark.parametrize("quieter", [15, 30])
def test_a_quiet_pick_between_the_fades_of_loud_ones_is_found(
    tmp_path: Path, quieter: float
) -> None:
    samples = make_wind(120, 5)
    samples[60 * RATE : 80 * RATE] *= 10 ** (-quieter / 20)
    soundfile.write(path := tmp_path / "day.wav", samples, RATE, subtype="FLOAT")
    skim = Skim((Pick(20.3, 8.0), Pick(66.2, 8.0), Pick(100.1, 8.0)), 3.0)
    [found] = locate_skims([render_skim(samples, skim)], open_recording([path]))
    offsets = [
        pick.start - heard for pick, heard in zip(found.skim.picks, found.heard, strict=True)
    ]
    assert offsets == pytest.approx([20.3, 66.2 - 5, 100.1 - 10], abs=0.01)
    assert found.skim.picks[1].seconds >= 2.0  # as long as it is not masked


def test_picks_are_found_where_rumble_was_filtered_out(tmp_path: Path) -> None:
    high_pass = butter(8, 1_500, "highpass", fs=RATE, output="sos")
    samples = np.asarray(sosfilt(high_pass, make_wind(SECONDS, 3)), np.float32)
    soundfile.write(path := tmp_path / "day.flac", samples, RATE)
    recording, skim = open_recording([path]), draw_skim(4)
    [found] = locate_skims([render_skim(samples, skim)], recording)
    assert_located(found, skim)


def test_skims_in_one_pass_are_found_as_each_by_itself(day: Day) -> None:
    sounds = [render_skim(day.samples, draw_skim(seed)) for seed in (4, 5)]
    together = locate_skims(sounds, day.recording)
    assert together == [locate_skims([sound], day.recording)[0] for sound in sounds]


def test_progress_is_in_seconds_of_the_recording(day: Day) -> None:
    reports: list[tuple[int, int | None, int]] = []
    sound = render_skim(day.samples, draw_skim(7))
    locate_skims([sound], day.recording, progress=lambda *report: reports.append(report))
    assert reports == sorted(reports)
    assert {report[1:] for report in reports} == {(SECONDS, 1)}
    assert reports[-1][0] == SECONDS


def test_picks_of_short_blocks_are_found_if_the_block_is_given(day: Day) -> None:
    skim = Skim(tuple(Pick(pick.start, 2.0) for pick in draw_skim(6).picks), 0.5)
    [found] = locate_skims([render_skim(day.samples, skim)], day.recording, block=2.0)
    assert_located(found, skim)


def test_parts_that_follow_each_other_are_one_pick(day: Day) -> None:
    [found] = locate_skims([day.samples[100 * RATE : 131 * RATE]], day.recording)
    [pick] = found.skim.picks
    assert (pick.start, pick.seconds) == pytest.approx((100, 31), abs=0.05)
    assert found.notes == ()


def test_silence_and_other_sound_are_told(day: Day) -> None:
    first, second = day.samples[80 * RATE : 88 * RATE], day.samples[200 * RATE : 208 * RATE]
    silence = np.zeros(8 * RATE, np.float32)
    sounds = [np.concatenate([first, one, second]) for one in (silence, make_wind(8, 9))]
    for found in locate_skims(sounds, day.recording):
        assert [pick.start for pick in found.skim.picks] == pytest.approx([80, 200], abs=0.4)
        assert found.notes == ("8 to 16 s: not found in the recording",)
    for found in locate_skims([silence, make_wind(20, 9)], day.recording):
        assert found.skim.picks == ()


def test_sound_that_is_in_the_recording_twice_is_doubtful(day: Day) -> None:
    skim = Skim((Pick(80.0, 8.0), Pick(46.0, 8.0), Pick(200.0, 8.0)), 3.0)
    [found] = locate_skims([render_skim(day.samples, skim)], day.recording)
    assert found.doubtful == (1,)
    [note] = found.notes
    assert note.startswith("1 of 3 picks (at 6 s) sounds the same at other times")


def test_picks_beside_a_hole_and_in_a_damaged_file_are_found(day: Day, tmp_path: Path) -> None:
    content = bytearray(Path(day.recording.stretches[0].path).read_bytes())
    middle = len(content) // 2
    content[middle : middle + 3_000] = bytes(3_000)
    path = tmp_path / "damaged.flac"
    path.write_bytes(content)
    spans = ((0.0, 88.0), (120.0, 250.0))
    stretches = tuple(Stretch(str(path), start, start, end - start) for start, end in spans)
    recording = Recording("holes", stretches, 250.0, RATE, 1)
    skim = Skim((Pick(80.0, 8.0), Pick(120.0, 8.0), Pick(200.0, 8.0)), 0.0)
    sound = np.concatenate([render_skim(day.samples, skim), day.samples[100 * RATE : 108 * RATE]])
    [found] = locate_skims([sound], recording)
    assert [pick.start for pick in found.skim.picks] == pytest.approx([80, 120, 200], abs=0.4)
    assert found.notes == ("24 to 32 s: not found in the recording",)


def test_a_skim_longer_than_its_recording_is_found_as_far_as_it_goes(day: Day) -> None:
    stretch = day.recording.stretches[0]
    recording = Recording("short", (Stretch(stretch.path, 100, 0, 10),), 10.0, RATE, 1)
    [found] = locate_skims([day.samples[95 * RATE : 135 * RATE]], recording)
    [pick] = found.skim.picks
    assert (pick.start, pick.seconds) == pytest.approx((0, 10), abs=0.6)
    assert len(found.notes) == 2


def test_places_are_those_of_plain_correlation(tmp_path: Path) -> None:
    """At a rate of 1,000 Hz every place is tried by a product with the samples as they are."""
    rate = 1_000
    samples = np.random.default_rng(10).normal(0, 0.1, 60 * rate).astype(np.float32)
    soundfile.write(tmp_path / "noise.wav", samples, rate, subtype="FLOAT")
    parts = [samples[start : start + 4 * rate] for start in (31_000, 7_123, 52_001)]
    windows = np.lib.stride_tricks.sliding_window_view(samples, 4 * rate)
    wanted = []
    for part in parts:
        products = np.array([window @ part for window in windows])
        energies = np.array([window @ window for window in windows])
        wanted.append(float((products / np.sqrt(energies)).argmax()) / rate)
    [found] = locate_skims([np.concatenate(parts)], open_recording([tmp_path / "noise.wav"]))
    offsets = [
        pick.start - heard for pick, heard in zip(found.skim.picks, found.heard, strict=True)
    ]
    assert offsets == pytest.approx([place - 4 * n for n, place in enumerate(wanted)], abs=0.002)
