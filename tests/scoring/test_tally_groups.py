"""Groups of cases by what their meta says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from earwitness.errors import UsageError
from earwitness.output_formats import render
from earwitness.scoring.compare import compare
from earwitness.scoring.score import people, score
from earwitness.stats.significance import agree_with_test, widen_interval
from earwitness.task import Slicing, parse_where
from helpers.csv_results import read_results
from helpers.samples import corpus

SAMPLES = [
    {**sample, "id": f"item {i}", "meta": {"kind": "talk" if i % 3 else "radio", "snr": i - 11.5}}
    for i, sample in enumerate(corpus(24, 900.0, 2, 9))
]


def joined(samples: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    outputs, references = [], []
    for s in samples:
        listed = [{"boundaries": s["reference"]}]
        item = {"item": s["id"], "duration": s["duration"], "meta": s["meta"]}
        references.append({**item, "references": listed})
        for system, times in (("good", s["reference"]), ("poor", s["hypothesis"])):
            outputs.append({"item": s["id"], "system": system, "output": {"boundaries": times}})
    return outputs, references


def test_a_group_is_scored_as_if_it_were_alone() -> None:
    (found,) = score(SAMPLES, by="kind").slices
    assert found.field == "kind"
    assert list(found.groups) == ["radio", "talk"]
    for kind, systems in found.groups.items():
        alone = score([s for s in SAMPLES if s["meta"]["kind"] == kind])
        assert systems == alone.systems


def test_numbers_are_cut_into_ranges() -> None:
    (found,) = score(SAMPLES, by="snr:-6,0,5.5").slices
    counts = {group: own["outputs"]["collar_f1"].n for group, own in found.groups.items()}
    # -11.5 … 11.5 in steps of 1
    assert counts == {"below -6": 6, "-6 to 0": 6, "0 to 5.5": 5, "from 5.5": 7}


def test_the_duration_is_a_field_and_missing_values_are_a_group() -> None:
    mixed = [{**SAMPLES[0], "duration": 500.0}, {**SAMPLES[1], "meta": {}}]
    kinds, durations = score(mixed, by=["kind", "duration:600"]).slices
    assert list(kinds.groups) == ["radio", "(missing)"]
    assert list(durations.groups) == ["below 600", "from 600"]


def test_the_item_decides_before_the_output() -> None:
    outputs, references = joined(SAMPLES)
    outputs = [{**line, "meta": {"kind": "other", "size": line["system"]}} for line in outputs]
    kinds, sizes = score(outputs, references, by=["kind", "size"]).slices
    assert list(kinds.groups) == ["radio", "talk"]
    assert {group: list(own) for group, own in sizes.groups.items()} == {
        "good": ["good"],
        "poor": ["poor"],
    }


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("a b", "a b"),
        (3, "3"),
        (2.5, "2.5"),
        (True, "true"),
        (None, "(missing)"),
        ("", '""'),
        ("a\nb", '"a\\nb"'),
        (["x", 1], '["x", 1]'),
        (1.0, "1"),
        ("1", "1"),
    ],
)
def test_labels(value: Any, label: str) -> None:
    assert Slicing("f").label({"f": value}) == label
    assert Slicing("f").label({}, {"f": value}) == label


def test_labels_of_ranges() -> None:
    cut = Slicing("f", (0.0, 10.0))
    assert [cut.label({"f": x}) for x in (-1, 0, 9.9, 10, "x", True)] == [
        "below 0",
        "0 to 10",
        "0 to 10",
        "from 10",
        "(no number)",
        "(no number)",
    ]


def test_groups_are_in_order() -> None:
    order = Slicing("f").order
    assert sorted(["10", "9", "b", "(missing)", "a"], key=order) == [
        "9",
        "10",
        "a",
        "b",
        "(missing)",
    ]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("kidn", 'no item has a field "kidn" — did you mean "kind"'),
        ("annotator", "requires a references file"),
        ("annotator:1,2", "names cannot be cut"),
        ("kind:1,2", 'no item has a number in "kind"'),
        ("snr:5,1", "increasing cut points"),
        ("snr:", "cut points must be numbers"),
        (":1", "give a field"),
        (["kind", "kind"], "listed twice"),
    ],
)
def test_slices_that_cannot_be_are_refused(by: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        score(SAMPLES, by=by)


def test_too_many_groups_are_refused_with_a_remedy() -> None:
    many = [{**SAMPLES[0], "id": i, "meta": {"n": i}} for i in range(60)]
    with pytest.raises(UsageError, match=r"more than 50 groups — cut numbers .* n:10,20"):
        score(many, by="n")


def test_repeated_samples_do_not_count_in_their_group() -> None:
    twice = [*SAMPLES, SAMPLES[1]]
    (found,) = score(twice, by="kind", on_error="skip").slices
    assert found.groups == score(SAMPLES, by="kind").slices[0].groups


def test_missing_outputs_count_as_empty_in_their_group() -> None:
    outputs, references = joined(SAMPLES)
    fewer = [line for line in outputs if (line["item"], line["system"]) != ("item 0", "good")]
    (found,) = score(fewer, references, by="kind", on_error="empty").slices
    assert found.groups["radio"]["good"]["collar_f1"].n == 8


def test_differences_within_groups_are_those_of_the_group_alone() -> None:
    outputs, references = joined(SAMPLES)
    options = {"metrics": "collar", "permutations": 500}
    found = compare(outputs, references, by="kind", **options)  # type: ignore[arg-type]
    assert [(group.group, group.items) for group in found.groups] == [("radio", 8), ("talk", 16)]
    for group in found.groups:
        chosen = [s for s in SAMPLES if s["meta"]["kind"] == group.group]
        (alone,) = compare(*joined(chosen), **options).contrasts  # type: ignore[arg-type]
        (contrast,) = group.contrasts
        wider = widen_interval(alone.difference, 0.975)  # two groups
        assert contrast.difference == agree_with_test(wider, contrast.p_corrected, 0.05)
        assert contrast.p == alone.p
    p = sorted(c.p for group in found.groups for c in group.contrasts)
    corrected = sorted(c.p_corrected for group in found.groups for c in group.contrasts)
    assert corrected[0] == pytest.approx(min(1, 2 * p[0]))


def test_groups_are_in_every_form() -> None:
    outputs, references = joined(SAMPLES)
    scores = score(outputs, references, by="kind", metrics="collar")
    record = json.loads(render(scores, "json"))
    assert record["slices"][0]["groups"]["talk"]["good"]["collar_f1"]["n"] == 16
    _, rows = read_results(render(scores, "csv"))
    assert [r["n"] for r in rows if r["group"] == "radio" and r["name"] == "collar_f1"] == [
        "8",
        "8",
    ]
    for form in ("text", "md", "latex", "html"):
        assert "radio" in render(scores, form, table="full")
    found = compare(outputs, references, by="kind", metrics="collar", permutations=100)
    _, rows = read_results(render(found, "csv"))
    assert [(row["group"], row["items"]) for row in rows] == [
        ("", "24"),
        ("radio", "8"),
        ("talk", "16"),
    ]
    assert json.loads(render(found, "json"))["groups"][1]["group"] == "talk"


def test_long_values_that_differ_late_stay_apart_and_nan_has_a_place() -> None:
    long = [Slicing("f").label({"f": {"a": "x" * 90 + end}}) for end in "12"]
    assert long[0] != long[1]
    assert max(map(len, long)) < 80
    order = Slicing("f").order
    assert sorted(["nan", "3", "inf", "10"], key=order) == ["3", "10", "inf", "nan"]


def test_tables_name_the_system_where_groups_have_different_ones() -> None:
    outputs, references = joined(SAMPLES)
    outputs = [{**line, "meta": {"size": f"size of {line['system']}"}} for line in outputs]
    made = render(score(outputs, references, by="size", metrics="collar"))
    block = made[made.index("collar_f1 ↑ by size") :].splitlines()
    assert block[1].split() == ["size", "n", "good", "poor"]


def test_groups_are_compared_on_the_items_that_every_system_answered() -> None:
    outputs, references = joined(SAMPLES)
    fewer = [
        line for line in outputs if line["system"] == "good" or line["item"] in ("item 0", "item 1")
    ]
    found = compare(fewer, references, by="kind", metrics="collar", on_error="skip")
    assert found.items == 2
    assert [(group.group, group.items) for group in found.groups] == [("radio", 1), ("talk", 1)]
    for group in found.groups:  # one item can tell nobody apart: it is not counted
        assert all(c.p_corrected != c.p_corrected and not c.better for c in group.contrasts)


def test_a_line_left_out_makes_no_group_and_no_sound() -> None:
    first = {**SAMPLES[0], "audio": "first.wav"}
    again = {**first, "audio": "second.wav", "meta": {"kind": "new"}}
    scores = score([first, *SAMPLES[1:], again], by="kind", on_error="skip", show="item 0")
    assert list(scores.slices[0].groups) == ["radio", "talk"]
    assert scores.shown[0].audio == "first.wav"


# --- Filters -------------------------------------------------------------------------------------


def test_a_filter_keeps_items_as_if_the_others_were_not_there() -> None:
    outputs, references = joined(SAMPLES)
    kept = [s for s in SAMPLES if s["meta"]["kind"] == "talk" and s["meta"]["snr"] >= 0]
    wanted = score(*joined(kept), draws=100)
    where = ["kind=talk", "snr >= 0"]
    found = score(outputs, references, where=where, draws=100)
    assert found.systems == wanted.systems
    assert "|where(kind=talk,snr>=0)" in found.signature
    note = f"kind=talk and snr>=0 hold for {len(kept)} of 24 items, which are kept"
    assert found.notes == (note, *wanted.notes)
    compared = compare(outputs, references, where=where, draws=100, permutations=100)
    assert compared.items == len(kept)
    one_file = score(SAMPLES, where=where, by="kind", draws=100)
    assert one_file.systems == score(kept, draws=100).systems
    assert [[*one.groups] for one in one_file.slices] == [["talk"]]


def test_the_human_ceiling_is_that_of_the_items_that_a_filter_keeps() -> None:
    _, references = joined(SAMPLES)
    both = [
        {**line, "references": [*line["references"], {"boundaries": [100.0]}]}
        for line in references
    ]
    outputs, _ = joined(SAMPLES)
    found = score(outputs, both, where="snr<0", draws=100)
    assert found.people is not None
    assert found.people.items == 12
    assert people(both, where="snr<0", draws=100).people == people(both[:12], draws=100).people


def test_a_filter_by_a_field_of_outputs_keeps_outputs() -> None:
    outputs, references = joined(SAMPLES)
    marked = [{**line, "meta": {"words": n % 5}} for n, line in enumerate(outputs)]
    found = score(marked, references, where="words!=0", draws=100)
    assert found.notes[0] == "words!=0 holds for 38 of 48 outputs, which are kept"
    both = score(marked[:-1], references, where=["words>0", "words<3"], on_error="skip", draws=100)
    assert both.notes[0] == "words>0 and words<3 hold for 19 of 47 outputs, which are kept"
    counts = {name: own["collar_f1"].n for name, own in found.systems.items()}
    assert sum(counts.values()) == 38


def test_items_without_the_field_are_left_out_and_counted() -> None:
    outputs, references = joined(SAMPLES)
    partly = [
        {name: value for name, value in line.items() if n or name != "meta"}
        for n, line in enumerate(references)
    ]
    (note, *_) = score(outputs, partly, where="snr<0", draws=100).notes
    assert note == "snr<0 holds for 11 of 24 items, which are kept (1 without snr)"


def test_invalid_filters_are_refused() -> None:
    outputs, references = joined(SAMPLES)
    with pytest.raises(UsageError, match='where "snr": give a field'):
        score(outputs, references, where="snr")
    with pytest.raises(UsageError, match='where "kind>=talk": give a field'):
        score(outputs, references, where="kind>=talk")
    with pytest.raises(UsageError, match='no item or output has a field "snrr" — did you mean'):
        score(outputs, references, where="snrr>=0")
    with pytest.raises(UsageError, match='no item has a field "snrr" — did you mean'):
        people(
            [{**line, "references": line["references"] * 2} for line in references[:1]],
            where="snrr>=0",
        )
    with pytest.raises(UsageError, match='no item or output has a field "level"'):
        score(outputs, references, where=["level>=0", "level<9"])
    with pytest.raises(UsageError, match="where: snr>=99 holds for none of 24 items"):
        score(outputs, references, where="snr>=99")
    with pytest.raises(UsageError, match="where: snr>=99 holds for none of 24 outputs"):
        score(SAMPLES, where="snr>=99")


@pytest.mark.parametrize(
    ("text", "fields", "wanted"),
    [
        ("a>=1", {"a": 1}, True),
        ("a>1", {"a": 1.0}, False),
        ("a<=1", {"a": "0.5"}, True),
        ("a<1", {"a": "text"}, False),
        ("a=1", {"a": 1.0}, True),
        ("a==x y", {"a": "x y"}, True),
        ("a!=x", {"a": "y"}, True),
        ("a!=x", {"b": "y"}, False),  # without the field
        ("a=true", {"a": True}, True),
    ],
)
def test_a_condition_compares_numbers_or_texts(
    text: str, fields: dict[str, Any], wanted: bool
) -> None:
    assert parse_where(text)(fields) is wanted
