"""Reports of experiments: sentences for every outcome, figures, tables, and marks of simulation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from earwitness.core import Estimate
from earwitness.experiments.report import experiment_report, summary_sentences
from earwitness.experiments.results import (
    Condition,
    CorrelationPoint,
    CurvePoint,
    Leveling,
    ReferencesExperiment,
)
from earwitness.output_formats import FORMS, render, write_figures
from earwitness.report import apply_renderer
from earwitness.report.parts import Curve
from helpers.csv_results import read_results
from helpers.sample_experiments import (
    HUMAN,
    SIMULATOR,
    SUMACCY,
    VALUES,
    WSUMACCY,
    around,
    make_experiment,
)

SMALL = (1, 2, 3)


def sentences_about(result: ReferencesExperiment, word: str) -> list[str]:
    return [sentence for sentence in summary_sentences(result) if word in sentence]


def curves_of(result: ReferencesExperiment) -> list[Curve]:
    parts = [part for section in experiment_report(result).sections for part in section.parts]
    return [part for part in parts if isinstance(part, Curve)]


def with_means(result: ReferencesExperiment, means: Sequence[float]) -> ReferencesExperiment:
    """The same means of all values and systems, by number of people."""
    by_people = dict(zip(result.people, means, strict=True))
    curves = tuple(
        replace(
            point,
            mean=by_people[point.people],
            intervals={
                source: replace(estimate, value=by_people[point.people])
                for source, estimate in point.intervals.items()
            },
        )
        for point in result.curves
    )
    return replace(result, curves=curves)


def undefined(point: CurvePoint) -> CurvePoint:
    return replace(point, mean=nan, intervals={"orders": Estimate(nan, nan, nan, 0.95, 0, 50, "")})


# --- Sentences: trends ---------------------------------------------------------------------------


def test_a_rising_value_that_does_not_level_off_is_stated_with_both_ends() -> None:
    result = with_means(make_experiment(values=[SUMACCY], people=SMALL), (0.4, 0.5, 0.6))
    [sentence] = sentences_about(result, "mean over")
    assert sentence == (  # the human system is only scored against two of three people
        "sumaccy: the mean over 10 systems is 0.400 with 1 person and 0.590 with 3 people; it "
        "still changes at 3 people for system 1, system 2, system 3, system 4 and 6 more "
        "(tolerance 0.005)"
    )


def test_a_falling_value_that_levels_off_is_stated_with_the_number_of_people() -> None:
    result = make_experiment(values=[WSUMACCY], people=SMALL, human="", levels_from=2)
    [sentence] = sentences_about(with_means(result, (0.6, 0.4, 0.4)), "mean over")
    assert sentence.endswith(
        "; it levels off from 2 people on for 9 of 9 systems (tolerance 0.005)"
    )


def test_systems_that_level_off_and_those_that_do_not_are_counted() -> None:
    result = make_experiment(values=[SUMACCY], automatic="abc", human="", people=SMALL)
    leveling = tuple(
        Leveling("sumaccy", system, people, 0.01, 0.005)
        for system, people in zip("abc", (1, 2, 0), strict=True)
    )
    [sentence] = sentences_about(replace(result, leveling=leveling), "levels off")
    assert sentence.endswith(
        "; it levels off from 1 to 2 people on for 2 of 3 systems but still changes at 3 people "
        "for c (tolerance 0.005)"
    )


def test_one_number_of_people_shows_no_trend() -> None:
    result = make_experiment(values=[SUMACCY], automatic=["only"], human="", people=(5,), judges=0)
    [sentence] = sentences_about(with_means(result, (0.5,)), "sumaccy")
    assert sentence == "sumaccy: the mean over 1 system is 0.500 with 5 people"


def test_undefined_values_are_stated() -> None:
    result = make_experiment(values=[SUMACCY], automatic="ab", human="", people=SMALL, judges=0)
    some = replace(
        result, curves=tuple(undefined(p) if p.system == "a" else p for p in result.curves)
    )
    [sentence] = sentences_about(some, "mean over")
    assert sentence.startswith("sumaccy: the mean over 1 system is 0.580 with 1 person and ")
    none = replace(result, curves=tuple(map(undefined, result.curves)))
    assert "sumaccy is undefined for all systems" in summary_sentences(none)
    assert "–" in render(none)


# --- Sentences: judges ---------------------------------------------------------------------------


def test_correlations_are_stated_with_one_and_with_all_people() -> None:
    [sentence] = sentences_about(
        make_experiment(values=[SUMACCY], people=(1, 5)), "with the judges"
    )
    assert sentence == (
        "Pearson's r of sumaccy with the judges is 0.600 with 1 person and 0.840 with 5 people "
        "(95 % interval [0.590, 0.923] over systems, items and judges)"
    )


def test_an_undefined_correlation_and_missing_judgements_are_stated() -> None:
    result = make_experiment(values=[SUMACCY], people=SMALL)
    points = tuple(replace(point, mean=nan) for point in result.correlations)
    unknown = replace(result, correlations=points)
    assert "Pearson's r of sumaccy with the judges is undefined" in summary_sentences(unknown)
    without = make_experiment(people=SMALL, judges=0)
    assert [s for s in summary_sentences(without) if "judge" in s] == [
        "No judgements were given, so that correlations with judges are not computed"
    ]


def test_if_no_difference_is_significant_that_is_the_first_sentence() -> None:
    first = next(iter(summary_sentences(make_experiment(people=SMALL, p=0.4))))
    assert first == (
        "No significant difference in Pearson's r was found between sumaccy, bleu and wsumaccy "
        "(3 pairs tested, smallest p = 0.4000, 3 people, 10 systems, alpha = 0.05)"
    )


def test_significant_differences_name_the_higher_value_first() -> None:
    result = make_experiment(people=SMALL, p=0.4)
    tests = tuple(
        replace(test, corrected=0.01, difference=around(-0.1, 0.05))
        if (test.first, test.second) == ("sumaccy", "wsumaccy")
        else test
        for test in result.tests
    )
    assert next(iter(summary_sentences(replace(result, tests=tests)))) == (
        "wsumaccy correlates significantly more with the judges than sumaccy (Pearson's r differs "
        "by 0.100 [0.050, 0.150], p = 0.0100, 3 people, 10 systems)"
    )


def test_too_few_systems_for_any_significant_p_support_no_claim_about_others() -> None:
    result = make_experiment(people=SMALL, automatic=["a", "b", "c", "d", "e"], p=0.01)
    assert result.count_systems(result.main_condition) == 6  # with the human one
    first = next(iter(summary_sentences(result)))
    assert first == (
        "6 systems are too few to show a difference between metrics in Pearson's r for other "
        "systems: with 3 pairs tested, at least 7 are needed"
    )
    assert not any("significantly more" in sentence for sentence in summary_sentences(result))
    one_pair = make_experiment(
        values=[SUMACCY, WSUMACCY], people=SMALL, automatic=["a", "b", "c", "d", "e"], p=0.01
    )
    assert any("significantly more" in sentence for sentence in summary_sentences(one_pair))


def test_tests_that_are_undefined_are_stated() -> None:
    result = make_experiment(people=SMALL, p=nan)
    assert next(iter(summary_sentences(result))) == (
        "Differences between metrics in Pearson's r could not be tested"
    )


def test_what_this_many_systems_can_show_is_stated() -> None:
    [sentence] = sentences_about(make_experiment(people=SMALL), "With 10 systems")
    assert sentence == (
        "With 10 systems, only a Pearson's r of at least 0.63 in size differs significantly from 0 "
        "(alpha = 0.05)"
    )


# --- Sentences: people ---------------------------------------------------------------------------


def test_isolated_people_are_named() -> None:
    result = make_experiment(values=[SUMACCY], people=(1, 5), isolated=2)
    [sentence] = sentences_about(result, "isolated")
    assert sentence == "2 of 5 people are isolated: p00 and p01"
    [sentence] = sentences_about(make_experiment(people=(1, 5)), "isolated")
    assert sentence == "None of 5 people is isolated"


def test_misrecognized_words_are_compared_with_the_recognized_input() -> None:
    result = make_experiment(people=SMALL)
    [sentence] = sentences_about(result, "misrecognized")
    assert sentence.endswith("than in the recognized input for 9 of 9 systems")
    assert "8 % [6, 10]" in render(result)
    assert sentences_about(replace(result, misrecognized=()), "misrecognized") == []


# --- Figures and tables --------------------------------------------------------------------------


def test_there_is_a_figure_per_value_and_a_panel_per_condition() -> None:
    curves = curves_of(make_experiment(people=SMALL, isolated=1))
    assert [curve.value.name for curve in curves] == [
        *(value.name for value in VALUES for _ in range(2)),  # with and without isolated people
        *["Pearson's r"] * 4,
    ]
    assert [curve.title.partition(": ")[2] for curve in curves[-4:]] == [
        "all systems and people",
        "without the human system",
        "without isolated people",
        "without the human system and isolated people",
    ]
    assert all(curve.fitted for curve in curves)
    assert [curve.compact for curve in curves] == [False] * 6 + [True] * 4
    assert HUMAN in curves[0].lines
    assert list(curves[-1].lines) == ["sumaccy", "bleu", "wsumaccy"]


def test_tables_of_figures_have_the_intervals_of_all_sources() -> None:
    result = make_experiment(values=[SUMACCY], automatic="a", human="", people=(4,))
    curve, correlation = curves_of(result)
    assert curve.table is not None
    assert curve.table.header == (
        *("people", "system", "mean", "over orders of people", "over items"),
        "over orders and items",
    )
    [row] = curve.table.rows
    mean = result.curves[0].mean
    assert row[:3] == ("4", "a", f"{mean:.3f}")
    assert row[3] == f"[{mean - 0.025:.3f}, {mean + 0.025:.3f}]"
    assert correlation.table is not None
    assert correlation.table.header[3:] == (
        *("over systems", "over items", "over judges", "over all three"),
    )


def test_without_intervals_of_all_sources_those_of_systems_are_shown() -> None:
    result = make_experiment(values=[SUMACCY], people=(1, 5))
    points = tuple(
        replace(
            point, intervals={**point.intervals, "all": Estimate(nan, nan, nan, 0.95, 6, 0, "")}
        )
        for point in result.correlations
    )
    few = replace(result, correlations=points)
    [sentence] = sentences_about(few, "with the judges")
    assert sentence.endswith("0.840 with 5 people (95 % interval [0.640, 0.907] over systems)")
    assert curves_of(few)[-1].points[-1][1]["sumaccy"].low == pytest.approx(0.64)
    bare = tuple(replace(point, intervals={}) for point in points)
    [sentence] = sentences_about(replace(result, correlations=bare), "with the judges")
    assert sentence.endswith("0.840 with 5 people (no interval)")
    assert "Bands are" not in render(replace(result, correlations=bare, curves=()), "html")


def test_the_rule_for_isolated_people_and_the_signature_are_in_the_report() -> None:
    result = make_experiment(people=SMALL, isolated=1)
    page = render(result, "html")
    assert result.rule in page
    assert result.signature in page
    assert "0123456789abcdef" in page


def test_every_point_is_in_the_main_table_with_its_intervals() -> None:
    result = make_experiment(people=SMALL, isolated=1)
    rows = result.to_records()
    kinds = [row["figure"] for row in rows]
    assert kinds.count("curve") == 3 * len(result.curves)
    assert kinds.count("correlation") == 4 * len(result.correlations)
    first = result.curves[0]
    assert rows[0] | {"figure": "curve", "value": first.value, "mean": first.mean} == rows[0]
    assert {row["human"] for row in rows if row["system"] == HUMAN} == {True}
    assert result.table_names[1:] == (
        *("tests", "leveling", "people", "misrecognized", "judgements", "settings"),
    )


def test_every_format_says_that_data_are_simulated() -> None:
    people = make_experiment(people=SMALL, isolated=1)
    for form in FORMS:
        text = render(replace(people, simulated=SIMULATOR), form)
        assert "simulated" in text.lower(), form
        assert ("seed 0" in text) == (form != "csv"), form
        if form not in ("csv", "json"):
            assert "simulated" not in render(people, form).lower(), form


def test_every_table_of_simulated_data_says_so() -> None:
    result = make_experiment(people=SMALL, simulated=SIMULATOR)
    facts, rows = read_results(render(result, "csv"))
    assert facts == {"signature": f"{result.signature}|simulated"}
    assert not {"signature", "simulated"} & {*rows[0]}
    tables = json.loads(render(result, "json"))
    rows = [row for name in tables if name != "settings" for row in tables[name]]
    assert {row["signature"] for row in rows} == {facts["signature"]}
    plain = make_experiment(people=SMALL)
    assert read_results(render(plain, "csv"))[0] == {"signature": plain.signature}
    assert tables["settings"][0] == {"name": "simulated", "setting": SIMULATOR}
    report = experiment_report(result)
    assert report.title.endswith("(simulated data)")
    titles = [part.title for section in report.sections[1:] for part in section.parts]  # type: ignore[union-attr]
    assert all(title.endswith("(simulated data)") for title in titles)


def test_figure_files_say_that_data_are_simulated(tmp_path: Path) -> None:
    result = make_experiment(values=[SUMACCY], people=SMALL, simulated=SIMULATOR)
    files = write_figures(result, tmp_path / "figures")
    pictures = [path for path in files if path.suffix == ".svg"]
    assert [path.stem for path in pictures] == [
        "01-sumaccy-by-number-of-people-simulated-data-curve",
        "02-pearson-s-r-all-systems-and-people-simulated-data-curve",
        "03-pearson-s-r-without-the-human-system-simulated-data-curve",
    ]
    for path in pictures:
        assert "Simulated data</text>" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "result",
    [
        make_experiment(people=SMALL, judges=0, human=""),
        make_experiment(people=(5,), automatic=["one"], human=""),
        make_experiment(people=SMALL, automatic=[f"system number {i}" for i in range(30)]),
        make_experiment(people=SMALL, automatic=["a name that is long " * 5, "b"]),
        replace(make_experiment(people=SMALL), annotators=(), misrecognized=(), leveling=()),
    ],
    ids=["no judges", "one size", "many systems", "long names", "nothing else"],
)
def test_unusual_experiments_have_a_report_in_every_format(result: ReferencesExperiment) -> None:
    for form in FORMS:
        if form != "latex" or result.correlations:
            assert result.systems[0] in render(result, form) or form in ("latex", "md")


def test_the_table_for_a_paper_has_a_row_per_value_and_a_column_per_condition() -> None:
    table = apply_renderer(make_experiment(people=SMALL), "paper_table")
    assert [row.name for row in table.rows] == ["sumaccy", "bleu", "wsumaccy"]
    assert [column.unit for column in table.columns] == [
        "all systems and people",
        "without the human system",
    ]


def test_the_main_condition_has_the_most_systems_and_people() -> None:
    result = make_experiment(people=SMALL, isolated=1)
    assert result.main_condition == Condition(True, True)
    points: tuple[CorrelationPoint, ...] = result.correlations[::-1]
    assert replace(result, correlations=points).main_condition == Condition(True, True)
    assert make_experiment(people=SMALL, human="").main_condition == Condition(False, True)
