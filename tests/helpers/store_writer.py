"""A process that answers pages of one listener and says so once each is acknowledged.

It opens the store when it is told to go, so that several may open one at the same moment; then four
threads answer, each as fast as it can. Killing it at any moment is what it is for.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from earwitness.store.store import Store
from helpers.store_answers import DIGEST, answer

THREADS = 4


def start(address: str, name: str, count: int) -> subprocess.Popen[str]:
    """Such a process, which waits for its word."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "helpers.store_writer", address, name, str(count)]
    paths = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=env)


def go(*processes: subprocess.Popen[str]) -> None:
    """Wait until all are ready, then let them go."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def main() -> None:
    """Answer pages 0, 1, … and print the id and what became of it, a line each."""
    address, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    print("ready", flush=True)
    sys.stdin.readline()
    with Store.open(address) as store, ThreadPoolExecutor(THREADS) as pool:
        store.add_study(DIGEST, "A study")
        store.add_listeners(DIGEST, [1])

        def one(page: int) -> None:
            outcome = store.add_answer(answer(str(page)), f"{name}.{page}")
            os.write(1, f"{name}.{page} {outcome}\n".encode())

        list(pool.map(one, range(count)))


if __name__ == "__main__":
    main()
