"""Command ``study import-xlsx``: completed workbooks as ratings, without a study."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from earwitness.core import Input, Key, Rating, StrPath
from earwitness.errors import InputError, Problem, UsageError
from earwitness.studies.rubric import TOTAL, Rubric, read_rubric
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

FILL_REMEDY = "fill it in, or set --blank"
BLANK_FINDINGS = ("blank", "unrated")  # findings on empty cells
SHOWN_EMPTY_ROWS = 5  # more empty rows per file are summarized
RATING_COLUMNS = ("item", "system", "listener", "scale", "value")
CAPTION_COLUMNS = ("dataset", "caption")  # optional columns


@dataclass(frozen=True)
class RaterRow:
    """A row with its rater and the system of its caption."""

    rater: str
    system: str
    row: JudgedRow


@dataclass(frozen=True)
class ImportedRatings:
    """Ratings on every dimension and on the total, with rows, findings and notes."""

    ratings: list[Rating]
    rows: list[RaterRow]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    inputs: tuple[Input, ...]
    rubric: Rubric

    def judged(self) -> list[CaptionJudgment]:
        """Return rows as judgments, for totals and means."""
        return [_judgment(row) for row in self.rows]


def import_ratings(
    files: Sequence[StrPath],
    *,
    rubric_name: str = "thumbs",
    blank: Blank = "drop",
    key: StrPath | None = None,
) -> ImportedRatings:
    """Import the ratings of completed workbooks.

    A workbook that is passed twice, or in both flavours, counts once.

    Parameters
    ----------
    files
        Paths of the workbooks.
    rubric_name
        Name of the rubric.
    blank
        How blanks are treated in totals: ``drop``, ``zero`` or ``refuse``.
    key
        Path of the table with the system of each caption; without it, the system is the hash of
        the caption.

    Returns
    -------
    ImportedRatings

    Raises
    ------
    InputError
        If a workbook has problems; those of all files are listed, and nothing is imported.
    UsageError
        If an argument is invalid.
    """
    if not files:
        raise UsageError("no workbooks to import — name the completed workbooks")
    rubric = read_rubric(rubric_name)
    check_blanks(rubric, [], blank)
    systems = None if key is None else read_key(key)
    returned = read_workbooks(files, rubric)
    problems = list(_study_problems(returned))
    rows = [
        RaterRow(rater, _find_system(row, systems, problems), row)
        for rater, row in join_rows(returned, problems)
    ]
    if blank == "refuse":
        problems += [
            problem for rater_row in rows for problem in blank_cells(rater_row.row, FILL_REMEDY)
        ]
    if problems:
        raise InputError(problems, done=IMPORT_DONE_WORD)
    return ImportedRatings(
        ratings(rubric, [_judgment(rater_row) for rater_row in rows], blank),
        rows,
        tuple(merge_findings(returned, [rater_row.row for rater_row in rows])),
        tuple(_import_notes(rows, systems, rubric, blank)),
        tuple(dict.fromkeys(rater_row.input for rater_row in returned)),
        rubric,
    )


def import_columns(imported: ImportedRatings) -> tuple[str, ...]:
    """Return the columns of the table of ratings, without empty ones."""
    return (
        *RATING_COLUMNS,
        *(name for name in CAPTION_COLUMNS if any(getattr(r.row, name) for r in imported.rows)),
    )


def import_records(imported: ImportedRatings) -> Iterator[dict[str, Any]]:
    """Yield ratings as rows of a table for ``study analyse``."""
    names = import_columns(imported)
    columns_of = {name: _caption_column(imported, name) for name in names[len(RATING_COLUMNS) :]}
    for rating in imported.ratings:
        values = (rating.key.item, rating.key.system, rating.listener, rating.scale, rating.value)
        more = [column.get(rating.key, "") for column in columns_of.values()]
        yield dict(zip(names, (*values, *more), strict=True))


def _caption_column(imported: ImportedRatings, name: str) -> dict[Key, str]:
    """Return a column by caption, from the first workbook that has it."""
    rows = [
        (Key(rater_row.row.record, rater_row.system), getattr(rater_row.row, name))
        for rater_row in imported.rows
    ]
    return {key: text for key, text in reversed(rows) if text}


def comment_records(imported: ImportedRatings) -> Iterator[dict[str, Any]]:
    """Yield comments of raters with their captions."""
    for rater_row in imported.rows:
        row = rater_row.row
        yield {
            "item": row.record,
            "system": rater_row.system,
            "listener": rater_row.rater,
            "dataset": row.dataset,
            "caption": row.caption,
            "synthesised": row.synthesised,
            "comment": row.comment,
        }


def _judgment(rater_row: RaterRow) -> CaptionJudgment:
    return CaptionJudgment(
        Key(rater_row.row.record, rater_row.system), rater_row.rater, rater_row.row.values
    )


def _study_problems(returned: Sequence[ReturnedWorkbook]) -> Iterator[Problem]:
    studies = [workbook for workbook in returned if workbook.study]
    for workbook in studies:
        if workbook.study != (first := studies[0]).study:
            message = (
                f'belongs to the study "{workbook.study}", but {first.input.name} to '
                f'"{first.study}"'
            )
            yield Problem(workbook.input.name, 0, "", message, "import one study at a time")


def join_rows(
    returned: Sequence[ReturnedWorkbook], problems: list[Problem]
) -> Iterator[tuple[str, JudgedRow]]:
    """Yield the rows of each rater once; of two different rows one must be empty."""
    rows: dict[tuple[str, Caption], JudgedRow] = {}
    for book in returned:
        for row in book.rows:
            before = rows.setdefault((book.rater, row.key), row)
            if is_filled(row) and not is_filled(before):
                rows[book.rater, row.key] = row
            elif is_filled(row) and row.values != before.values:
                problems.append(_conflict_problem(book.rater, row, before))
    for (rater, _), row in rows.items():
        yield rater, row


def is_filled(row: JudgedRow) -> bool:
    """Return whether a row has any value."""
    return any(value is not None for value in row.values.values())


def _conflict_problem(rater: str, row: JudgedRow, before: JudgedRow) -> Problem:
    message = f"{rater} has different values in {before.place}"
    return row_problem(row, row.place.cell, message, "import only one of the two files")


def _find_system(
    row: JudgedRow, systems: Mapping[Caption, str] | None, wrong: list[Problem]
) -> str:
    if systems is None:
        return row.key[1]
    if row.key not in systems:
        message = f'the key does not have this caption of "{row.record}"'
        wrong.append(
            row_problem(row, row.place.cell, message, "check that it is the key of this study")
        )
    return systems.get(row.key, "")


def blank_cells(row: JudgedRow, remedy: str) -> Iterator[Problem]:
    """Yield a problem for each blank of a row."""
    for name, value in row.values.items():
        if value is None:
            yield row_problem(row, row.cells[name], f"{name} is blank", remedy)


def row_problem(row: JudgedRow, cell: str, message: str, remedy: str) -> Problem:
    """Return a problem of a cell in a row."""
    number = int(re.sub(r"\D", "", cell))
    return Problem(row.place.source, number, f"{row.place.sheet}!{cell}", message, remedy)


def merge_findings(
    returned: Sequence[ReturnedWorkbook], rows: Sequence[JudgedRow]
) -> Iterator[Finding]:
    """Yield findings; duplicate captions are reported for the first rater only.

    Blanks are reported in counted rows only; many empty rows of a file are summarized.
    """
    counted = {replace(row.place, cell=cell) for row in rows for cell in row.cells.values()}
    seen: set[object] = set()
    for book in returned:
        blank = [f for f in book.findings if f.kind in BLANK_FINDINGS and f.place in counted]
        empty = [f for f in blank if f.kind == "unrated"]
        others = [f for f in book.findings if f.kind not in BLANK_FINDINGS]
        if len(empty) > SHOWN_EMPTY_ROWS:
            blank = [f for f in blank if f.kind != "unrated"]
            message = f"all dimensions are blank in {len(empty):,} of {len(book.rows):,} rows"
            others.append(Finding("unrated", CellLocation(book.input.name, "", ""), message))
        for finding in (*others, *blank):
            words = re.sub(r" \(\w+\)$", "", finding.message)
            mark = words if finding.kind == "duplicate" else finding
            if mark not in seen:
                seen.add(mark)
                yield finding


def _import_notes(
    rows: Sequence[RaterRow], systems: Mapping[Caption, str] | None, rubric: Rubric, blank: Blank
) -> Iterator[str]:
    if systems is None:
        yield "no key was set, so the system of each rating is the hash of its caption"
    else:
        held = dict.fromkeys(dict.fromkeys(rater_row.rater for rater_row in rows), 0)
        for rater_row in rows:
            held[rater_row.rater] += 1
        for rater, count in held.items():
            if count < len(systems):
                yield f"{rater} has {count:,} of the {len(systems):,} captions in the key"
    left = sum(
        any(rater_row.row.values[name] is None for name in rubric.names) for rater_row in rows
    )
    if left:
        meant = {"drop": f"these raters are excluded from the {TOTAL} of these captions only",
                 "zero": "a blank penalty counts as 0 in totals"}  # fmt: skip
        yield f"{left:,} of {len(rows):,} rows have blanks: {meant[blank]}"
