"""Scores of metrics out of tables."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest

from earwitness.core import Key, Score
from earwitness.errors import InputError, UsageError
from earwitness.metaeval.score_tables import read_scores
from earwitness.scoring.score import score

WIDE = "item,system,PESQ,DNSMOS,note\na,C0,1.5,3,x\na,C1,2.5,nan,y\nb,C0,,2,z\n"


def _file(folder: Path, text: str, name: str = "scores.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_column_of_numbers_is_a_metric_and_nan_is_undefined(tmp_path: Path) -> None:
    table = read_scores(_file(tmp_path, WIDE))
    assert table.metrics == ["PESQ", "DNSMOS"]
    assert table.scores[:3] == [
        Score(Key("a", "C0"), "PESQ", 1.5),
        Score(Key("a", "C0"), "DNSMOS", 3.0),
        Score(Key("a", "C1"), "PESQ", 2.5),
    ]
    assert math.isnan(table.scores[3].value)
    assert math.isnan(table.scores[4].value)
    assert 'ignored columns: "note"' in table.notes
    assert "PESQ and DNSMOS are undefined for 1 of 3 outputs" in table.notes


def test_columns_may_be_chosen(tmp_path: Path) -> None:
    table = read_scores(_file(tmp_path, WIDE), metrics=["DNSMOS"])
    assert table.metrics == ["DNSMOS"]


def test_a_row_may_be_a_score_with_the_references_it_rests_on(tmp_path: Path) -> None:
    rows = "item,system,metric,value,references,draw\na,C0,f1,0.5,1,1\na,C0,f1,0.6,1,2\n"
    table = read_scores(_file(tmp_path, rows))
    assert table.scores == [
        Score(Key("a", "C0"), "f1", 0.5, 1, 1),
        Score(Key("a", "C0"), "f1", 0.6, 1, 2),
    ]


def test_columns_and_names_of_files_may_be_called_otherwise(tmp_path: Path) -> None:
    rows = "path;measure;number\nC0/a.wav;si-sdr;7,5\nC1/a.wav;si-sdr;-3,25\n"
    table = read_scores(
        _file(tmp_path, rows),
        pattern="{system}/{item}.wav",
        columns={"sample": "path", "metric": "measure", "value": "number"},
    )
    assert [one.value for one in table.scores] == [7.5, -3.25]
    assert table.scores[1].key == Key("a", "C1")


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_table_of_samples_is_a_table_of_scores(tmp_path: Path, ending: str) -> None:
    cases = [{"id": "a", "hypothesis": [61, 120], "reference": [60], "duration": 180}]
    path = tmp_path / f"samples.{ending}"
    score(cases, samples=path, draws=1)
    table = read_scores(path)
    assert "collar_f1" in table.metrics
    assert [one.value for one in table.scores if one.metric == "collar_f1"] == [2 / 3]
    assert table.signatures[0].startswith("earwitness=")
    assert not any("signature" in note for note in table.notes)


def test_a_score_that_comes_twice_is_refused_with_its_line(tmp_path: Path) -> None:
    rows = "item,system,PESQ\na,C0,1\nb,C0,2\na,C0,1\n"
    with pytest.raises(InputError) as refused:
        read_scores(_file(tmp_path, rows))
    [problem] = refused.value.problems
    assert (problem.line, problem.remedy) == (4, "keep one")


def test_what_is_no_score_is_told_in_words_of_scores(tmp_path: Path) -> None:
    rows = "item,system,PESQ\na,C0,1\nb,C0,inf\nc,C0,high\nd,C0,2\n"
    with pytest.raises(InputError) as refused:
        read_scores(_file(tmp_path, rows))
    assert [problem.line for problem in refused.value.problems] == [3, 4]
    assert {problem.remedy for problem in refused.value.problems} == {
        "leave the cell empty if there is no score"
    }
    with pytest.raises(InputError, match="contains no scores"):
        read_scores(_file(tmp_path, "item,system,metric,value\na,C0,PESQ,\n"))
    with pytest.raises(UsageError, match='unknown role "scale"'):
        read_scores(_file(tmp_path, WIDE), columns={"scale": "PESQ"})


def test_metrics_may_be_chosen_where_a_row_is_a_score(tmp_path: Path) -> None:
    rows = "item,system,metric,value\na,C0,f1,0.5\na,C0,pk,0.25\n"
    table = read_scores(_file(tmp_path, rows), metrics=["pk"])
    assert table.scores == [Score(Key("a", "C0"), "pk", 0.25)]


def test_of_several_tables_each_is_asked_only_for_what_it_has(tmp_path: Path) -> None:
    said: dict[str, Any] = {
        "pattern": "{system}-{item}.flac",
        "columns": {"item": "clip", "sample": "path"},
        "metrics": ["PESQ", "f1"],
        "several": True,
    }
    wide = read_scores(_file(tmp_path, WIDE), **said)
    assert wide.metrics == ["PESQ"]
    renamed = WIDE.replace("item", "clip", 1)
    assert read_scores(_file(tmp_path, renamed), **said).scores == wide.scores
    named = "path,f1\nC0-a.flac,1\nC1-a.flac,2\n"
    by_name = read_scores(_file(tmp_path, named), **said)
    assert by_name.scores == [Score(Key("a", f"C{n}"), "f1", n + 1) for n in range(2)]
    other = read_scores(_file(tmp_path, "item,system,other\na,C0,1\na,C1,2\n"), **said)
    assert other.scores == []
    assert any("has none of the chosen metrics" in one for one in other.notes)


def test_a_metric_in_another_case_is_told_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='missing column — did you mean "PESQ"'):
        read_scores(_file(tmp_path, WIDE), metrics=["pesq"])


def test_metrics_in_another_notation_are_refused_unless_others_are_chosen(tmp_path: Path) -> None:
    path = _file(tmp_path, "item,system,PESQ,WER\na,C0,1.5,85 %\na,C1,2.5,80 %\n")
    told = 'contains numbers such as "85 %" — remove the % sign; or choose metrics with --metric'
    with pytest.raises(InputError, match=re.escape(f'"WER": {told}')):
        read_scores(path)
    assert read_scores(path, metrics=["PESQ"]).metrics == ["PESQ"]
