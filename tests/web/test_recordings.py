"""Long recordings of a study: who reaches them, from which page, and what is sent of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from earwitness.studies.changes import record_version
from earwitness.web import security
from helpers.http_listener import answer, join, link, served, site_of, take
from helpers.study_files import sound
from helpers.study_listener import Anyone

STUDY = """\
title: Days
systems: [Kestrel, Osprey]
files: "{system}/{item}.wav"
reference: Knot
listeners: 3
consent: Yes?
blocks: [{kind: KIND}]
recordings:
  bittern: days/garden.wav
  curlew: {files: days/garden.wav, labels: marks.txt}
recording_display: {palette: grey}
"""
ITEMS = ("bittern", "curlew", "dunlin")
HIDDEN = ("Kestrel", "Osprey", *ITEMS, "days/", "garden", "marks", ".wav")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for system in ("Kestrel", "Osprey", "Knot", "anchor35", "anchor70"):
        for item in ITEMS:
            sound(tmp_path / system / f"{item}.wav")
    sound(tmp_path / "days" / "garden.wav", 90.0)
    (tmp_path / "marks.txt").write_text("1.0\t2.5\tgoose\n")
    return tmp_path


def write_study(folder: Path, kind: str = "acr") -> Path:
    path = folder / "study.yaml"
    path.write_text(STUDY.replace("KIND", kind))
    return path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with served(write_study(folder), str(folder / "store.db"), open=1) as client:
        yield client


def item_of(client: TestClient, listener: int, page: str) -> str:
    """The item of a page, which no browser is told."""
    sequence = site_of(client).page_sequence(listener)
    trial = sequence.content(sequence.places[page]).page.trial
    return "" if trial is None else trial.item


def reach(client: TestClient, own: str, item: str, listener: int = 1) -> dict[str, Any]:
    """Answer pages up to the first one of an item; its view."""
    respond, state = Anyone(), client.get(f"{own}/state").json()
    while item_of(client, listener, state["page"]["name"]) != item:
        sent = answer(state["page"], respond(state["page"]))
        state = client.post(f"{own}/answers", json=sent).json()["state"]
    view: dict[str, Any] = state["page"]
    return view


def test_a_page_of_the_item_has_the_recording_as_the_study_shows_it(client: TestClient) -> None:
    own = link(client)
    view = reach(client, own, "curlew")
    address = view["recording"]["address"]
    assert address == f"{own}/recording/{view['name']}"
    assert view["recording"]["display"]["palette"] == "grey"
    info = client.get(f"{address}/info").json()
    assert info["seconds"] == 90.0
    assert info["display"] == view["recording"]["display"]
    assert info["overlays"][0]["spans"] == [[1.0, 1.5, "goose"]]
    tile = client.get(f"{address}/tile/{info['digest']}/max/0/0")
    assert tile.status_code == 200
    assert int(tile.headers["X-Columns"]) == 1024
    heard = client.get(f"{address}/sound?start=1&seconds=2")
    assert heard.headers["content-type"] == "audio/wav"
    assert len(heard.content) == 44 + 2 * 2 * 1000


def test_a_page_of_another_item_has_none(client: TestClient) -> None:
    own = link(client)
    view = reach(client, own, "dunlin")
    assert "recording" not in view
    assert client.get(f"{own}/recording/{view['name']}/info").status_code == 403


def test_a_recording_is_reachable_from_its_open_page_only(client: TestClient) -> None:
    first, second = link(client, 1), link(client, 2)
    pages = [name for name in site_of(client).page_sequence(1).outline.names if "." in name]

    def reachable(own: str) -> list[str]:
        return [one for one in pages if client.get(f"{own}/recording/{one}/info").is_success]

    assert reachable(first) == []  # before consent
    view = reach(client, first, "bittern")
    name = view["name"]
    assert reachable(first) == [name]
    assert reachable(second) == []
    sent = answer(view, Anyone()(view))
    assert client.post(f"{first}/answers", json=sent).status_code == 200
    assert name not in reachable(first)  # the page was left
    assert client.get("/l/somebody-else/recording/1.1/info").status_code == 404
    client.post(f"{first}/withdraw", json={"confirm": True})
    assert reachable(first) == []


def test_a_visitor_without_a_place_reaches_nothing(client: TestClient) -> None:
    own = join(client)
    view = reach(client, own, "bittern", listener=3)
    assert client.get(f"{view['recording']['address']}/info").status_code == 200
    assert client.get(f"{own}/recording/consent/info").status_code == 403


@pytest.mark.parametrize("kind", ["acr", "dcr", "ccr", "preference", "mushra", "plane"])
def test_nothing_that_is_sent_gives_names_away(folder: Path, kind: str) -> None:
    seen: list[str] = []

    def record(response: Any) -> None:
        seen.append(f"{response.headers} {response.read().decode('latin-1')}")

    with served(write_study(folder, kind), str(folder / "store.db")) as client:
        own = link(client)
        client.event_hooks = {"response": [record]}
        client.get(own)
        view = reach(client, own, "curlew")
        for one in view["sounds"]:
            assert client.get(one["address"]).status_code == 200
        address = view["recording"]["address"]
        info = client.get(f"{address}/info").json()
        client.get(f"{address}/tile/{info['digest']}/mean/3/0")
        client.get(f"{address}/sound?start=0&seconds=1")
        (folder / "days/garden.wav").write_bytes(b"")
        client.app_state["recordings"]["curlew"].index._checked_at = 0.0
        refused = client.get(f"{address}/info")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "changed")
    for text in seen:
        for name in HIDDEN:
            assert name not in text


def test_items_with_the_same_recording_share_its_index(client: TestClient) -> None:
    recordings = client.app_state["recordings"]
    assert recordings["bittern"].index is recordings["curlew"].index


def test_requests_are_bounded_and_do_not_count_as_sounds(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {**security.QUOTAS_PER_MINUTE, "recording requests": 3, "sounds": 1}
    monkeypatch.setattr(security, "QUOTAS_PER_MINUTE", limits)
    own = link(client)
    view = reach(client, own, "bittern")
    address = f"{view['recording']['address']}/info"
    assert [client.get(address).status_code for _ in range(4)] == [200, 200, 200, 429]
    assert client.get(view["sounds"][0]["address"]).status_code == 200


def test_sound_is_bounded_by_its_length(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {**security.QUOTAS_PER_MINUTE, "seconds of recordings": 10}
    monkeypatch.setattr(security, "QUOTAS_PER_MINUTE", limits)
    address = reach(client, link(client), "bittern")["recording"]["address"]
    asked = [f"{address}/sound?start=1&seconds={seconds}" for seconds in (8, 2.5, 2)]
    assert [client.get(one).status_code for one in asked] == [200, 429, 200]


def test_what_listeners_saw_is_exported(client: TestClient, folder: Path) -> None:
    site = site_of(client)
    record_version(site.store, site.design.study, [], folder)
    own = link(client)
    name = reach(client, own, "bittern")["name"]
    event = {"kind": "recording_played", "page": name, "start": 12.5, "seconds": 3.25}
    body = {"id": "0123456789", "events": [event]}
    assert client.post(f"{own}/events", json=body).status_code == 200
    records = list(site.store.export(site.digest))
    [texts] = [one["texts"] for one in records if one["record"] == "texts"]
    assert json.loads(texts["recording_display"])["palette"] == "grey"
    assert texts["recordings.bittern"].startswith("1 file, 180,044 bytes, ")
    [played] = [one for one in records if one.get("what") == "recording_played"]
    assert played["details"] == {"start": 12.5, "seconds": 3.25}
    take(client, own)
