"""CSV, TSV and JSON tables with column access and line-numbered faults."""

from __future__ import annotations

import csv
import io
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from math import isnan
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple, Self

import msgspec

from earwitness.core import Input
from earwitness.errors import SHOWN_PROBLEMS, InputError, Problem, file_problem
from earwitness.io.binary_tables import (
    BINARY_STARTS,
    PARQUET_START,
    WORKBOOK_START,
    parquet_records,
    workbook_rows,
)
from earwitness.io.records import DECODE_ERRORS, JSON_ARRAY_MESSAGE
from earwitness.io.schema import MAX_INTEGER_NAME, BadLine, Fault, load_json_line, show
from earwitness.io.source import UTF8_BOM, RecordSource
from earwitness.version import __version__

# --- Tables and their faults ---------------------------------------------------------------------
# A cell is text, as in CSV; an empty cell is a missing value. Faults are kept with their line
# numbers: up to a thousand different ones per pass through the table; all are counted.


READ_VERB = "read"
INDEX_COLUMNS = ("", "Unnamed: 0")  # names of the index column that pandas writes and reads


class BadCell(NamedTuple):
    """A JSON value that is invalid in its column, as text."""

    shown: str


Cell = str | BadCell | Fault  # a Fault if it was reported already


@dataclass(frozen=True)
class TableWording:
    """Names of columns, rows and cells of a type of tables, for messages.

    If numbers may be ``undefined``, NaN is treated as missing. ``choice`` is the remedy if columns
    that are not wanted are refused.
    """

    columns: str = "scales"
    row: str = "rating"
    cell: str = "vote"
    undefined: bool = False
    remedy: str = "or use --column {role}=NAME or --constant {role}=VALUE"
    choice: str = ""


@dataclass
class TableFaults:
    """Faults of a file."""

    source: str
    problems: list[Problem] = field(default_factory=list)
    count: int = 0
    read_as: str = ""  # layout that was recognized, for the message

    def add(self, faults: Iterable[tuple[int, Fault]]) -> None:
        """Add faults with their lines; a repeated fault is counted with the first one."""
        first_lines: dict[Fault, int] = {}
        repeats: Counter[Fault] = Counter()
        for line, fault in faults:
            self.count += 1
            if fault in first_lines or len(first_lines) >= SHOWN_PROBLEMS:
                repeats[fault] += 1
            else:
                first_lines[fault] = line
        self.problems += [
            Problem(self.source, line, *fault, more=repeats[fault])
            for fault, line in first_lines.items()
        ]

    def tell(self, line: int, *fault: str) -> None:
        """Add one fault."""
        self.add([(line, Fault(*fault))])

    def refuse(self) -> None:
        """Raise InputError if there are faults."""
        if self.count:
            done = f"{READ_VERB} as {self.read_as}" if self.read_as else READ_VERB
            raise InputError(self.problems, self.count, done=done)


@dataclass
class InputTable(ABC):
    """Columns by name, and the line of every row; some rows lack the columns in ``partial``.

    A column without a name is never read. ``notes`` report what was ignored or renamed.
    """

    wrong: TableFaults
    names: list[str] = field(default_factory=list)
    lines: Sequence[int] = ()
    partial: frozenset[str] = frozenset()
    comma: bool = False  # numbers may have a decimal comma
    signature: str = ""  # of all rows, from the comment at the head
    has_header: bool = True  # else columns are named by their numbers, from 1
    notes: list[str] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)

    @abstractmethod
    def cells(self, name: str, *, numbers: bool = False) -> Sequence[Cell]:
        """Return the cells of a column; with ``numbers``, text in JSON is invalid."""

    def select(self, places: Sequence[int]) -> Self:
        """Return the table with some of its rows."""
        lines, rows = ([cells[place] for place in places] for cells in (self.lines, self.rows))
        return replace(self, lines=lines, rows=rows)

    def rename(self, name: str, new: str) -> None:
        """Give a column another name; an empty one hides it."""
        self.names[self.names.index(name)] = new
        self.partial = frozenset(new if column == name else column for column in self.partial)

    def hide_index(self) -> None:
        """Hide a first column that is the index of a data frame, as pandas writes it."""
        if self.names and self.names[0] in INDEX_COLUMNS and self.lines:
            cells = self.cells(self.names[0])
            if all(isinstance(cell, str) and cell.isdecimal() for cell in cells):
                self.notes.append("the first column is a row index and is ignored")
                self.rename(self.names[0], "")

    def tell(self, line: int, *fault: str) -> None:
        """Add one fault."""
        self.wrong.tell(line, *fault)


# --- CSV and TSV tables --------------------------------------------------------------------------


DELIMITERS = (",", ";", "\t")
BLANK_NUMBER_TEXTS = ("", "nan")  # empty cells of a matrix of numbers
MAX_SCALE_POINTS = 11  # up to which votes of a row may be 1, 2, 3 …; more are numbers of columns
SPACED_NUMBERS = re.compile(r"[ ]*((-?[0-9.]+|nan)[ ]+)+(-?[0-9.]+|nan)[ ]*", re.IGNORECASE)
BLANKS = " \t"
HEADER_CHARACTERS = 1 << 16  # characters in which the delimiter is looked for
Row = tuple[str, ...]


@dataclass
class CsvTable(InputTable):
    """A table of text cells."""

    def cells(self, name: str, *, numbers: bool = False) -> Sequence[Cell]:
        position = self.names.index(name)
        column = [row[position] for row in self.rows]
        text = "".join(column)
        if not any(mark in text for mark in (*BLANKS, "'")):
            return column
        stripped = {cell: unescape_cell(cell).strip(BLANKS) for cell in set(column)}
        return (
            column
            if all(a == b for a, b in stripped.items())
            else [stripped[cell] for cell in column]
        )


# Spreadsheets may take text that starts with = + - @, their full-width forms or characters that are
# dropped (tab, CR, LF, NUL, byte-order mark) for a formula. Such text gets an apostrophe, unless it
# is a number. Text with apostrophes or spaces before these also gets one, which readers remove.
FORMULA_START = re.compile(r"[' ]*[=+\-@\t\r\n\0\ufeff\uff1d\uff0b\uff0d\uff20]")
NUMBER = re.compile(r"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|inf)", re.IGNORECASE)


class _CsvLines(list[str]):
    """Lines from a CSV writer, which quotes CR and LF alike only if its lines end in both."""

    def write(self, line: str) -> None:
        self.append(line[:-2] + "\n")


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV that spreadsheets do not calculate; undefined numbers are empty.

    >>> print(csv_text([("=1+1", "-3.5", -3.5, float("nan"), "it's", "'@a")]), end="")
    '=1+1,-3.5,-3.5,,it's,''@a
    """
    lines = _CsvLines()
    csv.writer(lines).writerows(map(_escape_cell, row) for row in rows)
    return "".join(lines)


# First line of a CSV file of results: what is the same for all rows, as JSON.
COMMENT = re.compile(r'\ufeff?"?# earwitness \S+ (.*)\r?\n?')


def comment_line(**provenance: Any) -> str:
    """Return the comment at the head of a CSV file, which readers skip.

    >>> print(comment_line(signature="collar(collar=3.0)"), end="")
    # earwitness 0.1.0 {"signature": "collar(collar=3.0)"}
    """
    return f"# earwitness {__version__} {json.dumps(provenance, ensure_ascii=False)}\n"


def records_csv(records: Sequence[Mapping[str, Any]]) -> str:
    """Return records as CSV, with one column per key of any record."""
    columns = list(dict.fromkeys(chain.from_iterable(records)))
    return csv_text([columns, *([record.get(name) for name in columns] for record in records)])


def _escape_cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else str(value)
    text = "" if value is None else str(value)
    return f"'{text}" if FORMULA_START.match(text) and not NUMBER.fullmatch(text) else text


def unescape_cell(cell: str) -> str:
    """Return the text of a cell that was written by ``csv_text``.

    >>> [unescape_cell(cell) for cell in ("'=1+1", "''=1+1", "-3.5", "'tis")]
    ['=1+1', "'=1+1", '-3.5', "'tis"]
    """
    return cell[1:] if cell[:1] == "'" and FORMULA_START.match(cell) else cell


def read_csv(text: str, wrong: TableFaults, wanted: Collection[str]) -> CsvTable:
    """Read a table with column names in the first row; empty rows and a comment are skipped.

    A first row of numbers has no column names: the table is a matrix of numbers.
    """
    signature = ""
    if comment := COMMENT.match(text):
        signature, text = _read_signature(comment[1]), f"\n{text[comment.end() :]}"
    delimiter = _find_delimiter(text, wanted)
    text = re.sub(r" +$", "", text, flags=re.MULTILINE) if delimiter == " " else text
    numbers, rows = _split_rows(text, delimiter, wrong)
    nonempty = [place for place, row in enumerate(rows) if any(row)]
    table = CsvTable(wrong, comma=delimiter == ";", signature=signature)
    if nonempty:
        table.names = [unescape_cell(name).strip(BLANKS) for name in rows[nonempty[0]]]
    if len(nonempty) > 1 and _are_numbers(table.names, rows[nonempty[1]]):
        table.has_header, table.names = False, [str(n + 1) for n in range(len(table.names))]
    for name in dict.fromkeys(table.names):
        if name and table.names.count(name) > 1:
            table.tell(numbers[nonempty[0]], show(name), "duplicate column", "keep one")
    width = len(table.names)
    filled = nonempty[1:] if table.has_header else nonempty
    wrong.add(
        (numbers[n], _width_fault(len(rows[n]), width)) for n in filled if len(rows[n]) != width
    )
    complete = [place for place in filled if len(rows[place]) == width]
    table.lines = [numbers[place] for place in complete]
    table.rows = [rows[place] for place in complete]
    return table


def _are_numbers(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether two rows have numbers only, and the first does not number columns."""
    rows = [[cell.strip(BLANKS).lower() for cell in row] for row in (first, second)]
    filled = [[cell for cell in row if cell not in BLANK_NUMBER_TEXTS] for row in rows]
    if not (all(filled) and len(first) > 1 and first[0]):
        return False
    numbering = [str(n) for n in range(1, len(first) + 1)]
    return (rows[0] != numbering or len(first) <= MAX_SCALE_POINTS) and all(
        NUMBER.fullmatch(cell.replace(",", ".")) for row in filled for cell in row
    )


def _read_signature(comment: str) -> str:
    """Return the signature in a comment, which a spreadsheet may have changed."""
    try:
        facts = json.loads(comment)
    except ValueError:
        return ""
    return str(facts.get("signature", "")) if isinstance(facts, dict) else ""


def _width_fault(fields: int, width: int) -> Fault:
    message = f"has {fields} fields, the first line has {width}"
    return Fault("", message, "put quotes around cells that contain a separator")


def _find_delimiter(text: str, wanted: Collection[str]) -> str:
    """Return the delimiter that gives most of the wanted names, then most fields.

    Numbers in the first line may also be separated by spaces.
    """
    if SPACED_NUMBERS.fullmatch(text.lstrip().partition("\n")[0].rstrip("\r")):
        return " "

    def names(delimiter: str) -> tuple[int, int]:
        lines = io.StringIO(text[:HEADER_CHARACTERS], newline="")
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
        pieces = [name.strip(BLANKS) for name in next(filter(None, rows), [])]
        return sum(name in wanted for name in pieces), len(pieces)

    return max(DELIMITERS, key=names)


def _split_rows(text: str, delimiter: str, wrong: TableFaults) -> tuple[Sequence[int], list[Row]]:
    """Return rows, and the line at which each starts."""

    def reader() -> Any:
        lines = io.StringIO(text, newline="")
        return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)

    fast_reader = reader()
    try:
        rows: list[Row] = list(map(tuple, fast_reader))  # garbage collection skips tuples of text
    except csv.Error:
        return _split_rows_carefully(reader(), wrong)
    if len(rows) == fast_reader.line_num:
        return range(1, len(rows) + 1), rows
    return _split_rows_carefully(reader(), wrong)


def _split_rows_carefully(reader: Any, wrong: TableFaults) -> tuple[list[int], list[Row]]:
    """Return rows and lines if rows span several lines or are invalid."""
    numbers, rows = list[int](), list[Row]()
    while True:
        line = reader.line_num + 1
        try:
            row = tuple(next(reader))
        except StopIteration:
            return numbers, rows
        except csv.Error as error:
            wrong.tell(line, "", f"not CSV: {error}", "check that all quotes are closed")
            continue
        numbers.append(line)
        rows.append(row)


# --- JSON Lines tables ---------------------------------------------------------------------------
# The fields of an object ``values`` are treated as columns.


NAME_CELL_TYPES = {str, int, NoneType}


@dataclass
class JsonTable(InputTable):
    """A table of JSON values."""

    written: dict[str, str] = field(default_factory=dict)  # names in the file, if changed

    def rename(self, name: str, new: str) -> None:
        super().rename(name, new)
        self.written[new] = self.written.pop(name, name)

    def cells(self, name: str, *, numbers: bool = False) -> Sequence[Cell]:
        written = self.written.get(name, name)
        values: list[Any] = [row.get(written) for row in self.rows]
        to_cell = _number_cell if numbers else _name_cell
        if set(map(type, values)) <= ({str, int, float, NoneType} if numbers else NAME_CELL_TYPES):
            cells = {
                value: to_cell(value) for value in set(values)
            }  # 1 and 1.0 are the same number
            return [cells[value] for value in values]
        return [to_cell(value) for value in values]


def _number_cell(value: Any) -> Cell:
    if value is None or value == "":
        return ""
    is_number = isinstance(value, float) or (
        isinstance(value, int) and abs(value) <= MAX_INTEGER_NAME
    )
    return repr(value) if is_number and not isinstance(value, bool) else BadCell(_show_value(value))


def _name_cell(value: Any) -> Cell:
    if value is None or isinstance(value, str):
        return value or ""
    is_integer = (
        isinstance(value, int) and not isinstance(value, bool) and abs(value) <= MAX_INTEGER_NAME
    )
    return str(value) if is_integer else BadCell(_show_value(value))


def _show_value(value: Any) -> str:
    try:
        return show(value)
    except (ValueError, RecursionError):  # Python's limits on digits and depth
        return "a value too long to show"


def read_json(lines: list[bytes], wrong: TableFaults) -> JsonTable:
    """Read one object per line."""
    numbers, rows = list[int](), list[dict[str, Any]]()
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    for number, line in enumerate(lines, 1):
        try:
            row: Any = decode(line)
        except DECODE_ERRORS:
            if not line.strip():
                continue
            row = _decode_slowly(line, number, wrong)
        if isinstance(row, dict):
            numbers.append(number)
            rows.append(_flatten_values(row))
    return _json_table(numbers, rows, wrong)


def _json_table(
    numbers: list[int], rows: list[dict[str, Any]], wrong: TableFaults, *notes: str
) -> JsonTable:
    shapes = list(dict.fromkeys(map(tuple, rows)))
    names = list(dict.fromkeys(name for shape in shapes for name in shape))
    partial = frozenset(n for n in names if any(n not in shape for shape in shapes))
    return JsonTable(wrong, names, numbers, partial, notes=list(notes), rows=rows)


def _flatten_values(row: dict[str, Any]) -> dict[str, Any]:
    inner = row.get("values")
    if not isinstance(inner, dict):
        return row
    return {name: value for name, value in row.items() if name != "values"} | inner


def _decode_slowly(line: bytes, number: int, wrong: TableFaults) -> Any:
    """Decode a line that the fast decoder rejected, which may have a NaN."""
    try:
        row = load_json_line(line)
    except BadLine as bad:
        wrong.tell(number, *bad.fault)
        return None
    if not isinstance(row, dict):
        wrong.tell(number, "", f"must be an object, got {_show_value(row)}")
    return row


# --- JSON documents as tables --------------------------------------------------------------------
# A whole file may be one JSON document: an array of objects, or the result file of another tool,
# from which ``unfold`` takes the records. Problems then have the number of an entry as their line.


JsonUnfolder = Callable[[Any, TableFaults], list[dict[str, Any]] | None]


def read_document(
    lines: list[bytes], wrong: TableFaults, unfold: JsonUnfolder | None
) -> JsonTable | None:
    """Read a file that is one JSON document; None if it has one object per line."""
    text = b"\n".join(lines)
    is_array = text.lstrip().startswith(b"[")
    try:
        document = msgspec.json.decode(text)
    except DECODE_ERRORS:
        document = _load_document(text) if is_array else None
    if document is None:
        if is_array:
            wrong.tell(1, "", JSON_ARRAY_MESSAGE, "or check that the array is complete")
            wrong.refuse()
        return None
    records = unfold(document, wrong) if unfold else None
    wrong.refuse()
    if records is None and not is_array:
        return None
    entries = document if records is None else records
    bad = [
        (n, Fault("", f"must be an object, got {_show_value(entry)}"))
        for n, entry in enumerate(entries, 1)
        if not isinstance(entry, dict)
    ]
    wrong.add(bad)
    wrong.refuse()
    note = "" if records is not None else "the file is a JSON array; its entries are read as rows"
    rows = [_flatten_values(entry) for entry in entries]
    return _json_table(list(range(1, len(rows) + 1)), rows, wrong, *([note] if note else []))


def _load_document(text: bytes) -> Any:
    """Decode a document that the fast decoder rejected, which may have a NaN."""
    try:
        return load_json_line(text)
    except BadLine:
        return None


# --- Opening a table file ------------------------------------------------------------------------


UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")
SHEET_REMEDY = "save its sheet as CSV (UTF-8)"
# first bytes of files that are no text tables: what they are, and the remedy
BINARY_KINDS = {
    WORKBOOK_START: ("is an Excel workbook or another ZIP archive, not a text table", SHEET_REMEDY),
    b"\xd0\xcf\x11\xe0": ("is an Excel workbook (.xls), not a text table", SHEET_REMEDY),
    PARQUET_START: ("is a Parquet file, not a text table", "save it as CSV or JSON Lines"),
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        ("is a Python pickle, which is never opened: it can run any code", "export CSV or JSON"),
    ),
}


def read_table(
    source: RecordSource, wanted: Collection[str], unfold: JsonUnfolder | None = None
) -> tuple[InputTable, Input]:
    """Read a table; ``wanted`` are column names from which the delimiter is detected.

    ``unfold`` takes the records out of a JSON document. Of a workbook, the first sheet with a table
    is read.
    """
    if source.starts_with(*BINARY_STARTS):
        return _read_binary(source.again(), wanted)
    try:
        lines = [line for block in source.blocks() for line in block.lines]
    except InputError as error:
        raise InputError(error.problems, error.count, done=READ_VERB) from None
    wrong, first = TableFaults(source.name), next((line for line in lines if line.strip()), b"")
    kind = next((kind for start, kind in BINARY_KINDS.items() if first.startswith(start)), None)
    if not first:
        wrong.tell(1, "", "is empty")
    elif kind is not None:
        wrong.tell(0, "", *kind)
    wrong.refuse()
    table = _read_lines(source, lines, first.lstrip(), wrong, wanted, unfold)
    table.hide_index()
    return table, source.read()


def _read_binary(source: RecordSource, wanted: Collection[str]) -> tuple[InputTable, Input]:
    """Read an Excel workbook or a Parquet file."""
    data, wrong = source.content(), TableFaults(source.name)
    table: InputTable = CsvTable(wrong)
    try:
        if data.startswith(PARQUET_START):
            records = RecordSource(parquet_records(data), source.name)
            table = read_json([line for block in records.blocks() for line in block.lines], wrong)
        else:
            rows, note = workbook_rows(data)
            table = read_csv(csv_text(rows), wrong, wanted)
            table.notes += filter(None, [note])
    except ValueError as error:
        wrong.tell(0, "", str(error), "save it as CSV (UTF-8)")
    if not wrong.count and not table.rows:
        wrong.tell(0, "", "has no table")
    wrong.refuse()
    table.hide_index()
    return table, source.read()


def _read_lines(
    source: RecordSource,
    lines: list[bytes],
    first: bytes,
    wrong: TableFaults,
    wanted: Collection[str],
    unfold: JsonUnfolder | None,
) -> InputTable:
    ending = source.name.removesuffix(".gz").removesuffix(".zst").lower()
    if first.startswith(b"[") or (unfold and first.startswith(b"{") and _is_document(lines)):
        document = read_document(lines, wrong, unfold)
        if document is not None:
            return document
    if ending.endswith((".jsonl", ".ndjson")) or first.startswith(b"{"):
        return read_json(lines, wrong)
    return read_csv(_decode_text(lines, wrong), wrong, wanted)


def _is_document(lines: list[bytes]) -> bool:
    """Return whether the first object may be the whole file, in one line or in several."""
    full = [line for line in lines if line.strip()]
    return len(full) == 1 or not full[0].rstrip().endswith(b"}")


def _decode_text(lines: list[bytes], wrong: TableFaults) -> str:
    content = b"\n".join(lines)
    if content.startswith(UTF16_BOMS):
        wrong.tell(1, "", "is UTF-16", "save as UTF-8")
        wrong.refuse()
    try:
        return content.decode()
    except UnicodeDecodeError:
        bad = [(n, start) for n, line in enumerate(lines, 1) if (start := _undecoded_byte(line))]
        line, start = bad[0]
        others = f" ({len(bad):,} such lines)" if len(bad) > 1 else ""
        wrong.tell(line, "", f"not UTF-8 at byte {start}{others}", "save as UTF-8")
        wrong.refuse()
        raise


def _undecoded_byte(line: bytes) -> int:
    """Return the number of the first byte that is not UTF-8, or 0."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return error.start + 1
    return 0


# --- Rows as plain objects -----------------------------------------------------------------------


TABLE_ERRORS = (OSError, ValueError, csv.Error)  # ValueError: not UTF-8, or NUL in a name


@contextmanager
def open_csv(
    path: Path, delimiter: str = ","
) -> Iterator[tuple[list[str], Iterator[tuple[int, dict[str, Any]]]]]:
    """Yield the columns of a CSV file, and its rows with their line numbers.

    Missing cells of a short row are None; surplus cells of a long row have the key None.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        lines = chain(["\n" if COMMENT.fullmatch(first) else first], file)
        reader = csv.reader(lines, delimiter=delimiter)
        rows = (
            [unescape_cell(cell) if cell[:1] == "'" else cell for cell in cells]
            for cells in reader
            if cells
        )
        columns = next(rows, [])
        yield columns, ((reader.line_num, _named_cells(columns, cells)) for cells in rows)


def _named_cells(columns: Sequence[str], cells: Sequence[str]) -> dict[Any, Any]:
    row: dict[Any, Any] = dict(zip(columns, cells, strict=False))
    row |= dict.fromkeys(columns[len(cells) :])
    return row | {None: surplus} if (surplus := cells[len(columns) :]) else row


@dataclass
class RowTable:
    """Rows of a file with their line numbers, and problems of the file.

    ``columns`` are those of a CSV file; None for JSON Lines.
    """

    columns: list[str] | None = None
    rows: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def delimiter_remedy(columns: Sequence[str]) -> str:
    """Return the remedy for a header that commas do not divide; an empty text for others.

    >>> delimiter_remedy(["recording;room"])
    'separate columns with commas'
    """
    is_undivided = len(columns) == 1 and any(mark in columns[0] for mark in ";\t")
    return "separate columns with commas" if is_undivided else ""


def read_row_table(path: Path, remedy: str = "", *, delimiter: str | None = ",") -> RowTable:
    """Read all rows of a CSV file, or of a JSON Lines file (.jsonl).

    Rows are as in ``open_csv``. Without a delimiter, the most frequent one of the first line is
    used. If the file cannot be read, the problem has ``remedy``.
    """
    table = RowTable()
    try:
        if path.suffix == ".jsonl":
            wrong = TableFaults(str(path))
            table.rows, table.problems = list(_read_objects(path, wrong)), wrong.problems
        else:
            if delimiter is None:
                head = path.read_bytes().partition(b"\n")[0]
                delimiter = max(DELIMITERS, key=lambda mark: head.count(mark.encode()))
            with open_csv(path, delimiter) as (columns, rows):
                table.columns, table.rows = columns, list(rows)
            _drop_index(table)
    except TABLE_ERRORS as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        problem = file_problem(path, f"cannot be read: {reason}", remedy)
        return RowTable(problems=[problem])
    return table


def _drop_index(table: RowTable) -> None:
    """Remove a first column that is the index of a data frame."""
    name = table.columns[0] if table.columns else None
    if table.columns and name in INDEX_COLUMNS and table.columns.count(name) == 1:
        cells = [row[name] for _, row in table.rows]
        if all(isinstance(cell, str) and cell.strip().isdecimal() for cell in cells):
            table.columns = table.columns[1:]
            table.rows = [
                (line, {key: cell for key, cell in row.items() if key != name})
                for line, row in table.rows
            ]


def _read_objects(path: Path, wrong: TableFaults) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield objects with their line numbers; faults of other lines are added to ``wrong``."""
    for number, line in enumerate(path.read_bytes().removeprefix(UTF8_BOM).splitlines(), 1):
        row = _decode_slowly(line, number, wrong) if line.strip() else None
        if isinstance(row, dict):
            yield number, row
