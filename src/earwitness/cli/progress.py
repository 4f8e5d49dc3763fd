"""A bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from threading import Event, Thread

from earwitness.data import Progress, no_progress

EVERY = 1.0  # seconds
SOUND = "s"  # seconds of sound
HEARD = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}<{remaining}]"


@contextmanager
def bar(*, quiet: bool = False, unit: str = "B") -> Iterator[Progress]:
    """Shows what was read, rate, time left and cases, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield no_progress
        return
    from tqdm import tqdm

    scale = {"unit": unit, "unit_scale": unit == "B", "unit_divisor": 1024}
    form = {"bar_format": HEARD} if unit == SOUND else {}
    columns, lines = shutil.get_terminal_size()  # also where a terminal does not know its own
    with tqdm(**scale, **form, leave=False, file=sys.stderr, ncols=columns, nrows=lines) as shown:

        def progress(done: int, total: int | None, cases: int) -> None:
            shown.total = total
            if unit == "B":
                shown.set_postfix_str(f"{cases:,} cases", refresh=False)
            if unit == SOUND:
                shown.desc = _heard(done, total, shown.format_dict["elapsed"])
            shown.update(done - shown.n)

        # bytes are told often, by processes that must not be forked beside a thread
        with nullcontext() if unit == "B" else _ticking(shown.refresh):
            yield progress


def _heard(done: int, total: int | None, elapsed: float) -> str:
    """How much sound, and how much faster than one hears it.

    >>> _heard(43200, 86400, 30.0)
    '12:00:00 of 24:00:00, 1,440 × real time'
    """
    both = " of ".join(
        f"{one // 3600}:{one // 60 % 60:02}:{one % 60:02}" for one in (done, total or done)
    )
    return f"{both}, {done / elapsed:,.0f} × real time" if elapsed > 0 else both


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
