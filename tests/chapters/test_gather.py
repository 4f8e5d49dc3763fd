"""Chapters in files of their own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from earwitness.chapters.gather import gather
from earwitness.cli.main import group
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.scoring.compare import compare
from earwitness.scoring.results import Scores
from earwitness.scoring.score import score

SRT = "1\n00:00:00,000 --> 00:01:00,000\nHello\n\n2\n00:01:00,000 --> 00:02:00,000\nRain"
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
    (folder / "durations.csv").write_text("item,duration\na,200\n\nb,long\n,3\n")
    with pytest.raises(InputError) as error:
        gather([folder / "anna"], durations=folder / "durations.csv")
    told = str(error.value).replace(f"{folder}/", "")
    for part in (
        "anna/a.srt:2: ",
        'anna/a.vtt: duplicate reference of "anna" for "a" — keep one',
        'anna/c.vtt: no duration for "c" — add it — known: a, b',
        "anna/d.vtt: not UTF-8 at byte 8",
        'durations.csv:4: duration: must be a number of seconds, got "long"',
        "durations.csv:5: item: is empty",
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
    lines = "a 1 0 0.4 it 0.8\na 1 0.5 0.2 rains 0.9\nb 1 0 0.5 snow\nb 2 0 0.5 ice\n"
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
    outputs = gather(folder / "careful", transcripts=folder / "said")
    assert outputs[0]["output"]["subtitles"] == TALK
    words = [["Hello.", 0.5, 0.7], ["Rain!", 60, 61, 0.8]]
    assert outputs[1]["output"]["words"] == words
    seconds = folder / "durations.csv"
    references = gather(folder / "anna", durations=seconds, transcripts=[folder / "said"])
    assert (references[0]["subtitles"], references[1]["words"]) == (TALK, words)
    scores = score(outputs, references, metrics="sentences", of="output")
    assert (scores.systems["careful"]["sentence_precision"].n, scores.skipped) == (2, ())
    wanted = ["--durations", str(folder / "durations.csv"), "--transcript", str(folder / "said")]
    made = CliRunner().invoke(group, ["gather", str(folder / "anna"), *wanted])
    assert [json.loads(line) for line in made.stdout.splitlines()] == references


def test_what_is_wrong_with_what_was_said_is_told(folder: Path) -> None:
    (folder / "said").mkdir()
    (folder / "said" / "a.srt").write_text(TALK.replace("01:05", "00:05"))
    (folder / "said" / "one.ctm").write_text("a 1 0.5 0.2 x\nc 1 0.5\n")
    with pytest.raises(InputError) as error:
        gather(folder / "careful", transcripts=[folder / "said", folder / "eager" / "notes.txt"])
    told = str(error.value).replace(f"{folder}/", "")
    for part in (
        "said/a.srt: line 6: ends before it begins",
        "said/one.ctm:2: has 3 fields, not 5 or 6",
        'said/one.ctm: another file also has the speech of "a" — keep one',
        'transcripts: no transcript for "b" — known: a',
        "eager/notes.txt: unknown transcript format — known: .ctm, .srt, .vtt, .tsv",
    ):
        assert part in told
    with pytest.raises(UsageError, match="transcripts can be added to chapters"):
        gather(folder / "said" / "one.ctm", transcripts=folder / "said")


WHISPER_WORDS = [
    {"word": " It", "start": 0.0, "end": 0.4, "probability": 0.8},
    {"word": " rains.", "start": 0.5, "end": 0.7, "probability": 0.9},
]
WHISPER_SEGMENT = {"id": 0, "start": 0.0, "end": 0.7, "text": " It rains."}
WORD_ROWS = [["It", 0, 0.4, 0.8], ["rains.", 0.5, 0.7, 0.9]]
WORD_GRID = """File type = "ooTextFile"
Object class = "TextGrid"
0 1 <exists> 2
"IntervalTier" "words" 0 1 2 0 0.4 "It" 0.4 1 "rains."
"IntervalTier" "phones" 0 1 1 0 1 "sil"
"""


def write_recognizer_files(folder: Path) -> None:
    """Write a file of each recognizer, for the items a to h."""
    words = json.dumps({"text": "", "segments": [{**WHISPER_SEGMENT, "words": WHISPER_WORDS}]})
    (folder / "a.json").write_text(words)
    entry = {"text": " It rains.", "offsets": {"from": 0, "to": 700}}
    (folder / "b.wav.json").write_text(json.dumps({"transcription": [entry]}))
    (folder / "c.TextGrid").write_text(WORD_GRID)
    line = {"audio_filepath": "/x/d.wav", "duration": 0.7, "pred_text": "It rains."}
    (folder / "nemo.jsonl").write_text(f"{json.dumps(line)}\n")
    (folder / "text").write_text("e-1 It rains.\n")
    (folder / "segments").write_text("e-1 e 0 0.7\n")
    (folder / "g.tsv").write_text("start\tend\ttext\n0\t700\tIt rains.\n")
    chunk = {"timestamp": [0.0, 0.7], "text": " It rains."}
    (folder / "h.json").write_text(json.dumps({"text": " It rains.", "chunks": [chunk]}))
    (folder / "f.ctm").write_text("f 1 0 0.4 It 0.8\nf 1 0.5 0.2 rains. 0.9\n")


def test_words_of_all_recognizers_are_gathered_for_summaries(tmp_path: Path) -> None:
    folder = tmp_path / "asr"
    folder.mkdir()
    write_recognizer_files(folder)
    (folder / "outputs.jsonl").write_text('{"item": "x", "words": ["y"]}\n')
    (folder / "votes.tsv").write_text("item\tvote\nx\t5\n")
    with pytest.warns(EarwitnessWarning, match=r"2 files skipped, such as .*outputs\.jsonl"):
        found = gather(folder)
    assert {one["item"]: one["output"]["words"] for one in found} == {
        "a": WORD_ROWS,
        "b": ["It", "rains."],
        "c": [["It", 0, 0.4], ["rains.", 0.4, 1]],
        "d": ["It", "rains."],
        "e": ["It", "rains."],
        "f": WORD_ROWS,
        "g": ["It", "rains."],
        "h": ["It", "rains."],
    }
    references = [
        {"item": one["item"], "transcript": "It rains a lot", "references": [{"positions": [1, 2]}]}
        for one in found
    ]
    assert score(found, references).systems["asr"]["sumaccy"].value == 1


def test_words_of_all_recognizers_are_added_to_chapters(tmp_path: Path) -> None:
    (tmp_path / "said").mkdir()
    write_recognizer_files(tmp_path / "said")
    (tmp_path / "said" / "a.info.json").write_text('{"chapters": []}')  # is passed over
    (tmp_path / "mine").mkdir()
    for item in "abcdefgh":
        (tmp_path / "mine" / f"{item}.srt").write_text(SRT)
    gathered = gather(tmp_path / "mine", transcripts=tmp_path / "said")
    found = {one["item"]: one["output"] for one in gathered}
    assert found["a"]["words"] == found["f"]["words"] == WORD_ROWS
    assert found["c"]["words"] == [["It", 0, 0.4], ["rains.", 0.4, 1]]
    subtitles = "WEBVTT\n\n00:00:00.000 --> 00:00:00.700\nIt rains.\n"
    assert [found[item]["subtitles"] for item in "bdegh"] == [subtitles] * 5
    (tmp_path / "said" / "segments").unlink()
    with pytest.raises(InputError, match='"e-1" has no times — put the file segments next to it'):
        gather(tmp_path / "mine", transcripts=tmp_path / "said")
    (tmp_path / "said" / "text").unlink()
    (tmp_path / "said" / "nemo.jsonl").write_text('{"audio_filepath": "d.wav", "text": "It"}\n')
    with pytest.raises(InputError, match=r'jsonl: "d" has no times — add durations to all lines'):
        gather(tmp_path / "mine", transcripts=tmp_path / "said")


def test_a_tier_of_a_textgrid_with_words_can_be_chapters(tmp_path: Path) -> None:
    (tmp_path / "c.TextGrid").write_text(WORD_GRID)
    [chapters] = gather(tmp_path, tier="words", system="x")
    assert chapters["output"]["boundaries"] == [0, 0.4]


def test_a_preset_is_for_files_whose_ending_says_nothing(folder: Path) -> None:
    (folder / "careful" / "c.txt").write_text("0:05 Hello\n1:00 Rain\n")
    found = gather(folder / "careful", preset="youtube")
    presets = {one["item"]: one["output"]["preset"] for one in found}
    assert presets == {"a": "srt", "b": "podcast", "c": "youtube"}
    (folder / "list.json").write_text("0:00 Hello\n1:00 Rain\n")
    [named] = gather(folder / "list.json", preset="youtube", system="x")
    assert named["output"]["preset"] == "youtube"
    made = CliRunner().invoke(group, ["gather", str(folder / "careful")])
    assert "note: 1 file skipped, such as" in made.stderr
    (folder / "only").mkdir()
    (folder / "only" / "x.txt").write_text("A 0:05\n")
    with (
        pytest.warns(EarwitnessWarning, match="1 file skipped"),
        pytest.raises(UsageError, match=r"no files found — for extensions other than \.srt"),
    ):
        gather(folder / "only")


@pytest.mark.parametrize("first", ["0:00 A", "- (00:00) A", "**0:00:00** A", "0:01 A"])
def test_a_text_that_starts_with_a_chapter_at_0_is_a_list_of_chapters(
    tmp_path: Path, first: str
) -> None:
    (tmp_path / "a.txt").write_text(f"\n{first}\n1:00 B\n")
    (tmp_path / "b.srt").write_text("1\n00:00:00,000 --> 00:00:10,000\nHello\n")
    if first == "0:01 A":
        with pytest.warns(EarwitnessWarning, match="1 file skipped"):
            assert len(gather(tmp_path)) == 1
    else:
        assert [one["output"]["preset"] for one in gather(tmp_path)] == ["youtube", "srt"]


def test_folders_of_files_are_scored_as_they_are(tmp_path: Path) -> None:
    for place, shift in (("people", 0), ("careful", 2)):
        for number in range(6):
            chapters = [
                {"start_time": float(start + shift * bool(start)), "end_time": 0.0, "title": "x"}
                for start in (0, 100, 250 + 7 * number)
            ]
            path = tmp_path / place / f"Talk {number} [id{number}].info.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(
                json.dumps({"id": f"id{number}", "duration": 400, "chapters": chapters})
            )
    outputs, references = tmp_path / "careful", tmp_path / "people"
    found = score(outputs, references, metrics="collar")
    wanted = score(gather(outputs), gather(references, references=True), metrics="collar")
    assert found.systems == wanted.systems
    assert found.systems["careful"]["collar_f1"].value == 1.0
    names = [file.name for file in found.provenance.inputs]
    assert names == [str(outputs), str(references)]
    (outputs / "Talk 0 [id0].info.json").rename(outputs / "id0.info.json")
    with pytest.raises(InputError, match=r'for "id0" — did you mean "Talk 0 \[id0\]"'):
        score(outputs, references, metrics="collar")


GRID = """File type = "ooTextFile"
Object class = "TextGrid"

0
200
<exists>
1
"IntervalTier"
"parts"
0
200
2
0
60
"Hello"
60
200
"Räin"
"""
FOREIGN = {
    "talk.info.json": json.dumps(
        {
            "extractor": "youtube",
            "duration": 200,
            "chapters": [
                {"start_time": 0.0, "end_time": 60.0, "title": "Hello"},
                {"start_time": 60.0, "end_time": 200.0, "title": "Räin"},
            ],
        }
    ),
    "talk.TextGrid": GRID,
    "talk.jams": json.dumps(
        {
            "file_metadata": {"duration": 200},
            "annotations": [
                {
                    "namespace": "segment_open",
                    "data": [
                        {"time": 0, "duration": 60, "value": "Hello"},
                        {"time": 60, "duration": 140, "value": "Räin"},
                    ],
                }
            ],
        }
    ),
    "talk.rttm": "SPEAKER talk 1 0 60 <NA> <NA> Hello <NA> <NA>\n"
    "SPEAKER talk 1 60 140 <NA> <NA> Räin <NA> <NA>\n",
    "talk.lab": "0.0 60.0 Hello\n60.0 200.0 Räin\n",
    "talk.csv": "Start,End,Title\n0,60,Hello\n60,200,Räin\n",
    "talk.txt": "0.000000\t60.000000\tHello\n60.000000\t200.000000\tRäin\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_tools_are_outputs_and_references(tmp_path: Path, name: str) -> None:
    for place in ("tool", "anna"):
        (tmp_path / place).mkdir()
        encoding = "utf-16" if name.endswith("TextGrid") else "utf-8"
        (tmp_path / place / name).write_bytes(FOREIGN[name].encode(encoding))
    (output,) = gather(tmp_path / "tool")
    content = {"boundaries": [0, 60], "titles": [["Hello", 0], ["Räin", 60]]}
    assert output == {"item": "talk", "system": "tool", "output": content}
    if name in ("talk.info.json", "talk.TextGrid", "talk.jams"):
        references = gather(tmp_path / "anna", references=True)
    else:
        with pytest.raises(InputError, match=r'no duration for "talk" — add it to the durations'):
            gather(tmp_path / "anna", references=True)
        references = gather(tmp_path / "anna", durations={"talk": 200.0})
    assert references == [
        {"item": "talk", "duration": 200, "references": [{"annotator": "anna", **content}]}
    ]
    scores = score([output], references, metrics=["collar", "titles"])
    assert scores.systems["tool"]["collar_f1"].value == 1
    assert scores.systems["tool"]["tm_rl_f1"].value == 1


@pytest.mark.parametrize(
    ("name", "preset"),
    [
        ("talk.info.json", "ytdlp"),
        ("talk.TextGrid", "textgrid"),
        ("talk.jams", "jams"),
        ("talk.rttm", "rttm"),
        ("talk.lab", "lab"),
        ("talk.csv", "csv"),
        ("talk.txt", "audacity"),
    ],
)
def test_texts_of_other_tools_are_scored_inside_records(name: str, preset: str) -> None:
    content = {"transcript": FOREIGN[name]}
    output = {"item": "talk", "system": "tool", "output": content}
    reference = {"item": "talk", "duration": 200, "references": [content]}
    scores = score([output], [reference], metrics="collar", preset=preset)
    assert scores.systems["tool"]["collar_f1"].value == 1
    sample = {"hypothesis": FOREIGN[name], "format": preset, "reference": [60], "duration": 200}
    assert score([sample], metrics="collar").systems["outputs"]["collar_f1"].value == 1


def test_a_tier_is_chosen_while_gathering(tmp_path: Path) -> None:
    two = GRID.replace("<exists>\n1", "<exists>\n2") + '"TextTier"\n"bell"\n0\n200\n1\n9\n"x"\n'
    (tmp_path / "talk.TextGrid").write_text(two)
    with pytest.raises(InputError, match='has 2 tiers: 1 "parts", 2 "bell" — choose one by name'):
        gather(tmp_path)
    (found,) = gather(tmp_path, tier="bell")
    assert found["output"] == {"boundaries": [9], "titles": [["x", 9]]}
    made = CliRunner().invoke(group, ["gather", str(tmp_path), "--tier", "2"])
    assert json.loads(made.stdout)["output"] == found["output"]


def test_an_rttm_file_has_an_item_per_recording(tmp_path: Path) -> None:
    lines = "SPEAKER a 1 0 9 <NA> <NA> x <NA>\nSPEAKER b 1 5 9 <NA> <NA> y <NA>\n"
    (tmp_path / "all.rttm").write_text(lines)
    found = gather(tmp_path, system="s")
    assert [(one["item"], one["output"]["boundaries"]) for one in found] == [("a", [0]), ("b", [5])]


def test_references_do_not_become_a_system_in_silence(folder: Path) -> None:
    made = CliRunner().invoke(group, ["gather", str(folder / "anna"), str(folder / "bert")])
    assert made.stderr == (
        "note: gathered as outputs of anna, bert; for references, add --durations FILE\n"
    )
    assert (folder / "bert").rename(folder / "References")
    with pytest.raises(UsageError, match=r"seems to hold references — for references, set --dur"):
        gather(folder / "References")
    assert gather(folder / "References", system="x")[0]["system"] == "x"
    outputs = gather(folder / "anna")
    with pytest.raises(InputError, match="or were references gathered without --durations"):
        score(outputs, outputs)


def test_windows_files_are_read_with_one_note(folder: Path) -> None:
    for path in (folder / "anna").iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    message = r"CRLF line endings \(2\) and byte-order marks \(2\) are ignored"
    with pytest.warns(EarwitnessWarning, match=message) as caught:
        gather(folder / "anna")
    assert len(caught) == 1


HEADINGS = "# 0:00 Day\n## 0:00 Hello\ntext\n## 0:30 Rain\n# 2:00 Night\n## 2:00 Stars\n"


def test_levels_of_headings_are_scored_one_by_one_or_each() -> None:
    flat = HEADINGS.replace("0:30", "1:00")
    outputs = [{"item": "a", "system": "s", "output": {"transcript": flat}}]
    references = [{"item": "a", "duration": 300, "references": [{"transcript": HEADINGS}]}]

    def scored(**options: Any) -> Scores:
        return score(outputs, references, metrics="collar", preset="markdown_ts", **options)

    every = scored()
    assert every.notes[0] == (
        "2 transcripts have headings of several levels, which all count as chapters; use "
        "--heading-level 1 or 2 for one level, or each to score every level separately"
    )
    assert scored(heading_level="1").systems["s"]["collar_f1"].value == 1
    second = scored(heading_level="2")
    assert second.systems["s"]["collar_f1"].value == 0.5
    assert "|heading_level=2" in second.signature
    each = scored(heading_level="each")
    (part,) = each.slices
    assert part.field == "heading_level"
    assert {level: own["s"]["collar_f1"].value for level, own in part.groups.items()} == {
        "1": 1,
        "2": 0.5,
    }
    assert each.systems["s"]["collar_f1"].value == every.systems["s"]["collar_f1"].value
    with pytest.raises(UsageError, match="heading_level must be a whole number from 1, or each"):
        scored(heading_level="0")
    with pytest.raises(UsageError, match="use a file, not an iterator"):
        score(iter(outputs), references, preset="markdown_ts", heading_level="each")
    with pytest.raises(UsageError, match="only score can score each heading_level"):
        compare(outputs, references, preset="markdown_ts", heading_level="each")


def test_the_option_heading_level_chooses_headings(tmp_path: Path) -> None:
    sample = {"hypothesis": HEADINGS, "format": "markdown_ts", "reference": [120], "duration": 300}
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(sample) + "\n")
    command = ["score", str(path), "--metric", "collar", "--to", "json"]
    for value in ("1", "2"):
        made = CliRunner().invoke(group, [*command, "--heading-level", value])
        found = json.loads(made.stdout)["systems"]["in"]["collar_precision"]["value"]
        assert found == (1 if value == "1" else 0.5)


def test_a_title_without_a_time_above_timed_headings_names_the_level() -> None:
    sample = {
        "hypothesis": "# My talk\n## 0:00 Hello\n## 2:00 Rain",
        "format": "markdown_ts",
        "reference": [120],
        "duration": 300,
    }
    with pytest.raises(InputError, match="or set --heading-level 2"):
        score([sample])
    assert score([sample], heading_level="2").systems["outputs"]["collar_f1"].value == 1
