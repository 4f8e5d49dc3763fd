"""Sheets of a workbook as plain rows; everything in them is inert."""

from __future__ import annotations

import io
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any
from xml.etree.ElementTree import ParseError
from zipfile import BadZipFile, ZipFile

from earwitness.errors import InputError, MissingExtra, Problem
from earwitness.formats.workbooks.guarded import SAVE, UNPACKED, Parts, guarded, remarks

WIDEST = 64  # columns that are read; merges and formats may go out to XFD
LONGEST = 20_000  # rows
LIMIT = f"has something below row {LONGEST:,}"
ROW = re.compile(rb'<(?:\w+:)?row\b[^>]*?\br="(\d{5,})"[^>]*>')
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\b[^>]*?\bref="\$?([A-Z]+)\$?(\d+):\$?[A-Z]+\$?(\d+)"')
SHEET = re.compile(rb"<((?:\w+:)?)worksheet\b[^>]*>")
ROWS = re.compile(rb"<((?:\w+:)?)sheetData>")
FILLED = re.compile(rb"<(?:\w+:)?(?:v|is|f)[ >]")
EMPTY = (None, "")
PLAIN = (str, int, float, bool, date, time, timedelta)


@dataclass(frozen=True)
class Formula:
    """What stands in a cell that is computed; it is never computed here."""

    text: str


Cell = str | int | float | bool | date | time | timedelta | Formula | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Sheet:
    """Rows by number, from 1, that have anything in them; merges by column, from 0."""

    name: str
    rows: Mapping[int, Row]
    merges: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)

    def at(self, row: int, column: int) -> Cell:
        """A cell, or nothing."""
        cells = self.rows.get(row, ())
        return cells[column] if column < len(cells) else None

    def spread(self, row: int, column: int) -> Cell:
        """A cell, or the one that it is merged into."""
        spans = self.merges.get(column, ())
        place = bisect_right(spans, (row, LONGEST * LONGEST)) - 1
        if place >= 0 and spans[place][0] <= row <= spans[place][1]:
            return self.at(spans[place][0], column)
        return self.at(row, column)


@dataclass(frozen=True)
class Opened:
    """All sheets, and what was passed over."""

    sheets: tuple[Sheet, ...]
    remarks: tuple[str, ...]


def opened(data: bytes, name: str, unpacked: int = UNPACKED) -> Opened:
    """The sheets of a workbook, once it was found harmless."""
    parts = guarded(data, name, unpacked)
    try:
        from openpyxl import load_workbook
        from openpyxl.utils.exceptions import InvalidFileException
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx", "reading workbooks") from None
    refusals = (InvalidFileException, BadZipFile, ParseError, KeyError, ValueError, TypeError,
                IndexError, AttributeError, SyntaxError, OverflowError, OSError)  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what openpyxl leaves out
            book = load_workbook(_bare(parts), read_only=True, keep_links=False)
            sheets = tuple(_sheet(one, parts, name) for one in book.worksheets)
    except InputError:
        raise
    except refusals as error:
        told = f"cannot be read as a workbook ({type(error).__name__})"
        raise InputError([Problem(name, 0, "", told, SAVE)], done="imported") from error
    return Opened(sheets, tuple(remarks(parts)))


def _bare(parts: Parts) -> io.BytesIO:
    """A workbook whose sheets have nothing but their rows: all else in them would be read, too."""
    held = io.BytesIO()
    with ZipFile(held, "w") as file:
        for name, part in parts.items():
            file.writestr(name, _rows_alone(part))
    return held


def _rows_alone(part: bytes) -> bytes:
    whole, begin = SHEET.search(part), ROWS.search(part)
    if whole is None or begin is None:
        return part
    end = part.rfind(b"</" + begin[1] + b"sheetData>")
    rows = part[begin.start() : end] + b"</" + begin[1] + b"sheetData>" if end > 0 else b""
    return whole[0] + rows + b"</" + whole[1] + b"worksheet>"


def _sheet(sheet: Any, parts: Parts, name: str) -> Sheet:
    raw = parts[sheet._worksheet_path.lstrip("/")]
    if _goes_on(raw):
        problem = Problem(name, 0, sheet.title, LIMIT, "keep one table a sheet")
        raise InputError([problem], done="imported")
    every = enumerate(sheet.iter_rows(max_col=WIDEST, max_row=LONGEST), 1)
    filled = {n: row for n, row in every if any(one.value not in EMPTY for one in row)}
    rows = {number: tuple(map(_cell, row)) for number, row in filled.items()}
    return Sheet(sheet.title, rows, _merges(raw))


def _goes_on(raw: bytes) -> bool:
    """Whether there is anything in rows that are not read; a format alone does not count."""
    far = next((one for one in ROW.finditer(raw) if int(one[1]) > LONGEST), None)
    last = max(raw.rfind(b"</row>"), raw.rfind(b":row>"))
    return far is not None and FILLED.search(raw, far.end(), max(last, 0)) is not None


def _merges(raw: bytes) -> dict[int, tuple[tuple[int, int], ...]]:
    """First and last rows of merges, by the column in which they begin."""
    found: dict[int, list[tuple[int, int]]] = {}
    for letters, first, last in MERGED.findall(raw):
        if len(letters) <= len("XFD") and (column := _column(letters)) < WIDEST:
            found.setdefault(column, []).append((int(first), int(last)))
    return {column: tuple(sorted(spans)) for column, spans in found.items()}


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number - 1


def _cell(cell: Any) -> Cell:
    value = cell.value
    if value is not None and cell.data_type == "f":
        return Formula(str(getattr(value, "text", value)))
    return value if value is None or isinstance(value, PLAIN) else str(value)


def letters(column: int) -> str:
    """The name of a column, from 0.

    >>> letters(0), letters(25), letters(26)
    ('A', 'Z', 'AA')
    """
    return "".join(_letters(column))


def _letters(column: int) -> Iterator[str]:
    if column >= 26:
        yield from _letters(column // 26 - 1)
    yield chr(ord("A") + column % 26)
