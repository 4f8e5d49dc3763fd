"""Silences that mark hours are found by frames, and taken out of the clock to the sample."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from earwitness.models import frames as frames_module
from earwitness.models.blocks import read_recording_blocks
from earwitness.models.cache import Cache
from earwitness.models.codebook import Codebook
from earwitness.models.embedders import LogMel
from earwitness.recordings import hour_marks
from earwitness.recordings import hour_marks as hours_of_sound
from earwitness.recordings.types import Recording
from helpers.tones import RATE, recording, sound, written

GAP = 5 * RATE


@pytest.fixture(autouse=True)
def short_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hours of 20.011 s, looked at by 3 s."""
    monkeypatch.setattr(hour_marks.HourMarks.__init__, "__kwdefaults__", {"hour": 20.011})
    monkeypatch.setattr(hours_of_sound.remove_hour_marks, "__kwdefaults__", {"hour": 20.011})
    monkeypatch.setattr(frames_module, "PORTION_FRAMES", 150)


def hours(tmp_path: Path, faint: float = 0.0) -> Recording:
    """Three hours with two marks between them, which need not be quite silent."""
    hour = round(20.011 * RATE)
    silence = faint * np.random.default_rng(5).normal(size=GAP).astype(np.float32)
    parts = [sound(21, seed=seed)[:hour] for seed in range(3)]
    whole = np.concatenate([parts[0], silence, parts[1], silence, parts[2]])
    return recording(written(tmp_path / "x.wav", whole))


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("faint", [0.0, 2e-5])
def test_marks_are_out_of_the_clock_to_the_sample(
    tmp_path: Path, faint: float, sparse: bool
) -> None:
    day, cache = hours(tmp_path, faint), Cache(tmp_path / "cache")
    blocks, real = read_recording_blocks(day, LogMel(), cache=cache, hour_gap=5.0, sparse=sparse)
    one = 20.011
    found = [(part.at, part.start, part.seconds) for part in real.stretches]
    expected = [(0, 0, one), (one + 5, one, one), (2 * (one + 5), 2 * one, one)]
    assert np.array(found) == pytest.approx(np.array(expected), abs=1.5 / RATE)
    assert real.seconds == pytest.approx(3 * one, abs=3 / RATE)
    starts = [0, 8, one, one + 8, 2 * one, 2 * one + 8]
    assert blocks.starts == pytest.approx(starts, abs=3 / RATE)
    assert read_recording_blocks(day, LogMel(), cache=cache, hour_gap=5.0, sparse=sparse)[1] == real


def test_without_being_asked_nobody_looks_for_marks(tmp_path: Path) -> None:
    day = hours(tmp_path)
    assert read_recording_blocks(day, LogMel(), cache=Cache(tmp_path / "cache"))[1] == day


def test_marks_that_are_not_there_are_noted(tmp_path: Path) -> None:
    day = recording(written(tmp_path / "x.wav", sound(60)))
    _, real = read_recording_blocks(day, Codebook(), cache=Cache(tmp_path / "cache"), hour_gap=5.0)
    assert real.stretches == day.stretches
    assert any("no hour marks (silences of 5 s)" in note for note in real.notes)
