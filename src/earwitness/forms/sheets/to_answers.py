"""Values of sheets as answers to a study, in a file or in a database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from earwitness.core import WORKBOOK_META_KEY, Answer, StrPath
from earwitness.errors import BadAnswer, Problem, UsageError, nearest, refuse_problems
from earwitness.forms.sheets.layout import (
    PAGE_PREFIX,
    STUDY_PREFIX,
    PlaneSheet,
    plane_design,
    plane_sheets,
    study_code,
)
from earwitness.forms.sheets.read import SheetRow, read_sheet_rows
from earwitness.forms.workbooks.read import IMPORT_DONE_WORD
from earwitness.forms.workbooks.to_answers import (
    ReturnedAnswers,
    ReturnedPage,
    count_changes,
    enter_answers,
)
from earwitness.io.schema import whole_number
from earwitness.ratings.scales import PLANE_SCALES
from earwitness.studies.from_answers import StudySource
from earwitness.studies.pages import presented_trial
from earwitness.studies.study import Design
from earwitness.studies.trials import trial_kind
from earwitness.studies.trials.plane import PLANE_COMMENT, is_placed
from earwitness.version import __version__

EDGE_TOLERANCE = 0.02  # marks that are as far beyond an end of a scale are at the end
REPLACE_REMEDY = "enter the same values, or use --replace"


@dataclass(frozen=True)
class PaperAnswers(ReturnedAnswers):
    """Answers of sheets, notes, and the file of each listener by number."""


@dataclass(frozen=True)
class PaperEntryResult:
    """Result of an entry into a database: numbers of new, corrected and unchanged pages."""

    entered: PaperAnswers
    new: int
    corrected: int
    unchanged: int


def study_enter(
    study: StudySource,
    files: Sequence[StrPath],
    *,
    db: StrPath | None = None,
    replace: bool = False,
) -> PaperAnswers | PaperEntryResult:
    """Read the values of sheets, and save them as answers.

    Parameters
    ----------
    study
    files
        Tables written by ``study_sheets`` and filled in, or its PDF files with added crosses.
    db
        Path or address of the database, which is created if missing. By default, answers are
        only returned.
    replace
        Whether to replace answers given in a browser.

    Returns
    -------
    PaperAnswers or PaperEntryResult
        Answers; with a database, also numbers of new, corrected and unchanged pages.

    Raises
    ------
    InputError
        If files have problems; all of them are listed, and nothing is saved.
    UsageError
        If the study has no trials of kind plane, or ``replace`` is set without a database.
    """
    if replace and db is None:
        raise UsageError("replace requires a database — set db")
    design, problems, notes = plane_design(study), list[Problem](), list[str]()
    rows = [row for file in files for row in read_sheet_rows(Path(file), problems, notes)]
    entered = _Matching(design, problems, notes).match(rows)
    refuse_problems(problems, IMPORT_DONE_WORD)
    if db is None:
        return entered
    from earwitness.studies.admin import has_store, open_store

    with open_store(design.study, db, new=not has_store(db)) as store:
        changes = enter_answers(store, entered, REPLACE_REMEDY, replace=replace).result()
    return PaperEntryResult(entered, *count_changes(changes, len(entered.pages)))


# --- Rows matched to pages -----------------------------------------------------------------------


@dataclass
class _Matching:
    """Matches rows to pages; collects problems and notes."""

    design: Design
    problems: list[Problem]
    notes: list[str]
    sheets: dict[tuple[int, str], PlaneSheet] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    skim_rows: dict[tuple[PlaneSheet, str], SheetRow] = field(default_factory=dict)

    def match(self, rows: Sequence[SheetRow]) -> PaperAnswers:
        """Return the answers of all rows."""
        self.sheets = {(sheet.listener, sheet.page): sheet for sheet in plane_sheets(self.design)}
        values: dict[PlaneSheet, dict[str, Any]] = {}
        first: dict[PlaneSheet, SheetRow] = {}
        files: dict[PlaneSheet, dict[str, None]] = {}
        for row in rows:
            sheet = self._find_sheet(row) if row.has_values else self._named_sheet(row)
            if sheet is None:
                continue
            if row.has_values or (sheet, row.skim) not in self.skim_rows:
                self.skim_rows[sheet, row.skim] = row
            if row.has_values:
                first.setdefault(sheet, row)
                files.setdefault(sheet, {})[row.source] = None
                self._add_values(row, sheet, values.setdefault(sheet, {}))
        pages = []
        for sheet in self.sheets.values():
            if sheet in values and self._is_valid(sheet, values[sheet], first[sheet]):
                pages.append(self._paper_page(sheet, values[sheet], first[sheet], [*files[sheet]]))
        self.notes += [
            f"listener {sheet.listener}, {sheet.trial.item}: values come from {' and '.join(file)}"
            for sheet, file in files.items()
            if len(file) > 1
        ]
        listeners = sorted({sheet.listener for sheet in values})
        self.notes += [
            f"listener {listener}: {left:,} of {total:,} planes are empty and left unchanged"
            for listener in listeners
            for total in [sum(sheet.listener == listener for sheet in self.sheets.values())]
            if (left := total - sum(value.listener == listener for value in values))
        ]
        sources = {sheet.listener: row.source for sheet, row in first.items()}
        return PaperAnswers(self.design.study, tuple(pages), sources, tuple(self.notes))

    def _tell(self, row: SheetRow, name: str, message: str, remedy: str = "") -> None:
        self.problems.append(Problem(*row.place, name, message, remedy))

    def _tell_study(self, row: SheetRow) -> None:
        """Report a wrong study, once per file and study."""
        if (row.source, row.study) in self.refused:
            return
        self.refused.add((row.source, row.study))
        if row.study:
            message = "belongs to another study, or to another version of it"
            self._tell(row, "study", message, "use the sheets that were written for this study")
        else:
            self._tell(row, "study", "is empty", "copy it from other rows of the table")

    def _tell_recording(self, row: SheetRow, item: str) -> None:
        """Report numbers of another recording, once per page of a PDF file."""
        if (row.place[0], row.recording) not in self.refused:
            self.refused.add((row.place[0], row.recording))
            message = f'has numbers of recording "{row.recording}" on the sheet of "{item}"'
            self._tell(row, "", message, "move them to the right sheet, or type numbers only")

    def _named_sheet(self, row: SheetRow) -> PlaneSheet | None:
        """Return the sheet that an empty row names, if any."""
        page = row.page.removeprefix(PAGE_PREFIX)
        return self.sheets.get((whole_number(row.listener), page))

    def _find_sheet(self, row: SheetRow) -> PlaneSheet | None:
        """Return the sheet of a row; None, and a problem, if it is not one of this study."""
        if row.study.removeprefix(STUDY_PREFIX) != study_code(self.design.study):
            self._tell_study(row)
            return None
        listeners = {listener for listener, _ in self.sheets}
        if whole_number(row.listener) not in listeners:
            known = f"known: {min(listeners)} to {max(listeners)}"
            self._tell(row, "listener", f'unknown listener "{row.listener}"', known)
            return None
        own = [sheet for sheet in self.sheets.values() if sheet.listener == int(row.listener)]
        if row.page:
            own = [sheet for sheet in own if sheet.page == row.page.removeprefix(PAGE_PREFIX)]
            if not own:
                self._tell(row, "page", f'unknown page "{row.page}"')
                return None
        fitting = [sheet for sheet in own if _is_recording(row, sheet.trial.item)]
        if not fitting and row.is_drawn:
            self._tell_recording(row, own[0].trial.item)
        elif not fitting:
            remedy = nearest(row.recording, {sheet.trial.item for sheet in own})
            self._tell(row, "recording", f'unknown recording "{row.recording}"', remedy)
        elif len(fitting) > 1:
            message = f'listener {row.listener} has several pages with "{row.recording}"'
            self._tell(row, "page", message, "fill in the column page")
        return fitting[0] if len(fitting) == 1 else None

    def _add_values(self, row: SheetRow, sheet: PlaneSheet, values: dict[str, Any]) -> None:
        count = len(sheet.trial.systems)
        if not row.skim and not (row.tc or row.sd):
            self._add_comment(row, sheet, values, PLANE_COMMENT)
            return
        if not 1 <= whole_number(row.skim) <= count:
            self._tell(row, "skim", f'must be a number from 1 to {count}, got "{row.skim}"')
            return
        for scale, text in zip(PLANE_SCALES, (row.tc, row.sd), strict=True):
            if not text:
                continue
            name, value = f"{scale.name}_{int(row.skim)}", self._number(row, scale.name, text)
            if value is None:
                values.setdefault(name, None)
            elif values.setdefault(name, value) != value:
                message = f"skim {row.skim} of {sheet.trial.item} has two places"
                self._tell(row, scale.name.lower(), message, "keep one of them")
        if row.comment:
            self._add_comment(row, sheet, values, f"{PLANE_COMMENT}_{int(row.skim)}")

    def _add_comment(
        self, row: SheetRow, sheet: PlaneSheet, values: dict[str, Any], name: str
    ) -> None:
        if values.setdefault(name, row.comment) != row.comment:
            skim = f"skim {row.skim} of " if row.skim else ""
            message = f"{skim}{sheet.trial.item} has two comments"
            self._tell(row, "comment", message, "write them into one row")

    def _number(self, row: SheetRow, name: str, text: str) -> float | None:
        try:
            value = float(text.replace(",", ".").replace("−", "-"))
        except ValueError:
            self._tell(row, name.lower(), f'must be a number from 0 to 1, got "{text}"')
            return None
        tolerance = EDGE_TOLERANCE if row.is_drawn else 0.0  # drawn marks are not exact
        if not -tolerance <= value <= 1 + tolerance:
            which = f"{name.lower()} of skim {row.skim}" if row.is_drawn else name.lower()
            self._tell(row, which, f"must be from 0 to 1, got {value:g}")
            return None
        return round(min(1.0, max(0.0, value)), 3)

    def _is_valid(self, sheet: PlaneSheet, values: dict[str, Any], row: SheetRow) -> bool:
        """Report skims without a place, and what the trial refuses."""
        kind = trial_kind(self.design.study, sheet.trial)
        asked = [ask.name for ask in kind.asks(sheet.trial)]
        missing: dict[tuple[str, int], list[str]] = {}  # by line of a table, or page of a PDF file
        for name in asked:
            if name not in values:
                own = self.skim_rows.get((sheet, name.rpartition("_")[2]), row)
                missing.setdefault(own.place, []).append(name.replace("_", " of skim "))
        for place, names in missing.items():
            message = f"listener {sheet.listener}, {sheet.trial.item}: no {', '.join(names)}"
            remedy = "fill in all skims of a recording, or none"
            self.problems.append(Problem(*place, "", message, remedy))
        if missing or None in values.values():  # reported before
            return False
        try:
            kind.read(sheet.trial, values, sheet.listener, 1)
        except BadAnswer as error:
            self._tell(row, "", f"listener {sheet.listener}, {sheet.trial.item}: {error}")
            return False
        return True

    def _paper_page(
        self, sheet: PlaneSheet, values: dict[str, Any], row: SheetRow, files: Sequence[str]
    ) -> ReturnedPage:
        answer = Answer(
            *(self.design.study.digest, sheet.listener, sheet.page, dict(sorted(values.items()))),
            *(presented_trial(sheet.trial), "", __version__),
            imported=True,
        )
        sources = [
            {"name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            for path in map(Path, files)
        ]
        message = (
            f'listener {sheet.listener}: recording "{sheet.trial.item}" has a different answer '
            "from the browser"
        )
        return ReturnedPage(answer, {WORKBOOK_META_KEY: sources}, Problem(*row.place, "", message))


def _is_recording(row: SheetRow, item: str) -> bool:
    """Return whether a row may belong to a recording; marks name recordings in capitals."""
    return row.recording in ("", item, item.upper() if row.is_drawn else item)


def position_records(answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    """Yield one record per listener, recording and skim: number, system, TC, SD and comment."""
    placed = filter(is_placed, answers)
    for answer in sorted(placed, key=lambda one: (one.listener, *map(int, one.page.split(".")))):
        assert answer.heard is not None  # it is the page of a trial
        for number, system in enumerate(answer.heard["systems"], 1):
            yield {
                "listener": answer.listener,
                "page": answer.page,
                "recording": answer.heard["item"],
                "skim": number,
                "system": system,
                **{
                    scale.name.lower(): answer.values.get(f"{scale.name}_{number}")
                    for scale in PLANE_SCALES
                },
                "comment": answer.values.get(f"{PLANE_COMMENT}_{number}", ""),
                "comment_on_plane": answer.values.get(PLANE_COMMENT, ""),
            }
