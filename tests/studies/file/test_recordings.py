"""Keys on long recordings: what they mean, what is refused, and what study check says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from earwitness.errors import InputError
from earwitness.report import apply_renderer
from earwitness.report.text import render_text
from earwitness.studies.design.report import study_check
from earwitness.studies.file.reader import read_study, study_texts
from earwitness.studies.study import LongRecording, RecordingDisplay, Study
from helpers.study_files import sound

STUDY = """\
title: Days
systems: [A, B]
files: "{system}/{item}.wav"
listeners: 2
blocks: [{kind: acr}]
"""
DAY = "recordings: {a: days/a.wav}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("A/a", "A/b", "B/a", "B/b"):
        sound(tmp_path / f"{name}.wav")
    for name, seconds in (("a", 65.0), ("b/20250722_060000", 2.0), ("b/20250722_060010", 3.0)):
        sound(tmp_path / "days" / f"{name}.wav", seconds)
    return tmp_path


def read(folder: Path, more: str) -> Study:
    path = folder / "study.yaml"
    path.write_text(STUDY + more)
    return read_study(path)


def problems(folder: Path, more: str) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, more)
    return str(caught.value)


def test_a_recording_is_a_path_a_list_of_paths_or_keys(folder: Path) -> None:
    keys = '{files: days/b, zone: "+02:00", hour_gap: 2, speech: mute, labels: marks.txt}'
    study = read(folder, f"recordings:\n  b: {keys}\n  a: [days/a.wav, days/b]\n")
    first, second = study.recordings
    assert first == LongRecording("a", ("days/a.wav", "days/b"))
    assert (second.files, second.zone, second.hour_gap) == (("days/b",), "+02:00", 2.0)
    assert (second.speech, second.labels) == ("mute", ("marks.txt",))
    assert study.recording("a") is first
    assert study.recording("c") is None


def test_the_display_has_defaults_and_stands_with_the_texts_of_the_study(folder: Path) -> None:
    assert "recording_display" not in study_texts(read(folder, ""))
    study = read(folder, f"{DAY}recording_display: {{palette: grey, range_db: [-80, -20]}}\n")
    assert study.recording_display == RecordingDisplay(palette="grey", range_db=(-80.0, -20.0))
    recorded = json.loads(study_texts(study)["recording_display"])
    assert recorded["palette"] == "grey"
    assert recorded["pooling"] == "max"


def test_the_digest_covers_display_and_speech_but_not_the_folder(folder: Path) -> None:
    plain, with_day = read(folder, "").digest, read(folder, DAY).digest
    assert plain != with_day
    assert read(folder, "recordings: {}\nrecording_display: {gain_db: 0}\n").digest == plain
    assert read(folder, DAY.replace("days/", "../elsewhere/")).digest == with_day
    others = [
        DAY.replace("a.wav", "b"),
        f"{DAY}recording_display: {{pooling: mean}}\n",
        "recordings: {a: {files: days/a.wav, speech: reverse}}\n",
    ]
    assert len({with_day, *(read(folder, more).digest for more in others)}) == 4


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("recordings: {aa: days/a.wav}\n", 'recordings.aa: no item "aa" — known: a, b'),
        ("recordings: {a: []}\n", "recordings.a: must not be empty"),
        ("recordings: {a: {file: x.wav}}\n", 'recordings.a.file: unknown field — did you mean "fi'),
        ("recordings: {a: {files: x, speech: mut}}\n", 'did you mean "mute"?'),
        (f"{DAY}recording_display: {{pallette: grey}}\n", 'did you mean "palette"?'),
        (f"{DAY}recording_display: {{palette: gray}}\n", 'did you mean "grey"?'),
        (f"{DAY}recording_display: {{range_db: [-20, -80]}}\n", "must be below the second"),
        ("recording_display: {palette: grey}\n", "the study has no long recordings"),
    ],
)
def test_a_mistake_is_named(folder: Path, more: str, message: str) -> None:
    assert message in problems(folder, more)


def test_the_check_says_how_long_recordings_are(folder: Path) -> None:
    more = 'recordings: {a: days/a.wav, b: {files: days/b, zone: "+02:00"}}\n'
    path = folder / "study.yaml"
    path.write_text(STUDY + more)
    shown = render_text(apply_renderer(study_check(path), "report"), width=100)
    rows = [line.split() for line in shown.splitlines()]
    assert ["a", "1", "0:01:05", "0:00:00", "unknown"] in rows
    assert ["b", "2", "0:00:13", "0:00:08", "2025-07-22", "06:00:00+02:00"] in rows


def test_missing_and_broken_recordings_are_problems_before_people_arrive(folder: Path) -> None:
    (folder / "days/broken.wav").write_bytes(b"no sound")
    keys = "{files: days/b, zone: Mars/Olympus}"
    for text, message in (
        ("days/none.wav", "days/none.wav"),
        ("days/broken.wav", "days/broken.wav"),
        (keys, "Mars/Olympus"),
        ("{files: days/a.wav, labels: none.txt}", "none.txt: cannot be read"),
    ):
        path = folder / "study.yaml"
        path.write_text(f"{STUDY}recordings:\n  a: {text}\n")
        checks = study_check(path).page_checks
        assert checks is not None
        [problem] = checks.problems
        assert message in str(problem)
