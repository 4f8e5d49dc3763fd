"""Taking part: any renderer can do it from the views alone, and nothing is lost."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from earwitness.api.studies import study_design
from earwitness.api.taking import rating_records, study_ratings, study_take
from earwitness.cli.group import group
from earwitness.errors import BadAnswer, InputError, UsageError
from earwitness.listening.kinds import KINDS
from earwitness.listening.pages import pages
from studies import sound

STUDY = """\
title: Taking part
systems: [C0, C1]
files: "{{system}}/{{item}}.wav"
reference: ref
listeners: 2
training: 1
instructions: Listen well.
consent: I may stop at any time.
forms:
  before:
    - {{name: age, prompt: "Your age?", answer: number}}
    - {{name: ears, prompt: "Ears?", answer: choice, options: [two, one]}}
  after:
    - {{name: remarks, prompt: "Anything else?", needed: false}}
blocks:
  - kind: {kind}
    clips: 2
    sessions: 2
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for system in ("C0", "C1", "ref", "anchor35", "anchor70"):
        for name in "abcd":
            sound(tmp_path / system / f"{name}.wav")
    return tmp_path


def study(folder: Path, kind: str) -> Path:
    path = folder / f"{kind}.yaml"
    path.write_text(STUDY.format(kind=kind))
    return path


class Anyone:
    """Answers any page from its view alone; forgets everything after some pages."""

    def __init__(self, stop: int = 10_000) -> None:
        self.rng, self.seen, self.stop = random.Random(1), list[Mapping[str, Any]](), stop

    def __call__(self, view: Mapping[str, Any]) -> dict[str, Any]:
        if len(self.seen) == self.stop:
            raise KeyboardInterrupt
        self.seen.append(view)
        values = {one["name"]: self.answer(one) for one in view.get("questions", ())}
        if view["kind"] == "bs1116":
            values["A"] = 5.0
        return values

    def answer(self, question: Mapping[str, Any]) -> Any:
        match question["answer"]:
            case "choice":
                return self.rng.choice(question["options"])["value"]
            case "slider":
                return question["high"]
            case "number":
                return 30
            case _:
                return 'ünï "&+%" 🙂'


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_every_kind_is_answered_from_its_views_alone(folder: Path, kind: str) -> None:
    path, answers = study(folder, kind), folder / "answers.jsonl"
    anyone = Anyone()
    told = study_take(path, 1, answers, respond=anyone)
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    assert told == len(lines) > 4
    made = study_design(path)
    assert {line["study"] for line in lines} == {made.study.digest}
    trials = sum(map(len, made.plans[0].sessions))
    ratings = study_ratings(path, answers)
    assert len({(one.key.item, one.session, one.place) for one in ratings}) >= trials
    heard = {one.key.item for one in ratings}
    assert heard == set(made.subsets[0][0])  # practice does not count
    assert lines[-1]["values"] == {"remarks": 'ünï "&+%" 🙂'}


def test_pages_come_in_the_order_of_a_study(folder: Path) -> None:
    made = study_design(study(folder, "acr"))
    names = [page.name for page in pages(made.study, made.plans[0], lambda *_: "")]
    assert names == [
        "consent",
        "before",
        "instructions",
        "training.0",
        "training.1",
        *("1.0", "1.1", "1.2"),
        "rest.2",
        *("2.0", "2.1", "2.2"),
        "after",
        "end",
    ]


def test_one_goes_on_where_one_stopped(folder: Path) -> None:
    path, whole, parts = study(folder, "p835"), folder / "whole.jsonl", folder / "parts.jsonl"
    study_take(path, 2, whole, respond=Anyone())
    for _ in range(30):
        try:
            study_take(path, 2, parts, respond=Anyone(stop=5))
            break
        except KeyboardInterrupt:
            continue
    lines = [one.read_text().splitlines() for one in (whole, parts)]
    first, second = ([json.loads(line)["page"] for line in own] for own in lines)
    assert first == second
    assert study_take(path, 2, parts, respond=Anyone()) == 0


def test_listeners_share_a_file_and_are_kept_apart(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    study_take(path, 1, answers, respond=Anyone())
    study_take(path, 2, answers, respond=Anyone())
    records = rating_records(study_ratings(path, answers))
    assert {record["listener"] for record in records} == {1, 2}
    assert records[0].keys() == {
        *("item", "system", "scale", "listener", "session", "value", "place", "against")
    }


def test_answers_to_another_study_are_refused_and_left_alone(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    study_take(path, 1, answers, respond=Anyone())
    before = answers.read_bytes()
    path.write_text(path.read_text().replace("title: Taking part", "title: Another"))
    with pytest.raises(InputError, match="has the study file changed since"):
        study_take(path, 1, answers, respond=Anyone())
    with pytest.raises(InputError, match="has the study file changed since"):
        study_ratings(path, answers)
    assert answers.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: {**one, "page": "9.9"}, 'listener 1 has no page "9.9"'),
        (lambda one: {**one, "listener": 7}, "listener 7 has no page"),
        (lambda one: {**one, "values": {"QUALITY": 6}}, "QUALITY must be from 1 to 5"),
        (lambda one: {**one, "values": 6}, "values: must be an object"),
        (lambda one: {**one, "extra": 6}, "extra: unknown field"),
        (lambda one: {**one, "listener": "x"}, "listener: must be a whole number"),
    ],
)
def test_answers_that_were_tampered_with_are_named(folder: Path, change: Any, told: str) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    study_take(path, 1, answers, respond=Anyone())
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    place = next(n for n, line in enumerate(lines) if line["page"] == "1.1")
    lines[place] = change(lines[place])
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=f"answers.jsonl:{place + 1}: ") as error:
        study_ratings(path, answers)
    assert told in str(error.value)


def test_a_page_that_was_answered_twice_is_named(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    study_take(path, 1, answers, respond=Anyone())
    text = answers.read_text()
    answers.write_text(text + text.splitlines()[0] + "\n")
    with pytest.raises(InputError, match="was answered on line 1 already"):
        study_ratings(path, answers)


def test_nobody_takes_part_without_agreeing(folder: Path) -> None:
    with pytest.raises(BadAnswer, match="nobody takes part without agreeing"):
        study_take(study(folder, "acr"), 1, folder / "a.jsonl", respond=lambda _: {"agree": False})
    assert not (folder / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"age": "old", "ears": "two"}, "age must be a number, got 'old'"),
        ({"age": 3, "ears": "three"}, "ears must be one of two, one, got 'three'"),
        ({"ears": "two"}, "age is not answered"),
        ({"age": 3, "ears": "two", "nose": 1}, "nobody asked for 'nose'"),
    ],
)
def test_forms_are_checked(folder: Path, values: dict[str, Any], told: str) -> None:
    def respond(view: Mapping[str, Any]) -> dict[str, Any]:
        return {"agree": True} if view["kind"] == "consent" else values

    with pytest.raises(BadAnswer, match=told):
        study_take(study(folder, "acr"), 1, folder / "a.jsonl", respond=respond)


def test_a_listener_who_is_not_planned_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no listener 3 — known: 1 to 2"):
        study_take(study(folder, "acr"), 3, folder / "a.jsonl", respond=Anyone())


def test_a_terminal_is_enough_to_take_part(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    typed = ["1", "30", "2", "", "", "9", "4"]  # agree, age, ears; 9 is no rating and asked again
    typed += ["", "5", "3", "", "", "2", "1", "", ""]
    command = ["study", "take", str(path), "--listener", "1", "-o", str(answers)]
    command += ["--player", "true"]
    done = CliRunner().invoke(group, command, input="\n".join(typed) + "\n")
    assert done.exit_code == 0, done.output
    assert "Excellent" in done.output
    assert "is not one of" in done.output
    for hidden in ("C0", "C1", ".wav"):
        assert hidden not in done.output
    shown = CliRunner().invoke(group, ["study", "ratings", str(path), str(answers)])
    values = [json.loads(line)["value"] for line in shown.stdout.splitlines()]
    assert values == [5, 3, 2, 1]
    table = CliRunner().invoke(group, ["study", "ratings", str(path), str(answers), "--to", "csv"])
    assert table.stdout.splitlines()[0].startswith("item,system,scale,listener")
    assert len(table.stdout.splitlines()) == 5
