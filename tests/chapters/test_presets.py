"""Transcripts and lists of chapters: read, or refused with their line."""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path
from typing import Any

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.chapters.gather import gather
from earwitness.chapters.presets import (
    PRESETS,
    ChapterFormat,
    ChapterOptions,
    PresetOptions,
    align_sections,
    open_aligner,
    read,
)
from earwitness.errors import InputError, UsageError
from earwitness.io.formats import list_endings
from earwitness.scoring.score import score
from earwitness.speech.ctc import AlignmentFailure
from earwitness.speech.mms import MmsAligner
from earwitness.text.sentences import split_sentences
from earwitness.text.timed_transcripts import TRANSCRIPTS
from earwitness.text.times import TIMESTAMP_FORMATS, TimestampFormat
from earwitness.text.transcripts import Transcript, TranscriptSection
from generate import preset_table
from helpers.clock_aligner import ClockAligner

SRT = """1
00:00:00,000 --> 00:01:00,000
Hello <b>you</b>

2
00:01:00,500 --> 00:02:00,000
Next &amp; more
second line
"""
VTT = """WEBVTT - chapters

NOTE nobody reads this

intro
00:00.000 --> 00:10.000 align:start
<v Ann>Intro

01:00:10.250 --> 01:00:20.000
End
"""
FFMETADATA = """;FFMETADATA1
title=x
[CHAPTER]
TIMEBASE=1/1000
START=0
END=1500
title=Start
[CHAPTER]
TIMEBASE=1/1000
START=61500
END=62000
title=a \\= b\\; c
[STREAM]
title=no chapter
"""
PODCAST = json.dumps(
    {
        "version": "1.2.0",
        "chapters": [
            {"startTime": 0, "title": "A"},
            {"startTime": 61.5, "title": "B"},
            {"startTime": 70, "title": "hidden", "toc": False},
        ],
    }
)
CUSTOM = r"\[\s*(?P<title>[^@]+?)\s*@\s*(?P<timestamp>[\d:]+)\s*\]"


@pytest.mark.parametrize(
    ("preset", "text", "chapters"),
    [
        ("cstart_ts", "[CSTART] 0:00:00 - A [CEND] x\n[CSTART] 1:02:03 - B [CEND] y", "A 0 B 3723"),
        ("cstart_ts", "[CSTART] 2:03 – A [CEND]\r\n[CSTART] [4:05.5] — B [CEND]", "A 123 B 245.5"),
        ("markdown_ts", "# 0:10 A\ntext\n## B @ 1:02:03\n### 2:00:00: C", "A 10 B 3723 C 7200"),
        ("markdown_ts", "# [0:10] - A\r\n# (1:00,25) B\r\n", "A 10 B 60.25"),
        ("custom_ts", "[ A @ 0:00:05 ] x [ B @ 1:00:00 ]", "A 5 B 3600"),
        ("srt", SRT, "Hello-you 0 Next-&-more-second-line 60.5"),
        ("srt", SRT.replace("\n", "\r\n"), "Hello-you 0 Next-&-more-second-line 60.5"),
        ("webvtt", "\ufeff" + VTT, "Intro 0 End 3610.25"),
        (
            "youtube",
            "Contents\n0:00 A\n(1:30) - B\n- 1:00:05 | C\n– 1:10:00 D",
            "A 0 B 90 C 3605 D 4200",
        ),
        ("youtube", "1. 0:00 A\n2) 0:30 B", "A 0 B 30"),
        ("youtube", "A 0:00\nB - 1:30\nC (2:00)", "A 0 B 90 C 120"),
        ("youtube", "🎵 0:00 A\n⌨️ (2:00) B\n▶ 3:00 C\n\u200f4:00 D", "A 0 B 120 C 180 D 240"),
        ("youtube", "0:00–1:23 A\n1:23 - 2:00 B", "A 0 B 83"),
        ("youtube", "0:00 A\nhttps://a.org/12:34\nhttp://10.0.0.1:80\nJohn 3:16", "A 0"),
        ("markdown_ts", "# 1:02:03. A\n # 1:02:04, B\n# 1:02:05→C", "A 3723 B 3724 C 3725"),
        ("srt", SRT.replace("\n\n", "\n"), "Hello-you 0 Next-&-more-second-line 60.5"),
        ("srt", "1\n00:00:00,000 --> 00:00:01,000\na < b > c", "a-<-b->-c 0"),
        ("webvtt", "WEBVTT\n\nNOTE\tx\n\n00:01.000 --> 00:02.000\nA", "A 1"),
        ("ffmetadata", ";FFMETADATA1\n[CHAPTER]\ntitle=A\\\\\nSTART=5000000000\n", "A\\ 5"),
        ("podcast", PODCAST, "A 0 B 61.5"),
        ("ffmetadata", FFMETADATA, "Start 0 a-=-b;-c 61.5"),
    ],
)
def test_chapters_with_times(preset: str, text: str, chapters: str) -> None:
    found = read(text, preset, PresetOptions(CUSTOM))
    assert not found.flaws
    words = chapters.split()
    want = [(t.replace("-", " "), float(s)) for t, s in zip(words[::2], words[1::2], strict=True)]
    assert found.titles == want
    assert found.times == [time for _, time in want]


def test_lines_outside_of_all_chapters_are_counted() -> None:
    assert read("Sure, here it is:\n\n# 0:00 A\ntext", "markdown_ts").loose == 1
    assert read("Contents\n0:00 A\nmore below", "youtube").loose == 2
    assert read(PODCAST, "podcast").loose == 1


@pytest.mark.parametrize(
    ("preset", "text", "flaw"),
    [
        (
            "cstart_ts",
            "[CSTART] 0:00 - A [CEND]\n[CSTART] B [CEND]",
            (2, 'no time in the heading "B"'),
        ),
        ("cstart_ts", "x\n[CSTART] 0:00 - A", (2, "[CSTART] without [CEND]")),
        ("cstart", "[CSTART] A [CSTART] B [CEND]", (1, "[CSTART] without [CEND]")),
        ("cstart", "nothing", (1, "no [CSTART] found")),
        ("cstart_ts", "x [CEND]\n[CSTART] 0:00 A [CEND]", (1, "[CEND] without [CSTART]")),
        ("markdown_ts", "# 1:02:3 X", (1, "no time in the heading")),
        ("markdown_ts", "# 1:99 X", (1, "no time in the heading")),
        ("podcast", '{"chapters": [{"startTime": NaN}]}', (1, "chapters[0]: startTime must")),
        ("podcast", '{"chapters": [{"startTime": 1' + "0" * 400 + "}]}", (1, "chapters[0]: start")),
        ("podcast", "[" * 100_000, (1, "not JSON: ")),
        ("ffmetadata", ";FFMETADATA1\n[CHAPTER]\nSTART=" + "9" * 400, (2, "a [CHAPTER] without")),
        ("markdown_ts", "# 0:00 A\nx\n# B\ny", (3, 'no time in the heading "B"')),
        ("markdown_ts", "nothing", (1, "no heading (# …) found")),
        ("custom_ts", "[ A @ 5:00 ]", (1, '"5:00" does not match the format H:MM:SS')),
        ("custom_ts", "nothing", (1, "no match for the pattern")),
        ("srt", "1\n00:00 -> 00:10\nA", (2, 'no times in "00:00 -> 00:10"')),
        ("youtube", "0:00 A\n1:75 B\n2:00 C", (2, 'no time in "1:75 B"')),
        ("youtube", "- 0:00 A\n- 1:02:99 B", (2, 'no time in "- 1:02:99 B"')),
        ("srt", "1\nsoon --> later\nA", (2, 'no time in "soon --> later"')),
        ("srt", "", (1, "contains no cues")),
        ("youtube", "nothing\nat all", (1, "no line has a time")),
        ("podcast", "{", (1, "not JSON: ")),
        ("podcast", "[]", (1, 'no list "chapters" found')),
        ("podcast", '{"chapters": [{"startTime": "1:00"}]}', (1, "chapters[0]: startTime must")),
        ("ffmetadata", "[CHAPTER]\nSTART=1", (1, 'does not begin with ";FFMETADATA1"')),
        ("ffmetadata", ";FFMETADATA1\n\n[CHAPTER]\nSTART=x\n", (3, "a [CHAPTER] without valid")),
        ("ffmetadata", ";FFMETADATA1\n", (1, "no [CHAPTER] found")),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(
    preset: str, text: str, flaw: tuple[int, str]
) -> None:
    (found,) = read(text, preset, PresetOptions(CUSTOM)).flaws
    assert found.line == flaw[0]
    assert found.message.startswith(flaw[1])


@pytest.mark.parametrize("preset", PRESETS)
@given(text=st.text(st.sampled_from(list('[]#:0123 \n-–@CSTARTEND\r>{}"=;')), max_size=80))
def test_no_text_breaks_a_reader_and_nothing_is_lost_in_silence(preset: str, text: str) -> None:
    found = read(text, preset, PresetOptions(CUSTOM))
    if preset in ("newline", "markdown", "custom"):
        return
    assert found.sections or found.flaws or preset == "podcast"
    for section in found.sections:
        assert section.time is not None or found.flaws or preset == "cstart"


@pytest.mark.parametrize(
    ("form", "text", "seconds"),
    [
        ("HH:MM:SS", "01:02:03", 3723),
        ("HH:MM:SS", "1:02:03", None),
        ("H:MM:SS", "1:02:03.5", 3723.5),
        ("MM:SS", "02:03", 123),
        ("M:SS", "2:03", 123),
        ("HHMMSS", "010203", 3723),
        ("MMSS", "0203", 123),
        ("MMSS", "203", None),
        ("", "100:00", 6000),
        ("", "1:2:3", None),
        (r"(?P<min>\d+)m(?P<sec>\d+)s", "2m3s", 123),
        (r"(?P<hours>\d+)h(?P<minutes>\d+)?", "2h", 7200),
    ],
)
def test_forms_of_times(form: str, text: str, seconds: float | None) -> None:
    assert TimestampFormat(form).seconds(text) == seconds


@pytest.mark.parametrize(
    ("preset", "text", "sections", "flaws"),
    [
        ("youtube", "0:00 a\nb" + " " * 50_000 + "c", 1, 0),
        ("youtube", "x" + "1" * 100_000, 0, 1),
        ("newline", "a\n\n" * 50_000, 50_000, 0),
        ("cstart_ts", "[CSTART] a " * 20_000, 0, 20_000),
        ("markdown_ts", "# 0:00 a\n" * 20_000, 20_000, 0),
    ],
)
def test_long_texts_are_read_in_one_go(preset: str, text: str, sections: int, flaws: int) -> None:
    found = read(text, preset)  # a reader that goes back and forth would take minutes
    assert (len(found.sections), len(found.flaws)) == (sections, flaws)


def test_patterns_that_are_none_or_take_too_long_are_refused() -> None:
    with pytest.raises(UsageError, match="pattern is not a regular expression"):
        PresetOptions("(").check()
    with pytest.raises(UsageError, match="requires custom_pattern"):
        read("x", "custom")
    with pytest.raises(UsageError, match=r"named group: \(\?P<timestamp>"):
        read("x", "custom_ts", PresetOptions("x"))
    with pytest.raises(UsageError, match=r"timestamp_format .* use one of HH:MM:SS"):
        PresetOptions("x", "soon").check()
    (slow,) = read("a" * 60 + "!b", "custom", PresetOptions("(a|aa)+[bc]$")).flaws
    assert slow.message == "pattern took more than 1 s"
    form = "(?P<h>(?:a|aa)+)[bc]$"
    marks = PresetOptions(r"^# (?P<timestamp>\S+)", form)
    (slow,) = read("# " + "a" * 60 + "!b", "custom_ts", marks).flaws
    assert slow.message == "timestamp_format took more than 1 s"
    with pytest.raises(UsageError, match='unknown preset "srtt" — did you mean "srt"'):
        read("x", "srtt")


CLOCK_TEXTS = ["0:00:00", "0:01:30", "12:34:56", "1:00:00"]


def theirs(text: str, preset: str, **options: Any) -> Any:
    parsers = importlib.import_module("chunkseg.parsers")
    return parsers.parse_transcript(text, preset, **options)


@pytest.mark.peer
@pytest.mark.parametrize("preset", ["cstart_ts", "markdown_ts", "custom_ts"])
def test_what_chunkseg_reads_is_read_the_same(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkseg.parsers.sent_tokenize", lambda text: [text])
    rng = random.Random(3)
    marks = {
        "cstart_ts": "[CSTART] {time} - {title} [CEND]",
        "markdown_ts": "# {time} - {title}",
        "custom_ts": "[ {title} @ {time} ]",
    }
    for _ in range(50):
        times = [rng.choice(CLOCK_TEXTS) for _ in range(rng.randint(1, 5))]
        parts = [
            f"{marks[preset].format(time=time, title=f'title {n}')}\nsome words {n}.\n"
            for n, time in enumerate(times)
        ]
        text = "".join(parts)
        own, other = (
            read(text, preset, PresetOptions(CUSTOM)),
            theirs(text, preset, custom_pattern=CUSTOM),
        )
        assert own.times == other.timestamps
        assert [title for title, _ in own.titles] == other.titles
        assert [section.text for section in own.sections] == [s[0] for s in other.sections]


@pytest.mark.peer
@pytest.mark.parametrize("preset", ["cstart", "markdown", "newline", "custom"])
def test_sections_without_times_are_chunksegs(preset: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chunkseg.parsers.sent_tokenize", lambda text: [text])
    text = "[CSTART] A [CEND]\nfirst part\n\n# B\nsecond\n\n\n[CSTART] C [CEND]\nthird\n---\nfourth"
    own = read(text, preset, PresetOptions("---"))
    other = theirs(text, preset, custom_pattern="---")
    assert [section.text for section in own.sections if section.text] == [
        " ".join(section) for section in other.sections if section
    ]


def test_sentences_of_many_languages() -> None:
    assert split_sentences("Hi! Is it 3.5 p.m. now? Yes.") == ["Hi!", "Is it 3.5 p.m. now?", "Yes."]
    assert split_sentences("Er kam z.B. gestern. Dann ging er.") == [
        "Er kam z.B. gestern.",
        "Dann ging er.",
    ]
    assert split_sentences("“Stop.” She stopped.") == ["“Stop.”", "She stopped."]
    assert split_sentences("我来了。你呢？好！") == ["我来了。", "你呢？", "好！"]
    assert split_sentences("यह सच है। हाँ।") == ["यह सच है।", "हाँ।"]
    assert split_sentences("هل هذا؟ نعم.") == ["هل هذا؟", "نعم."]
    assert split_sentences("J. S. Bach wrote it. A title\n\nNew") == [
        "J. S. Bach wrote it.",
        "A title",
        "New",
    ]
    assert split_sentences(" \n ") == []


@given(st.text(max_size=200))
def test_sentences_lose_no_character(text: str) -> None:
    assert "".join("".join(split_sentences(text)).split()) == "".join(text.split())


def test_the_stemmer_is_there() -> None:
    assert nltk.__version__
    assert set(TIMESTAMP_FORMATS) == {"HH:MM:SS", "H:MM:SS", "MM:SS", "M:SS", "HHMMSS", "MMSS"}


# --- Times from audio ----------------------------------------------------------------------------


def aligned_times(*texts: str) -> list[float]:
    """Return the starts of sections whose words are spoken one per second from 0.25 s."""
    sections = tuple(TranscriptSection(text, time=99.0) for text in texts)
    path = Path(__file__)  # any file that exists
    return align_sections(Transcript(sections), path, ClockAligner()).times


@pytest.mark.parametrize(
    ("texts", "times"),
    [
        (["a b", "c", "d"], [0.0, 2.25, 3.25]),
        (["a b", "— c"], [0.0, 3.25]),  # the dash is not spoken
        (["a b", "", "c"], [0.0, 2.25, 2.25]),  # no text: with the next chapter
        (["a b", ""], [0.0, 1.75]),  # no next chapter: where the last word ends
        (["", "a"], [0.0, 0.25]),
    ],
)
def test_sections_start_with_their_first_spoken_words(texts: list[str], times: list[float]) -> None:
    assert aligned_times(*texts) == times


def test_a_text_without_words_cannot_be_aligned() -> None:
    with pytest.raises(AlignmentFailure, match="the text has no words"):
        aligned_times("", "")


def test_aligners_are_opened_once() -> None:
    assert open_aligner("mms_fa") is open_aligner("mms_fa")
    assert isinstance(open_aligner("mms_fa"), MmsAligner)


def test_an_unknown_aligner_is_refused_with_the_known_names() -> None:
    with pytest.raises(UsageError, match='unknown aligner "mms" — known: mms_fa, pocketsphinx'):
        ChapterOptions(aligner="mms").check()


@pytest.mark.parametrize(
    ("options", "signature"),
    [
        (ChapterOptions("markdown_ts"), "|preset=markdown_ts"),
        (ChapterOptions("cstart"), "|preset=cstart|aligner=pocketsphinx|language=en"),
        (
            ChapterOptions("cstart_ts", force_alignment=True),
            "|preset=cstart_ts|aligner=pocketsphinx|language=en|force_alignment=yes",
        ),
        (ChapterOptions(language="deu"), "|aligner=mms_fa|language=deu"),  # by language
        (ChapterOptions(aligner="mms_fa"), "|aligner=mms_fa|language=en"),
    ],
)
def test_the_aligner_is_in_the_signature_if_it_matters(
    options: ChapterOptions, signature: str
) -> None:
    assert options.signature == signature


def test_a_chapter_format_is_a_function_and_an_entry(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def parse_minutes(text: str) -> Transcript:
        titles = enumerate(text.split("\n"))
        return Transcript(tuple(TranscriptSection("", title, 60.0 * n) for n, title in titles))

    form = ChapterFormat("a title per minute", parse_minutes, (".minutes",))
    monkeypatch.setitem(PRESETS, "minutes", form)
    (tmp_path / "talk.minutes").write_text("Hello\nRain", encoding="utf-8")
    (record,) = gather(tmp_path, system="a")
    assert record["output"] == {
        "boundaries": [0.0, 60.0],
        "titles": [["Hello", 0.0], ["Rain", 60.0]],
    }
    assert read("Hello\nRain", "minutes").times == [0.0, 60.0]
    with pytest.raises(InputError, match="is a MINUTES file — use `earwitness gather`"):
        score(tmp_path / "talk.minutes", metrics="collar")
    assert "| `minutes` | `.minutes` | a title per minute |" in preset_table()


def test_help_lists_the_endings_of_chapter_formats_and_the_formats_of_recognizers() -> None:
    text = gather.__doc__ or ""
    assert [one for one in list_endings(PRESETS) if one not in text] == []
    words = [form.title for form in TRANSCRIPTS.values() if not form.is_cues]
    assert [title for title in words if title not in text] == []
