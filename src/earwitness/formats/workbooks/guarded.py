"""What is looked at before a workbook is opened: that it is one, and that it does no harm.

A workbook is a zip of XML parts. The directory of the zip says how large everything becomes, and
Python's reader never gives more than that; so bombs are told before anything is unpacked. Pictures
and other parts that are no XML are not unpacked at all. Parts that declare entities, or are written
so that declarations could hide, are refused. Links to other workbooks and macros are never followed
or run.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator
from zipfile import BadZipFile, ZipFile, ZipInfo

from earwitness.errors import InputError, Problem

MEGABYTE = 1 << 20
LARGEST = 20 * MEGABYTE  # as it is sent
UNPACKED = 64 * MEGABYTE  # all parts that are read, together
UPLOADED = 2 * MEGABYTE  # the same, where anybody may send something
DENSE = 20  # bytes that a cell has at least, on the whole
SMALL = 8  # all but sheets and their texts may have this part of it, each
LARGE = ("xl/worksheets/", "xl/sharedStrings")
READ = (".xml", ".rels")  # how names of parts end that are read
PARTS = 2000
RATIO = 300  # of parts that become larger than a megabyte
CELL = re.compile(rb"<(?:\w+:)?c[ />]")
OLE = b"\xd0\xcf\x11\xe0"
WIDE = (b"\xff\xfe", b"\xfe\xff", b"<\x00", b"\x00<")  # how 16-bit text begins
DECLARED = re.compile(rb"""\A(?:\xef\xbb\xbf)?\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.-]+)""")
PLAIN = (b"utf-8", b"us-ascii", b"ascii")
SAVE = "open it in a spreadsheet and save it anew as .xlsx"
Parts = dict[str, bytes]


def guarded(data: bytes, name: str, unpacked: int = UNPACKED) -> Parts:
    """All parts of a workbook that are read, if it may be opened; else why it is refused."""
    if wrong := _no_workbook(data):
        raise _refused(name, *wrong)
    try:
        with ZipFile(io.BytesIO(data)) as file:
            wrong = next(_misgivings(file, unpacked), None)
            if wrong is None:
                parts = {one.filename: file.read(one) for one in file.infolist() if _is_read(one)}
                parts |= {one: b"" for one in file.namelist() if one not in parts}
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise _refused(name, f"is a damaged workbook: {error}", SAVE) from error
    wrong = wrong or next((told for text in parts.values() if (told := _hidden(text))), None)
    wrong = wrong or _crowded(parts, unpacked // DENSE)
    if wrong is not None:
        raise _refused(name, *wrong)
    return parts


def remarks(parts: Parts) -> Iterator[str]:
    """What a workbook has that is passed over."""
    if any(name.startswith("xl/externalLinks/") for name in parts):
        yield "has links to other workbooks, which were not followed"
    if any(name.endswith("vbaProject.bin") for name in parts):
        yield "has macros, which were not run"


def _refused(name: str, message: str, remedy: str) -> InputError:
    return InputError([Problem(name, 0, "", message, remedy)], done="imported")


def _no_workbook(data: bytes) -> tuple[str, str] | None:
    if len(data) > LARGEST:
        return f"is larger than {LARGEST // MEGABYTE} MB", "take out pictures and other sheets"
    if data.startswith(OLE):
        told = "is protected by a password, or an old .xls file"
        return told, "save it as .xlsx without a password"
    if not data.startswith(b"PK"):
        return "is no .xlsx workbook", SAVE
    return None


def _is_read(part: ZipInfo) -> bool:
    return part.filename.lower().endswith(READ)


def _misgivings(file: ZipFile, unpacked: int) -> Iterator[tuple[str, str]]:
    """What the directory says against it."""
    parts = file.infolist()
    names = [one.filename for one in parts]
    if any(one.flag_bits & 1 for one in parts):
        yield "is protected by a password", "save it without one"
    if len(parts) > PARTS or len({*names}) < len(names):
        yield f"has more than {PARTS:,} parts, or one twice", SAVE
    read = [one for one in parts if _is_read(one)]
    if sum(one.file_size for one in read) > unpacked:
        told = f"unpacks to more than {unpacked // MEGABYTE} MB"
        yield told, "delete the empty rows and columns around the table"
    for one in read:
        if one.file_size > unpacked // SMALL and not one.filename.startswith(LARGE):
            told = f"its part {one.filename} is too large"
            yield told, "copy the table into a new workbook"
    for one in read:
        if one.file_size > max(MEGABYTE, RATIO * one.compress_size):
            told = f"its part {one.filename} unpacks to more than {RATIO} times its size"
            yield told, "delete the empty rows and columns around the table"
    if "xl/workbook.bin" in names or "content.xml" in names:
        yield "is a workbook of another form", "save it as .xlsx"
    if "[Content_Types].xml" not in names or not any(one.startswith("xl/") for one in names):
        yield "is no .xlsx workbook", SAVE


def _crowded(parts: Parts, most: int) -> tuple[str, str] | None:
    """Cells beyond number, which take more to read than their bytes tell."""
    sheets = (part for name, part in parts.items() if name.startswith(LARGE))
    if sum(len(CELL.findall(part)) for part in sheets) <= most:
        return None
    return f"has more than {most:,} cells", "delete the empty rows and columns around the table"


def _hidden(part: bytes) -> tuple[str, str] | None:
    """Declarations in a part, or text in which they could hide."""
    if b"<!DOCTYPE" in part or b"<!ENTITY" in part:
        return "declares entities, which no workbook needs", SAVE
    declared = DECLARED.match(part[:500])
    if part.startswith(WIDE) or (declared and declared[1].lower() not in PLAIN):
        return "has parts that are not UTF-8", SAVE
    return None
