"""Silences that mark hours: found among others, and out of the clock."""

from __future__ import annotations

import itertools
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.audio.read import read_blocks
from earwitness.errors import UsageError
from earwitness.recordings.cut import cut
from earwitness.recordings.hour_marks import HourMarks, Silence, remove_marks
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Damage, Recording, Stretch
from helpers.recorder_files import RATE, Samples, noise, write

HOUR, GAP = 20.0, 2.0  # an hour of the tests


def day(hours: int, silences: tuple[tuple[float, float], ...] = ()) -> Samples:
    """Hours of noise with silence between them, and other silences in it."""
    pieces = [noise(HOUR, seed=hour) for hour in range(hours)]
    between = np.zeros((round(GAP * RATE), 1), np.float32)
    whole = np.concatenate([piece for one in pieces for piece in (one, between)][:-1])
    for start, seconds in silences:
        whole[round(start * RATE) : round((start + seconds) * RATE)] = 0
    return whole


def marked(path: Path, recording: Recording, size: float = 0.77) -> tuple[Silence, ...]:
    """What a pass through the file finds."""
    marks = HourMarks(GAP, hour=HOUR)
    for stretch in recording.stretches:
        for chunk in read_blocks(path, at=stretch.at, seconds=stretch.seconds, size=size):
            time = stretch.start + chunk.position - stretch.at
            marks.feed(time, chunk.samples, recording.rate)
    return marks.marks()


@pytest.mark.parametrize("ending", ["wav", "flac", "mp3"])
def test_marks_are_found_and_the_clock_goes_on_as_if_they_were_not_there(
    tmp_path: Path, ending: str
) -> None:
    samples = day(4, ((3, GAP), (30, GAP), (50, 0.5)))
    path = write(tmp_path / f"20250722_060000.{ending}", samples)
    recording = open_recording([path])
    marks = marked(path, recording)
    starts = np.array([one.start for one in marks])
    np.testing.assert_allclose(starts, [20, 42, 64], atol=0.15)
    found = remove_marks(recording, marks, gap=GAP)
    assert found.seconds == pytest.approx(80, abs=0.5)
    for before, behind in zip(found.stretches, found.stretches[1:], strict=False):
        assert behind.start == pytest.approx(before.end)
    assert found.clock(40) == datetime(2025, 7, 22, 6, 0, 40)
    assert len(cut(found, 15, 10)) == 10 * RATE
    assert not found.notes


def test_sound_on_both_sides_of_a_mark_is_exact(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", samples := day(3))
    found = remove_marks(open_recording([path]), marked(path, open_recording([path])), gap=GAP)
    near = cut(found, 19.9, 0.2)[:, 0]
    low, high = round(19.9 * RATE), round(22.1 * RATE)
    plain = np.concatenate([samples[low : 20 * RATE, 0], samples[22 * RATE : high, 0]])
    assert np.count_nonzero(near) == pytest.approx(len(near), abs=5)
    np.testing.assert_allclose(near, plain[: len(near)], atol=1e-4)


def test_silences_elsewhere_are_sound(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", noise(60) * (np.arange(60 * RATE) // (2 * RATE) != 4)[:, None])
    recording = open_recording([path])
    assert marked(path, recording) == ()
    found = remove_marks(recording, (), gap=GAP)
    assert found.stretches == recording.stretches
    assert found.notes == ("no hour marks (silences of 2 s) were found",)


def test_one_mark_alone_is_one_if_an_hour_lies_before_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.wav", day(2))
    np.testing.assert_allclose(marked(path, open_recording([path])), [(20, 22)], atol=0.03)


def test_a_mark_that_is_missing_does_not_hide_the_others() -> None:
    marks = HourMarks(5.0)
    for hour in (1, 2, 4, 5, 24):
        start = hour * 3605 - 5
        marks.feed_levels(start - 10, np.full(500, 0.1), 0.02)
        marks.feed_levels(start, np.zeros(250), 0.02)
    marks.feed_levels(24 * 3605, np.full(500, 0.1), 0.02)
    assert [round(one.start) for one in marks.marks()] == [3600, 7205, 14415, 18020, 86515]


@pytest.mark.parametrize(
    ("length", "good"), [(1.65, False), (1.75, True), (2.25, True), (2.4, False)]
)
def test_a_silence_must_be_as_long_as_was_said(length: float, good: bool) -> None:
    marks = HourMarks(GAP, hour=HOUR)
    sound = np.full(round(HOUR * 100), 0.1)
    marks.feed_levels(0, sound, 0.01)
    marks.feed_levels(HOUR, np.zeros(round(length * 100)), 0.01)
    marks.feed_levels(HOUR + length, sound, 0.01)
    assert bool(marks.marks()) is good


@given(st.lists(st.integers(1, 4000), min_size=1, max_size=20))
def test_chunks_of_any_size_give_the_same_silences(sizes: list[int]) -> None:
    sound = np.full(200 * 25, 0.1, np.float32)
    sound[2000:2200] = 0
    whole, parts = (HourMarks(GAP, hour=HOUR) for _ in range(2))
    whole.feed(0, sound, 100)
    edges = [0, *(int(one) for one in np.cumsum(sizes) if one < len(sound)), len(sound)]
    for low, high in itertools.pairwise(edges):
        parts.feed(low / 100, sound[low:high], 100)
    np.testing.assert_allclose(parts.marks(), whole.marks())
    assert len(whole.marks()) == 1


@given(
    st.lists(st.tuples(st.floats(0.1, 30), st.floats(0.1, 5)), max_size=6),
    st.lists(st.tuples(st.floats(0, 10), st.floats(1, 40)), min_size=1, max_size=5),
)
def test_what_is_left_is_all_that_is_no_mark(
    gaps: list[tuple[float, float]], lengths: list[tuple[float, float]]
) -> None:
    marks, stretches, time = [], [], 0.0
    for away, seconds in gaps:
        marks.append(Silence(time + away, time + away + seconds))
        time = marks[-1].end
    time = 0.0
    for away, seconds in lengths:
        stretches.append(Stretch("a", 0, time + away, seconds))
        time = stretches[-1].end
    recording = Recording("a", tuple(stretches), time, 100, 1)
    found = remove_marks(recording, marks)
    moments = np.linspace(0, time, 67)[:-1] + 0.0123
    heard = [t for t in moments if recording.find(t) and not _within(t, marks)]
    for moment in heard:
        earlier = moment - sum(max(0.0, min(moment, one.end) - one.start) for one in marks)
        stretch = found.find(earlier)
        before = recording.find(moment)
        assert stretch is not None
        assert before is not None
        position = stretch.at + earlier - stretch.start
        assert position == pytest.approx(before.at + moment - before.start, abs=1e-6)
    ends = [one.end for one in found.stretches]
    starts = [one.start for one in found.stretches]
    assert all(a <= b + 1e-9 for a, b in zip(ends, starts[1:], strict=False))


def _within(time: float, marks: list[Silence]) -> bool:
    return any(one.start <= time < one.end for one in marks)


def test_damages_move_with_the_clock() -> None:
    damages = (Damage("a", 10, 10, "early"), Damage("a", 30, 30, "late"))
    recording = Recording("a", (Stretch("a", 0, 0, 40),), 40, 100, 1, None, damages)
    found = remove_marks(recording, [Silence(20, 22)])
    assert [(one.at, one.start) for one in found.damages] == [(10, 10), (30, 28)]


def test_a_gap_that_is_no_gap_is_refused() -> None:
    with pytest.raises(UsageError, match="must be longer than"):
        HourMarks(0.1)
