"""Columns shared by the CSV tables of results."""

from __future__ import annotations

from typing import Any

from earwitness.core import Estimate
from earwitness.studies.results import DifferenceTest

ESTIMATE_COLUMNS = ("value", "low", "high", "level", "n", "method")
TEST_COLUMNS = (*ESTIMATE_COLUMNS, "p", "p_corrected")
Row = list[Any]
TableContent = tuple[list[str], list[Row]]  # header and rows


def estimate_cells(estimate: Estimate | None) -> Row:
    """Return the cells of an estimate; empty cells if it is None."""
    return [getattr(estimate, name) if estimate else "" for name in ESTIMATE_COLUMNS]


def tested_cells(test: DifferenceTest) -> Row:
    """Return the cells of a tested difference."""
    return [*estimate_cells(test.difference), test.p, test.p_corrected]


def yes_or_no(value: bool) -> str:
    """Return "yes" or "no"."""
    return "yes" if value else "no"


def fill_rows(rows: list[Row], width: int) -> list[Row]:
    """Pad rows with empty cells to the same width."""
    return [row + [""] * (width - len(row)) for row in rows]
