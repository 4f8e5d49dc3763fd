"""Files of answers: ratings from answers to the views alone, and answers that are refused."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earwitness.analysis.report.export import results_json
from earwitness.errors import BadAnswer, InputError
from earwitness.studies import design
from earwitness.studies.analyse import study_analyse
from earwitness.studies.answers import answer_digest, answer_line
from earwitness.studies.design.report import study_design
from earwitness.studies.from_answers import study_ratings
from earwitness.studies.pages import pages
from earwitness.studies.simulate import study_simulate
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


def without_digest(line: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in line.items() if name != "digest"}


EDITED = "digest: study, listener, page or heard was changed after the export"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda one: {**one, "page": "9.9"}, EDITED),
        (lambda one: {**one, "listener": 2}, EDITED),
        (lambda one: {**one, "heard": {**one["heard"], "item": "z"}}, EDITED),
        (lambda one: {**one, "heard": {**one["heard"], "scales": ["MOS"]}}, EDITED),
        (lambda one: {k: v for k, v in one.items() if k != "heard"}, EDITED),
        (lambda one: {**one, "digest": "0123456789abcdef"}, EDITED),
        (lambda one: {**one, "study": "0123"}, "study: answer to another version of the study"),
        (lambda one: {**without_digest(one), "page": "9.9"}, 'listener 1 has no page "9.9"'),
        (lambda one: {**without_digest(one), "listener": 7}, "listener 7 has no page"),
        (lambda one: {**one, "values": {"QUALITY": 6}}, "QUALITY must be from 1 to 5"),
        (lambda one: {**one, "values": 6}, "values: must be an object"),
        (lambda one: {**one, "extra": 6}, "extra: unknown field"),
        (lambda one: {**one, "listener": "x"}, "listener: must be a whole number"),
        (
            lambda one: without_digest({**one, "heard": {**one["heard"], "item": "z"}}),
            "heard: z as C",
        ),
        (lambda one: {**one, "heard": {**one["heard"], "systems": []}}, "must not be empty"),
        (
            lambda one: {k: v for k, v in without_digest(one).items() if k != "heard"},
            "heard: missing",
        ),
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


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def no_design(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code of designs, all of which fails."""

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the design was generated")

    for info in pkgutil.iter_modules(design.__path__, f"{design.__name__}."):
        module = importlib.import_module(info.name)
        for one in [*vars(module).values()]:
            function = inspect.unwrap(one) if callable(one) else one
            if inspect.isfunction(function) and function.__module__ == info.name:
                monkeypatch.setattr(function, "__code__", fail.__code__)


def simulated_answers(folder: Path) -> tuple[Path, Path]:
    """A study in which each listener hears some systems, and answers in part."""
    path, answers = folder / "study.yaml", folder / "answers.jsonl"
    clips = [f"c{n},2,{'ab'[n % 2]}" for n in range(12)]
    (folder / "clips.csv").write_text("\n".join(["name,seconds,place", *clips]) + "\n")
    path.write_text(
        "title: Parts\nsystems: [C0, C1, C2, C3]\nmaterial: clips.csv\nlisteners: 6\n"
        "panels: 2\ntraining: 1\nbalance: {categories: [place]}\n"
        "blocks:\n  - {kind: p835, heard: 3, clips: 4, sessions: 2}\n  - {kind: ab, clips: 2}\n"
    )
    lines = [*map(answer_line, study_simulate(path, seed=3).answers)]
    left_out = {n for n in range(len(lines)) if n % 7 == 3}  # nobody answers all pages
    answers.write_bytes(b"".join(line for n, line in enumerate(lines) if n not in left_out))
    return path, answers


def test_a_design_that_fails_is_not_generated(folder: Path, no_design: None) -> None:
    del no_design
    with pytest.raises(AssertionError, match="the design was generated"):
        study_design(study(folder, "acr"))


def test_exported_answers_are_analysed_without_the_design(
    folder: Path, request: pytest.FixtureRequest
) -> None:
    path, answers = simulated_answers(folder)
    bare = folder / "bare.jsonl"
    bare.write_text("".join(f"{json.dumps(without_digest(one))}\n" for one in lines_of(answers)))
    how: dict[str, Any] = {"study": path, "draws": 20, "mixed": False}
    wanted, rated = study_analyse(bare, **how), study_ratings(path, bare)
    request.getfixturevalue("no_design")
    found = study_analyse(answers, **how)
    assert study_ratings(path, answers) == rated
    assert {scale.value.name for scale in found.scales} == {"SIG", "BAK", "OVRL", "BETTER"}
    assert results_json(replace(found, inputs=())) == results_json(replace(wanted, inputs=()))
    with pytest.raises(AssertionError, match="the design was generated"):
        study_ratings(path, bare)


def test_answers_are_read_as_another_version_presented_them(folder: Path) -> None:
    path, answers = study(folder, "abx"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    lines = lines_of(answers)
    for line in lines:
        if "heard" in line:
            line |= {"version": "0.0.9", "heard": {**line["heard"], "item": "z"}}
            line["digest"] = answer_digest(line)
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert {rating["item"] for rating in study_ratings(path, answers)} == {"z"}


def test_trials_without_scales_are_compared_with_the_design(folder: Path) -> None:
    path, answers = study(folder, "abx"), folder / "answers.jsonl"
    answer_study(path, 1, answers, respond=Anyone())
    lines, ratings = lines_of(answers), study_ratings(path, answers)
    for line in lines:
        if "heard" in line:
            line["heard"] = {name: line["heard"][name] for name in ("item", "systems", "target")}
            line["digest"] = answer_digest(line)
    answers.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert study_ratings(path, answers) == ratings


@pytest.mark.parametrize("place", range(3))
def test_a_text_that_is_half_a_character_is_refused(folder: Path, place: int) -> None:
    def respond(view: Mapping[str, Any]) -> dict[str, Any]:
        values = Anyone()(view)
        return {**values, "remarks": "ab"[:place] + "\udce9"} if "remarks" in values else values

    with pytest.raises(BadAnswer, match="remarks must be text"):
        answer_study(study(folder, "acr"), 1, folder / "a.jsonl", respond=respond)
