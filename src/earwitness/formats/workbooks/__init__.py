"""Workbooks of raters: written one a rater, and read back whole or not at all."""

from earwitness.formats.workbooks.cells import caption_hash
from earwitness.formats.workbooks.reading import read_workbook, read_workbooks
from earwitness.formats.workbooks.returned import Finding, JudgedRow, Returned
from earwitness.formats.workbooks.sent import Clip, Sent
from earwitness.formats.workbooks.writing import workbook, write_workbooks

__all__ = [
    "Clip",
    "Finding",
    "JudgedRow",
    "Returned",
    "Sent",
    "caption_hash",
    "read_workbook",
    "read_workbooks",
    "workbook",
    "write_workbooks",
]
