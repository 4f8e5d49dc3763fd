"""Transcripts with times, as files of other tools and back."""

from __future__ import annotations

import json

import pytest

from earwitness.chapters.formats import parse_textgrid
from earwitness.errors import UsageError
from earwitness.text.timed_transcripts import (
    MAX_CUE_CHARACTERS,
    MAX_CUE_SECONDS,
    TRANSCRIPT_FORMATS,
    TimedSegment,
    TimedTranscript,
    subtitle_cues,
    write_transcript,
)
from earwitness.text.transcripts import TimedWord, parse_cues, read_ctm


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
    with pytest.raises(UsageError, match=r'words of "It rains\." have no times.*use srt'):
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
