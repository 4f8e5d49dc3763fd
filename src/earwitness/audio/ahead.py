"""Work that is done ahead of time, in a thread, and no further ahead than a few results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from queue import Full, Queue
from typing import Generic, TypeVar

T = TypeVar("T")
DEPTH = 3  # results that may wait


class _Ahead(Generic[T]):
    """A thread that fills a short queue until all is done or nobody wants more."""

    def __init__(self, make: Callable[[], Iterator[T]], depth: int) -> None:
        self.make = make
        self.queue: Queue[tuple[T | None, BaseException | None]] = Queue(depth)
        self.unwanted = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True, name="ahead")

    def work(self) -> None:
        """Fill the queue; what is raised is raised again where the results are taken."""
        fault: BaseException | None = None
        results = self.make()
        try:
            for result in results:
                if not self.put(result, None):
                    return
        except BaseException as error:  # noqa: BLE001 - raised again by who takes the results
            fault = error
        finally:
            results.close() if hasattr(results, "close") else None
        self.put(None, fault)

    def put(self, result: T | None, fault: BaseException | None) -> bool:
        """Wait for room; False if nobody wants it any more."""
        while not self.unwanted.is_set():
            try:
                self.queue.put((result, fault), timeout=0.1)
            except Full:
                continue
            return True
        return False


def ahead(make: Callable[[], Iterator[T]], depth: int = DEPTH) -> Iterator[T]:
    """What an iterator gives, made ahead in a thread that ends with this one.

    >>> list(ahead(lambda: iter("abc")))
    ['a', 'b', 'c']
    """
    work = _Ahead(make, depth)
    work.thread.start()
    try:
        while True:
            result, fault = work.queue.get()
            if fault is not None:
                raise fault
            if result is None:
                return
            yield result
    finally:
        work.unwanted.set()
        work.thread.join()
