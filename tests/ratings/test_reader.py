"""Tables of ratings: what is written is read again, and what is wrong is told with its line."""

from __future__ import annotations

import csv
import gc
import gzip
import io
import json
import random
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.core import Key, Rating
from earwitness.errors import InputError, UsageError
from earwitness.ratings.columns import MAX_NUMBER, read_plain_numbers
from earwitness.ratings.names import KnownNames
from earwitness.ratings.reader import read_ratings
from earwitness.studies.from_answers import rating_records, study_ratings
from earwitness.studies.trials.single import P835
from helpers.samples import many, write_lines
from helpers.study_listener import Anyone, answer_study, sounds, study

LONG = """\
item,system,listener,scale,value
a,C0,anna,SIG,4
a,C1,anna,SIG,2
"""
WIDE = """\
item,system,listener,SIG,BAK,OVRL
a,C0,7,4,,3
b,C0,7,5,1,2.5
"""
P835_LIMITS = {scale.name: scale for scale in P835().scales}
STUDY = KnownNames(["C0", "C1"], ["a", "b"], [1, 2], ["SIG", "BAK", "OVRL"])


def table(folder: Path, text: str | bytes, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def rated(item: str, system: str, listener: int | str, scale: str, value: float) -> Rating:
    return Rating(Key(item, system), scale, listener, 0, value)


def refused(path: Path, **options: Any) -> list[str]:
    """What is told of a file, line by line, without its name."""
    with pytest.raises(InputError) as error:
        read_ratings(path, **options)
    assert str(error.value).endswith("nothing was read")
    return [str(one).removeprefix(f"{path}:") for one in error.value.problems]


EXPECTED = [rated("a", "C0", "anna", "SIG", 4.0), rated("a", "C1", "anna", "SIG", 2.0)]


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.replace(",", ";"),
        LONG.replace(",", "\t"),
        "\ufeff" + LONG,
        LONG.replace("\n", "\r\n"),
        LONG.replace("\n", "\r"),
        LONG.replace(",", ", "),
        LONG.replace("\n", "\n\n") + ",,,,\n",
        '"item","system","listener","scale","value"\n"a","C0","anna","SIG","4"\na,C1,anna,SIG,2',
    ],
)
def test_a_row_a_rating_is_read_however_it_is_written(tmp_path: Path, text: str) -> None:
    path = table(tmp_path, text)
    found = read_ratings(path)
    assert found.ratings == EXPECTED
    assert (found.notes, found.missing) == ((), 0)
    data = path.read_bytes()
    assert found.input.sha256 == sha256(data).hexdigest()
    assert (found.input.name, found.input.bytes) == (str(path), len(data))


def test_compressed_tables_are_read(tmp_path: Path) -> None:
    path = table(tmp_path, gzip.compress(LONG.encode()), "ratings.csv.gz")
    assert read_ratings(path).ratings == EXPECTED


def test_a_column_a_scale_is_read_row_by_row_and_empty_cells_are_missing_votes(
    tmp_path: Path,
) -> None:
    found = read_ratings(table(tmp_path, WIDE))
    assert found.ratings == [
        rated("a", "C0", 7, "SIG", 4.0),
        rated("a", "C0", 7, "OVRL", 3.0),
        rated("b", "C0", 7, "SIG", 5.0),
        rated("b", "C0", 7, "BAK", 1.0),
        rated("b", "C0", 7, "OVRL", 2.5),
    ]
    assert found.missing == 1
    assert found.notes == (
        'all columns of numbers are read as scales: "SIG", "BAK", "OVRL"',
        "1 vote is missing",
    )


def test_scales_are_the_columns_that_are_named_or_known(tmp_path: Path) -> None:
    text = WIDE.replace("OVRL", "age")
    path = table(tmp_path, text)
    both = read_ratings(path, scales=("BAK", "SIG"))
    assert [(one.scale, one.value) for one in both.ratings] == [("SIG", 4), ("BAK", 1), ("SIG", 5)]
    assert both.notes == ('ignored columns: "age"', "1 vote is missing")
    known = KnownNames(scales=["SIG", "BAK", "OVRL"])
    assert set(both.ratings) == set(read_ratings(path, known_names=known).ratings)
    assert set(both.ratings) == set(read_ratings(path, limits=P835_LIMITS).ratings)


def test_other_columns_are_passed_over_and_told(tmp_path: Path) -> None:
    path = table(tmp_path, "age,item,system,listener,scale,value\n30,a,C0,x,SIG,4\n")
    assert read_ratings(path).notes == ('ignored columns: "age"',)


def test_a_column_of_numbers_with_a_slip_in_it_is_refused_not_passed_over(tmp_path: Path) -> None:
    path = table(tmp_path, "item,system,listener,MOS\na,C0,x,4\nb,C0,x,5\nc,C0,x,4.\nd,C0,x,4o\n")
    assert refused(path) == [
        '5: MOS: must be a number, got "4o" — leave the cell empty if there is no vote'
    ]


def test_decimal_commas_are_read_where_semicolons_divide(tmp_path: Path) -> None:
    path = table(tmp_path, "item;system;listener;MOS\na;C0;x;4,5\n")
    assert read_ratings(path).ratings == [rated("a", "C0", "x", "MOS", 4.5)]


def test_columns_may_have_other_names_and_what_is_not_there_is_given(tmp_path: Path) -> None:
    path = table(tmp_path, "clip,condition,worker_id,answer,session_id\na,C0,w1,4,x77\n")
    columns = {"item": "clip", "system": "condition", "listener": "worker_id", "value": "answer"}
    found = read_ratings(path, columns={**columns, "session": ""}, constants={"scale": "MOS"})
    assert found.ratings == [rated("a", "C0", "w1", "MOS", 4.0)]
    assert found.notes == ('ignored columns: "session_id"',)


def test_what_a_study_writes_is_read_again(tmp_path: Path) -> None:
    for kind in ("p835", "mushra", "ccr", "bs1116", "abx"):
        path, answers = study(sounds(tmp_path), kind), tmp_path / f"{kind}.jsonl"
        for listener in (1, 2):
            answer_study(path, listener, answers, Anyone())
        records = study_ratings(path, answers)
        lines = write_lines(tmp_path / "ratings.jsonl", records)
        assert rating_records(read_ratings(lines).ratings) == records
        text = io.StringIO()
        writer = csv.DictWriter(text, list(records[0]))
        writer.writeheader()
        writer.writerows(records)
        assert rating_records(read_ratings(table(tmp_path, text.getvalue())).ratings) == records


# names of samples


UDASE = """\
subset,session,file,scale,rating
1,1,C1/S01_P03.wav,SIG,4
1,2,C4/S01_P03.wav,BAK,2
"""


def test_results_of_one_listener_as_the_udase_test_has_them_are_read(tmp_path: Path) -> None:
    path = table(tmp_path, UDASE)
    found = read_ratings(path, columns={"value": "rating"}, constants={"listener": 7})
    assert found.ratings == [
        Rating(Key("S01_P03", "C1"), "SIG", 7, 1, 4.0),
        Rating(Key("S01_P03", "C4"), "BAK", 7, 2, 2.0),
    ]
    assert found.notes == (
        'column "file" is read with the pattern {system}/{item}.wav',
        'ignored columns: "subset"',
    )


@pytest.mark.parametrize(
    ("pattern", "sample", "systems", "parts"),
    [
        ("{system}/{item}.wav", "C1/a.wav", (), ("C1", "a")),
        ("{system}/{item}.wav", "C1\\a.wav", (), ("C1", "a")),
        ("*/{system}/{item}.*", "x/y/C1/a.b.flac", (), ("C1", "a.b")),
        ("{item}_{system}.wav", "my_clip_C1.wav", (), ("C1", "my_clip")),
        ("{system}_{item}.wav", "C1_my_clip.wav", (), ("C1", "my_clip")),
        ("{item}_{system}.wav", "my_clip_C_1.wav", ("C_1", "D"), ("C_1", "my_clip")),
        ("{system}_{item}.wav", "C_1_my_clip.wav", ("C_1", "C"), ("C_1", "my_clip")),
        ("{item}*_{system}", "a.wav_C1", (), ("C1", "a.wav")),
    ],
)
def test_names_of_samples_are_taken_apart(
    tmp_path: Path, pattern: str, sample: str, systems: Sequence[str], parts: tuple[str, str]
) -> None:
    path = table(tmp_path, f"stimulus,listener,MOS\n{sample},x,4\n")
    found = read_ratings(path, pattern=pattern, known_names=KnownNames(systems))
    assert [(one.key.system, one.key.item) for one in found.ratings] == [parts]


def test_known_items_decide_where_several_systems_fit(tmp_path: Path) -> None:
    path = table(tmp_path, "name,listener,MOS\na_x_C.wav,x,4\n")
    known = KnownNames(["C", "x_C"], ["a_x", "b"])
    found = read_ratings(
        path, pattern="{item}_{system}.wav", columns={"sample": "name"}, known_names=known
    )
    assert found.ratings[0].key == Key("a_x", "C")


def test_names_that_fit_in_several_ways_are_told(tmp_path: Path) -> None:
    text = "sample,listener,MOS\na_b_C1.wav,x,4\na_C1.wav,x,4\n"
    path = table(tmp_path, text)
    notes = read_ratings(path, pattern="{item}_{system}.wav", scales=["MOS"]).notes
    told = 'in several ways; "a_b_C1.wav" is read as item "a_b", system "C1"'
    assert notes == (f"1 sample name matches {{item}}_{{system}}.wav {told}",)
    known = KnownNames(["C1"])
    options: dict[str, Any] = {"pattern": "{item}_{system}.wav", "scales": ["MOS"]}
    assert read_ratings(path, **options, known_names=known).notes == ()


def test_what_a_name_says_need_not_be_in_a_column(tmp_path: Path) -> None:
    path = table(tmp_path, "sample,system,listener,MOS\nC1/a.wav,odd,x,4\n")
    found = read_ratings(path, pattern="{system}/{item}.wav", columns={"system": ""})
    assert found.ratings == [rated("a", "C1", "x", "MOS", 4.0)]


def test_a_name_that_does_not_fit_is_a_problem_of_its_line(tmp_path: Path) -> None:
    path = table(tmp_path, UDASE.replace("C4/", "C4-").replace(",2\n", ",two\n"))
    assert refused(path, columns={"value": "rating"}, constants={"listener": 7}) == [
        '3: file: "C4-S01_P03.wav" does not match the pattern {system}/{item}.wav — change the '
        "pattern; * matches any text",
        '3: rating: must be a number, got "two" — leave the cell empty if there is no vote',
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"pattern": "{sytem}/{item}"},
            'pattern: unknown placeholder "{sytem}" — did you mean "system"?',
        ),
        ({"pattern": "{item}/{item}"}, "occurs twice"),
        ({"pattern": "{item}{system}"}, "adjacent placeholders"),
        (
            {"pattern": "{listener}/{item}.wav"},
            'pattern: unknown placeholder "{listener}" — known: item, system',
        ),
        ({"pattern": "{item/x"}, "has no placeholder"),
        ({"pattern": "{item}/{x"}, "unmatched brace"),
        ({"columns": {"listner": "x"}}, 'did you mean "listener"?'),
        ({"columns": {"item": "x", "system": "x"}}, 'columns: "x" is named twice'),
        ({"constants": {"who": "x"}}, 'constants: unknown role "who"'),
        ({"constants": {"listener": ""}}, "constants: listener must be printable text"),
        ({"scales": ("SIG", "SIG")}, 'scales: "SIG" is named twice'),
        ({"scales": ("SIG",), "columns": {"value": "x"}}, "value: cannot be combined"),
        ({"limits": {"SIG": (5, 1, 1)}}, "limits of SIG must be"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(UsageError) as error:
        read_ratings(table(tmp_path, LONG), **options)
    assert told in str(error.value)


# what is wrong


def test_all_problems_of_a_table_are_told_at_once_with_line_field_and_remedy(
    tmp_path: Path,
) -> None:
    text = """\
item,system,listener,scale,value,session,against
a,C0,1,SIG,4,1,
,C0,1,SIG,4,1,

a,,1,SIG,six,1,
a,C0,,SIG,nan,1,
a,C0,1,,inf,1.5,
a,C0,1,SIG,7,-1,
a,C0,1,SIG,2.5,1,
a,C9,1,SIG,4,1,C8
aa,C0,3,SGI,4,1,C1
a,C0,1,SIG,4
a,C0,1,SIG,4_0,1,
"""
    assert refused(table(tmp_path, text), known_names=STUDY, limits=P835_LIMITS) == [
        "3: item: is empty",
        "5: system: is empty",
        '5: value: must be a number, got "six" — leave the cell empty if there is no vote',
        "6: listener: is empty",
        '6: value: must be finite, got "nan" — leave the cell empty if there is no vote',
        "7: scale: is empty",
        '7: session: must be a whole number of at least 0, got "1.5"',
        '7: value: must be finite, got "inf" — leave the cell empty if there is no vote',
        '8: session: must be a whole number of at least 0, got "-1"',
        "8: value: 7 is outside scale SIG (1 to 5 in steps of 1)",
        "9: value: 2.5 is outside scale SIG (1 to 5 in steps of 1)",
        '10: against: unknown system "C8" — known: C0, C1',
        '10: system: unknown system "C9" — known: C0, C1',
        '11: item: unknown item "aa" — known: a, b',
        '11: listener: unknown listener "3" — known: 1, 2',
        '11: scale: unknown scale "SGI" — known: BAK, OVRL, SIG',
        "12: has 5 fields, the first line has 7 — put quotes around cells that contain a separator",
        '13: value: must be a number, got "4_0" — leave the cell empty if there is no vote',
    ]


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (
            "item,system,listner,scale,value",
            '1: listener: missing column — did you mean "listner"? '
            "or use --column listener=NAME or --constant listener=VALUE",
        ),
        (
            "item,system,who,scale,value",
            "1: listener: missing column — found: who; "
            "or use --column listener=NAME or --constant listener=VALUE",
        ),
        (
            "item,system,listener,scale,vlaue",
            '1: value: missing column — did you mean "vlaue"? '
            "or use --column value=NAME or --constant value=VALUE",
        ),
        (
            "item,system,listener,scales,values",
            '1: "scales": unknown column — did you mean "scale"?',
        ),
        (
            "item,system,listener,session_,SIG",
            '1: "session_": unknown column — did you mean "session"?',
        ),
        (
            "item,system,listner,SIG,BAK",  # the third column is one of names
            '1: listener: missing column — did you mean "listner"? '
            "or use --column listener=NAME or --constant listener=VALUE",
        ),
        ("item,system,listener,SIG,SIG", '1: "SIG": duplicate column — keep one'),
        ("item,system,listener,SIGN,MOS", '1: "SIGN": unknown column — did you mean "SIG"?'),
    ],
)
def test_columns_that_are_missing_or_misspelt_are_told_with_the_nearest(
    tmp_path: Path, head: str, told: str
) -> None:
    path = table(tmp_path, f"{head}\na,C0,1,3,4\n")
    assert told in refused(path, known_names=KnownNames(scales=["SIG", "BAK"] * ("SIGN" in head)))


def test_what_is_said_twice_is_refused(tmp_path: Path) -> None:
    path = table(tmp_path, "sample,system,listener,MOS\nC1/a.wav,C1,x,4\n")
    told = "both a column and {system} in the pattern — write * instead in the pattern"
    assert refused(path, pattern="{system}/{item}.wav") == [f"1: system: {told}"]
    assert len(read_ratings(path, pattern="*/{item}.wav").ratings) == 1
    assert refused(path, pattern="*/{item}.wav", constants={"listener": "y"}) == [
        "1: listener: set as a constant, but also in the file — remove one of them"
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "1: is empty"),
        ("item,system,listener,scale,value\n", "1: contains no ratings"),
        ("item,system,listener,scale,value\na,C0,x,SIG,\n", "1: contains no ratings"),
        (LONG.replace("anna", '"anna'), "2: not CSV"),
        (LONG.replace("anna", '"an"na'), "2: not CSV"),
        (LONG.encode("utf-16"), "1: is UTF-16 — save as UTF-8"),
        (LONG.replace("anna", "änna").encode("latin-1"), "2: not UTF-8 at byte 6"),
        (
            LONG.replace("anna", "änna").encode("latin-1") * 2,
            "2: not UTF-8 at byte 6 (4 such lines) — save as UTF-8",
        ),
        ('[{"item": "a"}, ', "1: is a JSON array"),
        ('[{"item": "a"}, 3]', "2: must be an object, got 3"),
        (b"\x80\x04\x95\x10", " is a Python pickle, which is never opened"),
        (b"PK\x03\x04\x14\0\n\xff", " cannot be read as a workbook: "),
        (bytes.fromhex("d0cf11e0a1b11ae1"), " is an Excel workbook (.xls), not a text table"),
        (b"PAR1\x15\x04", " cannot be read as Parquet: "),
    ],
)
def test_files_that_are_no_tables_are_refused(tmp_path: Path, text: str | bytes, told: str) -> None:
    assert refused(table(tmp_path, text))[0].startswith(told)


@pytest.mark.parametrize(
    ("vote", "remedy"),
    [
        ("85 %", "remove the % sign"),
        ('"3,5"', "write a decimal point, or separate columns by semicolons"),
        ('"3,5%"', "write a decimal point, or separate columns by semicolons; remove the % sign"),
    ],
)
def test_numbers_in_another_notation_are_refused_with_the_remedy(
    tmp_path: Path, vote: str, remedy: str
) -> None:
    shown = json.dumps(vote.strip('"'))
    head = "item,system,listener,MOS\n"
    path = table(tmp_path, head + f"a,C0,x,{vote}\nb,C0,x,{vote}\nc,C0,x,\n")
    assert refused(path) == [f'1: "MOS": contains numbers such as {shown} — {remedy}']
    path = table(tmp_path, head + f"a,C0,x,{vote}\nb,C0,x,4\n")
    assert refused(path) == [f"2: MOS: must be a number, got {shown} — {remedy}"]
    path = table(tmp_path, f"item;system;listener;MOS\na;C0;x;{vote}\n".replace('"', ""))
    if "%" in vote:
        wanted = json.dumps(vote.strip('"'))
        assert refused(path) == [f'1: "MOS": contains numbers such as {wanted} — remove the % sign']
    else:
        assert [one.value for one in read_ratings(path).ratings] == [3.5]


def test_columns_of_other_content_are_ignored_beside_scales(tmp_path: Path) -> None:
    path = table(tmp_path, "item,system,listener,MOS,mixed\na,C0,x,4,50 %\n")
    assert 'ignored columns: "mixed"' in read_ratings(path).notes


@pytest.mark.parametrize("pattern", ["*/{system}_{item}_*.wav", "**/{system}_{item}_*.wav"])
def test_stars_stand_for_any_text_that_is_not_used(tmp_path: Path, pattern: str) -> None:
    names = ["/data/run1/C1_a_16k.wav", "C:\\out\\C1_b_norm.wav"]
    rows = "".join(f"{name},x,4\n" for name in names)
    found = read_ratings(table(tmp_path, f"file,listener,MOS\n{rows}"), pattern=pattern)
    assert [one.key for one in found.ratings] == [Key("a", "C1"), Key("b", "C1")]


def test_a_pattern_that_fits_no_name_is_one_problem(tmp_path: Path) -> None:
    path = table(tmp_path, "file,listener,MOS\nC1_a.wav,x,4\nC1_b.wav,x,no\n")
    assert refused(path) == [
        '2: file: no sample name matches the pattern {system}/{item}.wav, e.g. "C1_a.wav" — '
        "change the pattern; * matches any text"
    ]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be read: No such file.*\n.*nothing was read"):
        read_ratings(tmp_path / "nowhere.csv")


def test_lines_of_json_are_checked_as_json(tmp_path: Path) -> None:
    good = {"item": "a", "system": "C0", "listener": 1, "scale": "SIG", "value": 4}
    wrong: list[dict[str, Any]] = [
        {"value": "4"},
        {"value": True},
        {"item": ["a"]},
        {"listener": 1.5},
        {"item": None},
    ]
    lines = [json.dumps({**good, **one}) for one in wrong]
    lines += [json.dumps(good)[:-2], "[1]", json.dumps({**good, "value": float("nan")})]
    path = table(tmp_path, "\n".join([json.dumps(good), *lines]), "ratings.jsonl")
    assert [one.partition(" — ")[0] for one in refused(path)] == [
        '2: value: must be a number, got "4"',
        "3: value: must be a number, got true",
        '4: item: must be printable text or a whole number, got ["a"]',
        "5: listener: must be printable text or a whole number, got 1.5",
        "6: item: is empty",
        "7: not JSON at column 71: Expecting value",
        "8: must be an object, got [1]",
        '9: value: must be finite, got "nan"',
    ]


def test_a_key_that_one_line_misspells_is_refused(tmp_path: Path) -> None:
    good = {"item": "a", "system": "C0", "listener": 1, "scale": "SIG", "value": 4}
    other = {**good, "vlaue": 4}
    del other["value"]
    path = write_lines(tmp_path / "ratings.jsonl", [good, other])
    assert refused(path) == ['1: "vlaue": unknown column — did you mean "value"?']


def test_of_very_many_problems_the_first_thousand_are_told_and_all_counted(
    tmp_path: Path,
) -> None:
    rows = "".join(f"strange {n},C0,x,SIG,no\n" for n in range(3000))
    path = table(tmp_path, LONG.partition("\n")[0] + "\n" + rows)
    with pytest.raises(InputError) as error:
        read_ratings(path, known_names=KnownNames(items=[f"item {n}" for n in range(3000)]))
    assert error.value.count == 6000
    assert len(error.value.problems) == 1000
    assert {one.field for one in error.value.problems} == {"item", "value"}


def test_problems_of_rows_over_several_lines_have_the_line_where_the_row_begins(
    tmp_path: Path,
) -> None:
    text = 'item,system,listener,scale,value,why\na,C0,x,SIG,4,"so\nand so"\nb,C0,x,SIG,no,\n'
    assert refused(table(tmp_path, text))[0].startswith("4: value: must be a number")


def test_reading_leaves_the_collector_as_it_was(tmp_path: Path) -> None:
    assert gc.isenabled()
    with pytest.raises(InputError):
        read_ratings(table(tmp_path, ""))
    assert gc.isenabled()


# properties


text = st.characters(exclude_categories=("Cs", "Cc"))
names = st.text(text, min_size=1, max_size=12).map(lambda name: name.strip(" ")).filter(bool)
named = names.map(lambda name: f"p{name}")
people = st.one_of(st.integers(0, 10**6), named)
numbers = st.floats(-MAX_NUMBER, MAX_NUMBER)
counts = st.integers(0, 500)


@st.composite
def ratings(draw: st.DrawFn) -> list[Rating]:
    """Any ratings; listeners are all numbers or all names."""
    numbered = draw(st.booleans())
    who: st.SearchStrategy[int | str] = st.integers(0, 10**6) if numbered else named
    found = []
    for _ in range(draw(st.integers(1, 8))):
        item, other = draw(names), draw(st.none() | names)
        against = None if other is None else Key(item, other)
        places = [draw(counts) for _ in range(3)]
        key, session = Key(item, draw(names)), draw(counts)
        found.append(Rating(key, draw(names), draw(who), session, draw(numbers), against, *places))
    return found


def record(one: Rating) -> dict[str, Any]:
    (own,) = rating_records([one])
    return {**own, "trial": one.trial, "asked": one.asked}


@given(ratings(), st.sampled_from(",;\t"), st.sampled_from(["", "\ufeff"]), st.booleans())
def test_ratings_go_through_csv_and_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    given: list[Rating],
    delimiter: str,
    mark: str,
    quoted: bool,
) -> None:
    records, written = [record(one) for one in given], io.StringIO()
    writer = csv.DictWriter(
        written,
        list(records[0]),
        delimiter=delimiter,
        quoting=csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL,
    )
    writer.writeheader()
    writer.writerows(records)
    path = table(tmp_path_factory.getbasetemp(), mark + written.getvalue())
    assert read_ratings(path).ratings == given


@given(ratings())
def test_ratings_go_through_json_lines_and_come_back(
    tmp_path_factory: pytest.TempPathFactory, given: list[Rating]
) -> None:
    path = write_lines(tmp_path_factory.getbasetemp() / "r.jsonl", [record(one) for one in given])
    assert read_ratings(path).ratings == given


@given(
    st.lists(st.tuples(names, names, people, st.lists(st.none() | numbers, min_size=2, max_size=2)))
)
def test_ratings_go_through_a_column_a_scale_and_come_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int | str, list[Any]]]
) -> None:
    rows = [*rows, ("a", "C0", "name", [1.0, None])]  # not all listeners are numbers
    written = io.StringIO()
    csv.writer(written).writerows([("item", "system", "listener", "SIG", "BAK")])
    csv.writer(written).writerows([*row[:3], *row[3]] for row in rows)
    found = read_ratings(
        table(tmp_path_factory.getbasetemp(), written.getvalue()), scales=("SIG", "BAK")
    )
    assert found.ratings == [
        rated(item, system, str(who), scale, value)
        for item, system, who, values in rows
        for scale, value in zip(("SIG", "BAK"), values, strict=True)
        if value is not None
    ]
    assert found.missing == sum(row[3].count(None) for row in rows)


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Bytes changed, lost, doubled, or put where they do not belong."""
    found = bytearray(data)
    odd = [b'"', b",", b";", b"\n", b"\r", b"\x00", b"\xff", b"{", b"]", b"nan", b"1e999", b"\\"]
    for _ in range(rng.randint(1, 6)):
        at, end = sorted(rng.randint(0, len(found)) for _ in range(2))
        piece = rng.choice([*odd, bytes([rng.randint(0, 255)]), b"9" * 5000, b"[" * 2000, b""])
        match rng.randint(0, 3):
            case 0:
                found[at:at] = piece
            case 1:
                found[at : at + len(piece)] = piece
            case 2:
                del found[at : min(end, at + 20)]
            case _:
                found[at:at] = found[at:end]
    return bytes(found[:100_000])


@pytest.mark.parametrize("form", ["csv", "wide", "jsonl", "sample"])
def test_damaged_tables_are_read_or_refused_and_never_fail_otherwise(
    tmp_path: Path, form: str
) -> None:
    line = {"item": "a", "system": "C0", "listener": 1, "scale": "SIG", "value": 4}
    whole = {
        "csv": LONG,
        "wide": WIDE.replace("2.5", "2"),
        "jsonl": 3 * (json.dumps(line) + "\n"),
        "sample": UDASE,
    }[form].encode()
    rng, outcomes = random.Random(form), set[bool]()
    options: dict[str, Any] = {"known_names": KnownNames(["C0", "C1", "C4"]), "limits": P835_LIMITS}
    if form == "sample":
        options |= {"columns": {"value": "rating"}, "constants": {"listener": 7}}
    for _ in range(many(300, 5_000)):
        path = table(tmp_path, damaged(whole, rng), rng.choice(["r.csv", "r.jsonl", "r"]))
        try:
            outcomes.add(bool(read_ratings(path, **options).ratings))
        except InputError as error:
            outcomes.add(error.count == 0)
    assert outcomes == {True, False}  # read, and refused with a problem


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1", "2.5", "-3e2"], [1, 2.5, -300]),
        (["1", ""], None),
        (["1", "nan"], None),
        (["1", "inf"], None),
        (["1_000"], None),
        (["1,5"], None),
    ],
)
def test_only_plain_numbers_are_read_at_once(cells: list[str], numbers: list[float] | None) -> None:
    assert read_plain_numbers(cells) == numbers
