"""Chapters in text, from transcripts with times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from msgspec import UNSET

from earwitness.chapters.reader import SPEECH_KINDS, spoken_of
from earwitness.chapters.records import Word
from earwitness.cli.main import group
from earwitness.errors import InputError
from earwitness.output_formats import render
from earwitness.scoring.score import score
from helpers.samples import write_lines

SRT = """1
00:00:00,000 --> 00:00:21,000
Good morning. We talk

2
00:00:21,000 --> 00:00:30,000
about <i>rain</i> &amp; snow.

3
00:00:40,000 --> 00:00:53,000
In Spain. Dr. Lee is here!
"""
# 21 characters in 21 s, "We" is the 15th; 26 characters in 13 s, "Dr." is the 11th
SAID = [["Good morning.", 0.0], ["We talk …", 14.0], ["In Spain.", 40.0], ["Dr. Lee …", 45.0]]
VTT = """WEBVTT

NOTE made by hand

00:00.500 --> 00:10.500 align:start
Good day. We

00:10.500 --> 00:44.500
talked. It rains in Spain. Yes…
"""
# 12 characters in 10 s, "We" is the 11th; 31 in 34 s, "It" is the 9th, "Yes…" the 28th
HEARD = [["Good day.", 0.5], ["We talked.", 0.5 + 100 / 12]]
HEARD += [["It rains in Spain.", 10.5 + 8 * 34 / 31], ["Yes…", 10.5 + 27 * 34 / 31]]
WORDS = [["Good", 0.5, 1.0, 0.9], ["day.", 1.0], ["We", 9.0], ["talked.", 9.5, 10.0]]
WORDS += [["It", 19.0], ["rains.", 20.0], ["Yes…", 40.0]]
OWN = [["Good day.", 0.5], ["We talked.", 9.0], ["It rains.", 19.0], ["Yes…", 40.0]]


def records(item: dict[str, Any], output: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    outputs = [{"item": "a", "system": "s", "output": {"boundaries": [15.0, 41.0], **output}}]
    people = [{"boundaries": [13.0, 44.0]}, {"boundaries": [20.0]}]
    return outputs, [{"item": "a", "duration": 60, "references": people, **item}]


def values(*sides: list[Any]) -> str:
    scores = score(*sides, metrics="sentences", of=["reference", "output"])
    return json.dumps(json.loads(render(scores, "json"))["systems"])


SAME = [({"subtitles": VTT}, HEARD), ({"words": WORDS}, OWN), ({"subtitles": SRT}, SAID)]


YOUTUBE = """WEBVTT

00:00.000 --> 00:02.000
it<00:01.000><c> rains</c>

00:02.000 --> 00:02.010
it rains

00:02.010 --> 00:04.000
it rains
and<00:03.000><c> snows</c>
"""


def test_transcripts_of_recognizers_are_subtitles() -> None:
    words = [{"word": f" {word}", "start": start, "end": start} for word, start, *_ in WORDS]
    segment: dict[str, Any] = {"start": 0, "end": 50, "text": "Good day.", "words": words}
    whisper = {"segments": [segment]}
    fields = dict.fromkeys(SPEECH_KINDS, UNSET)
    assert spoken_of({**fields, "subtitles": json.dumps(whisper)}) == (0.5, 9, 19, 40)
    del segment["words"]
    assert spoken_of({**fields, "subtitles": json.dumps(whisper)}) == (0,)
    assert spoken_of({**fields, "subtitles": YOUTUBE}) == (0, 2.01)  # without end marks, by cue
    lines = "a 1 0 1 it\nb 1 0 1 rains\n"
    [fault] = spoken_of({**fields, "subtitles": lines}) or ()
    assert "must be the transcript of one recording, with times" in str(fault)


@pytest.mark.parametrize(("given", "want"), SAME)
def test_sentences_begin_where_they_should(given: dict[str, Any], want: list[Any]) -> None:
    fields = {kind: given.get(kind, UNSET) for kind in SPEECH_KINDS}
    if "words" in given:
        fields["words"] = [Word(*word) for word in given["words"]]
    starts = spoken_of(fields)
    assert starts == pytest.approx(tuple(time for _, time in want))


@pytest.mark.parametrize(("output", "own"), SAME)
def test_transcripts_with_times_are_the_sentences_in_them(
    output: dict[str, Any], own: list[Any]
) -> None:
    by_hand = values(*records({"sentences": SAID}, {"sentences": own}))
    assert values(*records({"subtitles": SRT}, output)) == by_hand
    assert values(*records({"subtitles": SRT.replace("\n", "\r\n")}, output)) == by_hand
    both = {"hypothesis": [15.0, 41.0], "reference": [13.0, 44.0], "duration": 60}
    named = {f"hyp_{name}": value for name, value in output.items()}
    assert values([both | named | {"reference_subtitles": SRT}]) == values(
        [both | {"hyp_sentences": own, "reference_sentences": SAID}]
    )
    assert values([both | {"hyp_words": WORDS, "reference_words": WORDS}]) == values(
        [both | {"hyp_sentences": OWN, "reference_sentences": OWN}]
    )


def test_the_command_scores_subtitles_of_both_sides(tmp_path: Path) -> None:
    made = []
    for name, sides in {
        "subtitles": records({"subtitles": SRT}, {"subtitles": VTT}),
        "hand": records({"sentences": SAID}, {"sentences": HEARD}),
    }.items():
        paths = [write_lines(tmp_path / f"{name} {n}", side) for n, side in enumerate(sides)]
        command = ["score", *map(str, paths), "--metric", "sentences", "--of", "output"]
        result = CliRunner().invoke(group, [*command, "--to", "csv"])
        assert result.exit_code == 0, result.stderr
        made.append([line.split(",")[:9] for line in result.stdout.splitlines()[1:]])
    assert made[0] == made[1]
    assert made[0][1][2] != ""


def cue(number: int, times: str, text: str) -> str:
    return f"{number}\n{times}\n{text}\n\n"


BAD_CUES = (
    cue(1, "00:00:10,000 --> 00:00:09,000", "Back.")
    + cue(2, "00:00:05,000 --> soon", "When?")
    + cue(3, "now --> 00:00:09,000", "Now.")
)


def test_all_that_is_wrong_with_transcripts_is_said_at_once() -> None:
    words = [["a", 1.0, 0.5], ["b c\n", 0.5], ["d", 2.0]]
    outputs, references = records({"subtitles": BAD_CUES}, {"words": words, "subtitles": VTT})
    outputs.append({"item": "a", "system": "t", "output": {"boundaries": [], "words": words}})
    references.append(references[0] | {"item": "b", "words": [["x", "1"], ["y"]], "subtitles": 7})
    for own in references[1:]:
        outputs += [one | {"item": own["item"]} for one in outputs[:2]]
    with pytest.raises(InputError) as error:
        score(outputs, references, metrics="sentences")
    told = str(error.value)
    for part in (
        'references:1: subtitles: line 10: no time in "now --> 00:00:09,000" [item "a"]',
        'references:1: subtitles: line 2: ends before it begins [item "a"]',
        "references:1: subtitles: line 6: begins before the cue of line 2 — sort cues by time",
        "references:1: subtitles: line 6: has no valid end time — 00:01:00.000 --> 00:01:02",
        'references:2: words[0][1]: must be a number, got "1" — write seconds',
        'references:2: words[1]: must be a word with its start, got ["y"] — write ["word", start]',
        "references:2: subtitles: must be text, got 7",
    ):
        assert part in told
    with pytest.raises(InputError) as error:
        score(outputs[:2], records({}, {})[1], metrics="sentences")
    told = str(error.value)
    for part in (
        "outputs:1: output.words: sentences are also given in output.subtitles — keep one",
        "outputs:2: output.words[0]: ends before it begins",
        "outputs:2: output.words[1]: begins before the previous word — sort words by time",
        'outputs:2: output.words[1]: must be printable text, got "b c\\n"',
    ):
        assert part in told


BOTH = {"hypothesis": [15.0], "reference": [13.0], "duration": 60}


def test_bad_transcripts_of_both_sides_are_problems_of_the_line() -> None:
    bad = BOTH | {"hyp_subtitles": "", "reference_subtitles": BAD_CUES, "hypothesis": "x"}
    with pytest.raises(InputError) as error:
        score([bad], metrics="sentences")
    told = str(error.value)
    assert "outputs:1: hyp_subtitles: line 1: contains no cues" in told
    assert "outputs:1: hypothesis: unknown chapter format" in told
    assert told.count("reference_subtitles: ") == 4
    with pytest.raises(InputError, match="hyp_words: sentences are also given in hyp_sentences"):
        score([BOTH | {"hyp_sentences": SAID, "hyp_words": WORDS}])
    with pytest.raises(InputError, match=r"references\[0\].words: unknown field"):
        score(*records({"references": [{"boundaries": [], "words": WORDS}]}, {}), metrics="collar")


@pytest.mark.parametrize(
    ("bad", "left", "emptied"),
    [
        ({"hypothesis": "x"}, 0, 1),
        ({"hypothesis": 7}, 0, 1),
        ({"hyp_subtitles": "x"}, 1, 0),
        ({"reference_subtitles": "x"}, 1, 0),
        ({"hypothesis": 7, "reference_subtitles": "x"}, 1, 0),
        ({"hypothesis": "x", "reference_subtitles": "x"}, 1, 0),
    ],
)
def test_only_a_bad_output_can_be_scored_as_empty(
    bad: dict[str, Any], left: int, emptied: int
) -> None:
    scores = score([BOTH | {"id": "good"}, BOTH | {"id": "bad"} | bad], on_error="empty")
    assert (len(scores.skipped), len(scores.emptied)) == (left, emptied)


def test_words_without_punctuation_are_told() -> None:
    words = [["so", 0.0], ["it", 1.0], ["goes", 2.0]]
    scores = score(*records({"words": words}, {}), metrics="sentences")
    assert scores.systems["s"]["sentence_precision"].undefined == 1
    assert any("items with a single sentence" in note for note in scores.notes)
    assert not score(*records({"words": words}, {}), metrics="collar").notes
