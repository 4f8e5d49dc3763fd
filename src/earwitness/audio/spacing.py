"""How long hours are, told by the silences between them: made days may have short ones."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

PLACE = 1.0  # seconds by which an hour may be off, each time
EVEN = 2 / 3  # share of the steps that are alike


def spacing(starts: Sequence[float], gap: float) -> float | None:
    """Seconds of sound between evenly spaced silences; None if there is no such spacing.

    The recording itself begins an hour before the first of them, if it begins with an hour: so two
    silences are enough, and else three.

    >>> spacing([600, 1205, 1810], 5), spacing([100, 705, 1310], 5), spacing([600, 700], 5)
    (600.0, 600.0, None)
    """
    if len(starts) < 2:
        return None
    times = [-gap, *starts]
    steps = [after - before for before, after in pairwise(times)]
    step = median(steps)
    alike = [one for one in steps if abs(one - step) <= PLACE]
    if len(alike) < EVEN * len(steps) or step <= 2 * gap:
        return None
    return sum(alike) / len(alike) - gap
