"""A preview opens every page at once, and stores nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from earwitness.store.store import Store
from earwitness.web.preview import make_preview_app
from earwitness.web.site import Site, SiteSettings, make_site
from helpers.http_listener import answer
from helpers.study_listener import study


@contextmanager
def previewed(path: Path, address: str) -> Iterator[tuple[TestClient, Site]]:
    with Store.open(address) as store:
        site = make_site(path, store, SiteSettings(root_path="/test", open=2))
        app = make_preview_app(site, hosts=("testserver",))
        with TestClient(app) as client:
            yield client, site


@pytest.mark.parametrize("kind", ["p835", "mushra", "ab", "rubric", "words"])
def test_every_page_can_be_opened(folder: Path, address: str, kind: str) -> None:
    more = "feedback: true\ndevice: [level, sides]\nquality: {results: true}\n"
    more = more if kind == "p835" else ""
    with previewed(study(folder, kind, more), address) as (client, site):
        listed = client.get("/test/?listener=2").text
        names = site.page_sequence(2).outline.names
        for place, name in enumerate(names):
            link = f"/test/l/2-{place}"
            assert f'href="{link}"' in listed
            assert client.get(link).status_code == 200
            state = client.get(f"{link}/state").json()
            assert (state["page"]["name"], state["progress"]) == (name, [place, len(names) - 1])
            for sound in state["page"].get("sounds", ()):
                assert client.get(sound["address"]).headers["content-type"] == "audio/wav"
            sent = client.post(f"{link}/answers", json=answer(state["page"], {}))
            after = min(place + 1, len(names) - 1)
            assert sent.json() == {"status": "stored", "address": f"/test/l/2-{after}"}
        assert (state["done"], state["code"]) == (True, "PREVIEW")
        assert not site.store.answers(site.digest, 2)


def test_pages_link_to_their_neighbours(folder: Path, address: str) -> None:
    with previewed(study(folder, "acr"), address) as (client, site):
        last = site.page_sequence(1).last_place
        first, end = client.get("/test/l/1-0").text, client.get(f"/test/l/1-{last}").text
        assert 'href="/test/l/1-1"' in first
        assert f'href="/test/l/1-{last - 1}"' in end
        assert "← Previous" not in first
        assert "Next →" not in end


def test_a_break_is_over(folder: Path, address: str) -> None:
    with previewed(study(folder, "acr"), address) as (client, site):
        place = site.page_sequence(1).places["rest.2"]
        assert client.get(f"/test/l/1-{place}/state").json()["rest"]["seconds"] == 0


def test_events_drafts_and_withdrawal_change_nothing(folder: Path, address: str) -> None:
    with previewed(study(folder, "acr"), address) as (client, site):
        for name in ("events", "draft"):
            assert client.post(f"/test/l/1-3/{name}", json={}).json()["status"] == "known"
        assert client.post("/test/l/1-3/withdraw", json={"confirm": True}).json()["withdrawn"]
        assert client.get("/test/l/1-3/state").json()["page"]
        assert all(one.events == 0 for one in site.store.status(site.digest))


@pytest.mark.parametrize(
    "path", ["l/1-99", "l/9-0", "l/a-b", "l/1", "?listener=9", "l/1-0/sound/x/0"]
)
def test_other_addresses_are_not_found(folder: Path, address: str, path: str) -> None:
    with previewed(study(folder, "acr"), address) as (client, _):
        assert client.get(f"/test/{path}").status_code == 404
        assert client.get("/test/", headers={"host": "evil.example"}).status_code == 421


def test_addresses_with_very_long_numbers_lead_nowhere(folder: Path, address: str) -> None:
    with previewed(study(folder, "acr"), address) as (client, _):
        for place in (f"l/{'1' * 5000}-0", f"l/1-{'1' * 5000}"):
            assert client.get(f"/test/{place}").status_code == 404
        assert client.get(f"/test/?listener={'1' * 5000}").status_code == 200
