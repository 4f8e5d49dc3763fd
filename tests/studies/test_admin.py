"""What the experimenter gets out of a store: links, who is where, answers, results."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from earwitness.cli.main import group
from earwitness.errors import InputError, UsageError
from earwitness.metaeval.agree import agree
from earwitness.output_formats import render
from earwitness.store.records import ParticipationState
from earwitness.store.store import Store
from earwitness.studies.admin import stored_answers, study_links, study_status
from earwitness.studies.analyse import study_analyse
from earwitness.studies.design.report import study_design
from earwitness.studies.device import PlaybackCounts
from earwitness.studies.file.reader import read_study
from earwitness.studies.pages import pages
from earwitness.studies.ratings.from_answers import rating_records, study_ratings
from earwitness.studies.take import study_take
from earwitness.studies.trials import KINDS
from helpers.http_listener import join, link, plays, served, site_of, take
from helpers.study_listener import Anyone, study

MORE = "rest_minutes: 0\ndevice: [level, huggins]\nfeedback: true\n"


def run(*arguments: str) -> Result:
    """A command, which must go well."""
    done = CliRunner().invoke(group, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def rows(*arguments: str) -> list[dict[str, str]]:
    """A table that a command prints."""
    return list(csv.DictReader(io.StringIO(run(*arguments, "--to", "csv").stdout)))


@pytest.mark.parametrize("kind", ["p835", "acr"])
def test_answers_of_the_browser_and_of_the_terminal_give_the_same_results(
    folder: Path, address: str, kind: str
) -> None:
    path, file, out = study(folder, kind, MORE), folder / "file.jsonl", folder / "out.jsonl"
    with served(path, address) as client:
        for listener in (2, 1):
            take(client, link(client, listener), Anyone(seed=listener))
    for listener in (1, 2):
        with pytest.warns(match="device checks were skipped"):
            study_take(path, listener, file, respond=Anyone(seed=listener))
    run("study", "export", str(path), "--db", address, "-o", str(out))
    known = study_ratings(path, file)
    assert known
    assert study_ratings(path, out) == known
    assert rating_records(stored_answers(path, address).ratings()) == known
    lines = [one.read_text().splitlines() for one in (file, out)]
    pages = [[json.loads(line)["page"] for line in own] for own in lines]
    assert [name for name in pages[1] if name != "device"] == pages[0]
    results = [
        study_analyse(file, study=path),
        study_analyse(out, study=path),
        study_analyse((), study=path, db=address),
    ]
    assert results[1].inputs[0].sha256 == results[2].inputs[0].sha256
    # comments are stored beside answers, and only the database has them
    texts = [render(replace(one, inputs=(), comments=()), "json") for one in results]
    assert texts[0] == texts[1] == texts[2]


def test_results_are_printed_straight_from_the_store(folder: Path) -> None:
    path = study(folder, "acr", MORE)
    with served(path, str(folder / "study.db")) as client:
        for listener in (1, 2):
            take(client, link(client, listener))
    shown = run("study", "analyse", str(path), "--db", str(folder / "study.db")).stdout
    assert "C0" in shown
    out = folder / "answers.jsonl"
    run("study", "export", str(path), "-o", str(out))  # the store beside the study file
    assert run("study", "analyse", str(path), str(out)).stdout.splitlines()[0] in shown
    for wrong in ([str(out)], [str(path), str(out)]):
        done = CliRunner().invoke(group, ["study", "analyse", *wrong, "--db", "x.db"])
        assert isinstance(done.exception, UsageError)
        assert "name the study file and no other file" in str(done.exception)


def test_links_are_made_once(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    command = ("study", "links", str(path), "--db", address, "--base", "https://x.org/t/")
    first = rows(*command)
    assert [(one["listener"], one["state"]) for one in first] == [
        ("1", "invited"),
        ("2", "invited"),
    ]
    assert rows(*command) == first
    assert all(one["link"].startswith("https://x.org/t/l/") for one in first)
    assert first[0]["link"] in run(*command).stdout
    with served(path, address) as client:
        assert client.get(first[1]["link"].removeprefix("https://x.org/t")).status_code == 200


def test_open_places_have_no_link_until_somebody_has_one(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    with served(path, address, open=1) as client:
        assert [one["listener"] for one in study_links(path, address)] == [1]
        join(client)
        assert [one["state"] for one in study_links(path, address)] == ["invited", "joined"]


def test_some_are_invited_and_the_others_come_by_the_open_link(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    command = ("study", "links", str(path), "--db", address)
    assert [one["listener"] for one in rows(*command, "--first", "1")] == ["1"]
    with served(path, address, open=1) as client:
        assert site_of(client).store.count_free_places(site_of(client).digest) == 1
        join(client)
    done = CliRunner().invoke(group, [*command, "--first", "3"])
    assert "cannot invite 3 listeners, the study has 2" in str(done.exception)
    done = CliRunner().invoke(group, [*command, "--first", "1", "--take-back", "1"])
    assert "cannot be combined" in str(done.exception)


def test_links_that_nobody_used_are_taken_back_for_the_open_link(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", MORE)
    command = ("study", "links", str(path), "--db", address)
    before = [one["link"] for one in rows(*command)]
    with served(path, address, open=2) as client:
        take(client, before[1], stop="1.1")
    assert "revoked links of listeners: 1\n" in run(*command, "--take-back", "2").stderr
    assert "revoked links of listeners: none" in run(*command, "--take-back", "2").stderr
    with served(path, address, open=2) as client:
        assert client.get(before[0]).status_code == 404
        assert join(client) not in before
        assert take(client, before[1])["done"]


def test_who_is_where_is_printed(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    command = ("study", "status", str(path), "--db", address)
    with served(path, address) as client:
        take(client, link(client, 1))
        take(client, link(client, 2), stop="1.2")
        first, second = rows(*command)
        assert (
            first["answered"]
            == first["all"]
            == str(len(site_of(client).page_sequence(1).answerable))
        )
        assert (first["state"], second["state"]) == ("finished", "joined")
        assert int(second["answered"]) < int(second["all"])
        assert first["finished"]
        assert second["last"]
        client.post(f"{link(client, 2)}/withdraw", json={"confirm": True})
        second = rows(*command)[1]
        assert (second["state"], second["answered"]) == ("withdrawn", "0")
        assert "withdrawn" in run(*command).stdout


VARIED = {  # more keys, and clips a listener
    "plain": ("", 2),
    "all pages": ("device: [level]\nfeedback: true\n", 2),
    "panels": ("panels: 3\n", 1),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("more", "clips"), VARIED.values(), ids=VARIED)
def test_pages_are_counted_as_if_all_were_made(
    folder: Path, kind: str, more: str, clips: int
) -> None:
    path = study(folder, kind, more)
    text = path.read_text().replace("listeners: 2\n", "listeners: 5\n")
    path.write_text(re.sub("(clips|sessions): 2", rf"\1: {clips}", text))
    made, db = study_design(path), folder / "study.db"
    study_links(path, db)
    known = {plan.listener: [*pages(made.study, plan, lambda *_: "")] for plan in made.plans}
    told = {one["listener"]: one["all"] for one in study_status(path, db)}
    assert told == {number: len(shown) - 1 for number, shown in known.items()}
    assert len(told) == 5


def test_pages_of_plans_that_were_made_elsewhere_are_counted_one_by_one(folder: Path) -> None:
    made = study_design(study(folder, "acr", MORE))
    first, second = made.plans
    other = replace(second, sessions=(second.sessions[0][:1],), training=())
    planned, db = replace(made.study, plans=(first, other)), folder / "study.db"
    study_links(planned, db)
    slow = [len([*pages(planned, plan, lambda *_: "")]) - 1 for plan in planned.plans]
    assert [one["all"] for one in study_status(planned, db)] == slow
    assert slow[0] != slow[1]


def test_who_did_not_hear_to_the_end_is_screened_out_of_the_store(
    folder: Path, address: str
) -> None:
    path = study(folder, "p835", MORE + "screening: [{rule: unheard}]\n")
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 3\n"))
    with served(path, address) as client:
        for listener in (1, 2, 3):
            take(client, link(client, listener))
    before = study_analyse((), study=path, db=address)
    figures = {one.figures for one in before.screened}
    assert figures == {"0 of 12 sounds not played to the end (maximum share 0)"}
    assert (before.left, [one for one in before.notes if "unheard" in one]) == ((), [])
    with Store.open(address) as store:  # the server itself takes no such answer
        digest = read_study(path).digest
        for number, sent in ((1, [{"sound": 0, "question": "SIG", "ended": True}]), (2, None)):
            [first] = [one for one in store.history(digest, number) if one.answer.page == "1.1"]
            meta = None if sent is None else {"plays": sent}
            store.correct_answer(first.answer, "another", first.id, meta)
    after = study_analyse((), study=path, db=address)
    assert after.left == (1,)
    told = {one.listener: one.figures for one in after.screened}
    assert told[1] == "2 of 12 sounds not played to the end (maximum share 0)"
    assert told[2] == "0 of 9 sounds not played to the end (maximum share 0)"
    assert "unheard: playback was not recorded for 1 answer" in after.notes
    rows = [
        f"{item},{system},{ord(item)}{system[1:]}\n" for item in "abcd" for system in ("C0", "C1")
    ]
    (folder / "scores.csv").write_text("item,system,m\n" + "".join(rows))
    beside = agree(folder / "scores.csv", study=path, db=address, draws=5, permutations=5)
    assert {one.raters for one in beside.scales} == {2}
    assert "screening excluded 1 listener" in beside.notes
    assert "unheard: playback was not recorded for 1 answer" in beside.notes
    out = folder / "out.jsonl"
    run("study", "export", str(path), "--db", address, "-o", str(out))
    from_file = study_analyse(out, study=path)  # which has no plays
    assert "unheard: not applied: playback was not recorded" in from_file.notes


@pytest.mark.parametrize("kind", KINDS)
def test_plays_are_counted_by_what_the_server_asks_for(folder: Path, kind: str) -> None:
    path, db = study(folder, kind, MORE), str(folder / "study.db")
    with served(path, db) as client:
        views = site_of(client).page_sequence(1).pages
        take(client, link(client))
    wanted = [len(plays(page.view)) for page in views if page.counts]
    assert stored_answers(path, db).plays() == {1: PlaybackCounts(0, sum(wanted))}


def test_who_is_blocked_is_let_in_again(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    command = ["study", "links", str(path), "--db", address, "--unblock", "1"]
    with served(path, address, resume="block") as client:
        own = link(client)
        take(client, own, stop="1.2")
        done = CliRunner().invoke(group, command)
        assert "listener 1 is not blocked" in str(done.exception)
        assert client.get(f"{own}/state?visit=new").json()["blocked"]
        run(*command)
        assert client.get(f"{own}/state?visit=new").json()["page"]["name"] == "1.2"
        site = site_of(client)
        assert site.store.status(site.digest)[0].listener.state == ParticipationState.JOINED


def test_everything_that_is_kept_can_be_exported(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    with served(path, address) as client:
        own = link(client)
        take(client, own)
        event = {"kind": "blur", "page": "1.1"}
        client.post(f"{own}/events", json={"id": "12345678", "events": [event]})
    command = ("study", "export", str(path), "--db", address, "--all")
    records = [json.loads(line) for line in run(*command).stdout.splitlines()]
    kinds = [one["record"] for one in records]
    assert {"migration", "study", "listener", "answer", "event"} == {*kinds}
    comments = [one["meta"]["comment"] for one in records if one.get("meta")]
    assert len(comments) == 5
    assert not any("token" in one for one in records)


def test_a_store_that_links_made_is_told(folder: Path) -> None:
    path, db = study(folder, "acr", MORE), str(folder / "typo.db")
    for address in (db, f"sqlite:///{folder / 'other.db'}"):
        command = ("study", "links", str(path), "--db", address)
        assert f"note: created database {address}\n" in run(*command).stderr
        assert run(*command).stderr == ""
    assert run("study", "links", str(path)).stderr == ""  # beside the study file, as expected


@pytest.mark.parametrize("table", [False, True])
def test_what_was_answered_can_be_told_without_sounds(folder: Path, table: bool) -> None:
    path = study(folder, "acr", MORE + "material: clips.csv\n" * table)
    (folder / "clips.csv").write_text("name,seconds\n" + "".join(f"{one},0.1\n" for one in "abcd"))
    with served(path, str(folder / "study.db")) as client:
        take(client, link(client))
    verbs = (["status"], ["export"], ["export", "--all"])
    commands = [["study", *verb, str(path)] for verb in verbs]
    before = [run(*command).stdout for command in commands]
    for sound in folder.glob("*/*.wav" if table else "C1/*.wav"):
        sound.unlink()
    assert [run(*command).stdout for command in commands] == before
    assert all(before)
    with pytest.raises(InputError, match=r"no audio file of system \"C1\" was found"):
        read_study(path)


@pytest.mark.parametrize("verb", ["status", "export"])
def test_a_store_that_is_not_there_is_not_made(folder: Path, verb: str) -> None:
    path = study(folder, "acr", MORE)
    done = CliRunner().invoke(group, ["study", verb, str(path)])
    assert "database does not exist" in str(done.exception)
    assert not (folder / "study.db").exists()


@pytest.mark.parametrize("title", ["Taking part", "Another title"])
def test_a_study_that_has_changed_is_told(folder: Path, address: str, title: str) -> None:
    path = study(folder, "acr", MORE)
    with served(path, address) as client:
        own, old = link(client), site_of(client)
        take(client, own)
        count, digest = len(old.page_sequence(1).answerable), old.digest
    path.write_text(path.read_text().replace("Taking part", title) + "seed: 3\n")
    what = (
        "another version of this study" if title == "Taking part" else f'another study, "{title}"'
    )
    what = what.replace("Another title", "Taking part")
    told = f"note: the database has answers to {what} (digest {digest[:12]}…"
    command = ["study", "status", str(path), "--db", address]
    done = CliRunner().invoke(group, command)
    assert "was the file edited after listeners started?" in str(done.exception)
    assert told in done.stderr
    with served(path, address) as client:
        got = client.get(f"{own}/state")
        assert (got.status_code, got.json()["error"]["code"]) == (404, "not_here")
    kept = folder / "kept.jsonl"
    kept.write_text("answers\n")
    for verb in ("status", "export", "links"):
        more = ["-o", str(kept)] if verb == "export" else []
        done = CliRunner().invoke(group, ["study", verb, str(path), "--db", address, *more])
        assert ("no answers to this version" in str(done.exception)) is (verb == "export")
        said = done.stderr
        assert f"{told}, {count} answers from 1 listener, last 20" in said
        assert "restore the study file, or use a separate database for this version" in said
    assert kept.read_text() == "answers\n"
    with served(path, address) as client:
        take(client, link(client, 2))
    said = run(*command).stderr  # of other studies that have a title of their own, nothing is said
    assert (told in said) is (title == "Taking part")


def test_who_runs_the_study_can_check_completion_codes(folder: Path) -> None:
    path, address = study(folder, "acr", MORE), str(folder / "study.db")
    with served(path, address) as client:
        code = take(client, link(client))["code"]
        link(client, 2)
    rows = list(
        csv.DictReader(io.StringIO(run("study", "status", str(path), "--to", "csv").stdout))
    )
    assert [row["code"] for row in rows] == [code, ""]


def test_answers_to_other_trials_than_planned_are_refused(folder: Path) -> None:
    path, address = study(folder, "acr", MORE), str(folder / "study.db")
    with served(path, address) as client:
        take(client, link(client))
    with Store.open(address) as store:
        digest = stored_answers(path, address).design.study.digest
        [first] = [one for one in store.history(digest) if one.answer.page == "1.1"]
        other: dict[str, Any] = {**(first.answer.heard or {}), "item": "zzz"}
        store.correct_answer(replace(first.answer, heard=other), "other", first.id)
    with pytest.raises(InputError, match="zzz as"):
        study_analyse((), study=path, db=address)
