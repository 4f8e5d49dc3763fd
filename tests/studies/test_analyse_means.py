"""Tables of means over raters: tests over items, and results with and without faulty rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from earwitness.analysis.report.export import methods_paragraph, tables_csv
from earwitness.analysis.results import Results, ScaleResults
from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.output_formats import render
from earwitness.ratings.rubric import thumbs
from earwitness.ratings.rubric_totals import total
from earwitness.studies.analyse import study_analyse
from helpers.caption_ratings import DIMENSIONS, Row, rows, table

SYSTEMS = ("person", "model")
CLIPS = 12


def means(items: int = CLIPS, raters: int = 5) -> list[Row]:
    """One row per caption, with the mean of each dimension over raters."""
    votes: dict[tuple[str, str], list[Row]] = {}
    for row in rows(items, raters):
        votes.setdefault((row["item"], row["system"]), []).append(row)
    return [
        {name: own[0][name] for name in ("item", "system", "dataset", "caption")}
        | {name: repr(float(np.mean([float(row[name]) for row in own]))) for name in DIMENSIONS}
        for own in votes.values()
    ]


def plain(values: dict[str, list[float]], scale: str = "MOS") -> list[dict[str, Any]]:
    """One row per item and system, with the mean on one scale."""
    return [
        {"item": f"c{n}", "system": system, "caption": f"{system} {n}", scale: value}
        for system, own in values.items()
        for n, value in enumerate(own)
    ]


def number(cell: Any) -> Any:
    try:
        return float(cell) if cell else None
    except ValueError:
        return cell


def analysed(made: list[Any], **how: Any) -> Results:
    records = [{name: number(cell) for name, cell in row.items()} for row in made]
    options: dict[str, Any] = {"layout": "means", "draws": 20} | how
    return study_analyse(records, **options)


def scale_of(found: Results, name: str) -> ScaleResults:
    return next(scale for scale in found.scales if scale.value.name == name)


def values(made: list[Row], name: str) -> tuple[list[float], list[float]]:
    first, second = ([float(row[name]) for row in made if row["system"] == s] for s in SYSTEMS)
    return first, second


def summary(found: Results) -> str:
    return render(found).partition("\n\n")[0].replace("\n  ", " ")


def test_means_between_the_steps_of_a_scale_are_read_and_others_are_refused(
    tmp_path: Path,
) -> None:
    made = means()
    path = tmp_path / "means.csv"
    path.write_text(table(made), encoding="utf-8")
    found = study_analyse(path, layout="means")
    assert [scale.value.name for scale in found.scales] == [*DIMENSIONS, "total"]
    made[3]["precision"], made[4]["fluency"] = "5.0625", "0.01"
    path.write_text(table(made), encoding="utf-8")
    with pytest.raises(InputError) as error:
        study_analyse(path, layout="means")
    told = str(error.value)
    assert "means.csv:5: precision: 5.0625 is outside scale precision (1 to 5)" in told
    assert "means.csv:6: fluency: 0.01 is outside scale fluency (-2 to 0)" in told


def test_a_table_of_means_is_recognized_by_its_lack_of_listeners() -> None:
    found = analysed(means(), layout="auto")
    assert summary(found) == summary(analysed(means()))
    assert any(note.startswith("no column has listeners") for note in found.notes)
    with pytest.raises(InputError, match="listener: missing column, but lines 1 and 2 both rate"):
        analysed([row for row in means() for _ in range(2)], layout="auto")
    with pytest.raises(UsageError, match="a table of means has no listeners, so screening"):
        analysed(means(), layout="auto", screening=["p808"])
    voted = [row | {"listener": "anna"} for row in means()]
    with pytest.raises(InputError, match="outside scale fluency"):
        analysed(voted, layout="auto")
    with pytest.raises(InputError, match="a table of means has no listeners"):
        analysed(voted)


def test_systems_are_compared_by_paired_t_tests_over_the_items_that_both_have() -> None:
    made = means()[1:]  # clip0 has no person
    found = scale_of(analysed(made), "precision")
    person, model = values(made, "precision")
    (contrast,) = found.contrasts
    want = stats.ttest_rel(model[1:], person)
    ends = want.confidence_interval(0.95)
    assert (contrast.a, contrast.b, contrast.difference.n) == ("model", "person", CLIPS - 1)
    assert contrast.p == pytest.approx(want.pvalue)
    assert contrast.difference.low == pytest.approx(ends.low)
    assert contrast.difference.high == pytest.approx(ends.high)
    assert contrast.difference.method == "item_t"
    own = found.systems["model"]
    low, high = stats.t.interval(0.95, CLIPS - 1, np.mean(model), stats.sem(model))
    assert own.mean.low == pytest.approx(low)
    assert own.mean.high == pytest.approx(high)
    assert (own.mean.method, own.mean.n, own.items, own.listeners) == ("item_t", CLIPS, CLIPS, 0)
    assert (own.floor, own.ceiling, own.good, own.poor) == (None, None, None, None)
    assert (found.agreement, found.listeners, found.subjects, found.modelled) == ((), (), None, ())


def test_p_is_corrected_across_pairs_and_rank_tests_are_over_items() -> None:
    rng = np.random.default_rng(4)
    made = {name: (3 + n / 4 + rng.normal(0, 0.5, 15)).tolist() for n, name in enumerate("abc")}
    found = analysed(plain(made), scales=["MOS=1:5"], test="wilcoxon").scales[0]
    p = {(one.a, one.b): one.p for one in found.contrasts}
    want = {pair: stats.wilcoxon(made[pair[0]], made[pair[1]]).pvalue for pair in p}
    assert p == pytest.approx(want)
    lowest, middle, _ = sorted(p.values())
    corrected = sorted(one.p_corrected for one in found.contrasts)
    assert corrected[0] == pytest.approx(3 * lowest)
    assert corrected[1] == pytest.approx(max(3 * lowest, 2 * middle))
    assert found.friedman is not None
    assert found.friedman.p == pytest.approx(stats.friedmanchisquare(*made.values()).pvalue)
    by_t = analysed(plain(made), scales=["MOS=1:5"], correction="none").scales[0]
    assert by_t.contrasts[0].p_corrected == pytest.approx(
        stats.ttest_rel(made["a"], made["b"]).pvalue
    )


def test_reports_say_that_raters_are_not_known_and_how_many_there_were() -> None:
    found = analysed(means(), constants={"raters": 5})
    text, methods = render(found), methods_paragraph(found)
    want = "results generalize to other items for these raters"
    assert "Each value is a mean over 5 raters" in summary(found)
    assert want in summary(found)
    assert "variance between raters is not known" in methods
    assert want in methods
    assert "Each value is a mean over 5 raters." in methods
    assert "paired t tests over items" in methods
    assert "120 means on the scales precision (1 to 5)" in methods
    for written in (text, methods, render(found, "html"), render(found, "latex")):
        assert "listener" not in written.replace("per listener", "")
        assert " votes" not in written
    assert "12 items" in text
    assert found.listeners == 0
    assert json.loads(render(found, "json"))["scales"][0]["raters"][0] == {
        "item": "clip0",
        "system": "person",
        "raters": 5,
    }


def test_the_number_of_raters_may_be_a_column_or_unknown() -> None:
    for name in ("n", "raters"):
        made = [row | {name: str(3 + n % 2)} for n, row in enumerate(means())]
        assert "Each value is a mean over 3 to 4 raters." in methods_paragraph(analysed(made))
    made = [row | {"annotators": "7"} for row in means()]
    found = analysed(made, columns={"raters": "annotators"})
    assert "a mean over 7 raters" in methods_paragraph(found)
    assert [scale.value.name for scale in found.scales] == [*DIMENSIONS, "total"]
    assert "The number of raters per mean is not known." in methods_paragraph(analysed(means()))
    with pytest.raises(InputError, match="must be a whole number"):
        analysed([row | {"n": "4.5"} for row in means()])
    with pytest.raises(UsageError, match="raters"):
        analysed(means(), layout="plain", constants={"raters": 5})


def test_one_row_per_mean_is_read_too() -> None:
    made = means()
    tall = [
        {"item": row["item"], "system": row["system"], "scale": name, "value": row[name], "n": "4"}
        for row in made
        for name in DIMENSIONS
    ]
    found, wide = analysed(tall), analysed(made)
    assert [one.contrasts for one in found.scales] == [one.contrasts for one in wide.scales]
    assert "a mean over 4 raters" in methods_paragraph(found)


def test_what_needs_listeners_is_refused(tmp_path: Path) -> None:
    for how, told in (
        ({"interval": "mixed"}, "interval"),
        ({"screening": ["p808"]}, "screening"),
        ({"adjust": "items"}, "adjust"),
        ({"study": tmp_path / "study.yaml"}, "study"),
    ):
        with pytest.raises(UsageError, match=f"means.*{told}"):
            analysed(means(), **how)
    with pytest.raises(UsageError, match="item_t"):
        study_analyse(means(), interval="item_t")
    chosen = [
        {"item": f"c{n}", "system": "a", "against": "b", "PREFERENCE": 0.25} for n in range(6)
    ]
    with pytest.raises(UsageError, match="choices"):
        analysed(chosen)


def test_few_items_are_not_compared() -> None:
    found = analysed(plain({"a": [3.2, 3.1, 4.5, 4.0], "b": [2.2, 2.1, 3.4, 3.3]}))
    (contrast,) = found.scales[0].contrasts
    assert np.isnan(contrast.p)
    assert contrast.note == "not compared: a has 4 items and b has 4 items"
    assert "4 items are too few" in summary(found)


def test_results_by_groups_of_items_are_compared_between_items() -> None:
    made = means()
    (grouped,) = scale_of(analysed(made, by=("dataset",)), "precision").groups
    of_street, of_park = (
        np.subtract(*values([row for row in made if row["dataset"] == name], "precision")[::-1])
        for name in ("street", "park")
    )
    (one,) = grouped.interactions
    want = stats.ttest_ind(of_park, of_street, equal_var=False)
    assert one.tested.p == pytest.approx(want.pvalue)
    text = render(analysed(made, by=("dataset",)), "html")
    assert "listener" not in text.replace("per listener", "")
    assert "between groups of items" in text


# --- Results with and without faulty rows --------------------------------------------------------


def p_without(made: list[Row], name: str, left: set[str]) -> float:
    person, model = values([row for row in made if row["item"] not in left], name)
    return float(stats.ttest_rel(model, person).pvalue)


def test_a_caption_under_two_clips_shows_results_with_and_without_it() -> None:
    made = means()
    made[7]["caption"] = made[3]["caption"]  # of the model, clips 1 and 3
    found = analysed(made)
    assert [fault.kind for fault in found.faults] == ["duplicate", "duplicate"]
    one = next(one for one in found.alternatives if one.value == "precision")
    assert one.alternative == "without 2 duplicate captions"
    assert one.every.p == pytest.approx(p_without(made, "precision", set()))
    assert one.rest.p == pytest.approx(p_without(made, "precision", {"clip1", "clip3"}))
    assert (one.items, one.rest_items) == (CLIPS, CLIPS - 2)
    total_ = next(one for one in found.alternatives if one.value == "total")
    told = f"with all rows and {total_.rest.difference.value:.2f}".replace("-", "−")
    assert told in summary(found)
    assert "without 2 duplicate captions" in summary(found)
    assert "without_faults.csv" in tables_csv(found)


def test_captions_are_compared_without_a_rubric_and_under_another_name() -> None:
    made = plain({"a": [3.2, 3.1, 4.5, 4.0, 2.5], "b": [2.2, 2.1, 3.4, 3.3, 3.0]})
    texts = [{**row, "text": "Birds sing."} if n in (1, 2) else row for n, row in enumerate(made)]
    renamed = [{n: x for n, x in row.items() if n != "caption"} for row in texts]
    for name, own in (("caption", [row | {"caption": row.get("text", "")} for row in made]),):
        assert not analysed(own).alternatives, name
    found = analysed(
        [row | {"text": row.get("text", f"row {n}")} for n, row in enumerate(renamed)],
        columns={"caption": "text"},
        scales=["MOS=1:5"],
    )
    (one,) = found.alternatives
    assert (one.items, one.rest_items) == (5, 3)
    voted = [
        {**row, "caption": row.get("text", row["caption"]), "listener": who, "MOS": 3 + n % 2}
        for n, row in enumerate(texts)
        for who in range(4)
    ]
    (one,) = study_analyse([{n: x for n, x in r.items() if n != "text"} for r in voted],
                           draws=20, mixed=False).alternatives  # fmt: skip
    assert (one.value, one.items, one.rest_items) == ("MOS", 5, 3)


def test_rows_that_stand_twice_show_results_with_and_without_them() -> None:
    made = means()
    found = analysed([*made, made[5] | {"precision": "1.05"}])
    assert scale_of(found, "precision").contrasts == scale_of(analysed(made), "precision").contrasts
    one = next(one for one in found.alternatives if one.value == "precision")
    assert one.alternative == "without 1 output with several rows"
    assert one.rest.p == pytest.approx(p_without(made, "precision", {made[5]["item"]}))
    assert "1 output has several rows; the first mean was used" in methods_paragraph(found)
    with pytest.raises(InputError, match="has 2 rows"):
        analysed([*made, made[5]], doubled="refuse")


def test_blank_means_show_results_with_and_without_their_rows() -> None:
    made = means()
    made[5]["fluency"] = ""
    found = analysed(made)
    (fault,) = found.faults
    assert (fault.kind, fault.told, fault.listener) == ("blank", "fluency is blank", "")
    assert "rater" not in fault.done
    by_scale = {one.value: one for one in found.alternatives}
    assert by_scale.keys() == {*DIMENSIONS, "total"} - {"fluency"}  # without its row already
    assert by_scale["total"].rest.p == scale_of(found, "total").contrasts[0].p
    assert "With all rows, a blank penalty counts as 0 in the total" in render(found)
    one = by_scale["precision"]
    assert one.alternative == "without 1 row with a blank"
    assert one.every.p == pytest.approx(p_without(made, "precision", set()))
    assert one.rest.p == pytest.approx(p_without(made, "precision", {made[5]["item"]}))
    as_zero = {one.value: one for one in analysed(made, blank="zero").alternatives}
    assert (as_zero["total"].items, as_zero["total"].rest_items) == (CLIPS, CLIPS - 1)
    with pytest.raises(UsageError, match=r"fluency of clip2, model\b(?! by)"):
        analysed(made, blank="refuse")


def test_published_totals_are_used_and_those_of_the_means_shown_beside_them() -> None:
    """One blank of a rater: the mean of totals is 1.6867, the total of means 1.80125."""
    of_park = dict(zip(DIMENSIONS, (1.9375, 1.9375, -0.04375, -0.0125, -0.08), strict=True))
    made: list[Any] = means()
    for row in made:
        row["total"] = f"{total(thumbs(), {name: float(row[name]) for name in DIMENSIONS}):.4f}"
    assert not analysed(made).alternatives
    penalty = float(made[1]["fluency"])
    without = made[1] | {"fluency": "", "total": f"{float(made[1]['total']) - penalty:.4f}"}
    blank = analysed([made[0], without, *made[2:]]).faults
    assert [one.kind for one in blank] == ["blank"]  # the total has it as 0
    blank = analysed([made[0], without | {"total": "-4.9"}, *made[2:]]).faults
    assert [one.kind for one in blank] == ["other total", "blank"]
    made[4] |= {name: str(value) for name, value in of_park.items()} | {"total": "1.6867"}
    found = analysed(made)
    (fault,) = found.faults
    assert "total is 1.6867, the formula gives 1.80125" in fault.told
    (one,) = found.alternatives
    assert (one.value, one.alternative) == ("total", "with totals computed from the means")
    person, model = values(made, "total")
    assert one.every.p == pytest.approx(stats.ttest_rel(model, person).pvalue)
    assert one.every.p == scale_of(found, "total").contrasts[0].p
    person[2] = 1.80125
    assert one.rest.p == pytest.approx(stats.ttest_rel(model, person).pvalue, rel=1e-3)
    assert "totals of the table" in methods_paragraph(found)


def test_blanks_of_raters_show_totals_with_and_without_them() -> None:
    made = rows()
    made[4]["irrelevance"] = ""
    how: dict[str, Any] = {"layout": "auto", "draws": 20, "mixed": False}
    found, zero = analysed(made, **how), analysed(made, blank="zero", **how)
    one = next(one for one in found.alternatives if one.value == "total")
    assert one.alternative == "without 1 row with a blank"
    assert one.every.p == zero.scales[-1].contrasts[0].p
    assert one.rest.p == found.scales[-1].contrasts[0].p
    assert one.every.p != one.rest.p
    assert one == next(one for one in zero.alternatives if one.value == "total")
    left = [row for row in made if row is not made[4]]
    recall = next(one for one in found.alternatives if one.value == "recall")
    assert recall.rest.p == analysed(left, **how).scales[1].contrasts[0].p
    assert "without 1 row with a blank" in render(found).replace("\n  ", " ")


def test_the_shell_reads_means(tmp_path: Path) -> None:
    path = tmp_path / "means.csv"
    path.write_text(table(means()), encoding="utf-8")
    given = [
        "study",
        "analyse",
        str(path),
        "--layout",
        "means",
        "--constant",
        "raters=5",
        "--test",
        "wilcoxon",
    ]
    done = CliRunner().invoke(group, given)
    assert done.exit_code == 0, done.output
    assert "Each value is a mean over 5 raters" in done.output.replace("\n  ", " ")
    done = CliRunner().invoke(group, [*given[:5], "-o", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    header, first, *_ = (tmp_path / "out" / "means.csv").read_text("utf-8").splitlines()
    assert "item_t" in dict(zip(header.split(","), first.split(","), strict=True))["method"]
