"""Tables of captions judged by a rubric, from the file to results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from earwitness.analysis.rating_set import TableOptions
from earwitness.analysis.report.export import methods_paragraph
from earwitness.analysis.results import Results
from earwitness.cli.main import group
from earwitness.core import Key
from earwitness.errors import InputError, UsageError
from earwitness.output_formats import render
from earwitness.ratings.rubric import thumbs
from earwitness.ratings.rubric_totals import total
from earwitness.studies.analyse import study_analyse
from helpers.caption_ratings import DIMENSIONS, ITEMS, RATERS, Row, long, rows, table

FRENCH = dict(
    zip(
        DIMENSIONS,
        ("Précision", "RAPPEL", "Fluidité", "concision", "Hors sujet"),
        strict=True,
    )
)


def analysed(folder: Path, text: str, **how: Any) -> Results:
    path = folder / "ratings.csv"
    path.write_text(text, encoding="utf-8")
    reading = TableOptions(rubric=how.pop("rubric", ""), faults=how.pop("faults", "refuse"))
    return study_analyse(path, reading=reading, **({"draws": 50} | how))


def votes(found: Results, scale: str) -> dict[Key, tuple[float, ...]]:
    own = next(one for one in found.scales if one.value.name == scale)
    return {one.key: one.votes for one in own.stimuli}


@pytest.mark.parametrize("names", [{}, {"precision": "Precision", "recall": " RECALL"}, FRENCH])
def test_a_column_a_dimension_or_a_row_a_rating_make_the_same_totals(
    tmp_path: Path, names: dict[str, str]
) -> None:
    made = rows()
    wide = analysed(tmp_path, table(made, names))
    tall = analysed(tmp_path, table(long(made, {n: x.strip() for n, x in names.items()})))
    assert [one.value.name for one in wide.scales] == [*DIMENSIONS, "total"]
    for scale in (*DIMENSIONS, "total"):
        assert votes(wide, scale) == votes(tall, scale)
    first = made[0]
    want = total(thumbs(), {name: float(first[name]) for name in DIMENSIONS})
    assert votes(wide, "total")[Key("clip0", "person")][0] == want
    assert wide.rubric is not None
    assert wide.rubric.dimensions == DIMENSIONS


def test_a_guessed_rubric_is_told_and_can_be_refused(tmp_path: Path) -> None:
    text = table(rows())
    assert any("--rubric none" in note for note in analysed(tmp_path, text).notes)
    said = analysed(tmp_path, text, rubric="thumbs")
    assert not any("--rubric none" in note for note in said.notes)
    plain = analysed(tmp_path, text, rubric="none")
    assert plain.rubric is None
    assert "total" not in [one.value.name for one in plain.scales]


def test_nothing_is_guessed_where_scales_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text(table(rows()), encoding="utf-8")
    found = study_analyse(path, reading=TableOptions(scales=("recall",)), draws=50)
    assert [one.value.name for one in found.scales] == ["recall"]
    assert found.rubric is None


def test_a_table_that_lacks_a_dimension_is_no_table_by_the_rubric(tmp_path: Path) -> None:
    made = [{n: x for n, x in row.items() if n != "recall"} for row in rows()]
    assert analysed(tmp_path, table(made)).rubric is None
    with pytest.raises(InputError, match="recall: missing dimension of the rubric thumbs"):
        analysed(tmp_path, table(made), rubric="thumbs")


def test_scales_of_the_rubric_are_known_with_their_ends(tmp_path: Path) -> None:
    found = analysed(tmp_path, table(rows()))
    ends = {one.value.name: (one.value.low, one.value.high, one.value.best) for one in found.scales}
    assert ends["precision"] == (1, 5, "high")
    assert ends["fluency"] == (-2, 0, "high")
    assert ends["total"] == (-5, 5, "high")
    assert "0 is no fault" in found.scales[2].value.doc
    assert "(precision + recall)/2" in found.scales[-1].value.doc


def off(made: list[Row]) -> list[Row]:
    made[4]["fluency"], made[9]["precision"] = "0.5", "6"
    return made


def test_numbers_off_their_scale_are_refused_all_at_once_with_line_and_remedy(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError) as error:
        analysed(tmp_path, table(off(rows())))
    told = [str(one) for one in error.value.problems]
    assert len(told) == 2
    assert "ratings.csv:6: fluency: 0.5 is outside scale fluency" in told[0]
    assert "ratings.csv:11: precision: 6 is outside scale precision" in told[1]
    assert all("--faults drop" in one for one in told)


def _by_blank(folder: Path, made: list[Any]) -> dict[str, Results]:
    """Results by what a blank does to a total."""
    return {
        blank: analysed(folder, table(made), faults="drop", blank=blank)
        for blank in ("drop", "zero")
    }


def _totals(found: Results) -> int:
    """How many totals there are."""
    [scale] = [one for one in found.scales if one.value.name == "total"]
    return sum(one.votes for one in scale.systems.values())


def test_numbers_off_their_scale_may_be_taken_for_blanks_and_are_listed(tmp_path: Path) -> None:
    made = off(rows())
    found = analysed(tmp_path, table(made), faults="drop")
    listed = {one.kind: one for one in found.faults}
    assert [one.kind for one in found.faults] == ["off scale", "positive penalty"]
    positive = listed["positive penalty"]
    assert (positive.item, positive.system) == (made[4]["item"], made[4]["system"])
    assert (positive.listener, positive.scale) == (made[4]["listener"], "fluency")
    assert positive.where == "ratings.csv:6"
    left = "treated as blank; this rater is excluded from the total of this caption"
    assert positive.done == left
    votes = {name: _totals(one) for name, one in _by_blank(tmp_path, made).items()}
    assert votes["zero"] == votes["drop"]  # a number that was wrong is not 0
    own = found.scales[-1].systems
    assert sum(one.votes for one in own.values()) == 2 * ITEMS * RATERS - 2


def blank(made: list[Row]) -> list[Row]:
    made[4]["irrelevance"] = ""
    return made


def test_blanks_are_listed_with_what_they_mean_for_the_total(tmp_path: Path) -> None:
    text = table(blank(rows()))
    dropped = analysed(tmp_path, text)
    (one,) = dropped.faults
    assert (one.kind, one.scale) == ("blank", "irrelevance")
    assert "excluded from the total of this caption only" in one.done
    (zero,) = analysed(tmp_path, text, blank="zero").faults
    assert zero.done == "counts as 0 in the total"
    counts = [sum(r.votes for r in s.systems.values()) for s in dropped.scales]
    assert counts == [96, 96, 96, 96, 95, 95]
    with pytest.raises(UsageError, match="irrelevance of clip2, person by R0"):
        analysed(tmp_path, text, blank="refuse")


def test_a_blank_in_a_table_of_ratings_is_a_row_that_is_not_there(tmp_path: Path) -> None:
    made = [one for one in long(blank(rows())) if one["value"]]
    found = analysed(tmp_path, table(made))
    assert [one.told for one in found.faults] == ["irrelevance is blank"]


def test_means_of_totals_are_not_totals_of_means(tmp_path: Path) -> None:
    """The published figure: 1.6867 of fifteen raters, where the total of means is 1.80125."""
    plain = [(2, 2, 0, 0, -0.1)] * 12
    given: list[tuple[Any, ...]] = [*plain, (1, 1, 0, 0, 0), (1, 1, 0, 0, 0), (1, 1, -0.5, 0, 0)]
    given.append((4, 4, -0.2, -0.2, ""))
    made = [
        {"item": "park", "system": "person", "listener": str(n)}
        | {name: str(x) for name, x in zip(DIMENSIONS, values, strict=True)}
        for n, values in enumerate(given)
    ]
    found = analysed(tmp_path, table(made))
    means = {one.value.name: one.systems["person"].mean for one in found.scales}
    assert round(means["total"].value, 4) == 1.6867
    assert means["total"].n == 15
    of_means = total(thumbs(), {name: means[name].value for name in DIMENSIONS})
    assert of_means == pytest.approx(1.80125)
    assert [means[name].n for name in DIMENSIONS] == [16, 16, 16, 16, 15]


def test_totals_of_the_table_are_made_again_and_others_are_told(tmp_path: Path) -> None:
    made = [
        row | {"total": f"{total(thumbs(), {n: float(row[n]) for n in DIMENSIONS}):g}"}
        for row in rows()
    ]
    assert analysed(tmp_path, table(made)).faults == ()
    made[0]["total"], made[3]["total"] = "0.1", "1"
    found = analysed(tmp_path, table(made))
    assert [(one.kind, one.item, one.system, one.listener) for one in found.faults] == [
        ("other total", *(made[n][name] for name in ("item", "system", "listener"))) for n in (0, 3)
    ]
    assert found.faults[0].told == "total is 0.1, the formula gives 4.35"
    assert votes(found, "total") == votes(analysed(tmp_path, table(rows())), "total")


def test_totals_that_deviate_only_because_of_a_blank_are_not_told(tmp_path: Path) -> None:
    """A spreadsheet counts a blank as 0; the program drops it."""
    made = rows()
    for row in made:
        row["total"] = f"{total(thumbs(), {n: float(row[n]) for n in DIMENSIONS}):g}"
    penalty = float(made[0]["irrelevance"])
    made[0] |= {"irrelevance": "", "total": f"{float(made[0]['total']) - penalty:g}"}
    made[1] |= {"precision": ""}  # no total by the formula, so none to compare with
    made[2] |= {"fluency": "", "total": "-4.9"}
    made[5]["total"] = "-5"
    told = [one.told for one in analysed(tmp_path, table(made)).faults if one.kind == "other total"]
    assert [one.partition(",")[0] for one in told] == ["total is -4.9", "total is -5"]


def test_duplicate_captions_are_listed_and_differences_stand_without_them(tmp_path: Path) -> None:
    made = rows()
    for row in made:
        if (row["item"], row["system"]) == ("clip3", "model"):
            row["caption"] = "clip 5,  AS a model has it."
    found = analysed(tmp_path, table(made))
    assert [(one.kind, one.item, one.system) for one in found.faults] == [
        ("duplicate", "clip3", "model"),
        ("duplicate", "clip5", "model"),
    ]
    assert "is also the caption of clip5, model" in found.faults[0].told
    one = next(one for one in found.alternatives if one.value == "total")
    assert (one.items, one.rest_items) == (ITEMS, ITEMS - 2)
    left = [row for row in made if (row["item"], row["system"]) not in
            {("clip3", "model"), ("clip5", "model")}]  # fmt: skip
    (want,) = analysed(tmp_path, table(left)).scales[-1].contrasts
    assert one.rest.p == want.p
    assert one.rest.difference == want.difference
    (every,) = found.scales[-1].contrasts
    assert one.every.p == every.p


def test_the_same_words_of_two_systems_are_told_too(tmp_path: Path) -> None:
    made = [row | {"caption": "Birds."} if row["item"] == "clip1" else row for row in rows()]
    told = [one.told for one in analysed(tmp_path, table(made)).faults]
    assert told == [
        "“Birds.” is also the caption of model",
        "“Birds.” is also the caption of person",
    ]


def test_results_are_divided_by_columns_of_items_and_of_listeners(tmp_path: Path) -> None:
    made = rows()
    found = analysed(tmp_path, table(made), by=("dataset", "jury"))
    dataset, jury = found.scales[-1].groups
    assert (dataset.field, dataset.of) == ("dataset", "item")
    assert (jury.field, jury.of) == ("jury", "listener")
    assert [one.name for one in jury.groups] == ["experts", "lay"]
    own = jury.groups[0].systems["person"]
    assert (own.votes, own.listeners, own.items) == (ITEMS * RATERS // 2, RATERS // 2, ITEMS)
    apart = [row for row in made if row["dataset"] == "park"]
    (want,) = analysed(tmp_path, table(apart)).scales[-1].contrasts
    (one,) = dataset.groups[0].contrasts
    assert (one.difference.value, one.p) == (want.difference.value, want.p)
    assert (want.difference.level, one.difference.level) == (0.95, 0.975)  # two groups
    assert found.people["R0"] == {"jury": "experts"}
    assert [len(one.interactions) for one in (dataset, jury)] == [1, 1]
    assert "by=dataset+jury" in found.signature


def test_nobody_is_in_two_groups(tmp_path: Path) -> None:
    made = rows()
    made[1]["dataset"] = "street"
    with pytest.raises(InputError, match=r'item clip0 is "street" here and "park" above') as error:
        analysed(tmp_path, table(made), by=("dataset",))
    assert "assign each item, or each listener, to one group" in str(error.value)
    assert "ratings.csv:3" in str(error.value)


def test_fields_and_scales_that_are_not_there_are_told_with_the_nearest(tmp_path: Path) -> None:
    text = table(rows())
    with pytest.raises(InputError, match='did you mean "dataset"'):
        analysed(tmp_path, text, by=("datset",))
    with pytest.raises(UsageError, match='no ratings on scale "totl"'):
        analysed(tmp_path, text, margins={"totl": 0.5})
    with pytest.raises(UsageError, match="margin of total must be a finite number above 0"):
        analysed(tmp_path, text, margins={"total": -1})


def test_a_field_that_divides_too_finely_is_refused(tmp_path: Path) -> None:
    made = [row | {"number": row["item"]} for row in rows(items=14)]
    with pytest.raises(UsageError, match='"number" has 14 groups'):
        analysed(tmp_path, table(made), by=("number",))


def test_raters_who_judge_one_source_only_are_compared_by_the_mixed_model(tmp_path: Path) -> None:
    own = {f"R{n}": ("person", "model")[n % 2] for n in range(8)}
    made = [row for row in rows(raters=8) if row["system"] == own[row["listener"]]]
    found = analysed(tmp_path, table(made), by=("dataset", "jury"), margins={"total": 0.5})
    whole = found.scales[-1]
    assert whole.contrasts[0].difference.n == 0
    (model,) = whole.modelled
    assert model.difference.low < model.difference.value < model.difference.high
    assert all(one.tested.p != one.tested.p for g in whole.groups for one in g.interactions)
    assert "cannot be tested" in render(found)


def test_margins_make_tests_of_equivalence(tmp_path: Path) -> None:
    found = analysed(tmp_path, table(rows()), margins={"total": 4})
    (one,) = found.scales[-1].equivalences
    assert one.shown
    assert one.margin == 4
    assert one.within < 4
    (other,) = found.scales[0].equivalences
    assert not other.shown
    assert other.p != other.p
    assert other.within > 0


def test_the_shell_takes_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(table(off(rows())), encoding="utf-8")
    options = "--rubric thumbs --faults drop --by dataset --by jury --margin total=0.5 --draws 50"
    given = ["study", "analyse", str(path), *options.split(), "--to", "json"]
    done = CliRunner().invoke(group, given)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert {one["kind"] for one in found["faults"]} == {"off scale", "positive penalty"}
    assert [one["field"] for one in found["scales"][-1]["groups"]] == ["dataset", "jury"]
    assert {"listener": "R0", "jury": "experts"} in found["people"]
    wrong = CliRunner().invoke(group, ["study", "analyse", str(path), "--rubric", "thumb"])
    assert "'thumb' is not one of" in wrong.output


def test_votes_off_any_known_scale_may_be_dropped_and_are_listed(tmp_path: Path) -> None:
    made = [
        {"item": f"c{i}", "system": s, "listener": str(w), "scale": "OVRL", "value": "3"}
        for i in range(3)
        for s in ("a", "b")
        for w in range(3)
    ]
    made[2]["value"] = "7"
    found = analysed(tmp_path, table(made), faults="drop")
    (one,) = found.faults
    assert (one.kind, one.scale, one.where) == ("off scale", "OVRL", "ratings.csv:4")
    assert "Faults in the data: 1 value outside its scale." in methods_paragraph(found)
    with pytest.raises(InputError, match="7 is outside scale OVRL"):
        analysed(tmp_path, table(made))


def test_choices_are_not_divided_and_that_is_said(tmp_path: Path) -> None:
    made = [
        {"item": f"c{i}", "system": "a", "against": "b", "listener": str(w), "jury": "x"}
        | {"scale": "PREFERENCE", "value": "1"}
        for i in range(3)
        for w in range(3)
    ]
    found = analysed(tmp_path, table(made), by=("jury",))
    assert "choices are not analysed by jury" in found.scales[0].notes
