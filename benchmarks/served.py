"""Response times of the server with many simultaneous listeners, with SQLite and PostgreSQL.

Simulated listeners take a small ACR study. Each waits for some seconds on every page, loads the
audio of the next trial as a browser does, and waits for the acknowledgement of every answer. They
run on the same machine as the server. `--quick` uses 20 listeners; with `--think 0` they answer
immediately, which gives the maximum throughput of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import random
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

import httpx2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.store import disk, postgresql

from earwitness.studies.admin import study_links

BAR = 100  # milliseconds, 99th percentile of acknowledgements
CLIPS, SYSTEMS, RATE = 5, ("C0", "C1"), 16_000
STUDY = """\
title: Many at once
systems: [C0, C1]
files: "{{system}}/{{item}}.wav"
listeners: {listeners}
consent: I may stop at any time.
blocks: [{{kind: acr, clips: {clips}}}]
"""


def write_study(folder: Path, listeners: int) -> Path:
    """Write a study file and audio files of two seconds; return the path of the study file."""
    noise = np.random.default_rng(1).integers(-3000, 3000, 2 * RATE, dtype=np.int16).tobytes()
    for place in (folder / system / f"clip{n}.wav" for system in SYSTEMS for n in range(CLIPS)):
        place.parent.mkdir(exist_ok=True)
        with wave.open(str(place), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(noise)
    path = folder / "study.yaml"
    path.write_text(STUDY.format(listeners=listeners, clips=CLIPS))
    return path


@contextmanager
def serving(path: Path, address: str) -> Iterator[str]:
    """Run a server in a separate process; yield its base address."""
    command = [sys.executable, "-m", "earwitness", "serve", str(path), "--db", address]
    server = subprocess.Popen([*command, "--port", "0"], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    found = re.search(r"at (http\S+)/ ", server.stderr.readline())
    assert found
    try:
        yield found[1]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


@dataclass(frozen=True)
class Crowd:
    """Listeners who share an HTTP client, and the response times of their answers."""

    client: httpx2.AsyncClient
    think: float
    waited: list[float] = field(default_factory=list)

    async def take(self, own: str) -> None:
        """Simulate one listener, from the first page to the completion code."""
        await self.ponder()
        state = (await self.client.get(f"{own}/state")).json()
        while not state["done"]:
            for address in state["ahead"]:
                (await self.client.get(address)).raise_for_status()
            await self.ponder()
            state = await self.answer(own, state["page"])

    async def ponder(self) -> None:
        """Wait for 0.5 to 1.5 times the mean thinking time."""
        await asyncio.sleep(self.think * (0.5 + random.random()))

    async def answer(self, own: str, page: dict[str, Any]) -> dict[str, Any]:
        """Send an answer; return the state from its acknowledgement."""
        values = {one["name"]: one["options"][0]["value"] for one in page.get("questions", ())}
        heard = {"sound": 0, "question": "QUALITY", "seconds": 2.0, "ended": True}
        body = {"id": str(uuid.uuid4()), "page": page["name"], "values": values}
        start = time.perf_counter()
        got = await self.client.post(
            f"{own}/answers", json=body | {"meta": {"plays": [heard]}, "at": ""}
        )
        self.waited.append(time.perf_counter() - start)
        state: dict[str, Any] = got.raise_for_status().json()["state"]
        return state


async def crowd(base: str, links: list[str], think: float) -> tuple[list[float], float]:
    """Return the response times of answers, and the seconds until all listeners finished."""
    # The server closes connections after 5 idle seconds. Unlike a browser, this client does not
    # repeat a request that it sends at that moment.
    limits = httpx2.Limits(max_connections=len(links), keepalive_expiry=3)
    async with httpx2.AsyncClient(base_url=base, timeout=120, limits=limits) as client:
        all_of_them, start = Crowd(client, think), time.perf_counter()
        await asyncio.gather(*(all_of_them.take(own) for own in links))
    return all_of_them.waited, time.perf_counter() - start


def benchmark(path: Path, address: str, think: float) -> None:
    """Print the results of one database."""
    links = [one["link"] for one in study_links(path, address)]
    with serving(path, address) as base:
        waited, seconds = asyncio.run(crowd(base, links, think))
    middle, late, latest = np.percentile(np.array(waited) * 1000, [50, 99, 100])
    rate = (
        f"{len(waited):,} answers of {len(links)} listeners, {len(waited) / seconds:.0f} per second"
    )
    verdict = "met" if late <= BAR else "MISSED"
    told = f"p50 {middle:.1f} ms, p99 {late:.1f} ms (bar {BAR}: {verdict}), max {latest:.1f} ms"
    print(f"{address.partition(':')[0]}: {rate}; acknowledgement: {told}", flush=True)


def main() -> None:
    """Print the results of both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--listeners", type=int, default=200)
    parser.add_argument("--think", type=float, default=4.0, help="mean seconds per page")
    parser.add_argument("--quick", action="store_true")
    chosen = parser.parse_args()
    listeners = 20 if chosen.quick else chosen.listeners
    with TemporaryDirectory() as place:
        path = write_study(Path(place), listeners)
        print(
            f"{disk(Path(place))}; listeners take {chosen.think:g} s per page on average",
            flush=True,
        )
        benchmark(path, f"sqlite:///{place}/store.db", chosen.think)
        with postgresql() as address:
            benchmark(path, address, chosen.think)


if __name__ == "__main__":
    main()
