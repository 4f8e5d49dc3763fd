"""CPU time, response times and memory of the server by the number of listeners.

For 50, 200, 500 and 1,000 listeners in the middle of an ACR study of 400 pages, with SQLite and
PostgreSQL. Every listener in turn loads the audio of the next trial, sends a batch of events and
sends an answer, each on a connection of their own, 40 answers per second in all. They run on the
same machine as the server. CPU time is that of the server process, per answer with its sound and
its events; it depends on the speed of the machine at the moment, which the first line shows.
Before, visitors open /join and press Start, one after the other, with half of the places taken;
then others open it with all places taken.
`--quick` uses 20 listeners.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import time
import uuid
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, select, update

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.store import disk, postgresql

from earwitness.store.records import ParticipationState
from earwitness.store.store import Store
from earwitness.store.tables import answers, listeners
from earwitness.studies.admin import study_links
from earwitness.web.site import SiteSettings, make_site

LATENCY_BAR, CPU_BAR = 100, 5  # milliseconds: 99th percentile of acknowledgements, CPU per answer
JOIN_BAR, VISITORS = 3, 500  # milliseconds of CPU per request to /join, each visitor sends two
COUNTS, QUICK_COUNTS = (50, 200, 500, 1000), (20,)
ANSWERS_PER_SECOND, SECONDS = 40, 25
CLIPS, SYSTEMS, RATE = 200, ("C0", "C1"), 16_000
STUDY = """\
title: Many at once
systems: [C0, C1]
files: "{{system}}/{{item}}.wav"
listeners: {listeners}
seed: {seed}
consent: I may stop at any time.
blocks: [{{kind: acr, clips: {clips}}}]
"""


# --- Study and server ----------------------------------------------------------------------------


def write_study(folder: Path, listeners: int, seed: int = 1) -> Path:
    """Write a study file and audio files of two seconds; return the path of the study file."""
    noise = np.random.default_rng(1).integers(-3000, 3000, 2 * RATE, dtype=np.int16).tobytes()
    for place in (folder / system / f"clip{n}.wav" for system in SYSTEMS for n in range(CLIPS)):
        if not place.exists():
            place.parent.mkdir(exist_ok=True)
            with wave.open(str(place), "wb") as file:
                file.setparams((1, 2, RATE, 0, "NONE", ""))
                file.writeframes(noise)
    path = folder / f"study{listeners}_{seed}.yaml"
    path.write_text(STUDY.format(listeners=listeners, clips=CLIPS, seed=seed))
    return path


def answer_first_half(connection: Connection) -> None:
    """Insert answers to the first half of the pages of every listener, without checks."""
    half = CLIPS * len(SYSTEMS) // 2
    fixed: dict[str, Any] = {
        "values": '{"QUALITY": 3}',
        "heard": "x" * 60,
        "at": "x" * 29,
        "version": "0.1.0",
    }
    fixed |= {"received": "2026-01-01T00:00:00.000+00:00", "supersedes": "", "aside": 0}
    pages = ["consent", *(f"1.{number}" for number in range(half))]
    for serial in list(connection.scalars(select(listeners.c.serial))):
        rows = [{"listener": serial, "page": page, "id": f"fill-{page}"} | fixed for page in pages]
        connection.execute(insert(answers), rows)
    joined = {"state": ParticipationState.JOINED.value, "joined": fixed["received"]}
    connection.execute(update(listeners).values(joined))


@dataclass(frozen=True)
class Served:
    """A running server: its address, and its process."""

    port: int
    process: int

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_megabytes(self) -> float:
        """Return the resident memory of the process."""
        status = Path(f"/proc/{self.process}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found
        return int(found[1]) / 1024


@contextmanager
def serving(path: Path, address: str, *options: str) -> Iterator[Served]:
    """Run a server in a separate process."""
    command = [sys.executable, "-m", "earwitness", "serve", str(path), "--db", address]
    command += ["--port", "0", *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    found = re.search(r"at http\S+:(\d+)/ ", server.stderr.readline())
    assert found
    try:
        yield Served(int(found[1]), server.pid)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


# --- Listeners -----------------------------------------------------------------------------------


class Client:
    """A connection to the server; it costs less CPU time than a general HTTP client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> Client:
        """Connect to the server."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def request(self, path: str, body: Any = None, status: int = 200) -> bytes:
        """Return the body of a successful reply."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: localhost\r\n"
        self._writer.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        reply = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", reply)
        assert length
        content = await self._reader.readexactly(int(length[1]))
        if not reply.startswith(b"HTTP/1.1 %d" % status):
            raise RuntimeError(f"{path}: {reply[:20]!r} {content[:200]!r}")
        return content

    @property
    def is_open(self) -> bool:
        """Whether the server has not closed the connection."""
        return not self._reader.at_eof() and not self._writer.is_closing()

    def close(self) -> None:
        """Close the connection."""
        self._writer.close()


@dataclass
class Load:
    """Listeners who take turns, and the response times of their answers."""

    port: int
    links: list[str]
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    clients: dict[str, Client] = field(default_factory=dict)
    waited: list[float] = field(default_factory=list)

    async def arrive(self) -> None:
        """Let every listener open the page."""
        client = await Client.open(self.port)
        for link in self.links:
            self.states[link] = json.loads(await client.request(f"{link}/state"))
        client.close()

    async def run(self, count: int) -> None:
        """Send answers at a constant rate; the listeners take turns."""
        start = time.perf_counter()
        turns = []
        for number in range(count):
            await asyncio.sleep(start + number / ANSWERS_PER_SECOND - time.perf_counter())
            turns.append(asyncio.create_task(self.take_turn(self.links[number % len(self.links)])))
        await asyncio.gather(*turns)
        for client in self.clients.values():
            client.close()

    async def connect(self, link: str) -> Client:
        """Return the connection of a listener; like a browser, keep it as long as the server."""
        client = self.clients.get(link)
        if client is None or not client.is_open:
            client = self.clients[link] = await Client.open(self.port)
        return client

    async def take_turn(self, link: str) -> None:
        """Load the next sound, send events and an answer; keep the state for the next turn."""
        state = self.states.pop(link, None)
        if state is None:  # still busy with the previous page
            return
        client, page = await self.connect(link), state["page"]
        for address in state["ahead"]:
            await client.request(address)
        event = {"page": page["name"], "at": "2026-01-01T00:00:00.000Z", "sound": 0}
        ended = event | {"kind": "play_ended", "question": "QUALITY", "seconds": 2.0, "ended": True}
        events = [event | {"kind": "play_started"}, ended]
        await client.request(f"{link}/events", {"id": str(uuid.uuid4()), "events": events})
        values = {one["name"]: one["options"][0]["value"] for one in page.get("questions", ())}
        play = {"sound": 0, "question": "QUALITY", "seconds": 2.0, "ended": True}
        body = {"id": str(uuid.uuid4()), "page": page["name"], "values": values, "at": ""}
        sent = time.perf_counter()
        reply = await client.request(f"{link}/answers", body | {"meta": {"plays": [play]}})
        self.waited.append(time.perf_counter() - sent)
        self.states[link] = json.loads(reply)["state"]


def addition_nanoseconds() -> float:
    """Return the CPU time of an addition in Python."""
    start, total = time.process_time(), 0
    for number in range(2_000_000):
        total += number
    return (time.process_time() - start) * 500


def benchmark_join(path: Path, address: str, count: int) -> bool:
    """Print the CPU time of a request to /join; return whether the bar is met."""
    with Store.open(address) as store:
        site = make_site(path, store, SiteSettings(open=count))
        for number in range(count // 2):
            store.claim(site.digest, f"visitor {number}")
    with serving(path, address, "--open", str(count)) as server:

        async def measure(*, start: bool, status: int) -> float:
            client = await Client.open(server.port)
            before = server.cpu_seconds()
            for _ in range(VISITORS):
                await client.request("/join", status=status)
                if start:
                    await client.request("/join", {}, status=303)
            client.close()
            return (server.cpu_seconds() - before) / (1 + start) / VISITORS * 1000

        cpu = asyncio.run(measure(start=True, status=200))
        with Store.open(address) as store:
            for number in range(count // 2, count):
                store.claim(site.digest, f"visitor {number}")
        full = asyncio.run(measure(start=False, status=403))
    verdict = "met" if max(cpu, full) <= JOIN_BAR else "MISSED"
    print(
        f"{address.partition(':')[0]} with {count:,} open places: CPU {cpu:.2f} ms per request to "
        f"/join, {full:.2f} ms if all are taken (bar {JOIN_BAR}: {verdict})",
        flush=True,
    )
    return max(cpu, full) <= JOIN_BAR


def benchmark(path: Path, address: str, seconds: float) -> bool:
    """Print the results of one database and number of listeners; return whether bars are met."""
    links = [one["link"] for one in study_links(path, address)]
    with Store.open(address) as store:
        store.write(answer_first_half).result()
    with serving(path, address) as server:
        load = Load(server.port, links)

        async def measure() -> float:
            await load.arrive()
            before = server.cpu_seconds()
            await load.run(int(seconds * ANSWERS_PER_SECOND))
            return server.cpu_seconds() - before

        cpu = asyncio.run(measure()) / len(load.waited) * 1000
        memory = server.memory_megabytes()
    middle, late = np.percentile(np.array(load.waited) * 1000, [50, 99])
    verdicts = ["met" if ok else "MISSED" for ok in (cpu <= CPU_BAR, late <= LATENCY_BAR)]
    print(
        f"{address.partition(':')[0]} with {len(links):,} listeners: {len(load.waited)} answers"
        f", CPU {cpu:.2f} ms per answer (bar {CPU_BAR}: {verdicts[0]}), p50 {middle:.1f} ms"
        f", p99 {late:.1f} ms (bar {LATENCY_BAR}: {verdicts[1]}), memory {memory:.0f} MB",
        flush=True,
    )
    return "MISSED" not in verdicts


def main() -> None:
    """Print the results of both databases; the exit status is 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listeners", type=int, nargs="*", default=COUNTS)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each measurement")
    parser.add_argument("--sqlite", action="store_true", help="without PostgreSQL")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    with TemporaryDirectory() as place:
        speed = f"an addition in Python takes {addition_nanoseconds():.0f} ns"
        all_met = True
        print(f"{disk(Path(place))}; {speed}; {ANSWERS_PER_SECOND} answers per second", flush=True)
        for count in QUICK_COUNTS if chosen.quick else chosen.listeners:
            path = write_study(Path(place), count)
            join_path = write_study(Path(place), count, seed=2)
            sqlite_address = f"sqlite:///{place}/store{count}.db"
            all_met &= benchmark_join(join_path, sqlite_address, count)
            all_met &= benchmark(path, sqlite_address, chosen.seconds)
            if not chosen.sqlite:
                with postgresql() as address:
                    all_met &= benchmark_join(join_path, address, count)
                    all_met &= benchmark(path, address, chosen.seconds)
    sys.exit(not all_met)


if __name__ == "__main__":
    main()
