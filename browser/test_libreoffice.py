"""Workbooks that LibreOffice opened and saved again, as raters do: nothing is lost on the way.

LibreOffice must be installed, as Chromium must for pages: nothing here is skipped without it.
"""

from __future__ import annotations

import io
import shutil
from dataclasses import replace
from pathlib import Path

import openpyxl
import pytest

from earwitness.core import Key, Rating
from earwitness.forms.workbooks.export import study_export_xlsx
from earwitness.forms.workbooks.read import read_workbook
from earwitness.forms.workbooks.to_answers import study_import_answers
from earwitness.forms.workbooks.votes import make_ratings_workbook
from earwitness.studies.study import Clip
from helpers.caption_study import CLIPS, STUDY, captioned, designed, filled
from helpers.libreoffice_workbook import resave
from helpers.study_files import udase
from helpers.workbooks import typed


@pytest.fixture(scope="module")
def office() -> str:
    place = shutil.which("soffice")
    assert place, "LibreOffice is missing: make system, as root, installs it"
    return place


@pytest.mark.usefixtures("office")
def test_a_workbook_that_libreoffice_saved_again_gives_the_same_answers(tmp_path: Path) -> None:
    path = captioned(tmp_path / "s", f"{STUDY}language: fr\n")
    made, yes = designed(path), "oui"
    before, after = tmp_path / "P2_before.xlsx", tmp_path / "P2_after.xlsx"
    before.write_bytes(typed(filled(made, 2), {"J3": yes}))
    after.write_bytes(resave(before.read_bytes(), tmp_path))
    assert after.read_bytes() != before.read_bytes()
    one, other = (study_import_answers(path, [file]) for file in (before, after))
    assert len(one.answers) == CLIPS
    assert one.answers == other.answers
    assert {answer.values.get("synthesised") for answer in other.answers} == {"yes", None}
    assert [note for note in other.findings if note.kind != "passed"] == list(one.findings)


@pytest.mark.usefixtures("office")
def test_what_must_not_change_is_still_protected_after_libreoffice(tmp_path: Path) -> None:
    [path] = study_export_xlsx(captioned(tmp_path / "s"), tmp_path / "out", listener="1")
    data = resave(path.read_bytes(), tmp_path)
    sheet = openpyxl.load_workbook(io.BytesIO(data))["Assessment"]
    assert sheet.protection.sheet
    assert [sheet[f"{letter}3"].protection.locked for letter in "DE"] == [True, False]
    limits = {str(one.sqref): one for one in sheet.data_validations.dataValidation}
    assert any(one.type == "decimal" and float(one.formula1) == 1 for one in limits.values())
    links = [cell.hyperlink.target for cell in sheet["B"] if cell.hyperlink]
    assert len(links) == CLIPS
    found = read_workbook(data, name="P1_local.xlsx")
    assert (found.listener, found.digest) == (1, read_workbook(path).digest)


@pytest.mark.usefixtures("office")
def test_a_workbook_of_ratings_has_the_same_cells_after_libreoffice(tmp_path: Path) -> None:
    given = [
        Rating(Key(item, system), scale, listener, 1, float(1 + (listener + place) % 5))
        for item in ("clip0", "=1+1")
        for place, system in enumerate(("C0", "C1"))
        for scale in ("SIG", "OVRL")
        for listener in (1, 2, 3)
    ]
    study = replace(udase(), material=(Clip("clip0", 4.0), Clip("=1+1", 4.0)))
    before = make_ratings_workbook(study, given)
    after = resave(before, tmp_path)
    books = [openpyxl.load_workbook(io.BytesIO(data)) for data in (before, after)]
    assert books[0].sheetnames == books[1].sheetnames == ["SIG", "OVRL", "means", "votes"]
    for name in books[0].sheetnames:
        one, other = (
            [cell for row in book[name].iter_rows(values_only=True) for cell in row]
            for book in books
        )
        assert [pytest.approx(cell) if isinstance(cell, float) else cell for cell in one] == other
