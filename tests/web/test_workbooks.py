"""Workbooks over a rater's own link: got, sent back, refused by cell, and seen by who runs it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from click.testing import CliRunner
from openpyxl.comments import Comment
from starlette.testclient import TestClient

from earwitness.cli.main import group
from earwitness.errors import UsageError
from earwitness.forms.workbooks.read import JudgedRow, read_workbook
from earwitness.studies.admin import stored_answers
from earwitness.web.site import SiteSettings
from earwitness.web.workbooks import XLSX_TYPE
from helpers.caption_study import AUTHORS, CLIPS, STUDY, anything, captioned, designed, filled
from helpers.http_listener import answer, link, served, site_of, take
from helpers.store_answers import ask
from helpers.study_listener import Anyone, study
from helpers.workbooks import HEAD, book, moved, repacked, saved, typed

WEB = "https://example.org/{file}"
TABLES = ("listeners", "answers", "events")


@contextmanager
def open_study(folder: Path, text: str = STUDY, **settings: Any) -> Iterator[TestClient]:
    with served(captioned(folder / "s", text), str(folder / "store.db"), **settings) as client:
        yield client


def send(client: TestClient, own: str, data: bytes, name: str = "mine.xlsx") -> Any:
    headers = {"content-type": XLSX_TYPE}
    return client.post(f"{own}/workbook?name={name}", content=data, headers=headers)


def kept(folder: Path) -> list[Any]:
    """All that the store has, past the store."""
    return [ask(f"sqlite:///{folder / 'store.db'}", f"SELECT * FROM {one}") for one in TABLES]


def book_of(client: TestClient, listener: int = 1, judge: Any = None) -> bytes:
    return filled(site_of(client).design, listener, judge)


def test_a_rater_gets_their_workbook_and_sends_it_back(tmp_path: Path) -> None:
    with open_study(tmp_path, web=WEB) as client:
        own = link(client, 2)
        got = client.get(f"{own}/workbook.xlsx")
        assert got.headers["content-type"] == XLSX_TYPE
        assert got.headers["content-disposition"] == 'attachment; filename="P2_web.xlsx"'
        assert read_workbook(got.content, name="x.xlsx").listener == 2
        sheet = openpyxl.load_workbook(io.BytesIO(got.content))["Assessment"]
        assert sheet["B3"].hyperlink.target == WEB.replace("{file}", f"{sheet['B3'].value}.wav")
        done = send(client, own, book_of(client, 2))
        told = {"status": "stored", "rows": 12, "all": 12, "open": 0, "blank": [], "ignored": []}
        assert done.json() == told | {"changed": CLIPS}
        assert send(client, own, book_of(client, 2)).json() == told | {"changed": 0}
        state = take(client, own)  # only what tells is left to be passed
    assert state["done"]
    found = stored_answers(tmp_path / "s" / "study.yaml", str(tmp_path / "store.db"))
    assert {one.answer.listener for one in found.submissions} == {2}
    assert {one.meta["workbook"][0]["name"] for one in found.submissions if one.meta} == {
        "mine.xlsx"
    }
    assert next(iter(found.plays().values())).unknown == CLIPS  # nobody knows what was played
    assert not found.quality().times  # nor how long it took


def test_links_go_to_a_folder_unless_an_address_is_served(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        got = client.get(f"{own}/workbook.xlsx")
        assert "P1_local.xlsx" in got.headers["content-disposition"]
        sheet = openpyxl.load_workbook(io.BytesIO(got.content))["Assessment"]
        assert sheet["B3"].hyperlink.target == f"clips\\{sheet['B3'].value}.wav"
        page = client.get(f"{own}/workbook").text
        assert "folder named “clips”" in page
    with pytest.raises(UsageError, match="web: must start with"):
        SiteSettings(web="clips")


def test_every_fault_is_told_by_cell_and_nothing_is_kept(tmp_path: Path) -> None:
    wrong = {"precision": 6, "recall": "4/5", "fluency": 0.5, "conciseness": "bad"}
    with open_study(tmp_path) as client:
        own = link(client)
        before = kept(tmp_path)
        done = send(client, own, book_of(client, 1, lambda row: anything(1)(row) | wrong))
        assert (done.status_code, done.json()["error"]["code"]) == (422, "faults")
        assert done.json()["count"] == 3 * 12
        assert done.json()["faults"][:3] == [
            {
                "place": "Assessment!E3",
                "told": "Precision must be 1 to 5 in steps of 0.1, got 6",
                "remedy": "write a number from 1 to 5 in steps of 0.1, or leave it blank",
            },
            {
                "place": "Assessment!G3",
                "told": "Fluency must be −2 to 0 in steps of 0.1, got 0.5",
                "remedy": "a penalty is 0 or below: write −0.5",
            },
            {
                "place": "Assessment!H3",
                "told": 'Conciseness must be a number, got "bad"',
                "remedy": "write a number from −2 to 0 in steps of 0.1, or leave it blank",
            },
        ]
        assert kept(tmp_path) == before
        assert send(client, own, book_of(client)).json()["changed"] == CLIPS


def test_faults_are_told_in_the_language_of_the_study(tmp_path: Path) -> None:
    wrong = {"precision": 6, "fluency": 0.5}
    with open_study(tmp_path, STUDY + "language: fr\n") as client:
        done = send(client, link(client), book_of(client, 1, lambda _: wrong)).json()
    assert [(one["told"], one["remedy"]) for one in done["faults"][:2]] == [
        (
            "Précision : doit aller de 1 à 5 par pas de 0,1 ; lu : 6",
            "écrivez un nombre de 1 à 5 par pas de 0,1, ou laissez la cellule vide",
        ),
        (
            "Fluidité : doit aller de −2 à 0 par pas de 0,1 ; lu : 0.5",
            "une pénalité est inférieure ou égale à 0 : écrivez −0,5",
        ),
    ]


def test_blanks_and_open_clips_are_named(tmp_path: Path) -> None:
    def judge(row: JudgedRow) -> dict[str, Any]:
        blank = {"fluency": None} if row.record == "c3" else {}
        return {} if row.record == "c1" else anything(1)(row) | blank

    with open_study(tmp_path) as client:
        done = send(client, link(client), book_of(client, 1, judge)).json()
        assert (done["rows"], done["all"], done["open"]) == (10, 12, 1)
        assert {one["name"] for one in done["blank"]} == {"Fluency"}
        assert [one["place"][:12] for one in done["blank"]] == ["Assessment!G"] * 2


def test_the_browser_skips_what_the_workbook_has_just_answered(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        first = site_of(client).design.plans[0].sessions[0][0].item
        others = book_of(client, 1, lambda row: {} if row.record == first else anything(1)(row))
        assert send(client, own, others).json()["changed"] == CLIPS - 1
        reply = client.post(f"{own}/answers", json=answer(page, Anyone()(page))).json()
        assert (reply["status"], reply["state"]["page"]["name"]) == ("stored", "2.0")


def test_a_workbook_may_be_sent_again_until_one_withdraws(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        send(client, own, book_of(client))
        again = send(client, own, book_of(client, 1, anything(5)))
        assert again.json()["changed"] == CLIPS
        assert "Rows filled in: 12 of 12." in client.get(f"{own}/workbook").text
        client.post(f"{own}/withdraw", json={"confirm": True})
        before = kept(tmp_path)
        assert send(client, own, book_of(client)).status_code == 409
        assert client.get(f"{own}/workbook.xlsx").status_code == 409
        away = client.get(f"{own}/workbook", follow_redirects=False)
        assert (away.status_code, away.headers["location"]) == (303, own)
        assert kept(tmp_path) == before


def test_what_a_browser_answered_otherwise_is_not_overwritten(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        take(client, own, Anyone(seed=4), stop="2.0")
        before = kept(tmp_path)
        done = send(client, own, book_of(client)).json()
        assert done["count"] == CLIPS // 2
        assert done["faults"][0]["told"].endswith("has a different answer from the browser")
        assert "--replace" not in json.dumps(done)
        assert kept(tmp_path) == before


def test_the_workbook_of_somebody_else_is_refused(tmp_path: Path) -> None:
    other = designed(captioned(tmp_path / "t", STUDY + "seed: 3\n"))
    with open_study(tmp_path) as client:
        own = link(client)
        for data, told in (
            (book_of(client, 2), "is the workbook of P2, but this is the link of P1"),
            (filled(other, 1), "belongs to another study"),
        ):
            done = send(client, own, data)
            assert done.status_code == 422
            assert told in done.json()["faults"][0]["told"]


def test_nobody_sends_a_workbook_before_they_agree(tmp_path: Path) -> None:
    with open_study(tmp_path, STUDY + "consent: You may stop.\n") as client:
        own = link(client)
        assert 'id="upload"' not in client.get(f"{own}/workbook").text
        assert send(client, own, book_of(client)).status_code == 409
        take(client, own, stop="headphones")
        assert 'id="upload"' in client.get(f"{own}/workbook").text
        assert send(client, own, book_of(client)).status_code == 200


def test_only_studies_of_captions_have_workbooks(folder: Path) -> None:
    with served(study(folder, "acr"), str(folder / "store.db")) as client:
        own = link(client)
        assert "workbook" not in client.get(own).text.partition("</script>")[2]
        for path in (f"{own}/workbook", f"{own}/workbook.xlsx"):
            assert client.get(path).status_code == 404
        assert send(client, own, b"PK").status_code == 404


def test_where_there_can_be_no_workbooks_it_is_said_why(tmp_path: Path) -> None:
    with open_study(tmp_path, on_return="block") as client:
        assert client.get(f"{link(client)}/workbook").status_code == 404
        assert "in one visit" in site_of(client).no_workbooks
    table = tmp_path / "s" / "captions.csv"
    table.write_text(table.read_text().replace("as 1 hears", "as 0 hears"))
    with served(tmp_path / "s" / "study.yaml", str(tmp_path / "other.db")) as client:
        own = link(client)
        assert client.get(f"{own}/workbook.xlsx").status_code == 404
        assert "workbook" not in client.get(own).text.partition("<footer>")[2]
        assert "have the same caption" in site_of(client).no_workbooks


def test_the_page_of_a_listener_leads_to_the_workbook(tmp_path: Path) -> None:
    with open_study(tmp_path, root_path="/x") as client:
        own = link(client)
        assert f'href="{own}/workbook"' in client.get(own).text
        page = client.get(f"{own}/workbook").text
        assert f'href="{own}/workbook.xlsx"' in page
        assert not any(one in page for one in AUTHORS)
        assert client.get(f"{own}x/workbook").status_code == 404


def test_the_original_layout_is_taken_for_the_rater_of_the_link(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own, made = link(client, 3), site_of(client).design
        rows: list[Any] = [HEAD]
        for clip in made.study.material:
            for n, system in enumerate(clip.captions):
                text = clip.captions[system]
                rows.append((1, clip.name, "AB"[n], text, 4, 4, 0, 0, "-0,1"))
        done = send(client, own, book(rows), "my answers.xlsx")
        assert done.json()["changed"] == CLIPS


BOMB = io.BytesIO()
with ZipFile(BOMB, "w", ZIP_DEFLATED) as parts:
    parts.writestr("[Content_Types].xml", b"<a/>")
    parts.writestr("xl/worksheets/sheet1.xml", bytes(100 << 20))
XXE = b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
GOOD = book([HEAD])


def entities(name: str, text: bytes) -> bytes:
    whole = name == "xl/workbook.xml"
    return text.replace(b"<workbook", XXE + b"<workbook", 1) if whole else text


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (BOMB.getvalue(), "unpacks to more than 2 MB"),
        (b"%PDF-1.4", "is not an .xlsx workbook"),
        (b"", "is not an .xlsx workbook"),
        (GOOD[:-200], "is not a readable workbook"),
        (moved(GOOD), "is not a readable workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(99), "is protected by a password"),
        (repacked(GOOD, entities), "declares entities"),
    ],
    ids=["bomb", "no zip", "empty", "torn", "moved", "old", "entities"],
)
def test_hostile_files_are_refused_and_leave_no_trace(
    tmp_path: Path, data: bytes, told: str
) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        before = kept(tmp_path)
        done = send(client, own, data)
        assert done.status_code == 422
        assert told in done.json()["faults"][0]["told"]
        assert done.json()["faults"][0]["remedy"]
        assert kept(tmp_path) == before


def test_formulas_are_refused_where_numbers_are_and_inert_elsewhere(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        made = openpyxl.load_workbook(io.BytesIO(book_of(client)))
        made["Assessment"]["E3"] = "=WEBSERVICE(1)"
        made["Assessment"]["K3"] = "=cmd|' /C calc'!A0"
        held = io.BytesIO()
        made.save(held)
        [fault] = send(client, own, held.getvalue()).json()["faults"]
        assert fault["place"] == "Assessment!E3"
        assert 'must be a number, got the formula "=WEBSERVICE(1)"' in fault["told"]
        links = {"xl/externalLinks/externalLink1.xml": b"<externalLink/>"}
        inert = repacked(book_of(client), lambda _, text: text, **links)
        assert send(client, own, inert).json()["changed"] == CLIPS


def test_what_is_too_large_or_no_workbook_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earwitness.web.workbooks.MAX_UPLOAD_BYTES", 1000)
    with open_study(tmp_path) as client:
        own = link(client)
        large = send(client, own, bytes(1001))
        assert (large.status_code, large.json()["error"]["code"]) == (413, "too_large")
        form = client.post(f"{own}/workbook", content=b"x", headers={"content-type": "text/plain"})
        assert form.status_code == 415
        answers = client.post(f"{own}/answers", content=bytes(300_000))
        assert answers.status_code == 413  # the limit of answers stays what it was


def test_a_name_with_odd_characters_is_not_kept(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        send(client, link(client), book_of(client), "../../x.xlsx")
        found = ask(f"sqlite:///{tmp_path / 'store.db'}", "SELECT meta FROM answers")
    assert {json.loads(one)["workbook"][0]["name"] for (one,) in found} == {"P1_local.xlsx"}


def test_who_runs_the_study_sees_who_has_returned(tmp_path: Path) -> None:
    def blank(row: JudgedRow) -> dict[str, Any]:
        return anything(2)(row) | {"recall": None} if row.record != "c0" else {}

    with open_study(tmp_path) as client:
        for number in (1, 2, 3):
            link(client, number)
        send(client, link(client, 1), book_of(client, 1))
        send(client, link(client, 2), book_of(client, 2, blank))
        take(client, link(client, 3), stop="2.0")
    command = ["study", "status", str(tmp_path / "s" / "study.yaml"), "--db"]
    command.append(str(tmp_path / "store.db"))
    told = [CliRunner().invoke(group, [*command, "--to", to]) for to in ("text", "csv", "json")]
    assert [one.exit_code for one in told] == [0, 0, 0]
    rows = json.loads(told[2].stdout)
    known = [one["workbook"] and {**one["workbook"], "at": ""} for one in rows]
    assert known == [
        {"at": "", "rows": 12, "all": 12, "blanks": 0},
        {"at": "", "rows": 10, "all": 12, "blanks": 10},
        None,
    ]
    at = rows[1]["workbook"]["at"][:16]
    lines = [*csv.DictReader(io.StringIO(told[1].stdout))]
    assert [one["workbook"] for one in lines][1:] == [f"{at} 10/12 rows, 10 blank", ""]
    assert f"{at} 10/12 rows, 10 blank" in told[0].stdout


def test_two_at_once_are_both_kept(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with open_study(tmp_path) as client, ThreadPoolExecutor(4) as pool:
        jobs = [
            pool.submit(send, client, link(client, n), book_of(client, n)) for n in (1, 2, 3, 4)
        ]
        assert [job.result().json()["changed"] for job in jobs] == [CLIPS] * 4


def test_a_comment_is_kept_word_by_word(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        data = typed(book_of(client, 1, lambda _: GIVEN), {"K3": "=1+1 «é» 😀"})
        assert send(client, link(client), data).status_code == 200
    found = ask(f"sqlite:///{tmp_path / 'store.db'}", 'SELECT "values" FROM answers')
    assert json.loads(found[0][0])["A.comment"] == "=1+1 «é» 😀"


def test_comments_on_cells_are_kept_and_others_are_told(tmp_path: Path) -> None:
    with open_study(tmp_path, STUDY + "language: fr\n") as client:
        made = openpyxl.load_workbook(io.BytesIO(book_of(client, 1, lambda _: GIVEN)))
        table = made.worksheets[1]
        table["E3"].comment, table["K3"].comment = Comment("trop ?", "J"), Comment("oui", "J")
        table["D1"].comment = Comment("entête", "J")
        done = send(client, link(client), saved(made)).json()
    told = "ce commentaire, sur aucune description, n’est pas enregistré : « entête »"
    assert done["ignored"] == [{"place": f"{table.title}!D1", "told": told, "remedy": ""}]
    found = ask(f"sqlite:///{tmp_path / 'store.db'}", 'SELECT "values" FROM answers')
    assert json.loads(found[0][0])["A.comment"] == "Précision: trop ?\noui"


def test_an_untouched_workbook_is_told_to_have_no_ratings(tmp_path: Path) -> None:
    with open_study(tmp_path) as client:
        own = link(client)
        before = kept(tmp_path)
        done = send(client, own, client.get(f"{own}/workbook.xlsx").content)
        assert done.status_code == 422
        assert done.json()["faults"] == [
            {"place": "", "told": "no ratings yet", "remedy": "fill it in, and send it again"}
        ]
        assert kept(tmp_path) == before


GIVEN = {"precision": 4, "recall": 4, "fluency": 0, "conciseness": 0, "irrelevance": 0}
