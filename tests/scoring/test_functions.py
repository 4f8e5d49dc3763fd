"""Metrics that are Python functions."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from earwitness import score
from earwitness.core import Case
from earwitness.errors import UsageError
from helpers.command_line import run
from helpers.samples import write_lines

REFERENCES = [
    {"item": "a", "duration": 100, "references": [{"boundaries": [10, 20]}]},
    {"item": "b", "duration": 100, "references": [{"boundaries": [50]}]},
]
OUTPUTS = [
    {"item": "a", "system": "s", "output": {"boundaries": [10]}},
    {"item": "b", "system": "s", "output": {"boundaries": [10, 20, 30]}},
]
FILE = """\
from earwitness.core import Case

def surplus(case: Case) -> float:
    '''Surplus boundaries.'''
    return len(case.output.boundaries) - len(case.references[0].boundaries)

surplus.best = "low"
"""


def surplus(case: Case) -> float:
    """Surplus boundaries."""
    return len(case.output.boundaries) - len(case.references[0].boundaries)


def test_a_function_is_a_metric_whose_value_is_the_mean() -> None:
    scores = score(OUTPUTS, REFERENCES, metrics=surplus)
    assert scores.systems["s"]["surplus"].value == pytest.approx((-1 + 2) / 2)
    assert scores.values["surplus"].doc == "Surplus boundaries."
    both = score(OUTPUTS, REFERENCES, metrics=["collar", surplus])
    assert {"collar_f1", "surplus"} <= both.systems["s"].keys()


def test_undefined_values_are_left_out_of_the_mean() -> None:
    def first(case: Case) -> float:
        return 3.0 if case.key.item == "a" else math.nan

    estimate = score(OUTPUTS, REFERENCES, metrics=first).systems["s"]["first"]
    assert (estimate.value, estimate.undefined) == (3.0, 1)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (42, "a metric is a name, a function of a case, or a Metric, got 42"),
        ([None], "got None"),
        (int, "got <class 'int'>"),
        (lambda _: "high", 'returned \'high\' for item "a" of system "s" — return a number'),
        ("f1", '"f1" is a value of the metric chunks — use --metric chunks --value f1'),
    ],
)
def test_anything_else_is_refused(metrics: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        score(OUTPUTS, REFERENCES, metrics=metrics)
    assert message in str(caught.value)


def test_the_command_line_takes_functions_and_classes_of_files(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(FILE)
    write_lines(tmp_path / "o.jsonl", OUTPUTS)
    write_lines(tmp_path / "r.jsonl", REFERENCES)
    offset = Path(__file__).parents[2] / "examples" / "metric" / "offset.py"
    done = run(
        *("score", "o.jsonl", "r.jsonl", "--to", "csv", "--metric", "mine.py:surplus"),
        *("--metric", f"{offset}:Offset"),
        folder=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    rows = done.stdout.splitlines()
    assert any("surplus" in row and ",0.5," in row for row in rows)
    assert any("offset_mean" in row for row in rows)
    for name, message in (
        ("mine.py:surplu", 'mine.py: no function "surplu" — did you mean "surplus"?'),
        ("none.py:x", "none.py: the file does not exist"),
    ):
        done = run("score", "o.jsonl", "r.jsonl", "--metric", name, folder=tmp_path)
        assert (done.returncode, message in done.stderr) == (2, True), done.stderr
