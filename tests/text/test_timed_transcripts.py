"""Transcripts with times, as files of other tools and back."""

from __future__ import annotations

import json
import re
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from earwitness.chapters.formats import parse_textgrid
from earwitness.chapters.gather import gather
from earwitness.chapters.reader import spoken_of
from earwitness.cli.summarize import iterate_texts
from earwitness.errors import UsageError
from earwitness.material.annotations import read_annotations
from earwitness.scoring.score import score
from earwitness.studies.file.transcripts import read_transcripts
from earwitness.summaries.methods.inputs import read_speech
from earwitness.text.sentences import MAX_CUE_CHARACTERS, MAX_CUE_SECONDS
from earwitness.text.timed_transcripts import (
    TRANSCRIPT_FORMATS,
    TRANSCRIPTS,
    ParsedTranscripts,
    TimedSegment,
    TimedTranscript,
    TranscriptFormat,
    parse_timed_transcripts,
    subtitle_cues,
    write_transcript,
)
from earwitness.text.transcripts import TimedWord, parse_cues, read_ctm
from generate import transcript_table


def spoken(text: str, start: float = 0.0, pace: float = 0.5, **pauses: float) -> TimedSegment:
    """Return a segment with a word every ``pace`` seconds, and pauses before some words."""
    words, time = list[TimedWord](), start
    for word in text.split():
        plain = word.strip(".,?!").lower()
        time += pauses.get(plain, 0.0)
        words.append(TimedWord("talk", plain, time, time + pace, 0.75))
        time += pace
    return TimedSegment(text, start, time, tuple(words))


TALK = TimedTranscript(
    (spoken('He said "hi" & left.'), spoken("Rain <5 mm>?", 3.0)), "my talk", 6.0, "en"
)


# --- Writers -------------------------------------------------------------------------------------


def test_ctm_has_a_line_per_word() -> None:
    two = TimedTranscript((spoken("It rains."), spoken("Hard.", 2)), "my talk")
    assert write_transcript(two, "ctm").splitlines() == [
        "my_talk 1 0.000 0.500 it 0.75",
        "my_talk 1 0.500 0.500 rains 0.75",
        "my_talk 1 2.000 0.500 hard 0.75",
    ]
    unsure = two.segments[0].words[0]._replace(confidence=None)
    one = TimedTranscript((TimedSegment("It", 0, 1, (unsure,)),))
    assert write_transcript(one, "ctm") == "recording 1 0.000 0.500 it\n"
    words, flaws = read_ctm(write_transcript(TALK, "ctm"))
    assert [(word.start, word.end) for word in words] == [
        (word.start, word.end) for word in TALK.words
    ]
    assert flaws == []


def test_ctm_needs_times_of_words() -> None:
    plain = TimedTranscript((TimedSegment("It rains.", 0, 1),))
    with pytest.raises(UsageError, match=r'words of "It rains\." have no times.*use one of srt'):
        write_transcript(plain, "ctm")
    for form in set(TRANSCRIPT_FORMATS) - {"ctm"}:
        assert "It rains." in write_transcript(plain, form)


def test_the_format_must_be_known() -> None:
    with pytest.raises(UsageError, match='unknown transcript format "vtt" — use one of ctm, srt'):
        write_transcript(TALK, "vtt")


def test_subtitles_have_a_cue_per_segment() -> None:
    assert write_transcript(TALK, "srt") == (
        '1\n00:00:00,000 --> 00:00:02,500\nHe said "hi" & left.\n\n'
        "2\n00:00:03,000 --> 00:00:04,500\nRain <5 mm>?\n\n"
    )
    webvtt = write_transcript(TALK, "webvtt")
    assert webvtt.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:02.500\n")
    assert webvtt.endswith("00:00:03.000 --> 00:00:04.500\nRain &lt;5 mm&gt;?\n")
    cues, flaws = parse_cues(webvtt)
    assert [cue.text for cue in cues] == [segment.text for segment in TALK.segments]
    assert flaws == []


def test_cues_of_no_length_are_shown_and_those_without_text_are_not() -> None:
    odd = TimedTranscript((TimedSegment("Oh", 3600, 3600), TimedSegment(" ", 1, 2)))
    assert write_transcript(odd, "srt") == "1\n01:00:00,000 --> 01:00:00,001\nOh\n\n"
    assert write_transcript(TimedTranscript(()), "webvtt") == "WEBVTT\n"


def test_long_segments_are_split_between_words() -> None:
    text = "It rained all of the morning, so that nobody wanted to leave the house before noon had"
    cues = subtitle_cues([spoken(text, 10, 0.3)])
    assert [cue.text for cue in cues] == [text[:29], text[30:]]  # after the comma
    assert [(cue.start, round(cue.end, 3)) for cue in cues] == [(10, 11.8), (cues[0].end, 15.1)]
    slow = spoken("red blu tan sky fig oak elm ash", 0, 0.9, oak=1.0)
    assert [cue.text for cue in subtitle_cues([slow])] == ["red blu tan sky fig", "oak elm ash"]
    long = spoken("word " * 500, 0, 0.2)
    cues = subtitle_cues([long])
    assert " ".join(cue.text for cue in cues) == long.text.strip()
    assert max(len(cue.text) for cue in cues) <= MAX_CUE_CHARACTERS
    assert max(cue.end - cue.start for cue in cues) <= MAX_CUE_SECONDS
    assert min(len(cue.text) for cue in cues) > MAX_CUE_CHARACTERS / 4
    without_words = long._replace(words=())
    assert len(subtitle_cues([without_words])) == 1


def test_split_cues_have_the_words_if_the_text_has_others() -> None:
    other = spoken("eins zwei drei vier", pace=2.0)._replace(text="1, 2, 3 und 4")
    assert [cue.text for cue in subtitle_cues([other])] == ["eins zwei", "drei vier"]
    rain = tuple(TimedWord("", word, 4.0 * n, 4.0 * n + 4, None) for n, word in enumerate("雨降"))
    assert [cue.text for cue in subtitle_cues([TimedSegment("x", 0, 8, rain)])] == ["雨", "降"]


def test_textgrids_cover_the_recording_without_gaps() -> None:
    grid = write_transcript(TALK, "textgrid")
    assert '            text = "He said ""hi"" & left." \n' in grid
    sentences = parse_textgrid(grid, "sentences")
    assert sentences.duration == 6
    assert sentences.titles == [('He said "hi" & left.', 0), ("Rain <5 mm>?", 3)]
    assert parse_textgrid(grid, "words").titles == [(word.word, word.start) for word in TALK.words]
    limits = [line.split()[-1] for line in grid.split('name = "words"')[0].splitlines()[8:]
              if line.startswith("            x")]  # fmt: skip
    assert limits == ["0", "2.5", "2.5", "3", "3", "4.5", "4.5", "6"]


def test_overlapping_words_of_a_textgrid_lose_no_text() -> None:
    times = [("a", 0.5, 2.0), ("b", 1.0, 1.0), ("c", 1.0, 1.5), ("d", 3.0, 3.0)]
    words = tuple(TimedWord("", word, start, end, None) for word, start, end in times)
    grid = write_transcript(TimedTranscript((TimedSegment("a b c d", 0.5, 3, words),)), "textgrid")
    assert parse_textgrid(grid, "words").titles == [("a", 0.5), ("b c", 1.0), ("d", 3.0)]
    assert "xmax = 3.001 \n" in grid
    empty = write_transcript(TimedTranscript((), duration=2.0), "textgrid")
    assert parse_textgrid(empty).times == [0]


def test_json_has_the_layout_of_whisper() -> None:
    rain = TimedTranscript((spoken("It rains."),), duration=2.5, language="en")
    word = {"word": " it", "start": 0.0, "end": 0.5, "probability": 0.75}
    assert json.loads(write_transcript(rain, "json")) == {
        "text": " It rains.",
        "segments": [
            {
                "id": 0,
                "start": 0.0,
                "end": 1.0,
                "text": " It rains.",
                "words": [word, {**word, "word": " rains", "start": 0.5, "end": 1.0}],
            }
        ],
        "language": "en",
        "duration": 2.5,
    }
    plain = json.loads(write_transcript(TimedTranscript((TimedSegment("雨", 0, 1),)), "json"))
    assert plain["segments"] == [{"id": 0, "start": 0, "end": 1, "text": " 雨"}]
    assert "duration" not in plain


# --- Readers -------------------------------------------------------------------------------------


def only(text: str, form: str = "", name: str = "talk") -> TimedTranscript:
    """Return the only transcript of a text without flaws."""
    transcripts, flaws = parse_timed_transcripts(text, form, name)
    assert flaws == []
    assert len(transcripts) == 1
    return transcripts[0]


def times(transcript: TimedTranscript) -> list[tuple[str, float, float]]:
    """Return the words with their times."""
    return [(word.word, word.start, word.end) for word in transcript.words]


def messages(text: str, form: str = "") -> list[str]:
    """Return the flaws of a text."""
    return [f"{flaw.line}: {flaw.message}" for flaw in parse_timed_transcripts(text, form)[1]]


@pytest.mark.parametrize("form", sorted(TRANSCRIPT_FORMATS))
def test_what_is_written_is_read(form: str) -> None:
    found = only(write_transcript(TALK, form))
    texts = [" ".join(segment.text for segment in found.segments)]
    plain = " ".join(word.word for word in TALK.words)
    assert texts == ([plain] if form == "ctm" else ['He said "hi" & left. Rain <5 mm>?'])
    assert times(found) == ([] if form in ("srt", "webvtt") else times(TALK))
    assert found.recording == ("my_talk" if form == "ctm" else "talk")
    assert found.duration == (6 if form in ("textgrid", "json") else None)
    assert {word.confidence for word in found.words} <= (
        {0.75} if form in ("ctm", "json") else {None}
    )


def test_a_ctm_file_has_several_recordings_and_sentences() -> None:
    lines = "b 1 0 0.5 snow\nb 2 0 0.5 ice\na 1 0 0.4 It 0.8\na 1 0.5 0.2 rains. 0.9\na 1 1 1 So\n"
    found, flaws = parse_timed_transcripts(f";; comment\n{lines}")
    assert flaws == []
    assert [one.recording for one in found] == ["a", "b 1", "b 2"]
    assert [(one.text, one.start, one.end) for one in found[0].segments] == [
        ("It rains.", 0, 0.7),
        ("So", 1, 2),
    ]
    nemo = "a 1 0.00 0.40 it NA lex NA\n"  # eight fields, as the forced aligner of NeMo writes
    assert [word.confidence for word in only(nemo).words] == [None]
    assert messages("a 1 0 1 it\na 1 0 it") == ["2: has 4 fields, not 5 or 6"]


YOUTUBE = f"""WEBVTT
Kind: captions
Language: en

00:00:00.160 --> 00:00:02.149 align:start position:0%
{" "}
it<00:00:00.480><c> rained</c><00:00:00.960><c> all</c><00:00:01.199><c> day</c>

00:00:02.149 --> 00:00:02.159 align:start position:0%
it rained all day
{" "}

00:00:02.159 --> 00:00:04.070 align:start position:0%
it rained all day
and<00:00:02.800><c> then</c>

00:00:04.070 --> 00:00:04.080 align:start position:0%
and then
{" "}

00:00:04.080 --> 00:00:06.000 align:start position:0%
and then
it<00:00:05.000><c> snowed</c>
"""


def test_rolling_captions_of_youtube_are_read_once() -> None:
    found = only(YOUTUBE)
    assert found.language == "en"
    assert [(one.text, one.start, one.end) for one in found.segments] == [
        ("it rained all day", 0.16, 2.149),
        ("and then", 2.159, 4.07),
        ("it snowed", 4.08, 6),
    ]
    assert times(found)[:5] == [
        ("it", 0.16, 0.48),
        ("rained", 0.48, 0.96),
        ("all", 0.96, 1.199),
        ("day", 1.199, 2.149),
        ("and", 2.159, 2.8),
    ]
    srt = (
        "1\n00:00:00,000 --> 00:00:02,000\none two\n\n2\n00:00:02,000 --> 00:00:02,010\none two\n\n"
    )
    srt += "3\n00:00:02,010 --> 00:00:04,000\none two\nthree\n"  # converted, without tags
    assert [one.text for one in only(srt).segments] == ["one two", "three"]


def test_lines_that_are_spoken_again_are_kept() -> None:
    cues = [("No.", 0), ("No.", 1), ("Why not?", 2), ("It rains.", 3), ("So?", 4)]
    lines = [f"00:00:0{at}.000 --> 00:00:0{at + 1}.000\n{text}\n" for text, at in cues]
    found = only("WEBVTT\n\n" + "\n".join(lines))
    assert [one.text for one in found.segments] == [text for text, _ in cues]


def test_highlighted_words_of_whisper_become_words() -> None:
    cues = ["<u>It</u> rains.", "It rains.", "It <u>rains.</u>", "Snow <u>falls</u>"]
    lines = [f"00:0{n}.000 --> 00:0{n + 1}.000\n{cue}\n" for n, cue in enumerate(cues)]
    found = only("WEBVTT\n\n" + "\n".join(lines))
    assert [(one.text, one.start, one.end) for one in found.segments] == [
        ("It rains.", 0, 3),
        ("Snow falls", 3, 4),
    ]
    assert times(found) == [("It", 0, 1), ("rains.", 2, 3)]  # "Snow" is not highlighted


def test_words_between_two_stamps_share_the_time() -> None:
    found = only("WEBVTT\n\n00:01.000 --> 00:04.000\n<v Ann>Yes <00:02.000>it is.</v>\n")
    assert times(found) == [("Yes", 1, 2), ("it", 2, 2.8), ("is.", 2.8, 4)]
    assert found.segments[0].text == "Yes it is."


def test_wrong_times_of_cues_are_flaws() -> None:
    cues = "00:05.000 --> 00:04.000\na\n\n00:01.000 --> soon\nb\n"
    assert messages(f"WEBVTT\n\n{cues}") == [
        "3: ends before it begins",
        "6: has no valid end time",
        "6: begins before the cue of line 3",
    ]


def grid(**tiers: list[tuple[float, float, str]]) -> str:
    """Return a TextGrid in the short format, as the Montreal Forced Aligner can write it."""
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "0", "3", "<exists>"]
    lines.append(str(len(tiers)))
    for name, parts in tiers.items():
        lines += ['"IntervalTier"', f'"{name.replace("_", " - ")}"', "0", "3", str(len(parts))]
        for start, end, text in parts:
            lines += [str(start), str(end), f'"{text}"']
    return "\n".join(lines)


def test_textgrids_of_the_montreal_forced_aligner() -> None:
    words = [(0, 0.5, ""), (0.5, 1, "it"), (1, 1.5, "rains"), (1.5, 2, "spn"), (2, 3, "<eps>")]
    found = only(grid(words=words, phones=[(0, 3, "sil")]))
    assert times(found) == [("it", 0.5, 1), ("rains", 1, 1.5)]
    assert (found.duration, found.segments[0].text) == (3, "it rains")
    speakers = grid(ann_words=words, ann_phones=[], bob_words=[(0, 0.4, "so"), (0.4, 3, "")])
    assert [word for word, _, _ in times(only(speakers))] == ["so", "it", "rains"]
    alone = only(grid(chapters=[(0, 1, "It rains."), (1, 3, "")]))
    assert [(one.text, one.end, one.words) for one in alone.segments] == [("It rains.", 1, ())]
    assert messages(grid(a=[], b=[])) == ['1: has no tier of words or sentences (found: "a", "b")']
    assert messages("File type = ooTextFile") == ["1: is not a TextGrid"]


def whisper(*segments: dict[str, Any], **fields: Any) -> str:
    return json.dumps({"text": "", "segments": segments, "language": "en", **fields})


def test_json_of_whisper_with_and_without_words() -> None:
    words = [
        {"word": " It", "start": 0.0, "end": 0.4, "probability": 0.9},
        {"word": " rains.", "start": 0.4, "end": 1.0, "probability": 0.5},
    ]
    segment = {
        "id": 0,
        "seek": 0,
        "start": 0.0,
        "end": 1.0,
        "text": " It rains.",
        "tokens": [50364],
    }
    found = only(whisper({**segment, "words": words}, {**segment, "text": " Hard.", "start": 0.9}))
    assert found.language == "en"
    assert [one.text for one in found.segments] == ["It rains.", "Hard."]
    assert found.words == (
        TimedWord("talk", "It", 0.0, 0.4, 0.9),
        TimedWord("talk", "rains.", 0.4, 1.0, 0.5),
    )
    spoken_words = only(whisper(segment, words=words, duration=2.5))  # as the OpenAI API does
    assert (times(spoken_words), spoken_words.duration) == (times(found), 2.5)
    assert only(whisper()).segments == ()
    assert only(json.dumps([segment])).segments[0].text == "It rains."


def test_words_of_whisperx_without_times_share_a_gap() -> None:
    words = [
        {"word": "In", "start": 1.0, "end": 1.2, "score": 0.8, "speaker": "SPEAKER_00"},
        {"word": "1999"},
        {"word": "10"},
        {"word": "died", "start": 2.4, "end": 3.0, "score": 0.7},
        {"word": "7."},
    ]
    segment = {"start": 1.0, "end": 3.5, "text": " In 1999 10 died 7.", "words": words}
    found = only(json.dumps({"segments": [segment], "word_segments": words}))
    assert times(found) == [
        ("In", 1.0, 1.2),
        ("1999", 1.2, 2.0),
        ("10", 2.0, 2.4),
        ("died", 2.4, 3.0),
        ("7.", 3.0, 3.5),
    ]
    assert [word.confidence for word in found.words] == [0.8, None, None, 0.7, None]
    loose = only(json.dumps({"word_segments": words}))
    assert [one.text for one in loose.segments] == ["In 1999 10 died 7."]
    assert times(loose)[-1] == ("7.", 3.0, 3.0)


def test_json_of_whisper_cpp_has_milliseconds_and_tokens() -> None:
    def entry(text: str, start: int, end: int, **more: Any) -> dict[str, Any]:
        return {"text": text, "offsets": {"from": start, "to": end}, **more}

    tokens = [
        entry("[_BEG_]", 0, 0, p=0.9),
        entry(" It", 0, 400, p=0.5),
        entry(" rai", 400, 700, p=0.75),
        entry("ns", 700, 900, p=0.25),
        entry(".", 900, 1000, p=0.5),
        entry("[_TT_50]", 1000, 1000, p=0.1),
    ]
    full = {"result": {"language": "en"}, "transcription": [entry(" It rains.", 0, 1000)]}
    assert [(one.text, one.end) for one in only(json.dumps(full)).segments] == [("It rains.", 1)]
    full["transcription"] = [entry(" It rains.", 0, 1000, tokens=tokens)]
    found = only(json.dumps(full))
    assert found.language == "en"
    assert times(found) == [("It", 0, 0.4), ("rains.", 0.4, 1)]
    assert [word.confidence for word in found.words] == [0.5, 0.5]


def test_json_of_hugging_face_pipelines_has_segments_or_words() -> None:
    chunks = [
        {"timestamp": [0.0, 1.2], "text": " It rains."},
        {"timestamp": [1.5, None], "text": " It snows."},  # the audio ends within
    ]
    found = only(json.dumps({"text": " It rains. It snows.", "chunks": chunks}))
    assert found.segments == (
        TimedSegment("It rains.", 0.0, 1.2),
        TimedSegment("It snows.", 1.5, 1.5),
    )
    words = [
        {"text": " It", "timestamp": [0.0, 0.4]},
        {"text": " rains.", "timestamp": [0.5, 1.2]},
        {"text": " Oh!", "timestamp": [1.5, 2.0]},
    ]
    found = only(json.dumps({"text": " It rains. Oh!", "chunks": words}))
    assert [segment.text for segment in found.segments] == ["It rains.", "Oh!"]
    assert times(found) == [("It", 0, 0.4), ("rains.", 0.5, 1.2), ("Oh!", 1.5, 2)]
    wrong = {"text": "", "chunks": [{"text": " It rains."}]}
    assert messages(json.dumps(wrong)) == ["1: chunks[0]: needs text, and start and end in seconds"]


def test_tsv_of_whisper_has_milliseconds() -> None:
    found = only("start\tend\ttext\n0\t1200\tIt rains.\n1500\t2040\tOh!\n", name="talk")
    assert found.recording == "talk"
    assert found.segments == (
        TimedSegment("It rains.", 0.0, 1.2),
        TimedSegment("Oh!", 1.5, 2.04),
    )
    assert messages("start\tend\ttext\n0\tx\tIt\n9\t1\tIt\n\n5\n") == [
        f"{line}: needs start and end in milliseconds, and text, after tabs" for line in (2, 3, 5)
    ]


def test_flaws_of_json_say_where() -> None:
    good = {"start": 0, "end": 1, "text": "a"}
    assert messages(whisper({"start": 0, "text": "a"}, {**good, "end": -1})) == [
        "1: segments[0]: needs text, and start and end in seconds",
        "1: segments[1]: has invalid times (0 to -1 s)",
    ]
    words = [{"start": 0, "end": 1}, {"word": "a", "score": 7}, {"word": "a", "start": 2, "end": 1}]
    assert messages(whisper({**good, "words": words})) == [
        "1: segments[0].words[0]: must have a word",
        "1: segments[0].words[1]: has the confidence 7, above 1",
        "1: segments[0].words[2]: has invalid times (2 to 1 s)",
    ]
    assert messages('{"chapters": []}') == ["1: unknown transcript format"]
    assert messages('{"chapters": []}', "json") == ['1: no list "segments" found']
    assert messages('{"segments": [\n}')[0].startswith("2: not JSON")
    assert messages("[" * 100_000, "json")[0].startswith("1: not JSON")


def test_manifests_of_nemo_have_a_segment_per_line() -> None:
    words = [{"word": "it", "start_offset": 2, "end_offset": 4, "start": 0.1, "end": 0.3}]
    lines: list[dict[str, Any]] = [
        {"audio_filepath": "/data/a.wav", "offset": 2.0, "duration": 1.5, "text": "so it goes"},
        {"audio_filepath": "/data/a.wav", "duration": 1.0, "text": "x", "pred_text": "it"},
        {"audio_filepath": "b.flac", "pred_text": "snow"},
    ]
    lines[1]["timestamps_word"] = words
    lines[0]["timestamps_word"] = words
    text = "\n".join(map(json.dumps, lines))
    (first, second), flaws = parse_timed_transcripts(text)
    assert flaws == []
    assert (first.recording, second.recording) == ("a", "b")
    assert [(one.text, one.start, one.end) for one in first.segments] == [
        ("it", 0, 1),
        ("so it goes", 2, 3.5),
    ]
    assert times(first) == [("it", 0.1, 0.3), ("it", 2.1, 2.3)]
    assert isnan(second.segments[0].start)
    wrong = f'{text}\n{{"audio_filepath": "c.wav"}}\n{{'
    assert messages(wrong)[0] == "4: needs audio_filepath, and text or pred_text"
    assert messages(wrong)[1].startswith("5: not JSON")


def test_kaldi_text_has_times_only_with_segments() -> None:
    text = "ann-1 so it [noise] goes\nann-2 it rains\n"
    segments = "ann-2 talk 0.5 1.5\nann-1 talk 2 3.25\n"
    (found,), flaws = parse_timed_transcripts(text, segments=segments)
    assert flaws == []
    assert found.recording == "talk"
    assert [(one.text, one.start, one.end) for one in found.segments] == [
        ("it rains", 0.5, 1.5),
        ("so it goes", 2, 3.25),
    ]
    plain, flaws = parse_timed_transcripts(text, "kaldi")
    assert flaws == []
    assert [one.recording for one in plain] == ["ann-1", "ann-2"]
    with pytest.raises(UsageError, match='"so it goes" has no times — align'):
        write_transcript(plain[0], "srt")
    _, flaws = parse_timed_transcripts(text, segments="ann-1 talk 3 2\nann-2 talk soon 4")
    assert [flaw.message for flaw in flaws] == [
        "segments, line 1: needs a recording, and an end after its start",
        "segments, line 2: needs a recording, and an end after its start",
        '"ann-1" is not in segments',
        '"ann-2" is not in segments',
    ]


def test_other_texts_are_refused_with_a_remedy() -> None:
    (flaw,) = parse_timed_transcripts("It rained all day.")[1]
    assert flaw.message == "unknown transcript format"
    assert flaw.remedy.startswith("use CTM, SRT")
    assert messages("") == ["1: unknown transcript format"]
    assert only("\ufeffWEBVTT\r\n\r\n00:00.000 --> 00:01.000\r\nHi\r\n").segments[0].text == "Hi"


# --- Transcripts of AssemblyAI, OpenAI and Deepgram, as their documentation shows them -----------


def assemblyai(**fields: Any) -> str:
    """Return a transcript of AssemblyAI: words in milliseconds, its duration in seconds."""
    words = [
        ("Smoke", 250, 650, 0.97503),
        ("from", 730, 1022, 0.99999),
        ("hundreds.", 1076, 1418, 0.99844),
        ("Of", 42500, 42614, 0.84),
        ("wildfires.", 42652, 43346, 0.89572),
    ]
    document = {
        "id": "9ea68fd3-f953-42c1-9742-976c447fb463",
        "language_code": "en_us",
        "status": "completed",
        "audio_url": "https://assembly.ai/wildfires.mp3",
        "text": " ".join(word for word, *_ in words),
        "words": [
            {"text": word, "start": start, "end": end, "confidence": sure, "speaker": None}
            for word, start, end, sure in words
        ],
        "utterances": None,
        "confidence": 0.9404651451800253,
        "audio_duration": 281,
        "punctuate": True,
    }
    return json.dumps({**document, **fields})


def test_words_of_assemblyai_are_in_milliseconds() -> None:
    found = only(assemblyai())
    assert [(word.word, word.start, word.end) for word in found.words] == [
        ("Smoke", 0.25, 0.65),
        ("from", 0.73, 1.022),
        ("hundreds.", 1.076, 1.418),
        ("Of", 42.5, 42.614),
        ("wildfires.", 42.652, 43.346),
    ]
    assert (found.duration, found.language, found.words[0].confidence) == (281.0, "en_us", 0.97503)
    assert [segment.start for segment in found.segments] == [0.25, 42.5]


def test_words_of_the_api_of_openai_are_in_seconds() -> None:
    words = [{"word": "The", "start": 0, "end": 1}, {"word": "beach", "start": 1, "end": 12}]
    document = {"task": "transcribe", "language": "english", "duration": 12, "words": words}
    found = only(json.dumps({**document, "text": "The beach"}))
    assert [(word.start, word.end) for word in found.words] == [(0.0, 1.0), (1.0, 12.0)]


def test_words_in_milliseconds_that_end_before_they_start_are_refused() -> None:
    words = [{"text": "a", "start": 900, "end": 650}, {"text": "b", "start": 950, "end": 1300}]
    assert messages(assemblyai(words=words)) == ["1: words[0]: has invalid times (900 to 650 s)"]


def test_transcripts_of_deepgram_are_refused() -> None:
    words = [{"word": "yeah", "start": 0.08, "end": 0.32, "confidence": 0.9975}]
    alternative = {"transcript": "yeah", "confidence": 0.99, "words": words}
    channels = [{"alternatives": [alternative]}]
    document = {"metadata": {"duration": 25.93, "channels": 1}, "results": {"channels": channels}}
    assert messages(json.dumps(document)) == ['1: no list "segments" found']


# --- Adding a format -----------------------------------------------------------------------------


SCRIBE = '{"tool": "scribe", "said": "0 0.4 It 0.5 0.7 rains."}'


def parse_scribe(text: str, name: str) -> ParsedTranscripts:
    """Parse the words of a program that does not exist."""
    said = json.loads(text)["said"].split()
    words = tuple(
        TimedWord(name, word, float(start), float(end), None)
        for start, end, word in zip(said[::3], said[1::3], said[2::3], strict=True)
    )
    plain = " ".join(word.word for word in words)
    return [TimedTranscript((TimedSegment(plain, 0.0, words[-1].end, words),), name)], []


def test_a_format_is_a_function_and_an_entry(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    form = TranscriptFormat(
        "`said`",
        parse_scribe,
        shared=(".json",),
        detect=re.compile(r'\{"tool": "scribe"').match,
        title="JSON of Scribe",
        tools="Scribe",
    )
    monkeypatch.setitem(TRANSCRIPTS, "scribe", form)
    (tmp_path / "asr").mkdir()
    path = tmp_path / "asr" / "talk.json"
    path.write_text(SCRIBE)
    rows = [["It", 0.0, 0.4], ["rains.", 0.5, 0.7]]
    # files of recognizers, and transcripts of chapters
    (output,) = gather(path.parent)
    assert output == {"item": "talk", "system": "asr", "output": {"words": rows}}
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "talk.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nHello\n")
    (chapters,) = gather(tmp_path / "mine", transcripts=path.parent)
    assert chapters["output"]["words"] == rows
    # fields of records
    reference = {"item": "talk", "ctm": SCRIBE, "references": [{"positions": [1, 2]}]}
    assert score([output], [reference]).systems["asr"]["sumaccy"].value == 1
    assert spoken_of({"sentences": UNSET, "subtitles": SCRIBE, "words": UNSET}) == (0.0,)
    # transcripts to summarize, to judge, and as the speech of recordings
    (speech,) = read_speech(path)
    assert [one.words for one in speech.utterances] == [("It", "rains.")]
    assert read_transcripts(path.parent, "{item}.json").texts["talk"].words == ("It", "rains.")
    annotation, problems = read_annotations([path.parent])
    assert problems == []
    assert [(one.start, one.end) for one in annotation.find_speech(["talk"]) or ()] == [
        (0.0, 0.4),
        (0.5, 0.7),
    ]
    # errors and docs
    assert "JSON of Scribe" in parse_timed_transcripts("It rains.")[1][0].remedy
    assert "| Scribe | `.json` | `said` | file name |" in transcript_table()


def test_models_are_trained_on_the_words_of_a_format(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    form = TranscriptFormat("`said`", parse_scribe, (".scribe",), title="Scribe")
    monkeypatch.setitem(TRANSCRIPTS, "scribe", form)
    path = tmp_path / "talk.scribe"
    path.write_text(SCRIBE)
    assert [*iterate_texts([path], "blanks")] == ["It rains."]
