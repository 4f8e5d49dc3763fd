"""Workbooks for tests: the original layout with all its quirks, zips that were changed."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl

HEAD = (
    "No.",
    "Record ID",
    "Caption",
    "text",
    "Precision",
    "Recall",
    "Fluency",
    "Conciseness",
    "Irrelevance",
    "synthesized?",
    "Comments",
)
GOOD = (4, 3.5, -0.1, 0, 0)
Table = Sequence[Sequence[Any]]


def clip(
    number: int, *scores: Sequence[Any], record: str = "", said: Any = None
) -> list[tuple[Any, ...]]:
    """Rows of one clip: number and id stand in the first only, as merged cells have it."""
    record = record or f"rec{number:02}"
    return [
        (number, record, "AB"[n], f"{record}: caption {n}", *own, said, None)
        if n == 0
        else (None, None, "AB"[n], f"{record}: caption {n}", *own, None, None)
        for n, own in enumerate(scores)
    ]


def book(assessment: Table, **others: Table) -> bytes:
    """A workbook with a sheet of examples and one of assessments, and others."""
    made = openpyxl.Workbook()
    made.active.title = "Example"
    made.active.append(HEAD)
    made.active.append((1, "demo", "A", "An example.", 5, 5, 0, 0, 0, "no", None))
    for name, rows in {"Assessment": assessment, **others}.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    return saved(made)


SYNTHESIZED = "Is this audio synthesized? (yes/no)"
PLACE = "Indoors or outdoors?"
PUBLISHED_HEADS = (
    ("No.", "Audio ID", "Caption", None, "Precision", "Recall", "Fluency", "Conciseness",
     "Irrelevance", SYNTHESIZED, PLACE, "Comments"),
    ("no", " Audio id:", "CAPTION ", None, "precision:", "Recall (1-5)", " fluency", "Conciseness:",
     "Irrelevence", "is this audio synthesized?", PLACE, "comments:"),
)  # fmt: skip
DATASETS = ("Field recordings", "Synthetic scenes")


def published_rows(clips: int = 2, texts: Callable[[int, int], Any] | None = None) -> list[Any]:
    """Rows as in workbooks of published studies: two blocks, each below the name of a dataset.

    Labels stand in the column Caption, and texts in the unnamed column beside it.
    """
    words = texts or (lambda number, place: f"Clip {number} as described by {'ab'[place]}.")
    rows: list[Any] = []
    for block, (name, head) in enumerate(zip(DATASETS, PUBLISHED_HEADS, strict=True)):
        rows += [(), (name,), head] if rows else [(name,), head]
        for number in range(block * clips + 1, (block + 1) * clips + 1):
            first = (number, f"aud{number:02}", "Caption 1", words(number, 0), *GOOD)
            said = ("no", "yes")[block], "outdoors", f"remark {number}"
            rows += [(*first, *said), (None, None, "Caption 2", words(number, 1), 2, 2, 0, 0, 0)]
    return rows


def published(rows: Sequence[Any]) -> bytes:
    """Workbook of such rows: datasets are merged out to column XFD, clips over their two rows."""
    banners = [f"A{n}:XFD{n}" for n, row in enumerate(rows, 1) if len(row) == 1]
    clips = [n for n, row in enumerate(rows, 1) if row and isinstance(row[0], int)]
    spans = [f"{column}{n}:{column}{n + 1}" for n in clips for column in "ABJK"]
    return merged(book(rows), 2, *banners, *spans)


def saved(made: Any) -> bytes:
    held = io.BytesIO()
    made.save(held)
    return held.getvalue()


def repacked(data: bytes, change: Callable[[str, bytes], bytes], **more: bytes) -> bytes:
    """The same zip with parts changed, and some added."""
    held = io.BytesIO()
    with ZipFile(io.BytesIO(data)) as old, ZipFile(held, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
        for name, part in more.items():
            new.writestr(name, part)
    return held.getvalue()


def moved(data: bytes) -> bytes:
    """The same zip, whose end says that its directory is a byte further on."""
    place = data.rfind(b"PK\x05\x06") + 16
    return data[:place] + bytes([data[place] + 1 & 255]) + data[place + 1 :]


def merged(data: bytes, sheet: int, *ranges: str) -> bytes:
    """With merges in the sheet of this number, without cells being made for them."""
    told = "".join(f'<mergeCell ref="{one}"/>' for one in ranges)
    part = f'<mergeCells count="{len(ranges)}">{told}</mergeCells>'.encode()

    def change(name: str, text: bytes) -> bytes:
        whole = name == f"xl/worksheets/sheet{sheet}.xml"
        return text.replace(b"</sheetData>", b"</sheetData>" + part) if whole else text

    return repacked(data, change)


def typed(data: bytes, cells: Mapping[str, Any], sheet: int = 2) -> bytes:
    """One of our workbooks with something typed into empty cells; all else stays to the byte."""

    def change(name: str, text: bytes) -> bytes:
        if name != f"xl/worksheets/sheet{sheet}.xml":
            return text
        for cell, value in cells.items():
            empty = re.compile(rf'<c r="{cell}" s="(\d+)"/>'.encode())
            text, count = empty.subn(partial(_filled, cell, value), text)
            assert count == 1, cell
        return text

    return repacked(data, change)


def _filled(cell: str, value: Any, found: re.Match[bytes]) -> bytes:
    start = f'<c r="{cell}" s="{found[1].decode()}"'
    if isinstance(value, str):
        inner = f'<is><t xml:space="preserve">{escape(value)}</t></is>'
        return f'{start} t="inlineStr">{inner}</c>'.encode()
    return f"{start}><v>{value!r}</v></c>".encode()
