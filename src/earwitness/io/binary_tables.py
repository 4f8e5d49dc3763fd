"""Rows of Excel workbooks and Parquet files."""

from __future__ import annotations

import io
import warnings
from importlib import import_module
from typing import Any
from zipfile import ZipFile

from earwitness.errors import MissingExtra
from earwitness.io.frames import frame_records

BINARY_STARTS = WORKBOOK_START, PARQUET_START = b"PK\x03\x04", b"PAR1"
WORKBOOK_PART = "xl/workbook.xml"
MAX_UNPACKED_BYTES = 1 << 28
MAX_EMPTY_ROWS = 1000  # one after the other, after which a sheet has no more rows
LIBRARIES = ("polars", "pandas")  # that read Parquet


def workbook_rows(data: bytes) -> tuple[list[list[str]], str]:
    """Return the rows of the first sheet with a table, and a note on other sheets.

    Raises ValueError if the workbook cannot be read.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx", "reading workbooks") from None
    try:
        with ZipFile(io.BytesIO(data)) as parts:
            if WORKBOOK_PART not in parts.namelist():
                raise ValueError("is a ZIP archive, not a table")
            if sum(part.file_size for part in parts.infolist()) > MAX_UNPACKED_BYTES:
                raise ValueError("is too large a workbook")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about content that is not read
            book = load_workbook(io.BytesIO(data), True, data_only=True, keep_links=False)
            sheets = {sheet.title: _sheet_rows(sheet) for sheet in book.worksheets}
    except ValueError:
        raise
    except Exception as error:  # which ones damaged parts raise is not documented
        raise ValueError(f"cannot be read as a workbook: {error}") from error
    filled = {title: rows for title, rows in sheets.items() if sum(map(any, rows)) > 1}
    first, *others = filled or [""]
    note = f'sheet "{first}" is read; other sheets: {", ".join(others)}' if others else ""
    return filled.get(first, []), note


def _sheet_rows(sheet: Any) -> list[list[str]]:
    """Return the rows of a sheet as texts, all with the same number of cells."""
    rows = list[list[str]]()
    empty = 0
    for cells in sheet.iter_rows(values_only=True):
        rows.append([_cell_text(cell) for cell in cells])
        empty = 0 if any(rows[-1]) else empty + 1
        if empty > MAX_EMPTY_ROWS:
            break
    width = max((n for row in rows for n, cell in enumerate(row, 1) if cell), default=0)
    return [[*row[:width], *[""] * (width - len(row))] for row in rows]


def _cell_text(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return "" if cell is None else " ".join(str(cell).split())


def parquet_records(data: bytes) -> list[dict[str, Any]]:
    """Return one record per row; raises ValueError if the file cannot be read."""
    for library in LIBRARIES:
        try:
            frame = import_module(library).read_parquet(io.BytesIO(data))
        except ImportError:
            continue
        except Exception as error:  # of damaged files; which ones is not documented
            reason = str(error).strip().partition("\n")[0]
            raise ValueError(f"cannot be read as Parquet: {reason}") from error
        return frame_records(frame)
    raise MissingExtra("polars", "polars", "reading Parquet files")
