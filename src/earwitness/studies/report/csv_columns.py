"""Columns that the CSV tables of results share."""

from __future__ import annotations

from typing import Any

from earwitness.core import Estimate
from earwitness.studies.results import DifferenceTest

ESTIMATE_COLUMNS = ("value", "low", "high", "level", "n", "method")
TEST_COLUMNS = (*ESTIMATE_COLUMNS, "p", "p_corrected")
Row = list[Any]
TableContent = tuple[list[str], list[Row]]  # the header, and rows


def estimate_cells(estimate: Estimate | None) -> Row:
    """The columns of an estimate; empty where there is none."""
    return [getattr(estimate, name) if estimate else "" for name in ESTIMATE_COLUMNS]


def tested_cells(test: DifferenceTest) -> Row:
    """The columns of an estimate that was tested."""
    return [*estimate_cells(test.difference), test.p, test.p_corrected]


def yes_or_no(value: bool) -> str:
    """A cell that is true or false."""
    return "yes" if value else "no"


def fill_rows(rows: list[Row], width: int) -> list[Row]:
    """Rows of one width, with empty cells at the end."""
    return [row + [""] * (width - len(row)) for row in rows]
