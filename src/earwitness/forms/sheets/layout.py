"""Layout of a printed sheet: page, plane and code lines, for writing and for reading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from earwitness.errors import UsageError
from earwitness.studies.design.report import study_design
from earwitness.studies.from_answers import StudySource
from earwitness.studies.pages import counted_trials
from earwitness.studies.study import Design, Study, Trial
from earwitness.studies.trials import study_kinds, trial_kind
from earwitness.studies.trials.plane import PlaneKind

# in points, from the left and from the top of an A4 page
PAGE_WIDTH, PAGE_HEIGHT = 595.28, 841.89
MARGIN = 50.0
PLANE_LEFT, PLANE_TOP, PLANE_SIDE = 110.0, 90.0, 396.0
AXIS_END = 1.1  # end of both axes; the maximum of values is 1
NUMBERS_TOP = 542.0  # baseline of the words above the numbers to cut out
COMMENTS_TOP = 612.0  # baseline of the words above the lines for comments
SHEET_COLUMNS = ("study", "listener", "page", "recording", "skim", "tc", "sd", "comment")
# The line that identifies a sheet is printed twice, at the top right and at the bottom left, in a
# font of fixed width. Its places show if a program has moved or scaled the page.
CODE_SIZE, CODE_FONT = 8.0, "Courier"
CODE_ADVANCE = 0.6 * CODE_SIZE
CODE_BASELINES = (30.0, 822.0)
CODE_LINE = re.compile(r"earwitness ([0-9a-f]{12}) L(\d+) (P[\d.]+)")
# prefixes, without which spreadsheets would change codes and pages into numbers or dates
STUDY_PREFIX, PAGE_PREFIX = "earwitness ", "P"


class PlaneSheet(NamedTuple):
    """One sheet: a page of a listener with its trial."""

    listener: int
    page: str
    trial: Trial

    @property
    def session(self) -> str:
        """The number of the session, from 1."""
        return self.page.partition(".")[0]


def code_line(study: Study, sheet: PlaneSheet) -> str:
    """Return the line that identifies a sheet."""
    return f"{STUDY_PREFIX}{study_code(study)} L{sheet.listener} {PAGE_PREFIX}{sheet.page}"


def code_starts(line: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return where a line that identifies a sheet starts: at the top, and at the bottom."""
    top, bottom = CODE_BASELINES
    return (PAGE_WIDTH - MARGIN - len(line) * CODE_ADVANCE, top), (MARGIN, bottom)


def study_code(study: Study) -> str:
    """Return the part of a study's hash that is printed on its sheets."""
    return study.digest.rpartition(":")[2][:12]


def place_of(tc: float, sd: float) -> tuple[float, float]:
    """Return where values are on a page, from its left and its top.

    >>> place_of(0, 0), place_of(1.1, 1.1)
    ((110.0, 486.0), (506.0, 90.0))
    """
    x = PLANE_LEFT + PLANE_SIDE * tc / AXIS_END
    return x, PLANE_TOP + PLANE_SIDE * (1 - sd / AXIS_END)


def values_at(x: float, y: float) -> tuple[float, float]:
    """Return the values at a place, the inverse of ``place_of``."""
    tc = (x - PLANE_LEFT) / PLANE_SIDE * AXIS_END
    return tc, (1 - (y - PLANE_TOP) / PLANE_SIDE) * AXIS_END


def plane_design(study: StudySource) -> Design:
    """Return the design of a study; raise UsageError without trials of kind plane."""
    design = study_design(study)
    if not any(kind.on_paper for kind in study_kinds(design.study)):
        raise UsageError(f"sheets are for trials of kind {PlaneKind.name}; this study has none")
    return design


def plane_sheets(design: Design) -> Iterator[PlaneSheet]:
    """Yield the sheets of all listeners, in the order of their pages."""
    for plan in design.plans:
        for page, trial in counted_trials(plan).items():
            if trial_kind(design.study, trial).on_paper:
                yield PlaneSheet(plan.listener, page, trial)
