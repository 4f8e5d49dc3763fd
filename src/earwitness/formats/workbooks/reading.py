"""Workbooks that raters sent back, in our layout or in the original one of such studies.

All that is wrong with a file is told at once, with sheet, cell and value; then nothing of it is
read. What is odd but allowed (blanks, a caption under two clips) stands in findings.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from earwitness.data import Input
from earwitness.errors import InputError, Problem, whole_characters
from earwitness.formats.workbooks.cells import caption_hash, text
from earwitness.formats.workbooks.guarded import LARGEST, UNPACKED
from earwitness.formats.workbooks.layout import assessed
from earwitness.formats.workbooks.returned import Finding, JudgedRow, Place, Returned
from earwitness.formats.workbooks.rows import Reading
from earwitness.formats.workbooks.sheets import Sheet, opened
from earwitness.listening.rubrics import Rubric, thumbs

ABOUT, OURS = "Study", "earwitness"  # the hidden sheet of our layout, and its first cell
NUMBER = re.compile(r"[1-9]\d{0,8}", re.ASCII)
NUMBERED = re.compile(r"P\d+", re.I)
FLAVOURED = re.compile(r"[ _-](?:local|web|excel|google)\b.*", re.I)
IMPORTED = "imported"


def read_workbook(
    place: str | PathLike[str] | bytes,
    rubric: Rubric | None = None,
    *,
    name: str = "",
    rater: str = "",
    unpacked: int = UNPACKED,
) -> Returned:
    """A returned workbook, given as a path or as its bytes and its ``name``.

    Who the rater is stands in the workbook; else it is said here, or taken from the name
    (``P3_google.xlsx`` is of P3). One that unpacks to more bytes than these is refused.
    """
    name = whole_characters(name or (str(place) if not isinstance(place, bytes) else "workbook"))
    data = place if isinstance(place, bytes) else _bytes(Path(place), name)
    book, reading = opened(data, name, unpacked), Reading(name, rubric or thumbs())
    about = _about(book.sheets)
    others = tuple(one for one in book.sheets if one.name != ABOUT or not about)
    blocks = assessed(others, reading.rubric)
    if not blocks:
        names = ", ".join(f'"{one.name}"' for one in others)
        asked = ", ".join(one.shown for one in reading.rubric.dimensions)
        told = f"no sheet has columns for {asked}"
        reading.problems.append(Problem(name, 0, "", told, f"sheets: {names}"))
    rows = [row for block in blocks for row in reading.block(block)]
    kept = list(_once(rows, reading))
    if reading.problems:
        raise InputError(reading.problems, done=IMPORTED)
    findings = (*_remarks(name, book.remarks), *reading.findings, *_doubled(kept))
    known = Input(name, hashlib.sha256(data).hexdigest(), len(data))
    who = about.get("rater") or rater or rater_of(name)
    return Returned(
        who,
        tuple(_per_clip(kept)),
        findings,
        known,
        about.get("study", ""),
        about.get("digest", ""),
        _whole_number(about.get("listener", "")),
    )


def read_workbooks(
    places: Sequence[str | PathLike[str]], rubric: Rubric | None = None
) -> list[Returned]:
    """Several of them; faults of all are told at once."""
    found, problems, count = list[Returned](), list[Problem](), 0
    for place in places:
        try:
            found.append(read_workbook(place, rubric))
        except InputError as error:
            problems += error.problems
            count += error.count
    if problems:
        raise InputError(problems, count, done=IMPORTED)
    return found


def rater_of(name: str) -> str:
    """Who a file is of, by its name.

    >>> rater_of("in/P3_google.xlsx"), rater_of("anna_local (2).xlsx"), rater_of("bert.xlsx")
    ('P3', 'anna', 'bert')
    """
    stem = Path(name).stem
    numbered = NUMBERED.match(stem)
    return numbered[0].upper() if numbered else FLAVOURED.sub("", stem).strip() or stem


def _bytes(path: Path, name: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        told = f"cannot be read: {error.strerror}"
        raise InputError([Problem(name, 0, "", told)], done=IMPORTED) from error


def _about(sheets: Iterable[Sheet]) -> dict[str, str]:
    """What our hidden sheet says, or nothing."""
    for sheet in sheets:
        if sheet.name == ABOUT and text(sheet.at(1, 0)) == OURS:
            return {text(row[0]): text(row[1]) for row in sheet.rows.values() if len(row) > 1}
    return {}


def _whole_number(text: str) -> int:
    """A number of a listener, or 0 if it is none."""
    return int(text) if NUMBER.fullmatch(text) else 0


def _remarks(name: str, told: Iterable[str]) -> Iterator[Finding]:
    for one in told:
        yield Finding("passed", Place(name, "", ""), one)


def _once(rows: Iterable[JudgedRow], reading: Reading) -> Iterator[JudgedRow]:
    """Every clip and caption once; a row that comes again must say the same."""
    seen: dict[tuple[str, str], JudgedRow] = {}
    for row in rows:
        first = seen.setdefault(row.key, row)
        if first is row:
            yield row
        elif first.values == row.values:
            told = f"the same row as {first.place.cell}; counted once"
            reading.findings.append(Finding("repeated", row.place, told))
        else:
            where = f"{row.place.sheet}!{row.place.cell}"
            told = f'clip "{row.record}" has this caption twice, also in {first.place.cell}'
            number = int(re.sub(r"\D", "", row.place.cell))
            problem = Problem(reading.source, number, where, told, "keep one of the two")
            reading.problems.append(problem)


def _doubled(rows: Iterable[JudgedRow]) -> Iterator[Finding]:
    """Captions that stand under two clips."""
    first: dict[str, JudgedRow] = {}
    for row in rows:
        before = first.setdefault(caption_hash(row.caption), row)
        if before is not row:
            told = f'the caption of clip "{row.record}" is that of "{before.record}"'
            yield Finding("duplicate", row.place, f"{told} ({before.place.cell})")


def _per_clip(rows: Sequence[JudgedRow]) -> Iterator[JudgedRow]:
    """What was said once of a clip holds for all its captions."""
    said: dict[str, bool] = {}
    for row in rows:
        if row.synthesised is not None:
            said.setdefault(row.record, row.synthesised)
    for row in rows:
        known = row.synthesised if row.synthesised is not None else said.get(row.record)
        yield replace(row, synthesised=known)
