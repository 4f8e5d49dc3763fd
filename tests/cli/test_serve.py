"""The server in a thread, and as a process of its own, which is killed and stopped."""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import sys
import threading
import time
import wave
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any
from unittest import mock

import httpx2
import pytest

from earwitness.cli import serve
from earwitness.store.store import Store
from earwitness.studies.admin import exposure_notes, study_links
from earwitness.studies.file.reader import read_study
from earwitness.web.connections import LimitedServer, make_server, open_socket, socket_address
from helpers.command_line import Finished, run
from helpers.http_listener import answer, link, served, take
from helpers.samples import many
from helpers.study_listener import Anyone, study

NO_REST = "rest_minutes: 0\n"
LISTENERS = 2


class Running:
    """A server in a process, and its address."""

    def __init__(self, path: Path, address: str, *more: str) -> None:
        command = [sys.executable, "-m", "earwitness", "serve", str(path), "--db", address]
        self.process = subprocess.Popen(
            [*command, "--port", "0", *more], stderr=subprocess.PIPE, text=True
        )
        assert self.process.stderr is not None
        self.told = [self.process.stderr.readline(), self.process.stderr.readline()]
        found = re.search(r"at (http://\S+)/ ", self.told[0])
        assert found, self.told
        self.address = found[1]

    def end(self, sign: int) -> tuple[int, str]:
        """Send a signal and wait; how it ended, and what it said last."""
        self.process.send_signal(sign)
        assert self.process.stderr is not None
        with self.process.stderr as said:  # some of it may have been read ahead already
            rest = said.read()
        return self.process.wait(60), rest


@contextmanager
def running(path: Path, address: str, *more: str) -> Iterator[Running]:
    server = Running(path, address, *more)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.end(signal.SIGKILL)


class Serving:
    """The command in a thread of this process, and the address of its server."""

    def __init__(self, server: LimitedServer, command: Future[Finished]) -> None:
        while not (server.started or command.done()):
            time.sleep(0.01)
        self._server, self._command = server, command
        self.address = socket_address(server.servers[0].sockets[0])

    def end(self) -> list[str]:
        """Stop the server; the lines that it printed."""
        self._server.should_exit = True
        done = self._command.result(60)
        assert (done.returncode, done.stdout) == (0, "")
        assert done.stderr.startswith("serving ")
        return done.stderr.splitlines()


@contextmanager
def serving(path: Path, address: str | Path, *more: str) -> Iterator[Serving]:
    """A server without another process; no signal reaches a thread."""
    servers = SimpleQueue[LimitedServer]()

    def make(*given: Any) -> LimitedServer:
        server = make_server(*given)
        servers.put(server)
        return server

    with (
        mock.patch.object(serve, "make_server", make),
        mock.patch.object(signal, "signal"),
        # handlers of other libraries write to what pytest reads, and would close it
        mock.patch.object(logging, "shutdown"),
        ThreadPoolExecutor(1) as pool,
    ):
        command = pool.submit(run, "serve", path, "--db", address, "--port", 0, *more)
        server = servers.get(timeout=60)
        try:
            yield Serving(server, command)
        finally:
            server.should_exit = True


def served_once(path: Path, address: str | Path, *more: str) -> list[str]:
    """What a server prints that is visited once; its first two lines are its addresses."""
    with serving(path, address, *more) as server:
        assert httpx2.get(f"{server.address}/").status_code == 200
        return server.end()[2:]


def answering(server: str, own: str, stored: list[str], enough: threading.Event) -> dict[str, Any]:
    """Answer pages until the server is gone or the study is done; the last state that was seen."""
    state: dict[str, Any] = {}
    with httpx2.Client(base_url=server, timeout=60) as client:
        try:
            state = client.get(f"{own}/state").json()
            while not state["done"]:
                page = state["page"]
                got = client.post(f"{own}/answers", json=answer(page, Anyone()(page))).json()
                stored.append(page["name"])
                state = got["state"]
                if len(stored) >= 5:
                    enough.set()
        except httpx2.TransportError:
            pass  # it was killed
    enough.set()
    return state


def test_a_server_that_is_killed_has_lost_nothing_that_it_acknowledged(
    folder: Path, address: str
) -> None:
    path = study(folder, "acr", NO_REST)
    links = [one["link"] for one in study_links(path, address)]
    stored: list[list[str]] = [[] for _ in links]
    kills = many(1, 6)
    for turn in range(kills + 1):
        with running(path, address) as server, ThreadPoolExecutor(LISTENERS) as pool:
            enough = threading.Event()
            own = [list[str]() for _ in links]
            work = [
                pool.submit(answering, server.address, one, seen, enough)
                for one, seen in zip(links, own, strict=True)
            ]
            if turn < kills:
                assert enough.wait(60)
                assert server.end(signal.SIGKILL)[0] == -signal.SIGKILL
            states = [one.result() for one in work]
        for known, new in zip(stored, own, strict=True):
            known += new
        with Store.open(address) as store:
            [digest] = {one.listener.study for one in map(store.visit, _tokens(links)) if one}
            for number, known in enumerate(stored, 1):
                kept = [one.page for one in store.answers(digest, number)]
                assert len(set(kept)) == len(kept)
                assert set(known) <= set(kept)
    assert all(state["done"] for state in states)
    for known in stored:
        assert len(set(known)) == len(known)  # nothing was asked again


def _tokens(links: list[str]) -> list[str]:
    return [link.rpartition("/")[2] for link in links]


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_ends_in_good_order(folder: Path, sign: int) -> None:
    path = study(folder, "acr", NO_REST)
    with running(path, str(folder / "own.db"), "--root-path", "/x", "--open", "1") as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert server.told[1].startswith(f"links: earwitness study links {path} --db ")
        got = httpx2.get(f"{server.address}/")
        assert (got.status_code, "server" in got.headers) == (200, False)
        assert httpx2.head(f"{server.address}/join").status_code == 200
        assert httpx2.post(f"{server.address}/join").headers["location"].startswith("/x/l/")
        code, told = server.end(sign)
    assert code == 0, told
    assert told.splitlines()[0].startswith(f"open link: {server.address}/join (free places: 1)")
    assert told.splitlines()[-1] == "Stopped. All received answers are saved."
    assert not (folder / "own.db-wal").exists()


def test_a_server_whose_database_is_renamed_refuses_answers_until_it_is_back(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    own, *_ = [one["link"] for one in study_links(path, db)]
    loss = f"{db} was renamed while in use; the answers received before are in {folder / 'x.db'}"

    def send(server: Serving) -> int:
        got = httpx2.get(f"{server.address}{own}/state")
        assert got.status_code == 200
        page = got.json()["page"]
        url = f"{server.address}{own}/answers"
        return httpx2.post(url, json=answer(page, Anyone()(page))).status_code

    with serving(path, db) as server:
        assert send(server) == 200
        db.rename(folder / "x.db")
        assert [send(server), send(server)] == [503, 503]
        (folder / "x.db").rename(db)
        assert [send(server), send(server)] == [200, 200]
        db.rename(folder / "x.db")
        _, _, _, log, *_, last = server.end()
    assert log.startswith(f"earwitness: {loss}; nothing is saved until the file is back")
    assert last == f"Stopped. {loss}."
    with Store.open(folder / "x.db") as store:
        assert len(store.answers(read_study(path).digest)) == 3


def told_of_the_open_link(path: Path, db: Path, places: int) -> list[str]:
    """What a server says of its open link, when it starts and when somebody comes."""
    with serving(path, db, "--open", str(places)) as server:
        for _ in range(2):
            httpx2.get(f"{server.address}/join")
        return [line for line in server.end() if "open link: " in line]


def test_a_server_says_when_nobody_can_come_by_its_open_link(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    study_links(path, db)
    first, second, third = told_of_the_open_link(path, db, 1)
    assert first.endswith("/join (free places: 0)")
    assert "1 of 1 open places have personal links" in second
    command = f"study links {path} --db {db} --take-back 1"
    assert f" — revoke unused links with earwitness {command}, then serve again" in second
    assert third.startswith("earwitness: open link: no free places left")
    assert run(*command.split()).returncode == 0
    [only] = told_of_the_open_link(path, db, 1)
    assert only.endswith("/join (free places: 1)")
    with Store.open(db) as store:
        store.claim(read_study(path).digest, "a")
    _, second, _ = told_of_the_open_link(path, db, 1)
    assert second.startswith("open link: all places are taken")


def test_a_server_says_when_sounds_can_be_told_apart(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    for name in "abcd":
        with wave.open(str(folder / "C1" / f"{name}.wav"), "wb") as file:
            file.setparams((2, 2, 1000, 0, "NONE", ""))
            file.writeframes(b"\0\x20\0\xe0" * 100)
    first, *_ = served_once(path, db)
    assert first.startswith("note: the size or header of audio files reveals the system")
    assert "for 4 clips (a, b, c, …) — convert all files to one sample rate" in first


def test_a_study_with_dead_ends_is_refused_before_anything_is_written(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    for name in "abcd":
        (folder / "C1" / f"{name}.wav").write_bytes(b"RIFF")
    path.write_text(path.read_text().replace('files: "{system}/{item}.wav"', "material: clips.csv"))
    rows = "".join(f"{name},2\n" for name in "abcd")
    (folder / "clips.csv").write_text(f"name,seconds\n{rows}")
    done = run("serve", path, "--db", db, "--port", 0)
    assert done.returncode == 2
    assert done.stderr.count("unreadable audio file: ") > 1
    assert "nothing was served" in done.stderr
    assert not db.exists()


def test_audio_files_that_study_check_refuses_are_not_served(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    with wave.open(str(folder / "C1" / "a.wav"), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(bytes(16_000))
    refused = [run(*command, path) for command in (["study", "check"], ["serve", "--db", db])]
    assert [done.returncode for done in refused] == [2, 2]
    assert refused[0].stderr == refused[1].stderr
    assert "a.wav: is silent" in refused[0].stderr
    assert not db.exists()
    assert served_once(path, db, "--no-audio")[-1].startswith("Stopped.")


def test_a_server_that_can_be_reached_from_elsewhere_says_how_and_that_nothing_is_encrypted(
    folder: Path,
) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    for more, count in (((), 1), (("--trust-proxy", "127.0.0.1"), 0)):
        with serving(path, db, "--host", "0.0.0.0", "--open", "1", *more) as server:
            port = server.address.rpartition(":")[2]
            assert httpx2.get(f"http://127.0.0.1:{port}/").status_code == 200
            printed = server.end()
        assert printed[1].endswith(f" --base http://HOST:{port}")
        told = "\n".join(printed)
        assert told.count("warning: links and answers travel unencrypted") == count
        assert told.count("open link: works with an IP address or localhost") == 1


def test_a_server_says_that_its_store_has_another_form_of_the_study(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    with served(path, str(db)) as client:
        take(client, link(client), stop="1.1")
    path.write_text(path.read_text() + "seed: 3\n")
    first, *_ = served_once(path, db)
    assert first.startswith(
        "note: the database has answers to another version of this study (digest "
    )
    assert "6 answers from 1 listener" in first


def test_a_server_says_whom_the_study_has_no_more(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    with served(path, str(db)) as client:
        take(client, link(client, 2), stop="1.1")
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 1\n"))
    first, *_ = served_once(path, db)
    assert first.startswith("note: listeners 2 have answered, but are no longer part of the study")
    assert "set listeners to 2 again" in first


def test_a_port_that_is_taken_is_told(folder: Path) -> None:
    path = study(folder, "acr", NO_REST)
    with open_socket("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        done = run("serve", path, "--port", port)
    assert done.returncode == 2
    assert f"127.0.0.1:{port}: cannot listen on this address: " in done.stderr


@pytest.mark.parametrize(("trusted", "secure"), [("127.0.0.1", True), ("10.0.0.1", False)])
def test_what_proxies_say_holds_only_if_they_are_trusted(
    folder: Path, trusted: str, secure: bool
) -> None:
    path = study(folder, "acr", NO_REST)
    more = ["--open", "1", "--trust-proxy", trusted]
    with serving(path, folder / "own.db", *more) as server:
        forwarded = {"x-forwarded-proto": "https", "x-forwarded-for": "1.2.3.4"}
        got = httpx2.post(f"{server.address}/join", headers=forwarded)
        assert ("Secure" in got.headers["set-cookie"]) is secure


def take_place(server: str, **forwarded: str) -> int:
    """Press Start at the open link and agree, with headers of a proxy; the status of the reply."""
    headers = {f"x-forwarded-{name}": text for name, text in forwarded.items()}
    with httpx2.Client(base_url=server, headers=headers) as client:
        started = client.post("/join")
        if started.status_code != 303:
            return started.status_code
        sent = answer({"name": "consent"}, {"agree": True})
        return client.post(f"{started.headers['location']}/answers", json=sent).status_code


def test_behind_a_proxy_each_address_has_its_places_and_the_host_name_must_be_allowed(
    folder: Path,
) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    path.write_text(path.read_text().replace("listeners: 2\n", "listeners: 9\n"))
    more = ("--open", "9", "--trust-proxy", "127.0.0.1", "--places-per-address", "2")
    names = ("--allow-host", "a.org,B.org.", "--allow-host", "c.org")
    with serving(path, db, *more, *names) as server:
        same = [{"for": "192.0.2.1"}, {"for": "2001:db8::1"}, {"for": "2001:db8::9:2"}]
        asked = [same[0], same[0], same[0], *same[1:], same[1], {"for": "2001:db8:0:1::1"}]
        statuses = [take_place(server.address, host="b.org", **one) for one in asked]
        assert statuses == [200, 200, 429, 200, 200, 429, 200]
        assert take_place(server.address, host="d.org") == 403
        told = "\n".join(server.end())
    assert told.count("2 places were taken from one address within an hour") == 1
    assert told.count("serve with --allow-host NAME") == 1  # the visitor at d.org
    assert "open link: works with" not in told
    told = "\n".join(served_once(path, db, *more))
    assert "open link: works with an IP address or localhost — for a host name" in told


def test_a_server_says_if_others_can_read_its_database(folder: Path) -> None:
    path, db = study(folder, "acr", NO_REST), folder / "own.db"
    with Store.open(db):
        pass
    assert exposure_notes(db) == []
    db.chmod(0o644)
    first, *_ = served_once(path, db)
    assert first.startswith(f"note: other users of this machine can read {db}")
    assert f"chmod 600 {db}" in first
    assert exposure_notes("postgresql://x/y") == []
