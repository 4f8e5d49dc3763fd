"""Taking part over HTTP: whole studies, and everything that may happen meanwhile."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

from earwitness.errors import StoreError
from earwitness.store.records import SERVER_CLOCK, ParticipationState
from earwitness.store.status import read_last_time
from earwitness.store.store import Store
from earwitness.store.writer import JobResult
from earwitness.web.answer_checks import check_plays
from helpers.http_listener import answer, fetch_sounds, link, served, site_of, take
from helpers.study_files import sound
from helpers.study_listener import Anyone, study

NO_REST = "rest_minutes: 0\n"
ODD = [
    "a & b + c % d = \"e\" 'f' ; -- \\ ` ?",
    "%26 %00 {x} <script>alert(1)</script> &amp;",
    "🙂👩‍👩‍👧‍👦 é é 中文 עברית \u202e",
    "zero \0 byte, line\nend\r\n\ttab",
    "x" * 50_000,
]


def stored(client: TestClient, listener: int = 1) -> dict[str, Any]:
    """What the store has of a listener, page by page."""
    site = site_of(client)
    return {one.page: one.values for one in site.store.answers(site.digest, listener)}


@pytest.mark.parametrize("kind", ["p835", "acr"])
def test_a_whole_study_is_taken_and_ends_with_a_code(folder: Path, address: str, kind: str) -> None:
    with served(study(folder, kind, NO_REST), address) as client:
        own, anyone = link(client), Anyone()
        first = client.get(f"{own}/state").json()
        assert (first["page"]["name"], first["answered"], first["done"]) == ("consent", 0, False)
        end = take(client, own, anyone)
        assert (end["done"], end["page"]["kind"], end["minutes"]) == (True, "end", 0)
        assert end["progress"] == [len(anyone.seen)] * 2
        assert len(end["code"]) == 10
        assert client.get(f"{own}/state").json() == end
        names = [view["name"] for view in anyone.seen]
        assert names == list(stored(client)) == list(site_of(client).page_sequence(1).answerable)
        assert end["answered"] == len(names)
        [status, *_] = site_of(client).store.status(site_of(client).digest)
        assert (status.listener.state, status.answers) == (ParticipationState.FINISHED, len(names))


def test_what_the_browser_measured_is_kept_beside_the_answer(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        take(client, link(client))
        site = site_of(client)
        found = {one.answer.page: one for one in site.store.history(site.digest)}
        assert found["1.1"].meta is not None
        assert found["1.1"].meta["plays"][0]["ended"] is True
        assert found["1.1"].meta["comment"] == 'ünï "&+%" 🙂'
        assert found["1.1"].answer.at == "2026-01-01T00:00:00.000Z"
        assert found["1.1"].answer.heard is not None
        assert found["consent"].answer.heard is None


def test_an_answer_that_is_sent_again_is_known_and_kept_once(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own = link(client)
        page = client.get(f"{own}/state").json()["page"]
        sent = answer(page, {"agree": True})
        replies = [client.post(f"{own}/answers", json=sent).json() for _ in range(3)]
        assert [one["status"] for one in replies] == ["stored", "known", "known"]
        assert [one["state"]["page"]["name"] for one in replies] == ["before"] * 3
        take(client, own)
        assert client.post(f"{own}/answers", json=sent).json()["status"] == "known"
        changed = client.post(f"{own}/answers", json={**sent, "page": "instructions", "values": {}})
        assert (changed.status_code, changed.json()["error"]["code"]) == (409, "id_used")
        site = site_of(client)
        assert len(site.store.history(site.digest)) == len(site.page_sequence(1).answerable)


def test_of_two_tabs_that_answer_one_page_the_first_counts(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        both = [answer(page, {"QUALITY": value}) for value in (1, 2)]
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda one: client.post(f"{own}/answers", json=one), both * 4))
        statuses = sorted(one.json()["status"] for one in replies)
        assert statuses == ["known"] * 3 + ["stored"] + ["taken"] * 4
        assert {one.json()["state"]["page"]["name"] for one in replies} == {"1.2"}
        first = next(one for one in both if one["values"] == stored(client)["1.1"])
        assert client.post(f"{own}/answers", json=first).json()["status"] == "known"
        silent = answer(page, {"QUALITY": 3}) | {"meta": {"plays": []}}
        assert client.post(f"{own}/answers", json=silent).json()["status"] == "taken"


def test_a_page_that_is_not_open_is_refused_and_the_open_one_told(
    folder: Path, address: str
) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own = link(client)
        for name in ("1.1", "end", "nothing", "before"):
            got = client.post(f"{own}/answers", json=answer({"name": name}, {}))
            assert (got.status_code, got.json()["error"]["code"]) == (409, "not_open")
            assert got.json()["state"]["page"]["name"] == "consent"
        assert stored(client) == {}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"values": {}}, "SIG has no answer"),
        ({"values": {"SIG": 9, "BAK": 1, "OVRL": 1}}, "SIG must be from 1 to 5"),
        ({"values": {"SIG": 1, "BAK": 1, "OVRL": 1, "x": 1}}, "unknown question 'x'"),
        ({"values": [1]}, "values must be an object"),
        ({"id": "1"}, "id must be a UUID"),
        ({"id": None}, "id must be a UUID"),
        ({"page": 7}, "page must be the name of a page"),
        ({"meta": []}, "meta must be an object"),
        ({"at": "yesterday"}, "at must be a time"),
        ({"meta": {}}, "sound 0 was not played to the end for SIG"),
        ({"meta": {"plays": 3}}, "plays must be a list of objects"),
    ],
)
def test_answers_that_cannot_be_are_refused_with_all_that_is_wrong(
    folder: Path, change: dict[str, Any], told: str
) -> None:
    with served(study(folder, "p835", NO_REST), str(folder / "store.db")) as client:
        own = link(client)
        page = take(client, own, stop="training.1")["page"]
        sent = answer(page, {"SIG": 1, "BAK": 2, "OVRL": 3})
        got = client.post(f"{own}/answers", json=sent | change)
        assert got.status_code == 422
        assert got.json()["error"]["details"][0].startswith(told)
        assert client.post(f"{own}/answers", json=sent).json()["status"] == "stored"


def test_sounds_must_be_heard_for_every_question_and_not_too_often(folder: Path) -> None:
    with served(study(folder, "p835", NO_REST), str(folder / "store.db")) as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        sent = answer(page, {"SIG": 1, "BAK": 2, "OVRL": 3})
        plays = sent["meta"]["plays"]
        assert len(plays) == 3
        cut = [{**one, "ended": False} for one in plays]
        for wrong, count in ((plays[:1], 2), (cut, 3), ([*plays, *plays[:2]], 2)):
            meta = {"plays": wrong}
            got = client.post(f"{own}/answers", json={**sent, "meta": meta})
            assert len(got.json()["error"]["details"]) == count
        meta = {"plays": [*cut, *plays]}  # what was cut off may be heard again
        got = client.post(f"{own}/answers", json={**sent, "meta": meta})
        assert got.json()["status"] == "stored"


@pytest.mark.parametrize(
    ("lasted", "believed"),
    [(0, False), (1.89, False), (1.91, True), (2, True), (9, True), (None, False), ("2", False)],
)
def test_a_play_that_was_clearly_too_short_is_not_believed(
    folder: Path, lasted: Any, believed: bool
) -> None:
    for path in folder.glob("*/*.wav"):
        sound(path, seconds=2)
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        own = link(client)
        page = take(client, own, stop="training.1")["page"]
        sent = answer(page, {"QUALITY": 1})
        sent["meta"]["plays"][0]["seconds"] = lasted
        got = client.post(f"{own}/answers", json=sent)
        assert got.status_code == (200 if believed else 422)
        if not believed:
            told = ["sound 0 was not played to the end for QUALITY"]
            assert got.json()["error"]["details"] == told
            sent["meta"]["plays"] += [{**sent["meta"]["plays"][0], "seconds": 2}]
            assert client.post(f"{own}/answers", json=sent).status_code == 200


def test_a_short_sound_may_seem_shorter_by_a_twentieth_of_a_second() -> None:
    view = {"sounds": [{}], "questions": [{"name": "Q"}], "switching": False, "plays": 1}
    play = {"sound": 0, "question": "Q", "ended": True}
    for lasted, wrong in ((0.051, 0), (0.049, 1)):
        plays = {"plays": [{**play, "seconds": lasted}]}
        assert len(check_plays(view, plays, [0.1])) == wrong
        assert check_plays(view, plays, [None]) == []


def test_that_sounds_were_fetched_is_kept_once_a_page(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own, site = link(client), site_of(client)
        assert client.get(f"{own}/state").json()["ahead"] == []
        assert client.get(f"{own}/sound/training.1/0").status_code == 200
        assert site.store.add_events(site.digest, 1, []) == 0  # comes after all that was asked for
        assert site.store.events(site.digest, 1) == []  # nobody has agreed to anything yet
        state = take(client, own, stop="1.1")
        for address in [state["page"]["sounds"][0]["address"], *state["ahead"]] * 2:
            assert client.get(address).status_code == 200
        site.store.add_events(site.digest, 1, [])
        found = [(one.what, one.page) for one in site.store.events(site.digest, 1)]
        assert found == [("fetched", "1.1"), ("fetched", "1.2")]


def test_a_rest_lasts_as_long_as_the_clock_of_the_server_says(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(study(folder, "acr", "rest_minutes: 5\n"), address) as client:
        own = link(client)
        take(client, own, stop="rest.2")
        state = client.get(f"{own}/state").json()
        assert 290 < state["rest"]["seconds"] <= 300
        until = datetime.fromisoformat(state["rest"]["until"])
        passed = answer(state["page"], {})
        for seconds, status in ((-200, 409), (-0.01, 409), (0.01, 200)):
            now = until + timedelta(seconds=seconds)
            monkeypatch.setattr(SERVER_CLOCK, "now", lambda now=now: now)
            told = client.get(f"{own}/state").json()
            assert told["rest"]["seconds"] == max(0, -int(seconds - 0.99))
            got = client.post(f"{own}/answers", json=passed)
            assert got.status_code == status
        assert got.json()["state"]["page"]["name"] == "2.0"
        assert got.json()["state"]["rest"] is None


DAY = 24 * 3600.0


def set_system_clock(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Set the clock of the machine forward, or back."""

    class ShiftedTime(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(seconds=seconds)

    system = time.time
    for module in ("earwitness.store.records", "earwitness.web.state"):
        monkeypatch.setattr(f"{module}.datetime", ShiftedTime)
    monkeypatch.setattr(time, "time", lambda: system() + seconds)


@pytest.mark.parametrize("shift", [DAY, -DAY])
def test_a_rest_is_as_long_when_the_clock_of_the_machine_is_set(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch, shift: float
) -> None:
    with served(study(folder, "acr", "rest_minutes: 5\n"), address) as client:
        own = link(client)
        page = take(client, own, stop="rest.2")["page"]
        with monkeypatch.context() as patch:
            set_system_clock(patch, shift)
            assert 280 < client.get(f"{own}/state").json()["rest"]["seconds"] <= 300
            assert client.post(f"{own}/answers", json=answer(page, {})).status_code == 409


def test_an_answer_is_not_marked_when_the_clock_of_the_machine_is_set_back(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own = link(client)
        take(client, own, stop="1.1", hear=True)
        set_system_clock(monkeypatch, -DAY)
        take(client, own, stop="1.2", hear=True)
        assert stored_marks(client) == {}


def test_no_time_is_earlier_than_those_stored_before_a_restart(
    folder: Path,
    address: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = study(folder, "acr", "rest_minutes: 5\n")
    with served(path, address) as client:
        own = link(client)
        take(client, own, stop="rest.2")
        before = site_of(client).store.read(read_last_time)
    assert before is not None
    with monkeypatch.context() as patch:
        patch.setattr(SERVER_CLOCK, "_offset", SERVER_CLOCK._offset - DAY)
        with served(path, address) as client:
            assert 280 < client.get(f"{own}/state").json()["rest"]["seconds"] <= 300
            take(client, link(client, 2), stop="before")
            assert (site_of(client).store.read(read_last_time) or "") >= before
    assert "is 86,400 s behind the last answer" in capsys.readouterr().err


def test_an_answer_after_one_by_a_clock_that_is_ahead_is_not_marked_and_a_rest_ends(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(study(folder, "acr", "rest_minutes: 5\n"), str(folder / "store.db")) as client:
        own = link(client)
        monkeypatch.setattr(SERVER_CLOCK, "_offset", SERVER_CLOCK._offset + DAY)
        take(client, own, stop="1.1", hear=True)  # as another server may have stored it
        monkeypatch.setattr(SERVER_CLOCK, "_offset", SERVER_CLOCK._offset - DAY)
        take(client, own, stop="1.2", hear=True)
        assert stored_marks(client) == {}
        monkeypatch.setattr(SERVER_CLOCK, "_offset", SERVER_CLOCK._offset + DAY)
        take(client, own, stop="rest.2", hear=True)
        monkeypatch.setattr(SERVER_CLOCK, "_offset", SERVER_CLOCK._offset - DAY)
        assert 280 < client.get(f"{own}/state").json()["rest"]["seconds"] <= 300


def test_one_comes_back_to_the_very_trial_on_any_device(folder: Path, address: str) -> None:
    with served(study(folder, "p835", NO_REST), address) as client:
        own = link(client)
        before = take(client, own, stop="1.2")
    with served(folder / "p835.yaml", address) as client:
        assert client.get(f"{own}/state?visit=new").json() == before
        assert take(client, own)["done"]


@pytest.mark.parametrize(("policy", "counts"), [("resume", True), ("session", False)])
def test_what_was_heard_on_one_device_counts_on_another_up_to_the_limit(
    folder: Path, address: str, policy: str, counts: bool
) -> None:
    def told(question: str, *, ended: bool) -> dict[str, Any]:
        play = {"question": question, "sound": 0, "started": "2026", "seconds": 0.4, "ended": ended}
        return {"kind": "play_ended", "page": "1.1", **play}

    with served(study(folder, "p835", NO_REST), address, on_return=policy) as client:
        own = link(client)
        take(client, own, stop="1.1")
        happened = [told("SIG", ended=False), *(told("SIG", ended=True) for _ in range(3))]
        sent = {"id": str(uuid.uuid4()), "events": happened}
        assert client.post(f"{own}/events", json=sent).status_code == 200
        page = client.get(f"{own}/state").json()["page"]
        heard = [(one["question"], one["ended"]) for one in page.get("played", [])]
        assert heard == ([("SIG", True)] if counts else [])


def test_a_session_starts_again_where_that_is_said(folder: Path, address: str) -> None:
    path = study(folder, "acr", NO_REST)
    with served(path, address, on_return="session") as client:
        own = link(client)
        take(client, own, stop="1.1")
        assert client.get(f"{own}/state?visit=new").json()["page"]["name"] == "1.1"
        old = take(client, own, stop="2.2")
        assert client.get(f"{own}/state").json() == old
        late = answer(old["page"], {"QUALITY": 1})
        again = client.get(f"{own}/state?visit=new").json()
        assert (again["page"]["name"], again["progress"]) == ("2.0", [8, 12])
        assert client.post(f"{own}/answers", json=late).status_code == 409
        site = site_of(client)
        asked = len(site.page_sequence(1).answerable)
        assert take(client, own, Anyone(seed=9))["done"]
        assert len(site.store.answers(site.digest)) == asked
        history = site.store.history(site.digest)
        assert [one.answer.page for one in history if one.aside] == ["2.0", "2.1"]
        assert len(history) == asked + 4  # two set aside, and answered again
        assert client.get(f"{own}/state?visit=new").json()["done"]


def test_a_late_repeat_of_an_answer_that_was_set_aside_is_told_where_the_listener_is(
    folder: Path, address: str
) -> None:
    with served(study(folder, "acr", NO_REST), address, on_return="session") as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        late = answer(page, {"QUALITY": 1})
        assert client.post(f"{own}/answers", json=late).json()["status"] == "stored"
        assert client.get(f"{own}/state?visit=another-tab").json()["page"]["name"] == "1.0"
        again = client.post(f"{own}/answers", json=late)  # before another tab goes on, and after
        assert (again.status_code, again.json()["state"]["page"]["name"]) == (409, "1.0")
        then = take(client, own, stop="1.1")
        again = client.post(f"{own}/answers", json=late)
        assert (again.status_code, again.json()["error"]["code"]) == (409, "not_open")
        assert again.json()["state"] == client.get(f"{own}/state").json() == then
        on = take(client, own, stop="1.2")
        again = client.post(f"{own}/answers", json=late)
        assert (again.json()["status"], again.json()["state"]) == ("taken", on)
        assert take(client, own)["done"]


def test_who_comes_again_is_blocked_where_that_is_said(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address, on_return="block") as client:
        own, site = link(client), site_of(client)
        state = take(client, own, stop="1.2")
        blocked = client.get(f"{own}/state?visit=new").json()
        assert (blocked["blocked"], blocked["page"], blocked["ahead"]) == (True, None, [])
        late = answer(state["page"], {"QUALITY": 1})
        got = client.post(f"{own}/answers", json=late)
        assert (got.status_code, got.json()["state"]["blocked"]) == (409, True)
        assert client.get(state["page"]["sounds"][0]["address"]).status_code == 403
        assert site.store.change_state(
            site.digest, 1, ParticipationState.BLOCKED, ParticipationState.EXCUSED
        )
        assert client.get(f"{own}/state?visit=new").json() == state
        assert client.get(f"{own}/state?visit=new").json()["blocked"]


@pytest.mark.parametrize("value", [1, 9])  # valid or not
@pytest.mark.parametrize("change", ["aside", "blocked", "withdrawn"])
def test_what_another_process_has_changed_holds_for_the_next_answer(
    folder: Path, address: str, change: str, value: int
) -> None:
    with served(study(folder, "acr", NO_REST), address) as client, Store.open(address) as other:
        own, digest = link(client), site_of(client).digest
        page = take(client, own, stop="1.2")["page"]
        if change == "aside":
            other.set_aside(digest, 1, ["1.1"])
        elif change == "blocked":
            states = ParticipationState.JOINED, ParticipationState.BLOCKED
            assert other.change_state(digest, 1, *states)
        else:
            other.withdraw(digest, 1)
        got = client.post(f"{own}/answers", json=answer(page, {"QUALITY": value}))
        assert (got.status_code, got.json()["error"]["code"]) == (409, "not_open")
        assert got.json()["state"] == client.get(f"{own}/state").json()
        assert "1.2" not in stored(client)


@pytest.mark.parametrize("resume", ["block", "session"])
def test_an_excuse_holds_for_a_visit_whose_first_reply_was_lost(
    folder: Path, address: str, resume: str
) -> None:
    with served(study(folder, "acr", NO_REST), address, on_return=resume) as client:
        own, site = link(client), site_of(client)
        take(client, own, stop="1.2")
        store, who = site.store, (site.digest, 1)
        assert store.change_state(*who, ParticipationState.JOINED, ParticipationState.EXCUSED)
        first = [client.get(f"{own}/state?visit=first-visit").json() for _ in range(3)]
        assert [one["page"]["name"] for one in first] == ["1.2"] * 3
        assert [one.what for one in store.events(*who)] == ["excused"]
        second = client.get(f"{own}/state?visit=second-visit").json()
        assert second["blocked"] is (resume == "block")
        if resume == "block":
            assert client.get(f"{own}/state?visit=first-visit").json()["blocked"]
        else:
            assert second["page"]["name"] == "1.0"


def test_withdrawing_deletes_everything_and_the_link_says_so(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own, site = link(client), site_of(client)
        page = take(client, own, stop="1.1")["page"]
        assert client.post(f"{own}/withdraw", json={}).status_code == 422
        assert stored(client)
        state = client.post(f"{own}/withdraw", json={"confirm": True}).json()
        assert (state["withdrawn"], state["page"], state["answered"]) == (True, None, 0)
        assert client.get(f"{own}/state").json() == state
        late = client.post(f"{own}/answers", json=answer(page, {"QUALITY": 1}))
        assert (late.status_code, late.json()["state"]["withdrawn"]) == (409, True)
        assert client.get(f"{own}/sound/1.1/0").status_code == 403
        assert client.get(own).status_code == 200
        happened = {"id": str(uuid.uuid4()), "events": [{"kind": "blur", "page": "1.1"}]}
        client.post(f"{own}/events", json=happened)
        assert (site.store.history(site.digest), site.store.events(site.digest, 1)) == ([], [])


def test_there_are_no_drafts_if_sessions_are_restarted(folder: Path, address: str) -> None:
    with served(study(folder, "plane", NO_REST), address, on_return="session") as client:
        own = link(client)
        assert not take(client, own, stop="1.1")["page"]["keeps_draft"]
        sent = client.post(f"{own}/draft", json={"page": "1.1", "data": {"author": "here"}})
        assert sent.status_code == 409


def test_a_draft_of_a_long_page_is_on_the_server_until_it_is_answered(
    folder: Path, address: str
) -> None:
    with served(study(folder, "plane", NO_REST), address) as client:
        own = link(client)
        page = take(client, own, stop="1.1")["page"]
        assert page["keeps_draft"]
        draft = {"author": "here", "draft": {"notes": {"sources": "wind"}}}
        sent = client.post(f"{own}/draft", json={"page": "1.1", "data": draft})
        assert sent.json() == {"status": "stored", "revision": 1}
        page = client.get(f"{own}/state").json()["page"]
        assert page["draft"] == {**draft, "revision": 1}
        for wrong in ({"page": "1.2", "data": {}}, {"page": "1.0", "data": {}}):
            assert client.post(f"{own}/draft", json=wrong).status_code == 409
        assert client.post(f"{own}/draft", json={"page": "1.1", "data": []}).status_code == 422
        large = {"page": "1.1", "data": {"notes": "x" * 300_000}}
        assert client.post(f"{own}/draft", json=large).status_code == 413
        client.post(f"{own}/answers", json=answer(page, Anyone()(page)))
        site = site_of(client)
        assert site.store.draft(site.digest, 1, "1.1") is None


@pytest.mark.parametrize("text", ODD)
def test_odd_texts_survive(folder: Path, address: str, text: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own, site = link(client), site_of(client)
        page = take(client, own, stop="1.1")["page"]
        sent = answer(page, {"QUALITY": 1})
        sent["meta"]["comment"] = text
        assert client.post(f"{own}/answers", json=sent).status_code == 200
        end = take(client, own, stop="after")
        assert client.post(f"{own}/answers", json=answer(end["page"], {"remarks": text})).is_success
        assert stored(client)["after"] == {"remarks": text}
        found = {one.answer.page: one.meta for one in site.store.history(site.digest)}
        assert (found["1.1"] or {})["comment"] == text


def test_half_characters_are_spelt_out_in_comments_and_refused_in_answers(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        own, site = link(client), site_of(client)
        state = take(client, own, stop="1.1")
        sent = answer(state["page"], {"QUALITY": 1})
        sent["meta"]["comment"] = "half \ud83d"
        assert client.post(f"{own}/answers", content=json.dumps(sent)).status_code == 200
        assert (site.store.history(site.digest)[-1].meta or {})["comment"] == "half \\ud83d"
        after = take(client, own, stop="after")["page"]
        half = json.dumps(answer(after, {"remarks": "half \ud83d"}))
        assert client.post(f"{own}/answers", content=half).status_code == 422


def test_events_are_kept_once(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own, site = link(client), site_of(client)
        take(client, own, stop="before")
        one = {"kind": "underrun", "page": "1.1", "at": "2026-01-01", "frames": 128}
        sent = {"id": str(uuid.uuid4()), "events": [one, {"kind": "blur", "page": "1.1"}]}
        replies = [client.post(f"{own}/events", json=sent).json() for _ in range(2)]
        assert [reply["status"] for reply in replies] == ["stored", "known"]
        first, second = site.store.events(site.digest, 1)
        assert (first.what, first.page, first.details) == ("underrun", "1.1", {"frames": 128})
        assert second.what == "blur"
        bad: list[dict[str, Any]] = [{}, {**sent, "events": [1]}, {**sent, "events": {}}]
        for wrong in (*bad, {"events": []}):
            assert client.post(f"{own}/events", json=wrong).status_code == 422


def test_events_are_refused_once_all_answers_are_set_aside(folder: Path, address: str) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own, site = link(client), site_of(client)
        state = take(client, own, stop="before")
        assert site.store.set_aside(site.digest, 1, ["consent"]) == state["answered"]
        sent = {"id": str(uuid.uuid4()), "events": [{"kind": "blur", "page": "consent"}]}
        assert client.get(f"{own}/state").json()["answered"] == 0
        got = client.post(f"{own}/events", json=sent)
        assert (got.status_code, got.json()["error"]["code"]) == (409, "not_open")
        assert site.store.events(site.digest, 1) == []


# --- Sounds that cannot have been heard ----------------------------------------------------------


def stored_marks(client: TestClient) -> dict[str, Any]:
    """The marks of stored answers, by page."""
    site = site_of(client)
    return {
        one.answer.page: one.meta["unheard"]
        for one in site.store.counted_answers(site.digest)
        if one.meta and "unheard" in one.meta
    }


def test_an_answer_to_sounds_that_were_not_sent_is_marked_and_kept(
    folder: Path, address: str
) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own = link(client)
        state = take(client, own, stop="1.1", hear=True)
        sent = answer(state["page"], Anyone()(state["page"]))
        sent["meta"]["unheard"] = {"sent": "by the browser"}
        got = client.post(f"{own}/answers", json=sent)
        assert got.json()["status"] == "stored"
        assert stored_marks(client) == {"1.1": {"unsent": [0]}}
        again = client.post(f"{own}/answers", json=sent)
        assert again.json()["status"] == "known"
        take(client, own, hear=True)
        assert stored_marks(client) == {"1.1": {"unsent": [0]}}  # honest answers are not marked
        [status] = site_of(client).store.status(site_of(client).digest)
        assert status.unheard == 1


def test_an_answer_is_not_marked_if_the_database_failed_when_its_sounds_were_sent(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(study(folder, "acr", NO_REST), address) as client:
        own, writer = link(client), site_of(client).store._writer
        page = take(client, own, stop="1.1", hear=True)["page"]
        failed = Event()

        def fail(tasks: Sequence[object]) -> list[JobResult]:
            failed.set()
            return [JobResult(error=StoreError("gone"))] * len(tasks)

        with monkeypatch.context() as patch:
            patch.setattr(writer, "_run_tasks", fail)
            fetch_sounds(client, page)
            assert failed.wait(60)
        sent = answer(page, Anyone()(page))
        assert client.post(f"{own}/answers", json=sent).json()["status"] == "stored"
        assert stored_marks(client) == {}


def test_an_answer_that_comes_before_its_sounds_can_have_ended_is_marked(
    folder: Path, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abcd":
        for system in ("C0", "C1"):
            sound(folder / system / f"{name}.wav", 10)
    with served(study(folder, "p835", NO_REST), address) as client:
        own, clock = link(client), datetime.now(UTC)
        state, marks = take_slowly(client, own, monkeypatch, clock)
        assert state["done"]
        assert set(marks) == {"1.1"}  # one was early; a late one is not marked
        assert marks["1.1"] == {"seconds": pytest.approx(27, abs=2), "needed": 30}


def take_slowly(
    client: TestClient, own: str, monkeypatch: pytest.MonkeyPatch, clock: datetime
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Take 31 s for each page by the clock of the server; 27 s for one, and an hour for another."""
    seconds = {"1.1": 27.0, "1.2": 3600.0}
    state = client.get(f"{own}/state").json()
    while state["page"]["kind"] != "end":
        view = state["page"]
        clock += timedelta(seconds=seconds.get(view["name"], 31))
        monkeypatch.setattr(SERVER_CLOCK, "now", lambda now=clock: now)
        fetch_sounds(client, view)
        sent = answer(view, Anyone()(view))
        for play in sent["meta"].get("plays", ()):
            play["seconds"] = 10
        got = client.post(f"{own}/answers", json=sent)
        assert got.status_code == 200, got.text
        state = got.json()["state"]
    return state, stored_marks(client)
