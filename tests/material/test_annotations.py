"""Annotations of other tools as speech by recording."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from earwitness.material.annotations import (
    SpokenInterval,
    match_fields,
    read_annotations,
    read_covariates,
)

CHIME5 = [
    {
        "start_time": {"original": "0:00:10.00", "U06": "0:00:10.50", "P05": "0:00:09.90"},
        "end_time": {"original": "0:00:12.25", "U06": "0:00:12.75", "P05": "0:00:12.15"},
        "words": "hello there",
        "speaker": "P05",
        "ref": "U06",
        "location": "kitchen",
        "session_id": "S02",
    },
    {
        "start_time": {"original": "0:01:00.00"},
        "end_time": {"original": "0:01:01.00"},
        "words": "yes",
        "speaker": "P07",
        "session_id": "S02",
    },
]


def read(path: Path, content: str, *names: str) -> list[SpokenInterval] | None:
    path.write_text(content, encoding="utf-8")
    annotation, problems = read_annotations([path])
    assert problems == []
    return annotation.find_speech(names)


def test_chime_times_are_those_of_the_channel_in_the_file_name(tmp_path: Path) -> None:
    path, content = tmp_path / "S02.json", json.dumps(CHIME5)
    kitchen = (("location", "kitchen"),)
    assert read(path, content, "S02_U06.CH1") == [
        SpokenInterval(10.5, 12.75, "P05", kitchen),
        SpokenInterval(60.0, 61.0, "P07"),  # without times of this channel: those of the session
    ]
    found = read(path, content, "x/S02_other.wav", "S02_other")
    assert found is not None
    assert found[0].start == 10.0
    assert read(path, content, "S03_U06") is None


def test_later_chime_transcripts_have_one_time(tmp_path: Path) -> None:
    entry = {"start_time": "40.60", "end_time": "42.1", "speaker": "P01", "session_id": "S05"}
    found = read(tmp_path / "S05.json", json.dumps([entry]), "S05_U01.CH4")
    assert found == [SpokenInterval(40.6, 42.1, "P01")]


GRID = """File type = "ooTextFile"
Object class = "TextGrid"
0 5 <exists> 2
"IntervalTier" "anna" 0 5 2 0 2 "hello" 2 5 ""
"IntervalTier" "ben" 0 5 2 0 3 "sp" 3 4.5 "yes"
"""


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "any.rttm",
            "SPKR-INFO talk 1 <NA> <NA> <NA> unknown a <NA>\n"
            "SPEAKER talk 1 1.5 2.25 <NA> <NA> anna <NA> <NA>\n",
            [SpokenInterval(1.5, 3.75, "anna")],
        ),
        (
            "any.ctm",
            "talk 1 0.5 0.3 the\ntalk 1 0.8 0.2 [noise]\ntalk 1 2 0.5 sky\n",
            [SpokenInterval(0.5, 0.8), SpokenInterval(2.0, 2.5)],
        ),
        (
            "talk.TextGrid",
            GRID,
            [SpokenInterval(0.0, 2.0, "anna"), SpokenInterval(3.0, 4.5, "ben")],
        ),
        ("talk.srt", "1\n00:00:01,000 --> 00:00:02,000\nHi.\n", [SpokenInterval(1.0, 2.0)]),
        ("talk.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nHi.\n", [SpokenInterval(1.0, 2.0)]),
        (
            "talk.json",
            '{"segments": [{"start": 1, "end": 2, "text": "Hi."}]}',
            [SpokenInterval(1.0, 2.0)],
        ),
        (
            "any.csv",
            "recording,start,end,speaker,room\ntalk,1,2.5,anna,hall\nother,0,1,ben,hall\n",
            [SpokenInterval(1.0, 2.5, "anna", (("room", "hall"),))],
        ),
        ("talk.csv", "start,end\n0:01,0:02.5\n", [SpokenInterval(1.0, 2.5)]),
        ("any.tsv", "recording\tstart\tend\ntalk\t1\t2.5\n", [SpokenInterval(1.0, 2.5)]),
        ("talk.tsv", "start\tend\ttext\n1000\t2500\tHi.\n", [SpokenInterval(1.0, 2.5)]),
    ],
)
def test_every_format_gives_the_speech_of_its_recording(
    tmp_path: Path, name: str, content: str, expected: list[SpokenInterval]
) -> None:
    assert read(tmp_path / name, content, "talk.wav", "talk") == expected


def test_problems_of_all_files_are_listed(tmp_path: Path) -> None:
    (tmp_path / "a.rttm").write_text("SPEAKER talk 1 x 2 <NA> <NA> a <NA>\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("recording,start,end\nt,3,2\nt,a,2\n", encoding="utf-8")
    (tmp_path / "c.csv").write_text("recording,begin\nt,3\n", encoding="utf-8")
    (tmp_path / "d.json").write_text(json.dumps([{**CHIME5[0], "end_time": "soon"}]))
    (tmp_path / "e.srt").write_text("nothing", encoding="utf-8")
    _, problems = read_annotations([tmp_path, tmp_path / "none"])
    assert {(Path(one.source).name, one.line) for one in problems} == {
        ("a.rttm", 1),
        ("b.csv", 2),
        ("b.csv", 3),
        ("c.csv", 1),
        ("d.json", 0),
        ("e.srt", 1),
        ("none", 0),
    }


def test_fields_of_file_names_and_tables(tmp_path: Path) -> None:
    assert match_fields("{session}_*_{room}", ["S01_P05_hall"]) == {
        "session": "S01",
        "room": "hall",
    }
    assert match_fields("{folder}/{session}", ["S01", "eval/S01"]) == {
        "folder": "eval",
        "session": "S01",
    }
    assert match_fields("{session}.{room}", ["S01xhall"]) is None
    path = tmp_path / "table.csv"
    path.write_text("recording,room\na,hall\na,yard\nb\n", encoding="utf-8")
    problems: list[object] = []
    assert read_covariates(path, "recording", problems) == {"a": {"room": "hall"}}  # type: ignore[arg-type]
    assert len(problems) == 2


def test_tables_with_semicolons_have_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("recording;start;end\ntalk;1;2\n", encoding="utf-8")
    _, problems = read_annotations([path])
    read_covariates(path, "recording", problems)
    assert [one.remedy for one in problems] == ["separate columns with commas"] * 2
