"""Files of answers: whatever kills a process, nothing is lost, doubled or unreadable."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from earwitness.core import Answer
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.scoring.score import people
from earwitness.studies import answers as answers_format
from earwitness.studies.answers import (
    CUT_LINE_MARK,
    AnswersFile,
    read_reading_answers,
    read_word_answers,
)
from earwitness.studies.ratings.from_answers import study_ratings
from earwitness.studies.take import study_take
from helpers.samples import many
from helpers.study_listener import Anyone, sounds, study, take_in_step

DIGEST = "d" * 64
GIVEN = [
    Answer(DIGEST, 1, page, {"remarks": 'é "#" 🙂 # cut short'}, version="1") for page in "abc"
]


def written(path: Path) -> bytes:
    file = AnswersFile(path, DIGEST)
    assert all(file.add(one) for one in GIVEN)
    return path.read_bytes()


def line_ends(text: bytes) -> list[int]:
    """Places at and beside the ends of lines."""
    ends = [place for place, byte in enumerate(text) if byte == ord("\n")]
    return [end + near for end in ends for near in (-1, 0, 1) if end + near < len(text)]


def completed(path: Path) -> AnswersFile:
    """Add whatever is missing, as one who goes on does."""
    file = AnswersFile(path, DIGEST)
    for one in GIVEN:
        new = one.page not in file.read().pages(1)
        assert file.add(one) == new
    return file


def test_a_file_that_was_cut_at_any_byte_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    whole = written(path)
    for cut in {*range(0, len(whole), many(7, 1)), *line_ends(whole)}:
        path.write_bytes(whole[:cut])
        lines = whole[:cut].count(b"\n") + (whole[cut : cut + 1] == b"\n")
        assert len(AnswersFile(path, DIGEST).read().pages(1)) == lines
        half = cut > 0 and b"\n" not in whole[cut - 1 : cut + 1]
        file = completed(path)
        for found in (file.read(), AnswersFile(path, DIGEST).read()):
            assert sorted(one.page for one in found.lines.values()) == ["a", "b", "c"]
            assert len(found.cut) == half
        assert path.read_bytes().startswith(whole[:cut])  # nobody's bytes are removed


def test_a_file_that_is_cut_again_and_again_is_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    whole = written(path)
    first = len(whole) // 3
    for cut in (1, 5, 80, first + 3, first + 200)[: many(2, 5)]:
        path.write_bytes(whole[:cut])
        completed(path)
        again = path.read_bytes()
        for second in range(cut, min(cut + len(CUT_LINE_MARK) + 30, len(again))):
            path.write_bytes(again[:second])
            completed(path)
            found = AnswersFile(path, DIGEST).read()
            assert sorted(one.page for one in found.lines.values()) == ["a", "b", "c"]


def test_blank_lines_are_passed_over_and_lines_counted(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    a, b, c = written(path).splitlines()
    path.write_bytes(b"\n" + a + b"\r\n\n  \n" + b + b"\n" + c)
    found = AnswersFile(path, DIGEST).read()
    assert {line: one.page for line, one in found.lines.items()} == {2: "a", 5: "b", 6: "c"}
    assert found.cut == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"Dear diary", "answers.jsonl:4: not JSON"),
        (b'{"study": "eeee', "answers.jsonl:4: not JSON"),  # of another study
        (f'{{"study": "{DIGEST}", "lis\n'.encode(), "answers.jsonl:4: not JSON"),  # not marked
        (b"{}" + CUT_LINE_MARK + b"\n", "answers.jsonl:4: not JSON"),
    ],
)
def test_what_no_kill_leaves_is_refused_and_left_alone(
    tmp_path: Path, text: bytes, told: str
) -> None:
    path = tmp_path / "answers.jsonl"
    before = written(path) + text
    path.write_bytes(before)
    with pytest.raises(InputError, match=told):
        AnswersFile(path, DIGEST).add(GIVEN[0])
    assert path.read_bytes() == before


def test_what_others_added_or_rewrote_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    one, other = AnswersFile(path, DIGEST), AnswersFile(path, DIGEST)
    for answer in GIVEN:
        assert one.add(answer)
        assert not other.add(answer)
    assert other.read() == one.read() == AnswersFile(path, DIGEST).read()
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[1])
    assert other.read().pages(1) == {"b"}


def test_cut_lines_are_told(tmp_path: Path) -> None:
    path, answers = study(sounds(tmp_path), "acr"), tmp_path / "answers.jsonl"
    study_take(path, 1, answers, respond=Anyone())
    whole = study_ratings(path, answers)
    answers.write_bytes(answers.read_bytes()[:-40])
    with pytest.warns(EarwitnessWarning, match=r"answers.jsonl:8: truncated line ignored"):
        assert study_take(path, 1, answers, respond=Anyone()) == 1
    with pytest.warns(EarwitnessWarning, match=r"answers.jsonl:8: truncated line ignored"):
        assert study_ratings(path, answers) == whole


def test_two_processes_store_every_page_once(tmp_path: Path) -> None:
    path, answers = study(sounds(tmp_path), "acr"), tmp_path / "answers.jsonl"
    context = multiprocessing.get_context("spawn")
    barrier, told = context.Barrier(2), context.Queue()
    both = [
        context.Process(target=take_in_step, args=(path, answers, barrier, told)) for _ in range(2)
    ]
    for process in both:
        process.start()
    (stored, late), (also_stored, also_late) = told.get(timeout=120), told.get(timeout=120)
    for process in both:
        process.join()
    pages = [json.loads(line)["page"] for line in answers.read_text().splitlines()]
    assert len(pages) == len(set(pages)) == stored + also_stored == late + also_late == 8
    assert len(study_ratings(path, answers)) == 4


class Killed(BaseException):
    """The process is gone."""


class Killer:
    """Kills at the nth write, after so many bytes of the line."""

    def __init__(self, patch: pytest.MonkeyPatch, write: int, share: float) -> None:
        self.write, self.share, self.line = write, share, answers_format.answer_line
        patch.setattr(answers_format, "answer_line", self.cut)
        patch.setattr(os, "fsync", self.die)

    def cut(self, answer: Answer) -> bytes:
        self.write -= 1
        whole = self.line(answer)
        return whole if self.write >= 0 else whole[: round(self.share * len(whole))]

    def die(self, file: int) -> None:
        del file
        if self.write < 0:
            raise Killed


def stored_answers(path: Path) -> dict[str, Any]:
    lines = [line for line in path.read_bytes().splitlines() if not line.endswith(CUT_LINE_MARK)]
    found = [json.loads(line) for line in lines]
    assert max(Counter(one["page"] for one in found).values(), default=1) == 1
    return {one["page"]: one["values"] for one in found}


def gone_on(path: Path, answers: Path, known: dict[str, Any]) -> None:
    """Go on to the end; what was acknowledged is there as it was, every page once."""
    study_take(path, 1, answers, respond=Anyone(seed=2))
    found = stored_answers(answers)
    assert len(found) == 8
    assert {page: found[page] for page in known} == known


@pytest.mark.filterwarnings("ignore::earwitness.errors.EarwitnessWarning")
@pytest.mark.parametrize("share", [0, 0.05, 0.5, 0.99, 1])
def test_a_kill_at_any_write_loses_and_doubles_nothing(tmp_path: Path, share: float) -> None:
    path, answers = study(sounds(tmp_path), "p835"), tmp_path / "answers.jsonl"
    for write in range(8):
        answers.unlink(missing_ok=True)
        acknowledged = list[Any]()
        with pytest.MonkeyPatch.context() as patch:
            Killer(patch, write, share)
            with pytest.raises(Killed):
                study_take(path, 1, answers, respond=Anyone(), stored=acknowledged.append)
        assert len(acknowledged) == write
        lines = [json.loads(line) for line in answers.read_bytes().splitlines()[:write]]
        gone_on(path, answers, {one["page"]: one["values"] for one in lines})


def test_a_kill_on_any_page_loses_and_doubles_nothing(tmp_path: Path) -> None:
    path, answers = study(sounds(tmp_path), "p835"), tmp_path / "answers.jsonl"
    anyone = Anyone()
    study_take(path, 1, answers, respond=anyone)
    for page in range(len(anyone.seen)):
        answers.unlink(missing_ok=True)
        acknowledged = list[Any]()
        with pytest.raises(KeyboardInterrupt):
            study_take(path, 1, answers, respond=Anyone(page), stored=acknowledged.append)
        known = stored_answers(answers) if answers.exists() else {}
        assert len(known) == len(acknowledged)
        gone_on(path, answers, known)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (".", "cannot add answers: is a folder"),
        ("no/a.jsonl", "cannot add answers: folder .*no does not exist"),
        ("link.jsonl", "cannot add answers: folder .* does not exist"),
        ("pipe", "cannot add answers: is not a regular file"),
        ("n" * 300, "cannot add answers: File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_to_is_told_first(
    tmp_path: Path, name: str, told: str
) -> None:
    path = study(sounds(tmp_path), "acr")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "no" / "b.jsonl")
    os.mkfifo(tmp_path / "pipe")
    anyone = Anyone()
    with pytest.raises(UsageError, match=told):
        study_take(path, 1, tmp_path / name, respond=anyone)
    assert not anyone.seen


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
