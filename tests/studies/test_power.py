"""Power of planned studies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from earwitness.analysis.plan import Analysis
from earwitness.cli.main import group
from earwitness.errors import UsageError
from earwitness.io.tables import records_csv
from earwitness.output_formats import FORMS, render
from earwitness.studies.answers import answer_line
from earwitness.studies.file.reader import with_digest
from earwitness.studies.population import Population
from earwitness.studies.power import study_power
from earwitness.studies.simulate import study_simulate
from earwitness.studies.study import Study
from helpers.csv_results import read_results
from helpers.study_files import udase

RUNS = 200


def small(**more: Any) -> Study:
    """Twenty listeners, one panel."""
    given: dict[str, Any] = {"listeners": 20, "panels": 1, "clips": 10, "sessions": 1}
    return with_digest(udase(**(given | more)))


def test_more_listeners_find_more_and_cost_more() -> None:
    found = study_power(small(), listeners=[10, 20, 40], differences=[0.1, 0.3], runs=RUNS)
    assert [row.listeners for row in found.rows] == [10, 20, 40]
    first, second, third = found.rows
    assert first.detectable > second.detectable > third.detectable
    assert second.hours == pytest.approx(2 * first.hours) == pytest.approx(20 * found.minutes / 60)
    assert first.power[0.1].value < third.power[0.3].value
    assert found.needed[0.1] is not None
    assert found.needed[0.3] is not None
    assert found.needed[0.1] > found.needed[0.3]


def test_the_least_difference_is_found_as_often_as_wanted() -> None:
    least = study_power(small(), listeners=[20], runs=1).rows[0].detectable
    found = study_power(small(), listeners=[20], differences=[least], runs=4000)
    power = found.rows[0].power[least]
    assert power.low - 0.01 < 0.8 < power.high + 0.01


def test_fewer_comparisons_leave_more_to_each() -> None:
    study = small()
    one = replace(study, analysis=Analysis(contrasts=(("C1", "C0"),)))
    none = replace(study, analysis=Analysis(correction="none"))
    every, single, plain = (study_power(one, runs=1) for one in (study, one, none))
    assert (every.tests, single.tests, plain.tests) == (10, 1, 1)
    anchored = replace(study, analysis=Analysis(anchors={"": ("C0",), "OVRL": ("C1", "C2")}))
    assert study_power(anchored, scale="OVRL", runs=1).tests == 1
    assert study_power(anchored, scale="SIG", runs=1).tests == 6
    assert every.rows[0].detectable > single.rows[0].detectable == plain.rows[0].detectable


def test_listeners_who_hear_some_systems_only_are_fewer_for_each_pair() -> None:
    whole = study_power(small(), listeners=[20], runs=1)
    part = study_power(small(heard=2), listeners=[20], runs=1)
    assert part.rows[0].detectable > 2 * whole.rows[0].detectable  # 1 of 10 hear a given pair
    assert any("2 of 5 systems" in note for note in part.notes)


def test_pilots_give_their_own_variances(tmp_path: Path) -> None:
    study = small(clips=16, listeners=24)
    found = study_simulate(study, Population(taste=0.15), seed=2)
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"".join(map(answer_line, found.answers)))
    made = study_power(study, pilot=[path], runs=1)
    assert made.components["listener_system"] == pytest.approx(0.6, rel=0.25)  # 0.15 of 4 points
    assert "pilot answers.jsonl (24 listeners" in made.source
    said = study_power(study, pilot=[path], sd={"listener_system": 0.1}, runs=1)
    assert said.rows[0].detectable < made.rows[0].detectable


@pytest.fixture(scope="module")
def earlier() -> list[dict[str, Any]]:
    """Ratings of an earlier study with other names: two systems, eight items, ten listeners."""
    rng = np.random.default_rng(3)
    votes, listeners = rng.normal(3, 0.5, (2, 8, 10)), rng.normal(0, 0.4, 10)
    rated = np.clip(np.round(votes + listeners), 1, 5)
    return [
        {"sample": f"{system}/take {item}.wav", "worker": f"w{who}", "MOS": rated[n, item, who]}
        for n, system in enumerate(("old", "older"))
        for item in range(8)
        for who in range(10)
    ]


def test_any_table_of_ratings_is_a_pilot(earlier: list[dict[str, Any]], tmp_path: Path) -> None:
    columns = {"listener": "worker"}
    found = study_power(small(), pilot=earlier, columns=columns, scale="OVRL")
    assert "(10 listeners kept, 160 votes on MOS)" in found.source
    assert "Standard deviations are those of the pilot's scale MOS" in found.notes
    assert found.scale == "OVRL"
    assert 0.2 < found.components["listener"] < 0.7
    path = tmp_path / "votes.csv"
    path.write_text(records_csv(earlier))
    study = tmp_path / "study.yaml"
    study.write_text(
        "title: t\nsystems: [a, b]\nmaterial: clips.csv\nlisteners: 4\n"
        "blocks: [{kind: acr, clips: 2}]\n"
    )
    (tmp_path / "clips.csv").write_text("name,seconds\nx,4\ny,4\n")
    given = ["--pilot", str(path), "--column", "listener=worker", "--to", "json"]
    made = CliRunner().invoke(group, ["study", "power", str(study), *given])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["components"] == found.components
    read = 'column "sample" is read with the pattern {system}/{item}.wav'
    assert found.pilot_notes[0] == read
    assert f"note: pilot: {read}" in render(found, "text", width=200)


def test_answers_of_another_study_are_a_pilot(tmp_path: Path) -> None:
    other = small(kind="acr", systems=("new", "old", "raw"), clips=8, listeners=9)
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"".join(map(answer_line, study_simulate(other, seed=2).answers)))
    found = study_power(small(), pilot=[path], pilot_study=other, runs=1)
    assert "(9 listeners kept, 216 votes on QUALITY)" in found.source
    with pytest.raises(UsageError, match="answers to another study — name its study file with"):
        study_power(small(), pilot=[path], runs=1)


@pytest.mark.parametrize(
    ("change", "how", "said"),
    [
        ({}, {"pilot_scale": "MSO"}, 'no ratings on scale "MSO" — known: MOS'),
        ({}, {"pilot_scale": "MOS=0:100"}, "MOS ranges from 0 to 100 in the pilot, but SIG from 1"),
        ({"MOS": 3.5}, {}, "are unknown .* — set them with --pilot-scale MOS=LOW:HIGH"),
        ({"BAK": 3, "OVRL": 4}, {}, 'no ratings on scale "SIG" — set --pilot-scale to one of BAK'),
        ({"sample": "old/one.wav"}, {"doubled": 1}, "unexpected keyword argument 'doubled'"),
        ({"worker": "w"}, {}, "does not allow listener.* to be estimated.*--sd listener=POINTS"),
    ],
)
def test_pilots_that_do_not_fit_are_refused(
    earlier: list[dict[str, Any]], change: dict[str, Any], how: dict[str, Any], said: str
) -> None:
    rows = [
        row | change | ({"MOS": row["MOS"] + 0.5} if "MOS" in change else {}) for row in earlier
    ]
    with pytest.raises((UsageError, TypeError), match=said):
        study_power(small(), pilot=rows, columns={"listener": "worker"}, runs=1, **how)


def test_ends_of_scales_make_a_pilot_fit(earlier: list[dict[str, Any]]) -> None:
    rows = [row | {"MOS": min(5, row["MOS"] + 0.5)} for row in earlier]
    columns = {"listener": "worker"}
    found = study_power(small(), pilot=rows, columns=columns, pilot_scale="MOS=1:5:0.5", runs=1)
    assert "votes on MOS" in found.source


def test_pilots_lacking_a_component_need_only_that_one(earlier: list[dict[str, Any]]) -> None:
    rows = [row for row in earlier if row["sample"].startswith("old/")]
    columns, one = {"listener": "worker"}, {"listener_system": 0.2, "item_system": 0.1}
    with pytest.raises(UsageError, match="--sd listener_system=POINTS --sd item_system=POINTS"):
        study_power(small(), pilot=rows, columns=columns, runs=1)
    found = study_power(small(), pilot=rows, columns=columns, sd=one, runs=1)
    assert found.source.endswith("votes on MOS), except listener_system, item_system")


def test_databases_and_study_files_are_no_pilots(tmp_path: Path) -> None:
    for name, said in (("study.db", "study export"), ("study.yaml", "name it as pilot_study")):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(UsageError, match=said):
            study_power(small(), pilot=tmp_path / name)


def test_all_that_is_wrong_with_a_request_is_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        study_power(small(), power=2, runs=0, sd={"item": -1.0})
    assert [line.split(" must")[0] for line in str(caught.value).splitlines()] == [
        "power",
        "runs",
        "item",
    ]
    with pytest.raises(UsageError, match="pilot_scale, columns of a pilot: no pilot is named"):
        study_power(small(), pilot_scale="MOS", pattern="{item}.wav")


def test_a_curve_of_one_point_stands_in_the_middle() -> None:
    page = render(study_power(small(), listeners=[6], runs=20), "html")
    assert 'style="left:50.0%"' in page


def test_power_is_shown_in_every_form() -> None:
    found = study_power(small(), listeners=[20], differences=[0.1, 0.3], runs=20)
    texts = {form: render(found, form) for form in FORMS}
    assert all("0.3" in text for text in texts.values())
    assert json.loads(texts["json"])["scale"] == "SIG"
    [row] = found.rows
    tabled = [
        [row.listeners, row.hours, row.detectable, difference, one.value, one.low, one.high, one.n]
        for difference, one in row.power.items()
    ]
    facts, rows = read_results(texts["csv"])
    assert [[float(text) for text in row.values()] for row in rows] == tabled
    assert facts == {"signature": found.signature}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"power": 1.0}, "power must be between 0 and 1"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"differences": [0.0]}, "above 0"),
        ({"listeners": [1]}, "listeners must be at least 2"),
        ({"scale": "SIGG"}, 'did you mean "SIG"'),
        ({"sd": {"residuel": 1.0}}, 'did you mean "residual"'),
        ({"sd": {"residual": -1.0}}, "at least 0"),
    ],
)
def test_what_cannot_be_is_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        study_power(small(), **how)


def test_studies_of_pairs_only_have_no_power_here() -> None:
    with pytest.raises(UsageError, match="this study compares pairs"):
        study_power(small(kind="ab"))
