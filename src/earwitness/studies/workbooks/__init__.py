"""Spreadsheet workbooks for raters of captions: export and import."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from earwitness.core import StrPath
from earwitness.errors import EarwitnessWarning, UsageError

if TYPE_CHECKING:
    from earwitness.studies.ratings.from_answers import StudySource
    from earwitness.studies.workbooks.to_answers import MatchedAnswers, WorkbookEntryResult
    from earwitness.studies.workbooks.to_ratings import ImportedRatings

DEFAULT_CLIPS_FOLDER = "clips"  # default folder of links
DEFAULT_FILE_PATTERN = "P{n}_{flavour}.xlsx"


def study_import_xlsx(
    files: Sequence[StrPath],
    study: StudySource | None = None,
    *,
    db: StrPath | None = None,
    replace: bool = False,
    faults: str = "refuse",
    **reading: Any,
) -> ImportedRatings | MatchedAnswers | WorkbookEntryResult:
    """Import completed workbooks of raters.

    A workbook that is passed twice, or in both flavours, counts once. Raters whose workbooks have
    problems are rejected, with all of their workbooks; the others are imported. A warning and
    ``rejection`` of the result list the problems of all files.

    Parameters
    ----------
    files
        Paths of the workbooks.
    study
        Study or path of its file, to import answers; without it, ratings are imported.
    db
        Path or address of the database in which answers are saved. By default they are only
        returned.
    replace
        Whether to replace answers given in a browser.
    faults
        ``refuse`` values outside a scale, or ``drop`` them, that is treat them as blanks.
    **reading
        Without a study: ``rubric_name``, ``blank`` and ``key``, the table of captions.

    Returns
    -------
    ImportedRatings or MatchedAnswers or WorkbookEntryResult
        Ratings; with a study, its answers; with a database, numbers of new and corrected pages.

    Raises
    ------
    InputError
        If all raters are rejected.
    UsageError
        If an argument is invalid, or the arguments do not fit together.
    """
    result: ImportedRatings | MatchedAnswers | WorkbookEntryResult
    if study is None:
        if db is not None or replace:
            raise UsageError("db and replace require a study")
        from earwitness.studies.workbooks.to_ratings import import_ratings

        result = import_ratings(files, faults=faults, **reading)
    elif reading:
        raise UsageError(f"{next(iter(reading))} cannot be used with a study, which sets it")
    elif db is None:
        if replace:
            raise UsageError("replace requires a database — set db")
        from earwitness.studies.workbooks.to_answers import study_import_answers

        result = study_import_answers(study, files, faults=faults)
    else:
        from earwitness.studies.workbooks.to_answers import enter_workbooks

        result = enter_workbooks(study, files, db, replace=replace, faults=faults)
    if result.rejection is not None:
        warnings.warn(str(result.rejection), EarwitnessWarning, stacklevel=2)
    return result
