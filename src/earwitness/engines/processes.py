"""Work in several processes of this machine."""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from earwitness.data import Map
from earwitness.errors import UsageError

T = TypeVar("T")
R = TypeVar("R")

AHEAD = 3  # items a worker that are handed out before the first result is taken
_function: Callable[[Any], Any]


def processes(jobs: int) -> Map:
    """A map over ``jobs`` processes: results in order, few items in flight at any time."""
    if jobs < 1:
        raise UsageError(f"jobs must be 1 or more, got {jobs}")

    def map_(function: Callable[[T], R], items: Iterable[T], /) -> Iterator[R]:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(jobs, context, _begin, (function,))
        try:
            yield from _in_order(pool, items, jobs * AHEAD)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    return map_


def _in_order(pool: ProcessPoolExecutor, items: Iterable[Any], most: int) -> Iterator[Any]:
    waiting: deque[Future[Any]] = deque()
    for item in items:
        with _interrupts_held():
            waiting.append(pool.submit(_work, item))
        if len(waiting) >= most:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Keep Ctrl-C back for a moment: a worker that starts now never hears it, the parent does."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(function: Callable[[Any], Any]) -> None:
    """In a worker: take the function once, and leave Ctrl-C to the parent."""
    global _function
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _function = function


def _work(item: Any) -> Any:
    return _function(item)
