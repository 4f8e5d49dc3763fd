"""What reports say of judged captions: groups, equivalence, correlations, severity, faults."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from earwitness.analysis import report
from earwitness.analysis.rating_set import TableOptions
from earwitness.analysis.report.export import methods_paragraph, tables_csv
from earwitness.analysis.results import (
    DifferenceTest,
    Equivalence,
    Interaction,
    Results,
    ScaleResults,
)
from earwitness.core import Contrast, Estimate
from earwitness.output_formats import render
from earwitness.report import apply_renderer
from earwitness.report.parts import Heat, Lines, Table
from earwitness.studies.analyse import study_analyse
from helpers.caption_ratings import DIMENSIONS, rows, table
from helpers.csv_results import read_results

CLAIMS = re.compile(r"\b(are|is) (equal|the same|identical|equivalent)\b")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Small, with a blank, a positive penalty and a caption that stands under two clips."""
    made = rows()
    made[4]["irrelevance"], made[9]["fluency"] = "", "0.3"
    for row in made:
        if (row["item"], row["system"]) == ("clip3", "model"):
            row["caption"] = "Clip 5, as a model has it."
    path = tmp_path_factory.mktemp("judged") / "captions.csv"
    path.write_text(table(made), encoding="utf-8")
    how: dict[str, Any] = {"by": ("dataset", "jury"), "margins": {"total": 0.4}, "draws": 50}
    return study_analyse(path, reading=TableOptions(faults="drop"), **how)


def section(results: Results, title: str) -> tuple[Table, ...]:
    own = next(one for one in apply_renderer(results, "report").sections if one.title == title)
    return tuple(part for part in own.parts if isinstance(part, Table))


def short(results: Results) -> tuple[str, ...]:
    part = next(
        s for s in apply_renderer(results, "report").sections if s.title == "Summary"
    ).parts[0]
    assert isinstance(part, Lines)
    return tuple(line.removesuffix(".") for line in part.lines)


def only(results: Results, **changed: object) -> Results:
    """Only the total, with something changed."""
    scale = replace(results.scales[-1], **changed)  # type: ignore[arg-type]
    return replace(results, scales=(scale,), rubric=None, faults=(), alternatives=())


def test_every_cell_of_a_group_has_its_n(found: Results) -> None:
    means, differences, depends, agreed = section(found, "By jury")
    assert means.header == ("scale", "jury", "model", "person")
    assert all(re.search(r" n 3 × 8$", one) for row in means.rows for one in row[2:])
    assert len(differences.rows) == 2 * len(found.scales)
    assert {row[2] for row in differences.rows} == {"model − person"}
    assert {row[3] for row in depends.rows} == {"these items", "other items (mixed model)"}
    assert all(" n 6" in row[4] for row in depends.rows)
    assert agreed.header[2:4] == ("ICC(2,1)", "ICC(2,k)")
    assert all(re.search(r" n \d+$", row[2]) for row in agreed.rows)


def test_groups_are_in_every_form(found: Results) -> None:
    files = tables_csv(found)
    rows_of = {name: list(csv.DictReader(io.StringIO(text))) for name, text in files.items()}
    assert len(rows_of["groups.csv"]) == len(found.scales) * 2 * 2 * 2
    assert {row["method"] for row in rows_of["interactions.csv"]} == {"cluster_t", "welch", "mixed"}
    assert {row["shown"] for row in rows_of["equivalences.csv"]} <= {"", "yes", "no"}
    assert {row["kind"] for row in rows_of["faults.csv"]} == {
        "blank", "duplicate", "positive penalty"}  # fmt: skip
    assert len(rows_of["correlations.csv"]) == 10 * 3
    assert len(rows_of["modelled.csv"]) == len(found.scales)
    assert {(row["alternative"], row["rows"]) for row in rows_of["without_faults.csv"]} == {
        (words, rows)
        for words in ("without 2 duplicate captions", "without 1 row with a blank")
        for rows in ("all", "alternative")
    }
    _, lines = read_results(render(found, "csv"))
    assert "mean, jury experts" in {row["name"] for row in lines}
    assert "means by jury" in render(found, "latex", table="full")
    whole = json.loads(render(found, "json"))
    assert whole["rubric"]["formula"].startswith("(precision + recall)/2")
    assert len(whole["scales"][-1]["groups"]) == 2


def test_planned_tests_and_the_mixed_model_say_what_they_speak_about(found: Results) -> None:
    (beside,) = section(found, "Generalization to other items")
    assert len(beside.rows) == 2 * len(found.scales)
    text = next(
        s.text
        for s in apply_renderer(found, "report").sections
        if s.title == "Generalization to other items"
    )
    assert "The planned test generalizes to other raters on these items" in text
    assert "to other raters and other items" in text
    assert "which generalize to other raters and other items" in methods_paragraph(found)


@pytest.mark.parametrize("form", ["text", "html", "latex", "md"])
def test_people_who_judge_captions_are_raters(found: Results, form: str) -> None:
    told = render(found, form).replace(found.signature, "")
    assert "rater" in told.lower()
    assert not re.search(r"(?<!Event)listener", told, re.IGNORECASE)


def at(value: float, level: float = 0.95) -> Estimate:
    return Estimate(value, value - 0.2, value + 0.2, level, 6, 0, "cluster_t")


def test_what_only_these_items_show_is_told(found: Results) -> None:
    here = Contrast("total", "model", "person", at(-0.5), 0.001, 0.001, "person")
    open_ = replace(here, p=0.2, p_corrected=0.2, better="")
    told = short(only(found, contrasts=(here,), modelled=(open_,)))
    assert (
        "total: significant for other listeners on these items, but not for other items (mixed "
        "model): person–model (p 0.2000)"
    ) in told
    both = short(only(found, contrasts=(here,), modelled=(here,)))
    assert not any("for other items" in one for one in both)


def test_what_only_the_mixed_model_can_test_is_told(found: Results) -> None:
    nan = float("nan")
    none = Contrast("total", "model", "person", at(nan), nan, nan, "")
    model = replace(none, difference=at(-0.5), p=0.001, p_corrected=0.001, better="person")
    told = short(only(found, contrasts=(none,), modelled=(model,)))
    want = "person is significantly better than model (mixed model: p 0.0010); the planned test "
    assert any(want in one for one in told)


def equivalence(p: float, shown: bool) -> Equivalence:
    return Equivalence("total", "model", "person", at(0.1, 0.9), 0.3, 0.4, p, p, shown)


@pytest.mark.parametrize(("better", "p"), [("", 0.5), ("person", 0.001)])
def test_not_different_is_never_called_equal(found: Results, better: str, p: float) -> None:
    one = Contrast("total", "model", "person", at(-0.1), p, p, better)
    made = only(found, contrasts=(one,), modelled=(), equivalences=(equivalence(0.4, False),))
    told = [*short(made), *render(made, "md").splitlines(), methods_paragraph(made)]
    assert not [line for line in told if CLAIMS.search(line)]
    lines = [
        line
        for line in short(made)
        if "equivalence of model and person within ±0.4 is not shown" in line
    ]
    assert len(lines) == 1
    assert lines[0].endswith(", nor is a significant difference") == (not better)


def test_equivalence_is_told_where_it_is_shown_and_said_to_be_within_a_margin(
    found: Results,
) -> None:
    one = Contrast("total", "model", "person", at(-0.1), 0.5, 0.5, "")
    made = only(found, contrasts=(one,), equivalences=(equivalence(0.01, True),))
    told = "total: model and person are equivalent within ±0.4 (TOST: p 0.0100)"
    assert f"{told}, for other listeners on these items" in short(made)
    assert "shown within ±0.4" in render(made, "md")
    assert "two one-sided tests (TOST)" in methods_paragraph(made)


def test_without_a_margin_the_smallest_one_is_given_and_nothing_is_claimed(found: Results) -> None:
    nan = float("nan")
    one = replace(equivalence(nan, False), margin=nan)
    made = only(found, equivalences=(one,))
    (shown,) = section(made, "Equivalence")
    assert shown.header == ("scale", "pair", "difference (90 % CI)", "smallest margin")
    assert shown.rows[0][-1] == "±0.30"
    assert "equivalen" not in " ".join(short(made))
    assert "TOST" not in methods_paragraph(made)


def test_a_difference_that_depends_on_the_group_is_told_with_its_scope(found: Results) -> None:
    scale = found.scales[-1]
    tested, open_ = DifferenceTest(at(-0.5), 0.001, 0.002), DifferenceTest(at(-0.5), 0.3, 0.3)
    both = Interaction("model", "person", "experts", "lay", tested, open_)
    groups = (replace(scale.groups[1], interactions=(both,)),)
    (told,) = [one for one in short(only(found, groups=groups)) if "larger for" in one]
    assert told.startswith(
        'total: the person–model difference is 0.50 larger for jury "experts" than for "lay" '
        "(p 0.0020)"
    )
    assert "and not for others (mixed model: p 0.3000)" in told
    none = (replace(scale.groups[1], interactions=(replace(both, tested=open_),)),)
    assert not [one for one in short(only(found, groups=none)) if "larger for" in one]


def test_dimensions_that_go_together_are_drawn_and_told_with_their_figure(
    found: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "MAX_SUMMARY_LINES", 40)
    assert found.rubric is not None
    own = next(
        s
        for s in apply_renderer(found, "report").sections
        if s.title == "Correlations between dimensions"
    )
    (heat,) = own.parts
    assert isinstance(heat, Heat)
    assert heat.names == DIMENSIONS
    assert len(heat.cells) == 20
    page = render(found, "html")
    assert page.count('class="plus"') + page.count('class="minus"') == 20
    first = found.rubric.correlations[0]
    strong = replace(first, pearson=replace(first.pearson, value=0.65, low=0.5, high=0.76, n=120))
    made = replace(found, rubric=replace(found.rubric, correlations=(strong,)))
    told = "precision and recall are strongly correlated (r 0.650 [0.500, 0.760] over 120 captions)"
    assert any(one.startswith(told) for one in short(made))
    weak = replace(strong, pearson=replace(strong.pearson, value=0.2))
    made = replace(found, rubric=replace(found.rubric, correlations=(weak,)))
    assert not any("strongly correlated" in one for one in short(made))


def test_raters_are_sorted_by_severity_with_their_jury_and_n(found: Results) -> None:
    (severity,) = section(found, "Severity of raters")
    assert severity.header == ("rater", "jury", *DIMENSIONS, "total")
    totals = [float(row[-1].split(" [")[0].replace("−", "-")) for row in severity.rows]
    assert totals == sorted(totals)
    assert {row[1] for row in severity.rows} == {"experts", "lay"}
    assert all(re.search(r" n 1[456]$", one) for row in severity.rows for one in row[2:])


def test_faults_are_listed_with_what_was_done(found: Results) -> None:
    faults, without = section(found, "Faults in the data")
    kinds = [row[0] for row in faults.rows]
    assert kinds == ["positive penalty", "blank", "duplicate", "duplicate"]
    assert all(row[5] for row in faults.rows)
    duplicates, scales = without.rows[:12], (*DIMENSIONS, "total")
    assert [row[0] for row in duplicates] == [name for name in scales for _ in range(2)]
    assert {row[2] for row in duplicates} == {"all rows", "without 2 duplicate captions"}
    assert "6 × 6" in duplicates[-1]
    assert {row[2] for row in without.rows[12:]} == {"all rows", "without 1 row with a blank"}
    told = short(found)
    assert any("1 positive penalty, 1 blank and 2 duplicate captions" in one for one in told)
    assert any(
        "total: model − person is" in one and "with all rows" in one and "duplicate" in one
        for one in told
    )
    assert (
        "a rater who left a dimension blank is excluded from the total of that caption"
        in methods_paragraph(found)
    )


def test_a_penalty_that_is_nearly_always_0_is_no_reason_to_warn(found: Results) -> None:
    scale: ScaleResults = found.scales[2]
    lazy = tuple(replace(one, usual=1.0, votes=99, correlation=0.0) for one in scale.listeners)
    made = replace(
        found, scales=(replace(scale, listeners=lazy),), rubric=None, faults=(), alternatives=()
    )
    assert not any("same vote" in one or "correlate poorly" in one for one in short(made))


def test_pages_without_a_rubric_have_nothing_of_it(found: Results) -> None:
    plain = replace(found, rubric=None, faults=(), alternatives=(), people={})
    titles = [one.title for one in apply_renderer(plain, "report").sections]
    assert not {"Correlations between dimensions", "Severity of raters", "Faults in the data"} & {
        *titles
    }
    assert "rubric" not in methods_paragraph(replace(plain, signature=""))


def test_files_of_the_table_are_named_in_faults(found: Results) -> None:
    assert [one.where for one in found.faults[:2]] == ["captions.csv:11", "captions.csv"]
