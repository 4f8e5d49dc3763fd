"""From studies with words and reading trials to the experiment on references."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from earwitness.cli.main import group
from earwitness.studies.answers import read_reading_answers, read_word_answers
from helpers.samples import write_lines

ITEMS = {
    "rain": "it rains a lot in the mountains and the rivers rise quickly in spring",
    "bees": "bees in the town collect more honey than bees in the fields nearby today",
    "train": "the night train does not stop in the village any more since last week",
}
SYSTEMS = {"lead": range(1, 6), "last": range(9, 14), "odd": range(1, 14, 3)}
WORDS = """\
title: Words
systems: [original]
transcripts: texts.jsonl
listeners: 4
training: 1
quality: {repeats: 0.1}
blocks: [{kind: words, clips: 2}]
"""
READING = """\
title: Reading
systems: [lead, last, odd]
transcripts: texts.jsonl
summaries: outputs.jsonl
listeners: 4
blocks: [{kind: reading}]
"""


def run(*command: object) -> Result:
    result = CliRunner().invoke(group, list(map(str, command)))
    assert result.exit_code == 0, result.output
    return result


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two studies on the same transcripts, both with simulated answers."""
    texts = [{"item": item, "transcript": text} for item, text in ITEMS.items()]
    write_lines(tmp_path / "texts.jsonl", texts)
    outputs = [
        {"item": item, "system": system, "output": {"positions": list(positions)}}
        for item in ITEMS
        for system, positions in SYSTEMS.items()
    ]
    write_lines(tmp_path / "outputs.jsonl", outputs)
    for name, study in (("words", WORDS), ("reading", READING)):
        (tmp_path / f"{name}.yaml").write_text(study)
        run("study", "simulate", tmp_path / f"{name}.yaml", "-o", tmp_path / name)
    return tmp_path


def test_answers_become_references_and_judgements_of_the_experiment(folder: Path) -> None:
    words, reading = (folder / name / "answers.jsonl" for name in ("words", "reading"))
    references, ratings = folder / "references.jsonl", folder / "ratings.csv"
    run("study", "summaries", folder / "words.yaml", words, "-o", references)
    run("study", "ratings", folder / "reading.yaml", reading, "-o", ratings)
    lines = [json.loads(line) for line in references.read_text().splitlines()]
    people = [[one["annotator"] for one in line["references"]] for line in lines]
    assert sum(map(len, people)) == 8  # four people, two items each; practice is left out
    for line in lines:
        assert line["words"] == ITEMS[line["item"]].split()
        assert all(4 <= len(one["positions"]) <= 6 for one in line["references"])
    outputs = folder / "outputs.jsonl"
    [practised] = ITEMS.keys() - {line["item"] for line in lines}
    few = ["--orders", 4, "--draws", 20, "--permutations", 20, "--metric", "sumaccy"]
    found = run(
        *("experiment", "references", outputs, references, ratings, *few),
        *("--to", "json"),
    )
    assert f"nobody has made a reference of {practised}: left out" in found.stdout
    points = json.loads(found.stdout)["points"]
    assert {point["figure"] for point in points} == {"curve", "correlation"}
    texts = [json.loads(line) for line in (folder / "texts.jsonl").read_text().splitlines()]
    kept = [line["references"] for line in read_word_answers(words, texts)]
    assert kept == [line["references"] for line in lines]
    rows = csv.DictReader(ratings.read_text().splitlines())
    said = {(row["item"], row["system"], row["listener"]): float(row["value"]) for row in rows}
    assert {
        (row["item"], row["system"], row["listener"]): row["score"]
        for row in read_reading_answers(reading)
    } == said


def test_a_study_without_words_trials_has_no_summaries(folder: Path) -> None:
    answers = folder / "reading" / "answers.jsonl"
    result = CliRunner().invoke(
        group, ["study", "summaries", str(folder / "reading.yaml"), str(answers)]
    )
    assert "the study has no words trials, so it has no summaries" in str(result.exception)
