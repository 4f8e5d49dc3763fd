"""Recordings from files: one clock, what is missing, and what cannot be."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from earwitness.audio.read import Break
from earwitness.errors import InputError, UsageError
from earwitness.recordings.recording import open_blocks, open_recording, remove_breaks
from earwitness.recordings.types import Recording
from helpers.recorder_files import RATE, recorded


def spans(recording: Recording) -> list[tuple[float, float]]:
    """Start and end of each stretch."""
    return [(one.start, one.end) for one in recording.stretches]


def test_a_folder_of_consecutive_files_is_one_recording(tmp_path: Path) -> None:
    for number in (10, 9, 1):
        recorded(tmp_path / "day" / f"part{number}.wav", number / 10)
    (tmp_path / "day" / "notes.txt").write_text("windy")
    (tmp_path / "day" / ".hidden.wav").write_text("no sound")
    found = open_recording([tmp_path / "day"])
    assert [Path(one.path).name for one in found.stretches] == [
        "part1.wav",
        "part9.wav",
        "part10.wav",
    ]
    np.testing.assert_allclose(spans(found), [(0, 0.1), (0.1, 1.0), (1.0, 2.0)])
    assert (found.name, found.rate, found.channels, found.began) == ("day", RATE, 1, None)
    assert found.notes == (f"{tmp_path / 'day'}: skipped files that are not audio: notes.txt",)


def test_sub_folders_belong_to_a_folder(tmp_path: Path) -> None:
    recorded(tmp_path / "day" / "b" / "20250722_060001.wav", 1)
    recorded(tmp_path / "day" / "a" / "20250722_060002.wav", 1)
    found = open_recording([tmp_path / "day"], name="here")
    assert [Path(one.path).parent.name for one in found.stretches] == ["b", "a"]
    assert found.name == "here"


def test_what_nobody_recorded_stays_missing(tmp_path: Path) -> None:
    for minute in (0, 10, 20):
        recorded(tmp_path / f"20250722_06{minute:02}00.wav", 2)
    found = open_recording([tmp_path])
    assert spans(found) == [(0, 2), (600, 602), (1200, 1202)]
    assert found.seconds == 1202
    assert found.began == datetime(2025, 7, 22, 6)
    assert found.clock(601) == datetime(2025, 7, 22, 6, 10, 1)
    assert found.find(5) is None


def test_a_start_that_is_given_is_that_of_the_first_file(tmp_path: Path) -> None:
    files = [recorded(tmp_path / f"{name}.wav", 1.5) for name in "ab"]
    found = open_recording(files, start="2025-07-22T06:30:00", zone="Europe/Paris")
    assert found.clock(1.5) == datetime(2025, 7, 22, 4, 30, 1, 500_000, UTC)
    assert spans(found) == [(0, 1.5), (1.5, 3)]


def test_a_start_that_is_given_moves_the_clock_of_names(tmp_path: Path) -> None:
    files = [recorded(tmp_path / f"19700101_00000{n}.wav", 1) for n in (0, 5)]
    found = open_recording(files, start="2025-07-22T06:30:00")
    assert found.began == datetime(2025, 7, 22, 6, 30)
    assert spans(found) == [(0, 1), (5, 6)]


def test_a_start_against_the_names_is_told_and_one_that_agrees_is_not(tmp_path: Path) -> None:
    files = [recorded(tmp_path / "S_20250722_063000.wav", 1)]
    [note] = open_recording(files, start="2025-01-01").notes
    assert note == ("the first file name says 2025-07-22T06:30:00; the given start time is used")
    assert not open_recording(files, start="2025-07-22T06:30:00").notes


def test_a_name_with_a_time_that_never_was_is_told(tmp_path: Path) -> None:
    files = [recorded(tmp_path / "ABC_20251345_063000.wav", 1)]
    [note] = open_recording(files).notes
    assert "ABC_20251345_063000.wav: the date and time in its name do not exist" in note
    assert not open_recording(files, start="2025-07-22T06:30:00").notes


def test_all_names_that_tell_no_time_are_problems_if_others_tell_it(tmp_path: Path) -> None:
    recorded(tmp_path / "20250722_060000.wav", 1)
    recorded(tmp_path / "x.wav", 1)
    recorded(tmp_path / "y.wav", 1)
    with pytest.raises(InputError, match=r"(?s)x\.wav.*y\.wav.*2 problems; nothing was read"):
        open_recording([tmp_path])


def test_an_hour_that_comes_twice_is_told_apart_by_the_order(tmp_path: Path) -> None:
    names = ["a/20251026_023000", "b/20251026_023000", "b/20251026_030000"]
    files = [recorded(tmp_path / f"{name}.wav", 3) for name in names]
    found = open_recording(files, zone="Europe/Paris")
    assert [start for start, _ in spans(found)] == [0, 3600, 5400]
    assert str(found.began) == "2025-10-26 02:30:00+02:00"
    assert str(found.clock(3600)) == "2025-10-26 02:30:00+01:00"


def test_two_runs_through_the_same_hour_keep_the_order_in_which_they_are_given(
    tmp_path: Path,
) -> None:
    names = ["a/20251026_020000", "a/20251026_023000", "b/20251026_020000", "b/20251026_023000"]
    files = [recorded(tmp_path / f"{name}.wav", 3) for name in names]
    found = open_recording(files, zone="Europe/Paris")
    assert [start for start, _ in spans(found)] == [0, 1800, 3600, 5400]


def test_an_hour_that_never_was_is_a_problem(tmp_path: Path) -> None:
    recorded(tmp_path / "20250330_023000.wav", 1)
    recorded(tmp_path / "20250330_030000.wav", 1)
    with pytest.raises(InputError, match=r"20250330_023000.wav: .*clocks went forward"):
        open_recording([tmp_path], zone="Europe/Paris")
    assert open_recording([tmp_path], zone="UTC").seconds == 1801


def test_clocks_that_go_forward_leave_no_hour_missing(tmp_path: Path) -> None:
    recorded(tmp_path / "20250330_015959.wav", 1)
    recorded(tmp_path / "20250330_030000.wav", 1)
    assert spans(open_recording([tmp_path], zone="Europe/Paris")) == [(0, 1), (1, 2)]
    assert spans(open_recording([tmp_path])) == [(0, 1), (3601, 3602)]


def test_times_are_shown_in_another_zone(tmp_path: Path) -> None:
    recorded(tmp_path / "20250722_060000.wav", 1)
    found = open_recording([tmp_path], zone="UTC", shown="Europe/Paris")
    assert str(found.began) == "2025-07-22 08:00:00+02:00"
    assert str(open_recording([tmp_path], zone="-03:30").began) == "2025-07-22 06:00:00-03:30"
    with pytest.raises(UsageError, match="that of the recording is unknown"):
        open_recording([tmp_path], shown="Europe/Paris")
    with pytest.raises(UsageError, match='unknown time zone "Mars/Base"'):
        open_recording([tmp_path], zone="Mars/Base")


def test_names_that_tell_their_zone_need_none(tmp_path: Path) -> None:
    recorded(tmp_path / "5D3A0F10.WAV", 1)
    assert str(open_recording([tmp_path]).began) == "2019-07-25 20:20:32+00:00"
    recorded(tmp_path / "20190725_222033.wav", 1)
    with pytest.raises(InputError, match=r"20190725_222033.wav: .*has no time zone"):
        open_recording([tmp_path])
    found = open_recording([tmp_path], zone="Europe/Paris")
    assert spans(found) == [(0, 1), (1, 2)]


def test_files_that_begin_a_little_early_are_cut_at_the_front(tmp_path: Path) -> None:
    for second, length in ((0, 3.5), (3, 4), (7, 1)):
        recorded(tmp_path / f"20250722_06000{second}.wav", length)
    found = open_recording([tmp_path])
    assert spans(found) == [(0, 3.5), (3.5, 7), (7, 8)]
    assert [one.at for one in found.stretches] == [0, 0.5, 0]
    assert "1 file starts before the previous one ended" in found.notes[0]
    assert "at most 0.50 s, in 20250722_060003.wav" in found.notes[0]


def test_files_that_begin_long_before_the_last_ended_are_refused(tmp_path: Path) -> None:
    recorded(tmp_path / "20250722_060000.wav", 5)
    recorded(tmp_path / "20250722_060002.wav", 1)
    with pytest.raises(InputError, match=r"20250722_060002.wav: starts 3.0 s before"):
        open_recording([tmp_path])


def test_files_of_two_rates_are_refused_and_of_two_widths_are_not(tmp_path: Path) -> None:
    recorded(tmp_path / "a.wav", 1, 8000)
    recorded(tmp_path / "b.wav", 1, 8000, channels=2)
    assert open_recording([tmp_path]).channels == 1
    recorded(tmp_path / "c.wav", 1, 16_000)
    with pytest.raises(InputError, match=r"c\.wav: sample rate 16000 Hz, but a\.wav has 8000 Hz"):
        open_recording([tmp_path])


def test_a_file_that_cannot_be_opened_is_a_damage_and_the_rest_is_used(tmp_path: Path) -> None:
    recorded(tmp_path / "20250722_060000.wav", 1)
    (tmp_path / "20250722_060100.flac").write_bytes(b"nothing")
    (tmp_path / "20250722_060150.flac").write_bytes(b"")
    recorded(tmp_path / "20250722_060200.wav", 1)
    found = open_recording([tmp_path])
    assert spans(found) == [(0, 1), (120, 121)]
    assert [(one.at, one.start) for one in found.damages] == [(0, 60), (0, 110)]
    assert found.damages[0].message == "cannot be read: Format not recognised."


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no audio files found"):
        open_recording([tmp_path])
    (tmp_path / "a.wav").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"a\.wav: "):
        open_recording([tmp_path])
    with pytest.raises(UsageError, match=r"b\.wav: file or folder does not exist"):
        open_recording([tmp_path / "b.wav"])
    with pytest.raises(UsageError, match='"yesterday" is not a date and time'):
        open_recording([recorded(tmp_path / "c.wav", 1)], start="yesterday")


def test_breaks_are_taken_out_of_stretches_and_told_with_their_time(tmp_path: Path) -> None:
    for minute in (0, 1):
        recorded(tmp_path / f"20250722_060{minute}00.wav", 10)
    whole = open_recording([tmp_path])
    first, second = (one.path for one in whole.stretches)
    found = remove_breaks(
        whole,
        [Break(first, 9.9, 0.1), Break(second, 2, 3, "gone"), Break(second, 8, 2, "cut")],
    )
    np.testing.assert_allclose(spans(found), [(0, 9.9), (60, 62), (65, 68)])
    assert [(one.at, one.start, one.message) for one in found.damages] == [
        (2, 62, "gone"),
        (8, 68, "cut"),
    ]
    assert found.seconds == 68
    assert found.clock(65) == datetime(2025, 7, 22, 6, 1, 5)
    with pytest.raises(InputError, match="all of it"):
        remove_breaks(whole, [Break(one, 0, 99, "all of it") for one in (first, second)])


def test_blocks_are_a_recording_with_missing_time_between_them(tmp_path: Path) -> None:
    paths = [recorded(tmp_path / f"{n}.wav", seconds) for n, seconds in enumerate((2, 2.1, 2))]
    found = open_blocks([(paths[2], 9.0), (paths[0], 0.0), (paths[1], 7.0)], name="day")
    assert [one.path for one in found.stretches] == list(map(str, paths))
    np.testing.assert_allclose(spans(found), [(0, 2), (7, 9), (9, 11)])
    assert (found.name, found.seconds, found.rate) == ("day", 11.0, RATE)


def test_blocks_that_overlap_or_cannot_be_read_are_refused(tmp_path: Path) -> None:
    path = recorded(tmp_path / "a.wav", 5)
    with pytest.raises(InputError, match=r"a\.wav: ends 4\.0 s after the start of the next block"):
        open_blocks([(path, 0.0), (path, 1.0)], name="day")
    with pytest.raises(InputError, match=r"none\.wav: cannot be read"):
        open_blocks([(path, 0.0), (tmp_path / "none.wav", 9.0)], name="day")
