"""``earwitness study import-xlsx``: from returned workbooks to results, from the shell."""

from __future__ import annotations

import csv
import io
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner, Result

import earwitness
from earwitness.cli.main import group
from earwitness.core import Key
from earwitness.errors import EarwitnessWarning, InputError, UsageError
from earwitness.forms.workbooks.layout import caption_hash
from earwitness.forms.workbooks.to_ratings import ImportedRatings, import_ratings
from earwitness.forms.workbooks.write import WorkbookClip, WorkbookContent, write_workbooks
from helpers.caption_study import captioned, designed, filled
from helpers.workbooks import (
    DATASETS,
    GOOD,
    HEAD,
    PLACE,
    book,
    clip,
    published,
    published_rows,
)

NAMES = ("precision", "recall", "fluency", "conciseness", "irrelevance")
CLIPS = tuple(
    WorkbookClip(f"clip{n}", (f"A person hears {n}.", f"A model hears {n}."), f"{n}.wav")
    for n in range(6)
)
RATERS = 4


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["study", *map(str, arguments)])


def good(*arguments: str | Path) -> Result:
    done = run(*arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return done


@pytest.fixture
def returned(tmp_path: Path) -> list[Path]:
    """Workbooks of four raters, filled in; the third left one penalty blank."""
    rng = random.Random(1)
    sent = [WorkbookContent("pilot", f"P{n}", CLIPS[n:] + CLIPS[:n]) for n in range(1, RATERS + 1)]
    files = write_workbooks(tmp_path / "out", sent)
    for number, path in enumerate(files):
        made = openpyxl.load_workbook(path)
        sheet = made["Assessment"]
        for row in range(2, 14):
            person = "person" in sheet.cell(row, 4).value
            score = rng.randint(30, 50) / 10 if person else rng.randint(10, 35) / 10
            values = [score, score, -rng.randint(0, 5) / 10, 0, -rng.randint(0, 9) / 10]
            for column, value in enumerate(values, 5):
                sheet.cell(row, column).value = value
        if number == 2:
            sheet["H2"], sheet["K2"] = None, "=too long"
        made.save(path)
    return files


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "caption", "system"])
        for one in CLIPS:
            writer.writerow([one.record, one.captions[0], "person"])
            writer.writerow([one.record, one.captions[1], "model"])
    return path


def test_workbooks_become_ratings_that_can_be_analysed(
    returned: list[Path], key: Path, tmp_path: Path
) -> None:
    out = tmp_path / "ratings.csv"
    done = good("import-xlsx", *returned, "--key", key, "-o", out)
    assert "48 rows: 4 raters, 6 clips" in done.stderr
    assert "conciseness is blank" in done.stderr
    hint = done.stderr.splitlines()[-1].removeprefix("next: earwitness study ").split()
    results = json.loads(good(*hint, "--to", "json", "--draws", "50").stdout)
    assert [one["value"]["name"] for one in results["scales"]] == [*NAMES, "total"]
    total = results["scales"][-1]
    assert (total["value"]["low"], total["value"]["high"]) == (-5, 5)
    assert {"person", "model"} == {*total["systems"]}
    assert "ends of" not in json.dumps(results)


def test_tables_of_ratings_have_datasets_and_captions(tmp_path: Path) -> None:
    first, second = clip(1, GOOD, GOOD), clip(2, GOOD, GOOD)
    second[1] = (*second[1][:3], "rec01: caption 0", *second[1][4:])
    path, out = tmp_path / "P1.xlsx", tmp_path / "ratings.csv"
    path.write_bytes(book([("Roads",), HEAD, *first, ("Parks",), HEAD, *second]))
    done = good("import-xlsx", path, "-o", out)
    assert done.stderr.splitlines()[-1].endswith("--rubric thumbs --blank drop --by dataset")
    found = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    known = {(one["item"], one["dataset"]) for one in found}
    assert known == {("rec01", "Roads"), ("rec02", "Parks")}
    texts = {one["caption"] for one in found if one["item"] == "rec02"}
    assert texts == {"rec02: caption 0", "rec01: caption 0"}
    how = ("--by", "dataset", "--to", "json", "--draws", "50")
    results = json.loads(good("analyse", out, *how).stdout)
    assert [one["kind"] for one in results["faults"]] == ["duplicate", "duplicate"]
    groups = results["scales"][-1]["groups"][0]["groups"]
    assert [one["name"] for one in groups] == ["Roads", "Parks"]


def test_datasets_and_answers_of_published_workbooks_are_columns(tmp_path: Path) -> None:
    for name in ("P1_google.xlsx", "P1 (local).xlsx", "P2_google.xlsx"):
        (tmp_path / name).write_bytes(published(published_rows()))
    out, said = tmp_path / "ratings.csv", tmp_path / "said.jsonl"
    done = good("import-xlsx", *tmp_path.glob("*.xlsx"), "-o", out, "--comments", said)
    assert f'note: answers to further questions are kept: "{PLACE}"' in done.stderr
    assert "imported 16 rows: 2 raters, 4 clips" in done.stderr
    found = list(csv.DictReader(io.StringIO(out.read_text(encoding="utf-8"))))
    assert [*found[0]] == ["item", "system", "listener", "scale", "value", "dataset", "caption",
                           "synthesised", f"answer: {PLACE}"]  # fmt: skip
    assert len(found) == 2 * 8 * 6
    assert {(one["item"], one["dataset"], one["synthesised"]) for one in found} == {
        ("aud01", DATASETS[0], "no"),
        ("aud02", DATASETS[0], "no"),
        ("aud03", DATASETS[1], "yes"),
        ("aud04", DATASETS[1], "yes"),
    }
    assert {one[f"answer: {PLACE}"] for one in found} == {"outdoors"}
    comments = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]
    assert comments[0]["answers"] == {PLACE: "outdoors"}
    hint = done.stderr.splitlines()[-1].removeprefix("next: earwitness study ").split()
    results = json.loads(good(*hint, "--to", "json", "--draws", "20", "--no-mixed").stdout)
    groups = results["scales"][-1]["groups"][0]["groups"]
    assert [one["name"] for one in groups] == [*DATASETS]


def test_published_workbooks_without_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "P1.xlsx"
    path.write_bytes(published(published_rows(texts=lambda *_: None)))
    done = run("import-xlsx", path, "-o", tmp_path / "ratings.csv")
    assert isinstance(done.exception, InputError)
    assert 'only a label: "Caption 1"' in str(done.exception)
    assert not (tmp_path / "ratings.csv").exists()


def test_many_rows_without_a_clip_are_one_note(tmp_path: Path) -> None:
    path = tmp_path / "P1.xlsx"
    path.write_bytes(book([HEAD, *(row for n in range(6) for row in clip(n, GOOD, GOOD))]))
    assert [one.message for one in import_ratings([path]).findings] == [
        "6 rows have no clip; that of the row above is used"
    ]


def test_values_outside_their_scale_are_dropped_on_request(tmp_path: Path) -> None:
    path = tmp_path / "P1.xlsx"
    path.write_bytes(book([HEAD, *clip(1, (6, 3, 0, 0, 0), GOOD)]))
    assert "got 6" in str(run("import-xlsx", path).exception)
    done = good("import-xlsx", path, "--faults", "drop")
    assert "E2: Precision must be 1 to 5 in steps of 0.1, got 6; treated as blank" in done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    first = {one["scale"] for one in found if one["caption"] == "rec01: caption 0"}
    assert first == {"recall", "fluency", "conciseness", "irrelevance"}
    with pytest.raises(UsageError, match="wrong penalties would count as 0"):
        import_ratings([path], faults="drop", blank="zero")
    with pytest.raises(UsageError, match=r'faults: unknown policy "dropp"'):
        import_ratings([path], faults="dropp")


def test_a_study_takes_dropped_values_as_blanks_and_writes_other_answers(tmp_path: Path) -> None:
    study = captioned(tmp_path)
    ok = {"precision": 4, "recall": 3, "fluency": 0, "conciseness": 0, "irrelevance": 0}
    data = filled(designed(study), 1, lambda _: {**ok, "fluency": 1})
    made = openpyxl.load_workbook(io.BytesIO(data))
    made["Assessment"]["M1"], made["Assessment"]["M3"] = "Indoors?", "no idea"
    path = tmp_path / "P1.xlsx"
    made.save(path)
    assert "a penalty is 0 or below" in str(run("import-xlsx", study, path).exception)
    said = tmp_path / "said.jsonl"
    done = good("import-xlsx", study, path, "--faults", "drop", "--comments", said)
    pages = [json.loads(line) for line in done.stdout.splitlines()]
    assert {page["values"]["A.fluency"] for page in pages} == {None}
    assert 'questions that the study does not ask: "Indoors?"' in done.stderr
    comments = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines()]
    assert len(comments) == 12
    assert [one["answers"] for one in comments if one["answers"]] == [{"Indoors?": "no idea"}]
    assert {one["system"] for one in comments} == {"zora", "quill"}


def test_an_import_loads_neither_the_analysis_nor_a_database(tmp_path: Path) -> None:
    path = tmp_path / "P1.xlsx"
    path.write_bytes(book([HEAD, *clip(1, GOOD)]))
    code = (
        "import sys\n"
        "from earwitness.cli.main import run\n"
        f"run(['study', 'import-xlsx', {str(path)!r}])\n"
        "heavy = [name for name in sys.modules if name.startswith(('earwitness.studies.analy',"
        " 'earwitness.studies.design', 'scipy', 'sqlalchemy', 'yaml'))]\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_totals_are_per_rater_and_a_blank_leaves_out_one(returned: list[Path], key: Path) -> None:
    found = import_ratings(returned, key=key)
    ratings = {(one.listener, one.key, one.scale): one.value for one in found.ratings}
    for one in found.rows:
        place = one.rater, Key(one.row.record, one.system)
        p, r, f, c, i = (one.row.values[name] for name in NAMES)
        if c is None:
            assert (*place, "total") not in ratings
            assert (*place, "recall") in ratings
        else:
            assert None not in (p, r, f, i)
            hand = (p + r) / 2 + f + c + i  # type: ignore[operator]
            assert ratings[*place, "total"] == pytest.approx(hand)
    assert len(found.ratings) == 48 * 6 - 2
    counts = Counter((one.key, one.scale) for one in found.ratings)
    assert sorted({*counts.values()}) == [3, 4]


def test_a_policy_for_blanks_may_be_said(returned: list[Path], key: Path) -> None:
    assert len(import_ratings(returned, key=key, blank="zero").ratings) == 48 * 6 - 1
    strict = import_ratings(returned, key=key, blank="refuse")
    assert "P3_local.xlsx:2: Assessment!H2: conciseness is blank" in str(strict.rejection)
    assert {one.listener for one in strict.ratings} == {"P1", "P2", "P4"}


def test_the_same_file_twice_changes_nothing(
    returned: list[Path], key: Path, tmp_path: Path
) -> None:
    once = good("import-xlsx", *returned, "--key", key).stdout
    copy = tmp_path / "P1_web.xlsx"
    copy.write_bytes(returned[0].read_bytes())
    assert good("import-xlsx", *returned, returned[1], copy, "--key", key).stdout == once


def test_a_rater_who_says_two_things_is_refused(returned: list[Path], tmp_path: Path) -> None:
    made = openpyxl.load_workbook(returned[0])
    made["Assessment"]["E2"] = 1
    made.save(tmp_path / "other.xlsx")
    found = import_ratings([*returned, tmp_path / "other.xlsx"])
    assert "P1 has different values in" in str(found.rejection)
    assert {one.listener for one in found.ratings} == {"P2", "P3", "P4"}


def test_an_empty_flavour_beside_a_filled_one_does_no_harm(
    returned: list[Path], tmp_path: Path
) -> None:
    [empty] = write_workbooks(tmp_path / "e", [WorkbookContent("pilot", "P1", CLIPS)])
    alone = import_ratings([returned[0]]).ratings
    for files in ([empty, returned[0]], [returned[0], empty]):
        both = import_ratings(files)
        assert sorted(both.ratings, key=repr) == sorted(alone, key=repr)
        assert not both.findings


def test_different_comments_in_both_flavours_are_kept(tmp_path: Path) -> None:
    names = [tmp_path / f"P1_{flavour}.xlsx" for flavour in ("local", "web")]
    for name, said in zip(names, ("too short", "too loud"), strict=True):
        name.write_bytes(book([HEAD, (1, "rec01", "A", "Birds.", *GOOD, None, said)]))
    assert import_ratings([*names, names[0]]).rows[0].row.comment == "too short\ntoo loud"


def test_a_workbook_that_nobody_filled_in_is_told_in_one_sentence(
    returned: list[Path], tmp_path: Path
) -> None:
    [empty] = write_workbooks(tmp_path / "e", [WorkbookContent("pilot", "P9", CLIPS)])
    found = import_ratings([empty, returned[0]])
    assert [one.message for one in found.findings] == ["P9: no ratings yet"]
    assert "P9" not in {one.listener for one in found.ratings}
    assert found.notes == (
        "no key was set, so the system of each rating is the hash of its caption",
    )
    out = good("import-xlsx", empty, returned[0])
    assert "P1_local.xlsx: P9: no ratings yet" in out.stderr
    assert "imported 12 rows: 1 raters, 6 clips" in out.stderr
    assert "imported 0 rows: 0 raters, 0 clips" in good("import-xlsx", empty).stderr
    strict = import_ratings([empty, returned[0]], blank="refuse")  # nobody has left a blank
    assert strict.rejection is None


def test_faults_are_listed_and_raters_without_any_are_imported(
    returned: list[Path], tmp_path: Path
) -> None:
    for path, cell, value in ((returned[0], "G2", 0.5), (returned[3], "E5", 6)):
        made = openpyxl.load_workbook(path)
        made["Assessment"][cell] = value
        made.save(path)
    out = tmp_path / "ratings.csv"
    done = run("import-xlsx", *returned, "-o", out)
    assert isinstance(done.exception, InputError)  # exit status 2
    told = str(done.exception)
    assert "P1_local.xlsx:2: Assessment!G2: Fluency" in told
    assert "P4_local.xlsx:5: Assessment!E5: Precision" in told
    files = "P1_local.xlsx, P4_local.xlsx"
    assert told.endswith(f"2 problems; nothing was imported from {files}; imported: P2, P3")
    assert "imported 24 rows: 2 raters, 6 clips" in done.stderr
    found = csv.DictReader(io.StringIO(out.read_text(encoding="utf-8")))
    assert {one["listener"] for one in found} == {"P2", "P3"}
    out.unlink()
    done = run("import-xlsx", returned[0], returned[3], "-o", out)
    assert str(done.exception).endswith("2 problems; nothing was imported")
    assert not out.exists()


def test_an_import_from_python_warns_of_rejected_raters(
    returned: list[Path],
) -> None:
    returned[1].write_bytes(b"PK")
    with pytest.warns(EarwitnessWarning, match=r"nothing was imported from P2_local.xlsx; imp"):
        found = earwitness.study_import_xlsx(returned)
    assert isinstance(found, ImportedRatings)
    assert {one.listener for one in found.ratings} == {"P1", "P3", "P4"}
    assert {Path(one.name).name[:2] for one in found.inputs} == {"P1", "P3", "P4"}


def test_the_original_layout_goes_the_same_way(tmp_path: Path) -> None:
    path = tmp_path / "P7_google.xlsx"
    path.write_bytes(book([HEAD, *clip(1, GOOD, (2, 2, 0, 0, None))]))
    rows = [*csv.DictReader(io.StringIO(good("import-xlsx", path).stdout))]
    assert {row["listener"] for row in rows} == {"P7"}
    assert {row["item"] for row in rows} == {"rec01"}
    assert {row["system"] for row in rows} == {
        caption_hash("rec01: caption 0"),
        caption_hash("rec01: caption 1"),
    }
    # (4 + 3.5)/2 − 0.1 = 3.65; the second row has a blank and no total
    assert [row["value"] for row in rows if row["scale"] == "total"] == ["3.65"]


def test_comments_are_kept_word_by_word(returned: list[Path], key: Path, tmp_path: Path) -> None:
    out = tmp_path / "comments.jsonl"
    good("import-xlsx", *returned, "--key", key, "-o", tmp_path / "r.csv", "--comments", out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 48
    [said] = [row for row in rows if row["comment"]]
    assert (said["listener"], said["comment"]) == ("P3", "=too long")
    done = good("import-xlsx", *returned, "--key", key)
    assert "note: comments on 1 rows are only written with --comments" in done.stderr


def test_a_caption_that_the_key_does_not_know_is_a_fault(returned: list[Path], key: Path) -> None:
    lines = key.read_text(encoding="utf-8").splitlines()
    key.write_text("\n".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(InputError, match='the key does not have this caption of "clip5"') as error:
        import_ratings(returned, key=key)
    assert error.value.count == RATERS


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("item,caption\na,b\n", "system: missing column"),
        ("item,system\na,b\n", "caption: missing column"),
        ("item,caption,system\na,,b\n", "item, system and caption are required"),
        ("item,caption,system\na,x,b\na,x ,c\n", "have the same caption"),
    ],
)
def test_a_key_that_cannot_be_is_refused(
    text: str, told: str, returned: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "key.csv").write_text(text)
    with pytest.raises(InputError, match=told):
        import_ratings(returned, key=tmp_path / "key.csv")


def test_a_key_may_have_hashes_and_more_captions(returned: list[Path], tmp_path: Path) -> None:
    rows: list[Any] = [
        f"{one.record},{caption_hash(caption)},{'ab'[n]}"
        for one in CLIPS
        for n, caption in enumerate(one.captions)
    ]
    (tmp_path / "key.csv").write_text("\n".join(["item,hash,system", *rows, "more,ffff,a"]))
    found = import_ratings(returned, key=tmp_path / "key.csv")
    assert {one.key.system for one in found.ratings} == {"a", "b"}
    assert "P1 has 12 of the 13 captions in the key" in found.notes


def test_workbooks_of_two_studies_are_refused(returned: list[Path], tmp_path: Path) -> None:
    other = write_workbooks(tmp_path / "e", [WorkbookContent("main", "P9", CLIPS)])
    assert 'belongs to the study "main"' in str(import_ratings([*returned, *other]).rejection)


def test_a_caption_under_two_clips_is_told_once_for_all_raters(tmp_path: Path) -> None:
    rows: list[Any] = [HEAD, *clip(1, GOOD), (2, "rec02", "A", "rec01: caption 0", *GOOD)]
    files = [tmp_path / f"P{n}.xlsx" for n in (1, 2)]
    for path in files:
        path.write_bytes(book(rows))
    found = import_ratings(files)
    assert [one.kind for one in found.findings] == ["duplicate"]


def test_nothing_to_import_is_told() -> None:
    with pytest.raises(UsageError, match="name the completed workbooks"):
        import_ratings([])
