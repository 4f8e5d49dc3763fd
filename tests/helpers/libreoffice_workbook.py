"""A workbook that LibreOffice opened and saved again, recorded for tests.

Run by hand where LibreOffice is installed (Debian: ``libreoffice-calc-nogui``), it writes, fills
in, saves by LibreOffice, reads back, and records the file anew as text:

    PYTHONPATH=src:tests python tests/helpers/libreoffice_workbook.py
"""

from __future__ import annotations

import base64
import io
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import openpyxl

from earwitness.forms.workbooks.read import ReturnedWorkbook, read_workbook
from earwitness.forms.workbooks.write import WorkbookClip, WorkbookContent, make_workbook
from helpers.workbooks import saved

RECORDED = Path(__file__).parents[1] / "golden" / "libreoffice_workbook.txt"
FORM = "xlsx:Calc MS Excel 2007 XML"
CLIPS = (
    WorkbookClip("park #1", ("Birds sing.", "=1+1 birds"), "park 1.wav"),
    WorkbookClip("street", ("+ cars", "- trams", "@ noon"), "street.wav"),
    WorkbookClip("rain", ("Rain falls\nand falls.",)),
)
SENT = WorkbookContent("pilot", "P1", CLIPS)
NUMBERS: list[tuple[Any, ...]] = [
    (4, 3.5, -0.1, 0, 0),
    (2, 2, 0, -0.5, -2),
    (5, 5, 0, 0, 0),
    (1, 1.1, -2, -1, -0.3),
    (3, 3, None, 0, 0),
    (4.5, "4,5", "−.1", " 0 ", "n/a"),
]


def filled(data: bytes) -> Any:
    """A workbook as a rater fills it in."""
    book = openpyxl.load_workbook(io.BytesIO(data))
    sheet = book["Assessment"]
    for row, numbers in enumerate(NUMBERS, 2):
        for column, value in enumerate(numbers, 5):
            sheet.cell(row, column).value = value
    sheet["J2"], sheet["J4"], sheet["K3"] = "yes", "no", "-0.1 would be harsh"
    return book


def said(found: ReturnedWorkbook) -> list[Any]:
    """All that a rater said."""
    return [(one.key, one.values, one.synthesised, one.comment) for one in found.rows]


def recorded() -> bytes:
    """The file as LibreOffice saved it."""
    return base64.b64decode(RECORDED.read_text(encoding="ascii"))


def resave(data: bytes, folder: Path) -> bytes:
    """What LibreOffice makes of a workbook."""
    (folder / "in").mkdir()
    (folder / "in" / "P1.xlsx").write_bytes(data)
    profile = f"-env:UserInstallation={(folder / 'profile').as_uri()}"
    told = ["--convert-to", FORM, "--outdir", str(folder / "out"), str(folder / "in" / "P1.xlsx")]
    subprocess.run(["soffice", "--headless", profile, *told], check=True, stdout=sys.stderr)
    return (folder / "out" / "P1.xlsx").read_bytes()


def main() -> None:
    data = saved(filled(make_workbook(SENT, links="clips")))
    with tempfile.TemporaryDirectory() as folder:
        again = resave(data, Path(folder))
    before, after = (read_workbook(one, name="P1.xlsx") for one in (data, again))
    if said(before) != said(after) or (before.rater, before.study) != (after.rater, after.study):
        sys.exit("what LibreOffice saved says something else")
    text = base64.b64encode(again).decode()
    RECORDED.write_text("\n".join(textwrap.wrap(text, 100)) + "\n", encoding="ascii")
    print(f"{len(after.rows)} rows came back the same; wrote {RECORDED.name}")


if __name__ == "__main__":
    main()
