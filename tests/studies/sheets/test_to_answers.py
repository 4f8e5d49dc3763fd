"""Sheets of plane studies: the printed file, marks read from it, and entry of values."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Line, Rectangle
from pypdf.generic import ArrayObject, DictionaryObject, FloatObject, NameObject, TextStringObject

import earwitness
from earwitness.errors import InputError, UsageError
from earwitness.studies.sheets.layout import PAGE_HEIGHT, place_of
from earwitness.studies.sheets.to_answers import (
    PaperAnswers,
    PaperEntryResult,
    position_records,
)
from helpers.command_line import run
from helpers.study_files import sound

SYSTEMS = ("pareto-z0", "pareto-z1", "random")
PLACES = {1: (0.25, 0.75), 2: (0.6, 0.4), 3: (1.0, 0.1)}


@pytest.fixture
def study(tmp_path: Path) -> Path:
    for system in SYSTEMS:
        for item in "AB":
            sound(tmp_path / system / f"{item}.wav")
    (tmp_path / "material.csv").write_text("name,seconds\nA,0.1\nB,0.1\n")
    text = {
        "title": "Deux journées – essai",
        "seed": 1,
        "language": "fr",
        "systems": [*SYSTEMS],
        "files": "{system}/{item}.wav",
        "material": "material.csv",
        "listeners": 2,
        "blocks": [{"kind": "plane", "clips": 2, "sessions": 2}],
    }
    path = tmp_path / "study.yaml"
    path.write_text(json.dumps(text))
    return path


@pytest.fixture
def sheets(study: Path) -> Path:
    path = study.parent / "sheets.pdf"
    assert earwitness.study_sheets(study, path, table=study.parent / "values.csv") == 4
    return path


def enter(study: Path, *files: Path, **how: Any) -> PaperAnswers:
    entered = earwitness.study_enter(study, files, **how)
    assert isinstance(entered, PaperAnswers)
    return entered


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return [*csv.DictReader(file)]


def filled(table: Path, *, mark: str = ".", **change: str) -> Path:
    """A copy of the table with the values of listener 1; the last row of A gets a change."""
    rows = rows_of(table)
    for row in rows:
        if row["listener"] == "1" and row["skim"]:
            row["tc"], row["sd"] = (f"{x:g}" for x in PLACES[int(row["skim"])])
            row["tc"] = row["tc"].replace(".", mark)
    rows[2] |= change
    path = table.parent / "filled.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=";" if mark == "," else ",")
        writer.writeheader()
        writer.writerows(rows)
    return path


# --- Writing -------------------------------------------------------------------------------------


def test_sheets_have_instructions_and_a_page_per_recording_without_systems(sheets: Path) -> None:
    texts = [page.extract_text() for page in PdfReader(sheets).pages]
    assert len(texts) == 5
    assert "Cohérence temporelle (TC)" in texts[0]
    assert "Auditeur 1 - enregistrement" in texts[1]
    assert "Diversité des sources (SD)" in texts[1]
    assert not any(system in text for text in texts for system in SYSTEMS)


def test_the_same_study_gives_the_same_file(study: Path, sheets: Path) -> None:
    again = study.parent / "again.pdf"
    assert earwitness.study_sheets(study, again, listener=2) == 2
    earwitness.study_sheets(study, again)
    assert again.read_bytes() == sheets.read_bytes()


def test_skims_are_copied_under_the_numbers_of_each_listener(study: Path) -> None:
    sound(study.parent / "random" / "A.wav", 0.2)
    folder = study.parent / "skims"
    earwitness.study_sheets(study, study.parent / "s.pdf", sounds=folder)
    design = earwitness.study_design(study)
    trials = [trial for session in design.plans[1].sessions for trial in session]
    number = next(t.systems.index("random") + 1 for t in trials if t.item == "A")
    copied = folder / "listener-2" / "A" / f"{number}.wav"
    assert copied.read_bytes() == (study.parent / "random" / "A.wav").read_bytes()


def test_other_studies_and_listeners_are_refused(study: Path) -> None:
    with pytest.raises(UsageError, match="listener 3 is not part of the study — known: 1 to 2"):
        earwitness.study_sheets(study, study.parent / "s.pdf", listener=3)
    text = json.loads(study.read_text())
    study.write_text(json.dumps(text | {"blocks": [{"kind": "acr", "clips": 2}]}))
    with pytest.raises(UsageError, match="kind plane"):
        earwitness.study_sheets(study, study.parent / "s.pdf")


# --- Entry of tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("mark", [".", ","])
def test_a_filled_table_gives_the_answers_of_its_pages(
    study: Path, sheets: Path, mark: str
) -> None:
    entered = enter(study, filled(sheets.parent / "values.csv", mark=mark, comment="=rare birds"))
    assert [(page.answer.listener, page.answer.page) for page in entered.pages] == [
        (1, "1.1"),
        (1, "2.1"),
    ]
    values = entered.pages[0].answer.values
    assert [values[name] for name in ("TC_2", "SD_2", "comment_3")] == [0.6, 0.4, "=rare birds"]
    records = [*position_records([page.answer for page in entered.pages])]
    assert [(one["skim"], one["tc"], one["sd"]) for one in records[:3]] == [
        (number, *place) for number, place in PLACES.items()
    ]
    assert {one["system"] for one in records[:3]} == {*SYSTEMS}
    assert records[2]["comment"] == "=rare birds"


def test_entry_is_repeatable_and_corrections_replace(study: Path, sheets: Path) -> None:
    db = study.parent / "study.db"
    counts = []
    for change in ({}, {}, {"tc": "0.5"}):
        path = filled(sheets.parent / "values.csv", **change)
        found = earwitness.study_enter(study, [path], db=db)
        assert isinstance(found, PaperEntryResult)
        counts.append((found.new, found.corrected, found.unchanged))
    assert counts == [(2, 0, 0), (0, 0, 2), (0, 1, 1)]
    results = earwitness.study_analyse(study=study, db=db)
    assert results.plane is not None
    exported = run("study", "export", str(study), "--positions").stdout
    table = [*csv.DictReader(io.StringIO(exported))]
    assert len(table) == 6
    assert table[2]["tc"] == "0.5"


def test_all_problems_of_a_table_are_reported_at_once(study: Path, sheets: Path) -> None:
    path = filled(sheets.parent / "values.csv")
    rows = rows_of(path)
    rows[0]["tc"], rows[1]["sd"], rows[2]["skim"] = "1.2", "high", "4"
    rows[4]["recording"], rows[5]["listener"] = "C", "9"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError) as caught:
        enter(study, path)
    told = str(caught.value)
    for message in (
        "filled.csv:2: tc: must be from 0 to 1, got 1.2",
        'filled.csv:3: sd: must be a number from 0 to 1, got "high"',
        'filled.csv:4: skim: must be a number from 1 to 3, got "4"',
        'filled.csv:6: recording: unknown recording "C"',
        'filled.csv:7: listener: unknown listener "9" — known: 1 to 2',
        "listener 1, A: no TC of skim 3, SD of skim 3",
    ):
        assert message.replace(" A:", f" {rows[0]['recording']}:") in told


# --- Marks in PDF files --------------------------------------------------------------------------


Mark = Callable[[PdfWriter, int, str, float, float], None]


def rectangle(x: float, y: float, half: float = 5) -> tuple[float, float, float, float]:
    return x - half, y - half, x + half, y + half


def text_box(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    writer.add_annotation(page, FreeText(text=text, rect=rectangle(x, y)))


def annotate(writer: PdfWriter, page: int, kind: str, x: float, y: float, **more: Any) -> None:
    corners = ArrayObject([FloatObject(value) for value in rectangle(x, y)])
    entries = {"/Type": NameObject("/Annot"), "/Subtype": NameObject(kind), "/Rect": corners}
    entries |= {f"/{name}": value for name, value in more.items()}
    mark = DictionaryObject({NameObject(name): value for name, value in entries.items()})
    writer.add_annotation(page, mark)


def strokes(x: float, y: float) -> list[ArrayObject]:
    return [
        ArrayObject([FloatObject(value) for value in stroke])
        for stroke in ((x - 5, y - 5, x + 5, y + 5), (x - 5, y + 5, x + 5, y - 5))
    ]


def number_alone(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    text_box(writer, page, text, x, y)


def typed_cross(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    text_box(writer, page, "×", x, y)
    text_box(writer, page, text, x, y + 14)


def number_and_cross(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    text_box(writer, page, f"{text} x", x, y)


def two_lines(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    for a, b in (((x - 5, y - 5), (x + 5, y + 5)), ((x - 5, y + 5), (x + 5, y - 5))):
        writer.add_annotation(page, Line(p1=a, p2=b, rect=rectangle(x, y), text=""))
    text_box(writer, page, text, x - 3, y + 15)


def ink(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    annotate(writer, page, "/Ink", x, y, InkList=ArrayObject(strokes(x, y)))
    text_box(writer, page, text, x + 12, y + 6)


def ink_by_strokes(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    for stroke in strokes(x, y):
        annotate(writer, page, "/Ink", x, y, InkList=ArrayObject([stroke]))
    text_box(writer, page, text, x, y + 16)


def stamp(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    annotate(writer, page, "/Stamp", x, y, Contents=TextStringObject(text))


def square(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    writer.add_annotation(page, Rectangle(rect=rectangle(x, y)))
    text_box(writer, page, f"A-{text}", x, y + 12)


def flattened(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    overlay = FPDF(unit="pt", format="A4")
    overlay.add_page()
    overlay.set_font("Helvetica", "", 12)
    overlay.text(x - overlay.get_string_width(text) / 2, PAGE_HEIGHT - y + 4, text)
    writer.pages[page].merge_page(PdfReader(io.BytesIO(bytes(overlay.output()))).pages[0])


MARKS: list[Mark] = [number_alone, typed_cross, number_and_cross, two_lines]
MARKS += [ink, ink_by_strokes, stamp, square, flattened]


def marked(sheets: Path, mark: Mark, places: dict[int, tuple[float, float]] = PLACES) -> PdfWriter:
    """The file with the marks of listener 1 on the first plane."""
    writer = PdfWriter(clone_from=sheets)
    for number, (tc, sd) in places.items():
        x, top = place_of(tc, sd)
        mark(writer, 1, str(number), x, PAGE_HEIGHT - top)
    return writer


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark.__name__)
def test_marks_are_read_as_programs_write_them(study: Path, sheets: Path, mark: Mark) -> None:
    writer = marked(sheets, mark)
    text_box(writer, 1, "2: too long\nAll are short.", 200, 150)
    path = study.parent / "returned.pdf"
    writer.write(path)
    (page,) = enter(study, path).pages
    assert (page.answer.listener, page.answer.page) == (1, "1.1")
    values = page.answer.values
    assert [values["comment_2"], values["comment"]] == ["too long", "All are short."]
    for number, place in PLACES.items():
        found = [values[f"TC_{number}"], values[f"SD_{number}"]]
        assert found == pytest.approx(place, abs=0.005)


def test_all_problems_of_marks_are_reported_at_once(study: Path, sheets: Path) -> None:
    places = {1: (0.2, 0.2), 3: (0.5, 1.08), 7: (0.9, 0.9)}
    writer = marked(sheets, number_alone, places)
    for tc, text in ((0.8, "1"), (0.4, "x")):
        x, top = place_of(tc, 0.5)
        text_box(writer, 1, text, x, PAGE_HEIGHT - top)
    path = study.parent / "returned.pdf"
    writer.write(path)
    with pytest.raises(InputError) as caught:
        enter(study, path)
    told = str(caught.value)
    for message in (
        "has two places",
        "sd: must be from 0 to 1, got 1.08",
        'skim: must be a number from 1 to 3, got "7"',
        "page 2: the cross at TC 0.40, SD 0.50 has no number",
        "no TC of skim 2, SD of skim 2",
    ):
        assert message in told


def test_sheets_of_another_study_and_other_files_are_refused(study: Path, sheets: Path) -> None:
    path = study.parent / "returned.pdf"
    marked(sheets, number_alone).write(path)
    study.write_text(study.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(InputError, match="belongs to another study"):
        enter(study, path)
    blank = PdfWriter()
    blank.add_blank_page(100, 100)
    blank.write(path)
    with pytest.raises(InputError, match="has no sheets of a study"):
        enter(study, path)
    path.write_bytes(b"%PDF-1.4 broken")
    with pytest.raises(InputError, match="cannot be read"):
        enter(study, path)


def test_numbers_above_crosses_near_each_other_are_not_exchanged(study: Path, sheets: Path) -> None:
    places = {1: (0.5, 0.5), 2: (0.5, 0.56), 3: (1.0, 0.1)}
    path = study.parent / "near.pdf"
    marked(sheets, ink_by_strokes, places).write(path)
    (page,) = enter(study, path).pages
    found = [page.answer.values[f"SD_{number}"] for number in places]
    assert found == pytest.approx([sd for _, sd in places.values()], abs=0.005)
