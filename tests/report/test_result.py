"""Results in interactive sessions, in notebooks, and as records and data frames."""

from __future__ import annotations

import builtins
import html
import math
from typing import Any

import pandas
import polars
import pytest

import earwitness as ew
from earwitness.errors import MissingExtra, UsageError
from earwitness.report.result import Result
from earwitness.scoring.results import Comparison

REFERENCES = [
    {"item": name, "duration": 180, "references": [{"boundaries": [60]}]} for name in "abcdef"
]
OUTPUTS = [
    {"item": name, "system": system, "output": {"boundaries": [time]}}
    for name in "abcdef"
    for system, time in (("good", 61), ("poor", 90))
]
RATINGS = [
    {"item": name, "system": system, "listener": who, "MOS": vote + who % 2}
    for who in range(1, 7)
    for name in "abcdef"
    for system, vote in (("good", 4), ("poor", 2))
]


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return ew.compare(OUTPUTS, REFERENCES, metrics=["chunks", "collar"], samples=True)


def test_results_are_short_in_a_session_and_say_what_they_are(comparison: Comparison) -> None:
    scores = ew.score(OUTPUTS, REFERENCES, samples=True)
    results: list[Result] = [
        scores,
        comparison,
        ew.study_analyse(RATINGS),
        ew.agree(scores, RATINGS, draws=5, permutations=5),
        ew.network(
            [{"item": "a", "words": ["it", "rains"], "references": [{"positions": [2]}]}], "a"
        ),
    ]
    for result in results:
        lines = repr(result).splitlines()
        assert lines[0] == f"{type(result).__name__}:"
        assert 3 < len(lines) < 30
        assert result.to_records()[0].keys() == {*result.to_pandas().columns}
        assert len(result.to_polars()) == len(result.to_records())


def test_a_notebook_shows_the_report_in_a_frame_of_its_own(comparison: Comparison) -> None:
    shown = comparison._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert html.unescape(shown).count(ew.render(comparison, "html")) == 1
    assert 'sandbox="allow-scripts"' in shown


def test_values_of_every_case_are_kept_without_a_file(comparison: Comparison) -> None:
    rows = comparison.to_records("samples")
    assert [(row["item"], row["system"]) for row in rows[:2]] == [("a", "good"), ("a", "poor")]
    assert {row["collar_f1"] for row in rows if row["system"] == "good"} == {1.0}
    chosen = ew.score(OUTPUTS, REFERENCES, samples=True, values=["pk"])
    assert [*chosen.to_records("samples")[0]] == ["item", "system", "pk"]
    assert chosen.table_names == ("scores", "samples")
    assert ew.score(OUTPUTS, REFERENCES).table_names == ("scores",)


def test_draws_of_references_are_among_the_samples() -> None:
    both = [{"boundaries": [60]}, {"boundaries": [90]}]
    references = [{**line, "references": both} for line in REFERENCES]
    scores = ew.score(
        OUTPUTS, references, metrics="collar", samples=True, reference_counts=1, repeats=2, draws=5
    )
    rows = scores.to_records("samples")
    assert {(row["references"], row["draw"]) for row in rows} == {(2, 0), (1, 1), (1, 2)}


def test_an_unknown_table_is_refused(comparison: Comparison) -> None:
    with pytest.raises(UsageError, match='unknown table "sample" — did you mean "samples"'):
        comparison.to_records("sample")


def test_undefined_numbers_are_nan_in_records_and_frames() -> None:
    scores = ew.score(
        [{"hypothesis": [], "reference": [], "duration": 3.0}], metrics="chunks", samples=True
    )
    assert math.isnan(scores.to_records()[0]["value"])
    assert math.isnan(scores.to_pandas("samples")["pk"][0])
    assert math.isnan(scores.to_polars("samples")["pk"][0])


def test_a_library_that_is_missing_is_named(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *more: Any) -> Any:
        if name == "polars":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr("earwitness.report.result.import_module", lambda name: refuse(name))
    with pytest.raises(MissingExtra, match=r"needs polars.*earwitness\[polars\]|\[polars\]"):
        comparison.to_polars()


def test_frames_are_those_of_their_libraries(comparison: Comparison) -> None:
    assert isinstance(comparison.to_pandas(), pandas.DataFrame)
    assert isinstance(comparison.to_polars(), polars.DataFrame)
