"""Local execution, in this process or in several worker processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from earwitness.core import Jobs, Map, StrPath
from earwitness.errors import UsageError, WorkerDied

# --- In-process execution ------------------------------------------------------------------------


T = TypeVar("T")
R = TypeVar("R")


def in_process(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
    """Apply the function in this process, lazily.

    >>> list(in_process(abs, [-1, 2]))
    [1, 2]
    """
    return map(function, items)


# --- Worker processes ----------------------------------------------------------------------------


HELD_SIGNALS = (signal.SIGINT, signal.SIGTERM)  # deferred while workers start or end
MIN_PARALLEL_BYTES = 50_000_000  # of input, for several processes by default
ITEMS_AHEAD_PER_WORKER = 3  # items per worker submitted before the first result is taken
_function: Callable[[Any], Any]


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def choose_map(jobs: Jobs) -> Map:
    """Return the map in this process for one job, else a map over processes."""
    if callable(jobs):
        return jobs
    return in_process if jobs == 1 else processes(jobs)


def choose_jobs(jobs: int | None, *inputs: StrPath | None) -> int:
    """Return the number of processes for these files and folders: by default one per core, or one
    if starting them would take longer than they save.
    """
    if jobs is not None:
        return jobs
    named = [Path(input) for input in inputs if input]
    paths = [path for root in named for path in (root, *root.rglob("*"))]
    size = sum(path.stat().st_size for path in paths if path.is_file())
    return count_cores() if size >= MIN_PARALLEL_BYTES else 1


def processes(jobs: int) -> Map:
    """Return a map over ``jobs`` processes, with results in order and few items in flight."""
    if jobs < 1:
        raise UsageError(f"jobs must be 1 or more, got {jobs}")

    def map_(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(jobs, context, _start_worker, (function,))
        try:
            yield from _iterate_results(pool, items, jobs * ITEMS_AHEAD_PER_WORKER)
        except BrokenProcessPool as error:
            raise WorkerDied("a worker process died — check that there is enough memory") from error
        finally:
            with _hold_signals():  # a join of threads that is interrupted may never end
                pool.shutdown(wait=True, cancel_futures=True)

    return map_


def _iterate_results(
    pool: ProcessPoolExecutor, items: Iterable[Any], max_waiting: int
) -> Iterator[Any]:
    waiting: deque[Future[Any]] = deque()
    for item in items:
        with _hold_signals():
            waiting.append(pool.submit(_apply_function, item))
        if len(waiting) >= max_waiting:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _hold_signals() -> Iterator[None]:
    """Defer Ctrl-C and SIGTERM while workers start or end, so that none is left half started.

    A worker that starts meanwhile never receives Ctrl-C, since it inherits the blocked signals. In
    this process, another thread may receive a signal that the main thread blocks; Python would then
    run its handler in the main thread at once. So the handlers are replaced as well.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    received: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in HELD_SIGNALS}
    for number in handlers:
        signal.signal(number, lambda number, _: received.append(number))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if received:
            signal.raise_signal(received[0])


def _start_worker(function: Callable[[Any], Any]) -> None:
    """Initialize a worker: keep the function, ignore Ctrl-C, and end when the parent ends."""
    global _function
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    _function = function


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _apply_function(item: Any) -> Any:
    return _function(item)
