"""Marks of sheets: files that PDF programs wrote, pages that they changed, and crosses."""

from __future__ import annotations

import re
from math import cos, pi, sin
from pathlib import Path

import numpy as np
import pytest
from pypdf import PdfReader, PdfWriter, Transformation
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject, RectangleObject

from earwitness.errors import Problem
from earwitness.forms.sheets.layout import CODE_LINE, place_of
from earwitness.forms.sheets.marks import Place, PlaneMarks, Shape, Stroke, TextMark
from earwitness.forms.sheets.page_content import page_content
from earwitness.forms.sheets.read import SheetPlace, SheetRow, _mark_rows, read_sheet_rows

PLACES = {"1": (0.25, 0.75), "2": (0.6, 0.4), "3": (1.0, 0.1)}
# A sheet with three crosses, numbers and two comments, as written by the annotation functions of
# pdf.js 4 (Firefox), Poppler 22.12 with GLib (Evince: notes without crosses) and with Qt (Okular;
# one page, extracted by qpdf 11), MuPDF, and pdf-lib, which draws on the page; and the file of
# pdf.js after PDFium printed it (Chromium), and after Ghostscript 10 fitted it into Letter, with
# annotations and without. In the file of MuPDF whose annotations were baked in, the text of the
# note is lost.
FILES = sorted((Path(__file__).parent / "returned").glob("*.pdf"))


def read(path: Path) -> tuple[list[SheetRow], list[Problem], list[str]]:
    problems, notes = list[Problem](), list[str]()
    return read_sheet_rows(path, problems, notes), problems, notes


def places(rows: list[SheetRow]) -> dict[str, tuple[float, float]]:
    return {row.skim: (float(row.tc), float(row.sd)) for row in rows if row.tc}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_pdf_programs_are_read(path: Path) -> None:
    rows, problems, notes = read(path)
    assert problems == []
    assert {row.page for row in rows} == {"P1.1"}
    found = places(rows)
    assert found.keys() == PLACES.keys()
    for number, place in PLACES.items():
        assert found[number] == pytest.approx(place, abs=0.008)
    comments = {row.skim: row.comment for row in rows if row.comment}
    lost = {""} if path.stem == "mupdf-flat" else set()
    expected = {"2": "too long", "": "All are short."}
    assert comments == {skim: text for skim, text in expected.items() if skim not in lost}
    alone = [f"{path}: page 2: numbers 1, 2, 3 have no cross; places of numbers count"]
    assert notes == (alone if path.stem == "poppler-glib" else [])


# --- Changed pages -------------------------------------------------------------------------------


def changed(tmp_path: Path, *moves: Transformation) -> Path:
    """A flattened sheet, transformed; and a second one beside it for a second transformation."""
    sheets = PdfReader(Path(__file__).parent / "returned" / "pdf-lib.pdf").pages
    writer = PdfWriter()
    page = writer.add_blank_page(1000, 1000)
    for sheet, move in zip(sheets[1:], moves, strict=False):
        page.merge_transformed_page(sheet, move)
    path = tmp_path / "changed.pdf"
    writer.write(path)
    return path


@pytest.mark.parametrize(
    "move",
    [
        Transformation().scale(0.94).translate(26, 12),
        Transformation().scale(1.03, 0.94),
        Transformation().rotate(90).translate(900, 20),
        Transformation().rotate(180).translate(700, 900),
    ],
    ids=["scaled", "stretched", "turned", "upside down"],
)
def test_moved_pages_are_read_as_they_were_printed(tmp_path: Path, move: Transformation) -> None:
    rows, problems, _ = read(changed(tmp_path, move))
    assert problems == []
    for number, place in places(rows).items():
        assert PLACES[number] == pytest.approx(place, abs=0.005)


def test_pages_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    half = Transformation().scale(0.7)
    _, (problem,), _ = read(changed(tmp_path, half, half.translate(420, 0)))
    assert "page 1: the page was changed: it has several sheets — type its values" in str(problem)
    path = tmp_path / "cropped.pdf"
    writer = PdfWriter(clone_from=Path(__file__).parent / "returned" / "pdf-lib.pdf")
    content = writer.pages[1].get_contents()
    assert content is not None
    shown = [index for index, (_, operator) in enumerate(content.operations) if operator == b"Tj"]
    codes = [n for n in shown if b"earwitness" in content.operations[n][0][0].original_bytes]
    del content.operations[codes[-1]]
    writer.pages[1].replace_contents(content)
    writer.write(path)
    _, (problem,), _ = read(path)
    assert "page 2: the page was changed: one of its two lines “earwitness …” is" in str(problem)


def test_texts_of_two_forms_are_two_runs() -> None:
    page = PdfWriter().add_blank_page(300, 300)
    forms = DictionaryObject()
    for name, data in {
        "/A": b"BT /F 12 Tf 100 100 Td (1) Tj ET",
        "/B": b"BT /F 12 Tf 112 100 Td (only) Tj 32 0 Td (wind) Tj ET",
    }.items():
        form = DecodedStreamObject()
        form.set_data(data)
        form[NameObject("/BBox")] = RectangleObject((0, 0, 300, 300))
        forms[NameObject(name)] = form
    page[NameObject("/Resources")] = DictionaryObject({NameObject("/XObject"): forms})
    content = DecodedStreamObject()
    content.set_data(b"/A Do /B Do")
    page[NameObject("/Contents")] = content
    assert [run.text for run in page_content(page).runs()] == ["1", "only wind"]


def test_pictures_are_reported(tmp_path: Path) -> None:
    from fpdf import FPDF
    from PIL import Image

    picture = FPDF(unit="pt", format="A4")
    picture.add_page()
    picture.image(Image.new("L", (10, 10)), 0, 0, 595, 842)
    path = tmp_path / "scan.pdf"
    picture.output(str(path))
    _, problems, _ = read(path)
    assert [one.message for one in problems] == ["the page is a picture, which is not read"]


def test_encrypted_files_are_reported(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=FILES[0])
    writer.encrypt("secret", algorithm="RC4-128")
    path = tmp_path / "locked.pdf"
    writer.write(path)
    _, (problem,), _ = read(path)
    assert str(problem) == f"{path}: is encrypted — save it without a password"


# --- Crosses and numbers -------------------------------------------------------------------------


def marked_rows(marks: PlaneMarks) -> tuple[list[SheetRow], list[str], list[str]]:
    sheet = CODE_LINE.fullmatch("earwitness 0123456789ab L1 P1.1")
    assert isinstance(sheet, re.Match)
    where = SheetPlace("a.pdf", 2, [], [])
    rows = list(_mark_rows(marks, sheet, where))
    return rows, [one.message for one in where.problems], where.notes


def cross(middle: Place, arm: float = 6, text: str = "") -> list[Stroke]:
    """Two strokes of a pen, of many points."""
    steps = np.linspace(-arm, arm, 9)[:, None]
    bent = 0.2 * np.cos(steps)
    return [
        Stroke(np.array(middle) + np.hstack([steps, side * steps + bent]), text) for side in (1, -1)
    ]


@pytest.mark.parametrize("points", [0, 2, 4, 6, 9, 12, 20])
@pytest.mark.parametrize("direction", [0, 45, 90, 160])
def test_crosses_close_to_each_other_stay_two(points: float, direction: float) -> None:
    x, y = place_of(0.5, 0.5)
    turn = direction * pi / 180
    middles = {"1": (x, y), "2": (x + points * cos(turn), y + points * sin(turn))}
    strokes = [stroke for middle in middles.values() for stroke in cross(middle)]
    texts = [TextMark(number, (a + 1, b - 13)) for number, (a, b) in middles.items()]
    rows, problems, notes = marked_rows(PlaneMarks(texts, strokes[::2] + strokes[1::2]))
    assert problems == notes == []
    for number, (tc, sd) in places(rows).items():
        assert place_of(tc, sd) == pytest.approx(middles[number], abs=0.6)


def test_numbers_on_different_sides_of_close_crosses_are_reported() -> None:
    """Number 1 is above the left cross and number 2 below the right one, or the reverse."""
    x, y = place_of(0.5, 0.5)
    strokes = [*cross((x, y)), *cross((x + 8, y + 1))]
    texts = [TextMark("1", (x + 4, y - 14)), TextMark("2", (x + 4, y + 15))]
    _, problems, _ = marked_rows(PlaneMarks(texts, strokes))
    assert problems == ["numbers 1, 2 are near several crosses, and may be exchanged"]
    texts = [TextMark("1", (x - 13, y)), TextMark("2", (x + 21, y + 1))]
    _, problems, _ = marked_rows(PlaneMarks(texts, strokes))
    assert problems == []


def test_a_stroke_that_is_a_sign_of_its_own_is_a_cross() -> None:
    x, y = place_of(0.3, 0.3)
    turns = np.linspace(0, 2 * pi, 30)
    circle = np.stack([x + 5 * np.cos(turns), y + 5 * np.sin(turns)], axis=1)
    marks = PlaneMarks([TextMark("1", (x, y - 14))], [Stroke(circle)])
    rows, problems, notes = marked_rows(marks)
    assert problems == notes == []
    assert places(rows)["1"] == pytest.approx((0.3, 0.3), abs=0.002)


def test_texts_attached_to_marks_are_numbers_or_comments() -> None:
    middles = [place_of(tc, 0.5) for tc in (0.2, 0.5, 0.8)]
    x, y = middles[1]
    marks = PlaneMarks(
        [TextMark("2", (x, y - 12))],
        [*cross(middles[0], text="1"), *cross(middles[1], text="only wind")],
        [Shape(middles[2], "3")],
        ["A-2: and rain\nat night\n\n3 – cars. At 12:30 a horn\nFine."],
    )
    rows, problems, notes = marked_rows(marks)
    assert problems == notes == []
    assert [tc for tc, _ in dict(sorted(places(rows).items())).values()] == [0.2, 0.5, 0.8]
    assert {row.skim: row.comment for row in rows if row.comment} == {
        "2": "only wind and rain at night",
        "3": "cars. At 12:30 a horn Fine.",
    }


def test_numbers_and_crosses_that_do_not_match_are_all_reported() -> None:
    texts = [TextMark(number, place_of(tc, 0.5)) for number, tc in (("1", 0.1), ("3", 0.5))]
    texts.append(TextMark("2", (200.0, 700.0)))
    marks = PlaneMarks(texts, cross(place_of(0.9, 0.9)))
    _, problems, notes = marked_rows(marks)
    assert notes == []
    assert problems == [
        "the cross at TC 0.90, SD 0.90 has no number",
        "number 2 is outside of the plane",
        "numbers 1, 3 have no cross nearby",
    ]
    texts = [TextMark("A-1 x", place_of(0.1, 0.5)), TextMark("b-2 x", place_of(0.5, 0.5))]
    _, problems, _ = marked_rows(PlaneMarks(texts))
    assert problems == ["has numbers of several recordings: A, B"]
    texts = [TextMark("1", place_of(0.1, 0.5))]
    _, problems, notes = marked_rows(PlaneMarks([*texts[:1], TextMark("x 2", place_of(0.9, 0.9))]))
    assert problems == ["number 1 has no cross nearby"]
    _, problems, notes = marked_rows(PlaneMarks(texts[:1]))
    assert problems == []
    assert notes == ["a.pdf: page 2: number 1 has no cross; places of numbers count"]
