"""Files of answers: ratings from answers to the views alone, and answers that are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earwitness import __version__
from earwitness.errors import BadAnswer, InputError
from earwitness.studies import from_answers
from earwitness.studies.design.report import study_design
from earwitness.studies.from_answers import study_ratings
from earwitness.studies.pages import pages
from earwitness.studies.study import Design
from earwitness.studies.trials import KINDS
from helpers.study_listener import Anyone, answer_study, sounds, study


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sounds(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_study_of_every_kind_is_answered_from_its_views_alone(folder: Path, kind: str) -> None:
    path, answers = study(folder, kind), folder / "answers.jsonl"
    anyone = Anyone()
    told = answer_study(path, 1, answers, respond=anyone)
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    assert told == len(lines) > 4
    made = study_design(path)
    assert {line["study"] for line in lines} == {made.study.digest}
    trials = sum(map(len, made.plans[0].sessions))
    ratings = study_ratings(path, answers)
    assert len({(one["item"], one["session"], one["place"]) for one in ratings}) >= trials
    heard = {one["item"] for one in ratings}
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


def test_listeners_share_a_file_and_are_kept_apart(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    answer_study(path, 2, answers, respond=Anyone())
    records = study_ratings(path, answers)
    assert {record["listener"] for record in records} == {1, 2}
    assert records[0].keys() == {
        *("item", "system", "scale", "listener", "session", "value"),
        *("trial", "asked", "place", "against"),
    }


def test_answers_to_another_study_are_refused(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    path.write_text(path.read_text().replace("listeners: 2", "listeners: 2\nseed: 7"))
    with pytest.raises(InputError, match="was the study file edited"):
        study_ratings(path, answers)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: {**one, "page": "9.9"}, 'listener 1 has no page "9.9"'),
        (lambda one: {**one, "listener": 7}, "listener 7 has no page"),
        (lambda one: {**one, "values": {"QUALITY": 6}}, "QUALITY must be from 1 to 5"),
        (lambda one: {**one, "values": 6}, "values: must be an object"),
        (lambda one: {**one, "extra": 6}, "extra: unknown field"),
        (lambda one: {**one, "listener": "x"}, "listener: must be a whole number"),
        (lambda one: {**one, "heard": {**one["heard"], "item": "z"}}, "heard: z as C"),
        (lambda one: {**one, "heard": {**one["heard"], "systems": []}}, "must not be empty"),
        (lambda one: {k: v for k, v in one.items() if k != "heard"}, "heard: missing"),
    ],
)
def test_answers_that_were_tampered_with_are_named(folder: Path, change: Any, told: str) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    lines = [json.loads(line) for line in answers.read_text().splitlines()]
    place = next(n for n, line in enumerate(lines) if line["page"] == "1.1")
    lines[place] = change(lines[place])
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(InputError, match=f"answers.jsonl:{place + 1}: ") as error:
        study_ratings(path, answers)
    assert told in str(error.value)


def test_a_page_that_was_answered_twice_is_named(folder: Path) -> None:
    path, answers = study(folder, "acr"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    text = answers.read_text()
    answers.write_text(text + text.splitlines()[0] + "\n")
    with pytest.raises(InputError, match="already answered on line 1"):
        study_ratings(path, answers)


def test_nobody_takes_part_without_agreeing(folder: Path) -> None:
    with pytest.raises(BadAnswer, match="consent is required to take part"):
        answer_study(
            study(folder, "acr"), 1, folder / "a.jsonl", respond=lambda _: {"agree": False}
        )


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"age": "old", "ears": "two"}, "age must be a number, got 'old'"),
        ({"age": 3, "ears": "three"}, "ears must be one of two, one, got 'three'"),
        ({"ears": "two"}, "age has no answer"),
        ({"age": 3, "ears": "two", "nose": 1}, "unknown question 'nose'"),
    ],
)
def test_forms_are_checked(folder: Path, values: dict[str, Any], told: str) -> None:
    def respond(view: Mapping[str, Any]) -> dict[str, Any]:
        return {"agree": True} if view["kind"] == "consent" else values

    with pytest.raises(BadAnswer, match=told):
        answer_study(study(folder, "acr"), 1, folder / "a.jsonl", respond=respond)


def turned(made: Design) -> Design:
    """A plan as another version might make it."""
    plans = [replace(one, sessions=one.sessions[::-1]) for one in made.plans]
    return replace(made, plans=tuple(plans))


def test_answers_to_another_plan_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, answers = study(folder, "abx"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    answers.write_text(answers.read_text().replace(f'"{__version__}"', '"0.0.9"'))
    assert study_ratings(path, answers)
    monkeypatch.setattr(from_answers, "study_design", lambda own: turned(study_design(own)))
    with pytest.raises(InputError, match=r"but the design has .* — use earwitness 0.0.9"):
        study_ratings(path, answers)


@pytest.mark.parametrize("place", range(3))
def test_a_text_that_is_half_a_character_is_refused(folder: Path, place: int) -> None:
    def respond(view: Mapping[str, Any]) -> dict[str, Any]:
        values = Anyone()(view)
        return {**values, "remarks": "ab"[:place] + "\udce9"} if "remarks" in values else values

    with pytest.raises(BadAnswer, match="remarks must be text"):
        answer_study(study(folder, "acr"), 1, folder / "a.jsonl", respond=respond)
