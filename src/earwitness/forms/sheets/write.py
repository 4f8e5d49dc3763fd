"""Printable sheets (PDF), a table for their values (CSV), and skims named by their numbers."""

from __future__ import annotations

import shutil
import textwrap
import warnings
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

from earwitness.core import StrPath
from earwitness.errors import EarwitnessWarning, MissingExtra
from earwitness.forms.sheets.layout import (
    AXIS_END,
    CODE_FONT,
    CODE_SIZE,
    COMMENTS_TOP,
    MARGIN,
    NUMBERS_TOP,
    PAGE_PREFIX,
    PAGE_WIDTH,
    SHEET_COLUMNS,
    STUDY_PREFIX,
    PlaneSheet,
    code_line,
    code_starts,
    place_of,
    plane_design,
    plane_sheets,
    study_code,
)
from earwitness.io.atomic import AtomicFile, AtomicFolder
from earwitness.io.tables import csv_text
from earwitness.studies.from_answers import StudySource
from earwitness.studies.study import Study, choose_listeners
from earwitness.studies.wording import Wording, wording

if TYPE_CHECKING:
    from fpdf import FPDF

TICKS = (0, 0.25, 0.5, 0.75, 1)
NUMBER_SIDE = 28.0  # of the squares to cut out
COMMENT_LINES, LINE_GAP = 8, 23.0
PARAGRAPH_GAP = 9.0
FONT_ENCODING = "windows-1252"  # of the fonts that all PDF readers have
SIMILAR_CHARACTERS = str.maketrans({"\u202f": "\xa0", "\u2011": "-", "\u2212": "\u2013"})


def study_sheets(
    study: StudySource,
    output: StrPath,
    *,
    template: Annotated[StrPath | None, "FILE"] = None,
    sounds: Annotated[StrPath | None, "FOLDER"] = None,
    listener: Annotated[str, "RANGES"] = "",
) -> int:
    """Write printable sheets of a plane study, for sessions on paper.

    Parameters
    ----------
    study
    output
        Path of the PDF file: instructions, and one plane per listener and recording.
    template
        CSV file to write, in which the values of the sheets are typed.
    sounds
        New folder for copies of the skims, by listener, recording and number. If a listener
        evaluates a recording again, its folders are named by session, too.
    listener
        Listeners by number, such as ``1-16,20``. By default all.

    Returns
    -------
    int
        Number of planes.

    Raises
    ------
    UsageError
        If the study has no trials of kind plane, or not these listeners.
    MissingExtra
        If the extra ``pdf`` is not installed.
    """
    design = plane_design(study)
    chosen = choose_listeners(listener, [plan.listener for plan in design.plans])
    sheets = [sheet for sheet in plane_sheets(design) if sheet.listener in chosen]
    content = _sheets_pdf(design.study, sheets)
    _warn_of_unprinted(design.study, sheets)
    if sounds is not None:
        folder = Path() if isinstance(study, Study) else Path(study).parent
        _copy_sounds(design.study, sheets, folder, Path(sounds))
    with AtomicFile(Path(output)) as file:
        cast(TextIOWrapper, file).buffer.write(content)
    if template is not None:
        with AtomicFile(Path(template)) as file:
            file.write(_entry_table(design.study, sheets))
    return len(sheets)


def _copy_sounds(study: Study, sheets: Sequence[PlaneSheet], folder: Path, target: Path) -> None:
    with AtomicFolder(target) as place:
        for sheet, name in _sound_folders(sheets).items():
            own = place / f"listener-{sheet.listener}" / name
            own.mkdir(parents=True)
            for number, system in enumerate(sheet.trial.systems, 1):
                path = folder / study.file(sheet.trial.item, system)
                shutil.copyfile(path, own / f"{number}{path.suffix}")


def _sound_folders(sheets: Sequence[PlaneSheet]) -> dict[PlaneSheet, str]:
    """Return the folders for skims: recordings, with the session if there are several sheets."""
    recordings = Counter((sheet.listener, sheet.trial.item) for sheet in sheets)
    sessions = Counter((sheet.listener, sheet.trial.item, sheet.session) for sheet in sheets)
    folders = {}
    for sheet in sheets:
        name = sheet.trial.item
        if sessions[sheet.listener, name, sheet.session] > 1:
            name += f"-page-{sheet.page}"
        elif recordings[sheet.listener, name] > 1:
            name += f"-session-{sheet.session}"
        folders[sheet] = name
    return folders


def _entry_table(study: Study, sheets: Sequence[PlaneSheet]) -> str:
    """Return a CSV table with a row per skim, and one for a comment on the whole plane."""
    code = STUDY_PREFIX + study_code(study)
    rows = [
        [code, sheet.listener, PAGE_PREFIX + sheet.page, sheet.trial.item, number, "", "", ""]
        for sheet in sheets
        for number in (*range(1, len(sheet.trial.systems) + 1), "")
    ]
    return csv_text([SHEET_COLUMNS, *rows])


# --- PDF -----------------------------------------------------------------------------------------


def _sheets_pdf(study: Study, sheets: Sequence[PlaneSheet]) -> bytes:
    try:
        from fpdf import FPDF
    except ModuleNotFoundError:
        raise MissingExtra("fpdf2", "pdf", "printing sheets") from None
    pdf = FPDF(unit="pt", format="A4")
    pdf.core_fonts_encoding = FONT_ENCODING
    pdf.set_creation_date(datetime(2000, 1, 1, tzinfo=UTC))  # the same study gives the same file
    pdf.set_margin(MARGIN)
    pdf.set_title(_plain_text(study.title))
    words = wording(study.language, study.wordings)
    pdf.set_auto_page_break(True, MARGIN)
    _instruction_pages(pdf, study, words)
    pdf.set_auto_page_break(False)
    for sheet, folder in _sound_folders(sheets).items():
        _plane_page(pdf, study, sheet, folder, words)
    return bytes(pdf.output())


def _plain_text(text: str) -> str:
    """Return a text in the characters that can be printed; others are question marks."""
    return text.translate(SIMILAR_CHARACTERS).encode(FONT_ENCODING, "replace").decode(FONT_ENCODING)


def _warn_of_unprinted(study: Study, sheets: Sequence[PlaneSheet]) -> None:
    for text in dict.fromkeys(
        [study.title, study.instructions, *(sheet.trial.item for sheet in sheets)]
    ):
        if _plain_text(text).count("?") > text.count("?"):
            shown = textwrap.shorten(text, 40)
            message = f'"{shown}" has characters that cannot be printed; the sheets show ? instead'
            warnings.warn(EarwitnessWarning(message), stacklevel=3)


def _instruction_pages(pdf: FPDF, study: Study, words: Wording) -> None:
    pdf.add_page()
    pdf.set_font("Helvetica", "B", 18)
    _write_text(pdf, study.title, 24)
    pdf.set_font("Helvetica", "", 11)
    # default instructions that apply to the browser only
    _, *online = words.page("plane_instructions").split("\n\n")
    left_out = {"", *online, words.page("plane_practice")}
    for text in (study.instructions, words.page("plane_told"), words.page("sheet_told")):
        for paragraph in map(str.strip, text.split("\n\n")):
            if paragraph not in left_out:
                pdf.ln(PARAGRAPH_GAP)
                _write_text(pdf, paragraph, 15)


def _write_text(pdf: FPDF, text: str, height: float) -> None:
    pdf.multi_cell(0, height, _plain_text(text), align="L", new_x="LMARGIN", new_y="NEXT")


def _plane_page(pdf: FPDF, study: Study, sheet: PlaneSheet, folder: str, words: Wording) -> None:
    pdf.add_page()
    pdf.set_font("Helvetica", "B", 14)
    names = {"listener": sheet.listener, "recording": sheet.trial.item}
    head = words.page("sheet_head", **names)
    if folder != sheet.trial.item:
        more = {"session": sheet.session, "folder": folder}
        head = words.page("sheet_head_repeated", **names, **more)
    _print_fitting(pdf, 62, head)
    pdf.set_font("Helvetica", "", 10)
    _draw_axes(pdf, words)
    _print_fitting(pdf, NUMBERS_TOP, words.page("sheet_numbers"))
    _draw_numbers(pdf, len(sheet.trial.systems), NUMBERS_TOP + 8)
    pdf.set_font("Helvetica", "", 10)
    _print_fitting(pdf, COMMENTS_TOP, words.page("sheet_comments"))
    pdf.set_draw_color(170)
    for line in range(1, COMMENT_LINES + 1):
        y = COMMENTS_TOP + line * LINE_GAP
        pdf.line(MARGIN, y, PAGE_WIDTH - MARGIN, y)
    pdf.set_draw_color(0)
    pdf.set_font(CODE_FONT, "", CODE_SIZE)
    code = code_line(study, sheet)
    for x, y in code_starts(code):
        pdf.text(x, y, code)


def _print_fitting(pdf: FPDF, y: float, text: str) -> None:
    """Print a line between the margins, in smaller letters if it is too long."""
    shown, size = _plain_text(text), pdf.font_size_pt
    width = pdf.get_string_width(shown)
    pdf.set_font_size(size * min(1.0, (PAGE_WIDTH - 2 * MARGIN) / max(width, 1.0)))
    pdf.text(MARGIN, y, shown)
    pdf.set_font_size(size)


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
    """Draw the numbers in squares; dashed lines show where to cut."""
    side = min(NUMBER_SIDE, (PAGE_WIDTH - 2 * MARGIN) / count)
    right = MARGIN + count * side
    pdf.set_font("Helvetica", "B", 12 * side / NUMBER_SIDE)
    pdf.set_dash_pattern(dash=2, gap=2)
    for y in (top, top + side):
        pdf.line(MARGIN, y, right, y)
    for index in range(count + 1):
        x = MARGIN + index * side
        pdf.line(x, top, x, top + side)
    pdf.set_dash_pattern()
    for index in range(count):
        label = str(index + 1)
        x = MARGIN + (index + 0.5) * side - pdf.get_string_width(label) / 2
        pdf.text(x, top + side / 2 + 4 * side / NUMBER_SIDE, label)
