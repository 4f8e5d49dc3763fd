"""Forms that end a test politely, trials with known answers, and own results, over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from earwitness.store.records import ParticipationState
from earwitness.studies.analyse import study_analyse
from helpers.http_listener import answer, join, link, served, site_of, take
from helpers.study_files import sound
from helpers.study_listener import Anyone, study

RULE = 'prompt: "Your age?", answer: number'
CHECKS = "file,role,scale,value\nchecks/g.wav,gold,,5\nchecks/t.wav,trap,,2\n"
QUALITY = "rest_minutes: 0\nquality: {clips: checks.csv, repeats: 0.2, results: true}\n"


def selective(folder: Path, more: str = "") -> Path:
    """A study for people from 18 to 65."""
    path = study(folder, "acr", "rest_minutes: 0\n" + more)
    path.write_text(path.read_text().replace(RULE, f"{RULE}, eligible: {{min: 18, max: 65}}"))
    return path


def answer_form(client: TestClient, own: str, age: float) -> tuple[dict[str, Any], Any]:
    """Agree unless that was done, then answer the form; returns the answer and the reply."""
    page = client.get(f"{own}/state").json()["page"]
    if page["kind"] == "consent":
        sent = answer(page, {"agree": True})
        page = client.post(f"{own}/answers", json=sent).json()["state"]["page"]
    sent = answer(page, {"age": age, "ears": "two"})
    return sent, client.post(f"{own}/answers", json=sent)


def test_who_may_not_take_part_ends_politely_and_leaves_nothing(folder: Path, address: str) -> None:
    path = selective(folder, "quality: {ineligible_code: C0DE}\n")
    with served(path, address) as client:
        own = link(client)
        page = client.get(f"{own}/state").json()["page"]
        client.post(f"{own}/answers", json=answer(page, {"agree": True}))
        events = {"id": "12345678", "events": [{"kind": "device", "page": ""}]}
        assert client.post(f"{own}/events", json=events).json()["status"] == "stored"
        sent, reply = answer_form(client, own, 17)
        assert (reply.status_code, reply.json()["status"]) == (200, "ineligible")
        state = reply.json()["state"]
        assert (state["page"], state["code"], state["done"]) == (None, None, False)
        assert state["ineligible"]["code"] == "C0DE"
        assert "Your age" not in state["ineligible"]["text"]
        site = site_of(client)
        assert not site.store.history(site.digest)
        assert not site.store.events(site.digest, 1)
        [status, *_] = site.store.status(site.digest)
        assert status.listener.state == ParticipationState.INELIGIBLE

        again = client.post(f"{own}/answers", json=sent).json()  # the first reply was lost
        assert again == reply.json()
        other = {**sent, "id": "another-id", "values": {"age": 30, "ears": "two"}}
        assert client.post(f"{own}/answers", json=other).json()["status"] == "ineligible"
        event = {"id": "87654321", "events": [{"kind": "device", "page": ""}]}
        assert client.post(f"{own}/events", json=event).status_code == 409
        assert client.get(f"{own}/state?visit=12345678").json()["ineligible"] is not None
        assert not site.store.history(site.digest)
        assert not site.store.events(site.digest, 1)


@pytest.mark.parametrize("age", [18, 65])
def test_who_may_take_part_goes_on(folder: Path, address: str, age: float) -> None:
    with served(selective(folder), address) as client:
        own = link(client)
        sent, reply = answer_form(client, own, age)
        assert reply.json()["status"] == "stored"
        other = {**sent, "id": "another-id", "values": {"age": 3, "ears": "two"}}
        assert client.post(f"{own}/answers", json=other).json()["status"] == "taken"
        assert take(client, own)["done"]


def test_the_form_cannot_be_tried_again_by_the_open_link(folder: Path, address: str) -> None:
    with served(selective(folder), address, open=2) as client:
        own = join(client, "?PROLIFIC_PID=p1")
        answer_form(client, own, 99)
        shown = client.get("/join?PROLIFIC_PID=p1", follow_redirects=False)
        assert shown.headers["location"] == own
        assert client.get(f"{own}/state").json()["ineligible"] is not None


def test_the_place_of_who_may_not_take_part_is_free_again(folder: Path, address: str) -> None:
    with served(selective(folder), address, open=1) as client:
        first = join(client, "?PROLIFIC_PID=p1")
        answer_form(client, first, 99)
        assert join(client, "?PROLIFIC_PID=p2") != first
        assert client.get("/join?PROLIFIC_PID=p3").status_code == 403
        assert client.get(f"{first}/state").json()["ineligible"] is not None


def test_known_answers_are_hidden_counted_and_screened(folder: Path, address: str) -> None:
    for name in "gt":
        sound(folder / "checks" / f"{name}.wav")
    (folder / "checks.csv").write_text(CHECKS)
    path = study(folder, "acr", QUALITY.replace("quality: {", "quality: {gold: 1, "))
    path.write_text(
        path.read_text().replace("clips: 2\n    sessions: 2", "clips: 3\n    sessions: 1")
    )
    with served(path, address) as client:
        own, anyone = link(client), Anyone()
        end = take(client, own, anyone)
        seen = repr(anyone.seen)
        assert "gold" not in seen
        assert "trap" not in seen
        assert "checks" not in seen
        # 6 trials of the block, 1 repeated; gold and trap do not count
        assert sum(row["count"] for row in end["results"][0]["rows"]) == 7
        assert [scale["title"] for scale in end["results"]] == [
            site_of(client).words.prompt("QUALITY")
        ]
        results = study_analyse(
            study=path, db=address, screening=["p808_complete", "hasty"], mixed=False
        )
        votes = sum(mean.votes for mean in results.scales[0].systems.values())
        assert (votes, len(results.doubled)) == (6, 1)
        rules = {verdict.rule: verdict.figures for verdict in results.screened}
        assert rules["gold"].startswith(("0 of 1 answer", "1 of 1 answer"))
        assert rules["traps"].startswith(("0 of 1 answer", "1 of 1 answer"))
        assert "of 7 trials answered faster" in rules["hasty"]


def test_results_are_shown_only_where_the_study_asks_for_them(folder: Path, address: str) -> None:
    with served(study(folder, "acr", "rest_minutes: 0\n"), address) as client:
        assert take(client, link(client))["results"] is None


@pytest.mark.parametrize(("limit", "status"), [(-8.0, "stored"), (-10.0, "ineligible")])
def test_a_hearing_test_is_stored_or_ends_the_test(
    folder: Path, address: str, limit: float, status: str
) -> None:
    for digit in range(10):
        sound(folder / "digits" / f"{digit}.wav")
    more = f'hearing: {{digits: "digits/{{digit}}.wav", triplets: 8, max_srt: {limit}}}\n'
    with served(study(folder, "acr", "rest_minutes: 0\n" + more), address) as client:
        own = link(client)
        state = client.get(f"{own}/state").json()
        for values in ({"agree": True}, {"age": 30, "ears": "two"}, {}):
            sent = answer(state["page"], values)
            state = client.post(f"{own}/answers", json=sent).json()["state"]
        page = state["page"]
        bare = {name: value for name, value in page.items() if name != "sounds"}
        assert (page["kind"], len(page["sounds"])) == ("hearing", 10)
        assert client.get(page["sounds"][9]["address"]).status_code == 200
        right = ["".join(map(str, triplet)) for triplet in page["triplets"]]
        values = {"responses": [*right[:5], "000", right[6], "000"], "srt": -8.8}
        lie = answer(bare, {**values, "srt": -12})
        assert client.post(f"{own}/answers", json=lie).status_code == 422
        reply = client.post(f"{own}/answers", json=answer(bare, values)).json()
        assert reply["status"] == status
        assert (reply["state"]["ineligible"] is None) == (status == "stored")
        if status == "stored":
            assert take(client, own)["done"]
