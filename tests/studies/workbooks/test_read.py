"""Workbooks that raters send back: numbers as people write them, quirks, faults, hostile files."""

from __future__ import annotations

import datetime
import io
import random
import re
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest

from earwitness.errors import InputError
from earwitness.io.schema import Fault
from earwitness.studies.rubric import thumbs
from earwitness.studies.workbooks.layout import caption_hash, read_number
from earwitness.studies.workbooks.read import ReturnedWorkbook, read_workbook, read_workbooks
from helpers.workbooks import (
    DATASETS,
    GOOD,
    HEAD,
    PLACE,
    PUBLISHED_HEADS,
    book,
    clip,
    merged,
    published,
    published_rows,
    repacked,
    saved,
)

PRECISION, FLUENCY = thumbs().dimensions[0], thumbs().dimensions[2]


def read(assessment: list[Any], **others: Any) -> ReturnedWorkbook:
    return read_workbook(book(assessment, **others), name="P1_google.xlsx")


def faults(assessment: list[Any]) -> list[str]:
    with pytest.raises(InputError) as error:
        read(assessment)
    return str(error.value).splitlines()


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (4, 4), (4.0, 4), (" 4 ", 4), ("4,5", 4.5), ("4/5", 4), (" 4.5 / 5", 4.5), ("４", 4),
        ("4\u00a0", 4), ("\u200b4", 4), ("3.", 3), ("+3", 3), (3.3000000000000003, 3.3),
        ("", None), (None, None), ("n/a", None), ("N/A ", None), ("NA", None), ("—", None),
    ],
)  # fmt: skip
def test_scores_are_read_as_people_write_them(cell: Any, value: float | None) -> None:
    assert read_number(cell, PRECISION) == value


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("-0,1", -0.1), ("−0.1", -0.1), ("−.1", -0.1), ("–0,5", -0.5), ("- 0.5", -0.5), ("-2", -2),
        (0, 0), ("0", 0), ("-0", 0), ("−1/2", -1), ("-", None), ("−", None),
    ],
)  # fmt: skip
def test_penalties_are_read_as_people_write_them(cell: Any, value: float | None) -> None:
    assert read_number(cell, FLUENCY) == value


@pytest.mark.parametrize(
    "cell",
    ["4/10", "good", "4 (good)", "80%", "1.234,5", "1e0", "nan", "inf", "1_0", True, 6, 0, 4.05,
     "6", datetime.datetime(2024, 5, 4), datetime.time(4, 5), "--4", "#DIV/0!"],
)  # fmt: skip
def test_what_is_no_score_is_refused(cell: Any) -> None:
    assert isinstance(read_number(cell, PRECISION), Fault)


def test_a_blank_is_not_zero() -> None:
    found = read([HEAD, *clip(1, (4, 3, None, "n/a", 0))])
    assert found.rows[0].values == {
        "precision": 4,
        "recall": 3,
        "fluency": None,
        "conciseness": None,
        "irrelevance": 0,
    }
    assert [str(one) for one in found.findings] == [
        "P1_google.xlsx: Assessment!G2: fluency is blank",
        "P1_google.xlsx: Assessment!H2: conciseness is blank",
    ]


def test_the_original_layout_is_read_with_all_its_quirks() -> None:
    sets = ("Synthetic", "Synthetic", "Natural", "Natural")
    uneven = ("No", "Record-ID ", "Captions", "Text", "Precison", "recall [1-5]", "FLUENCY",
              "Conciseness (C)", "Irrelevence", "Synthesised ?", "Comment")  # fmt: skip
    rows: list[Any] = [
        ("Synthetic dataset",),
        HEAD,
        *clip(1, GOOD, (2, 2, 0, 0, 0), said="yes"),
        (),
        ("Natural dataset",),
        uneven,
        *clip(2, (5, "4,5", "−.1", " 0 ", None), (1, 1, -2, -2, -2), said="No"),
    ]
    data = merged(book(rows), 2, "A1:XFD1", "A6:XFD6", "A3:A4", "B3:B4", "A8:A9", "B8:B9")
    found = read_workbook(data, name="P1_google.xlsx")
    assert found.rater == "P1"
    assert [(row.record, row.synthesised) for row in found.rows] == [
        ("rec01", True),
        ("rec01", True),
        ("rec02", False),
        ("rec02", False),
    ]
    assert [*found.rows[2].values.values()] == [5, 4.5, -0.1, 0, None]
    assert [row.dataset for row in found.rows] == [f"{one} dataset" for one in sets]
    assert {one.kind for one in found.findings} == {"blank"}


def test_workbooks_of_published_studies_are_read_with_texts_datasets_and_answers() -> None:
    found = read_workbook(published(published_rows()), name="P1_google.xlsx")
    assert [(row.record, row.caption, row.dataset, row.synthesised) for row in found.rows] == [
        (f"aud{n:02}", f"Clip {n} as described by {place}.", DATASETS[n > 2], n > 2)
        for n in (1, 2, 3, 4)
        for place in "ab"
    ]
    assert {tuple(row.answers.items()) for row in found.rows} == {((PLACE, "outdoors"),)}
    assert [row.values["precision"] for row in found.rows] == [4, 2] * 4
    assert found.rows[0].comment == "remark 1"
    assert found.findings == ()


def test_texts_may_be_on_either_side_of_labels_and_under_the_same_name() -> None:
    head: tuple[Any, ...] = ("No.", "Audio ID", None, "Caption", *HEAD[4:])
    rows = [(1, "a", "Birds sing.", "Caption 1", *GOOD), (None, "a", "It rains.", "B", *GOOD)]
    assert [row.caption for row in read([head, *rows]).rows] == ["Birds sing.", "It rains."]
    head = ("No.", "Audio ID", "Caption", "caption:", *HEAD[4:])
    rows = [(1, "a", "1", "Birds sing.", *GOOD), (None, "a", "2", "It rains.", *GOOD)]
    assert [row.caption for row in read([head, *rows]).rows] == ["Birds sing.", "It rains."]


def test_captions_that_are_only_labels_are_refused() -> None:
    rows = [tuple(None if n == 3 else cell for n, cell in enumerate(row)) for row in
            published_rows()]  # fmt: skip
    told = faults(rows)
    label = 'the caption is only a label: "Caption 1" — write the texts in this column'
    assert f"Assessment!C3: {label}" in told[0]
    assert f"Assessment!C10: {label}" in told[1]
    assert told[2:] == ["2 problems; nothing was imported"]
    numbers = published_rows(texts=lambda number, place: number + place / 2)
    assert "only a label" in faults(numbers)[0]
    mixed = faults([HEAD, (1, "rec", "x", "B)", *GOOD), (2, "r", "x", "Birds.", *GOOD)])
    assert 'Assessment!D2: the caption is only a label: "B)"' in mixed[0]


def test_one_caption_under_many_clips_is_refused() -> None:
    told = faults(published_rows(texts=lambda _, place: ("By a person", "By a machine")[place]))
    assert 'Assessment!D3: 4 of 4 clips have the same caption, "By a person"' in told[0]
    assert 'Assessment!D4: 4 of 4 clips have the same caption, "By a machine"' in told[1]
    few = published_rows(30, lambda n, at: f"{n} rings {at}" if at or n > 6 else "It rains.")
    found = read_workbook(published(few), name="P1.xlsx")
    assert [one.kind for one in found.findings] == ["duplicate"] * 5


def test_what_is_beside_named_texts_is_not_read_as_text() -> None:
    head = ("No.", "Record ID", "Caption", None, *HEAD[4:])
    found = read([head, (1, "rec", "Birds sing.", "Des oiseaux chantent.", *GOOD)])
    assert [row.caption for row in found.rows] == ["Birds sing."]
    assert [str(one) for one in found.findings] == [
        "P1_google.xlsx: Assessment!1: column D has no name and is ignored"
    ]


def test_a_heading_merged_from_the_column_of_captions_on_is_no_caption() -> None:
    rows: list[Any] = [HEAD, *clip(1, GOOD), (None, None, "Parks"), *clip(2, GOOD)]
    found = read_workbook(merged(book(rows), 2, "C3:XFD3"), name="P1.xlsx")
    assert [(row.record, row.dataset) for row in found.rows] == [("rec01", ""), ("rec02", "Parks")]


def test_remarks_and_leftover_numbers_are_no_datasets() -> None:
    rows = [HEAD, *clip(1, GOOD), (2,), (*(None,) * 10, "a pause"), *clip(3, GOOD)]
    found = read(rows)
    assert [row.dataset for row in found.rows] == ["", ""]
    assert [one.place.cell for one in found.findings if one.kind == "passed"] == ["3", "4"]


def test_questions_are_not_mistaken_for_dimensions_or_clips() -> None:
    head = ("No.", "Record ID", "Recording", *HEAD[2:], "Relevance (1-5)", "Decision", "Decision")
    rows = [(1, "rec01", "play", "A", "Birds sing.", *GOOD, None, "good", 5, "keep", "sure")]
    [row] = read([head, *rows]).rows
    assert (row.record, row.values["irrelevance"], row.comment) == ("rec01", 0, "good")
    assert row.answers == {
        "Recording": "play",
        "Relevance (1-5)": "5",
        "Decision": "keep",
        "Decision (O)": "sure",
    }


def test_an_answer_that_is_neither_yes_nor_no_is_kept_as_text() -> None:
    rows = published_rows(1)
    rows[2] = (*rows[2][:9], "not sure", *rows[2][10:])
    found = read_workbook(published(rows), name="P1.xlsx")
    assert found.rows[1].synthesised is None
    assert found.rows[1].answers == {PUBLISHED_HEADS[0][9]: "not sure", PLACE: "outdoors"}
    assert {one.kind for one in found.findings} == {"unclear"}


def test_values_outside_their_scale_may_be_dropped() -> None:
    data = book([HEAD, *clip(1, (6, 3, 0.5, None, 0))])
    found = read_workbook(data, name="P1.xlsx", faults="drop")
    assert [*found.rows[0].values.values()] == [None, 3, None, None, 0]
    assert [(one.place.cell, one.message) for one in found.findings] == [
        ("E2", "Precision must be 1 to 5 in steps of 0.1, got 6; treated as blank"),
        ("G2", "Fluency must be −2 to 0 in steps of 0.1, got 0.5; treated as blank"),
        ("H2", "conciseness is blank"),
    ]
    with pytest.raises(InputError, match="must be a number"):
        read_workbook(book([HEAD, *clip(1, ("good", 3, 0, 0, 0))]), name="a", faults="drop")


def test_all_assessment_sheets_are_read() -> None:
    found = read([HEAD, *clip(1, GOOD)], **{"Assessment (2)": [HEAD, *clip(2, GOOD)],
                                           "Examples 2": [HEAD, *clip(3, GOOD)]})  # fmt: skip
    assert [row.record for row in found.rows] == ["rec01", "rec02"]


def test_two_blocks_may_stand_side_by_side() -> None:
    left, right = clip(1, GOOD), clip(2, (1, 2, 0, 0, -1))
    found = read([(*HEAD, None, *HEAD), (*left[0], None, *right[0])])
    assert [(row.record, row.values["precision"]) for row in found.rows] == [
        ("rec01", 4),
        ("rec02", 1),
    ]


def test_a_clip_without_merges_is_that_of_the_row_above_and_told() -> None:
    found = read([HEAD, *clip(1, GOOD, GOOD)])
    assert [row.record for row in found.rows] == ["rec01", "rec01"]
    assert [one.kind for one in found.findings] == ["above"]
    assert "rec01" in str(found.findings[0])


def test_clips_may_be_links_that_are_formulas() -> None:
    [row] = clip(1, GOOD)
    [found] = read([HEAD, (1, '=HYPERLINK("http://x.example/a.wav","rec 7")', *row[2:])]).rows
    assert found.record == "rec 7"
    told = faults([HEAD, (1, "=A1", *row[2:])])
    assert "Assessment!B2: must be text, got a formula" in told[0]


def test_every_fault_is_told_at_once_with_sheet_cell_and_value() -> None:
    rows = [HEAD, *clip(1, (6, 3, 0.5, 0, 0), ("good", 3, "=1-1", 0, -2.5))]
    told = faults(rows)
    assert told == [
        "P1_google.xlsx:2: Assessment!E2: Precision must be 1 to 5 in steps of 0.1, got 6"
        " — write a number from 1 to 5 in steps of 0.1, or leave it blank",
        "P1_google.xlsx:2: Assessment!G2: Fluency must be −2 to 0 in steps of 0.1, got 0.5"
        " — a penalty is 0 or below: write −0.5",
        'P1_google.xlsx:3: Assessment!E3: Precision must be a number, got "good"'
        " — write a number from 1 to 5 in steps of 0.1, or leave it blank",
        'P1_google.xlsx:3: Assessment!G3: Fluency must be a number, got the formula "=1-1"'
        " — write the number itself",
        "P1_google.xlsx:3: Assessment!I3: Irrelevance must be −2 to 0 in steps of 0.1, got -2.5"
        " — write a number from −2 to 0 in steps of 0.1, or leave it blank",
        "5 problems; nothing was imported",
    ]


def test_a_date_that_a_spreadsheet_made_is_told_as_one() -> None:
    [told, _] = faults([HEAD, *clip(1, (datetime.datetime(2024, 5, 4), 3, 0, 0, 0))])
    assert "Precision must be a number, got the date" in told
    assert "write the number alone" in told


def test_faults_of_several_files_are_told_together(tmp_path: Path) -> None:
    for name, row in {"P1": (6, 1, 0, 0, 0), "P2": GOOD, "P3": (1, 1, 1, 0, 0)}.items():
        (tmp_path / f"{name}.xlsx").write_bytes(book([HEAD, *clip(1, row)]))
    with pytest.raises(InputError) as error:
        read_workbooks(sorted(tmp_path.iterdir()))
    assert [Path(one.source).name for one in error.value.problems] == ["P1.xlsx", "P3.xlsx"]
    assert read_workbooks([tmp_path / "P2.xlsx"])[0].rater == "P2"


def test_a_missing_column_is_told_by_its_name() -> None:
    head = [name for name in HEAD if name != "Fluency"]
    [told, _] = faults([head, (1, "rec", "A", "text", 1, 1, 0, 0, None, None)])
    assert 'missing column "Fluency" in row 1' in told
    [told, _] = faults([[name for name in HEAD if name != "Record ID"]])
    assert 'missing column "Record ID"' in told


def test_a_workbook_without_a_table_is_told_its_sheets() -> None:
    [told, _] = faults([("hello",)])
    assert 'sheets: "Example", "Assessment"' in told


def test_examples_are_never_ratings() -> None:
    assert [row.record for row in read([HEAD, *clip(1, GOOD)]).rows] == ["rec01"]


def test_a_caption_under_two_clips_and_unrated_rows_are_findings() -> None:
    rows: list[Any] = [HEAD, *clip(1, GOOD), *clip(2, GOOD), *clip(3, (None,) * 5)]
    rows[2] = (2, "rec02", "A", "rec01:  caption 0 ", *GOOD)
    found = read(rows)
    assert [(one.kind, one.place.cell) for one in found.findings] == [
        ("unrated", "E4"),
        ("duplicate", "D3"),
    ]
    assert len(found.rows) == 3


def test_a_row_twice_counts_once_if_it_says_the_same() -> None:
    found = read([HEAD, *clip(1, GOOD), *clip(1, GOOD)])
    assert len(found.rows) == 1
    assert [one.kind for one in found.findings] == ["repeated"]
    [told, _] = faults([HEAD, *clip(1, GOOD), *clip(1, (1, 1, 0, 0, 0))])
    assert "has this caption twice, also in D2" in told


def test_rows_are_matched_by_clip_and_caption_in_any_order() -> None:
    rows = [
        (n, f"rec{n}", "AB"[m], f"text {n} {m}", n % 5 + 1, 1, 0, 0, -m)
        for n in range(60)
        for m in range(2)
    ]
    mixed = random.Random(1).sample(rows, len(rows))

    def by_key(found: ReturnedWorkbook) -> dict[Any, Any]:
        return {row.key: row.values for row in found.rows}

    assert by_key(read([HEAD, *rows])) == by_key(read([HEAD, *mixed]))
    assert len(by_key(read([HEAD, *rows]))) == 120


def test_numbers_without_a_caption_and_captions_without_a_clip_are_faults() -> None:
    told = faults([HEAD, (1, "rec", "A", None, *GOOD), (None, None, "A", "words", *GOOD)])
    assert "D2: missing caption" in told[0]
    assert "B3: missing clip" in told[1]


def test_names_with_control_characters_are_refused(tmp_path: Path) -> None:
    [told, _] = faults([HEAD, (1, "rec\r=1+1", "A", "words", *GOOD)])
    assert 'B2: must be printable text, got "rec\\r=1+1" — write the ID' in told
    path = tmp_path / "anna\n=1+1.xlsx"
    path.write_bytes(book([HEAD, *clip(1, GOOD)]))
    with pytest.raises(InputError, match=r'rater: must be printable text, got "anna\\n=1\+1"'):
        read_workbooks([path])


def test_captions_are_known_however_their_blanks_and_accents_are_stored() -> None:
    assert caption_hash("Cafe\u0301 noise\n") == caption_hash(" Café   noise")
    assert caption_hash("Cafe noise") != caption_hash("Café noise")


def test_comments_that_look_like_formulas_are_inert_text() -> None:
    [row] = clip(1, GOOD)
    [found] = read([HEAD, (*row[:-1], "=cmd|' /C calc'!A0")]).rows
    assert found.comment == "=cmd|' /C calc'!A0"


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as error:
        read_workbook(data, name="bad.xlsx")
    [problem] = error.value.problems
    assert problem.remedy
    return str(problem)


GOOD_BOOK = book([HEAD, *clip(1, GOOD)])


def zipped(parts: dict[str, bytes]) -> bytes:
    held = io.BytesIO()
    with ZipFile(held, "w", ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    return held.getvalue()


def test_a_bomb_is_told_from_its_directory() -> None:
    large = repacked(GOOD_BOOK, lambda _, text: text, **{"xl/worksheets/a.xml": bytes(100 << 20)})
    assert len(large) < 1 << 20
    assert "unpacks to more than 64 MB" in refused(large)
    dense = repacked(GOOD_BOOK, lambda _, text: text, **{"xl/worksheets/a.xml": bytes(8 << 20)})
    assert "more than 300 times its size" in refused(dense)
    many = {f"xl/a{n}": b"" for n in range(2001)}
    assert "more than 2,000 parts" in refused(repacked(GOOD_BOOK, lambda _, text: text, **many))


def test_pictures_are_not_unpacked_and_other_parts_must_be_small() -> None:
    large = repacked(GOOD_BOOK, lambda _, text: text, **{"xl/media/a.png": bytes(100 << 20)})
    assert len(read_workbook(large, name="P1.xlsx", unpacked=1 << 20).rows) == 1
    styles = b"<a/>" * (1 << 18)
    odd = repacked(GOOD_BOOK, lambda name, text: styles if name == "xl/styles.xml" else text)
    with pytest.raises(InputError, match=r"its part xl/styles.xml is too large"):
        read_workbook(odd, name="P1.xlsx", unpacked=4 << 20)


def test_cells_beyond_number_are_told_before_they_are_read() -> None:
    def change(name: str, text: bytes) -> bytes:
        many = b"<row>" + b"<c/>" * 60_000 + b"</row></sheetData>"
        return text.replace(b"</sheetData>", many) if name.endswith("sheet2.xml") else text

    with pytest.raises(InputError, match="has more than 52,428 cells"):
        read_workbook(repacked(GOOD_BOOK, change), name="P1.xlsx", unpacked=1 << 20)


def test_what_stands_around_the_rows_of_a_sheet_is_not_read() -> None:
    def change(name: str, text: bytes) -> bytes:
        if name != "xl/worksheets/sheet2.xml":
            return text
        odd = b'<dataValidations><dataValidation type="nonsense"/></dataValidations>'
        return text.replace(b"</sheetData>", b"</sheetData>" + odd)

    assert read_workbook(repacked(GOOD_BOOK, change), name="P1.xlsx").rows


def test_a_directory_that_lies_about_sizes_is_refused() -> None:
    large = repacked(GOOD_BOOK, lambda _, text: text, **{"xl/worksheets/a.xml": bytes(100 << 20)})
    true, lie = (100 << 20).to_bytes(4, "little"), (1000).to_bytes(4, "little")
    assert "is a damaged workbook" in refused(large.replace(true, lie))


def test_a_part_that_declares_entities_is_refused() -> None:
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>'

    def change(name: str, text: bytes) -> bytes:
        if name != "xl/workbook.xml":
            return text
        return re.sub(rb"<workbook", laughs + rb"<workbook", text, count=1)

    assert "declares entities" in refused(repacked(GOOD_BOOK, change))


def test_a_part_in_which_declarations_could_hide_is_refused() -> None:
    def wide(name: str, text: bytes) -> bytes:
        return text.decode().encode("utf-16") if name == "xl/workbook.xml" else text

    assert "not UTF-8" in refused(repacked(GOOD_BOOK, wide))


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is not an .xlsx workbook"),
        (b"No.,Record ID\n", "is not an .xlsx workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is protected by a password"),
        (b"PK\x03\x04 and nothing else", "is a damaged workbook"),
        (GOOD_BOOK[:-200], "is a damaged workbook"),
        (zipped({"a.txt": b"a"}), "is not an .xlsx workbook"),
        (zipped({"content.xml": b"<a/>", "mimetype": b"ods"}), "in another format"),
        (zipped({"[Content_Types].xml": b"<a/>", "xl/workbook.xml": b"<a"}), "cannot be read"),
        (bytes((20 << 20) + 1), "is larger than 20 MB"),
    ],
)  # fmt: skip
def test_what_is_no_workbook_is_refused_in_plain_words(data: bytes, told: str) -> None:
    assert told in refused(data)


def test_a_part_with_a_password_is_refused() -> None:
    data = bytearray(GOOD_BOOK)
    for mark, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        for found in re.finditer(re.escape(mark), GOOD_BOOK):
            data[found.start() + flags] |= 1
    assert "is protected by a password" in refused(bytes(data))


def test_links_to_other_workbooks_and_macros_are_inert_and_told() -> None:
    more = {"xl/externalLinks/externalLink1.xml": b"<a/>", "xl/vbaProject.bin": b"x"}
    found = read_workbook(repacked(GOOD_BOOK, lambda _, text: text, **more), name="P1.xlsx")
    assert len(found.rows) == 1
    assert [one.message for one in found.findings] == [
        "has links to other workbooks, which were not followed",
        "has macros, which were not run",
    ]


def test_a_table_far_below_is_refused_and_a_format_far_below_is_not() -> None:
    made = openpyxl.load_workbook(io.BytesIO(GOOD_BOOK))
    made["Assessment"].row_dimensions[1_048_576].height = 30
    assert len(read_workbook(saved(made), name="P1.xlsx").rows) == 1
    made["Assessment"].cell(30_000, 1, "far")
    assert "has content below row 20,000" in refused(saved(made))


def test_rows_with_numbers_beyond_any_sheet_do_not_hang() -> None:
    def change(_: str, text: bytes) -> bytes:
        return re.sub(rb'<row r="2"', b'<row r="99999999999"', text)

    with pytest.raises(InputError):
        read_workbook(repacked(GOOD_BOOK, change), name="bad.xlsx")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_workbook(tmp_path / "none.xlsx")


def test_without_openpyxl_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"\[xlsx\]"):
        read_workbook(GOOD_BOOK, name="P1.xlsx")
