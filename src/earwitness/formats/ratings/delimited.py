"""Tables as CSV, with commas, semicolons or tabs between columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from earwitness.formats.check import Fault, show
from earwitness.formats.ratings.table import Cell, Table, Wrong

DELIMITERS = (",", ";", "\t")
BLANKS = " \t"
Row = tuple[str, ...]


@dataclass
class CsvTable(Table):
    """Rows of text."""

    rows: list[Row] = field(default_factory=list)

    def cells(self, name: str, *, numbers: bool = False) -> Sequence[Cell]:
        del numbers  # all is text
        place = self.names.index(name)
        found = [row[place] for row in self.rows]
        bare = {cell: cell.strip(BLANKS) for cell in set(found)}
        return found if all(a == b for a, b in bare.items()) else [bare[cell] for cell in found]


def read_csv(text: str, wrong: Wrong, wanted: Collection[str]) -> CsvTable:
    """A table with the names of columns in its first row; empty rows are passed over."""
    delimiter = _delimiter(text, wanted)
    numbers, rows = _rows(text, delimiter, wrong)
    kept = [place for place, row in enumerate(rows) if any(row)]
    table = CsvTable(wrong, comma=delimiter == ";")
    if kept:
        table.names = [name.strip(BLANKS) for name in rows[kept[0]]]
    for name in dict.fromkeys(table.names):
        if name and table.names.count(name) > 1:
            table.tell(numbers[kept[0]], show(name), "the column comes twice", "keep one")
    wide = len(table.names)
    wrong.add((numbers[n], _torn(len(rows[n]), wide)) for n in kept[1:] if len(rows[n]) != wide)
    whole = [place for place in kept[1:] if len(rows[place]) == wide]
    table.lines = [numbers[place] for place in whole]
    table.rows = [rows[place] for place in whole]
    return table


def _torn(found: int, wide: int) -> Fault:
    told = f"has {found} fields, the first line has {wide}"
    return Fault("", told, "put quotes around what has a separator in it")


def _delimiter(text: str, wanted: Collection[str]) -> str:
    """What cuts the first line into most of the wanted names, then into most pieces."""
    first = text.lstrip("\r\n").partition("\n")[0].partition("\r")[0]

    def names(delimiter: str) -> tuple[int, int]:
        cut = [name.strip(BLANKS + '"') for name in first.split(delimiter)]
        return sum(name in wanted for name in cut), len(cut)

    return max(DELIMITERS, key=names)


def _rows(text: str, delimiter: str, wrong: Wrong) -> tuple[Sequence[int], list[Row]]:
    """Rows, and the line where each begins."""

    def reader() -> Any:
        lines = io.StringIO(text, newline="")
        return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)

    quick = reader()
    try:
        rows: list[Row] = list(map(tuple, quick))  # the collector passes over tuples of text
    except csv.Error:
        return _carefully(reader(), wrong)
    if len(rows) == quick.line_num:
        return range(1, len(rows) + 1), rows
    return _carefully(reader(), wrong)


def _carefully(reader: Any, wrong: Wrong) -> tuple[list[int], list[Row]]:
    """The same where rows go over several lines, or are no rows."""
    numbers, rows = list[int](), list[Row]()
    while True:
        line = reader.line_num + 1
        try:
            row = tuple(next(reader))
        except StopIteration:
            return numbers, rows
        except csv.Error as error:
            wrong.add([(line, Fault("", f"not CSV: {error}", "are all quotes closed?"))])
            continue
        numbers.append(line)
        rows.append(row)
