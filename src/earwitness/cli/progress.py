"""A bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from earwitness.data import Progress, no_progress


@contextmanager
def bar(*, quiet: bool = False) -> Iterator[Progress]:
    """Shows bytes read, rate, time left and cases, if standard error is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield no_progress
        return
    from tqdm import tqdm

    with tqdm(unit="B", unit_scale=True, unit_divisor=1024, leave=False, file=sys.stderr) as shown:

        def progress(done: int, total: int | None, cases: int) -> None:
            shown.total = total
            shown.set_postfix_str(f"{cases:,} cases", refresh=False)
            shown.update(done - shown.n)

        yield progress
