"""Somebody who takes a study over HTTP, as a browser would."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.testclient import TestClient

from earwitness.store.store import Store
from earwitness.web.app import make_app
from earwitness.web.recordings import open_recordings
from earwitness.web.site import Site, SiteSettings, make_site
from helpers.study_listener import Anyone

State = dict[str, Any]
Respond = Callable[[Mapping[str, Any]], dict[str, Any]]


@contextmanager
def served(path: Path, address: str, **settings: Any) -> Iterator[TestClient]:
    """A study that is served from a store."""
    with Store.open(address) as store:
        site = make_site(path, store, SiteSettings(**{"allow_hosts": ("testserver",), **settings}))
        recordings = open_recordings(site)
        app = make_app(site, recordings)
        with TestClient(app, raise_server_exceptions=False) as client:
            client.app_state |= {"site": site, "recordings": recordings}
            yield client


def site_of(client: TestClient) -> Site:
    """What is served to a client."""
    found: Site = client.app_state["site"]
    return found


def link(client: TestClient, listener: int = 1) -> str:
    """The address of a listener."""
    site = site_of(client)
    [one] = site.store.add_listeners(site.digest, [listener])
    return f"{site.settings.root_path}/l/{one.token}"


def start(client: TestClient, query: str = "") -> str:
    """Press Start on the page of the open link, and be led to the visitor's own address."""
    shown = client.get(f"{site_of(client).settings.root_path}/join{query}", follow_redirects=False)
    assert shown.status_code == 200, shown.text
    [action] = re.findall(r'<form[^>]* action="([^"]+)"', shown.text)
    got = client.post(unescape(action), follow_redirects=False)
    assert got.status_code == 303, got.text
    return str(got.headers["location"])


def consent(client: TestClient, address: str) -> Any:
    """Answer the first page at an address to which Start has led."""
    own, _, query = address.partition("?")
    page = client.get(f"{own}/state").json()["page"]
    claim = {name: text for name, [text] in parse_qs(query).items()}
    return client.post(f"{own}/answers", json=answer(page, Anyone()(page)) | claim)


def join(client: TestClient, query: str = "") -> str:
    """Press Start and answer the first page, which takes a place; the listener's own address."""
    address = start(client, query)
    assert consent(client, address).json()["status"] == "stored"
    return address.partition("?")[0]


def plays(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All sounds of a page, played once to their end, for each question where that is asked."""
    names = [""] if view["switching"] else [one["name"] for one in view["questions"]]
    return [
        {"sound": number, "question": name, "started": "2026-01-01", "seconds": 1.5, "ended": True}
        for name in names
        for number in range(len(view["sounds"]))
    ]


def answer(view: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """An answer to a page, with all that a browser sends along."""
    meta = {"plays": plays(view), "comment": 'ünï "&+%" 🙂'} if "sounds" in view else {}
    made = {"id": str(uuid.uuid4()), "page": view["name"], "values": dict(values)}
    return made | {"meta": meta, "at": "2026-01-01T00:00:00.000Z"}


def fetch_sounds(client: TestClient, view: Mapping[str, Any]) -> None:
    """Fetch the sounds of a page, as a browser does before it plays them."""
    for one in view.get("sounds", ()):
        assert client.get(one["address"]).status_code == 200


def take(
    client: TestClient,
    own: str,
    respond: Respond | None = None,
    *,
    stop: str = "end",
    hear: bool = False,
) -> State:
    """Answer page after page, up to one of this name or kind; ``hear`` fetches all sounds."""
    respond = respond or Anyone()
    state: State = client.get(f"{own}/state").json()
    while stop not in (state["page"]["kind"], state["page"]["name"]):
        if hear:
            fetch_sounds(client, state["page"])
        sent = answer(state["page"], respond(state["page"]))
        got = client.post(f"{own}/answers", json=sent)
        assert got.status_code == 200, got.text
        assert got.json()["status"] == "stored"
        state = got.json()["state"]
    return state
