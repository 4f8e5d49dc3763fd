"""The real server as a process of its own, with a small study whose sounds are made here.

Names of systems and clips are words that stand nowhere else, also inside the files themselves: so
it can be looked for whether any of them reaches a browser.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import signal
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import httpx2
from browser.helpers.fake_server import tone

from earwitness.cli.main import main
from earwitness.store.records import ParticipationState, SubmittedAnswer
from earwitness.store.store import Store
from earwitness.studies.admin import study_links
from earwitness.studies.file.reader import read_study
from helpers.command_line import run
from helpers.http_listener import answer
from helpers.study_listener import Anyone

SYSTEMS, CLIPS, SCALES = ("Kestrel", "Osprey"), ("bittern", "curlew", "dunlin"), ("SIG", "BAK")
FOLDER, FILE = "aviary", "merlin.yaml"
ANCHORS, ANCHOR = "plover", "godwit"
HIDDEN = (*SYSTEMS, *CLIPS, ANCHORS, ANCHOR, FOLDER, FILE.partition(".")[0], ".wav")
STUDY = """\
title: Small sounds
seed: 3
language: {language}
systems: [Kestrel, Osprey]
files: "{{system}}/{{item}}.wav"
listeners: 2
anchors: plover
training: 1
feedback: true
gold: expected.csv
rest_minutes: 0.02
instructions: "…"
consent: "…"
forms:
  before:
    - {{name: age, prompt: "…?", answer: number}}
    - {{name: worn, prompt: "…??", answer: choice, options: ["A", "B"]}}
    - {{name: more, prompt: "…???", needed: false}}
blocks:
  - kind: p835
    clips: 2
    sessions: 2
"""
PAGES = (
    *("consent", "before", "instructions", "training.0", "training.1", "feedback.1"),
    *("anchors.0", "anchors.1"),
    *("1.0", "1.1", "1.2", "rest.2", "2.0", "2.1", "2.2"),
)
TRIALS = ("training.1", "anchors.1", "1.1", "1.2", "2.1", "2.2")
Write = Callable[[Path, Path, str], None]
FORKS = multiprocessing.get_context("forkserver")  # of a process that has imported the server
FORKS.set_forkserver_preload(["earwitness.cli.serve"])


class RealServer:
    """A study that is served; it can be stopped for a while, killed, and started again."""

    def __init__(self, folder: Path, language: str, more: tuple[str, ...], write: Write) -> None:
        self.more = more
        self.study, self.db = folder / FILE, folder / "store.db"
        self.port = 0
        write(folder, self.study, language)
        self.start()
        self.links = self._links()

    def start(self) -> None:
        """Serve, on the same port as before if there was one."""
        command = ["serve", str(self.study), "--db", str(self.db), "--port", str(self.port)]
        self.stderr, written = FORKS.Pipe(duplex=False)
        self.process = FORKS.Process(target=_run, args=([*command, *self.more], written))
        self.process.start()
        written.close()
        with open(self.stderr.fileno(), closefd=False, encoding="utf-8") as lines:
            told = lines.readline()
        found = re.search(r"at (http://\S+):(\d+)/ ", told)
        if not found:
            self.kill()
        assert found, told
        self.base, self.port = f"{found[1]}:{found[2]}", int(found[2])

    def signal(self, sign: signal.Signals) -> None:
        """Stop it (SIGSTOP), or let it go on (SIGCONT)."""
        assert self.process.pid is not None
        os.kill(self.process.pid, sign)

    def kill(self) -> None:
        """End it without a word to it, if it runs."""
        self.process.kill()
        self.process.join()
        self.stderr.close()

    def run(self, *command: str) -> str:
        """What the program prints, given this study and its store."""
        done = run("study", command[0], self.study, "--db", self.db, *command[1:])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _links(self) -> list[str]:
        return [f"{self.base}{one['link']}" for one in study_links(self.study, str(self.db))]

    def answer_up_to(self, stop: str, listener: int = 1) -> dict[str, Any]:
        """Answer the pages before one over HTTP, without a browser; what was answered, by page."""
        place, respond = self.links[listener - 1], Anyone()
        answered: dict[str, Any] = {}
        with httpx2.Client(timeout=60) as client:
            page = client.get(f"{place}/state").json()["page"]
            while page["name"] != stop:
                answered[page["name"]] = respond(page)
                got = client.post(f"{place}/answers", json=answer(page, answered[page["name"]]))
                assert got.status_code == 200, got.text
                page = got.json()["state"]["page"]
        return answered

    def exported(self) -> list[dict[str, Any]]:
        """Answers as ``study export`` writes them."""
        return [json.loads(line) for line in self.run("export").strip().split("\n")]

    def history(self, listener: int = 1) -> list[SubmittedAnswer]:
        """All answers of a listener that the store ever took."""
        with self._store() as (store, digest):
            return store.history(digest, listener)

    def told(self, what: str, page: str, listener: int = 1) -> int:
        """How many events of one sort on a page the store has."""
        with self._store() as (store, digest):
            return len(store.page_events(digest, listener, page, what))

    def events(self, listener: int = 1) -> int:
        """How many events of a listener the store has."""
        with self._store() as (store, digest):
            return len(store.events(digest, listener))

    def holds(self, text: str) -> bool:
        """Whether a text stands anywhere in the files of the store."""
        found = self.db.parent.glob(f"{self.db.name}*")
        return any(text.encode() in one.read_bytes() for one in found)

    def state(self, listener: int = 1) -> ParticipationState:
        """How far a listener is."""
        with self._store() as (store, digest):
            return store.status(digest)[listener - 1].listener.state

    @contextmanager
    def _store(self) -> Iterator[tuple[Store, str]]:
        with Store.open(str(self.db)) as store:
            yield store, read_study(self.study).digest


def _run(command: list[str], stderr: Connection) -> None:
    """Run a command in this process, and write standard error to a pipe."""
    sys.stderr = open(stderr.fileno(), "w", buffering=1, closefd=False, encoding="utf-8")  # noqa: SIM115
    main(command)


def write_study(folder: Path, study: Path, language: str) -> None:
    """The small study with its sounds."""
    for number, (system, clip) in enumerate(product(SYSTEMS, CLIPS)):
        path = folder / system / f"{clip}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(signed(tone(hertz=300 + 50 * number), f"{system} {clip}"))
    anchor = folder / ANCHORS / f"{ANCHOR}.wav"
    anchor.parent.mkdir(exist_ok=True)
    anchor.write_bytes(signed(tone(hertz=900), f"{ANCHORS} {ANCHOR}"))
    rows = [f"{clip},{one},{scale},4" for clip, one, scale in product(CLIPS, SYSTEMS, SCALES)]
    (folder / "expected.csv").write_text("\n".join(["item,system,scale,value", *rows, ""]))
    study.write_text(STUDY.format(language=language), encoding="utf-8")


def signed(sound: bytes, text: str) -> bytes:
    """A sound whose file says what it is, after its samples."""
    own = text.encode() + b" " * (len(text) % 2)
    chunk = b"LIST" + struct.pack("<I", len(own)) + own
    return sound[:4] + struct.pack("<I", len(sound) + len(chunk) - 8) + sound[8:] + chunk


@contextmanager
def really_served(
    folder: Path, language: str = "en", *more: str, write: Write = write_study
) -> Iterator[RealServer]:
    """A server while the block runs; ``more`` are options of ``serve``."""
    server = RealServer(folder / FOLDER, language, more, write)
    try:
        yield server
    finally:
        server.kill()
