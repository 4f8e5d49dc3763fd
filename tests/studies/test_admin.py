"""What the experimenter gets out of a store: links, who is where, answers, results."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from earwitness.analysis.evidence import PlaybackCounts
from earwitness.cli.main import group
from earwitness.core import Answer
from earwitness.errors import InputError, UsageError
from earwitness.output_formats import render
from earwitness.store.records import ParticipationState
from earwitness.store.store import Store
from earwitness.studies.admin import (
    complete_base,
    stored_answers,
    study_export,
    study_links,
    study_status,
)
from earwitness.studies.agree import agree
from earwitness.studies.analyse import study_analyse
from earwitness.studies.answers import read_answers as read_answers_file
from earwitness.studies.changes import changed_audio_notes, record_version
from earwitness.studies.design.report import study_design
from earwitness.studies.file.page_checks import page_sound_names
from earwitness.studies.file.reader import read_study
from earwitness.studies.from_answers import (
    comments_from_answers,
    rating_records,
    study_ratings,
)
from earwitness.studies.pages import pages
from earwitness.studies.trials import KINDS
from helpers.http_listener import join, link, plays, served, site_of, take
from helpers.store_answers import ask
from helpers.study_files import sound
from helpers.study_listener import Anyone, answer_study, study

MORE = "rest_minutes: 0\ndevice: [level, huggins]\nfeedback: true\n"


def run(*arguments: str) -> Result:
    """A command, which must go well."""
    done = CliRunner().invoke(group, [*arguments], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def rows(*arguments: str) -> list[dict[str, str]]:
    """A table that a command prints."""
    return list(csv.DictReader(io.StringIO(run(*arguments, "--to", "csv").stdout)))


def read_answers(path: Path, out: Path) -> list[Answer]:
    """The answers of a file."""
    return list(read_answers_file(out, read_study(path).digest).values())


@pytest.mark.parametrize("kind", ["p835", "acr"])
def test_answers_of_the_browser_and_of_a_file_give_the_same_results(
    folder: Path, address: str, kind: str
) -> None:
    path, file, out = study(folder, kind, MORE), folder / "file.jsonl", folder / "out.jsonl"
    with served(path, address) as client:
        for listener in (2, 1):
            take(client, link(client, listener), Anyone(seed=listener))
    for listener in (1, 2):
        answer_study(path, listener, file, Anyone(seed=listener))
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
    assert {one.inputs[0].name.startswith("answers exported from ") for one in results} == {
        False,
        True,
    }
    assert results[1].comments == results[2].comments != ()
    # the file has no comments
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
    assert [one["listener"] for one in rows(*command, "--listener", "1")] == ["1"]
    with served(path, address, open=1) as client:
        assert site_of(client).store.count_free_places(site_of(client).digest) == 1
        join(client)
    done = CliRunner().invoke(group, [*command, "--listener", "1-3"])
    assert "listener: unknown listener 3 — known: 1 to 2" in str(done.exception)
    done = CliRunner().invoke(group, [*command, "--listener", "1", "--take-back", "1"])
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
            == first["total"]
            == str(len(site_of(client).page_sequence(1).answerable))
        )
        assert (first["state"], second["state"]) == ("finished", "joined")
        assert int(second["answered"]) < int(second["total"])
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
    told = {one["listener"]: one["total"] for one in study_status(path, db)}
    assert told == {number: len(shown) - 1 for number, shown in known.items()}
    assert len(told) == 5


def test_pages_of_plans_that_were_made_elsewhere_are_counted_one_by_one(folder: Path) -> None:
    made = study_design(study(folder, "acr", MORE))
    first, second = made.plans
    other = replace(second, sessions=(second.sessions[0][:1],), training=())
    planned, db = replace(made.study, plans=(first, other)), folder / "study.db"
    study_links(planned, db)
    slow = [len([*pages(planned, plan, lambda *_: "")]) - 1 for plan in planned.plans]
    assert [one["total"] for one in study_status(planned, db)] == slow
    assert slow[0] != slow[1]


def test_who_did_not_hear_to_the_end_is_screened_out_of_the_store(
    folder: Path, address: str
) -> None:
    path = study(folder, "p835", MORE + "screening: [{rule: unheard}]\n")
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 3\n"))
    with served(path, address) as client:
        for listener in (1, 2, 3):
            take(client, link(client, listener), hear=True)
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
    assert "screening excluded 1 rater" in beside.notes
    assert "unheard: playback was not recorded for 1 answer" in beside.notes
    out = folder / "out.jsonl"
    run("study", "export", str(path), "--db", address, "-o", str(out))
    from_file = study_analyse(out, study=path)  # which has no plays
    assert "unheard: not applied: playback was not recorded" in from_file.notes
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    [marked] = [one for one in lines if (one["listener"], one["page"]) == (3, "1.2")]
    marked["unheard"] = {"unsent": [0]}
    out.write_text("".join(json.dumps(one) + "\n" for one in lines))
    from_file = study_analyse(out, study=path)
    [verdict] = {one.figures for one in from_file.screened}
    assert verdict.startswith("3 of 12 sounds not played to the end, 3 of them reported as played")
    assert from_file.left == (3,)
    assert "unheard: 2 listeners kept whose playback was not recorded" in from_file.notes


@pytest.mark.parametrize("kind", KINDS)
def test_plays_are_counted_by_what_the_server_asks_for(folder: Path, kind: str) -> None:
    for file in folder.rglob("*.wav"):
        sound(file, 0.05)  # so short that nobody has to wait
    path, db = study(folder, kind, MORE), str(folder / "study.db")
    with served(path, db) as client:
        sequence = site_of(client).page_sequence(1)
        take(client, link(client), hear=True)
    views = [sequence.content(place).page for place in range(len(sequence.outline.names))]
    wanted = [len(plays(page.view)) for page in views if page.counts]
    assert stored_answers(path, db).plays() == {1: PlaybackCounts(0, sum(wanted))}


def test_who_is_blocked_is_let_in_again(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    command = ["study", "links", str(path), "--db", address, "--unblock", "1"]
    with served(path, address, on_return="block") as client:
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
    command = ("study", "export", str(path), "--db", address, "--content", "all")
    records = [json.loads(line) for line in run(*command).stdout.splitlines()]
    kinds = [one["record"] for one in records]
    assert {"study", "listener", "answer", "event"} == {*kinds}
    comments = [one["meta"]["comment"] for one in records if one.get("meta")]
    assert len(comments) == 5
    assert not any("token" in one for one in records)
    export = run("study", "export", str(path), "--db", address)
    silent = kinds.count("answer") - len(export.stdout.splitlines())
    assert silent > 0
    assert f"note: {silent} pages without questions" in export.stderr
    assert "--content all" in export.stderr


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
    verbs = (["status"], ["export"], ["export", "--content", "all"])
    commands = [["study", *verb, str(path)] for verb in verbs]
    before = [run(*command).stdout for command in commands]
    for file in folder.glob("*/*.wav" if table else "C1/*.wav"):
        file.unlink()
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


ODD_ID = "=cmd|' /C calc'!A0\x1b[2J\r=1+1"


def test_ids_from_outside_do_no_harm_in_terminals_and_spreadsheets(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", MORE)
    with served(path, address, open=2) as client:
        join(client, "?PROLIFIC_PID=odd")
        join(client, "?PROLIFIC_PID=-5")
    quoted = ODD_ID.replace("'", "''")
    ask(address, f"UPDATE listeners SET outside = '{quoted}' WHERE outside = 'odd'")
    for verb in ("status", "links"):
        command = ("study", verb, str(path), "--db", address)
        shown = run(*command).stdout
        assert "\x1b" not in shown
        assert len(shown.splitlines()) == 3
        assert "A0\\u001b[2J\\r=1+1" in shown
        assert [row["external ID"] for row in rows(*command)] == ["'" + ODD_ID, "-5"]
        told = json.loads(run(*command, "--to", "json").stdout)
        assert [one["external ID"] for one in told] == [ODD_ID, "-5"]


def test_comments_are_exported_and_read_again(folder: Path, address: str) -> None:
    path, out = study(folder, "acr", MORE), folder / "out.jsonl"
    with served(path, address) as client:
        take(client, link(client))
    run("study", "export", str(path), "--db", address, "-o", str(out))
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert {one["comment"] for one in lines if "comment" in one} == {'ünï "&+%" 🙂'}
    assert all(("comment" in one) is ("heard" in one) for one in lines)
    comments = list(comments_from_answers(read_answers(path, out)))
    assert len(comments) == 4


def test_who_was_replaced_is_shown_and_does_not_count(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    with served(path, address, open=1) as client:
        take(client, join(client, "?PROLIFIC_PID=a"), stop="1.1")
        for table, column in (("answers", "received"), ("events", "received")):
            ask(address, f"UPDATE {table} SET {column} = '2020'")
        ask(address, "UPDATE listeners SET joined = '2020'")
        own = join(client, "?PROLIFIC_PID=b")
        client.cookies.clear()
        assert client.get("/join?PROLIFIC_PID=b").status_code == 403
        take(client, own)
    told = study_status(path, address)
    names = ("listener", "state", "external ID", "repeats")
    assert [tuple(one[name] for name in names) for one in told] == [
        (2, "lapsed", "a", 0),
        (2, "finished", "b", 1),
    ]
    assert 0 < told[0]["answered"] < told[1]["answered"] == told[1]["total"]
    [link_of_b] = [one for one in study_links(path, address, listener="1") if one["external ID"]]
    assert (link_of_b["listener"], link_of_b["link"]) == (2, own)
    assert {one.listener for one in stored_answers(path, address).answers} == {2}
    assert len({one["page"] for one in study_export(path, address)}) == len(
        study_export(path, address)
    )


def test_new_links_work_while_the_study_is_served(folder: Path, address: str) -> None:
    path = study(folder, "acr", MORE)
    with served(path, address) as client:
        for number in (2, 3):
            text = path.read_text().replace("listeners: 2\n", f"listeners: {number}\n")
            path.write_text(text)
            own = study_links(path, address)[number - 1]["link"]
            assert client.get(own).status_code == 200
        assert take(client, own)["done"]
        with Store.open(address) as store:
            [missing] = store.add_listeners(site_of(client).digest, [9])
        assert client.get(f"/l/{missing.token}").status_code == 404
        path.write_text(path.read_text() + "seed: 3\n")  # another study
        assert client.get(f"/l/{missing.token}").status_code == 404
        assert client.get(own).status_code == 200


def test_texts_that_change_with_the_number_of_listeners_are_recorded(folder: Path) -> None:
    path, address = study(folder, "acr", MORE), str(folder / "study.db")
    serve_version(path, address)
    with served(path, address) as client:
        take(client, link(client))
        text = path.read_text().replace("listeners: 2\n", "listeners: 3\n")
        path.write_text(text.replace("Listen well.", "Listen carefully."))
        own = study_links(path, address)[2]["link"]
        assert client.get(own).status_code == 200
        found = site_of(client).store.texts(site_of(client).digest)
        assert [one.texts["instructions"] for one in found] == ["Listen well.", "Listen carefully."]


def test_who_runs_the_study_can_check_completion_codes(folder: Path) -> None:
    path, address = study(folder, "acr", MORE), str(folder / "study.db")
    with served(path, address) as client:
        code = take(client, link(client))["code"]
        link(client, 2)
    rows = list(
        csv.DictReader(io.StringIO(run("study", "status", str(path), "--to", "csv").stdout))
    )
    assert [row["code"] for row in rows] == [code, ""]


# --- changes during a study


def serve_version(path: Path, address: str) -> list[str]:
    """Record what is served, as the server does; what it says of changed audio."""
    design = study_design(read_study(path))
    with Store.open(address) as store:
        store.add_study(design.study.digest, design.study.title)
        record_version(store, design.study, page_sound_names(design), path.parent)
        return changed_audio_notes(store, design.study, path.parent)


def alter(path: Path) -> None:
    """Change a sound, but not its length."""
    path.write_bytes(path.read_bytes()[:-2] + b"\1\1")


def test_audio_that_changed_since_the_first_answer_is_told_by_name(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", "rest_minutes: 0\n")
    assert serve_version(path, address) == []
    alter(folder / "C0" / "a.wav")
    assert serve_version(path, address) == []  # nobody has heard it yet
    with served(path, address) as client:
        take(client, link(client))
    assert serve_version(path, address) == []
    alter(folder / "C0" / "b.wav")
    command = ("study", "status", str(path), "--db", address)
    assert "1 audio file changed since the first answer: C0/b.wav (not served yet)" in (
        run(*command).stderr
    )
    [told] = serve_version(path, address)
    assert told.startswith("1 audio file changed since the first answer: C0/b.wav (served since 20")
    (folder / "C1" / "a.wav").unlink()
    with Store.open(address) as store:
        [told] = changed_audio_notes(store, read_study(path, heard=False), folder)
    assert "C1/a.wav (cannot be read)" in told
    sound(folder / "C1" / "a.wav")
    checked = run("study", "check", str(path), "--db", address)
    assert "1 audio file changed since the first answer" in checked.stderr
    kinds = [one["record"] for one in study_export(path, address, content="all")]
    assert kinds.count("texts") == 1
    assert kinds.count("audio") > 4


def test_restored_audio_is_told_only_if_the_other_version_was_answered(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", "rest_minutes: 0\n")
    serve_version(path, address)
    with served(path, address) as client:
        take(client, link(client))
    file = folder / "C0" / "b.wav"
    first = file.read_bytes()
    alter(file)
    assert len(serve_version(path, address)) == 1
    file.write_bytes(first)
    command = ("study", "status", str(path), "--db", address)
    assert "audio file" not in run(*command).stderr
    assert serve_version(path, address) == []
    alter(file)
    serve_version(path, address)
    with served(path, address) as client:
        take(client, link(client, 2))
    changed, answered = serve_version(path, address)
    assert changed.startswith("1 audio file changed since the first answer: C0/b.wav (served since")
    assert re.search(r"C0/b\.wav \(\d+ of \d+ trials since 20[^ ]{14}\)$", answered)
    file.write_bytes(first)
    [told] = serve_version(path, address)
    with Store.open(address) as store:
        stored = store.counted_answers(read_study(path).digest)
    answers = [one for one in stored if one.answer.heard is not None]  # to trials
    assert len(answers) < len(stored)
    own = sum(one.answer.listener == 2 for one in answers)
    assert re.fullmatch(
        r"1 audio file changed while listeners answered: C0/b\.wav "
        rf"\({own} of {len(answers)} trials from 20[^ ]{{14}} to 20[^ ]{{14}}\)",
        told,
    )
    assert told in study_analyse((), study=path, db=address).notes


def test_check_looks_into_the_database_next_to_the_study(folder: Path) -> None:
    path, file = study(folder, "acr", "rest_minutes: 0\n"), folder / "study.db"
    serve_version(path, str(file))
    with served(path, str(file)) as client:
        take(client, link(client))
    checked = run("study", "check", str(path))
    assert checked.stderr == f"preview: earwitness serve {path} --preview\n"
    alter(folder / "C0" / "b.wav")
    assert "1 audio file changed since the first answer" in run("study", "check", str(path)).stderr
    file.write_bytes(b"not a database")
    checked = run("study", "check", str(path))
    assert checked.exit_code == 0
    assert checked.stderr.startswith("note: changes of audio were not checked: ")


def test_a_new_wording_keeps_links_and_answers_and_is_told(folder: Path, address: str) -> None:
    path = study(folder, "acr", "rest_minutes: 0\n")
    serve_version(path, address)
    with served(path, address) as client:
        own = link(client)
        take(client, own)
    path.write_text(path.read_text().replace("Listen well.", "Listen carefully."))
    serve_version(path, address)
    with served(path, address) as client:
        assert client.get(f"{own}/state").json()["done"]
        take(client, link(client, 2))
    results = study_analyse((), study=path, db=address)
    [note] = [one for one in results.notes if one.startswith("texts changed at 20")]
    assert re.search(r", after (\d+) of (\d+) answers: instructions$", note)


def test_digits_of_the_hearing_test_are_among_the_audio_files(folder: Path) -> None:
    (folder / "digits").mkdir()
    for digit in range(10):
        (folder / "digits" / f"{digit}.wav").write_bytes((folder / "C0" / "a.wav").read_bytes())
    path = study(folder, "acr", 'hearing: {digits: "digits/{digit}.wav"}\n')
    names = page_sound_names(study_design(read_study(path)))
    assert {"C0/a.wav", "digits/0.wav", "digits/9.wav"} <= set(names)


@pytest.mark.parametrize(
    ("base", "completed"),
    [
        ("", ""),
        ("localhost:9000/test/", "http://localhost:9000/test"),
        ("127.0.0.1", "http://127.0.0.1:8000"),
        ("https://listen.example.org/", "https://listen.example.org"),
        ("http://localhost", "http://localhost"),
    ],
)
def test_the_base_of_links_is_completed_for_this_machine(base: str, completed: str) -> None:
    assert complete_base(base) == completed


@pytest.mark.parametrize("base", ["listen.example.org", "ftp://example.org", "https://", "local"])
def test_other_bases_of_links_are_refused(base: str) -> None:
    with pytest.raises(UsageError, match="is no web address — write it as in https://"):
        complete_base(base)
