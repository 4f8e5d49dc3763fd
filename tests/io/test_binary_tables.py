"""Excel workbooks and Parquet files are read as tables, and damaged ones refused."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import polars
import pytest

from earwitness.analysis.rating_set import TableOptions
from earwitness.errors import InputError
from earwitness.io.source import RecordSource
from earwitness.io.tables import read_table
from earwitness.studies.agree import agree
from earwitness.studies.analyse import study_analyse
from helpers.caption_ratings import DIMENSIONS

ROWS = [("filename", "MOS", "utmos")] + [
    (f"p{item}_s{system}.wav", 2 + system / 2 + item / 20, system + item % 3 / 5)
    for item in range(8)
    for system in range(4)
]


def workbook(path: Path, **sheets: Sequence[Sequence[Any]]) -> Path:
    """Write a workbook of these sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def cells(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a table."""
    table, _ = read_table(RecordSource(path), ())
    return {name: list(table.cells(name)) for name in table.names}


def test_a_workbook_and_a_parquet_file_are_read_as_their_csv(tmp_path: Path) -> None:
    text = tmp_path / "mos.csv"
    text.write_text("\n".join(",".join(map(str, row)) for row in ROWS))
    book = workbook(tmp_path / "mos.xlsx", empty=[], ratings=ROWS, legend=[("a",), ("b",)])
    frame = polars.DataFrame(
        ROWS[1:], schema=["filename", "MOS", "utmos"], orient="row", strict=False
    )
    frame.write_parquet(tmp_path / "mos.parquet")
    wanted = agree(text, draws=50)
    for path in (book, tmp_path / "mos.parquet"):
        found = agree(path, draws=50)
        assert repr(found.scales) == repr(wanted.scales)  # NaN is not equal to itself
        assert found.inputs[0].bytes == path.stat().st_size
    assert 'sheet "ratings" is read; other sheets: legend' in " ".join(agree(book, draws=50).notes)


def test_numbers_and_texts_of_cells_stay(tmp_path: Path) -> None:
    rows = [
        ("item", "note", "vote"),
        ("=1+1x", "two\nlines", 4.0),
        ("007", None, 3.25),
        (None,) * 3,
    ]
    assert cells(workbook(tmp_path / "a.xlsx", one=rows)) == {
        "item": ["", "007"],  # a formula without its result
        "note": ["two lines", ""],
        "vote": ["4", "3.25"],
    }


def test_a_workbook_of_mean_judgements_is_read_as_such(tmp_path: Path) -> None:
    names = [f"{name.capitalize()}_Avg" for name in DIMENSIONS]
    rows: list[Sequence[Any]] = [("Record ID", "System", *names, "Total_Avg")]
    for item in range(6):
        for system, (score, penalty) in {"human": (4.2, -0.1), "model": (3.5, -0.3)}.items():
            values = [score + item / 10] * 2 + [penalty] * 3
            values[0] += item % 3 / 10 if system == "human" else 0
            rows.append((f"r{item}", system, *values, sum(values[:2]) / 2 + 3 * penalty))
    found = study_analyse(workbook(tmp_path / "thumbs.xlsx", Results=rows))
    assert found.is_over_items
    scales = {scale.value.name: scale for scale in found.scales}
    assert {*scales} == {*DIMENSIONS, "total"}
    assert scales["total"].systems["human"].mean.value == pytest.approx(4.45 + 0.05 - 0.3)
    assert {pair.better for pair in scales["total"].contrasts} == {"human"}


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    whole = workbook(tmp_path / "a.xlsx", one=ROWS).read_bytes()
    damaged = tmp_path / "b.xlsx"
    for end in range(4, len(whole), 61):
        damaged.write_bytes(whole[:end])
        with pytest.raises(InputError, match="cannot be read as a workbook"):
            read_table(RecordSource(damaged), ())
    with ZipFile(damaged, "w") as file:
        file.writestr("votes.csv", "item,system,MOS")
    with pytest.raises(InputError, match="is a ZIP archive, not a table"):
        read_table(RecordSource(damaged), ())
    held = io.BytesIO()
    polars.DataFrame({"a": [1]}).write_parquet(held)
    damaged.write_bytes(held.getvalue()[:-9])
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        study_analyse(damaged, reading=TableOptions())
