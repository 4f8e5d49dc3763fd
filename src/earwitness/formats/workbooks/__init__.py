"""Workbooks of raters: written one a rater, and read back whole or not at all."""

from earwitness.formats.workbooks.cells import caption_hash
from earwitness.formats.workbooks.reading import read_workbook, read_workbooks
from earwitness.formats.workbooks.returned import Finding, JudgedRow, Returned

__all__ = ["Finding", "JudgedRow", "Returned", "caption_hash", "read_workbook", "read_workbooks"]
