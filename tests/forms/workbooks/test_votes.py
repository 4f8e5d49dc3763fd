"""Workbooks of ratings: votes and means per stimulus, means of systems, and all ratings."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from earwitness.analysis.plan import Rule
from earwitness.core import Key, Rating
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.forms.workbooks import votes
from earwitness.forms.workbooks.votes import make_ratings_workbook, sheet_name
from earwitness.studies.analyse import study_results
from earwitness.studies.answers import answer_line
from earwitness.studies.file.reader import with_digest
from earwitness.studies.from_answers import ratings_from_answers
from earwitness.studies.simulate import study_simulate
from earwitness.studies.study import Clip
from earwitness.studies.trials import KINDS
from helpers.command_line import run
from helpers.study_files import sound, udase

ITEMS = ("clip0", "clip1", "clip2")


def opened(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data))


def cells(data: bytes, sheet: str) -> list[tuple[Any, ...]]:
    return list(opened(data)[sheet].iter_rows(values_only=True))


def rating(item: str, system: str, listener: int, value: float, scale: str = "SIG") -> Rating:
    return Rating(Key(item, system), scale, listener, 1, value)


def test_a_sheet_has_all_votes_of_a_stimulus_by_system_and_their_mean() -> None:
    given = [
        rating("clip1", "C0", 2, 2),
        rating("clip1", "C0", 1, 5),
        rating("clip0", "C2", 10, 1),
        rating("clip0", "C2", 9, 4),
        rating("clip0", "C2", 2, 3),
        rating("clip0", "C0", 1, 4),
    ]
    # by listener, so clip1 has 5 (listener 1) before 2; C1 has no votes and so no columns
    assert cells(make_ratings_workbook(udase(), given), "SIG") == [
        ("item", "C0", None, None, "C2", None, None, None),
        (None, "vote 1", "vote 2", "mean", "vote 1", "vote 2", "vote 3", "mean"),
        ("clip0", 4, None, 4, 3, 4, 1, pytest.approx(8 / 3)),
        ("clip1", 5, 2, 3.5, None, None, None, None),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_every_rating_once_on_its_scale_and_once_in_the_list(kind: str) -> None:
    systems = ("C0", "C1", "C2")
    study = udase(kind=kind, listeners=4, panels=1, clips=4, sessions=2, systems=systems)
    block = replace(study.blocks[0], heard=3, parameters={})
    simulation = study_simulate(with_digest(replace(study, blocks=(block,), reference="C0")))
    answers = dict(enumerate(simulation.answers, 1))
    ratings = ratings_from_answers(simulation.design.study, answers, "answers")
    data = make_ratings_workbook(simulation.design.study, ratings)
    scales = {one.scale for one in ratings}
    assert {*opened(data).sheetnames} == {*scales, "means", "votes"}
    for scale in scales:
        _, heads, *rows = cells(data, scale)
        voted = [
            cell
            for row in rows
            for head, cell in zip(heads, row, strict=True)
            if str(head).startswith("vote") and cell is not None
        ]
        assert sorted(voted) == sorted(one.value for one in ratings if one.scale == scale)
    assert len(cells(data, "votes")) == 1 + len(ratings)


def test_means_are_those_of_the_planned_analysis_without_excluded_listeners() -> None:
    study = udase(listeners=8, panels=1, clips=8, sessions=1, systems=("C0", "C1"))
    simulation = study_simulate(with_digest(study), seed=3)
    answers = dict(enumerate(simulation.answers, 1))
    ratings = ratings_from_answers(simulation.design.study, answers, "answers")
    same = [replace(one, value=3.0) if one.listener == 8 else one for one in ratings]
    study = replace(study, screening=(Rule("p808", {"variance": 0.1, "correlation": -1}),))
    with pytest.warns(EarwitnessWarning, match='"means" is without .* screening: 8$'):
        data = make_ratings_workbook(study, same)
    header, *rows = cells(data, "means")
    names, *votes = cells(data, "votes")
    marks = {(row[names.index("listener")], row[names.index("excluded")]) for row in votes}
    assert marks == {*((number, None) for number in range(1, 8)), (8, "yes")}
    results = study_results(study, same, mixed=False, draws=100)
    assert len(rows) == 6  # 3 scales × 2 systems
    for row in rows:
        record = dict(zip(header, row, strict=True))
        [scale] = (one for one in results.scales if one.value.name == record["scale"])
        mean = scale.systems[record["system"]]
        assert record["listeners"] == 7
        figures = [mean.mean.value, mean.mean.low, mean.mean.high, mean.sd, mean.votes]
        assert [record[name] for name in ("mean", "low", "high", "sd", "votes")] == pytest.approx(
            figures
        )
        assert (record["interval"], record["level"]) == ("cluster_t", 0.95)


def test_anchors_have_a_sheet_and_practice_has_none(tmp_path: Path) -> None:
    for system in ("C0", "C1"):
        for item in ITEMS:
            sound(tmp_path / system / f"{item}.wav")
    for name in ("i01_f1", "i02_m1"):
        sound(tmp_path / "ref" / f"{name}.wav")
    (tmp_path / "study.yaml").write_text(
        'title: T\nseed: 1\nsystems: [C0, C1]\nfiles: "{system}/{item}.wav"\nlisteners: 3\n'
        "anchors: ref\ntraining: 1\nblocks:\n  - {kind: p835, clips: 2}\n"
    )
    simulation = study_simulate(tmp_path / "study.yaml")
    answers = tmp_path / "answers.jsonl"
    answers.write_bytes(b"".join(map(answer_line, simulation.answers)))
    done = run("study", "ratings", "study.yaml", "answers.jsonl", "-o", "r.xlsx", folder=tmp_path)
    assert done == (0, "", "wrote r.xlsx\n")
    data = (tmp_path / "r.xlsx").read_bytes()
    assert opened(data).sheetnames == ["SIG", "BAK", "OVRL", "means", "anchors", "votes"]
    scales, heads, *rows = cells(data, "anchors")
    assert [name for name in scales if name] == ["anchor", "SIG", "BAK", "OVRL"]
    assert [row[0] for row in rows] == ["i01_f1", "i02_m1"]
    assert all(vote is not None for row in rows for vote in row)
    assert heads.count("mean") == 3
    assert heads.count("vote 3") == 3  # all three listeners rated every anchor
    assert {row[0] for row in cells(data, "votes")[1:]} <= {*ITEMS}
    heard = [answer for answer in simulation.answers if answer.page[:1].isdigit() and answer.heard]
    assert len(cells(data, "votes")) == 1 + 3 * len(heard)  # practice trials have no rows


def test_names_that_look_like_formulas_are_texts() -> None:
    study = replace(udase(), material=(Clip("=1+1", 4.0),))
    given = [rating("=1+1", "C0", 1, 3), rating("=1+1", "@C1", 1, 3)]
    book = opened(make_ratings_workbook(study, given))
    found = [cell for row in book["SIG"].iter_rows() for cell in row if cell.value is not None]
    assert {"=1+1", "@C1"} <= {cell.value for cell in found}
    assert {cell.data_type for cell in found} == {"s", "n"}
    assert all(cell.data_type != "f" for row in book["votes"].iter_rows() for cell in row)


def test_undefined_votes_are_blank_and_names_of_sheets_are_valid() -> None:
    given = [rating("clip0", "C0", n, value) for n, value in enumerate((2, float("nan"), 5))]
    data = make_ratings_workbook(udase(), given)
    assert cells(data, "SIG")[2] == ("clip0", 2, None, 5, 3.5)
    assert sheet_name("a" * 30 + "'b", []) == "a" * 30


def test_the_same_ratings_give_the_same_bytes() -> None:
    given = [rating("clip0", "C0", 1, 3)]
    assert make_ratings_workbook(udase(), given) == make_ratings_workbook(udase(), given)


def test_what_a_sheet_cannot_hold_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="no ratings"):
        make_ratings_workbook(udase(), [])
    given = [rating("clip0", "C0", listener, 3) for listener in range(4)]
    monkeypatch.setattr(votes, "MAX_SHEET_COLUMNS", 5)
    with pytest.raises(UsageError, match="SIG: too many votes per stimulus for a sheet — use"):
        make_ratings_workbook(udase(), given)


def test_a_workbook_is_not_printed(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("")
    done = run("study", "ratings", "s.yaml", "answers.jsonl", "--to", "xlsx", folder=tmp_path)
    assert done == (2, "", "earwitness: a workbook is not printed — set --output\n")
    done = run("study", "ratings", "s.yaml", "answers.jsonl", "-o", "r.xls", folder=tmp_path)
    assert done == (2, "", "earwitness: r.xls: workbooks are written as .xlsx\n")
