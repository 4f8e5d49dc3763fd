"""Captions judged by a rubric: pages, answers, totals, orders, and the study file."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from earwitness.errors import BadAnswer, InputError
from earwitness.ratings.rubric import read_rubric, thumbs
from earwitness.studies.design.balance import check_balance
from earwitness.studies.design.report import study_design
from earwitness.studies.file.listener_rows import playlist_rows
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import pages
from earwitness.studies.population import Person
from earwitness.studies.simulate import study_simulate
from earwitness.studies.study import Trial
from earwitness.studies.trials.rubric import RubricKind
from earwitness.studies.wording import wording
from helpers.study_files import sound

CLIPS, AUTHORS = 12, ("person", "model")
TRIAL = Trial("park", ("model", "person"), thumbs().names)
FILE = """\
title: Captions
systems: [person, model]
files: "clips/{item}.wav"
material: clips.csv
captions: captions.csv
juries: {experts: 4, lay: 2}
blocks:
  - kind: rubric
    sessions: 2
    parameters: {group: dataset, synthesised: true}
"""
OWN = """\
rubric:
  name: plain
  title: Plain words
  total: clarity - 2*slips/2 + slips*2
  dimensions:
    - {name: clarity, low: 0, high: 10, step: 0.5, help: Clear, anchors: {0: no, 10: "yes"}}
    - {name: slips, low: -1, high: 0, step: 0.25, role: penalty}
  examples:
    - {caption: A bird., values: {clarity: 9.5, slips: -0.25}, sound: example.wav}
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rows = ["name,dataset"]
    for n in range(CLIPS):
        sound(tmp_path / "clips" / f"c{n}.wav")
        rows.append(f"c{n},{'street' if n % 3 else 'park'}")
    sound(tmp_path / "example.wav")
    (tmp_path / "clips.csv").write_text("\n".join(rows) + "\n")
    texts = [f"c{n},{one},Words {n} of {one[0]}." for n in range(CLIPS) for one in AUTHORS]
    (tmp_path / "captions.csv").write_text("\n".join(["item,system,caption", *texts]) + "\n")
    path = tmp_path / "study.yaml"
    path.write_text(FILE)
    return path


def given(**more: Any) -> dict[str, Any]:
    """All numbers of both captions: the first is perfect, the second is not."""
    ends = {"precision": 5, "recall": 4.5, "fluency": 0, "conciseness": -0.1, "irrelevance": -2}
    values = {f"{letter}.{name}": value for letter in "AB" for name, value in ends.items()}
    return {**values, "A.conciseness": 0, "A.irrelevance": 0, **more}


def told(study: Path) -> str:
    with pytest.raises(InputError) as error:
        read_study(study)
    return str(error.value)


def test_totals_follow_from_the_numbers_of_a_rater() -> None:
    found = RubricKind().read(TRIAL, given(), 3, 1)
    totals = {one.key.system: one.value for one in found if one.scale == "total"}
    assert totals == {"model": 4.75, "person": 2.65}
    assert len(found) == 12


@pytest.mark.parametrize(("blank", "model"), [("drop", None), ("zero", 4.75)])
def test_a_blank_costs_a_total_and_nothing_else(blank: Any, model: float | None) -> None:
    found = RubricKind(blank=blank).read(TRIAL, given(**{"A.fluency": None}), 3, 1)
    own = {one.scale: one.value for one in found if one.key.system == "model"}
    assert "fluency" not in own
    assert own["recall"] == 4.5
    assert own.get("total") == model


def test_all_that_is_wrong_with_an_answer_is_told_at_once() -> None:
    values = given(**{"A.fluency": 0.1, "B.recall": 6, "A.comment": 7, "synthesised": "maybe"})
    del values["B.precision"]
    with pytest.raises(BadAnswer) as error:
        RubricKind(synthesised=True).read(TRIAL, values, 1, 1)
    assert set(error.value.about) == {
        "A.fluency",
        "B.recall",
        "A.comment",
        "synthesised",
        "B.precision",
    }


def test_comments_and_what_is_asked_of_the_clip_may_be_left_out() -> None:
    kind = RubricKind(synthesised=True)
    more = {"A.comment": "fine", "synthesised": "yes"}
    assert kind.read(TRIAL, given(**more), 1, 1) == kind.read(TRIAL, given(), 1, 1)
    with pytest.raises(BadAnswer, match="unknown question 'synthesised'"):
        RubricKind().read(TRIAL, given(synthesised="no"), 1, 1)


def test_a_page_has_one_sound_and_says_nothing_of_authors() -> None:
    texts = {"model": "A bird.", "person": "Birds."}
    view = RubricKind().view(TRIAL, wording("en"), lambda *_: "s", "", lambda _, one: texts[one])
    assert [one["text"] for one in view["captions"]] == ["A bird.", "Birds."]
    assert len(view["sounds"]) == 1
    assert not any(name in str(view) for name in AUTHORS)
    assert {one["needed"] for one in view["questions"] if one["answer"] == "slider"} == {True}
    assert not any("value" in one for one in view["questions"])  # nothing is set


def test_captions_take_every_place_equally_often_and_clips_of_a_dataset_stay_together(
    study: Path,
) -> None:
    made = study_design(study)
    places, firsts = defaultdict[str, Counter[str]](Counter), Counter[str]()
    dataset = {clip.name: str(clip.covariates["dataset"]) for clip in made.study.material}
    orders = set()
    for plan in made.plans:
        trials = [trial for session in plan.sessions for trial in session]
        assert len(trials) == CLIPS
        blocks = [name for name, _ in groupby(dataset[trial.item] for trial in trials)]
        assert sorted(blocks) == ["park", "street"]  # each in one piece
        firsts[blocks[0]] += 1
        orders.add(tuple(trial.item for trial in trials))
        for trial in trials:
            places[trial.item][trial.systems[0]] += 1
    assert set(firsts.values()) == {3}
    assert len(orders) == 6
    assert all(set(own.values()) == {3} for own in places.values())


def test_the_proof_of_balance_counts_pieces_of_datasets_and_places_of_captions(study: Path) -> None:
    kept = {one.what: one for one in check_balance(study_design(study))}
    pieces = kept["separate runs of clips with the same dataset, per listener"]
    assert (pieces.observed, pieces.kept) == ("1", "yes")
    assert pieces.shuffled != "1"
    assert kept["times each system is in each position, per clip"].observed == "3"
    assert {one.kept for one in kept.values()} == {"yes"}
    torn = study_design(study)
    first, *others = torn.plans
    mixed = tuple(own[::2] + own[1::2] for own in zip(*first.sessions, strict=True))
    flat = tuple(trial for own in mixed for trial in own)
    broken = replace(torn, plans=(replace(first, sessions=(flat,)), *others))
    told = {one.what: one.kept for one in check_balance(broken)}
    assert told["separate runs of clips with the same dataset, per listener"] == "NO"


def test_a_listener_may_judge_one_caption_of_a_clip(study: Path) -> None:
    study.write_text(FILE.replace("sessions: 2", "heard: 1"))
    made = study_design(study)
    votes = Counter((t.item, t.systems) for plan in made.plans for s in plan.sessions for t in s)
    assert set(votes.values()) == {3}
    assert len(votes) == CLIPS * 2
    page = next(p for p in pages(made.study, made.plans[0], lambda *_: "") if p.trial)
    assert [one["label"] for one in page.view["captions"]] == ["A"]


def test_a_design_says_whose_captions_stand_where(study: Path) -> None:
    made = study_design(study)
    [first, *_] = playlist_rows(made.study, made.plans[0])
    trial = made.plans[0].sessions[0][0]
    assert first["file"] == f"clips/{trial.item}.wav"
    assert first["captions"] == " | ".join(trial.systems)


def test_juries_share_the_listeners(study: Path) -> None:
    found = read_study(study)
    assert found.listeners == 6
    juries = [found.jury(n) for n in range(1, 8)]
    assert juries == ["experts"] * 4 + ["lay"] * 2 + [""]
    study.write_text(FILE.replace("lay: 2", "lay: 3"))
    assert read_study(study).digest == found.digest  # one more listener moves no other
    study.write_text(FILE + "listeners: 5\n")
    assert "juries have 6 listeners, but listeners is 5" in told(study)


def test_headphones_and_examples_come_before_the_first_rating(study: Path) -> None:
    study.write_text(FILE.replace("sessions: 2", "clips: 10") + "training: 2\n")
    made = study_design(study)
    shown = [*pages(made.study, made.plans[0], lambda *_: "")]
    names = [page.name for page in shown]
    assert names[:4] == ["headphones", "examples", "training.0", "training.1"]
    examples = shown[1].view
    assert len(examples["examples"]) == len(thumbs().examples)
    assert "sounds" not in examples
    assert not shown[1].asks


@pytest.mark.parametrize("language", ["en", "fr"])
def test_help_and_anchors_are_in_the_language_of_the_study(study: Path, language: str) -> None:
    study.write_text(f"{FILE}language: {language}\n")
    made = study_design(study)
    page = next(p for p in pages(made.study, made.plans[0], lambda *_: "") if p.trial)
    [precision, *_] = page.view["dimensions"]
    assert precision["help"] == thumbs(language).dimensions[0].help
    fluency = next(one for one in page.view["dimensions"] if one["name"] == "fluency")
    assert {"−0.1", "-0.1", "-0,1"} & {anchor["shown"] for anchor in fluency["anchors"]}


def test_a_study_may_define_any_rubric(study: Path) -> None:
    study.write_text(FILE + OWN)
    made = study_design(study)
    [block] = made.study.blocks
    kind = RubricKind(**block.parameters)
    assert [scale.name for scale in kind.scales] == ["clarity", "slips"]
    trial = made.plans[0].sessions[0][0]
    values = {"A.clarity": 9.5, "A.slips": -0.25, "B.clarity": 0, "B.slips": 0}
    found = kind.read(trial, values, 1, 1)
    assert [one.value for one in found if one.scale == "total"] == [9.25, 0]
    files: list[str] = []

    def address(item: str, system: str, _place: int) -> str:
        files.append(made.study.file(item, system))
        return ""

    shown = list(pages(made.study, made.plans[0], address))
    assert shown[1].view["examples"][0]["sound"] == 0
    assert files[0] == "example.wav"


LOW = """\
rubric:
  name: work
  total: clarity - effort
  dimensions:
    - {name: clarity, low: 0, high: 10, step: 0.5}
    - {name: effort, low: 1, high: 5, step: 1, good: low}
"""


def test_low_values_of_a_dimension_may_be_good(study: Path) -> None:
    study.write_text(FILE + OWN)
    before = read_study(study).digest
    study.write_text(FILE + OWN.replace("step: 0.5,", "step: 0.5, good: high,"))
    assert read_study(study).digest != before  # the file says more
    study.write_text(FILE + LOW)
    made = study_design(study)
    kind = RubricKind(**made.study.blocks[0].parameters)
    clarity, effort = kind.scales
    assert (clarity.good, effort.good) == ("high", "low")
    assert effort.values == [1, 2, 3, 4, 5]
    assert (effort.at(1.0), effort.at(0.0), clarity.at(1.0)) == (1, 5, 10)
    assert list(pages(made.study, made.plans[0], lambda *_: ""))[-1].name
    view = next(
        one.view
        for one in pages(made.study, made.plans[0], lambda *_: "")
        if "dimensions" in one.view
    )
    assert [one["role"] for one in view["dimensions"]] == ["score", "low"]


def test_simulated_captions_with_less_effort_are_better(study: Path) -> None:
    study.write_text(FILE + LOW)
    qualities = {("person", ""): 0.9, ("model", ""): 0.3}
    found = study_simulate(study, qualities=qualities, seed=1)
    truth = {(one["system"], one["scale"]): one["expected"] for one in found.truth}
    assert truth["person", "effort"] < truth["model", "effort"]
    effort = next(
        one for one in found.analyse(mixed=False, draws=20).scales if one.value.name == "effort"
    )
    assert effort.value.best == "low"
    assert effort.value.doc == "score, 1 to 5 in steps of 1; lower is better"
    assert effort.systems["person"].mean.value < effort.systems["model"].mean.value
    assert {one.better for one in effort.contrasts} == {"person"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("- effort", "+ effort", "effort raises the total, but lower is better — subtract it"),
        ("good: low", "good: lo", 'unknown end "lo" — did you mean "low"?'),
        (
            "low: 1, high: 5, step: 1",
            "low: -5, high: 0, step: 1, role: penalty",
            "good must be high",
        ),
    ],
)
def test_a_wrong_direction_is_named(study: Path, old: str, new: str, message: str) -> None:
    study.write_text(FILE + LOW.replace(old, new))
    assert message in told(study)


def test_a_sound_of_an_example_must_be_there(study: Path) -> None:
    study.write_text(FILE + OWN)
    (study.parent / "example.wav").unlink()
    assert "example.wav: missing audio file of an example" in told(study)


def test_a_formula_in_which_a_fault_raises_the_total_is_refused(study: Path) -> None:
    study.write_text(FILE + OWN.replace("clarity - 2*slips/2 + slips*2", "clarity - slips"))
    study.write_text(study.read_text() + "analysis: {margins: {total: 1}}\n")
    message = told(study)
    assert "rubric: formula" in message
    assert "penalty slips raises the total" in message
    assert "no scale" not in message  # which would only follow from it


def test_thumbs_may_have_examples_of_the_study() -> None:
    values = {"precision": 4, "recall": 4, "fluency": 0, "conciseness": 0, "irrelevance": 0}
    found = read_rubric(
        {"name": "thumbs", "examples": [{"caption": "Wind.", "values": values}]}, "fr"
    )
    assert found.dimensions == thumbs("fr").dimensions
    assert [one.caption for one in found.examples] == ["Wind."]


def own(total: str, more: str = "") -> str:
    """A rubric of one dimension, before what comes next in the file."""
    one = f"{{name: a, low: 0, high: 1{more}}}"
    return f"rubric: {{name: x, total: {total}, dimensions: [{one}]}}\njuries:"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clips/{item}", "{system}/{item}", "must not contain {system}"),
        ("captions: captions.csv\n", "", "captions: missing"),
        ("group: dataset", "group: data", 'the material has no column "data"'),
        ("kind: rubric", "kind: rubrik", "rubric"),
        ("juries:", "rows: rows\njuries:", "rows: not supported when captions are judged"),
        ("juries:", "rubric: thumb\njuries:", 'unknown rubric "thumb"'),
        ("juries:", own("a"), "rubric.dimensions[0].step: missing"),
        ("juries:", own("a+b", ", step: 1"), 'unknown dimension "b"'),
        ("juries:", own("a", ", step: 1, role: penalty"), "high must be 0"),
        (FILE[FILE.index("kind") :], "kind: acr\n", "no block judges captions"),
    ],
)
def test_what_is_wrong_with_a_study_of_captions_is_told(
    study: Path, old: str, new: str, message: str
) -> None:
    study.write_text(FILE.replace(old, new))
    assert message in told(study)


def test_every_problem_of_a_table_of_captions_is_told_with_its_line(study: Path) -> None:
    table = study.parent / "captions.csv"
    good = table.read_text().splitlines()
    table.write_text("\n".join([*good, "c1,person,Again.", "cX,model,Who?", "c2,nobody,", "c3"]))
    message = told(study)
    assert 'captions.csv:26: duplicate caption of "c1" by "person"' in message
    assert "captions.csv:27: item" in message
    assert "captions.csv:28: system" in message
    assert "captions.csv:28: caption: missing" in message
    table.write_text("\n".join(good[:-2]))
    assert told(study).count("is missing") == 2


def test_captions_may_be_outputs_as_they_are_scored(study: Path) -> None:
    lines = [
        f'{{"item": "c{n}", "system": "{one}", "output": {{"caption": " Words {n} {one}. "}}}}'
        for n in range(CLIPS)
        for one in AUTHORS
    ]
    (study.parent / "captions.jsonl").write_text("\n".join(lines))
    study.write_text(FILE.replace("captions.csv", "captions.jsonl"))
    assert read_study(study).caption("c3", "model") == "Words 3 model."


def test_another_caption_is_another_study(study: Path) -> None:
    first = read_study(study).digest
    table = study.parent / "captions.csv"
    table.write_text(table.read_text().replace("Words 3 of m.", "Words 3 of n."))
    assert read_study(study).digest != first


def test_simulated_raters_use_the_whole_scale() -> None:
    kind, rng = RubricKind(), np.random.default_rng(1)
    low = kind.simulate(TRIAL, Person(lambda *_: 0.0), rng)
    high = kind.simulate(TRIAL, Person(lambda *_: 1.0), rng)
    assert np.mean([low[f"A.{name}"] for name in ("precision", "recall")]) < 3
    assert np.mean([high[f"A.{name}"] for name in ("precision", "recall")]) > 3
