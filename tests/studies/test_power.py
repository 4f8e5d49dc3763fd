"""Power of planned studies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from earwitness.errors import UsageError
from earwitness.output_formats import FORMS, render
from earwitness.studies.answers import answer_line
from earwitness.studies.file.reader import with_digest
from earwitness.studies.population import Population
from earwitness.studies.power import study_power
from earwitness.studies.simulate import study_simulate
from earwitness.studies.study import Analysis, Study
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
    said = study_power(study, pilot=[path], components={"listener_system": 0.1}, runs=1)
    assert said.rows[0].detectable < made.rows[0].detectable


def test_a_curve_of_one_point_stands_in_the_middle() -> None:
    page = render(study_power(small(), listeners=[6], runs=20), "html")
    assert 'style="left:50.000%"' in page


@pytest.mark.parametrize("form", FORMS)
def test_power_is_shown_in_every_form(form: str) -> None:
    made = render(study_power(small(), runs=20), form)
    assert "0.2" in made
    if form == "json":
        assert json.loads(made)["scale"] == "SIG"


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"wanted": 1.0}, "power must be between 0 and 1"),
        ({"runs": 0}, "runs must be at least 1"),
        ({"differences": [0.0]}, "above 0"),
        ({"listeners": [1]}, "listeners must be at least 2"),
        ({"scale": "SIGG"}, 'did you mean "SIG"'),
        ({"components": {"residuel": 1.0}}, 'did you mean "residual"'),
        ({"components": {"residual": -1.0}}, "at least 0"),
    ],
)
def test_what_cannot_be_is_refused(how: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        study_power(small(), **how)


def test_studies_of_pairs_only_have_no_power_here() -> None:
    with pytest.raises(UsageError, match="this study compares pairs"):
        study_power(small(kind="ab"))
