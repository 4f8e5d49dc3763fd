"""Description, tiles and sound of a recording over HTTP, for browse and under any prefix."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from time import monotonic
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import soundfile
from starlette.applications import Starlette
from starlette.testclient import TestClient

from earwitness.audio.logmel import ABSENT_BYTE
from earwitness.audio.signal import to_int16
from earwitness.cli.output import LOOPBACK_HOSTS
from earwitness.models.cache import Cache
from earwitness.navigator import index as index_module
from earwitness.navigator.index import IndexSettings, RecordingIndex
from earwitness.navigator.labels import Overlay, OverlaySpan
from earwitness.recordings.recording import open_recording
from earwitness.recordings.types import Recording
from earwitness.web.browse import make_browse_app
from earwitness.web.messages import MessageLimiter
from earwitness.web.navigator import (
    RecordingView,
    SentTile,
    TileCache,
    describe_progress,
    describe_view,
    recording_routes,
)
from earwitness.web.security import Refusal, refusal_from_error
from helpers.tones import RATE, sound, written

NAME = "<b>day & night"


@pytest.fixture
def view(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecordingView:
    """A recording of 30 s with one label."""
    monkeypatch.setattr(index_module, "CHECK_SECONDS", 0.0)
    path = written(tmp_path / "20250722_060000.wav", sound(30))
    opened = open_recording([path], name=NAME, zone="Europe/Paris")
    index = RecordingIndex(opened, cache=Cache(tmp_path / "cache")).start().wait()
    overlay = Overlay("birds", "labels", (OverlaySpan(1.0, 2.0, "wren"),))
    return RecordingView(index, (overlay,))


@pytest.fixture
def client(view: RecordingView) -> Iterator[TestClient]:
    app = make_browse_app(view, MessageLimiter())
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_the_description_has_clock_files_levels_and_labels(client: TestClient) -> None:
    info = client.get("/recording/info").json()
    assert info["name"] == NAME
    assert (info["seconds"], info["done"], info["checked"], info["state"]) == (30, 30, 30, "ready")
    assert info["began"] == "2025-07-22T06:00:00+02:00"
    assert info["offsets"] == [[0, 7200]]
    assert info["stretches"] == [[0, 30, "20250722_060000.wav"]]
    assert info["overlays"] == [{"name": "birds", "kind": "labels", "spans": [[1, 2, "wren"]]}]
    assert (len(info["bands"]), len(info["fine_bands"])) == (40, 64)
    assert (info["levels"], info["fine_levels"], info["colour_levels"]) == (13, 4, [8, 12])
    assert info["display"] is None
    progress = client.get("/recording/progress").json()
    assert {*progress} == {"state", "message", "done", "checked", "range_db"}
    assert progress.items() <= info.items()


@pytest.mark.parametrize(
    ("began", "change", "after"),
    [("2025-10-25T12:00", 15 * 3600, 3600), ("2025-03-29T23:30", 2.5 * 3600, 7200)],
)
def test_changes_of_clocks_are_in_the_description(
    view: RecordingView, began: str, change: float, after: float
) -> None:
    start = datetime.fromisoformat(began).replace(tzinfo=ZoneInfo("Europe/Paris"))
    recording = view.index.recording
    view.index.seconds = 86_400.0
    view.index.recording = Recording("x", recording.stretches, 86_400.0, RATE, 1, start)
    assert describe_view(view)["offsets"][1:] == [[change, after]]


def test_paths_of_folders_are_not_sent(view: RecordingView) -> None:
    recording = view.index.recording
    (stretch,) = recording.stretches
    notes = (f"{stretch.path}: odd",)
    view.index.recording = Recording("x", recording.stretches, 30.0, RATE, 1, None, (), notes)
    view.index.message = f"{stretch.path}: cannot be read"
    info = describe_view(view)
    assert info["notes"] == ["20250722_060000.wav: odd"]
    assert info["message"] == "20250722_060000.wav: cannot be read"


@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ("/srv/a b/cache/x: cannot write to the cache", "x: cannot write to the cache"),
        (
            "[Errno 13] Permission denied: '/srv/a b/x.wav'",
            "[Errno 13] Permission denied: 'x.wav'",
        ),
        ("the file /srv/days/x.wav is short", "the file x.wav is short"),
        ("3 dB/octave and 5 / 2, see https://example.org/a/b", None),
    ],
)
def test_other_paths_are_not_sent_either(
    view: RecordingView, message: str, sent: str | None
) -> None:
    view.index.message = message
    assert describe_progress(view)["message"] == (sent or message)


@pytest.mark.parametrize("coding", ["gzip", "identity"])
def test_a_tile_has_its_rows_and_may_be_kept(
    client: TestClient, view: RecordingView, coding: str
) -> None:
    for _ in range(2):  # made, and from memory
        address = f"/recording/tile/{view.index.digest}/max/0/1"
        reply = client.get(address, headers={"Accept-Encoding": coding})
        rows = np.frombuffer(reply.content, np.uint8).reshape(40, int(reply.headers["X-Columns"]))
        assert np.array_equal(rows, view.index.shown_frames(1024, 1500).T)
        assert reply.headers["X-Complete"] == "1"
        assert reply.headers["Cache-Control"] == "private, max-age=31536000, immutable"
        assert reply.headers.get("Content-Encoding", "identity") == coding


def test_an_incomplete_tile_is_not_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "x.wav", sound(30))
    index = RecordingIndex(open_recording([path]), cache=Cache(tmp_path / "cache"))
    with TestClient(make_browse_app(RecordingView(index), MessageLimiter())) as client:
        address = f"/recording/tile/{index.digest}/mean/6/0"
        reply = client.get(address)
        assert (reply.headers["X-Complete"], reply.headers["Cache-Control"]) == ("0", "no-store")
        assert {*reply.content} == {ABSENT_BYTE}
        index.start().wait()
        reply = client.get(address)
        assert reply.headers["X-Complete"] == "1"
        assert ABSENT_BYTE not in reply.content


@pytest.mark.parametrize(
    "address",
    ["tile/0123/max/0/0", "tile/{digest}/max/0/2", "tile/{digest}/max/x/0", "tile/{digest}/max/0/x",
     "tile/{digest}/max/0/" + "9" * 5000, "tile/{digest}/max/" + "9" * 5000 + "/0",
     "tile/{digest}/other/0/0", "tile/{digest}/max/-1/0", "other", "../../etc/passwd"],
)  # fmt: skip
def test_nothing_else_is_reachable(client: TestClient, view: RecordingView, address: str) -> None:
    reply = client.get("/recording/" + address.replace("{digest}", view.index.digest))
    assert reply.status_code == 404
    assert reply.json()["error"]["code"] == "not_here"


@pytest.mark.parametrize(("start", "seconds"), [(0, 2), (12.3456, 0.5), (28.5, 10), (29.9999, 1)])
def test_sound_is_cut_exactly(client: TestClient, start: float, seconds: float) -> None:
    reply = client.get(f"/recording/sound?start={start}&seconds={seconds}")
    assert reply.headers["content-type"] == "audio/wav"
    assert reply.headers["cache-control"] == "no-store"  # the next recording has the same address
    samples, rate = soundfile.read(io.BytesIO(reply.content), dtype="int16")
    first = round(start * RATE)
    expected = to_int16(sound(30)[first : first + round(seconds * RATE)])
    assert rate == RATE
    assert np.array_equal(samples, expected)


@pytest.mark.parametrize(
    "query",
    ["", "start=1", "start=x&seconds=1", "start=nan&seconds=1", "start=-1&seconds=1",
     "start=30&seconds=1", "start=1&seconds=11", "start=1&seconds=0", "start=1&seconds=1e-9"],
)  # fmt: skip
def test_impossible_excerpts_are_refused(client: TestClient, query: str) -> None:
    reply = client.get(f"/recording/sound?{query}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_time")


def test_sound_is_refused_until_it_is_checked_for_speech(tmp_path: Path) -> None:
    path = written(tmp_path / "x.wav", sound(30))
    settings = IndexSettings(speech="mute", detector="cues")
    index = RecordingIndex(open_recording([path]), cache=Cache(tmp_path), settings=settings)
    with TestClient(make_browse_app(RecordingView(index), MessageLimiter())) as client:
        reply = client.get("/recording/sound?start=1&seconds=1")
        assert (reply.status_code, reply.json()["error"]["code"]) == (503, "not_yet")
        fine = client.get(f"/recording/tile/{index.digest}/fine/0/0")
        assert (fine.headers["X-Complete"], {*fine.content}) == ("0", {ABSENT_BYTE})
        index.start().wait()
        assert client.get("/recording/sound?start=1&seconds=1").status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8010", 200), ("localhost", 200), ("[::1]:8010", 200), ("evil.example:8010", 421)],
)
def test_a_local_server_refuses_other_host_names(
    view: RecordingView, host: str, status: int
) -> None:
    app = make_browse_app(view, MessageLimiter(), LOOPBACK_HOSTS)
    with TestClient(app) as client:
        assert client.get("/recording/info", headers={"Host": host}).status_code == status


def test_a_changed_file_is_said_on_a_page_and_in_replies(
    client: TestClient, view: RecordingView, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(view.index.recording.stretches[0].path).unlink()
    for address in ("info", f"tile/{view.index.digest}/max/0/0", "sound?start=0&seconds=1"):
        reply = client.get(f"/recording/{address}")
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "changed")
    monkeypatch.setattr(index_module, "CHECK_SECONDS", 1000.0)
    view.index._checked_at = monotonic()  # what was just checked may have vanished since
    for address in (f"tile/{view.index.digest}/fine/0/0", "sound?start=0&seconds=1"):
        assert client.get(f"/recording/{address}").status_code == 409
    view.index._checked_at = 0.0
    page = client.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 409
    assert "20250722_060000.wav no longer exists. Open the recording again." in page.text


def test_the_page_escapes_names_and_loads_nothing_from_elsewhere(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "<title>&lt;b&gt;day &amp; night</title>" in page.text
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert client.get("/l/abc").status_code == 404


def test_routes_work_under_any_prefix_and_may_be_refused(view: RecordingView) -> None:
    def find(request: object) -> RecordingView:
        if request.path_params["token"] != "good":  # type: ignore[attr-defined]
            raise Refusal(403, "not_now", "no")
        return view

    async def refuse(_: object, error: Exception) -> object:
        from starlette.responses import JSONResponse

        return JSONResponse(refusal_from_error(error).body, refusal_from_error(error).status)

    routes = recording_routes("/l/{token}/recording", find)
    app = Starlette(routes=routes, exception_handlers={Refusal: refuse})  # type: ignore[dict-item]
    with TestClient(app) as client:
        assert client.get("/l/good/recording/info").json()["name"] == NAME
        assert client.get("/l/bad/recording/info").status_code == 403


def test_few_tiles_are_kept_in_memory() -> None:
    tiles = TileCache(10)
    for number in range(3):
        tiles.add((str(number),), SentTile(b"1234", number, False))
    kept = [tiles.get((str(number),)) for number in range(3)]
    assert [tile and tile.columns for tile in kept] == [None, 1, 2]
