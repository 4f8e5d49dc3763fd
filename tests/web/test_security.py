"""What every response carries, addresses below a root, and files of the page."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from earwitness.errors import StoreError, UsageError
from earwitness.store.store import Store
from earwitness.web import security
from earwitness.web.security import (
    MAX_REQUEST_BYTES,
    SECURITY_HEADERS,
    GuardedApp,
    PlaceLimit,
    Refusal,
)
from earwitness.web.site import SiteSettings
from helpers.http_listener import answer, join, link, served, take
from helpers.study_listener import study

NO_REST = "rest_minutes: 0\n"


def test_every_response_has_the_headers_that_protect_it(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db"), open=1) as client:
        own = link(client)
        page = client.get(own)
        asset = re.findall(r'src="([^"]+)"', page.text)[0]
        sound = take(client, own, stop="instructions")["ahead"][0]
        paths = ("/", "/join", own, f"{own}/state", sound, asset, "/nothing", "/l/nobody")
        replies = [client.get(path, follow_redirects=False) for path in paths]
        replies += [client.post(f"{own}/answers", content=b"{"), client.put(own)]
        replies.append(client.get(f"{own}/sound/1.1/{'9' * 5000}"))
        assert [one.status_code for one in replies] == [
            *(200, 200, 200, 200, 200, 200, 404, 404),
            *(400, 405, 404),
        ]
        for reply in replies:
            for name, value in SECURITY_HEADERS.items():
                assert reply.headers[name] == value
            assert reply.headers["cache-control"]
            assert not {"server", "last-modified", "etag"} & set(reply.headers)
        policy = SECURITY_HEADERS["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        cookies = [name for one in replies for name in one.headers if name == "set-cookie"]
        assert cookies == []


def test_an_error_of_the_program_has_them_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        own = link(client)
        for error, status in ((ValueError("Kestrel"), 500), (StoreError("disk full"), 503)):

            def fail(*_: Any, error: Exception = error) -> None:
                raise error

            monkeypatch.setattr(Store, "visit", fail)
            got = client.get(f"{own}/state")
            assert got.status_code == status
            assert got.headers["x-content-type-options"] == "nosniff"
            remedy = got.json()["error"]["remedy"]
            assert remedy == "send the same request again; it is saved only once"
            assert "Kestrel" not in got.text
            shown = client.get(own, headers={"accept": "text/html"})
            assert (shown.status_code, "Something went wrong" in shown.text) == (status, True)
    assert "disk full" in capsys.readouterr().err


def test_a_request_that_was_refused_is_not_kept_by_its_error() -> None:
    errors = [Refusal(404, "not_here", "no page"), StoreError("disk full")]

    async def fail(_: Request) -> Response:
        raise errors[0]

    async def reply(_: Request, error: Exception) -> Response:
        return Response(str(error))

    async def exchange(*_: Any) -> None:
        pass

    app = GuardedApp([Route("/", fail)], reply)
    while errors:
        scope = {"type": "http", "method": "GET", "path": "/", "headers": [], "query_string": b""}
        asyncio.run(app(scope, exchange, exchange))  # type: ignore[arg-type]
        assert errors.pop(0).__traceback__ is None


def test_links_that_are_none_look_like_any_other_address(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        bodies = {
            client.get(path).text
            for path in ("/nothing", "/l/nobody", "/l/nobody/state", "/join", "/static/x/listen.js")
        }
        assert len(bodies) == 1
        error = client.get("/l/nobody/state").json()["error"]
        assert (error["code"], "not be served at the moment" in error["remedy"]) == (
            "not_here",
            True,
        )
        assert client.post("/l/nobody/answers", json={}).status_code == 422
        sent = answer({"name": "1.1"}, {})
        assert client.post("/l/nobody-at-all/answers", json=sent).status_code == 404
        page = client.get("/l/nobody", headers={"accept": "text/html,*/*"})
        assert page.text.startswith("<!doctype html>")
        assert "There is no page at this address" in page.text


def test_links_of_another_study_in_the_same_store_lead_nowhere(folder: Path) -> None:
    store = str(folder / "store.db")
    with served(study(folder, "acr", NO_REST), store) as client:
        own = link(client)
    with served(study(folder, "p835", NO_REST), store) as client:
        assert client.get(own).status_code == 404


def test_links_of_listeners_whom_the_study_has_no_more_lead_nowhere(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", NO_REST)
    with served(path, address, open=2) as client:
        outside = [join(client, f"?PROLIFIC_PID={name}") for name in "ab"]
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 1\n"))
    with served(path, address, open=1) as client:
        for verb in ("", "/state", "/state?visit=new", "/sound/1.1/0"):
            assert client.get(outside[1] + verb).status_code == 404
        assert client.post(f"{outside[1]}/events", json={}).status_code == 404
        assert take(client, outside[0])["done"]


def test_nobody_is_given_a_number_that_the_study_has_no_more(folder: Path, address: str) -> None:
    path = study(folder, "acr", NO_REST)
    with served(path, address, open=2):
        pass
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 1\n"))
    with served(path, address, open=1) as client:
        assert take(client, join(client))["done"]
        client.cookies.clear()
        assert client.post("/join").status_code == 403


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[1]", b'"x"', b'{"id": NaN}', b"[" * 100_000, b"\xff", b"9" * 9999]
)
def test_what_is_no_object_of_json_is_refused(folder: Path, body: bytes) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        own = link(client)
        for verb in ("answers", "events", "withdraw"):
            assert client.post(f"{own}/{verb}", content=body).status_code == 400


def test_requests_that_are_too_large_are_refused(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        got = client.post(f"{link(client)}/answers", content=b" " * (MAX_REQUEST_BYTES + 1))
        assert (got.status_code, got.json()["error"]["code"]) == (413, "too_large")


def test_a_body_that_does_not_come_to_its_end_is_waited_for_only_so_long(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "REQUEST_TIMEOUT_SECONDS", 0.05)
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        sent = list[Any]()

        async def receive() -> dict[str, Any]:
            if sent_first:
                sent_first.clear()
                return {"type": "http.request", "body": b'{"id"', "more_body": True}
            await asyncio.Event().wait()
            raise AssertionError("nobody sets it")

        async def send(message: Any) -> None:
            sent.append(message)

        sent_first = [True]
        path = f"{link(client)}/answers"
        scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
        asyncio.run(client.app(scope, receive, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
    assert json.loads(sent[1]["body"])["error"]["code"] == "too_slow"


def test_a_body_that_breaks_off_is_no_error_of_the_program(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        sent = list[Any]()
        parts = [{"type": "http.request", "body": b'{"id"', "more_body": True}]

        async def receive() -> dict[str, Any]:
            return parts.pop() if parts else {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        path = f"{link(client)}/answers"
        scope = {"type": "http", "method": "POST", "path": path, "headers": [], "query_string": b""}
        asyncio.run(client.app(scope, receive, send))  # type: ignore[arg-type]
    assert (sent[0]["status"], b"broken_off" in sent[1]["body"]) == (400, True)


def test_places_are_counted_for_an_hour_by_address() -> None:
    now = [0.0]
    places = PlaceLimit(2, lambda: now[0])
    for at in (0.0, 600.0):
        now[0] = at
        assert places.minutes_left("a") == 0
        places.add("a")
    assert (places.minutes_left("a"), places.minutes_left("b")) == (50, 0)
    places.remove("a")
    assert places.minutes_left("a") == 0
    places.add("a")
    now[0] = 3599.0
    assert places.minutes_left("a") == 1
    now[0] = 3600.0
    assert places.minutes_left("a") == 0
    unlimited = PlaceLimit(0)
    unlimited.add("a")
    assert unlimited.minutes_left("a") == 0


def test_below_a_root_path_all_addresses_have_it(folder: Path) -> None:
    path = study(folder, "acr", NO_REST)
    with served(path, str(folder / "store.db"), root_path="/listen/here", open=1) as client:
        own = link(client)
        assert own.startswith("/listen/here/l/")
        page = client.get(own).text
        addresses = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert addresses
        assert all(one.startswith("/listen/here/static/") for one in addresses)
        assert client.get(addresses[0]).status_code == 200
        state = take(client, own, stop="1.1")
        for address in [state["page"]["sounds"][0]["address"], *state["ahead"]]:
            assert address.startswith(f"{own}/sound/")
            assert client.get(address).status_code == 200
        stripped = own.removeprefix("/listen/here")  # as a proxy may send it
        assert client.get(f"{stripped}/state").json() == state
        started = client.post("/listen/here/join", follow_redirects=False)
        assert "Path=/listen/here/join" in started.headers["set-cookie"]
        assert started.headers["location"].startswith("/listen/here/l/")
        assert client.get("/listen/here").status_code == 200


@pytest.mark.parametrize("root", ["", "/x", "/l/x"])
def test_a_slash_at_the_end_leads_nowhere_else(folder: Path, root: str) -> None:
    path = study(folder, "acr", NO_REST)
    with served(path, str(folder / "store.db"), root_path=root, open=1) as client:
        own, elsewhere = link(client), {"host": "elsewhere.example"}
        for proxied in (own, own.removeprefix(root)):
            for address, same in ((f"{proxied}/", own), (f"{root}/join/", f"{root}/join")):
                got = client.get(address, headers=elsewhere, follow_redirects=False)
                assert (got.status_code, "location" in got.headers) == (200, False)
                assert got.text == client.get(same).text
                assert "elsewhere.example" not in got.text
        for address in (f"{own}/state/", f"{own}//", f"{root}/static/"):
            got = client.get(address, headers=elsewhere, follow_redirects=False)
            assert got.status_code == 404


def test_settings_that_cannot_be_are_refused(folder: Path) -> None:
    for root in ("listen", "/listen/"):
        with pytest.raises(UsageError, match="root path must start with /"):
            SiteSettings(root_path=root)
    for root in ("/l", "/join", "/static"):
        with pytest.raises(UsageError, match=f'root path "{root}" is reserved for the server'):
            SiteSettings(root_path=root)
    with pytest.raises(UsageError, match="on_return must be one of resume, session, block"):
        SiteSettings(on_return="again")  # type: ignore[arg-type]
    for host in ("http://a.org", "a.org:80", ""):
        with pytest.raises(UsageError, match=f'invalid host name "{host}" — write it as in study'):
            SiteSettings(allow_hosts=(host,))
    path = study(folder, "acr", NO_REST)
    with (
        pytest.raises(UsageError, match="3 open places, but only 2 listeners"),
        served(path, str(folder / "store.db"), open=3),
    ):
        pass


def test_scripts_are_kept_by_their_digest_and_sent_compressed(folder: Path) -> None:
    with served(study(folder, "acr", NO_REST), str(folder / "store.db")) as client:
        page = client.get(link(client)).text
        asset = re.findall(r'src="([^"]+)"', page)[0]
        packed = client.get(asset, headers={"accept-encoding": "gzip"})
        plain = client.get(asset, headers={"accept-encoding": "identity"})
        assert packed.headers["content-encoding"] == "gzip"
        assert "content-encoding" not in plain.headers
        assert packed.content == plain.content
        assert "immutable" in plain.headers["cache-control"]
        assert plain.headers["content-type"].startswith("text/javascript")
        for path in ("x/listen.js", "../app.py", "%2e%2e/app.py"):
            assert client.get(f"{asset.rpartition('/')[0]}/{path}").status_code == 404


@pytest.mark.parametrize(
    ("kind", "renderers"), [("p835", ["single"]), ("rubric", ["rubric"]), ("ab", ["pair"])]
)
def test_the_shell_loads_the_renderers_of_the_study(
    folder: Path, kind: str, renderers: list[str]
) -> None:
    with served(study(folder, kind, NO_REST), str(folder / "store.db")) as client:
        page = client.get(link(client)).text
        scripts = re.findall(r'src="([^"]+)"', page)
        assert re.findall(r'trials/(\w+)\.js"', page) == renderers
        assert [client.get(script).status_code for script in scripts] == [200] * len(scripts)


def test_the_shell_gives_the_words_of_the_study(folder: Path) -> None:
    words = "language: fr\nwordings: {web: {next: \"</script><b> & 'suite'\"}}\n"
    with served(study(folder, "acr", words), str(folder / "store.db")) as client:
        page = client.get(link(client)).text
        assert '<html lang="fr">' in page
        assert "</script><b>" not in page
        assert "Enregistré" in page or "Enregistr\\u00e9" in page
