"""Marks of hours are found by looking at a few places, as reading all finds them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earwitness.recordings.cut import read_recording
from earwitness.recordings.hour_marks import HourMarks, find_hour_marks, remove_hour_marks
from earwitness.recordings.recording import open_recording
from helpers.recorder_files import RATE, noise, write

HOUR, GAP = 20.0, 2.0  # an hour of the tests


def day(path: Path, hours: int, first: float = HOUR, leave_out: int = -1) -> Path:
    """Noise with silences of 2 s: the first behind so many seconds, then each hour."""
    samples = noise(first + hours * (HOUR + GAP))
    for hour in range(hours):
        start = first + hour * (HOUR + GAP)
        if hour != leave_out:
            samples[round(start * RATE) : round((start + GAP) * RATE)] = 0
    return write(path, samples)


@pytest.mark.parametrize("ending", ["wav", "mp3"])
@pytest.mark.parametrize(("first", "leave_out"), [(HOUR, -1), (7.3, -1), (HOUR, 0), (5.1, 3)])
def test_a_few_places_tell_what_all_of_it_tells(
    tmp_path: Path, ending: str, first: float, leave_out: int
) -> None:
    recording = open_recording([day(tmp_path / f"a.{ending}", 6, first, leave_out)])
    marks = HourMarks(GAP, hour=HOUR)
    for time, chunk in read_recording(recording):
        marks.feed(time, chunk.samples, recording.rate)
    found = find_hour_marks(recording, GAP, hour=HOUR)
    np.testing.assert_allclose(found, marks.marks(), atol=0.03)
    assert len(found) == (6 if leave_out < 0 else 5)


def test_silences_that_do_not_recur_are_no_marks(tmp_path: Path) -> None:
    samples = noise(100)
    for start in (8, 23, 55):
        samples[start * RATE : (start + 2) * RATE] = 0
    recording = open_recording([write(tmp_path / "a.wav", samples)])
    found = remove_hour_marks(recording, GAP, hour=HOUR)
    assert found.stretches == recording.stretches
    assert found.notes == ("no hour marks (silences of 2 s) were found",)


def test_a_recording_is_made_without_its_marks(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(3700, 100), 100)
    data = bytearray(path.read_bytes())
    data[44 + 3600 * 200 : 44 + 3605 * 200] = bytes(1000)
    path.write_bytes(data)
    found = open_recording([path], hour_gap=5)
    assert found.seconds == pytest.approx(3695)
    assert [(one.at, one.start) for one in found.stretches] == [(0, 0), (3605, 3600)]


@pytest.mark.parametrize("hour", [20.0, 33.3, 60.0])
@pytest.mark.parametrize("count", [2, 3, 8])
def test_hours_that_are_short_are_told_by_their_spacing(
    tmp_path: Path, hour: float, count: int
) -> None:
    samples = noise((count + 1) * hour + count * GAP)
    starts = [hour + mark * (hour + GAP) for mark in range(count)]
    for start in starts:
        samples[round(start * RATE) : round((start + GAP) * RATE)] = 0
    recording = open_recording([write(tmp_path / "day.wav", samples)])
    marks = HourMarks(GAP)
    marks.feed(0.0, samples[:, 0], RATE)
    assert [one.start for one in marks.marks()] == pytest.approx(starts, abs=2 / RATE)
    np.testing.assert_allclose(find_hour_marks(recording, GAP), marks.marks(), atol=0.03)
    assert remove_hour_marks(recording, GAP).seconds == pytest.approx((count + 1) * hour, abs=0.01)


def test_silences_without_a_spacing_mark_no_hours(tmp_path: Path) -> None:
    samples = noise(300)
    for start in (20, 50, 120, 210):
        samples[start * RATE : round((start + GAP) * RATE)] = 0
    recording = open_recording([write(tmp_path / "day.wav", samples)])
    marks = HourMarks(GAP)
    marks.feed(0.0, samples[:, 0], RATE)
    assert len(marks.candidates) == 4
    assert marks.marks() == find_hour_marks(recording, GAP) == ()
