"""The open link: who gets a place and when, what ids open, and what is stored before consent."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from earwitness.store.records import ParticipationState
from helpers.http_listener import answer, consent, join, link, served, site_of, start, take
from helpers.store_answers import ask
from helpers.study_listener import study

NO_REST = "rest_minutes: 0\n"
NO_FIRST_PAGES = (("consent: I may stop at any time.\n", ""), ("instructions: Listen well.\n", ""))
LONG_AGO = "2020-01-01T00:00:00.000+00:00"


def several(folder: Path, count: int) -> Path:
    """A study for several listeners."""
    path = study(folder, "acr", NO_REST)
    path.write_text(path.read_text().replace("listeners: 2\n", f"listeners: {count}\n"))
    return path


def states(client: TestClient) -> list[tuple[int, str, str | None]]:
    """Number, state and claimed id of everybody."""
    site = site_of(client)
    people = [one.listener for one in site.store.status(site.digest)]
    return [(one.plan_number, one.state.value, one.outside) for one in people]


def everything(client: TestClient) -> str:
    """All that is stored."""
    site = site_of(client)
    return json.dumps(list(site.store.export(site.digest, private=True)))


def visit(client: TestClient, count: int) -> list[str]:
    """Press Start in so many browsers; the visitors' own addresses."""
    visitors = list[str]()
    for _ in range(count):
        visitors.append(start(client))
        client.cookies.clear()
    return visitors


def make_idle(address: str, table: str, where: str = "1 = 1") -> None:
    """Let what was stored be long ago."""
    column = "joined" if table == "listeners" else "received"
    ask(address, f"UPDATE {table} SET {column} = '{LONG_AGO}' WHERE {where}")


def test_places_go_to_whoever_consents_until_there_are_no_more(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address, open=2) as client:
        first = join(client)
        for again in (client.get, client.post, client.head):
            assert again("/join", follow_redirects=False).headers["location"] == first
        client.cookies.clear()
        second = join(client, "?PROLIFIC_PID=a")
        assert second != first
        for again in (client.get, client.post):
            got = again("/join?PROLIFIC_PID=a", follow_redirects=False)
            assert got.headers["location"] == second
        for again in (client.get, client.post):
            full = again("/join?PROLIFIC_PID=b")
            assert (full.status_code, "All places in this test" in full.text) == (403, True)
        assert take(client, first)["done"]
        assert take(client, second)["done"]
        assert states(client) == [(1, "finished", None), (2, "finished", "a")]


@pytest.mark.parametrize(
    "id", ["5f8a%0D=1%2B1", "a%0Ab", "%00", "%1B", "%C2%85", "%E2%80%A8", "x" * 201]
)
def test_ids_with_control_characters_are_refused_and_the_page_says_why(
    folder: Path, id: str
) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "study.db"), open=2) as client:
        before = everything(client)
        for again in (client.get, client.post):
            shown = again(f"/join?PROLIFIC_PID={id}", headers={"accept": "text/html"})
            assert shown.status_code == 400
            assert "participant ID contains a line break or another control" in shown.text
        error = client.get(f"/join?PROLIFIC_PID={id}").json()["error"]
        assert error["code"] == "bad_id"
        assert error["message"].startswith("participant ID ")
        assert everything(client) == before


def test_nothing_is_stored_before_consent(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address, open=2) as client:
        personal, before = link(client), everything(client)
        shown = client.get("/join?PROLIFIC_PID=a")
        assert "set-cookie" not in shown.headers
        visitor = start(client, "?PROLIFIC_PID=a").partition("?")[0]
        event = {"id": "an-event-id", "events": [{"kind": "device", "page": "consent"}]}
        for own in (visitor, personal):
            assert client.get(own).status_code == 200
            state = client.get(f"{own}/state?visit=first-visit").json()
            assert (state["page"]["kind"], state["answered"]) == ("consent", 0)
            assert client.post(f"{own}/events", json=event).status_code == 409
            wrong = answer(state["page"], {"agree": False})
            assert client.post(f"{own}/answers", json=wrong).status_code == 422
            later = answer({"name": "before"}, {"age": 30, "ears": "two"})
            assert client.post(f"{own}/answers", json=later).status_code == 409
        assert client.get(f"{visitor}/sound/training.1/0").status_code == 403
        assert client.get(f"{visitor}/state").json()["ahead"] == []
        left = client.post(f"{visitor}/withdraw", json={"confirm": True}).json()
        assert (left["withdrawn"], left["page"]) == (True, None)
        assert everything(client) == before
        assert consent(client, f"{visitor}?claim=a").status_code == 200
        assert client.post(f"{visitor}/events", json=event).status_code == 200


@pytest.mark.parametrize("lines", [NO_FIRST_PAGES, NO_FIRST_PAGES[:1]])
def test_without_a_consent_text_the_first_page_takes_a_place(
    folder: Path, lines: tuple[tuple[str, str], ...]
) -> None:
    path = study(folder, "acr", NO_REST + "device: [sides]\n")
    text = path.read_text()
    for line in lines:
        text = text.replace(*line)
    head, _, tail = text.partition("forms:\n")
    path.write_text(head + tail[tail.index("blocks:") :])
    with served(path, str(folder / "store.db"), open=2) as client:
        visitor = start(client)
        assert states(client) == [(1, "open", None), (2, "open", None)]
        assert consent(client, visitor).json()["status"] == "stored"
        assert states(client) == [(1, "joined", None), (2, "open", None)]
        assert take(client, visitor)["done"]


def test_a_first_answer_to_what_was_drawn_is_known_when_it_is_sent_again(folder: Path) -> None:
    path = study(folder, "acr", NO_REST + "device: {steps: [huggins], require: [huggins]}\n")
    text = path.read_text()
    for line in NO_FIRST_PAGES:
        text = text.replace(*line)
    head, _, tail = text.partition("forms:\n")
    path.write_text(head + tail[tail.index("blocks:") :])
    with served(path, str(folder / "store.db"), open=2) as client:
        visitor = start(client)
        page = client.get(f"{visitor}/state").json()["page"]
        sent = answer(page, {"huggins": page["trials"]["huggins"]})
        replies = [client.post(f"{visitor}/answers", json=sent).json() for _ in range(2)]
        assert [one.get("status") for one in replies] == ["stored", "known"]


def test_the_cookie_lasts_only_from_consent_on(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=2) as client:
        started = client.post("/join", follow_redirects=False)
        before = started.headers["set-cookie"]
        assert "HttpOnly" in before
        assert "SameSite=lax" in before
        assert "Max-Age" not in before
        after = consent(client, started.headers["location"]).headers["set-cookie"]
        assert "Max-Age=31536000" in after
        assert after.partition(";")[0] == before.partition(";")[0]


def test_an_id_opens_nobody_elses_session(folder: Path, address: str) -> None:
    with served(several(folder, 3), address, open=3) as client:
        own = join(client, "?PROLIFIC_PID=5f8a")
        known = dict(client.cookies)
        client.cookies.clear()
        for again in (client.get, client.post):
            got = again("/join?PROLIFIC_PID=5f8a", follow_redirects=False)
            assert (got.status_code, "location" in got.headers) == (403, False)
            assert "already started this test with your participant ID" in got.text
            assert own not in got.text
        late = start(client, "?PROLIFIC_PID=other").partition("?")[0]
        refused = consent(client, f"{late}?claim=5f8a")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "started")
        told = refused.json()["state"]
        assert (told["shut"], told["page"], told["answered"]) == ("started", None, 0)
        assert [one for one in states(client) if one[1] != "open"] == [(1, "joined", "5f8a")]
        site = site_of(client)
        assert site.store.status(site.digest)[0].listener.repeats == 3
        client.cookies.update(known)
        got = client.get("/join?PROLIFIC_PID=5f8a", follow_redirects=False)
        assert got.headers["location"] == own
        assert client.get("/join?PROLIFIC_PID=other", follow_redirects=False).status_code == 200


def test_two_people_may_share_a_browser(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=2) as client:
        links = {name: join(client, f"?PROLIFIC_PID={name}") for name in "ab"}
        for name, own in links.items():
            got = client.get(f"/join?PROLIFIC_PID={name}", follow_redirects=False)
            assert got.headers["location"] == own


@pytest.mark.parametrize("queries", [("?PROLIFIC_PID=a", ""), ("", "?PROLIFIC_PID=a")])
def test_a_browser_finds_its_place_with_and_without_an_id(
    folder: Path, queries: tuple[str, str]
) -> None:
    first, later = queries
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=2) as client:
        own = join(client, first)
        for again in (client.get, client.post):
            for query in (later, first):
                got = again(f"/join{query}", follow_redirects=False)
                assert got.headers["location"] == own
        client.post(f"{own}/withdraw", json={"confirm": True})
        assert client.get(f"/join{later}", follow_redirects=False).headers["location"] == own


def test_another_id_in_a_browser_is_another_person(folder: Path) -> None:
    with served(several(folder, 3), str(folder / "store.db"), open=3) as client:
        own = join(client, "?PROLIFIC_PID=a")
        client.post(f"{own}/withdraw", json={"confirm": True})
        other = join(client, "?PROLIFIC_PID=b")
        assert other != own
        assert client.get("/join", follow_redirects=False).headers["location"] == other


@pytest.mark.parametrize("token", ["x" * 48, "x" * 32, "x" * 24])
def test_only_the_server_makes_links(folder: Path, token: str) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=2) as client:
        assert client.get(f"/l/{token}").status_code == 404
        client.cookies.set("earwitness_place", token)
        assert token not in client.post("/join", follow_redirects=False).headers["location"]


def test_a_visitor_can_start_before_and_consent_after_a_restart(folder: Path) -> None:
    path, store = study(folder, "acr", NO_REST), str(folder / "store.db")
    with served(path, store, open=1) as client:
        visitor = start(client)
    with served(path, store, open=1) as client:
        assert consent(client, visitor).json()["status"] == "stored"
    with served(path, store) as client:
        assert take(client, visitor)["done"]


def test_two_tabs_take_one_place(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address, open=2) as client:
        tabs = [start(client), start(client)]
        assert tabs[0] == tabs[1]
        page = client.get(f"{tabs[0]}/state").json()["page"]
        sent = [answer(page, {"agree": True}) for _ in tabs]
        with ThreadPoolExecutor(2) as pool:
            replies = pool.map(lambda one: client.post(f"{tabs[0]}/answers", json=one), sent)
            assert sorted(one.json()["status"] for one in replies) == ["stored", "taken"]
        assert states(client) == [(1, "joined", None), (2, "open", None)]


def test_of_many_who_consent_at_once_as_many_get_in_as_there_are_places(
    folder: Path, address: str
) -> None:
    with served(several(folder, 20), address, open=20) as client:
        visitors = visit(client, 50)

        def agree(visitor: str) -> Any:
            sent = answer({"name": "consent"}, {"agree": True})
            return client.post(f"{visitor}/answers", json=sent)

        with ThreadPoolExecutor(16) as pool:
            replies = list(pool.map(agree, visitors))
        assert sorted(one.status_code for one in replies) == [200] * 20 + [409] * 30
        refused = [one.json() for one in replies if one.status_code == 409]
        assert {one["state"]["shut"] for one in refused} == {"full"}
        assert len(states(client)) == 20
        site = site_of(client)
        assert len(site.store.history(site.digest)) == 20
        late = visitors[[one.status_code for one in replies].index(409)]
        assert client.get(f"{late}/state").json()["shut"] == "full"


def test_the_place_of_an_idle_listener_goes_to_another_and_answers_do_not_mix(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("earwitness.store.store.IDLE_SEARCH_HOURS", 0)
    with served(several(folder, 1), address, open=1, idle_hours=24) as client:
        site, own = site_of(client), join(client, "?PROLIFIC_PID=a")
        page = take(client, own, stop="1.2")["page"]
        client.cookies.clear()
        assert client.get("/join").status_code == 403
        make_idle(address, "answers")
        assert client.get("/join").status_code == 403  # joined now
        make_idle(address, "listeners")
        make_idle(address, "events")
        assert client.get("/join").status_code == 200
        assert client.get(f"{own}/state").json()["page"] == page  # until somebody else takes it
        other = join(client)
        state = client.get(f"{other}/state").json()
        assert (state["answered"], state["page"]["name"]) == (1, "before")
        assert states(client) == [(1, "lapsed", "a"), (1, "joined", None)]
        gone = client.get(f"{own}/state").json()
        assert (gone["shut"], gone["page"], gone["ahead"]) == ("lapsed", None, [])
        late = client.post(f"{own}/answers", json=answer(page, {"QUALITY": 1}))
        assert (late.status_code, late.json()["state"]["shut"]) == (409, "lapsed")
        assert client.get(f"{own}/sound/1.2/0").status_code == 403
        kept = [one for one in site.store.history(site.digest) if one.answer.listener != 1]
        assert len(kept) == 7
        assert [one.page for one in site.store.answers(site.digest)] == ["consent"]
        assert client.get("/join?PROLIFIC_PID=a").status_code == 403
        assert take(client, other)["done"]
        assert {one.listener for one in site.store.answers(site.digest)} == {1}
        client.post(f"{own}/withdraw", json={"confirm": True})
        assert client.get(f"{own}/state").json()["withdrawn"]
        assert {one.answer.listener for one in site.store.history(site.digest)} == {1}
        assert client.get(f"{other}/state").json()["done"]


def test_who_comes_back_in_time_or_has_finished_keeps_the_place(folder: Path, address: str) -> None:
    with served(several(folder, 3), address, open=3) as client:
        finished, back, never = (join(client, f"?PROLIFIC_PID={name}") for name in "abc")
        assert take(client, finished)["done"]
        for table in ("answers", "events", "listeners"):
            make_idle(address, table)
        site = site_of(client)
        assert site.store.count_free_places(site.digest, site.quota) == 2
        take(client, back, stop="training.1")
        assert site.store.count_free_places(site.digest, site.quota) == 1
        join(client, "?PROLIFIC_PID=d")
        assert client.get(f"{never}/state").json()["shut"] == "lapsed"
        assert client.get("/join?PROLIFIC_PID=e").status_code == 403
        assert take(client, back)["done"]


def test_without_an_idle_time_no_place_is_given_away(folder: Path, address: str) -> None:
    with served(several(folder, 1), address, open=1, idle_hours=0) as client:
        take(client, join(client, "?PROLIFIC_PID=a"), stop="instructions")
        for table in ("answers", "listeners"):
            make_idle(address, table)
        assert client.get("/join?PROLIFIC_PID=b").status_code == 403


def test_withdrawal_frees_the_place_but_not_for_the_same_id(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address, open=1) as client:
        own, site = join(client, "?PROLIFIC_PID=a"), site_of(client)
        take(client, own, stop="1.1")
        assert site.store.count_free_places(site.digest, site.quota) == 0
        client.post(f"{own}/withdraw", json={"confirm": True})
        assert site.store.count_free_places(site.digest, site.quota) == 1
        for again in (client.get, client.post):
            got = again("/join?PROLIFIC_PID=a", follow_redirects=False)
            assert (got.status_code, got.headers["location"]) == (303, own)
        client.cookies.clear()
        refused = client.get("/join?PROLIFIC_PID=a")
        assert (refused.status_code, "has withdrawn from this test" in refused.text) == (403, True)
        other = join(client, "?PROLIFIC_PID=b")
        assert client.get(f"{own}/state").json()["withdrawn"]
        assert states(client) == [(2, "withdrawn", None), (2, "joined", "b")]
        assert take(client, other)["done"]
        stored = site.store.answers(site.digest)
        client.post(f"{own}/withdraw", json={"confirm": True})  # again
        assert site.store.answers(site.digest) == stored


def test_the_quota_counts_who_holds_a_place(folder: Path, address: str) -> None:
    path = several(folder, 4)
    with served(path, address, open=3) as client:
        join(client, "?PROLIFIC_PID=a")
        known = dict(client.cookies)
        client.cookies.clear()
        join(client)
    for places, free in ((1, 0), (2, 0), (3, 1), (4, 2)):
        with served(path, address, open=places) as client:
            site = site_of(client)
            assert site.store.count_free_places(site.digest, site.quota) == free
            assert client.get("/join?PROLIFIC_PID=b").status_code == (200 if free else 403)
            client.cookies.update(known)
            got = client.get("/join?PROLIFIC_PID=a", follow_redirects=False)
            assert got.status_code == 303


def test_an_address_takes_only_so_many_places_within_an_hour(
    folder: Path, address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(several(folder, 4), address, open=4, places_per_address=2) as client:
        visitors = [start(client, f"?PROLIFIC_PID={name}") for name in "abc"]
        for visitor in visitors[:2]:
            assert consent(client, visitor).json()["status"] == "stored"
        refused = consent(client, visitors[2])
        error, state = refused.json()["error"], refused.json()["state"]
        assert (refused.status_code, error["code"], state["shut"]) == (429, "crowded", "crowded")
        assert error["remedy"] == "try again in 60 min"
        assert (state["minutes"], refused.headers["retry-after"]) == (60, "3600")
        for name in "ab":  # who has a place comes back
            got = client.get(f"/join?PROLIFIC_PID={name}", follow_redirects=False)
            assert (got.status_code, got.headers["location"][:3]) == (303, "/l/")
        assert consent(client, visitors[0]).json()["status"] == "stored"  # the next page
        client.cookies.clear()
        for again in (client.get, client.post):
            got = again("/join", follow_redirects=False)
            assert (got.status_code, got.headers["retry-after"]) == (429, "3600")
            assert "Please try again in 60 min." in got.text
        assert client.get("/join?PROLIFIC_PID=a").status_code == 403  # and not counted
        assert [state for _, state, _ in states(client)] == ["joined", "joined", "open", "open"]
    assert capsys.readouterr().err.count("2 places were taken from one address") == 1


def test_what_takes_no_place_does_not_count(folder: Path, address: str) -> None:
    with served(several(folder, 3), address, open=2, places_per_address=3) as client:
        join(client, "?PROLIFIC_PID=a")
        client.cookies.clear()
        [visitor] = visit(client, 1)
        late = start(client, "?PROLIFIC_PID=other").partition("?")[0]
        for _ in range(3):
            assert consent(client, f"{late}?claim=a").json()["error"]["code"] == "started"
        assert consent(client, visitor).status_code == 200


def test_of_many_from_one_address_at_once_as_many_get_in_as_the_limit_says(
    folder: Path, address: str
) -> None:
    with served(several(folder, 20), address, open=20, places_per_address=5) as client:
        visitors = visit(client, 16)
        with ThreadPoolExecutor(16) as pool:
            replies = list(pool.map(lambda one: consent(client, one), visitors))
        assert sorted(one.status_code for one in replies) == [200] * 5 + [429] * 11


def test_who_comes_back_to_a_place_that_was_given_away_unused_gets_another(
    folder: Path, address: str
) -> None:
    with served(several(folder, 2), address, open=1, idle_hours=0) as client:
        own = join(client)
        client.cookies.clear()
        for table in ("answers", "listeners"):
            make_idle(address, table)
        other = join(client)
        told = client.get(f"{own}/state?visit=first-visit").json()
        assert (told["shut"], told["page"]) == ("lapsed", None)
        client.post(f"{other}/withdraw", json={"confirm": True})
        told = client.get(f"{own}/state?visit=second-visit").json()
        assert (told["shut"], told["page"]["name"], told["answered"]) == ("", "before", 1)
        assert take(client, own)["done"]


@pytest.mark.parametrize(
    ("headers", "allowed", "status"),
    [
        ({"host": "192.0.2.1:8000"}, (), 303),
        ({"host": "[2001:db8::1]:8000"}, (), 303),
        ({"host": "LocalHost:8000"}, (), 303),
        ({"host": "study.localhost"}, (), 303),
        ({"host": "study.example.org"}, (), 403),
        ({"host": "study.example.org:8000"}, (), 403),
        ({"host": "Study.Example.org.:443"}, ("study.example.org",), 303),
        ({"host": "study.example.org.evil.example"}, ("study.example.org",), 403),
        ({"host": "evil.example", "origin": "http://evil.example"}, ("study.example.org",), 403),
        ({"host": "192.0.2.1.evil.example"}, (), 403),
        ({"host": "localhost.evil.example"}, (), 403),
        ({"host": "127.0.0.1", "x-forwarded-host": "study.example.org"}, (), 403),
        ({"host": "127.0.0.1", "x-forwarded-host": "b.org, a.org"}, ("a.org", "b.org"), 303),
        ({"host": "evil.example", "x-forwarded-host": "a.org"}, ("a.org",), 403),
        ({"host": "127.0.0.1", "x-forwarded-host": "<b>a"}, ("a",), 403),
    ],
)
def test_the_open_link_starts_at_numbers_and_at_names_that_are_allowed(
    folder: Path, headers: dict[str, str], allowed: tuple[str, ...], status: int
) -> None:
    path, store = study(folder, "acr", NO_REST), str(folder / "store.db")
    with served(path, store, open=1, allow_hosts=allowed) as client:
        got = client.post("/join", headers=headers, follow_redirects=False)
        assert got.status_code == status
        if status == 403:
            assert "<b>" not in got.text
            option = re.search(r"--allow-host ([^)]+)\.\)", got.text)
            assert option
            assert ":" not in option[1]


def test_to_look_at_the_open_link_takes_no_place(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address, open=2) as client:
        before = everything(client)
        for look in (client.get, client.head):
            for query in ("", "?PROLIFIC_PID=a", "?PROLIFIC_PID=%22%3E%3Cb%3E%26"):
                assert look(f"/join{query}", follow_redirects=False).status_code == 200
        assert everything(client) == before
        assert "<b>" not in client.get("/join?PROLIFIC_PID=%22%3E%3Cb%3E%26").text
        join(client, "?PROLIFIC_PID=%22%3E%3Cb%3E%26")
        assert states(client)[0][2] == '"><b>&'


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin", "origin": "null"}, 303),
        ({"origin": "http://testserver"}, 303),
        ({}, 303),  # no browser
        ({"sec-fetch-site": "cross-site", "origin": "http://testserver"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://elsewhere.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
def test_pages_of_other_sites_cannot_press_start(
    folder: Path, headers: dict[str, str], status: int
) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=1) as client:
        got = client.post("/join", headers=headers, follow_redirects=False)
        assert got.status_code == status


def test_the_page_of_the_open_link_speaks_the_language_of_the_study(folder: Path) -> None:
    path = study(folder, "acr", NO_REST + "language: fr\n")
    with served(path, str(folder / "store.db"), open=1) as client:
        shown = client.get("/join").text
        assert '<html lang="fr">' in shown
        assert ">Commencer</button>" in shown
        assert "<script" not in shown


def test_without_open_places_the_operator_is_told_how_to_open_some(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        assert [client.get("/join").status_code for _ in range(2)] == [404, 404]
    assert capsys.readouterr().err.count("serve with --open N") == 1


def test_another_service_may_name_people_otherwise(folder: Path) -> None:
    path, store = study(folder, "acr", NO_REST), str(folder / "store.db")
    with served(path, store, open=2, outside_id="participant") as client:
        join(client, "?participant=x")
        assert states(client)[0] == (1, ParticipationState.JOINED.value, "x")


@pytest.mark.parametrize("claim", [1, "\0", "x" * 300])
def test_claims_that_cannot_be_stored_are_refused(folder: Path, claim: object) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=1) as client:
        sent = answer({"name": "consent"}, {"agree": True}) | {"claim": claim}
        got = client.post(f"{start(client)}/answers", json=sent)
        assert got.status_code in (400, 422)
        assert states(client)[-1][1] == "open"
