"""Several references per item: who is scored against whom."""

from __future__ import annotations

import json
import random
import re
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from algorithms import people as slow
from earwitness.chapters.cases import ChapterCases
from earwitness.chapters.metrics import Collar
from earwitness.cli.main import group
from earwitness.core import Case, Chapters, Item, Key
from earwitness.errors import InputError, UsageError
from earwitness.experiments.simulate import simulate_references_study
from earwitness.output_formats import FORMS, render
from earwitness.registry import METRICS
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score

ANNA, BEN, CARLA = [60.0, 120.0], [60.0], [61.0, 200.0, 240.0]
ONE: list[dict[str, Any]] = [
    {
        "item": "a",
        "duration": 300,
        "references": [
            {"boundaries": ANNA, "annotator": "anna"},
            {"boundaries": BEN, "annotator": "ben"},
            {"boundaries": CARLA, "annotator": "carla"},
        ],
    }
]
OUTPUT = [{"item": "a", "system": "s", "output": {"boundaries": [60.0]}}]

EXAMPLE = Path(__file__).parents[2] / "examples" / "references" / "make.py"


def f1(found: int, output: int, reference: int) -> float:
    return 2 * found / (output + reference)


def test_mean_and_best_over_three_references_by_hand() -> None:
    each = [f1(1, 1, 2), f1(1, 1, 1), f1(1, 1, 3)]  # 2/3, 1, 1/2
    scores = score(OUTPUT, ONE, metrics="collar", against=["mean", "best"])
    own = scores.systems["s"]
    assert own["collar_f1@mean"].value == pytest.approx(sum(each) / 3)
    assert own["collar_f1@best"].value == 1
    assert "against=mean" in scores.signature
    assert "against=best" in scores.signature
    assert scores.provenance.references == (3, 3)


def test_each_annotator_is_a_group() -> None:
    (found,) = score(OUTPUT, ONE, metrics="collar", by="annotator").slices
    values = {who: own["s"]["collar_f1"].value for who, own in found.groups.items()}
    assert values == pytest.approx({"anna": 2 / 3, "ben": 1, "carla": 1 / 2})


def test_the_ceiling_by_hand() -> None:
    ab, ac, bc = f1(1, 2, 1), f1(1, 2, 3), f1(1, 1, 3)  # 2/3, 2/5, 1/2
    found = score(OUTPUT, ONE, metrics="collar").people
    assert found is not None
    assert found.ceiling["collar_f1"].value == pytest.approx((ab + ac + bc) / 3)
    assert found.annotators["anna"]["collar_f1"].value == pytest.approx((ab + ac) / 2)
    best = score(OUTPUT, ONE, metrics="collar", against="best").people
    assert best is not None
    # anna's best is ben, ben's is anna, carla's is ben
    assert best.ceiling["collar_f1"].value == pytest.approx((ab + ab + bc) / 3)
    # the system, with ben left out, has anna; else ben
    assert best.systems["s"]["collar_f1"].value == pytest.approx((1 + 1 + 2 / 3) / 3)


@pytest.mark.parametrize("against", ["mean", "best"])
def test_the_ceiling_is_that_of_the_plain_version(against: str) -> None:
    rng = random.Random(5)
    references, outputs, rows = [], [], []
    for item in range(12):
        made = [
            sorted(round(rng.uniform(1, 299), 1) for _ in range(rng.randint(0, 5)))
            for _ in range(rng.randint(1, 4))
        ]
        rows.append(made)
        listed = [{"boundaries": times} for times in made]
        references.append({"item": item, "duration": 300, "references": listed})
        outputs.append({"item": item, "system": "s", "output": {"boundaries": made[0]}})
    found = score(outputs, references, metrics="collar", collar=20, against=against).people
    assert found is not None
    metric = Collar(collar=20)

    def compare(output: list[float], reference: list[float]) -> float:
        case = Case(
            Key("", ""), Item(300.0), Chapters(tuple(output)), (Chapters(tuple(reference)),)
        )
        return float(metric.score(metric.measure(case))[2])

    several = [made for made in rows if len(made) > 1]
    want = [slow.ceiling(made, compare, against) for made in several]
    assert found.items == len(several)
    assert found.ceiling["collar_f1"].value == pytest.approx(np.mean(want), abs=1e-12)


def test_cases_without_a_second_reference_have_no_ceiling() -> None:
    one = [{**ONE[0], "references": ONE[0]["references"][:1]}]
    assert score(OUTPUT, one).people is None
    assert "people" not in render(score(OUTPUT, one), "md")


def test_more_annotators_than_can_be_listed_are_not() -> None:
    many = [{"boundaries": [60.0], "annotator": f"worker {i}"} for i in range(60)]
    found = score(OUTPUT, [{**ONE[0], "references": many}], metrics="collar").people
    assert found is not None
    assert found.ceiling["collar_f1"].value == 1
    assert not found.annotators


def test_an_annotator_named_twice_is_refused() -> None:
    twice = [{**ONE[0], "references": [ONE[0]["references"][0]] * 2}]
    with pytest.raises(InputError, match=r'references\[1\]\.annotator: "anna" also made'):
        score(OUTPUT, twice)


def test_a_case_without_reference_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one reference"):
        METRICS["collar"]().measure(Case(Key("a", "s"), Item(9.0), Chapters(()), ()))


def test_everyone_in_turn_against_the_others() -> None:
    references = tuple(Chapters((float(t),)) for t in (1, 2, 3))
    cases = ChapterCases.of(
        [
            Case(Key("a", "s"), Item(9.0), Chapters(()), references),
            Case(Key("b", "s"), Item(9.0), Chapters(()), references[:1]),
            Case(Key("c", "s"), Item(9.0), Chapters(()), references[1:]),
        ]
    )
    people, rows = cases.people()
    assert rows.tolist() == [0, 1, 2, 4, 5]
    found = [
        (case.key.item, case.output.boundaries[0], [r.boundaries[0] for r in case.references])
        for case in people
    ]
    assert found == [
        ("a", 1, [2, 3]),
        ("a", 2, [1, 3]),
        ("a", 3, [1, 2]),
        ("c", 2, [3]),
        ("c", 3, [2]),
    ]
    assert cases[1:][1].references == references[1:]


def lines(*items: tuple[list[float], list[list[float]]]) -> tuple[list[Any], list[Any]]:
    """An output and references for each item, 100 s long."""
    outputs = [
        {"item": i, "system": "s", "output": {"boundaries": own}}
        for i, (own, _) in enumerate(items)
    ]
    references = [
        {"item": i, "duration": 100, "references": [{"boundaries": b} for b in every]}
        for i, (_, every) in enumerate(items)
    ]
    return outputs, references


def test_every_item_weighs_the_same_even_if_a_reference_leaves_it_open() -> None:
    # 10 s off both references; exact for one, and no distance to an empty one
    made = lines(([10], [[20], [20]]), ([10], [[10], []]))
    scores = score(*made, metrics="deviation")
    assert scores.systems["s"]["deviation_of_reference"].value == pytest.approx((10 + 0) / 2)
    found = scores.people
    assert found is not None
    assert found.systems["s"]["deviation_of_reference"].value == pytest.approx((10 + 0) / 2)
    assert found.ceiling["deviation_of_reference"].n == 1


def test_the_best_reference_may_be_one_that_says_the_same_and_leaves_nothing_to_measure() -> None:
    both_empty = score(*lines(([], [[], [20]])), metrics="agreement", against="best")
    assert np.isnan(both_empty.systems["s"]["pi"].value)
    assert both_empty.systems["s"]["pi"].undefined == 1


def test_a_system_called_people_is_a_system() -> None:
    made = [{**OUTPUT[0], "system": "people"}]
    page = render(score(made, ONE, metrics="collar"), "html")
    section = page[page.index("each annotator against the others") :]
    for name in ("anna", "ben", "carla"):
        assert f'<span class="name">{name}</span>' in section


@pytest.mark.parametrize("name", ["(people)", "(lead)"])
def test_names_of_rows_that_are_no_systems_are_refused(name: str) -> None:
    told = f'"{re.escape(name)}" cannot be the name of a system'
    for baselines in ((), "lead"):
        said = {"item": "a", "words": ["it", "rains"], "references": [{"positions": [1]}]}
        given = [{"item": "a", "system": name, "output": {"positions": [1]}}]
        with pytest.raises(UsageError, match=told):
            score(given, [said], baselines=baselines)
    with pytest.raises(UsageError, match=told):
        score([OUTPUT[0] | {"system": name}], ONE)
    with pytest.raises(UsageError, match=told):
        score([{"hypothesis": [1], "reference": [1], "duration": 9}], system=name)


def test_a_system_that_is_also_an_annotator_is_scored_against_the_others_only() -> None:
    own = {"item": "a", "system": "anna", "output": {"boundaries": ANNA}}
    found = score([own, *OUTPUT], ONE, metrics="collar", by="annotator")
    ab, ac = f1(1, 2, 1), f1(1, 2, 3)
    assert found.systems["anna"]["collar_f1"].value == pytest.approx((ab + ac) / 2)
    assert repr(found.systems["s"]) == repr(score(OUTPUT, ONE, metrics="collar").systems["s"])
    groups = found.slices[0].groups
    assert {who: "anna" in by_system for who, by_system in groups.items()} == {
        "anna": False,
        "ben": True,
        "carla": True,
    }
    assert (
        '"anna" is also an annotator: the system is scored against the others only' in found.notes
    )
    shown = score([own, *OUTPUT], ONE, metrics="collar", show="a").shown[0]
    assert list(shown.references) == ["anna", "ben", "carla"]
    fewer = score([own], ONE, metrics="collar", reference_counts=1, repeats=3, samples=True)
    drawn = [row for row in fewer.to_records("samples") if row.get("references") == 1]
    assert {round(row["collar_f1"], 3) for row in drawn} <= {round(ab, 3), round(ac, 3)}


def test_the_only_annotator_of_an_item_is_not_scored_there() -> None:
    alone = [ONE[0] | {"references": ONE[0]["references"][:1]}]
    own = {"item": "a", "system": "anna", "output": {"boundaries": ANNA}}
    with pytest.raises(InputError, match='"anna" is the only annotator of "a"'):
        score([own], alone, metrics="collar")
    for on_error in ("skip", "empty"):
        found = score([own, *OUTPUT], alone, metrics="collar", on_error=on_error)
        assert list(found.systems) == ["s"]


@pytest.mark.parametrize("by", [(), "annotator"])
def test_the_ceiling_can_be_switched_off(by: Any) -> None:
    full = score(OUTPUT, ONE, metrics="collar", by=by)
    found = score(OUTPUT, ONE, metrics="collar", by=by, ceiling=False)
    assert full.people is not None
    assert found.people is None
    assert repr(found.systems) == repr(full.systems)  # intervals of one case are undefined
    assert repr(found.slices) == repr(full.slices)
    two = [*OUTPUT, OUTPUT[0] | {"system": "t"}]
    assert compare(two, ONE, metrics="collar", ceiling=False).scores.people is None


def test_an_invalid_reference_is_left_out_and_not_its_item() -> None:
    bad: list[dict[str, Any]] = [
        {"annotator": "dora", "transcript": "a text without times"},
        {"annotator": "emil", "boundaries": "x"},
        {"annotator": "anna", "boundaries": [1]},
    ]
    with_bad = [ONE[0] | {"references": [*ONE[0]["references"], *bad]}]
    with pytest.raises(InputError, match=r"references\[4\]"):
        score(OUTPUT, with_bad, metrics="collar")
    for on_error in ("skip", "empty"):
        found = score(OUTPUT, with_bad, metrics="collar", on_error=on_error)
        assert repr(found.systems) == repr(score(OUTPUT, ONE, metrics="collar").systems)
        assert not found.skipped
        (note,) = [note for note in found.notes if "left out" in note]
        assert "invalid references were left out of 1 item, which have other references: a" in note
        assert "references:1: references[4].boundaries: must be a list" in note
    with_bad[0]["references"].pop(4)
    (note,) = score(OUTPUT, with_bad, metrics="collar", on_error="skip").notes
    assert "references[3].transcript" in note
    none = [ONE[0] | {"references": bad[1:2]}]
    with pytest.raises(
        InputError, match=r"all 2 were skipped \(first reason: references:1: references\[0\]"
    ):
        score(OUTPUT, none, metrics="collar", on_error="skip")
    assert people(with_bad, metrics="collar", on_error="skip").people is not None


def test_people_agree_without_any_system() -> None:
    alone = people(ONE, metrics="collar")
    beside = score(OUTPUT, ONE, metrics="collar")
    assert beside.people is not None
    assert alone.people is not None
    assert repr(alone.people.ceiling) == repr(beside.people.ceiling)
    assert alone.systems == {}
    assert "bootstrap-multinomial" in alone.signature
    for form in FORMS:
        assert "anna" in render(alone, form)


def test_nobody_agrees_alone() -> None:
    one = [{**ONE[0], "references": ONE[0]["references"][:1]}]
    with pytest.raises(UsageError, match="no item has two references"):
        people(one)
    with pytest.raises(InputError, match="duration: missing"):
        people([{"item": "a", "references": []}])


# --- Table of values per annotator and item ------------------------------------------------------


def test_the_table_of_people_has_one_row_per_annotator_and_item(tmp_path: Path) -> None:
    found = people(ONE, metrics="collar", samples=True)
    rows = found.to_records("samples")
    assert [(row["item"], row["system"]) for row in rows] == [
        ("a", "anna"),
        ("a", "ben"),
        ("a", "carla"),
    ]
    ab, ac, bc = f1(1, 2, 1), f1(1, 2, 3), f1(1, 1, 3)
    wanted = [(ab + ac) / 2, (ab + bc) / 2, (ac + bc) / 2]
    assert [row["collar_f1"] for row in rows] == pytest.approx(wanted)
    people(ONE, metrics="collar", samples=tmp_path / "people.csv")
    score(OUTPUT, ONE, metrics="collar", samples=tmp_path / "systems.csv")
    written, systems = (
        (tmp_path / name).read_text().splitlines() for name in ("people.csv", "systems.csv")
    )
    assert written[:2] == systems[:2]  # the signature, and the columns
    assert written[2].startswith("a,anna,")


def test_people_enter_the_agreement_with_judges_beside_systems(tmp_path: Path) -> None:
    study = simulate_references_study(items=8, people=4, systems=3, judges=3)
    folder = tmp_path / "study"
    runpy.run_path(str(EXAMPLE))["main"](folder, items=8, people=4, systems=3, judges=3)
    names = ("outputs.jsonl", "references.jsonl", "judgements.csv")
    outputs, references, judgements = (str(folder / name) for name in names)
    runner = CliRunner()
    systems, persons, report = (str(tmp_path / n) for n in ("systems.csv", "people.csv", "a.json"))
    without_human = tmp_path / "systems.jsonl"
    without_human.write_text(
        "".join(f"{json.dumps(o)}\n" for o in study.outputs if o["system"] != study.human)
    )
    commands = [
        ["score", str(without_human), references, "--metric", "sumaccy", "--samples", systems],
        ["people", references, "--metric", "sumaccy", "--samples", persons],
        ["agree", systems, judgements, "--with", persons, "--metric", "sumaccy", "-o", report],
    ]
    for command in commands:
        done = runner.invoke(group, [*command, "--draws", "20"])
        assert done.exit_code == 0, done.output
    (scale,) = json.loads(Path(report).read_text())["scales"]
    figures = scale["metrics"][0]["figures"]
    assert {*scale["people"]} == {"system-1", "system-2", "system-3", study.human}
    assert figures["system pearson"]["n"] == 4  # three systems and one person who was rated
    direct = score(outputs, references, metrics="sumaccy", draws=20, samples=True)
    alone = {
        row["item"]: row["sumaccy"]
        for row in direct.to_records("samples")
        if row["system"] == study.human
    }
    found = people(references, metrics="sumaccy", draws=20, samples=True).to_records("samples")
    own = {row["item"]: row["sumaccy"] for row in found if row["system"] == study.human}
    assert own == pytest.approx(alone)
