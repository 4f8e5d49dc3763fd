"""Messages for the operator, of which there are only a few per minute.

A client that causes messages must not fill the disk, so repeated messages are counted instead.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from collections.abc import Callable
from time import monotonic

from earwitness.errors import printable

MESSAGES_PER_MINUTE, REPEATS_PER_MINUTE = 60, 3
MAX_MESSAGE_CHARACTERS = 4000  # longer than any traceback of interest


class MessageLimiter(logging.Filter):
    """Prints messages to stderr, and filters those of loggers: a few per minute, others counted.

    Parameters
    ----------
    clock
        Time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._clock, self._start = clock, clock()
        self._printed, self._suppressed = Counter[str](), Counter[str]()

    def write(self, text: str) -> None:
        """Print a message, unless it or others have been printed too often."""
        if self._admit(text):
            _print_line(printable(text[:MAX_MESSAGE_CHARACTERS]))

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log a record; records with the same pattern are alike."""
        return self._admit(str(record.msg)[:MAX_MESSAGE_CHARACTERS])

    def _admit(self, message: str) -> bool:
        self.summarize()
        is_full = self._printed.total() >= MESSAGES_PER_MINUTE
        if is_full or self._printed[message] >= REPEATS_PER_MINUTE:
            self._suppressed[message if message in self._printed else ""] += 1
            return False
        self._printed[message] += 1
        return True

    def summarize(self, *, now: bool = False) -> None:
        """Print how many messages were suppressed, at most once a minute unless ``now``."""
        if not now and self._clock() < self._start + 60:
            return
        suppressed = self._suppressed
        self._start = self._clock()
        self._printed, self._suppressed = Counter(), Counter()
        for message, count in suppressed.items():
            first_line = printable(message.strip().partition("\n")[0][:200]) or "other messages"
            _print_line(f"earwitness: {count:,} similar messages suppressed: {first_line}")


def _print_line(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
