"""Chapters in files of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from earwitness.chapters.gather import gather
from earwitness.cli.main import group
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.scoring.score import score

SRT = (
    "1\r\n00:00:00,000 --> 00:01:00,000\r\nHello\r\n\r\n2\r\n00:01:00,000 --> 00:02:00,000\r\nRain"
)
VTT = "WEBVTT\n\n00:00.000 --> 01:02.000\nHello\n\n01:02.000 --> 03:20.000\nRain\n"
PODCAST = '{"version": "1.2.0", "chapters": [{"startTime": 60, "title": "Rain"}]}'
FFMETA = ";FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=60000\nEND=90000\ntitle=Rain\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for place, text in {
        "careful/a.srt": SRT,
        "careful/b.json": PODCAST,
        "eager/a.ffmeta": FFMETA,
        "eager/b.SRT": SRT,
        "eager/notes.txt": "not mine",
        "anna/a.vtt": VTT,
        "anna/b.vtt": VTT,
        "bert/a.vtt": VTT,
        "durations.csv": "item,duration\na,200\nb,200.5\n",
    }.items():
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, newline="")
    return tmp_path


def test_folders_of_subtitles_and_chapters_are_scored(folder: Path) -> None:
    with pytest.warns(EarwitnessWarning, match=r"1 file skipped, such as .*notes\.txt — set a p"):
        outputs = gather([folder / "careful", folder / "eager"])
    references = gather([folder / "anna", folder / "bert"], durations=folder / "durations.csv")
    assert [(r["item"], r["system"]) for r in outputs] == [
        ("a", "careful"),
        ("b", "careful"),
        ("a", "eager"),
        ("b", "eager"),
    ]
    assert [(r["item"], r["duration"]) for r in references] == [("a", 200), ("b", 200.5)]
    assert [one["annotator"] for one in references[0]["references"]] == ["anna", "bert"]
    scores = score(outputs, references, metrics=["collar", "titles"])
    for own in scores.systems.values():
        assert (own["collar_f1"].value, own["collar_f1"].n) == (1, 2)
    assert scores.systems["careful"]["tm_rl_f1"].value == 1


def test_the_verb_writes_the_lines_of_the_function(folder: Path) -> None:
    made = CliRunner().invoke(group, ["gather", str(folder / "careful"), "--system", "mine"])
    assert [json.loads(line) for line in made.stdout.splitlines()] == gather(
        folder / "careful", system="mine"
    )
    wanted = ["--durations", str(folder / "durations.csv"), "-o", str(folder / "r.jsonl")]
    CliRunner().invoke(group, ["gather", str(folder / "anna"), *wanted])
    lines = (folder / "r.jsonl").read_text().splitlines()
    assert [json.loads(line)["item"] for line in lines] == ["a", "b"]


def test_all_problems_of_all_files_are_said_at_once(folder: Path) -> None:
    (folder / "anna" / "a.srt").write_text("1\n00:99:00,000 --> 1\nx\n")
    (folder / "anna" / "c.vtt").write_text(VTT)
    (folder / "anna" / "d.vtt").write_bytes(b"WEBVTT\n\xff")
    (folder / "durations.csv").write_text("item,duration\na,200\n\nb,long\n")
    with pytest.raises(InputError) as error:
        gather([folder / "anna"], durations=folder / "durations.csv")
    told = str(error.value).replace(f"{folder}/", "")
    for part in (
        "anna/a.srt:2: ",
        'anna/a.vtt: duplicate reference of "anna" for "a" — keep one',
        'anna/c.vtt: no duration for "c" — add it — known: a, b',
        "anna/d.vtt: not UTF-8 at byte 8",
        'durations.csv:4: duration: must be a number of seconds, got "long"',
        "nothing was gathered",
    ):
        assert part in told


def test_what_cannot_be_told_is_asked_for(folder: Path) -> None:
    with pytest.raises(InputError, match="unknown chapter format"):
        gather(folder / "eager" / "notes.txt")
    with pytest.raises(UsageError, match="system is for outputs"):
        gather(folder / "anna", durations={"a": 1.0}, system="x")
    with pytest.raises(UsageError, match="no files found"):
        gather([])
    with pytest.raises(UsageError, match='unknown preset "webvt" — did you mean "webvtt"'):
        gather(folder / "anna", preset="webvt")
    with pytest.raises(InputError, match='"a" of system "x" is also'):
        gather([folder / "careful" / "a.srt", folder / "eager" / "a.ffmeta"], system="x")
    (folder / "durations.csv").write_text("name,seconds\na,1\n")
    with pytest.raises(InputError, match='the columns "item" and "duration" are required'):
        gather(folder / "anna", durations=folder / "durations.csv")


def test_recognised_words_are_gathered_by_recording(tmp_path: Path) -> None:
    lines = "a 1 0.5 0.2 rains 0.9\na 1 0 0.4 it 0.8\nb 1 0 0.5 snow\nb 2 0 0.5 ice\n"
    (tmp_path / "asr.ctm").write_text(lines)
    found = gather(tmp_path / "asr.ctm", system="asr")
    assert [one["item"] for one in found] == ["a", "b 1", "b 2"]
    assert found[0]["output"] == {"words": [["it", 0, 0.4, 0.8], ["rains", 0.5, 0.7, 0.9]]}
    said = {"item": "a", "transcript": "it rains a lot", "references": [{"positions": [1, 2]}]}
    assert score(found[:1], [said]).systems["asr"]["sumaccy"].value == 1
    (tmp_path / "asr.ctm").write_text("a 1 0.5 rains\n")
    with pytest.raises(InputError, match=r"asr\.ctm:1: has 4 fields"):
        gather(tmp_path)
    with pytest.raises(UsageError, match="recognized words are outputs"):
        gather(tmp_path / "asr.ctm", durations={"a": 1.0})


def test_recordings_that_come_twice_and_mixed_files_are_refused(tmp_path: Path) -> None:
    for name in ("one.ctm", "two.ctm"):
        (tmp_path / name).write_text("a 1 0 1 x\n")
    with pytest.raises(InputError, match='"a" is listed twice'):
        gather([tmp_path / "one.ctm", tmp_path / "two.ctm"])
    (tmp_path / "chapters.srt").write_text(SRT)
    with pytest.raises(UsageError, match="gather one kind"):
        gather(tmp_path)
    (tmp_path / "one.ctm").write_text("a 1 0 1 x nan\n")
    with pytest.raises(InputError, match="has an invalid confidence"):
        gather(tmp_path / "one.ctm")


TALK = "1\n00:00:00,000 --> 00:00:50,000\nHello. It\n\n2\n00:01:01,000 --> 00:01:05,000\nrains.\n"


def test_what_was_said_is_added_to_both_sides(folder: Path) -> None:
    (folder / "said").mkdir()
    (folder / "said" / "a.srt").write_text(TALK)
    (folder / "said" / "rest.ctm").write_text("b 1 0.5 0.2 Hello.\nb 1 60 1 Rain! 0.8\n")
    outputs = gather(folder / "careful", spoken=folder / "said")
    assert outputs[0]["output"]["subtitles"] == TALK
    words = [["Hello.", 0.5, 0.7], ["Rain!", 60, 61, 0.8]]
    assert outputs[1]["output"]["words"] == words
    seconds = folder / "durations.csv"
    references = gather(folder / "anna", durations=seconds, spoken=[folder / "said"])
    assert (references[0]["subtitles"], references[1]["words"]) == (TALK, words)
    scores = score(outputs, references, metrics="sentences", of="output")
    assert (scores.systems["careful"]["sentence_precision"].n, scores.skipped) == (2, ())
    wanted = ["--durations", str(folder / "durations.csv"), "--spoken", str(folder / "said")]
    made = CliRunner().invoke(group, ["gather", str(folder / "anna"), *wanted])
    assert [json.loads(line) for line in made.stdout.splitlines()] == references


def test_what_is_wrong_with_what_was_said_is_told(folder: Path) -> None:
    (folder / "said").mkdir()
    (folder / "said" / "a.srt").write_text(TALK.replace("01:05", "00:05"))
    (folder / "said" / "one.ctm").write_text("a 1 0.5 0.2 x\nc 1 0.5\n")
    with pytest.raises(InputError) as error:
        gather(folder / "careful", spoken=[folder / "said", folder / "eager" / "notes.txt"])
    told = str(error.value).replace(f"{folder}/", "")
    for part in (
        "said/a.srt: line 6: ends before it begins",
        "said/one.ctm:2: has 3 fields, not 5 or 6",
        'said/one.ctm: another file also has the speech of "a" — keep one',
        'spoken: no spoken file for "b" — known: a',
        "eager/notes.txt: neither subtitles (.srt, .vtt) nor CTM (.ctm)",
    ):
        assert part in told
    with pytest.raises(UsageError, match="spoken files can be added to chapters"):
        gather(folder / "said" / "one.ctm", spoken=folder / "said")


def test_a_preset_is_for_files_whose_ending_says_nothing(folder: Path) -> None:
    (folder / "careful" / "c.txt").write_text("0:00 Hello\n1:00 Rain\n")
    found = gather(folder / "careful", preset="youtube")
    presets = {one["item"]: one["output"]["preset"] for one in found}
    assert presets == {"a": "srt", "b": "podcast", "c": "youtube"}
    (folder / "list.json").write_text("0:00 Hello\n1:00 Rain\n")
    [named] = gather(folder / "list.json", preset="youtube", system="x")
    assert named["output"]["preset"] == "youtube"
    made = CliRunner().invoke(group, ["gather", str(folder / "careful")])
    assert "note: 1 file skipped, such as" in made.stderr
    (folder / "only").mkdir()
    (folder / "only" / "x.txt").write_text("0:00 A\n")
    with (
        pytest.warns(EarwitnessWarning, match="1 file skipped"),
        pytest.raises(UsageError, match=r"no files found — for extensions other than \.srt"),
    ):
        gather(folder / "only")
