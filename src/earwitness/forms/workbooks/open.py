"""Safe reading of .xlsx files as rows, with limits on size and content."""

from __future__ import annotations

import io
import posixpath
import re
import warnings
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from earwitness.errors import CodedFault, InputError, MissingExtra, whole_characters
from earwitness.forms.workbooks.wording import fault, fault_problem

# --- Safety checks before opening ----------------------------------------------------------------
# A workbook is a zip file of XML parts. The zip directory has the unpacked sizes, and no more than
# that is unpacked, so zip bombs are detected before unpacking. Pictures and other parts that are
# not XML are not unpacked. Parts that declare entities, or whose encoding could hide declarations,
# are refused. Links to other workbooks are not followed, and macros are not run.
#
# Which exceptions the libraries for zip and XML raise for damaged bytes is not documented, so any
# of them is a refusal; only calls of these libraries are inside ``_refuse_unreadable``.


MEGABYTE = 1 << 20
MAX_FILE_BYTES = 20 * MEGABYTE  # size of the file
MAX_UNPACKED_BYTES = 64 * MEGABYTE  # total of all parts that are read
MAX_UPLOAD_UNPACKED_BYTES = 2 * MEGABYTE  # the same for uploads
MIN_BYTES_PER_CELL = 20  # minimum average size of a cell
OTHER_PART_DIVISOR = 8  # limit of each part other than sheets and their texts
SHEET_PART_PREFIXES = ("xl/worksheets/", "xl/sharedStrings")
READ_PART_SUFFIXES = (".xml", ".rels")  # suffixes of parts that are read
MAX_PARTS = 2000
MAX_COMPRESSION_RATIO = 300  # of parts larger than a megabyte
CELL_TAG = re.compile(rb"<(?:\w+:)?c[ />]")
MAX_ERROR_CHARACTERS = 200  # of an error of a library, in messages
DIRECTORY_ENTRY_MAGIC = b"PK\x01\x02"
OLE_MAGIC = b"\xd0\xcf\x11\xe0"
UTF16_STARTS = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")  # start of UTF-16 text
XML_ENCODING = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*<\?xml[^<>]*\sencoding\s*=\s*["']([\w.-]+)""")
SAFE_ENCODINGS = (b"utf-8", b"us-ascii", b"ascii")
PARTS_FAULT = fault("parts", number=f"{MAX_PARTS:,}")
Parts = dict[str, bytes]


def read_parts(data: bytes, name: str, unpacked: int = MAX_UNPACKED_BYTES) -> Parts:
    """Return the parts of a workbook; raise InputError if it is refused."""
    if wrong := _check_file(data):
        raise _refusal(name, wrong)
    with _refuse_unreadable(name):
        file = ZipFile(io.BytesIO(data))
    directory = file.infolist()
    if wrong := next(_check_directory(directory, unpacked), None):
        raise _refusal(name, wrong)
    parts = {
        part.filename: _unpack(file, part, name) if _is_read(part) else b"" for part in directory
    }
    wrong = next((wrong for text in parts.values() if (wrong := _check_part(text))), None)
    wrong = wrong or _check_cells(parts, unpacked // MIN_BYTES_PER_CELL)
    if wrong is not None:
        raise _refusal(name, wrong)
    return parts


def content_remarks(parts: Parts) -> Iterator[str]:
    """Yield notes on ignored content of a workbook."""
    if any(name.startswith("xl/externalLinks/") for name in parts):
        yield "has links to other workbooks, which were not followed"
    if any(name.endswith("vbaProject.bin") for name in parts):
        yield "has macros, which were not run"


def _refusal(name: str, wrong: CodedFault, sheet: str = "") -> InputError:
    return InputError([fault_problem(wrong, name, field=sheet)], done="imported")


@contextmanager
def _refuse_unreadable(name: str) -> Iterator[None]:
    """Refuse the workbook if a library for zip or XML raises any error."""
    try:
        yield
    except Exception as error:
        reason = whole_characters(str(error) or type(error).__name__)[:MAX_ERROR_CHARACTERS]
        raise _refusal(name, fault("unreadable_workbook", value=reason)) from error


def _unpack(file: ZipFile, part: ZipInfo, name: str) -> bytes:
    """Return a part; reading one byte more than its size also checks its sum."""
    with _refuse_unreadable(name), file.open(part) as stream:
        return stream.read(part.file_size + 1)


def _check_file(data: bytes) -> CodedFault | None:
    if len(data) > MAX_FILE_BYTES:
        return fault("large_file", number=MAX_FILE_BYTES // MEGABYTE)
    if data.startswith(OLE_MAGIC):
        return fault("locked_or_old")
    if not data.startswith(b"PK"):
        return fault("not_xlsx")
    if data.count(DIRECTORY_ENTRY_MAGIC) > 10 * MAX_PARTS:  # before all of them are read
        return PARTS_FAULT
    return None


def _is_read(part: ZipInfo) -> bool:
    return part.filename.lower().endswith(READ_PART_SUFFIXES)


def _check_directory(parts: Sequence[ZipInfo], unpacked: int) -> Iterator[CodedFault]:
    """Yield faults found in the zip directory."""
    names = [part.filename for part in parts]
    if any(part.flag_bits & 1 for part in parts):
        yield fault("locked")
    if len(parts) > MAX_PARTS or len({*names}) < len(names):
        yield PARTS_FAULT
    read = [part for part in parts if _is_read(part)]
    if sum(part.file_size for part in read) > unpacked:
        yield fault("unpacked", number=unpacked // MEGABYTE)
    for part in read:
        is_sheet = part.filename.startswith(SHEET_PART_PREFIXES)
        if part.file_size > unpacked // OTHER_PART_DIVISOR and not is_sheet:
            yield fault("large_part", name=part.filename)
    for part in read:
        if part.file_size > max(MEGABYTE, MAX_COMPRESSION_RATIO * part.compress_size):
            yield fault("compressed_part", name=part.filename, number=MAX_COMPRESSION_RATIO)
        if part.compress_type not in (ZIP_STORED, ZIP_DEFLATED):  # unpacked without a limit
            yield fault("compression", name=part.filename)
    if "xl/workbook.bin" in names or "content.xml" in names:
        yield fault("other_format")
    if "[Content_Types].xml" not in names or not any(part.startswith("xl/") for part in names):
        yield fault("not_xlsx")


def _check_cells(parts: Parts, most: int) -> CodedFault | None:
    """Return a fault if there are too many cells, which take long to read."""
    sheets = (part for name, part in parts.items() if name.startswith(SHEET_PART_PREFIXES))
    count = sum(len(CELL_TAG.findall(part)) for part in sheets)
    return fault("cells", number=f"{most:,}") if count > most else None


def _check_part(part: bytes) -> CodedFault | None:
    """Return a fault if a part declares entities or is not UTF-8."""
    if b"<!DOCTYPE" in part or b"<!ENTITY" in part:
        return fault("entities")
    declared = XML_ENCODING.match(part)
    if part.startswith(UTF16_STARTS) or (declared and declared[1].lower() not in SAFE_ENCODINGS):
        return fault("encoding")
    return None


# --- Sheets as plain rows ------------------------------------------------------------------------


MAX_COLUMNS = 64  # columns that are read; merges and formats may extend to XFD
MAX_ROWS = 20_000
# Tags end before the next "<", so that a search takes linear time.
ROW_TAG = re.compile(rb'<(?:\w+:)?row\b[^<>]*?\br="0*(\d{5,9})\d*"[^<>]*>')
MERGE_TAG = re.compile(
    rb'<(?:\w+:)?mergeCell\b[^<>]*?\bref="\$?([A-Z]{1,3})\$?(\d{1,7}):\$?([A-Z]{1,3})\$?(\d{1,7})"'
)
WORKSHEET_TAG = re.compile(rb"<((?:\w+:)?)worksheet\b[^<>]*>")
SHEET_DATA_TAG = re.compile(rb"<((?:\w+:)?)sheetData>")
CELL_REFERENCE = re.compile(r"([A-Z]{1,3})(\d{1,7})", re.ASCII)
COMMENT_KINDS = ("comments", "threadedComment")  # the latter replace copies among the former
CONTENT_TAG = re.compile(rb"<(?:\w+:)?(?:v|is|f)[ >]")
EMPTY_VALUES = (None, "")
PLAIN_TYPES = (str, int, float, bool, date, time, timedelta)


@dataclass(frozen=True)
class CellFormula:
    """Formula of a cell; it is never evaluated."""

    text: str


Cell = str | int | float | bool | date | time | timedelta | CellFormula | None
Row = tuple[Cell, ...]


@dataclass(frozen=True)
class Sheet:
    """Filled rows by number (from 1), and merged cells by column (from 0).

    ``banners`` has the first and last column of cells merged across columns, by their first row,
    ``comments`` the comments on cells by row and column.
    """

    name: str
    rows: Mapping[int, Row]
    merges: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    banners: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    comments: Mapping[tuple[int, int], str] = field(default_factory=dict)

    def at(self, row: int, column: int) -> Cell:
        """Return a cell, or None."""
        cells = self.rows.get(row, ())
        return cells[column] if column < len(cells) else None

    def spread(self, row: int, column: int) -> Cell:
        """Return a cell, or the cell that it is merged into."""
        spans = self.merges.get(column, ())
        place = bisect_right(spans, (row, MAX_ROWS * MAX_ROWS)) - 1
        if place >= 0 and spans[place][0] <= row <= spans[place][1]:
            return self.at(spans[place][0], column)
        return self.at(row, column)


@dataclass(frozen=True)
class WorkbookSheets:
    """All sheets, and notes on ignored content."""

    sheets: tuple[Sheet, ...]
    remarks: tuple[str, ...]


def open_workbook(data: bytes, name: str, unpacked: int = MAX_UNPACKED_BYTES) -> WorkbookSheets:
    """Return the sheets of a workbook after all safety checks."""
    parts = read_parts(data, name, unpacked)
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtra("openpyxl", "xlsx", "reading workbooks") from None
    rows_only = {part: _keep_rows(text) for part, text in parts.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about content that openpyxl ignores
        with _refuse_unreadable(name):
            packed = _pack(rows_only)
            worksheets = load_workbook(packed, read_only=True, keep_links=False).worksheets
        sheets = tuple(_read_sheet(sheet, parts, name) for sheet in worksheets)
    return WorkbookSheets(sheets, tuple(content_remarks(parts)))


def _pack(parts: Parts) -> io.BytesIO:
    held = io.BytesIO()
    with ZipFile(held, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return held


def _keep_rows(part: bytes) -> bytes:
    """Return a sheet with only its rows, so that nothing else is read."""
    whole, begin = WORKSHEET_TAG.search(part), SHEET_DATA_TAG.search(part)
    if whole is None or begin is None:
        return part
    end = part.rfind(b"</" + begin[1] + b"sheetData>")
    rows = part[begin.start() : end] + b"</" + begin[1] + b"sheetData>" if end > 0 else b""
    return whole[0] + rows + b"</" + whole[1] + b"worksheet>"


def _read_sheet(sheet: Any, parts: Parts, name: str) -> Sheet:
    path = sheet._worksheet_path
    raw = parts[path]
    if _exceeds_row_limit(raw):
        raise _refusal(name, fault("rows", number=f"{MAX_ROWS:,}"), sheet.title)
    numbered_rows = enumerate(_iterate_rows(sheet, name), 1)
    filled = {
        n: row for n, row in numbered_rows if any(cell.value not in EMPTY_VALUES for cell in row)
    }
    rows = {number: tuple(map(_read_cell, row)) for number, row in filled.items()}
    return Sheet(sheet.title, rows, *_read_merges(raw), _read_comments(parts, path, name))


def _iterate_rows(sheet: Any, name: str) -> Iterator[tuple[Any, ...]]:
    with _refuse_unreadable(name):
        yield from sheet.iter_rows(max_col=MAX_COLUMNS, max_row=MAX_ROWS)


def _exceeds_row_limit(raw: bytes) -> bool:
    """Return whether rows beyond the limit have content; formats do not count."""
    far = next((tag for tag in ROW_TAG.finditer(raw) if int(tag[1]) > MAX_ROWS), None)
    last = max(raw.rfind(b"</row>"), raw.rfind(b":row>"))
    return far is not None and CONTENT_TAG.search(raw, far.end(), max(last, 0)) is not None


def _read_merges(
    raw: bytes,
) -> tuple[dict[int, tuple[tuple[int, int], ...]], dict[int, tuple[int, int]]]:
    """Return rows of merged cells by first column, and columns of wide ones by first row."""
    merges: dict[int, list[tuple[int, int]]] = {}
    banners: dict[int, tuple[int, int]] = {}
    for letters, first, last_letters, last in MERGE_TAG.findall(raw):
        column, last_column = _column_number(letters), _column_number(last_letters)
        if column < MAX_COLUMNS:
            merges.setdefault(column, []).append((int(first), int(last)))
            if last_column > banners.get(int(first), (0, column))[1]:
                banners[int(first)] = column, last_column
    return {column: tuple(sorted(spans)) for column, spans in merges.items()}, banners


def _read_comments(parts: Parts, path: str, name: str) -> dict[tuple[int, int], str]:
    """Return the comments of a sheet by row and column.

    Comments with replies are in a part of their own, and copied for old programs.
    """
    folder, _, file = path.rpartition("/")
    relations = _parse_part(parts, f"{folder}/_rels/{file}.rels", name)
    targets = {
        (kind, posixpath.normpath(posixpath.join(f"/{folder}", relation.get("Target", ""))))
        for relation in relations.iterfind("{*}Relationship")
        if (kind := relation.get("Type", "").rpartition("/")[2]) in COMMENT_KINDS
    }
    comments: dict[tuple[int, int], str] = {}
    for _, target in sorted(targets):
        comments |= _comment_texts(_parse_part(parts, target.lstrip("/"), name))
    return comments


def _parse_part(parts: Parts, path: str, name: str) -> Any:
    from openpyxl.xml.functions import fromstring

    with _refuse_unreadable(name):
        return fromstring(parts.get(path) or b"<none/>")


def _comment_texts(root: Any) -> dict[tuple[int, int], str]:
    """Return comments by row and column; replies follow, and names of authors are left out."""
    authors = {str(n): tag.text for n, tag in enumerate(root.iterfind("{*}authors/{*}author"))}
    texts: dict[tuple[int, int], str] = {}
    for comment in (*root.iter("{*}comment"), *root.iter("{*}threadedComment")):
        if (place := CELL_REFERENCE.fullmatch(comment.get("ref", ""))) is None:
            continue
        runs = [*comment.iter("{*}t")] or comment.iterfind("{*}text")
        text = "".join(run.text or "" for run in runs).strip()
        if author := authors.get(comment.get("authorId", "")):
            text = text.removeprefix(f"{author}:").strip()
        key = int(place[2]), _column_number(place[1].encode())
        texts[key] = f"{texts[key]}\n{text}" if key in texts else text
    return texts


def _column_number(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number - 1


def _read_cell(cell: Any) -> Cell:
    value = cell.value
    if value is not None and cell.data_type == "f":
        return CellFormula(str(getattr(value, "text", value)))
    return value if value is None or isinstance(value, PLAIN_TYPES) else str(value)


def column_letters(column: int) -> str:
    """Return the name of a column, counted from 0.

    >>> column_letters(0), column_letters(25), column_letters(26)
    ('A', 'Z', 'AA')
    """
    return "".join(_reversed_letters(column))


def _reversed_letters(column: int) -> Iterator[str]:
    if column >= 26:
        yield from _reversed_letters(column // 26 - 1)
    yield chr(ord("A") + column % 26)
