"""Utterances of texts, transcripts and items, and the lines that summaries are written as."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from earwitness.errors import InputError, UsageError
from earwitness.summaries.methods.compaction import (
    Compaction,
    ScoreWeights,
    SpokenUtterance,
    SummarizedSpeech,
)
from earwitness.summaries.methods.inputs import (
    INTERPOLATED_NOTE,
    read_speech,
    write_item_lines,
    write_output_lines,
)
from earwitness.task import parse_where

CTM = "talk 1 0.10 0.30 it 0.9\ntalk 1 0.40 0.50 rains. 0.8\ntalk 1 2.00 0.40 Why? 0.7\n"
SRT = "1\n00:00:00,000 --> 00:00:01,000\nIt rains\n\n2\n00:00:01,000 --> 00:00:02,000\nin Spain.\n"
WHISPER = {
    "segments": [
        {
            "start": 0,
            "end": 1,
            "text": " It rains",
            "words": [
                {"word": " It", "start": 0.1, "end": 0.3, "probability": 0.9},
                {"word": " rains", "start": 0.4, "end": 0.9, "probability": 0.8},
            ],
        }
    ]
}


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_line_of_a_text_is_split_into_sentences(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "talk.txt", "It rains. It snows.\n\nno end marks\n"))
    assert [one.words for one in speech.utterances] == [
        ("It", "rains."),
        ("It", "snows."),
        ("no", "end", "marks"),
    ]
    assert [one.item for one in speech.utterances] == ["talk-001", "talk-002", "talk-003"]
    assert all(one.times is None for one in speech.utterances)


def test_a_single_utterance_has_the_name_of_the_file(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "talk.txt", "it rains"))
    assert [one.item for one in speech.utterances] == ["talk"]


def test_japanese_texts_are_separated_into_words(tmp_path: Path) -> None:
    (speech,) = read_speech(
        written(tmp_path, "talk.txt", "今日は雨です。明日は晴れです。"), "japanese"
    )
    assert [one.words[:2] for one in speech.utterances] == [("今日", "は"), ("明日", "は")]


def test_words_of_a_ctm_file_have_times_and_confidences(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "talk.ctm", CTM))
    first, second = speech.utterances
    assert (first.words, first.confidences) == (("it", "rains."), (0.9, 0.8))
    assert first.times is not None
    assert np.ravel(first.times) == pytest.approx([0.1, 0.4, 0.4, 0.9])
    assert second.words == ("Why?",)


def test_words_without_end_marks_are_separated_at_pauses(tmp_path: Path) -> None:
    rows = ["talk 1 0.0 0.3 it", "talk 1 0.4 0.3 rains", "talk 1 1.3 0.3 why", "talk 1 1.6 0.3 not"]
    (speech,) = read_speech(written(tmp_path, "talk.ctm", "\n".join(rows)))
    assert [one.words for one in speech.utterances] == [("it", "rains"), ("why", "not")]


def test_long_utterances_are_split_at_the_longest_pause(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "talk.txt", "word " * 501))
    assert [len(one.words) for one in speech.utterances] == [125, 125, 125, 126]
    starts = [0.4 * place + 0.3 * (place > 130) for place in range(250)]
    rows = [f"talk 1 {start:.2f} 0.3 word" for start in starts]
    (speech,) = read_speech(written(tmp_path, "talk.ctm", "\n".join(rows)))
    assert [len(one.words) for one in speech.utterances] == [131, 119]


def test_captions_with_word_times_are_joined_to_sentences(tmp_path: Path) -> None:
    text = "WEBVTT\n\n00:00.000 --> 00:01.000\nIt<00:00:00.500><c> rains</c>\n\n"
    text += "00:01.000 --> 00:02.000\nhere.\n"
    (speech,) = read_speech(written(tmp_path, "talk.vtt", text))
    (only,) = speech.utterances
    assert only.words == ("It", "rains", "here.")
    assert only.times is not None


def test_items_are_recognized_by_their_first_line(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "items.ndjson", json.dumps(ITEMS[0])))
    assert speech.separate


def test_recognized_words_may_be_a_transcript(tmp_path: Path) -> None:
    record = {**ITEMS[0], "recognized": CTM.replace("talk", "a")}
    (speech,) = read_speech(written(tmp_path, "items.jsonl", json.dumps(record)))
    assert speech.utterances[0].words == ("it", "rains.", "Why?")
    assert speech.utterances[0].confidences == (0.9, 0.8, 0.7)


def test_segments_of_whisper_are_utterances(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "talk.json", json.dumps(WHISPER)))
    assert [one.words for one in speech.utterances] == [("It", "rains")]
    assert speech.utterances[0].confidences == (0.9, 0.8)


def test_subtitles_are_joined_to_sentences_with_interpolated_times(tmp_path: Path) -> None:
    (speech,) = read_speech(written(tmp_path, "talk.srt", SRT))
    (only,) = speech.utterances
    assert only.words == ("It", "rains", "in", "Spain.")
    assert only.times is not None
    assert only.times[0][0] == 0
    assert only.times[2][0] == 1
    assert only.times[3][1] == 2
    assert speech.notes == (INTERPOLATED_NOTE,)


ITEMS = [
    {"item": "a", "words": ["it", "rains"], "meta": {"kind": "news"}},
    {"item": "b", "transcript": "it snows", "meta": {"kind": "talk"}},
]


def test_items_are_utterances_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, "items.jsonl", "\n".join(map(json.dumps, ITEMS)))
    (speech,) = read_speech(path)
    assert [(one.item, one.words) for one in speech.utterances] == [
        ("a", ("it", "rains")),
        ("b", ("it", "snows")),
    ]
    assert speech.separate
    assert not speech.recognized
    (fewer,) = read_speech(path, where=parse_where("kind=talk"))
    assert [one.item for one in fewer.utterances] == ["b"]


def test_recognized_words_are_used_where_an_item_has_them(tmp_path: Path) -> None:
    heard = [["it", 0, 0.2, 0.9], ["reigns", 0.2, 0.6]]
    record = {**ITEMS[0], "recognized": heard, "references": [{"positions": [2]}]}
    (speech,) = read_speech(written(tmp_path, "references.jsonl", json.dumps(record)))
    (only,) = speech.utterances
    assert (only.words, only.times) == (("it", "reigns"), ((0.0, 0.2), (0.2, 0.6)))
    assert only.confidences is not None
    assert only.confidences[0] == 0.9
    assert isnan(only.confidences[1])
    assert speech.recognized


def test_all_problems_of_items_are_listed(tmp_path: Path) -> None:
    lines = ['{"item": "a", "words": [1]}', '{"item": "b"}', '{"words": ["x"]}', "nonsense"]
    with pytest.raises(InputError) as caught:
        read_speech(written(tmp_path, "items.jsonl", "\n".join(lines)))
    assert [problem.line for problem in caught.value.problems] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.txt", b"", "has no words"),
        ("blank.ctm", b"\n", "has no words"),
        ("latin.txt", b"caf\xe9", "not UTF-8 at byte 4"),
        ("empty.jsonl", b"", "has no items"),
        ("other.json", b'{"results": []}', "unknown transcript format"),
        ("talk.wav", b"RIFF", "is audio"),
    ],
)
def test_files_without_words_are_refused(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_speech(tmp_path / name)


def test_conditions_need_items(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="leave out --where"):
        read_speech(written(tmp_path, "talk.txt", "it rains"), where=parse_where("kind=news"))


# --- Lines that are written ----------------------------------------------------------------------


UTTERANCES = (
    SpokenUtterance(("it", "rains", "a", "lot"), item="talk-001"),
    SpokenUtterance(("why", "not"), ((1.0, 1.2), (1.2, 1.5)), (0.5, float("nan")), "talk-002"),
)
SPEECH = SummarizedSpeech(
    "talk",
    (Compaction(UTTERANCES[0], (2, 4), 0.0, {}), Compaction(UTTERANCES[1], (2,), 0.0, {})),
    0.5,
    "utterance",
    ScoreWeights(),
    "",
)


def outputs(
    speech: SummarizedSpeech, *, separate: bool = False, as_words: bool = False
) -> list[object]:
    lines = write_output_lines(speech, "mine", separate=separate, as_words=as_words)
    return [(record["item"], record["output"]) for record in map(json.loads, lines)]


def test_every_utterance_is_an_item_with_its_positions() -> None:
    assert outputs(SPEECH) == [
        ("talk-001", {"positions": [2, 4]}),
        ("talk-002", {"positions": [2]}),
    ]


def test_a_speech_with_one_ratio_is_one_item() -> None:
    whole = replace(SPEECH, scope="speech")
    assert outputs(whole) == [("talk", {"positions": [2, 4, 6]})]
    assert outputs(whole, separate=True) == outputs(SPEECH)


def test_words_have_their_times_and_confidences() -> None:
    assert outputs(SPEECH, as_words=True) == [
        ("talk-001", {"words": ["rains", "lot"]}),
        ("talk-002", {"words": [["not", 1.2, 1.5]]}),
    ]


def test_items_have_all_words_to_which_positions_refer() -> None:
    lines = [json.loads(line) for line in write_item_lines(SPEECH, separate=False)]
    assert lines == [
        {"item": "talk-001", "words": ["it", "rains", "a", "lot"]},
        {"item": "talk-002", "words": [["why", 1.0, 1.2, 0.5], ["not", 1.2, 1.5]]},
    ]
