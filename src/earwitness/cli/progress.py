"""A bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from earwitness.data import Progress, no_progress


@contextmanager
def bar(*, quiet: bool = False, unit: str = "B") -> Iterator[Progress]:
    """Shows what was read, rate, time left and cases, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield no_progress
        return
    from tqdm import tqdm

    scale = {"unit": unit, "unit_scale": unit == "B", "unit_divisor": 1024}
    with tqdm(**scale, leave=False, file=sys.stderr) as shown:

        def progress(done: int, total: int | None, cases: int) -> None:
            shown.total = total
            if unit == "B":
                shown.set_postfix_str(f"{cases:,} cases", refresh=False)
            shown.update(done - shown.n)

        yield progress
