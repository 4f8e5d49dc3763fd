"""Workbooks that raters of a study sent back, as answers to it."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from earwitness.api.matching import Matched, matched
from earwitness.api.sending import judged_by
from earwitness.api.studies import study_design
from earwitness.data import Study
from earwitness.errors import UsageError
from earwitness.formats.answers import answer_line
from earwitness.formats.study import read_study
from earwitness.formats.workbooks import read_workbooks

Place = str | PathLike[str]
StudyGiven = Place | Study


def study_import_answers(study: StudyGiven, files: Sequence[Place]) -> Matched:
    """Answers of returned workbooks, or all that is wrong with any of them."""
    if not files:
        raise UsageError("name the workbooks that came back")
    plan = study if isinstance(study, Study) else read_study(Path(study), heard=False)
    rubric = judged_by(plan)
    return matched(study_design(plan), read_workbooks(files, rubric))


def answer_lines(found: Matched) -> str:
    """Answers as lines of a file; the same workbooks give the same lines."""
    return b"".join(map(answer_line, found.answers)).decode()


def check_new(path: Path, text: str) -> bool:
    """Whether a file is still to be written; one that has other answers is left alone."""
    if not path.is_file():
        return True
    if path.read_bytes() == text.encode():
        return False
    remedy = "name a new file, or keep answers in a store (--db), where they can be corrected"
    raise UsageError(f"{path} is there already and has other lines — {remedy}")
