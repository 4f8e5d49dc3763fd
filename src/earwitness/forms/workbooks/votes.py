"""Workbook of ratings: all votes and means per stimulus and system, one sheet per scale."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from earwitness.analysis.plan import MIXED_MODEL
from earwitness.analysis.results import Results
from earwitness.analysis.settings import AnalysisSettings
from earwitness.core import Rating, StrPath, group_values
from earwitness.errors import EarwitnessWarning, UsageError
from earwitness.forms.workbooks.write import load_xlsxwriter, open_book
from earwitness.io.atomic import AtomicFile
from earwitness.report.sentences import join_names
from earwitness.studies.analyse import study_results
from earwitness.studies.collect import study_scales
from earwitness.studies.from_answers import (
    StudySource,
    rating_records,
    ratings_from_answers,
    study_answers,
)
from earwitness.studies.study import Study
from earwitness.studies.trials import block_kind

# --- Ratings of a study as a workbook ------------------------------------------------------------


FEW_DRAWS = 100  # of the bootstrap, if its intervals are not in the workbook


def study_ratings_xlsx(study: StudySource, answers: StrPath, output: StrPath) -> Path:
    """Write the ratings of a file of answers as a workbook (XLSX).

    Every scale has a sheet with one row per stimulus and one group of columns per system: all votes
    and their mean. The sheet ``means`` has the mean of each system with the confidence interval of
    the planned analysis, the sheet ``anchors`` the votes on anchors, and the sheet ``votes`` one
    row per rating. Practice is left out.

    Parameters
    ----------
    study
    answers
        Path of the file of answers (JSON Lines).
    output
        Path of the workbook.

    Returns
    -------
    Path
        Path of the workbook.

    Raises
    ------
    InputError
        If answers are invalid or do not match the design of the study.
    UsageError
        If there are no ratings, or more than a sheet can have.
    MissingExtra
        If xlsxwriter is not installed.

    Examples
    --------
    >>> study_ratings_xlsx("study.yaml", "answers.jsonl", "ratings.xlsx").name
    'ratings.xlsx'
    """
    load_xlsxwriter()
    file, source = AtomicFile(Path(output)), str(answers)
    plan, lines = study_answers(study, answers)
    ratings = ratings_from_answers(plan, lines, source)
    anchors = ratings_from_answers(plan, lines, source, of_anchors=True)
    content = make_ratings_workbook(plan, ratings, anchors)
    with file as stream:
        stream.buffer.write(content)  # type: ignore[attr-defined]
    return Path(output)


def make_ratings_workbook(
    study: Study, ratings: Sequence[Rating], anchors: Sequence[Rating] = ()
) -> bytes:
    """Return the workbook of the ratings of a study as bytes; the same ratings give the same bytes.

    Parameters
    ----------
    study
        The study.
    ratings
        Ratings of all listeners.
    anchors
        Ratings of anchors, which are not analysed.

    Returns
    -------
    bytes

    Raises
    ------
    UsageError
        If there are no ratings, or more than a sheet can have.
    MissingExtra
        If xlsxwriter is not installed.
    """
    if not ratings:
        raise UsageError("the answers contain no ratings of trials — nothing to write")
    book, stream = open_book(study.title)
    writer = VoteSheetWriter(book)
    items, systems = [clip.name for clip in study.material], _system_order(study)
    for scale in _names_in_order(study_scales(study), (rating.scale for rating in ratings)):
        votes = group_votes((r, r.key.item, _system_label(r)) for r in ratings if r.scale == scale)
        writer.write_votes(scale, "item", votes, items, systems)
    results = _analyse(study, ratings)
    if results.left:
        listeners = join_names([str(who) for who in results.left])
        message = f'the sheet "means" is without listeners excluded by screening: {listeners}'
        warnings.warn(message, EarwitnessWarning, stacklevel=2)
    writer.write_table("means", *_mean_table(results))
    if anchors:
        votes = group_votes((rating, rating.key.item, rating.scale) for rating in anchors)
        names = [clip.name for clip in study.anchors]
        writer.write_votes("anchors", "anchor", votes, names, study_scales(study))
    records, excluded = rating_records(ratings), {*results.left}
    rows = [
        [*record.values(), "yes" if rating.listener in excluded else None]
        for record, rating in zip(records, ratings, strict=True)
    ]
    writer.write_table("votes", [*records[0], "excluded"], rows)
    book.close()
    return stream.getvalue()


# --- Votes and means -----------------------------------------------------------------------------


VoteTable = Mapping[tuple[str, str], Sequence[float]]  # votes by row and column group
MEAN_SHEET_COLUMNS = ("scale", "system", "votes", "listeners", "mean", "sd")
INTERVAL_COLUMNS = ("low", "high", "level", "interval")


def group_votes(labelled: Iterable[tuple[Rating, str, str]]) -> dict[tuple[str, str], list[float]]:
    """Return votes by row and column group, in the order of listeners, sessions and trials."""

    def place(one: tuple[Rating, str, str]) -> tuple[int, str, int, int]:
        rating, who = one[0], one[0].listener
        return who if isinstance(who, int) else 0, str(who), rating.session, rating.trial

    ordered = sorted(labelled, key=place)
    return group_values(((row, group), rating.value) for rating, row, group in ordered)


def _system_label(rating: Rating) -> str:
    """Return the system of a rating, with the one that it was compared with."""
    against = f" – {rating.against.system}" if rating.against else ""
    return f"{rating.key.system}{against}"


def _system_order(study: Study) -> list[str]:
    extra = [name for block in study.blocks for name in block_kind(block).extra(study.reference)]
    return list(dict.fromkeys([*study.systems, *extra]))


def _names_in_order(known: Sequence[str], used: Iterable[str]) -> list[str]:
    """Return the used names: known ones in their order, then the others as they occur.

    >>> _names_in_order(["C0", "C1", "C2"], ["C2", "x", "C0"])
    ['C0', 'C2', 'x']
    """
    occurring = dict.fromkeys(used)
    return list(dict.fromkeys([*(name for name in known if name in occurring), *occurring]))


def _analyse(study: Study, ratings: Sequence[Rating]) -> Results:
    """Return the planned analysis, without methods that are not in the workbook."""
    interval, draws = study.analysis.interval, AnalysisSettings().draws
    draws = draws if "bootstrap" in interval else FEW_DRAWS
    return study_results(study, ratings, mixed=interval == MIXED_MODEL, draws=draws)


def _mean_table(results: Results) -> tuple[list[str], list[list[Any]]]:
    rows = [
        [
            *(scale.value.name, name, system.votes, system.listeners, system.mean.value, system.sd),
            *(system.mean.low, system.mean.high, system.mean.level, system.mean.method),
        ]
        for scale in results.scales
        for name, system in scale.systems.items()
    ]
    return [*MEAN_SHEET_COLUMNS, *INTERVAL_COLUMNS], rows


# --- Sheets --------------------------------------------------------------------------------------
# All texts are written as text, so names that start with = + - or @ are never formulas.


MAX_SHEET_COLUMNS, MAX_SHEET_ROWS = 16_384, 1_048_576
MAX_SHEET_NAME_CHARACTERS = 31
NAME_WIDTH, VOTE_WIDTH, MEAN_WIDTH, TABLE_WIDTH = 28, 7, 8, 14
HEADER_FORMAT = {"bold": True, "bg_color": "#E8E8E8", "align": "center"}


class VoteSheetWriter:
    """Writer of the sheets of a workbook of ratings."""

    def __init__(self, book: Any) -> None:
        self._book, self._names = book, set[str]()
        self._head = book.add_format(HEADER_FORMAT)
        self._mean = book.add_format({"bold": True, "num_format": "0.00", "right": 1})
        self._mean_head = book.add_format({**HEADER_FORMAT, "right": 1})

    def write_votes(
        self,
        title: str,
        heading: str,
        votes: VoteTable,
        rows: Sequence[str],
        groups: Sequence[str],
    ) -> None:
        """Write a sheet with one row per stimulus, and a group of columns per system or scale.

        ``rows`` and ``groups`` give the order; names without votes are left out. A group has as
        many columns as a stimulus has votes at most, and the mean; missing and undefined votes
        are blank.
        """
        rows = _names_in_order(rows, (row for row, _ in votes))
        widths = dict.fromkeys(_names_in_order(groups, (group for _, group in votes)), 0)
        for (_, group), given in votes.items():
            widths[group] = max(widths[group], len(given))
        if 1 + sum(widths.values()) + len(widths) > MAX_SHEET_COLUMNS:
            raise UsageError(f"{title}: too many votes per stimulus for a sheet — use --to csv")
        sheet = self._add_sheet(title)
        sheet.set_column(0, 0, NAME_WIDTH)
        sheet.merge_range(0, 0, 1, 0, "", self._head)
        sheet.write_string(0, 0, heading, self._head)
        column = 1
        for group, width in widths.items():
            self._write_group(sheet, column, group, width)
            for place, row in enumerate(rows, 2):
                self._write_row(sheet, place, column, width, votes.get((row, group), ()))
            column += width + 1
        for place, row in enumerate(rows, 2):
            sheet.write_string(place, 0, row)
        sheet.freeze_panes(2, 1)
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)  # when printed: one page wide
        sheet.repeat_rows(0, 1)

    def _write_group(self, sheet: Any, column: int, group: str, width: int) -> None:
        sheet.set_column(column, column + width - 1, VOTE_WIDTH)
        sheet.set_column(column + width, column + width, MEAN_WIDTH)
        sheet.merge_range(0, column, 0, column + width, "", self._mean_head)
        sheet.write_string(0, column, group, self._mean_head)
        for number in range(width):
            sheet.write_string(1, column + number, f"vote {number + 1}", self._head)
        sheet.write_string(1, column + width, "mean", self._mean_head)

    def _write_row(
        self, sheet: Any, row: int, column: int, width: int, given: Sequence[float]
    ) -> None:
        votes = {number: vote for number, vote in enumerate(given) if isfinite(vote)}
        for number, vote in votes.items():
            sheet.write_number(row, column + number, vote)
        if votes:
            mean = sum(votes.values()) / len(votes)
            sheet.write_number(row, column + width, mean, self._mean)
        else:
            sheet.write_blank(row, column + width, None, self._mean)

    def write_table(self, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write a sheet with a header and rows; undefined numbers are blank."""
        if len(rows) >= MAX_SHEET_ROWS:
            raise UsageError(f"{title}: {len(rows):,} rows are too many for a sheet — use --to csv")
        sheet = self._add_sheet(title)
        sheet.set_column(0, len(header) - 1, TABLE_WIDTH)
        for column, name in enumerate(header):
            sheet.write_string(0, column, name, self._head)
        for place, row in enumerate(rows, 1):
            for column, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(place, column, value)
                elif value is not None and isfinite(value):
                    sheet.write_number(place, column, value)
        sheet.freeze_panes(1, 0)

    def _add_sheet(self, title: str) -> Any:
        name = sheet_name(title, self._names)
        self._names.add(name.casefold())
        return self._book.add_worksheet(name)


def sheet_name(title: str, taken: Iterable[str]) -> str:
    """Return a name that spreadsheet programs allow, and that is not taken (in lower case).

    >>> sheet_name("SIG", []), sheet_name("clear/loud?", []), sheet_name("Votes", ["votes"])
    ('SIG', 'clear_loud_', 'Votes 2')
    """
    taken = {*taken, "history", ""}  # "history" is reserved
    clean = re.sub(r"[\[\]:*?/\\\x00-\x1f]", "_", title).strip("' ")
    name, number = clean[:MAX_SHEET_NAME_CHARACTERS].rstrip("' "), 1
    while name.casefold() in taken:
        number += 1
        end = f" {number}"
        name = clean[: MAX_SHEET_NAME_CHARACTERS - len(end)] + end
    return name
