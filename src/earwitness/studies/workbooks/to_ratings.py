"""The verb study import-xlsx: returned workbooks as ratings, without a study."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from earwitness.core import Input, Key, Rating, StrPath
from earwitness.errors import InputError, Problem, UsageError
from earwitness.studies.rubric import TOTAL, Rubric, defined
from earwitness.studies.rubric_totals import Blank, CaptionJudgment, check_blanks, ratings
from earwitness.studies.workbooks.layout import Caption, read_key
from earwitness.studies.workbooks.read import (
    IMPORT_DONE_WORD,
    CellLocation,
    Finding,
    JudgedRow,
    ReturnedWorkbook,
    read_workbooks,
)

FILL_REMEDY = "fill it in, or say --blank"
BLANK_FINDINGS = ("blank", "unrated")  # findings about cells that are empty
SHOWN_EMPTY_ROWS = 5  # empty rows of a file that are told one by one
RATING_COLUMNS = ("item", "system", "listener", "scale", "value")
CAPTION_COLUMNS = ("dataset", "caption")  # of captions, where they are known


@dataclass(frozen=True)
class RaterRow:
    """A row, who judged it, and whose caption it is."""

    rater: str
    system: str
    row: JudgedRow


@dataclass(frozen=True)
class ImportedRatings:
    """Ratings on every dimension and on the total, the rows behind them, and what was odd."""

    ratings: list[Rating]
    rows: list[RaterRow]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    inputs: tuple[Input, ...]
    rubric: Rubric

    def judged(self) -> list[CaptionJudgment]:
        """Rows as totals and means take them."""
        return [_judged(one) for one in self.rows]


def study_import_xlsx(
    files: Sequence[StrPath],
    *,
    rubric_name: str = "thumbs",
    blank: Blank = "drop",
    key: StrPath | None = None,
) -> ImportedRatings:
    """Ratings of returned workbooks, all or nothing; faults of all files are told at once.

    ``key`` names the table that says whose every caption is; without it the system is the hash of
    the caption. A file that comes twice, or in both flavours, counts once.
    """
    if not files:
        raise UsageError("name the workbooks that came back")
    known = defined(rubric_name)
    check_blanks(known, [], blank)
    systems = None if key is None else read_key(key)
    returned = read_workbooks(files, known)
    problems = list(_other_studies(returned))
    rows = [
        RaterRow(rater, _system(row, systems, problems), row)
        for rater, row in joined(returned, problems)
    ]
    if blank == "refuse":
        problems += [problem for one in rows for problem in blank_cells(one.row, FILL_REMEDY)]
    if problems:
        raise InputError(problems, done=IMPORT_DONE_WORD)
    return ImportedRatings(
        ratings(known, [_judged(one) for one in rows], blank),
        rows,
        tuple(told_once(returned, [one.row for one in rows])),
        tuple(_notes(rows, systems, known, blank)),
        tuple(dict.fromkeys(one.input for one in returned)),
        known,
    )


def import_columns(found: ImportedRatings) -> tuple[str, ...]:
    """Columns of that table; those that would be empty are left out."""
    return (
        *RATING_COLUMNS,
        *(name for name in CAPTION_COLUMNS if any(getattr(r.row, name) for r in found.rows)),
    )


def import_records(found: ImportedRatings) -> Iterator[dict[str, Any]]:
    """Ratings as rows of a table that ``study analyse`` reads."""
    names = import_columns(found)
    known = {name: _known(found, name) for name in names[len(RATING_COLUMNS) :]}
    for one in found.ratings:
        values = (one.key.item, one.key.system, one.listener, one.scale, one.value)
        more = [own.get(one.key, "") for own in known.values()]
        yield dict(zip(names, (*values, *more), strict=True))


def _known(found: ImportedRatings, name: str) -> dict[Key, str]:
    """What the first workbook that says it says of every caption."""
    rows = [(Key(one.row.record, one.system), getattr(one.row, name)) for one in found.rows]
    return {key: text for key, text in reversed(rows) if text}


def comment_records(found: ImportedRatings) -> Iterator[dict[str, Any]]:
    """What raters wrote beside the numbers, with the words of captions."""
    for one in found.rows:
        row = one.row
        yield {
            "item": row.record,
            "system": one.system,
            "listener": one.rater,
            "dataset": row.dataset,
            "caption": row.caption,
            "synthesised": row.synthesised,
            "comment": row.comment,
        }


def _judged(one: RaterRow) -> CaptionJudgment:
    return CaptionJudgment(Key(one.row.record, one.system), one.rater, one.row.values)


def _other_studies(returned: Sequence[ReturnedWorkbook]) -> Iterator[Problem]:
    studies = [one for one in returned if one.study]
    for one in studies:
        if one.study != (first := studies[0]).study:
            told = f'is of the study "{one.study}", {first.input.name} of "{first.study}"'
            yield Problem(one.input.name, 0, "", told, "import one study at a time")


def joined(
    returned: Sequence[ReturnedWorkbook], problems: list[Problem]
) -> Iterator[tuple[str, JudgedRow]]:
    """Rows of every rater, each once; of two that differ one must be empty."""
    found: dict[tuple[str, Caption], JudgedRow] = {}
    for book in returned:
        for row in book.rows:
            before = found.setdefault((book.rater, row.key), row)
            if is_filled(row) and not is_filled(before):
                found[book.rater, row.key] = row
            elif is_filled(row) and row.values != before.values:
                problems.append(_torn(book.rater, row, before))
    for (rater, _), row in found.items():
        yield rater, row


def is_filled(row: JudgedRow) -> bool:
    """Whether a row has any number."""
    return any(value is not None for value in row.values.values())


def _torn(rater: str, row: JudgedRow, before: JudgedRow) -> Problem:
    told = f"{rater} gave other numbers in {before.place}"
    return row_problem(row, row.place.cell, told, "leave out one of the two files")


def _system(row: JudgedRow, systems: Mapping[Caption, str] | None, wrong: list[Problem]) -> str:
    if systems is None:
        return row.key[1]
    if row.key not in systems:
        told = f'the key has no such caption of "{row.record}"'
        wrong.append(row_problem(row, row.place.cell, told, "is it the key of this study?"))
    return systems.get(row.key, "")


def blank_cells(row: JudgedRow, remedy: str) -> Iterator[Problem]:
    """Every blank of a row, where there may be none."""
    for name, value in row.values.items():
        if value is None:
            yield row_problem(row, row.cells[name], f"{name} is blank", remedy)


def row_problem(row: JudgedRow, cell: str, message: str, remedy: str) -> Problem:
    """What is wrong with a cell in a row."""
    number = int(re.sub(r"\D", "", cell))
    return Problem(row.place.source, number, f"{row.place.sheet}!{cell}", message, remedy)


def told_once(returned: Sequence[ReturnedWorkbook], rows: Sequence[JudgedRow]) -> Iterator[Finding]:
    """Findings; what is wrong with the captions of all raters is told of the first.

    Blanks count in rows that do; many rows of a file that are empty are told in one sentence.
    """
    counted = {replace(one.place, cell=cell) for one in rows for cell in one.cells.values()}
    seen: set[object] = set()
    for book in returned:
        blank = [f for f in book.findings if f.kind in BLANK_FINDINGS and f.place in counted]
        empty = [f for f in blank if f.kind == "unrated"]
        others = [f for f in book.findings if f.kind not in BLANK_FINDINGS]
        if len(empty) > SHOWN_EMPTY_ROWS:
            blank = [f for f in blank if f.kind != "unrated"]
            told = f"nothing was filled in in {len(empty):,} of {len(book.rows):,} rows"
            others.append(Finding("unrated", CellLocation(book.input.name, "", ""), told))
        for finding in (*others, *blank):
            words = re.sub(r" \(\w+\)$", "", finding.message)
            mark = words if finding.kind == "duplicate" else finding
            if mark not in seen:
                seen.add(mark)
                yield finding


def _notes(
    rows: Sequence[RaterRow], systems: Mapping[Caption, str] | None, known: Rubric, blank: Blank
) -> Iterator[str]:
    if systems is None:
        yield "no key was named: the system of every rating is the hash of its caption"
    else:
        held = dict.fromkeys(dict.fromkeys(one.rater for one in rows), 0)
        for one in rows:
            held[one.rater] += 1
        for rater, count in held.items():
            if count < len(systems):
                yield f"{rater} has {count:,} of the {len(systems):,} captions of the key"
    left = sum(any(one.row.values[name] is None for name in known.names) for one in rows)
    if left:
        meant = {"drop": f"these raters are left out of the {TOTAL} of these captions only",
                 "zero": "a blank penalty counts as 0 in totals"}  # fmt: skip
        yield f"{left:,} of {len(rows):,} rows have blanks: {meant[blank]}"
