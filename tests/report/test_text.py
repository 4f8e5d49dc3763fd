"""Tables as text: columns fit the width, and each cell is measured once."""

from __future__ import annotations

import pytest

from earwitness.report import text
from earwitness.report.parts import Table
from earwitness.text.alignment import display_width

ROWS, VALUES = 40, 9
TABLE = Table(
    "scores",
    ("system", *(f"value {i}" for i in range(VALUES))),
    tuple(
        (f"系统 {n}", *(f"{n * i / 7:.3f} [0.1, 0.9]" for i in range(VALUES))) for n in range(ROWS)
    ),
)


def test_columns_that_do_not_fit_are_continued_below_with_the_names() -> None:
    table = Table("t", ("", "first", "second"), (("日本", "1.5", "2"), ("a", "10", "3")))
    assert list(text.draw_tables(table)) == [
        "t\n        first  second\n  日本    1.5       2\n  a        10       3"
    ]
    parts = list(text.draw_tables(table, 15))
    assert parts == [
        "t\n        first\n  日本    1.5\n  a        10",
        "t\n        second\n  日本       2\n  a          3",
    ]


def test_columns_are_left_out_with_a_note_if_they_may_be() -> None:
    (drawn,) = text.draw_tables(Table("t", ("", "b", "c"), (("a", "1", "2"),), may_miss=True), 6)
    assert drawn == "t (use --to md for all columns)\n     b\n  a  1"


def test_each_cell_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = list[str]()
    measure = display_width

    def count(cell: str) -> int:
        measured.append(cell)
        return measure(cell)

    monkeypatch.setattr(text, "display_width", count)
    assert len(list(text.draw_tables(TABLE, 80))) > 1
    assert len(measured) == (1 + ROWS) * (1 + VALUES)
