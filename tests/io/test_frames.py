"""Data frames as outputs, references, scores and ratings."""

from __future__ import annotations

from typing import Any

import pandas
import polars
import pytest

import earwitness as ew
from earwitness.io.frames import frame_records, output_records, reference_records

OUTPUTS = [
    {"item": name, "system": system, "boundaries": [time], "meta.kind": kind}
    for name, kind in (("a", "talk"), ("b", "talk"), ("c", "news"))
    for system, time in (("good", 61.0), ("poor", 90.0))
]
REFERENCES = [
    {"item": name, "duration": 180.0, "annotator": who, "boundaries": [time]}
    for name in "abc"
    for who, time in (("x", 60.0), ("y", 62.0))
]
FRAMES = (pandas.DataFrame, polars.DataFrame)


@pytest.mark.parametrize("frame", FRAMES)
def test_frames_give_the_scores_of_records(frame: Any) -> None:
    outputs = [
        {
            "item": row["item"],
            "system": row["system"],
            "output": {"boundaries": row["boundaries"]},
            "meta": {"kind": row["meta.kind"]},
        }
        for row in OUTPUTS
    ]
    references = [
        {
            "item": name,
            "duration": 180.0,
            "references": [
                {"annotator": row["annotator"], "boundaries": row["boundaries"]}
                for row in REFERENCES
                if row["item"] == name
            ],
        }
        for name in "abc"
    ]
    known = ew.compare(outputs, references, by="kind", samples=True)
    framed = ew.compare(frame(OUTPUTS), frame(REFERENCES), by="kind", samples=True)
    assert framed.to_records("samples") == known.to_records("samples")
    assert repr(framed) == repr(known)
    people = ew.people(frame(REFERENCES)).people
    assert people is not None
    assert people.items == 3


def test_the_format_of_chunkseg_can_be_a_frame() -> None:
    lines = [{"hypothesis": [61.0], "reference": [60.0], "duration": 180.0}]
    for frame in FRAMES:
        scores = ew.score(frame(lines), metrics="collar")
        assert scores.systems["outputs"]["collar_f1"].value == 1.0


def test_whole_outputs_and_references_in_a_column_are_left_as_they_are() -> None:
    whole = [{"item": "a", "system": "s", "output": {"boundaries": [1.0]}}]
    assert output_records(pandas.DataFrame(whole)) == whole
    references = [{"item": "a", "duration": 9.0, "references": [{"boundaries": [1.0]}]}]
    assert reference_records(pandas.DataFrame(references)) == references


def test_missing_cells_are_omitted_and_a_named_index_is_a_column() -> None:
    frame = pandas.DataFrame(
        {"item": ["a", "b"], "x": [1.0, None], "y": pandas.array([None, 2], dtype="Int64")}
    )
    assert frame_records(frame) == [{"item": "a", "x": 1.0}, {"item": "b", "y": 2}]
    assert frame_records(frame.set_index("item"))[1] == {"item": "b", "y": 2}
    assert frame_records(polars.DataFrame({"x": [1.0, None]})) == [{"x": 1.0}, {}]


@pytest.mark.parametrize("frame", FRAMES)
def test_ratings_and_scores_can_be_frames(frame: Any) -> None:
    scores = [
        {"item": name, "system": system, "quality": place + number / 10}
        for number, name in enumerate("abcd")
        for place, system in enumerate(("poor", "fair", "good"))
    ]
    ratings = [
        {"item": row["item"], "system": row["system"], "listener": who, "MOS": 1 + who % 2}
        for row in scores
        for who in (1, 2, 3)
    ]
    quick: dict[str, Any] = {"draws": 5, "permutations": 5}
    known, framed = (
        ew.agree(*tables, **quick)
        for tables in ((scores, ratings), (frame(scores), frame(ratings)))
    )
    assert repr(framed) == repr(known)
