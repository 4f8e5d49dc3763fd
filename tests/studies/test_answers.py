"""Files of answers: lines, faults, and answers of the trial kinds words and reading."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earwitness.core import Answer
from earwitness.errors import InputError, UsageError
from earwitness.scoring.score import people
from earwitness.studies.answers import (
    answer_line,
    read_answers,
    read_reading_answers,
    read_word_answers,
)

DIGEST = "d" * 64
GIVEN = [Answer(DIGEST, 1, page, {"remarks": 'é "#" 🙂'}, version="1") for page in "abc"]


def written(path: Path) -> bytes:
    path.write_bytes(b"".join(map(answer_line, GIVEN)))
    return path.read_bytes()


def test_blank_lines_are_passed_over_and_lines_counted(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    a, b, c = written(path).splitlines()
    path.write_bytes(b"\n" + a + b"\r\n\n  \n" + b + b"\n" + c)
    found = read_answers(path, DIGEST)
    assert [*found] == [2, 5, 6]
    assert [replace(answer, digest=None) for answer in found.values()] == GIVEN


@pytest.mark.parametrize("text", [b"Dear diary", b'{"study": "dddd'])
def test_a_line_that_is_no_answer_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(written(path) + text)
    with pytest.raises(InputError, match=r"answers\.jsonl:4: not JSON"):
        read_answers(path, DIGEST)


@pytest.mark.parametrize(
    ("name", "told"), [(".", "Is a directory"), ("a.jsonl", "No such file or directory")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(UsageError, match=f"cannot read answers: {told}"):
        read_answers(tmp_path / name, DIGEST)


# --- Answers of the trial kinds words and reading ------------------------------------------------


ITEMS: list[dict[str, Any]] = [
    {"item": "a", "transcript": "it rains a lot", "meta": {"kind": "news"}},
    {"item": "b", "words": ["so", "be", "it"]},
    {"item": "c", "words": ["nobody", "answered"]},
]


def words_answer(listener: Any, item: str, positions: list[int]) -> dict[str, Any]:
    return {"kind": "words", "listener": listener, "item": item, "positions": positions}


def reading_answer(listener: Any, item: str, system: str, rating: Any) -> dict[str, Any]:
    reading = {"kind": "reading", "listener": listener, "item": item}
    return {**reading, "system": system, "rating": rating}


def study_answer(listener: int, page: str, values: Any, **heard: Any) -> dict[str, Any]:
    presented = {"heard": {**heard, "target": 0}} if heard else {}
    return {"study": "1f", "listener": listener, "page": page, "values": values, **presented}


def test_answers_of_words_are_references() -> None:
    answers = [
        words_answer("anna", "a", [1, 2]),
        words_answer(7, "a", [2, 4]),
        words_answer("anna", "b", [3]),
    ]
    records = read_word_answers(answers, ITEMS)
    assert records == [
        {
            **ITEMS[0],
            "references": [
                {"annotator": "anna", "positions": [1, 2]},
                {"annotator": "7", "positions": [2, 4]},
            ],
        },
        {**ITEMS[1], "references": [{"annotator": "anna", "positions": [3]}]},
    ]
    found = people(records, metrics="kept", draws=20).people
    assert found is not None
    assert found.ceiling["kept_f1"].value == 0.5


def test_answers_of_reading_are_ratings() -> None:
    rows = read_reading_answers([reading_answer("j", "a", "s", 5), reading_answer(2, "a", "s", 1)])
    assert rows == [
        {"item": "a", "system": "s", "listener": "j", "score": 5},
        {"item": "a", "system": "s", "listener": "2", "score": 1},
    ]


def test_lines_of_an_answers_file_are_read_as_exported_answers() -> None:
    answers = [
        study_answer(1, "consent", {"consent": "yes"}),
        study_answer(1, "1.1", {"positions": [1, 2]}, item="a", systems=["original"]),
        study_answer(1, "1.2", {"positions": None}, item="b", systems=["original"]),
        study_answer(1, "1.3", {"rating": 4}, item="a", systems=["s"]),
    ]
    (record,) = read_word_answers(answers, ITEMS)
    assert record["references"] == [{"annotator": "1", "positions": [1, 2]}]
    assert read_reading_answers(answers) == [
        {"item": "a", "system": "s", "listener": "1", "score": 4}
    ]


def test_all_faults_of_answers_are_reported_with_place_and_remedy(tmp_path: Path) -> None:
    answers, items = tmp_path / "answers.jsonl", tmp_path / "items.jsonl"
    lines = [
        words_answer("anna", "a", [1, 9]),
        words_answer("anna", "a", [2, 1]),
        words_answer("anna", "a", [2, 3]),
        words_answer("ben", "aa", [1]),
        words_answer("ben", "b", []),
        {**words_answer("ben", "b", [1]), "kind": "reading"},
        {"kind": "words", "listener": "ben", "posit": [1]},
    ]
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines) + "not JSON\n")
    items.write_text("".join(f"{json.dumps(line)}\n" for line in [*ITEMS, ITEMS[0], {"item": "d"}]))
    with pytest.raises(InputError) as error:
        read_word_answers(answers, items)
    told = str(error.value).splitlines()
    assert len(error.value.problems) == 12
    for wanted in (
        "answers.jsonl:1: positions[1]: 9 is out of range: the transcript has words 1 to 4",
        "answers.jsonl:2: anna, a is also on line 1 — keep one",
        "answers.jsonl:3: anna, a is also on line 1 — keep one",
        'answers.jsonl:4: item: no item "aa" among the items — known: a, b, c',
        "answers.jsonl:5: positions: is empty",
        "answers.jsonl:6: kind: ",
        "answers.jsonl:7: item: missing",
        "answers.jsonl:7: positions: missing",
        "answers.jsonl:7: posit: unknown field",
        "answers.jsonl:8: not JSON at column 1",
        'items.jsonl:4: item: "a" is given twice — keep one',
        "items.jsonl:5: words: missing",
    ):
        assert any(wanted in line for line in told), (wanted, told)
    with pytest.raises(InputError, match=r"rating: must be a whole number from 1 to 5, got 6"):
        read_reading_answers([reading_answer("j", "a", "s", 6)])
    with pytest.raises(InputError, match="j, a, s is also on line 1"):
        read_reading_answers([reading_answer("j", "a", "s", 5)] * 2)
    with pytest.raises(InputError, match='has no answers of the kind "reading"'):
        read_reading_answers([study_answer(1, "consent", {})])
