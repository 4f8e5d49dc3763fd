"""Workbooks that raters send back: numbers as people write them, quirks, faults, hostile files."""

from __future__ import annotations

import datetime
import io
import random
import re
import tracemalloc
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
import xlsxwriter
from openpyxl.comments import Comment

from earwitness.errors import CodedFault, InputError
from earwitness.forms.workbooks.layout import caption_hash, read_number
from earwitness.forms.workbooks.read import ReturnedWorkbook, read_workbook, read_workbooks
from earwitness.forms.workbooks.write import make_workbook
from earwitness.ratings.rubric import thumbs
from helpers.libreoffice_workbook import SENT, recorded
from helpers.workbooks import (
    DATASETS,
    GOOD,
    HEAD,
    PLACE,
    PUBLISHED_HEADS,
    book,
    clip,
    merged,
    moved,
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
    assert isinstance(read_number(cell, PRECISION), CodedFault)


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


STRAY = (None,) * 4


@pytest.mark.parametrize("stray", [("see below",), (*STRAY, "12 May"), (*STRAY, None, 3, "ok?")])
def test_a_heading_with_stray_cells_beside_it_is_used(stray: tuple[Any, ...]) -> None:
    """Without the heading, captions of the second dataset came out under the first."""
    rows = published_rows()
    place = rows.index((DATASETS[1],))
    rows[0] = (DATASETS[0], None, "checked")
    rows[place] = (DATASETS[1], *stray)
    one_head = [row for n, row in enumerate(rows) if n != place + 1]
    for table in (rows, one_head):
        found = read(table)
        assert [(row.record, row.dataset) for row in found.rows] == [
            (f"aud{n:02}", DATASETS[n > 2]) for n in (1, 2, 3, 4) for _ in "ab"
        ]
        told = [one.message for one in found.findings if one.kind == "passed"]
        texts = [str(cell) for cell in ("checked", *stray) if cell is not None]
        assert told == [f'"{text}" beside the heading is ignored' for text in texts]


@pytest.mark.parametrize(
    "heading",
    [(None, "Parks"), (None, "Parks", *STRAY, *STRAY, "12 May"), ("Dataset:", "Parks"),
     (None, None, "Parks", *STRAY, None, None, "no"), (" ", None, " Parks "), (2, "Parks"),
     ("*", "Parks"), (None, None, None, "Parks"), (None, None, None, "Parks", *STRAY, None, "no"),
     ("Parks", None, "a", *STRAY, None, None, "no", "?", "!")],
)  # fmt: skip
def test_what_may_or_may_not_be_a_heading_is_refused(heading: tuple[Any, ...]) -> None:
    rows = [("Streets",), HEAD, *clip(1, GOOD), heading, *clip(2, GOOD)]
    told = faults(rows)
    assert told[0].endswith(
        'Assessment!4: unclear whether "Parks" is the name of a dataset'
        " — write it in the first column if it is one, otherwise delete it"
    )
    assert told[1:] == ["1 problem; nothing was imported"]
    again = faults([*rows[:3], heading, HEAD, *rows[4:]])
    assert again == told  # once, though it is also above another block


def test_texts_above_the_first_header_are_refused_only_beside_datasets() -> None:
    form = (None, "Scores", None, "from 1 to 5")
    found = read([form, HEAD, *clip(1, GOOD)])
    assert [row.dataset for row in found.rows] == [""]
    assert read([("Rater:", "P3"), HEAD, *clip(1, GOOD)]).rows[0].dataset == ""
    told = faults([form, HEAD, *clip(1, GOOD), ("Parks",), HEAD, *clip(2, GOOD)])
    assert 'Assessment!1: unclear whether "from 1 to 5" is the name of a dataset' in told[0]


def test_a_merged_name_beside_a_stray_cell_is_refused() -> None:
    rows: list[Any] = [("Streets",), HEAD, *clip(1, GOOD), ("x", "Parks"), *clip(2, GOOD)]
    with pytest.raises(InputError, match=r'unclear whether "Parks" is the name of a dataset'):
        read_workbook(merged(book(rows), 2, "B4:K4"), name="P1.xlsx")


def test_the_same_text_beside_several_names_is_refused() -> None:
    """Clips of both datasets came out under the dataset "Dataset"."""
    rows = [("Dataset", "Streets"), HEAD, *clip(1, GOOD), ("Dataset", "Parks"), *clip(2, GOOD)]
    assert 'Assessment!4: unclear whether "Dataset" is the name of a dataset' in faults(rows)[0]
    rows[3] = ("Parks", "Dataset")
    assert [row.dataset for row in read(rows).rows] == ["Dataset", "Parks"]


@pytest.mark.parametrize("sums", [(3.5, 3.5, 0, 0, 0), (3.5, 3.6), (*STRAY, None, 3.2)])
def test_means_within_a_dataset_are_no_heading(sums: tuple[Any, ...]) -> None:
    """Clips below came out under the dataset "Mean"."""
    row = ("Mean", *STRAY[:3], *sums)
    rows = [("Streets",), (*HEAD[:9], "Total"), *clip(1, GOOD), row, *clip(2, GOOD)]
    if sums[0] is None:
        assert [row.dataset for row in read(rows).rows] == ["Streets", "Streets"]
    else:
        assert "Assessment!D4: missing caption" in faults(rows)[0]


def test_rows_of_clips_without_a_caption_are_no_headings() -> None:
    head = HEAD[1:]  # the first column is the clip
    rows = [("Parks",), head, ("rec01", "A", "Birds.", *GOOD), head, ("rec02", "A", "Cars.", *GOOD)]
    assert [row.dataset for row in read(rows).rows] == ["Parks", ""]
    left: list[Any] = [HEAD, *clip(1, GOOD), (2, "rec02"), (None, "rec03", "B"), *clip(4, GOOD)]
    found = read(left)
    assert [one.place.cell for one in found.findings if one.kind == "passed"] == ["3", "4"]
    assert faults([("Parks",), *left])[1:] == ["1 problem; nothing was imported"]  # "rec02"
    found = read(
        [("Parks",), head, *(row[1:] for row in clip(1, GOOD)), ("rec02", "A"), *rows[2:3]]
    )
    assert [row.dataset for row in found.rows] == ["Parks", "Parks"]


def test_blocks_side_by_side_have_their_own_headings() -> None:
    left, right = clip(1, GOOD), clip(2, GOOD)
    rows = [(*HEAD, None, *HEAD), (*left[0], None, *right[0])]
    for first, datasets in (
        (("Parks", *(None,) * 11, "Streets"), ["Parks", "Streets"]),
        (("Parks", *(None,) * 9, "old"), ["Parks", "Parks"]),
    ):
        assert [row.dataset for row in read([first, *rows]).rows] == datasets


def commented(data: bytes, cells: dict[str, str], sheet: str = "Assessment") -> bytes:
    made = openpyxl.load_workbook(io.BytesIO(data))
    for cell, text in cells.items():
        made[sheet][cell].comment = Comment(text, "Jane Doe")
    return saved(made)


def test_comments_on_cells_are_those_of_the_row_and_others_are_listed() -> None:
    rows = [("Parks",), HEAD, *clip(1, GOOD, GOOD), (*STRAY, "Birds are louder.")]
    rows[2] = (*rows[2][:-1], "well put")
    cells = {"E3": "Jane Doe:\ntoo high?", "D4": "a lie", "K3": "really", "A3": "noisy",
             "A1": "of 2020", "G2": "−2 to 0", "Z9": "far\naway"}  # fmt: skip
    data = merged(commented(book(rows[:4]), cells), 2, "A3:A4", "B3:B4")
    data = commented(data, {"A1": "an example"}, "Example")
    found = read_workbook(data, name="P1.xlsx")
    assert [row.comment for row in found.rows] == [
        "well put\nNo.: noisy\nPrecision: too high?\nreally",
        "text: a lie",
    ]
    assert [str(one) for one in found.findings if one.kind == "comment"] == [
        f'P1.xlsx: {place}: comment on no caption is not imported: "{text}"'
        for place, text in (("Assessment!A1", "of 2020"), ("Assessment!G2", "−2 to 0"),
                            ("Assessment!Z9", "far away"), ("Example!A1", "an example"))
    ]  # fmt: skip


THREAD = """<ThreadedComments xmlns="x"><threadedComment ref="E2" id="{1}"><text>too high?</text>
</threadedComment><threadedComment ref="E2" id="{2}" parentId="{1}"><text>no</text>
</threadedComment></ThreadedComments>"""


def test_comments_with_replies_replace_their_copies() -> None:
    """As Excel saves them: the copy tells of a newer version."""
    data = commented(book([HEAD, *clip(1, GOOD)]), {"E2": "[Threaded comment]", "F2": "a note"})
    relation = (
        b'<Relationship Id="rIdT" Target="/xl/threadedComments/threadedComment1.xml" Type="http:'
        b'//schemas.microsoft.com/office/2017/10/relationships/threadedComment"/></Relationships>'
    )
    data = repacked(
        data,
        lambda name, text: (
            text.replace(b"</Relationships>", relation) if "sheet2.xml.rels" in name else text
        ),
        **{"xl/threadedComments/threadedComment1.xml": THREAD.encode()},
    )
    [row] = read_workbook(data, name="P1.xlsx").rows
    assert row.comment == "Precision: too high?\nno\nRecall: a note"


def test_comments_of_other_writers_are_read_too() -> None:
    held = io.BytesIO()
    made = xlsxwriter.Workbook(held, {"in_memory": True})
    sheet = made.add_worksheet("Assessment")
    for n, row in enumerate([HEAD, *clip(1, GOOD)]):
        sheet.write_row(n, 0, row)
    sheet.write_comment("E2", "tiède", {"author": "Jo"})
    made.close()
    assert read_workbook(held.getvalue(), name="P1.xlsx").rows[0].comment == "Precision: tiède"


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
    books, problems = read_workbooks(sorted(tmp_path.iterdir()))
    assert [Path(one.source).name for one in problems] == ["P1.xlsx", "P3.xlsx"]
    assert [one.rater for one in books] == ["P2"]


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
    _, [problem] = read_workbooks([path])
    assert 'rater: must be printable text, got "anna\\n=1+1"' in str(problem)


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
    data = large.replace(true, lie)
    tracemalloc.start()
    assert "is not a readable workbook: Bad CRC-32" in refused(data)
    assert tracemalloc.get_traced_memory()[1] < 10 << 20  # no more is unpacked than it claims
    tracemalloc.stop()


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
        (b"PK\x03\x04 and nothing else", "is not a readable workbook"),
        (GOOD_BOOK[:-200], "is not a readable workbook"),
        (zipped({"a.txt": b"a"}), "is not an .xlsx workbook"),
        (zipped({"content.xml": b"<a/>", "mimetype": b"ods"}), "in another format"),
        (zipped({"[Content_Types].xml": b"<a/>", "xl/workbook.xml": b"<a"}), "is not a readable"),
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


@pytest.mark.parametrize("number", [b"99999999999", b"9" * 5000])
def test_rows_with_numbers_beyond_any_sheet_do_not_hang(number: bytes) -> None:
    def change(_: str, text: bytes) -> bytes:
        return re.sub(rb'<row r="2"', b'<row r="' + number + b'"', text)

    with pytest.raises(InputError):
        read_workbook(repacked(GOOD_BOOK, change), name="bad.xlsx")


@pytest.mark.parametrize("part", [b"<worksheet ", b"<row ", b"<mergeCell "])
def test_tags_without_an_end_do_not_hang(part: bytes) -> None:
    """Each of them was searched to the end of the part: hours for a megabyte."""
    rows = b"<worksheet><sheetData><!--" + 50_000 * part + b"--></sheetData></worksheet>"
    if part == b"<worksheet ":
        rows = rows.removeprefix(b"<worksheet>")
    data = repacked(GOOD_BOOK, lambda name, text: rows if name.endswith("sheet2.xml") else text)
    with pytest.raises(InputError):
        read_workbook(data, name="bad.xlsx")


@pytest.mark.parametrize(
    ("cell", "text", "told"),
    [
        ("E2", "1" + " " * 200_000 + "b", "Precision must be a number"),
        ("D2", "caption" + "_" * 200_000 + "1", "the caption is only a label"),
        ("D2", "caption" + "_" * 200_000 + "?1?1", ""),
    ],
    ids=["number", "label", "caption"],
)
def test_long_texts_do_not_hang(cell: str, text: str, told: str) -> None:
    """Numbers, labels and names of sheets were searched in quadratic time."""
    [row] = clip(1, GOOD)
    place = ord(cell[0]) - ord("A")
    data = book([HEAD, (*row[:place], "LONG", *row[place + 1 :])])
    long = repacked(data, lambda _, part: part.replace(b"LONG", text.encode()))
    if told:
        assert told in refused(long)
    else:
        assert len(read_workbook(long, name="P1.xlsx").rows[0].caption) == len(text)


def test_long_names_of_sheets_do_not_hang() -> None:
    long = b'name="' + b"(" * 200_000 + b'"'
    data = repacked(GOOD_BOOK, lambda _, text: text.replace(b'name="Example"', long))
    assert len(read_workbook(data, name="P1.xlsx").rows) == 1


def damaged(data: bytes, rng: random.Random) -> bytes:
    """With bytes changed, cut out or added, anywhere in the zip or in one of its parts."""
    with ZipFile(io.BytesIO(data)) as file:
        names = [None, *file.namelist()]
    chosen = rng.choice(names)

    def change(name: str | None, text: bytes) -> bytes:
        if name != chosen or not text:
            return text
        place = rng.randrange(len(text))
        end = place + rng.choice((0, 1, 4, 200))
        added = rng.choice((b"", b"\0", b"\xff" * 4, rng.randbytes(4), b"<", b"9" * 5000))
        return text[:place] + added + text[end:]

    return change(None, repacked(data, change))


def written_by(writer: str) -> bytes:
    if writer == "LibreOffice":
        return recorded()
    if writer == "xlsxwriter":
        return make_workbook(SENT, links="clips")
    return commented(published(published_rows()), {"E3": "too high?"})


@pytest.mark.parametrize("writer", ["LibreOffice", "xlsxwriter", "openpyxl"])
def test_damaged_workbooks_are_refused_by_name_or_read(writer: str) -> None:
    """Whatever zip and XML libraries raise; any other error ends this test."""
    data, rng, sources = written_by(writer), random.Random(writer), list[set[str]]()
    for _ in range(80):
        try:
            read_workbook(damaged(data, rng), name="P1.xlsx")
        except InputError as error:
            sources.append({one.source for one in error.problems})
    assert len(sources) > 25
    assert sources == [{"P1.xlsx"}] * len(sources)


def test_a_moved_directory_is_a_refusal() -> None:
    """Python's zip file seeks to before the start of the file: a ValueError."""
    assert "is not a readable workbook" in refused(moved(GOOD_BOOK))


def test_a_bug_in_our_own_reading_is_no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ValueError("a bug")

    for name in ("_check_directory", "_keep_rows", "_read_cell", "_comment_texts"):
        data = commented(GOOD_BOOK, {"E2": "x"})
        with monkeypatch.context() as patch:
            patch.setattr(f"earwitness.forms.workbooks.open.{name}", fail)
            with pytest.raises(ValueError, match=r"^a bug$"):
                read_workbook(data, name="P1.xlsx")


def test_compressions_without_a_limit_are_refused() -> None:
    """Python unpacks them whole: 6 kB took 500 MB."""
    held = io.BytesIO()
    with ZipFile(held, "w", ZIP_BZIP2) as file:
        file.writestr("[Content_Types].xml", b"<a/>")
        file.writestr("xl/workbook.xml", b"<a/>")
    assert "its part [Content_Types].xml has an unknown compression" in refused(held.getvalue())


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_workbook(tmp_path / "none.xlsx")


def test_without_openpyxl_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"\[xlsx\]"):
        read_workbook(GOOD_BOOK, name="P1.xlsx")
