"""Printable sheets (PDF), a table for their values (CSV), and skims named by their numbers."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, cast

from earwitness.core import StrPath
from earwitness.errors import MissingExtra, UsageError
from earwitness.io.atomic import AtomicFile, AtomicFolder
from earwitness.report.result import csv_table
from earwitness.studies.ratings.from_answers import StudySource
from earwitness.studies.sheets.layout import (
    AXIS_END,
    PAGE_WIDTH,
    PLANE_SIDE,
    PLANE_TOP,
    SHEET_COLUMNS,
    PlaneSheet,
    footer_text,
    place_of,
    plane_design,
    plane_sheets,
)
from earwitness.studies.study import Study
from earwitness.studies.wording import Wording, wording

if TYPE_CHECKING:
    from fpdf import FPDF

MARGIN = 50.0
TICKS = (0, 0.25, 0.5, 0.75, 1)
NUMBER_SIDE = 28.0  # of the squares to cut out
COMMENT_LINES, LINE_GAP = 8, 22.0
# characters of texts that the fonts of all PDF readers lack
PLAIN_CHARACTERS = str.maketrans({"–": "-", "—": "-", "’": "'", "“": '"', "”": '"', "…": "..."})


def study_sheets(
    study: StudySource,
    output: StrPath,
    *,
    table: StrPath | None = None,
    sounds: StrPath | None = None,
    listener: int | None = None,
) -> int:
    """Write printable sheets of a plane study, for sessions on paper.

    Parameters
    ----------
    study
        Path of a study file, or a study.
    output
        Path of the PDF file: instructions, and one plane per listener and recording.
    table
        Path of a CSV file in which the values of the sheets can be typed.
    sounds
        Path of a new folder for copies of the skims, by listener, recording and number.
    listener
        Number of one listener; by default all.

    Returns
    -------
    int
        Number of planes.

    Raises
    ------
    UsageError
        If the study has no trials of kind plane, or no such listener.
    MissingExtra
        If the extra ``pdf`` is not installed.
    """
    design = plane_design(study)
    sheets = [one for one in plane_sheets(design) if listener in (None, one.listener)]
    if not sheets:
        numbers = [plan.listener for plan in design.plans]
        raise UsageError(
            f"listener {listener} is not part of the study — known: {min(numbers)} to "
            f"{max(numbers)}"
        )
    content = _sheets_pdf(design.study, sheets)
    if sounds is not None:
        folder = Path() if isinstance(study, Study) else Path(study).parent
        _copy_sounds(design.study, sheets, folder, Path(sounds))
    with AtomicFile(Path(output)) as file:
        cast(TextIOWrapper, file).buffer.write(content)
    if table is not None:
        with AtomicFile(Path(table)) as file:
            file.write(_entry_table(sheets))
    return len(sheets)


def _copy_sounds(study: Study, sheets: Sequence[PlaneSheet], folder: Path, target: Path) -> None:
    with AtomicFolder(target) as place:
        for sheet in sheets:
            own = place / f"listener-{sheet.listener}" / sheet.trial.item
            own.mkdir(parents=True, exist_ok=True)
            for number, system in enumerate(sheet.trial.systems, 1):
                path = folder / study.file(sheet.trial.item, system)
                shutil.copyfile(path, own / f"{number}{path.suffix}")


def _entry_table(sheets: Sequence[PlaneSheet]) -> str:
    """Return a CSV table with a row per skim, and one for a comment on the whole plane."""
    rows = [
        [sheet.listener, sheet.page, sheet.trial.item, number, "", "", ""]
        for sheet in sheets
        for number in (*range(1, len(sheet.trial.systems) + 1), "")
    ]
    return csv_table([*SHEET_COLUMNS], rows, ("recording",))


# --- PDF -----------------------------------------------------------------------------------------


def _sheets_pdf(study: Study, sheets: Sequence[PlaneSheet]) -> bytes:
    try:
        from fpdf import FPDF
    except ModuleNotFoundError:
        raise MissingExtra("fpdf2", "pdf", "printing sheets") from None
    pdf = FPDF(unit="pt", format="A4")
    pdf.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))  # the same study gives the same file
    pdf.set_auto_page_break(False)
    pdf.set_margin(MARGIN)
    pdf.set_title(_plain_text(study.title))
    words = wording(study.language, study.wordings)
    _instruction_page(pdf, study, words)
    for sheet in sheets:
        _plane_page(pdf, study, sheet, words)
    return bytes(pdf.output())


def _plain_text(text: str) -> str:
    """Return a text in the characters that the fonts of all PDF readers have (Latin-1)."""
    return text.translate(PLAIN_CHARACTERS).encode("latin-1", "replace").decode("latin-1")


def _instruction_page(pdf: FPDF, study: Study, words: Wording) -> None:
    pdf.add_page()
    pdf.set_font("Helvetica", "B", 18)
    _write_text(pdf, study.title, 24)
    pdf.set_font("Helvetica", "", 11)
    for text in (study.instructions, words.page("plane_told"), words.page("sheet_told")):
        if text:
            pdf.ln(10)
            _write_text(pdf, text, 15)


def _write_text(pdf: FPDF, text: str, height: float) -> None:
    pdf.multi_cell(0, height, _plain_text(text), align="L", new_x="LMARGIN", new_y="NEXT")


def _plane_page(pdf: FPDF, study: Study, sheet: PlaneSheet, words: Wording) -> None:
    pdf.add_page()
    pdf.set_font("Helvetica", "B", 14)
    head = words.page("sheet_head", listener=sheet.listener, recording=sheet.trial.item)
    pdf.text(MARGIN, 60, _plain_text(head))
    pdf.set_font("Helvetica", "", 10)
    _draw_axes(pdf, words)
    top = PLANE_TOP + PLANE_SIDE + 60
    pdf.text(MARGIN, top, _plain_text(words.page("sheet_numbers")))
    _draw_numbers(pdf, len(sheet.trial.systems), top + 8)
    top += NUMBER_SIDE + 40
    pdf.text(MARGIN, top, _plain_text(words.page("sheet_comments")))
    pdf.set_draw_color(170)
    for line in range(1, COMMENT_LINES + 1):
        pdf.line(MARGIN, top + line * LINE_GAP, PAGE_WIDTH - MARGIN, top + line * LINE_GAP)
    pdf.set_draw_color(0)
    pdf.set_font("Courier", "", 8)
    pdf.text(MARGIN, 825, footer_text(study, sheet))


def _draw_axes(pdf: FPDF, words: Wording) -> None:
    left, bottom = place_of(0, 0)
    right, top = place_of(AXIS_END, AXIS_END)
    pdf.line(left, bottom, right, bottom)
    pdf.line(left, bottom, left, top)
    pdf.set_dash_pattern(dash=5, gap=4)
    x, y = place_of(1, 1)
    pdf.line(left, y, right, y)
    pdf.line(x, bottom, x, top)
    pdf.set_dash_pattern()
    for tick in TICKS:
        label, (x, y) = words.number(tick), place_of(tick, tick)
        width = pdf.get_string_width(label)
        pdf.line(x, bottom, x, bottom + 4)
        pdf.line(left - 4, y, left, y)
        pdf.text(x - width / 2, bottom + 15, label)
        pdf.text(left - 8 - width, y + 3.5, label)
    across, up = (_plain_text(words.prompt(scale)) for scale in ("TC", "SD"))
    pdf.text((left + right - pdf.get_string_width(across)) / 2, bottom + 32, across)
    with pdf.rotation(90, left - 40, (top + bottom) / 2):
        pdf.text(left - 40 - pdf.get_string_width(up) / 2, (top + bottom) / 2, up)


def _draw_numbers(pdf: FPDF, count: int, top: float) -> None:
    """Draw the numbers in squares with dashed edges."""
    side = min(NUMBER_SIDE, (PAGE_WIDTH - 2 * MARGIN) / count)
    pdf.set_font("Helvetica", "B", 12)
    pdf.set_dash_pattern(dash=2, gap=2)
    for index in range(count):
        pdf.rect(MARGIN + index * side, top, side, side)
        label = str(index + 1)
        x = MARGIN + (index + 0.5) * side - pdf.get_string_width(label) / 2
        pdf.text(x, top + side / 2 + 4, label)
    pdf.set_dash_pattern()
    pdf.set_font("Helvetica", "", 10)
