"""Workbooks that are sent to raters, filled in, and read back."""

from __future__ import annotations

import io
import random
import re
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pytest

from earwitness.errors import InputError, UsageError
from earwitness.forms.workbooks.layout import caption_hash
from earwitness.forms.workbooks.read import read_workbook
from earwitness.forms.workbooks.write import (
    WorkbookClip,
    WorkbookContent,
    make_workbook,
    write_workbooks,
)
from earwitness.ratings.rubric import LANGUAGES, Dimension, Rubric, thumbs
from helpers.libreoffice_workbook import CLIPS, NUMBERS, SENT, filled, recorded, said
from helpers.workbooks import saved


def loaded(data: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(data))


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_filled_in_comes_back(language: str) -> None:
    rubric = thumbs(language)
    found = read_workbook(saved(filled(make_workbook(SENT, rubric, links="clips"))), name="x.xlsx")
    assert (found.rater, found.study) == ("P1", "pilot")
    assert [row.key for row in found.rows] == [
        (clip.record, caption_hash(caption)) for clip in CLIPS for caption in clip.captions
    ]
    assert [tuple(row.values.values()) for row in found.rows] == [
        *NUMBERS[:5],
        (4.5, 4.5, -0.1, 0, None),
    ]
    assert [row.synthesised for row in found.rows] == [True, True, False, False, False, None]
    assert found.rows[1].comment == "-0.1 would be harsh"
    assert [one.kind for one in found.findings] == ["blank", "blank"]


def test_what_libreoffice_saved_again_says_the_same() -> None:
    found = read_workbook(recorded(), name="resaved.xlsx")
    sent = read_workbook(saved(filled(make_workbook(SENT, links="clips"))), name="sent.xlsx")
    assert said(found) == said(sent)
    assert (found.rater, found.study) == ("P1", "pilot")
    with ZipFile(io.BytesIO(recorded())) as parts:
        assert b"LibreOffice" in parts.read("docProps/app.xml")


def test_rows_in_another_order_come_back_the_same() -> None:
    book = filled(make_workbook(SENT, links="clips"))
    sheet = book["Assessment"]
    before = {row.key: row.values for row in read_workbook(saved(book), name="x.xlsx").rows}
    for merge in list(sheet.merged_cells.ranges):
        sheet.unmerge_cells(str(merge))
    rows = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    for n, row in enumerate(random.Random(3).sample(rows, len(rows)), 2):
        for column, value in enumerate(row, 1):
            sheet.cell(n, column).value = value
    after = {row.key: row.values for row in read_workbook(saved(book), name="x.xlsx").rows}
    assert after == before


def test_a_changed_caption_and_an_added_row_are_faults() -> None:
    book = filled(make_workbook(SENT, links="clips"))
    book["Assessment"]["D2"] = "Birds sang."
    book["Assessment"]["D9"] = "One more."
    with pytest.raises(InputError) as error:
        read_workbook(saved(book), name="x.xlsx")
    told = [str(one) for one in error.value.problems]
    assert told[0].startswith("x.xlsx:2: Assessment!D2: the caption was changed")
    assert told[1].startswith('x.xlsx:9: Assessment!L9: invalid hidden key ""')


def test_free_text_is_text_and_never_a_formula() -> None:
    data = make_workbook(SENT, links="clips")
    cells = [loaded(data)["Assessment"][f"D{row}"] for row in range(2, 8)]
    assert [cell.value for cell in cells] == [one for clip in CLIPS for one in clip.captions]
    assert {cell.data_type for cell in cells} == {"s"}
    with ZipFile(io.BytesIO(data)) as parts:
        sheets = [name for name in parts.namelist() if name.startswith("xl/worksheets/sheet")]
        assert not any(re.search(rb"<f[ >]", parts.read(name)) for name in sheets)


def test_what_must_not_change_is_locked_and_the_rest_is_not() -> None:
    sheet = loaded(make_workbook(SENT, links="clips"))["Assessment"]
    assert sheet.protection.sheet
    for row in range(2, 8):
        locked = [sheet.cell(row, column).protection.locked for column in range(1, 13)]
        assert locked == [True] * 4 + [False] * 7 + [True]
    assert all(cell.protection.locked for cell in sheet[1])
    assert sheet.freeze_panes == "A2"
    assert sheet.column_dimensions["L"].hidden


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_are_limited_to_ranges_of_decimals_with_words(language: str) -> None:
    sheet = loaded(make_workbook(SENT, thumbs(language), links="clips"))["Assessment"]
    limits = {str(one.sqref): one for one in sheet.data_validations.dataValidation}
    for one, letter in zip(thumbs(language).dimensions, "EFGHI", strict=True):
        found = limits[f"{letter}2:{letter}7"]
        assert (found.type, float(found.formula1), float(found.formula2)) == (
            "decimal",
            one.low,
            one.high,
        )
        assert found.promptTitle == found.errorTitle == one.shown
        assert one.help[:40] in found.prompt
        assert found.error
        assert found.allow_blank


def test_number_and_id_are_merged_over_the_rows_of_a_clip() -> None:
    sheet = loaded(make_workbook(SENT, links="clips"))["Assessment"]
    assert {str(one) for one in sheet.merged_cells.ranges} == {
        "A2:A3", "B2:B3", "J2:J3", "A4:A6", "B4:B6", "J4:J6",
    }  # fmt: skip
    assert [sheet[f"B{row}"].value for row in (2, 4, 7)] == ["park #1", "street", "rain"]


def test_two_flavours_differ_only_in_their_links(tmp_path: Path) -> None:
    raters = [SENT, WorkbookContent("pilot", "P2", CLIPS[::-1])]
    written = write_workbooks(tmp_path / "out", raters, web="https://example.org/clips/")
    assert [path.name for path in written] == [
        "P1_local.xlsx",
        "P1_web.xlsx",
        "P2_local.xlsx",
        "P2_web.xlsx",
    ]
    local, web = (openpyxl.load_workbook(path)["Assessment"] for path in written[:2])
    assert local["B2"].hyperlink.target == "clips\\park%201.wav"  # as Excel writes it
    assert web["B2"].hyperlink.target == "https://example.org/clips/park%201.wav"
    assert [[c.value for c in row] for row in local] == [[c.value for c in row] for row in web]
    assert read_workbook(written[2]).rater == "P2"


def test_names_of_files_follow_a_pattern(tmp_path: Path) -> None:
    own = write_workbooks(tmp_path / "a", [SENT], pattern="{rater} {flavour} {n}.xlsx")
    assert [path.name for path in own] == ["P1 local 1.xlsx"]
    for pattern, told in (
        ("{m}.xlsx", "unknown {m}"),
        ("same.xlsx", "two files"),
        ("../{n}.xlsx", "file name"),
        ("{n}.xls", "ends with .xlsx"),
    ):
        with pytest.raises(UsageError, match=told):
            write_workbooks(
                tmp_path / "b", [SENT, WorkbookContent("pilot", "P2", CLIPS)], pattern=pattern
            )
    assert not (tmp_path / "b").exists()


def test_the_same_clips_give_the_same_bytes() -> None:
    assert make_workbook(SENT, links="clips") == make_workbook(SENT, links="clips")


def test_examples_are_explained_and_worked() -> None:
    book = loaded(make_workbook(SENT, links="clips"))
    assert book.sheetnames[:2] == ["Example", "Assessment"]
    said = [str(cell.value) for row in book["Example"] for cell in row if cell.value is not None]
    assert any("headphones" in one for one in said)
    assert any("a small mistake that a text editing tool can correct" in one for one in said)
    assert thumbs().examples[1].caption in said
    assert book["Study"].sheet_state == "veryHidden"


def test_an_own_rubric_goes_there_and_back() -> None:
    own = Rubric("own", (Dimension("truth", 0, 10, 1), Dimension("calm", 1, 7, 1)), "truth + calm")
    book = loaded(make_workbook(SENT, own, links="clips", ask=False))
    book["Assessment"]["E2"], book["Assessment"]["F2"] = 10, 7
    found = read_workbook(saved(book), own, name="x.xlsx")
    assert found.rows[0].values == {"truth": 10, "calm": 7}


@pytest.mark.parametrize(
    ("clips", "told"),
    [
        ((), "at least one clip"),
        ((WorkbookClip("a", ("x",)), WorkbookClip("a", ("y",))), "must not repeat"),
        ((WorkbookClip("a", ("x", " x ")),), "captions must be different"),
        ((WorkbookClip("a", ("",)),), "captions must be different"),
        ((WorkbookClip("a", ()),), "has no caption"),
        ((WorkbookClip(" a", ("x",)),), "printable text"),
        ((WorkbookClip("a", ("x\x00",)),), "control characters"),
        ((WorkbookClip("a", ("x" * 40_000,)),), "too long"),
    ],
)
def test_clips_that_could_not_come_back_are_refused(
    clips: tuple[WorkbookClip, ...], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        WorkbookContent("pilot", "P1", clips)


@pytest.mark.parametrize("links", ["", "javascript://x", "file:///etc"])
def test_links_go_to_folders_and_web_addresses_only(links: str) -> None:
    with pytest.raises(UsageError, match="links must be"):
        make_workbook(SENT, links=links)


def test_flavours_are_what_they_are_called(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="web: must start with"):
        write_workbooks(tmp_path / "a", [SENT], web="clips")
    with pytest.raises(UsageError, match="local: must be a folder"):
        write_workbooks(tmp_path / "a", [SENT], local="https://example.org")
    with pytest.raises(UsageError, match="no folder and no address"):
        write_workbooks(tmp_path / "a", [SENT], local="")


def test_without_xlsxwriter_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    with pytest.raises(ImportError, match=r"\[xlsx\]"):
        make_workbook(SENT, links="clips")
