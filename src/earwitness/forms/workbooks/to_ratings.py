"""Command ``study import-xlsx``: completed workbooks as ratings, without a study."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from earwitness.core import Input, Key, Rating, StrPath
from earwitness.errors import InputError, Problem, UsageError, nearest
from earwitness.forms.workbooks.layout import Caption, read_key
from earwitness.forms.workbooks.read import (
    CellLocation,
    Finding,
    JudgedRow,
    ReturnedWorkbook,
    read_workbooks,
    rejected_raters,
    rejection,
)
from earwitness.forms.workbooks.wording import fault, fault_problem
from earwitness.ratings.rubric import BUILT_IN_RUBRICS, TOTAL, Rubric, read_rubric
from earwitness.ratings.rubric_totals import (
    FAULT_POLICIES,
    Blank,
    CaptionJudgment,
    check_blanks,
    ratings,
)

BLANK_FINDINGS = ("blank", "unrated")  # findings on empty cells
SHOWN_ROWS = 5  # more empty rows, and rows without a clip, are summarized per file
RATING_COLUMNS = ("item", "system", "listener", "scale", "value")
CAPTION_COLUMNS = ("dataset", "caption")  # optional columns
SYNTHESIZED_COLUMN = "synthesised"
ANSWER_COLUMN_PREFIX = "answer: "  # before a further question, which may have any name


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
    rejection: InputError | None = None  # problems of raters that were not imported

    def judged(self) -> list[CaptionJudgment]:
        """Return rows as judgments, for totals and means."""
        return [_judgment(row) for row in self.rows]


def import_ratings(
    files: Sequence[StrPath],
    *,
    key: StrPath | None = None,
    blank: Blank = "drop",
    rubric: Annotated[str, BUILT_IN_RUBRICS] = "thumbs",
    faults: Annotated[str, FAULT_POLICIES] = FAULT_POLICIES[0],
) -> ImportedRatings:
    """Import the ratings of completed workbooks.

    A workbook that is passed twice, or in both flavours, counts once. Raters whose workbooks have
    problems are rejected, with all of their workbooks; the others are imported.

    Parameters
    ----------
    files
        Paths of the workbooks.
    key
        Table with the system of each caption: columns item, caption (or hash) and system. By
        default, the system is the hash of the caption.
    blank
        Blank cells in totals of a rubric: drop the total of the rater, count a blank penalty as 0,
        or refuse the file.
    rubric
        Rubric of the captions.
    faults
        Votes outside their scale: refuse the file, or drop (treat them as blanks and list them).

    Returns
    -------
    ImportedRatings

    Raises
    ------
    InputError
        If all raters are rejected; the problems of all files are listed.
    UsageError
        If an argument is invalid.
    """
    if not files:
        raise UsageError("no workbooks to import — name the completed workbooks")
    judged_by = read_rubric(rubric)
    check_blanks(judged_by, [], blank)
    check_faults(faults, blank)
    systems = None if key is None else read_key(key)
    returned, problems = read_workbooks(files, judged_by, faults)
    problems += _study_problems(returned)
    rows = [
        RaterRow(rater, _find_system(row, systems, problems), row)
        for rater, row in join_rows(returned, problems)
    ]
    rated = {rater_row.rater for rater_row in rows if is_filled(rater_row.row)}
    if blank == "refuse":
        problems += [
            problem
            for rater_row in rows
            if rater_row.rater in rated
            for problem in blank_cells(rater_row.row, "blank_rating")
        ]
    rejected = rejected_raters(problems, returned)
    returned = [book for book in returned if book.rater not in rejected]
    rows = [rater_row for rater_row in rows if rater_row.rater not in rejected]
    rated_rows = [rater_row for rater_row in rows if rater_row.rater in rated]
    return ImportedRatings(
        ratings(judged_by, [_judgment(rater_row) for rater_row in rated_rows], blank),
        rows,
        tuple(merge_findings(returned, [rater_row.row for rater_row in rows])),
        tuple(_import_notes(rated_rows, systems, judged_by, blank)),
        tuple(dict.fromkeys(rater_row.input for rater_row in returned)),
        judged_by,
        rejection(problems, {book.rater for book in returned}),
    )


def check_faults(faults: str, blank: Blank) -> None:
    """Raise UsageError for an unknown policy, and if dropped penalties would count as 0."""
    if faults not in FAULT_POLICIES:
        raise UsageError(f'faults: unknown policy "{faults}" — {nearest(faults, FAULT_POLICIES)}')
    if faults == "drop" and blank == "zero":
        message = "faults drop cannot be combined with blank zero: wrong penalties would count as 0"
        raise UsageError(f"{message} — correct them, or use blank drop")


def import_columns(imported: ImportedRatings) -> tuple[str, ...]:
    """Return the columns of the table of ratings, without empty ones."""
    rows = [rater_row.row for rater_row in imported.rows]
    synthesised = [SYNTHESIZED_COLUMN] if any(row.synthesised is not None for row in rows) else []
    return (
        *RATING_COLUMNS,
        *(name for name in CAPTION_COLUMNS if any(getattr(row, name) for row in rows)),
        *synthesised,
        *(f"{ANSWER_COLUMN_PREFIX}{name}" for name in further_questions(rows)),
    )


def further_questions(rows: Sequence[JudgedRow]) -> list[str]:
    """Return the questions beyond the rubric that are answered in any row."""
    return list(dict.fromkeys(name for row in rows for name in row.answers))


def import_records(imported: ImportedRatings) -> Iterator[dict[str, Any]]:
    """Yield ratings as rows of a table for ``study analyse``."""
    names = import_columns(imported)
    columns_of = {
        name: _caption_column(imported, name) for name in CAPTION_COLUMNS if name in names
    }
    own_answers = {
        (rater_row.rater, Key(rater_row.row.record, rater_row.system)): _answer_cells(rater_row.row)
        for rater_row in imported.rows
    }
    for rating in imported.ratings:
        values = (rating.key.item, rating.key.system, rating.listener, rating.scale, rating.value)
        record = dict(zip(RATING_COLUMNS, values, strict=True))
        record |= {name: column.get(rating.key, "") for name, column in columns_of.items()}
        answers = own_answers[str(rating.listener), rating.key]
        yield {name: record[name] if name in record else answers.get(name, "") for name in names}


def _answer_cells(row: JudgedRow) -> dict[str, str]:
    """Return the answers of a row to questions beyond the rubric, by column."""
    synthesised = {None: "", True: "yes", False: "no"}[row.synthesised]
    return {SYNTHESIZED_COLUMN: synthesised} | {
        f"{ANSWER_COLUMN_PREFIX}{name}": answer for name, answer in row.answers.items()
    }


def _caption_column(imported: ImportedRatings, name: str) -> dict[Key, str]:
    """Return a column by caption, from the first workbook that has it."""
    rows = [
        (Key(rater_row.row.record, rater_row.system), getattr(rater_row.row, name))
        for rater_row in imported.rows
    ]
    return {key: text for key, text in reversed(rows) if text}


def comment_records(imported: ImportedRatings) -> Iterator[dict[str, Any]]:
    """Yield comments and further answers of raters with their captions."""
    for rater_row in imported.rows:
        yield comment_record(rater_row.row, rater_row.system, rater_row.rater)


def comment_record(row: JudgedRow, system: str, listener: int | str) -> dict[str, Any]:
    """Return what a row has beyond its ratings."""
    return {
        "item": row.record,
        "system": system,
        "listener": listener,
        "dataset": row.dataset,
        "caption": row.caption,
        "synthesised": row.synthesised,
        "comment": row.comment,
        "answers": dict(row.answers),
    }


def _judgment(rater_row: RaterRow) -> CaptionJudgment:
    return CaptionJudgment(
        Key(rater_row.row.record, rater_row.system), rater_row.rater, rater_row.row.values
    )


def _study_problems(returned: Sequence[ReturnedWorkbook]) -> Iterator[Problem]:
    studies = [workbook for workbook in returned if workbook.study]
    for workbook in studies:
        if workbook.study != (first := studies[0]).study:
            studies_of = {"name": workbook.study, "other": first.input.name, "value": first.study}
            yield fault_problem(fault("several_studies", **studies_of), workbook.input.name)


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
                wrong = fault("different_values", name=book.rater, other=before.place)
                problems.append(row.place.problem(wrong))
            elif row.values == before.values:
                rows[book.rater, row.key] = _join_answers(before, row)
    for (rater, _), row in rows.items():
        yield rater, row


def _join_answers(row: JudgedRow, other: JudgedRow) -> JudgedRow:
    """Return a row with answers that only the other flavour of its workbook has."""
    comments = ((row.comment,) if row.comment not in other.comment else ()) + (other.comment,)
    return replace(
        row,
        synthesised=other.synthesised if row.synthesised is None else row.synthesised,
        comment=row.comment if other.comment in row.comment else "\n".join(comments),
        answers={**other.answers, **row.answers},
    )


def is_filled(row: JudgedRow) -> bool:
    """Return whether a row has any value."""
    return any(value is not None for value in row.values.values())


def _find_system(
    row: JudgedRow, systems: Mapping[Caption, str] | None, problems: list[Problem]
) -> str:
    if systems is None:
        return row.key[1]
    if row.key not in systems:
        problems.append(row.place.problem(fault("caption_not_in_key", name=row.record)))
    return systems.get(row.key, "")


def blank_cells(row: JudgedRow, code: str) -> Iterator[Problem]:
    """Yield a problem with this code for each blank of a row."""
    for name, value in row.values.items():
        if value is None:
            place = replace(row.place, cell=row.cells[name])
            yield place.problem(fault(code, name=name))


def merge_findings(
    returned: Sequence[ReturnedWorkbook], rows: Sequence[JudgedRow]
) -> Iterator[Finding]:
    """Yield findings; duplicate captions are reported for the first rater only.

    Blanks are reported in counted rows only; many empty rows of a file, and many rows without a
    clip, are summarized. The same comment in several files is reported once.
    """
    rated = {book.rater for book in returned if any(map(is_filled, book.rows))}
    counted = {replace(row.place, cell=cell) for row in rows for cell in row.cells.values()}
    seen: set[object] = set()
    for book in returned:
        blank = [f for f in book.findings if f.kind in BLANK_FINDINGS and f.place in counted]
        empty = [f for f in blank if f.kind == "unrated"]
        others = [f for f in book.findings if f.kind not in BLANK_FINDINGS]
        without_clip = [f for f in others if f.kind == "above"]
        everywhere = CellLocation(book.input.name, "", "")
        if book.rater not in rated:
            rated.add(book.rater)
            blank, empty = [Finding("unrated", everywhere, f"{book.rater}: no ratings yet")], []
        if len(without_clip) > SHOWN_ROWS:
            others = [f for f in others if f.kind != "above"]
            message = f"{len(without_clip):,} rows have no clip; that of the row above is used"
            others.append(Finding("above", everywhere, message))
        if len(empty) > SHOWN_ROWS:
            blank = [f for f in blank if f.kind != "unrated"]
            message = f"all dimensions are blank in {len(empty):,} of {len(book.rows):,} rows"
            others.append(Finding("unrated", everywhere, message))
        for finding in (*others, *blank):
            words = re.sub(r" \(\w+\)$", "", finding.message)
            mark = words if finding.kind in ("duplicate", "comment") else finding
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
    if questions := further_questions([rater_row.row for rater_row in rows]):
        names = ", ".join(f'"{name}"' for name in questions)
        yield f"answers to further questions are kept: {names}"
    left = sum(
        any(rater_row.row.values[name] is None for name in rubric.names) for rater_row in rows
    )
    if left:
        meant = {"drop": f"these raters are excluded from the {TOTAL} of these captions only",
                 "zero": "a blank penalty counts as 0 in totals"}  # fmt: skip
        yield f"{left:,} of {len(rows):,} rows have blanks: {meant[blank]}"
