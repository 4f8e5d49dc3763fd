"""Studies of captions, from simulated answers to results by dataset and jury."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earwitness.analysis.results import Results
from earwitness.core import Answer
from earwitness.errors import InputError
from earwitness.output_formats import render
from earwitness.studies.analyse import plan_changes, settings_of, study_analyse, study_results
from earwitness.studies.answers import answer_line
from earwitness.studies.file.reader import read_study
from earwitness.studies.from_answers import ratings_from_answers
from earwitness.studies.simulate import study_simulate
from earwitness.studies.study import Study
from helpers.study_files import sound

FILE = """\
title: Captions
systems: [person, model]
files: "clips/{item}.wav"
material: clips.csv
captions: captions.csv
juries: {experts: 3, lay: 3}
forms:
  before:
    - {name: trained, prompt: "Are you?", answer: choice, options: ["yes", "no"]}
blocks: [{kind: rubric}]
"""
CLIPS = 6


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows, texts = ["name,dataset"], ["item,system,caption"]
    for n in range(CLIPS):
        sound(tmp_path / "clips" / f"c{n}.wav")
        rows.append(f"c{n},{'street' if n % 2 else 'park'}")
        texts += [f"c{n},person,A person hears {n}.", f"c{n},model,A model hears {n // 2}."]
    (tmp_path / "clips.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "captions.csv").write_text("\n".join(texts) + "\n")
    path = tmp_path / "study.yaml"
    path.write_text(FILE)
    return path


def with_plan(file: Path, plan: str) -> Path:
    file.write_text(f"{FILE}analysis: {plan}\n")
    return file


def taken(study: Study, folder: Path, *, blank: bool = False) -> Path:
    """Answers of simulated raters; at times the first leaves a number blank."""
    answers = list(study_simulate(study, seed=2).answers)
    if blank:
        place = next(n for n, one in enumerate(answers) if "A.irrelevance" in one.values)
        one: Answer = answers[place]
        answers[place] = replace(one, values={**one.values, "A.irrelevance": None})
    path = folder / "answers.jsonl"
    path.write_bytes(b"".join(map(answer_line, answers)))
    return path


def analysed(file: Path, *, unfilled: bool = False, **how: Any) -> Results:
    study = read_study(file)
    answers = taken(study, file.parent, blank=unfilled)
    return study_analyse(answers, study=study, **({"draws": 50} | how))


def test_captions_are_divided_by_dataset_and_jury_unless_something_else_is_said(file: Path) -> None:
    found = analysed(file)
    assert found.plan.by == ("dataset", "jury")
    jury = found.scales[-1].groups[1]
    assert [one.name for one in jury.groups] == ["experts", "lay"]
    assert [one.systems["model"].listeners for one in jury.groups] == [3, 3]
    assert found.people[1] == {"jury": "experts", "trained": found.people[1]["trained"]}
    assert found.changed == ()
    assert settings_of(read_study(file), by=["none"]).plan.by == ()
    assert settings_of(read_study(with_plan(file, "{by: [none]}"))).plan.by == ()


def test_captions_under_two_clips_are_found_in_the_study(file: Path) -> None:
    found = analysed(file)
    assert len(found.faults) == CLIPS
    assert {one.kind for one in found.faults} == {"duplicate"}
    assert {one.system for one in found.faults} == {"model"}


def test_blanks_of_answers_are_listed_and_the_policy_can_be_changed(file: Path) -> None:
    dropped = analysed(file, unfilled=True)
    (one,) = [one for one in dropped.faults if one.kind == "blank"]
    assert one.scale == "irrelevance"
    zero = analysed(file, unfilled=True, blank="zero")
    counts = [sum(r.votes for r in x.scales[-1].systems.values()) for x in (dropped, zero)]
    assert counts == [2 * CLIPS * 6 - 1, 2 * CLIPS * 6]
    assert zero.changed == ("blank: drop was planned, zero was used",)


def test_answers_to_forms_divide_listeners(file: Path) -> None:
    found = analysed(with_plan(file, "{by: [trained]}"))
    (grouped,) = found.scales[0].groups
    assert grouped.of == "listener"
    assert {one.name for one in grouped.groups} <= {"yes", "no"}


def test_simulated_studies_are_divided_by_forms_too(file: Path) -> None:
    study = read_study(with_plan(file, "{by: [trained, dataset]}"))
    made = study_simulate(study, seed=2)
    ratings = ratings_from_answers(made.design.study, dict(enumerate(made.answers, 1)), "simulated")
    found = study_results(study, ratings, answers=made.answers, draws=50)
    assert [one.field for one in found.scales[0].groups] == ["trained", "dataset"]


@pytest.mark.parametrize(
    ("plan", "told"),
    [
        ("{by: [datset]}", 'analysis.by[0]: neither clips nor listeners have a field "datset"'),
        ("{by: [jury, jury]}", 'analysis.by[1]: duplicate "jury"'),
        ("{margins: {totl: 0.5}}", 'analysis.margins.totl: unknown scale "totl"'),
        ("{margins: {total: 0}}", "analysis.margins.total: must be above 0"),
        ("{margins: {total: -1}}", "analysis.margins.total: must be at least 0"),
    ],
)
def test_plans_that_cannot_be_are_refused_with_their_place(
    file: Path, plan: str, told: str
) -> None:
    with pytest.raises(InputError) as error:
        read_study(with_plan(file, plan))
    assert told in str(error.value)


def test_margins_of_the_study_are_tested_and_others_are_told(file: Path) -> None:
    study = read_study(with_plan(file, "{margins: {total: 0.5}}"))
    assert study.analysis.margins == {"total": 0.5}
    said = settings_of(study, margins={"total": 0.2}, blank="zero", by=["jury"])
    assert plan_changes(study, said) == (
        "by: dataset, jury was planned, jury was used",
        "blank: drop was planned, zero was used",
        "margins: total ±0.5 was planned, total ±0.2 was used",
    )


def test_what_is_not_planned_leaves_the_digest_alone(file: Path) -> None:
    plain = read_study(file).digest
    assert read_study(with_plan(file, "{by: [], margins: {}}")).digest == plain
    assert read_study(with_plan(file, "{by: [jury]}")).digest != plain
    assert read_study(with_plan(file, "{margins: {total: 1}}")).digest != plain


def test_the_summary_starts_with_the_total_and_stays_below_15_lines() -> None:
    rng = random.Random(1)
    rows = [
        {
            "item": f"c{item}",
            "system": system,
            "listener": f"P{rater}",
            "dataset": ("street", "park", "home")[item % 3],
            "jury": "experts" if rater <= 8 else "lay",
            "precision": round(rng.uniform(1.5, 3) + 2 * (system == "person"), 1),
            "recall": round(rng.uniform(1, 4) + (system == "person") * (item % 3) / 2, 1),
            "fluency": -rng.randint(0, 5) / 10 - 0.4 * (rater > 8 and system == "model"),
            "conciseness": -rng.randint(0, 5) / 10,
            "irrelevance": -rng.randint(0, 5) / 10,
        }
        for item in range(60)
        for system in ("person", "model")
        for rater in range(1, 17)
    ]
    margins = {"total": 0.5, "recall": 0.3}
    results = study_analyse(rows, by=("dataset", "jury"), margins=margins, draws=20, mixed=False)
    summary = render(results, "text").split("\n\n")[0].splitlines()
    assert summary[0].startswith("person is significantly better than model on total")
    assert 8 < len(summary) < 15
    assert "in the sections below" in summary[-1]
