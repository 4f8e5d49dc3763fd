"""What was deleted is not left in the log of SQLite.

The log is emptied as soon as nobody reads any more what stood there before. That may take a while,
so it is tried again and again, each time without making anybody wait.
"""

from __future__ import annotations

import sqlite3
import threading
from typing import Any

from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

SOON, LONGEST = 0.02, 10.0  # seconds between tries, longer each time


class Scrubber:
    """Empties the log in a thread of its own, which is there while there is something to do."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine if engine.dialect.name == "sqlite" else None
        self._lock, self._closed = threading.Lock(), threading.Event()
        self._asked, self._done = 0, 0  # how often, and what of it is done
        self._thread: threading.Thread | None = None
        self._clean = threading.Event()

    def ask(self) -> threading.Event:
        """Empty the log as soon as that can be; what is set once it is empty."""
        with self._lock:
            if self._engine is None:
                self._clean.set()
                return self._clean
            self._asked += 1
            self._clean = threading.Event() if self._clean.is_set() else self._clean
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="scrubber", daemon=True)
                self._thread.start()
            return self._clean

    def close(self) -> None:
        """Give up: whoever opens the file next, or closes it last, will do it."""
        self._closed.set()
        thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        pause = SOON
        while not self._finished():
            asked = self._asked
            if self._emptied():
                self._done = asked
            elif self._closed.wait(pause):
                return
            else:
                pause = min(LONGEST, 2 * pause)

    def _finished(self) -> bool:
        with self._lock:
            over = self._done == self._asked
            if over:
                self._thread = None
                self._clean.set()
            return over

    def _emptied(self) -> bool:
        """Whether all of the log is in the file now, and the log empty; waits for nobody."""
        assert self._engine is not None
        try:
            with self._engine.connect() as connection:
                driver: Any = connection.connection.driver_connection
                [(patience,)] = driver.execute("PRAGMA busy_timeout").fetchall()
                driver.execute("PRAGMA busy_timeout = 0")
                try:
                    [told] = driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
                finally:
                    driver.execute(f"PRAGMA busy_timeout = {patience}")
        except (DBAPIError, sqlite3.Error):
            return False
        return tuple(told[:2]) == (0, 0)
