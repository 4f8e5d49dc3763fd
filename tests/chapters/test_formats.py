"""Chapters in files of other tools: read as these tools write them, or refused with their line."""

from __future__ import annotations

import json

import pytest

from earwitness.chapters.formats import parse_csv, parse_rttm_recordings
from earwitness.chapters.presets import PresetOptions, read

YTDLP = {
    "id": "x7",
    "extractor": "youtube",
    "duration": 200,
    "chapters": [
        {"start_time": 0.0, "end_time": 61.5, "title": "Intro"},
        {"start_time": 61.5, "title": None, "end_time": 200.0},
    ],
}
RTTM = """;; made by a diarization system
SPKR-INFO talk 1 <NA> <NA> <NA> unknown ann <NA> <NA>
SPEAKER talk 1 61.50 10.0 <NA> <NA> ann <NA> <NA>
SPEAKER talk 1 0.00 61.50 <NA> <NA> bert <NA>
"""
AUDACITY = (
    "0.000000\t61.500000\tIntro\n\\\t200.000000\t400.000000\n61.500000\t61.500000\ta point\n90\t91"
)
LONG_GRID = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0 
xmax = 200 
tiers? <exists> 
size = 2 
item []: 
    item [1]:
        class = "IntervalTier" 
        name = "Chapters" 
        xmin = 0 
        xmax = 200 
        intervals: size = 3 
        intervals [1]:
            xmin = 0 
            xmax = 61.5 
            text = "the ""first""
one" 
        intervals [2]:
            xmin = 61.5 
            xmax = 70 
            text = "" 
        intervals [3]:
            xmin = 70 
            xmax = 200 
            text = "naïve" 
    item [2]:
        class = "TextTier" 
        name = "bell" 
        xmin = 0 
        xmax = 200 
        points: size = 1 
        points [1]:
            number = 12.5 
            mark = "ding" 
"""  # noqa: W291 (Praat writes spaces at the ends of lines)
SHORT_GRID = """File type = "ooTextFile"
Object class = "TextGrid"

0
200
<exists>
1
"IntervalTier"
"words"
0
200
2
0
61.5
""
61.5
200
""
"""
JAMS = {
    "file_metadata": {"duration": 200.0, "title": None},
    "annotations": [
        {"namespace": "beat", "data": [{"time": 1.0, "duration": 0.0, "value": 1}]},
        {
            "namespace": "segment_open",
            "data": [
                {"time": 61.5, "duration": 138.5, "value": "Chorus", "confidence": None},
                {"time": 0.0, "duration": 61.5, "value": "Verse", "confidence": 1.0},
            ],
        },
    ],
    "sandbox": {},
}
NAMES = {
    "namespace": "segment_salami_function",
    "data": [{"time": 3.0, "duration": 1, "value": "x"}],
}
LEVELS = {
    "file_metadata": {"duration": 9.0},
    "annotations": [
        {
            "namespace": "multi_segment",
            "data": [
                {"time": 0.0, "duration": 9, "value": {"label": "all", "level": 0}},
                {"time": 0.0, "duration": 4, "value": {"label": "a", "level": 1}},
                {"time": 4.0, "duration": 5, "value": {"label": "b", "level": 1}},
            ],
        }
    ],
}


@pytest.mark.parametrize(
    ("preset", "text", "chapters", "duration"),
    [
        ("ytdlp", json.dumps(YTDLP), [("Intro", 0), ("", 61.5)], 200),
        ("ytdlp", json.dumps(YTDLP | {"chapters": None}), [], 200),
        ("rttm", RTTM, [("bert", 0), ("ann", 61.5)], None),
        ("audacity", AUDACITY, [("Intro", 0), ("a point", 61.5), ("", 90)], None),
        ("audacity", "1,5\t2,5\tIntro\r\n", [("Intro", 1.5)], None),
        ("textgrid", LONG_GRID, [('the "first" one', 0), ("naïve", 70)], 200),
        ("textgrid", LONG_GRID.replace("\n", "\r\n"), [('the "first" one', 0), ("naïve", 70)], 200),
        ("jams", json.dumps(JAMS), [("Verse", 0), ("Chorus", 61.5)], 200),
        ("lab", "0.0 61.5 Intro to\n61.5\t200 next\n\n", [("Intro to", 0), ("next", 61.5)], 0),
        ("lab", "0 2500000 sil\n2500000 42000000 hh\n", [("sil", 0), ("hh", 0.25)], 0),
        ("lab", "0 30 a\n30 60 b", [("a", 0), ("b", 30)], 0),
        ("csv", "Start,End,Title\n0,61.5,Intro\n1:01.5,,\n", [("Intro", 0), ("", 61.5)], None),
        ("csv", "TITLE;START\n\"a; b\";0,5\n", [("a; b", 0.5)], None),
        ("csv", "start_time\ttitle\n12\tx\n", [("x", 12)], None),
    ],
)  # fmt: skip
def test_files_of_other_tools(
    preset: str, text: str, chapters: list[tuple[str, float]], duration: float | None
) -> None:
    found = read(text, preset)
    assert found.flaws == ()
    assert [(section.title or "", section.time) for section in found.sections] == chapters
    assert (found.duration or None) == (duration or None)


def test_a_tier_without_labels_has_boundaries_without_titles() -> None:
    found = read(SHORT_GRID, "textgrid")
    assert (found.times, found.titles, found.flaws) == ([0, 61.5], [], ())


@pytest.mark.parametrize("tier", ["bell", "BELL", "2"])
def test_a_tier_is_chosen_by_name_or_number(tier: str) -> None:
    assert read(LONG_GRID, "textgrid", PresetOptions(tier=tier)).titles == [("ding", 12.5)]


def test_one_of_several_tiers_or_annotations_must_be_chosen() -> None:
    (flaw,) = read(LONG_GRID.replace("Chapters", "words"), "textgrid").flaws
    assert flaw.message == 'has 2 tiers: 1 "words", 2 "bell"'
    assert flaw.remedy == "choose one by name or number (--tier)"
    (flaw,) = read(LONG_GRID, "textgrid", PresetOptions(tier="wrods")).flaws
    assert flaw.message == 'has no tier "wrods" (found: 1 "Chapters", 2 "bell")'
    both = json.dumps({**JAMS, "annotations": [*JAMS["annotations"], NAMES]})
    (flaw,) = read(both, "jams").flaws
    names = '2 "segment_open", 3 "segment_salami_function"'
    assert flaw.message == f"has 2 annotations of segments: {names}"
    assert read(both, "jams", PresetOptions(tier="3")).titles == [("x", 3)]
    assert read(both, "jams", PresetOptions(tier="segment_open")).times == [0, 61.5]


def test_levels_are_chosen_by_number() -> None:
    text = json.dumps(LEVELS)
    assert read(text, "jams", PresetOptions(level="1")).titles == [("all", 0)]
    assert read(text, "jams", PresetOptions(level="2")).titles == [("a", 0), ("b", 4)]
    headings = "# 0:00 Day\n## 0:00 Hello\ntext\n## 0:30 Rain\n# 2:00 Night\nmore"
    assert read(headings, "markdown_ts").levels == {1, 2}
    day, night = read(headings, "markdown_ts", PresetOptions(level="1")).sections
    assert (day.title, day.time, day.text) == ("Day", 0, "text")
    assert (night.title, night.time, night.text) == ("Night", 120, "more")
    second = read(headings, "markdown_ts", PresetOptions(level="2"))
    assert second.titles == [("Hello", 0), ("Rain", 30)]
    assert second.text == "text more"


@pytest.mark.parametrize(
    ("preset", "text", "line", "message"),
    [
        ("ytdlp", "{\n  x", 2, "not JSON"),
        ("ytdlp", "[]", 1, 'no list "chapters" found'),
        ("ytdlp", '{"chapters": [{"title": "x"}]}', 1, "chapters[0]: start_time must be a number"),
        ("ytdlp", '{"chapters": [],\n"chapters": null}', 2, '"chapters" appears twice in one obj'),
        ("podcast", '{"chapters": [{"startTime": 1,\n"startTime": 2}]}', 2, '"chapters.startTime"'),
        ("rttm", "SPEAKER talk 1 soon 3 <NA> <NA> a <NA>", 1, "has a time that is not a number"),
        ("rttm", "SPEAKER talk 1 3", 1, "has 4 fields"),
        ("rttm", "SPKR-INFO talk 1 <NA> <NA> <NA> unknown a <NA>", 1, "has no SPEAKER lines"),
        ("rttm", RTTM.replace("talk 1 0", "b 1 0"), 1, "has 2 recordings: b, talk"),
        ("audacity", "0.0\t1.0\ta\nIntro\n", 2, 'no times in "Intro"'),
        ("audacity", "", 1, "contains no labels"),
        ("textgrid", "nothing", 1, "is not a TextGrid"),
        ("textgrid", SHORT_GRID[:120], 18, "ends too early"),
        ("textgrid", SHORT_GRID.replace('61.5\n""', '61.5\n0'), 15, "must be text, got 0"),
        ("textgrid", SHORT_GRID.replace("\n0\n61.5", "\nx\n61.5"), 15, 'must be a number, got ""'),
        ("jams", '{"annotations": [{"namespace": "beat", "data": []}]}', 1, "no annotation of seg"),
        ("jams", json.dumps(JAMS).replace("61.5, ", '"x", ', 1), 1, "annotations[1].data[0]: time"),
        ("lab", "0 1 a\nsoon 2 b", 2, 'no start and end in "soon 2 b"'),
        ("csv", "begin at,title\n1,x\n", 1, 'no column "start" (found: begin at, title)'),
        ("csv", "start,title\nsoon,x\n", 2, '"soon" is not a time'),
        ("csv", "", 1, "contains no chapters"),
    ],
)  # fmt: skip
def test_other_content_is_refused_with_its_line(
    preset: str, text: str, line: int, message: str
) -> None:
    flaw = read(text, preset).flaws[0]
    assert flaw.message.startswith(message)
    assert flaw.line == line


def test_an_rttm_file_may_have_several_recordings() -> None:
    by_name, flaws = parse_rttm_recordings(RTTM.replace("talk 1 0", "b 1 0"))
    assert {name: found.titles for name, found in by_name.items()} == {
        "talk": [("ann", 61.5)],
        "b": [("bert", 0)],
    }
    assert flaws == []


@pytest.mark.parametrize(
    ("line", "title", "time"),
    [
        ("**0:00** [Intro](https://a.org/x_y?t=0)", "Intro", 0),
        ("- **1:30** – _Rain_ again", "Rain again", 90),
        ("* [1:30](https://youtu.be/x?t=90) Rain", "Rain", 90),
        ("[1:30 Rain](https://youtu.be/x?t=90)", "Rain", 90),
        ("1. **Rain** (1:30)", "Rain", 90),
        ("[**1:30**](https://youtu.be/x) - **Rain & snow_storm**", "Rain & snow_storm", 90),
        ("`1:30` Rain", "Rain", 90),
        ("(1:30) [Rain](https://en.wikipedia.org/wiki/Rain_(disambiguation))", "Rain", 90),
        ("1:30 2 * 3 * 4", "2 * 3 * 4", 90),
        ("1:30 [live] Rain", "[live] Rain", 90),
    ],
)
def test_youtube_lists_may_have_markdown(line: str, title: str, time: float) -> None:
    found = read(line, "youtube")
    assert (found.titles, found.flaws) == ([(title, time)], ())


def test_cells_of_a_table_may_have_line_breaks_and_blank_lines_do_not_count() -> None:
    found = parse_csv('\nstart,title\n0,"Intro\npart"\n\n61,Rain\n')
    assert [(section.title, section.time) for section in found.sections] == [
        ("Intro part", 0.0),
        ("Rain", 61.0),
    ]
    assert found.sections[1].line == 6
