"""Columns of tables: text for people and records derive from one declaration."""

from __future__ import annotations

from math import nan

from earwitness.core import Contrast, Estimate, Value
from earwitness.report.columns import (
    ESTIMATE_PARTS,
    PAIR,
    Column,
    P,
    column_notes,
    draw_rows,
    record_rows,
    table_csv,
)

MOS = Value("MOS", "high", 1, 5, "mean of votes")
SHARE = Value("share", "high", 0, 1, "share of votes")
DIFFERENCE = Estimate(-0.25, -0.5, 0.0, 0.95, 1200, 3, "cluster_t")
CONTRAST = Contrast("MOS", "x", "y", DIFFERENCE, 0.00001, nan, "y")
COLUMNS = (
    Column("scale"),
    PAIR,
    Column(heading="difference", parts=ESTIMATE_PARTS, counted=True),
    P,
    Column("usual", "most frequent value", SHARE, note="share of votes with that value"),
    Column("session", hidden=True),
    Column(heading="votes"),
    Column("kept", "", show=lambda kept: "kept" if kept else "excluded"),
)
ROWS = [
    (MOS, CONTRAST, DIFFERENCE, CONTRAST.p, 0.5, 2, 12000, False),
    (MOS, CONTRAST, None, nan, nan, None, 7, True),
]


def test_text_has_the_digits_of_the_column_else_of_the_value_of_the_row() -> None:
    table = draw_rows("differences", COLUMNS, ROWS, 2)
    assert table.header == ("scale", "pair", "difference", "p", "most frequent value", "votes", "")
    assert table.rows == (
        (
            *("MOS", "x − y", "−0.25 [−0.50, 0.00] n 1,200", "<0.0001"),
            *("0.500", "12,000", "excluded"),
        ),
        ("MOS", "x − y", "–", "–", "–", "7", "kept"),
    )
    assert table.names == 2


def test_numbers_of_a_table_without_a_value_in_its_rows_have_that_of_the_table() -> None:
    columns = Column("system"), Column("mean")
    assert draw_rows("means", columns, [("x", 0.5)], value=MOS).rows == (("x", "0.50"),)
    assert draw_rows("means", columns, [("x", 0.5)]).rows == (("x", "0.5"),)


def test_records_have_keys_and_parts_and_no_column_that_is_only_shown() -> None:
    table = record_rows(COLUMNS, ROWS, "made=so")
    assert table.columns == [
        *("scale", "a", "b", "value", "low", "high", "level", "n", "undefined", "method"),
        *("p", "usual", "session", "kept"),
    ]
    first, second = table.rows
    values = [-0.25, -0.5, 0.0, 0.95, 1200, 3, "cluster_t"]
    assert first == ["MOS", "x", "y", *values, 0.00001, 0.5, 2, False]
    assert second[3:10] == [""] * 7
    assert second[12:] == ["", True]
    head, columns, *_ = table_csv(table, numpy="2").splitlines()
    assert head == '# earwitness 0.1.0 {"signature": "made=so", "numpy": "2"}'
    assert columns == ",".join(table.columns)


def test_notes_are_sentences_below_a_table() -> None:
    note = "Most frequent value: share of votes with that value."
    assert list(column_notes(COLUMNS)) == [note]
