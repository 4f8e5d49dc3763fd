"""Tables as CSV: text from anywhere is read as it was written, and no spreadsheet calculates it."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import earwitness
from earwitness.core import Key
from earwitness.errors import InputError
from earwitness.io.source import RecordSource
from earwitness.io.tables import comment_line, csv_text, read_row_table, read_table, records_csv
from earwitness.metaeval.score_tables import read_scores
from earwitness.scoring.records import SampleTable

FORMULA_STARTS = "=+-@\t\r\n\0\ufeff＝＋－＠"
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]inf", re.IGNORECASE | re.ASCII)
TEXTS = st.text(max_size=8) | st.text(f"{FORMULA_STARTS}'\",;05.e ", max_size=8)
ODD_TEXTS = ("5f8a\r=1+1", "a\r\nb\r", "'=1", "''-3", "\t", "'\t'", "\0", "-3.2", "+49 123", "it's")


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(list(ODD_TEXTS))
def test_texts_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "table.csv"
    header = ["key", *(f"{text}|{number}" for number, text in enumerate(texts))]
    rows = [[str(number), *[text] * len(texts)] for number, text in enumerate(texts)]
    path.write_text(csv_text([header, *rows]), encoding="utf-8", newline="")
    plain = read_row_table(path)
    assert plain.columns == header
    assert [list(row.values()) for _, row in plain.rows] == rows
    table, _ = read_table(RecordSource(path), ["key"])
    assert not table.wrong.problems
    for place, name in enumerate(table.names):
        assert name == header[place].strip(" \t")
        assert list(table.cells(name)) == [row[place].strip(" \t") for row in rows]


@given(st.lists(TEXTS, min_size=1, max_size=4))
@example(list(ODD_TEXTS))
def test_no_cell_starts_a_formula_and_no_text_ends_a_row(texts: list[str]) -> None:
    written = records_csv([{"key": "a", text: text} for text in texts])
    unquoted = re.sub(r'"(?:[^"]|"")*"', "", written)
    assert "\r" not in unquoted
    assert unquoted.count("\n") == len(texts) + 1
    for cell in (cell for row in csv.reader(written.splitlines(keepends=True)) for cell in row):
        assert NUMBER.fullmatch(cell) or not cell.startswith(tuple(FORMULA_STARTS))


def test_numbers_are_written_as_they_are() -> None:
    numbers = [-3.2, -1e-05, float("-inf"), float("nan"), -7, None, "-3.2", "+5", "-1e5"]
    assert csv_text([numbers]) == "-3.2,-1e-05,-inf,,-7,,-3.2,+5,-1e5\n"
    assert csv_text([["+49 123", "-1-2", "-", "-3.2 dB"]]) == "'+49 123,'-1-2,'-,'-3.2 dB\n"


def test_names_are_the_same_in_tables_of_ours_and_of_others(tmp_path: Path) -> None:
    keys = [Key(item, system) for item in ("-clip", "=a") for system in ("+base", "-5", "@b")]
    ours, others = tmp_path / "ours.csv", tmp_path / "others.csv"
    with SampleTable(ours, ["f1"], "signature") as table:
        table.write(keys, [[-0.5]] * len(keys))
    assert "\n'-clip,'+base,-0.5\n" in ours.read_text(encoding="utf-8")
    rows = [f"{key.item},{key.system},-0.5\n" for key in keys]
    others.write_text("".join(["item,system,f1\n", *rows]), encoding="utf-8")
    assert read_scores(str(ours)).scores == read_scores(str(others)).scores
    assert [score.key for score in read_scores(str(ours)).scores] == keys


def test_all_tables_of_the_package_have_one_writer() -> None:
    package = Path(earwitness.__file__).parent
    names = [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        if re.search(r"csv\.(w|DictW)riter\(|\.to_csv\(", path.read_text(encoding="utf-8"))
    ]
    assert names == ["io/tables.py"]


def test_a_comment_at_the_head_is_skipped_and_gives_the_signature(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    head = comment_line(signature="pk(size=3)", seed=1)
    path.write_text(f"{head}item,system,f1\na,s,1\nb,s,0.5\nc,s\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"scores\.csv:5: has 2 fields"):
        read_scores(path)
    path.write_text(f"{head}item,system,f1\na,s,1\n", encoding="utf-8")
    assert read_scores(path).signatures == ("pk(size=3)",)
    table = read_row_table(path)
    assert table.columns == ["item", "system", "f1"]
    assert table.rows == [(3, {"item": "a", "system": "s", "f1": "1"})]
    spread = '"# earwitness 0.1.0 {""signature"": ""pk(size=3""",)}\n'  # saved by a spreadsheet
    path.write_text(f"{spread}item,system,f1\na,s,1\n", encoding="utf-8")
    assert read_scores(path).signatures == ()
    assert [score.value for score in read_scores(path).scores] == [1.0]
