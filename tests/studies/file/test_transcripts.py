"""Transcripts and summaries of a study: formats, and all problems at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from earwitness.errors import InputError
from earwitness.studies.file.reader import read_study
from earwitness.studies.study import SpokenText
from helpers.samples import write_lines
from helpers.study_files import sound

WORDS = """\
title: Words
systems: [original]
transcripts: texts.jsonl
listeners: 2
blocks: [{kind: words}]
"""
HEARD = WORDS.replace("{kind: words}", "{kind: words, parameters: {audio: true}}")
READING = """\
title: Reading
systems: [lead, last]
transcripts: texts.jsonl
summaries: outputs.jsonl
listeners: 2
blocks: [{kind: reading}]
"""
RAIN = {"item": "a", "transcript": "it rains a lot"}
TIMED = {"item": "b", "words": [["no", 0.0, 0.04], ["rain", 0.05, 0.1]]}


def study(folder: Path, text: str) -> Path:
    path = folder / "study.yaml"
    path.write_text(text)
    return path


def told(path: Path) -> list[str]:
    """All problems of a study, without its folder."""
    with pytest.raises(InputError) as error:
        read_study(path)
    found = [str(one).replace(f"{path.parent}/", "") for one in error.value.problems]
    return [one.partition(" [item")[0] for one in found]


def test_a_table_gives_items_words_and_times(tmp_path: Path) -> None:
    write_lines(tmp_path / "texts.jsonl", [RAIN, {**TIMED, "references": [{"text": "rain"}]}])
    found = read_study(study(tmp_path, WORDS))
    assert {clip.name: clip.seconds for clip in found.material} == {"a": 4 / 3, "b": 2 / 3}
    assert found.transcript("a") == SpokenText(("it", "rains", "a", "lot"))
    assert found.transcript("b").times == ((0.0, 0.04), (0.05, 0.1))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", "It rains\na lot.\n", ("It", "rains", "a", "lot.")),
        ("a.ctm", "a 1 0.1 0.2 it\na 1 0.3 0.4 rains\n", ("it", "rains")),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nIt rains.\n", ("It", "rains.")),
        ("a.json", '{"segments": [{"start": 0, "end": 1, "text": "It rains."}]}', ("It", "rains.")),
    ],
)
def test_a_pattern_names_one_file_per_item(
    tmp_path: Path, name: str, content: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / name).write_text(content)
    ending = name.removeprefix("a")
    found = read_study(study(tmp_path, WORDS.replace("texts.jsonl", f"texts/{{item}}{ending}")))
    assert found.transcript("a").words == words


def test_all_problems_of_transcripts_are_listed_with_their_place(tmp_path: Path) -> None:
    lines = [
        RAIN,
        {"item": "b", "transcript": "  "},
        {"item": "c", "words": [["it", 1.0, 2.0], ["rains", 0.5, 3.0]]},
        RAIN,
        {"item": "d", "transcript": "it rains", "text": "x"},
        {"item": "f", "transcript": "word " * 5001},
    ]
    write_lines(tmp_path / "texts.jsonl", lines)
    (tmp_path / "clips.csv").write_text("name,seconds\na,1\ne,2\n")
    assert told(study(tmp_path, WORDS + "material: clips.csv\n")) == [
        "texts.jsonl:2: transcript: contains no words",
        "texts.jsonl:3: words[1]: starts at 0.5 s, before the word in front of it — sort "
        "the words by time",
        'texts.jsonl:4: item: duplicate transcript of "a" — keep one',
        "texts.jsonl:5: text: unknown field — known: audio, ctm, duration, item, meta, recognized, "
        "transcript, words",
        "texts.jsonl:6: has 5,001 words, and at most 5,000 are shown — split the "
        "transcript into several items",
        'texts.jsonl: no transcript of "e" — known: a',
    ]


def test_words_that_cannot_be_highlighted_are_named(tmp_path: Path) -> None:
    late = {"item": "c", "words": [["it", 0.0, 0.2], ["rains", 0.3, 9.5]]}
    write_lines(tmp_path / "texts.jsonl", [RAIN, TIMED, late])
    for name in "abc":
        sound(tmp_path / "audio" / f"{name}.wav")
    text = HEARD + 'files: "audio/{item}.wav"\n'
    assert told(study(tmp_path, text)) == [
        "texts.jsonl:1: words have no times, so they cannot be highlighted while they are "
        "heard — give times of words, or write highlight: false",
        'texts.jsonl:3: word 2, "rains", ends at 9.50 s, but its audio file ends at 0.10 s '
        "— use the transcript of this recording, with times in seconds",
    ]
    write_lines(tmp_path / "texts.jsonl", [RAIN, TIMED])
    dark = text.replace("audio: true", "audio: true, highlight: false")
    assert [clip.seconds for clip in read_study(study(tmp_path, dark)).material] == [0.1, 0.1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (WORDS.replace("transcripts: texts.jsonl\n", ""), "transcripts: missing"),
        (WORDS.replace("texts.jsonl", '"{name}.txt"'), "no braces other than {item}"),
        (WORDS.replace("[original]", "[a, b]"), "words shows one transcript per item"),
        (WORDS + "summaries: x.jsonl\n", "summaries: no block rates summaries"),
        (WORDS + 'files: "{item}.wav"\n', "files: no block plays audio"),
        (HEARD, "files: required by audio: true"),
        (WORDS + "feedback: true\ntraining: 1\n", "feedback: not supported for transcripts"),
        (WORDS.replace("[{kind", "[{kind: acr}, {kind"), "transcripts cannot be in the same study"),
        (READING.replace("summaries: outputs.jsonl\n", ""), "summaries: missing"),
        (READING.replace("kind: reading", "kind: acr"), "transcripts: no block is about"),
    ],
)
def test_keys_that_contradict_each_other_are_refused(
    tmp_path: Path, text: str, problem: str
) -> None:
    write_lines(tmp_path / "texts.jsonl", [RAIN, TIMED])
    outputs = [
        {"item": item, "system": system, "output": {"positions": [1]}}
        for item in "ab"
        for system in ("lead", "last")
    ]
    write_lines(tmp_path / "outputs.jsonl", outputs)
    assert any(problem in one for one in told(study(tmp_path, text)))


def test_summaries_are_read_as_text_and_their_problems_listed(tmp_path: Path) -> None:
    write_lines(tmp_path / "texts.jsonl", [RAIN, TIMED])
    outputs = [
        {"item": "a", "system": "lead", "output": {"positions": [1, 2]}},
        {"item": "b", "system": "lead", "output": {"text": "no  rain"}},
        {"item": "a", "system": "last", "output": {"words": [["lot", 0.0, 0.5]]}},
        {"item": "b", "system": "last", "output": {"positions": [2]}},
        {"item": "b", "system": "other", "output": {"positions": [99]}},  # not in this study
    ]
    write_lines(tmp_path / "outputs.jsonl", outputs)
    path = study(tmp_path, READING)
    found = read_study(path)
    texts = {f"{i} {s}": found.caption(i, s) for i in "ab" for s in ("lead", "last")}
    assert texts == {"a lead": "it rains", "b lead": "no rain", "a last": "lot", "b last": "rain"}
    outputs[0]["output"] = {"positions": [1, 9]}
    outputs[1]["output"] = {"positions": []}
    write_lines(tmp_path / "outputs.jsonl", [*outputs[:3], outputs[2]])
    assert told(path) == [
        "outputs.jsonl:1: output.positions[1]: 9 is out of range: the transcript has words "
        "1 to 4 — positions start at 1",
        "outputs.jsonl:2: output: the summary is empty, so it cannot be rated — remove the item",
        'outputs.jsonl:4: duplicate summary of "a" by "last" — keep one',
        'outputs.jsonl: summary of "b" by "last" is missing',
    ]
