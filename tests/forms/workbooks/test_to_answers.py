"""Workbooks back into a study: matched by clip and words, all or nothing, as often as one likes."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from click.testing import CliRunner, Result
from openpyxl.comments import Comment

from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.forms.workbooks.read import JudgedRow
from earwitness.forms.workbooks.to_answers import enter_workbooks, study_import_answers
from earwitness.store.store import Store
from earwitness.studies.admin import stored_answers, study_records
from earwitness.studies.pages import counted_trials
from earwitness.studies.study import Design
from helpers.caption_study import AUTHORS, CLIPS, STUDY, anything, captioned, designed, filled
from helpers.databases import new_schema, server
from helpers.databases import usual_address as address
from helpers.http_listener import link, served, take
from helpers.store_answers import ask
from helpers.workbooks import HEAD, book, repacked, saved, typed

__all__ = ["address", "new_schema", "server"]
RATERS = 4
FAST = ("--draws", "20", "--no-mixed")
TABLES = ("studies", "listeners", "answers", "events")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return captioned(tmp_path / "s")


@pytest.fixture
def made(path: Path) -> Design:
    return designed(path)


@pytest.fixture
def files(made: Design, tmp_path: Path) -> list[Path]:
    """A filled workbook of every rater."""
    (tmp_path / "in").mkdir()
    found = [tmp_path / "in" / f"P{n}_local.xlsx" for n in range(1, RATERS + 1)]
    for number, file in enumerate(found, 1):
        file.write_bytes(filled(made, number))
    return found


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, ["study", *map(str, arguments)])


def good(*arguments: str | Path) -> Result:
    done = run(*arguments)
    assert done.exit_code == 0, (done.output, done.exception)
    return done


def rows(address: str) -> list[Any]:
    """All that a store has, past the store."""
    return [ask(address, f"SELECT * FROM {name} ORDER BY 1") for name in TABLES]


def told(error: InputError) -> list[str]:
    return [str(one) for one in error.problems]


class Rater:
    """Answers pages in a browser with the numbers that a workbook would have."""

    def __init__(self, listener: int, synthesised: str = "") -> None:
        self.judge, self.synthesised = anything(listener), synthesised

    def __call__(self, view: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for one in view.get("captions", ()):
            number = one["text"].split()[1].strip(",")
            row = JudgedRow(f"c{number}", one["text"], {}, None)  # type: ignore[arg-type]
            found |= {f"{one['label']}.{name}": value for name, value in self.judge(row).items()}
        return found


def test_workbooks_and_browsers_give_the_same_results(
    path: Path, files: list[Path], address: str, tmp_path: Path
) -> None:
    good("import-xlsx", path, *files, "--db", address)
    browsed = str(tmp_path / "browsed.db")
    with served(path, browsed) as client:
        for number in range(1, RATERS + 1):
            take(client, link(client, number), Rater(number))
    found = [
        json.loads(good("analyse", path, "--db", db, "--to", "json", *FAST).stdout)
        for db in (address, browsed)
    ]
    scales = [one["value"]["name"] for one in found[0]["scales"]]
    assert scales == ["precision", "recall", "fluency", "conciseness", "irrelevance", "total"]
    assert found[0]["scales"] == found[1]["scales"]
    one, other = (stored_answers(path, db).ratings() for db in (address, browsed))
    assert sorted(one, key=repr) == sorted(other, key=repr)
    assert len(one) == RATERS * CLIPS * len(AUTHORS) * 6


def test_the_same_files_twice_change_nothing(path: Path, files: list[Path], address: str) -> None:
    first = enter_workbooks(path, files, address)
    assert (first.new, first.corrected, first.unchanged) == (RATERS * CLIPS, 0, 0)
    before = rows(address)
    again = enter_workbooks(path, [*files, files[0]], address)
    assert (again.new, again.corrected, again.unchanged) == (0, 0, RATERS * CLIPS)
    assert rows(address) == before


def test_a_corrected_file_changes_the_pages_that_it_changes(
    path: Path, made: Design, files: list[Path], address: str
) -> None:
    enter_workbooks(path, files, address)
    before = {(one.answer.listener, one.answer.page): one for one in _given(path, address)}

    def judge(row: JudgedRow) -> dict[str, Any]:
        return anything(2)(row) | ({"recall": 1.0} if row.record == "c4" else {})

    files[1].write_bytes(filled(made, 2, judge))
    done = enter_workbooks(path, [files[1]], address)
    assert (done.new, done.corrected, done.unchanged) == (0, 1, CLIPS - 1)
    after = {(one.answer.listener, one.answer.page): one for one in _given(path, address)}
    [changed] = [place for place in before if before[place] != after[place]]
    assert changed[0] == 2
    assert after[changed].answer.heard["item"] == "c4"
    assert after[changed].supersedes == before[changed].id
    assert {after[changed].answer.values[f"{letter}.recall"] for letter in "AB"} == {1.0}


def test_going_back_and_forth_is_kept_as_it_happened(
    path: Path, made: Design, files: list[Path], tmp_path: Path
) -> None:
    db, first = str(tmp_path / "x.db"), files[0].read_bytes()
    other = filled(made, 1, anything(9))
    for data, corrected in ((first, 0), (other, CLIPS), (first, CLIPS), (first, 0), (other, CLIPS)):
        files[0].write_bytes(data)
        assert enter_workbooks(path, files[:1], db).corrected == corrected
    with Store.open(db) as store:
        assert len(store.history(made.study.digest, 1)) == 4 * CLIPS
        assert len(store.answers(made.study.digest, 1)) == CLIPS


def test_what_was_set_aside_may_come_again(
    path: Path, made: Design, files: list[Path], address: str
) -> None:
    enter_workbooks(path, files[:1], address)
    with Store.open(address) as store:
        assert store.set_aside(made.study.digest, 1, ["1.1", "1.2"]) == 2
    for new in (2, 0):
        done = enter_workbooks(path, files[:1], address)
        assert (done.new, done.corrected) == (new, 0)
    assert len(_given(path, address)) == CLIPS


def test_rows_in_another_order_give_the_same_answers(
    path: Path, files: list[Path], tmp_path: Path
) -> None:
    book_ = openpyxl.load_workbook(files[2])
    sheet = book_["Assessment"]
    for merge in list(sheet.merged_cells.ranges):
        sheet.unmerge_cells(str(merge))
    table = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)]
    for n, row in enumerate(random.Random(3).sample(table, len(table)), 2):
        for column, value in enumerate(row, 1):
            sheet.cell(n, column).value = value
    shuffled = tmp_path / "P3_web.xlsx"
    shuffled.write_bytes(saved(book_))
    one, other = (study_import_answers(path, [file]).answers for file in (files[2], shuffled))
    assert one == other


def test_answers_say_of_which_file_they_are(path: Path, files: list[Path], address: str) -> None:
    enter_workbooks(path, files, address)
    records = [one for one in study_records(path, address) if one["record"] == "answer"]
    assert len(records) == RATERS * CLIPS
    for one in records:
        file = files[one["listener"] - 1]
        [known] = one["meta"]["workbook"]
        assert known == {
            "name": file.name,
            "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
        }


def test_nothing_of_a_rater_is_kept_if_one_value_is_wrong(
    path: Path, made: Design, files: list[Path], address: str
) -> None:
    wrong = {"precision": 6, "recall": 4, "fluency": 0.5, "conciseness": 0, "irrelevance": 0}
    files[2].write_bytes(filled(made, 3, lambda row: wrong if row.record == "c0" else {}))
    done = enter_workbooks(path, files, address)
    assert done.rejection is not None
    assert done.rejection.count == 4  # two captions, two numbers each
    assert all("P3_local.xlsx" in one for one in told(done.rejection))
    last = str(done.rejection).splitlines()[-1]
    assert last == "4 problems; nothing was imported from P3_local.xlsx; imported: P1, P2, P4"
    assert {one.answer.listener for one in _given(path, address)} == {1, 2, 4}
    before = rows(address)
    with pytest.raises(InputError, match=r"4 problems; nothing was imported$"):
        enter_workbooks(path, files[2:3], address)
    assert rows(address) == before
    files[2].write_bytes(filled(made, 3))
    assert enter_workbooks(path, files, address).new == CLIPS


def test_a_rater_with_two_files_is_rejected_if_one_is_damaged(
    path: Path, files: list[Path]
) -> None:
    """A half of what a rater returned is no answer."""
    web = files[1].with_name("P2_web.xlsx")
    web.write_bytes(files[1].read_bytes()[:-99])
    found = study_import_answers(path, [*files, web])
    assert [*found.sources] == [1, 3, 4]
    assert {one.listener for one in found.answers} == {1, 3, 4}
    assert "nothing was imported from P2_web.xlsx; imported: P1, P3, P4" in str(found.rejection)


def test_problems_of_files_and_conflicts_in_the_store_are_told_together(
    path: Path, files: list[Path], address: str
) -> None:
    with served(path, address) as client:
        take(client, link(client, 3), Rater(30), stop="2.0")
    files[0].write_bytes(b"PK")
    out = run("import-xlsx", path, *files, "--db", address)
    assert isinstance(out.exception, InputError)
    assert "pages: 12 new, 0 corrected, 0 unchanged" in out.stderr
    lines = str(out.exception).splitlines()
    assert "P1_local.xlsx: is not a readable workbook" in lines[0]
    assert "has a different answer from the browser" in lines[1]
    assert lines[-1].endswith(
        "nothing was imported from P1_local.xlsx, P3_local.xlsx; imported: P2, P4"
    )
    kept = [one for one in _given(path, address) if "workbook" in (one.meta or {})]
    assert {one.answer.listener for one in kept} == {2, 4}


def test_a_refusal_by_the_store_keeps_nothing_of_that_rater(
    path: Path, made: Design, files: list[Path], address: str
) -> None:
    with served(path, address) as client:
        take(client, link(client, 3), Rater(30), stop="2.0")
    before = [one for one in _given(path, address) if one.answer.listener == 3]
    done = enter_workbooks(path, files, address)
    assert done.rejection is not None
    assert done.rejection.count == CLIPS // 2
    assert "leave all rows of this clip empty, or use --replace" in told(done.rejection)[0]
    assert "P3_local.xlsx:" in told(done.rejection)[0]
    assert "has a different answer from the browser" in told(done.rejection)[0]
    assert (done.new, [*done.matched.sources]) == ((RATERS - 1) * CLIPS, [1, 2, 4])
    assert [one for one in _given(path, address) if one.answer.listener == 3] == before
    done = enter_workbooks(path, files, address, replace=True)
    assert (done.new, done.corrected, done.rejection) == (CLIPS - CLIPS // 2, CLIPS // 2, None)
    with Store.open(address) as store:  # what was answered first stays in the raw table
        assert len(store.history(made.study.digest, 3)) > CLIPS


def test_what_a_browser_told_alike_is_known(path: Path, files: list[Path], address: str) -> None:
    with served(path, address) as client:
        take(client, link(client, 3), Rater(3), stop="2.0")
    done = enter_workbooks(path, files[2:3], address)
    assert (done.new, done.corrected, done.unchanged) == (CLIPS // 2, 0, CLIPS // 2)


def test_empty_clips_stay_open_and_blanks_are_blank(
    path: Path, made: Design, address: str, tmp_path: Path
) -> None:
    def judge(row: JudgedRow) -> dict[str, Any]:
        if row.record in ("c0", "c1"):
            return {"comment": "later"} if row.record == "c1" else {}
        return anything(1)(row) | ({"fluency": None} if row.record == "c2" else {})

    file = tmp_path / "P1.xlsx"
    file.write_bytes(filled(made, 1, judge))
    done = enter_workbooks(path, [file], address)
    assert done.new == CLIPS - 2
    assert "P1: 2 of 6 clips are empty and left unchanged" in done.matched.notes
    kinds = [one.message for one in done.matched.findings]
    assert kinds.count("fluency is blank") == 2
    assert kinds.count("comment without values is not imported") == 2
    totals = [one for one in stored_answers(path, address).ratings() if one.scale == "total"]
    assert {one.key.item for one in totals} == {"c3", "c4", "c5"}
    assert enter_workbooks(path, [file], address).unchanged == CLIPS - 2


def test_an_empty_workbook_takes_nothing_back(
    path: Path, made: Design, files: list[Path], address: str
) -> None:
    enter_workbooks(path, files[:1], address)
    before = rows(address)
    files[0].write_bytes(filled(made, 1, lambda _: {}))
    done = enter_workbooks(path, files[:1], address)
    assert (done.new, done.matched.notes) == (0, ())
    assert [one.message for one in done.matched.findings] == ["P1: no ratings yet"]
    assert rows(address) == before
    out = good("import-xlsx", path, *files, "--db", address)
    assert "imported 36 rows: 3 raters, 18 pages" in out.stderr


def test_blanks_are_refused_by_cell_if_the_study_says_so(tmp_path: Path) -> None:
    strict = STUDY.replace("synthesised: true", "synthesised: true, blank: refuse")
    path = captioned(tmp_path / "s", strict)
    made, file = designed(path), tmp_path / "P1.xlsx"
    file.write_bytes(filled(made, 1, lambda row: anything(1)(row) | {"conciseness": None}))
    with pytest.raises(InputError, match="conciseness is blank — fill it in") as error:
        study_import_answers(path, [file])
    assert error.value.count == 2 * CLIPS
    assert "P1.xlsx:3: Assessment!H3" in told(error.value)[0]


def test_whether_a_clip_is_synthesised_is_kept_of_the_clip(
    path: Path, made: Design, tmp_path: Path
) -> None:
    file = tmp_path / "P1.xlsx"
    data = filled(made, 1)
    file.write_bytes(typed(data, {"J3": "yes", "J5": "no"}))
    found = study_import_answers(path, [file]).answers
    assert [one.values.get("synthesised") for one in found] == ["yes", "no", None, None, None, None]


def test_workbooks_of_another_study_or_rater_are_refused(
    path: Path, files: list[Path], tmp_path: Path
) -> None:
    other = captioned(tmp_path / "t", STUDY + "seed: 2\n")
    with pytest.raises(InputError, match='another version of it: "Captions"'):
        study_import_answers(other, files)
    path.write_text(STUDY.replace("lay: 2", "lay: 1"))  # nobody else moves
    assert len(study_import_answers(path, files[:3]).answers) == 3 * CLIPS
    unknown = study_import_answers(path, files).rejection
    assert "P4_local.xlsx: unknown listener 4 — name the" in str(unknown)


def test_nothing_is_kept_of_who_has_withdrawn(path: Path, files: list[Path], address: str) -> None:
    enter_workbooks(path, files, address)
    with Store.open(address) as store:
        store.withdraw(designed(path).study.digest, 2)
    before = rows(address)
    done = enter_workbooks(path, files, address)
    assert "P2_local.xlsx: listener 2 has withdrawn" in str(done.rejection)
    assert done.unchanged == (RATERS - 1) * CLIPS
    assert rows(address) == before


def original(made: Design, listener: int, *, spoilt: str = "") -> bytes:
    """A workbook in the original layout, with two blocks and uneven heads."""
    plan = next(plan for plan in made.plans if plan.listener == listener)
    table: list[Any] = [("Park",), HEAD]
    for n, trial in enumerate(counted_trials(plan).values(), 1):
        if n == 4:
            table += [(), ("Street",), HEAD]
        for place, system in enumerate(trial.systems):
            text = made.study.caption(trial.item, system) + spoilt
            numbers = (4, 3.5, "−.1", "0", -0.2 * place)
            named = (n, trial.item) if place == 0 else (None, None)
            table.append((*named, "AB"[place], f" {text} ", *numbers, None, None))
    return book(table)


def test_the_original_layout_is_matched_by_clip_and_caption(
    path: Path, made: Design, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "P3_google.xlsx"
    file.write_bytes(original(made, 3))
    done = enter_workbooks(path, [file], address)
    assert (done.new, done.matched.sources) == (CLIPS, {3: str(file)})
    for one in _given(path, address):
        assert one.answer.listener == 3
        assert one.answer.values["A.fluency"] == -0.1
        assert (one.answer.values["A.irrelevance"], one.answer.values["B.irrelevance"]) == (0, -0.2)
    file.rename(tmp_path / "anna.xlsx")
    with pytest.raises(
        InputError, match="does not name its rater — name the file after its rater, P1"
    ):
        study_import_answers(path, [tmp_path / "anna.xlsx"])


def test_captions_and_clips_that_the_study_does_not_have_are_told_by_cell(
    path: Path, made: Design, tmp_path: Path
) -> None:
    file = tmp_path / "P3_google.xlsx"
    file.write_bytes(original(made, 3, spoilt="!"))
    with pytest.raises(
        InputError, match=r"google.xlsx:3: Assessment!D3: clip \"c\d\" does not have"
    ):
        study_import_answers(path, [file])
    data = repacked(original(made, 3), lambda _, text: text.replace(b">c5<", b">c55<"))
    file.write_bytes(data)
    with pytest.raises(InputError, match='unknown clip "c55"'):
        study_import_answers(path, [file])


def test_a_row_that_was_deleted_is_missed(path: Path, files: list[Path]) -> None:
    made = openpyxl.load_workbook(files[0])
    sheet = made["Assessment"]
    for merge in list(sheet.merged_cells.ranges):
        sheet.unmerge_cells(str(merge))
    sheet.delete_rows(4)
    made.save(files[0])
    rejection = study_import_answers(path, files).rejection
    assert rejection is not None
    assert re.search(r"Assessment!D3: clip \"c\d\" has no row for the caption", str(rejection))


def test_a_rater_who_says_two_things_is_refused(
    path: Path, made: Design, files: list[Path], tmp_path: Path
) -> None:
    web = tmp_path / "P1_web.xlsx"
    web.write_bytes(filled(made, 1, lambda _: {}, links="https://example.org"))
    assert len(study_import_answers(path, [web, files[0]]).answers) == CLIPS
    web.write_bytes(filled(made, 1, anything(5), links="https://example.org"))
    with pytest.raises(InputError, match="P1 has different values in"):
        study_import_answers(path, [web, files[0]])


def test_comments_on_cells_are_part_of_the_answer(path: Path, files: list[Path]) -> None:
    book_ = openpyxl.load_workbook(files[0])
    text = book_["Assessment"]["K4"].value
    book_["Assessment"]["H4"].comment = Comment("says it twice", "P1")
    book_.save(files[0])
    [first, *_] = study_import_answers(path, files[:1]).answers
    said = [*([text] if text else []), "Conciseness: says it twice"]
    assert first.values["B.comment"] == "\n".join(said)


def test_a_comment_that_is_too_long_is_refused(path: Path, made: Design, tmp_path: Path) -> None:
    file = tmp_path / "P1.xlsx"
    long = {"comment": "x" * 3000}
    file.write_bytes(filled(made, 1, lambda row: anything(1)(row) | long))
    with pytest.raises(InputError, match=r"A.comment must be text of at most 2,000 characters"):
        study_import_answers(path, [file])


def test_answers_may_be_written_to_a_file(path: Path, files: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "answers.jsonl"
    done = good("import-xlsx", path, *files, "-o", out)
    assert f"{2 * RATERS * CLIPS} rows: 4 raters, {RATERS * CLIPS} pages" in done.stderr
    first = out.read_bytes()
    hint = done.stderr.splitlines()[-1].removeprefix("next: earwitness study ").split()
    results = json.loads(good(*hint, "--to", "json", *FAST).stdout)
    assert {*results["scales"][-1]["systems"]} == {*AUTHORS}
    good("import-xlsx", path, *files, "-o", out)
    assert out.read_bytes() == first == good("import-xlsx", path, *files).stdout.encode()
    refused = run("import-xlsx", path, *files[:2], "-o", out)
    assert isinstance(refused.exception, UsageError)
    assert "already exists with different content" in str(refused.exception)
    assert out.read_bytes() == first


def test_a_corrected_workbook_is_added_to_a_file(
    path: Path, files: list[Path], tmp_path: Path
) -> None:
    """All workbooks are given again after one was rejected; answers of the others are the same."""
    out = tmp_path / "answers.jsonl"
    whole, right = good("import-xlsx", path, *files).stdout, files[1].read_bytes()
    files[1].write_bytes(right[:-100])
    assert isinstance(run("import-xlsx", path, *files, "-o", out).exception, InputError)
    assert len(out.read_text().splitlines()) == (RATERS - 1) * CLIPS
    files[1].write_bytes(right)
    good("import-xlsx", path, *files, "-o", out)
    assert out.read_text() == whole


def test_the_shell_says_what_was_kept(path: Path, files: list[Path], tmp_path: Path) -> None:
    db = tmp_path / "new.db"
    done = good("import-xlsx", path, *files, "--db", db)
    assert "pages: 24 new, 0 corrected, 0 unchanged" in done.stderr
    assert done.stderr.splitlines()[-1] == f"next: earwitness study analyse {path} --db {db}"
    cases: list[tuple[list[str | Path], str]] = [
        (["import-xlsx", *files, "--db", db], "require a study file"),
        (["import-xlsx", path, *files, "--key", db], "--key cannot be used with a study file"),
        (
            ["import-xlsx", path, *files, "--rubric", "thumbs"],
            "--rubric cannot be used with a study file",
        ),
        (
            ["import-xlsx", path, *files, "--db", db, "-o", "x"],
            "--db and --output cannot be combined",
        ),
        (["import-xlsx", path, *files, "--replace"], "set --db"),
        (["import-xlsx", path], "name the completed workbooks"),
    ]
    for wrong, remedy in cases:
        refused = run(*wrong)
        assert isinstance(refused.exception, UsageError)
        assert remedy in str(refused.exception)


def _given(path: Path, address: str) -> tuple[Any, ...]:
    return stored_answers(path, address).submissions
