"""A bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Thread

from earwitness.data import Progress, no_progress

EVERY = 1.0  # seconds


@contextmanager
def bar(*, quiet: bool = False, unit: str = "B") -> Iterator[Progress]:
    """Shows what was read, rate, time left and cases, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield no_progress
        return
    from tqdm import tqdm

    scale = {"unit": unit, "unit_scale": unit == "B", "unit_divisor": 1024}
    columns, lines = shutil.get_terminal_size()  # also where a terminal does not know its own
    with tqdm(**scale, leave=False, file=sys.stderr, ncols=columns, nrows=lines) as shown:

        def progress(done: int, total: int | None, cases: int) -> None:
            shown.total = total
            if unit == "B":
                shown.set_postfix_str(f"{cases:,} cases", refresh=False)
            shown.update(done - shown.n)

        # bytes are told often, by processes that must not be forked beside a thread
        with nullcontext() if unit == "B" else _ticking(shown.refresh):
            yield progress


@contextmanager
def _ticking(refresh: Callable[[], object]) -> Iterator[None]:
    """Shows the time that has passed once a second, also while nothing is told."""
    over = Event()

    def tick() -> None:
        while not over.wait(EVERY):
            refresh()

    clock = Thread(target=tick, daemon=True)
    clock.start()
    try:
        yield
    finally:
        over.set()
        clock.join()
