"""Sheets of plane studies: the printed file, marks read from it, and entry of values."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF
from pypdf import PdfReader, PdfWriter
from pypdf.annotations import FreeText, Line, Rectangle
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    FloatObject,
    NameObject,
    NumberObject,
    TextStringObject,
)

import earwitness
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.forms.sheets.layout import PAGE_HEIGHT, place_of
from earwitness.forms.sheets.to_answers import (
    PaperAnswers,
    PaperEntryResult,
    position_records,
)
from earwitness.studies.file.reader import read_study
from earwitness.studies.procedure import study_procedure
from earwitness.studies.wording import wording
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
    assert earwitness.study_sheets(study, path, template=study.parent / "values.csv") == 4
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
    assert "Auditeur 1 – enregistrement" in texts[1]
    assert "Diversité des sources (SD)" in texts[1]
    assert not any(system in text for text in texts for system in SYSTEMS)


def test_the_same_study_gives_the_same_file(study: Path, sheets: Path) -> None:
    again = study.parent / "again.pdf"
    assert earwitness.study_sheets(study, again, listener="2") == 2
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


def test_sheets_of_a_repeated_recording_name_session_and_folder(study: Path) -> None:
    text = json.loads(study.read_text()) | {"quality": {"repeats": 0.5}}
    study.write_text(json.dumps(text))
    folder = study.parent / "skims"
    earwitness.study_sheets(study, study.parent / "s.pdf", sounds=folder)
    design = earwitness.study_design(study)
    items = [trial.item for session in design.plans[0].sessions for trial in session]
    assert items[0] == items[2] != items[1]
    names = [f"{items[0]}-session-1", items[1], f"{items[0]}-session-3"]
    assert {one.name for one in (folder / "listener-1").iterdir()} == {*names}
    heads = [page.extract_text() for page in PdfReader(study.parent / "s.pdf").pages[1:4]]
    assert ["session" in head for head in heads] == [True, False, True]
    assert f"– session 3 (résumés\xa0: {names[2]})" in heads[2]


def test_long_instructions_continue_on_a_second_page(study: Path) -> None:
    text = json.loads(study.read_text()) | {"title": "Дни", "instructions": "Read this.\n" * 60}
    study.write_text(json.dumps(text))
    with pytest.warns(EarwitnessWarning, match='"Дни" has characters that cannot be printed'):
        earwitness.study_sheets(study, study.parent / "s.pdf")
    texts = [page.extract_text() for page in PdfReader(study.parent / "s.pdf").pages]
    assert [text.count("Read this.") for text in texts[:3]] == [47, 13, 0]
    assert "plane" not in texts[0]
    assert "Auditeur 1" in texts[2]


def test_instructions_that_apply_to_the_browser_only_are_not_printed(study: Path) -> None:
    words = wording("fr")
    instructions = [words.page(name) for name in ("plane_instructions", "plane_practice")]
    text = json.loads(study.read_text()) | {"instructions": "\n\n".join(instructions)}
    study.write_text(json.dumps(text))
    earwitness.study_sheets(study, study.parent / "s.pdf")
    first = PdfReader(study.parent / "s.pdf").pages[0].extract_text()
    assert "casque" in first
    assert "même lien" not in first
    assert "entraînement" not in first


def test_other_studies_and_listeners_are_refused(study: Path) -> None:
    with pytest.raises(UsageError, match="unknown listener 3 — known: 1 to 2"):
        earwitness.study_sheets(study, study.parent / "s.pdf", listener="3")
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
    exported = run("study", "export", str(study), "--content", "positions").stdout
    table = [*csv.DictReader(io.StringIO(exported))]
    assert len(table) == 6
    assert table[2]["tc"] == "0.5"


def test_planes_from_paper_are_shown_in_status_and_methods(study: Path, sheets: Path) -> None:
    db, path = study.parent / "study.db", filled(sheets.parent / "values.csv")
    rows, lines = rows_of(path), path.read_text().splitlines(keepends=True)
    shown = []
    for count in (len(rows) // 4, len(rows)):  # one recording, then both
        path.write_text("".join(lines[: count + 1]))
        earwitness.study_enter(study, [path], db=db)
        shown += [(one["state"], one["paper"]) for one in earwitness.study_status(study, db)]
    assert shown == [("joined", "1/2 planes"), ("on paper", "2/2 planes")]
    procedure = earwitness.study_analyse(study=study, db=db).procedure
    assert procedure is not None
    assert procedure.playback == "All listeners answered on paper."
    exported, entered = study.parent / "exported.jsonl", study.parent / "entered.jsonl"
    run("study", "export", str(study), "-o", str(exported))
    run("study", "enter", str(study), str(path), "-o", str(entered))
    for answers in (exported, entered):
        assert earwitness.study_analyse(answers, study=study).procedure == procedure
    plan = replace(read_study(study), training=2)
    assert "practised" in study_procedure(plan).design
    assert "practised" not in study_procedure(plan, [True, True], 2).design
    partly = study_procedure(plan, [True, False], 2)
    assert "practised" in partly.design
    assert partly.playback.startswith("All listeners answered on paper, 1 of them in part. In the")
    mixed = study_procedure(plan, [True, True], 4).playback
    assert mixed.startswith("2 of 4 listeners answered on paper. In the browser, answers were")
    assert "; the other listeners switched freely" in mixed


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


def test_missing_values_are_reported_at_their_rows(study: Path, sheets: Path) -> None:
    path = filled(sheets.parent / "values.csv")
    head, *lines = path.read_text().splitlines()
    lines[1] = lines[1].replace("0.4", "")
    lines[2] = lines[2].replace("1,0.1", ",")
    path.write_text("\n".join([head, *lines]))
    with pytest.raises(InputError) as caught:
        enter(study, path)
    item = rows_of(path)[0]["recording"]
    assert [str(one).partition(" — ")[0] for one in caught.value.problems] == [
        f"{path}:3: listener 1, {item}: no SD of skim 2",
        f"{path}:4: listener 1, {item}: no TC of skim 3, SD of skim 3",
    ]


def test_a_table_of_another_study_is_refused(study: Path, sheets: Path) -> None:
    path = filled(sheets.parent / "values.csv")
    study.write_text(study.read_text().replace('"seed": 1', '"seed": 2'))
    with pytest.raises(
        InputError, match=r"filled.csv:2: study: belongs to another study"
    ) as caught:
        enter(study, path)
    assert len(caught.value.problems) == 1
    path.write_text(path.read_text().replace("study,", "studie,", 1))
    with pytest.raises(InputError, match="csv:1: missing columns: study — use the file that was"):
        enter(study, path)


def test_files_without_values_are_refused(study: Path, sheets: Path) -> None:
    table = sheets.parent / "values.csv"
    db = study.parent / "study.db"
    with pytest.raises(InputError) as caught:
        earwitness.study_enter(study, [table, sheets], db=db)
    assert [str(one).removeprefix(f"{study.parent}/") for one in caught.value.problems] == [
        "sheets.pdf: has no values — add marks, and save the file instead of printing it",
        "values.csv: has no values — fill in the columns tc and sd",
    ]
    assert not db.exists()
    table.write_bytes(filled(table, comment="Été").read_text().encode("cp1252"))
    with pytest.raises(InputError, match="is not a table in UTF-8 — save it as “CSV UTF-8”"):
        enter(study, table)


def test_two_comments_on_a_skim_are_refused(study: Path, sheets: Path) -> None:
    path = filled(sheets.parent / "values.csv", comment="wind")
    other = path.rename(path.with_name("other.csv"))
    path = filled(sheets.parent / "values.csv", comment="rain")
    with pytest.raises(InputError, match=r"filled.csv:4: comment: skim 3 of . has two comments"):
        enter(study, other, path)


def test_values_of_a_plane_from_two_files_are_noted(study: Path, sheets: Path) -> None:
    path = filled(sheets.parent / "values.csv")
    head, *rows = path.read_text().splitlines(keepends=True)
    parts = [path.with_name(f"{name}.csv") for name in ("first", "second")]
    parts[0].write_text(head + "".join(rows[:2]))
    parts[1].write_text(head + "".join(rows[2:]))
    entered = enter(study, *parts)
    item = (entered.pages[0].answer.heard or {})["item"]
    note = f"listener 1, {item}: values come from {parts[0]} and {parts[1]}"
    assert [one for one in entered.notes if "come from" in one] == [note]
    files = [[one["name"] for one in page.meta["workbook"]] for page in entered.pages]
    assert files == [["first.csv", "second.csv"], ["second.csv"]]


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
    head = writer.pages[page].extract_text()
    recording = head.partition("enregistrement ")[2][0].lower()
    text_box(writer, page, f"{recording}-{text}", x, y + 12)


def flattened(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    overlay = FPDF(unit="pt", format="A4")
    overlay.add_page()
    overlay.set_font("Helvetica", "", 12)
    overlay.text(x - overlay.get_string_width(text) / 2, PAGE_HEIGHT - y + 4, text)
    writer.pages[page].merge_page(PdfReader(io.BytesIO(bytes(overlay.output()))).pages[0])


def box_without_picture(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    """A box that is much larger than its text, as rich text only."""
    corners = ArrayObject([FloatObject(v) for v in (x - 6, y - 80, x + 150, y + 8.6)])
    rich = f'<body xmlns="http://www.w3.org/1999/xhtml"><p dir="ltr">{text}</p></body>'
    more = {"DA": TextStringObject("0 g /Helv 12 Tf"), "RC": TextStringObject(rich)}
    annotate(writer, page, "/FreeText", x, y, Rect=corners, **more)


def callout(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    line = ArrayObject([FloatObject(v) for v in (x, y, x + 20, y + 30)])
    more = {"IT": NameObject("/FreeTextCallout"), "CL": line, "Contents": TextStringObject(text)}
    annotate(writer, page, "/FreeText", x + 20, y + 30, **more)


def circled_number(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
    annotate(writer, page, "/Circle", x, y)
    text_box(writer, page, "①②③"[int(text) - 1], x, y + 14)
    hidden = {"F": NumberObject(2), "Contents": TextStringObject("8")}
    annotate(writer, page, "/FreeText", x, y, **hidden)


MARKS: list[Mark] = [number_alone, typed_cross, number_and_cross, two_lines]
MARKS += [ink, ink_by_strokes, stamp, square, flattened, box_without_picture, callout]
MARKS += [circled_number]


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
    text_box(writer, 1, "2: too\nlong\n\nAll are short.", 200, 150)
    path = study.parent / "returned.pdf"
    writer.write(path)
    (page,) = enter(study, path).pages
    assert (page.answer.listener, page.answer.page) == (1, "1.1")
    values = page.answer.values
    assert [values["comment_2"], values["comment"]] == ["too long", "All are short."]
    for number, place in PLACES.items():
        found = [values[f"TC_{number}"], values[f"SD_{number}"]]
        assert found == pytest.approx(place, abs=0.005)


@pytest.mark.parametrize("order", ["x1x2x3", "xxx123"])
def test_signs_on_one_line_of_a_flattened_file_stay_apart(
    study: Path, sheets: Path, order: str
) -> None:
    """Cross 2 is beside number 1, and cross 3 beside cross 2."""
    x, top = place_of(0.5, 0.5)
    middles = {"1": (x, top), "2": (x + 16, top - 14), "3": (x + 30, top - 14)}
    crosses = iter(middles.values())
    writer = PdfWriter(clone_from=sheets)
    for sign in order:
        across, down = next(crosses) if sign == "x" else middles[sign]
        flattened(writer, 1, sign, across, PAGE_HEIGHT - down + (0 if sign == "x" else 14))
    path = study.parent / "returned.pdf"
    writer.write(path)
    (page,) = enter(study, path).pages
    for number, middle in middles.items():
        tc, sd = page.answer.values[f"TC_{number}"], page.answer.values[f"SD_{number}"]
        assert place_of(tc, sd) == pytest.approx(middle, abs=1)


def test_a_box_around_a_flattened_comment_is_no_cross(study: Path, sheets: Path) -> None:
    writer = marked(sheets, flattened)
    overlay = FPDF(unit="pt", format="A4")
    overlay.add_page()
    overlay.set_font("Helvetica", "", 12)
    x, y = place_of(0.5, 0.8)
    overlay.rect(x, y, 60, 18)
    overlay.text(x + 4, y + 13, "too long")
    writer.pages[1].merge_page(PdfReader(io.BytesIO(bytes(overlay.output()))).pages[0])
    path = study.parent / "returned.pdf"
    writer.write(path)
    (page,) = enter(study, path).pages
    assert page.answer.values["comment"] == "too long"


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
        "returned.pdf: page 2: sd of skim 3: must be from 0 to 1, got 1.08",
        'skim: must be a number from 1 to 3, got "7"',
        "page 2: the cross at TC 0.40, SD 0.50 has no number",
        "no TC of skim 2, SD of skim 2",
    ):
        assert message in told


def test_numbers_of_another_recording_are_refused(study: Path, sheets: Path) -> None:
    def of_c(writer: PdfWriter, page: int, text: str, x: float, y: float) -> None:
        text_box(writer, page, f"C-{text} x", x, y)

    path = study.parent / "returned.pdf"
    marked(sheets, of_c).write(path)
    with pytest.raises(
        InputError, match=r'page 2: has numbers of recording "C" on the sheet of "[AB]" — move'
    ) as caught:
        enter(study, path)
    assert len(caught.value.problems) == 1


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
    places = {1: (0.5, 0.5), 2: (0.5, 0.515), 3: (1.0, 0.1)}
    path = study.parent / "near.pdf"
    marked(sheets, ink_by_strokes, places).write(path)
    (page,) = enter(study, path).pages
    found = [page.answer.values[f"SD_{number}"] for number in places]
    assert found == pytest.approx([sd for _, sd in places.values()], abs=0.005)
